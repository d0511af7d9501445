"""Errors against samples per task: how many reach the same error, and from how many of its own a task alone would."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from imrc._types import Floats
from imrc.evaluation.results import RunResult
from imrc.evaluation.significance import interval_columns

if TYPE_CHECKING:
    import pandas as pd


def budget_table(runs: Sequence[RunResult]) -> pd.DataFrame:
    """Return rule, x (n), value, stderr and half (of the 95 % interval) of runs that differ in n only, n rising."""
    import pandas as pd

    return pd.DataFrame(
        [
            {"rule": rule, "x": run.settings.n, **interval_columns(run.judged(rule))}
            for rule in runs[0].rules
            for run in runs
        ]
    )


def samples_to_reach(table: pd.DataFrame, rule: str, error: float) -> float:
    """Return the samples per task with which a rule reaches an error, linear in log n; NaN: not within the table.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"rule": ["single"] * 3, "x": [5, 20, 80], "value": [0.4, 0.3, 0.2]})
    >>> [round(samples_to_reach(table, "single", error), 1) for error in (0.35, 0.3, 0.1, 0.5)]
    [10.0, 20.0, nan, 5.0]
    """
    part = table[table["rule"] == rule].sort_values("x")
    n = samples_at(part["x"].to_numpy(dtype=np.float64), falling(part["value"].to_numpy()), error)
    return n if math.isfinite(n) else math.nan


def samples_at(sizes: Floats, errors: Floats, error: float) -> float:
    """Return the samples with which errors first reach one: a straight line over log n, infinity where they do not."""
    reached = np.flatnonzero(errors <= error)
    if not len(reached):
        return math.inf
    i = int(reached[0])
    if i == 0:
        return float(sizes[0])
    x, share = np.log(sizes[i - 1 : i + 1]), (errors[i - 1] - error) / (errors[i - 1] - errors[i])
    return float(np.exp(x[0] + share * (x[1] - x[0])))


def falling(errors: Floats) -> Floats:
    """Return errors after isotonic regression makes them fall: only by chance do more samples make a rule worse."""
    # The min-max formula, for few values; scikit-learn takes longer to load than a page to open.
    sums, last = np.cumsum([0.0, *errors]), np.arange(1, len(errors) + 1)
    length = np.maximum(last - last[:, None] + 1, 1)  # from each value (rows) to each that is not before it
    means = np.where(last >= last[:, None], (sums[1:] - sums[:-1, None]) / length, -np.inf)
    most = np.maximum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.minimum.accumulate(most, axis=0).diagonal())
