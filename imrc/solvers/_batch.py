"""Instance sets laid out once, problems solved one by one or many at a time in threads.

The compiled kernels release the interpreter's lock, so plain threads use all cores; nothing here depends on a
threading layer that could be entered twice.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from imrc.solvers._solution import Solution

Floats = NDArray[np.float64]

GRAM_ROWS = 1024
"""Instances up to which the whole Gram matrix is kept (8 MB); above, its rows are computed when needed."""

GRAM_NUMBERS = 8_000_000
"""Room for such rows in one problem (64 MB)."""


def incremental_pays(n: int, p: int) -> bool:
    """Whether updating the scores is faster than computing them, as measured (tests/benchmarks/README.md).

    Examples
    --------
    >>> incremental_pays(10, 401), incremental_pays(100, 401), incremental_pays(32, 21)
    (False, True, False)
    """
    return n > 16 and n * p > 1000


@dataclass(frozen=True, eq=False)
class Instances:
    """An instance set X ready for the subgradient kernel; make it with `prepare_instances`, share it freely.

    Attributes
    ----------
    X1 : ndarray of shape (n, D + 1)
        Instances with the intercept column.
    data : ndarray
        Rows, columns and perhaps the Gram matrix, padded for the kernel.
    mode : int
        How the kernel computes scores.
    """

    X1: Floats
    data: Floats
    mode: int

    def __reduce__(self) -> tuple[Callable[[Floats], Instances], tuple[Floats]]:
        # Pickles hold the instances only; the layout is made again.
        return prepare_instances, (self.X1,)


def prepare_instances(X1: Floats) -> Instances:
    """Lay out instances (n, D + 1, intercept first) once for all problems that use them.

    Parameters
    ----------
    X1 : ndarray of shape (n, D + 1)
        Instances, intercept column first.

    Returns
    -------
    Instances
    """
    from imrc.solvers import _subgradient
    from imrc.solvers._scores import prepare

    n, p = X1.shape
    mode = _subgradient.DIRECT
    if incremental_pays(n, p):
        mode = _subgradient.GRAM if n <= GRAM_ROWS else _subgradient.LAZY
    X1 = np.ascontiguousarray(X1)
    return Instances(X1, prepare(X1, mode == _subgradient.GRAM), mode)


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem (3) for the subgradient method, on trusted input.

    Attributes
    ----------
    instances : Instances
        The set X.
    tau, lam : ndarray of shape (m,)
        Mean and confidence vectors.
    start : Solution or None
        Where to start: its last iterate, its best point as first candidate. None: zeros.
    """

    instances: Instances
    tau: Floats
    lam: Floats
    start: Solution | None = None


def run_subgradient(
    instances: Instances,
    tau: Floats,
    lam: Floats,
    n_classes: int,
    max_iter: int,
    start: Floats,
    candidate: Floats,
) -> Solution:
    """Run the compiled method; vectors are flat, float64 and contiguous."""
    from imrc.solvers import _subgradient

    shape = (n_classes, instances.X1.shape[1])
    best, last = np.empty(shape), np.empty(shape)
    value, last_value = _subgradient.run(
        instances.data,
        len(instances.X1),
        instances.mode,
        GRAM_NUMBERS,
        tau.reshape(shape),
        lam.reshape(shape),
        start.reshape(shape),
        candidate.reshape(shape),
        max_iter,
        best,
        last,
    )
    return Solution(
        mu=best.ravel(),
        value=value,
        lower_bound=None,
        gap=None,
        iterations=max_iter,
        converged=False,
        status=f"stopped after {max_iter} iterations",
        last=last.ravel(),
        last_value=last_value,
    )


def _solve(problem: Problem, n_classes: int, max_iter: int, method: str) -> Solution:
    if method == "exact":
        from imrc.solvers._exact import prepare_exact, solve_exact

        return solve_exact(prepare_exact(problem.instances.X1), problem.tau, problem.lam, n_classes)
    zeros = np.zeros_like(problem.tau) if problem.start is None else None
    start = zeros if problem.start is None else problem.start.last
    candidate = zeros if problem.start is None else problem.start.mu
    assert start is not None  # noqa: S101 - narrows the type
    assert candidate is not None  # noqa: S101 - narrows the type
    return run_subgradient(problem.instances, problem.tau, problem.lam, n_classes, max_iter, start, candidate)


_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_owner = 0


def cores() -> int:
    """Cores this process may use, also where a container has fewer than the machine.

    Returns
    -------
    int
        At least 1.
    """
    return int(joblib.cpu_count())


def _shared_pool() -> ThreadPoolExecutor:
    """One pool per process, made at first use (again after a fork)."""
    global _pool, _pool_owner
    with _lock:
        if _pool is None or _pool_owner != os.getpid():
            _pool = ThreadPoolExecutor(cores(), thread_name_prefix="imrc-solver")
            _pool_owner = os.getpid()
        return _pool


def solve_many(
    problems: Sequence[Problem],
    n_classes: int,
    max_iter: int = 2000,
    *,
    threads: int | None = None,
    method: str = "subgradient",
) -> list[Solution]:
    """Solve independent problems; the results do not depend on the number of threads.

    Parameters
    ----------
    problems : sequence of Problem
        In any order; those that share an `Instances` share its layout.
    n_classes : int
        Number of classes C.
    max_iter : int
        Iterations.
    threads : int or None
        1: no threads. None: all cores if there is more than one problem. Never call with more than 1 from a function
        that itself runs inside `solve_many`.
    method : {"subgradient", "exact"}
        As in `solve`; the exact method ignores `max_iter` and the starting points.

    Returns
    -------
    list of Solution
        In the order of the problems.
    """
    if len(problems) < 2 or (threads or cores()) < 2:
        return [_solve(problem, n_classes, max_iter, method) for problem in problems]
    futures = [_shared_pool().submit(_solve, problem, n_classes, max_iter, method) for problem in problems[1:]]
    first = _solve(problems[0], n_classes, max_iter, method)  # this thread works as well
    return [first, *(future.result() for future in futures)]
