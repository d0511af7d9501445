"""The learner for log loss: rates of change side by side, each judged by what it predicted.

1. A task is learnt by one weighted logistic regression on stored rows, weights from tracking mean vectors with a rate
   of change rho.
2. Four rates are followed side by side: 0 (all tasks alike), .01, .1, and infinity (the task alone); slow ones with
   penalty 16, fast ones with 4, and .1 also with 1.
3. When a task arrives, each rule is first tested on all its rows as it is; the sum of these log losses gives each its
   share in the rule of a task to come.
4. Then half of the task's rows are held back, and each candidate learns the other half and the past; the sum of these
   log losses gives each its share in the rules of tasks at hand, backward ones too.
5. For the task to come there is one candidate more, whose coefficients move linearly in time.
6. The representation is learnt again whenever the rows seen have doubled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats, Ints
from imrc.core.moments import sample_moments
from imrc.core.prediction import softmax
from imrc.core.rates import smoothed_variance
from imrc.core.recursions import forward_step, predict, revise
from imrc.core.rules import surplus
from imrc.features import FeatureMap, Identity
from imrc.solvers._api import with_intercept
from imrc.solvers.log_loss import TOLERANCE, primal_parameters, scaled, solve_log_loss


class Candidate(NamedTuple):
    """One way to learn from the past."""

    rate: float  # of change, rho = d^2 / sigma^2 per period
    penalty: float  # factor of the penalty
    moving: bool = False  # whether coefficients move linearly in time: for the task to come only


ALONE = 1e9
"""Rate of change of tasks that have nothing in common; finite, so that 0 periods after a task nothing has changed."""

CANDIDATES = (
    Candidate(0.0, 16.0),
    Candidate(0.01, 16.0),
    Candidate(0.1, 4.0),
    Candidate(0.1, 1.0),
    Candidate(ALONE, 4.0),
    Candidate(0.01, 4.0, moving=True),
)
TREND_PERIODS = 3.0
"""Periods in which coefficients that move do so by one unit."""

STORED_ROWS, STORED_TASKS = 2000, 6
"""The last tasks are stored: at least 6 of them (b + 1 if that is more), beyond these just enough for 2,000 rows."""

NEGLIGIBLE_WEIGHT = 1e-3
"""Tasks with a smaller weight, as a share of the largest, are left out."""

FLOOR = 0.01
"""Part of a probability that is uniform where candidates are tested: a class never seen must not decide for ever."""

SCORING_TOLERANCE = 1e-2
"""Norm of the gradient at which a candidate is near enough to its solution to be tested."""


@dataclass(frozen=True, eq=False)
class LogRule:
    """The rule of one task, with the representation it was learnt in."""

    feature_map: FeatureMap
    mu: Floats  # (C, D + 1)
    mean: Floats  # tracked mean vector, (C * (D + 1),)
    mse: Floats  # its mean squared error, (C * (D + 1),)
    ess: float  # effective samples
    value: float  # minimax log loss in nats; NaN where no problem was solved for this rule

    def scores(self, X: Floats) -> Floats:
        """Return Phi(x, y)'mu for instances X (n, d), shape (n, C)."""
        return with_intercept(self.feature_map.transform(X)) @ self.mu.T


@dataclass(frozen=True, eq=False)
class LogStep:
    """What one step learnt."""

    forward: LogRule  # of the newest task
    revised: list[LogRule]  # of the tasks before it, the nearest first
    alone: LogRule | None  # of the newest task from its own samples, None: it has no labels
    pooled: LogRule | None  # of all tasks alike


class _Task(NamedTuple):
    """Weights of the stored tasks for one task, a row per candidate, and what they are worth: s / sigma^2."""

    own: Floats
    own_a: Floats
    forward: Floats
    forward_a: Floats
    gap: float


class _Weights:
    """The recursions for several rates of change, on weights in place of mean vectors: gains are the same for both."""

    def __init__(self, rates: Sequence[float], reach: int) -> None:
        self._rates = np.array(rates)[:, None]
        self._nothing = np.zeros((len(rates), 0)), np.full((len(rates), 1), np.inf)
        self._within: deque[_Task] = deque(maxlen=reach + 1)

    def add(self, samples: int, gap: float, dropped: int) -> None:
        """Take in the next task, without labels if it has no samples; forget the oldest tasks."""
        pad = ((0, 0), (0, 1))
        for place, task in enumerate(self._within):
            own, forward = (np.pad(part, pad)[:, dropped:] for part in (task.own, task.forward))
            self._within[place] = task._replace(own=own, forward=forward)
        self._before = self._within[-1][2:4] if self._within else (np.pad(self._nothing[0], pad), self._nothing[1])
        own = np.zeros_like(self._before[0])
        own[:, -1] = samples > 0
        self._within.append(_Task(own, self._a(samples), *self._step(own, samples, gap), gap))

    def _a(self, samples: int) -> Floats:
        return np.full_like(self._rates, 1.0 / samples if samples else np.inf)

    def _step(self, own: Floats, samples: int, gap: float) -> tuple[Floats, Floats]:
        tau, s = self._before
        return forward_step(own, self._a(samples), tau, s, self._rates * gap)

    def forward(self, samples: int | None = None) -> tuple[Floats, Floats]:
        """Return weights (candidates, tasks) of the newest task and effective samples, had it so many samples."""
        newest = self._within[-1]
        return _worth(*(newest[2:4] if samples is None else self._step(newest.own, samples, newest.gap)))

    def ahead(self, gap: float) -> tuple[Floats, Floats]:
        """Return the same of the task to come."""
        newest = self._within[-1]
        return _worth(*predict(newest.forward, newest.forward_a, self._rates * gap))

    def revised(self) -> list[tuple[Floats, Floats]]:
        """Return the same of the tasks before it, the nearest first, from both sides."""
        newest, *earlier = reversed(self._within)
        changes = [self._rates * task.gap for task in (newest, *earlier)][:-1]
        return [_worth(*pair) for pair in revise(newest[:2], (task[:4] for task in earlier), changes)]


def _worth(weights: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return weights and effective samples: the part of them that is still stored, not less than one."""
    return weights, np.maximum(weights.sum(axis=1) / a[:, 0], 1.0)


class LogLossLearner:
    """Learn a sequence task by task, from instances as they were read and encoded labels.

    Parameters
    ----------
    n_classes : int
        Number of classes C.
    learn_map : callable
        Learns a representation from rows (n, d), see `imrc.features.learner`.
    b : int
        Backward steps.
    W : int or "all"
        The arrivals that both accounts sum over: how many recent changes decide how fast tasks are taken to change.
    candidates : sequence of Candidate
        What is followed, those that move last. With one of rate 0 only, all samples are pooled; with one of rate
        `ALONE` only, each task is learnt alone.
    penalty : float
        Factor of all penalties.
    known : ndarray of shape (rows, d) or None
        Instances without labels from which the first representation is learnt; None: those of the first task.
    """

    def __init__(
        self,
        n_classes: int,
        learn_map: Callable[[Floats], FeatureMap],
        *,
        b: int = 3,
        W: int | str = "all",
        candidates: Sequence[Candidate] = CANDIDATES,
        penalty: float = 1.0,
        known: Floats | None = None,
    ) -> None:
        self.n_classes, self.b = n_classes, b
        self.candidates = tuple(candidates)
        self.steps = 0
        self._still = [c for c, one in enumerate(self.candidates) if not one.moving]
        self._penalties = penalty * np.array([one.penalty for one in self.candidates])
        self._learn_map = learn_map
        self._map: FeatureMap = Identity(0)
        self._seen = self._seen_by_map = 0
        if known is not None:
            self._map, self._seen_by_map = learn_map(known), len(known)
        # The stored tasks: rows as they were read and mapped, labels; samples and time of each.
        self._raw: list[Floats] = []
        self._X: Floats = np.empty((0, self._map.n_outputs + 1))
        self._gram: Floats | None = np.empty((0, 0))
        self._y: Ints = np.empty(0, dtype=np.int64)
        self._sizes: list[int] = []
        self._times: list[float] = []
        # Their sample averages and variances (tasks, 2, m), for the mean vectors that are reported beside the rules.
        self._moments: Floats = np.empty(0)
        # Where solvers begin, by candidate and by task: coefficients of stored rows, or of features once rows are many.
        self._starts: dict[Hashable, Floats] = {}
        self._weights = _Weights([one.rate for one in self.candidates], b)
        last = None if W == "all" else int(W)
        self._at: deque[Floats] = deque(maxlen=last)
        self._before: deque[Floats] = deque(maxlen=last)

    def step(self, X: Floats, y: NDArray[np.int64] | None, gap: float = 1.0, *, revise: bool = True) -> LogStep:
        """Learn the next task.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Instances.
        y : ndarray of shape (n,) or None
            Classes 0..C-1; None: the task has no labels.
        gap : float
            Periods since the task before.
        revise : bool
            Whether the tasks before it are learnt again now; they can still be at a later step.

        Returns
        -------
        LogStep
        """
        if y is None:
            X, y = X[:0], np.empty(0, dtype=np.int64)
        if self.steps and len(y):
            rows = self._mapped(X)
            self._before.append(np.array([_log_loss(rows @ rule.T, y) for rule in self._to_come(gap)]))
        self._store(X, y, gap)
        self.steps += 1
        if len(y) > 1:
            self._at.append(self._held_out(y))
        weights, ess = self._weights.forward()
        for c in range(len(self.candidates)):
            self._solve(c, weights[c], ess[c], self._penalties[c])
        shares, number = self.shares()[0], ("task", self.steps)
        # The newest task begins where its candidates lead on average, those before it where they were.
        self._starts[number] = np.tensordot(shares, [self._starts[c] for c in self._still], axes=1)
        self._starts.pop(("task", self.steps - self.b - 1), None)
        tasks = [(weights, ess), *(self._weights.revised() if revise else [])]
        fits = [self._mixed(("task", self.steps - back), *task, shares) for back, task in enumerate(tasks)]
        alone = self._of_rate(ALONE, weights, ess) if len(y) else None
        return LogStep(fits[0], fits[1:], alone, self._of_rate(0.0, weights, ess))

    def predicted(self, gap: float = 1.0) -> LogRule:
        """Return the rule of the task to come, `gap` periods after the newest: the average of the candidates'."""
        shares, (weights, ess) = self.shares()[1], self._weights.ahead(gap)
        rule = np.tensordot(shares, self._to_come(gap), axes=1)
        return self._rule(rule, shares @ weights, float(np.exp(shares @ np.log(ess))))

    def shares(self) -> tuple[Floats, Floats]:
        """Return the shares of the candidates in the rules of tasks at hand, and in that of the task to come."""
        return _shares(self._at, len(self._still)), _shares(self._before, len(self.candidates))

    def _to_come(self, gap: float) -> list[Floats]:
        """Return the parameters of every candidate for the task to come."""
        return [self._parameters(c, (gap - 1.0) / TREND_PERIODS) for c in range(len(self.candidates))]

    def _of_rate(self, rate: float, weights: Floats, ess: Floats) -> LogRule | None:
        """Return the newest task's rule of the candidate with a rate."""
        places = [c for c in self._still if self.candidates[c].rate == rate]
        return self._rule(self._parameters(places[0]), weights[places[0]], ess[places[0]]) if places else None

    def _rule(self, parameters: Floats, weights: Floats, ess: float, value: float = np.nan) -> LogRule:
        """Return a rule with the mean vector that has its weights, and the mean squared error of that."""
        mean = weights / weights.sum() @ self._moments[:, 0]
        variance = self._moments[np.array(self._sizes) > 0, 1].mean(axis=0)
        mu = primal_parameters(parameters).reshape(parameters.shape)
        return LogRule(self._map, mu, mean, variance / ess, float(ess), value)

    def _held_out(self, y: NDArray[np.int64]) -> Floats:
        """Return the log loss of each candidate on the half of the newest task that it does not learn from."""
        _, first, which = np.unique(y, return_index=True, return_inverse=True)
        held = np.zeros(len(self._y), dtype=np.bool_)
        held[len(held) - len(y) + np.argsort(first[which], kind="stable")] = np.arange(len(y)) % 2 == self.steps % 2
        weights, ess = self._weights.forward(len(y) - int(held.sum()))
        losses = []
        for c in self._still:
            # It begins from the rule of the task before, which has not seen the half held back.
            self._solve(c, weights[c], ess[c], self._penalties[c], held)
            losses.append(_log_loss(self._X[held] @ self._parameters(c).T, self._y[held]))
        return np.array(losses)

    def _mixed(self, place: Hashable, weights: Floats, ess: Floats, shares: Floats) -> LogRule:
        """Solve for a task with the weights, effective samples and penalties of all candidates by their shares."""
        still = len(shares)
        worth, penalty = np.exp(shares @ np.log([ess[:still], self._penalties[:still]]).T)
        together = shares @ weights[:still]
        value = self._solve(place, together, worth, penalty)
        return self._rule(self._parameters(place), together, worth, value)

    def _solve(
        self, place: Hashable, task_weights: Floats, ess: float, penalty: float, held: NDArray[np.bool_] | None = None
    ) -> float:
        """Solve one weighted problem from the solution in its place, without the rows held back; return its value."""
        sizes = np.array(self._sizes)
        matters = task_weights > NEGLIGIBLE_WEIGHT * task_weights.max()
        weights = np.repeat(np.where(matters, task_weights, 0.0) / np.maximum(sizes, 1), sizes)
        if held is not None:
            weights[-sizes[-1] :] *= sizes[-1] / (sizes[-1] - held.sum())
            weights[held] = 0.0
        first, last = np.flatnonzero(weights)[[0, -1]]
        rows = slice(first, last + 1)
        times = self._times_of_rows()[rows] if self._moves(place) else None
        start = self._starts.get(place)
        if self._gram is None:
            matrix = self._X[rows]
            if times is not None:
                matrix = np.hstack([matrix, times[:, None] * matrix])
        else:
            matrix = self._gram[rows, rows]
            if times is not None:
                matrix = matrix * (1.0 + np.outer(times, times))
            start = None if start is None else start[:, rows]
        solved = solve_log_loss(
            matrix,
            self._y[rows],
            weights[rows] / weights.sum(),
            penalty * self.n_classes / max(self.n_classes - 1, 1) / ess,
            np.zeros((self.n_classes, matrix.shape[1])) if start is None else start,
            primal=self._gram is None,
            tolerance=TOLERANCE if held is None else SCORING_TOLERANCE,
        )
        found = solved.coefficients
        if self._gram is not None:
            found = np.zeros((self.n_classes, len(self._y)))
            found[:, rows] = solved.coefficients
        self._starts[place] = found
        return solved.value

    def _moves(self, place: Hashable) -> bool:
        return isinstance(place, int) and self.candidates[place].moving

    def _times_of_rows(self) -> Floats:
        """Return the time of every stored row from the next period on, in units of `TREND_PERIODS`."""
        return np.repeat((np.array(self._times) - self._times[-1] - 1.0) / TREND_PERIODS, self._sizes)

    def _parameters(self, place: Hashable, time: float = 0.0) -> Floats:
        """Return the parameters (C, D + 1), for scaled rows, of the solution in a place, at a time if it moves."""
        found = self._starts[place]
        if self._gram is not None:
            moves = 1.0 + time * self._times_of_rows() if self._moves(place) else 1.0
            return np.asarray((found * moves) @ self._X)
        if self._moves(place):
            return found[:, : self._X.shape[1]] + time * found[:, self._X.shape[1] :]
        return found

    def _mapped(self, X: Floats) -> Floats:
        return scaled(with_intercept(self._map.transform(X)))

    def _store(self, X: Floats, y: NDArray[np.int64], gap: float) -> None:
        """Add a task and drop the oldest beyond the limit; learn the representation again if rows have doubled."""
        tasks = surplus([*self._sizes, len(y)], max(STORED_TASKS, self.b + 1), STORED_ROWS)
        dropped = sum(self._sizes[:tasks])
        self._seen += len(y)
        learn = self._seen >= 2 * self._seen_by_map and len(y) > 0
        if not learn:
            rows = self._mapped(X)
            self._extend(rows, dropped)
            moments = _moments(rows, y, self.n_classes)[None]
            self._moments = np.concatenate([self._moments, moments])[tasks:] if self.steps else moments
        self._raw = [*self._raw, X][tasks:]
        self._y = np.append(self._y, y)[dropped:]
        self._sizes = [*self._sizes, len(y)][tasks:]
        self._times = [*self._times, gap + (self._times[-1] if self._times else 0.0)][tasks:]
        self._weights.add(len(y), gap, tasks)
        if learn:
            self._seen_by_map, rows = self._seen, np.concatenate(self._raw)
            self._map = self._learn_map(rows)
            self._X = self._mapped(rows)
            self._gram = self._X @ self._X.T if self._few(len(rows)) else None
            self._starts.clear()
            ends = np.cumsum(self._sizes)[:-1]
            parts = zip(np.split(self._X, ends), np.split(self._y, ends), strict=True)
            self._moments = np.stack([_moments(rows, labels, self.n_classes) for rows, labels in parts])

    def _few(self, rows: int) -> bool:
        """Whether so many rows make a smaller matrix by themselves than with their features."""
        return bool(rows <= 2 * self._X.shape[1])

    def _extend(self, X: Floats, dropped: int) -> None:
        """Add mapped rows and forget the oldest, also in the Gram matrix and in the solutions to begin from."""
        kept, old = slice(dropped, None), self._X
        self._X = np.concatenate([old[kept], X])
        if self._gram is None:
            return
        if self._few(len(self._X)):
            cross = self._X @ X.T
            self._gram = np.block([[self._gram[kept, kept], cross[: -len(X) or None]], [cross.T]])
            fresh = np.zeros((self.n_classes, len(X)))
            self._starts = {place: np.hstack([found[:, kept], fresh]) for place, found in self._starts.items()}
            return
        times = self._times_of_rows()
        for place, found in self._starts.items():
            self._starts[place] = np.hstack([found @ old, (found * times) @ old]) if self._moves(place) else found @ old
        self._gram = None


def _moments(rows: Floats, y: NDArray[np.int64], n_classes: int) -> Floats:
    """Return sample average and variance (2, m) of the scaled rows of a task, zeros without any."""
    if not len(y):
        return np.zeros((2, n_classes * rows.shape[1]))
    X1 = rows.copy()
    X1[:, 0] = 1.0
    return np.stack([sample_moments(X1, y, n_classes, with_variance=False)[0], smoothed_variance(X1, y, n_classes)])


def _log_loss(values: Floats, y: NDArray[np.int64]) -> float:
    """Return the sum of -log h(y|x) for scores (n, C), h with a floor."""
    given = softmax(values)[np.arange(len(y)), y]
    return float(-np.log((1.0 - FLOOR) * given + FLOOR / values.shape[1]).sum())


def _shares(account: Sequence[Floats], count: int) -> Floats:
    """Return exp(-loss) of each of `count` candidates, as shares; equal ones before anything is known."""
    losses = np.sum(account, axis=0) if account else np.zeros(count)
    return np.asarray(softmax(-losses[None])[0])
