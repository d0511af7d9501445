"""The linear program behind problem (3), solved by HiGHS to a certified gap.

The compact dual has a weight p(x, y) for every instance and class, and their largest t(x):

    maximise   1 - sum_x t_x
    subject to p(x, y) <= t_x,  sum p = 1,  p >= 0,
               |sum_x p(x, y) x - tau_y| <= lambda_y     for each class y, one row per component

and mu are the duals of the last rows. A bound |mu| <= box lets those rows be missed at that price. Few of them matter,
so they are added as they are found to be missed; a warm start begins with the rows in which mu was not zero. A large
set X is treated the same way, a group of instances at a time.

Whatever HiGHS did, the value is the objective (3) at the mu returned, and any weights give a lower bound,

    1 - sum_x max_y p(x, y) - box' max(|X'p - tau| - lambda, 0),

so the gap is certain without trusting the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from imrc._types import Floats, Ints
from imrc.solvers.api import Solution

EMPTY_BOX = 1.0
"""Bound on |mu| used where the uncertainty set restricted to X is empty and no box was given."""
GAP = 1e-6
"""Relative gap up to which a result counts as optimal."""
_TOLERANCE = 1e-9
_FAR = 1e4  # in units of 1 / largest entry of the column: used instead of "no box" where a bound needs one
_LEAST_ROWS = 10
_MAX_ROUNDS = 200
_DENSE = 600  # n C up to which all instances are taken at once
_INSTANCES_PER_ROUND = 60
_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "primal_feasibility_tolerance": _TOLERANCE,
    "dual_feasibility_tolerance": _TOLERANCE,
}


def subset_values(scores: Floats) -> Floats:
    """Return the max over label subsets of (sum of scores - 1) / size, (n, C) -> (n,): as in `_subgradient`.

    >>> subset_values(np.array([[0.75, 0.75], [2.0, 0.0]])).tolist()
    [0.25, 1.0]
    """
    ordered = np.sort(scores, axis=1)[:, ::-1]
    return np.asarray(((np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, scores.shape[1] + 1)).max(axis=1))


def objective(tau: Floats, lam: Floats, mu: Floats, worst: float) -> float:
    """Return the objective of problem (3) where its max term is `worst`; tau, lam and mu have one shape."""
    return float(1.0 + (lam * np.abs(mu)).sum() - (tau * mu).sum() + worst)


class _Scaled:
    """Instances scaled to largest entry 1 per column."""

    def __init__(self, X1: Floats) -> None:
        self.X1 = np.ascontiguousarray(X1)
        self.scale = np.abs(X1).max(axis=0)
        self.scale[self.scale == 0.0] = 1.0
        self.rows = np.ascontiguousarray(X1 / self.scale)


@dataclass(frozen=True)
class _Outcome:
    """What one attempt gave; `mu` is (C, p) in the user's units, `empty` if no weights meet the constraints."""

    mu: Floats
    value: float
    bound: float
    iterations: int
    empty: bool

    @property
    def solved(self) -> bool:
        return self.value - self.bound <= GAP * max(1.0, abs(self.value))


def _new_program(n: int, n_classes: int, presolve: bool) -> Any:  # noqa: ANN401 - highspy has no annotations
    """Return the program without its rows for components; variables are p by class, then t."""
    pairs = n * n_classes
    make: Any = highspy.Highs  # ships types for part of its interface only
    solver = make()
    for name, value in (_OPTIONS | {"presolve": "on" if presolve else "off"}).items():
        solver.setOptionValue(name, value)
    cost, none = np.repeat([0.0, 1.0], [pairs, n]), np.zeros(0, dtype=np.int32)
    solver.addCols(pairs + n, cost, np.zeros(pairs + n), np.full(pairs + n, np.inf), 0, none, none, np.zeros(0))
    each = np.arange(pairs, dtype=np.int32)
    solver.addRow(1.0, 1.0, pairs, each, np.ones(pairs))
    below, signs = np.stack([each, pairs + each % n], axis=1).ravel(), np.tile([1.0, -1.0], pairs)
    solver.addRows(pairs, np.full(pairs, -np.inf), np.zeros(pairs), 2 * pairs, 2 * each, below, signs)
    return solver


def _add_rows(solver: Any, rows: Floats, new: Ints, low: Floats, high: Floats, prices: Floats | None) -> None:  # noqa: ANN401
    """Add the constraints of the components `new`, with ways to miss them if that has a price."""
    n, p = rows.shape
    count, old = len(new), solver.getNumRow()
    starts = np.arange(count, dtype=np.int32)
    index = ((new // p * n)[:, None] + np.arange(n)).astype(np.int32).ravel()
    solver.addRows(count, low[new], high[new], count * n, starts * np.int32(n), index, rows[:, new % p].T.ravel())
    if prices is not None:
        places = np.repeat(old + starts, 2).astype(np.int32)
        bounds = np.zeros(2 * count), np.full(2 * count, np.inf)
        cost, signs = np.repeat(prices[new], 2), np.tile([1.0, -1.0], count)
        solver.addCols(2 * count, cost, *bounds, 2 * count, np.arange(2 * count, dtype=np.int32), places, signs)


def _highs(
    scaled: _Scaled, used: Ints, tau: Floats, lam: Floats, prices: Floats | None, first: Ints, presolve: bool
) -> _Outcome:
    """Solve over the instances `used`, rows of components `first` first; `prices` bound mu, or are None."""
    rows, n_classes = scaled.rows[used], len(tau)
    (n, p), m = rows.shape, tau.size
    middle, width = (tau / scaled.scale).ravel(), (lam / scaled.scale).ravel()
    batch = max(_LEAST_ROWS, n * n_classes // 4)
    solver = _new_program(n, n_classes, presolve)
    weights, mu = np.full((n_classes, n), 1.0 / (n * n_classes)), np.zeros(m)
    there = np.zeros(m, dtype=bool)
    order: list[Ints] = []
    new, iterations = first, 0
    for _ in range(_MAX_ROUNDS):
        if len(new) == 0:
            missed = np.abs((weights @ rows).ravel() - middle) - width
            missed[there] = 0.0
            new = np.flatnonzero(missed > _TOLERANCE)
            new = np.sort(new[np.argsort(-missed[new], kind="stable")[:batch]])
            if len(new) == 0:
                break
        _add_rows(solver, rows, new, middle - width, middle + width, prices)
        there[new] = True
        order.append(new)
        solver.run()
        status = solver.getModelStatus()
        iterations += max(int(solver.getInfo().simplex_iteration_count), 0)
        if status == highspy.HighsModelStatus.kInfeasible:
            return _Outcome(np.zeros((n_classes, p)), -np.inf, -np.inf, iterations, True)
        if status != highspy.HighsModelStatus.kOptimal:
            break
        solution = solver.getSolution()
        weights = np.maximum(np.array(solution.col_value)[: n * n_classes], 0.0).reshape(n_classes, n)
        weights /= weights.sum()
        mu[np.concatenate(order)] = np.array(solution.row_dual)[1 + n * n_classes :]
        new = new[:0]
    prices = np.maximum(_FAR, 2.0 * np.abs(mu)) if prices is None else prices
    bound = 1.0 - weights.max(axis=0).sum()
    bound -= float(np.maximum(np.abs((weights @ rows).ravel() - middle) - width, 0.0) @ prices)
    mu = np.clip(mu, -prices, prices).reshape(n_classes, p) / scaled.scale
    value = objective(tau, lam, mu, subset_values(scaled.X1[used] @ mu.T).max())
    return _Outcome(mu, value, float(bound), iterations, False)


def _generate(scaled: _Scaled, tau: Floats, lam: Floats, box: float | None, first: Ints, presolve: bool) -> _Outcome:
    """Solve over few instances, add those that are worse than assumed, until none is.

    Fewer instances make the problem easier, so every round's lower bound holds for all of X. They can also leave the
    uncertainty set empty, so missing a constraint always has a price.
    """
    n, n_classes = len(scaled.X1), len(tau)
    active = np.zeros(n, dtype=bool)
    active[np.linspace(0, n - 1, max(2, _DENSE // (4 * n_classes))).astype(np.int64)] = True
    best, best_value, bound, iterations = np.zeros_like(tau), np.inf, -np.inf, 0
    prices = np.full(tau.size, _FAR) if box is None else np.tile(box * scaled.scale, n_classes)
    for _ in range(_MAX_ROUNDS):
        part = _highs(scaled, np.flatnonzero(active), tau, lam, prices, first, presolve)
        iterations += part.iterations
        first = np.flatnonzero(part.mu)
        worst = subset_values(scaled.X1 @ part.mu.T)
        value = objective(tau, lam, part.mu, worst.max())
        if value < best_value:
            best, best_value = part.mu, value
        bound = max(bound, part.bound)
        level = worst[active].max() + 0.5 * _TOLERANCE
        worst[active] = -np.inf
        candidates = np.argsort(-worst, kind="stable")[:_INSTANCES_PER_ROUND]
        candidates = candidates[worst[candidates] > level]
        if best_value - bound <= _TOLERANCE * max(1.0, abs(best_value)) or len(candidates) == 0:
            break
        active[candidates] = True
    if box is None and np.abs(best * scaled.scale).max() > 0.5 * _FAR:  # a price that you did not ask for decided
        return _highs(scaled, np.arange(n), tau, lam, None, first, presolve)
    return _Outcome(best, best_value, bound, iterations, False)


def _attempt(scaled: _Scaled, tau: Floats, lam: Floats, box: float | None, first: Ints) -> _Outcome:
    """Solve; if rounding kept the gap open, once more with presolve and from scratch."""
    outcomes = []
    for presolve in (False, True):
        if len(scaled.X1) * len(tau) <= _DENSE:
            prices = None if box is None else np.tile(box * scaled.scale, len(tau))
            outcome = _highs(scaled, np.arange(len(scaled.X1)), tau, lam, prices, first, presolve)
        else:
            outcome = _generate(scaled, tau, lam, box, first, presolve)
        if outcome.empty or outcome.solved:
            return outcome
        outcomes.append(outcome)
        first = first[:0]
    return min(outcomes, key=lambda outcome: outcome.value - outcome.bound)


def solve_exact(X1: Floats, tau: Floats, lam: Floats, n_classes: int, box: float | None, start: Floats) -> Solution:
    """Solve on trusted input, instances (n, D + 1) with the intercept first; vectors are flat.

    Without a box the optimum over all mu is sought. If there is none, because the uncertainty set restricted to X is
    empty, the problem is solved over |mu| <= `EMPTY_BOX` and the status says so.
    """
    scaled, tau, lam = _Scaled(X1), tau.reshape(n_classes, -1), lam.reshape(n_classes, -1)
    first = np.flatnonzero(start)
    outcome = _attempt(scaled, tau, lam, box, first)
    note = "" if box is None else f" over |mu| <= {box:g}"
    iterations = outcome.iterations
    if outcome.empty:
        box = EMPTY_BOX
        note = f" over |mu| <= {box:g}: the uncertainty set restricted to X is empty, without a box there is no optimum"
        outcome = _attempt(scaled, tau, lam, box, first)
        iterations += outcome.iterations
    mu = outcome.mu.ravel()
    return Solution(
        mu=mu,
        value=outcome.value,
        lower_bound=outcome.bound,
        iterations=iterations,
        converged=outcome.solved,
        status=("optimal" if outcome.solved else "stopped by rounding before the gap was closed") + note,
        last=mu,
        last_value=outcome.value,
        box=box,
    )
