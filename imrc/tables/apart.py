"""Reading a file in a process of its own, with a limit on memory and time, so that no file can end the program.

The process is started as ``python -m imrc.tables.apart``, reads one file and ends: one killed in a shared pool would
cost every visitor. Nothing is unpickled on either side: a line of JSON says what follows, arrays travel as their bytes.
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
from dataclasses import asdict, replace
from typing import IO, Any

import numpy as np

from imrc._checks import DataError
from imrc.tables.table import LIMITS_IN_WORDS, Column, Reading, Table, clean_name

MEMORY_BYTES = 1 << 30
"""Memory a process may have in use, the libraries it reads with included."""
SECONDS = 60
"""Seconds of a processor it may take; on the clock three times as many, as a busy machine gives only part of one."""
_ADDRESSES = 12 << 30
_ENVIRONMENT = {
    # Pools of their own reserve far more addresses than they use, and those count.
    **{"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"},
    **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"},  # pyarrow goes by the second
}
_places = threading.BoundedSemaphore(2)


def _used(pid: int) -> tuple[int, float]:
    """Return the bytes of memory a process has in use, and its processor's seconds; 0 where the system is silent."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as facts:
            said = facts.read().rpartition(b")")[2].split()
        ticks = int(said[11]) + int(said[12])
        return int(said[21]) * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0, 0.0


def read_apart(data: bytes, name: str, reading: Reading) -> Table:
    """Read the bytes of a file in a process of its own, which ends if it takes more memory or time than it may.

    Raises DataError if the table cannot be read within the limits; the message says why, where and what to do. Where
    the system tells nothing of memory (Windows, macOS), the limits on sizes and on time remain.
    """
    shown, memory, seconds = clean_name(name) or "The file", MEMORY_BYTES, SECONDS
    if not _places.acquire(timeout=2 * seconds):
        raise DataError(f"{shown} could not be read yet, because other files are being read. Try again in a minute.")
    late = None
    asked = {"name": name, "memory": memory, "seconds": seconds, "reading": asdict(reading)}
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
            begin = time.monotonic()
            try:
                while late is None and process.poll() is None:
                    time.sleep(0.01)
                    used, busy = _used(process.pid)
                    if used > memory or busy > seconds or time.monotonic() - begin > 3 * seconds:
                        late = used <= memory
            finally:
                process.kill()
                process.wait()
            answer.seek(0)
            return _received(answer.read())
    except DataError:
        raise
    except (EOFError, OSError, ValueError):
        why = "took too long" if late else "is damaged, or needs too much memory"
        raise DataError(
            f"{shown} {why}: it may take {memory >> 20:,} MB of memory and {seconds:g} seconds, the limits for one "
            f"file. {LIMITS_IN_WORDS} Keep fewer rows or columns, or shorter texts."
        ) from None
    finally:
        _places.release()


def _in_memory() -> IO[bytes]:
    """Return a file that is in memory only, or elsewhere than on Linux without a name, and gone once it is closed."""
    return os.fdopen(os.memfd_create("table"), "w+b") if hasattr(os, "memfd_create") else tempfile.TemporaryFile()


def _sent(table: Table) -> list[bytes]:
    """Return a table as bytes: one line of JSON, then the values of each column, from places that divide by 8."""
    parts = [(one, one is column.written) for column in table.columns for one in (column, column.written) if one]
    told = [
        {**asdict(replace(one, values=np.empty(0), written=None)), "values": one.values.dtype.str, "written": written}
        for one, written in parts
    ]
    line = json.dumps({**asdict(replace(table, columns=())), "columns": told}).encode()
    cells = [part for one, _ in parts for part in (one.values.tobytes(), bytes(-one.values.nbytes % 8))]
    return [line.ljust(len(line) + 7 - len(line) % 8) + b"\n", *cells]


def _tuples(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _received(answer: bytes) -> Table:
    """Return what `_sent` wrote; raise the DataError that came in its place, ValueError if the answer ends early."""
    at = answer.index(b"\n") + 1
    facts = json.loads(answer[:at], object_hook=lambda one: {name: _tuples(value) for name, value in one.items()})
    if "message" in facts:
        raise DataError(facts["message"])
    columns: list[Column] = []
    for fields in facts["columns"]:
        values = np.frombuffer(answer, fields["values"], facts["n_rows"], at)
        at += values.nbytes + -values.nbytes % 8
        column = Column(**{**fields, "values": values, "written": None})
        if fields["written"]:
            columns[-1] = replace(columns[-1], written=column)
        else:
            columns.append(column)
    return Table(**{**facts, "columns": tuple(columns)})


class _WithoutPandas:
    """Keeps pyarrow from loading pandas, which takes longer than reading most files and is not used here."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def main() -> None:
    """Read one file from standard input and write its table, or a message, to standard output."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get into the answer
    sys.meta_path.insert(0, _WithoutPandas)
    from imrc.tables.read import read_bytes

    asked = json.loads(sys.stdin.buffer.readline())
    # Should nobody watch any more, addresses and processor time are limited where the system can do so. Memory in use
    # is watched from outside: what is set aside but never touched costs nothing.
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows; or a lower limit stands already
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(asked["seconds"] + 5),) * 2)
        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"] + _ADDRESSES,) * 2)
    try:
        answer.writelines(_sent(read_bytes(sys.stdin.buffer.read(), asked["name"], Reading(**asked["reading"]))))
    except DataError as error:
        answer.write(json.dumps({"message": str(error)}).encode() + b"\n")
    answer.close()


if __name__ == "__main__":
    main()
