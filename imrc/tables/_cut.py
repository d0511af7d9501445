"""Columns to tasks: which rows belong together, in which order, and what each column is used as."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError, check_choice, check_int, check_real
from imrc._types import Floats, Ints
from imrc.tables._columns import MAX_LISTED, Column
from imrc.tables._dates import Period
from imrc.tables._numbers import plain_number
from imrc.tables._open import Table
from imrc.tables._text import MAX_CELLS
from imrc.tasks import LEAST_FREQUENT, MAX_TASKS, ColumnKind, Task, TaskSequence

if TYPE_CHECKING:
    import pandas as pd

PERIODS: tuple[Period, ...] = get_args(Period)

CATEGORIES = (1, 200)
"""Fewest and most 0/1 columns that can be asked for of one column of words."""
MAX_FEATURES = 2000
MAX_CLASSES = 50
SMALLEST_TASK = 4
"""Samples a task needs so that both halves of a split have two."""

_DAY = 86_400
_KINDS: dict[str, ColumnKind] = {"category": "category", "date": "date", "number": "undeclared"}


NEARLY_ALL = 0.9
"""A class with a larger share of the rows is warned of."""


@dataclass(frozen=True)
class ColumnUse:
    """What became of one column.

    Attributes
    ----------
    name : str
        The column.
    use : {"label", "task", "numbers", "words", "date", "dropped"}
        What it is used as.
    features : int
        Most features it gives; how many words get one is learnt from the first task.
    missing : int
        Cells without a value among the rows used.
    note : str
        What becomes of its cells, or why it was dropped, in words.
    """

    name: str
    use: str
    features: int
    missing: int
    note: str


@dataclass(frozen=True, eq=False)
class Cut:
    """A table cut into tasks, with every decision made on the way.

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

    def warnings(self) -> list[str]:
        """Return what changes what a result means: rows and tasks left out, and a class that nearly all rows have."""
        sentences = [f"{count:,} rows left out: {why}." for why, count in self.dropped]
        if self.small_tasks:
            named = ", ".join(f"{name!r} ({rows} row{'s' * (rows != 1)})" for name, rows in self.small_tasks[:5])
            more = f" and {len(self.small_tasks) - 5:,} more" if len(self.small_tasks) > 5 else ""
            sentences.append(f"Tasks too small to split into training and test samples are left out: {named}{more}.")
        counts = self.sequence.class_counts().sum(axis=0)
        if counts.max() > NEARLY_ALL * counts.sum():
            sentences.append(
                f"{counts.max() / counts.sum():.1%} of the rows are of class "
                f"{self.sequence.class_names[int(counts.argmax())]!r}: who always answers that is wrong in "
                f"{1 - counts.max() / counts.sum():.1%} only. Look at the balanced error."
            )
        return sentences

    def in_words(self) -> list[str]:
        """Return what the user should know, one sentence each."""
        sentences = [f"{self.rows_used:,} of {self.rows_read:,} rows are used, in {len(self.sequence):,} tasks."]
        sentences += self.warnings()
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
    """Return one sentence that lists the first items, or nothing if there are none."""
    more = f" and {len(items) - 5:,} more" if len(items) > 5 else ""
    return [f"{what}: {', '.join(items[:5])}{more}."] if items else []


def cut_table(
    table: Table,
    *,
    label: str | int,
    task: str | int | None = None,
    block: int | None = None,
    period: Period | Literal["auto"] = "auto",
    exclude: Collection[str | int] = (),
    words: Collection[str | int] = (),
    threshold: float | Literal["median"] | None = None,
    max_categories: int = TaskSequence.max_categories,
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
    words : collection of str or int
        Columns of numbers or dates whose values are names (of shops, of products) and are used as words.
    threshold : float, "median" or None
        Makes two classes of a label of numbers: those above it, and the others.
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
    >>> from imrc.tables import open_table
    >>> rows = "".join(f"{2000 + i // 4},{i % 3},{'ab'[i % 2]}\n" for i in range(12))
    >>> cut = cut_table(open_table(b"year,x,y\n" + rows.encode()), label="y", task="year")
    >>> cut.sequence.labels, cut.sequence.class_counts().tolist()
    (('2000', '2001', '2002'), [[2, 2], [2, 2], [2, 2]])
    """
    max_categories = check_int("max_categories", max_categories, *CATEGORIES)
    max_missing = check_real("max_missing", max_missing, 0.0, 1.0)
    min_samples = check_int("min_samples", min_samples, 2)
    block = None if block is None else check_int("block", block, 2)
    if task is not None and block is not None:
        raise DataError("Give a task column or a block size, not both.")
    label_column = table.column(label)
    if threshold is not None:
        label_column = _above(label_column, threshold)
    task_column = None if task is None else table.column(task)
    if task_column is not None and task_column.name == label_column.name:
        raise DataError(f"Column {label_column.name!r} cannot be both the label and the task.")
    if task_column is not None and task_column.kind == "empty":
        raise DataError(f"The task column {task_column.name!r} is empty.")
    check_choice("period", period, ("auto", *PERIODS))
    if task_column is None or task_column.kind != "date":
        if period not in ("auto", "value"):
            what = "blocks of rows" if task_column is None else f"column {task_column.name!r}, which holds no dates"
            raise DataError(
                f"A task per {period} cannot be made of {what}. Leave the period out, or name a column of dates."
            )
        period = "value"
    elif period == "auto":
        period = suggested_period(task_column)
    elif period not in possible_periods(task_column):
        raise DataError(
            f"Column {task_column.name!r} holds one date per {task_column.period}; tasks cannot be shorter than that."
        )

    # Rows that can be used: those with a label and a task.
    labels, usable = _labels(label_column)
    dropped = []
    if not usable.all():
        dropped.append((f"no label in column {label_column.name!r}", int((~usable).sum())))
    if task_column is not None:
        if without := int((usable & ~task_column.present).sum()):
            dropped.append((f"no value in the task column {task_column.name!r}", without))
        usable = usable & task_column.present
    if not usable.any():
        raise DataError("No row has both a label and a task.")
    rows = np.flatnonzero(usable)

    # The task of each row; tasks that are too small are left out.
    if task_column is not None:
        numbers, names, order = _tasks_by_column(task_column, rows, period)
    else:
        numbers, names, order = _tasks_by_block(block, len(rows))
    sizes = np.bincount(numbers[numbers >= 0], minlength=len(names))
    small = [(names[j] or str(j + 1), int(sizes[j])) for j in np.flatnonzero(sizes < min_samples)]
    kept = np.flatnonzero(sizes >= min_samples)
    if len(kept) < 2:
        raise DataError(_too_few_tasks(task_column, block, len(names), small, min_samples))
    if left_over := int((numbers < 0).sum()):
        dropped.append(("rows left over after the last full block", left_over))
    used = np.isin(numbers, kept)
    rows, numbers, names = rows[used], np.searchsorted(kept, numbers[used]), [names[j] for j in kept]
    arrange = np.argsort(numbers, kind="stable")
    rows, numbers = rows[arrange], numbers[arrange]

    # Features and labels of these rows.
    roles = [ColumnUse(label_column.name, "label", 0, label_column.missing, "what is predicted")]
    if task_column is not None:
        roles.append(ColumnUse(task_column.name, "task", 0, task_column.missing, "which task a row belongs to"))
    skip = {role.name for role in roles} | {table.column(which).name for which in exclude}
    named = {table.column(which).name for which in words}
    usable_columns = [_as_words(column) if column.name in named else column for column in table.columns]
    columns, X, uses = _features(usable_columns, rows, skip, max_categories)
    y = labels[rows]
    if len(np.unique(y)) < 2:
        raise DataError(
            f"All rows left have the same label in column {label_column.name!r}. Two or more classes are needed."
        )
    # Read-only arrays are sliced by the tasks instead of copied.
    X.flags.writeable = y.flags.writeable = False
    edges = np.searchsorted(numbers, np.arange(len(names) + 1))
    tasks = tuple(Task(X[a:b], y[a:b], name, True) for a, b, name in zip(edges[:-1], edges[1:], names, strict=True))
    sequence = TaskSequence(
        tasks,
        name=table.name,
        description=f"The file {table.name}",
        feature_names=tuple(column.name for column in columns),
        info={"source": "your own file", "licence": "yours", "file_sha256": table.sha256},
        column_kinds=tuple(_KINDS[column.kind] for column in columns),
        categories={j: column.categories for j, column in enumerate(columns) if column.kind == "category"},
        max_categories=max_categories,
        max_missing=max_missing,
    )
    notes = [f"Tasks come {order}" + (f", one per {period}." if period != "value" else ".")]
    if task_column is not None and task_column.kind == "category":
        notes.append(
            f"Column {task_column.name!r} holds words, which have no order of their own. Tasks should follow one "
            "another in time: sort the rows of the file by time, or choose a column of dates or numbers."
        )
    single = [repr(task.label or str(j + 1)) for j, task in enumerate(tasks) if (task.y == task.y[0]).all()]
    if len(single) == len(tasks):
        raise DataError(_one_class_each(label_column, task_column))
    if single:
        first = ", ".join(single[:5]) + (" …" if len(single) > 5 else "")
        notes.append(f"{len(single):,} of {len(names):,} tasks hold one class only: {first}.")
    return Cut(sequence, (*roles, *uses), table.n_rows, len(rows), tuple(dropped), tuple(small), tuple(notes))


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


def _one_class_each(label: Column, task: Column | None) -> str:
    advice = (
        f"{task.name!r} already says what {label.name!r} is. Choose another label or another task column"
        if task is not None
        else f"the file is sorted by {label.name!r}. Use a column for the tasks, or sort the rows by time"
    )
    return f"Every task holds one class only, so there is nothing to learn: {advice}."


def _above(column: Column, threshold: float | str) -> Column:
    """Return two classes made of a column of numbers."""
    if column.kind != "number":
        raise DataError(f"Column {column.name!r} holds no numbers, so it has no values above a threshold.")
    values = column.values
    limit = float(np.nanmedian(values)) if threshold == "median" else check_real("threshold", threshold)
    present = ~np.isnan(values)
    above = values > limit
    if not above.any() and threshold == "median":  # at least half of the rows hold the largest value
        limit = float(values[present & (values < limit)].max(initial=-np.inf))
        above = values > limit
    codes = np.where(present, np.where(above, 0, 1), -1).astype(np.int32)
    names = (f"above {plain_number(limit)}", f"at most {plain_number(limit)}")
    distinct = len(np.unique(codes[present]))
    return Column(column.name, "category", codes, names, distinct, column.missing)


def _as_words(column: Column) -> Column:
    """Return a column of numbers or dates as words, one per different value."""
    if column.kind not in ("number", "date"):
        return column
    present = column.present
    values, codes = np.unique(column.values[present], return_inverse=True)
    all_codes = np.full(len(present), -1, dtype=np.int32)
    all_codes[present] = codes
    in_words = date_in_words if column.kind == "date" else plain_number
    listed = tuple(in_words(value) for value in values[:MAX_LISTED])
    return replace(column, kind="category", values=all_codes, categories=listed)


def _labels(column: Column) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return one label per row and which rows have one; whole numbers stay numbers, everything else becomes text."""
    present = column.present
    if not present.any():
        raise DataError(f"The label column {column.name!r} is empty.")
    if column.distinct < 2:
        raise DataError(
            f"The label column {column.name!r} has the same value in every row. Two or more classes are needed."
        )
    if column.distinct > MAX_CLASSES:
        measured = (
            " It looks like a measured number; make two classes of it, for example above and below its median "
            "(threshold)."
            if column.kind == "number"
            else " It looks like a name or free text; choose the column that says what is to be predicted."
        )
        raise DataError(
            f"The label column {column.name!r} has {column.distinct:,} different values; at most {MAX_CLASSES} "
            f"classes can be learnt.{measured}"
        )
    if column.kind == "category":
        return np.array(column.categories)[np.maximum(column.values, 0)], present
    values = column.values[present]
    if column.kind == "number" and np.equal(values, np.round(values)).all() and np.abs(values).max() < 2**53:
        numbers = np.zeros(len(present), dtype=np.int64)
        numbers[present] = values.astype(np.int64)
        return numbers, present
    text = np.full(len(present), "", dtype=object)
    text[present] = [date_in_words(value) if column.kind == "date" else plain_number(value) for value in values]
    return text.astype(str), present


def date_in_words(seconds: float) -> str:
    """Return a moment as text: the date, with the time if it is not midnight.

    Examples
    --------
    >>> date_in_words(0.0), date_in_words(3600.0)
    ('1970-01-01', '1970-01-01 01:00')
    """
    whole = int(np.floor(seconds))
    text = str(np.datetime64(whole, "s")).replace("T", " ")
    if whole == seconds:
        return text[:10] if whole % _DAY == 0 else text[: 16 if whole % 60 == 0 else 19]
    return text + f"{seconds - whole:.6f}".rstrip("0")[1:]


def _periods(seconds: Floats, period: Period) -> tuple[Ints, list[str]]:
    """Return the number of the period of each moment, and the names of the periods that occur, in order."""
    if period == "value":
        moments, codes = np.unique(seconds, return_inverse=True)
        return codes, [date_in_words(value) for value in moments[: MAX_TASKS + 1]] + [""] * (
            len(moments) - MAX_TASKS - 1
        )
    start: Any = np.floor(seconds).astype("datetime64[s]")
    if period == "week":
        # Weeks begin on Mondays; those of NumPy on Thursdays, like the 1st of January 1970.
        days = np.timedelta64(3, "D")
        start = (start.astype("datetime64[D]") + days).astype("datetime64[W]").astype("datetime64[D]") - days
    elif period == "quarter":
        start = start.astype("datetime64[M]")
        start = start - (start.astype(np.int64) % 3).astype("timedelta64[M]")
    else:
        start = start.astype(f"datetime64[{period[0].upper()}]")
    unique, codes = np.unique(start, return_inverse=True)
    if period == "quarter":
        return codes, [f"{str(month)[:-3]} Q{int(month.astype(np.int64)) % 12 // 3 + 1}" for month in unique]
    return codes, ["week of " * (period == "week") + str(value) for value in unique]


def possible_periods(column: Column) -> dict[Period, int]:
    """Return the periods a column of dates can be cut into, with the number of tasks each gives.

    Parameters
    ----------
    column : Column
        A column of dates.

    Returns
    -------
    dict of str to int
        A value for `period` of `cut_table` and its tasks, from short to long.

    Examples
    --------
    >>> possible_periods(Column("when", "date", np.arange(400) * 86400.0, distinct=400))
    {'value': 400, 'day': 400, 'week': 58, 'month': 14, 'quarter': 5, 'year': 2}
    """
    seconds = column.values[column.present]
    least = PERIODS.index(column.period)
    return {period: len(_periods(seconds, period)[1]) for j, period in enumerate(PERIODS) if j == 0 or j >= least}


def suggested_period(column: Column) -> Period:
    """Return the shortest period that puts at least 20 rows on average into a task, and makes two tasks or more.

    Parameters
    ----------
    column : Column
        A column of dates.

    Returns
    -------
    str
        A value for `period` of `cut_table`.

    Examples
    --------
    >>> suggested_period(Column("when", "date", np.arange(400) * 86400.0, distinct=400))
    'month'
    """
    seconds = column.values[column.present]
    counts = possible_periods(column)
    # Without times of the day, moments and days are the same; a quarter says more than its first day.
    if column.period != "value" or not (seconds % _DAY).any():
        del counts["value"]
    several = [period for period, count in counts.items() if 2 <= count <= MAX_TASKS]
    enough = [period for period in several if len(seconds) >= 20 * counts[period]]
    return (enough or several[::-1] or list(counts)[:1])[0]


def _tasks_by_column(column: Column, rows: Ints, period: Period) -> tuple[Ints, list[str], str]:
    """Return the task of each row, the names of the tasks in order, and the order in words."""
    values = column.values[rows]
    if column.kind == "date":
        if period == "value" and column.period != "value":
            period = column.period
        codes, names = _periods(values, period)
        order = "in order of time"
    elif column.kind == "number":
        unique, codes = np.unique(values, return_inverse=True)
        order = "in increasing order"
        # Names are made only of as many values as can be tasks.
        names = [plain_number(value) for value in unique[: MAX_TASKS + 1]]
    else:
        if column.distinct > MAX_LISTED:
            raise DataError(_too_many(column, column.distinct))
        unique, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(first))[inverse]
        names = [column.categories[code] for code in unique[np.argsort(first)]]
        order = "in the order in which they first appear"
    if len(names) > MAX_TASKS:
        raise DataError(_too_many(column, len(names)))
    return codes.astype(np.int64), names, order


def _tasks_by_block(block: int | None, n_rows: int) -> tuple[Ints, list[str], str]:
    """Return the same for blocks of rows; rows after the last full block have number -1."""
    if block is None:
        raise DataError("Say how rows become tasks: name a task column, or the number of rows of a block.")
    if block > n_rows:
        raise DataError(f"A block of {block:,} rows is longer than the {n_rows:,} rows that can be used.")
    count = n_rows // block
    if count > MAX_TASKS:
        raise DataError(
            f"Blocks of {block:,} rows make {count:,} tasks; at most {MAX_TASKS:,} are possible. Use larger blocks."
        )
    numbers = np.arange(n_rows) // block
    numbers[numbers >= count] = -1
    return numbers, [""] * count, "in the order of the file"


def _too_many(column: Column, count: int) -> str:
    advice = (
        "group the dates by month or year" if column.kind == "date" else "choose another column or make blocks of rows"
    )
    return f"Column {column.name!r} has {count:,} different values; at most {MAX_TASKS:,} tasks are possible: {advice}."


def _has_one_value(values: Floats) -> bool:
    present = values[~np.isnan(values)]
    return bool((present == present[0]).all())


def _category_use(column: Column, values: Floats, cap: int) -> ColumnUse:
    count = len(np.unique(values[~np.isnan(values)]))
    missing = int(np.isnan(values).sum())
    note = f"{count:,} different word{'s' * (count != 1)}"
    if count > max(cap, len(values) // 2):
        note += ": it looks like an identifier or free text"
    if missing:
        note += f"; {missing:,} missing values count as a word of their own"
    return ColumnUse(column.name, "words", min(count + bool(missing), cap + 1), missing, note)


def _column_use(column: Column, rows: Ints, cap: int) -> tuple[Floats, ColumnUse]:
    """Return the values of a column as they were read, and what they are used as.

    A column is dropped only if it has no value, or the same one in every row. Everything else that depends on values
    is left to `imrc.features.make`, which sees the training rows of the first task only.
    """
    values = np.where(column.present[rows], column.values[rows], np.nan).astype(np.float64)
    missing = int(np.isnan(values).sum())
    if column.kind == "empty" or missing == len(rows):
        return values, ColumnUse(column.name, "dropped", 0, missing, "no values")
    if column.kind == "category":
        return values, _category_use(column, values, cap)
    notes: list[str] = []
    if column.kind == "date":
        values = values / _DAY
        notes = ["days, counted from the first among the training rows of the first task"]
    # Always 0 or always 1 is no reason: such a column may be one of words counted, most of which are rare.
    if _has_one_value(values) and (column.kind == "date" or not np.isin(np.nanmax(values), (0.0, 1.0))):
        return values, ColumnUse(column.name, "dropped", 0, missing, "the same value in every row")
    if missing:
        notes.append(f"{missing:,} missing values become the median of the training rows of the first task")
    use = "date" if column.kind == "date" else "numbers"
    return values, ColumnUse(column.name, use, 1, missing, "; ".join(notes))


def _features(
    columns: Sequence[Column], rows: Ints, skip: Collection[str], cap: int
) -> tuple[list[Column], Floats, list[ColumnUse]]:
    """Return the columns to learn from, their values in the used rows, and what became of each column."""
    kept: list[Column] = []
    values: list[Floats] = []
    uses: list[ColumnUse] = []
    total, vary = 0, False
    for column in columns:
        if column.name in skip:
            continue
        cells, use = _column_use(column, rows, cap)
        uses.append(use)
        total += use.features
        if total > MAX_FEATURES or total * len(rows) > MAX_CELLS:
            raise DataError(
                f"The table gives more than {min(MAX_FEATURES, MAX_CELLS // max(len(rows), 1)):,} features for its "
                f"{len(rows):,} rows (column {column.name!r} is one too many). Leave columns out, lower the number of "
                "0/1 columns per category, or use fewer rows."
            )
        if use.use != "dropped":
            kept.append(column)
            values.append(cells)
            vary |= bool(use.missing) or not _has_one_value(cells)
    if not vary:
        reasons = "; ".join(f"{use.name!r}: {use.note}" for use in uses[:5])
        raise DataError(f"No column is left to learn from. {reasons or 'There are only label and task columns'}.")
    return kept, np.stack(values, axis=1), uses
