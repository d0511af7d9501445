"""Logistic regression: Newton's method for few samples in many dimensions, L-BFGS for the multinomial model."""

from __future__ import annotations

import numpy as np

from imrc._types import Floats
from imrc.baselines.base import Labels


def expit(z: Floats) -> Floats:
    """Return 1 / (1 + exp(-z)) without overflow."""
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, e) / (1.0 + e))


def fit_logistic(X: Floats, positive: Floats, ridge: float, *, free_last: bool) -> Floats:
    """Return argmin over theta of sum_i log-loss(x_i'theta, y_i) + ridge / 2 ||theta||^2, solved in the samples' span.

    The last column of X (n, d) is the constant 1; with `free_last` its coefficient is not penalised, and both classes
    must occur. Stops when the Newton decrement, half of which estimates the distance to the optimal value, is small.

    >>> fit_logistic(np.array([[2.0, 1.0], [-2.0, 1.0]]), np.array([1.0, 0.0]), 1.0, free_last=True).round(4).tolist()
    [0.7408, 0.0]
    """
    body = X[:, :-1]
    n, d = body.shape
    basis = np.linalg.qr(body.T)[0] if d > n else np.eye(d)
    Z = np.hstack([body @ basis, np.ones((n, 1))])
    penalty = np.full(Z.shape[1], ridge)
    if free_last:
        penalty[-1] = 0.0
    sign = 2.0 * positive - 1.0

    def objective(theta: Floats) -> float:
        return float(np.logaddexp(0.0, -sign * (Z @ theta)).sum() + 0.5 * (penalty * theta**2).sum())

    theta = np.zeros(Z.shape[1])
    value = objective(theta)
    for _ in range(200):
        p = expit(Z @ theta)
        gradient = Z.T @ (p - positive) + penalty * theta
        hessian = (Z * (p * (1.0 - p))[:, None]).T @ Z
        hessian[np.diag_indices_from(hessian)] += penalty + 1e-12
        step = np.linalg.solve(hessian, gradient)
        decrement = float(gradient @ step)
        if decrement < 1e-9:
            theta = theta - step  # so close, a full step lands on the optimum up to rounding
            break
        size = 1.0
        while size > 1e-10:  # halve until the value falls enough (Armijo)
            trial = theta - size * step
            trial_value = objective(trial)
            if trial_value <= value - 0.25 * size * decrement:
                theta, value = trial, trial_value
                break
            size /= 2.0
        else:
            break
    return np.append(basis @ theta[:-1], theta[-1])


def fit_multinomial(
    X: Floats, y: Labels, n_classes: int, C: float = 1.0, start: Floats | None = None, *, tol: float = 1e-4
) -> Floats:
    """Return weights (n_classes, D + 1), intercept last, of logistic regression as scikit-learn defines it, by L-BFGS.

    Minimises C sum_i log-loss + 1/2 ||weights||^2; X (n, D). Classes without samples get intercept -inf. Stops when no
    entry of the gradient of the mean loss is above `tol` (scikit-learn's default).
    """
    from scipy.optimize import minimize

    n, D = X.shape
    weights = np.zeros((n_classes, D + 1))
    weights[:, -1] = -np.inf
    present = np.unique(y)
    if len(present) == 1:
        weights[present[0], -1] = 0.0
        return weights
    basis = np.linalg.qr(X.T)[0] if n < D else None  # the optimum lies in the span of the instances
    Z = np.hstack([X if basis is None else X @ basis, np.ones((n, 1))])
    rows = present[1:] if len(present) == 2 else present
    target = (y[:, None] == rows).astype(np.float64)
    first = np.zeros((len(rows), Z.shape[1]))
    if start is not None and np.isfinite(start[present]).all():
        known = start[rows] - (start[present[:1]] if len(present) == 2 else 0.0)
        first[:, :-1] = known[:, :-1] if basis is None else known[:, :-1] @ basis
        first[:, -1] = known[:, -1]

    def objective(flat: Floats) -> tuple[float, Floats]:
        W = flat.reshape(first.shape)
        scores = Z @ W.T
        if len(rows) == 1:
            loss = np.logaddexp(0.0, scores).sum() - (scores * target).sum()
            slope = expit(scores) - target
        else:
            top = scores.max(axis=1, keepdims=True)
            e = np.exp(scores - top)
            total = e.sum(axis=1, keepdims=True)
            loss = (np.log(total) + top).sum() - (scores * target).sum()
            slope = e / total - target
        gradient = slope.T @ Z
        gradient[:, :-1] += W[:, :-1] / C
        return (loss + 0.5 * (W[:, :-1] ** 2).sum() / C) / n, gradient.ravel() / n

    found = minimize(
        objective,
        first.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "gtol": tol, "ftol": 1e-4 * tol},
    ).x.reshape(first.shape)
    if len(rows) == 1:
        weights[present[0]] = 0.0
    weights[rows, :-1] = found[:, :-1] if basis is None else found[:, :-1] @ basis.T
    weights[rows, -1] = found[:, -1]
    return weights
