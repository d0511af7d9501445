"""Two runs beside each other: by how much their errors differ, where they can be compared draw by draw."""

from __future__ import annotations

from dataclasses import dataclass

from imrc.evaluation.results import RunResult
from imrc.evaluation.significance import mean_interval


@dataclass(frozen=True)
class RunDifference:
    """Errors of one run minus those of another, repetition by repetition: mean and 95 % t interval (NaN with one)."""

    mean: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0.0 or self.high < 0.0


def same_draws(first: RunResult, second: RunResult) -> bool:
    """Return whether repetition r of both runs is tested on the same samples of the same tasks; n and b may differ."""
    return (
        first.fingerprint == second.fingerprint
        and first.n_tasks == second.n_tasks
        and first.settings.seed == second.settings.seed
        and first.settings.repetitions == second.settings.repetitions
    )


def run_difference(first: RunResult, second: RunResult, rule: str = "forward_backward") -> RunDifference | None:
    """Return the errors of one run minus those of another, or None if scenario or tested draws are not the same."""
    if not same_draws(first, second) or first.scenario != second.scenario:
        return None
    return RunDifference(*mean_interval(first.judged(rule) - second.judged(rule)))
