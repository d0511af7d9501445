"""`ResultStore`: finished cells in one SQLite file, a row each, and its errors in words a person can use."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imrc._checks import ENDINGS, check_place
from imrc.baselines import registry
from imrc.evaluation import RunResult, RunSettings, join_repetitions
from imrc.sweeps.cell import ERRORS, Cell, Record, cell_key, code_version, method_of, uses

if TYPE_CHECKING:
    import pandas as pd

RUN = ("dataset", "features", "n", "k", "b", "W", "preset", "method")
_CELL = (*RUN, "seed", "repetition")
_SCORES = ("rule", *ERRORS, "risk", "ess")
_FACTS = ("seconds", "wall_s", "state", "finished_at", "versions", "code", "fingerprint", "key")
COLUMNS = (*_CELL, *_SCORES, *_FACTS)
# Scores, a list with an entry per rule, and settings are JSON. The arrays, which are large, are last: questions about
# the rest do not read them.
_STORED = (*_CELL, *_FACTS, "scores", "settings", "content")

APPLICATION_ID = 0x494D5243  # "IMRC"
SCHEMA_VERSION = 2
_SCHEMA = f"""BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS cells ({", ".join(_STORED)}, PRIMARY KEY (key));
    PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"""
_BUSY_S = 60.0  # how long one waits for another writer; a transaction takes some milliseconds
# What an error of SQLite means for a person, by the beginning of its name.
_TOLD = {
    "NOTADB": "is not an SQLite database, so it is not a results store. Choose another file",
    "CORRUPT": "is damaged. Move it away, and the sweep will create a new one",
    "FULL": "cannot grow: the disk (or quota) is full. Free some space and run the same command again",
    "READONLY": "cannot be written. Allow writing to the file and its folder, or choose another place with --store",
    "BUSY": f"has been locked by another program for {_BUSY_S:.0f} s. Close it and start again",
    "CANTOPEN": "cannot be opened. It must be a file in an existing folder that you can read; imrc sweep creates it",
}


class StoreError(OSError):
    """A results store that cannot be read or written; the message names it, the reason and a way out."""


class ResultStore(contextlib.AbstractContextManager["ResultStore"]):
    """Finished cells in one SQLite file that several processes may read and write at once; `in` looks for a key.

    With `create`, a missing file is made. Committed cells survive the end of any process. Every method may raise a
    StoreError that says what to do.
    """

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path).expanduser()
        place = f"{self.path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        with self._translated(), contextlib.ExitStack() as undo:
            # What may not be written is opened for reading; no file beside it is needed for that.
            self._connection = sqlite3.connect(place, uri=True, timeout=_BUSY_S, isolation_level=None)
            undo.callback(self.close)
            ours, version, tables = (
                self._execute(question)[0][0]
                for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
            )
            if ours == tables == 0:
                self._connection.executescript(_SCHEMA)
            elif ours != APPLICATION_ID:
                raise StoreError(f"{path} is a database of another program, not a results store. Choose another file.")
            elif version != SCHEMA_VERSION:
                raise StoreError(
                    f"The results store {path} was made by another release of imrc (format {version}; this one uses "
                    f"{SCHEMA_VERSION}). Use that release, or choose another place with --store."
                )
            undo.pop_all()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        self._connection.close()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn errors of SQLite into `StoreError`."""
        try:
            yield
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
            told = (text for name, text in _TOLD.items() if code.startswith(name))
            reason = next(told, f"cannot be used: {error}")
            raise StoreError(f"The results store {self.path} {reason}. Finished cells are kept.") from error

    def _execute(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - what SQLite takes
        with self._translated():
            return self._connection.execute(statement, values).fetchall()

    def __len__(self) -> int:
        return int(self._execute("SELECT count(*) FROM cells")[0][0])

    def __contains__(self, key: object) -> bool:
        return bool(self._execute("SELECT 1 FROM cells WHERE key = ?", (key,)))

    def put(self, cell: Cell, record: Record) -> bool:
        """Return whether a finished cell was kept; False if it was there already."""
        s, used = cell.settings, uses(cell.settings)
        row = {
            **vars(cell), **record,
            "features": s.features.kind, "n": s.n, "k": cell.tasks, "b": used.get("b"), "W": used.get("W"),
            "preset": _preset(s), "method": method_of(s), "seed": s.seed, "key": cell.key,
            "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": json.dumps(s.to_json()),
        }  # fmt: skip
        new = f"INSERT INTO cells VALUES ({', '.join('?' * len(_STORED))}) ON CONFLICT (key) DO NOTHING RETURNING 1"  # noqa: S608
        return bool(self._execute(new, [row[name] for name in _STORED]))

    def frame(self, *, current: bool = True, **filters: Any) -> pd.DataFrame:  # noqa: ANN401 - values of columns
        """Return the numbers of finished cells, `current`: of the code that runs, one row per cell and rule.

        Columns `imrc.sweeps.COLUMNS`: what was run (repetition from 1; nothing where a method does not use it), the
        rule, its errors (`imrc.evaluation.HEADLINES`), and facts. `filters` are columns with the value, or list of
        values, to keep: ``frame(dataset="spam", n=[10, 50])``.
        """
        import pandas as pd

        names = (*_CELL, *_FACTS)
        order = ", ".join((*_CELL, "key"))
        found = self._execute(f"SELECT scores, {', '.join(names)} FROM cells ORDER BY {order}")  # noqa: S608
        rows = [dict(zip(names, facts, strict=True)) | score for text, *facts in found for score in json.loads(text)]
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        table["repetition"] += 1  # counted from 1 for people
        table = table.astype(dict.fromkeys((*_SCORES[1:], "seconds", "wall_s", "state"), "float64"))
        table = table.astype({"b": "Int64", "W": "Int64", "n": "int64", "k": "int64", "repetition": "int64"})
        if current:
            known = [one for one in set(table["method"]) if one == "imrc" or one.partition(":")[0] in registry]
            table = table[table["code"] == table["method"].map({one: code_version(one) for one in known})]
        for name, wanted in filters.items():
            if name not in COLUMNS:
                raise ValueError(f"{name!r} is not a column of the results, which are {', '.join(COLUMNS)}.")
            table = table[table[name].isin(list(wanted) if isinstance(wanted, list | tuple | set) else [wanted])]
        return table.reset_index(drop=True)

    def result(self, fingerprint: str, settings: RunSettings) -> RunResult | None:
        """Return a run of one method from its stored repetitions, None if one made by the code that runs is missing.

        It equals what `evaluate` computes, except for the seconds; the fingerprint is of the sequence cut to its tasks.
        """
        keys = [cell_key(fingerprint, settings, repetition) for repetition in range(settings.repetitions)]
        content = [row for key in keys for row in self._execute("SELECT content FROM cells WHERE key = ?", (key,))]
        if len(content) < len(keys):
            return None
        try:
            return join_repetitions([RunResult.from_bytes(part) for (part,) in content], settings)
        except ValueError as error:
            raise StoreError(f"A result in {self.path} is damaged: {error}") from error

    def export(self, path: str | Path, **filters: Any) -> int:  # noqa: ANN401 - as for `frame`
        """Write `frame` to a CSV or Parquet file, by its ending, and return the number of rows."""
        path = check_place(path, *ENDINGS["export"])
        table = self.frame(**filters)
        (table.to_csv if path.suffix.lower() == ".csv" else table.to_parquet)(path, index=False)
        return len(table)


def _preset(settings: RunSettings) -> str | None:
    """Return IMRC's preset as one word, with a scenario that learns other rules in brackets."""
    if method_of(settings) != "imrc":
        return None
    return settings.preset + (f"(scenario={settings.scenario})" if settings.computed.scenario != "continual" else "")
