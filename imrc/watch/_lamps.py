"""The two lamps: the alarm, a bet on permutation p-values against "nothing has changed", and more than usual."""

from __future__ import annotations

import math

import numpy as np

from imrc._checks import check_int, check_real
from imrc._types import Floats, Ints
from imrc.core.moments import sample_moments
from imrc.core.recursions import forward_step

_LEAST_P = 1e-300
_LEAST_CHANGES = 10  # Innovations before the second lamp may light: their spread must be known.


def bet(p: float) -> float:
    """Return what a bet on small p-values pays: (1 - p + p ln p) / (p (ln p)^2), the mean of a p^(a - 1) over a.

    >>> [round(bet(p), 3) for p in (1.0, 0.5, 0.05, 0.001)]
    [0.5, 0.639, 1.783, 20.791]
    """
    t = -math.log(max(check_real("p", p, 0.0, 1.0), _LEAST_P))
    # In t the formula is (exp(t) - 1 - t) / t^2; its series where digits would cancel.
    return 0.5 + t / 6.0 if t < 1e-6 else (math.expm1(t) - t) / t**2


class Alarm:
    """An alarm that is false with probability at most alpha, however many tasks arrive.

    Up to `memory` rows are kept. As long as they hold all that arrived, each task is compared with everything before
    it; from then on with rows drawn at random from those kept and the newest task alike, so that later tasks count more
    and the p-values stay independent and uniform. `alarm` is the test, from 1, at which it went off; it does when
    `log_evidence`, the logarithm of the capital, reaches log(1 / alpha).

    >>> generator = np.random.default_rng(0)
    >>> alarm = Alarm(permutations=199)
    >>> for j in range(30):
    ...     X = generator.standard_normal((10, 3)) + (2.0 if j >= 20 else 0.0)
    ...     p = alarm.step(X, np.zeros(10, dtype=np.int64))
    >>> alarm.alarm
    23
    """

    def __init__(self, alpha: float = 0.05, *, permutations: int = 999, memory: int = 2000, seed: int = 0) -> None:
        self.alpha = check_real("alpha", alpha, 0.0, 1.0, low_open=True)
        self.permutations = check_int("permutations", permutations, 9)
        self.memory = check_int("memory", memory, 2)
        self.steps = 0
        self.alarm: int | None = None
        self.log_evidence = -math.inf
        self._generator = np.random.default_rng(check_int("seed", seed, 0))
        self._rows, self._y = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)

    def step(self, X: Floats, y: Ints) -> float:
        """Test a task, X (n, D), and bet on its p-value, which is returned; NaN for the first task.

        X must be mapped by what does not depend on the tasks that are tested.
        """
        first = not len(self._rows)
        rows = np.ascontiguousarray(X if first else np.concatenate([self._rows, X]), dtype=np.float64)
        classes = np.concatenate([self._y, np.asarray(y, dtype=np.int64)])
        p = math.nan if first else self._p_value(rows, classes, len(X))
        if len(rows) > self.memory:
            # Which rows stay must not depend on where they come from: otherwise p-values would depend on each other.
            kept = self._generator.choice(len(rows), self.memory, replace=False, shuffle=False)
            rows, classes = rows[kept], classes[kept]
        self._rows, self._y = rows, classes
        if not first:
            self._bet(p)
        return p

    def _bet(self, p: float) -> None:
        # M_j = (M_{j-1} + 1 / (j (j + 1))) e_j: a bet begun at each task so far, in one number.
        self.steps += 1
        weight = -math.log(self.steps * (self.steps + 1.0))
        self.log_evidence = float(np.logaddexp(self.log_evidence, weight)) + math.log(bet(p))
        if self.alarm is None and self.log_evidence >= -math.log(self.alpha):
            self.alarm = self.steps

    def _p_value(self, rows: Floats, classes: Ints, n: int) -> float:
        """Return the p-value of "the last n rows are any n of them", uniform by randomised ties."""
        from imrc.diagnostics._kernels import group_sums, subset_statistics
        from imrc.diagnostics.evidence import class_moments

        total = len(rows)
        # Centre and scale are those of all rows together, whichever task they belong to.
        X1 = np.column_stack([np.ones(total), rows - rows.mean(axis=0)])
        count = int(classes.max()) + 1
        mean, variance = class_moments(X1, classes, count)
        weights = 1.0 / np.maximum(variance, 1e-300)
        observed = group_sums(X1[total - n :], classes[total - n :], count)
        statistic = float(((observed - n * mean) ** 2 * weights).sum())
        # A subset and the rows it leaves out have the same statistic: the smaller one is drawn.
        size = min(n, total - n)
        draws = self._generator.random((self.permutations, size))
        found = subset_statistics(X1, classes, weights, size * mean, draws)
        tolerance = 1e-9 * statistic
        larger = int((found > statistic + tolerance).sum())
        ties = int((abs(found - statistic) <= tolerance).sum())
        return (larger + float(self._generator.random()) * (1 + ties)) / (1 + self.permutations)


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
        if count < _LEAST_CHANGES or squares <= 0:
            return math.inf
        freedom = 2.0 * mean**2 / (squares / (count - 1))
        return float(mean * stats.chi2.isf(self.level, freedom) / freedom)

    def _grow(self, width: int) -> None:
        """Make room for the components of classes that come later: they were 0 until now."""
        more = width - self._within.shape[1]
        if more:
            self._within = np.pad(self._within, ((0, 0), (0, more)))
            self._forward, self._last = np.pad(self._forward, (0, more)), np.pad(self._last, (0, more))
