"""The second lamp: a change larger than the changes before it lead to expect."""

from __future__ import annotations

import math

import numpy as np

from imrc._checks import check_real
from imrc._types import Floats, Ints
from imrc.core.moments import sample_moments
from imrc.core.recursions import forward_step

LEAST = 10
"""Innovations before the lamp may light: their spread must be known."""


class MoreThanUsual:
    """A lamp for changes larger than the estimated rate of change predicts.

    The forward recursion predicts the next mean vector, with the rate estimated so far; the mean squared innovation is
    compared with a chi-squared distribution that has mean and variance of those before it. `level` is the chance that
    it lights without cause for Gaussian innovations of known spread; no theorem bounds it, simulation only. `change` is
    the squared change into the newest task in units of the variance of a sample, less noise; its mean estimates rho.
    """

    def __init__(self, level: float = 0.01) -> None:
        self.level = check_real("level", level, 0.0, 1.0, low_open=True)
        self.change = math.nan
        # Number, mean and sum of squared deviations of changes and of innovations.
        self._counts = np.zeros((2, 3))
        self._within = np.zeros((2, 0))
        self._forward, self._last = np.zeros(0), np.zeros(0)
        self._mse, self._n = math.inf, 0.0

    def step(self, X1: Floats, y: Ints, n_classes: int) -> bool:
        """Look at a task, X1 (n, D + 1), intercept first; return whether the lamp lights. `n_classes` may grow."""
        n = len(X1)
        tau, s = sample_moments(X1, y, n_classes)
        first = not self._n
        self._grow(len(tau))
        self._within += np.stack([s * n * (n - 1), np.full(len(tau), n - 1.0)])
        variance = self._within[0] / np.maximum(self._within[1], 1.0)
        kept = variance > 1e-10 * variance.max() if variance.max() > 0 else np.zeros(len(tau), dtype=bool)
        lit, rho = False, max(self._counts[0, 1], 0.0)
        if not first and kept.any():
            innovation = float(((tau - self._forward)[kept] ** 2 / variance[kept]).mean()) / (self._mse + rho + 1.0 / n)
            lit = innovation > self._limit()
            distance = float(((tau - self._last)[kept] ** 2 / variance[kept]).mean())
            self.change = distance - 1.0 / n - 1.0 / self._n
            for row, value in zip(self._counts, (self.change, innovation), strict=True):
                row[0] += 1
                step = value - row[1]
                row[1] += step / row[0]
                row[2] += step * (value - row[1])
        before = (tau, math.inf) if first else (self._forward, self._mse)
        self._forward, mse = forward_step(tau, np.array([1.0 / n]), before[0], np.array([before[1]]), np.array([rho]))
        self._mse, self._last, self._n = float(mse[0]), tau, float(n)
        return lit

    def _limit(self) -> float:
        """Return the innovation from which on the lamp lights."""
        from scipy import stats

        count, mean, squares = self._counts[1]
        if count < LEAST or squares <= 0:
            return math.inf
        freedom = 2.0 * mean**2 / (squares / (count - 1))
        return float(mean * stats.chi2.isf(self.level, freedom) / freedom)

    def _grow(self, width: int) -> None:
        """Make room for the components of classes that come later: they were 0 until now."""
        more = width - self._within.shape[1]
        if more:
            self._within = np.pad(self._within, ((0, 0), (0, more)))
            self._forward, self._last = np.pad(self._forward, (0, more)), np.pad(self._last, (0, more))
