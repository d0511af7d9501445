"""The alarm: permutation p-values of arriving tasks, and the capital of a bet against "nothing has changed"."""

from __future__ import annotations

import math

import numpy as np

from imrc._checks import check_int, check_real
from imrc._types import Floats, Ints

_LEAST_P = 1e-300


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
        from imrc.diagnostics._identical import class_moments
        from imrc.diagnostics._kernels import group_sums
        from imrc.watch._kernels import subset_statistics

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
