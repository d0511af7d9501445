"""From columns to tasks: which rows belong together, in which order, and what each column is used as."""

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
from imrc.tables.table import DAY, MAX_CELLS, MAX_LISTED, Column, Period, Table, date_in_words, plain_number
from imrc.tasks import LEAST_FREQUENT, MAX_TASKS, ColumnKind, Task, TaskSequence
from imrc.wording import listed

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
"""A class with a larger share of the rows leads to a warning."""
MOST_IN_A_MONTH = 300
"""With more rows per month, tasks are weeks, and with more rows per week days, unless somebody chooses."""
_CUT_KINDS: dict[str, ColumnKind] = {"category": "category", "date": "date", "number": "undeclared"}
_ID = r"(?i)^(id|uuid|guid|index|unnamed.*|row|nr\.?|no\.?|number|.*[ _.-](id|uuid|nr|no|number))$|.*[a-z]I[dD]$"


@dataclass(frozen=True)
class ColumnUse:
    """What became of one column: "label", "task", "numbers", "words", "date" or "dropped".

    `features` is the most it can give (the first task decides which words get one), `missing` counts its cells without
    a value among the rows used, `note` says what becomes of its cells, or why it was dropped.
    """

    name: str
    use: str
    features: int
    missing: int
    note: str


@dataclass(frozen=True, eq=False)
class Cut:
    """A table cut into tasks, with every decision made on the way.

    `dropped` says why rows were left out, and how many; `notes` say all the rest. `recipe` reads the next file in the
    same way.
    """

    sequence: TaskSequence
    columns: tuple[ColumnUse, ...]
    rows_read: int
    dropped: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    recipe: Recipe

    def task_table(self) -> pd.DataFrame:
        """Return one row per task with its number (from 1), name, rows, and rows of each class."""
        import pandas as pd

        counts = self.sequence.class_counts()
        facts = {"task": np.arange(1, len(counts) + 1), "name": self.sequence.labels, "rows": counts.sum(axis=1)}
        return pd.DataFrame(facts | {f"class {c}": n for c, n in zip(self.sequence.class_names, counts.T, strict=True)})

    def column_table(self) -> pd.DataFrame:
        """Return one row per column with its name, use, number of features, missing values and note."""
        import pandas as pd

        return pd.DataFrame(self.columns).rename(columns={"name": "column", "use": "used as"})

    def warnings(self) -> list[str]:
        """Return what affects the meaning of a result: rows and tasks left out, very frequent and very rare classes."""
        counts, names = self.sequence.class_counts().sum(axis=0), self.sequence.class_names
        sentences = [f"{count:,} rows left out: {why}." for why, count in self.dropped]
        if (share := counts.max() / counts.sum()) > NEARLY_ALL:
            sentences.append(
                f"{share:.1%} of the rows are of class {names[int(counts.argmax())]!r}: always predicting that "
                f"class is wrong in just {1 - share:.1%} of rows, so judge by the balanced error."
            )
        if len(counts) > 2 and (counts == 1).any():
            once = listed([repr(names[c]) for c in np.flatnonzero(counts == 1)], 5)
            sentences.append(f"Classes with a single row, which may be a stray line rather than a class: {once}.")
        return sentences

    def in_words(self) -> list[str]:
        """Return what the user should know, one sentence each."""
        gaps = [f"{use.name!r} ({use.missing:,} cells)" for use in self.columns if use.missing and "median" in use.note]
        words, gone = (
            [f"{one.name!r} ({one.note})" for one in self.columns if one.use == use] for use in ("words", "dropped")
        )
        sentences = {
            "Missing numbers are replaced by the median of their column there": gaps,
            f"Each column of words becomes up to {self.sequence.max_categories} columns of 0 and 1, one for each "
            f"word that occurs at least {LEAST_FREQUENT} times there. Rarer and new words share another column": words,
            "Columns left out": gone,
        }
        return [
            f"{self.sequence.sizes.sum():,} of {self.rows_read:,} rows are used, in {len(self.sequence):,} tasks.",
            *self.warnings(),
            # What a column is comes from the whole file; everything learnt from values does not.
            "The whole file decides whether a column holds numbers, dates or words, and which labels there are. "
            "Scaling, fill-in values and known words come only from the training rows of the first "
            "task, not from test rows. A column of numbers is left out if it never changes there (unless it is "
            f"always 0 or 1) or is more than {self.sequence.max_missing:.0%} empty there.",
            *(f"{what}: {listed(columns, 5)}." for what, columns in sentences.items() if columns),
            *self.notes,
        ]


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
    """Cut a table into tasks; DataError unless this makes at least two tasks with two classes.

    The options are those of `imrc.tasks_from`. ``sequence.info["report"]`` holds all decisions, about the table
    too, and ``info["warnings"]`` what affects results.

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
    if task is not None and block is not None:
        raise DataError("Give a task column or a block size, not both.")
    as_words, notes = {table.column(which).name for which in words}, list[str]()
    source = table.column(label)
    target = _above(source, threshold) if threshold is not None else _as_written(source, as_words, notes)
    by = None if task is None else _as_written(table.column(task), as_words, notes)
    if by is not None and by.name == target.name:
        raise DataError(f"Column {target.name!r} cannot be both the label and the task.")
    if by is not None and by.kind == "empty":
        raise DataError(f"The task column {by.name!r} is empty.")
    period = _checked_period(period, by)

    # Rows that can be used, and the task of each; tasks that are too small or too old are left out.
    labels, usable = _labels(target), target.present
    left_out = [(f"no label in column {target.name!r}", int((~usable).sum()))]
    if by is not None:
        left_out.append((f"no value in the task column {by.name!r}", int((usable & ~by.present).sum())))
        usable = usable & by.present
    rows = np.flatnonzero(usable)
    if not len(rows):
        raise DataError("No row has both a label and a task.")
    numbers, names, order = _tasks_by_block(block, len(rows)) if by is None else _tasks_by_column(by, rows, period)
    each = f", one per {period}{', named by its Monday' * (period == 'week')}" if period != "value" else ""
    notes.append(f"Tasks come {order}{each}.")
    sizes = np.bincount(numbers[numbers >= 0], minlength=len(names))
    kept, few = np.flatnonzero(sizes >= min_samples), np.flatnonzero(sizes < min_samples)
    small = listed([f"{(names[j] or str(j + 1))!r} ({sizes[j]} row{'s' * int(sizes[j] != 1)})" for j in few], 5)
    if len(kept) < 2:
        what = f"A block of {block} rows" if by is None else f"Column {by.name!r}"
        if len(names) < 2:
            raise DataError(f"{what} makes only one task. Choose another column or smaller blocks: two are needed.")
        raise DataError(
            f"{what}: fewer than two of {len(names):,} tasks have the {min_samples} rows a task needs to be split into "
            f"training and test samples. Too small are {small}. Choose a coarser task column or larger blocks."
        )
    old, kept = kept[:-newest], kept[-newest:]
    left_out += [
        ("rows left over after the last full block", int((numbers < 0).sum())),
        (f"tasks too small to split into training and test samples: {small}", int(sizes[few].sum())),
        (f"tasks before the newest {newest:,} of {len(kept) + len(old):,}", int(sizes[old].sum())),
    ]
    used = np.isin(numbers, kept)
    rows, numbers, names = rows[used], np.searchsorted(kept, numbers[used]), [names[j] for j in kept]
    if by is not None and by.kind == "category":
        names = _shortened(names, notes)
        notes.append(
            f"Column {by.name!r} holds words, which have no order of their own. Tasks should follow one "
            "another in time: sort the rows of the file by time, or choose a column of dates or numbers."
        )
    if by is not None and (np.diff(numbers) < 0).any():
        notes.append("The rows of the file were not in the order of the tasks, so they were sorted.")
    arrange = np.argsort(numbers, kind="stable")
    rows, numbers = rows[arrange], numbers[arrange]

    # Features and labels of these rows.
    roles = [ColumnUse(target.name, "label", 0, target.missing, "what is predicted")]
    if by is not None:
        roles.append(ColumnUse(by.name, "task", 0, by.missing, "which task a row belongs to"))
    skip = {role.name for role in roles} | {table.column(which).name for which in exclude}
    wanted = as_words | {table.column(which).name for which in include}
    free = [_as_words(c) if c.name in as_words else c for c in table.columns if c.name not in skip]
    columns, X, uses = _features(free, rows, wanted, max_categories)
    y = labels[rows]
    if len(np.unique(y)) < 2:
        raise DataError(f"All remaining rows have the same label in column {target.name!r}. Two classes are needed.")
    # Read-only arrays are sliced by the tasks instead of copied.
    X.flags.writeable = y.flags.writeable = False
    edges = np.searchsorted(numbers, np.arange(len(names) + 1))
    tasks = tuple(Task(X[a:b], y[a:b], name, True) for a, b, name in zip(edges[:-1], edges[1:], names, strict=True))
    single = [repr(task.label or str(j + 1)) for j, task in enumerate(tasks) if (task.y == task.y[0]).all()]
    if len(single) == len(tasks):
        why = f"the file is sorted by {target.name!r}. Use a column for the tasks, or sort the rows by time"
        if by is not None:
            why = f"{by.name!r} already determines {target.name!r}. Choose another label or task column"
        raise DataError(f"Every task has only one class, so there is nothing to learn: {why}.")
    if single:
        notes.append(f"{len(single):,} of {len(names):,} tasks have only one class: {listed(single, 5)}.")
    recipe = recipe_of(table, target, source, by, period, columns, X[: edges[1]])
    sequence = TaskSequence(
        tasks,
        name=table.name,
        description=f"The file {table.name}",
        feature_names=tuple(column.name for column in columns),
        info={"source": "your own file", "licence": "yours", "file_sha256": table.sha256, "recipe": recipe.to_dict()},
        column_kinds=tuple(_CUT_KINDS[column.kind] for column in columns),
        categories={j: column.categories for j, column in enumerate(columns) if column.kind == "category"},
        max_categories=max_categories,
        max_missing=max_missing,
    )
    dropped = tuple((why, count) for why, count in left_out if count)
    cut = Cut(sequence, (*roles, *uses), table.n_rows, dropped, tuple(notes), recipe)
    said = {"report": (*table.notes, *cut.in_words()), "warnings": (*table.notes, *cut.warnings(), *cut.notes)}
    return replace(cut, sequence=replace(sequence, info={**sequence.info, **said}))


# Labels


def _above(column: Column, threshold: float | str) -> Column:
    """Return two classes made of a column of numbers."""
    if column.kind != "number":
        raise DataError(f"Column {column.name!r} holds no numbers, so it has no values above a threshold.")
    values, present = column.values, column.present
    limit = float(np.nanmedian(values)) if threshold == "median" else check_real("threshold", threshold)
    if threshold == "median" and not (values > limit).any():  # at least half of the rows hold the largest value
        limit = float(values[present & (values < limit)].max(initial=-np.inf))
    names = (f"above {plain_number(limit)}", f"at most {plain_number(limit)}")
    return Column(column.name, "category", np.where(present, np.where(values > limit, 0, 1), -1), names)


def _as_words(column: Column) -> Column:
    """Return a column of numbers or dates as words, one per value, in their original spelling if it is known."""
    if column.kind not in ("number", "date") or column.written is not None:
        return column.written or column
    values, codes = np.unique(column.values, return_inverse=True)  # NaN last
    words = tuple(column.in_words(value) for value in values[: min(column.distinct, MAX_LISTED)])
    return replace(column, kind="category", values=np.where(column.present, codes, -1), categories=words)


def _as_written(column: Column, as_words: set[str], notes: list[str]) -> Column:
    """Return a column for the label or the tasks; texts that differ stay apart even if they are the same number."""
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


def _labels(column: Column) -> NDArray[Any]:
    """Return one label per row; whole numbers stay numbers, everything else becomes text."""
    if not column.present.any():
        raise DataError(f"The label column {column.name!r} is empty.")
    if column.distinct < 2:
        raise DataError(
            f"The label column {column.name!r} has the same value in every row. Two or more classes are needed."
        )
    if column.distinct > MAX_CLASSES:
        advice = "It looks like a name or free text. Choose the column that you want to predict."
        if column.kind == "number":
            advice = (
                "It looks like a measured number. Turn it into two classes, above and below its median (threshold)."
            )
        raise DataError(
            f"The label column {column.name!r} has {column.distinct:,} different values; at most {MAX_CLASSES} "
            f"classes can be learnt. {advice}"
        )
    values = column.values[column.present]
    if column.kind == "number" and np.equal(values, np.round(values)).all() and np.abs(values).max() < 2**53:
        return np.where(column.present, column.values, 0).astype(np.int64)
    column = _as_words(replace(column, written=None))
    labels: NDArray[Any] = np.array(column.categories)[np.maximum(column.values, 0)]
    return labels


# Tasks


def _checked_period(period: Period | Literal["auto"], task: Column | None) -> Period:
    check_choice("period", period, ("auto", *PERIODS))
    if task is None or task.kind != "date":
        if period not in ("auto", "value"):
            what = "blocks of rows" if task is None else f"column {task.name!r}, which holds no dates"
            raise DataError(f"A task per {period} cannot be made of {what}. Choose a column of dates, or no period.")
        return "value"
    if period == "auto":
        return suggested_period(task)
    if period not in possible_periods(task):
        raise DataError(f"Column {task.name!r} has one date per {task.period}, so tasks cannot be shorter than that.")
    return task.period if period == "value" else period


def periods_of(seconds: Floats, period: Period) -> tuple[Ints, list[str]]:
    """Return the number of each moment's period, and the names of the periods that occur, in order."""
    if period == "value":
        moments, codes = np.unique(seconds, return_inverse=True)
        names = [date_in_words(value) for value in moments[: MAX_TASKS + 1]]
        return codes, names + [""] * (len(moments) - len(names))
    import pandas as pd

    starts = np.floor(seconds).astype("datetime64[s]")
    codes, found = pd.PeriodIndex(starts, freq=period[0].upper()).factorize(sort=True)
    # Weeks begin on Mondays.
    return codes, [str(one.start_time)[:10] if period == "week" else str(one).replace("Q", " Q") for one in found]


def possible_periods(column: Column) -> dict[Period, int]:
    """Return the periods into which dates can be cut, from short to long, with the number of tasks each gives.

    >>> possible_periods(Column("when", "date", np.arange(400) * 86400.0))
    {'value': 400, 'day': 400, 'week': 58, 'month': 14, 'quarter': 5, 'year': 2}
    """
    seconds, least = column.values[column.present], PERIODS.index(column.period)
    return {period: len(periods_of(seconds, period)[1]) for j, period in enumerate(PERIODS) if j == 0 or j >= least}


def suggested_period(column: Column) -> Period:
    """Return months, or a longer period if a month has few rows, a shorter one if it has many; two tasks or more.

    >>> suggested_period(Column("when", "date", np.arange(400) * 86400.0))
    'month'
    """
    rows, counts = int(column.present.sum()), possible_periods(column)
    several = [period for period, count in counts.items() if 2 <= count <= MAX_TASKS and period != "value"]
    full = [period for period in several if rows >= 20 * counts[period]]
    if not full:
        return several[-1] if several else min(counts, key=PERIODS.index)
    chosen = next((period for period in full if period in ("month", "quarter", "year")), full[-1])
    for shorter in ("week", "day") if chosen == "month" else ():
        if shorter in several and rows > MOST_IN_A_MONTH * counts[chosen]:
            chosen = shorter
    return chosen


def _shortened(names: list[str], notes: list[str]) -> list[str]:
    """Leave out words that begin all task names, so that a chart has room for what differs."""
    if any(len(name) > 12 for name in names):
        first, last = min(names), max(names)
        same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
        cut = max((found.end() for found in re.finditer(r"[ _/]+", first[:same])), default=0)
        if cut > 3:
            notes.append(f"All task names begin with {first[:cut]!r}, which is omitted.")
            return [name[cut:] for name in names]
    return names


def _tasks_by_column(column: Column, rows: Ints, period: Period) -> tuple[Ints, list[str], str]:
    """Return the task of each row, the task names in order, and the order in words."""
    import pandas as pd

    values, order = column.values[rows], "in order of time" if column.kind == "date" else "in increasing order"
    if column.kind == "date":
        codes, names = periods_of(values, period)
    else:
        codes, unique = pd.factorize(values, sort=column.kind == "number")
        order = order if column.kind == "number" else "in the order in which they first appear"
        # Only as many values get names as can be tasks.
        names = [column.in_words(value) for value in unique[: MAX_TASKS + 1]]
    if len(names) > MAX_TASKS:
        group = "group the dates by month or year" if column.kind == "date" else "choose another column or make blocks"
        raise DataError(
            f"Column {column.name!r} has {max(column.distinct, len(names)):,} different values; at most {MAX_TASKS:,} "
            f"tasks are possible: {group}."
        )
    return codes.astype(np.int64), names, order


def _tasks_by_block(block: int | None, n_rows: int) -> tuple[Ints, list[str], str]:
    """Return the same for blocks of rows; rows after the last full block get -1."""
    if block is None:
        raise DataError("Choose how rows form tasks: by a task column, or in blocks of a number of rows.")
    count = n_rows // check_int("every (rows per task)", block, 2)
    if not count:
        raise DataError(f"A block of {block:,} rows is longer than the {n_rows:,} rows that can be used.")
    if count > MAX_TASKS:
        raise DataError(f"Blocks of {block:,} rows make {count:,} tasks, more than {MAX_TASKS:,}. Use larger blocks.")
    numbers = np.arange(n_rows) // block
    return np.where(numbers < count, numbers, -1), [""] * count, "in the order of the file"


# Features


def looks_like_identifier(column: Column) -> bool:
    """Whether a column only tells rows apart, as words that are nearly all different or row numbers do."""
    values, rows = column.values[column.present], len(column.values)
    if column.kind == "category":
        return column.distinct > max(TaskSequence.max_categories, rows // 2)
    whole = column.kind == "number" and bool(np.equal(values, np.round(values)).all())
    if not whole or column.distinct < max(len(values), 3):
        return False
    return bool(re.match(_ID, column.name)) or bool((np.diff(values) == 1).all() and len(values) >= 20)


def _column_use(column: Column, rows: Ints, cap: int, wanted: bool) -> tuple[Floats, ColumnUse]:
    """Return the values of a column as they were read, and how they are used.

    A column is dropped only if it has no value, the same one in every row, or looks like an identifier. Everything else
    that depends on values is left to `imrc.features.make`, which sees the training rows of the first task only.
    """
    values = np.where(column.present[rows], column.values[rows], np.nan).astype(np.float64)
    there = values[~np.isnan(values)]
    missing, date = len(rows) - len(there), column.kind == "date"
    why = ""
    if not len(there):
        why = "no values"
    elif not wanted and looks_like_identifier(column):
        why = "it looks like an identifier or free text; include it if it is not"
    # Always 0 or always 1 is not a reason: such a column may count a rare word.
    elif column.kind != "category" and (there == there[0]).all() and (date or there[0] not in (0.0, 1.0)):
        why = "the same value in every row"
    if why:
        return values, ColumnUse(column.name, "dropped", 0, missing, why)
    if column.kind == "category":
        count = len(np.unique(there))
        note = f"{count:,} different word{'s' * (count != 1)}"
        note += f"; {missing:,} missing values are treated as a separate word" * bool(missing)
        return values, ColumnUse(column.name, "words", min(count + bool(missing), cap + 1), missing, note)
    notes = ["days, counted from the first date in the training rows of the first task"] * date
    if missing:
        notes.append(f"{missing:,} missing values are replaced by the median of the training rows of the first task")
    use = ColumnUse(column.name, "date" if date else "numbers", 1, missing, "; ".join(notes))
    return values / (DAY if date else 1), use


def _features(
    columns: list[Column], rows: Ints, wanted: set[str], cap: int
) -> tuple[list[Column], Floats, list[ColumnUse]]:
    """Return the columns to learn from, their values in the used rows, and what became of each column."""
    kept, values, uses, total = list[Column](), list[Floats](), list[ColumnUse](), 0
    most = min(MAX_FEATURES, MAX_CELLS // len(rows))
    for column in columns:
        cells, use = _column_use(column, rows, cap, column.name in wanted)
        uses.append(use)
        total += use.features
        if total > most:
            raise DataError(
                f"The table gives more than {most:,} features for its {len(rows):,} rows (column {column.name!r} is "
                "one too many). Leave columns out, lower the number of 0/1 columns per category, or use fewer rows."
            )
        if use.use != "dropped":
            kept.append(column)
            values.append(cells)
    if not any(np.isnan(cells).any() or (cells != cells[0]).any() for cells in values):
        reasons = "; ".join(f"{use.name!r}: {use.note}" for use in uses[:5])
        raise DataError(f"No column is left to learn from. {reasons or 'There are only a label and a task column'}.")
    return kept, np.stack(values, axis=1), uses
