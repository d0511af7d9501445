"""What all solvers share: the max term of problem (3), and the result object."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imrc._types import Floats


def subset_values(scores: Floats) -> Floats:
    """Return the max over label subsets of (sum of scores - 1) / size, (n, C) -> (n,): `_subgradient._worst` in NumPy.

    >>> subset_values(np.array([[0.75, 0.75], [2.0, 0.0]])).tolist()
    [0.25, 1.0]
    """
    ordered = np.sort(scores, axis=1)[:, ::-1]
    return np.asarray(((np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, scores.shape[1] + 1)).max(axis=1))


def objective(tau: Floats, lam: Floats, mu: Floats, worst: float) -> float:
    """Return the objective of problem (3) where its max term is `worst`; tau, lam and mu have one shape."""
    return float(1.0 + (lam * np.abs(mu)).sum() - (tau * mu).sum() + worst)


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of `solve`; `value` is the objective at `mu`.

    Attributes
    ----------
    mu : ndarray of shape (n_classes * (D + 1),)
        Classifier parameters: one block per class, intercept first.
    value : float
        Objective of (3) at `mu`: the minimax risk R(U) once the problem is solved to optimality.
    lower_bound : float or None
        A number not above the optimum (over |mu| <= box where a box holds); None where none was sought or found.
    gap : float or None
        ``value - lower_bound``, where a bound is known.
    iterations : int
        Iterations done.
    converged : bool
        True if the optimum was reached within tolerance.
    status : str
        What happened, in words.
    last : ndarray of shape (n_classes * (D + 1),)
        Last iterate, from which a following problem can go on.
    last_value : float
        Objective at `last`.
    box : float or None
        Bound on |mu| that was in force; None: there was none.
    """

    mu: Floats
    value: float
    lower_bound: float | None
    gap: float | None
    iterations: int
    converged: bool
    status: str
    last: Floats
    last_value: float
    box: float | None = None
