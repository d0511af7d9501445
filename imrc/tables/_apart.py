"""Reading a file in a process of its own, with a limit on memory and time, so that no file can end the program."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time

from imrc._checks import DataError
from imrc.tables._child import receive_table
from imrc.tables._columns import clean_name
from imrc.tables._open import Table, too_large
from imrc.tables._text import LIMITS_IN_WORDS, MAX_FILE_BYTES

MAX_READ_BYTES = 1 << 30
"""Memory a process may take for one file, beyond what it has before."""

MAX_READ_SECONDS = 60
MAX_AT_ONCE = 2
_LOOK_EVERY = 0.02
_PATIENCE = 3
"""Times the limit that may pass on the clock: a busy machine gives a process only part of its processors."""

_places = threading.BoundedSemaphore(MAX_AT_ONCE)
_lock = threading.Lock()
_spare: subprocess.Popen[bytes] | None = None


def _started() -> subprocess.Popen[bytes]:
    """Return a new process that loads what reading needs and then waits for a file."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        # Pools of their own reserve far more addresses than they use, and those count.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "imrc.tables._child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def prepare_reading() -> None:
    """Start the process that will read the next file, so that nobody waits for its start; return at once."""
    global _spare
    with _lock:
        if _spare is None or _spare.poll() is not None:
            if _spare is not None:
                _end(_spare)
            _spare = _started()


@atexit.register
def _end_spare() -> None:
    global _spare
    with _lock:
        if _spare is not None:
            _end(_spare)
        _spare = None


def _taken() -> subprocess.Popen[bytes]:
    """Return the waiting process, or a new one."""
    global _spare
    with _lock:
        process, _spare = _spare, None
    if process is not None and process.poll() is not None:
        _end(process)
        process = None
    return process or _started()


def open_upload(
    data: bytes,
    *,
    name: str,
    memory: int = MAX_READ_BYTES,
    seconds: int = MAX_READ_SECONDS,
) -> Table:
    r"""Read a table nobody has reason to trust, as `open_table` does, in a process of its own.

    The process may take so much memory and time; a file that needs more ends it, and only it. Where the system knows
    no limit on memory (Windows, macOS), the limits of `open_table` on sizes and the limit on time remain.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        Its name.
    memory : int
        Bytes the process may take beyond those it has before.
    seconds : int
        Seconds of a processor it may take; three times as many on the clock.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the table cannot be read within the limits; the message says why, where and what to do.

    Examples
    --------
    >>> open_upload(b"age;class\n31,5;yes\n28,0;no\n", name="people.csv").names
    ('age', 'class')
    """
    if len(data) > MAX_FILE_BYTES:
        raise DataError(too_large(len(data)))
    shown = clean_name(name) or "The file"
    if not _places.acquire(timeout=2 * seconds):
        raise DataError(f"{shown} could not be read yet: other files are being read. Try again in a minute.")
    try:
        process = _taken()
        watch = _Watch(process, memory, seconds)
        try:
            with watch:
                return _exchanged(process, data, name, memory, seconds)
        except DataError:
            raise
        except (EOFError, OSError, ValueError):
            advice = f"{LIMITS_IN_WORDS} Keep fewer rows or columns, or shorter texts."
            process.wait()
            if watch.ended_for == "time" or process.returncode == -getattr(signal, "SIGXCPU", 0) != 0:
                raise DataError(f"Reading {shown} took longer than {seconds} seconds, the limit. {advice}") from None
            raise DataError(
                f"{shown} is damaged, or needs more than {memory >> 20:,} MB of memory while it is read, the limit "
                f"for one file. {advice}"
            ) from None
        finally:
            _end(process)
    finally:
        _places.release()


class _Watch:
    """Ends a process that takes more memory or time than it may, while the block of a ``with`` runs."""

    def __init__(self, process: subprocess.Popen[bytes], memory: int, seconds: float) -> None:
        self.ended_for = ""
        self._process, self._memory, self._seconds = process, memory, seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        begin, before = time.monotonic(), _in_use(self._process.pid)
        while not self._done.wait(_LOOK_EVERY):
            if time.monotonic() - begin > _PATIENCE * self._seconds:
                self.ended_for = "time"
            elif _in_use(self._process.pid) - before > self._memory:
                self.ended_for = "memory"
            if self.ended_for:
                self._process.kill()
                return


def _in_use(pid: int) -> int:
    """Return how many bytes of memory a process has in use; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm") as facts:
            return int(facts.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _exchanged(process: subprocess.Popen[bytes], data: bytes, name: str, memory: int, seconds: int) -> Table:
    """Send the file, return the table that comes back."""
    if process.stdin is None or process.stdout is None:
        raise EOFError
    asked = {"name": name, "bytes": len(data), "memory": memory, "seconds": seconds}
    process.stdin.write(json.dumps(asked).encode() + b"\n")
    process.stdin.write(data)
    process.stdin.flush()
    return receive_table(process.stdout)
