"""From a data frame, a file, arrays with groups, or one pair per task to a sequence of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError, InputError, InputTypeError, check_int, check_labels, check_matrix, check_names
from imrc.tables import READING, Source, open_table
from imrc.tables.cut import cut_table
from imrc.tables.sample import suggest
from imrc.tables.table import clean_name, unique_names
from imrc.tasks import Task, TaskSequence, how_to_make_tasks, is_frame
from imrc.wording import listed

if TYPE_CHECKING:
    import pandas as pd

_CUTTING = ("exclude", "include", "words", "threshold", "max_categories", "max_missing", "min_samples", "newest")
OPTIONS = (*_CUTTING, *READING)
"""Options for tables."""


def tasks_from(
    data: object,
    target: str | int | None = None,
    every: int | None = None,
    *,
    by: str | int | None = None,
    period: str | None = None,
    name: str | None = None,
    **options: Any,  # noqa: ANN401 - checked below
) -> TaskSequence:
    """Turn a data frame, a file, arrays with groups, or a list with one (X, y) pair per task into a sequence of tasks.

    Parameters
    ----------
    data : DataFrame, path, bytes, open binary file, (X, y, groups), (X, y), list of (X, y) or of (name, X, y)
        A table needs `target`, and `every` or `by`; ``(X, y)`` needs `every`. The rows of one group form a task. Groups
        that are numbers or dates are sorted; groups that are words keep the order in which they first appear. X
        is an array or a data frame, whose columns keep their names. Values may be missing.
    target : str or int, optional
        Column to predict: its name, or its position as an int from 0 or a text from "1".
    every : int, optional
        Rows per task, in the order of the rows.
    by : str or int, optional
        Column whose values are the tasks.
    period : {"auto", "value", "day", "week", "month", "quarter", "year"}, optional
        Period that forms one task if `by` contains dates. The default, "auto", means months, or shorter or longer
        periods if months have very many or very few rows.
    name : str, optional
        Name of the sequence.
    **options
        For a table. `exclude`, `include`: columns not to learn from, and columns to learn from although they
        look like identifiers. `words`: columns of numbers or dates whose values are only names. `threshold`: splits a
        label of numbers into two classes, above it (or above the "median") and not. `max_categories`: the maximum
        number of 0/1 columns per column of words (1 to 200); rarer words share one more. `max_missing`: a column of
        numbers is left out if a larger share of its values is missing in the first task. `min_samples`: tasks with
        fewer rows are left out. `newest`: only this many tasks at the end are kept. `dayfirst`, `decimal` ("." or ","),
        `header`, `sheet` (name, or number from 1): how to read a file that can be read in two ways. By default imrc
        decides and leaves a note.

    Returns
    -------
    TaskSequence
        For a table, ``info["recipe"]`` reads the next file or frame in the same way. Columns are stored as they were
        read: NaN for an empty cell, days for dates, and numbers that stand for words (``categories``). Filling
        gaps and turning words into 0/1 columns come later, learnt from training rows only.

    Raises
    ------
    InputError
        If the data cannot be turned into tasks; the message says what to do. If the data are of the wrong type, this
        error is also a TypeError.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sun": range(12), "rain": ["no", "yes", "no"] * 4})
    >>> tasks_from(frame, target="rain", every=4, name="weather")
    TaskSequence('weather', 3 tasks, 12 samples, 1 features, 2 classes)
    >>> X, y = frame[["sun"]].to_numpy(), frame["rain"].to_numpy()
    >>> tasks_from((X, y, [2021] * 6 + [2020] * 6)).labels
    ('2020', '2021')
    """
    check_names("tasks_from", options, ("target", "every", "by", "period", "name", *OPTIONS))
    if hasattr(data, "to_pandas"):
        data = data.to_pandas()
    if is_frame(data) or isinstance(data, str | Path | bytes) or hasattr(data, "read"):
        return _of_table(data, target, by, every, name=name, period=period or "auto", **options)
    table_only = {"target": target, "by": by, "period": period, **options}
    unused = [option for option, value in table_only.items() if value is not None]
    if unused:
        raise InputError(f"tasks_from: {unused[0]} is for a data frame or a file. {how_to_make_tasks(data)}")
    if isinstance(data, TaskSequence):
        return data
    if isinstance(data, tuple) and len(data) in (2, 3) and not isinstance(data[0], tuple | Task | str):
        X, y, groups = (*data, None)[:3]
        if (groups is None) == (every is None):
            raise InputError("tasks_from((X, y)) needs every=, the rows per task; or give (X, y, groups).")
        return _grouped(X, _flat(y), groups, every, name)
    if not isinstance(data, list | tuple) or not len(data):
        raise InputTypeError(f"tasks_from cannot make tasks of {type(data).__name__}. {how_to_make_tasks(data)}")
    if every is not None:
        raise InputError("tasks_from: leave out every= for a list, because its entries are the tasks.")
    return _of_parts([_part(number, one) for number, one in enumerate(data)], name)


def _of_table(
    data: Source,
    label: str | int | None,
    task: str | int | None,
    block: int | None,
    *,
    name: str | None,
    **options: Any,  # noqa: ANN401
) -> TaskSequence:
    if is_frame(data) and task is not None and task == data.index.name and task not in data.columns:
        data = data.reset_index()
    if block is not None and task is not None:
        raise InputError("tasks_from: give every=, the rows per task, or by=, the column of the tasks; not both.")
    table = open_table(data, name=name, **{option: options.pop(option) for option in READING if option in options})
    if label is None or (block is None) == (task is None):
        found = suggest(table)
        cut = f"by={found.task!r}" if found.task else f"every={found.block}"
        raise InputError(
            "Say which column to predict, and either the rows per task (every=) or the column whose values are the "
            f"tasks (by=), for example imrc.tasks_from(..., target={found.label or 'COLUMN'!r}, {cut}). Columns: "
            f"{listed([*map(repr, table.names)], 20)}."
        )
    told = [table.column(which) for which in (label, task) if which is not None]
    try:
        sequence = cut_table(table, label=label, task=task, block=block, **options).sequence
    except DataError as error:
        about = [f"Column {column.name!r}: {note}." for column in told for note in column.notes]
        raise DataError(" ".join([str(error), *about])) from None
    return replace(sequence, name=clean_name(name).rsplit(".", 1)[0]) if name else sequence


def _flat(y: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return labels in one dimension; a list keeps its gaps, which an array of words would not."""
    return np.ravel(y if hasattr(y, "dtype") else np.asarray(y, dtype=object))


def _part(number: int, one: object) -> tuple[str, Any, Any]:
    """Return name, X and y of an entry of a list."""
    if isinstance(one, Task):
        return one.label, one.X, one.y
    if isinstance(one, list | tuple) and len(one) in (2, 3):
        name, X, y = one if len(one) == 3 else ("", *one)
        return str(name), X, _flat(y)
    kind = f"{len(one)} parts" if isinstance(one, list | tuple) else type(one).__name__
    hint = " Of a frame: (frame.drop(columns=TARGET), frame[TARGET])." if is_frame(one) else ""
    raise InputTypeError(f"Entry {number + 1} of the list must be (X, y) or (name, X, y), got {kind}.{hint}")


def _of_parts(parts: Sequence[tuple[str, Any, Any]], name: str | None) -> TaskSequence:
    """Return one task for each name, X and y."""
    import pandas as pd

    if is_frame(parts[0][1]):
        for number, (_, X, _) in enumerate(parts):
            if not is_frame(X) or list(X.columns) != list(parts[0][1].columns):
                raise InputError(f"Entry {number + 1} of the list does not have the columns of the first.")
        places = np.repeat(np.arange(len(parts)), [len(X) for _, X, _ in parts])
        found = _of_frame(pd.concat([X for _, X, _ in parts]), np.concatenate([y for *_, y in parts]), places, name)
        # The order is the list's, because the cutter was given numbers instead of names.
        return replace(found, tasks=tuple(replace(task, label=parts[int(task.label)][0]) for task in found))
    tasks = list[Task]()
    for number, (label, X, y) in enumerate(parts, start=1):
        try:
            tasks.append(Task(X, y, label, True))
        except ValueError as error:
            raise InputError(f"Task {label or number}: {error}") from None
    # Whether values may be missing is decided for all tasks: a later one may have a gap where the first has none.
    missing = any(np.isnan(task.X).any() for task in tasks)
    made = TaskSequence(tuple(replace(task, allow_missing=missing) for task in tasks), name=name or "tasks")
    if made.n_classes < 2:
        raise InputError("All labels are the same. Two or more classes are needed.")
    return made


def _grouped(X: Any, y: Any, groups: Any, every: int | None, name: str | None) -> TaskSequence:  # noqa: ANN401
    """Return tasks, each the rows of one group or the given number of rows."""
    import pandas as pd

    if len(X) != len(y):
        raise InputError(f"X has {len(X)} rows and y {len(y)}; these numbers must be equal.")
    if every is None:
        groups = np.ravel(groups)
        told = groups.astype(str) if groups.dtype.kind == "O" else groups
        codes, found = pd.factorize(told, sort=told.dtype.kind not in "US", use_na_sentinel=False)
    else:
        size = check_int("every", every, 2, max(len(y), 2))
        codes, found = np.arange(len(y)) // size, [""] * (len(y) // size)
    if len(X) != len(codes):
        raise InputError(f"X has {len(X)} rows and groups {len(codes)}; these numbers must be equal.")
    if is_frame(X):
        return _of_frame(X, y, groups if every is None else every, name)
    rows, y = check_matrix("X", X, allow_missing=True), check_labels("y", y)
    if every is None and (without := pd.isna(groups)).any():
        row = int(without.argmax()) + 1
        raise InputError(f"groups has no value in row {row}. Leave such rows out of X, y and groups.")
    names = pd.Index(found).astype(str)  # a date without the time of day that it does not have
    return _of_parts([(label, rows[codes == j], y[codes == j]) for j, label in enumerate(names)], name)


def _of_frame(X: pd.DataFrame, y: Any, tasks: Any, name: str | None) -> TaskSequence:  # noqa: ANN401
    """Return tasks from a frame of inputs, made by the cutter of tables; `tasks` are groups or rows per task."""
    frame, name = X.reset_index(drop=True), name or "tasks"
    *_, label, task = unique_names([*X.columns, "label", "task"])
    frame[label] = y
    if isinstance(tasks, int):
        return _of_table(frame, label, None, tasks, name=name)
    frame[task] = tasks
    return _of_table(frame, label, task, None, name=name, period="value")
