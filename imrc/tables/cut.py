"""Columns to tasks: which rows belong together, in which order, and what each column is used as."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError, check_choice, check_int, check_real
from imrc._types import Floats, Ints
from imrc.tables.recipe import Recipe, recipe_of
from imrc.tables.table import DAY, MAX_CELLS, MAX_LISTED, Column, Flags, Period, Table, date_in_words, plain_number
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
NEARLY_ALL = 0.9
"""A class with a larger share of the rows is warned of."""
MOST_IN_A_MONTH = 300
"""Rows a month above which tasks are weeks, and rows a week above which they are days, unless somebody chooses."""
_KINDS: dict[str, ColumnKind] = {"category": "category", "date": "date", "number": "undeclared"}
_ID = r"(?i)^(id|uuid|guid|index|unnamed.*|row|nr\.?|no\.?|number|.*[ _.-](id|uuid|nr|no|number))$|.*[a-z]I[dD]$"


@dataclass(frozen=True)
class ColumnUse:
    """What became of one column: "label", "task", "numbers", "words", "date" or "dropped".

    `features` is the most it gives (how many words get one is learnt from the first task), `missing` its cells without
    a value among the rows used, `note` what becomes of its cells, or why it was dropped.
    """

    name: str
    use: str
    features: int
    missing: int
    note: str


@dataclass(frozen=True, eq=False)
class Cut:
    """A table cut into tasks, with every decision made on the way.

    `dropped` says why rows were left out, and how many; `small_tasks` which tasks were too small, with their sizes;
    `notes` everything else. `recipe` reads the next file in the same way.
    """

    sequence: TaskSequence
    columns: tuple[ColumnUse, ...]
    rows_read: int
    rows_used: int
    dropped: tuple[tuple[str, int], ...]
    small_tasks: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    recipe: Recipe

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

        rows = [(use.name, use.use, use.features, use.missing, use.note) for use in self.columns]
        return pd.DataFrame(rows, columns=["column", "used as", "features", "missing", "note"])

    def warnings(self) -> list[str]:
        """Return what changes what a result means: rows and tasks left out, classes that are nearly all or none."""
        sentences = [f"{count:,} rows left out: {why}." for why, count in self.dropped]
        sentences += _in_list(
            "Tasks too small to split into training and test samples are left out",
            [f"{name!r} ({rows} row{'s' * (rows != 1)})" for name, rows in self.small_tasks],
        )
        counts, names = self.sequence.class_counts().sum(axis=0), self.sequence.class_names
        if counts.max() > NEARLY_ALL * counts.sum():
            share = counts.max() / counts.sum()
            sentences.append(
                f"{share:.1%} of the rows are of class {names[int(counts.argmax())]!r}: always predicting that "
                "class is wrong in just {1 - share:.1%} of rows, so judge by the balanced error."
            )
        once = [repr(names[c]) for c in np.flatnonzero(counts == 1)] if len(counts) > 2 else []
        sentences += _in_list("Classes with a single row, which may be a stray line rather than a class", once)
        return sentences

    def in_words(self) -> list[str]:
        """Return what the user should know, one sentence each."""
        sentences = [f"{self.rows_used:,} of {self.rows_read:,} rows are used, in {len(self.sequence):,} tasks."]
        sentences += self.warnings()
        # The schema, what a column is, comes from the whole file; everything learnt from values does not.
        sentences.append(
            "The whole file decides whether a column holds numbers, dates or words, and which labels there are. "
            "Scaling, fill-in values and known words come only from the training rows of the first "
            "task, not from test rows. A column of numbers is left out if it never changes there (unless it is "
            f"always 0 or 1) or is more than {self.sequence.max_missing:.0%} empty there."
        )
        sentences += _in_list(
            "Missing numbers are replaced by the median of their column there",
            [f"{use.name!r} ({use.missing:,} cells)" for use in self.columns if use.missing and "median" in use.note],
        )
        sentences += _in_list(
            f"Each column of words becomes up to {self.sequence.max_categories} columns of 0 and 1, one for each word "
            f"that occurs at least {LEAST_FREQUENT} times there. Rarer and new words share another column",
            [f"{use.name!r} ({use.note})" for use in self.columns if use.use == "words"],
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
    include: Collection[str | int] = (),
    words: Collection[str | int] = (),
    threshold: float | Literal["median"] | None = None,
    max_categories: int = TaskSequence.max_categories,
    max_missing: float = 0.5,
    min_samples: int = SMALLEST_TASK,
    newest: int | None = None,
) -> Cut:
    """Cut a table into tasks; DataError if the choice does not make at least two tasks with two classes.

    The options are those of `read_table`.

    >>> from imrc.tables import open_table
    >>> rows = "".join(f"{2000 + i // 4},{i % 3},{'ab'[i % 2]};" for i in range(12)).replace(";", chr(10))
    >>> cut = cut_table(open_table(f"year,x,y{chr(10)}{rows}".encode()), label="y", task="year")
    >>> cut.sequence.labels, cut.sequence.class_counts().tolist()
    (('2000', '2001', '2002'), [[2, 2], [2, 2], [2, 2]])
    """
    max_categories = check_int("max_categories", max_categories, *CATEGORIES)
    max_missing = check_real("max_missing", max_missing, 0.0, 1.0)
    min_samples = check_int("min_samples", min_samples, 2)
    newest = MAX_TASKS if newest is None else check_int("newest", newest, 2)
    block = None if block is None else check_int("block", block, 2)
    if task is not None and block is not None:
        raise DataError("Give a task column or a block size, not both.")
    as_words = {table.column(which).name for which in words}
    notes: list[str] = []
    source = table.column(label)
    label_column = _above(source, threshold) if threshold is not None else _as_written(source, as_words, notes)
    task_column = None if task is None else _as_written(table.column(task), as_words, notes)
    if task_column is not None and task_column.name == label_column.name:
        raise DataError(f"Column {label_column.name!r} cannot be both the label and the task.")
    if task_column is not None and task_column.kind == "empty":
        raise DataError(f"The task column {task_column.name!r} is empty.")
    period = _checked_period(period, task_column)

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

    # The task of each row; tasks that are too small, or too old, are left out.
    if task_column is not None:
        numbers, names, order = _tasks_by_column(task_column, rows, period)
    else:
        numbers, names, order = _tasks_by_block(block, len(rows))
    each = f", one per {period}{', named by its Monday' * (period == 'week')}" if period != "value" else ""
    notes.append(f"Tasks come {order}{each}.")
    sizes = np.bincount(numbers[numbers >= 0], minlength=len(names))
    small = [(names[j] or str(j + 1), int(sizes[j])) for j in np.flatnonzero(sizes < min_samples)]
    kept = np.flatnonzero(sizes >= min_samples)
    if len(kept) < 2:
        what = f"Column {task_column.name!r}" if task_column is not None else f"A block of {block} rows"
        raise DataError(_too_few_tasks(what, len(names), small, min_samples))
    if left_over := int((numbers < 0).sum()):
        dropped.append(("rows left over after the last full block", left_over))
    if len(kept) > newest:
        old = kept[:-newest]
        dropped.append((f"tasks before the newest {newest:,} of {len(kept):,}", int(sizes[old].sum())))
        kept = kept[-newest:]
    used = np.isin(numbers, kept)
    rows, numbers, names = rows[used], np.searchsorted(kept, numbers[used]), [names[j] for j in kept]
    if task_column is not None and task_column.kind == "category":
        names = _shortened(names, notes)
    arrange = np.argsort(numbers, kind="stable")
    if task_column is not None and (np.diff(numbers) < 0).any():
        notes.append("The rows of the file were not in the order of the tasks, so they were sorted.")
    rows, numbers = rows[arrange], numbers[arrange]

    # Features and labels of these rows.
    roles = [ColumnUse(label_column.name, "label", 0, label_column.missing, "what is predicted")]
    if task_column is not None:
        roles.append(ColumnUse(task_column.name, "task", 0, task_column.missing, "which task a row belongs to"))
    skip = {role.name for role in roles} | {table.column(which).name for which in exclude}
    wanted = as_words | {table.column(which).name for which in include}
    usable_columns = [_as_words(c) if c.name in as_words else c for c in table.columns if c.name not in skip]
    columns, X, uses = _features(usable_columns, rows, wanted, max_categories)
    y = labels[rows]
    if len(np.unique(y)) < 2:
        raise DataError(
            f"All remaining rows have the same label in column {label_column.name!r}. Two or more classes are needed."
        )
    # Read-only arrays are sliced by the tasks instead of copied.
    X.flags.writeable = y.flags.writeable = False
    edges = np.searchsorted(numbers, np.arange(len(names) + 1))
    tasks = tuple(Task(X[a:b], y[a:b], name, True) for a, b, name in zip(edges[:-1], edges[1:], names, strict=True))
    recipe = recipe_of(table, label_column, source, task_column, period, columns, X[: edges[1]])
    sequence = TaskSequence(
        tasks,
        name=table.name,
        description=f"The file {table.name}",
        feature_names=tuple(column.name for column in columns),
        info={"source": "your own file", "licence": "yours", "file_sha256": table.sha256, "recipe": recipe.to_dict()},
        column_kinds=tuple(_KINDS[column.kind] for column in columns),
        categories={j: column.categories for j, column in enumerate(columns) if column.kind == "category"},
        max_categories=max_categories,
        max_missing=max_missing,
    )
    if task_column is not None and task_column.kind == "category":
        notes.append(
            f"Column {task_column.name!r} holds words, which have no order of their own. Tasks should follow one "
            "another in time: sort the rows of the file by time, or choose a column of dates or numbers."
        )
    single = [repr(task.label or str(j + 1)) for j, task in enumerate(tasks) if (task.y == task.y[0]).all()]
    if len(single) == len(tasks):
        why = f"the file is sorted by {label_column.name!r}. Use a column for the tasks, or sort the rows by time"
        if task_column is not None:
            why = f"{task_column.name!r} already determines {label_column.name!r}. Choose another label or task column"
        raise DataError(f"Every task has only one class, so there is nothing to learn: {why}.")
    notes += _in_list(f"{len(single):,} of {len(names):,} tasks have only one class", single)
    told = tuple(dropped), tuple(small), tuple(notes)
    return Cut(sequence, (*roles, *uses), table.n_rows, len(rows), *told, recipe)


def _checked_period(period: Period | Literal["auto"], task: Column | None) -> Period:
    check_choice("period", period, ("auto", *PERIODS))
    if task is None or task.kind != "date":
        if period not in ("auto", "value"):
            what = "blocks of rows" if task is None else f"column {task.name!r}, which holds no dates"
            raise DataError(
                f"A task per {period} cannot be made of {what}. Leave out the period, or choose a column of dates."
            )
        return "value"
    if period == "auto":
        return suggested_period(task)
    if period not in possible_periods(task):
        raise DataError(f"Column {task.name!r} has one date per {task.period}, so tasks cannot be shorter than that.")
    return task.period if period == "value" and task.period != "value" else period


def _too_few_tasks(what: str, found: int, small: list[tuple[str, int]], min_samples: int) -> str:
    if found < 2:
        return f"{what} makes only one task. At least two tasks are needed: choose another column or smaller blocks."
    named = ", ".join(f"{name!r} ({rows})" for name, rows in small[:5])
    return (
        f"{what}: fewer than two of {found:,} tasks have the {min_samples} rows a task needs to be split into training "
        f"and test samples. Too small are: {named}{' …' if len(small) > 5 else ''}. Choose a coarser task column or "
        "larger blocks."
    )


def _above(column: Column, threshold: float | str) -> Column:
    """Return two classes made of a column of numbers."""
    if column.kind != "number":
        raise DataError(f"Column {column.name!r} holds no numbers, so it has no values above a threshold.")
    values, present = column.values, column.present
    limit = float(np.nanmedian(values)) if threshold == "median" else check_real("threshold", threshold)
    if threshold == "median" and not (values > limit).any():  # at least half of the rows hold the largest value
        limit = float(values[present & (values < limit)].max(initial=-np.inf))
    codes = np.where(present, np.where(values > limit, 0, 1), -1).astype(np.int32)
    names = (f"above {plain_number(limit)}", f"at most {plain_number(limit)}")
    return Column(column.name, "category", codes, names)


def _as_words(column: Column) -> Column:
    """Return a column of numbers or dates as words, one per different value, as they are written if that is known."""
    if column.kind not in ("number", "date") or column.written is not None:
        return column.written or column
    values, codes = np.unique(column.values[column.present], return_inverse=True)
    all_codes = np.full(len(column.values), -1, dtype=np.int32)
    all_codes[column.present] = codes
    words = tuple(column.in_words(value) for value in values[:MAX_LISTED])
    return replace(column, kind="category", values=all_codes, categories=words)


def _as_written(column: Column, as_words: set[str], notes: list[str]) -> Column:
    """Return a column for the label or the tasks: texts that differ stay apart though they are the same number."""
    written = column.written
    if column.name in as_words:
        return _as_words(column)
    if written is None or written.distinct == column.distinct:
        return column
    first: dict[float, str] = {}
    for code, word in enumerate(written.categories):
        one = first.setdefault(float(column.values[np.argmax(written.values == code)]), word)
        if one != word:
            same = f"{one!r} and {word!r} are the same number, written in two ways"
            notes.append(f"Column {column.name!r} is used as words: {same}.")
            break
    return written


def _labels(column: Column) -> tuple[NDArray[Any], Flags]:
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
            " It looks like a measured number. Turn it into two classes, for example above and below its median "
            "(threshold)."
            if column.kind == "number"
            else " It looks like a name or free text. Choose the column that you want to predict."
        )
        raise DataError(
            f"The label column {column.name!r} has {column.distinct:,} different values; at most {MAX_CLASSES} "
            f"classes can be learnt.{measured}"
        )
    values = column.values[present]
    if column.kind == "number" and np.equal(values, np.round(values)).all() and np.abs(values).max() < 2**53:
        numbers = np.zeros(len(present), dtype=np.int64)
        numbers[present] = values.astype(np.int64)
        return numbers, present
    column = _as_words(replace(column, written=None))
    return np.array(column.categories)[np.maximum(column.values, 0)], present


def periods_of(seconds: Floats, period: Period) -> tuple[Ints, list[str]]:
    """Return the number of the period of each moment, and the names of the periods that occur, in order."""
    if period == "value":
        moments, codes = np.unique(seconds, return_inverse=True)
        names = [date_in_words(value) for value in moments[: MAX_TASKS + 1]]
        return codes, names + [""] * (len(moments) - len(names))
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
    return codes, list(map(str, unique))


def possible_periods(column: Column) -> dict[Period, int]:
    """Return the periods a column of dates can be cut into, from short to long, with the number of tasks each gives.

    >>> possible_periods(Column("when", "date", np.arange(400) * 86400.0))
    {'value': 400, 'day': 400, 'week': 58, 'month': 14, 'quarter': 5, 'year': 2}
    """
    seconds = column.values[column.present]
    least = PERIODS.index(column.period)
    return {period: len(periods_of(seconds, period)[1]) for j, period in enumerate(PERIODS) if j == 0 or j >= least}


def suggested_period(column: Column) -> Period:
    """Return months, or what is longer if a month has few rows, shorter if it has many; two tasks or more.

    >>> suggested_period(Column("when", "date", np.arange(400) * 86400.0))
    'month'
    """
    rows, counts = int(column.present.sum()), possible_periods(column)
    several = [period for period, count in counts.items() if 2 <= count <= MAX_TASKS and period != "value"]
    full = [period for period in several if rows >= 20 * counts[period]]
    long = [period for period in full if period in ("month", "quarter", "year")]
    if not full:
        return several[-1] if several else min(counts, key=PERIODS.index)
    chosen = long[0] if long else full[-1]
    for shorter in ("week", "day") if chosen == "month" else ():
        if shorter in several and rows > MOST_IN_A_MONTH * counts[chosen]:
            chosen = shorter
    return chosen


def _shortened(names: list[str], notes: list[str]) -> list[str]:
    """Leave out words with which all names of tasks begin, so that what differs can be read on a chart."""
    if any(len(name) > 12 for name in names):
        first, last = min(names), max(names)
        same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
        cut = max((found.end() for found in re.finditer(r"[ _/]+", first[:same])), default=0)
        if cut > 3:
            notes.append(f"All task names begin with {first[:cut]!r}, which is omitted.")
            return [name[cut:] for name in names]
    return names


def _tasks_by_column(column: Column, rows: Ints, period: Period) -> tuple[Ints, list[str], str]:
    """Return the task of each row, the names of the tasks in order, and the order in words."""
    values, order = column.values[rows], "in order of time" if column.kind == "date" else "in increasing order"
    if column.kind == "date":
        codes, names = periods_of(values, period)
    else:
        unique, first, codes = np.unique(values, return_index=True, return_inverse=True)
        # Names are made only of as many values as can be tasks.
        names = [plain_number(value) for value in unique[: MAX_TASKS + 1]] if column.kind == "number" else []
    if column.kind == "category":
        order = "in the order in which they first appear"
        codes = np.argsort(np.argsort(first))[codes]
        names = [column.categories[min(code, MAX_LISTED - 1)] for code in unique[np.argsort(first)]]
    if len(names) > MAX_TASKS:
        group = "group the dates by month or year" if column.kind == "date" else "choose another column or make blocks"
        raise DataError(
            f"Column {column.name!r} has {max(column.distinct, len(names)):,} different values; at most {MAX_TASKS:,} "
            f"tasks are possible: {group}."
        )
    return codes.astype(np.int64), names, order


def _tasks_by_block(block: int | None, n_rows: int) -> tuple[Ints, list[str], str]:
    """Return the same for blocks of rows; rows after the last full block have number -1."""
    if block is None:
        raise DataError("Choose how rows form tasks: by a task column, or in blocks of a number of rows.")
    count = n_rows // block
    if not 0 < count <= MAX_TASKS:
        raise DataError(
            f"Blocks of {block:,} rows make {count:,} tasks; at most {MAX_TASKS:,} are possible. Use larger blocks."
            if count
            else f"A block of {block:,} rows is longer than the {n_rows:,} rows that can be used."
        )
    numbers = np.arange(n_rows) // block
    return np.where(numbers < count, numbers, -1), [""] * count, "in the order of the file"


def looks_like_identifier(column: Column) -> bool:
    """Whether a column tells rows apart and nothing else: words nearly all different, or numbers of rows."""
    values, rows = column.values[column.present], len(column.values)
    if column.kind == "category":
        return column.distinct > max(TaskSequence.max_categories, rows // 2)
    if column.kind != "number" or column.distinct < max(len(values), 3) or not np.equal(values, np.round(values)).all():
        return False
    return bool(re.match(_ID, column.name)) or bool((np.diff(values) == 1).all() and len(values) >= 20)


def _column_use(column: Column, rows: Ints, cap: int, wanted: bool) -> tuple[Floats, ColumnUse]:
    """Return the values of a column as they were read, and what they are used as.

    A column is dropped only if it has no value, the same one in every row, or looks like an identifier. Everything else
    that depends on values is left to `imrc.features.make`, which sees the training rows of the first task only.
    """
    values = np.where(column.present[rows], column.values[rows], np.nan).astype(np.float64)
    there = values[~np.isnan(values)]
    missing, use, features, notes, why = len(rows) - len(there), "numbers", 1, list[str](), ""
    if not len(there):
        why = "no values"
    elif not wanted and looks_like_identifier(column):
        why = "it looks like an identifier or free text; include it if it is not"
    elif column.kind == "category":
        count, use = len(np.unique(there)), "words"
        features = min(count + bool(missing), cap + 1)
        notes = [f"{count:,} different word{'s' * (count != 1)}"]
        notes += [f"{missing:,} missing values are treated as a separate word"] if missing else []
    # Always 0 or always 1 is no reason: such a column may be one of words counted, most of which are rare.
    elif (there == there[0]).all() and (column.kind == "date" or there[0] not in (0.0, 1.0)):
        why = "the same value in every row"
    else:
        if column.kind == "date":
            values, use = values / DAY, "date"
            notes = ["days, counted from the first among the training rows of the first task"]
        if missing:
            notes.append(
                f"{missing:,} missing values are replaced by the median of the training rows of the first task"
            )
    if why:
        return values, ColumnUse(column.name, "dropped", 0, missing, why)
    return values, ColumnUse(column.name, use, features, missing, "; ".join(notes))


def _features(
    columns: list[Column], rows: Ints, wanted: set[str], cap: int
) -> tuple[list[Column], Floats, list[ColumnUse]]:
    """Return the columns to learn from, their values in the used rows, and what became of each column."""
    kept, values, uses, total = list[Column](), list[Floats](), list[ColumnUse](), 0
    for column in columns:
        cells, use = _column_use(column, rows, cap, column.name in wanted)
        uses.append(use)
        total += use.features
        if total > min(MAX_FEATURES, MAX_CELLS // len(rows)):
            raise DataError(
                f"The table gives more than {min(MAX_FEATURES, MAX_CELLS // len(rows)):,} features for its "
                f"{len(rows):,} rows (column {column.name!r} is one too many). Leave columns out, lower the number of "
                "0/1 columns per category, or use fewer rows."
            )
        if use.use != "dropped":
            kept.append(column)
            values.append(cells)
    if not any(np.isnan(cells).any() or (cells != cells[0]).any() for cells in values):
        reasons = "; ".join(f"{use.name!r}: {use.note}" for use in uses[:5])
        raise DataError(f"No column is left to learn from. {reasons or 'There are only a label and a task column'}.")
    return kept, np.stack(values, axis=1), uses
