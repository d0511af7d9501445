"""Trackers: from samples to mean vectors, task by task, one interface for both kinds of gains.

A tracker takes in the samples of a task, mapped and with the intercept column, `gap` periods after the task before, and
then gives estimates of the newest task (alone and forward), of the one to come, and of those within reach.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.change import backward_change, forward_change, printed_change
from imrc.core.moments import sample_moments
from imrc.core.orders import (
    COMPARED_TASKS,
    KNOWN_ORDERS,
    Order,
    OrderFit,
    OrderWeights,
    compare_orders,
    order_weights,
)
from imrc.core.rates import NEGLIGIBLE, RATES, RateEstimate, RateFilter, smoothed_variance
from imrc.core.recursions import borrowed_samples, forward_step, predict, revise

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Tracked:
    """Estimate of one task's mean vector.

    Where all components have one gain, `weights` (stored,) are those of the stored tasks' sample averages, oldest
    first, not negative. Where the change has an order whose weights can be negative, `path` (stored, m) are mean
    vectors of the stored tasks; `weights` are then those of order 1, `mean` is not their average but where the course
    of `path` leads, and `carried` (m,) is the mean vector of the stored samples with `weights`, those of each task
    moved along it.
    """

    mean: Floats  # tau, (m,)
    mse: Floats  # its mean squared error s, (m,)
    ess: float  # Theorems 1 and 3
    weights: Floats | None = None
    path: Floats | None = None
    carried: Floats | None = None
    before: Tracked | None = None  # what an order other than 1 said of the newest task before its samples
    ess_walk: float = np.inf  # effective samples under order 1, where it was made with another one

    @property
    def worth(self) -> float:
        """Effective samples for a rule's penalty or confidence vector: under no order more than order 1 has.

        A course that is known well makes a mean vector worth more samples. Rules with a weaker penalty made more
        errors: they see no more instances than before.
        """
        return min(self.ess, self.ess_walk)


@dataclass(eq=False)
class _Stored:
    """What must be kept of a task while it is within reach."""

    tau: Floats
    s: Floats
    tau_fwd: Floats
    s_fwd: Floats
    samples: int
    sigma2: float
    ess_fwd: float
    gap: float


class ComponentTracker:
    """The paper's recursions: each component has its own variance, change and gain.

    The change is estimated from a window of W steps; `change` says which backward one: "released", `backward_change` of
    the authors' code, or "printed", `printed_change`, eq. (7).
    """

    def __init__(self, n_classes: int, b: int, W: int, change: str = "released") -> None:
        self.n_classes = n_classes
        self.b, self.W = b, W
        self._backward_change = printed_change if change == "printed" else backward_change
        self._count = 0
        self._past: deque[_Stored] = deque(maxlen=b + 1)
        self._squared: deque[Floats] = deque(maxlen=b + W + 1)
        self._last: Floats = np.empty(0)
        self._since = 0.0

    def update(self, X1: Floats, y: NDArray[np.int64] | None, gap: float = 1.0) -> None:
        """Take in the next task; without labels nothing is known of its sample average: s is infinite."""
        previous = self._past[-1] if self._past else None
        self._since += gap  # periods since the last task with labels
        if y is None:
            assert previous is not None  # noqa: S101 - the learner asks for labels of the first task
            tau, s, samples, sigma2 = np.zeros_like(previous.tau), np.full_like(previous.s, np.inf), 0, previous.sigma2
            squared = self._kept_change()
        else:
            tau, s = sample_moments(X1, y, self.n_classes)
            samples, sigma2 = len(y), float(len(y) * s.max())
            if previous is None:
                squared = tau**2
            else:  # of several periods, the change of one
                squared = (tau - self._last) ** 2 / self._since if self._since > 0 else self._kept_change()
            self._last, self._since = tau, 0.0
        self._squared.append(squared)
        self._count += 1
        tau_fwd, s_fwd, ess_fwd = tau, s, float(samples)
        if previous is not None:
            d = self._newest_change() * gap
            tau_fwd, s_fwd = forward_step(tau, s, previous.tau_fwd, previous.s_fwd, d)
            ess_fwd += borrowed_samples(previous.ess_fwd, sigma2, float(d.max()))
        self._past.append(_Stored(tau, s, tau_fwd, s_fwd, samples, sigma2, ess_fwd, gap))

    def single(self) -> Tracked:
        """Return the sample average, eq. (4)."""
        newest = self._past[-1]
        return Tracked(newest.tau, newest.s, float(newest.samples))

    def forward(self) -> Tracked:
        """Return the forward estimate."""
        newest = self._past[-1]
        return Tracked(newest.tau_fwd, newest.s_fwd, newest.ess_fwd)

    def predicted(self, gap: float = 1.0) -> Tracked:
        """Return the estimate of the task to come; the change is that of the newest window."""
        newest, d = self._past[-1], self._newest_change() * gap
        tau, s = predict(newest.tau_fwd, newest.s_fwd, d)
        return Tracked(tau, s, float(borrowed_samples(newest.ess_fwd, newest.sigma2, float(d.max()))))

    def revised(self) -> list[Tracked]:
        """Return forward and backward estimates of the tasks within reach, the nearest first."""
        squared, first = self._differences()
        newest, *earlier = reversed(self._past)
        k = self._count - 1
        gaps = [past.gap for past in list(reversed(self._past))[:-1]]
        changes = [
            self._backward_change(squared, k - back, k, self.W, first) * gap for back, gap in enumerate(gaps, start=1)
        ]
        revised = revise((newest.tau, newest.s), ((p.tau, p.s, p.tau_fwd, p.s_fwd) for p in earlier), changes)
        estimates, ess_bwd = [], float(newest.samples)
        for (tau, s), past, d in zip(revised, earlier, changes, strict=True):
            borrowed = borrowed_samples(ess_bwd, past.sigma2, float(d.max()))
            estimates.append(Tracked(tau, s, past.ess_fwd + borrowed))
            ess_bwd = past.samples + borrowed
        return estimates

    def size(self) -> int:
        """Return how many numbers are kept."""
        return sum(4 * part.tau.size for part in self._past) + sum(row.size for row in self._squared)

    def choices(self) -> dict[str, float]:
        """Nothing is chosen: each component has its own change."""
        return {}

    def _newest_change(self) -> Floats:
        """Return d^2 of one period, of the newest window; of a single task nothing is known but its own error."""
        if self._count == 1:
            return self._past[-1].s
        squared, first = self._differences()
        return forward_change(squared, self._count - 1, self.W, first)

    def _kept_change(self) -> Floats:
        """Return the squared difference that leaves the newest window as it is: nothing new is known of the change."""
        return self._squared[-self.W] if self._count > self.W else self._newest_change()

    def _differences(self) -> tuple[Floats, int]:
        """Return the stored squared differences and the task of the first of them."""
        return np.stack(self._squared), self._count - len(self._squared)


class RateTracker:
    """One rate of change for all components, see `imrc.core.rates`.

    The weights of `keep` tasks are followed. The rate is fixed, or chosen (None) by the likelihood of the innovations
    of the last W steps.
    """

    def __init__(self, n_classes: int, b: int, keep: int, rate: float | None = None, W: int | str = "all") -> None:
        self.n_classes = n_classes
        self._filter = RateFilter(b, keep, RATES if rate is None else (rate,), None if W == "all" else int(W))
        self._single = Tracked(np.empty(0), np.empty(0), 0.0)

    @property
    def rate(self) -> float:
        """Rate of change rho in use."""
        return self._filter.rate

    def update(self, X1: Floats, y: NDArray[np.int64] | None, gap: float = 1.0) -> None:
        """Take in the next task."""
        if y is None:
            nothing = np.zeros_like(self._single.mean)
            self._single = Tracked(nothing, np.full_like(nothing, np.inf), 0.0)
            self._filter.update(nothing, nothing, 0, gap)
            return
        tau, s = sample_moments(X1, y, self.n_classes)
        self._single = Tracked(tau, s, float(len(y)))
        self._filter.update(tau, smoothed_variance(X1, y, self.n_classes), len(y), gap)

    def single(self) -> Tracked:
        """Return the sample average with its own variance, as in the paper."""
        return self._single

    def forward(self) -> Tracked:
        """Return the forward estimate; mse = P a."""
        return self._tracked(self._filter.forward())

    def predicted(self, gap: float = 1.0) -> Tracked:
        """Return the estimate of the task to come; mse = P a."""
        return self._tracked(self._filter.predicted(gap))

    def revised(self) -> list[Tracked]:
        """Return the revised estimates; mse = P a."""
        return [self._tracked(estimate) for estimate in self._filter.revised()]

    def _tracked(self, estimate: RateEstimate) -> Tracked:
        return Tracked(estimate.mean, self._filter.variance * estimate.a, 1.0 / estimate.a, estimate.weights)

    def size(self) -> int:
        """Return how many numbers are kept."""
        return self._filter.size()

    def choices(self) -> dict[str, float]:
        """Return the rate of change in use, and the one that the likelihood without its prior would choose."""
        return {"rate": self.rate, "likeliest": self._filter.likeliest}


class OrderTracker(RateTracker):
    """Change of an order other than 1, or of the one that the tasks so far speak for most, see `imrc.core.orders`.

    Until an order has predicted a task, and where "auto" finds order 1, this is the random walk.
    """

    def __init__(self, n_classes: int, b: int, keep: int, order: Order, W: int | str = "all") -> None:
        super().__init__(n_classes, b, keep, None, W)
        self._orders = KNOWN_ORDERS if order == "auto" else (order,)
        self._window = None if W == "all" else int(W)
        self._b, self._kept = b, max(keep, b + 1, COMPARED_TASKS)
        self._averages: list[Floats] = []
        self._samples: list[int] = []
        self._gaps: list[float] = []
        self._fit: OrderFit | None = None
        self._weights: dict[float, OrderWeights] = {}
        self._before: Tracked | None = None

    def update(self, X1: Floats, y: NDArray[np.int64] | None, gap: float = 1.0) -> None:
        """Take in the next task, and compare the orders again."""
        self._before = self.predicted(gap) if self._fit is not None else None
        super().update(X1, y, gap)
        self._averages.append(self._single.mean)
        self._samples.append(0 if y is None else len(y))
        self._gaps.append(gap)
        while np.count_nonzero(self._samples) > self._kept:
            del self._averages[0], self._samples[0], self._gaps[0]
        self._weights = {}
        fits = self._compared()
        self._fit = fits[0] if fits and fits[0].order != 1 else None

    def _compared(self) -> tuple[OrderFit, ...]:
        last, variance = slice(-COMPARED_TASKS, None), self._filter.variance
        used = variance > NEGLIGIBLE
        if not used.any():
            return ()
        Z = np.stack(self._averages[last])[:, used] / np.sqrt(variance[used])
        products, samples, gaps = Z @ Z.T / Z.shape[1], np.array(self._samples[last]), np.array(self._gaps[last])
        return compare_orders(products, samples, gaps, Z.shape[1], self._orders, self._window)

    def forward(self) -> Tracked:
        """Return the forward estimate."""
        if self._fit is None:
            return replace(super().forward(), before=self._before)
        weights = self._order_weights(1.0)
        found = self._ordered(weights.smooth[-1], float(weights.smooth_a[-1]), super().forward(), weights)
        return replace(found, before=self._before)

    def predicted(self, gap: float = 1.0) -> Tracked:
        """Return the estimate of the task to come."""
        usual = super().predicted(gap)
        if self._fit is None:
            return usual
        weights = self._order_weights(gap)
        return self._ordered(weights.ahead, weights.ahead_a, usual, weights)

    def revised(self) -> list[Tracked]:
        """Return the revised estimates."""
        usual = super().revised()
        if self._fit is None:
            return usual
        weights = self._order_weights(1.0)
        return [
            self._ordered(weights.smooth[-1 - back], float(weights.smooth_a[-1 - back]), one, weights)
            for back, one in enumerate(usual, start=1)
        ]

    def _order_weights(self, gap: float) -> OrderWeights:
        if gap not in self._weights:
            assert self._fit is not None  # noqa: S101 - asked by those who have looked
            compared = min(len(self._samples), COMPARED_TASKS)
            samples, gaps = np.array(self._samples, dtype=np.float64), np.array(self._gaps)
            self._weights[gap] = order_weights(self._fit, compared, samples, gaps, gap)
        return self._weights[gap]

    def _ordered(self, row: Floats, a: float, usual: Tracked, weights: OrderWeights) -> Tracked:
        """Return an estimate with the weights `row`; `usual` is that of order 1."""
        averages, labelled = np.stack(self._averages), np.array(self._samples) > 0
        mean, mse = row @ averages, self._filter.variance * a
        if row.min() > -_ROUNDING:
            return Tracked(mean, mse, 1.0 / a, np.maximum(row[labelled], 0.0), ess_walk=usual.ess)
        path = (weights.smooth @ averages)[labelled]
        carried = self._carried(mean, path, averages[labelled], usual)
        return Tracked(mean, mse, 1.0 / a, usual.weights, path, carried, ess_walk=usual.ess)

    def _carried(self, mean: Floats, path: Floats, averages: Floats, usual: Tracked) -> Floats:
        """Return the mean vector of samples weighted as in order 1, those of task j moved as all of it moves from j.

        A class moves by its share of the move: E[x 1(y = c)] of instances x + v is larger by P(y = c) v.
        """
        assert usual.weights is not None  # noqa: S101 - one gain for all components
        stored = min(len(usual.weights), len(averages))
        weights = usual.weights[-stored:] / usual.weights[-stored:].sum()
        blocks = averages[-stored:].reshape(stored, self.n_classes, -1)
        moves = (mean - path[-stored:]).reshape(stored, self.n_classes, -1).sum(axis=1)
        moves[:, 0] = 0.0
        moved = blocks + blocks[:, :, :1] * moves[:, None, :]
        return np.asarray(weights @ moved.reshape(stored, -1))

    def size(self) -> int:
        """Return how many numbers are kept."""
        return super().size() + sum(average.size for average in self._averages)

    def choices(self) -> dict[str, float]:
        """Return the rate of change of order 1, and the place of the order in use in `KNOWN_ORDERS`."""
        order = 1 if self._fit is None else self._fit.order
        return {**super().choices(), "order": float(KNOWN_ORDERS.index(order))}


Tracker = ComponentTracker | RateTracker
