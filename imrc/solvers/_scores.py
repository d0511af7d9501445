"""Compiled products with an instance set, laid out for vectors of eight.

Every vector of C blocks is padded to a multiple of eight per block, every vector over instances to a multiple of
sixteen; padding is zero and stays zero.
"""

from __future__ import annotations

from imrc.solvers._simd import (
    aligned,
    entry,
    fma,
    get,
    kernel,
    lane_sum,
    load,
    put,
    splat,
    store,
)

ROWS_AT_MOST, ROWS_FROM = 12, 192
"""Up to how many instances, and from how many components, scores are computed row by row (measured)."""


@kernel
def padded(n, p):  # type: ignore[no-untyped-def]
    """Return the padded numbers of instances and of components per class."""
    return (n + 15) // 16 * 16, (p + 7) // 8 * 8


@entry
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
            block_scores(data, columns, p, nn, data, (n - 1) * pp, data, gram + (n - 1) * nn)
    return data


@kernel
def block_scores(data, columns, p, nn, vector, at, out, to):  # type: ignore[no-untyped-def]
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


@kernel
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


@kernel
def _scores_by_rows(data, n, nn, pp, vector, at, step, out, to):  # type: ignore[no-untyped-def]
    """`_scores_pair` for few instances: dot products along the rows, two rows at a time, no work on padding."""
    for i in range(0, n, 2):
        first = i * pp
        second = first + (pp if i + 1 < n else 0)
        a0, a1, b0, b1 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for k in range(0, pp, 8):
            x, z = load(data, first + k), load(data, second + k)
            v, w = load(vector, at + k), load(vector, at + step + k)
            a0 = fma(x, v, a0)
            a1 = fma(z, v, a1)
            b0 = fma(x, w, b0)
            b1 = fma(z, w, b1)
        put(out, to + i, lane_sum(a0))
        put(out, to + nn + i, lane_sum(b0))
        if i + 1 < n:
            put(out, to + i + 1, lane_sum(a1))
            put(out, to + nn + i + 1, lane_sum(b1))


@kernel
def all_scores(data, columns, p, nn, pp, n_classes, vector, at, out, to):  # type: ignore[no-untyped-def]
    n = columns // pp
    by_rows = n <= ROWS_AT_MOST and pp >= ROWS_FROM
    for c in range(0, n_classes - 1, 2):
        if by_rows:
            _scores_by_rows(data, n, nn, pp, vector, at + c * pp, pp, out, to + c * nn)
        else:
            _scores_pair(data, columns, p, nn, vector, at + c * pp, pp, out, to + c * nn)
    if n_classes % 2:
        c = n_classes - 1
        block_scores(data, columns, p, nn, vector, at + c * pp, out, to + c * nn)
