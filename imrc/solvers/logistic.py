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
from numpy.typing import NDArray

from imrc._types import Floats

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
    y: NDArray[np.int64],
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
    from imrc.solvers._logistic import fit_log_loss

    targets = np.zeros((len(start), len(y)))
    targets[y, np.arange(len(y))] = weights
    matrix, start = np.ascontiguousarray(matrix), np.ascontiguousarray(start)
    solved = fit_log_loss(matrix, primal, targets, weights, penalty, start, max_iter, tolerance)
    return LogLossSolution(solved[0], float(solved[1]), int(solved[2]))
