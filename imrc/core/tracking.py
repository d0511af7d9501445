"""Tracking: from the samples of tasks to mean vectors, task by task.

`ComponentTracker` has the paper's gains, one per component. `RateWeights` and `RateOfChange` have one rate for all.
They take in a task `gap` periods after the task before, and estimate the newest task (alone and forward), the next one,
and those within reach.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.change import backward_change, forward_change, printed_change
from imrc.core.recursions import borrowed_samples, forward_step, predict, revise, sample_moments


@dataclass(frozen=True, eq=False)
class Tracked:
    """Estimate of a task's mean vector."""

    mean: Floats  # tau, (m,)
    mse: Floats  # its mean squared error s, (m,)
    ess: float  # effective samples, by the recursions of Theorems 1 and 3


@dataclass(frozen=True, eq=False)
class TaskEstimate(Tracked):
    """Estimate of a task under one rule."""

    coef: Floats  # mu, (m,)
    risk: float  # minimax risk (0-1 loss) or log loss in nats at `coef`; NaN for an average of rules
    nu: float  # the max term of (3) at `coef`, which the randomised rule needs; NaN for log loss
    iterations: int = 0  # of the solver that found `coef`; 0 without a solver
    weights: Floats | None = None  # (stored,), of the last tasks, oldest first, if all components have the same


def surplus(sizes: Sequence[int], least: int, samples: int) -> int:
    """Return how many of the oldest stored tasks can be dropped, given the samples of each, oldest first.

    At least `least` tasks are left, and just enough for `samples` samples.

    >>> surplus([10, 10, 10, 10], 1, 25), surplus([200, 5, 5], 1, 100)
    (1, 0)
    """
    drop, held = 0, sum(sizes)
    while len(sizes) - drop > least and held - sizes[drop] >= samples:
        held -= sizes[drop]
        drop += 1
    return drop


@dataclass(eq=False)
class _Stored:
    """State of a task within reach."""

    tau: Floats
    s: Floats
    tau_fwd: Floats
    s_fwd: Floats
    samples: int
    sigma2: float
    ess_fwd: float
    gap: float


class ComponentTracker:
    """The paper's recursions, in which each component has its own variance, change and gain.

    The change is estimated from a window of W steps, backwards by `backward_change` of the authors' code ("released")
    or by `printed_change`, eq. (7) ("printed").
    """

    def __init__(self, n_classes: int, b: int, W: int, change: str = "released") -> None:
        self.n_classes = n_classes
        self.b, self.W = b, W
        self._backward_change = printed_change if change == "printed" else backward_change
        self._count = 0
        self._past: deque[_Stored] = deque(maxlen=b + 1)
        self._squared: deque[Floats] = deque(maxlen=b + W + 1)
        self._last: Floats = np.empty(0)
        self._since = 0.0

    def update(self, X1: Floats, y: NDArray[np.int64] | None, gap: float = 1.0) -> None:
        """Take in the next task. Without labels, its sample average is unknown and s infinite."""
        previous = self._past[-1] if self._past else None
        self._since += gap  # periods since the last task with labels
        if y is None:
            assert previous is not None  # noqa: S101 - the learner asks for labels of the first task
            tau, s, samples, sigma2 = np.zeros_like(previous.tau), np.full_like(previous.s, np.inf), 0, previous.sigma2
            squared = self._kept_change()
        else:
            tau, s = sample_moments(X1, y, self.n_classes)
            samples, sigma2 = len(y), float(len(y) * s.max())
            if previous is None:
                squared = tau**2
            else:  # the change per period
                squared = (tau - self._last) ** 2 / self._since if self._since > 0 else self._kept_change()
            self._last, self._since = tau, 0.0
        self._squared.append(squared)
        self._count += 1
        tau_fwd, s_fwd, ess_fwd = tau, s, float(samples)
        if previous is not None:
            d = self._newest_change() * gap
            tau_fwd, s_fwd = forward_step(tau, s, previous.tau_fwd, previous.s_fwd, d)
            ess_fwd += borrowed_samples(previous.ess_fwd, sigma2, float(d.max()))
        self._past.append(_Stored(tau, s, tau_fwd, s_fwd, samples, sigma2, ess_fwd, gap))

    def single(self) -> Tracked:
        """Return the sample average, eq. (4)."""
        newest = self._past[-1]
        return Tracked(newest.tau, newest.s, float(newest.samples))

    def forward(self) -> Tracked:
        """Return the forward estimate."""
        newest = self._past[-1]
        return Tracked(newest.tau_fwd, newest.s_fwd, newest.ess_fwd)

    def predicted(self, gap: float = 1.0) -> Tracked:
        """Return the estimate of the next task, with the change of the newest window."""
        newest, d = self._past[-1], self._newest_change() * gap
        tau, s = predict(newest.tau_fwd, newest.s_fwd, d)
        return Tracked(tau, s, float(borrowed_samples(newest.ess_fwd, newest.sigma2, float(d.max()))))

    def revised(self) -> list[Tracked]:
        """Return forward and backward estimates of the tasks within reach, the nearest first."""
        squared, first = self._differences()
        newest, *earlier = reversed(self._past)
        k = self._count - 1
        gaps = [past.gap for past in list(reversed(self._past))[:-1]]
        changes = [
            self._backward_change(squared, k - back, k, self.W, first) * gap for back, gap in enumerate(gaps, start=1)
        ]
        revised = revise((newest.tau, newest.s), ((p.tau, p.s, p.tau_fwd, p.s_fwd) for p in earlier), changes)
        estimates, ess_bwd = [], float(newest.samples)
        for (tau, s), past, d in zip(revised, earlier, changes, strict=True):
            borrowed = borrowed_samples(ess_bwd, past.sigma2, float(d.max()))
            estimates.append(Tracked(tau, s, past.ess_fwd + borrowed))
            ess_bwd = past.samples + borrowed
        return estimates

    def size(self) -> int:
        """Return how many numbers are stored."""
        return sum(4 * part.tau.size for part in self._past) + sum(row.size for row in self._squared)

    def _newest_change(self) -> Floats:
        """Return d^2 of one period from the newest window, or the error of a single task."""
        if self._count == 1:
            return self._past[-1].s
        squared, first = self._differences()
        return forward_change(squared, self._count - 1, self.W, first)

    def _kept_change(self) -> Floats:
        """Return the squared difference that does not change the newest window, if nothing new is known."""
        return self._squared[-self.W] if self._count > self.W else self._newest_change()

    def _differences(self) -> tuple[Floats, int]:
        """Return the stored squared differences and the task of the first of them."""
        return np.stack(self._squared), self._count - len(self._squared)


class _TaskWeights(NamedTuple):
    """Weights of the stored tasks for one task, a row per candidate, and s / sigma^2."""

    own: Floats
    own_a: Floats
    forward: Floats
    forward_a: Floats
    gap: float


class RateWeights:
    """The recursions for several rates of change, on weights in place of mean vectors with the same gains.

    They follow from the sizes and gaps of tasks alone, and `after` returns others. So repetitions, which take in tasks
    of equal sizes together, share what one of them computes. Little is kept: with many tasks within reach it is large.
    """

    _before: tuple[Floats, Floats]  # of the task before the newest, forward

    def __init__(self, rates: Sequence[float], reach: int) -> None:
        self._rates = np.array(rates)[:, None]
        self._within: deque[_TaskWeights] = deque(maxlen=reach + 1)

    @lru_cache(maxsize=4)  # noqa: B019
    def after(self, samples: int, gap: float, dropped: int) -> RateWeights:
        """Return those with the next task, without labels if it has no samples, and without the oldest tasks."""
        fresh, new = np.zeros((len(self._rates), 1)), copy(self)
        new._within = self._within.copy()
        for place, task in enumerate(new._within):
            own, forward = (np.concatenate([part[:, dropped:], fresh], axis=1) for part in (task.own, task.forward))
            new._within[place] = task._replace(own=own, forward=forward)
        new._before = new._within[-1][2:4] if new._within else (fresh, np.full_like(fresh, np.inf))
        own = np.zeros_like(new._before[0])
        own[:, -1] = samples > 0
        new._within.append(_TaskWeights(own, self._a(samples), *new._step(own, samples, gap), gap))
        return new

    def _a(self, samples: int) -> Floats:
        return np.full_like(self._rates, 1.0 / samples if samples else np.inf)

    def _change(self, gap: float) -> Floats:
        """Return the change over a gap in periods, which is 0 over no period at any rate."""
        return self._rates * gap if gap > 0.0 else np.zeros_like(self._rates)

    def _step(self, own: Floats, samples: int, gap: float) -> tuple[Floats, Floats]:
        tau, s = self._before
        return forward_step(own, self._a(samples), tau, s, self._change(gap))

    @lru_cache(maxsize=4)  # noqa: B019
    def forward(self, samples: int | None = None) -> tuple[Floats, Floats]:
        """Return weights (candidates, tasks) of the newest task and effective samples, for its samples or a number."""
        newest = self._within[-1]
        return _worth(*(newest[2:4] if samples is None else self._step(newest.own, samples, newest.gap)))

    @lru_cache(maxsize=4)  # noqa: B019
    def revised(self) -> list[tuple[Floats, Floats]]:
        """Return the same for the tasks before it, the nearest first, from both sides."""
        newest, *earlier = reversed(self._within)
        changes = [self._change(task.gap) for task in (newest, *earlier)][:-1]
        return [_worth(*pair) for pair in revise(newest[:2], (task[:4] for task in earlier), changes)]


def _worth(weights: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return weights and effective samples, those still stored, at least one."""
    return weights, np.maximum(weights.sum(axis=1) / a[:, 0], 1.0)
