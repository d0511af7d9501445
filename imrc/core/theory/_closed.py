"""Closed forms of Theorems 2 and 4, in a form that neither overflows nor loses digits.

With x = n d^2 / sigma^2 the paper's alpha satisfies x = alpha^2 / (1 + alpha). Put beta = log(1 + alpha);
then x = 4 sinh(beta / 2)^2 and the printed fractions become

    forward ESS / n                    = sinh(j beta) / (sqrt(x) cosh((j - 1/2) beta))
    share of r = k - j further tasks   = sinh(r beta) / (sqrt(x) cosh((r + 1/2) beta))

which `_forward` and `_gain` evaluate with decaying exponentials only. (1 + alpha)^(2 j - 1), as printed,
overflows for large j and cancels for small x.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats


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


def _forward(j: ArrayLike, x: Floats) -> Floats:
    """Forward ESS / n of the j-th task."""
    j = np.asarray(j, dtype=np.float64)
    root = np.sqrt(x)
    beta = 2.0 * np.arcsinh(root / 2.0)
    grown = root / 2.0 + np.sqrt(1.0 + x / 4.0)  # exp(beta / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = -grown * np.expm1(-2.0 * j * beta) / (root * (1.0 + np.exp(-(2.0 * j - 1.0) * beta)))
    # Below 1e-30 the correction to the limit j is smaller than rounding for every j up to 1e6.
    return np.where(x < 1e-30, j, value)


def _gain(r: ArrayLike, x: Floats) -> Floats:
    """Return what r succeeding tasks add to the ESS, divided by n."""
    r = np.asarray(r, dtype=np.float64)
    root = np.sqrt(x)
    beta = 2.0 * np.arcsinh(root / 2.0)
    grown = root / 2.0 + np.sqrt(1.0 + x / 4.0)
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
        Bound of the expected quadratic change of all components, at least 0.
    sigma2 : array-like
        Largest variance of a component. The theorem takes 1; it holds for variances of at least 1 (the condition
        M <= 1 printed with it bounds them the other way). Arguments broadcast.

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

    Examples
    --------
    >>> float(ess_forward_backward(10, 20, 1, 1.0).round(5))
    2.23607
    >>> float(ess_forward_backward(10, 20, 5, 0.0))
    100.0
    """
    task, last = _check_order(j, k)
    samples, x = _ratio(n, d2, sigma2)
    return np.asarray(samples * (_forward(task, x) + _gain(last - task, x)))


def mean_ess(n: float, ratio: float, k: int, b: int | None = None) -> float:
    """Mean effective sample size of k tasks by Theorem 4, at most b steps back (None: all), for ratio n d^2 / sigma^2.

    >>> [round(mean_ess(10, ratio, 20, 3), 2) for ratio in (0.0, 0.1, math.inf)]
    [132.0, 52.33, 10.0]
    """
    samples = check_real("n", n, 0.0, low_open=True)
    tasks = np.arange(1, check_int("k", k, 1) + 1)
    if ratio == math.inf:
        return samples
    last = np.full(len(tasks), k) if b is None else np.minimum(tasks + check_int("b", b, 0), k)
    return float(ess_forward_backward(tasks, last, samples, check_real("ratio", ratio, 0.0) / samples).mean())


def backward_gain(steps: ArrayLike, n: ArrayLike, d2: ArrayLike, sigma2: ArrayLike = 1.0) -> Floats:
    """Return what `steps` (k - j or b, infinity allowed) succeeding tasks add to the ESS: the last term of Theorem 4.

    >>> backward_gain([0, 1], 10, 0.1).tolist()  # one further task is worth n / (1 + n d^2) samples
    [0.0, 5.0]
    """
    count = np.asarray(steps, dtype=np.float64)
    if np.isnan(count).any() or (count < 0).any():
        raise ValueError(f"steps must be at least 0; got {steps!r}.")
    samples, x = _ratio(n, d2, sigma2)
    return np.asarray(samples * _gain(count, x))


def _check_order(j: ArrayLike, k: ArrayLike) -> tuple[Floats, Floats]:
    """Return j and k as float64; raise a ValueError where j > k."""
    task, last = _check_count("j", j), _check_count("k", k)
    if (task > last).any():
        raise ValueError(f"j must not exceed k; got j = {j!r}, k = {k!r}.")
    return task, last


def smallest_b(
    share: float,
    j: int,
    k: int | None,
    n: float,
    d2: float,
    sigma2: float = 1.0,
    *,
    of: Literal["backward", "total"] = "backward",
) -> int:
    """Smallest number of backward steps that reaches a share of the full gain, of succeeding tasks or in "total".

    j counts from 1; k None: as many succeeding tasks as one likes, which needs d2 > 0 and share < 1, else ValueError.

    >>> smallest_b(0.95, 10, 60, 10, 0.1)
    2
    >>> smallest_b(0.95, 10, None, 10, 0.001)
    19
    """
    check_choice("of", of, ("backward", "total"))
    share = check_real("share", share, 0.0, 1.0, low_open=True)
    j = check_int("j", j, 1)
    _, x = _ratio(check_real("n", n), check_real("d2", d2), check_real("sigma2", sigma2))
    if k is None:
        if share == 1.0 or float(x) == 0.0:
            raise ValueError("Without k the full gain is a limit: d2 must be above 0 and share below 1.")
        limit = math.inf
        # exp(-2 b beta) <= (1 - share) / 2 is enough.
        high = math.ceil(math.log(2.0 / (1.0 - share)) / (4.0 * math.asinh(math.sqrt(float(x)) / 2.0))) + 1
    else:
        limit = high = check_int("k", k, j) - j
    before = float(_forward(j, x)) - 1.0 if of == "total" else 0.0
    target = share * (before + float(_gain(limit, x))) - before
    return bisect_left(range(high), True, key=lambda b: float(_gain(b, x)) >= target)  # the gain grows with b
