"""Effective sample sizes of a task before it has any samples, of many tasks, and the samples they take.

The forward recursion of Theorem 1 in two halves: a change loses samples, ``1 / N_next = 1 / N + d^2 / sigma^2``, and a
task adds its own, ``N = n + N_next``. With x = n d^2 / sigma^2 and many tasks the two settle at

    next task, before its samples     n (sqrt(1 + 4 / x) - 1) / 2     always below sigma^2 / d^2
    newest task                       n (sqrt(1 + 4 / x) + 1) / 2
    task with many on both sides      n  sqrt(1 + 4 / x)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import check_choice, check_real
from imrc._types import Floats
from imrc.core.recursions import borrowed_samples
from imrc.core.theory._closed import ess_forward

Place = Literal["next", "newest", "middle"]
PLACES: tuple[Place, ...] = get_args(Place)


def ess_next(j: ArrayLike, n: ArrayLike, d2: ArrayLike, sigma2: ArrayLike = 1.0, steps: ArrayLike = 1.0) -> Floats:
    """Effective sample size of the task `steps` changes after the j-th (from 1), before it has any samples.

    Below ``sigma2 / (steps d2)`` however many tasks there were.

    >>> ess_next([1, 1000], 10, 0.1).round(3).tolist()
    [5.0, 6.18]
    """
    ahead = np.asarray(steps, dtype=np.float64)
    if not (ahead >= 0).all():
        raise ValueError(f"steps must be at least 0; got {steps!r}.")
    d2 = np.asarray(d2, dtype=np.float64)
    return np.asarray(borrowed_samples(ess_forward(j, n, d2, sigma2), sigma2, ahead * d2))


@dataclass(frozen=True)
class SteadyState:
    """Effective sample sizes once there are many tasks; infinite without change."""

    next: float  # before its samples
    newest: float
    middle: float  # a task with many on both sides


def steady_state(n: float, d2: float, sigma2: float = 1.0) -> SteadyState:
    """Return the effective sample sizes that more tasks no longer raise.

    >>> steady = steady_state(10, 0.1)
    >>> round(steady.next, 2), round(steady.newest, 2), round(steady.middle, 2)
    (6.18, 16.18, 22.36)
    """
    n = check_real("n", n, 0.0, low_open=True)
    x = n * check_real("d2", d2, 0.0) / check_real("sigma2", sigma2, 0.0, low_open=True)
    if x == 0.0:
        return SteadyState(math.inf, math.inf, math.inf)
    root = math.sqrt(1.0 + 4.0 / x)
    following = n * 2.0 / (x * (root + 1.0))  # (root - 1) / 2 without cancellation
    return SteadyState(following, n + following, n * root)


def samples_needed(ess: float, d2: float, sigma2: float = 1.0, *, of: Place = "newest") -> float:
    """Return the samples per task that lead to `ess` given many tasks, the inverse of `steady_state`; may be infinite.

    >>> [round(samples_needed(6.0, 0.1, of=place), 2) for place in ("next", "newest", "middle")]
    [9.0, 2.25, 0.88]
    >>> samples_needed(10.0, 0.1, of="next")  # the next task is never worth sigma2 / d2 samples
    inf
    """
    ess = check_real("ess", ess, 0.0, low_open=True)
    rho = check_real("d2", d2, 0.0) / check_real("sigma2", sigma2, 0.0, low_open=True)
    y = ess * rho
    if check_choice("of", of, PLACES) == "next":
        return math.inf if y >= 1.0 else ess * y / (1.0 - y)
    return ess * y / (1.0 + y) if of == "newest" else ess * y / (2.0 + math.sqrt(4.0 + y * y))
