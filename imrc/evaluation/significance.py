"""Paired tests over repetitions, and their correction for several comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import check_choice

Floats = NDArray[np.float64]
Test = Literal["automatic", "wilcoxon", "t"]
UsedTest = Literal["wilcoxon", "t", "none"]

FEW_REPETITIONS = 10
"""Below this many repetitions the automatic choice is the paired t test: with 5 pairs the smallest two-sided p-value
of Wilcoxon's test is .0625, so no difference could ever be significant."""


@dataclass(frozen=True)
class PairedTest:
    """Result of a paired test of two methods over repetitions.

    Attributes
    ----------
    difference, stderr : float
        Mean of first minus second, and its standard error (NaN with one repetition).
    p : float
        Two-sided p-value; NaN with one repetition.
    test : {"wilcoxon", "t", "none"}
        What was used.
    """

    difference: float
    stderr: float
    p: float
    test: UsedTest


def paired_test(first: Floats, second: Floats, test: Test = "automatic") -> PairedTest:
    """Test whether two methods differ, repetition by repetition.

    Repetitions redraw test and training samples of the same data, so the answer is about this dataset and n, not about
    datasets at large.

    Parameters
    ----------
    first, second : ndarray of shape (repetitions,)
        Errors on the same draws.
    test : {"automatic", "wilcoxon", "t"}
        Wilcoxon's signed-rank test, or the paired t test. Automatic: t below `FEW_REPETITIONS` repetitions.

    Returns
    -------
    PairedTest

    Raises
    ------
    ValueError
        If the numbers of repetitions differ.

    Examples
    --------
    >>> paired_test(np.array([0.3, 0.4, 0.5]), np.array([0.2, 0.3, 0.5]), "t").test
    't'
    """
    check_choice("test", test, get_args(Test))
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or len(first) == 0:
        raise ValueError(f"Paired errors must be two rows of equal length, got {first.shape} and {second.shape}.")
    gap = first - second
    if len(gap) == 1:
        return PairedTest(float(gap[0]), float("nan"), float("nan"), "none")
    # Equal errors can differ in the last bit after averaging; such differences are none.
    gap = np.where(np.abs(gap) < 1e-12, 0.0, gap)
    stderr = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    use: UsedTest = test if test != "automatic" else ("t" if len(gap) < FEW_REPETITIONS else "wilcoxon")
    if not gap.any():
        return PairedTest(0.0, 0.0, 1.0, use)
    from scipy import stats

    if use == "wilcoxon":
        p = float(stats.wilcoxon(gap, zero_method="pratt").pvalue)
    elif np.ptp(gap) < 1e-12:  # the same difference every time: infinitely many standard errors from 0
        p = 0.0
    else:
        p = float(stats.ttest_1samp(gap, 0.0).pvalue)
    return PairedTest(float(gap.mean()), stderr, p, use)


def mean_interval(values: Floats, level: float = 0.95) -> tuple[float, float, float]:
    """Return the mean of one value per repetition and its t interval; NaN for the ends with one repetition.

    Parameters
    ----------
    values : ndarray of shape (repetitions,)
        At least one.
    level : float
        Coverage.

    Returns
    -------
    tuple of float
        Mean, lower end, upper end.

    Examples
    --------
    >>> [round(x, 3) for x in mean_interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.484, 4.484]
    """
    values = np.asarray(values, dtype=np.float64)
    mean = float(values.mean())
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    from scipy.special import stdtrit

    half = float(stdtrit(len(values) - 1, (1.0 + level) / 2.0) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - half, mean + half


def holm(p: ArrayLike) -> Floats:
    """Return p-values corrected for several tests by Holm's step-down method; NaN stays NaN and does not count.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    from statsmodels.stats.multitest import multipletests

    p = np.asarray(p, dtype=np.float64)
    tested = np.isfinite(p)
    corrected = np.full(len(p), np.nan)
    if tested.any():
        corrected[tested] = multipletests(p[tested], method="holm")[1]
    return corrected
