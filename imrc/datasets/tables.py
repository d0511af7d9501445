"""A person's own table as a sequence of tasks: `open_table` reads it, `cut_table` cuts it, `read_table` does both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice, check_int, check_real
from imrc.datasets._columns import Column, clean_name
from imrc.datasets._cut import (
    MAX_TASKS,
    PERIODS,
    ColumnUse,
    Features,
    Period,
    encode_labels,
    gather_features,
    suggested_period,
    tasks_by_column,
)
from imrc.datasets._open import LIMITS_IN_WORDS, MAX_CELLS, Table, open_table
from imrc.datasets.errors import DataError
from imrc.tasks import LEAST_FREQUENT, Task, TaskSequence

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LIMITS_IN_WORDS",
    "Column",
    "ColumnUse",
    "Cut",
    "Period",
    "Table",
    "cut_table",
    "open_table",
    "read_table",
    "suggested_period",
]

SMALLEST_TASK = 4
"""Samples a task needs so that both halves of a split have two."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A table cut into tasks, and everything that was decided on the way.

    Attributes
    ----------
    sequence : TaskSequence
        The tasks.
    columns : tuple of ColumnUse
        What became of each column.
    rows_read, rows_used : int
        Rows of the table, and rows in tasks.
    dropped : tuple of (str, int)
        Why rows were left out, and how many.
    small_tasks : tuple of (str, int)
        Tasks too small to split into training and test samples, with their sizes; they were left out.
    notes : tuple of str
        Everything else, in words.
    """

    sequence: TaskSequence
    columns: tuple[ColumnUse, ...]
    rows_read: int
    rows_used: int
    dropped: tuple[tuple[str, int], ...]
    small_tasks: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]

    def task_table(self) -> pd.DataFrame:
        """Return one row per task: number from 1, name, rows, and rows of each class."""
        import pandas as pd

        counts = self.sequence.class_counts()
        frame = pd.DataFrame({"task": np.arange(1, len(counts) + 1), "name": self.sequence.labels})
        frame["rows"] = counts.sum(axis=1)
        for c, name in enumerate(self.sequence.class_names):
            frame[f"class {name}"] = counts[:, c]
        return frame

    def column_table(self) -> pd.DataFrame:
        """Return one row per column: name, what it is used as, features it gives, missing values, note."""
        import pandas as pd

        return pd.DataFrame(
            [(use.name, use.use, use.features, use.missing, use.note) for use in self.columns],
            columns=["column", "used as", "features", "missing", "note"],
        )

    def in_words(self) -> list[str]:
        """Return what a person must know, one sentence each."""
        sentences = [f"{self.rows_used:,} of {self.rows_read:,} rows are used, in {len(self.sequence):,} tasks."]
        sentences += [f"{count:,} rows left out: {why}." for why, count in self.dropped]
        if self.small_tasks:
            named = ", ".join(f"{name!r} ({rows} row{'s' * (rows != 1)})" for name, rows in self.small_tasks[:5])
            more = f" and {len(self.small_tasks) - 5:,} more" if len(self.small_tasks) > 5 else ""
            sentences.append(f"Tasks too small to split into training and test samples are left out: {named}{more}.")
        # The schema, what a column is, comes from the whole file; everything learnt from values does not.
        words = [use for use in self.columns if use.use == "words"]
        if any(use.use in ("numbers", "date", "words") for use in self.columns):
            sentences.append(
                "Whether a column holds numbers, dates or words, and which labels there are, is taken from the whole "
                "file. Everything else that is learnt about columns comes from the training rows of the first task "
                "only, the ones not kept for testing. A column of numbers that never changes there, unless it is "
                f"always 0 or 1, or is more than {self.sequence.max_missing:.0%} empty there, is left out."
            )
        sentences += _in_list(
            "Missing numbers become the median of their column there",
            [f"{use.name!r} ({use.missing:,} cells)" for use in self.columns if use.missing and "median" in use.note],
        )
        sentences += _in_list(
            f"Words that occur at least {LEAST_FREQUENT} times there get a 0/1 column each, at most "
            f"{self.sequence.max_categories} of a column; its rarer words share one more, with those first met later",
            [f"{use.name!r} ({use.note})" for use in words],
        )
        gone = [f"{use.name!r} ({use.note})" for use in self.columns if use.use == "dropped"]
        return [*sentences, *_in_list("Columns left out", gone), *self.notes]


def _in_list(what: str, items: list[str]) -> list[str]:
    """Return one sentence that lists the first items, or none."""
    more = f" and {len(items) - 5:,} more" if len(items) > 5 else ""
    return [f"{what}: {', '.join(items[:5])}{more}."] if items else []


def _used_rows(table: Table, label: Column, task: Column | None) -> tuple[NDArray[np.int64], list[tuple[str, int]]]:
    _, labelled = encode_labels(label)
    dropped = []
    keep = labelled.copy()
    if not labelled.all():
        dropped.append((f"no label in column {label.name!r}", int((~labelled).sum())))
    if task is not None:
        placed = task.present
        without = int((labelled & ~placed).sum())
        if without:
            dropped.append((f"no value in the task column {task.name!r}", without))
        keep &= placed
    if not keep.any():
        raise DataError("No row has both a label and a task.")
    return np.flatnonzero(keep), dropped


def _task_numbers(
    task: Column | None, block: int | None, rows: NDArray[np.int64], period: Period
) -> tuple[NDArray[np.int64], list[str], str]:
    if task is not None:
        return tasks_by_column(task, rows, period)
    if block is None:
        raise DataError("Say how rows become tasks: name a task column, or the number of rows of a block.")
    if block > len(rows):
        raise DataError(f"A block of {block:,} rows is longer than the {len(rows):,} rows that can be used.")
    count = len(rows) // block
    if count > MAX_TASKS:
        raise DataError(
            f"Blocks of {block:,} rows make {count:,} tasks; at most {MAX_TASKS:,} are possible. Use larger blocks."
        )
    numbers = np.arange(len(rows)) // block
    numbers[numbers >= count] = -1
    return numbers, [""] * count, "in the order of the file"


def cut_table(
    table: Table,
    *,
    label: str | int,
    task: str | int | None = None,
    block: int | None = None,
    period: Period | Literal["auto"] = "auto",
    exclude: Collection[str | int] = (),
    max_categories: int = 20,
    max_missing: float = 0.5,
    min_samples: int = SMALLEST_TASK,
) -> Cut:
    r"""Cut a table into tasks.

    Parameters
    ----------
    table : Table
        From `open_table`.
    label : str or int
        Column to predict, by name or position; at most 50 classes.
    task : str or int, optional
        Column whose values are the tasks: numbers and dates in increasing order, anything else in order of first
        appearance.
    block : int, optional
        Instead of a column: tasks are blocks of so many rows in file order; rows left over at the end are dropped.
    period : {"auto", "value", "day", "week", "month", "quarter", "year"}
        For a task column of dates: what makes one task. "auto": the shortest that gives 20 rows a task on average.
    exclude : collection of str or int
        Columns not to learn from.
    max_categories : int
        Most 0/1 columns made of the words of one column (1 to 200); rarer words share one more.
    max_missing : float
        Columns of numbers with a larger share of missing values among the training rows of the first task are left out
        there. 0 to 1.
    min_samples : int
        Tasks with fewer rows are left out and named. At least 2.

    Returns
    -------
    Cut

    Raises
    ------
    DataError
        If the choice does not make at least two tasks with two classes; the message says why.

    Examples
    --------
    >>> rows = "".join(f"{2000 + i // 4},{i % 3},{'ab'[i % 2]}\n" for i in range(12))
    >>> cut = cut_table(open_table(b"year,x,y\n" + rows.encode()), label="y", task="year")
    >>> cut.sequence.labels, cut.sequence.class_counts().tolist()
    (('2000', '2001', '2002'), [[2, 2], [2, 2], [2, 2]])
    """
    max_categories = check_int("max_categories", max_categories, 1, 200)
    max_missing = check_real("max_missing", max_missing, 0.0, 1.0)
    min_samples = check_int("min_samples", min_samples, 2)
    block = None if block is None else check_int("block", block, 2)
    if task is not None and block is not None:
        raise DataError("Give a task column or a block size, not both.")
    label_column = table.column(label)
    task_column = None if task is None else table.column(task)
    if task_column is not None and task_column.name == label_column.name:
        raise DataError(f"Column {label_column.name!r} cannot be both the label and the task.")
    if task_column is not None and task_column.kind == "empty":
        raise DataError(f"The task column {task_column.name!r} is empty.")
    check_choice("period", period, ("auto", *PERIODS))
    if period == "auto":
        period = suggested_period(task_column) if task_column is not None and task_column.kind == "date" else "value"

    rows, dropped = _used_rows(table, label_column, task_column)
    numbers, names, order = _task_numbers(task_column, block, rows, period)
    sizes = np.bincount(numbers[numbers >= 0], minlength=len(names))
    small = [(names[j] or str(j + 1), int(sizes[j])) for j in np.flatnonzero(sizes < min_samples)]
    kept = np.flatnonzero(sizes >= min_samples)
    if len(kept) < 2:
        raise DataError(_too_few_tasks(task_column, block, len(names), small, min_samples))
    left_over = int((numbers < 0).sum())
    if left_over:
        dropped.append(("rows left over after the last full block", left_over))
    used = np.isin(numbers, kept)
    rows, numbers = rows[used], np.searchsorted(kept, numbers[used])
    names = [names[j] for j in kept]

    skip = {label_column.name, *((task_column.name,) if task_column else ())}
    skip |= {table.column(which).name for which in exclude}
    arrange = np.argsort(numbers, kind="stable")
    rows, numbers = rows[arrange], numbers[arrange]
    features, uses = gather_features(table, rows, skip, cap=max_categories, max_cells=MAX_CELLS)
    labels, _ = encode_labels(label_column)
    y = labels[rows]
    if len(np.unique(y)) < 2:
        raise DataError(
            f"All rows left have the same label in column {label_column.name!r}. Two or more classes are needed."
        )
    notes = [f"Tasks come {order}" + (f", one per {period}." if period != "value" else "."), *_notes(y, numbers, names)]
    return Cut(
        sequence=replace(
            _sequence(table, features, y, numbers, names), max_categories=max_categories, max_missing=max_missing
        ),
        columns=(*_roles(label_column, task_column, rows), *uses),
        rows_read=table.n_rows,
        rows_used=len(rows),
        dropped=tuple(dropped),
        small_tasks=tuple(small),
        notes=tuple(notes),
    )


def _too_few_tasks(
    task: Column | None, block: int | None, found: int, small: list[tuple[str, int]], min_samples: int
) -> str:
    what = f"Column {task.name!r}" if task is not None else f"Blocks of {block} rows"
    if found < 2:
        return (
            f"{what} make{'s' if task is not None else ''} only one task. At least two tasks are needed: choose "
            "another column or smaller blocks."
        )
    named = ", ".join(f"{name!r} ({rows})" for name, rows in small[:5])
    return (
        f"{what}: fewer than two of {found:,} tasks have the {min_samples} rows a task needs to be split into training "
        f"and test samples. Too small are: {named}{' …' if len(small) > 5 else ''}. Choose a coarser task column or "
        "larger blocks."
    )


def _roles(label: Column, task: Column | None, rows: NDArray[np.int64]) -> list[ColumnUse]:
    roles = [ColumnUse(label.name, "label", 0, label.missing, "what is predicted")]
    if task is not None:
        roles.append(ColumnUse(task.name, "task", 0, task.missing, "which task a row belongs to"))
    return roles


def _notes(y: NDArray[Any], numbers: NDArray[np.int64], names: list[str]) -> list[str]:
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.zeros((len(names), len(classes)), dtype=np.int64)
    np.add.at(counts, (numbers, codes), 1)
    single = np.flatnonzero((counts > 0).sum(axis=1) == 1)
    if not single.size:
        return []
    first = ", ".join(repr(names[j] or str(j + 1)) for j in single[:5])
    return [f"{len(single):,} of {len(names):,} tasks hold one class only: {first}{' …' if len(single) > 5 else ''}."]


def _sequence(
    table: Table, features: Features, y: NDArray[Any], numbers: NDArray[np.int64], names: list[str]
) -> TaskSequence:
    # Read-only arrays are sliced by the tasks instead of copied.
    X = features.values
    X.flags.writeable = False
    y.flags.writeable = False
    edges = np.searchsorted(numbers, np.arange(len(names) + 1))
    tasks = tuple(Task(X[a:b], y[a:b], name, True) for a, b, name in zip(edges[:-1], edges[1:], names, strict=True))
    return TaskSequence(
        tasks,
        name=table.name,
        description=f"Your file {table.name}",
        feature_names=features.names,
        info={"source": "your own file", "licence": "yours", "file_sha256": table.sha256},
        column_kinds=features.kinds,
        categories=features.categories,
    )


def read_table(
    source: str | Path | bytes | BinaryIO | pd.DataFrame,
    *,
    label: str | int,
    task: str | int | None = None,
    block: int | None = None,
    name: str | None = None,
    **options: Any,  # noqa: ANN401 - passed on to cut_table, which checks them
) -> TaskSequence:
    r"""Read a person's own table and cut it into tasks.

    CSV, TSV, text in columns, ARFF and Parquet (also zipped or gzipped), or a pandas DataFrame. Rows without a label or
    a task are left out. ``sequence.info["report"]`` says all that was done in words. Nothing is written to disk or
    executed.

    Columns stand in the tasks as they were read: NaN where a cell is empty, days for dates, and for words numbers that
    say which word it is (``sequence.categories``). `imrc.evaluate` and everything else that takes a sequence fills gaps
    and turns words into 0/1 columns with what is learnt from the training rows of the first task, so that nothing of
    later tasks or of test rows is known beforehand. A learner that is given tasks directly needs that done first::

        features = imrc.features.make("identity", sequence)  # or "automatic", "standardised", ...
        for task in sequence:
            model.partial_fit(features.transform(task.X), task.y, classes=sequence.classes)

    Only a table of numbers without gaps can do without.

    Parameters
    ----------
    source : path, bytes, open binary file, or DataFrame
        The table.
    label : str or int
        Column to predict.
    task : str or int, optional
        Column whose values are the tasks.
    block : int, optional
        Rows per task, in file order, instead of a task column.
    name : str, optional
        Name of the sequence.
    **options
        ``period``, ``exclude``, ``max_categories``, ``max_missing``, ``min_samples`` of `cut_table`.

    Returns
    -------
    TaskSequence
        With ``column_kinds``, ``categories`` and ``info["report"]``.

    Raises
    ------
    DataError
        If the table cannot be read or does not make tasks; the message names row and column.

    Examples
    --------
    >>> text = b"x,sex,risk\n" + b"1,f,no\n2,m,yes\n3,f,yes\n4,m,no\n" * 3
    >>> sequence = read_table(text, label="risk", block=4)
    >>> sequence
    TaskSequence('table', 3 tasks, 12 samples, 2 features, 2 classes)
    >>> sequence.feature_names, sequence.column_kinds, sequence.categories
    (('x', 'sex'), ('undeclared', 'category'), {1: ('f', 'm')})
    >>> sequence[0].X[:2].tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    table = open_table(source, name=name)
    cut = cut_table(table, label=label, task=task, block=block, **options)
    info = {**cut.sequence.info, "report": (*table.notes, *cut.in_words())}
    title = clean_name(name).rsplit(".", 1)[0] if name else cut.sequence.name
    return replace(cut.sequence, name=title, info=info)
