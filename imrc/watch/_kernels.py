"""Compiled loop of the alarm: the statistic of many random subsets of rows."""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit
from imrc._types import Floats, Ints


@njit(cache=True)
def subset_statistics(X1: Floats, y: Ints, weights: Floats, expected: Floats, draws: Floats) -> Floats:
    """Return ``sum (S - expected)^2 weights``, S class-wise sums of subsets, shuffled by `draws` (subsets, size)."""
    rows, width = X1.shape
    order = np.arange(rows)
    sums = np.empty_like(expected)
    out = np.empty(len(draws))
    for b in range(len(draws)):
        sums[:] = 0.0
        for i in range(draws.shape[1]):
            other = i + int(draws[b, i] * (rows - i))
            row = order[other]
            order[other] = order[i]
            order[i] = row
            for d in range(width):
                sums[y[row], d] += X1[row, d]
        total = 0.0
        for c in range(expected.shape[0]):
            for d in range(width):
                total += (sums[c, d] - expected[c, d]) ** 2 * weights[c, d]
        out[b] = total
    return out
