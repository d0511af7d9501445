"""Sample averages, eq. (4), and the recursions that track mean vectors from them: forward (6), backward, both (10).

Presets, theory and pictures all track with these functions. Preset "paper" has one gain per component; preset
"recommended" has one gain for all, with s and d of shape (rates, 1), and one rate in `samples_and_weights`. They work
element by element on float64 arrays and never modify their input. For ``s = 0`` (a constant feature, or an absent
class), they take the limit of the formulas, in which a component known exactly stays the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._types import Floats


def sample_moments(X1: Floats, y: NDArray[np.int64], n_classes: int) -> tuple[Floats, Floats]:
    """Return the sample average of Phi(x, y) and its mean squared error s = sigma^2 / n, eq. (4), each (C (D + 1),).

    X1 (n, D + 1) has the intercept first. A sample contributes zeros to the blocks of the other classes, so averages
    and variances (ddof = 1) follow from class-wise sums without forming Phi. With n = 1 the variance is taken as 0, the
    limit of the other degenerate cases.

    >>> tau, s = sample_moments(np.array([[1.0, 2.0], [1.0, 4.0]]), np.array([0, 1]), 2)
    >>> tau.tolist(), s.tolist()
    ([0.5, 1.0, 0.5, 2.0], [0.25, 1.0, 0.25, 4.0])
    """
    from imrc.solvers.logistic import group_squares, group_sums

    n, others = len(X1), len(X1) - np.bincount(y, minlength=n_classes)[:, None]
    blocks = group_sums(X1, y, n_classes) / max(n, 1)
    # Deviations and not raw second moments, so that constant components give exactly zero.
    spread = (group_squares(X1, y, blocks) + others * blocks**2) / max(n - 1, 1) / max(n, 1)
    return blocks.ravel(), spread.ravel()


def smoothed_variance(X1: Floats, y: NDArray[np.int64], n_classes: int) -> Floats:
    """Return the per-sample variance of Phi(x, y), (C * (D + 1),), which is positive even for an absent class.

    Each class gets one pseudo-sample with the first two moments of all samples together, and class shares are smoothed
    by half a count. The intercepts below are indicators with smoothed shares 1/4 and 3/4.

    >>> smoothed_variance(np.array([[1.0, 2.0]]), np.array([1]), 2).reshape(2, 2)[:, 0]
    array([0.1875, 0.1875])
    """
    from imrc.solvers.logistic import group_sums

    squares, counts = X1**2, np.bincount(y, minlength=n_classes)[:, None]
    share = (counts + 0.5) / (len(X1) + 0.5 * n_classes)
    first = (group_sums(X1, y, n_classes) + X1.mean(axis=0)) / (counts + 1)
    second = (group_sums(squares, y, n_classes) + squares.mean(axis=0)) / (counts + 1)
    return np.asarray(share * second - (share * first) ** 2).ravel()


def combine(tau: Floats, s: Floats, tau_other: Floats, s_other: Floats) -> tuple[Floats, Floats]:
    """Combine two independent estimates of one mean, each weighted by the other's mean squared error.

    All recursions take this step, ``tau + s / (s + s_other) (tau_other - tau)`` with mean squared error ``(1 / s + 1 /
    s_other)^-1``. If s = 0, the first estimate is kept. An infinite mean squared error, as of a task without labels, is
    no information. s may be broadcast against tau, and s_other includes the expected quadratic change.

    >>> combine(np.array([0.0]), np.array([1.0]), np.array([3.0]), np.array([0.5]))
    (array([2.]), array([0.33333333]))
    """
    total, nothing = s + s_other, np.isinf(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(nothing, 1.0, np.where(s > 0, s / total, 0.0))
        mse = np.where((s > 0) & np.isfinite(s_other), s * (s_other / total), s)
    return tau + gain * (tau_other - tau), np.where(nothing, s_other, mse)


def predict(tau_fwd: Floats, s_fwd: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Return the estimate of a task before it has samples, with d^2 of the change, or the sum over several changes."""
    return tau_fwd, s_fwd + d


def forward_step(tau: Floats, s: Floats, tau_fwd: Floats, s_fwd: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Return the forward mean vector of a task and its mean squared error, eq. (6).

    It combines the task's sample average with the forward mean vector before it, d^2 apart. With a succeeding task in
    place of the preceding one, it is the backward recursion.
    """
    return combine(tau, s, *predict(tau_fwd, s_fwd, d))


def revise(
    newest: tuple[Floats, Floats], earlier: Iterable[tuple[Floats, Floats, Floats, Floats]], changes: Iterable[Floats]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield forward and backward estimates of the tasks before the newest, eq. (10), the nearest first.

    `newest` is its sample average with its mean squared error. `earlier` has, for each task before it, sample average
    and forward mean vector with their errors, and `changes` has d^2 of the step from that task to the next, the nearest
    first. For two tasks without change and with equal variances, the result is the mean of both.

    >>> one = np.array([1.0])
    >>> list(revise((3.0 * one, one), [(0.0 * one, one, 0.0 * one, one)], [0.0 * one]))
    [(array([1.5]), array([0.5]))]
    """
    tau_bwd, s_bwd = newest
    for (tau, s, tau_fwd, s_fwd), d in zip(earlier, changes, strict=True):
        yield combine(tau_fwd, s_fwd, *predict(tau_bwd, s_bwd, d))
        tau_bwd, s_bwd = forward_step(tau, s, tau_bwd, s_bwd, d)


def borrowed_samples(ess: ArrayLike, sigma2: ArrayLike, d2: ArrayLike) -> Any:  # noqa: ANN401 - number or array
    """Return how many effective samples a task borrows from a neighbour across one change, Theorems 1 and 3.

    ``N sigma^2 / (sigma^2 + N d^2)`` is the forward recursion for 1 / s in place of s.

    >>> float(borrowed_samples(20.0, 1.0, 0.05))
    10.0
    """
    ess, sigma2, d2 = np.asarray(ess), np.asarray(sigma2), np.asarray(d2)
    with np.errstate(invalid="ignore"):
        return np.where(d2 == 0.0, ess, ess * sigma2 / (sigma2 + ess * d2))[()]


def borrowed(ess: float, change: float) -> float:
    """Return `borrowed_samples` for numbers, with change d^2 / sigma^2."""
    return ess if ess == 0.0 or change == 0.0 else ess / (1.0 + ess * change)


def samples_and_weights(
    samples: Sequence[int], changes: Sequence[float], reach: int, *, weights: bool = True
) -> list[tuple[float, Floats]]:
    """Return effective samples and weights of all tasks, for the newest and those before it, the nearest first.

    These are eqs. (6) and (10) with one gain for all components, by effective samples sigma^2 / s of each task. The
    change that leads to a task is in units of sigma^2. The weights are left empty if they are not wanted.

    >>> samples_and_weights([10, 10], [0.0, 0.1], 1)
    [(15.0, array([0.33333333, 0.66666667])), (15.0, array([0.66666667, 0.33333333]))]
    """
    forward, last = deque([(0.0, np.zeros(len(samples) if weights else 0))], maxlen=reach + 1), len(samples) - 1
    for place, (n, change) in enumerate(zip(samples, changes, strict=True)):
        forward.append(_with_own(n, place, borrowed(forward[-1][0], change), forward[-1][1]))
    found, (worth, behind) = [forward[-1]], _with_own(samples[-1], last, 0.0, np.zeros_like(forward[-1][1]))
    for back in range(1, min(reach, last) + 1):
        (mine, own), there = forward[-1 - back], borrowed(worth, changes[-back])
        total = mine + there
        found.append((total, own if total == 0.0 else (mine * own + there * behind) / total))
        worth, behind = _with_own(samples[-1 - back], last - back, there, behind)
    return found


def _with_own(n: int, place: int, ess: float, weights: Floats) -> tuple[float, Floats]:
    """Join a task's own samples with borrowed ones. Without any, its own weight is 1."""
    total = n + ess
    if not len(weights):
        return total, weights
    joined = ess * weights / (total or 1.0)
    joined[place] = n / total if total else 1.0
    return total, joined


def track_forward(tau: Floats, s: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Forward mean and MSE vectors of all tasks, by `forward_step`.

    tau and s are (k, m), d (k, m) or (k, 1): row j belongs to the step from task j-1 to task j, row 0 is not used.
    """
    tau_fwd, s_fwd = tau.copy(), s.copy()
    for j in range(1, len(tau)):
        tau_fwd[j], s_fwd[j] = forward_step(tau[j], s[j], tau_fwd[j - 1], s_fwd[j - 1], d[j])
    return tau_fwd, s_fwd


def smooth(tau_fwd: Floats, s_fwd: Floats, d: Floats, b: int | None = None) -> tuple[Floats, Floats]:
    """Rauch-Tung-Striebel form (appendix of the paper), from the forward vectors (k, m) of `track_forward` alone.

    Gives the same numbers as `revise` over all tasks when both use the same `d`, (k, m) or (k, 1) with row j for the
    step from task j-1 to task j, and needs neither sample averages nor a backward pass. By default, all backward steps.
    """
    tau_smooth, s_smooth = tau_fwd.copy(), s_fwd.copy()
    k = len(tau_fwd)
    first = 0 if b is None else max(0, k - 1 - b)
    for j in range(k - 2, first - 1, -1):
        predicted = predict(tau_fwd[j], s_fwd[j], d[j + 1])[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(s_fwd[j] > 0, s_fwd[j] / predicted, 0.0)
        tau_smooth[j] = tau_fwd[j] + gain * (tau_smooth[j + 1] - tau_fwd[j])
        s_smooth[j] = s_fwd[j] + gain**2 * (s_smooth[j + 1] - predicted)
    return tau_smooth, s_smooth
