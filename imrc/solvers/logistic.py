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

import numpy as np
from numpy.typing import ArrayLike

from imrc._types import Floats, Ints

INTERCEPT_SCALE = 10.0
"""Value the intercept has inside the Gram matrix: a large one leaves it practically without penalty."""

MAX_ITER = 200
TOLERANCE = 3e-3


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
    """Minimise weighted log loss plus ``penalty / 2 |mu|^2``, one problem after the other in one compiled call.

    The matrix holds `scaled` samples (N, D + 1) if primal, which is faster with fewer features than samples, or else
    their Gram matrix. y (N,) are classes 0..C-1. Each problem has a row of `weights` (P, N), which sums to 1, samples
    before the first and after the last weight above 0 taking no part, and a start, (P, C, D + 1) or (P, C, N), which
    sums to zero over the classes; where `after` is not -1 it begins from the solution of the problem of that number.
    It stops when the norm of the gradient is below its tolerance. Coefficients of a `moving` one change linearly with
    the `times` (N,) of the samples: primal it has twice as many, and the others leave the second half alone. Returns
    coefficients like the starts, minimax log losses in nats, penalty included, and iterations.

    >>> X = scaled(np.array([[1.0, -1.0], [1.0, 1.0]]))
    >>> weights, penalty, start = np.array([[0.5, 0.5]]), np.array([1.0]), np.zeros((1, 2, 2))
    >>> coefficients, _, _ = solve_in_turn(X, np.array([0, 1]), weights, penalty, start, primal=True)
    >>> float(coefficients[0, 1, 1].round(2))
    0.34
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
