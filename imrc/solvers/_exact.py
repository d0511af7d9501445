"""The linear program behind problem (3), solved to a certified gap.

Interior point on the compact form (see `_interior`), instance generation where the set X is large, and HiGHS where
rounding stops the interior point early. Whatever solved it, the value is the objective at the mu returned and the lower
bound comes from dual weights put into the bound's formula, so the gap holds without trusting the solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc.solvers._solution import Solution

Floats = NDArray[np.float64]

EMPTY_BOX = 1.0
"""Bound on |mu| used where the uncertainty set restricted to X is empty and no box was given."""
GAP = 1e-6
"""Relative gap up to which a result counts as optimal."""
_GOAL = 1e-9  # what the interior point aims at; it costs one or two iterations more than GAP
_DEVICE_BOX = 1e4  # in units of 1 / largest entry of the column: stands for "no box", see `_Prepared.boxes`
_MAX_ITERATIONS = 80
_DENSE = 600  # n C up to which all instances are taken at once
_ROWS_PER_ROUND = 60
_MAX_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Instances scaled to largest entry 1 per column and padded; made once for one X, used for many tau and lambda."""

    X1: Floats
    scale: Floats
    rows: Floats  # (n, pp), aligned

    @property
    def padded(self) -> int:
        return int(self.rows.shape[1])

    def vector(self, values: Floats, n_classes: int, padding: float) -> Floats:
        """Scale a flat vector over components and pad it."""
        out = np.full((n_classes, self.padded), padding)
        out[:, : len(self.scale)] = values.reshape(n_classes, -1) / self.scale
        return out.ravel()

    def boxes(self, box: float | None, n_classes: int) -> Floats:
        """Bounds on the scaled parameters."""
        sizes = np.ones(self.padded)
        sizes[: len(self.scale)] = _DEVICE_BOX if box is None else box * self.scale
        return np.tile(sizes, n_classes)

    def unscaled(self, mu: Floats, n_classes: int) -> Floats:
        """Return parameters (C, p) in the user's units."""
        return np.asarray(mu.reshape(n_classes, -1)[:, : len(self.scale)] / self.scale)


@dataclass(frozen=True)
class _Outcome:
    """What one attempt gave; `mu` (C, p) is a direction without lower end if `empty`."""

    mu: Floats
    value: float
    bound: float
    iterations: int
    empty: bool
    reach: float = 0.0

    def solved(self, tolerance: float) -> bool:
        return self.value - self.bound <= tolerance * max(1.0, abs(self.value))


def prepare_exact(X1: Floats) -> _Prepared:
    """Lay out instances (n, D + 1, intercept first) for `solve_exact`."""
    from imrc.solvers._simd import aligned

    n, p = X1.shape
    scale = np.abs(X1).max(axis=0)
    scale[scale == 0.0] = 1.0
    pp = (p + 7) // 8 * 8
    rows = aligned(n * pp).reshape(n, pp)
    rows[:, :p] = X1 / scale
    return _Prepared(np.ascontiguousarray(X1), scale, rows)


def _subset_values(scores: Floats) -> Floats:
    """Return the max over label subsets of (sum - 1) / size for each row of scores (n, C)."""
    ordered = np.sort(scores, axis=1)[:, ::-1]
    return np.asarray(((np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, scores.shape[1] + 1)).max(axis=1))


def _interior(
    prepared: _Prepared, rows: Floats, tau: Floats, lam: Floats, n_classes: int, box: float | None, goal: float
) -> _Outcome:
    from imrc.solvers import _interior as interior

    padded_mu = np.zeros(n_classes * prepared.padded)
    scaled_lam = prepared.vector(lam, n_classes, 1.0)
    least = max(1e-2, float(scaled_lam.reshape(n_classes, -1)[:, : len(prepared.scale)].mean()))
    status, value, bound, iterations, reach = interior.run(
        rows.reshape(-1),
        len(rows),
        prepared.padded,
        n_classes,
        prepared.vector(tau, n_classes, 0.0),
        scaled_lam,
        prepared.boxes(box, n_classes),
        box is None,
        least,
        goal,
        _MAX_ITERATIONS,
        padded_mu,
    )
    return _Outcome(prepared.unscaled(padded_mu, n_classes), value, bound, iterations, status == interior.EMPTY, reach)


def _generate(
    prepared: _Prepared, tau: Floats, lam: Floats, n_classes: int, box: float | None, goal: float
) -> _Outcome:
    """Solve over few instances, add those that are worse than assumed, until none is.

    Fewer instances make the problem easier, so every round's lower bound holds for all of X.
    """
    n = len(prepared.X1)
    active = np.zeros(n, dtype=bool)
    active[np.linspace(0, n - 1, max(2, _DENSE // (4 * n_classes))).astype(np.int64)] = True
    best, best_value, bound, iterations = np.zeros((n_classes, prepared.X1.shape[1])), np.inf, -np.inf, 0
    reach = 0.0
    for _ in range(_MAX_ROUNDS):
        part = _interior(prepared, _aligned_rows(prepared.rows[active]), tau, lam, n_classes, box, goal)
        iterations += part.iterations
        linear = float(lam @ np.abs(part.mu).ravel() - tau @ part.mu.ravel())
        scores = prepared.X1 @ part.mu.T
        if part.empty:
            worst = scores.max(axis=1)
            level = worst[active].max()
            size = float(lam @ np.abs(part.mu).ravel() + np.abs(tau) @ np.abs(part.mu).ravel())
            if linear + worst.max() < -1e-9 * (size + abs(worst.max())):
                return _Outcome(part.mu, -np.inf, -np.inf, iterations, True)
        else:
            worst = _subset_values(scores)
            level = worst[active].max() + 0.5 * goal
            value = 1.0 + linear + float(worst.max())
            if value < best_value:
                best, best_value, reach = part.mu, value, part.reach
            bound = max(bound, part.bound)
            if best_value - bound <= goal * max(1.0, abs(best_value)):
                break
        worst[active] = -np.inf
        candidates = np.argsort(-worst, kind="stable")[:_ROWS_PER_ROUND]
        candidates = candidates[worst[candidates] > level]
        if len(candidates) == 0:
            break
        active[candidates] = True
    return _Outcome(best, best_value, bound, iterations, False, reach)


def _aligned_rows(rows: Floats) -> Floats:
    from imrc.solvers._simd import aligned

    out = aligned(rows.size).reshape(rows.shape)
    out[:] = rows
    return np.asarray(out)


def _highs(prepared: _Prepared, tau: Floats, lam: Floats, n_classes: int, box: float | None) -> _Outcome | None:
    """Solve the same program by HiGHS; None if it cannot either. An unbounded program comes back as `empty`."""
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array, eye_array, kron

    n, p = prepared.X1.shape
    m, pairs = n_classes * p, n * n_classes
    X = csr_array(prepared.rows[:, :p])
    features = kron(eye_array(n_classes), X, format="csr")  # rows ordered by class
    limits = block_array([[features, -features, -eye_array(pairs), csr_array(np.full((pairs, 1), -1.0))]], format="csr")
    sums = block_array(
        [[csr_array((n, 2 * m)), kron(np.ones((1, n_classes)), eye_array(n)), csr_array((n, 1))]], format="csr"
    )
    scale = np.tile(prepared.scale, n_classes)
    cost = np.concatenate([(lam - tau) / scale, (lam + tau) / scale, np.zeros(pairs), [1.0]])
    upper = np.full(2 * m + pairs + 1, np.inf)
    if box is not None:
        upper[: 2 * m] = np.tile(box * scale, 2)
    lower = np.zeros_like(upper)
    lower[-1] = -np.inf
    limit = np.column_stack([lower, upper])
    result = linprog(cost, limits, np.zeros(pairs), sums, np.ones(n), limit, method="highs")
    if result.status not in (0, 3):  # presolve may not tell unbounded from infeasible
        result = linprog(
            cost, limits, np.zeros(pairs), sums, np.ones(n), limit, method="highs", options={"presolve": False}
        )
    if result.status == 3:
        return _Outcome(np.zeros((n_classes, p)), -np.inf, -np.inf, int(result.nit), True)
    if result.status != 0:
        return None
    mu = ((result.x[:m] - result.x[m : 2 * m]) / scale).reshape(n_classes, p)
    weights = np.maximum(-result.ineqlin.marginals.reshape(n_classes, n), 0.0)
    weights /= weights.sum()
    excess = np.maximum(np.abs((weights @ prepared.X1).ravel() - tau) - lam, 0.0)
    bound = (
        1.0 - weights.max(axis=0).sum() - float(excess @ np.full(m, box if box is not None else _DEVICE_BOX / scale))
    )
    value = 1.0 + float(lam @ np.abs(mu).ravel() - tau @ mu.ravel()) + float(_subset_values(prepared.X1 @ mu.T).max())
    return _Outcome(mu, value, float(bound), int(result.nit), False)


def _attempt(prepared: _Prepared, tau: Floats, lam: Floats, n_classes: int, box: float | None, goal: float) -> _Outcome:
    if len(prepared.X1) * n_classes <= _DENSE:
        outcome = _interior(prepared, prepared.rows, tau, lam, n_classes, box, goal)
    else:
        outcome = _generate(prepared, tau, lam, n_classes, box, goal)
    # A solution at the device box means that the box decided, which it must not when none was asked for.
    at_device = box is None and outcome.reach > 0.5
    if outcome.empty or (outcome.solved(GAP) and not at_device):
        return outcome
    other = _highs(prepared, tau, lam, n_classes, box)
    if other is None or (not other.empty and other.value - other.bound > outcome.value - outcome.bound):
        return outcome
    return other


def certified_bound(X1: Floats, tau: Floats, lam: Floats, n_classes: int) -> tuple[float | None, str]:
    """Return a certified lower bound of (3) to about 1e-3, or None and the reason."""
    if len(X1) * n_classes > _DENSE:
        return None, f"there are more than {_DENSE} pairs of instance and class"
    prepared = prepare_exact(X1)
    outcome = _interior(prepared, prepared.rows, tau, lam, n_classes, None, 1e-3)
    if outcome.empty:
        return None, "the uncertainty set restricted to X is empty, so the objective has no lower end"
    if not np.isfinite(outcome.bound) or outcome.reach > 0.5:
        return None, "the interior-point run found none that is certain"
    return outcome.bound, ""


def solve_exact(
    prepared: _Prepared, tau: Floats, lam: Floats, n_classes: int, box: float | None = None, goal: float = _GOAL
) -> Solution:
    """Solve on trusted input; vectors are flat.

    Without a box the optimum over all mu is sought. If there is none, because the uncertainty set restricted to X is
    empty, the problem is solved over |mu| <= `EMPTY_BOX` and the status says so.
    """
    outcome = _attempt(prepared, tau, lam, n_classes, box, goal)
    note = "" if box is None else f" over |mu| <= {box:g}"
    iterations = outcome.iterations
    if outcome.empty:
        box = EMPTY_BOX
        note = f" over |mu| <= {box:g}: the uncertainty set restricted to X is empty, without a box there is no optimum"
        outcome = _attempt(prepared, tau, lam, n_classes, box, goal)
        iterations += outcome.iterations
    converged = outcome.solved(GAP)
    mu = outcome.mu.ravel()
    return Solution(
        mu=mu,
        value=outcome.value,
        lower_bound=outcome.bound,
        gap=outcome.value - outcome.bound,
        iterations=iterations,
        converged=converged,
        status=("optimal" if converged else "stopped by rounding before the gap was closed") + note,
        last=mu,
        last_value=outcome.value,
        box=box,
    )
