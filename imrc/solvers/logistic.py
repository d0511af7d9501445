"""Minimax rule for log loss with the marginal of instances fixed: a weighted logistic regression on tracked means.

Over the distributions whose instances follow a weighted set of samples and whose expectation of Phi lies in an
uncertainty set around tau, the rule with the smallest worst-case log loss is h(y|x) proportional to
exp(Phi(x, y)'mu), where mu minimises

    -tau'mu + sum_i w_i log sum_y exp(Phi(x_i, y)'mu) + penalty(mu).

The penalty is the support function of the set, the norm of mu for a ball, used here in its squared form. Since tau is
a weighted mean of the samples' own Phi, the solution is then a combination of the samples and everything follows from
their Gram matrix: an iteration costs N^2 C, whatever the number of features.

Inside, every vector is held as its coefficients and as its image under the metric, so that inner products are sums:

* dual: coefficients of the samples, matrix = Gram matrix (N, N), image = Gram matrix times coefficients = scores;
* primal: the parameters themselves, matrix = samples (N, p), image = coefficients, scores = samples times parameters.

Coefficients sum to zero over the classes, so those of the last class follow from the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from imrc._compiled import njit
from imrc._types import Floats, Ints

_MEMORY = 8
_MANY = 16  # classes from which on a product by the library for matrices is faster than plain loops
_FAST = {"contract", "reassoc", "nsz"}  # `np.positive` copies: to set slices would double the time to compile


@njit(cache=True, nogil=True, fastmath=_FAST)
def _dot(a, b):
    total = 0.0
    for c in range(a.shape[0]):
        for i in range(a.shape[1]):
            total += a[c, i] * b[c, i]
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _add(out, factor, a):
    """Add factor * a to out."""
    for c in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[c, i] += factor * a[c, i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _times(matrix, first, a, out):
    """Write matrix @ a for each class, of columns from the first one on; plain loops are faster for few classes."""
    classes, columns = a.shape
    if classes >= _MANY:
        np.dot(a, matrix.T, out)  # `_fit_in_turn` gives no other columns
        return
    for i in range(matrix.shape[0]):
        row = matrix[i, first : first + columns]
        out[classes - 1, i] = 0.0
        for c in range(classes - 1):
            total = 0.0
            for j in range(columns):
                total += row[j] * a[c, j]
            out[c, i] = total
            out[classes - 1, i] -= total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _transposed_times(matrix, r, out):
    """Write matrix' @ r for each class."""
    classes = r.shape[0]
    if classes >= _MANY:
        np.dot(r, matrix, out)
        return
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
def _data_term(scores, weights, targets, residual):
    """Write w_i h(y|x_i) - target; return sum_i w_i log sum_y exp(score) - targets'scores."""
    classes, size = scores.shape
    total = 0.0
    for i in range(size):
        if classes == 2:  # one of the two powers is 1
            second, less = scores[1, i] > scores[0, i], np.exp(-abs(scores[1, i] - scores[0, i]))
            residual[0, i], residual[1, i] = (less, 1.0) if second else (1.0, less)
            largest, normaliser = scores[int(second), i], 1.0 + less
        else:
            largest, normaliser = scores[:, i].max(), 0.0
            for c in range(classes):
                residual[c, i] = np.exp(scores[c, i] - largest)
                normaliser += residual[c, i]
        for c in range(classes):
            residual[c, i] = weights[i] * residual[c, i] / normaliser - targets[c, i]
            total -= targets[c, i] * scores[c, i]
        total += weights[i] * (largest + np.log(normaliser))
    return total


@njit(cache=True, nogil=True)
def _sum(a, factor, b, out):
    """Write a + factor * b, each product rounded."""
    for c in range(a.shape[0]):
        for i in range(a.shape[1]):
            out[c, i] = a[c, i] + factor * b[c, i]


@njit(cache=True, nogil=True)
def _gradient(matrix, first, primal, residual, penalty, point, gradient):
    """Write the gradient and its image; return its norm."""
    classes = len(residual)
    own, image = gradient[:classes], gradient[classes:]
    if primal:
        _transposed_times(matrix, residual, own)
        _add(own, penalty, point[:classes])
        np.positive(own, image)
    else:
        np.positive(residual, own)
        _add(own, penalty, point[:classes])
        _times(matrix, first, own, image)
    return np.sqrt(max(_dot(own, image), 0.0))


@njit(cache=True, nogil=True)
def _fit(matrix, first, primal, targets, weights, penalty, start, max_iter, tolerance):
    """Limited-memory BFGS; return coefficients, value and iterations.

    matrix: Gram matrix, N columns from the first one on, or (N, p) samples if primal, intercept included. targets
    (C, N): tau = sum_i targets[c, i] x_i in block c. weights (N,) sum to 1. start: (C, N) or (C, p), summing to zero
    over classes. penalty / 2 |mu|^2. Vectors are (2 C, columns): coefficients, and their image below them.
    """
    classes = len(targets)
    shape = 2 * classes, start.shape[1]
    point, gradient, direction = np.empty(shape), np.empty(shape), np.empty(shape)
    new, new_gradient = np.empty(shape), np.empty(shape)
    scores, new_scores = np.empty(targets.shape), np.empty(targets.shape)
    along, residual = np.empty(targets.shape), np.empty(targets.shape)
    # Differences of iterates (s) and gradients (g).
    s, g = np.empty((_MEMORY, *shape)), np.empty((_MEMORY, *shape))
    curvature, alpha = np.ones(_MEMORY), np.zeros(_MEMORY)
    _times(matrix, first, start, scores)
    np.positive(start, point[:classes])
    np.positive(start if primal else scores, point[classes:])
    value = _data_term(scores, weights, targets, residual) + 0.5 * penalty * _dot(point[:classes], point[classes:])
    norm = _gradient(matrix, first, primal, residual, penalty, point, gradient)
    iteration = 0
    while iteration < max_iter and norm > tolerance:
        np.negative(gradient, direction)
        stored = min(iteration, _MEMORY)
        for back in range(stored):
            j = (iteration - 1 - back) % _MEMORY
            alpha[j] = _dot(s[j, classes:], direction[:classes]) / curvature[j]
            _add(direction, -alpha[j], g[j])
        scale = 1.0 / (penalty + 1.0)
        if stored > 0:
            j = (iteration - 1) % _MEMORY
            scale = curvature[j] / _dot(g[j, :classes], g[j, classes:])
        direction *= scale
        for back in range(stored - 1, -1, -1):
            j = (iteration - 1 - back) % _MEMORY
            beta = _dot(g[j, classes:], direction[:classes]) / curvature[j]
            _add(direction, alpha[j] - beta, s[j])
        slope = _dot(gradient[classes:], direction[:classes])
        if slope >= 0.0:  # rounding: fall back to the gradient
            np.negative(gradient, direction)
            slope = -norm * norm
        if primal:
            _times(matrix, first, direction[:classes], along)
        else:
            np.positive(direction[classes:], along)
        step, accepted, new_value = 1.0, False, value
        for _ in range(40):
            _sum(point, step, direction, new)
            _sum(scores, step, along, new_scores)
            new_value = _data_term(new_scores, weights, targets, residual)
            new_value += 0.5 * penalty * _dot(new[:classes], new[classes:])
            if new_value <= value + 1e-4 * step * slope:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            break
        norm = _gradient(matrix, first, primal, residual, penalty, new, new_gradient)
        j = iteration % _MEMORY
        _sum(new, -1.0, point, s[j])
        _sum(new_gradient, -1.0, gradient, g[j])
        curvature[j] = _dot(s[j, :classes], g[j, classes:])
        point, new, scores, new_scores, value = new, point, new_scores, scores, new_value
        gradient, new_gradient = new_gradient, gradient
        iteration += 1
        if curvature[j] <= 0.0 or _dot(g[j, :classes], g[j, classes:]) <= 0.0:
            break  # the last step is lost in rounding: nothing more to gain
    return point[:classes], value, iteration


@njit(cache=True, nogil=True)
def _fit_in_turn(X, gram, primal, times, moving, y, weights, penalties, starts, after, max_iter, within):
    """Fit one problem after the other (see `solve_in_turn`); return solutions, values and iterations."""
    (problems, classes, _), first_known = starts.shape, len(y) - len(gram)
    found, values, iterations = starts.copy(), np.empty(problems), np.empty(problems, dtype=np.int64)
    for p in range(problems):
        if after[p] >= 0 and primal[after[p]] == primal[p]:
            np.positive(found[after[p]], found[p])
        used = np.flatnonzero(weights[p])
        first, end = used[0], used[-1] + 1
        size = end - first
        time, w = times[first:end], weights[p, first:end].copy()
        low, high = (0, X.shape[1]) if primal[p] else (first - first_known, end - first_known)
        # Whole rows, in which columns are counted from the first one on: no copy.
        part, col = X[first:end] if primal[p] else gram[low:high], 0 if primal[p] else low
        if moving[p] and primal[p]:
            high *= 2
            part = np.hstack((part, part * time.reshape(size, 1)))
        elif moving[p]:
            part, col = part[:, low:high] * (1.0 + time.reshape(size, 1) * time), 0
        elif classes >= _MANY and not primal[p]:
            part, col = np.ascontiguousarray(part[:, low:high]), 0  # once, not for each product
        targets = np.zeros((classes, size))
        for i in range(size):
            targets[y[first + i], i] = w[i]
        start = found[p, :, low:high].copy()
        found[p] = 0.0
        mu, values[p], iterations[p] = _fit(part, col, primal[p], targets, w, penalties[p], start, max_iter, within[p])
        np.positive(mu, found[p, :, low:high])
    return found, values, iterations


def solve_in_turn(
    matrix: Floats,
    y: Ints,
    weights: Floats,
    penalties: Floats,
    starts: Floats,
    *,
    primal: ArrayLike,
    gram: Floats | None = None,
    tolerances: ArrayLike,
    after: ArrayLike = -1,
    times: Floats | None = None,
    moving: ArrayLike = False,
    max_iter: int = 200,
) -> tuple[Floats, Floats, Ints]:
    """Minimise weighted log loss plus ``penalty / 2 |mu|^2``, one problem after the other in one compiled call.

    The matrix has samples (N, D + 1), intercept included, if primal, which is faster with fewer features than
    samples, or else their Gram matrix; for problems of both kinds `gram` is that of the last samples. y (N,) are
    classes 0..C-1. Each problem has a row of `weights` (P, N), which sums to 1, samples before the first and after the
    last weight above 0 taking no part, and a start, (P, C, D + 1) or (P, C, rows of the Gram matrix), which sums to
    zero over the classes; where `after` is not -1 it begins from the solution of the problem of that number, if that
    is of the same kind. It stops when the norm of the gradient is below its tolerance. Coefficients of a `moving` one
    change linearly with the `times` (N,) of the samples: primal it has twice as many, and the others leave the second
    half alone. Returns coefficients like the starts, minimax log losses in nats, penalty included, and iterations.

    >>> X = np.array([[10.0, -1.0], [10.0, 1.0]])
    >>> weights, penalty, start = np.array([[0.5, 0.5]]), np.array([1.0]), np.zeros((1, 2, 2))
    >>> y = np.array([0, 1])
    >>> coefficients, _, _ = solve_in_turn(X, y, weights, penalty, start, primal=True, tolerances=1e-3)
    >>> float(coefficients[0, 1, 1].round(2))
    0.34
    """
    count = len(weights)
    found: tuple[Floats, Floats, Ints] = _fit_in_turn(
        np.ascontiguousarray(matrix),
        np.ascontiguousarray(matrix if gram is None else gram),
        np.full(count, primal),
        np.zeros(len(y)) if times is None else times,
        np.full(count, moving),
        y,
        weights,
        penalties,
        np.ascontiguousarray(starts),
        np.full(count, after),
        max_iter,
        np.full(count, tolerances, dtype=np.float64),
    )
    return found


@njit(cache=True)
def group_sums(X: Floats, groups: Ints, count: int) -> Floats:
    """Return the sums of the rows of X (N, D) by group, shape (count, D), added in the order of the rows."""
    out = np.zeros((count, X.shape[1]))
    for i in range(X.shape[0]):
        row = out[groups[i]]
        for c in range(X.shape[1]):
            row[c] += X[i, c]
    return out


@njit(cache=True)
def group_squares(X: Floats, groups: Ints, centres: Floats) -> Floats:
    """Return the sums of squared deviations of the rows of X (N, D) from the centre of their group, (groups, D)."""
    out = np.zeros_like(centres)
    for i in range(X.shape[0]):
        row, centre = out[groups[i]], centres[groups[i]]
        for c in range(X.shape[1]):
            row[c] += (X[i, c] - centre[c]) ** 2
    return out
