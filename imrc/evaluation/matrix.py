"""An error matrix R[step, task] from another program: checked, and summed up by the measures of continual learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

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
