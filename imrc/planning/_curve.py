"""The learning curve of single tasks: which error goes with how many samples, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from imrc.evaluation import RunResult
from imrc.evaluation.budget import budget_table, falling, samples_needed


def learning_curve(runs: Sequence[RunResult]) -> pd.DataFrame:
    """Return the error of single-task learning against n, made to fall, from runs that differ in n only, n rising.

    Columns rule ("single"), x (n), value, low, high: the 95 % band over repetitions, made to fall like the curve.
    """
    table = budget_table(runs)
    table = table[table["rule"] == "single"]
    value, half = table["value"].to_numpy(), np.nan_to_num(table["half"].to_numpy())
    curves = {"value": value, "low": value - half, "high": value + half}
    return pd.DataFrame(
        {"rule": "single", "x": table["x"].to_numpy(), **{name: falling(curve) for name, curve in curves.items()}}
    )


def error_at(curve: pd.DataFrame, ess: float, column: str = "value") -> float:
    """Return the error of single-task learning from `ess` samples; NaN beyond the grid of the curve.

    >>> curve = pd.DataFrame({"rule": "single", "x": [5, 20, 80], "value": [0.4, 0.3, 0.2]})
    >>> round(error_at(curve, 10), 3), error_at(curve, 100)
    (0.35, nan)
    """
    grid = curve["x"].to_numpy(dtype=np.float64)
    if not grid[0] <= ess <= grid[-1]:
        return math.nan
    return float(np.interp(math.log(ess), np.log(grid), curve[column].to_numpy()))


def samples_for(curve: pd.DataFrame, error: float) -> float:
    """Return the effective samples that go with an error, the inverse of `error_at`; NaN where the grid has none.

    >>> curve = pd.DataFrame({"rule": "single", "x": [5, 20, 80], "value": [0.4, 0.3, 0.2]})
    >>> round(samples_for(curve, 0.35), 3), samples_for(curve, 0.1)
    (10.0, nan)
    """
    return samples_needed(curve, "single", error)
