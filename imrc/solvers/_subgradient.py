"""Compiled kernels of the paper's accelerated subgradient method for problem (3).

One iteration evaluates the objective at the extrapolated point y and takes a step from it. In the numbering of the
paper's code (iteration l = 1..K, step (l + 1)^(-3/2), momentum c_l = 0 for l <= 3, else (l - 3) / l):

    y = w + c_l (w - w_prev);   row, subset = arg max over instances and label subsets at y
    w_prev = w;                 w = y - step (lambda sign(y) - tau + Phi_row,subset)

The update of w and the next extrapolation are one sweep over the m components. The scores X y come either from a
product with X (*direct*) or from the scores before, the Gram matrix X X' and the columns of X whose sign(y) changed
(*incremental*); the second is cheaper from a few dozen instances on. Incremental scores are computed from scratch
every `REFRESH` iterations so that rounding errors cannot build up to the size of a near tie.

Storage: every vector of C blocks is padded to a multiple of eight per block, every vector over instances to a
multiple of sixteen; padding is zero and stays zero. All vectors of a problem live in one array (see `_layout`), all
of an instance set in another (see `prepare`).
"""

from __future__ import annotations

import numpy as np

from imrc.solvers._scores import all_scores, block_scores, padded
from imrc.solvers._simd import (
    aligned,
    entry,
    first_bit,
    fma,
    get,
    kernel,
    lane_sum,
    load,
    put,
    splat,
    store,
    unequal_bits,
    with_sign,
)
from imrc.solvers._worst import LOWEST, find_worst

REFRESH = 256
DIRECT, GRAM, LAZY = 0, 1, 2


@kernel
def _linear(work, y, tau, lam, slope, m):  # type: ignore[no-untyped-def]
    """Return lambda'|y| - tau'y; writes the slope lambda sign(y) - tau."""
    total = splat(0.0)
    for j in range(0, m, 8):
        value = load(work, y + j)
        rate = with_sign(load(work, lam + j), value) - load(work, tau + j)
        store(work, slope + j, rate)
        total = fma(rate, value, total)
    return lane_sum(total)


@kernel
def _sweep(data, work, row, w, y, y_next, tau, lam, flags, n_classes, pp, step, momentum):  # type: ignore[no-untyped-def]
    """Step from y, extrapolate; returns the linear part at the new y.

    The slope at y is computed again rather than kept: the sweep is bound by its stores, not by arithmetic.
    """
    even, odd = splat(0.0), splat(0.0)
    down, ahead = splat(-step), splat(momentum)
    for c in range(n_classes):
        share = splat(-step * get(work, flags + c))
        for k in range(0, pp, 8):
            j = c * pp + k
            t, size, here = load(work, tau + j), load(work, lam + j), load(work, y + j)
            moved = fma(down, with_sign(size, here) - t, here)
            new = fma(share, load(data, row * pp + k), moved)
            point = fma(ahead, new - load(work, w + j), new)
            store(work, w + j, new)
            store(work, y_next + j, point)
            even, odd = odd, fma(with_sign(size, point) - t, point, even)
    return lane_sum(even + odd)


@kernel
def _sweep_marking(data, work, row, w, y, y_next, tau, lam, flags, n_classes, pp, step, momentum, marks):  # type: ignore[no-untyped-def]
    """`_sweep` that also marks, one bit per component, where lambda sign(y) changes."""
    even, odd = splat(0.0), splat(0.0)
    down, ahead = splat(-step), splat(momentum)
    for c in range(n_classes):
        share = splat(-step * get(work, flags + c))
        first = c * (len(marks) // n_classes)
        for k in range(0, pp, 8):
            j = c * pp + k
            t, size, here = load(work, tau + j), load(work, lam + j), load(work, y + j)
            before = with_sign(size, here)
            moved = fma(down, before - t, here)
            new = fma(share, load(data, row * pp + k), moved)
            point = fma(ahead, new - load(work, w + j), new)
            store(work, w + j, new)
            store(work, y_next + j, point)
            after = with_sign(size, point)
            put(marks, first + (k >> 3), np.uint8(unequal_bits(before, after)))
            even, odd = odd, fma(after - t, point, even)
    return lane_sum(even + odd)


@kernel
def _change(work, y, y_next, lam, j):  # type: ignore[no-untyped-def]
    """Lambda sign(y) before minus after, without branches."""
    a, b = get(work, y + j), get(work, y_next + j)
    return get(work, lam + j) * ((a > 0.0) - (a < 0.0) - (b > 0.0) + (b < 0.0))


@kernel
def _apply_changes(data, columns, work, y, y_next, lam, drift, n_classes, pp, nn, words, flipped):  # type: ignore[no-untyped-def]
    """Bring drift = X (tau - lambda sign(y)) to the new y: one column of X per marked component."""
    per_class = len(words) // n_classes
    for c in range(n_classes):
        count = 0
        for word in range(per_class):
            bits = get(words, c * per_class + word)
            while bits != 0:
                put(flipped, count, (word << 6) + first_bit(bits))
                count += 1
                bits &= bits - 1
        target, at = drift + c * nn, c * pp
        k = 0
        while k + 4 <= count:
            j0, j1, j2, j3 = get(flipped, k), get(flipped, k + 1), get(flipped, k + 2), get(flipped, k + 3)
            d0, d1 = splat(_change(work, y, y_next, lam, at + j0)), splat(_change(work, y, y_next, lam, at + j1))
            d2, d3 = splat(_change(work, y, y_next, lam, at + j2)), splat(_change(work, y, y_next, lam, at + j3))
            p0, p1, p2, p3 = columns + j0 * nn, columns + j1 * nn, columns + j2 * nn, columns + j3 * nn
            for i in range(0, nn, 8):
                value = fma(d0, load(data, p0 + i), load(work, target + i))
                value = fma(d1, load(data, p1 + i), value)
                value = fma(d2, load(data, p2 + i), value)
                store(work, target + i, fma(d3, load(data, p3 + i), value))
            k += 4
        while k < count:
            j0 = get(flipped, k)
            d0, p0 = splat(_change(work, y, y_next, lam, at + j0)), columns + j0 * nn
            for i in range(0, nn, 8):
                store(work, target + i, fma(d0, load(data, p0 + i), load(work, target + i)))
            k += 1


@kernel
def _move_scores(gram, at_gram, work, at_w, at_y, drift, flags, n_classes, nn, step, momentum):  # type: ignore[no-untyped-def]
    """Scores of w and y after `_sweep`, from those before it."""
    up, ahead = splat(step), splat(momentum)
    for c in range(n_classes):
        share = splat(-step * get(work, flags + c))
        for i in range(c * nn, (c + 1) * nn, 8):
            new = fma(up, load(work, drift + i), load(work, at_y + i))
            new = fma(share, load(gram, at_gram + i - c * nn), new)
            store(work, at_y + i, fma(ahead, new - load(work, at_w + i), new))
            store(work, at_w + i, new)


@kernel
def _gram_row(data, columns, p, pp, nn, row, gram, slots):  # type: ignore[no-untyped-def]
    """Offset of row `row` of X X' in `gram`, computed when first needed; the last place is used again and again."""
    places = len(gram) // nn
    count = slots[len(slots) - 1]
    place = slots[row]
    if place < 0:
        place = min(count, places - 1)
        block_scores(data, columns, p, nn, data, row * pp, gram, place * nn)
        if count < places - 1:
            slots[row] = place
            slots[len(slots) - 1] = count + 1
    return place * nn


@kernel
def _refresh(data, columns, work, w, y, slope, at_w, at_y, drift, n_classes, p, pp, nn):  # type: ignore[no-untyped-def]
    """Compute the scores of w and y and the drift from scratch."""
    all_scores(data, columns, p, nn, pp, n_classes, work, slope, work, drift)
    for i in range(0, n_classes * nn, 8):
        store(work, drift + i, splat(0.0) - load(work, drift + i))
    all_scores(data, columns, p, nn, pp, n_classes, work, w, work, at_w)
    all_scores(data, columns, p, nn, pp, n_classes, work, y, work, at_y)


@kernel
def _copy_in(source, work, to, pp):  # type: ignore[no-untyped-def]
    for c in range(source.shape[0]):
        for j in range(source.shape[1]):
            work[to + c * pp + j] = source[c, j]


@kernel
def _copy_out(work, at, pp, target):  # type: ignore[no-untyped-def]
    for c in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[c, j] = work[at + c * pp + j]


@kernel
def _move(work, at, to, m):  # type: ignore[no-untyped-def]
    for j in range(0, m, 8):
        store(work, to + j, load(work, at + j))


@entry
def run(data, n, mode, room, tau, lam, start, candidate, max_iter, best_out, last_out):  # type: ignore[no-untyped-def]
    """Run the method on a prepared instance set; writes best point and last iterate, returns their values.

    data from `imrc.solvers._scores.prepare`, with the Gram matrix if mode is GRAM; `room` for numbers of Gram rows
    if mode is LAZY; the vectors and outputs are (C, p).
    Round 0 evaluates the candidate and round max_iter + 1 the last iterate, so that every part is compiled once.
    """
    n_classes, p = tau.shape
    nn, pp = padded(n, p)
    m = n_classes * pp
    columns, first_gram = n * pp, n * pp + pp * nn
    gram = aligned(min(n, max_iter, max(2, room // nn)) * nn) if mode == LAZY else data
    slots = np.full(n + 1 if mode == LAZY else 1, -1)
    slots[-1] = 0
    work = aligned(7 * m + (3 * n_classes + 2) * nn + (n_classes + 7) // 8 * 8)
    w, y, y_next, t, size, best, slope = 0 * m, m, 2 * m, 3 * m, 4 * m, 5 * m, 6 * m
    at_y = 7 * m
    at_w, drift, values = at_y + n_classes * nn, at_y + 2 * n_classes * nn, at_y + 3 * n_classes * nn
    pad, flags = values + nn, values + 2 * nn
    words = np.zeros(n_classes * ((pp + 63) // 64), dtype=np.int64)
    marks = words.view(np.uint8)
    flipped = np.zeros(pp, dtype=np.int64)
    for i in range(n, nn):
        work[pad + i] = LOWEST
    _copy_in(tau, work, t, pp)
    _copy_in(lam, work, size, pp)
    _copy_in(candidate, work, y, pp)
    row = 0 * n  # not a literal, which would be a type of its own
    linear, best_value, value = 0.0, np.inf, np.inf
    pending = False
    for iteration in range(max_iter + 2):
        from_scratch = iteration == 0 or iteration > max_iter
        refresh = mode != DIRECT and iteration % REFRESH == 1
        if from_scratch or refresh:
            linear = _linear(work, y, t, size, slope, m)
        if from_scratch or mode == DIRECT:
            all_scores(data, columns, p, nn, pp, n_classes, work, y, work, at_y)
        elif refresh:
            _refresh(data, columns, work, w, y, slope, at_w, at_y, drift, n_classes, p, pp, nn)
        most, row = find_worst(work, at_y, values, pad, nn, n_classes, flags, row)
        value = 1.0 + linear + most
        if value < best_value:
            best_value = value
            pending = True
        elif pending:
            # The point before this one was the best so far and is still in the other buffer.
            _move(work, y_next, best, m)
            pending = False
        if iteration > max_iter:
            break
        if iteration == 0:
            _move(work, y, best, m)
            pending = False
            _copy_in(start, work, w, pp)
            _copy_in(start, work, y, pp)
            linear = _linear(work, y, t, size, slope, m)
            continue
        step = 1.0 / ((iteration + 1.0) * np.sqrt(iteration + 1.0))
        momentum = 0.0 if iteration < 3 else (iteration - 2.0) / (iteration + 1.0)
        if mode == DIRECT:
            linear = _sweep(data, work, row, w, y, y_next, t, size, flags, n_classes, pp, step, momentum)
        else:
            linear = _sweep_marking(data, work, row, w, y, y_next, t, size, flags, n_classes, pp, step, momentum, marks)
            at_gram = first_gram + row * nn
            if mode == LAZY:
                at_gram = _gram_row(data, columns, p, pp, nn, row, gram, slots)
            _move_scores(gram, at_gram, work, at_w, at_y, drift, flags, n_classes, nn, step, momentum)
            _apply_changes(data, columns, work, y, y_next, size, drift, n_classes, pp, nn, words, flipped)
        y, y_next = y_next, y
        if iteration == max_iter:
            _move(work, w, y, m)
    if pending:
        _move(work, y, best, m)
    _copy_out(work, best, pp, best_out)
    _copy_out(work, w, pp, last_out)
    return best_value, value
