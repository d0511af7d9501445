"""Effective samples: what a run reached and what Theorem 4 gives, each one number with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from imrc._checks import check_choice
from imrc.evaluation.results import RunResult
from imrc.evaluation.significance import mean_interval


@dataclass(frozen=True)
class EffectiveSamples:
    """How many samples a task is worth, as one number."""

    mean: float  # over tasks and repetitions
    low: float  # 95 % interval; NaN with one repetition
    high: float
    own: float  # samples a task has itself
    borrowing: float = 1.0  # share of the neighbours, mean over steps; 1 if they were used throughout
    rule: str = "forward_backward"  # whose; "next": of the next task, before any of its samples


def effective_samples(result: RunResult, rule: str | None = None) -> EffectiveSamples:
    """Return the effective samples a run reached, of the scenario's main rule if None: every page quotes this number.

    By the recursions of Theorems 1 and 3 with the variances and changes the run estimated, at the last step; 95 % t
    interval over repetitions. Where rates of change are followed side by side, their geometric mean by shares, so it
    depends on what each predicted. In the scenario "next_task" before any samples of each task.
    """
    rule = check_choice("rule", result.scenario.main if rule is None else rule, result.ess_tables)
    ess, whose = result.ess_tables[rule].final(), rule
    if result.scenario.kind == "before" and result.n_tasks > 1:
        ess, whose = result.before_of(rule, "before_ess")[:, 1:], "next"
    mean, low, high = mean_interval(ess.mean(axis=1))
    own = float(result.ess_tables["single"].final().mean()) if "single" in result.ess_tables else result.settings.n
    return EffectiveSamples(mean, max(low, 0.0), high, own, borrowing(result) if rule != "single" else 1.0, whose)


def borrowing(result: RunResult) -> float:
    """Return the share other tasks have, mean over the steps from the second task on: 1 if used throughout."""
    alone = result.choices.get("rate inf")
    # The first task has nobody to borrow from, whatever was chosen.
    return 1.0 if alone is None or alone.shape[1] < 2 else 1.0 - float(alone[:, 1:].mean())


def samples_text(worth: EffectiveSamples) -> str:
    """Return effective samples with their interval, as every page, report and table shows them.

    >>> samples_text(EffectiveSamples(21.64, 19.9, 23.4, 10.0)), samples_text(EffectiveSamples(10.0, 10.0, 10.0, 10.0))
    ('21.6 (19.9 to 23.4)', '10.0')
    """
    interval = interval_text(worth)
    return f"{worth.mean:,.1f}" + (f" ({interval})" if " to " in interval else "")


def interval_text(worth: EffectiveSamples) -> str:
    """Return the interval of effective samples, or why there is none.

    >>> [interval_text(EffectiveSamples(21.6, low, 23.4, 10.0)) for low in (19.9, 23.39, float("nan"))]
    ['19.9 to 23.4', 'the same in all repetitions', 'one repetition']
    """
    if not math.isfinite(worth.low):
        return "one repetition"
    low, high = f"{worth.low:,.1f}", f"{worth.high:,.1f}"
    return "the same in all repetitions" if low == high else f"{low} to {high}"
