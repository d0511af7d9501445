"""Reading a file in a process of its own, with a limit on memory and time, so that no file can end the program.

The process is started as ``python -m imrc.tables.apart``, reads one file and ends. Nothing is unpickled on either side:
a line of JSON says what follows, and arrays travel as their bytes.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from typing import IO, Any

import numpy as np

from imrc._checks import DataError
from imrc.tables.cells import Column, Reading, clean_name
from imrc.tables.read import LIMITS_IN_WORDS, Table, read_bytes

MEMORY_BYTES = 1 << 30
"""Memory a process may have in use, the libraries it reads with included."""
SECONDS = 60
"""Seconds of a processor it may take."""
_PATIENCE = 3
"""Times so many on the clock: a busy machine gives a process only part of its processors."""
_AT_ONCE = 2
_LOOK_EVERY_S = 0.01
_IDLE_S = 900
"""A process nobody has given a file for so long ends."""
_ADDRESSES = 12 << 30

_places = threading.BoundedSemaphore(_AT_ONCE)
_lock = threading.Lock()
_spare: subprocess.Popen[bytes] | None = None


def _started() -> subprocess.Popen[bytes]:
    """Return a new process that loads what reading needs and then waits for a file."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        # Pools of their own reserve far more addresses than they use, and those count.
        **{"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"},
        **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"},  # pyarrow goes by the second
    }
    command = [sys.executable, "-P", "-m", "imrc.tables.apart"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)  # noqa: S603


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _swap(new: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes] | None:
    """Put a process in the place of the one that waits; return that one if it still lives."""
    global _spare
    with _lock:
        process, _spare = _spare, new
    if process is not None and process.poll() is not None:
        _end(process)
        return None
    return process


def prepare_reading() -> None:
    """Start the process that will read the next file, so that nobody waits for its start; return at once."""
    if (waiting := _swap(None)) is None:
        waiting = _started()
    if (other := _swap(waiting)) is not None:
        _end(other)


@atexit.register
def _end_spare() -> None:
    if (process := _swap(None)) is not None:
        _end(process)


def _used(pid: int) -> tuple[int, float]:
    """Return the bytes of memory a process has in use, and its processor's seconds; 0 where the system is silent."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as facts:
            said = facts.read().rpartition(b")")[2].split()
        ticks = int(said[11]) + int(said[12])
        return int(said[21]) * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0, 0.0


def read_apart(
    data: bytes,
    name: str,
    reading: Reading,
    *,
    memory: int | None = None,
    seconds: float | None = None,
    fresh: bool = False,
) -> Table:
    """Read the bytes of a file in a process of its own, which ends if it takes more memory or time than it may.

    Raises DataError if the table cannot be read within the limits; the message says why, where and what to do. Where
    the system tells nothing of memory (Windows, macOS), the limits on sizes and on time remain. A process that waited,
    and ended though no limit ended it, is replaced once by a `fresh` one: it may have died before it had the file.
    """
    memory, seconds = memory or MEMORY_BYTES, seconds or SECONDS
    shown = clean_name(name) or "The file"
    waiting = None if fresh else _swap(None)
    process = waiting or _started()
    if not _places.acquire(timeout=2 * seconds):
        _end(process)
        raise DataError(f"{shown} could not be read yet: other files are being read. Try again in a minute.")
    done, ended = threading.Event(), list[bool]()

    def watch() -> None:
        begin, (_, busy_before) = time.monotonic(), _used(process.pid)
        while not ended and not done.wait(_LOOK_EVERY_S):
            used, busy = _used(process.pid)
            late = busy - busy_before > seconds or time.monotonic() - begin > _PATIENCE * seconds
            if late or used > memory:
                ended.append(late)
                process.kill()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        if process.stdin is None or process.stdout is None:
            raise EOFError
        asked = {"name": name, "bytes": len(data), "memory": memory, "seconds": seconds, "reading": asdict(reading)}
        process.stdin.write(json.dumps(asked).encode() + b"\n" + data)
        process.stdin.flush()
        return receive_table(process.stdout)
    except DataError:
        raise
    except (EOFError, OSError, ValueError):
        again = waiting is not None and not ended
        limits = f"{memory >> 20:,} MB of memory and {seconds:g} seconds, the limits for one file"
        why = "took too long" if ended == [True] else "is damaged, or too much for this program"
        failed = DataError(
            f"{shown} {why}: it may take {limits}. {LIMITS_IN_WORDS} Keep fewer rows or columns, or shorter texts."
        )
    finally:
        done.set()
        watcher.join()
        _end(process)
        _places.release()
    if again:
        return read_apart(data, name, reading, memory=memory, seconds=seconds, fresh=True)
    raise failed


def send_table(stream: IO[bytes], table: Table) -> None:
    """Write a table to a stream: one line of JSON, then the values of each column."""
    columns = [part for column in table.columns for part in (column, column.written) if part is not None]
    bare = [asdict(replace(column, values=np.empty(0), written=None)) for column in columns]
    told = [
        {**fields, "values": column.values.dtype.str, "written": column.written is not None}
        for fields, column in zip(bare, columns, strict=True)
    ]
    stream.write(json.dumps({**asdict(replace(table, columns=())), "columns": told}).encode() + b"\n")
    for column in columns:
        stream.write(np.ascontiguousarray(column.values).view(np.uint8).data)


def _tuples(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def receive_table(stream: IO[bytes]) -> Table:
    """Read what `send_table` wrote; raise the DataError that came in its place, EOFError if the stream ends early."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    facts = json.loads(line)
    if "message" in facts:
        raise DataError(facts["message"])
    told, columns = iter(facts.pop("columns")), []

    def received(fields: dict[str, Any]) -> Column:
        kind, rows, written = np.dtype(fields.pop("values")), facts["n_rows"], fields.pop("written")
        content = stream.read(rows * kind.itemsize)
        if len(content) < rows * kind.itemsize:
            raise EOFError
        column = Column(values=np.frombuffer(content, kind), **{name: _tuples(value) for name, value in fields.items()})
        return replace(column, written=received(next(told))) if written else column

    for fields in told:
        columns.append(received(fields))
    facts["choices"] = {name: _tuples(value) for name, value in facts["choices"].items()}
    return Table(columns=tuple(columns), **{name: _tuples(value) for name, value in facts.items()})


def _limit(memory: int, seconds: float) -> None:
    """Limit addresses and processor time where the system can, should nobody watch any more.

    Memory in use is watched from outside: what is set aside but never touched counts as addresses and costs nothing.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    processor = int(seconds + sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) + 5)
    for limit, most in (
        (resource.RLIMIT_AS, memory + _ADDRESSES),
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(limit, (most, most))
        except (OSError, ValueError):  # a lower limit stands already, or the system has none of this kind
            continue


def main() -> None:
    """Read one file from standard input and write its table, or a message, to standard output."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get into the answer
    import pyarrow.parquet  # noqa: F401 - loaded before the file comes, so that reading it starts at once

    read_bytes(b"day;x;c;y\n2020-01-31;1,5;u;a\n2020-02-01;2,5;v;b\n", "first.csv", Reading())
    source = sys.stdin.buffer
    if os.name == "posix" and not select.select([source], [], [], _IDLE_S)[0]:
        return
    line = source.readline()
    if not line:
        return
    asked = json.loads(line)
    _limit(asked["memory"], asked["seconds"])
    try:
        send_table(answer, read_bytes(source.read(asked["bytes"]), asked["name"], Reading(**asked["reading"])))
    except DataError as error:
        answer.write(json.dumps({"message": str(error)}).encode() + b"\n")
    answer.close()


if __name__ == "__main__":
    main()
