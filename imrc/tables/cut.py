"""From columns to tasks: which rows belong together, in which order, and what each column is used as."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError, check_choice, check_int, check_real
from imrc._types import Floats, Ints
from imrc.tables.recipe import Recipe, recipe_of
from imrc.tables.table import DAY, MAX_CELLS, Column, Period, Table, date_in_words, plain_number
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
_Use = tuple[str, str, int, int, str]
_USES = ["column", "used as", "features", "missing", "note"]
_ID = r"(?i)^(id|uuid|guid|index|unnamed.*|row|nr\.?|no\.?|number|.*[ _.-](id|uuid|nr|no|number))$|.*[a-z]I[dD]$"


@dataclass(frozen=True, eq=False)
class Cut:
    """A table cut into tasks, with every decision made on the way.

    `columns` has one row per column of the table: what it is used as ("label", "task", "numbers", "words", "date" or
    "dropped"), the most features it can give (the first task decides which words get one), its cells without a value
    among the rows used, and what becomes of them, or why it was dropped. `dropped` says why rows were left out, and how
    many; `notes` say all the rest. `recipe` reads the next file in the same way.
    """

    sequence: TaskSequence
    columns: pd.DataFrame
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
        sizes = self.sequence.sizes
        each = " to ".join(dict.fromkeys(f"{size:,}" for size in (sizes.min(), sizes.max())))
        rows = list(self.columns.itertuples(index=False, name=None))
        filled = [(name, missing) for name, use, _, missing, _ in rows if missing and use in ("numbers", "date")]
        gaps = [f"{name!r} ({missing:,} cells)" for name, missing in filled]
        words, gone = (
            [f"{name!r} ({note})" for name, use, *_, note in rows if use == one] for one in ("words", "dropped")
        )
        sentences = {
            "Missing numbers are replaced by the median of their column there": gaps,
            f"Each column of words becomes up to {self.sequence.max_categories} columns of 0 and 1, one for each "
            f"word that occurs at least {LEAST_FREQUENT} times there. Rarer and new words share another column": words,
            "Columns left out": gone,
        }
        return [
            f"{sizes.sum():,} of {self.rows_read:,} rows are kept, in {len(sizes):,} tasks of {each} rows. A run draws "
            "n rows of each task to learn from and tests on others. A model learns from all rows.",
            *self.warnings(),
            # What a column is comes from the whole file; everything learnt from values does not.
            "The whole file decides whether a column contains numbers, dates or words, and which labels there are. "
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
    import pandas as pd

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
    labels, there = _labels(target), np.ones(table.n_rows, dtype=bool) if by is None else by.present
    rows = np.flatnonzero(target.present & there)
    if not len(rows):
        raise DataError("No row has both a label and a task.")
    numbers, names, order = _tasks(by, block, rows, period)

    # Tasks that are too small or too old are left out; the rows of the others are put in order.
    sizes = np.bincount(numbers[numbers >= 0], minlength=len(names))
    enough, few = np.flatnonzero(sizes >= min_samples), np.flatnonzero(sizes < min_samples)
    small = listed([f"{(names[j] or str(j + 1))!r} ({sizes[j]} row{'s' * int(sizes[j] != 1)})" for j in few], 5)
    if len(enough) < 2:
        raise DataError(
            f"Training and test samples need two tasks of at least {min_samples} rows, but "
            f"{'the blocks make' if by is None else f'column {by.name!r} makes'} {len(enough)}"
            f"{f' (too small: {small})' if small else ''}. Choose another task column, longer periods or other blocks."
        )
    old, kept = enough[:-newest], enough[-newest:]
    left_out = {
        f"no label in column {target.name!r}": (~target.present).sum(),
        f"no value in the task column {by.name!r}" if by is not None else "no task": (target.present & ~there).sum(),
        "rows left over after the last full block": (numbers < 0).sum(),
        f"tasks too small to split into training and test samples: {small}": sizes[few].sum(),
        f"tasks before the newest {newest:,} of {len(enough):,}": sizes[old].sum(),
    }
    used = np.isin(numbers, kept)
    rows, numbers, names = rows[used], np.searchsorted(kept, numbers[used]), [names[j] for j in kept]
    each = f", one per {period}{', named by its Monday' * (period == 'week')}" if period != "value" else ""
    notes.append(f"Tasks come {order}{each}.")
    if by is not None and by.kind == "category":
        names = _shortened(names, notes)
        notes.append(
            f"Column {by.name!r} contains words, which have no order of their own. Tasks should follow one "
            "another in time: sort the rows of the file by time, or choose a column of dates or numbers."
        )
    if (np.diff(numbers) < 0).any():
        notes.append("The rows of the file were not in the order of the tasks, so they were sorted.")
    arrange = np.argsort(numbers, kind="stable")
    rows, numbers = rows[arrange], numbers[arrange]

    uses = [(target.name, "label", 0, int((~target.present).sum()), "what is predicted")]
    if by is not None:
        uses.append((by.name, "task", 0, int((~there).sum()), "which task a row belongs to"))
    skip = {name for name, *_ in uses} | {table.column(which).name for which in exclude}
    wanted = as_words | {table.column(which).name for which in include}
    free = [c.as_words() if c.name in as_words else c for c in table.columns if c.name not in skip]
    columns, X, others = _features(free, rows, wanted, max_categories)
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
    dropped = tuple((why, int(count)) for why, count in left_out.items() if count)
    cut = Cut(sequence, pd.DataFrame([*uses, *others], columns=_USES), table.n_rows, dropped, tuple(notes), recipe)
    said = {"report": (*table.notes, *cut.in_words()), "warnings": (*table.notes, *cut.warnings(), *cut.notes)}
    return replace(cut, sequence=replace(sequence, info={**sequence.info, **said}))


# Labels


def _above(column: Column, threshold: float | str) -> Column:
    """Return two classes made of a column of numbers."""
    if column.kind != "number":
        raise DataError(f"Column {column.name!r} contains no numbers, so it has no values above a threshold.")
    values, present = column.values, column.present
    limit = float(np.nanmedian(values)) if threshold == "median" else check_real("threshold", threshold)
    if threshold == "median" and not (values > limit).any():  # at least half of the rows hold the largest value
        limit = float(values[present & (values < limit)].max(initial=-np.inf))
    names = (f"above {plain_number(limit)}", f"at most {plain_number(limit)}")
    return Column(column.name, "category", np.where(present, np.where(values > limit, 0, 1), -1), names)


def _as_written(column: Column, as_words: set[str], notes: list[str]) -> Column:
    """Return a column for the label or the tasks; texts that differ stay apart even if they are the same number."""
    if column.name not in as_words:
        if column.spelt is None:
            return column
        both = np.unique(np.stack([column.values, column.spelt])[:, column.spelt >= 0], axis=1)
        same = np.flatnonzero(np.diff(both[0]) == 0)
        if not len(same):
            return column
        one, other = (column.categories[int(code)] for code in both[1, same[0] : same[0] + 2])
        why = f"{one!r} and {other!r} are the same number, written in two ways"
        notes.append(f"Column {column.name!r} is used as words: {why}.")
    return column.as_words()


def _labels(column: Column) -> NDArray[Any]:
    """Return one label per row; whole numbers stay numbers, everything else becomes text."""
    name = f"The label column {column.name!r}"
    if not column.present.any():
        raise DataError(f"{name} is empty.")
    if column.distinct < 2:
        raise DataError(f"{name} has the same value in every row. Two or more classes are needed.")
    if column.distinct > MAX_CLASSES:
        advice = "Choose the column that you want to predict, not a name or free text."
        if column.kind == "number":
            advice = "It looks like a measured number, which threshold= splits into two classes."
        raise DataError(
            f"{name} has {column.distinct:,} different values, and at most {MAX_CLASSES} can be classes. {advice}"
        )
    values = column.values[column.present]
    if column.kind == "number" and np.equal(values, np.round(values)).all() and np.abs(values).max() < 2**53:
        return np.where(column.present, column.values, 0).astype(np.int64)
    column = replace(column, spelt=None).as_words()
    labels: NDArray[Any] = np.array(column.categories)[np.maximum(column.values, 0)]
    return labels


# Tasks


def _checked_period(period: Period | Literal["auto"], task: Column | None) -> Period:
    check_choice("period", period, ("auto", *PERIODS))
    if task is None or task.kind != "date":
        if period not in ("auto", "value"):
            what = "blocks of rows" if task is None else f"column {task.name!r}, which contains no dates"
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
        names = [date_in_words(value) for value in moments[: MAX_TASKS + 1]]  # only as many as can be tasks
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


def _tasks(by: Column | None, block: int | None, rows: Ints, period: Period) -> tuple[Ints, list[str], str]:
    """Return the task of each row (-1 after the last full block), the task names in order, and the order in words."""
    import pandas as pd

    if by is None:
        if block is None:
            raise DataError("Choose how rows form tasks: by a task column, or in blocks of a number of rows.")
        numbers = np.arange(len(rows)) // check_int("every (rows per task)", block, 2)
        names, order = [""] * (len(rows) // block), "in the order of the file"
        if not names:
            raise DataError(f"A block of {block:,} rows is longer than the {len(rows):,} rows that can be used.")
        numbers[numbers == len(names)] = -1
    elif by.kind == "date":
        numbers, names = periods_of(by.values[rows], period)
        order = "in order of time"
    else:
        numbers, unique = pd.factorize(by.values[rows], sort=by.kind == "number")
        # Only as many values get names as can be tasks.
        names = [by.in_words(value) for value in unique[: MAX_TASKS + 1]] + [""] * (len(unique) - MAX_TASKS - 1)
        order = "in increasing order" if by.kind == "number" else "in the order in which they first appear"
    if len(names) > MAX_TASKS:
        raise DataError(
            f"{f'Blocks of {block:,} rows make' if by is None else f'Column {by.name!r} makes'} {len(names):,} tasks; "
            f"at most {MAX_TASKS:,} are possible. Choose longer periods, larger blocks, or another column."
        )
    return numbers.astype(np.int64), names, order


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


def _features(
    columns: Sequence[Column], rows: Ints, wanted: set[str], cap: int
) -> tuple[list[Column], Floats, list[_Use]]:
    """Return the columns to learn from, their values in the used rows, and what became of each column.

    A column is dropped only if it has no value, the same one in every row, or looks like an identifier. Everything else
    that depends on values is left to `imrc.features.make`, which sees the training rows of the first task only.
    """
    kept, values, uses, total = list[Column](), list[Floats](), list[_Use](), 0
    most, varies = min(MAX_FEATURES, MAX_CELLS // len(rows)), False
    for column in columns:
        cells = np.where(column.present[rows], column.values[rows], np.nan).astype(np.float64)
        there = cells[~np.isnan(cells)]
        missing, one = len(cells) - len(there), bool(len(there)) and bool((there == there[0]).all())
        if not len(there):
            use = ("dropped", 0, missing, "no values")
        elif column.name not in wanted and looks_like_identifier(column):
            use = ("dropped", 0, missing, "it looks like an identifier or free text; include it if it is not")
        # Always 0 or always 1 is not a reason: such a column may count a rare word.
        elif one and column.kind != "category" and (column.kind == "date" or there[0] not in (0.0, 1.0)):
            use = ("dropped", 0, missing, "the same value in every row")
        elif column.kind == "category":
            count = len(np.unique(there))
            note = f"{count:,} different word{'s' * (not one)}"
            note += f"; {missing:,} missing values are treated as a separate word" * bool(missing)
            use = ("words", min(count + bool(missing), cap + 1), missing, note)
        else:
            date = column.kind == "date"
            notes = ["days, counted from the first date in the training rows of the first task"] * date
            gaps = f"{missing:,} missing values are replaced by the median of the training rows of the first task"
            cells = cells / (DAY if date else 1)
            use = ("date" if date else "numbers", 1, missing, "; ".join([*notes, *[gaps] * bool(missing)]))
        uses.append((column.name, *use))
        total += use[1]
        if total > most:
            raise DataError(
                f"The table gives more than {most:,} features for its {len(rows):,} rows (column {column.name!r} is "
                "one too many). Leave columns out, lower the number of 0/1 columns per category, or use fewer rows."
            )
        if use[0] != "dropped":
            varies |= missing > 0 or not one
            kept.append(column)
            values.append(cells)
    if not varies:
        reasons = "; ".join(f"{name!r}: {note}" for name, *_, note in uses[:5])
        raise DataError(f"No column is left to learn from. {reasons or 'There are only a label and a task column'}.")
    return kept, np.stack(values, axis=1), uses
