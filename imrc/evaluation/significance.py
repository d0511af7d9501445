"""The one rule for "more than noise": paired t intervals over repetitions, corrected for how many are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from imrc._types import Floats, Ints
from imrc.wording import decimal, with_spread

LEVEL = 0.05
"""Intervals cover 95 %; a difference counts as more than noise if its interval excludes 0."""


@dataclass(frozen=True)
class Headline:
    """Mean, standard deviation (ddof = 1) and standard error over repetitions; with one repetition, 0 and NaN."""

    mean: float
    std: float
    stderr: float

    @classmethod
    def of(cls, values: Floats) -> Headline:
        """Return the summary of one value per repetition."""
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
    """A paired difference of two errors, with the interval it is judged by: 95 %, wider where several are looked at.

    The p-value is two-sided and corrected as the interval is; `clear`: the interval excludes 0.
    """

    low: float
    high: float
    p: float
    clear: bool


class Interval(NamedTuple):
    """A mean over repetitions with its t interval; NaN for the ends with one repetition."""

    mean: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0.0 or self.high < 0.0


def mean_interval(values: Floats, level: float = 1.0 - LEVEL) -> Interval:
    """Return the mean of one value per repetition and its t interval."""
    found = Headline.of(values)
    half = float(half_width(found.std, len(values), level) / np.sqrt(len(values)))
    return Interval(found.mean, found.mean - half, found.mean + half)


def half_width(stderr: ArrayLike, repetitions: ArrayLike, level: float = 1.0 - LEVEL) -> Floats:
    """Return half the width of t intervals with these standard errors; NaN with one repetition."""
    from scipy.special import stdtrit

    freedom = np.asarray(repetitions, dtype=np.float64) - 1.0
    quantile = stdtrit(np.where(freedom > 0, freedom, np.nan), (1.0 + level) / 2.0)
    half: Floats = quantile * np.asarray(stderr, dtype=np.float64)
    return half


def interval_columns(values: Floats) -> dict[str, Floats]:
    """Return value (mean over repetitions, the first axis), stderr, and half (of the width of the 95 % interval)."""
    mean, stderr = mean_and_stderr(values)
    return {"value": mean, "stderr": stderr, "half": half_width(stderr, len(values))}


def _holm(p: Floats) -> tuple[Floats, Ints]:
    """Return p-values corrected by Holm's step-down method, and by what it divides the level for each of the tests."""
    order, left = np.argsort(p), np.arange(len(p), 0, -1)
    corrected, shares = np.empty(len(p)), np.empty(len(p), dtype=np.int64)
    corrected[order] = np.minimum(np.maximum.accumulate(left * p[order]), 1.0)
    # At the first test that fails it stops dividing less.
    shares[order] = np.maximum(left, left[~(p[order] <= LEVEL / left)].max(initial=1))
    return corrected, shares


def paired_differences(
    errors: Mapping[str, Floats], reference: str, *, planned: str | None = None
) -> dict[str, Difference]:
    """Compare methods with one of them, (repetitions,) each on the same draws; negative means fewer errors.

    The answer is about this dataset and n. The planned comparison stands alone. The others share the level by Holm's
    method, and the interval of each has the level at which it was tested, so it excludes 0 exactly if it is clear.
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
    by_holm = _holm(np.array([raw[name] for name in family]))
    corrected |= zip(family, by_holm[0].tolist(), strict=True)
    shares |= zip(family, by_holm[1].tolist(), strict=True)
    out = {}
    for name, gap in gaps.items():
        found, spread = mean_interval(gap, 1.0 - LEVEL / shares[name]), Headline.of(gap)
        ends = found.low, found.high
        out[name] = Difference(found.mean, spread.std, spread.stderr, *ends, corrected[name], found.clear)
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


def with_error(headline: Headline) -> str:
    """Return mean ± standard error, such as ".405 ± .006"; the mean alone if there was one repetition."""
    return with_spread(headline.mean, headline.stderr) or decimal(headline.mean)
