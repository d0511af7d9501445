"""`ResultStore`: finished cells in one SQLite file, one transaction each, and its errors in words a person can use."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from imrc._checks import InputError
from imrc.baselines import registry
from imrc.evaluation import RunResult, RunSettings, join_repetitions
from imrc.sweeps.cell import ERRORS, Cell, Record, cell_key, code_version, features_text, method_of, uses

if TYPE_CHECKING:
    import pandas as pd

_RUN = ("dataset", "features", "n", "k", "b", "W", "preset", "method", "seed", "repetition")
_SCORES = ("rule", *ERRORS, "risk", "ess")
_FACTS = ("seconds", "wall_s", "state", "finished_at", "versions", "code", "fingerprint", "key")
COLUMNS = (*_RUN, *_SCORES, *_FACTS)

APPLICATION_ID = 0x494D5243  # "IMRC"
SCHEMA_VERSION = 1
_BUSY_S = 60.0  # how long a writer waits for another one; a transaction takes about a millisecond
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
# What an error of SQLite means for a person, by the beginning of its name.
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


class StoreError(RuntimeError):
    """A results store that cannot be read or written; the message says which, why, and what to do."""


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
        told = next(text for name, text in _TOLD.items() if code.startswith(name))
        store = f"The results store {path}"
        raise StoreError(told.format(path=path, store=store, error=error, busy=_BUSY_S)) from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?{options}"
    connection = sqlite3.connect(address, uri=True, timeout=_BUSY_S, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the first time the file is read
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect_for_reading(path: Path) -> sqlite3.Connection:
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


def _is_new(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether a file holds nothing yet; StoreError if it holds something other than results of this format."""
    application, found, tables = (
        connection.execute(question).fetchone()[0]
        for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    if application == tables == 0:
        return True
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program, not a results store. Choose another file.")
    if found != SCHEMA_VERSION:
        newer = "a newer" if found > SCHEMA_VERSION else "an older"
        raise StoreError(
            f"The results store {path} was made by {newer} release of imrc (format {found}; this one uses "
            f"{SCHEMA_VERSION}). Use that release, or choose another place with --store."
        )
    return False


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new store; let readers and one writer work at once.

    Committed cells survive the end of any process. Only a power cut can take the last ones, and then leaves the file
    whole (synchronous = NORMAL).
    """
    _is_new(connection, path)  # nothing of another program's file is touched
    # While another connection is open the mode cannot be set; it is then what that one, or the next, makes it.
    with contextlib.suppress(sqlite3.OperationalError):
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
            connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Looked at again: another process may have made the tables while this one waited.
        for statement in _SCHEMA if _is_new(connection, path) else ():
            connection.execute(statement)


def _opened(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open a store, making it unless `read_only`; an obstacle is a `StoreError`."""
    mode = 0
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            mode = path.stat().st_mode
    except OSError as error:
        raise StoreError(f"{path} cannot be reached: {error.strerror or error}. Check its folder.") from error
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} is a folder. Name a file in it, for example {path / 'results.sqlite'}.")
    if not path.parent.is_dir():
        raise StoreError(f"The folder {path.parent} does not exist. Make it, or choose another place with --store.")
    if read_only and not mode:
        raise StoreError(f"There is no results store {path}. The command imrc sweep makes one.")
    with _translated(path):
        connection = _connect_for_reading(path) if read_only else _connect(path, "mode=rwc")
        try:
            _is_new(connection, path) if read_only else _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


@dataclass(frozen=True)
class StoredRun:
    """A run whose first repetitions are in a store, made by the code that is running."""

    dataset: str
    tasks: int
    fingerprint: str
    settings: RunSettings  # its `repetitions` is how many are there
    finished_at: str  # the last of them, ISO 8601, UTC


class ResultStore:
    """Finished cells in one SQLite file that several processes may read and write at once; `in` looks for a key.

    The file is made if it does not exist, unless it is only to be read. `damaged`: runs that `runs`, called last, could
    not read. Every method raises StoreError if the file is not a results store, is damaged, locked, cannot be read or
    written, or the disk is full; the message says what to do.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path).expanduser()
        self.damaged = 0
        self._connection = _opened(self.path, read_only=read_only)

    def __enter__(self) -> ResultStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        self._connection.close()

    def _execute(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - what SQLite takes
        with _translated(self.path):
            return self._connection.execute(statement, values).fetchall()

    def __len__(self) -> int:
        return int(self._execute("SELECT count(*) FROM cells")[0][0])

    def __contains__(self, key: object) -> bool:
        return bool(self._execute("SELECT 1 FROM cells WHERE key = ?", (key,)))

    def put(self, cell: Cell, record: Record) -> bool:
        """Return whether a finished cell was kept, in one transaction; False if it was there already."""
        s, used = cell.settings, uses(cell.settings)
        row = (
            cell.key, cell.dataset, cell.fingerprint, cell.tasks, features_text(s.features), s.n, used.get("b"),
            used.get("W"), _preset(s), method_of(s), s.seed, cell.repetition, cell.code, json.dumps(s.to_json()),
            record.seconds, record.wall_s, record.state, record.versions,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        scores = [(cell.key, i, *(score[name] for name in _SCORES)) for i, score in enumerate(record.rows)]
        with _translated(self.path), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            insert = f"INSERT INTO cells VALUES ({', '.join('?' * len(row))}) ON CONFLICT (key) DO NOTHING"  # noqa: S608
            if connection.execute(insert, row).rowcount == 0:
                return False
            connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", scores)
            connection.execute("INSERT INTO arrays VALUES (?, ?)", (cell.key, record.content))
        return True

    def frame(self, *, current: bool = True, **filters: Any) -> pd.DataFrame:  # noqa: ANN401 - values of columns
        """Return the numbers of finished cells: one row per cell and rule.

        Columns `imrc.sweeps.COLUMNS`: what was run (repetition from 1; b, W and preset empty where the method does not
        use them), the rule or method, its errors (`imrc.evaluation.HEADLINES`), minimax risk, effective samples,
        and facts of the cell. `current`: only cells of the code that runs, see column ``code``. `filters` are
        columns with the value, or list of values, to keep: ``frame(dataset="spam", n=[10, 50])``.
        """
        import pandas as pd

        names = ", ".join({"k": "tasks"}.get(name, name) for name in COLUMNS)
        order = f"{names.partition(', rule')[0]}, key, position"
        rows = self._execute(f"SELECT {names} FROM cells JOIN scores USING (key) ORDER BY {order}")  # noqa: S608
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        table["repetition"] += 1  # counted from 1 for people
        table = table.astype(dict.fromkeys((*_SCORES[1:], "seconds", "wall_s", "state"), "float64"))
        table = table.astype({"b": "Int64", "W": "Int64", "n": "int64", "k": "int64", "repetition": "int64"})
        if current:
            table = table[table["code"] == table["method"].map(_current)]
        for name, wanted in filters.items():
            if name not in COLUMNS:
                raise ValueError(f"{name!r} is no column of the results; there are {', '.join(COLUMNS)}.")
            table = table[table[name].isin(list(wanted) if isinstance(wanted, list | tuple | set) else [wanted])]
        return table.reset_index(drop=True)

    def result(self, fingerprint: str, settings: RunSettings) -> RunResult | None:
        """Return a run of one method put together from its stored repetitions, or None if one of them is missing.

        It equals what `evaluate` computes, except for the seconds, which are those of the stored run; the fingerprint
        is of the sequence, cut to its tasks. Every repetition must have been made by the code that is running.
        """
        keys = [cell_key(fingerprint, settings, repetition) for repetition in range(settings.repetitions)]
        content = [row for key in keys for row in self._execute("SELECT content FROM arrays WHERE key = ?", (key,))]
        if len(content) < len(keys):
            return None
        try:
            return join_repetitions([RunResult.from_bytes(part) for (part,) in content], settings)
        except ValueError as error:
            raise StoreError(f"A result in {self.path} is damaged: {error}") from error

    def runs(self, method: str = "imrc") -> list[StoredRun]:
        """Return the runs of a method that can be shown without computing, newest first.

        A run counts up to its first missing repetition; only cells made by the code that is running are listed. Runs
        whose row is damaged are left out and counted in `damaged`.
        """
        run = "dataset, tasks, fingerprint, features, n, b, W, preset, seed"
        there = f"SELECT *, row_number() OVER (PARTITION BY {run} ORDER BY repetition) - 1 AS place FROM cells"  # noqa: S608
        found = self._execute(
            f"SELECT dataset, tasks, fingerprint, settings, count(*), max(finished_at) FROM ({there} "  # noqa: S608
            f"WHERE method = ? AND code = ?) WHERE repetition = place GROUP BY {run}",
            (method, _current(method)),
        )
        runs = []
        for dataset, tasks, fingerprint, text, repetitions, at in found:
            # One bad row must not hide all the others.
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                settings = RunSettings.from_json({**json.loads(text), "repetitions": repetitions})
                runs.append(StoredRun(dataset, tasks, fingerprint, settings, str(at)))
        self.damaged = len(found) - len(runs)
        return sorted(runs, key=lambda run: run.finished_at, reverse=True)

    def export(self, path: str | Path, **filters: Any) -> int:  # noqa: ANN401 - as for `frame`
        """Write `frame` to a CSV or Parquet file, by its ending, and return the number of rows; `filters` as there.

        StoreError: the file cannot be written.
        """
        path = check_export(path)
        table = self.frame(**filters)
        try:
            (table.to_csv if path.suffix.lower() == ".csv" else table.to_parquet)(path, index=False)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
        return len(table)


def check_export(path: str | Path) -> Path:
    """Return the path of a file to export to; raise ValueError unless it ends in .csv or .parquet."""
    path = Path(path).expanduser()
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"The file to export to must end in .csv or .parquet; got {path.name!r}.")
    return path


def _preset(settings: RunSettings) -> str | None:
    """Return IMRC's preset as one word, with the values that replace its own in brackets."""
    if method_of(settings) != "imrc":
        return None
    values = dict(settings.overrides)
    if settings.computed.scenario != "continual":
        values["scenario"] = settings.scenario
    changed = ", ".join(f"{name}={value}" for name, value in values.items())
    return f"{settings.preset}({changed})" if changed else settings.preset


def _current(method: str) -> str | None:
    """Code version of a method now, None for a method there is no longer."""
    return code_version(method) if method == "imrc" or method.partition(":")[0] in registry else None
