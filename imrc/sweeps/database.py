"""The file of a results store: opening it, what its tables hold, and errors of SQLite in words a person can use."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

APPLICATION_ID = 0x494D5243  # "IMRC"
SCHEMA_VERSION = 1
BUSY_S = 60.0
"""How long a writer waits for another one; a transaction takes about a millisecond."""

_SCHEMA = (
    """CREATE TABLE cells (
        key TEXT PRIMARY KEY,
        dataset TEXT NOT NULL, fingerprint TEXT NOT NULL, tasks INTEGER NOT NULL,
        features TEXT NOT NULL, n INTEGER NOT NULL, b INTEGER, W INTEGER, preset TEXT, method TEXT NOT NULL,
        seed INTEGER NOT NULL, repetition INTEGER NOT NULL, code TEXT NOT NULL,
        settings TEXT NOT NULL, seconds REAL NOT NULL, wall_s REAL NOT NULL, state REAL NOT NULL,
        versions TEXT NOT NULL, finished_at TEXT NOT NULL
    )""",
    # Arrays are large: in a table of their own, questions about numbers do not read them.
    "CREATE TABLE arrays (key TEXT PRIMARY KEY REFERENCES cells(key) ON DELETE CASCADE, content BLOB NOT NULL)",
    """CREATE TABLE scores (
        key TEXT NOT NULL REFERENCES cells(key) ON DELETE CASCADE, position INTEGER NOT NULL, rule TEXT NOT NULL,
        average REAL, newest REAL, lag REAL, released REAL, before REAL, risk REAL, ess REAL,
        PRIMARY KEY (key, position)
    ) WITHOUT ROWID""",
    "CREATE INDEX cells_by_run ON cells (method, dataset, features, tasks, n, b, W, preset, seed, repetition, code)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


class StoreError(RuntimeError):
    """A results store that cannot be read or written; the message says which, why, and what to do."""


_TOLD = {
    "NOTADB": "{path} is not a results store: it is no SQLite database. Choose another file.",
    "CORRUPT": "{store} is damaged. Move it away (the sweep makes a new one), or rescue what can be read with: "
    "sqlite3 {path} .recover",
    "FULL": "The disk (or quota) that holds {path} is full. Finished cells are kept; make room and start the same "
    "command again.",
    "READONLY": "{store} cannot be written. Allow writing to the file and its folder, or choose another place with "
    "--store.",
    "BUSY": "{store} has been locked by another program for {busy:.0f} s. Close it and start again.",
    "CANTOPEN": "{store} cannot be opened. Check that its folder can be read and written.",
    "": "{store} cannot be used: {error}. Finished cells are kept.",
}
"""What an error of SQLite means for a person, by the beginning of its name."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
        told = next(text for name, text in _TOLD.items() if code.startswith(name))
        store = f"The results store {path}"
        raise StoreError(told.format(path=path, store=store, error=error, busy=BUSY_S)) from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{options}", uri=True, timeout=BUSY_S, isolation_level=None
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the first time the file is read
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_there(path: Path) -> bool:
    """Return whether a path exists; unlike `Path.exists` from Python 3.14 on, what cannot be reached is an error."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def open_database(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open a store, making it unless `read_only`; what stands in the way is a `StoreError`."""
    try:
        there = _is_there(path)
        if path.is_dir():
            raise StoreError(f"{path} is a folder. Name a file in it, for example {path / 'results.sqlite'}.")
        if not path.parent.is_dir():
            raise StoreError(f"The folder {path.parent} does not exist. Make it, or choose another place with --store.")
        if read_only and not there:
            raise StoreError(f"There is no results store {path}. The command imrc sweep makes one.")
    except OSError as error:
        raise StoreError(f"{path} cannot be reached: {error.strerror or error}. Check its folder.") from error
    with translated(path):
        connection = _open_for_reading(path) if read_only else _connect(path, "mode=rwc")
        try:
            if not read_only:
                if not _is_new(connection):
                    _check_identity(connection, path)  # nothing of another program's file is touched
                _write_ahead(connection)
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    # Looked at again: another process may have made the tables while this one waited.
                    for statement in _SCHEMA if _is_new(connection) else ():
                        connection.execute(statement)
            _check_identity(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _open_for_reading(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path, "mode=ro")
    except sqlite3.OperationalError:
        # In a folder that may not be written SQLite cannot make its two helper files. With nobody writing and no log
        # waiting to be merged, the file itself is all there is.
        log = path.with_name(path.name + "-wal")
        writable = os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
        if writable or (log.exists() and log.stat().st_size > 0):
            raise
        return _connect(path, "mode=ro&immutable=1")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and one writer work at once. Committed cells survive the end of any process.

    Only a power cut can take the last ones, and then leaves the file whole (synchronous = NORMAL).
    """
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            break
        except sqlite3.OperationalError as error:  # switching does not wait for other connections by itself
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 - not a secret
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _is_new(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return bool(tables == 0 and connection.execute("PRAGMA application_id").fetchone()[0] == 0)


def _check_identity(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program, not a results store. Choose another file.")
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found != SCHEMA_VERSION:
        newer = "a newer" if found > SCHEMA_VERSION else "an older"
        raise StoreError(
            f"The results store {path} was made by {newer} release of imrc (format {found}; this one uses "
            f"{SCHEMA_VERSION}). Use that release, or choose another place with --store."
        )
