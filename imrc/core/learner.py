"""The learner: one call per task, on mapped instances and encoded labels.

This is Algorithm 1 of the paper with the choices of the authors' code. It stores the last b tasks and a window of
differences, so the cost of a step grows with b and not with the number of tasks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.rules_01 import ZeroOneLearner
from imrc.core.rules_log import LogLossLearner
from imrc.core.settings import IMRCSettings
from imrc.core.tracking import ComponentTracker, TaskEstimate, Tracked
from imrc.wording import RULES


@dataclass(frozen=True, eq=False)
class StepUpdate:
    """Result of one step: the newest task under all rules, and the b tasks before it again.

    `choices` has the share (0 to 1) of each rate of change in the rules, from "rate 0" (all tasks alike) to "rate inf"
    (the task alone), and the factor "penalty". It is empty if past data decide neither.
    """

    step: int  # number of the newest task, from 0
    single: TaskEstimate
    forward: TaskEstimate
    revised: dict[int, TaskEstimate]  # tasks step-1, ..., step-b (as far as they exist)
    choices: dict[str, float] = field(default_factory=dict)


class Learner:
    """Learn a sequence task by task.

    Of the `rules`, forward is always learnt. Leaving out another one saves its time. `threads` solve independent
    problems of a step, with the same results. Without `means`, rules for log loss have no mean vectors and no errors of
    them. Increase `version` with every change that alters numbers: results stored under another one are made again.
    """

    version: ClassVar[int] = 6

    def __init__(
        self,
        settings: IMRCSettings,
        n_classes: int,
        rules: Iterable[str] = RULES,
        *,
        threads: int = 1,
        means: bool = True,
    ) -> None:
        self.settings = settings
        self.n_classes = n_classes
        self.rules = tuple(rules)
        self.steps = 0
        # Either one gain per component, or rates of change side by side, which also give rules for log loss.
        self._tracker = (
            ComponentTracker(n_classes, settings.b, int(settings.W), settings.change)
            if settings.tracking == "component"
            else LogLossLearner(settings, n_classes, means=means or settings.loss == "0-1")
        )
        self._zero_one = ZeroOneLearner(settings, n_classes, threads) if settings.loss == "0-1" else None

    def step(self, X1: Floats, y: NDArray[np.int64] | None, gap: float = 1.0, *, revise: bool = True) -> StepUpdate:
        """Learn the next task from mapped instances with the intercept first, (n, D + 1), and classes 0..C-1.

        A task without labels (`y` None) is learnt only from the tasks around it. `gap` counts the periods since the
        task before, each with a change of its own; 0 adds to the same task. With `revise`, the tasks before it are
        learnt again now, otherwise at a later step.
        """
        revise = revise and "forward_backward" in self.rules
        k = self.steps
        self.steps += 1
        self._width = self.n_classes * X1.shape[1]
        if isinstance(self._tracker, LogLossLearner):
            single, forward, revised = self._tracker.step(X1, y, gap, revise=revise)
            choices, known = self._tracker.choices(), list[Tracked]([single, forward, *revised])
        else:
            self._tracker.update(X1, y, gap)
            choices = {}
            known = [self._tracker.single(), self._tracker.forward(), *(self._tracker.revised() if revise else [])]
        if self._zero_one is not None:
            wanted = known[0] if "single" in self.rules and y is not None else None
            alone, forward, revised = self._zero_one.step(X1, y, wanted, known[1], known[2:])
            nothing = unknown_task(self._width).coef  # a rule is not wanted, or has no labels
            single = alone or TaskEstimate(known[0].mean, known[0].mse, known[0].ess, nothing, np.nan, np.nan)
        return StepUpdate(k, single, forward, {k - 1 - back: one for back, one in enumerate(revised)}, choices)

    def predicted(self, gap: float = 1.0) -> TaskEstimate:
        """Return the forward estimate of a task `gap` periods after the newest. ValueError before the first task."""
        if not self.steps:
            raise ValueError("Nothing has been learnt yet, so the first task cannot be predicted.")
        task = self._tracker.predicted(gap)
        if self._zero_one is not None:
            return self._zero_one.predicted(task)
        assert isinstance(task, TaskEstimate)  # noqa: S101 - log loss has rules of its own
        return task

    @property
    def pooling(self) -> LogLossLearner | None:
        """The learner that can also learn one rule for all tasks from its stored rows, or None if there is none."""
        return self._tracker if isinstance(self._tracker, LogLossLearner) and self._tracker.pools else None

    def state_size(self) -> int:
        """Return how many numbers are stored between tasks, including the rules of tasks out of reach."""
        if not self.steps:
            return 0
        rules = 0 if self._zero_one is None else self._zero_one.size()
        return int(rules + self._tracker.size() + max(self.steps - self.settings.b - 1, 0) * self._width)


def unknown_task(size: int) -> TaskEstimate:
    """Return an estimate with NaN throughout, of a task of which nothing is known."""
    nothing = np.full(size, np.nan)
    return TaskEstimate(nothing, nothing, np.nan, nothing, np.nan, np.nan)
