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

Floats = NDArray[np.float64]

RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Candidates for rho = n d^2 / (n sigma^2), the change per task in units of the variance of one sample."""

PRIOR_MEDIAN = 0.1
PRIOR_SD = 1.0
"""Log-normal prior of rho; the likelihood counts as about one observation per step, so it holds for ten steps."""

_NEGLIGIBLE = 1e-12


def smoothed_variance(X1: Floats, y: NDArray[np.int64], n_classes: int) -> Floats:
    """Per-sample variance of Phi(x, y) that stays positive for a class that did not appear.

    Each class gets one pseudo-sample with the first two moments of all samples together, and class shares are
    smoothed by half a count.

    Parameters
    ----------
    X1 : ndarray of shape (n, D + 1)
        Mapped instances, intercept first.
    y : ndarray of shape (n,)
        Classes 0..C-1.
    n_classes : int
        Number of classes C.

    Returns
    -------
    ndarray of shape (C * (D + 1),)

    Examples
    --------
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

    Attributes
    ----------
    mean : ndarray of shape (m,)
        Mean vector tau.
    a : float
        s / P; ``1 / a`` is the effective sample size.
    weights : ndarray of shape (stored,)
        Weight of each stored task's sample average in `mean`, oldest first; what is missing to 1 belongs to tasks
        no longer stored.
    """

    mean: Floats
    a: float
    weights: Floats


@dataclass(eq=False)
class _Past:
    """One stored task: its sample average and, for every rate, the forward filter at that time."""

    average: Floats
    samples: int
    means: Floats
    a: Floats
    weights: Floats


class RateFilter:
    """Forward and backward estimates with one rate of change.

    Parameters
    ----------
    reach : int
        Tasks before the newest that can be revised (b).
    keep : int
        Tasks whose weights are followed, at least reach + 1.
    rates : tuple of float
        Candidates for rho, increasing.
    window : int or None
        Steps whose innovations count in the likelihood, the newest ones; None: all.
    """

    def __init__(self, reach: int, keep: int, rates: tuple[float, ...] = RATES, window: int | None = None) -> None:
        self.rates = np.asarray(rates, dtype=np.float64)
        self.keep = max(keep, reach + 1)
        self.variance: Floats = np.empty(0)
        with np.errstate(divide="ignore"):  # a rate of 0 has no prior density; it is only ever used alone
            self._prior = -0.5 * (np.log(self.rates / PRIOR_MEDIAN) / PRIOR_SD) ** 2
        self.log_likelihood = self._prior
        self._terms: deque[Floats] | None = None if window is None else deque(maxlen=window)
        self._count = 0
        self._past: deque[_Past] = deque(maxlen=reach + 1)

    @property
    def rate(self) -> float:
        """The rate rho with the largest likelihood times prior; its prior median before the second task."""
        return float(self.rates[self._best])

    @property
    def _best(self) -> int:
        return int(np.argmax(self.log_likelihood))

    def update(self, average: Floats, variance: Floats, samples: int) -> None:
        """Take in the sample average, the per-sample variance and the sample count of the next task.

        Parameters
        ----------
        average, variance : ndarray of shape (m,)
            Sample average of Phi and `smoothed_variance`.
        samples : int
            Number of samples n_k.
        """
        self._count += 1
        self.variance = variance if self._count == 1 else self.variance + (variance - self.variance) / self._count
        size = len(self.rates)
        if self._count == 1:
            weights = np.ones((size, 1))
            self._past.append(_Past(average, samples, np.tile(average, (size, 1)), np.full(size, 1 / samples), weights))
            return
        newest = self._past[-1]
        v = newest.a + self.rates
        f = v + 1.0 / samples
        used = self.variance > _NEGLIGIBLE
        innovation = average[used] - newest.means[:, used]
        surprise = np.mean(innovation**2 / self.variance[used], axis=1) if used.any() else np.zeros(size)
        term = -0.5 * (np.log(f) + surprise / f)
        if self._terms is None:
            self.log_likelihood = self.log_likelihood + term
        else:
            self._terms.append(term)
            self.log_likelihood = self._prior + np.sum(self._terms, axis=0)
        share = 1.0 / (samples * f)  # of the past in the new forward mean, eq. (6)
        means = average + share[:, None] * (newest.means - average)
        weights = np.column_stack([share[:, None] * newest.weights, 1.0 - share])[:, -self.keep :]
        self._past.append(_Past(average, samples, means, v * share, weights))

    def forward(self) -> RateEstimate:
        """Return the forward estimate of the newest task under the chosen rate."""
        newest, r = self._past[-1], self._best
        return RateEstimate(newest.means[r], float(newest.a[r]), newest.weights[r])

    def revised(self) -> list[RateEstimate]:
        """Return forward and backward estimates of the tasks before the newest, the nearest first."""
        r, rho = self._best, self.rate
        newest = self._past[-1]
        mean_bwd, a_bwd = newest.average, 1.0 / newest.samples
        stored = newest.weights.shape[1]
        weights_bwd = np.zeros(stored)
        weights_bwd[-1] = 1.0
        estimates = []
        for back in range(1, len(self._past)):
            past = self._past[-1 - back]
            v = a_bwd + rho
            gain = float(past.a[r] / (past.a[r] + v))
            forward_weights = np.zeros(stored)
            kept = min(past.weights.shape[1], stored - back)
            forward_weights[stored - back - kept : stored - back] = past.weights[r][-kept:]
            estimates.append(
                RateEstimate(
                    past.means[r] + gain * (mean_bwd - past.means[r]),
                    float(past.a[r] * v / (past.a[r] + v)),
                    (1.0 - gain) * forward_weights + gain * weights_bwd,
                )
            )
            w = (1.0 / past.samples) / (1.0 / past.samples + v)
            mean_bwd, a_bwd = past.average + w * (mean_bwd - past.average), v * w
            weights_bwd = w * weights_bwd
            weights_bwd[stored - 1 - back] += 1.0 - w
        return estimates

    def size(self) -> int:
        """Return how many numbers are kept."""
        return int(
            self.variance.size + sum(part.average.size + part.means.size + part.weights.size for part in self._past)
        )
