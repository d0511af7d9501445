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
from imrc.tables.table import DAY, MAX_CELLS, MAX_LABEL, MAX_ROWS, Column, Period, Table, date_in_words, plain_number
from imrc.tasks import LEAST_FREQUENT, MAX_TASKS, ColumnKind, Task, TaskSequence
from imrc.wording import listed

if TYPE_CHECKING:
    import pandas as pd

PERIODS: tuple[Period, ...] = get_args(Period)
MAX_FEATURES = 2000
MAX_CLASSES = 50
SMALLEST_TASK = 4
"""Samples a task needs so that both halves of a split have two."""
NEARLY_ALL = 0.9
"""A class with a larger share of the rows leads to a warning."""
MOST_IN_A_MONTH = 300
"""With more rows per month, tasks are weeks, and with more rows per week days, unless somebody chooses."""
_CUT_KINDS: dict[str, ColumnKind] = {"category": "category", "date": "date", "number": "undeclared"}
_STEPS = {"day": "D", "month": "M", "quarter": "3M", "year": "Y"}
_USES = ["column", "used as", "missing", "note"]
_ID = r"(?i)^(id|uuid|guid|index|unnamed.*|row|nr\.?|no\.?|number|.*[ _.-](id|uuid|nr|no|number))$|.*[a-z]I[dD]$"


@dataclass(frozen=True, eq=False)
class Cut:
    """A table cut into tasks, with every decision made on the way.

    `columns` says of each column what it is used as ("label", "task", "numbers", "words", "date" or "dropped"), how
    many cells have no value, and what becomes of them, or why it was dropped. `dropped` says why rows were left out,
    and how many. `recipe` reads the next file in the same way.
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

    @property
    def always(self) -> str:
        """What `in_words` says of every table."""
        return (
            "A run draws n rows of each task to learn from and tests on others. A model learns from all rows. "
            "Scaling, fill-in values and known words come only from the training rows of the first task. A column of "
            "numbers is left out if it never changes there (unless it is always 0 or 1) or is more than "
            f"{self.sequence.max_missing:.0%} empty there."
        )

    def in_words(self) -> list[str]:
        """Return what the user should know, one sentence each."""
        sizes = self.sequence.sizes
        each = " to ".join(dict.fromkeys(f"{size:,}" for size in (sizes.min(), sizes.max())))
        most = self.sequence.max_categories
        uses = {
            "numbers": "Numbers with missing values",
            "date": "Dates",
            "words": f"Words, which become up to {most} columns of 0 and 1, one for each word that occurs at least "
            f"{LEAST_FREQUENT} times in the training rows of the first task, and one for rarer and new words",
            "dropped": "Columns left out",
        }
        rows = list(self.columns.itertuples(index=False, name=None))
        found = {use: [f"{name!r} ({note})" for name, one, _, note in rows if one == use and note] for use in uses}
        return [
            f"{sizes.sum():,} of {self.rows_read:,} rows are kept, in {len(sizes):,} tasks of {each} rows.",
            *self.warnings(),
            self.always,
            *(f"{what}: {listed(found[use], 5)}." for use, what in uses.items() if found[use]),
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
    """
    import pandas as pd

    max_categories = check_int("max_categories", max_categories, 1, 200)
    max_missing = check_real("max_missing", max_missing, 0.0, 1.0)
    min_samples = check_int("min_samples", min_samples, 2)
    newest = MAX_TASKS if newest is None else check_int("newest", newest, 2)
    if task is not None and block is not None:
        raise DataError("Give a task column or a block size, not both.")
    as_words, notes = {table.column(which).name for which in words}, list[str]()
    source = table.column(label)
    limit = None if threshold is None else _split_at(source, threshold)
    if limit is None:
        target = _as_written(source, as_words, notes)
    else:
        ways = (f"above {plain_number(limit)}", f"at most {plain_number(limit)}")
        target = Column(source.name, "category", np.where(source.present, source.values <= limit, -1), ways)
    by = None if task is None else _as_written(table.column(task), as_words, notes)
    if by is not None and by.name == target.name:
        raise DataError(f"Column {target.name!r} cannot be both the label and the task.")
    if by is not None and by.kind == "empty":
        raise DataError(f"The task column {by.name!r} is empty.")
    period = _checked_period(period, by)
    labels, there = _labels(target, notes), np.ones(table.n_rows, dtype=bool) if by is None else by.present
    rows = np.flatnonzero(target.present & there)
    groups, order = _tasks(by, block, rows, period)

    # Tasks that are too small or too old are left out; the rows of the others are put in order.
    few = [(name or str(j), len(one)) for j, (name, one) in enumerate(groups, 1) if len(one) < min_samples]
    small = listed([f"{name!r} ({size} row{'s' * (size != 1)})" for name, size in few], 5)
    enough = [group for group in groups if len(group[1]) >= min_samples]
    if len(enough) < 2:
        raise DataError(
            f"Training and test samples need two tasks of at least {min_samples} rows, but "
            f"{'the blocks make' if by is None else f'column {by.name!r} makes'} {len(enough)}"
            f"{f' (too small: {small})' if small else ''}. Choose another task column, longer periods or other blocks."
        )
    left_out = {
        f"no label in column {target.name!r}": (~target.present).sum(),
        f"no value in the task column {by.name!r}" if by is not None else "no task": (target.present & ~there).sum(),
        "rows left over after the last full block": len(rows) - sum(len(one) for _, one in groups),
        f"tasks too small to split into training and test samples: {small}": sum(size for _, size in few),
        f"tasks before the newest {newest:,} of {len(enough):,}": sum(len(one) for _, one in enough[:-newest]),
    }
    names, kept = zip(*enough[-newest:], strict=True)
    rows, edges = np.concatenate(kept), np.cumsum([0, *map(len, kept)])
    each = f", one per {period}{', named by its Monday' * (period == 'week')}" if period != "value" else ""
    notes.append(f"Tasks come {order}{each}.")
    if by is not None and period not in ("value", "day"):  # on some days nobody works
        starts = np.unique(periods_of(by.values[rows], period))
        many = int((starts[-1] - starts[0]).astype(int)) // (7 if period == "week" else 1) + 1 - len(starts)
        gap = f"Between the first and the last task, {many:,} {period}{'s have' if many > 1 else ' has'} no task."
        notes += [f"{gap} A step over such a gap counts like any other."] * (many > 0)
    if by is not None and by.kind == "category":
        names = _shortened(names, notes)
        notes.append(
            f"Column {by.name!r} contains words, which have no order of their own. Tasks should follow one "
            "another in time: sort the rows of the file by time, or choose a column of dates or numbers."
        )
    if (np.diff(rows) < 0).any():
        notes.append("The rows of the file were not in the order of the tasks, so they were sorted.")

    uses = [(target.name, "label", int((~target.present).sum()), "what is predicted")]
    if by is not None:
        uses.append((by.name, "task", int((~there).sum()), "which task a row belongs to"))
    skip = {name for name, *_ in uses} | {table.column(which).name for which in exclude}
    wanted = as_words | {table.column(which).name for which in include}
    free = [c.as_words() if c.name in as_words else c for c in table.columns if c.name not in skip]
    columns, X, others = _features(free, rows, wanted, max_categories)
    y = labels[rows]
    if len(kept_classes := np.unique(y).tolist()) < 2:
        raise DataError(f"All remaining rows have the same label in column {target.name!r}. Two classes are needed.")
    # Read-only arrays are sliced by the tasks instead of copied.
    X.flags.writeable = y.flags.writeable = False
    tasks = tuple(Task(X[a:b], y[a:b], name, True) for a, b, name in zip(edges[:-1], edges[1:], names, strict=True))
    single = [repr(task.label or str(j + 1)) for j, task in enumerate(tasks) if (task.y == task.y[0]).all()]
    if len(single) == len(tasks):
        why = f"the file is sorted by {target.name!r}. Use a column for the tasks, or sort the rows by time"
        if by is not None:
            why = f"{by.name!r} already determines {target.name!r}. Choose another label or task column"
        raise DataError(f"Every task has only one class, so there is nothing to learn: {why}.")
    if single:
        notes.append(f"{len(single):,} of {len(names):,} tasks have only one class: {listed(single, 5)}.")
    classes = np.unique(labels[target.present]).tolist()
    shown = {raw: name for raw, name in zip(target.raw, target.categories, strict=True) if raw != name}
    told = {"threshold": limit, "classes": classes, "names": shown}
    recipe = recipe_of(table, (target if limit is None else source, told), (by, period), columns, X[: edges[1]])
    sequence = TaskSequence(
        tasks,
        name=table.name,
        description=f"The file {table.name}",
        feature_names=tuple(column.name for column in columns),
        info={
            **{"source": "your own file", "licence": "yours", "file_sha256": table.sha256, "recipe": recipe.to_dict()},
            "class_names": tuple(shown.get(one, str(one)) for one in kept_classes),
        },
        column_kinds=tuple(_CUT_KINDS[column.kind] for column in columns),
        categories={j: tuple(column.categories) for j, column in enumerate(columns) if column.kind == "category"},
        max_categories=max_categories,
        max_missing=max_missing,
    )
    dropped = tuple((why, int(count)) for why, count in left_out.items() if count)
    cut = Cut(sequence, pd.DataFrame([*uses, *others], columns=_USES), table.n_rows, dropped, tuple(notes), recipe)
    said = {"report": (*table.notes, *cut.in_words()), "warnings": (*table.notes, *cut.warnings(), *cut.notes)}
    return replace(cut, sequence=replace(sequence, info={**sequence.info, **said}))


# Labels


def _split_at(column: Column, threshold: float | str) -> float:
    """Return the value above which rows of a column of numbers are one class."""
    if column.kind != "number":
        raise DataError(f"Column {column.name!r} contains no numbers, so it has no values above a threshold.")
    if threshold != "median":
        return check_real("threshold", threshold)
    values = column.values[column.present]
    limit, below = float(np.median(values)), values[values < values.max()]
    # At least half of the rows may have the largest value.
    return float(below.max()) if len(below) and limit == values.max() else limit


def _as_written(column: Column, as_words: set[str], notes: list[str]) -> Column:
    """Return a column for the label or the tasks; texts that differ stay apart even if they are the same number."""
    if column.name not in as_words and column.spelt is None:
        return column
    if column.name not in as_words:
        notes.append(f"Column {column.name!r} is used as words, because it has one number written in two ways.")
    return column.as_words()


def _labels(column: Column, notes: list[str]) -> NDArray[Any]:
    """Return one label per row, as in the file; whole numbers stay numbers, everything else becomes text."""
    name = f"The label column {column.name!r}"
    if column.distinct < 2:
        what = "has the same value in every row" if column.present.any() else "is empty"
        raise DataError(f"{name} {what}. Two or more classes are needed.")
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
    longest = max(map(len, column.raw), default=0)
    if longest * len(values) > 100 * MAX_ROWS:  # an array has room for the longest in every row
        raise DataError(f"{name} has labels of {longest} characters, too long for {len(values):,} rows. Shorten them.")
    if longest > MAX_LABEL:
        notes.append(f"Labels in column {column.name!r} that are longer than {MAX_LABEL} characters are cut.")
    return column.words(raw=True).astype(str)


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


def periods_of(seconds: Floats, period: Period) -> NDArray[Any]:
    """Return the beginning of each moment's period; weeks begin on Mondays, those of NumPy on Thursdays."""
    if period == "value":
        return seconds
    moments = np.floor(seconds).astype("datetime64[s]")
    if period == "week":
        return (moments + np.timedelta64(3, "D")).astype("datetime64[W]").astype("datetime64[D]") - 3
    return moments.astype(f"datetime64[{_STEPS[period]}]")


def period_in_words(start: Any, period: Period) -> str:  # noqa: ANN401 - of `periods_of`
    """Return the name of a period."""
    text = date_in_words(start) if period == "value" else str(start)
    return f"{text[:4]} Q{(int(text[5:7]) + 2) // 3}" if period == "quarter" else text


def possible_periods(column: Column) -> dict[Period, int]:
    """Return the periods into which dates can be cut, from short to long, with the number of tasks each gives."""
    seconds, least = column.values[column.present], max(1, PERIODS.index(column.period))
    return {period: len(np.unique(periods_of(seconds, period))) for period in ("value", *PERIODS[least:])}


def suggested_period(column: Column) -> Period:
    """Return months, or a longer period if a month has few rows, a shorter one if it has many; two tasks or more."""
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


def _shortened(names: tuple[str, ...], notes: list[str]) -> tuple[str, ...]:
    """Leave out words that begin all task names, so that a chart has room for what differs."""
    first, last = min(names), max(names)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    cut = max(first.rfind(mark, 0, same) for mark in " _/") + 1
    if cut <= 3 or max(map(len, names)) <= 12:
        return names
    notes.append(f"All task names begin with {first[:cut]!r}, which is omitted.")
    return tuple(name[cut:] for name in names)


def _tasks(by: Column | None, block: int | None, rows: Ints, period: Period) -> tuple[list[tuple[str, Ints]], str]:
    """Return the name and rows of each task, up to the last full block, and their order in words."""
    if not len(rows):
        raise DataError("No row has both a label and a task.")
    if by is None:
        if block is None:
            raise DataError("Choose how rows form tasks: by a task column, or in blocks of a number of rows.")
        count = len(rows) // check_int("every (rows per task)", block, 2)
        if not count:
            raise DataError(f"A block of {block:,} rows is longer than the {len(rows):,} rows that can be used.")
        rows = rows[: count * block]
        keys = np.arange(len(rows)) // block
    else:
        keys = periods_of(by.values[rows], period) if by.kind == "date" else by.values[rows]
    found, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    if len(found) > MAX_TASKS:
        raise DataError(
            f"{f'Blocks of {block:,} rows make' if by is None else f'Column {by.name!r} makes'} {len(found):,} tasks; "
            f"at most {MAX_TASKS:,} are possible. Choose longer periods, larger blocks, or another column."
        )
    parts = np.split(rows[np.argsort(numbers, kind="stable")], np.cumsum(np.bincount(numbers))[:-1])
    if by is None:
        return [("", part) for part in parts], "in the order of the file"
    names = [period_in_words(one, period) if by.kind == "date" else by.in_words(one) for one in found]
    groups = [*zip(names, parts, strict=True)]
    if by.kind != "category":
        return groups, "in order of time" if by.kind == "date" else "in increasing order"
    return [groups[j] for j in np.argsort(first)], "in the order in which they first appear"


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


def _cells(column: Column, rows: Ints) -> Floats:
    return np.where(column.present[rows], column.values[rows], np.nan).astype(np.float64)


def _features(
    columns: Sequence[Column], rows: Ints, wanted: set[str], cap: int
) -> tuple[list[Column], Floats, list[tuple[str, str, int, str]]]:
    """Return the columns to learn from, their values in the used rows, and what became of each column.

    A column is dropped only if it has no value, the same one in every row, or looks like an identifier. Everything else
    that depends on values is left to `imrc.features.make`, which sees the training rows of the first task only.
    """
    kept, uses, total, varies = list[Column](), [], 0, False
    for column in columns:
        cells = _cells(column, rows)
        there = np.unique(cells[~np.isnan(cells)])
        missing, use = int(np.isnan(cells).sum()), "dropped"
        if not len(there):
            note = "no values; if it has formulas, open the file in Excel and save it there, which saves their values"
        elif column.name not in wanted and looks_like_identifier(column):
            note = "it looks like an identifier or free text; include it if it is not"
        # Always 0 or always 1 is not a reason: such a column may count a rare word.
        elif len(there) == 1 and column.kind != "category" and (column.kind == "date" or there[0] not in (0.0, 1.0)):
            note = "the same value in every row"
        elif column.kind == "category":
            use, note = "words", f"{len(there):,} different word{'s' * (len(there) > 1)}"
            note += f"; {missing:,} missing values are treated as a separate word" * bool(missing)
        else:
            use = "date" if column.kind == "date" else "numbers"
            notes = ["days, counted from the first date in the training rows of the first task"] * (use == "date")
            gaps = f"{missing:,} missing values are replaced by the median of the training rows of the first task"
            note = "; ".join([*notes, *[gaps] * bool(missing)])
        uses.append((column.name, use, missing, note))
        if use != "dropped":
            total += min(len(there) + bool(missing), cap + 1) if use == "words" else 1
            varies |= missing > 0 or len(there) > 1
            kept.append(column)
    if total > (most := min(MAX_FEATURES, MAX_CELLS // len(rows))):
        raise DataError(
            f"The table gives {total:,} features for its {len(rows):,} rows; at most {most:,} are possible. Leave out "
            "columns, lower the number of 0/1 columns per category, or use fewer rows."
        )
    if not varies:
        reasons = "; ".join(f"{name!r}: {note}" for name, *_, note in uses[:5])
        raise DataError(f"No column is left to learn from. {reasons or 'There are only a label and a task column'}.")
    # One column after the other: all of them beside the result would take its memory again.
    X = np.empty((len(rows), len(kept)))
    for j, column in enumerate(kept):
        X[:, j] = _cells(column, rows) / (DAY if column.kind == "date" else 1)
    return kept, X, uses
