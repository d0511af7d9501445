"""Compiled kernel of the rule for log loss, see `imrc.solvers.log_loss`."""

from __future__ import annotations

import numpy as np
from numba import njit

_MEMORY = 8


@njit(cache=True, nogil=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(a.shape[0]):
        for c in range(a.shape[1]):
            total += a[i, c] * b[i, c]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _times(gram, a, out):  # type: ignore[no-untyped-def]
    """Write gram @ a for rows of a that sum to zero: the last column follows from the others.

    Plain loops: a threaded BLAS would fight the other threads.
    """
    size, classes = a.shape
    out[:, classes - 1] = 0.0
    for c in range(classes - 1):
        column = a[:, c].copy()
        for i in range(size):
            total = 0.0
            for j in range(size):
                total += gram[i, j] * column[j]
            out[i, c] = total
            out[i, classes - 1] -= total
    return out


@njit(cache=True, nogil=True)
def _data_term(scores, weights, probabilities):  # type: ignore[no-untyped-def]
    """Write h(y|x_i) for all samples; return sum_i w_i log sum_y exp(score)."""
    total = 0.0
    for i in range(scores.shape[0]):
        largest = scores[i, 0]
        for c in range(1, scores.shape[1]):
            largest = max(largest, scores[i, c])
        normaliser = 0.0
        for c in range(scores.shape[1]):
            probabilities[i, c] = np.exp(scores[i, c] - largest)
            normaliser += probabilities[i, c]
        for c in range(scores.shape[1]):
            probabilities[i, c] /= normaliser
        total += weights[i] * (largest + np.log(normaliser))
    return total


@njit(cache=True, nogil=True)
def fit_log_loss(gram, targets, weights, penalty, start, max_iter, tolerance):  # type: ignore[no-untyped-def]
    """Limited-memory BFGS in the span of the samples.

    Parameters
    ----------
    gram : (N, N) inner products of the samples, intercept included.
    targets : (N, C) coefficients of tau: tau = sum_i targets[i, c] x_i in block c.
    weights : (N,) weights of the samples in the data term, summing to 1.
    penalty : float, positive: penalty / 2 |mu|^2.
    start : (N, C) coefficients to start from; rows sum to zero.
    max_iter : int.
    tolerance : float, stop when the norm of the gradient is below it.

    Returns
    -------
    (N, C) coefficients, value, iterations, norm of the gradient.
    """
    size, classes = targets.shape
    a = start.copy()
    f = _times(gram, a, np.empty_like(a))
    probabilities = np.empty((size, classes))
    value = _data_term(f, weights, probabilities) - _dot(targets, f) + 0.5 * penalty * _dot(a, f)
    # Differences of iterates (s) and gradients (g), as coefficients and multiplied by the Gram matrix.
    s = np.zeros((_MEMORY, size, classes))
    g = np.zeros((_MEMORY, size, classes))
    gram_s, gram_g = np.zeros_like(s), np.zeros_like(s)
    curvature, alpha = np.zeros(_MEMORY), np.zeros(_MEMORY)
    gradient = weights.reshape(-1, 1) * probabilities - targets + penalty * a
    gram_gradient = _times(gram, gradient, np.empty_like(a))
    norm = np.sqrt(max(_dot(gradient, gram_gradient), 0.0))
    iteration = 0
    while iteration < max_iter and norm > tolerance:
        iteration += 1
        direction, gram_direction = -gradient, -gram_gradient
        stored = min(iteration - 1, _MEMORY)
        for back in range(stored):
            j = (iteration - 2 - back) % _MEMORY
            alpha[j] = _dot(gram_s[j], direction) / curvature[j]
            direction -= alpha[j] * g[j]
            gram_direction -= alpha[j] * gram_g[j]
        scale = 1.0 / penalty / (1.0 + gram[0, 0] / penalty)
        if stored > 0:
            j = (iteration - 2) % _MEMORY
            scale = curvature[j] / _dot(g[j], gram_g[j])
        direction *= scale
        gram_direction *= scale
        for back in range(stored - 1, -1, -1):
            j = (iteration - 2 - back) % _MEMORY
            beta = _dot(gram_g[j], direction) / curvature[j]
            direction += (alpha[j] - beta) * s[j]
            gram_direction += (alpha[j] - beta) * gram_s[j]
        slope = _dot(gram_gradient, direction)
        if slope >= 0.0:  # rounding: fall back to the gradient
            direction, gram_direction, slope = -gradient, -gram_gradient, -norm * norm
        step, accepted = 1.0, False
        for _ in range(40):
            new_a, new_f = a + step * direction, f + step * gram_direction
            new_value = (
                _data_term(new_f, weights, probabilities) - _dot(targets, new_f) + 0.5 * penalty * _dot(new_a, new_f)
            )
            if new_value <= value + 1e-4 * step * slope:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            break
        new_gradient = weights.reshape(-1, 1) * probabilities - targets + penalty * new_a
        new_gram_gradient = _times(gram, new_gradient, np.empty_like(a))
        j = (iteration - 1) % _MEMORY
        s[j], gram_s[j] = new_a - a, new_f - f
        g[j], gram_g[j] = new_gradient - gradient, new_gram_gradient - gram_gradient
        curvature[j] = _dot(s[j], gram_g[j])
        a, f, value = new_a, new_f, new_value
        gradient, gram_gradient = new_gradient, new_gram_gradient
        norm = np.sqrt(max(_dot(gradient, gram_gradient), 0.0))
        if curvature[j] <= 0.0 or _dot(g[j], gram_g[j]) <= 0.0:
            break  # the last step is lost in rounding: nothing more to gain
    return a, value, iteration, norm
