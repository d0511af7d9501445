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

import numpy as np
from joblib import cpu_count

from imrc._types import Floats
from imrc.solvers._solution import Solution

GRAM_NUMBERS = 8_000_000
"""Room for rows of the Gram matrix in one problem (64 MB); they are computed when needed."""


def incremental_pays(n: int) -> bool:
    """Whether updating the scores is faster than computing them, as measured (tests/benchmarks/README.md).

    >>> incremental_pays(10), incremental_pays(40)
    (False, True)
    """
    return n > 16


@dataclass(frozen=True, eq=False)
class Instances:
    """An instance set X ready for the subgradient kernel; make it with `prepare_instances`, share it freely."""

    X1: Floats  # (n, D + 1), intercept column first
    rows: Floats  # the same, padded for the kernel
    columns: Floats  # the same transposed, for incremental scores; (0, 0) for direct ones

    def __reduce__(self) -> tuple[Callable[[Floats], Instances], tuple[Floats]]:
        # Pickles hold the instances only; the layout is made again.
        return prepare_instances, (self.X1,)


def prepare_instances(X1: Floats, incremental: bool | None = None) -> Instances:
    """Lay out instances (n, D + 1, intercept first) once for all problems; `incremental` None: what is faster for n."""
    from imrc.solvers._subgradient import PADDING

    n, p = X1.shape
    X1 = np.ascontiguousarray(X1)
    rows = np.zeros((n, -(-p // PADDING) * PADDING))
    rows[:, :p] = X1
    follow = incremental_pays(n) if incremental is None else incremental
    return Instances(X1, rows, np.ascontiguousarray(X1.T) if follow else np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem (3), on trusted input."""

    instances: Instances
    tau: Floats  # (m,), as is lam
    lam: Floats
    start: Solution | None = None  # its last iterate and best point are used; exact: which parameters of that are not 0


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
        instances.rows,
        instances.columns,
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
    tau, start = problem.tau, problem.start
    last, best = (np.zeros_like(tau), np.zeros_like(tau)) if start is None else (start.last, start.mu)
    if method == "exact":
        from imrc.solvers._exact import prepare_exact, solve_exact

        return solve_exact(prepare_exact(problem.instances.X1), tau, problem.lam, n_classes, start=best)
    return run_subgradient(problem.instances, tau, problem.lam, n_classes, max_iter, last, best)


_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_owner = 0


def cores() -> int:
    """Return how many cores this process may use, also where a container has fewer than the machine."""
    return int(cpu_count())


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
    """Solve independent problems, in their order; the results do not depend on the number of threads.

    `threads` None: all cores if there is more than one problem; never more than 1 from inside `solve_many` itself.
    """
    if len(problems) < 2 or (threads or cores()) < 2:
        return [_solve(problem, n_classes, max_iter, method) for problem in problems]
    futures = [_shared_pool().submit(_solve, problem, n_classes, max_iter, method) for problem in problems[1:]]
    first = _solve(problems[0], n_classes, max_iter, method)  # this thread works as well
    return [first, *(future.result() for future in futures)]
