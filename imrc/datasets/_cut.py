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
    use : {"label", "task", "numeric", "binary", "one-hot", "date", "dropped"}
        What it is used as.
    features : int
        Number of features it gives.
    missing : int
        Cells without a value among the rows used.
    note : str
        What was imputed, encoded or why it was dropped, in words.
    """

    name: str
    use: str
    features: int
    missing: int
    note: str


@dataclass(frozen=True, eq=False)
class Block:
    """Features made of one column.

    Attributes
    ----------
    values : ndarray of shape (rows, features)
        Numbers.
    names : tuple of str
        Names of the features.
    kinds : tuple of str
        "numeric" or "binary" for each feature.
    use : ColumnUse
        What was done, in words.
    """

    values: Floats
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    use: ColumnUse


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


def _impute(column: Column, values: Floats) -> tuple[Floats, str]:
    missing = np.isnan(values)
    if not missing.any():
        return values, ""
    median = float(np.nanmedian(values))
    values = np.where(missing, median, values)
    return values, f"{missing.sum():,} missing values replaced by the median of the column, {median:.4g}"


def _dropped(column: Column, why: str, missing: int = 0) -> Block:
    empty = np.empty((0, 0))
    return Block(empty, (), (), ColumnUse(column.name, "dropped", 0, missing, why))


def _category_block(column: Column, rows: Ints, cap: int) -> Block:
    codes = column.values[rows]
    missing = int((codes < 0).sum())
    counts = np.bincount(codes[codes >= 0], minlength=1)
    present = np.flatnonzero(counts)
    if len(present) + bool(missing) < 2:
        return _dropped(column, "the same value in every row", missing)
    if len(present) > max(cap, len(rows) // 2):
        return _dropped(column, f"{len(present):,} different texts: an identifier or free text", missing)
    kept = present[np.argsort(-counts[present], kind="stable")][:cap]
    kept = kept[kept < len(column.categories)]
    names = [f"{column.name} = {column.categories[code]}" for code in kept]
    parts = [codes == code for code in kept]
    note = f"one 0/1 column for each of {len(kept)} values"
    if len(kept) == 2 and len(present) == 2 and not missing:
        # The second column would only be one minus the first.
        parts, names, note = parts[1:], names[1:], f"0/1 column: {names[1]}"
    elif len(present) > len(kept):
        others = (codes >= 0) & ~np.isin(codes, kept)
        parts.append(others)
        names.append(f"{column.name} = other")
        note += f", and one for the other {len(present) - len(kept):,} values together"
    if missing:
        parts.append(codes < 0)
        names.append(f"{column.name} missing")
        note += f"; {missing:,} missing values are a value of their own"
    values = np.stack(parts, axis=1).astype(np.float64)
    use = ColumnUse(column.name, "one-hot" if len(names) > 1 else "binary", len(names), missing, note)
    return Block(values, tuple(names), ("binary",) * len(names), use)


def column_features(column: Column, rows: Ints, *, cap: int, max_missing: float) -> Block:
    """Return what a column gives as features, or why it gives none.

    Parameters
    ----------
    column : Column
        The column.
    rows : ndarray of int
        Rows that are used.
    cap : int
        Most 0/1 columns made of one category; the rarer values share one column.
    max_missing : float
        Share of missing values above which a column is dropped, 0 to 1.
    """
    present = column.present[rows]
    missing = int((~present).sum())
    if column.kind == "empty" or not present.any():
        return _dropped(column, "no values", missing)
    if missing > max_missing * len(rows):
        return _dropped(column, f"{missing / len(rows):.0%} of the values are missing", missing)
    if column.kind == "category":
        return _category_block(column, rows, cap)
    values = column.values[rows]
    note = ""
    if column.kind == "date":
        start = np.nanmin(values)
        values = (values - start) / _DAY
        note = f"days since {date_in_words(start)}"
    values, imputed = _impute(column, values)
    note = "; ".join(part for part in (note, imputed) if part)
    if (values == values[0]).all():
        return _dropped(column, "the same value in every row", missing)
    binary = column.kind == "number" and bool(np.isin(values, (0.0, 1.0)).all())
    use = "date" if column.kind == "date" else ("binary" if binary else "numeric")
    kind = "binary" if binary else "numeric"
    return Block(values[:, None], (column.name,), (kind,), ColumnUse(column.name, use, 1, missing, note))


def gather_features(
    table: Table, rows: Ints, skip: Collection[str], *, cap: int, max_missing: float, max_cells: int
) -> tuple[Floats, tuple[str, ...], tuple[str, ...], list[ColumnUse]]:
    """Return the feature matrix of the used rows, names and kinds of the features, and what became of each column.

    Raises
    ------
    DataError
        If no column is left, or the features are too many.
    """
    blocks: list[Block] = []
    uses: list[ColumnUse] = []
    total = 0
    for column in table.columns:
        if column.name in skip:
            continue
        block = column_features(column, rows, cap=cap, max_missing=max_missing)
        uses.append(block.use)
        total += len(block.names)
        if total > MAX_FEATURES or total * len(rows) > max_cells:
            raise DataError(
                f"The table gives more than {min(MAX_FEATURES, max_cells // max(len(rows), 1)):,} features for its "
                f"{len(rows):,} rows (column {column.name!r} is one too many). Leave columns out, lower the number of "
                "0/1 columns per category, or use fewer rows."
            )
        if block.names:
            blocks.append(block)
    if not blocks:
        reasons = "; ".join(f"{use.name!r}: {use.note}" for use in uses[:5])
        raise DataError(f"No column is left to learn from. {reasons or 'There are only label and task columns'}.")
    X = np.empty((len(rows), total))
    position = 0
    for block in blocks:
        X[:, position : position + len(block.names)] = block.values
        position += len(block.names)
    X = X[:, :position]
    names = tuple(name for block in blocks for name in block.names)
    kinds = tuple(kind for block in blocks for kind in block.kinds)
    return X, names, kinds, uses
