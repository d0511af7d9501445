"""Compiled kernels of the paper's accelerated subgradient method for problem (3)."""

from __future__ import annotations

import numpy as np
from numba import njit

_FAST = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def _scores(X1, w, out):  # type: ignore[no-untyped-def]
    """Write Phi(x_i, y)'w for all instances and classes; X1 (n, p), w (C, p), out (n, C)."""
    n, p = X1.shape
    n_classes = w.shape[0]
    for i in range(n):
        for c in range(n_classes):
            total = 0.0
            for j in range(p):
                total += X1[i, j] * w[c, j]
            out[i, c] = total


@njit(cache=True, nogil=True)
def _worst_case(scores, order, best_order):  # type: ignore[no-untyped-def]
    """Largest (sum over a label subset - 1) / size over instances and subsets.

    Only the r largest scores can be the best subset of size r, so C log C work replaces 2^C subsets. Ties go to the
    first instance, then the smaller subset, then the smaller class numbers. Returns value, instance and size; the
    subset is the first `size` entries of `best_order`.
    """
    n, n_classes = scores.shape
    best_value, best_row, best_size = -np.inf, 0, 1
    for i in range(n):
        for c in range(n_classes):  # stable insertion sort, largest first
            position = c
            while position > 0 and scores[i, order[position - 1]] < scores[i, c]:
                order[position] = order[position - 1]
                position -= 1
            order[position] = c
        total = -1.0
        found = False
        for r in range(n_classes):
            total += scores[i, order[r]]
            value = total / (r + 1)
            if value > best_value:
                best_value, best_row, best_size = value, i, r + 1
                found = True
        if found:
            best_order[:] = order
    return best_value, best_row, best_size


@njit(cache=True, nogil=True, fastmath=_FAST)
def _linear_part(w, tau, lam):  # type: ignore[no-untyped-def]
    """1 - tau'w + lambda'|w|."""
    total = 0.0
    for c in range(w.shape[0]):
        for j in range(w.shape[1]):
            total += lam[c, j] * abs(w[c, j]) - tau[c, j] * w[c, j]
    return 1.0 + total


@njit(cache=True, nogil=True)
def objective(X1, tau, lam, w):  # type: ignore[no-untyped-def]
    """Objective of problem (3) at w (C, p)."""
    n_classes = w.shape[0]
    scores = np.empty((X1.shape[0], n_classes))
    order = np.zeros(n_classes, dtype=np.int64)
    best_order = np.zeros(n_classes, dtype=np.int64)
    _scores(X1, w, scores)
    worst, _, _ = _worst_case(scores, order, best_order)
    return _linear_part(w, tau, lam) + worst


@njit(cache=True, nogil=True, fastmath=_FAST)
def subgradient(X1, tau, lam, start, candidate, max_iter):  # type: ignore[no-untyped-def]
    """Run the method; returns best point, its value, the last iterate and its value.

    X1 (n, p) instances with the intercept column; tau, lam, start, candidate (C, p).
    """
    n, p = X1.shape
    n_classes = tau.shape[0]
    scores = np.empty((n, n_classes))
    order = np.zeros(n_classes, dtype=np.int64)
    subset = np.zeros(n_classes, dtype=np.int64)
    w, w_prev, y = start.copy(), start.copy(), np.empty_like(start)
    best = candidate.copy()
    best_value = objective(X1, tau, lam, candidate)
    for iteration in range(1, max_iter + 1):
        momentum = 0.0 if iteration <= 3 else (iteration - 3.0) / iteration
        step = (iteration + 1.0) ** -1.5
        for c in range(n_classes):
            for j in range(p):
                y[c, j] = w[c, j] + momentum * (w[c, j] - w_prev[c, j])
        _scores(X1, y, scores)
        worst, row, size = _worst_case(scores, order, subset)
        value = _linear_part(y, tau, lam) + worst
        if value < best_value:
            best_value = value
            best[:, :] = y
        for c in range(n_classes):
            for j in range(p):
                w_prev[c, j] = w[c, j]
                slope = lam[c, j] * np.sign(y[c, j]) - tau[c, j]
                w[c, j] = y[c, j] - step * slope
        scale = step / size
        for r in range(size):
            c = subset[r]
            for j in range(p):
                w[c, j] -= scale * X1[row, j]
    last_value = objective(X1, tau, lam, w)
    if last_value < best_value:
        best_value = last_value
        best[:, :] = w
    return best, best_value, w, last_value
