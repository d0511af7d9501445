"""Which kind of change: models of `imrc.core.higher_order` compared by how well they predicted the tasks so far.

With one gain for all components an estimate is a weighted sum of sample averages, and its weights follow from the
numbers of samples alone. A model's innovations are weighted sums as well, so their likelihood under every model needs
no more than the products of the averages: models are compared at the price of small matrices, whatever the number of
components.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from imrc._types import Floats
from imrc.core.higher_order import ChangeModel, differences, levels, mean_reverting, run, seasonal
from imrc.core.rates import RATES

KnownOrder = Literal[1, 2, "ar", "seasonal", "none", "restart"]
Order = Literal["auto", 1, 2, "ar", "seasonal", "none", "restart"]
KNOWN_ORDERS: tuple[KnownOrder, ...] = get_args(KnownOrder)
ORDERS: tuple[Order, ...] = get_args(Order)

ORDER_NAMES: dict[KnownOrder, str] = {
    1: "random walk",
    2: "level and slope",
    "ar": "pulled back to a mean",
    "seasonal": "level and wave",
    "none": "no change",
    "restart": "one jump",
}
"""What an order says about the change."""

PRIOR: dict[KnownOrder, float] = {1: 0.5, **dict.fromkeys(KNOWN_ORDERS[1:], 0.1)}
"""Probability of each order before any task is seen."""

COMPARED_TASKS = 60
"""The last tasks by which models are compared."""

_PERIODS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 30)
_JUMP = 100.0
"""Variance of an abrupt change, in units of the variance of a sample: nearly all that was known is forgotten."""


def _grid(*axes: tuple[float, ...]) -> list[Floats]:
    return [axis.ravel() for axis in np.meshgrid(*map(np.asarray, axes), indexing="ij")]


def _variants(order: KnownOrder, k: int, span: float) -> tuple[ChangeModel, Floats | None] | None:
    """Return the variants of an order for k tasks over `span` periods, and their jumps; None: too few tasks for one."""
    if order == 1:
        return differences(1, RATES), None
    if order == 2:
        return levels(np.stack(_grid((0.0, 0.003, 0.03, 0.3), (0.0, 0.0003, 0.003, 0.03)), axis=1)), None
    if order == "ar":
        return mean_reverting(*_grid((0.3, 0.6, 0.8, 0.9), (0.003, *RATES))), None
    if order == "none":
        return differences(1, 0.0), None
    if order == "seasonal":
        periods = tuple(float(period) for period in _PERIODS if period <= span / 2.0)
        return (seasonal(*_grid(periods, (0.0, 0.03), (0.0, 0.003))), None) if periods else None
    jumps = np.zeros((k, max(k - 1, 1)))
    jumps[np.arange(1, k), np.arange(k - 1)] = _JUMP
    return (differences(1, np.zeros(k - 1)), jumps) if k > 1 else None


@lru_cache(maxsize=32)
def _innovations(order: KnownOrder, samples: bytes, gaps: bytes) -> tuple[Floats, Floats] | None:
    """Weights (k, g, k) of the innovations under all variants of an order, and their variances (k, g)."""
    s, steps = 1.0 / np.maximum(np.frombuffer(samples), 1e-300), np.frombuffer(gaps)
    s = np.where(np.frombuffer(samples) > 0, s, np.inf)
    k = len(s)
    made = _variants(order, k, float(steps[1:].sum()))
    if made is None:
        return None
    found = run(made[0], np.eye(k)[:, None], s[:, None], steps, 1.0, made[1])
    mean, mse = found.predicted
    return np.eye(k)[:, None] - mean, mse + s[:, None]


@dataclass(frozen=True)
class OrderFit:
    """One order, as the tasks so far speak for it.

    The likelihood is the logarithm of the probability density of the averages, each given those before it, averaged
    over the variants of the order; in nats, the components counted as so many as are independent of each other.
    """

    order: KnownOrder
    likelihood: float
    probability: float  # share of the order once the prior is added, among those compared
    variant: int  # the variant that the averages speak for most


def compare_orders(
    products: Floats,
    samples: Floats,
    gaps: Floats,
    m: int,
    orders: tuple[KnownOrder, ...] = KNOWN_ORDERS,
    window: int | None = None,
) -> tuple[OrderFit, ...]:
    """Compare orders by the likelihood of the innovations: each task predicted from those before it.

    All are compared on the same tasks, beginning where each of them can predict. Most probable first; empty while none
    can predict.

    `products` (k, k) are those of sample averages, in units of a sample's standard deviation, averaged over the m
    components. `samples` (k,) is 0 for a task without labels, `gaps` (k,) are periods from the task before. Only the
    newest `window` tasks count; None: all.
    """
    terms: dict[KnownOrder, Floats] = {}
    weights: dict[KnownOrder, tuple[Floats, Floats]] = {}
    labelled = np.flatnonzero(samples > 0)
    sizes, periods = np.asarray(samples, dtype=np.float64).tobytes(), np.asarray(gaps, dtype=np.float64).tobytes()
    first = 0
    for order in orders:
        found = _innovations(order, sizes, periods)
        if found is None or not len(labelled):
            continue
        U, f = found[0][labelled], found[1][labelled]
        # Each variant can predict from the task on after which nothing is infinite; some never can.
        since = np.where(np.isfinite(f), 0, np.arange(1, len(f) + 1)[:, None]).max(axis=0)
        if (since < len(labelled)).any():
            first = max(first, int(since[since < len(labelled)].max()))
            weights[order] = U, f
    if window is not None:
        first = max(first, len(labelled) - window)
    for order, (U, f) in weights.items():
        U, f = U[first:], f[first:]
        surprise = np.einsum("jga,jga->jg", U @ products, U)
        with np.errstate(invalid="ignore"):
            value = -0.5 * (np.log(f) + surprise / f)
        terms[order] = np.where(np.isfinite(f), value, -np.inf)
    if not terms or first >= len(labelled):
        return ()
    reference = next(iter(terms))
    components = _components(weights[reference], first, products, int(terms[reference].sum(axis=0).argmax()), m)
    fits = {}
    for order, values in terms.items():
        totals = components * values.sum(axis=0)
        top = totals.max()
        fits[order] = float(top + np.log(np.mean(np.exp(totals - top)))), int(totals.argmax())
    posterior = {order: fit[0] + np.log(PRIOR[order]) for order, fit in fits.items()}
    top = max(posterior.values())
    total = sum(np.exp(value - top) for value in posterior.values())
    ranked = sorted(posterior, key=lambda order: -posterior[order])
    return tuple(
        OrderFit(order, fits[order][0], float(np.exp(posterior[order] - top) / total), fits[order][1])
        for order in ranked
    )


def _components(weights: tuple[Floats, Floats], first: int, products: Floats, variant: int, m: int) -> float:
    """Return the effective number of independent components of the innovations of one variant.

    Not more than there are innovations: a few say next to nothing about it, and far too many components would make the
    first chance pattern certain.
    """
    U, f = weights[0][first:, variant], weights[1][first:, variant]
    E = U / np.sqrt(f)[:, None]
    return min(effective_components(E @ products @ E.T, m), float(len(E)))


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


@dataclass(frozen=True, eq=False)
class OrderWeights:
    """Weights of the k sample averages in the estimates of all tasks under one model."""

    smooth: Floats  # (k, k); row j: of task j given all tasks; the last row is the forward estimate of the newest
    smooth_a: Floats  # (k,): mean squared errors in units of the variance of a sample
    ahead: Floats  # (k,): of the task to come
    ahead_a: float  # its mean squared error


def order_weights(fit: OrderFit, compared: int, samples: Floats, gaps: Floats, ahead: float) -> OrderWeights:
    """Return the weights under the variant of an order that was chosen.

    `fit` comes from `compare_orders` on the last `compared` tasks; samples and gaps (k,) are of all tasks wanted, at
    least those. `ahead`: periods from the last task to the one to come.
    """
    k = len(samples)
    with np.errstate(divide="ignore"):
        s = (1.0 / samples)[:, None]
    made = _variants(fit.order, compared, float(gaps[1 - compared :].sum()))
    assert made is not None  # noqa: S101 - it was compared
    jumps = None
    if made[1] is not None:
        jumps = np.zeros((k, 1))
        jumps[k - compared :] = made[1][:, fit.variant, None]
    found = run(made[0].variant(fit.variant), np.eye(k)[:, None], s, gaps, ahead, jumps, smoothed=True)
    assert found.smooth is not None  # noqa: S101 - asked for
    return OrderWeights(found.smooth[0][:, 0], found.smooth[1][:, 0], found.ahead[0][0], float(found.ahead[1][0]))
