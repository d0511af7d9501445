"""What the averages show by lag: partial autocorrelation, distances without noise, tasks that recur.

Bands and envelopes contain 95 % of the averages when the order of the tasks does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import InputError, InputTypeError, check_int, check_matrix
from imrc._types import Floats, Ints
from imrc.diagnostics.samples import Reduced, given_moments, lag_sums, reduce_moments
from imrc.tasks import TaskSequence

BAND = (0.025, 0.975)
_BAND_COMPONENTS = 64
_ENVELOPE_LAGS = 48  # The envelope of long sequences is computed at this many lags.
_RETURNS_UP_TO = 60  # Of more tasks, too many pairs are alike by chance.


@dataclass(frozen=True, eq=False)
class PartialAutocorrelation:
    """Partial autocorrelation of the components of the mean vectors over the sequence of tasks."""

    lags: Ints  #: 1, ..., nlags.
    values: Floats  #: One column per non-constant component, shape (nlags, components).
    mean: Floats  #: Average over components, shape (nlags,).
    std: Floats  #: Standard deviation over components (ddof = 0), a spread and not an error bar.
    low: Floats | None = None  #: 2.5 % quantile of the average when the order of the tasks does not matter.
    high: Floats | None = None  #: 97.5 % quantile.


def _centred_components(means: Floats) -> Floats:
    """Return the components that are not constant, centred and scaled to unit sum of squares."""
    centred = means - means.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    varying = squares > 1e-20 * len(means) * np.abs(means).max(axis=0, initial=0.0) ** 2
    return np.ascontiguousarray(centred[:, varying] / np.sqrt(squares[varying]))


def partial_autocorrelation(means: ArrayLike, nlags: int | None = None) -> PartialAutocorrelation:
    """Return the partial autocorrelation over tasks, averaged over components that vary (the paper's last figure).

    For each component, this equals ``statsmodels.tsa.stattools.pacf(x, nlags, method="ywm")``. That function takes one
    series at a time and is several hundred times slower for a whole mean vector.

    Parameters
    ----------
    means : array-like of shape (k, m)
        Sample averages of the mean vector, one row per task.
    nlags : int or None
        Largest lag, 1 to k - 1. The default is min(20, k // 2 - 1), at least 1.

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
    """Add the band of the average under permuted orders, from at most 64 of many components and at least 99 orders."""
    from imrc.diagnostics._kernels import component_pacf

    x = _centred_components(means)
    m, nlags = x.shape[1], len(pacf.lags)
    if x.size > 100_000 and m > _BAND_COMPONENTS:
        x = np.ascontiguousarray(x[:, np.linspace(0, m - 1, _BAND_COMPONENTS).round().astype(int)])
    count = int(np.clip(2e8 / (x.size * nlags), 99, len(orders)))
    means_of = [component_pacf(x, order, nlags).mean(axis=1) for order in orders[: count + 1]]
    low, high = np.quantile(means_of, BAND, axis=0)
    return replace(pacf, low=low, high=high)


@dataclass(frozen=True, eq=False)
class Variogram:
    """Squared distance of tasks by lag, corrected for sampling noise."""

    lags: Ints  #: 1, ..., largest lag.
    gamma: Floats  #: Unbiased average over pairs, in units of the noise variance of one sample average.
    pairs: Ints  #: Number of pairs of tasks behind each value.
    exponent: float | None  #: Slope of log gamma on log lag up to k/4, if gammas are positive and k is large enough.
    envelope_lags: Ints | None = None  #: Lags at which the envelope was computed.
    low: Floats | None = None  #: 2.5 % quantile when the order of the tasks does not matter, at `envelope_lags`.
    high: Floats | None = None  #: 97.5 % quantile.


def variogram_of(reduced: Reduced, max_lag: int | None = None) -> Variogram:
    """Variogram of a reduced sequence."""
    k, distance = reduced.k, reduced.distance
    largest = min(max(1, (2 * k) // 3), max(1, k - 2)) if max_lag is None else max_lag
    lags = np.arange(1, largest + 1)
    gamma = np.array([np.diagonal(distance, t).mean() for t in lags])
    near, exponent = lags <= k / 4, None
    if near.sum() >= 2 and (gamma[near] > 0).all():
        exponent = float(np.polyfit(np.log(lags[near]), np.log(gamma[near]), 1)[0])
    return Variogram(lags, gamma, k - lags, exponent)


def variogram(means: ArrayLike, mse: ArrayLike | None = None, max_lag: int | None = None) -> Variogram:
    """Return the mean squared distance between tasks t apart, corrected for sampling noise.

    gamma(t) = mean_i (D_(i, i+t) - h_i - h_(i+t)) in units of the noise variance of one sample average,
    averaged over components. Identical tasks: 0. Independent tasks: flat. Random walk: n d^2 t / sigma^2.

    Parameters
    ----------
    means : array-like of shape (k, m)
        Sample averages, one row per task.
    mse : array-like, broadcastable to (k, m)
        Their mean squared errors s = sigma^2 / n.
    max_lag : int or None
        Largest lag, up to k - 1. The default is floor(2 k / 3), but at most k - 2.

    Raises
    ------
    ValueError
        If there are fewer than two tasks, `mse` does not match `means`, or `mse` is 0 everywhere.

    Examples
    --------
    >>> variogram([[0.0], [1.0], [2.0], [3.0], [4.0]], 0.1, max_lag=4).gamma.round(9).tolist()
    [8.0, 38.0, 88.0, 158.0]
    """
    if mse is None:
        raise InputTypeError(
            "A variogram needs means (tasks, components) and their mean squared errors: variogram(means, mse). For "
            "tasks, use imrc.diagnostics.assess(tasks).variogram."
        )
    moments = given_moments(means, mse)
    k = len(moments.tau)
    if k < 2:
        raise InputError(f"A variogram needs at least 2 tasks; got {k}.")
    max_lag = max_lag if max_lag is None else check_int("max_lag", max_lag, 1, k - 1)
    reduced = reduce_moments(moments)
    if reduced.m == 0:
        raise InputError("mse is 0 in every component, so there is no noise to measure distances by.")
    return variogram_of(reduced, max_lag)


def with_envelope(result: Variogram, reduced: Reduced, orders: Ints) -> Variogram:
    """Add the 2.5-97.5 % envelope of gamma under permuted orders."""
    lags = result.lags
    if reduced.k > 120:
        lags = np.unique(np.geomspace(1, lags[-1], _ENVELOPE_LAGS).round().astype(np.int64))
        orders = orders[: max(100, int(2e8 / (reduced.k * len(lags))))]
    sums = lag_sums(reduced.distance, orders, lags) / (reduced.k - lags)
    low, high = np.quantile(sums, BAND, axis=0)
    return replace(result, envelope_lags=lags, low=low, high=high)


def find_returns(distance: Floats, h: Floats, components: float) -> tuple[tuple[tuple[int, int], ...], float]:
    """Return pairs of tasks (from 0) that are alike although one between them is not, and their share of all pairs.

    The most similar come first. `distance` (k, k) is squared, less noise with so many effective `components`.
    """
    k = len(h)
    if not 1 < k <= _RETURNS_UP_TO:
        return (), 0.0
    error = math.sqrt(2.0) * (h[:, None] + h[None, :]) / math.sqrt(components)
    found = []
    for i, j in np.argwhere(np.triu(distance <= 2.0 * error, 2)):
        near, se = distance[i, j], error[i, j]
        between = np.minimum(distance[i, i + 1 : j], distance[i + 1 : j, j]).max()
        if between >= max(4.0 * se, 4.0 * near):
            found.append((float(near), int(i), int(j)))
    pairs = tuple((i, j) for _, i, j in sorted(found))
    return pairs, len(pairs) / (k * (k - 1) / 2)
