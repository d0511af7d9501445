"""Size of the change: n rho = n d^2 / sigma^2, the ratio that Theorems 2 and 4 need.

Model: every standardised component is a random walk with step variance n rho plus noise of variance h_j. In the
contrasts orthogonal to the mean the restricted likelihood only needs the eigenvalues of the walk and the
projections of G. The (pseudo-)inverse of the walk's covariance is the Laplacian of a path, so for equal n the
eigenvectors are cosines and the eigenvalues 1 / (4 sin^2(pi l / (2 k))): nothing has to be decomposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from imrc._types import Floats
from imrc.diagnostics._reduction import Reduced

GRID = np.concatenate([[0.0], np.logspace(-4, 4, 161)])
# 95 % point of chi^2_1, halved.
HALF_CHI2 = 1.92


@dataclass(frozen=True, eq=False)
class ChangeEstimate:
    """Size of the change per step in units of one sample average's noise variance."""

    ratio: float
    """Restricted maximum likelihood estimate of n rho = n d^2 / sigma^2."""
    low: float
    """Lower end of the 95 % interval; 0 if "no change" cannot be ruled out."""
    high: float
    """Upper end of the 95 % interval; infinity if the data put no upper limit on it."""
    lr: float
    """Likelihood ratio against "no change at all"; above 2.706 is significant at 5 %."""
    m_eff: float
    """Effective number of independent components used."""
    grid: Floats
    """Ratios at which the likelihood was computed."""
    likelihood: Floats
    """Restricted log-likelihood per component at `grid`, minus its maximum."""


def cosine_waves(k: int, count: int) -> Floats:
    """Return cosine waves over k tasks (k, count), the slowest first: what a random walk mostly consists of."""
    return np.asarray(np.cos(np.pi * np.outer(np.arange(k) + 0.5, np.arange(1, count + 1)) / k))


@lru_cache(maxsize=8)
def _cosine_basis(k: int) -> tuple[Floats, Floats]:
    """Eigenvalues (k-1,) and eigenvectors (k, k-1) of a centred random walk of k steps."""
    values = 1.0 / (4.0 * np.sin(np.pi * np.arange(1, k) / (2.0 * k)) ** 2)
    vectors = cosine_waves(k, k - 1) * np.sqrt(2.0 / k)
    values.flags.writeable = vectors.flags.writeable = False
    return values, vectors


def walk_basis(h: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of K_ij / sqrt(h_i h_j) in the contrasts orthogonal to h^(-1/2), K a random walk's.

    The pseudo-inverse there is the tridiagonal matrix H^(1/2) L H^(1/2) with the Laplacian L of a path.
    """
    k = len(h)
    if np.ptp(h) <= 1e-9:
        return _cosine_basis(k)
    from scipy.linalg import eigh_tridiagonal

    root = np.sqrt(h)
    diagonal = np.full(k, 2.0)
    diagonal[0] = diagonal[-1] = 1.0
    values, vectors = eigh_tridiagonal(diagonal * h, -root[:-1] * root[1:])
    return 1.0 / values[1:], np.asarray(vectors[:, 1:])


def log_likelihood(ratio: Floats, values: Floats, projections: Floats) -> Floats:
    """Return -1/2 sum_i [log v_i + g_i / v_i], v = 1 + ratio lam: the likelihood per component."""
    v = 1.0 + np.multiply.outer(np.asarray(ratio), values)
    return np.asarray(-0.5 * (np.log(v) + projections / v).sum(axis=-1))


def project(scaled: Floats, vectors: Floats) -> Floats:
    """Return g_i = v_i' G v_i for the columns of `vectors`."""
    return np.asarray(((scaled @ vectors) * vectors).sum(axis=0))


def _interval(grid: Floats, drop: Floats, best: int, limit: float) -> tuple[float, float]:
    """Return where the likelihood has dropped by `limit`, interpolated in the logarithm of the ratio."""
    inside = drop >= -limit
    low_index = best
    while low_index > 0 and inside[low_index - 1]:
        low_index -= 1
    high_index = best
    while high_index < len(grid) - 1 and inside[high_index + 1]:
        high_index += 1

    def crossing(inner: int, outer: int) -> float:
        share = (drop[inner] + limit) / (drop[inner] - drop[outer])
        if grid[min(inner, outer)] == 0.0:  # no logarithm of 0: linear between 0 and the first point
            return float(grid[inner] + share * (grid[outer] - grid[inner]))
        return float(np.exp(np.log(grid[inner]) + share * (np.log(grid[outer]) - np.log(grid[inner]))))

    low = 0.0 if low_index == 0 else crossing(low_index, low_index - 1)
    high = np.inf if high_index == len(grid) - 1 else crossing(high_index, high_index + 1)
    return low, float(high)


def estimate_change(reduced: Reduced) -> tuple[float, Floats, Floats]:
    """Return the estimated ratio (grid of 20 a decade), eigenvalues of the walk, projections of G on its vectors."""
    values, vectors = walk_basis(reduced.h)
    projections = project(reduced.scaled, vectors)
    return float(GRID[int(np.argmax(log_likelihood(GRID, values, projections)))]), values, projections


def change_estimate(ratio: float, values: Floats, projections: Floats, m_eff: float) -> ChangeEstimate:
    """Add test and interval to an estimate; both need the effective number of components."""
    likelihood = log_likelihood(GRID, values, projections)
    best = int(np.argmax(likelihood))
    drop = likelihood - likelihood[best]
    low, high = _interval(GRID, drop, best, HALF_CHI2 / m_eff)
    return ChangeEstimate(ratio, low, high, float(-2.0 * m_eff * drop[0]), m_eff, GRID, drop)
