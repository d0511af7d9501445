"""Minimax rule for log loss with the marginal of instances fixed: a weighted logistic regression on tracked means.

Over the distributions whose instances follow a weighted set of samples and whose expectation of Phi lies in an
uncertainty set around tau, the rule with the smallest worst-case log loss is h(y|x) proportional to
exp(Phi(x, y)'mu), where mu minimises

    -tau'mu + sum_i w_i log sum_y exp(Phi(x_i, y)'mu) + penalty(mu).

The penalty is the support function of the set, the norm of mu for a ball, used here in its squared form. Since tau is
a weighted mean of the samples' own Phi, the solution is then a combination of the samples and everything follows from
their Gram matrix: an iteration costs N^2 C, whatever the number of features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from imrc._types import Floats, Ints

INTERCEPT_SCALE = 10.0
"""Value the intercept has inside the Gram matrix: a large one leaves it practically without penalty."""

MAX_ITER = 200
TOLERANCE = 3e-3


@dataclass(frozen=True, eq=False)
class LogLossSolution:
    """Solution of one problem."""

    coefficients: Floats  # (C, N) of the samples (dual), or (C, D + 1) of the scaled features (primal)
    value: float  # minimax log loss in nats, penalty included
    iterations: int


def scaled(X1: Floats) -> Floats:
    """Return mapped instances (N, D + 1) with the intercept column at its scale."""
    out = X1.copy()
    out[:, 0] *= INTERCEPT_SCALE
    return out


def primal_parameters(coefficients: Floats) -> Floats:
    """Return mu (C * (D + 1),) from the coefficients (C, D + 1) of scaled features."""
    mu = coefficients.copy()
    mu[:, 0] *= INTERCEPT_SCALE
    return mu.ravel()


def solve_log_loss(
    matrix: Floats,
    y: Ints,
    weights: Floats,
    penalty: float,
    start: Floats,
    *,
    primal: bool,
    max_iter: int = MAX_ITER,
    tolerance: float = TOLERANCE,
) -> LogLossSolution:
    """Minimise weighted log loss plus ``penalty / 2 |mu|^2`` by limited-memory BFGS.

    The matrix holds `scaled` samples (N, D + 1) if primal, which is faster with fewer features than samples, or else
    their Gram matrix. y (N,) are classes 0..C-1, weights sum to 1; `start` (C, D + 1) or (C, N) sums to zero over the
    classes. It stops when the norm of the gradient is below the tolerance.

    >>> X = scaled(np.array([[1.0, -1.0], [1.0, 1.0]]))
    >>> solution = solve_log_loss(X, np.array([0, 1]), np.array([0.5, 0.5]), 1.0, np.zeros((2, 2)), primal=True)
    >>> float(solution.coefficients[1, 1].round(2))
    0.34
    """
    found, values, iterations = solve_in_turn(
        matrix,
        y,
        weights[None],
        np.array([penalty]),
        start[None],
        primal=primal,
        max_iter=max_iter,
        tolerances=tolerance,
    )
    return LogLossSolution(found[0], float(values[0]), int(iterations[0]))


def solve_in_turn(
    matrix: Floats,
    y: Ints,
    weights: Floats,
    penalties: Floats,
    starts: Floats,
    *,
    primal: bool,
    tolerances: ArrayLike = TOLERANCE,
    after: ArrayLike = -1,
    times: Floats | None = None,
    moving: ArrayLike = False,
    max_iter: int = MAX_ITER,
) -> tuple[Floats, Floats, Ints]:
    """Solve problems on the same samples one after the other in one compiled call, without the interpreter's lock.

    As in `solve_log_loss`, with a row of `weights` a problem, (P, N), and `starts` (P, C, D + 1) or (P, C, N); samples
    before the first and after the last weight above 0 take no part. A problem begins from the solution of the one
    numbered in `after` where that is not -1. Coefficients of a `moving` one change linearly with the `times` (N,) of
    the samples: primal it has twice as many, and the others leave the second half alone. Returns coefficients like
    the starts, values and iterations.
    """
    from imrc.solvers._logistic import fit_in_turn

    count = len(weights)
    found: tuple[Floats, Floats, Ints] = fit_in_turn(
        np.ascontiguousarray(matrix),
        primal,
        np.zeros(len(y)) if times is None else times,
        np.broadcast_to(moving, count).copy(),
        y,
        weights,
        penalties,
        np.ascontiguousarray(starts),
        np.broadcast_to(after, count).copy(),
        max_iter,
        np.broadcast_to(tolerances, count).astype(np.float64),
    )
    return found
