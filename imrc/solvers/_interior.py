"""Compiled primal-dual interior-point method for problem (3).

The linear program behind (3), with s = X mu per class and t in the dual:

    minimise   1 + (lambda - tau)'u + (lambda + tau)'v + nu                     mu = u - v, 0 <= u, v <= box
    subject to s(x, y) - alpha(x, y) - nu + sigma(x, y) = 0,  sum_y alpha(x, y) = 1,  alpha, sigma >= 0

    maximise   1 - sum_x t_x - box'(wu + wv)                                    p, q, zu, zv, wu, wv >= 0
    subject to p + q = t,  sum p = 1,  lambda + (X'p - tau) = zu - wu,  lambda - (X'p - tau) = zv - wv

Newton's equations are reduced to the n C weights p(x, y): blocks X D X' of the classes plus diagonals, so an iteration
costs n^2 C (D + 1) + (n C)^3 / 6 multiplications however many components there are. Steps are Mehrotra's predictor
and corrector. Any mu gives an upper bound (the objective itself) and any p >= 0 with sum 1 a lower bound,

    1 - sum_x max_y p(x, y) - box' max(|X'p - tau| - lambda, 0),

so the gap returned is certified whatever happened on the way.
"""

from __future__ import annotations

import numpy as np

from imrc.solvers._reduced import apply_rows, apply_transposed, factor, form_matrix, solve_factored
from imrc.solvers._simd import aligned, entry, fma, kernel, lane_max, lane_sum, load, maximum, minimum, splat, store

VECTORS = 30
# Places of the vectors over components, in units of their padded length.
_U, _V, _BU, _BV, _ZU, _ZV, _WU, _WV, _TAU, _LAM, _BOX, _R = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
_IU, _IV, _GU, _GV, _K, _DR, _SU, _SV, _SBU, _SBV = 12, 13, 14, 15, 16, 17, 18, 19, 20, 21
_DU, _DV, _DZU, _DZV, _DWU, _DWV, _D, _BEST = 22, 23, 24, 25, 26, 27, 28, 29

CONVERGED, EMPTY, STALLED = 0, 1, 2
_NEAR_BOUNDARY = 0.995


@kernel
def _largest_value(scores, n, n_classes, order):  # type: ignore[no-untyped-def]
    """Max term of (3) from scores[c n + i]."""
    best = -np.inf
    for i in range(n):
        for c in range(n_classes):
            position = c
            value = scores[c * n + i]
            while position > 0 and order[position - 1] < value:
                order[position] = order[position - 1]
                position -= 1
            order[position] = value
        total = -1.0
        for c in range(n_classes):
            total += order[c]
            best = max(best, total / (c + 1))
    return best


@kernel
def _lower_bound(rows, n, pp, n_classes, work, m, p, normal):  # type: ignore[no-untyped-def]
    """Certified lower bound from any weights p: made non-negative and of sum 1 first. Overwrites the D vector."""
    total = 0.0
    for a in range(n_classes * n):
        normal[a] = max(p[a], 0.0)
        total += normal[a]
    bound = 1.0
    for a in range(n_classes * n):
        normal[a] /= total
    for i in range(n):
        largest = 0.0
        for c in range(n_classes):
            largest = max(largest, normal[c * n + i])
        bound -= largest
    apply_transposed(rows, n, pp, n_classes, normal, work, _D * m)
    excess = splat(0.0)
    zero = splat(0.0)
    for j in range(0, m, 8):
        r = load(work, _D * m + j) - load(work, _TAU * m + j)
        over = maximum(maximum(r, zero - r) - load(work, _LAM * m + j), zero)
        excess = fma(over, load(work, _BOX * m + j), excess)
    return bound - lane_sum(excess)


@kernel
def _linear_terms(work, m):  # type: ignore[no-untyped-def]
    """Write mu to the K vector; return lambda'|mu| - tau'mu, the sum of the sizes of its terms, largest |mu| / box."""
    value, size, reach, zero = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    for j in range(0, m, 8):
        mu = load(work, _U * m + j) - load(work, _V * m + j)
        store(work, _K * m + j, mu)
        absolute = maximum(mu, zero - mu)
        tau, lam = load(work, _TAU * m + j), load(work, _LAM * m + j)
        value = fma(lam, absolute, value) - tau * mu
        size = fma(maximum(tau, zero - tau) + lam, absolute, size)
        reach = maximum(reach, absolute / load(work, _BOX * m + j))
    return lane_sum(value), lane_sum(size), lane_max(reach)


@kernel
def _start(work, m, target, least):  # type: ignore[no-untyped-def]
    """Central in every pair (product `target`), dual constraints met where that is possible with small weights."""
    floor = splat(least)
    goal, half = splat(target), splat(0.5)
    for j in range(0, m, 8):
        r = load(work, _R * m + j)
        lam, box = load(work, _LAM * m + j), load(work, _BOX * m + j)
        zu, zv = maximum(lam + r, floor), maximum(lam - r, floor)
        u, v = minimum(goal / zu, half * box), minimum(goal / zv, half * box)
        store(work, _ZU * m + j, zu)
        store(work, _ZV * m + j, zv)
        store(work, _U * m + j, u)
        store(work, _V * m + j, v)
        store(work, _BU * m + j, box - u)
        store(work, _BV * m + j, box - v)
        store(work, _WU * m + j, goal / (box - u))
        store(work, _WV * m + j, goal / (box - v))


@kernel
def _reduce(work, m):  # type: ignore[no-untyped-def]
    """Weights D of the reduced matrix; clears the second-order terms. Returns the sum of the products of the pairs."""
    one, zero, total = splat(1.0), splat(0.0), splat(0.0)
    for j in range(0, m, 8):
        u, v, bu, bv = (
            load(work, _U * m + j),
            load(work, _V * m + j),
            load(work, _BU * m + j),
            load(work, _BV * m + j),
        )
        zu, zv = load(work, _ZU * m + j), load(work, _ZV * m + j)
        wu, wv = load(work, _WU * m + j), load(work, _WV * m + j)
        iu, iv = one / (zu / u + wu / bu), one / (zv / v + wv / bv)
        store(work, _IU * m + j, iu)
        store(work, _IV * m + j, iv)
        store(work, _D * m + j, iu + iv)
        for place in (_SU, _SV, _SBU, _SBV):
            store(work, place * m + j, zero)
        total = total + u * zu + v * zv + bu * wu + bv * wv
    return lane_sum(total)


@kernel
def _right_side(work, m, target):  # type: ignore[no-untyped-def]
    """Right-hand sides of u and v, and what they move mu by before p moves (K)."""
    goal = splat(target)
    for j in range(0, m, 8):
        u, v, bu, bv = (
            load(work, _U * m + j),
            load(work, _V * m + j),
            load(work, _BU * m + j),
            load(work, _BV * m + j),
        )
        lam, r = load(work, _LAM * m + j), load(work, _R * m + j)
        # -(lam + r - zu + wu) + (goal - u zu - su) / u - (goal - bu wu - sbu) / bu
        gu = (goal - load(work, _SU * m + j)) / u - (goal - load(work, _SBU * m + j)) / bu - lam - r
        gv = (goal - load(work, _SV * m + j)) / v - (goal - load(work, _SBV * m + j)) / bv - lam + r
        store(work, _GU * m + j, gu)
        store(work, _GV * m + j, gv)
        store(work, _K * m + j, gu * load(work, _IU * m + j) - gv * load(work, _IV * m + j))


@kernel
def _components_step(work, m, target):  # type: ignore[no-untyped-def]
    """Directions of the vectors over components from that of p; returns the largest primal and dual decrease."""
    goal, zero = splat(target), splat(0.0)
    primal, dual = splat(0.0), splat(0.0)
    for j in range(0, m, 8):
        u, v, bu, bv = (
            load(work, _U * m + j),
            load(work, _V * m + j),
            load(work, _BU * m + j),
            load(work, _BV * m + j),
        )
        zu, zv = load(work, _ZU * m + j), load(work, _ZV * m + j)
        wu, wv = load(work, _WU * m + j), load(work, _WV * m + j)
        dr = load(work, _DR * m + j)
        du = (load(work, _GU * m + j) - dr) * load(work, _IU * m + j)
        dv = (load(work, _GV * m + j) + dr) * load(work, _IV * m + j)
        dzu = (goal - load(work, _SU * m + j) - zu * du) / u - zu
        dzv = (goal - load(work, _SV * m + j) - zv * dv) / v - zv
        dwu = (goal - load(work, _SBU * m + j) + wu * du) / bu - wu
        dwv = (goal - load(work, _SBV * m + j) + wv * dv) / bv - wv
        store(work, _DU * m + j, du)
        store(work, _DV * m + j, dv)
        store(work, _DZU * m + j, dzu)
        store(work, _DZV * m + j, dzv)
        store(work, _DWU * m + j, dwu)
        store(work, _DWV * m + j, dwv)
        primal = maximum(primal, maximum(maximum((zero - du) / u, (zero - dv) / v), maximum(du / bu, dv / bv)))
        dual = maximum(dual, maximum((zero - dzu) / zu, (zero - dzv) / zv))
        dual = maximum(dual, maximum((zero - dwu) / wu, (zero - dwv) / wv))
    return lane_max(primal), lane_max(dual)


@kernel
def _second_order(work, m, up, down):  # type: ignore[no-untyped-def]
    """Keep the products of the predictor's directions; return the sum of the pairs' products after its step."""
    total, a, b = splat(0.0), splat(up), splat(down)
    zero = splat(0.0)
    for j in range(0, m, 8):
        du, dv = load(work, _DU * m + j), load(work, _DV * m + j)
        dzu, dzv = load(work, _DZU * m + j), load(work, _DZV * m + j)
        dwu, dwv = load(work, _DWU * m + j), load(work, _DWV * m + j)
        store(work, _SU * m + j, du * dzu)
        store(work, _SV * m + j, dv * dzv)
        store(work, _SBU * m + j, zero - du * dwu)
        store(work, _SBV * m + j, zero - dv * dwv)
        total = fma(fma(a, du, load(work, _U * m + j)), fma(b, dzu, load(work, _ZU * m + j)), total)
        total = fma(fma(a, dv, load(work, _V * m + j)), fma(b, dzv, load(work, _ZV * m + j)), total)
        total = fma(load(work, _BU * m + j) - a * du, fma(b, dwu, load(work, _WU * m + j)), total)
        total = fma(load(work, _BV * m + j) - a * dv, fma(b, dwv, load(work, _WV * m + j)), total)
    return lane_sum(total)


@kernel
def _components_move(work, m, up, down):  # type: ignore[no-untyped-def]
    a, b = splat(up), splat(down)
    for j in range(0, m, 8):
        du, dv = load(work, _DU * m + j), load(work, _DV * m + j)
        store(work, _U * m + j, fma(a, du, load(work, _U * m + j)))
        store(work, _V * m + j, fma(a, dv, load(work, _V * m + j)))
        store(work, _BU * m + j, load(work, _BU * m + j) - a * du)
        store(work, _BV * m + j, load(work, _BV * m + j) - a * dv)
        store(work, _ZU * m + j, fma(b, load(work, _DZU * m + j), load(work, _ZU * m + j)))
        store(work, _ZV * m + j, fma(b, load(work, _DZV * m + j), load(work, _ZV * m + j)))
        store(work, _WU * m + j, fma(b, load(work, _DWU * m + j), load(work, _WU * m + j)))
        store(work, _WV * m + j, fma(b, load(work, _DWV * m + j), load(work, _WV * m + j)))


@kernel
def _residual(rows, n, pp, n_classes, work, m, p):  # type: ignore[no-untyped-def]
    """R = X'p - tau."""
    apply_transposed(rows, n, pp, n_classes, p, work, _R * m)
    for j in range(0, m, 8):
        store(work, _R * m + j, load(work, _R * m + j) - load(work, _TAU * m + j))


@kernel
def _weights_step(n, n_classes, target, p, q, alpha, sigma, sp, sa, ratio, total, y1, y2, gaps, dp, dq, ds, da):  # type: ignore[no-untyped-def]
    """Directions of p, q, sigma, alpha from the solution y1 of the reduced system (y2: that of all ones).

    `gaps` is what sum alpha = 1 asks of t for each instance. Returns the direction of nu and the largest relative
    primal and dual decreases.
    """
    size = n * n_classes
    first, second, weight = 0.0, 0.0, -1.0
    for a in range(size):
        first += y1[a]
        second += y2[a]
        weight += p[a]
    dnu = (first + weight) / second
    primal, dual = 0.0, 0.0
    for a in range(size):
        dp[a] = y1[a] - dnu * y2[a]
    for i in range(n):
        dt = gaps[i]
        for c in range(n_classes):
            dt += ratio[c * n + i] * dp[c * n + i] / total[i]
        for c in range(n_classes):
            a = c * n + i
            dq[a] = dt - dp[a]
            ds[a] = (target - sp[a] - sigma[a] * dp[a]) / p[a] - sigma[a]
            da[a] = (target - sa[a] - alpha[a] * dq[a]) / q[a] - alpha[a]
            primal = max(primal, max(-ds[a] / sigma[a], -da[a] / alpha[a]))
            dual = max(dual, max(-dp[a] / p[a], -dq[a] / q[a]))
    return dnu, primal, dual


@kernel
def _weights_right_side(n, n_classes, target, p, q, alpha, sigma, sp, sa, nu, scores, moved, ratio, total, h, gaps):  # type: ignore[no-untyped-def]
    """Right-hand side of the reduced system; `scores` are those of mu, `moved` those of K."""
    for i in range(n):
        gap = -1.0
        for c in range(n_classes):
            a = c * n + i
            gap += (target - sa[a]) / q[a]  # alpha itself cancels against (target - alpha q) / q
        gaps[i] = gap / total[i]
        for c in range(n_classes):
            a = c * n + i
            wanted_alpha = (target - sa[a]) / q[a] - alpha[a]
            wanted_sigma = (target - sp[a]) / p[a] - sigma[a]
            row = scores[a] - alpha[a] - nu + sigma[a]
            h[a] = moved[a] - wanted_alpha + wanted_sigma + row + ratio[a] * gaps[i]


@entry
def run(rows, n, pp, n_classes, tau, lam, box, unbounded, least, goal, max_iter, best_mu):  # type: ignore[no-untyped-def]
    """Solve; rows (n pp) and the vectors (C pp) are padded, aligned and scaled to largest entry 1 per column.

    Padding needs lambda > 0 and box > 0. With `unbounded` the box is only a device and the run ends as EMPTY as soon
    as some direction shows that no box would hold. Writes the best mu, or that direction, in padded layout; returns
    status, value, lower bound, iterations and largest |mu| / box.
    """
    m = n_classes * pp
    size = n * n_classes
    ld = (size + 7) // 8 * 8
    work = aligned(VECTORS * m)
    work[_TAU * m : (_TAU + 1) * m] = tau
    work[_LAM * m : (_LAM + 1) * m] = lam
    work[_BOX * m : (_BOX + 1) * m] = box
    weighted = aligned(pp)
    matrix, lower = aligned(size * ld), aligned(size * ld)
    p, q, alpha, sigma = np.zeros(ld), np.zeros(ld), np.zeros(ld), np.zeros(ld)
    dp, dq, da, ds = np.zeros(ld), np.zeros(ld), np.zeros(ld), np.zeros(ld)
    sp, sa, slack, ratio = np.zeros(ld), np.zeros(ld), np.zeros(ld), np.zeros(ld)
    h, y1, y2, scores = np.zeros(ld), np.zeros(ld), np.zeros(ld), np.zeros(ld)
    moved, inverse, scale, ones = np.zeros(ld), np.zeros(ld), np.zeros(ld), np.zeros(ld)
    total, gaps, order = np.zeros(n), np.zeros(n), np.zeros(n_classes)
    nu = 0.0
    for a in range(size):
        p[a], q[a] = 1.0 / size, 1.0 / size
        alpha[a], sigma[a], ones[a] = 1.0 / n_classes, 1.0 / n_classes, 1.0
    pairs = 4 * m + 2 * size
    _residual(rows, n, pp, n_classes, work, m, p)
    _start(work, m, 1.0 / (size * n_classes), least)
    best_value, best_bound, reach = np.inf, -np.inf, 0.0
    stale = 0
    for iteration in range(max_iter):
        linear, terms, size_mu = _linear_terms(work, m)
        apply_rows(rows, n, pp, n_classes, work, _K * m, scores)
        largest = -np.inf
        for a in range(size):
            largest = max(largest, scores[a])
        value = 1.0 + linear + _largest_value(scores, n, n_classes, order)
        bound = _lower_bound(rows, n, pp, n_classes, work, m, p, y1)
        if not (np.isfinite(value) and np.isfinite(bound)):
            return STALLED, best_value, best_bound, iteration, reach
        before = best_value - best_bound
        if value < best_value:
            best_value, reach = value, size_mu
            for j in range(m):
                best_mu[j] = work[_K * m + j]
        best_bound = max(best_bound, bound)
        gap = best_value - best_bound
        if unbounded and linear + largest < -1e-9 * (terms + abs(largest)):
            # Along this direction the objective falls for ever.
            for j in range(m):
                best_mu[j] = work[_K * m + j]
            return EMPTY, best_value, best_bound, iteration, reach
        if gap <= goal * max(1.0, abs(best_value)):
            return CONVERGED, best_value, best_bound, iteration, reach
        stale = stale + 1 if gap > 0.9 * before and iteration > 8 else 0
        if stale >= 5:
            return STALLED, best_value, best_bound, iteration, reach
        _residual(rows, n, pp, n_classes, work, m, p)
        products = _reduce(work, m)
        for i in range(n):
            total[i] = 0.0
        for a in range(size):
            slack[a], ratio[a] = sigma[a] / p[a], alpha[a] / q[a]
            total[a % n] += ratio[a]
            products += p[a] * sigma[a] + alpha[a] * q[a]
            sp[a], sa[a] = 0.0, 0.0
        form_matrix(rows, n, pp, n_classes, work, _D * m, weighted, matrix, ld, slack, ratio, total)
        factor(matrix, size, ld, lower, inverse, scale)
        solve_factored(lower, inverse, scale, size, ld, ones, y2)
        target = 0.0
        for stage in range(2):
            _right_side(work, m, target)
            apply_rows(rows, n, pp, n_classes, work, _K * m, moved)
            _weights_right_side(
                n, n_classes, target, p, q, alpha, sigma, sp, sa, nu, scores, moved, ratio, total, h, gaps
            )
            solve_factored(lower, inverse, scale, size, ld, h, y1)
            dnu, primal, dual = _weights_step(
                n, n_classes, target, p, q, alpha, sigma, sp, sa, ratio, total, y1, y2, gaps, dp, dq, ds, da
            )
            apply_transposed(rows, n, pp, n_classes, dp, work, _DR * m)
            more_primal, more_dual = _components_step(work, m, target)
            primal, dual = max(primal, more_primal), max(dual, more_dual)
            if stage == 0:
                up, down = 1.0 / max(1.0, primal), 1.0 / max(1.0, dual)
                after = _second_order(work, m, up, down)
                for a in range(size):
                    sp[a], sa[a] = dp[a] * ds[a], dq[a] * da[a]
                    after += (p[a] + down * dp[a]) * (sigma[a] + up * ds[a])
                    after += (q[a] + down * dq[a]) * (alpha[a] + up * da[a])
                target = (after / products) ** 3 * products / pairs
        up = 1.0 / max(1.0, primal / _NEAR_BOUNDARY)
        down = 1.0 / max(1.0, dual / _NEAR_BOUNDARY)
        _components_move(work, m, up, down)
        nu += up * dnu
        for a in range(size):
            p[a] += down * dp[a]
            q[a] += down * dq[a]
            sigma[a] += up * ds[a]
            alpha[a] += up * da[a]
    return STALLED, best_value, best_bound, max_iter, reach
