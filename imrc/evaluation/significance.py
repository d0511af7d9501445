"""The one rule for "more than noise": paired t intervals over repetitions, corrected for how many are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._types import Floats

LEVEL = 0.05
"""Intervals cover 95 %; a difference counts as more than noise if its interval leaves out 0."""


@dataclass(frozen=True)
class Headline:
    """One number with its uncertainty over repetitions.

    Attributes
    ----------
    mean : float
        Mean over repetitions.
    std : float
        Standard deviation over repetitions (ddof = 1; 0 with one repetition).
    stderr : float
        ``std / sqrt(repetitions)``; NaN with one repetition, which says nothing about it.
    """

    mean: float
    std: float
    stderr: float

    @classmethod
    def of(cls, values: Floats) -> Headline:
        """Summarise one value per repetition.

        Parameters
        ----------
        values : ndarray of shape (repetitions,)
            At least one.

        Returns
        -------
        Headline

        Examples
        --------
        >>> Headline.of(np.array([0.0, 1.0])).stderr
        0.5
        """
        if len(values) == 1:
            return Headline(float(values[0]), 0.0, float("nan"))
        std = float(values.std(ddof=1))
        return Headline(float(values.mean()), std, std / float(np.sqrt(len(values))))


def mean_and_stderr(values: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard error over the first axis (repetitions); NaN errors with one repetition."""
    mean = values.mean(axis=0)
    if len(values) == 1:
        return mean, mean * np.nan  # of a number a number, not an array
    return mean, values.std(axis=0, ddof=1) / np.sqrt(len(values))


@dataclass(frozen=True)
class Difference(Headline):
    """A paired difference of two errors, with the interval it is judged by.

    Attributes
    ----------
    mean, std, stderr : float
        As in `Headline`.
    low, high : float
        Ends of its t interval over repetitions: 95 %, wider where several differences are looked at. NaN with one
        repetition.
    p : float
        Two-sided p-value, corrected as the interval is; NaN with one repetition.
    clear : bool
        Whether the interval leaves out 0: the difference is more than noise.
    """

    low: float
    high: float
    p: float
    clear: bool


def mean_interval(values: Floats, level: float = 1.0 - LEVEL) -> tuple[float, float, float]:
    """Return the mean of one value per repetition and its t interval; NaN for the ends with one repetition.

    >>> [round(x, 3) for x in mean_interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.484, 4.484]
    """
    found = Headline.of(values)
    half = float(half_width(found.std, len(values), level) / np.sqrt(len(values)))
    return found.mean, found.mean - half, found.mean + half


def half_width(stderr: ArrayLike, repetitions: ArrayLike, level: float = 1.0 - LEVEL) -> Floats:
    """Return half the width of t intervals with these standard errors; NaN with one repetition.

    >>> half_width(0.01, 10).round(4)
    np.float64(0.0226)
    """
    from scipy.special import stdtrit

    freedom = np.asarray(repetitions, dtype=np.float64) - 1.0
    quantile = stdtrit(np.where(freedom > 0, freedom, np.nan), (1.0 + level) / 2.0)
    half: Floats = quantile * np.asarray(stderr, dtype=np.float64)
    return half


def interval_columns(values: Floats) -> dict[str, Floats]:
    """Return value (mean over repetitions, the first axis), stderr, and half (of the width of the 95 % interval)."""
    mean, stderr = mean_and_stderr(values)
    return {"value": mean, "stderr": stderr, "half": half_width(stderr, len(values))}


def holm(p: ArrayLike) -> Floats:
    """Return p-values corrected for several tests by Holm's step-down method; NaN stays NaN and does not count.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    corrected = np.full(len(p), np.nan)
    order = np.argsort(p)[: int(np.isfinite(p).sum())]
    left = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(left * p[order]), 1.0)
    return corrected


def _holm_shares(p: Floats) -> NDArray[np.int64]:
    """Return by what Holm's method divides the level for each test: at the first that fails it stops dividing less."""
    shares = np.ones(len(p), dtype=np.int64)
    left = len(p)
    for position, index in enumerate(np.argsort(p)):
        shares[index] = left
        if p[index] <= LEVEL / left:
            left = len(p) - position - 1
    return shares


def paired_differences(
    errors: Mapping[str, Floats], reference: str, *, planned: str | None = None
) -> dict[str, Difference]:
    """Compare methods with one of them, (repetitions,) each on the same draws; negative means fewer errors.

    The answer is about this dataset and n, not about datasets at large. The planned comparison stands alone; the others
    share the level by Holm's method, and the interval of each has the level it was tested at: it leaves out 0 exactly
    if Holm's method calls it clear.

    >>> found = paired_differences({"a": np.array([0.3, 0.4, 0.5]), "b": np.array([0.2, 0.3, 0.5])}, "b")
    >>> round(found["a"].mean, 3), round(found["a"].low, 3), found["a"].clear
    (0.067, -0.077, False)
    """
    base = np.asarray(errors[reference], dtype=np.float64)
    gaps: dict[str, Floats] = {}
    for name, values in errors.items():
        if name == reference:
            continue
        other = np.asarray(values, dtype=np.float64)
        if other.shape != base.shape or other.ndim != 1 or len(other) == 0:
            raise ValueError(f"Paired errors must be two rows of equal length, got {other.shape} and {base.shape}.")
        # Equal errors can differ in the last bit after averaging; such differences are none.
        gap = other - base
        gaps[name] = np.where(np.abs(gap) < 1e-12, 0.0, gap)
    raw = {name: _p_value(gap) for name, gap in gaps.items()}
    corrected, shares = dict(raw), dict.fromkeys(raw, 1)
    family = [name for name in raw if name != planned]
    p = np.array([raw[name] for name in family])
    corrected |= zip(family, holm(p).tolist(), strict=True)
    shares |= zip(family, _holm_shares(p).tolist(), strict=True)
    out = {}
    for name, gap in gaps.items():
        mean, low, high = mean_interval(gap, 1.0 - LEVEL / shares[name])
        spread = Headline.of(gap)
        # Comparisons with NaN, where there was one repetition, are false.
        out[name] = Difference(mean, spread.std, spread.stderr, low, high, corrected[name], bool(low > 0 or high < 0))
    return out


def _p_value(gap: Floats) -> float:
    """Two-sided p-value of the paired t test."""
    if len(gap) < 2:
        return float("nan")
    if not gap.any():
        return 1.0
    if np.ptp(gap) < 1e-12:  # the same difference every time: infinitely many standard errors from 0
        return 0.0
    from scipy.special import stdtr

    found = Headline.of(gap)
    return float(2.0 * stdtr(len(gap) - 1, -abs(found.mean / found.stderr)))
