"""Compiled search for the worst instance and label subset: the max term of problem (3).

Scores are stored by class, `nn` apart. No subset is enumerated and nothing is sorted: the worst case of an instance is
the root of a piecewise linear function of its scores (see `_row_values`).
"""

from __future__ import annotations

from imrc.solvers._simd import (
    equal_bits,
    first_bit,
    get,
    greater_bits,
    kernel,
    lane_max,
    load,
    maximum,
    put,
    splat,
    store,
    where_greater,
)

LOWEST = -1e300


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
def _row_value(work, scores, nn, n_classes, start):  # type: ignore[no-untyped-def]
    """Worst case of one row, from a value not above it: `_row_values` for a single row."""
    value = start
    while True:
        total, count = -1.0, 0
        for c in range(n_classes):
            score = get(work, scores + c * nn)
            if score > value:
                total += score
                count += 1
        if count == 0 or total / count <= value:
            return value
        value = total / count


@kernel
def _row_values(work, scores, values, pad, nn, n_classes, floor):  # type: ignore[no-untyped-def]
    """Worst cases of all rows, eight at a time; `LOWEST` where they are not above `floor`.

    The worst case v of a row solves sum over y of max(s_y - v, 0) = 1, and its subset is {y: s_y > v}. From below,
    v <- (sum of the scores above v - 1) / (their number) rises to the solution: the set only shrinks, so at most C
    rounds are needed, mostly two or three, and one tells that a row is not above the floor.
    """
    zero, one, low = splat(0.0), splat(1.0), splat(floor)
    for i in range(0, nn, 8):
        value = low
        rising = 1
        while rising != 0:
            total, count = splat(-1.0), zero
            for c in range(n_classes):
                score = load(work, scores + c * nn + i)
                total = total + where_greater(score, value, score, zero)
                count = count + where_greater(score, value, one, zero)
            new = total / maximum(count, one)
            new = where_greater(count, zero, new, value)
            rising = greater_bits(new, value)
            value = maximum(new, value)
        store(work, values + i, where_greater(value, low, value, splat(LOWEST)) + load(work, pad + i))


@kernel
def _worst_many(work, scores, values, pad, nn, n_classes, flags, probe):  # type: ignore[no-untyped-def]
    """`find_worst` for any number of classes."""
    floor = _row_value(work, scores + probe, nn, n_classes, get(work, scores + probe) - 1.0)
    # A little below the value of the probe, so that rows that tie with it are found and the first one is taken.
    floor -= 1e-12 * (1.0 + abs(floor))
    _row_values(work, scores, values, pad, nn, n_classes, floor)
    top = load(work, values)
    for i in range(8, nn, 8):
        top = maximum(top, load(work, values + i))
    best = lane_max(top)
    row = _first_equal(work, values, nn, best)
    count = 0
    for c in range(n_classes):
        if get(work, scores + row + c * nn) > best:
            count += 1
    for c in range(n_classes):
        put(work, flags + c, 1.0 / count if get(work, scores + row + c * nn) > best else 0.0)
    return best, row


@kernel
def find_worst(work, scores, values, pad, nn, n_classes, flags, probe):  # type: ignore[no-untyped-def]
    """Largest (sum over a label subset - 1) / size and its row; `flags` gets the share of each class.

    Ties go to the first row, then to the smaller subset. `probe` is a row that is likely to be the worst.
    """
    if n_classes == 2:
        return _worst_two(work, scores, values, pad, nn, flags)
    return _worst_many(work, scores, values, pad, nn, n_classes, flags, probe)
