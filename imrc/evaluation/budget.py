"""Label budget: how the error falls with samples per task, and how many samples reach the same error."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from imrc._types import Floats
from imrc.evaluation.results import RunResult
from imrc.evaluation.significance import interval_columns
from imrc.wording import decimal


def budget_table(runs: Sequence[RunResult]) -> pd.DataFrame:
    """Return the error of each rule against n, from runs that differ in n only, n rising.

    Columns rule, x (n), value, stderr, half (of the width of the 95 % interval).
    """
    return pd.DataFrame(
        [
            {"rule": rule, "x": run.settings.n, **interval_columns(run.judged(rule))}
            for rule in runs[0].rules
            for run in runs
        ]
    )


def samples_needed(table: pd.DataFrame, rule: str, error: float) -> float:
    """Return the samples per task with which a rule reaches an error, linear in log n; NaN: not within the table.

    >>> table = pd.DataFrame({"rule": ["single"] * 3, "x": [5, 20, 80], "value": [0.4, 0.3, 0.2]})
    >>> [round(samples_needed(table, "single", error), 1) for error in (0.35, 0.3, 0.1, 0.5)]
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
    """Return errors made to fall by isotonic regression: more samples do not make a rule worse but for chance."""
    from sklearn.isotonic import isotonic_regression

    return np.asarray(isotonic_regression(errors, increasing=False))


_LEARNING = {"forward": "forward learning", "forward_backward": "forward and backward learning"}


def budget_sentence(table: pd.DataFrame, n: int) -> str:
    """Say how many samples learning alone needs for what the main rule reaches at n, the table's last, in Markdown.

    >>> made = {"rule": ["single"] * 2 + ["forward_backward"] * 2, "x": [10, 40] * 2, "value": [0.4, 0.3, 0.3, 0.2]}
    >>> budget_sentence(pd.DataFrame(made), 10)
    'To reach an error of .300: **40 labels** a task alone, **10** with forward and backward learning.'
    >>> budget_sentence(pd.DataFrame(made), 40)
    'To reach an error of .200: **more than 40 labels** a task alone, **40** with forward and backward learning.'
    """
    main = str(table["rule"].iloc[-1])
    error = float(table.loc[(table["rule"] == main) & (table["x"] == n), "value"].iloc[0])
    alone = samples_needed(table, "single", error)
    labels = f"more than {table['x'].max()}" if math.isnan(alone) else f"{math.ceil(alone - 1e-9)}"
    if not math.isnan(alone) and alone <= table["x"].min() < n:
        labels += " or fewer"
    return f"To reach an error of {decimal(error)}: **{labels} labels** a task alone, **{n}** with {_LEARNING[main]}."
