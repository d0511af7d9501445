"""Does the order of the tasks matter? Exact permutation tests on one k x k matrix.

If the order does not matter (identical or i.i.d. tasks), all orders of the rows are equally likely. Three
statistics: ``r1`` (neighbours alike), ``slope`` (slow change; locally best against a random walk) and
``peak`` (periods). Their rank p-values are combined by the minimum, whose own distribution comes from the
same orders, so no correction for multiple tests is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np

from imrc._types import Floats, Ints
from imrc.diagnostics._change import cosine_waves

StatisticName = Literal["r1", "-r1", "slope", "peak"]

# With fewer tasks no order can be significant: 1/12 is the smallest p-value of 4 tasks.
LEAST_TASKS = 5
ENUMERATED = 7
EXACT_PEAK = 120
LEADING = 12
WAVES = 5


@dataclass(frozen=True, eq=False)
class OrderTests:
    """Permutation tests of the order of the tasks."""

    statistics: dict[str, float]
    """Observed value of each statistic."""
    p_values: dict[str, float]
    """p-value of each statistic alone."""
    p_order: float
    """Combined p-value."""
    orders: int
    """Orders compared, the observed one included."""
    is_enumerated: bool
    """Whether these are all possible orders (up to reversal)."""


def draw_orders(k: int, permutations_drawn: int, generator: np.random.Generator) -> Ints:
    """Return orders of k tasks, the observed one first: up to 7 tasks all but reversals, else random ones."""
    if k <= ENUMERATED:
        return np.array([p for p in permutations(range(k)) if p[0] < p[-1]] or [tuple(range(k))], dtype=np.int64)
    tiled = np.tile(np.arange(k, dtype=np.int64), (permutations_drawn + 1, 1))
    tiled[1:] = generator.permuted(tiled[1:], axis=1)
    return tiled


def centre_twice(G: Floats) -> Floats:
    """Return G with row and column means removed."""
    return np.asarray(G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean())


def _slopes(G: Floats, root: Floats | None, orders: Ints, trace: float) -> Floats:
    """Weighted energy in the slowest cosine waves, for every order."""
    count, k = orders.shape
    out = np.zeros(count)
    placed = np.empty((count, k))
    waves = cosine_waves(k, min(WAVES, k - 1)) * np.sqrt(2.0 / k)
    for position, wave in enumerate(waves.T, start=1):
        np.put_along_axis(placed, orders, np.broadcast_to(wave, orders.shape), axis=1)
        energy = ((placed @ G) * placed).sum(axis=1) if root is None else ((placed @ root) ** 2).sum(axis=1)
        out += energy / position**2
    return np.asarray(out / trace)


def _peaks_exact(G: Floats, orders: Ints, trace: float) -> Floats:
    """Highest ordinate of the periodogram over f = 1/k, 2/k, ..., 1/2, from all lags."""
    from imrc.diagnostics._kernels import lag_sums

    k = len(G)
    lags = np.arange(1, k, dtype=np.int64)
    sums = lag_sums(G, orders, lags) / trace
    frequencies = np.arange(1, k // 2 + 1) / k
    return np.asarray((1.0 + 2.0 * sums @ np.cos(2.0 * np.pi * np.outer(lags, frequencies))).max(axis=1))


def _peaks_leading(root: Floats, orders: Ints, trace: float) -> Floats:
    """Highest ordinate of the periodogram, from the leading columns of G's square root."""
    k = len(root)
    out = np.empty(len(orders))
    for start in range(0, len(orders), 64):
        spectrum = np.fft.rfft(root[orders[start : start + 64]], axis=1)[:, 1 : k // 2 + 1]
        power = (spectrum.real**2 + spectrum.imag**2).sum(axis=2)
        out[start : start + 64] = power.max(axis=1) / trace
    return out


def _leading_root(G: Floats, columns: int) -> Floats:
    """Return the leading columns of a square root of G."""
    from scipy.linalg import eigh

    k = len(G)
    values, vectors = eigh(G, subset_by_index=[max(0, k - columns), k - 1])
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def order_statistics(G: Floats, orders: Ints, factor: Floats | None = None) -> dict[StatisticName, Floats]:
    """Evaluate "slope", "r1" and "peak" from 8 tasks on, "slope" and "-r1" below, for every row of `orders`.

    G (k, k): products of the standardised averages, doubly centred; `factor` F (k, r), G = F F', makes the slope cheap.
    """
    k = len(G)
    trace = float(np.trace(G))
    if trace <= 0:
        zeros = np.zeros(len(orders))
        return {"slope": zeros, "-r1": zeros} if k <= ENUMERATED else dict.fromkeys(("slope", "r1", "peak"), zeros)
    flat = G.ravel()
    r1 = flat[orders[:, :-1] * k + orders[:, 1:]].sum(axis=1) / trace
    root = factor if factor is not None and factor.shape[1] < k // 4 else None
    slope = _slopes(G, root, orders, trace)
    if k <= ENUMERATED:
        return {"slope": slope, "-r1": -r1}
    if k <= EXACT_PEAK:
        peak = _peaks_exact(G, orders, trace)
    else:
        peak = _peaks_leading(_leading_root(G, LEADING), orders, trace)
    return {"slope": slope, "r1": r1, "peak": peak}


def _rank_p_values(values: Floats) -> Floats:
    """Return for each entry the share of entries at least as large; ties (to 1e-12) count against."""
    rounded = np.round(values, 12)
    ordered = np.sort(rounded)
    return np.asarray((len(values) - np.searchsorted(ordered, rounded, side="left")) / len(values))


def combine_order_tests(statistics: dict[StatisticName, Floats], is_enumerated: bool) -> OrderTests:
    """Turn statistics of all orders (the observed one first) into p-values.

    >>> result = combine_order_tests({"slope": np.array([3.0, 1.0, 2.0, 0.0])}, True)
    >>> result.p_values, result.p_order
    ({'slope': 0.25}, 0.25)
    """
    ranks = {name: _rank_p_values(values) for name, values in statistics.items()}
    smallest = np.min(list(ranks.values()), axis=0)
    # Ranks are multiples of 1 / orders: compare with room for rounding.
    p_order = float((smallest <= smallest[0] * (1.0 + 1e-9)).mean())
    return OrderTests(
        statistics={name: float(values[0]) for name, values in statistics.items()},
        p_values={name: float(rank[0]) for name, rank in ranks.items()},
        p_order=p_order,
        orders=len(smallest),
        is_enumerated=is_enumerated,
    )
