"""From the columns of a table to tasks: which rows belong together, which column becomes which features."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc.datasets._columns import MAX_LISTED, Column
from imrc.datasets._open import Table
from imrc.datasets.errors import DataError
from imrc.tasks import ColumnKind

Period = Literal["value", "day", "week", "month", "quarter", "year"]
PERIODS: tuple[Period, ...] = get_args(Period)

MAX_TASKS = 2000
MAX_FEATURES = 2000
MAX_CLASSES = 50
_DAY = 86_400

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
        Number of features it gives at most; how many words get one is learnt from the first task.
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
class Features:
    """The columns learnt from, as they were read.

    Attributes
    ----------
    values : ndarray of shape (rows, columns)
        Numbers, days since 1970, and numbers that stand for words; NaN where a cell is empty.
    names : tuple of str
        Names of the columns.
    kinds : tuple of str
        "undeclared" (numbers), "date" or "category" for each.
    categories : dict of int to tuple of str
        Words of the columns of words.
    """

    values: Floats
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    categories: dict[int, tuple[str, ...]]


def encode_labels(column: Column) -> tuple[NDArray[np.int64] | NDArray[np.str_], NDArray[np.bool_]]:
    """Return one label per row and which rows have one.

    Whole numbers stay numbers; everything else becomes text.

    Raises
    ------
    DataError
        If there is one class only, or more than `MAX_CLASSES`.
    """
    present = column.present
    if column.kind == "empty" or not present.any():
        raise DataError(f"The label column {column.name!r} is empty.")
    if column.distinct < 2:
        raise DataError(
            f"The label column {column.name!r} has the same value in every row. Two or more classes are needed."
        )
    if column.distinct > MAX_CLASSES:
        measured = (
            " It looks like a measured number; make classes of it first (for example above and below a limit)."
            if column.kind == "number"
            else " It looks like a name or free text; choose the column that says what is to be predicted."
        )
        raise DataError(
            f"The label column {column.name!r} has {column.distinct:,} different values; at most {MAX_CLASSES} "
            f"classes can be learnt.{measured}"
        )
    if column.kind == "number":
        numbers = column.values[present]
        if np.equal(numbers, np.round(numbers)).all() and np.abs(numbers).max() < 2**53:
            labels = np.zeros(len(present), dtype=np.int64)
            labels[present] = numbers.astype(np.int64)
            return labels, present
        labels_text = np.full(len(present), "", dtype=object)
        labels_text[present] = [f"{value:g}" for value in numbers]
        return labels_text.astype(str), present
    if column.kind == "date":
        text = np.full(len(present), "", dtype=object)
        text[present] = [date_in_words(seconds) for seconds in column.values[present]]
        return text.astype(str), present
    return np.array(column.categories)[np.maximum(column.values, 0)], present


def date_in_words(seconds: float) -> str:
    """Return a moment as text: the date, with the time if it is not midnight.

    Examples
    --------
    >>> date_in_words(0.0), date_in_words(3600.0)
    ('1970-01-01', '1970-01-01 01:00')
    """
    moment = np.datetime64(int(seconds), "s")
    text = str(moment).replace("T", " ")
    return text[:10] if seconds % _DAY == 0 else text[:16]


def _period_of(seconds: Floats, period: Period) -> tuple[Ints, list[str]]:
    """Return the number of the period of each moment, and the names of the numbers that occur, in order."""
    days = seconds.astype("int64") // _DAY
    if period == "value":
        unique, codes = np.unique(seconds, return_inverse=True)
        return codes, [date_in_words(value) for value in unique]
    if period == "day":
        unique, codes = np.unique(days, return_inverse=True)
        return codes, [date_in_words(value * _DAY) for value in unique]
    if period == "week":
        # Day 0 (1 January 1970) was a Thursday; weeks begin on Mondays.
        unique, codes = np.unique((days + 3) // 7, return_inverse=True)
        return codes, [f"week of {date_in_words((value * 7 - 3) * _DAY)}" for value in unique]
    months = seconds.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
    size = {"month": 1, "quarter": 3, "year": 12}[period]
    unique, codes = np.unique(months // size, return_inverse=True)
    names = []
    for value in unique:
        first = str(np.datetime64(int(value) * size, "M"))
        names.append({"month": first, "quarter": f"{first[:-3]} Q{int(value) % 4 + 1}", "year": first[:-3]}[period])
    return codes, names


def suggested_period(column: Column) -> Period:
    """Return the shortest period that puts at least 20 rows on average into a task.

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
    # Without times of the day, moments and days are the same.
    for period in PERIODS if (seconds % _DAY).any() else PERIODS[1:]:
        _, names = _period_of(seconds, period)
        if len(seconds) >= 20 * len(names) and len(names) <= MAX_TASKS:
            return period
    return "year"


def tasks_by_column(column: Column, rows: Ints, period: Period) -> tuple[Ints, list[str], str]:
    """Return task number per row, names of the tasks in order, and the order in words.

    Numbers and dates are sorted; categories come in the order in which they first appear in the file.

    Raises
    ------
    DataError
        If there are more than `MAX_TASKS` tasks.
    """
    values = column.values[rows]
    if column.kind == "date":
        codes, names = _period_of(values, period)
        order = "in order of time"
    elif column.kind == "number":
        unique, codes = np.unique(values, return_inverse=True)
        order = "in increasing order"
        # Names are made only of as many values as can be tasks.
        names = [f"{value:g}" for value in unique[: MAX_TASKS + 1]]
        names = [f"{value:.12g}" for value in unique[: MAX_TASKS + 1]] if len(set(names)) < len(names) else names
    else:
        if column.distinct > MAX_LISTED:
            raise DataError(_too_many(column, column.distinct))
        unique, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        codes = rank[inverse]
        names = [column.categories[code] for code in unique[np.argsort(first)]]
        order = "in the order in which they first appear"
    if len(names) > MAX_TASKS:
        raise DataError(_too_many(column, len(names)))
    return codes.astype(np.int64), names, order


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


def column_use(column: Column, rows: Ints, cap: int) -> tuple[Floats, ColumnUse]:
    """Return the values of a column as they were read, and what they are used as.

    Only what holds whatever a representation is learnt from is decided here: a column is dropped if no row, or every
    row with a value, says the same. What depends on values beyond that is left to `imrc.features.make`, which sees the
    training rows of the first task only.

    Parameters
    ----------
    column : Column
        The column.
    rows : ndarray of int
        Rows that are used.
    cap : int
        Most 0/1 columns made of the words of one column; the rarer words share one column.
    """
    values = np.where(column.present[rows], column.values[rows], np.nan).astype(np.float64)
    missing = int(np.isnan(values).sum())
    if column.kind == "empty" or missing == len(rows):
        return values, ColumnUse(column.name, "dropped", 0, missing, "no values")
    if column.kind == "category":
        return values, _category_use(column, values, cap)
    notes = []
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


def gather_features(
    table: Table, rows: Ints, skip: Collection[str], *, cap: int, max_cells: int
) -> tuple[Features, list[ColumnUse]]:
    """Return the columns learnt from in the used rows, and what became of each column.

    Raises
    ------
    DataError
        If no column is left, or the features are too many.
    """
    kept: list[tuple[Column, Floats]] = []
    uses: list[ColumnUse] = []
    total, vary = 0, False
    for column in table.columns:
        if column.name in skip:
            continue
        values, use = column_use(column, rows, cap)
        uses.append(use)
        total += use.features
        if total > MAX_FEATURES or total * len(rows) > max_cells:
            raise DataError(
                f"The table gives more than {min(MAX_FEATURES, max_cells // max(len(rows), 1)):,} features for its "
                f"{len(rows):,} rows (column {column.name!r} is one too many). Leave columns out, lower the number of "
                "0/1 columns per category, or use fewer rows."
            )
        if use.use != "dropped":
            kept.append((column, values))
            vary |= bool(use.missing) or not _has_one_value(values)
    if not vary:
        reasons = "; ".join(f"{use.name!r}: {use.note}" for use in uses[:5])
        raise DataError(f"No column is left to learn from. {reasons or 'There are only label and task columns'}.")
    kinds: dict[str, ColumnKind] = {"category": "category", "date": "date", "number": "undeclared"}
    features = Features(
        values=np.stack([values for _, values in kept], axis=1),
        names=tuple(column.name for column, _ in kept),
        kinds=tuple(kinds[column.kind] for column, _ in kept),
        categories={j: column.categories for j, (column, _) in enumerate(kept) if column.kind == "category"},
    )
    return features, uses
