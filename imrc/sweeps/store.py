"""`ResultStore`: finished cells in one SQLite file, one transaction each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imrc.baselines import registry
from imrc.evaluation import RunResult, RunSettings, join_repetitions
from imrc.sweeps.cell import Cell, Failure, Record, cell_key, method_of, uses
from imrc.sweeps.database import open_database, translated
from imrc.sweeps.errors import StoreError
from imrc.sweeps.texts import check_export, features_text, preset_text
from imrc.sweeps.version import code_version

if TYPE_CHECKING:
    import pandas as pd

_CELL_COLUMNS = ("dataset", "features", "n", "tasks", "b", "W", "preset", "method", "seed", "repetition")
_SCORES = ("rule", "average", "newest", "lag", "released", "before", "risk", "ess")
_FACTS = ("seconds", "wall_s", "state", "finished_at", "versions", "code", "fingerprint", "key")
COLUMNS = tuple("k" if name == "tasks" else name for name in (*_CELL_COLUMNS, *_SCORES, *_FACTS))
_CHUNK = 500


@dataclass(frozen=True)
class StoredRun:
    """A run whose first repetitions are in a store, made by the code that is running.

    Attributes
    ----------
    dataset : str
        Name of the dataset.
    tasks : int
        Tasks k.
    fingerprint : str
        Of the sequence.
    settings : RunSettings
        Its `repetitions` is how many are there.
    finished_at : str
        When the last of them was finished, ISO 8601, UTC.
    """

    dataset: str
    tasks: int
    fingerprint: str
    settings: RunSettings
    finished_at: str


def _current(method: str) -> str | None:
    """Code version of a method now, None for a method there is no longer."""
    return code_version(method) if method == "imrc" or method.partition(":")[0] in registry else None


class ResultStore:
    """Finished cells in one SQLite file that several processes may read and write at once.

    Parameters
    ----------
    path : str or Path
        The file. It is made if it does not exist; its folder must.
    read_only : bool
        True: nothing is written, the file must exist.

    Raises
    ------
    StoreError
        From every method, if the file is not a results store, is damaged, locked, cannot be read or written, or the
        disk is full. The message says what to do.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with ResultStore(f"{folder.name}/results.sqlite") as store:
    ...     len(store), store.frame().columns[:3].tolist()
    (0, ['dataset', 'features', 'n'])
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path).expanduser()
        self._connection: sqlite3.Connection | None = open_database(self.path, read_only=read_only)

    def __enter__(self) -> ResultStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _execute(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - what SQLite takes
        if self._connection is None:
            raise StoreError(f"The results store {self.path} is closed.")
        with translated(self.path):
            return self._connection.execute(statement, values).fetchall()

    def _transaction(self, write: Callable[[sqlite3.Connection], bool]) -> bool:
        if self._connection is None:
            raise StoreError(f"The results store {self.path} is closed.")
        with translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                answer = write(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back by itself after some errors, a full disk for example.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            return answer

    def __len__(self) -> int:
        return int(self._execute("SELECT count(*) FROM cells")[0][0])

    def put(self, cell: Cell, record: Record) -> bool:
        """Keep a finished cell, in one transaction; return False if it was there already."""
        s, used = cell.settings, uses(cell.settings)
        method = method_of(s)
        row = (
            cell.key, cell.dataset, cell.fingerprint, cell.tasks, features_text(s.features), s.n,
            used.get("b"), used.get("W"), preset_text(s) if method == "imrc" else None, method, s.seed,
            cell.repetition, cell.code, json.dumps(s.to_json()), record.seconds, record.wall_s, record.state,
            record.versions, datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip

        def write(connection: sqlite3.Connection) -> bool:
            places = ", ".join("?" * len(row))
            if connection.execute(f"INSERT OR IGNORE INTO cells VALUES ({places})", row).rowcount == 0:  # noqa: S608
                return False
            connection.executemany(
                "INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(cell.key, i, *(score[name] for name in _SCORES)) for i, score in enumerate(record.rows)],
            )
            connection.execute("INSERT INTO arrays VALUES (?, ?)", (cell.key, record.content))
            connection.execute("DELETE FROM failures WHERE key = ?", (cell.key,))
            return True

        return self._transaction(write)

    def put_failure(self, cell: Cell, failure: Failure) -> None:
        """Keep why a cell could not be finished; it counts as not done, and a later success removes this."""
        when = datetime.now(UTC).isoformat(timespec="seconds")
        row = (cell.key, cell.title, failure.message, failure.details, failure.attempts, when)

        def write(connection: sqlite3.Connection) -> bool:
            connection.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?)", row)
            return True

        self._transaction(write)

    def __contains__(self, key: object) -> bool:
        return bool(self._execute("SELECT 1 FROM cells WHERE key = ?", (key,)))

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys whose cells are finished."""
        wanted, found = list(keys), set()
        for start in range(0, len(wanted), _CHUNK):
            part = wanted[start : start + _CHUNK]
            places = ", ".join("?" * len(part))
            found |= {row[0] for row in self._execute(f"SELECT key FROM cells WHERE key IN ({places})", part)}  # noqa: S608
        return found

    def failures(self) -> list[dict[str, Any]]:
        """Return what failed and was not finished since: title, message, details, attempts, failed_at, key."""
        names = ("title", "message", "details", "attempts", "failed_at", "key")
        rows = self._execute(f"SELECT {', '.join(names)} FROM failures ORDER BY failed_at, title")  # noqa: S608
        return [dict(zip(names, row, strict=True)) for row in rows]

    def seconds_like(self, cell: Cell) -> float | None:
        """Return how long finished cells took that differ in seed and repetition only; None if there are none."""
        s, used = cell.settings, uses(cell.settings)
        method = method_of(s)
        found = self._execute(
            "SELECT avg(wall_s) FROM cells WHERE method = ? AND dataset = ? AND features = ? AND tasks = ? AND n = ? "
            "AND b IS ? AND W IS ? AND preset IS ?",
            (
                method, cell.dataset, features_text(s.features), cell.tasks, s.n, used.get("b"), used.get("W"),
                preset_text(s) if method == "imrc" else None,
            ),
        )[0][0]  # fmt: skip
        return None if found is None else float(found)

    def _codes(self) -> dict[str, str]:
        found = [row[0] for row in self._execute("SELECT DISTINCT method FROM cells")]
        return {method: code for method in found if (code := _current(method)) is not None}

    def frame(self, *, current: bool = True, **filters: Any) -> pd.DataFrame:  # noqa: ANN401 - values of columns
        """Return the numbers of finished cells: one row per cell and rule.

        Parameters
        ----------
        current : bool
            True: only cells made by the code that is running; False: all. Column ``code`` tells them apart.
        **filters
            Columns of the table with the value, or list of values, to keep: ``frame(dataset="spam", n=[10, 50])``.

        Returns
        -------
        DataFrame
            Columns `imrc.sweeps.COLUMNS`: what was run (dataset, features, n, k, b, W, preset, method, seed, repetition
            from 1; b, W and preset empty where the method does not use them), the rule ("single", "forward",
            "forward_backward", or the method's name) with its errors (average, newest, lag, released; see
            `imrc.evaluation.HEADLINES`; before: test then train), minimax risk and effective sample size, and facts of
            the cell (processor seconds of learning, wall_s of everything, numbers kept, when, versions).

        Raises
        ------
        ValueError
            For a filter that is no column.
        """
        import pandas as pd

        names = {"k": "tasks"}
        clauses, values = [], []
        for name, wanted in filters.items():
            if name not in COLUMNS:
                raise ValueError(f"{name!r} is no column of the results; there are {', '.join(COLUMNS)}.")
            options = list(wanted) if isinstance(wanted, list | tuple | set) else [wanted]
            # Repetitions count from 1 for people.
            options = [value - 1 for value in options] if name == "repetition" else options
            clauses.append("(" + " OR ".join([f"{names.get(name, name)} IS ?"] * len(options) or ["0"]) + ")")
            values += [getattr(value, "item", lambda value=value: value)() for value in options]
        if current:
            codes = self._codes()
            clauses.append("(" + " OR ".join(["(method = ? AND code = ?)"] * len(codes) or ["0"]) + ")")
            values += [value for pair in codes.items() for value in pair]
        columns = ", ".join(
            f"cells.{name}" if name in (*_CELL_COLUMNS, *_FACTS) else name for name in self._sql_names()
        )
        rows = self._execute(
            f"SELECT {columns} FROM cells JOIN scores USING (key)"  # noqa: S608 - columns are names of our own
            + (f" WHERE {' AND '.join(clauses)}" if clauses else "")
            + f" ORDER BY {', '.join(f'cells.{name}' for name in _CELL_COLUMNS)}, cells.key, position",
            values,
        )
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        table["repetition"] += 1
        floats = [*_SCORES[1:], "seconds", "wall_s", "state"]
        table[floats] = table[floats].astype("float64")
        return table.astype({"b": "Int64", "W": "Int64", "n": "int64", "k": "int64", "repetition": "int64"})

    @staticmethod
    def _sql_names() -> list[str]:
        return ["tasks" if name == "k" else name for name in COLUMNS]

    def result(self, fingerprint: str, settings: RunSettings) -> RunResult | None:
        """Return a run put together from its stored repetitions, or None if one of them is missing.

        Parameters
        ----------
        fingerprint : str
            Of the sequence, cut to its tasks.
        settings : RunSettings
            What was run; one method. Every repetition must have been made by the code that is running.

        Returns
        -------
        RunResult or None
            Equal to what `evaluate` computes, except for the seconds, which are those of the stored run.
        """
        content = []
        for repetition in range(settings.repetitions):
            found = self._execute(
                "SELECT content FROM arrays WHERE key = ?", (cell_key(fingerprint, settings, repetition),)
            )
            if not found:
                return None
            content.append(found[0][0])
        try:
            return join_repetitions([RunResult.from_bytes(part) for part in content], settings)
        except ValueError as error:
            raise StoreError(f"A result in {self.path} is damaged: {error}") from error

    def runs(self, method: str = "imrc") -> list[StoredRun]:
        """Return the runs of a method that can be shown without computing, newest first.

        A run counts up to its first missing repetition. Only cells made by the code that is running are listed.
        """
        rows = self._execute(
            "SELECT dataset, tasks, fingerprint, repetition, settings, finished_at, features, n, b, W, preset, seed "
            "FROM cells WHERE method = ? AND code = ? ORDER BY repetition",
            (method, _current(method)),
        )
        counted: dict[tuple[Any, ...], tuple[int, str, str]] = {}
        for row in rows:
            place = (*row[:3], *row[6:])
            count, settings, latest = counted.get(place, (0, row[4], ""))
            if row[3] == count:
                counted[place] = (count + 1, settings, max(latest, row[5]))
        runs = [
            StoredRun(place[0], place[1], place[2], _settings(text, count), latest)
            for place, (count, text, latest) in counted.items()
            if count
        ]
        return sorted(runs, key=lambda run: run.finished_at, reverse=True)

    def export(self, path: str | Path, **filters: Any) -> int:  # noqa: ANN401 - as for `frame`
        """Write `frame` to a CSV or Parquet file, by its ending; return the number of rows.

        Raises
        ------
        ValueError
            For another ending.
        StoreError
            If the file cannot be written.
        """
        path = check_export(path)
        writers: Mapping[str, Callable[[pd.DataFrame], Any]] = {
            ".csv": lambda table: table.to_csv(path, index=False),
            ".parquet": lambda table: table.to_parquet(path, index=False),
        }
        table = self.frame(**filters)
        try:
            writers[path.suffix.lower()](table)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
        return len(table)

    def __iter__(self) -> Iterator[str]:
        """Keys of all finished cells, sorted."""
        return iter([row[0] for row in self._execute("SELECT key FROM cells ORDER BY key")])


def _settings(text: str, repetitions: int) -> RunSettings:
    return RunSettings.from_json({**json.loads(text), "repetitions": repetitions})
