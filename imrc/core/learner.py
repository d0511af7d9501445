"""The learner: one call per task, on mapped instances and encoded labels.

This is Algorithm 1 of the paper with the choices of the authors' code. It keeps what a step needs (the last b tasks
and a window of differences) and never looks at a task again once it is out of reach, so the cost of a step grows
with b and not with the number of tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.log_loss_rules import MAX_STORED_TASKS, LogLossRules
from imrc.core.rules import Fit
from imrc.core.settings import IMRCSettings
from imrc.core.trackers import ComponentTracker, OrderTracker, RateTracker, Tracked, Tracker
from imrc.core.zero_one_rules import ZeroOneRules

RULES = ("single", "forward", "forward_backward")
"""Keys of everything that exists once per rule, in the order in which they are shown."""


@dataclass(frozen=True, eq=False)
class TaskEstimate:
    """What is known about one task under one rule."""

    mean: Floats  # tau, (m,)
    mse: Floats  # its mean squared error s, (m,)
    coef: Floats  # mu, (m,)
    risk: float  # objective of (3) at `coef`: the minimax risk up to the accuracy of the solver
    nu: float  # the max term of (3) at `coef`, which the randomised rule needs
    # by the recursions of Theorems 1 and 3; the task's own samples where its rule does not use the other tasks
    ess: float
    iterations: int = 0  # of the solver that found `coef`; 0 where none ran


@dataclass(frozen=True, eq=False)
class StepUpdate:
    """What one step learnt: the newest task under all rules, and the b tasks before it again.

    `choices` is what was chosen or averaged from past data: "rate" (rho), "order" (its place in `imrc.core.orders`),
    "transfer" and "pooled" (shares, 0 to 1), "penalty"; empty if nothing.
    """

    step: int  # number of the newest task, from 0
    single: TaskEstimate
    forward: TaskEstimate
    revised: dict[int, TaskEstimate]  # tasks step-1, ..., step-b (as far as they exist)
    choices: dict[str, float] = field(default_factory=dict)


class Learner:
    """Learn a sequence task by task.

    Parameters
    ----------
    settings : IMRCSettings
        What to compute.
    n_classes : int
        Number of classes C.
    rules : sequence of str
        Which of "single", "forward", "forward_backward" to solve for. Forward is always learnt; leaving one of the
        others out saves its time.
    threads : int
        Threads for the problems of one step that do not need each other's result. The result is the same.

    Attributes
    ----------
    version : int
        Raised by every change that alters numbers; results kept under another version are not taken for current ones.
    """

    version: ClassVar[int] = 4

    def __init__(
        self, settings: IMRCSettings, n_classes: int, rules: Sequence[str] = RULES, *, threads: int = 1
    ) -> None:
        self.settings = settings
        self.n_classes = n_classes
        self.rules = tuple(rules)
        self.steps = 0
        self._tracker: Tracker | None = None
        self._rules: ZeroOneRules | LogLossRules = (
            ZeroOneRules(settings, n_classes, threads) if settings.loss == "0-1" else LogLossRules(settings, n_classes)
        )

    def step(self, X1: Floats, y: NDArray[np.int64] | None, gap: float = 1.0, *, revise: bool = True) -> StepUpdate:
        """Learn the next task.

        Parameters
        ----------
        X1 : ndarray of shape (n, D + 1)
            Mapped instances with the intercept column first.
        y : ndarray of shape (n,) or None
            Classes 0..C-1; None: the task has no labels, so that only the tasks around it tell about it.
        gap : float
            Periods since the task before, each with a change of its own; 0: more of the same task.
        revise : bool
            Whether the tasks before it are learnt again now; they can still be at a later step.

        Returns
        -------
        StepUpdate
        """
        tracker = self._tracker = self._tracker or self._make_tracker()
        tracker.update(X1, y, gap)
        single, forward = tracker.single(), tracker.forward()
        revised = tracker.revised() if revise and "forward_backward" in self.rules else []
        wanted = single if "single" in self.rules and y is not None else None
        alone, fit, fits = self._rules.step(X1, y, wanted, forward, revised)
        k = self.steps
        self.steps += 1
        return StepUpdate(
            k,
            _estimate(single, alone),
            _estimate(forward, fit),
            {k - back: _estimate(*pair) for back, pair in enumerate(zip(revised, fits, strict=True), start=1)},
            {**tracker.choices(), **self._rules.choices()},
        )

    def predicted(self, gap: float = 1.0) -> TaskEstimate:
        """Return what is known of the task to come before any of its samples: its forward estimate, with its change.

        The learner stays as it is.

        Parameters
        ----------
        gap : float
            Periods after the newest task.

        Returns
        -------
        TaskEstimate

        Raises
        ------
        ValueError
            Before the first task.
        """
        if self._tracker is None:
            raise ValueError("Nothing has been learnt yet: the first task cannot be predicted.")
        task = self._tracker.predicted(gap)
        return _estimate(task, self._rules.predicted(task))

    def state_size(self) -> int:
        """Return how many numbers are kept between tasks, the rules of tasks out of reach included."""
        if self._tracker is None:
            return 0
        settled = max(self.steps - self.settings.b - 1, 0) * self._tracker.single().mean.size
        return self._rules.size() + self._tracker.size() + settled

    def _make_tracker(self) -> Tracker:
        s = self.settings
        if s.tracking == "component":
            return ComponentTracker(self.n_classes, s.b, int(s.W), s.change)
        if s.order != 1:
            return OrderTracker(self.n_classes, s.b, MAX_STORED_TASKS, s.order, s.W)
        return RateTracker(self.n_classes, s.b, MAX_STORED_TASKS, s.rate, s.W)


def unknown_task(size: int) -> TaskEstimate:
    """Return the estimate of a task of which nothing is known: NaN throughout."""
    nothing = np.full(size, np.nan)
    return TaskEstimate(nothing, nothing, nothing, float("nan"), float("nan"), float("nan"))


def _estimate(tracked: Tracked, fit: Fit | None) -> TaskEstimate:
    if fit is None:
        fit = Fit(np.full_like(tracked.mean, np.nan), float("nan"), float("nan"), tracked.ess)
    return TaskEstimate(tracked.mean, tracked.mse, fit.mu, fit.value, fit.nu, fit.ess, fit.iterations)
