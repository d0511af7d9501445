"""Compiled loops of the diagnosis: partial autocorrelation, and a statistic of many subsets of rows."""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit
from imrc._types import Floats, Ints


@njit(cache=True)
def component_pacf(x: Floats, order: Ints, nlags: int) -> Floats:
    """Return partial autocorrelations of every centred component of `x` (k, m), tasks in this order, shape (nlags, m).

    Durbin-Levinson with biased autocovariances; zero beyond the lag at which a series is predicted without error.
    """
    k, m = x.shape
    out = np.zeros((nlags, m))
    r = np.zeros((nlags + 1, m))
    coefficients = np.empty(nlags + 1)
    previous = np.empty(nlags + 1)
    for i in range(k):
        row = x[order[i]]
        for t in range(min(nlags, k - 1 - i) + 1):
            other = x[order[i + t]]
            for c in range(m):
                r[t, c] += row[c] * other[c]
    for c in range(m):
        variance = r[0, c]
        for t in range(1, nlags + 1):
            top = r[t, c]
            for u in range(1, t):
                top -= previous[u] * r[t - u, c]
            last = top / variance
            coefficients[t] = last
            for u in range(1, t):
                coefficients[u] = previous[u] - last * previous[t - u]
            variance *= 1.0 - last * last
            for u in range(1, t + 1):
                previous[u] = coefficients[u]
            out[t - 1, c] = last
            if variance <= 1e-14 * r[0, c]:
                break
    return out


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
