"""Minimax rule for log loss with the marginal of instances fixed: a weighted logistic regression on tracked means.

Over the distributions whose instances follow a weighted set of samples and whose expectation of Phi lies in an
uncertainty set around tau, the rule with the smallest worst-case log loss is h(y|x) proportional to
exp(Phi(x, y)'mu), where mu minimises

    -tau'mu + sum_i w_i log sum_y exp(Phi(x_i, y)'mu) + penalty(mu).

The penalty is the support function of the set: lambda'|mu| for a box, the norm of mu for a ball, used here in its
squared form. Since tau is a weighted mean of the samples' own Phi, the solution is a combination of the samples and
everything follows from their Gram matrix: an iteration costs N^2 C, whatever the number of features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

INTERCEPT_SCALE = 10.0
"""Value the intercept has inside the Gram matrix: a large one leaves it practically without penalty."""

MAX_ITER = 200
TOLERANCE = 3e-3


@dataclass(frozen=True, eq=False)
class LogLossSolution:
    """Solution in the span of the samples.

    Attributes
    ----------
    coefficients : ndarray of shape (N, C)
        mu = sum_i coefficients[i, c] x_i in block c; see `parameters`.
    value : float
        Minimax log loss in nats, penalty included.
    iterations : int
        Iterations done.
    gradient_norm : float
        Norm of the gradient at the end.
    """

    coefficients: Floats
    value: float
    iterations: int
    gradient_norm: float


def gram_matrix(rows: Floats, columns: Floats) -> Floats:
    """Return inner products of mapped instances (N, D + 1) and (M, D + 1), intercept scaled, shape (N, M)."""
    return np.asarray(rows @ columns.T + (INTERCEPT_SCALE**2 - 1.0))


def parameters(X1: Floats, coefficients: Floats) -> Floats:
    """Return mu (C * (D + 1),) from coefficients (N, C) of mapped instances X1 (N, D + 1)."""
    mu = X1.T @ coefficients
    mu[0] *= INTERCEPT_SCALE**2
    return np.ascontiguousarray(mu.T).ravel()


def solve_log_loss(
    gram: Floats,
    y: NDArray[np.int64],
    weights: Floats,
    penalty: float,
    start: Floats,
    n_classes: int,
    *,
    max_iter: int = MAX_ITER,
    tolerance: float = TOLERANCE,
) -> LogLossSolution:
    """Minimise weighted log loss plus ``penalty / 2 |mu|^2`` by limited-memory BFGS in the span of the samples.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        `gram_matrix` of the samples.
    y : ndarray of shape (N,)
        Classes 0..C-1.
    weights : ndarray of shape (N,)
        Not negative, summing to 1.
    penalty : float
        Positive.
    start : ndarray of shape (N, C)
        Coefficients to start from; rows sum to zero, as those of every solution do.
    n_classes : int
        Number of classes C.
    max_iter : int
        Iterations at most.
    tolerance : float
        Stop when the norm of the gradient is below this.

    Returns
    -------
    LogLossSolution
    """
    from imrc.solvers._logistic import fit_log_loss

    targets = np.zeros((len(y), n_classes))
    targets[np.arange(len(y)), y] = weights
    solved = fit_log_loss(
        np.ascontiguousarray(gram), targets, weights, penalty, np.ascontiguousarray(start), max_iter, tolerance
    )
    return LogLossSolution(solved[0], float(solved[1]), int(solved[2]), float(solved[3]))
