"""From classifier parameters to labels and probabilities."""

from __future__ import annotations

import numpy as np

from imrc._types import Floats


def scores(X1: Floats, mu: Floats, n_classes: int) -> Floats:
    """Return Phi(x, y)'mu for instances with intercept column X1 (n, D + 1), shape (n, C)."""
    return X1 @ mu.reshape(n_classes, -1).T


def softmax(values: Floats) -> Floats:
    """Return exp(score) over its sum for scores of shape (..., C).

    >>> softmax(np.array([[0.0, np.log(3.0)]]))
    array([[0.25, 0.75]])
    """
    weights = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def probabilities(values: Floats, loss: str, nu: float) -> Floats:
    """Return h(y|x) of a rule for scores of shape (n, C): `softmax` for log loss, else `randomised_rule`."""
    return softmax(values) if loss == "log" else randomised_rule(values, nu)


def randomised_rule(values: Floats, nu: float) -> Floats:
    """Return h(y|x), proportional to max(score - nu, 0), (n, C), else 1 / C; nu is the max term of (3) at mu.

    >>> randomised_rule(np.array([[0.5, 0.0]]), -0.25)
    array([[0.75, 0.25]])
    """
    positive = np.maximum(values - nu, 0.0)
    total = positive.sum(axis=1, keepdims=True)
    uniform = np.full_like(positive, 1.0 / values.shape[1])
    return np.asarray(np.divide(positive, total, out=uniform, where=total > 0))
