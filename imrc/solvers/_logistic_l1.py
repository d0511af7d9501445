"""Compiled kernel of the rule for log loss with an L1 penalty, see `imrc.solvers.log_loss`.

Proximal Newton with coordinate descent inside: the data term is replaced by its quadratic model at the current
point, the model plus penalty is minimised by coordinate descent over the components that can move, and a line search
makes sure that the objective falls. Components outside the working set cost one product with the residuals per outer
iteration; most of them are zero and stay so.

Adding a constant to a feature's coefficients of all classes changes no label's probability, only the penalty, so the
classes are shifted together to the median weighted by lambda. Coordinate descent alone would crawl along that
direction.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FAST = {"contract", "reassoc", "nsz"}

_SWEEPS = 100


@njit(cache=True, nogil=True)
def _probabilities(scores, weights, targets, h, residual):  # type: ignore[no-untyped-def]
    """Write h(y|x_i) and w_i h(y|x_i) - target; return sum_i w_i log sum_y exp(score) - targets'scores."""
    classes, size = scores.shape
    total = 0.0
    for i in range(size):
        largest = scores[0, i]
        for c in range(1, classes):
            largest = max(largest, scores[c, i])
        normaliser = 0.0
        for c in range(classes):
            h[c, i] = np.exp(scores[c, i] - largest)
            normaliser += h[c, i]
        for c in range(classes):
            h[c, i] /= normaliser
            residual[c, i] = weights[i] * h[c, i] - targets[c, i]
            total -= targets[c, i] * scores[c, i]
        total += weights[i] * (largest + np.log(normaliser))
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _dot(row, values):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(row.shape[0]):
        total += row[i] * values[i]
    return total


@njit(cache=True, nogil=True)
def _gradient(columns, residual, gradient):  # type: ignore[no-untyped-def]
    """Write the gradient of the data term; residuals sum to zero over the classes."""
    classes = residual.shape[0]
    for j in range(columns.shape[0]):
        rest = 0.0
        for c in range(classes - 1):
            gradient[c, j] = _dot(columns[j], residual[c])
            rest -= gradient[c, j]
        gradient[classes - 1, j] = rest


@njit(cache=True, nogil=True)
def _entropy_bound(gradient, lam, h, weights, targets):  # type: ignore[no-untyped-def]
    """Return the entropy of a mixture of h and the labels that lies inside the uncertainty set.

    The labels meet |E Phi - tau| <= lambda with zero on the left, h misses it by the gradient; the share of h that
    brings every component to its lambda makes the mixture feasible for the dual problem, the largest entropy.
    """
    classes, p = gradient.shape
    share = 1.0
    for c in range(classes):
        for j in range(p):
            if abs(gradient[c, j]) > lam[c, j] + 1e-15:  # rounding, where a feature is zero throughout
                share = min(share, lam[c, j] / abs(gradient[c, j]))
    total = 0.0
    for c in range(classes):
        for i in range(weights.shape[0]):
            if weights[i] > 0.0:
                q = share * h[c, i] + (1.0 - share) * targets[c, i] / weights[i]
                if q > 0.0:
                    total -= weights[i] * q * np.log(q)
    return total


@njit(cache=True, nogil=True)
def _penalty(a, lam):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[c, j] != 0.0:
                total += lam[c, j] * abs(a[c, j])
    return total


@njit(cache=True, nogil=True)
def _recentre(a, step, lam):  # type: ignore[no-untyped-def]
    """Shift the classes of each feature of a + step to where the penalty is least, by changing the step."""
    classes = a.shape[0]
    for j in range(a.shape[1]):
        half, moved = 0.0, False
        for c in range(classes):
            half += 0.5 * lam[c, j]
            moved = moved or a[c, j] + step[c, j] != 0.0
        if not moved:
            continue
        middle, found = 0.0, False
        for c in range(classes):  # the median is one of the values: few classes, so no sorting
            value, up_to, below = a[c, j] + step[c, j], 0.0, 0.0
            for other in range(classes):
                there = a[other, j] + step[other, j]
                if there <= value:
                    up_to += lam[other, j]
                if there < value:
                    below += lam[other, j]
            if below <= half <= up_to and (not found or abs(value) < abs(middle)):
                middle, found = value, True
        if found and middle != 0.0:
            for c in range(classes):
                # Exactly zero where the median itself is.
                step[c, j] = -a[c, j] if a[c, j] + step[c, j] == middle else step[c, j] - middle


@njit(cache=True, nogil=True, fastmath=_FAST)
def _model_slope(row, wh, d, mean):  # type: ignore[no-untyped-def]
    """Return sum_i x_i w_i h_i (d_i - mean_i): one component of the Hessian times the step."""
    total = 0.0
    for i in range(row.shape[0]):
        total += row[i] * wh[i] * (d[i] - mean[i])
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _curvature(row, wh, h):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(row.shape[0]):
        total += row[i] * row[i] * wh[i] * (1.0 - h[i])
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _move(row, h, delta, d, mean):  # type: ignore[no-untyped-def]
    for i in range(row.shape[0]):
        change = delta * row[i]
        d[i] += change
        mean[i] += h[i] * change


@njit(cache=True, nogil=True)
def _newton_step(columns, a, lam, gradient, wh, h, active, accuracy, step, d, mean):  # type: ignore[no-untyped-def]
    """Minimise the quadratic model plus penalty over the active components.

    Writes the step and the change of the scores, the latter up to a constant common to the classes of a sample.
    """
    count = active.shape[0]
    curvatures = np.empty(count)
    for index in range(count):
        c, j = active[index]
        curvatures[index] = _curvature(columns[j], wh[c], h[c]) + 1e-12
    step[:], d[:], mean[:] = 0.0, 0.0, 0.0
    everything = True
    for _ in range(_SWEEPS):
        largest = 0.0
        for index in range(count):
            c, j = active[index]
            here = a[c, j] + step[c, j]
            if here == 0.0 and not everything:
                continue
            slope = gradient[c, j] + _model_slope(columns[j], wh[c], d[c], mean)
            target = here - slope / curvatures[index]
            new = max(abs(target) - lam[c, j] / curvatures[index], 0.0) * np.sign(target)
            delta = new - here
            if delta != 0.0:
                # Exactly zero again, not up to rounding.
                step[c, j] = -a[c, j] if new == 0.0 else step[c, j] + delta
                _move(columns[j], h[c], delta, d[c], mean)
                largest = max(largest, delta * delta * curvatures[index])
        if a.shape[0] > 2:
            _recentre(a, step, lam)
        if largest < accuracy:
            if everything:
                break
            everything = True  # what is not zero has settled: look at the rest again
        else:
            everything = False


@njit(cache=True, nogil=True)
def _working_set(a, gradient, lam, active):  # type: ignore[no-untyped-def]
    """Write the components that are not zero or want to move; return how many.

    Of two classes the one with the smaller lambda is enough; of more, all are needed to move together.
    """
    classes, p = a.shape
    count = 0
    for j in range(p):
        wanted, only = 0, -1
        if classes == 2:
            only = 0 if lam[0, j] < lam[1, j] else 1
        for c in range(classes):
            if a[c, j] != 0.0 or (abs(gradient[c, j]) > lam[c, j] and (only < 0 or c == only)):
                active[count + wanted, 0], active[count + wanted, 1] = c, j
                wanted += 1
        if wanted > 0 and classes > 2:
            for c in range(classes):
                active[count + c, 0], active[count + c, 1] = c, j
            wanted = classes
        count += wanted
    return count


@njit(cache=True, nogil=True)
def fit_log_loss_l1(columns, targets, weights, lam, start, max_iter, tolerance):  # type: ignore[no-untyped-def]
    """Proximal Newton method.

    Parameters
    ----------
    columns : (p, N) samples, one row per feature, intercept included.
    targets : (C, N) w_i where y_i is the class, else 0: tau = sum_i targets[c, i] x_i in block c.
    weights : (N,) weights of the samples in the data term, summing to 1.
    lam : (C, p) penalties, positive wherever the feature is not zero throughout.
    start : (C, p) parameters to start from.
    max_iter : int.
    tolerance : float, stop when the duality gap is below it.

    Returns
    -------
    Parameters, value, iterations, duality gap.
    """
    classes, size = targets.shape
    p = columns.shape[0]
    a, step = start.copy(), np.zeros((classes, p))
    _recentre(a, step, lam)
    a += step
    scores = np.zeros((classes, size))
    for c in range(classes):
        for j in range(p):
            if a[c, j] != 0.0:
                scores[c] += a[c, j] * columns[j]
    h, residual, wh = np.empty((classes, size)), np.empty((classes, size)), np.empty((classes, size))
    d, mean, new_scores = np.empty((classes, size)), np.empty(size), np.empty((classes, size))
    gradient, active = np.empty((classes, p)), np.empty((classes * p, 2), dtype=np.int64)
    penalty = _penalty(a, lam)
    value = _probabilities(scores, weights, targets, h, residual) + penalty
    gap, bound, iteration = np.inf, 0.0, 0  # entropies are not negative
    while True:
        _gradient(columns, residual, gradient)
        bound = max(bound, _entropy_bound(gradient, lam, h, weights, targets))
        gap = value - bound
        if gap <= tolerance or iteration >= max_iter:
            break
        count = _working_set(a, gradient, lam, active)
        for c in range(classes):
            for i in range(size):
                wh[c, i] = weights[i] * h[c, i]
        # The bound misses by the root of what the model is off its minimum, so the latter must fall with gap^2.
        accuracy = min(1e-4 * gap, 1e-2 * gap * gap)
        _newton_step(columns, a, lam, gradient, wh, h, active[:count], accuracy, step, d, mean)
        slope = 0.0
        for index in range(count):
            c, j = active[index]
            slope += gradient[c, j] * step[c, j] + lam[c, j] * (abs(a[c, j] + step[c, j]) - abs(a[c, j]))
        length, accepted, new_value, new_penalty = 1.0, False, value, penalty
        for _ in range(40):
            new_penalty = penalty
            for index in range(count):
                c, j = active[index]
                new_penalty += lam[c, j] * (abs(a[c, j] + length * step[c, j]) - abs(a[c, j]))
            new_scores[:] = scores + length * d
            new_value = _probabilities(new_scores, weights, targets, h, residual) + new_penalty
            if new_value <= value + 1e-4 * length * min(slope, 0.0):
                accepted = True
                break
            length *= 0.5
        if not accepted:
            break  # the last step is lost in rounding: nothing more to gain
        for index in range(count):
            c, j = active[index]
            a[c, j] = 0.0 if length == 1.0 and step[c, j] == -a[c, j] else a[c, j] + length * step[c, j]
        scores[:], value, penalty = new_scores, new_value, new_penalty
        iteration += 1
    return a, value, iteration, gap
