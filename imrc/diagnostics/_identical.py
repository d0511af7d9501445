"""Do the tasks differ at all? Test of the hypothesis that all tasks share one distribution."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.diagnostics._reduction import Reduced

SameMethod = Literal["permutation of samples", "F approximation", "chi-squared approximation"]

SHUFFLES = 199
# Above this many multiplications (samples x components x shuffles) the approximation is used.
WORK_LIMIT = 5e8


def class_moments(X1: Floats, y: NDArray[np.int64], n_classes: int) -> tuple[Floats, Floats]:
    """Return mean and variance of Phi over all rows, (C, D + 1); variance infinite where nothing varies."""
    from imrc.diagnostics._kernels import group_sums

    mean, square = (group_sums(part, y, n_classes) / len(X1) for part in (X1, X1 * X1))
    variance = square - mean**2
    return mean, np.where(variance > 1e-12 * np.maximum(square, 1e-300), variance, np.inf)


def exact_p_value(
    rows: list[Floats],
    classes: list[NDArray[np.int64]],
    n_classes: int,
    generator: np.random.Generator,
    shuffles: int = SHUFFLES,
) -> float:
    """Return the exact p-value of sum_j ||sum of standardised Phi of task j||^2 / n_j, shuffling samples."""
    from imrc.diagnostics._kernels import group_sums

    sizes = np.array([len(X1) for X1 in rows])
    X = np.ascontiguousarray(np.concatenate(rows))
    y = np.concatenate(classes)
    k, width = len(rows), X.shape[1]
    task = np.repeat(np.arange(k), sizes)
    overall, variance = class_moments(X, y, n_classes)

    def statistic(assigned: NDArray[np.int64]) -> float:
        sums = group_sums(X, assigned * n_classes + y, k * n_classes).reshape(k, n_classes, width)
        deviations = sums - sizes[:, None, None] * overall
        return float((deviations**2 / variance / sizes[:, None, None]).sum())

    observed = statistic(task)
    reached = sum(statistic(generator.permutation(task)) >= observed * (1.0 - 1e-12) for _ in range(shuffles))
    return (1.0 + reached) / (1.0 + shuffles)


def approximate_p_value(reduced: Reduced, m_noise: float | None, m_eff: float) -> tuple[float, SameMethod]:
    """Return the p-value from Q alone: by the F distribution with samples, by chi-squared without."""
    from scipy import stats

    k, q = reduced.k, reduced.statistic
    if m_noise is not None and reduced.total is not None and reduced.total > k:
        degrees = (k - 1) * m_noise, (reduced.total - k) * m_noise
        return float(stats.f.sf(q, *degrees)), "F approximation"
    freedom = (k - 1) * m_eff
    return float(stats.chi2.sf(q * freedom, freedom)), "chi-squared approximation"
