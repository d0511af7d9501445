"""Tests of the changes between consecutive tasks for zero mean and independence.

Noise alone makes increments of sample averages negatively correlated, so raw increments are never tested.
With the noise filtered out by the Cholesky factor of their covariance the innovations are uncorrelated under
the assumption of evolving tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from imrc._types import Floats
from imrc.diagnostics._reduction import Reduced

ChangePattern = Literal["unremarkable", "direction", "same_way", "come_back"]

LAGS = (2, 3, 4, 5)
MEAN_LIMIT = 2.33
"""1 % point: a departure qualifies a verdict that other tests gave. On simulated random walks that are called evolving
it is reported for under 1 % (`tests/benchmarks/diagnostics_study.py`)."""
FLAG_LIMIT = 3.0


@dataclass(frozen=True, eq=False)
class Innovations:
    """Tests on the changes between consecutive tasks."""

    z_mean: float
    """Standardised mean: large if changes drift in one direction, negative if they cancel."""
    z_lags: dict[int, float]
    """Standardised correlation of changes 2 to 5 tasks apart; lag 1 is absorbed by the ratio n rho."""
    raw_correlation: float
    """Lag-1 correlation of raw increments."""
    expected_raw_correlation: float
    """Its expectation from noise and n rho alone, -1 / (2 + n rho)."""
    m_eff: float
    """Effective number of independent components of the changes, in [1, m]."""

    @property
    def largest(self) -> float:
        """The z value of largest magnitude, 0 if there is none."""
        return max(self.z_lags.values(), key=abs, default=0.0)

    @property
    def is_flagged(self) -> bool:
        """Whether consecutive changes look dependent."""
        return abs(self.largest) > FLAG_LIMIT

    @property
    def pattern(self) -> ChangePattern:
        """Finding of the two tests; every sentence about changes follows from it.

        "direction": not zero-mean. "same_way", "come_back": not independent. "unremarkable": neither is seen.
        """
        if self.z_mean > MEAN_LIMIT:
            return "direction"
        if self.is_flagged:
            return "same_way" if self.largest > 0 else "come_back"
        return "unremarkable"


def innovation_products(reduced: Reduced, ratio: float) -> Floats:
    """Return M = E E' / m of the innovations E = L^-1 Dm Z, shape (k-1, k-1)."""
    from scipy.linalg import cholesky_banded, solve_banded

    h = reduced.h
    increments = np.diff(np.diff(reduced.G, axis=0), axis=1)
    band = np.zeros((2, reduced.k - 1))
    band[0] = h[:-1] + h[1:] + ratio
    band[1, :-1] = -h[1:-1]
    factor = cholesky_banded(band, lower=True)
    half = solve_banded((1, 0), factor, increments)
    return np.asarray(solve_banded((1, 0), factor, half.T))


def _ratio(values: Floats) -> float:
    """Return the sum over the root of the sum of squares; 0 without variation."""
    size = float(np.sqrt((values**2).sum()))
    return float(values.sum()) / size if size > 0 else 0.0


def innovations(reduced: Reduced, ratio: float) -> Innovations:
    """Filter the increments and test them."""
    M = innovation_products(reduced, ratio)
    steps = len(M)
    increments = np.diff(np.diff(reduced.G, axis=0), axis=1)
    total = float(np.trace(increments))
    neighbours = float(np.diagonal(increments, 1).sum())
    return Innovations(
        z_mean=_ratio(M[np.triu_indices(steps, 1)]),
        z_lags={t: _ratio(np.diagonal(M, t)) for t in LAGS if t < steps},
        raw_correlation=neighbours / total if total > 0 else 0.0,
        expected_raw_correlation=-1.0 / (2.0 + ratio),
        m_eff=effective_components(M, reduced.m),
    )


def effective_components(M: Floats, m: int) -> float:
    """Return mean M_tt M_uu / mean M_tu^2 over t != u, clipped to [1, m].

    M (steps, steps) holds products of standardised innovations, averaged over the m components.
    """
    steps = len(M)
    diagonal = np.diag(M)
    off = steps * (steps - 1)
    if off == 0:
        return 1.0
    top = (diagonal.sum() ** 2 - (diagonal**2).sum()) / off
    bottom = ((M**2).sum() - (diagonal**2).sum()) / off
    return float(np.clip(top / bottom if bottom > 0 else m, 1.0, m))
