"""The objective of problem (3) at any parameters: what the solvers' values are compared with."""

import numpy as np
from numpy.typing import ArrayLike

from imrc.solvers._exact import objective, subset_values
from imrc.solvers.api import with_intercept


def evaluate_objective(X: ArrayLike, tau: ArrayLike, lam: ArrayLike, mu: ArrayLike, *, n_classes: int) -> float:
    """Return the objective of (3) at `mu` for instances X (N, D), mean vector tau and confidence vector lam.

    >>> evaluate_objective([[1.0]], [0.5, 0.5, 0.5, -0.5], [0, 0, 0, 0], [0, 0, 0, 0], n_classes=2)
    0.5
    """
    X, tau, lam, mu = (np.ascontiguousarray(one, dtype=np.float64) for one in (X, tau, lam, mu))
    return objective(tau, lam, mu, subset_values(with_intercept(X) @ mu.reshape(n_classes, -1).T).max())
