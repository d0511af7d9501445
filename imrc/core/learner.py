"""The learner: one call per task, on mapped instances and encoded labels.

This is Algorithm 1 of the paper with the choices of the authors' code. It keeps what a step needs (the last b tasks
and a window of differences) and never looks at a task again once it is out of reach, so the cost of a step grows
with b and not with the number of tasks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc.core.change import backward_change, forward_change
from imrc.core.moments import sample_moments
from imrc.core.settings import IMRCSettings
from imrc.core.tracking import combine
from imrc.solvers import Instances, Problem, Solution, prepare_instances, solve_many

Floats = NDArray[np.float64]

RULES = ("single", "forward", "forward_backward")
"""Keys of everything that exists once per rule, in the order in which they are shown."""


@dataclass(frozen=True, eq=False)
class TaskEstimate:
    """What is known about one task under one rule.

    Attributes
    ----------
    mean, mse : ndarray of shape (m,)
        Mean vector tau and its mean squared error s.
    coef : ndarray of shape (m,)
        Classifier parameters mu.
    risk : float
        Objective of (3) at `coef`: the minimax risk up to the accuracy of the solver.
    nu : float
        The max term of (3) at `coef`, which the randomised rule needs.
    ess : float
        Effective sample size by the recursions of Theorems 1 and 3 with the estimated variances and changes.
    """

    mean: Floats
    mse: Floats
    coef: Floats
    risk: float
    nu: float
    ess: float


@dataclass(frozen=True, eq=False)
class StepUpdate:
    """What one step learnt: the newest task under all rules, and the b tasks before it again.

    Attributes
    ----------
    step : int
        Number of the newest task, from 0.
    single, forward : TaskEstimate
        The newest task learnt alone, and with the tasks before it.
    revised : dict of int to TaskEstimate
        Forward-and-backward estimates of tasks step-1, ..., step-b (as far as they exist).
    """

    step: int
    single: TaskEstimate
    forward: TaskEstimate
    revised: dict[int, TaskEstimate]


@dataclass(eq=False)
class _Stored:
    """What must be kept of a task while it is within reach."""

    instances: Instances
    tau: Floats
    s: Floats
    tau_fwd: Floats
    s_fwd: Floats
    solution: Solution
    samples: int
    sigma2: float
    ess_fwd: float


def add_effective_samples(own: float, other: float, sigma2: float, d2: float) -> float:
    """Effective sample size after borrowing across one change, Theorems 1 and 3.

    Parameters
    ----------
    own : float
        Effective samples of the task itself (or of it and its past).
    other : float
        Effective samples of the neighbour.
    sigma2, d2 : float
        Infinity norms of the variance and of the expected quadratic change.

    Examples
    --------
    >>> add_effective_samples(10.0, 20.0, 1.0, 0.05)
    20.0
    """
    if d2 <= 0.0:
        return own + other
    return own + other * sigma2 / (sigma2 + other * d2)


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
    """

    def __init__(
        self, settings: IMRCSettings, n_classes: int, rules: Sequence[str] = RULES, *, threads: int = 1
    ) -> None:
        self.settings = settings
        self.threads = threads
        self.n_classes = n_classes
        self.rules = tuple(rules)
        self.steps = 0
        self._past: deque[_Stored] = deque(maxlen=settings.b + 1)
        self._squared: deque[Floats] = deque(maxlen=settings.b + settings.W + 1)
        self._seen: list[Floats] = []

    def step(self, X1: Floats, y: NDArray[np.int64]) -> StepUpdate:
        """Learn the next task.

        Parameters
        ----------
        X1 : ndarray of shape (n, D + 1)
            Mapped instances with the intercept column first.
        y : ndarray of shape (n,)
            Classes 0..C-1.

        Returns
        -------
        StepUpdate
        """
        k = self.steps
        tau, s = sample_moments(X1, y, self.n_classes)
        previous = self._past[-1] if self._past else None
        self._squared.append((tau if previous is None else tau - previous.tau) ** 2)
        samples, sigma2 = len(y), float(len(y) * s.max())
        if self.settings.instances == "all":
            self._seen.append(X1)
        tau_fwd, s_fwd, ess_fwd, warm = tau, s, float(samples), None
        if previous is not None:
            squared, first = self._differences()
            d = forward_change(squared, k, self.settings.W, first)
            tau_fwd, s_fwd = combine(tau, s, previous.tau_fwd, previous.s_fwd + d)
            ess_fwd = add_effective_samples(float(samples), previous.ess_fwd, sigma2, float(d.max()))
            warm = previous.solution
        own = prepare_instances(X1)
        common = self._common_instances(X1)
        problems = [Problem(common or own, tau_fwd, self._confidence(s_fwd), warm)]
        if "single" in self.rules:
            problems.append(Problem(own, tau, self._confidence(s)))
        solution, *alone = self._solve(problems)
        single = TaskEstimate(tau, s, np.full_like(tau, np.nan), np.nan, np.nan, float(samples))
        if alone:
            single = self._estimate(tau, s, alone[0], float(samples))
        self._past.append(_Stored(own, tau, s, tau_fwd, s_fwd, solution, samples, sigma2, ess_fwd))
        revised = self._revise(k, common) if "forward_backward" in self.rules else {}
        self.steps += 1
        forward = self._estimate(tau_fwd, s_fwd, solution, ess_fwd)
        return StepUpdate(k, single, forward, revised)

    def _revise(self, k: int, common: Instances | None) -> dict[int, TaskEstimate]:
        """Backward pass from the newest task: eq. (6) in retrodiction and eq. (10)."""
        squared, first = self._differences()
        newest = self._past[-1]
        tau_bwd, s_bwd, ess_bwd = newest.tau, newest.s, float(newest.samples)
        problems: list[Problem] = []
        estimates: list[tuple[Floats, Floats, float]] = []
        for back in range(1, min(self.settings.b, k) + 1):
            i, stored = k - back, self._past[-1 - back]
            d = backward_change(squared, i, k, self.settings.W, first)
            change = float(d.max())
            tau_fb, s_fb = combine(stored.tau_fwd, stored.s_fwd, tau_bwd, s_bwd + d)
            ess_fb = add_effective_samples(stored.ess_fwd, ess_bwd, stored.sigma2, change)
            problems.append(Problem(common or stored.instances, tau_fb, self._confidence(s_fb), stored.solution))
            estimates.append((tau_fb, s_fb, ess_fb))
            tau_bwd, s_bwd = combine(stored.tau, stored.s, tau_bwd, s_bwd + d)
            ess_bwd = add_effective_samples(float(stored.samples), ess_bwd, stored.sigma2, change)
        solutions = self._solve(problems)
        return {
            k - 1 - back: self._estimate(tau_fb, s_fb, solution, ess_fb)
            for back, (solution, (tau_fb, s_fb, ess_fb)) in enumerate(zip(solutions, estimates, strict=True))
        }

    def _differences(self) -> tuple[Floats, int]:
        """Return the stored squared differences and the task of the first of them."""
        return np.stack(self._squared), self.steps - len(self._squared) + 1

    def _common_instances(self, newest: Floats) -> Instances | None:
        """Return the common set X of this step, or None where each task uses its own samples."""
        if self.settings.instances == "own":
            return None
        if self.settings.instances == "all":
            return prepare_instances(np.concatenate(self._seen))
        reach = list(self._past)[len(self._past) - min(len(self._past), self.settings.b) :]
        return prepare_instances(np.concatenate([stored.instances.X1 for stored in reach] + [newest]))

    def state_size(self) -> int:
        """Return how many numbers are kept between tasks, the rules of tasks out of reach included."""
        stored = sum(
            part.instances.X1.size + 2 * part.tau.size + 2 * part.s.size + 2 * part.solution.mu.size
            for part in self._past
        )
        settled = (self.steps - len(self._past)) * (self._past[-1].tau.size if self._past else 0)
        return stored + settled + sum(row.size for row in self._squared) + sum(X1.size for X1 in self._seen)

    def _estimate(self, tau: Floats, s: Floats, solution: Solution, ess: float) -> TaskEstimate:
        linear = 1.0 - tau @ solution.mu + self._confidence(s) @ np.abs(solution.mu)
        return TaskEstimate(tau, s, solution.mu, solution.value, solution.value - float(linear), ess)

    def _confidence(self, s: Floats) -> Floats:
        return np.asarray(self.settings.lambda0 * np.sqrt(s))

    def _solve(self, problems: list[Problem]) -> list[Solution]:
        settings = self.settings
        return solve_many(problems, self.n_classes, settings.max_iter, threads=self.threads, method=settings.solver)
