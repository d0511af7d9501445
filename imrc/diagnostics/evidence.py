"""The tests: do tasks differ, does their order matter, how large is the change, are changes independent and zero-mean.

If their order does not matter, all orders of the rows of G are equally likely: the rank p-values of three statistics
are combined by their minimum, compared over the same orders, so no correction for multiple tests is needed. The size of
the change, n rho = n d^2 / sigma^2, is that of a random walk seen through the noise, by restricted likelihood. Noise
alone makes increments of sample averages negatively correlated, so not they are tested but their innovations, which are
uncorrelated if tasks evolve.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np

from imrc._types import Floats, Ints
from imrc.diagnostics.samples import Reduced, lag_sums, standardised_sum

SameMethod = Literal["permutation of samples", "F approximation", "chi-squared approximation"]
ChangePattern = Literal["unremarkable", "direction", "same_way", "come_back"]

SHUFFLES = 199
WORK_LIMIT = 5e8
"""Above this many multiplications (samples x components x shuffles) identity of the tasks is tested approximately."""
LEAST_TASKS = 5  #: With fewer tasks, no order can be significant. The smallest p-value of 4 tasks is 1/12.
ENUMERATED = 7  #: Up to this many tasks, all orders are compared.
_EXACT_PEAK = 120
LEADING = 12
_WAVES = 5
RATIOS = np.concatenate([[0.0], np.logspace(-4, 4, 161)])  #: Where the likelihood of n rho is computed: 20 a decade.
_HALF_CHI2 = 1.92  # 95 % point of chi^2_1, halved
_LAGS = (2, 3, 4, 5)
MEAN_LIMIT = 2.33
"""1 % point. On simulated random walks whose verdict is evolving, larger values are reported for under 1 %
(`tests/benchmarks/diagnostics_study.py`)."""
FLAG_LIMIT = 3.0


def class_moments(X1: Floats, y: Ints, n_classes: int) -> tuple[Floats, Floats]:
    """Return mean and variance of Phi over all rows, (C, D + 1), with infinite variance for constant components."""
    from imrc.solvers.logistic import group_sums

    mean, square = (group_sums(part, y, n_classes) / len(X1) for part in (X1, X1 * X1))
    variance = square - mean**2
    return mean, np.where(variance > 1e-12 * np.maximum(square, 1e-300), variance, np.inf)


def exact_p_value(rows: list[tuple[Floats, Ints]], generator: np.random.Generator, shuffles: int = SHUFFLES) -> float:
    """Return the exact p-value of sum_j ||sum of standardised Phi of task j||^2 / n_j, shuffling samples."""
    from imrc.solvers.logistic import group_sums

    sizes = np.array([len(y) for _, y in rows])
    X, y = (np.concatenate(part) for part in zip(*rows, strict=True))
    k, width, n_classes = len(rows), X.shape[1], int(y.max()) + 1
    task = np.repeat(np.arange(k), sizes)
    overall, variance = class_moments(X, y, n_classes)

    def statistic(assigned: Ints) -> float:
        sums = group_sums(X, assigned * n_classes + y, k * n_classes).reshape(k, n_classes, width)
        deviations = sums - sizes[:, None, None] * overall
        return float((deviations**2 / variance / sizes[:, None, None]).sum())

    observed = statistic(task)
    reached = sum(statistic(generator.permutation(task)) >= observed * (1.0 - 1e-12) for _ in range(shuffles))
    return (1.0 + reached) / (1.0 + shuffles)


def approximate_p_value(reduced: Reduced, m_noise: float | None, m_eff: float) -> tuple[float, SameMethod]:
    """Return the p-value of Q, by the F distribution with samples and by the chi-squared distribution without."""
    from scipy import stats

    k, q = reduced.k, reduced.statistic
    if m_noise is not None and reduced.total is not None and reduced.total > k:
        degrees = (k - 1) * m_noise, (reduced.total - k) * m_noise
        return float(stats.f.sf(q, *degrees)), "F approximation"
    freedom = (k - 1) * m_eff
    return float(stats.chi2.sf(q * freedom, freedom)), "chi-squared approximation"


@dataclass(frozen=True, eq=False)
class OrderTests:
    """Permutation tests of the order of the tasks."""

    statistics: dict[str, float]  # observed value of each statistic
    p_values: dict[str, float]  # of each statistic alone
    p_order: float  # combined p-value


def draw_orders(k: int, permutations_drawn: int, generator: np.random.Generator) -> Ints:
    """Return orders of k tasks, the observed one first: all but reversals up to 7 tasks, random ones from 8 on."""
    if k <= ENUMERATED:
        return np.array([p for p in permutations(range(k)) if p[0] < p[-1]], dtype=np.int64)
    tiled = np.tile(np.arange(k, dtype=np.int64), (permutations_drawn + 1, 1))
    tiled[1:] = generator.permuted(tiled[1:], axis=1)
    return tiled


def centre_twice(G: Floats) -> Floats:
    """Return G with row and column means removed."""
    return np.asarray(G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean())


def _slopes(G: Floats, root: Floats | None, orders: Ints, trace: float) -> Floats:
    """Weighted energy in the slowest cosine waves, for every order."""
    count, k = orders.shape
    out, placed = np.zeros(count), np.empty((count, k))
    waves = cosine_waves(k, min(_WAVES, k - 1)) * np.sqrt(2.0 / k)
    for position, wave in enumerate(waves.T, start=1):
        np.put_along_axis(placed, orders, np.broadcast_to(wave, orders.shape), axis=1)
        energy = ((placed @ G) * placed).sum(axis=1) if root is None else ((placed @ root) ** 2).sum(axis=1)
        out += energy / position**2
    return np.asarray(out / trace)


def _peaks_exact(G: Floats, orders: Ints, trace: float) -> Floats:
    """Highest ordinate of the periodogram over f = 1/k, 2/k, ..., 1/2, from all lags."""
    k = len(G)
    lags = np.arange(1, k, dtype=np.int64)
    sums = lag_sums(G, orders, lags) / trace
    frequencies = np.arange(1, k // 2 + 1) / k
    return np.asarray((1.0 + 2.0 * sums @ np.cos(2.0 * np.pi * np.outer(lags, frequencies))).max(axis=1))


def _peaks_leading(G: Floats, orders: Ints, trace: float) -> Floats:
    """Highest ordinate of the periodogram, from the leading columns of a square root of G."""
    from scipy.linalg import eigh

    k = len(G)
    values, vectors = eigh(G, subset_by_index=[max(0, k - LEADING), k - 1])
    root = np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    out = np.empty(len(orders))
    for start in range(0, len(orders), 64):
        spectrum = np.fft.rfft(root[orders[start : start + 64]], axis=1)[:, 1 : k // 2 + 1]
        power = (spectrum.real**2 + spectrum.imag**2).sum(axis=2)
        out[start : start + 64] = power.max(axis=1) / trace
    return out


def order_tests(reduced: Reduced, orders: Ints) -> OrderTests:
    """Test the first of `orders`, the observed one.

    By "slope" (slow change; locally best against a random walk), "r1" (neighbours alike) and "peak" (periods); below 8
    tasks by "slope" and "-r1".
    """
    G, k = centre_twice(reduced.scaled), reduced.k
    trace = float(np.trace(G))
    names = ("slope", "-r1") if k <= ENUMERATED else ("slope", "r1", "peak")
    statistics = dict.fromkeys(names, np.zeros(len(orders)))
    if trace > 0:
        # F F' = G makes the slope cheap.
        is_balanced = np.ptp(reduced.h) <= 1e-9
        factor = reduced.Z / np.sqrt(reduced.m) if is_balanced and reduced.m < k // 4 else None
        r1 = lag_sums(G, orders, np.array([1]))[:, 0] / trace
        found = [_slopes(G, factor, orders, trace), -r1 if "-r1" in names else r1]
        if "peak" in names:
            found.append((_peaks_exact if k <= _EXACT_PEAK else _peaks_leading)(G, orders, trace))
        statistics = dict(zip(names, found, strict=True))
    # The share of orders with a statistic at least as large; ties (to 1e-12) count against.
    rounded = {name: np.round(values, 12) for name, values in statistics.items()}
    ranks = {name: (len(one) - np.searchsorted(np.sort(one), one)) / len(one) for name, one in rounded.items()}
    smallest = np.min(list(ranks.values()), axis=0)
    return OrderTests(
        statistics={name: float(values[0]) for name, values in statistics.items()},
        p_values={name: float(rank[0]) for name, rank in ranks.items()},
        # Ranks are multiples of 1 / orders, so the comparison leaves room for rounding.
        p_order=float((smallest <= smallest[0] * (1.0 + 1e-9)).mean()),
    )


@dataclass(frozen=True, eq=False)
class ChangeEstimate:
    """Size of the change per step in units of one sample average's noise variance."""

    ratio: float  # restricted maximum likelihood estimate of n rho = n d^2 / sigma^2
    low: float  # lower end of the 95 % interval; 0 if "no change" cannot be ruled out
    high: float  # upper end; infinity if the data put no upper limit on it
    lr: float  # likelihood ratio against "no change at all", significant at 5 % above 2.706


def cosine_waves(k: int, count: int) -> Floats:
    """Return cosine waves over k tasks (k, count), the slowest first, of which a random walk mostly consists."""
    return np.asarray(np.cos(np.pi * np.outer(np.arange(k) + 0.5, np.arange(1, count + 1)) / k))


def walk_basis(h: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues and eigenvectors of K_ij / sqrt(h_i h_j), K of a random walk, orthogonal to h^(-1/2).

    In these contrasts, the pseudo-inverse is H^(1/2) L H^(1/2) with the Laplacian L of a path: cosines for equal n.
    """
    k = len(h)
    if np.ptp(h) <= 1e-9:
        values = 1.0 / (4.0 * np.sin(np.pi * np.arange(1, k) / (2.0 * k)) ** 2)
        return values, cosine_waves(k, k - 1) * np.sqrt(2.0 / k)
    from scipy.linalg import eigh_tridiagonal

    root = np.sqrt(h)
    diagonal = np.full(k, 2.0)
    diagonal[[0, -1]] = 1.0
    values, vectors = eigh_tridiagonal(diagonal * h, -root[:-1] * root[1:])
    return 1.0 / values[1:], np.asarray(vectors[:, 1:])


def log_likelihood(ratio: Floats, values: Floats, projections: Floats) -> Floats:
    """Return -1/2 sum_i [log v_i + g_i / v_i], v = 1 + ratio lam: the likelihood per component."""
    v = 1.0 + np.multiply.outer(np.asarray(ratio), values)
    return np.asarray(-0.5 * (np.log(v) + projections / v).sum(axis=-1))


def project(scaled: Floats, vectors: Floats) -> Floats:
    """Return g_i = v_i' G v_i for the columns of `vectors`."""
    return np.asarray(((scaled @ vectors) * vectors).sum(axis=0))


def _end(drop: Floats, best: int, limit: float, step: int) -> float:
    """Return the ratio below (step -1) or above (step 1) `best` at which the likelihood is lower by `limit`."""
    outer = best + step
    while 0 <= outer < len(RATIOS) and drop[outer] >= -limit:
        outer += step
    if not 0 <= outer < len(RATIOS):
        return 0.0 if step < 0 else np.inf
    share = (drop[outer - step] + limit) / (drop[outer - step] - drop[outer])
    ends = RATIOS[[outer - step, outer]]
    if ends.min() == 0.0:  # no logarithm of 0: linear between 0 and the first point
        return float(ends[0] + share * (ends[1] - ends[0]))
    return float(np.exp(np.log(ends[0]) + share * (np.log(ends[1]) - np.log(ends[0]))))


def change_estimate(likelihood: Floats, m_eff: float) -> ChangeEstimate:
    """Return the estimate with its interval and test, given the likelihood at `RATIOS`."""
    best = int(np.argmax(likelihood))
    drop = likelihood - likelihood[best]
    low, high = (_end(drop, best, _HALF_CHI2 / m_eff, step) for step in (-1, 1))
    return ChangeEstimate(float(RATIOS[best]), low, high, float(-2.0 * m_eff * drop[0]))


@dataclass(frozen=True, eq=False)
class Innovations:
    """Tests on the changes between consecutive tasks."""

    z_mean: float  # standardised mean: large if changes drift in one direction, negative if they cancel
    z_lags: dict[int, float]  # standardised correlation of changes 2 to 5 tasks apart; n rho absorbs lag 1
    m_eff: float  # effective number of independent components of the changes, in [1, m]

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
        """Finding of the two tests: not zero-mean ("direction"), not independent, or "unremarkable"."""
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


def innovations(reduced: Reduced, ratio: float) -> Innovations:
    """Filter the increments and test them."""
    M = innovation_products(reduced, ratio)
    steps, m_eff = len(M), 1.0
    if steps > 1:  # mean M_tt M_uu / mean M_tu^2 over t != u, clipped to [1, m]
        diagonal, off = np.diag(M), steps * (steps - 1)
        top = (diagonal.sum() ** 2 - (diagonal**2).sum()) / off
        bottom = ((M**2).sum() - (diagonal**2).sum()) / off
        m_eff = float(np.clip(top / bottom if bottom > 0 else reduced.m, 1.0, reduced.m))
    z_lags = {t: standardised_sum(np.diagonal(M, t)) for t in _LAGS if t < steps}
    return Innovations(standardised_sum(M[np.triu_indices(steps, 1)]), z_lags, m_eff)
