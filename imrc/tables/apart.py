"""Reading a file in a separate process, with a limit on memory and time, so that no file can crash the program.

The process is started as ``python -m imrc.tables.apart``, reads one file and ends; killing one in a shared pool would
affect every visitor. Nothing is unpickled on either side: JSON says what follows, and arrays travel as NumPy files.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import IO, Any

import numpy as np

from imrc._checks import DataError
from imrc.tables.table import LIMITS_IN_WORDS, Column, Reading, Table, clean_name

MEMORY_BYTES = 1 << 30
"""Memory a process may use, including the libraries it reads with."""
SECONDS = 60
"""Processor seconds it may take; three times as many on the clock, because a busy machine gives only part of one."""
_UNTOUCHED = 100 << 20
"""Memory that may be reserved beyond the limit, because what is never touched costs nothing."""
_ENVIRONMENT = {
    # Their own memory pools reserve far more than they use, and that counts.
    **{"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"},
    **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # pyarrow reads the second
}
_places = threading.BoundedSemaphore(2)


def _used(pid: int) -> tuple[int, float]:
    """Return the bytes of memory and the processor seconds a process has used; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as facts:
            said = facts.read().rpartition(b")")[2].split()
        ticks = int(said[11]) + int(said[12])
        return int(said[21]) * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0, 0.0


def read_apart(data: bytes, name: str, reading: Reading) -> Table:
    """Read the bytes of a file in a separate process, which ends if it takes more memory or time than it may.

    Raises DataError if the table cannot be read within the limits; the message says why, where and what to do. Where
    the system does not report memory (Windows, macOS), the limits on sizes and on time remain.
    """
    shown, late = clean_name(name) or "The file", False
    if not _places.acquire(timeout=2 * SECONDS):
        raise DataError(f"{shown} could not be read yet, because other files are being read. Try again in a minute.")
    asked = {"name": name, "memory": MEMORY_BYTES, "seconds": SECONDS, "reading": asdict(reading)}
    try:
        with _in_memory() as question, _in_memory() as answer:
            question.writelines((json.dumps(asked).encode() + b"\n", data))
            question.seek(0)
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "imrc.tables.apart"],
                stdin=question,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **_ENVIRONMENT},
            )
            begin, used = time.monotonic(), 0
            try:
                while not late and used <= MEMORY_BYTES and process.poll() is None:
                    time.sleep(0.01)
                    used, busy = _used(process.pid)
                    late = busy > SECONDS or time.monotonic() - begin > 3 * SECONDS
            finally:
                process.kill()
                process.wait()
            answer.seek(0)
            return _received(answer)
    except (EOFError, OSError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        why = "took too long" if late else "is damaged, or needs too much memory"
        raise DataError(
            f"{shown} {why}: it may take {MEMORY_BYTES >> 20:,} MB of memory and {SECONDS:g} seconds, the limits for "
            f"one file. {LIMITS_IN_WORDS} Keep fewer rows or columns, or shorter texts."
        ) from None
    finally:
        _places.release()


def _in_memory() -> IO[bytes]:
    """Return a file that is gone once it is closed: in memory on Linux, without a name elsewhere."""
    return os.fdopen(os.memfd_create("table"), "w+b") if hasattr(os, "memfd_create") else tempfile.TemporaryFile()


_ARRAYS = ("values", "spelt")


def _send(answer: IO[bytes], facts: dict[str, Any], columns: Sequence[Column] = ()) -> None:
    """Write what is known of a table, or a message; then the arrays of each column."""
    told = [{one.name: getattr(column, one.name) for one in fields(Column)} for column in columns]
    arrays = {f"{j} {part}": one.pop(part) for j, one in enumerate(told) for part in _ARRAYS}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    said = np.frombuffer(json.dumps({**facts, "columns": told}).encode(), np.uint8)
    np.savez(answer, facts=said, **arrays)


def _tuples(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _received(answer: IO[bytes]) -> Table:
    """Return the table that was sent; raise the DataError sent instead, or the error of an interrupted transfer."""
    with np.load(answer, allow_pickle=False) as parts:
        facts = json.loads(parts["facts"].tobytes(), object_hook=lambda one: {k: _tuples(v) for k, v in one.items()})
        if "message" in facts:
            raise DataError(facts["message"])
        columns = [
            Column(**told, **{part: parts[f"{j} {part}"] for part in _ARRAYS if f"{j} {part}" in parts})
            for j, told in enumerate(facts["columns"])
        ]
    return Table(**{**facts, "columns": tuple(columns)})


def main() -> None:
    """Read one file from standard input and write its table, or a message, to standard output."""
    answer = os.fdopen(os.dup(1), "w+b")
    os.dup2(2, 1)  # whatever a library prints must not get into the answer
    from imrc.tables.read import read_bytes

    asked = json.loads(sys.stdin.buffer.readline())
    # If the parent is late or gone, the system ends the process, where it can.
    with contextlib.suppress(ImportError, OSError, ValueError, AttributeError):  # Windows; or the limit is lower
        import resource

        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(asked["seconds"] + 5),) * 2)
        resource.setrlimit(resource.RLIMIT_DATA, (asked["memory"] + _UNTOUCHED,) * 2)
    try:
        table = read_bytes(sys.stdin.buffer.read(), asked["name"], Reading(**asked["reading"]))
        _send(answer, asdict(replace(table, columns=())), table.columns)
    except DataError as error:
        _send(answer, {"message": str(error)})
    answer.close()


if __name__ == "__main__":
    main()
