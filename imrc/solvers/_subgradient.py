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
from numba import njit

from imrc.solvers._simd import (
    aligned,
    equal_bits,
    first_bit,
    fma,
    get,
    lane_max,
    lane_sum,
    load,
    maximum,
    minimum,
    put,
    splat,
    store,
    unequal_bits,
    with_sign,
)

REFRESH = 256
NETWORK_CLASSES = 16
LAZY_NUMBERS = 8_000_000
DIRECT, GRAM, LAZY = 0, 1, 2
_LOWEST = -1e300


@njit(cache=True, nogil=True)
def padded(n, p):  # type: ignore[no-untyped-def]
    """Padded numbers of instances and components per class."""
    return (n + 15) // 16 * 16, (p + 7) // 8 * 8


@njit(cache=True, nogil=True)
def prepare(X1, with_gram):  # type: ignore[no-untyped-def]
    """Lay out one instance set for the kernels: rows of X1, their transpose, X1 X1' if wanted.

    X1 is (n, p) with the intercept column. Sizes: n pp + pp nn (+ n nn).
    """
    n, p = X1.shape
    nn, pp = padded(n, p)
    data = aligned(n * pp + pp * nn + (n * nn if with_gram else 0))
    columns = n * pp
    for i in range(n):
        for j in range(p):
            value = X1[i, j]
            data[i * pp + j] = value
            data[columns + j * nn + i] = value
    if with_gram:
        gram = columns + pp * nn
        for i in range(0, n - 1, 2):
            _scores_pair(data, columns, p, nn, data, i * pp, pp, data, gram + i * nn)
        if n % 2:
            _scores(data, columns, p, nn, data, (n - 1) * pp, data, gram + (n - 1) * nn)
    return data


@njit(cache=True, nogil=True)
def _scores(data, columns, p, nn, vector, at, out, to):  # type: ignore[no-untyped-def]
    """Write X v for one block v = vector[at : at + p]."""
    for block in range(0, nn, 16):
        a0, a1, b0, b1 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        position = columns + block
        for j in range(0, p - 1, 2):
            first, second = splat(get(vector, at + j)), splat(get(vector, at + j + 1))
            a0 = fma(load(data, position), first, a0)
            a1 = fma(load(data, position + 8), first, a1)
            b0 = fma(load(data, position + nn), second, b0)
            b1 = fma(load(data, position + nn + 8), second, b1)
            position += 2 * nn
        if p % 2:
            first = splat(get(vector, at + p - 1))
            a0 = fma(load(data, position), first, a0)
            a1 = fma(load(data, position + 8), first, a1)
        store(out, to + block, a0 + b0)
        store(out, to + block + 8, a1 + b1)


@njit(cache=True, nogil=True)
def _scores_pair(data, columns, p, nn, vector, at, step, out, to):  # type: ignore[no-untyped-def]
    """Write X v for two blocks at once, `step` elements apart: each element of X is read once."""
    for block in range(0, nn, 16):
        a0, a1, b0, b1 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        c0, c1, d0, d1 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        position = columns + block
        for j in range(0, p - 1, 2):
            x0, x1 = load(data, position), load(data, position + 8)
            first, second = splat(get(vector, at + j)), splat(get(vector, at + step + j))
            a0 = fma(x0, first, a0)
            a1 = fma(x1, first, a1)
            b0 = fma(x0, second, b0)
            b1 = fma(x1, second, b1)
            x0, x1 = load(data, position + nn), load(data, position + nn + 8)
            first, second = splat(get(vector, at + j + 1)), splat(get(vector, at + step + j + 1))
            c0 = fma(x0, first, c0)
            c1 = fma(x1, first, c1)
            d0 = fma(x0, second, d0)
            d1 = fma(x1, second, d1)
            position += 2 * nn
        if p % 2:
            x0, x1 = load(data, position), load(data, position + 8)
            first, second = splat(get(vector, at + p - 1)), splat(get(vector, at + step + p - 1))
            a0 = fma(x0, first, a0)
            a1 = fma(x1, first, a1)
            b0 = fma(x0, second, b0)
            b1 = fma(x1, second, b1)
        store(out, to + block, a0 + c0)
        store(out, to + block + 8, a1 + c1)
        store(out, to + nn + block, b0 + d0)
        store(out, to + nn + block + 8, b1 + d1)


@njit(cache=True, nogil=True)
def _all_scores(data, columns, p, nn, pp, n_classes, vector, at, out, to):  # type: ignore[no-untyped-def]
    for c in range(0, n_classes - 1, 2):
        _scores_pair(data, columns, p, nn, vector, at + c * pp, pp, out, to + c * nn)
    if n_classes % 2:
        c = n_classes - 1
        _scores(data, columns, p, nn, vector, at + c * pp, out, to + c * nn)


@njit(cache=True, nogil=True)
def _first_equal(work, values, nn, best):  # type: ignore[no-untyped-def]
    """Index of the first entry equal to `best`."""
    wanted = splat(best)
    for i in range(0, nn, 8):
        bits = equal_bits(load(work, values + i), wanted)
        if bits != 0:
            return i + first_bit(bits)
    return 0  # reached only if scores overflowed to nan


@njit(cache=True, nogil=True)
def _worst_two(work, scores, values, pad, nn, flags):  # type: ignore[no-untyped-def]
    """`_worst` for two classes."""
    one, half, top = splat(1.0), splat(0.5), splat(_LOWEST)
    for i in range(0, nn, 8):
        s0, s1 = load(work, scores + i), load(work, scores + nn + i)
        value = maximum(maximum(s0, s1) - one, (s0 + s1 - one) * half) + load(work, pad + i)
        store(work, values + i, value)
        top = maximum(top, value)
    row = _first_equal(work, values, nn, lane_max(top))
    s0, s1 = get(work, scores + row), get(work, scores + nn + row)
    alone = max(s0, s1) - 1.0
    both = (s0 + s1 - 1.0) * 0.5
    if both > alone:
        put(work, flags, 0.5)
        put(work, flags + 1, 0.5)
        return both, row
    put(work, flags, 1.0 if s0 >= s1 else 0.0)
    put(work, flags + 1, 0.0 if s0 >= s1 else 1.0)
    return alone, row


@njit(cache=True, nogil=True)
def _sift(work, heap, scores, nn, start, size):  # type: ignore[no-untyped-def]
    """Restore the heap below `start`: larger scores first, equal ones by class number."""
    root = start
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        a, b = heap[child], heap[root]
        if child + 1 < size:
            other = heap[child + 1]
            left, right = get(work, scores + a * nn), get(work, scores + other * nn)
            if right > left or (right == left and other < a):
                child += 1
                a = other
        left, right = get(work, scores + a * nn), get(work, scores + b * nn)
        if left < right or (left == right and a > b):
            return
        heap[root], heap[child] = a, b
        root = child


@njit(cache=True, nogil=True)
def _best_subset(work, scores, nn, n_classes, heap):  # type: ignore[no-untyped-def]
    """Best subset of one instance: value and size; its classes are the last `size` entries of `heap`.

    The best subset of size r holds the r largest scores, and its value grows with r exactly as long as the next
    score is above it. Classes leave a heap in order of their scores until then: C log C, usually less.
    """
    for c in range(n_classes):
        heap[c] = c
    for start in range(n_classes // 2 - 1, -1, -1):
        _sift(work, heap, scores, nn, start, n_classes)
    total = get(work, scores + heap[0] * nn) - 1.0
    value = total
    size = 1
    while size < n_classes:
        last = n_classes - size
        heap[0], heap[last] = heap[last], heap[0]
        _sift(work, heap, scores, nn, 0, last)
        total += get(work, scores + heap[0] * nn)
        if total / (size + 1) <= value:
            return value, size, True
        size += 1
        value = total / size
    return value, size, False


@njit(cache=True, nogil=True)
def _row_values_sorted(work, scores, values, pad, sorted_, nn, n_classes):  # type: ignore[no-untyped-def]
    """Worst case of each row, eight rows at a time: insertion network, prefix sums."""
    for i in range(0, nn, 8):
        store(work, sorted_, load(work, scores + i))
        for c in range(1, n_classes):
            value = load(work, scores + c * nn + i)
            for k in range(c):
                kept = load(work, sorted_ + 8 * k)
                store(work, sorted_ + 8 * k, maximum(kept, value))
                value = minimum(kept, value)
            store(work, sorted_ + 8 * c, value)
        total = load(work, sorted_) - splat(1.0)
        best = total
        for c in range(1, n_classes):
            total = total + load(work, sorted_ + 8 * c)
            best = maximum(best, total * splat(1.0 / (c + 1.0)))
        store(work, values + i, best + load(work, pad + i))


@njit(cache=True, nogil=True)
def _row_values_pruned(work, scores, values, pad, nn, n, n_classes, heap, probe):  # type: ignore[no-untyped-def]
    """Worst case of the rows that can be the worst; -inf for the others. `probe` is a row likely to be it.

    A subset of size r has at most the value (largest score) - 1 / r, so rows whose largest score minus 1 / C stays
    below the value of `probe` (by more than rounding) are left out without sorting.
    """
    for i in range(0, nn, 8):
        top = load(work, scores + i)
        for c in range(1, n_classes):
            top = maximum(top, load(work, scores + c * nn + i))
        store(work, values + i, top + load(work, pad + i))
    best, _, _ = _best_subset(work, scores + probe, nn, n_classes, heap)
    floor = best + 1.0 / n_classes - 1e-12 * (1.0 + abs(best))
    for i in range(n):
        if get(work, values + i) > floor:
            value, _, _ = _best_subset(work, scores + i, nn, n_classes, heap)
            put(work, values + i, value)
            floor = max(floor, value + 1.0 / n_classes - 1e-12 * (1.0 + abs(value)))
        else:
            put(work, values + i, _LOWEST)


@njit(cache=True, nogil=True)
def _worst_many(work, scores, values, pad, sorted_, nn, n, n_classes, flags, heap, probe):  # type: ignore[no-untyped-def]
    """Worst case for any number of classes."""
    if n_classes <= NETWORK_CLASSES:
        _row_values_sorted(work, scores, values, pad, sorted_, nn, n_classes)
    else:
        _row_values_pruned(work, scores, values, pad, nn, n, n_classes, heap, probe)
    top = load(work, values)
    for i in range(8, nn, 8):
        top = maximum(top, load(work, values + i))
    row = _first_equal(work, values, nn, lane_max(top))
    best, size, rest = _best_subset(work, scores + row, nn, n_classes, heap)
    for c in range(n_classes):
        put(work, flags + c, 0.0 if rest else 1.0 / size)
    if rest:
        # The classes taken were moved to the end of the heap one by one.
        for r in range(size):
            put(work, flags + heap[n_classes - 1 - r], 1.0 / size)
    return best, row


@njit(cache=True, nogil=True)
def _worst(work, scores, values, pad, sorted_, nn, n, n_classes, flags, heap, probe):  # type: ignore[no-untyped-def]
    """Largest (sum over a label subset - 1) / size and its row; `flags` gets the share of each class.

    Ties go to the first row, then to the smaller subset, then to the smaller class numbers.
    """
    if n_classes == 2:
        return _worst_two(work, scores, values, pad, nn, flags)
    return _worst_many(work, scores, values, pad, sorted_, nn, n, n_classes, flags, heap, probe)


@njit(cache=True, nogil=True)
def _linear(work, y, tau, lam, slope, m):  # type: ignore[no-untyped-def]
    """Return lambda'|y| - tau'y; writes the slope lambda sign(y) - tau."""
    total = splat(0.0)
    for j in range(0, m, 8):
        value = load(work, y + j)
        rate = with_sign(load(work, lam + j), value) - load(work, tau + j)
        store(work, slope + j, rate)
        total = fma(rate, value, total)
    return lane_sum(total)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _change(work, y, y_next, lam, j):  # type: ignore[no-untyped-def]
    """lambda sign(y) before minus after, without branches."""
    a, b = get(work, y + j), get(work, y_next + j)
    return get(work, lam + j) * ((a > 0.0) - (a < 0.0) - (b > 0.0) + (b < 0.0))


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _gram_row(data, columns, p, pp, nn, row, gram, slots):  # type: ignore[no-untyped-def]
    """Offset of row `row` of X X' in `gram`, computed when first needed; the last place is used again and again."""
    places = len(gram) // nn
    count = slots[len(slots) - 1]
    place = slots[row]
    if place < 0:
        place = min(count, places - 1)
        _scores(data, columns, p, nn, data, row * pp, gram, place * nn)
        if count < places - 1:
            slots[row] = place
            slots[len(slots) - 1] = count + 1
    return place * nn


@njit(cache=True, nogil=True)
def _refresh(data, columns, work, w, y, slope, at_w, at_y, drift, n_classes, p, pp, nn):  # type: ignore[no-untyped-def]
    """Compute the scores of w and y and the drift from scratch."""
    _all_scores(data, columns, p, nn, pp, n_classes, work, slope, work, drift)
    for i in range(0, n_classes * nn, 8):
        store(work, drift + i, splat(0.0) - load(work, drift + i))
    _all_scores(data, columns, p, nn, pp, n_classes, work, w, work, at_w)
    _all_scores(data, columns, p, nn, pp, n_classes, work, y, work, at_y)


@njit(cache=True, nogil=True)
def _copy_in(source, work, to, pp):  # type: ignore[no-untyped-def]
    for c in range(source.shape[0]):
        for j in range(source.shape[1]):
            work[to + c * pp + j] = source[c, j]


@njit(cache=True, nogil=True)
def _copy_out(work, at, pp, target):  # type: ignore[no-untyped-def]
    for c in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[c, j] = work[at + c * pp + j]


@njit(cache=True, nogil=True)
def _move(work, at, to, m):  # type: ignore[no-untyped-def]
    for j in range(0, m, 8):
        store(work, to + j, load(work, at + j))


@njit(cache=True, nogil=True)
def run(data, n, mode, tau, lam, start, candidate, max_iter, best_out, last_out):  # type: ignore[no-untyped-def]
    """Run the method on a prepared instance set; writes best point and last iterate, returns their values.

    data from `prepare`, with the Gram matrix if mode is GRAM; tau, lam, start, candidate, best_out, last_out (C, p).
    """
    incremental = mode != DIRECT
    n_classes, p = tau.shape
    nn, pp = padded(n, p)
    m = n_classes * pp
    columns, first_gram = n * pp, n * pp + pp * nn
    if mode == LAZY:
        gram = aligned(min(n, max_iter, max(2, LAZY_NUMBERS // nn)) * nn)
    else:
        gram = data
    slots = np.full(n + 1 if mode == LAZY else 1, -1)
    slots[-1] = 0
    work = aligned(7 * m + (3 * n_classes + 2) * nn + (n_classes + 7) // 8 * 8 + 8 * n_classes)
    w, y, y_next, t, size, best, slope = 0, m, 2 * m, 3 * m, 4 * m, 5 * m, 6 * m
    at_y = 7 * m
    at_w, drift = at_y + n_classes * nn, at_y + 2 * n_classes * nn
    values = at_y + 3 * n_classes * nn
    pad = values + nn
    flags = pad + nn
    sorted_ = flags + (n_classes + 7) // 8 * 8
    heap = np.zeros(n_classes, dtype=np.int64)
    words = np.zeros(n_classes * ((pp + 63) // 64), dtype=np.int64)
    marks = words.view(np.uint8)
    flipped = np.zeros(pp, dtype=np.int64)
    for i in range(n, nn):
        work[pad + i] = _LOWEST
    _copy_in(tau, work, t, pp)
    _copy_in(lam, work, size, pp)
    _copy_in(candidate, work, best, pp)
    _all_scores(data, columns, p, nn, pp, n_classes, work, best, work, at_y)
    worst, row = _worst(work, at_y, values, pad, sorted_, nn, n, n_classes, flags, heap, 0)
    best_value = 1.0 + _linear(work, best, t, size, slope, m) + worst
    _copy_in(start, work, w, pp)
    _copy_in(start, work, y, pp)
    linear = _linear(work, y, t, size, slope, m)
    pending = False
    for iteration in range(1, max_iter + 1):
        if not incremental:
            _all_scores(data, columns, p, nn, pp, n_classes, work, y, work, at_y)
        elif iteration % REFRESH == 1:
            _linear(work, y, t, size, slope, m)
            _refresh(data, columns, work, w, y, slope, at_w, at_y, drift, n_classes, p, pp, nn)
        worst, row = _worst(work, at_y, values, pad, sorted_, nn, n, n_classes, flags, heap, row)
        value = 1.0 + linear + worst
        if value < best_value:
            best_value = value
            pending = True
        elif pending:
            # The point before this one was the best so far and is still in the other buffer.
            _move(work, y_next, best, m)
            pending = False
        step = 1.0 / ((iteration + 1.0) * np.sqrt(iteration + 1.0))
        momentum = 0.0 if iteration < 3 else (iteration - 2.0) / (iteration + 1.0)
        if incremental:
            linear = _sweep_marking(data, work, row, w, y, y_next, t, size, flags, n_classes, pp, step, momentum, marks)
            if mode == GRAM:
                at_gram = first_gram + row * nn
            else:
                at_gram = _gram_row(data, columns, p, pp, nn, row, gram, slots)
            _move_scores(gram, at_gram, work, at_w, at_y, drift, flags, n_classes, nn, step, momentum)
            _apply_changes(data, columns, work, y, y_next, size, drift, n_classes, pp, nn, words, flipped)
        else:
            linear = _sweep(data, work, row, w, y, y_next, t, size, flags, n_classes, pp, step, momentum)
        y, y_next = y_next, y
    if pending:
        _move(work, y_next, best, m)
    _all_scores(data, columns, p, nn, pp, n_classes, work, w, work, at_y)
    worst, row = _worst(work, at_y, values, pad, sorted_, nn, n, n_classes, flags, heap, row)
    last_value = 1.0 + _linear(work, w, t, size, slope, m) + worst
    if last_value < best_value:
        best_value = last_value
        _move(work, w, best, m)
    _copy_out(work, best, pp, best_out)
    _copy_out(work, w, pp, last_out)
    return best_value, last_value
