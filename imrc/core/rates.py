"""Tracking with one rate of change for all components.

The expected quadratic change is ``d^2 = rho P`` with variances P pooled over all tasks seen and one number rho for
all components, chosen by the likelihood of the innovations. All gains are then scalars: the mean vector of a task is
a weighted average of sample averages with the same weights in every component, so it is the mean of Phi under a
weighted empirical distribution of the samples, and no component is ever known exactly.

With ``a = s / P`` the recursions of the mean squared errors are those of Theorems 1 and 3 for sigma^2 = 1 and
d^2 = rho: ``1 / a`` is the effective sample size.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.recursions import forward_step, predict, revise

RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Candidates for rho = d^2 / sigma^2."""

PRIOR_MEDIAN = 0.1
PRIOR_SD = 1.0
"""Log-normal prior of rho; one step counts like one observation, so the prior dominates the first ten steps."""

NEGLIGIBLE = 1e-12
"""Components whose variance is not above this say nothing of the change."""


def smoothed_variance(X1: Floats, y: NDArray[np.int64], n_classes: int) -> Floats:
    """Per-sample variance of Phi(x, y), (C * (D + 1),), that stays positive for a class that did not appear.

    Each class gets one pseudo-sample with the first two moments of all samples together, and class shares are smoothed
    by half a count.

    The intercept of a class is an indicator with smoothed share 1/4 and 3/4:

    >>> smoothed_variance(np.array([[1.0, 2.0]]), np.array([1]), 2).reshape(2, 2)[:, 0]
    array([0.1875, 0.1875])
    """
    n = len(X1)
    squares = X1**2
    mean, mean_square = X1.mean(axis=0), squares.mean(axis=0)
    variance = np.empty((n_classes, X1.shape[1]))
    for c in range(n_classes):
        rows = y == c
        count = int(rows.sum())
        share = (count + 0.5) / (n + 0.5 * n_classes)
        first = (X1[rows].sum(axis=0) + mean) / (count + 1)
        second = (squares[rows].sum(axis=0) + mean_square) / (count + 1)
        variance[c] = share * second - (share * first) ** 2
    return variance.ravel()


@dataclass(frozen=True, eq=False)
class RateEstimate:
    """Mean vector of one task and its mean squared error in units of P.

    `weights` (stored,) are those of the stored tasks' sample averages in `mean`, oldest first, tasks without labels
    left out; what is missing to 1 belongs to tasks no longer stored.
    """

    mean: Floats
    a: float  # s / P; ``1 / a`` is the effective sample size
    weights: Floats


@dataclass(eq=False)
class _Past:
    """One task within reach: its sample average and, for every rate, the forward mean vector at that time.

    Both are followed by the weights of the tasks they are made of, one place per task with labels: gains are common to
    all components, so the recursions give the weights with the means.
    """

    own: Floats
    own_a: Floats
    forward: Floats
    forward_a: Floats
    gap: float


class RateFilter:
    """Forward and backward estimates with one rate of change.

    `reach` tasks before the newest can be revised (b), the weights of `keep` tasks are followed, at least reach + 1.
    `rates` are the candidates for rho, increasing; the innovations of the newest `window` steps count in the
    likelihood, None: of all.
    """

    def __init__(self, reach: int, keep: int, rates: tuple[float, ...] = RATES, window: int | None = None) -> None:
        self.rates = np.asarray(rates, dtype=np.float64)
        self.keep = max(keep, reach + 1)
        self.variance: Floats = np.empty(0)
        with np.errstate(divide="ignore"):  # a rate of 0 has no prior density; it is only ever used alone
            self._prior = -0.5 * (np.log(self.rates / PRIOR_MEDIAN) / PRIOR_SD) ** 2
        self.log_likelihood = self._prior
        self._terms: deque[Floats] | None = None if window is None else deque(maxlen=window)
        self._count = self._labelled = 0
        self._past: deque[_Past] = deque(maxlen=reach + 1)

    @property
    def rate(self) -> float:
        """The rate rho with the largest likelihood times prior; its prior median before the second task."""
        return float(self.rates[self._best])

    @property
    def likeliest(self) -> float:
        """The rate with the largest likelihood alone; the one in use before the second task."""
        if len(self.rates) == 1:
            return self.rate
        likelihood = self.log_likelihood - self._prior
        return float(self.rates[np.argmax(likelihood)]) if likelihood.any() else self.rate

    @property
    def _best(self) -> int:
        return int(np.argmax(self.log_likelihood))

    def update(self, average: Floats, variance: Floats, samples: int, gap: float = 1.0) -> None:
        """Take in sample average, per-sample variance (`smoothed_variance`) and sample count of the next task.

        0 samples: the task has no labels, and neither is looked at. `gap` periods since the task before: so many
        changes of one period add up; not used for the first task.
        """
        size, m = len(self.rates), len(average)
        own, own_a = np.zeros(m + self.keep), np.array([np.inf])
        if samples:
            place = m + self._labelled % self.keep
            for past in self._past:  # the oldest task gives up its place
                past.own[place] = past.forward[:, place] = 0.0
            own[:m], own[place], own_a = average, 1.0, np.array([1.0 / samples])
            self._labelled += 1
            first = self._labelled == 1
            self.variance = variance if first else self.variance + (variance - self.variance) / self._labelled
        self._count += 1
        if self._count == 1:
            self._past.append(_Past(own, own_a, np.tile(own, (size, 1)), np.tile(own_a, (size, 1)), gap))
            return
        newest, d = self._past[-1], self.rates[:, None] * gap
        if samples:
            self._add_term(average, newest.forward[:, :m], (newest.forward_a + d + own_a)[:, 0])
        self._past.append(_Past(own, own_a, *forward_step(own, own_a, newest.forward, newest.forward_a, d), gap))

    def _add_term(self, average: Floats, predicted: Floats, f: Floats) -> None:
        """Add the log-likelihood of one innovation under every rate, f its variance in units of P."""
        used = self.variance > NEGLIGIBLE
        innovation = average[used] - predicted[:, used]
        surprise = np.mean(innovation**2 / self.variance[used], axis=1) if used.any() else np.zeros(len(f))
        term = -0.5 * (np.log(f) + surprise / f)
        if self._terms is None:
            self.log_likelihood = self.log_likelihood + term
        else:
            self._terms.append(term)
            self.log_likelihood = self._prior + np.sum(self._terms, axis=0)

    def forward(self) -> RateEstimate:
        """Return the forward estimate of the newest task under the chosen rate."""
        newest, r = self._past[-1], self._best
        return self._estimate(newest.forward[r], newest.forward_a[r])

    def predicted(self, gap: float) -> RateEstimate:
        """Return the estimate of the task `gap` periods after the newest, before any of its samples."""
        newest, r = self._past[-1], self._best
        return self._estimate(*predict(newest.forward[r], newest.forward_a[r], np.array([self.rate * gap])))

    def revised(self) -> list[RateEstimate]:
        """Return forward and backward estimates of the tasks before the newest, the nearest first."""
        r = self._best
        newest, *earlier = reversed(self._past)
        stored = ((past.own, past.own_a, past.forward[r], past.forward_a[r]) for past in earlier)
        changes = [np.array([self.rate * after.gap]) for after in list(reversed(self._past))[:-1]]
        return [self._estimate(mean, a) for mean, a in revise((newest.own, newest.own_a), stored, changes)]

    def _estimate(self, mean: Floats, a: Floats) -> RateEstimate:
        """Take a mean vector and the weights behind it apart; weights from the oldest task to the newest."""
        m = self.variance.size
        places = (np.arange(max(0, self._labelled - self.keep), self._labelled) % self.keep) + m
        return RateEstimate(mean[:m], float(a[0]), mean[places])

    def size(self) -> int:
        """Return how many numbers are kept."""
        return int(self.variance.size + sum(part.own.size + part.forward.size for part in self._past))
