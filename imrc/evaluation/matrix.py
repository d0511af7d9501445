"""An error matrix R[step, task] from elsewhere: read, checked, and summed up by the measures of continual learning."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from imrc._checks import DataError, check_choice
from imrc._types import Floats
from imrc.evaluation.lagtable import LagTable
from imrc.evaluation.measures import MEASURES, measures_of_errors
from imrc.evaluation.significance import Headline, mean_and_stderr

Holds = Literal["accuracy", "error"]
Rows = Literal["steps", "tasks"]

MOST_TASKS = 300
"""More tasks than a picture of a matrix could show."""
MOST_BYTES = 20_000_000
_LONG = ("training_exp", "eval_exp", "eval_accuracy")
"""Columns of the long layout that Avalanche writes: experiences from 0, one row per step and task."""


@dataclass(frozen=True, eq=False)
class ErrorMatrix:
    """Errors of each task at each step, from another program."""

    name: str  # where it is from
    errors: LagTable  # from the step on at which a task was learnt
    before: Floats | None  # (repetitions, tasks), one step before; NaN for the first
    notes: tuple[str, ...] = ()  # what was understood in reading it

    def table(self) -> pd.DataFrame:
        """Return task, step, lag, label, value, stderr, one row per task and step, for `imrc.plots.error_heatmaps`."""
        values = self.errors.values
        task, lag = np.nonzero(np.isfinite(values[0]))
        mean, stderr = mean_and_stderr(values)
        return pd.DataFrame(
            {
                "task": task + 1,
                "step": task + lag + 1,
                "lag": lag,
                "label": (task + 1).astype(str),
                "value": mean[task, lag],
                "stderr": stderr[task, lag],
            }
        )

    def measures(self) -> pd.DataFrame:
        """Return the measures of continual learning: measure, value, stderr, formula, source.

        Not forward transfer: a matrix does not hold what a learner knows of a task before any training.
        """
        found = measures_of_errors(self.errors)
        rows = []
        for name, values in found.items():
            if name != "forward_transfer":
                one = Headline.of(values)
                measure = MEASURES[name]
                rows.append((measure.title, one.mean, one.stderr, measure.formula, measure.source))
        if self.before is not None:
            ahead = Headline.of(1.0 - self.before[:, 1:].mean(axis=1))
            rows.append(("Accuracy on the next task", ahead.mean, ahead.stderr, "mean over j > 1 of R[j - 1, j]", ""))
        return pd.DataFrame(rows, columns=["measure", "value", "stderr", "formula", "source"])


def error_matrix(
    values: ArrayLike, *, name: str = "matrix", holds: Holds = "accuracy", rows: Rows = "steps"
) -> ErrorMatrix:
    """Check a matrix R[step, task] and return it as errors; DataError if it is none or misses a value.

    Shapes (tasks, tasks), (repetitions, tasks, tasks), or CapyMOA's `anytime_accuracy_matrix`, (tasks, times, tasks),
    read at the last time of each task. What lies above the diagonal may be missing; percent if a value is above 1.

    >>> found = error_matrix([[0.9, np.nan], [0.6, 0.8]])
    >>> found.measures()[["measure", "value"]].round(3).to_numpy().tolist()[:2]
    [['Average accuracy', 0.7], ['Backward transfer', -0.3]]
    """
    check_choice("holds", holds, get_args(Holds))
    check_choice("rows", rows, get_args(Rows))
    R, notes = np.asarray(values, dtype=np.float64), []
    if R.ndim == 3 and R.shape[0] == R.shape[2] != R.shape[1]:
        R = R[:, -1]
        notes.append("Read as tasks x times x tasks: the last time of each task is used.")
    R = R[None] if R.ndim == 2 else R
    if R.ndim != 3 or R.shape[1] != R.shape[2] or not 2 <= R.shape[1] <= MOST_TASKS or not len(R):
        raise DataError(
            f"A matrix has one row per step and one column per task, 2 to {MOST_TASKS} of both; got the shape "
            f"{' x '.join(map(str, np.shape(values)))}."
        )
    R = R.transpose(0, 2, 1) if rows == "tasks" else R
    tasks = R.shape[1]
    step, task = np.indices((tasks, tasks))
    missing = ~np.isfinite(R) & (step >= task)
    if missing.any():
        _, i, j = np.argwhere(missing)[0]
        raise DataError(
            f"R[{i + 1}, {j + 1}], task {j + 1} after task {i + 1} was learnt, is missing. Rows are steps and columns "
            "tasks; if it is the other way round, say so."
        )
    known = R[np.isfinite(R)]
    if known.max() > 1.0:
        R = R / 100.0
        notes.append("Values above 1: read as percent.")
    if known.min() < 0.0 or known.max() > 100.0:
        raise DataError(f"Values lie between 0 and 1, or 0 and 100 percent; here {known.min():g} to {known.max():g}.")
    errors = 1.0 - R if holds == "accuracy" else R
    lag = np.arange(tasks)
    at = np.minimum(lag[None, :] + lag[:, None], tasks - 1)
    by_lag = np.where(lag[None, :] + lag[:, None] < tasks, errors[:, at, lag[:, None]], np.nan)
    ahead = errors[:, lag[:-1], lag[1:]]
    # Many programs fill what they have not measured with zeros.
    filled = not np.isfinite(ahead).all() or (R[:, lag[:-1], lag[1:]] == 0).all()
    before = None if filled else np.concatenate([np.full((len(R), 1), np.nan), ahead], axis=1)
    return ErrorMatrix(name, LagTable(by_lag), before, tuple(notes))


def read_matrix(data: bytes, *, name: str, holds: Holds = "accuracy", rows: Rows = "steps") -> ErrorMatrix:
    """Read a matrix from a file's content, at most 20 MB: .npy, text with commas, semicolons or tabs, else DataError.

    Text may have names in first row and column; the long layout of Avalanche's `eval_results.csv` is read too.
    """
    if len(data) > MOST_BYTES:
        raise DataError(f"The file has {len(data):,} bytes; a matrix needs at most {MOST_BYTES:,}.")
    if data[:6] == b"\x93NUMPY":
        return error_matrix(_array(data), name=name, holds=holds, rows=rows)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("The file is neither .npy nor text.") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError("The file is empty.")
    marks = next((mark for mark in "\t;" if mark in lines[0]), ",")
    cells = [[cell.strip() for cell in line] for line in csv.reader(lines, delimiter=marks)]
    head = [cell.casefold() for cell in cells[0]]
    if set(_LONG) <= set(head):
        return error_matrix(_from_long(cells[1:], [head.index(one) for one in _LONG]), name=name)
    return error_matrix(np.array(list(_numbers(cells, comma=marks == ";"))), name=name, holds=holds, rows=rows)


def _array(data: bytes) -> Floats:
    """Return an array as NumPy saved it; what its header promises is checked before anything is made of it."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if dtype.kind not in "fiub" or len(shape) > 3:
            raise DataError("The array must hold numbers in two or three dimensions.")
        content = data[file.tell() :]
        if math.prod(map(int, shape)) * dtype.itemsize != len(content):
            raise DataError("The array is cut off, or its header does not fit its content.")
        flat = np.frombuffer(content, dtype=dtype)
        return np.asarray(flat.reshape(shape, order="F" if fortran else "C"), dtype=np.float64)
    except DataError:
        raise
    except Exception as error:  # a damaged header fails in many ways
        raise DataError(f"The array cannot be read: {str(error)[:200]}") from None


def _number(cell: str, *, comma: bool) -> float | None:
    """Return a number, NaN for a gap, None for a word."""
    if cell.casefold() in ("", "nan", "na", "-"):
        return float("nan")
    try:
        return float(cell.rstrip("%").replace(",", ".") if comma else cell.rstrip("%"))
    except ValueError:
        return None


def _numbers(cells: list[list[str]], *, comma: bool) -> Iterator[list[float]]:
    """Yield rows of numbers, names in the first row and column left out."""
    width = max(map(len, cells))
    rows: list[list[Any]] = [
        [_number(cell, comma=comma) for cell in row] + [float("nan")] * (width - len(row)) for row in cells
    ]
    named = any(value is None for value in rows[0][1:])
    first = any(row[0] is None for row in rows[named:]) or (named and cells[0][0] == "")
    for number, row in enumerate(rows[named:], start=1 + named):
        values = row[first:]
        if None in values:
            column = values.index(None) + 1 + first
            raise DataError(
                f"Row {number}, column {column} holds {cells[number - 1][column - 1][:40]!r}, not a number."
            )
        yield values


def _from_long(cells: list[list[str]], places: list[int]) -> Floats:
    """Return the matrix of the long layout."""
    found: dict[tuple[int, int], float] = {}
    for number, row in enumerate(cells, start=2):
        try:
            step, task = int(row[places[0]]), int(row[places[1]])
            value = float(row[places[2]])
        except (ValueError, IndexError):
            raise DataError(f"Row {number} does not hold two numbers of experiences and an accuracy.") from None
        if not (0 <= step < MOST_TASKS and 0 <= task < MOST_TASKS):
            raise DataError(f"Row {number}: experiences count from 0 to {MOST_TASKS - 1}.")
        found[step, task] = value
    size = max((max(place) for place in found), default=-1) + 1
    R = np.full((size, size), np.nan)
    for place, value in found.items():
        R[place] = value
    return R
