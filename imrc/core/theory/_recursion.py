"""Recursions of Theorems 1 and 3: effective sample sizes of a sequence from n_j, sigma_j^2 and d_j^2."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import check_int
from imrc._types import Floats
from imrc.core.recursions import borrowed_samples
from imrc.core.theory._closed import _check_positive


def _norms(n: ArrayLike, sigma2: ArrayLike, d2: ArrayLike) -> tuple[Floats, Floats]:
    """Return n (k,) and, stacked (2, k), the infinity norms of sigma_j^2 and d_j^2 over components."""
    samples = np.atleast_1d(_check_positive("n", n))
    if samples.ndim != 1:
        raise ValueError(f"n must be one number per task; got shape {samples.shape}.")
    k = len(samples)
    largest = []
    for name, value in (("sigma2", sigma2), ("d2", d2)):
        array = np.asarray(value, dtype=np.float64)
        if name == "d2" and array.ndim >= 1 and len(array) == k:
            array = array.copy()
            array[0] = 0.0  # there is no step into the first task
        array = _check_positive(name, array, zero=True)
        if array.ndim == 2:
            array = array.max(axis=1)
        if array.ndim > 2 or (array.ndim == 1 and len(array) != k):
            raise ValueError(f"{name} must be a number or have one row per task ({k}); got shape {np.shape(value)}.")
        largest.append(np.broadcast_to(array, (k,)))
    if (largest[0] <= 0).any():
        task = int(np.argmax(largest[0] <= 0))
        raise ValueError(f"sigma2 must have a component above 0 in every task; task {task} (from 0) has none.")
    return samples, np.stack(largest)


def ess_recursion(
    n: ArrayLike, sigma2: ArrayLike, d2: ArrayLike, b: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Effective sample sizes by the recursions of Theorems 1 and 3.

    Parameters
    ----------
    n : array-like of shape (k,)
        Samples per task.
    sigma2 : array-like, scalar, (k,) or (k, m)
        Variances of the feature mapping; with components, the largest counts (the infinity norm of the
        theorems).
    d2 : array-like, scalar, (k,) or (k, m)
        Expected quadratic change; row j belongs to the step from task j-1 to task j, row 0 is not used.
    b : int or None
        Backward steps. Task j is last updated at step j + b, so it learns from at most b succeeding tasks;
        results stand for that step. None: all succeeding tasks.

    Returns
    -------
    forward, backward, forward_backward : ndarray of shape (k,)
        ``forward``: own and preceding samples. ``backward``: own and succeeding ones. ``forward_backward``:
        all.

    Raises
    ------
    ValueError
        If shapes do not fit, n is not positive or a task has no component with positive variance.

    Examples
    --------
    >>> forward, backward, both = ess_recursion([10, 10, 10], 1.0, 0.1)
    >>> forward.round(2).tolist(), both.round(2).tolist()
    ([10.0, 15.0, 16.0], [16.0, 20.0, 16.0])
    """
    samples, (variance, change) = _norms(n, sigma2, d2)
    k = len(samples)
    steps = k if b is None else check_int("b", b, 0)
    forward = samples.copy()
    for j in range(1, k):
        forward[j] += borrowed_samples(forward[j - 1], variance[j], change[j])
    backward = samples.copy()
    both = forward.copy()
    if b is None or b >= k:
        for j in range(k - 2, -1, -1):
            share = borrowed_samples(backward[j + 1], variance[j], change[j + 1])
            backward[j] += share
            both[j] += share
        return forward, backward, both
    for j in range(k - 1):
        last = min(k - 1, j + steps)
        behind = samples[last]
        for i in range(last - 1, j - 1, -1):
            share = borrowed_samples(behind, variance[i], change[i + 1])
            behind = samples[i] + share
        if last > j:
            backward[j] += share
            both[j] += share
    return forward, backward, both


def ess_parts(n: ArrayLike, sigma2: ArrayLike, d2: ArrayLike, b: int | None = None) -> Floats:
    """Split the effective sample size of each task into own, preceding (Theorem 1), succeeding samples (3): (k, 3).

    >>> ess_parts([10, 10, 10], 1.0, 0.1).round(2).tolist()
    [[10.0, 0.0, 6.0], [10.0, 5.0, 5.0], [10.0, 6.0, 0.0]]
    """
    own = np.atleast_1d(np.asarray(n, dtype=np.float64))
    forward, _, both = ess_recursion(own, sigma2, d2, b)
    return np.stack([own, forward - own, both - forward], axis=1)
