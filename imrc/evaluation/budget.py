"""Errors against samples per task: how many reach the same error, and from how many of its own a task alone would."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from imrc._checks import InputError
from imrc._types import Floats
from imrc.evaluation.effective import EffectiveSamples, effective_samples
from imrc.evaluation.results import RunResult
from imrc.evaluation.scenarios import BORROWING
from imrc.evaluation.significance import interval_columns, mean_interval
from imrc.wording import RULES, decimal

if TYPE_CHECKING:
    import pandas as pd


def budget_table(runs: Sequence[RunResult]) -> pd.DataFrame:
    """Return the error of each rule against n, from runs that differ in n only, n rising.

    Columns rule, x (n), value, stderr, half (of the width of the 95 % interval).
    """
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
    """Return errors made to fall by isotonic regression: more samples do not make a rule worse but for chance."""
    from sklearn.isotonic import isotonic_regression

    return np.asarray(isotonic_regression(errors, increasing=False))


def budget_sentence(table: pd.DataFrame, n: int) -> str:
    """Say how many samples learning alone needs for what the main rule reaches at n, the table's last, in Markdown.

    >>> import pandas as pd
    >>> made = {"rule": ["single"] * 2 + ["forward_backward"] * 2, "x": [10, 40] * 2, "value": [0.4, 0.3, 0.3, 0.2]}
    >>> budget_sentence(pd.DataFrame(made), 10)
    'Error .300 needs **40 labels** a task alone, **10** with forward and backward learning.'
    >>> budget_sentence(pd.DataFrame(made), 40)
    'Error .200 needs **more than 40 labels** a task alone, **40** with forward and backward learning.'
    """
    main = str(table["rule"].iloc[-1])
    error = float(table.loc[(table["rule"] == main) & (table["x"] == n), "value"].iloc[0])
    alone = samples_to_reach(table, "single", error)
    labels = f"more than {table['x'].max()}" if math.isnan(alone) else f"{math.ceil(alone - 1e-9)}"
    if not math.isnan(alone) and alone <= table["x"].min() < n:
        labels += " or fewer"
    learning = f"{RULES[main].lower()} learning"
    return f"Error {decimal(error)} needs **{labels} labels** a task alone, **{n}** with {learning}."


_DRAWS = 400
_LEVEL = (0.025, 0.975)
RANGE = "On real streams errors showed .3 to 1.5 times as many samples as promised."
"""Weather, electricity, hyperplane and 2CDT, forward as well as forward and backward, n = 10, at the last step.

The promise counts how well mean vectors are known. On simulated walks these are worth what is promised, and errors show
about 1.4 times as many (`tests/benchmarks/README.md`)."""


@dataclass(frozen=True)
class Realised:
    """Effective samples of one rule, as its errors show them."""

    rule: str
    value: float  # the n at which single-task learning has the same error; NaN: its curve does not say
    low: float  # 95 % bootstrap interval over repetitions
    high: float  # infinite: beyond the grid; NaN: one repetition or no value
    least: int  # first n of the grid
    most: int
    promised: EffectiveSamples  # by the recursions

    @property
    def agrees(self) -> bool | None:
        """Whether the promise lies in the interval; None where that cannot be told."""
        if not math.isfinite(self.value) or not math.isfinite(self.low):
            return None
        return self.low <= self.promised.mean <= self.high


def _says_something(errors: Floats, curve: Floats) -> bool:
    """Return whether a curve falls by more than noise, and rises nowhere by more."""
    if len(errors) < 2:
        return bool(curve[0] > curve[-1])
    found = interval_columns(errors)
    agrees = np.abs(found["value"] - curve) <= found["half"] + 1e-12
    return mean_interval(errors[:, 0] - errors[:, -1]).low > 0.0 and bool(agrees.all())


def realised_samples(runs: Sequence[RunResult], n: int) -> list[Realised]:
    """Return how many samples each rule that borrows was worth at n, counted in errors, from runs with rising n.

    The curve of single-task learning is made to fall by isotonic regression. InputError: no run with this n, or only
    one.
    """
    mine = next((run for run in runs if run.settings.n == n), None)
    if mine is None or len(runs) < 2:
        raise InputError(f"Runs at several n are needed, n = {n} among them.")
    grid = np.array([run.settings.n for run in runs], dtype=np.float64)
    alone = np.stack([run.judged("single") for run in runs], axis=1)
    curve = falling(alone.mean(axis=0))
    usable = _says_something(alone, curve)
    generator = np.random.default_rng(0)
    repetitions = len(alone)
    found = []
    for rule in (rule for rule in BORROWING if rule in mine.rules):
        errors = mine.judged(rule)
        value, low, high = (samples_at(grid, curve, float(errors.mean())) if usable else math.inf), math.nan, math.nan
        if math.isfinite(value) and repetitions > 1:
            drawn = generator.integers(repetitions, size=(_DRAWS, repetitions))
            many = [samples_at(grid, falling(alone[d].mean(axis=0)), float(errors[d].mean())) for d in drawn]
            # Order statistics: between a number and infinity there is nothing to interpolate.
            low, high = np.quantile(many, _LEVEL, method="nearest")
        promised = effective_samples(mine, rule)
        value = value if math.isfinite(value) else math.nan
        found.append(Realised(rule, value, float(low), float(high), int(grid[0]), int(grid[-1]), promised))
    return found


def realised_text(found: Realised) -> str:
    """Return realised effective samples with their interval, in words where there is no number."""
    if math.isnan(found.value):
        return "beyond the grid"
    at_least = "at most " if found.value <= found.least else ""
    text = f"{at_least}{found.value:,.1f}"
    if math.isnan(found.low):
        return text
    return f"{text} ({found.low:,.1f} to {f'{found.high:,.1f}' if math.isfinite(found.high) else 'beyond the grid'})"


def realised_sentence(found: Sequence[Realised], n: int) -> str:
    """State what the errors show and what was promised, in Markdown."""
    main = found[-1]
    name, promised = f"{RULES[main.rule].lower()} learning", f"{main.promised.mean:,.1f}"
    if math.isnan(main.value):
        return (
            f"**No number of samples can be given for what the errors show:** alone, with {main.least} to {main.most} "
            f"samples a task, no clear error is as small as that of {name} with {n}. The theorems promise {promised}."
        )
    if main.agrees is None:
        verdict = "one repetition cannot tell whether they agree"
    elif main.agrees:
        verdict = "the two agree"
    else:
        verdict = f"the errors show {'less' if main.promised.mean > main.high else 'more'} than that"
    return (
        f"**Without other tasks it would take {realised_text(main)} samples a task** to make as few errors as {name} "
        f"with {n}. The theorems promise {promised}: {verdict}. {RANGE}"
    )
