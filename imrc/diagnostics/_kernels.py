"""Compiled loops of tests by permutation: sums over many orders of the tasks, or over many subsets of rows, at once."""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit
from imrc._types import Floats, Ints


@njit(cache=True)
def lag_sums(G: Floats, orders: Ints, lags: Ints) -> Floats:
    """Return sum_i G[p_i, p_(i + t)] for every order p (rows of `orders`) and lag t, shape (orders, lags)."""
    count, k = orders.shape
    out = np.zeros((count, lags.size))
    for b in range(count):
        p = orders[b]
        for position in range(lags.size):
            t = lags[position]
            total = 0.0
            for i in range(k - t):
                total += G[p[i], p[i + t]]
            out[b, position] = total
    return out


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
def mean_pacf(x: Floats, orders: Ints, nlags: int) -> Floats:
    """Return the averages of `component_pacf` over components for every order, shape (orders, nlags)."""
    out = np.empty((len(orders), nlags))
    for b in range(len(orders)):
        values = component_pacf(x, orders[b], nlags)
        for t in range(nlags):
            out[b, t] = values[t].mean()
    return out


@njit(cache=True)
def group_sums(X: Floats, groups: Ints, count: int) -> Floats:
    """Return the sums of the rows of X (N, D) by group, shape (count, D)."""
    out = np.zeros((count, X.shape[1]))
    for i in range(X.shape[0]):
        row = out[groups[i]]
        for c in range(X.shape[1]):
            row[c] += X[i, c]
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
