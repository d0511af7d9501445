"""Compiled kernel of the rule for log loss, see `imrc.solvers.logistic`.

Every vector is held as its coefficients and as its image under the metric, so that inner products are plain sums:

* dual: coefficients of the samples, matrix = Gram matrix (N, N), image = Gram matrix times coefficients = scores;
* primal: the parameters themselves, matrix = samples (N, p), image = coefficients, scores = samples times parameters.

Coefficients sum to zero over the classes, so those of the last class follow from the others.
"""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit

_MEMORY = 8
_FAST = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(a.shape[0]):
        for i in range(a.shape[1]):
            total += a[c, i] * b[c, i]
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _add(out, factor, a):  # type: ignore[no-untyped-def]
    """Add factor * a to out."""
    for c in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[c, i] += factor * a[c, i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _times(matrix, a, out):  # type: ignore[no-untyped-def]
    """Write matrix @ a for each class; plain loops, because a threaded BLAS would fight the other threads."""
    classes = a.shape[0]
    for i in range(matrix.shape[0]):
        out[classes - 1, i] = 0.0
        for c in range(classes - 1):
            total = 0.0
            for j in range(matrix.shape[1]):
                total += matrix[i, j] * a[c, j]
            out[c, i] = total
            out[classes - 1, i] -= total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _transposed_times(matrix, r, out):  # type: ignore[no-untyped-def]
    """Write matrix' @ r for each class."""
    classes = r.shape[0]
    out[:] = 0.0
    for i in range(matrix.shape[0]):
        for c in range(classes - 1):
            value = r[c, i]
            for j in range(matrix.shape[1]):
                out[c, j] += value * matrix[i, j]
    for c in range(classes - 1):
        for j in range(matrix.shape[1]):
            out[classes - 1, j] -= out[c, j]


@njit(cache=True, nogil=True)
def _data_term(scores, weights, targets, residual):  # type: ignore[no-untyped-def]
    """Write w_i h(y|x_i) - target; return sum_i w_i log sum_y exp(score) - targets'scores."""
    classes, size = scores.shape
    total = 0.0
    for i in range(size):
        largest = scores[0, i]
        for c in range(1, classes):
            largest = max(largest, scores[c, i])
        normaliser = 0.0
        for c in range(classes):
            residual[c, i] = np.exp(scores[c, i] - largest)
            normaliser += residual[c, i]
        for c in range(classes):
            residual[c, i] = weights[i] * residual[c, i] / normaliser - targets[c, i]
            total -= targets[c, i] * scores[c, i]
        total += weights[i] * (largest + np.log(normaliser))
    return total


@njit(cache=True, nogil=True)
def _gradient(matrix, primal, residual, penalty, a, gradient, image):  # type: ignore[no-untyped-def]
    """Write the gradient and its image; return its norm."""
    if primal:
        _transposed_times(matrix, residual, gradient)
        _add(gradient, penalty, a)
        image[:] = gradient
    else:
        gradient[:] = residual
        _add(gradient, penalty, a)
        _times(matrix, gradient, image)
    return np.sqrt(max(_dot(gradient, image), 0.0))


@njit(cache=True, nogil=True)
def fit_log_loss(matrix, primal, targets, weights, penalty, start, max_iter, tolerance):  # type: ignore[no-untyped-def]
    """Limited-memory BFGS; returns coefficients, value, iterations, norm of the gradient.

    matrix: (N, N) Gram matrix, or (N, p) samples if primal, intercept included. targets (C, N): tau = sum_i targets[c,
    i] x_i in block c. weights (N,) sum to 1. start: (C, N) or (C, p), summing to zero over classes. penalty / 2 |mu|^2.
    """
    classes, size = targets.shape
    q = start.shape[1]
    a = start.copy()
    scores = np.empty((classes, size))
    _times(matrix, a, scores)
    image = a.copy() if primal else scores.copy()
    residual = np.empty((classes, size))
    value = _data_term(scores, weights, targets, residual) + 0.5 * penalty * _dot(a, image)
    gradient, gradient_image = np.empty((classes, q)), np.empty((classes, q))
    norm = _gradient(matrix, primal, residual, penalty, a, gradient, gradient_image)
    # Differences of iterates (s) and gradients (g), each with its image.
    s, s_image = np.empty((_MEMORY, classes, q)), np.empty((_MEMORY, classes, q))
    g, g_image = np.empty((_MEMORY, classes, q)), np.empty((_MEMORY, classes, q))
    curvature, alpha = np.ones(_MEMORY), np.zeros(_MEMORY)
    direction, direction_image = np.empty((classes, q)), np.empty((classes, q))
    direction_scores = np.empty((classes, size))
    new_a, new_image, new_scores = np.empty_like(a), np.empty_like(a), np.empty_like(scores)
    new_gradient, new_gradient_image = np.empty_like(a), np.empty_like(a)
    iteration = 0
    while iteration < max_iter and norm > tolerance:
        direction[:] = -gradient
        direction_image[:] = -gradient_image
        stored = min(iteration, _MEMORY)
        for back in range(stored):
            j = (iteration - 1 - back) % _MEMORY
            alpha[j] = _dot(s_image[j], direction) / curvature[j]
            _add(direction, -alpha[j], g[j])
            _add(direction_image, -alpha[j], g_image[j])
        scale = 1.0 / (penalty + 1.0)
        if stored > 0:
            j = (iteration - 1) % _MEMORY
            scale = curvature[j] / _dot(g[j], g_image[j])
        direction *= scale
        direction_image *= scale
        for back in range(stored - 1, -1, -1):
            j = (iteration - 1 - back) % _MEMORY
            beta = _dot(g_image[j], direction) / curvature[j]
            _add(direction, alpha[j] - beta, s[j])
            _add(direction_image, alpha[j] - beta, s_image[j])
        slope = _dot(gradient_image, direction)
        if slope >= 0.0:  # rounding: fall back to the gradient
            direction[:] = -gradient
            direction_image[:] = -gradient_image
            slope = -norm * norm
        if primal:
            _times(matrix, direction, direction_scores)
        else:
            direction_scores[:] = direction_image
        step, accepted, new_value = 1.0, False, value
        for _ in range(40):
            for c in range(classes):
                for i in range(q):
                    new_a[c, i] = a[c, i] + step * direction[c, i]
                    new_image[c, i] = image[c, i] + step * direction_image[c, i]
                for i in range(size):
                    new_scores[c, i] = scores[c, i] + step * direction_scores[c, i]
            new_value = _data_term(new_scores, weights, targets, residual) + 0.5 * penalty * _dot(new_a, new_image)
            if new_value <= value + 1e-4 * step * slope:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            break
        norm = _gradient(matrix, primal, residual, penalty, new_a, new_gradient, new_gradient_image)
        j = iteration % _MEMORY
        for c in range(classes):
            for i in range(q):
                s[j, c, i] = new_a[c, i] - a[c, i]
                s_image[j, c, i] = new_image[c, i] - image[c, i]
                g[j, c, i] = new_gradient[c, i] - gradient[c, i]
                g_image[j, c, i] = new_gradient_image[c, i] - gradient_image[c, i]
        curvature[j] = _dot(s[j], g_image[j])
        a[:], image[:], scores[:], value = new_a, new_image, new_scores, new_value
        gradient[:], gradient_image[:] = new_gradient, new_gradient_image
        iteration += 1
        if curvature[j] <= 0.0 or _dot(g[j], g_image[j]) <= 0.0:
            break  # the last step is lost in rounding: nothing more to gain
    return a, value, iteration, norm


@njit(cache=True, nogil=True)
def fit_in_turn(matrix, primal, times, moving, y, weights, penalties, starts, after, max_iter, within):  # type: ignore[no-untyped-def]
    """Fit one problem after the other, see `solve_in_turn`; return solutions, values and iterations."""
    problems, classes, _ = starts.shape
    found, values, iterations = starts.copy(), np.empty(problems), np.empty(problems, dtype=np.int64)
    for p in range(problems):
        if after[p] >= 0:
            found[p] = found[after[p]]
        used = np.flatnonzero(weights[p])
        first, end = used[0], used[-1] + 1
        size = end - first
        time, w = times[first:end], weights[p, first:end].copy()
        low, high = (0, matrix.shape[1]) if primal else (first, end)
        part = matrix[first:end, low:high].copy()
        if moving[p] and primal:
            high *= 2
            part = np.hstack((part, part * time.reshape(size, 1)))
        elif moving[p]:
            for i in range(size):
                for j in range(size):
                    part[i, j] *= 1.0 + time[i] * time[j]
        targets = np.zeros((classes, size))
        for i in range(size):
            targets[y[first + i], i] = w[i]
        start = found[p, :, low:high].copy()
        found[p] = 0.0
        solved = fit_log_loss(part, primal, targets, w, penalties[p], start, max_iter, within[p])
        found[p, :, low:high], values[p], iterations[p] = solved[0], solved[1], solved[2]
    return found, values, iterations
