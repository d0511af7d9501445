"""Compiled linear algebra of the interior-point method: products with X, the reduced matrix and its factor.

Weights over pairs of class and instance are stored by class (c n + i), vectors over components by class and padded.
"""

from __future__ import annotations

import numpy as np

from imrc.solvers._simd import fma, kernel, lane_sum, load, splat, store


@kernel
def apply_rows(rows, n, pp, n_classes, work, at, out):  # type: ignore[no-untyped-def]
    """out[c n + i] = x_i'v_c for the vector at `at`."""
    for c in range(n_classes):
        start = at + c * pp
        for i in range(n):
            even, odd = splat(0.0), splat(0.0)
            for k in range(0, pp, 8):
                even, odd = odd, fma(load(rows, i * pp + k), load(work, start + k), even)
            out[c * n + i] = lane_sum(even + odd)


@kernel
def apply_transposed(rows, n, pp, n_classes, weights, work, at):  # type: ignore[no-untyped-def]
    """Write sum_i weights[c n + i] x_i for every class to the vector at `at`."""
    for c in range(n_classes):
        for k in range(0, pp, 8):
            even, odd = splat(0.0), splat(0.0)
            for i in range(n):
                even, odd = odd, fma(splat(weights[c * n + i]), load(rows, i * pp + k), even)
            store(work, at + c * pp + k, even + odd)


@kernel
def form_matrix(rows, n, pp, n_classes, work, at, weighted, matrix, ld, slack, ratio, total):  # type: ignore[no-untyped-def]
    """Lower triangle of the reduced matrix: X D X' per class, diagonals, coupling of the classes of an instance."""
    for a in range(n_classes * n):
        for b in range(ld):
            matrix[a * ld + b] = 0.0
    for c in range(n_classes):
        for i in range(n):
            for k in range(0, pp, 8):
                store(weighted, k, load(rows, i * pp + k) * load(work, at + c * pp + k))
            line = (c * n + i) * ld + c * n
            j = 0
            while j + 4 <= i + 1:
                a0, a1, a2, a3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
                first = j * pp
                for k in range(0, pp, 8):
                    x = load(weighted, k)
                    a0 = fma(x, load(rows, first + k), a0)
                    a1 = fma(x, load(rows, first + pp + k), a1)
                    a2 = fma(x, load(rows, first + 2 * pp + k), a2)
                    a3 = fma(x, load(rows, first + 3 * pp + k), a3)
                matrix[line + j] = lane_sum(a0)
                matrix[line + j + 1] = lane_sum(a1)
                matrix[line + j + 2] = lane_sum(a2)
                matrix[line + j + 3] = lane_sum(a3)
                j += 4
            while j <= i:
                a0 = splat(0.0)
                for k in range(0, pp, 8):
                    a0 = fma(load(weighted, k), load(rows, j * pp + k), a0)
                matrix[line + j] = lane_sum(a0)
                j += 1
            here = ratio[c * n + i]
            matrix[line + i] += slack[c * n + i] + here * (1.0 - here / total[i])
            for other in range(c):
                matrix[(c * n + i) * ld + other * n + i] = -here * ratio[other * n + i] / total[i]


@kernel
def factor(matrix, size, ld, lower, inverse, scale):  # type: ignore[no-untyped-def]
    """Cholesky factor of the matrix scaled to unit diagonal; the diagonal is kept inverted in `inverse`.

    A little is added to every pivot: some are lost to rounding near the solution.
    """
    for i in range(size):
        scale[i] = 1.0 / np.sqrt(matrix[i * ld + i])
        for j in range(ld):
            lower[i * ld + j] = 0.0
    for i in range(size):
        line = i * ld
        j = 0
        while j < i:
            # Four columns at once as far as they do not depend on each other: the blocks below the diagonal ones.
            base = j * ld
            if j + 4 <= i and j % 4 == 0:
                a0, a1, a2, a3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
                for k in range(0, j, 8):
                    x = load(lower, line + k)
                    a0 = fma(x, load(lower, base + k), a0)
                    a1 = fma(x, load(lower, base + ld + k), a1)
                    a2 = fma(x, load(lower, base + 2 * ld + k), a2)
                    a3 = fma(x, load(lower, base + 3 * ld + k), a3)
                # Columns j.. of this row are still zero, so padding of the dot products adds nothing.
                own = scale[i]
                s0 = (matrix[line + j] * own * scale[j] - lane_sum(a0)) * inverse[j]
                s1 = matrix[line + j + 1] * own * scale[j + 1] - lane_sum(a1) - s0 * lower[base + ld + j]
                s1 *= inverse[j + 1]
                base2 = base + 2 * ld + j
                s2 = (
                    matrix[line + j + 2] * own * scale[j + 2] - lane_sum(a2) - s0 * lower[base2] - s1 * lower[base2 + 1]
                )
                s2 *= inverse[j + 2]
                base3 = base + 3 * ld + j
                s3 = matrix[line + j + 3] * own * scale[j + 3] - lane_sum(a3) - s0 * lower[base3]
                s3 = (s3 - s1 * lower[base3 + 1] - s2 * lower[base3 + 2]) * inverse[j + 3]
                lower[line + j], lower[line + j + 1], lower[line + j + 2], lower[line + j + 3] = s0, s1, s2, s3
                j += 4
            else:
                a0 = splat(0.0)
                for k in range(0, j, 8):
                    a0 = fma(load(lower, line + k), load(lower, base + k), a0)
                lower[line + j] = (matrix[line + j] * scale[i] * scale[j] - lane_sum(a0)) * inverse[j]
                j += 1
        a0 = splat(0.0)
        for k in range(0, i, 8):
            a0 = fma(load(lower, line + k), load(lower, line + k), a0)
        pivot = 1.0 - lane_sum(a0)
        inverse[i] = 1.0 / np.sqrt(max(pivot, 0.0) + 1e-14)


@kernel
def solve_factored(lower, inverse, scale, size, ld, right, out):  # type: ignore[no-untyped-def]
    """Solve with the factor; `right` is kept. `out` has padded length."""
    for i in range(size):
        out[i] = 0.0
    for i in range(size):
        a0 = splat(0.0)
        for k in range(0, i, 8):
            a0 = fma(load(lower, i * ld + k), load(out, k), a0)
        out[i] = (right[i] * scale[i] - lane_sum(a0)) * inverse[i]
    for i in range(size - 1, -1, -1):
        value = out[i] * inverse[i]
        for k in range(0, i, 8):
            store(out, k, load(out, k) - splat(value) * load(lower, i * ld + k))
        out[i] = value
    for i in range(size):
        out[i] *= scale[i]
