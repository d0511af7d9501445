"""Trackers: from samples to mean vectors, task by task, one interface for both kinds of gains."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from imrc.core.change import backward_change, forward_change, printed_change
from imrc.core.moments import sample_moments
from imrc.core.rates import RATES, RateFilter, smoothed_variance
from imrc.core.tracking import combine

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tracked:
    """Estimate of one task's mean vector.

    Attributes
    ----------
    mean, mse : ndarray of shape (m,)
        Mean vector tau and its mean squared error s.
    ess : float
        Effective sample size, Theorems 1 and 3.
    weights : ndarray of shape (stored,) or None
        Where all components have one gain: weight of each stored task's sample average, oldest first.
    """

    mean: Floats
    mse: Floats
    ess: float
    weights: Floats | None = None


class Tracker(Protocol):
    """Follows the mean vectors of a sequence."""

    def update(self, X1: Floats, y: NDArray[np.int64]) -> None:
        """Take in the samples of the next task, mapped and with intercept column."""
        ...

    def single(self) -> Tracked:
        """Return the newest task's estimate from its own samples."""
        ...

    def forward(self) -> Tracked:
        """Return the newest task's forward estimate."""
        ...

    def revised(self) -> list[Tracked]:
        """Return forward and backward estimates of the tasks within reach, the nearest first."""
        ...

    def size(self) -> int:
        """Return how many numbers are kept."""
        ...

    def choices(self) -> dict[str, float]:
        """Return what was chosen from the data so far."""
        ...


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


class ComponentTracker:
    """The paper's recursions: each component has its own variance, change and gain.

    Parameters
    ----------
    n_classes : int
        Number of classes C.
    b, W : int
        Backward steps and window of the change estimate.
    change : {"released", "printed"}
        Window of the backward change: `backward_change` of the authors' code, or `printed_change`, eq. (7).
    """

    def __init__(self, n_classes: int, b: int, W: int, change: str = "released") -> None:
        self.n_classes = n_classes
        self.b, self.W = b, W
        self._backward_change = printed_change if change == "printed" else backward_change
        self._count = 0
        self._past: deque[_Stored] = deque(maxlen=b + 1)
        self._squared: deque[Floats] = deque(maxlen=b + W + 1)

    def update(self, X1: Floats, y: NDArray[np.int64]) -> None:
        """Forward recursion, eq. (6)."""
        tau, s = sample_moments(X1, y, self.n_classes)
        previous = self._past[-1] if self._past else None
        self._squared.append((tau if previous is None else tau - previous.tau) ** 2)
        self._count += 1
        samples, sigma2 = len(y), float(len(y) * s.max())
        tau_fwd, s_fwd, ess_fwd = tau, s, float(samples)
        if previous is not None:
            squared, first = self._differences()
            d = forward_change(squared, self._count - 1, self.W, first)
            tau_fwd, s_fwd = combine(tau, s, previous.tau_fwd, previous.s_fwd + d)
            ess_fwd = add_effective_samples(float(samples), previous.ess_fwd, sigma2, float(d.max()))
        self._past.append(_Stored(tau, s, tau_fwd, s_fwd, samples, sigma2, ess_fwd))

    def single(self) -> Tracked:
        """Return the sample average, eq. (4)."""
        newest = self._past[-1]
        return Tracked(newest.tau, newest.s, float(newest.samples))

    def forward(self) -> Tracked:
        """Return the forward estimate."""
        newest = self._past[-1]
        return Tracked(newest.tau_fwd, newest.s_fwd, newest.ess_fwd)

    def revised(self) -> list[Tracked]:
        """Backward pass from the newest task: eq. (6) in retrodiction and eq. (10)."""
        squared, first = self._differences()
        newest, k = self._past[-1], self._count - 1
        tau_bwd, s_bwd, ess_bwd = newest.tau, newest.s, float(newest.samples)
        estimates = []
        for back in range(1, len(self._past)):
            stored = self._past[-1 - back]
            d = self._backward_change(squared, k - back, k, self.W, first)
            change = float(d.max())
            tau_fb, s_fb = combine(stored.tau_fwd, stored.s_fwd, tau_bwd, s_bwd + d)
            ess_fb = add_effective_samples(stored.ess_fwd, ess_bwd, stored.sigma2, change)
            estimates.append(Tracked(tau_fb, s_fb, ess_fb))
            tau_bwd, s_bwd = combine(stored.tau, stored.s, tau_bwd, s_bwd + d)
            ess_bwd = add_effective_samples(float(stored.samples), ess_bwd, stored.sigma2, change)
        return estimates

    def size(self) -> int:
        """Return how many numbers are kept."""
        return sum(4 * part.tau.size for part in self._past) + sum(row.size for row in self._squared)

    def choices(self) -> dict[str, float]:
        """Nothing is chosen: each component has its own change."""
        return {}

    def _differences(self) -> tuple[Floats, int]:
        """Return the stored squared differences and the task of the first of them."""
        return np.stack(self._squared), self._count - len(self._squared)


class RateTracker:
    """One rate of change for all components, see `imrc.core.rates`.

    Parameters
    ----------
    n_classes : int
        Number of classes C.
    b : int
        Backward steps.
    keep : int
        Tasks whose weights are followed.
    rate : float or None
        Fixed rate of change; None: chosen by likelihood.
    W : int or "all"
        Steps whose innovations count in that likelihood.
    """

    def __init__(self, n_classes: int, b: int, keep: int, rate: float | None = None, W: int | str = "all") -> None:
        self.n_classes = n_classes
        self._filter = RateFilter(b, keep, RATES if rate is None else (rate,), None if W == "all" else int(W))
        self._single = Tracked(np.empty(0), np.empty(0), 0.0)

    @property
    def rate(self) -> float:
        """Rate of change rho in use."""
        return self._filter.rate

    def update(self, X1: Floats, y: NDArray[np.int64]) -> None:
        """Take in the next task."""
        tau, s = sample_moments(X1, y, self.n_classes)
        self._single = Tracked(tau, s, float(len(y)))
        self._filter.update(tau, smoothed_variance(X1, y, self.n_classes), len(y))

    def single(self) -> Tracked:
        """Return the sample average with its own variance, as in the paper."""
        return self._single

    def forward(self) -> Tracked:
        """Return the forward estimate; mse = P a."""
        estimate = self._filter.forward()
        return Tracked(estimate.mean, self._filter.variance * estimate.a, 1.0 / estimate.a, estimate.weights)

    def revised(self) -> list[Tracked]:
        """Return the revised estimates; mse = P a."""
        return [
            Tracked(estimate.mean, self._filter.variance * estimate.a, 1.0 / estimate.a, estimate.weights)
            for estimate in self._filter.revised()
        ]

    def size(self) -> int:
        """Return how many numbers are kept."""
        return self._filter.size()

    def choices(self) -> dict[str, float]:
        """Return the rate of change in use."""
        return {"rate": self.rate}
