"""The one public entry to the solvers: checks, dispatch and the result object."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import check_choice, check_int, check_matrix, check_real
from imrc._types import Floats
from imrc.solvers._batch import prepare_instances, run_subgradient
from imrc.solvers._exact import certified_bound, prepare_exact, solve_exact
from imrc.solvers._solution import Solution

Method = Literal["subgradient", "exact"]
METHODS: tuple[Method, ...] = ("subgradient", "exact")


def with_intercept(X: Floats) -> Floats:
    """Return X with a first column of ones, C-contiguous."""
    out = np.empty((X.shape[0], X.shape[1] + 1))
    out[:, 0] = 1.0
    out[:, 1:] = X
    return out


def _starting_points(warm_start: Solution | ArrayLike | None, tau: Floats) -> tuple[Floats, Floats]:
    """Return first iterate and first candidate."""
    if isinstance(warm_start, Solution):
        start, candidate = warm_start.last, warm_start.mu
    elif warm_start is None:
        start = candidate = np.zeros_like(tau)
    else:
        start = candidate = np.ascontiguousarray(warm_start, dtype=np.float64)
    if start.shape != tau.shape:
        raise ValueError(f"warm_start must have {tau.shape[0]} parameters; got shape {start.shape}.")
    if not (np.isfinite(start).all() and np.isfinite(candidate).all()):
        raise ValueError("warm_start has a missing or infinite value.")
    return start, candidate


def _finite(solution: Solution) -> Solution:
    if not np.isfinite([solution.value, solution.last_value]).all():
        raise ValueError("The scores became too large for floating-point numbers; scale the features.")
    return solution


def certify(solution: Solution, X1: Floats, tau: Floats, lam: Floats) -> Solution:
    """Return the solution with a lower bound on the optimum, or with the reason why there is none (see `solve`)."""
    bound, reason = certified_bound(X1, tau, lam, len(tau) // X1.shape[1])
    if bound is None:
        return replace(solution, status=f"{solution.status}; no lower bound: {reason}")
    return replace(solution, lower_bound=bound, gap=solution.value - bound)


def _check_problem(X: ArrayLike, tau: ArrayLike, lam: ArrayLike, n_classes: int) -> tuple[Floats, Floats, Floats, int]:
    X = check_matrix("X", X)
    if len(X) == 0:
        raise ValueError("X must hold at least one instance.")
    n_classes = check_int("n_classes", n_classes, 2)
    size = n_classes * (X.shape[1] + 1)
    vectors = []
    for name, value in (("tau", tau), ("lam", lam)):
        vector = np.ascontiguousarray(value, dtype=np.float64)
        if vector.shape != (size,):
            raise ValueError(f"{name} must have shape ({size},) = n_classes * (features + 1); got {vector.shape}.")
        if not np.isfinite(vector).all():
            raise ValueError(f"{name} has a missing or infinite value at index {np.argmin(np.isfinite(vector))}.")
        vectors.append(vector)
    if (vectors[1] < 0).any():
        raise ValueError(f"lam must not be negative; it is at index {int(np.argmax(vectors[1] < 0))}.")
    return X, vectors[0], vectors[1], n_classes


def solve(
    X: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    *,
    n_classes: int,
    method: Method = "subgradient",
    max_iter: int = 2000,
    box: float | None = None,
    warm_start: Solution | ArrayLike | None = None,
    lower_bound: bool = False,
) -> Solution:
    """Solve problem (3) for one uncertainty set.

    Parameters
    ----------
    X : array-like of shape (N, D)
        Instances over which the maximum runs, without the intercept column.
    tau : array-like of shape (n_classes * (D + 1),)
        Mean vector: one block per class, intercept first.
    lam : array-like of shape (n_classes * (D + 1),)
        Confidence vector, not negative.
    n_classes : int
        Number of classes, at least 2.
    method : {"subgradient", "exact"}
        "subgradient": the paper's accelerated scheme, eq. (ASM) of its appendix, stopped after `max_iter` iterations.
        "exact": the optimum of the linear program by HiGHS, to a relative gap of 1e-6 that is certified.
    max_iter : int
        Iterations of the subgradient method, at least 1. The paper uses 2000, which is early stopping.
    box : float or None
        Exact method: bound on every |mu|. None: no bound, unless there is no optimum without one (the uncertainty set
        restricted to X is empty, which happens often with backward learning, few samples and X = the task's own);
        then |mu| <= 1 is used and the status says so. The subgradient method takes no box.
    warm_start : Solution, array-like of shape (n_classes * (D + 1),), or None
        Where to start: an array is both first iterate and first candidate; a Solution gives its last iterate and
        its best point (what the paper's code does along the forward chain). None: zeros. The exact method begins with
        the components that are not zero there: several times faster where few change.
    lower_bound : bool
        Subgradient method: also find a lower bound of the optimum, by the exact method, which can take many times as
        long. The exact method always has one.

    Returns
    -------
    Solution
        `lower_bound` and `gap` are None for the subgradient method unless the bound was asked for. They are None even
        then for more than 600 pairs of instance and class (use method="exact"), and if the uncertainty set restricted
        to X is empty, when the objective has no lower end; the status says so.

    Raises
    ------
    ValueError
        If shapes do not fit or values are not finite, or a box is given to the subgradient method.

    Examples
    --------
    Two instances, one per class, known exactly: the worst case can be driven to nothing.

    >>> solution = solve([[1.0], [-1.0]], [0.5, 0.5, 0.5, -0.5], [0.0] * 4, n_classes=2)
    >>> round(solution.value, 3)
    0.0

    The same to a certified gap.

    >>> solution = solve([[1.0], [-1.0]], [0.5, 0.5, 0.5, -0.5], [0.0] * 4, n_classes=2, method="exact")
    >>> solution.status, solution.gap < 1e-6
    ('optimal', True)
    """
    check_choice("method", method, METHODS)
    X, tau, lam, n_classes = _check_problem(X, tau, lam, n_classes)
    max_iter = check_int("max_iter", max_iter, 1)
    if box is not None:
        box = check_real("box", box, 0.0, low_open=True)
        if method != "exact":
            raise ValueError('box is an option of method="exact"; the subgradient method has no bound on mu.')
    start, candidate = _starting_points(warm_start, tau)
    X1 = with_intercept(X)
    if method == "exact":
        return _finite(solve_exact(prepare_exact(X1), tau, lam, n_classes, box, candidate))
    solution = _finite(run_subgradient(prepare_instances(X1), tau, lam, n_classes, max_iter, start, candidate))
    return certify(solution, X1, tau, lam) if lower_bound else solution
