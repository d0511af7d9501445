"""Compiled kernels of the paper's accelerated subgradient method for problem (3).

In the numbering of the paper's code, with iteration l = 1..K, step a_l = (l + 1)^(-3/2), and momentum c_l = 0 for
l <= 3, else (l - 3) / l, all vectors having one block per class:

    y      = w + c_l (w - w_prev)                  extrapolate
    i, S   = the instance and label subset that attain the max term of (3) at y
    w_prev = w
    w      = y - a_l (lambda sign(y) - tau + Phi)  Phi is x_i / |S| in the blocks of the classes in S, else 0

The point with the smallest objective is the solution: the first candidate, one of the y, or the last w.

To find i and S the scores y'x come from a product with X (*direct*), or follow w and y (*incremental*): a step moves
those of w by -a_l (drift + Gram_i / |S|), drift = X (lambda sign(y) - tau) and Gram_i = X x_i, and the drift changes
by one column of X for every component of y whose sign changed, which are few. Scores and drift are computed from
scratch every `REFRESH` iterations so that rounding cannot grow to the size of a near tie.

Vectors over components are (C, pp): blocks are padded with zeros to a multiple of `PADDING`, so that loops have no
remainder. The compiler may reorder sums (`_fast`): on another processor results are the same to rounding only.
"""

from __future__ import annotations

import math

import numpy as np

from imrc._compiled import njit

PADDING = 16
REFRESH = 256
_strict = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
_fast = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})


@_fast
def _scores(X, y, out):
    """out[c, i] = x_i'y_c, two classes and two instances at a time; where their number is odd the last comes twice."""
    n_classes, n = len(y), len(X)
    for c in range(0, n_classes, 2):
        d = min(c + 1, n_classes - 1)
        for i in range(0, n, 2):
            k = min(i + 1, n - 1)
            ci, ck, di, dk = 0.0, 0.0, 0.0, 0.0
            for j in range(X.shape[1]):
                ci += X[i, j] * y[c, j]
                ck += X[k, j] * y[c, j]
                di += X[i, j] * y[d, j]
                dk += X[k, j] * y[d, j]
            out[c, i], out[c, k], out[d, i], out[d, k] = ci, ck, di, dk


@_strict
def _row_value(scores, i, value):
    """Return the max over label subsets of (sum of scores - 1) / size of one instance, from a value not above it.

    The maximum v solves sum over y of max(s_y - v, 0) = 1, and its subset is {y: s_y > v}. From below,
    v <- (sum of the scores above v - 1) / (their number) rises to it: that set only shrinks, so C rounds are enough.
    """
    for _ in range(len(scores)):
        total, count = -1.0, 0.0
        for c in range(len(scores)):
            above = scores[c, i] > value
            total += scores[c, i] if above else 0.0
            count += 1.0 if above else 0.0
        if not total > count * value:
            break
        value = total / count
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc", "nnan"})
def _largest(values):
    top = values[0]
    for i in range(len(values)):
        top = max(top, values[i])
    return top


@_strict
def _worst(scores, row, values):
    """Return the max term of (3) and its row, the first of equal ones; `row` is one that is likely to be it."""
    n_classes, n = scores.shape
    if n_classes == 2:
        for i in range(n):
            a, b = scores[0, i], scores[1, i]
            values[i] = max(max(a, b) - 1.0, 0.5 * (a + b - 1.0))
        worst = _largest(values)
        for i in range(n):
            if values[i] == worst:
                return worst, i
        return worst, 0
    worst = scores[0, row]
    for c in range(1, n_classes):
        worst = max(worst, scores[c, row])
    worst = _row_value(scores, row, worst - 1.0)
    # A row is worse if its sum of max(s_y - v, 0) is above 1. Rows that tie must be found too, hence a little less.
    tie = 1e-12 * (1.0 + abs(worst))
    floor = worst - tie
    values[:] = 0.0
    for c in range(n_classes):
        for i in range(n):
            values[i] += max(scores[c, i] - floor, 0.0)
    for i in range(n):
        # Where v rises such a sum falls by at least as much.
        if values[i] > 1.0 + (worst - tie - floor) and i != row:
            value = _row_value(scores, i, worst - tie)
            if value > worst or (value == worst and i < row):
                worst, row = value, i
    return worst, row


@_fast
def _slope(y, tau, lam, slope):
    """Write lambda sign(y) - tau; return lambda'|y| - tau'y."""
    linear = 0.0
    for c in range(y.shape[0]):
        for j in range(y.shape[1]):
            value = (math.copysign(lam[c, j], y[c, j]) if y[c, j] != 0.0 else 0.0) - tau[c, j]
            slope[c, j] = value
            linear += value * y[c, j]
    return linear


@_fast
def _slope_marking(y, tau, lam, before, slope, changed):
    """`_slope` that also marks where the slope is not what it was before."""
    linear = 0.0
    for c in range(y.shape[0]):
        for j in range(y.shape[1]):
            value = (math.copysign(lam[c, j], y[c, j]) if y[c, j] != 0.0 else 0.0) - tau[c, j]
            changed[c, j] = value != before[c, j]
            slope[c, j] = value
            linear += value * y[c, j]
    return linear


@_fast
def _move(direction, row, share, step, momentum, slope, y, w):
    """Update y and w along `slope` and the shares of direction[row], a row of X, or of the Gram matrix for scores."""
    for c in range(w.shape[0]):
        part = step * share[c]
        for j in range(w.shape[1]):
            new = y[c, j] - step * slope[c, j] - part * direction[row, j]
            y[c, j] = new + momentum * (new - w[c, j])
            w[c, j] = new


@_fast
def _follow(columns, eights, before, slope, where, drift):
    """Bring drift = X slope up to date, two changed components at a time; `eights` views eight marks as one number."""
    for c in range(drift.shape[0]):
        count = 0
        for word in range(eights.shape[1]):
            if eights[c, word] != 0:
                for j in range(8 * word, 8 * word + 8):
                    where[count] = j
                    count += 1 if slope[c, j] != before[c, j] else 0
        where[count] = len(columns) - 1  # a partner for the last one of an odd number, with a change of zero
        for k in range(0, count, 2):
            one, two = where[k], where[k + 1]
            by_one = slope[c, one] - before[c, one]
            by_two = slope[c, two] - before[c, two] if k + 1 < count else 0.0
            for i in range(drift.shape[1]):
                drift[c, i] += by_one * columns[one, i] + by_two * columns[two, i]


@_fast
def _gram_place(X, row, places, gram):
    """Return the place in `gram` of X x_row, computed when first needed; the last place is used again and again."""
    n = len(X)
    if places[row] < 0:
        place = min(places[n], len(gram) - 1)
        _scores(X, X[row : row + 1], gram[place : place + 1])
        if place < len(gram) - 1:
            places[row] = place
            places[n] += 1
        return place
    return places[row]


@_strict
def _copy(source, target):
    for c in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[c, j] = source[c, j]


@_strict
def run(X, columns, room, tau_in, lam_in, start, candidate, max_iter, best_out, last_out):
    """Run the method; writes best point and last iterate, returns their values.

    X (n, pp) has the intercept, padded; columns (p, n), or (0, 0) for direct scores; `room` for Gram rows; else (C, p).
    """
    (n_classes, p), (n, pp) = tau_in.shape, X.shape
    incremental = len(columns) > 0
    w, y, best = np.zeros((n_classes, pp)), np.zeros((n_classes, pp)), np.zeros((n_classes, pp))
    tau, lam = np.zeros((n_classes, pp)), np.zeros((n_classes, pp))
    slope, before = np.zeros((n_classes, pp)), np.zeros((n_classes, pp))
    at_w, at_y, drift = np.zeros((n_classes, n)), np.zeros((n_classes, n)), np.zeros((n_classes, n))
    gram = np.zeros((min(n, max_iter, max(1, room // n)) if incremental else 1, n))
    places = np.full(n + 1, -1)
    places[n] = 0
    changed, where = np.zeros((n_classes, pp), dtype=np.bool_), np.zeros(pp + 2, dtype=np.int64)
    eights = changed.view(np.int64)
    share, values = np.zeros(n_classes), np.zeros(n)
    _copy(tau_in, tau)
    _copy(lam_in, lam)
    _copy(candidate, best)
    _copy(start, w)
    _copy(start, y)
    _scores(X, best, at_y)
    worst, row = _worst(at_y, 0, values)
    best_value = 1.0 + _slope(best, tau, lam, slope) + worst
    linear = _slope(y, tau, lam, slope)
    for iteration in range(1, max_iter + 1):
        if not incremental or iteration % REFRESH == 1:
            _scores(X, y, at_y)
        if incremental and iteration % REFRESH == 1:
            _scores(X, w, at_w)
            _scores(X, slope, drift)
        worst, row = _worst(at_y, row, values)
        if 1.0 + linear + worst < best_value:
            best_value = 1.0 + linear + worst
            _copy(y, best)
        size = 0.0
        for c in range(n_classes):
            share[c] = 1.0 if at_y[c, row] > worst else 0.0
            size += share[c]
        for c in range(n_classes):
            share[c] /= max(size, 1.0)  # 0 only where scores are too large for floating-point numbers
        step = 1.0 / ((iteration + 1.0) * math.sqrt(iteration + 1.0))
        momentum = 0.0 if iteration < 3 else (iteration - 2.0) / (iteration + 1.0)  # for the y of the next iteration
        _move(X, row, share, step, momentum, slope, y, w)
        if incremental:
            _move(gram, _gram_place(X, row, places, gram), share, step, momentum, drift, at_y, at_w)
            before, slope = slope, before
            linear = _slope_marking(y, tau, lam, before, slope, changed)
            _follow(columns, eights, before, slope, where, drift)
        else:
            linear = _slope(y, tau, lam, slope)
    _scores(X, w, at_y)
    last_value = 1.0 + _slope(w, tau, lam, slope) + _worst(at_y, row, values)[0]
    if last_value < best_value:
        best_value = last_value
        _copy(w, best)
    _copy(best[:, :p], best_out)
    _copy(w[:, :p], last_out)
    return best_value, last_value
