"""What others call: one problem (3) or many at a time, what rules answer, and the kernels compiled beforehand.

The compiled kernels release the interpreter's lock, so plain threads use all cores; nothing here depends on a
threading layer that could be entered twice. Numba and HiGHS are loaded when they are first needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
from joblib import cpu_count
from numpy.typing import ArrayLike

from imrc._checks import check_choice, check_int, check_matrix, check_real
from imrc._types import Floats

SolverName = Literal["subgradient", "exact"]
SOLVERS: tuple[SolverName, ...] = get_args(SolverName)
GRAM_NUMBERS = 8_000_000
"""Room for rows of the Gram matrix in one problem (64 MB); they are computed when needed."""
LARGE = 16
"""Instances above which updating the scores is faster than computing them, as measured (tests/benchmarks/README.md)."""


def cores() -> int:
    """Return how many cores this process may use, also where a container has fewer than the machine."""
    return int(cpu_count())


def with_intercept(X: Floats) -> Floats:
    """Return X with a first column of ones, C-contiguous."""
    out = np.empty((X.shape[0], X.shape[1] + 1))
    out[:, 0] = 1.0
    out[:, 1:] = X
    return out


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of `solve`; `value` is the objective at `mu`."""

    mu: Floats  #: Classifier parameters, one block per class, intercept first, shape (n_classes * (D + 1),).
    value: float  #: Objective of (3) at `mu`: the minimax risk R(U) once the problem is solved to optimality.
    iterations: int  #: Iterations done.
    converged: bool  #: True if the optimum was reached within tolerance.
    status: str  #: What happened, in words.
    last: Floats  #: Last iterate, from which a following problem can continue, of the shape of `mu`.
    last_value: float  #: Objective at `last`.
    lower_bound: float | None = None  #: Exact method: a lower bound of the optimum (over |mu| <= box if there is one).
    box: float | None = None  #: Bound on |mu| that was used, or None.

    @property
    def gap(self) -> float | None:
        """Distance from the lower bound to `value`, which is 0 at the optimum; None without a lower bound."""
        return None if self.lower_bound is None else self.value - self.lower_bound


@dataclass(frozen=True, eq=False)
class InstanceSet:
    """An instance set X ready for the subgradient kernel; make it with `prepare_instances`, share it freely."""

    X1: Floats  # (n, D + 1), intercept column first
    rows: Floats  # the same, padded for the kernel
    columns: Floats  # the same transposed, for incremental scores; (0, 0) for direct ones

    def __reduce__(self) -> tuple[Callable[[Floats], InstanceSet], tuple[Floats]]:
        # Pickles keep the instances only; the layout is made again.
        return prepare_instances, (self.X1,)


def prepare_instances(X1: Floats, incremental: bool | None = None) -> InstanceSet:
    """Lay out instances (n, D + 1, intercept first) once for all problems; n decides about `incremental`."""
    from imrc.solvers._subgradient import PADDING

    n, p = X1.shape
    X1 = np.ascontiguousarray(X1)
    rows = np.zeros((n, -(-p // PADDING) * PADDING))
    rows[:, :p] = X1
    follow = n > LARGE if incremental is None else incremental
    return InstanceSet(X1, rows, np.ascontiguousarray(X1.T) if follow else np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem (3), on trusted input: flat vectors of float64."""

    instances: InstanceSet
    tau: Floats  # (m,), as is lam
    lam: Floats
    start: Solution | tuple[Floats, Floats] | None = None  # first iterate and first candidate, by default zeros

    def solve(self, n_classes: int, max_iter: int, method: str = "subgradient", box: float | None = None) -> Solution:
        """Solve it by one of the methods; only the exact one heeds a box."""
        start = (self.start.last, self.start.mu) if isinstance(self.start, Solution) else self.start
        first, candidate = start or (np.zeros_like(self.tau),) * 2
        if method == "exact":
            from imrc.solvers._exact import solve_exact

            return solve_exact(self.instances.X1, self.tau, self.lam, n_classes, box, candidate)
        from imrc.solvers import _subgradient

        shape = (n_classes, self.instances.X1.shape[1])
        best, last = np.empty(shape), np.empty(shape)
        tau, lam, first, candidate = (one.reshape(shape) for one in (self.tau, self.lam, first, candidate))
        rows, columns = self.instances.rows, self.instances.columns
        value, last_value = _subgradient.run(
            rows, columns, GRAM_NUMBERS, tau, lam, first, candidate, max_iter, best, last
        )
        status = f"stopped after {max_iter} iterations"
        return Solution(best.ravel(), value, max_iter, False, status, last.ravel(), last_value)


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the one pool of a process, made at first use: threads do not survive a fork."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="imrc-solver")


def solve_many(
    problems: Sequence[Problem],
    n_classes: int,
    max_iter: int = 2000,
    *,
    threads: int | None = None,
    method: str = "subgradient",
) -> list[Solution]:
    """Solve independent problems, in their order, by default on all cores; inside `solve_many`, give `threads` = 1."""
    how = n_classes, max_iter, method
    if len(problems) < 2 or (threads or cores()) < 2:
        return [problem.solve(*how) for problem in problems]
    submit = _pool(os.getpid()).submit
    futures = [submit(problem.solve, *how) for problem in problems[1:]]
    first = problems[0].solve(*how)  # this thread works as well
    return [first, *(future.result() for future in futures)]


def _vector(name: str, value: ArrayLike, size: int) -> Floats:
    """Return a vector over components, contiguous; ValueError names what is wrong with it."""
    vector = np.ascontiguousarray(value, dtype=np.float64)
    if vector.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},) = n_classes * (features + 1); got {vector.shape}.")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} has a missing or infinite value at index {np.argmin(np.isfinite(vector))}.")
    return vector


def solve(
    X: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    *,
    n_classes: int,
    method: SolverName = "subgradient",
    max_iter: int = 2000,
    box: float | None = None,
    warm_start: Solution | ArrayLike | None = None,
) -> Solution:
    """Solve problem (3) for one uncertainty set.

    For a mean vector tau, a confidence vector lambda and a finite set X of instances, find mu that minimises

        1 - tau'mu + max over x in X, C of (sum over y in C of Phi(x, y)'mu - 1) / |C| + lambda'|mu|

    with C running over the non-empty sets of classes.

    Parameters
    ----------
    X : array-like of shape (N, D)
        Instances over which the maximum is taken, without the intercept column.
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
        Exact method: bound on every |mu|. By default there is none, unless there is no optimum without one (the
        uncertainty set restricted to X is empty, which often happens with backward learning, few samples and X = the
        task's own). In that case |mu| <= 1 is used, and the status says so. The subgradient method takes no box.
    warm_start : Solution, array-like of shape (n_classes * (D + 1),), or None
        Where to start. An array is both the first iterate and the first candidate. A Solution provides its last
        iterate and its best point, as in the paper's code along the forward chain. The default is zeros. The exact
        method begins with the components that are not zero there, which is several times faster if few of them change.

    Returns
    -------
    Solution
        `lower_bound` and `gap` are None for the subgradient method.

    Raises
    ------
    ValueError
        If shapes do not match or values are not finite, or a box is given to the subgradient method.

    Examples
    --------
    Two instances, one per class, known exactly. The worst case can be reduced to zero.

    >>> solution = solve([[1.0], [-1.0]], [0.5, 0.5, 0.5, -0.5], [0.0] * 4, n_classes=2)
    >>> round(solution.value, 3)
    0.0

    The same to a certified gap.

    >>> solution = solve([[1.0], [-1.0]], [0.5, 0.5, 0.5, -0.5], [0.0] * 4, n_classes=2, method="exact")
    >>> solution.status, solution.gap < 1e-6
    ('optimal', True)
    """
    check_choice("method", method, SOLVERS)
    X = check_matrix("X", X)
    if len(X) == 0:
        raise ValueError("X must contain at least one instance.")
    size = check_int("n_classes", n_classes, 2) * (X.shape[1] + 1)
    tau, lam = _vector("tau", tau, size), _vector("lam", lam, size)
    if (lam < 0).any():
        raise ValueError(f"lam must not be negative; it is at index {int(np.argmax(lam < 0))}.")
    check_int("max_iter", max_iter, 1)
    if box is not None:
        box = check_real("box", box, 0.0, low_open=True)
        if method != "exact":
            raise ValueError('box is an option of method="exact". The subgradient method does not bound mu.')
    start = None
    if warm_start is not None:
        given = (warm_start.last, warm_start.mu) if isinstance(warm_start, Solution) else (warm_start, warm_start)
        start = _vector("warm_start", given[0], size), _vector("warm_start", given[1], size)
    solution = Problem(prepare_instances(with_intercept(X)), tau, lam, start).solve(n_classes, max_iter, method, box)
    if not np.isfinite([solution.value, solution.last_value]).all():
        raise ValueError("The scores became too large for floating-point numbers. Scale the features.")
    return solution


def warm_up(progress: Callable[[float, str], object] = lambda _share, _text: None) -> None:
    """Compile the kernels, some ten seconds, or load them; ``progress(share, text)`` is called before each."""
    from imrc.features import write_cosines_and_sines
    from imrc.solvers.logistic import group_squares, group_sums, solve_in_turn

    ones, zeros, places = np.ones((2, 2)), np.zeros(4), np.arange(2)
    progress(0.0, "Preparing the solver, part 1 of 2")
    Problem(prepare_instances(ones), zeros, zeros).solve(2, 1)
    write_cosines_and_sines()
    progress(0.4, "Preparing the solver, part 2 of 2")
    group_squares(ones, places, group_sums(ones, places, 2))
    solve_in_turn(ones, places, ones[:1] / 2, ones[0, :1], zeros.reshape(1, 2, 2), primal=True, tolerances=1.0)
    progress(1.0, "The solver is ready")


def scores(X1: Floats, mu: Floats, n_classes: int) -> Floats:
    """Return Phi(x, y)'mu for instances with intercept column X1 (n, D + 1), shape (n, C)."""
    return X1 @ mu.reshape(n_classes, -1).T


def softmax(values: Floats) -> Floats:
    """Return exp(score) over its sum for scores of shape (..., C)."""
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
