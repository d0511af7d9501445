"""Expected quadratic change d^2 between consecutive tasks, eq. (7) of the paper.

With w_i = tau_i - tau_{i-1} (sample averages) the estimate is a mean of squared differences around a transition.
Differences are numbered by the task they lead to: ``squared[i]`` belongs to the step from task i-1 to task i, and
``squared[0]`` is taken as tau_0^2, as in the authors' code (it enters only the backward change of the first
transition).
"""

from __future__ import annotations

import numpy as np

from imrc._types import Floats


def squared_differences(tau: Floats) -> Floats:
    """Return squared differences of consecutive sample averages, shape (k, m); row 0 is tau_0^2."""
    return np.diff(tau, axis=0, prepend=np.zeros((1, tau.shape[1]))) ** 2


def forward_change(squared: Floats, k: int, W: int, first: int = 0) -> Floats:
    """Return d^2 (m,) of the step from task k-1 to the newest task k, eq. (7): the mean of min(W, k) differences.

    The rows of `squared` are those of tasks first, first + 1, ..., from 0.

    >>> forward_change(np.array([[9.0], [1.0], [3.0]]), 2, 2)
    array([2.])
    """
    return np.asarray(squared[max(1, k - W + 1) - first : k + 1 - first].mean(axis=0))


def forward_changes(squared: Floats, W: int) -> Floats:
    """Return `forward_change` of all steps, (k, m); row 0 leads into the first task and is 0."""
    return np.stack([np.zeros_like(squared[0]), *(forward_change(squared, k, W) for k in range(1, len(squared)))])


def backward_change(squared: Floats, i: int, k: int, W: int, first: int = 0) -> Floats:
    """Return d^2 of the step from task i to task i+1, used backwards when task k is the newest.

    The window holds the ``W // 2`` differences up to task i and as many after it, cut off at both ends of what has been
    seen. With W = 2 these are the difference that leads to task i and the one that leads to task i+1. With W = 1 the
    half-window is empty and the one difference that is crossed, i to i+1, is used.

    >>> backward_change(np.array([[9.0], [1.0], [3.0]]), 1, 2, 2)
    array([2.])
    """
    half = W // 2
    low = max(0, i - half + 1) if half else i + 1
    high = min(k, i + max(half, 1))
    return np.asarray(squared[low - first : high + 1 - first].mean(axis=0))


def printed_change(squared: Floats, i: int, k: int, W: int, first: int = 0) -> Floats:
    """Return d^2 of the step from task i to task i+1 by eq. (7) as printed, when task k is the newest.

    Eq. (7) gives the step d_{i+1}^2, and averages the differences between the W + 1 tasks closest to task i+1: always W
    of them once W + 1 tasks are there. `backward_change`, the authors' code, averages fewer at both ends and for odd W.
    Of two tasks equally close, the earlier counts. For i = k-1 this is `forward_change`.

    Five tasks; the three closest to task 1 are 0, 1, 2, and the three closest to the newest are 2, 3, 4:

    >>> squared = np.array([[9.0], [1.0], [3.0], [5.0], [7.0]])
    >>> printed_change(squared, 0, 4, 2), printed_change(squared, 3, 4, 2)
    (array([2.]), array([6.]))
    """
    earliest = min(max(0, i + 1 - (W + 1) // 2), max(0, k - W))
    return np.asarray(squared[earliest + 1 - first : min(earliest + W, k) + 1 - first].mean(axis=0))
