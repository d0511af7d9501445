"""Tracking with the paper's gains: from samples to mean vectors, task by task.

The tracker takes in the samples of a task, mapped and with the intercept column, `gap` periods after the task before,
and then gives estimates of the newest task (alone and forward), of the one to come, and of those within reach.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.change import backward_change, forward_change, printed_change
from imrc.core.moments import sample_moments
from imrc.core.recursions import borrowed_samples, forward_step, predict, revise


@dataclass(frozen=True, eq=False)
class Tracked:
    """Estimate of one task's mean vector."""

    mean: Floats  # tau, (m,)
    mse: Floats  # its mean squared error s, (m,)
    ess: float  # Theorems 1 and 3


@dataclass(eq=False)
class _Stored:
    """What must be kept of a task while it is within reach."""

    tau: Floats
    s: Floats
    tau_fwd: Floats
    s_fwd: Floats
    samples: int
    sigma2: float
    ess_fwd: float
    gap: float


class ComponentTracker:
    """The paper's recursions: each component has its own variance, change and gain.

    The change is estimated from a window of W steps; `change` says which backward one: "released", `backward_change` of
    the authors' code, or "printed", `printed_change`, eq. (7).
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
        """Take in the next task; without labels nothing is known of its sample average: s is infinite."""
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
            else:  # of several periods, the change of one
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
        """Return the estimate of the task to come; the change is that of the newest window."""
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
        """Return how many numbers are kept."""
        return sum(4 * part.tau.size for part in self._past) + sum(row.size for row in self._squared)

    def _newest_change(self) -> Floats:
        """Return d^2 of one period, of the newest window; of a single task nothing is known but its own error."""
        if self._count == 1:
            return self._past[-1].s
        squared, first = self._differences()
        return forward_change(squared, self._count - 1, self.W, first)

    def _kept_change(self) -> Floats:
        """Return the squared difference that leaves the newest window as it is: nothing new is known of the change."""
        return self._squared[-self.W] if self._count > self.W else self._newest_change()

    def _differences(self) -> tuple[Floats, int]:
        """Return the stored squared differences and the task of the first of them."""
        return np.stack(self._squared), self._count - len(self._squared)
