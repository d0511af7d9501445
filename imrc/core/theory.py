"""What the theorems promise: effective sample sizes, risk bounds, number of backward steps.

The effective sample size (ESS) of a task is the number of samples with which learning that task alone would reach the
same bound. All functions use the ratio x = n d^2 / sigma^2, the expected quadratic change in units of the mean squared
error of one sample average, or n rho with rho = d^2 / sigma^2. Theorem numbers are those in the paper.

Note
----
The paper states Theorems 2 and 4 in n d^2 for M <= 1, but they need sigma^2 >= 1. With n = 10, d^2 = .01 and 20 tasks,
Theorem 1 gives 27.9 effective samples of the newest task at sigma^2 = .5 and 21.6 at .25, where the "lower bound" of
Theorem 2 is 37.0. Here, sigma^2 is an argument that d^2 is divided by, so that the closed forms equal the recursions of
Theorems 1 and 3.

Closed forms neither overflow nor lose digits. With x = n d^2 / sigma^2, the paper's alpha satisfies x = alpha^2 /
(1 + alpha). With beta = log(1 + alpha), x = 4 sinh(beta / 2)^2 and the printed fractions become

    forward ESS / n                    = sinh(j beta) / (sqrt(x) cosh((j - 1/2) beta))
    share of r = k - j further tasks   = sinh(r beta) / (sqrt(x) cosh((r + 1/2) beta))

which `_forward` and `_gain` evaluate with decaying exponentials only. (1 + alpha)^(2 j - 1), as printed, overflows for
large j and loses digits for small x.

The forward recursion has two halves. A change loses samples, ``1 / N_next = 1 / N + d^2 / sigma^2``, and a task adds
its own, ``N = n + N_next``. With many tasks, they converge to

    next task, before its samples     n (sqrt(1 + 4 / x) - 1) / 2     always below sigma^2 / d^2
    newest task                       n (sqrt(1 + 4 / x) + 1) / 2
    task with many on both sides      n  sqrt(1 + 4 / x)
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import check_int, check_real
from imrc._types import Floats
from imrc.core.recursions import borrowed_samples

__all__ = ["ess_forward", "ess_forward_backward", "ess_recursion", "risk_bound"]


def _check_positive(name: str, value: ArrayLike, *, zero: bool = False) -> Floats:
    """Return `value` as float64; raise a ValueError unless every entry is finite and positive (or zero)."""
    array = np.asarray(value, dtype=np.float64)
    wrong = ~np.isfinite(array) | ((array < 0) if zero else (array <= 0))
    if wrong.any():
        bound = "at least 0" if zero else "above 0"
        raise ValueError(f"{name} must be finite and {bound}; got {np.atleast_1d(array)[np.atleast_1d(wrong)][0]}.")
    return array


def _check_count(name: str, value: ArrayLike) -> Floats:
    """Return `value` as float64; raise a ValueError unless every entry is a whole number from 1."""
    array = np.asarray(value, dtype=np.float64)
    wrong = ~np.isfinite(array) | (array < 1) | (array != np.floor(array))
    if wrong.any():
        first = float(np.atleast_1d(array)[np.atleast_1d(wrong)][0])
        raise ValueError(f"{name} counts tasks from 1 and must be a whole number; got {first}.")
    return array


def _ratio(n: ArrayLike, d2: ArrayLike, sigma2: ArrayLike) -> tuple[Floats, Floats]:
    """Return n and x = n d^2 / sigma^2 after the checks."""
    samples = _check_positive("n", n)
    x = samples * _check_positive("d2", d2, zero=True) / _check_positive("sigma2", sigma2)
    return samples, np.asarray(x)


def _growth(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return sqrt(x), beta and exp(beta / 2)."""
    root = np.sqrt(x)
    return root, 2.0 * np.arcsinh(root / 2.0), root / 2.0 + np.sqrt(1.0 + x / 4.0)


def _forward(j: ArrayLike, x: Floats) -> Floats:
    """Forward ESS / n of the j-th task."""
    j, (root, beta, grown) = np.asarray(j, dtype=np.float64), _growth(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = -grown * np.expm1(-2.0 * j * beta) / (root * (1.0 + np.exp(-(2.0 * j - 1.0) * beta)))
    # Below 1e-30 the correction to the limit j is smaller than rounding for every j up to 1e6.
    return np.where(x < 1e-30, j, value)


def _gain(r: ArrayLike, x: Floats) -> Floats:
    """Return what r succeeding tasks add to the ESS, divided by n."""
    r, (root, beta, grown) = np.asarray(r, dtype=np.float64), _growth(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = -np.expm1(-2.0 * r * beta) / (grown * root * (1.0 + np.exp(-(2.0 * r + 1.0) * beta)))
    return np.where(x < 1e-30, r, value)


def ess_forward(j: ArrayLike, n: ArrayLike, d2: ArrayLike, sigma2: ArrayLike = 1.0) -> Floats:
    """Effective sample size of the j-th task with forward learning, Theorem 2.

    Parameters
    ----------
    j : array-like of int
        Task, counted from 1. Up to 1e6 and beyond.
    n : array-like
        Samples of every task, above 0.
    d2 : array-like
        Upper bound on the expected quadratic change of all components, at least 0.
    sigma2 : array-like
        Largest variance of a component. The theorem assumes 1 and is true for variances of at least 1 (the printed
        condition M <= 1 bounds them the other way). Arguments broadcast.

    Returns
    -------
    ndarray
        ESS in samples: between n (d2 -> infinity) and j n (d2 = 0).

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> float(ess_forward(10, 1, 1.0).round(5))
    1.61803
    >>> ess_forward([1, 10], 5, 0.0).tolist()
    [5.0, 50.0]
    """
    task = _check_count("j", j)
    samples, x = _ratio(n, d2, sigma2)
    return np.asarray(samples * _forward(task, x))


def ess_forward_backward(j: ArrayLike, k: ArrayLike, n: ArrayLike, d2: ArrayLike, sigma2: ArrayLike = 1.0) -> Floats:
    """Effective sample size of the j-th of k tasks with forward and backward learning, Theorem 4.

    Parameters
    ----------
    j, k : array-like of int
        Task and number of tasks, counted from 1, j <= k.
    n, d2, sigma2 : array-like
        As in `ess_forward`.

    Returns
    -------
    ndarray
        ESS in samples: between n (d2 -> infinity) and k n (d2 = 0).

    Raises
    ------
    ValueError
        If an argument is out of its range, or j above k.

    Examples
    --------
    >>> float(ess_forward_backward(10, 20, 1, 1.0).round(5))
    2.23607
    >>> float(ess_forward_backward(10, 20, 5, 0.0))
    100.0
    """
    task, last = _check_count("j", j), _check_count("k", k)
    if (task > last).any():
        raise ValueError(f"j must not exceed k; got j = {j!r}, k = {k!r}.")
    samples, x = _ratio(n, d2, sigma2)
    return np.asarray(samples * (_forward(task, x) + _gain(last - task, x)))


def mean_ess(n: float, ratio: float, k: int, b: int | None = None) -> float:
    """Mean effective sample size of k tasks by Theorem 4, at most b (or all) steps back, for ratio n d^2 / sigma^2."""
    samples = check_real("n", n, 0.0, low_open=True)
    tasks = np.arange(1, check_int("k", k, 1) + 1)
    if ratio == math.inf:
        return samples
    last = np.full(len(tasks), k) if b is None else np.minimum(tasks + check_int("b", b, 0), k)
    return float(ess_forward_backward(tasks, last, samples, check_real("ratio", ratio, 0.0) / samples).mean())


def backward_gain(steps: ArrayLike, n: ArrayLike, d2: ArrayLike, sigma2: ArrayLike = 1.0) -> Floats:
    """Return what `steps` (k - j or b, or infinity) succeeding tasks add to the ESS, the last term of Theorem 4."""
    count = np.asarray(steps, dtype=np.float64)
    if np.isnan(count).any() or (count < 0).any():
        raise ValueError(f"steps must be at least 0; got {steps!r}.")
    samples, x = _ratio(n, d2, sigma2)
    return np.asarray(samples * _gain(count, x))


def smallest_b(share: float, j: int, k: int | None, n: float, d2: float, sigma2: float = 1.0) -> int:
    """Smallest number of backward steps that reaches a share of all that succeeding tasks add.

    j counts from 1. Without k, the number of succeeding tasks is unlimited, which needs d2 > 0 and share < 1.
    """
    share = check_real("share", share, 0.0, 1.0, low_open=True)
    j = check_int("j", j, 1)
    _, x = _ratio(check_real("n", n), check_real("d2", d2), check_real("sigma2", sigma2))
    if k is None:
        if share == 1.0 or float(x) == 0.0:
            raise ValueError("Without k, the full gain is a limit, so d2 must be above 0 and share below 1.")
        limit = math.inf
        # exp(-2 b beta) <= (1 - share) / 2 is enough.
        high = math.ceil(math.log(2.0 / (1.0 - share)) / (4.0 * math.asinh(math.sqrt(float(x)) / 2.0))) + 1
    else:
        limit = high = check_int("k", k, j) - j
    target = share * float(_gain(limit, x))
    return bisect_left(range(high), True, key=lambda b: float(_gain(b, x)) >= target)  # the gain grows with b


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
        Variances of the feature mapping, of which the largest component counts (the infinity norm of the theorems).
    d2 : array-like, scalar, (k,) or (k, m)
        Expected quadratic change. Row j belongs to the step from task j-1 to task j, and row 0 is ignored.
    b : int or None
        Backward steps. Task j is last updated at step j + b, so it learns from at most b later tasks, by default all.

    Returns
    -------
    forward, backward, forward_backward : ndarray of shape (k,)
        From a task's own and earlier samples, from its own and later ones, and from all samples.

    Raises
    ------
    ValueError
        If shapes do not match, n is not positive or a task has no component with positive variance.

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


def ess_next(j: ArrayLike, n: ArrayLike, d2: ArrayLike, sigma2: ArrayLike = 1.0, steps: ArrayLike = 1.0) -> Floats:
    """Effective sample size `steps` changes after the j-th task (from 1), before any samples.

    It stays below ``sigma2 / (steps d2)`` for any number of tasks.
    """
    ahead = np.asarray(steps, dtype=np.float64)
    if not (ahead >= 0).all():
        raise ValueError(f"steps must be at least 0; got {steps!r}.")
    d2 = np.asarray(d2, dtype=np.float64)
    return np.asarray(borrowed_samples(ess_forward(j, n, d2, sigma2), sigma2, ahead * d2))


class SteadyState(NamedTuple):
    """Effective sample sizes with many tasks, infinite without change."""

    next: float  # before its samples
    newest: float
    middle: float  # a task with many on both sides


def steady_state(n: float, d2: float, sigma2: float = 1.0) -> SteadyState:
    """Return the limits of the effective sample sizes for many tasks."""
    n = check_real("n", n, 0.0, low_open=True)
    x = n * check_real("d2", d2, 0.0) / check_real("sigma2", sigma2, 0.0, low_open=True)
    if x == 0.0:
        return SteadyState(math.inf, math.inf, math.inf)
    root = math.sqrt(1.0 + 4.0 / x)
    following = n * 2.0 / (x * (root + 1.0))  # (root - 1) / 2 without cancellation
    return SteadyState(following, n + following, n * root)


class RiskBound(NamedTuple):
    """Upper bounds of the minimax risk, one per effective sample size."""

    value: Floats  # R_inf + margin
    margin: Floats  # M (kappa + 1) sqrt(2 log(2 m / delta)) / sqrt(ESS) ||mu_inf||_1


def risk_bound(
    ess: ArrayLike,
    *,
    m: int,
    mu_norm: ArrayLike,
    smallest_risk: ArrayLike = 0.0,
    delta: float = 0.05,
    M: float = 1.0,
    kappa: float = 1.0,
) -> RiskBound:
    """Bound the minimax risk of a task, eqs. (5), (8) and (11), which differ only in the effective sample size `ess`.

    `m` is the number of components C (D + 1). `mu_norm` ||mu_inf||_1 and `smallest_risk` R_inf are those of the rule
    for exactly known mean vectors. The bound is true with probability 1 - delta. M bounds all components of Phi. kappa
    is the ratio of sub-Gaussian parameters to standard deviations, at best 1 (normal variables), safely
    `admissible_kappa`.
    """
    size = _check_positive("ess", ess)
    norm = _check_positive("mu_norm", mu_norm, zero=True)
    risk = _check_positive("smallest_risk", smallest_risk, zero=True)
    m = check_int("m", m, 1)
    delta = check_real("delta", delta, 0.0, 1.0, low_open=True)
    M = check_real("M", M, 0.0, low_open=True)
    kappa = check_real("kappa", kappa, 0.0)
    margin = M * (kappa + 1.0) * math.sqrt(2.0 * math.log(2.0 * m / delta)) * norm / np.sqrt(size)
    return RiskBound(np.asarray(risk + margin), np.asarray(margin))


def samples_for_bound(
    margin: float, *, m: int, mu_norm: float, delta: float = 0.05, M: float = 1.0, kappa: float = 1.0
) -> float:
    """Return the effective sample size at which the margin of `risk_bound` falls to a given value above 0."""
    margin = check_real("margin", margin, 0.0, low_open=True)
    one = float(risk_bound(1.0, m=m, mu_norm=mu_norm, delta=delta, M=M, kappa=kappa).margin)
    return (one / margin) ** 2


class AdmissibleKappa(NamedTuple):
    """The two terms whose maximum is the value of kappa that bounded features always allow."""

    from_features: float  # M / min sigma
    from_changes: float  # 2 M / min d, infinite without any change

    @property
    def value(self) -> float:
        """The larger term."""
        return max(self)


def admissible_kappa(M: float, sigma: ArrayLike, d: ArrayLike) -> AdmissibleKappa:
    """Return kappa for which Theorems 1 and 3 are true for any distributions, max(M / min sigma, 2 M / min d).

    By the remark after Theorem 1, a variable within [-M, M] is sub-Gaussian with parameter M at most, and a change of
    its mean with 2 M. Minima are over tasks and components that vary.
    """
    M = check_real("M", M, 0.0, low_open=True)
    deviations = _check_positive("sigma", sigma, zero=True)
    changes = _check_positive("d", d, zero=True)
    deviations, changes = deviations[deviations > 0], changes[changes > 0]
    if not deviations.size:
        raise ValueError("sigma must have a component above 0: nothing varies.")
    smallest = float(changes.min()) if changes.size else 0.0
    return AdmissibleKappa(M / float(deviations.min()), 2.0 * M / smallest if smallest > 0 else math.inf)
