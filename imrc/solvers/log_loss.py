"""Minimax rule for log loss with the marginal of instances fixed: a weighted logistic regression on tracked means.

Over the distributions whose instances follow a weighted set of samples and whose expectation of Phi lies in an
uncertainty set around tau, the rule with the smallest worst-case log loss is h(y|x) proportional to
exp(Phi(x, y)'mu), where mu minimises

    -tau'mu + sum_i w_i log sum_y exp(Phi(x_i, y)'mu) + penalty(mu).

The penalty is the support function of the set:

* L1: lambda'|mu| for a box, |E Phi - tau| <= lambda in every component, as in problem (3) of the paper;
* L2: the norm of mu for a ball, used here in its squared form. Since tau is a weighted mean of the samples' own Phi,
  the solution is then a combination of the samples and everything follows from their Gram matrix: an iteration costs
  N^2 C, whatever the number of features.
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
MAX_ITER_L1 = 50
TOLERANCE_L1 = 1e-3


@dataclass(frozen=True, eq=False)
class LogLossSolution:
    """Solution of one problem.

    Attributes
    ----------
    coefficients : ndarray of shape (C, N) or (C, D + 1)
        Coefficients of the samples (dual), or of the scaled features (primal); see `parameters`.
    value : float
        Minimax log loss in nats, penalty included.
    iterations : int
        Iterations done.
    gradient_norm : float
        Norm of the gradient at the end; NaN for the L1 penalty.
    gap : float
        Duality gap in nats for the L1 penalty: `value` is at most this far above the minimum. NaN otherwise.
    """

    coefficients: Floats
    value: float
    iterations: int
    gradient_norm: float
    gap: float = float("nan")


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


def dual_parameters(samples: Floats, coefficients: Floats) -> Floats:
    """Return mu (C * (D + 1),) from coefficients (C, N) of scaled samples (N, D + 1)."""
    return primal_parameters(coefficients @ samples)


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

    Parameters
    ----------
    matrix : ndarray of shape (N, D + 1) or (N, N)
        `scaled` samples (primal), or their Gram matrix (dual).
    y : ndarray of shape (N,)
        Classes 0..C-1.
    weights : ndarray of shape (N,)
        Not negative, summing to 1.
    penalty : float
        Positive.
    start : ndarray of shape (C, D + 1) or (C, N)
        Coefficients to start from; they sum to zero over the classes, as those of every solution do.
    primal : bool
        Which form; the primal one is faster with fewer features than samples.
    max_iter : int
        Iterations at most.
    tolerance : float
        Stop when the norm of the gradient is below this.

    Returns
    -------
    LogLossSolution

    Examples
    --------
    >>> X = scaled(np.array([[1.0, -1.0], [1.0, 1.0]]))
    >>> solution = solve_log_loss(X, np.array([0, 1]), np.array([0.5, 0.5]), 1.0, np.zeros((2, 2)), primal=True)
    >>> float(solution.coefficients[1, 1].round(2))
    0.34
    """
    from imrc.solvers._logistic import fit_log_loss

    targets = np.zeros((len(start), len(y)))
    targets[y, np.arange(len(y))] = weights
    solved = fit_log_loss(
        np.ascontiguousarray(matrix),
        primal,
        targets,
        weights,
        penalty,
        np.ascontiguousarray(start),
        max_iter,
        tolerance,
    )
    return LogLossSolution(solved[0], float(solved[1]), int(solved[2]), float(solved[3]))


def solve_log_loss_l1(
    columns: Floats,
    y: NDArray[np.int64],
    weights: Floats,
    lam: Floats,
    start: Floats,
    *,
    max_iter: int = MAX_ITER_L1,
    tolerance: float = TOLERANCE_L1,
) -> LogLossSolution:
    """Minimise weighted log loss plus ``lam'|mu|`` by a proximal Newton method, with a certificate.

    By duality the minimum is the largest entropy of labels given instances among the distributions whose expectation
    of Phi is within lam of tau; a distribution inside that set bounds the minimum from below.

    Parameters
    ----------
    columns : ndarray of shape (D + 1, N)
        Mapped samples, one row per feature, intercept first (not `scaled`: its own lambda is its penalty).
    y : ndarray of shape (N,)
        Classes 0..C-1.
    weights : ndarray of shape (N,)
        Not negative, summing to 1.
    lam : ndarray of shape (C, D + 1)
        Confidence vector lambda, positive wherever the feature is not zero throughout.
    start : ndarray of shape (C, D + 1)
        Parameters to start from.
    max_iter : int
        Newton steps at most.
    tolerance : float
        Stop when the duality gap, in nats, is below this.

    Returns
    -------
    LogLossSolution

    Examples
    --------
    >>> columns = np.array([[1.0, 1.0], [-1.0, 1.0]])
    >>> lam = np.full((2, 2), 0.2)
    >>> y, weights = np.array([0, 1]), np.array([0.5, 0.5])
    >>> solution = solve_log_loss_l1(columns, y, weights, lam, np.zeros((2, 2)), tolerance=1e-9)
    >>> mu = solution.coefficients  # h(y|x) = 0.8 = 1 - lambda, so the odds are 4
    >>> round(float(np.exp(mu[1, 1] - mu[0, 1])), 3), solution.gap <= 1e-9
    (4.0, True)
    """
    from imrc.solvers._logistic_l1 import fit_log_loss_l1

    targets = np.zeros((len(start), len(y)))
    targets[y, np.arange(len(y))] = weights
    mu, value, iterations, gap = fit_log_loss_l1(
        np.ascontiguousarray(columns), targets, weights, lam, np.ascontiguousarray(start), max_iter, tolerance
    )
    return LogLossSolution(mu, float(value), int(iterations), float("nan"), float(gap))
