"""Partial autocorrelation over the tasks, averaged over components, with its band where the order does not matter."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import InputError, InputTypeError, check_int, check_matrix
from imrc._types import Floats, Ints
from imrc.tasks import TaskSequence

BAND = (0.025, 0.975)
_BAND_COMPONENTS = 64


@dataclass(frozen=True, eq=False)
class PartialAutocorrelation:
    """Partial autocorrelation of the components of the mean vectors over the sequence of tasks."""

    lags: Ints  #: 1, ..., nlags.
    values: Floats  #: One column per non-constant component, shape (nlags, components).
    mean: Floats  #: Average over components, shape (nlags,).
    std: Floats  #: Standard deviation over components (ddof = 0): spread of components, not an error bar.
    low: Floats | None = None  #: 2.5 % quantile of the average when the order of the tasks does not matter.
    high: Floats | None = None  #: 97.5 % quantile.


def _centred_components(means: Floats) -> Floats:
    """Return the components that are not constant, centred and scaled to unit sum of squares."""
    centred = means - means.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    varying = squares > 1e-20 * len(means) * np.abs(means).max(axis=0, initial=0.0) ** 2
    return np.ascontiguousarray(centred[:, varying] / np.sqrt(squares[varying]))


def partial_autocorrelation(means: ArrayLike, nlags: int | None = None) -> PartialAutocorrelation:
    """Partial autocorrelation over tasks, averaged over components (the paper's last figure).

    Equals ``statsmodels.tsa.stattools.pacf(x, nlags, method="ywm")`` component by component; that function takes one
    series at a time, which is several hundred times slower for the components of a mean vector.

    Parameters
    ----------
    means : array-like of shape (k, m)
        Sample averages of the mean vector, one row per task.
    nlags : int or None
        Largest lag, 1 to k - 1. None: min(20, k // 2 - 1), at least 1.

    Returns
    -------
    PartialAutocorrelation
        Constant components are left out.

    Raises
    ------
    ValueError
        If there are fewer than 2 tasks, the lag is too large, or every component is constant.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> walk = np.cumsum(generator.standard_normal((200, 50)), axis=0)
    >>> partial_autocorrelation(walk, 3).mean.round(2).tolist()
    [0.97, -0.01, 0.01]
    """
    from imrc.diagnostics._kernels import component_pacf

    if isinstance(means, TaskSequence):
        raise InputTypeError("Partial autocorrelation needs means. For tasks, use imrc.diagnostics.assess(tasks).pacf.")
    means = check_matrix("means", means)
    k = len(means)
    if k < 2:
        raise InputError(f"Partial autocorrelation needs at least 2 tasks, but there is {k}.")
    nlags = max(1, min(20, k // 2 - 1)) if nlags is None else check_int("nlags", nlags, 1, k - 1)
    x = _centred_components(means)
    if x.shape[1] == 0:
        raise InputError("Every component of means is constant over the tasks.")
    values = component_pacf(x, np.arange(k), nlags)
    return PartialAutocorrelation(np.arange(1, nlags + 1), values, values.mean(axis=1), values.std(axis=1))


def with_pacf_band(pacf: PartialAutocorrelation, means: Floats, orders: Ints) -> PartialAutocorrelation:
    """Add the band of the average under permuted orders; of many components 64, and at least 99 orders, carry it."""
    from imrc.diagnostics._kernels import mean_pacf

    x = _centred_components(means)
    m, nlags = x.shape[1], len(pacf.lags)
    if x.size > 100_000 and m > _BAND_COMPONENTS:
        x = np.ascontiguousarray(x[:, np.linspace(0, m - 1, _BAND_COMPONENTS).round().astype(int)])
    count = int(np.clip(2e8 / (x.size * nlags), 99, len(orders)))
    low, high = np.quantile(mean_pacf(x, orders[: count + 1], nlags), BAND, axis=0)
    return replace(pacf, low=low, high=high)
