"""`ResultStore`: finished cells in one SQLite file, one transaction each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imrc._checks import InputError
from imrc.baselines import registry
from imrc.evaluation import RunResult, RunSettings, join_repetitions
from imrc.sweeps.cell import Cell, Record, cell_key, code_version, features_text, method_of, uses
from imrc.sweeps.database import StoreError, open_database, translated

if TYPE_CHECKING:
    import pandas as pd

_RUN = ("dataset", "features", "n", "k", "b", "W", "preset", "method", "seed", "repetition")
_SCORES = ("rule", "average", "newest", "lag", "released", "before", "risk", "ess")
_FACTS = ("seconds", "wall_s", "state", "finished_at", "versions", "code", "fingerprint", "key")
COLUMNS = (*_RUN, *_SCORES, *_FACTS)


@dataclass(frozen=True)
class StoredRun:
    """A run whose first repetitions are in a store, made by the code that is running."""

    dataset: str
    tasks: int
    fingerprint: str
    settings: RunSettings  # its `repetitions` is how many are there
    finished_at: str  # the last of them, ISO 8601, UTC


def _preset(settings: RunSettings) -> str | None:
    """Return IMRC's preset as one word, with the values that replace its own in brackets."""
    if method_of(settings) != "imrc":
        return None
    values = dict(settings.overrides)
    if settings.computed.scenario != "continual":
        values["scenario"] = settings.scenario
    changed = ", ".join(f"{name}={value}" for name, value in values.items())
    return f"{settings.preset}({changed})" if changed else settings.preset


def check_export(path: str | Path) -> Path:
    """Return the path of a file to export to; raise ValueError unless it ends in .csv or .parquet."""
    path = Path(path).expanduser()
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"The file to export to must end in .csv or .parquet; got {path.name!r}.")
    return path


class ResultStore:
    """Finished cells in one SQLite file that several processes may read and write at once.

    Parameters
    ----------
    path : str or Path
        The file. It is made if it does not exist; its folder must.
    read_only : bool
        True: nothing is written, the file must exist.

    Attributes
    ----------
    damaged : int
        Runs that `runs`, called last, could not read.

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
        self.damaged = 0
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

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Give the connection; what begins a transaction in the block is committed with it, or rolled back."""
        if self._connection is None:
            raise StoreError(f"The results store {self.path} is closed.")
        with translated(self.path), self._connection as connection:
            yield connection

    def _execute(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - what SQLite takes
        with self._open() as connection:
            return connection.execute(statement, values).fetchall()

    def __len__(self) -> int:
        return int(self._execute("SELECT count(*) FROM cells")[0][0])

    def put(self, cell: Cell, record: Record) -> bool:
        """Keep a finished cell, in one transaction.

        Parameters
        ----------
        cell : Cell
            What was run.
        record : Record
            What it left.

        Returns
        -------
        bool
            False if it was there already.
        """
        s, used = cell.settings, uses(cell.settings)
        row = (
            cell.key, cell.dataset, cell.fingerprint, cell.tasks, features_text(s.features), s.n, used.get("b"),
            used.get("W"), _preset(s), method_of(s), s.seed, cell.repetition, cell.code, json.dumps(s.to_json()),
            record.seconds, record.wall_s, record.state, record.versions,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        scores = [(cell.key, i, *(score[name] for name in _SCORES)) for i, score in enumerate(record.rows)]
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            insert = f"INSERT INTO cells VALUES ({', '.join('?' * len(row))}) ON CONFLICT (key) DO NOTHING"  # noqa: S608
            if connection.execute(insert, row).rowcount == 0:
                return False
            connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", scores)
            connection.execute("INSERT INTO arrays VALUES (?, ?)", (cell.key, record.content))
        return True

    def __contains__(self, key: object) -> bool:
        return bool(self._execute("SELECT 1 FROM cells WHERE key = ?", (key,)))

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys whose cells are finished.

        Parameters
        ----------
        keys : iterable of str
            Of cells, see `cell_key`.
        """
        return set(keys) & {row[0] for row in self._execute("SELECT key FROM cells")}

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

        Raises
        ------
        StoreError
            If a stored repetition is damaged.
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

        Parameters
        ----------
        method : str
            "imrc" or the name of a compared method.
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
                counted[place] = (count + 1, settings, max(latest, str(row[5])))
        complete = [(place, _settings(text, count), at) for place, (count, text, at) in counted.items() if count]
        runs = [
            StoredRun(place[0], place[1], place[2], settings, at)
            for place, settings, at in complete
            if settings is not None
        ]
        self.damaged = len(complete) - len(runs)
        return sorted(runs, key=lambda run: run.finished_at, reverse=True)

    def export(self, path: str | Path, **filters: Any) -> int:  # noqa: ANN401 - as for `frame`
        """Write `frame` to a CSV or Parquet file, by its ending.

        Parameters
        ----------
        path : path-like
            File to write; its ending is .csv or .parquet.
        **filters
            As for `frame`.

        Returns
        -------
        int
            Number of rows.

        Raises
        ------
        ValueError
            For another ending.
        StoreError
            If the file cannot be written.
        """
        path = check_export(path)
        table = self.frame(**filters)
        try:
            if path.suffix.lower() == ".csv":
                table.to_csv(path, index=False)
            else:
                table.to_parquet(path, index=False)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
        return len(table)


def _current(method: str) -> str | None:
    """Code version of a method now, None for a method there is no longer."""
    return code_version(method) if method == "imrc" or method.partition(":")[0] in registry else None


def _settings(text: str, repetitions: int) -> RunSettings | None:
    """Return the settings of a stored cell, None if they are damaged: one bad row must not hide all the others."""
    try:
        return RunSettings.from_json({**json.loads(text), "repetitions": repetitions})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
