"""Compiled search for the worst instance and label subset: the max term of problem (3).

Scores are stored by class, `nn` apart. No subset is enumerated: the best subset of size r of one instance holds its
r largest scores.
"""

from __future__ import annotations

from imrc.solvers._simd import (
    equal_bits,
    first_bit,
    get,
    kernel,
    lane_max,
    load,
    maximum,
    minimum,
    put,
    splat,
    store,
)

LOWEST = -1e300
NETWORK_CLASSES = 16
"""Classes up to which rows are sorted eight at a time by compare-exchange; above, one by one and only if needed."""


@kernel
def _first_equal(work, values, nn, best):  # type: ignore[no-untyped-def]
    """Index of the first entry equal to `best`."""
    wanted = splat(best)
    for i in range(0, nn, 16):
        bits = equal_bits(load(work, values + i), wanted) | (equal_bits(load(work, values + i + 8), wanted) << 8)
        if bits != 0:
            return i + first_bit(bits)
    return 0  # reached only if scores overflowed to nan


@kernel
def _worst_two(work, scores, values, pad, nn, flags):  # type: ignore[no-untyped-def]
    """`find_worst` for two classes."""
    one, half, top = splat(1.0), splat(0.5), splat(LOWEST)
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


@kernel
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


@kernel
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


@kernel
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


@kernel
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
            put(work, values + i, LOWEST)


@kernel
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


@kernel
def find_worst(work, scores, values, pad, sorted_, nn, n, n_classes, flags, heap, probe):  # type: ignore[no-untyped-def]
    """Largest (sum over a label subset - 1) / size and its row; `flags` gets the share of each class.

    Ties go to the first row, then to the smaller subset, then to the smaller class numbers.
    """
    if n_classes == 2:
        return _worst_two(work, scores, values, pad, nn, flags)
    return _worst_many(work, scores, values, pad, sorted_, nn, n, n_classes, flags, heap, probe)
