"""Reading a file in a separate process, with a limit on memory and time, so that no file can crash the program.

The process runs `main`, which reads one file and ends; killing one in a shared pool would affect every visitor.
Nothing is unpickled on either side: a line of JSON says what follows, and arrays are NumPy files.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError
from imrc.tables.table import LIMITS_IN_WORDS, Column, Reading, Table, clean_name

MEMORY_BYTES = 1 << 30
"""Memory a process may use, including the libraries it reads with."""
SECONDS = 60
"""Processor seconds it may take; three times as many on the clock, because a busy machine gives only part of one."""
ANSWER_BYTES = 1 << 30
"""Bytes its answer may have; they are in memory, too, but not in its own."""
_LATE = {-getattr(signal, name, 0) for name in ("SIGXCPU", "SIGKILL")} - {0}
"""Processor time ended it: the second where the first is ignored. Too much memory is refused, which ends no process."""
# Other memory pools reserve far more than they use, and that counts.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
_ENVIRONMENT |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # pyarrow reads the second
_places = threading.BoundedSemaphore(2)


def _limit(pid: int) -> None:
    """Let the system end a process that needs more than it may, where it can do that from outside (Linux)."""
    limits = {"DATA": (MEMORY_BYTES,) * 2, "FSIZE": (ANSWER_BYTES,) * 2, "CORE": (0, 0)}
    for name, wanted in (limits | {"CPU": (int(SECONDS), int(SECONDS) + 5)}).items():
        with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):  # it ended, or no such limit here
            import resource

            which = getattr(resource, f"RLIMIT_{name}")
            hard = resource.prlimit(pid, which)[1]
            soft, most = (one if hard == resource.RLIM_INFINITY else min(one, hard) for one in wanted)
            resource.prlimit(pid, which, (soft, most))


def _in_memory() -> io.FileIO:
    """Return a file that is gone once it is closed: in memory on Linux, without a name elsewhere."""
    made = hasattr(os, "memfd_create")
    return os.fdopen(os.memfd_create("table"), "w+b", 0) if made else tempfile.TemporaryFile(buffering=0)


def read_apart(data: bytes, name: str, reading: Reading) -> Table:
    """Read the bytes of a file in a separate process; DataError if it needs more memory or time than it may.

    The operating system watches the process from outside. Where it cannot (Windows, macOS), other limits remain.
    """
    shown, late = clean_name(name) or "The file", False
    if not _places.acquire(timeout=2 * SECONDS):
        raise DataError(f"{shown} could not be read yet, because other files are being read. Try again in a minute.")
    asked = {"name": name, "reading": asdict(reading)}
    try:
        with _in_memory() as question, _in_memory() as answer:
            question.writelines((json.dumps(asked).encode() + b"\n", data))
            question.seek(0)
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", "from imrc.tables.apart import main; main()"],
                stdin=question,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **_ENVIRONMENT},
            )
            _limit(process.pid)
            try:
                late = process.wait(3 * SECONDS) in _LATE
            except subprocess.TimeoutExpired:
                late = True
            finally:
                process.kill()
                process.wait()
            answer.seek(0)
            answered = io.BufferedReader(answer)  # from which NumPy reads at once
            facts = json.loads(answered.readline())
            for column in facts.get("columns", ()):
                arrays = (part for part in ("values", "spelt", "written") if column[part] is not None)
                column |= {part: np.load(answered) for part in arrays}
    except (EOFError, OSError, ValueError):
        why = "took too long" if late else "is damaged, or needs too much memory"
        raise DataError(
            f"{shown} {why}: it may take {MEMORY_BYTES >> 20:,} MB of memory and {SECONDS:g} seconds, the limits for "
            f"one file. {LIMITS_IN_WORDS} Keep fewer rows or columns, or shorter texts."
        ) from None
    finally:
        _places.release()
    if "message" in facts:
        raise DataError(facts["message"])
    return Table(**{**facts, "columns": tuple(Column(**column) for column in facts["columns"])})


class _WithoutPandas:
    """Keeps pyarrow from loading pandas with its first array, which takes as long as reading 40 MB."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError


def main() -> None:
    """Read one file from standard input and write its table, or a message, to standard output."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get into the answer
    sys.meta_path.insert(0, _WithoutPandas)
    from imrc.tables.read import read_bytes

    asked = json.loads(sys.stdin.buffer.readline())
    with contextlib.suppress(AttributeError):  # Windows
        os.nice(5)
    arrays = list[NDArray[Any]]()

    def told(part: Any) -> Any:  # noqa: ANN401 - a table, a column, or an array
        if not isinstance(part, np.ndarray):
            return {one.name: getattr(part, one.name) for one in fields(part)}
        arrays.append(part)
        return "an array that follows, in this order"

    try:
        found = json.dumps(
            read_bytes(sys.stdin.buffer.read(), asked["name"], Reading(**asked["reading"])), default=told
        )
    except DataError as error:
        found = json.dumps({"message": str(error)})
    answer.write(found.encode() + b"\n")
    for array in arrays:
        np.save(answer, array, allow_pickle=False)
    answer.close()
