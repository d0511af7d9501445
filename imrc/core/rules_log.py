"""The recommended learner: rates of change side by side, each weighted by how well it predicted.

1. A task is learnt by one weighted logistic regression on stored rows, with weights from tracking mean vectors at a
   rate of change rho (`_problems`, with weights from `RateWeights`; `_Store` stores the rows and solves).
2. Four rates are used side by side, 0 (all tasks alike), .1, 1, and infinity, the task alone (`CANDIDATES`,
   `_learn_candidates`).
3. When a task arrives, each rule is tested on all its rows. The sum of these log losses gives each rule its share in
   the rule for the next task (`step`, `predicted`).
4. Then half of the task's rows are held back, and each candidate learns the other half and the past. The sum of the log
   losses on the rows held back gives each its share in the rules of tasks so far, including backward ones
   (`_learn_candidates`, `_learn_tasks`).
5. For the next task there is one more candidate, whose coefficients move linearly in time (`_Store.parameters`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from imrc._types import Flags, Floats, Ints
from imrc.core.change import Account, RateOfChange
from imrc.core.presets import (
    ALONE,
    CANDIDATES,
    FLOOR,
    INTERCEPT_SCALE,
    NEGLIGIBLE_WEIGHT,
    POOLED,
    SCORING_TOLERANCE,
    STORED_ROWS,
    STORED_TASKS,
    TOLERANCE,
    TREND_PERIODS,
    USUAL_LENGTH,
    Candidate,
)
from imrc.core.recursions import borrowed, sample_moments, samples_and_weights, smoothed_variance
from imrc.core.settings import IMRCSettings
from imrc.core.tracking import RateWeights, TaskEstimate, surplus
from imrc.solvers.api import softmax

_Candidates = Sequence[Candidate]
_Places = Sequence[Hashable]
_Problems = tuple[Floats, Floats]
"""Weights of rows (a row for each problem) and penalties."""

_first_weights = lru_cache(maxsize=4)(RateWeights)
POOLED_PLACES = ("pooled, nearly", "pooled")
"""Solutions of the pooled rule, with the tolerance of a candidate and, starting from that, of a rule."""


class LogStep(NamedTuple):
    """Estimates of one step."""

    alone: TaskEstimate  # of the newest task, from its own samples
    forward: TaskEstimate  # of the newest task
    revised: list[TaskEstimate]  # of the tasks before it, the nearest first


class _Store:
    """The stored rows, and the solutions found on them, by place, which is a candidate (a number) or a task.

    A solution has a coefficient per class and row of the Gram matrix or, if it needs other rows, per class and feature.
    For a moving candidate, the second half of the features is multiplied by time.
    """

    def __init__(self, n_classes: int, moving: Sequence[int]) -> None:
        self.n_classes = n_classes
        self._moving = moving
        self.X: Floats = np.empty((0, 0))  # scaled
        self.y: Ints = np.empty(0, dtype=np.int64)
        # Of all rows or, once there are twice as many as features, of the last tasks with as many rows as features.
        self.gram: Floats = np.empty((0, 0))
        self.sizes: list[int] = []  # rows of each stored task
        self.times: list[float] = []  # of each stored task
        self.periods: Floats = np.empty(0)  # of every row, from the next period on, in units of `TREND_PERIODS`
        self.solutions: dict[Hashable, tuple[Floats, bool]] = {}  # and whether it has a coefficient per feature

    def add(self, X: Floats, y: Ints, gap: float, dropped: int) -> None:
        """Store the scaled rows of a task and drop the oldest tasks, also from the Gram matrix and the solutions."""
        sizes, surplus_rows, before = [*self.sizes, len(y)][dropped:], sum(self.sizes[:dropped]), self.gram
        rows = np.cumsum(sizes[::-1])
        if rows[-1] > 2 * X.shape[1]:
            rows = rows[rows <= X.shape[1]]
        size = min(rows.max(initial=0), len(before) + len(y))
        kept = max(size - len(y), 0)
        gone, unknown = len(before) - kept, max(surplus_rows - self._first, 0)
        for place, (found, primal) in self.solutions.items():
            if not primal and found[:, unknown:gone].any():
                self.solutions[place] = self._by_features(place), True
            elif not primal:
                padded = np.zeros((self.n_classes, size))
                padded[:, :kept] = found[:, gone:]
                self.solutions[place] = padded, False
        self.X = np.concatenate([(self.X if self.times else X[:0])[surplus_rows:], X])
        self.y, self.gram = np.append(self.y, y)[surplus_rows:], np.empty((size, size))
        if size:
            cross = self.X[-size:] @ X.T
            self.gram[:kept, :kept], self.gram[:, kept:] = before[gone:, gone:], cross
            self.gram[kept:, :kept] = cross[:kept].T
        self.sizes = sizes
        self.times = [*self.times, gap + (self.times[-1] if self.times else 0.0)][dropped:]
        self.periods = np.repeat((np.array(self.times) - self.times[-1] - 1.0) / TREND_PERIODS, sizes)

    def solve(
        self, places: _Places, problems: _Problems, begins: _Places, tolerances: ArrayLike, after: ArrayLike = -1
    ) -> list[tuple[float, int]]:
        """Solve problems in turn in one compiled call, and store the solutions in their places.

        Each begins from the solution at another place or, with `after`, of an earlier problem. Returns values and
        iterations.
        """
        from imrc.solvers.logistic import solve_in_turn

        moving, primal = [place in self._moving for place in places], self.needs_features(problems[0]).tolist()
        widths = np.where(primal, self.X.shape[1] * (1 + np.array(moving)), len(self.gram)).tolist()
        starts = np.zeros((len(places), self.n_classes, max(widths)))
        for start, width, begin, of_features in zip(starts, widths, begins, primal, strict=True):
            found = self._found(begin, primal=of_features)
            if found is not None:
                start[:, :width] = found
        how: dict[str, Any] = {"primal": primal, "moving": moving, "after": after, "tolerances": tolerances}
        found, *told = solve_in_turn(self.X, self.y, *problems, starts, gram=self.gram, times=self.periods, **how)
        for place, solution, width, of_features in zip(places, found, widths, primal, strict=True):
            self.solutions[place] = solution[:, :width].copy(), of_features
        return list(zip(*(one.tolist() for one in told), strict=True))

    def start(self, place: Hashable, weights: Floats, shares: Floats, places: _Places) -> None:
        """Put the average of what is found at other places there, for a problem with these weights to begin from."""
        primal = bool(self.needs_features(weights[None])[0])
        found = {i: one for i, other in enumerate(places) if (one := self._found(other, primal=primal)) is not None}
        if found:
            self.solutions[place] = averaged(shares[list(found)], np.array(list(found.values()))), primal

    def _found(self, place: Hashable, *, primal: bool) -> Floats | None:
        """Return what is found there as coefficients of features or of rows; None if there is none of rows."""
        found, of_features = self.solutions.get(place, (None, primal))
        if of_features == primal:
            return found
        return self._by_features(place) if primal else None

    def parameters(self, places: _Places, time: float = 0.0) -> Floats:
        """Return parameters (places, C, D + 1), for scaled rows, of the solutions there, at a time if they move."""
        width, times, rules, of_rows = self.X.shape[1], self.periods[self._first :], {}, {}
        for place in places:
            (one, primal), moves = self.solutions[place], place in self._moving
            if primal:
                rules[place] = one[:, :width] + time * one[:, width:] if moves else one
            else:
                of_rows[place] = one * (1.0 + time * times) if moves else one
        if of_rows:
            together = np.concatenate(list(of_rows.values())) @ self.X[self._first :]
            rules |= zip(of_rows, together.reshape(len(of_rows), self.n_classes, width), strict=True)
        return np.array([rules[place] for place in places])

    def scores(self, places: _Places, rows: Flags) -> Floats:
        """Return scores (places, rows, C) of some of the stored rows by the solutions there, which do not move."""
        if any(self.solutions[place][1] for place in places):
            return np.asarray(self.X[rows] @ self.parameters(places).transpose(0, 2, 1))
        found = np.concatenate([self.solutions[place][0] for place in places]) @ self.gram[:, rows[self._first :]]
        return found.reshape(len(places), self.n_classes, -1).transpose(0, 2, 1)

    def _by_features(self, place: Hashable) -> Floats:
        """Return a solution on rows as coefficients of features, of a moving candidate twice as many."""
        found, rows, times = self.solutions[place][0], self.X[self._first :], self.periods[self._first :]
        return np.hstack([found @ rows, (found * times) @ rows]) if place in self._moving else found @ rows

    def needs_features(self, weights: Floats) -> Flags:
        """Return which of the problems with these weights (a row each) need rows that the Gram matrix is without."""
        return np.asarray(weights[:, : self._first].any(axis=1))

    @property
    def _first(self) -> int:
        """The first row in the Gram matrix."""
        return len(self.y) - len(self.gram)

    def size(self, *, pooled: bool) -> int:
        """Return how many numbers are kept, of the solutions those of the pooled rule or the others."""
        solutions = [found for place, (found, _) in self.solutions.items() if (place in POOLED_PLACES) == pooled]
        return sum(part.size for part in (self.X, self.y, self.gram, *solutions))


class LogLossLearner:
    """Learn a sequence task by task, as described at the top of this module.

    With a rate in the settings, that is the only one, with each task alone as the reference. Mean vectors are tracked
    at the rate of change measured from samples. With loss "0-1", `ZeroOneLearner` learns from these.
    """

    def __init__(
        self, settings: IMRCSettings, n_classes: int, candidates: _Candidates = CANDIDATES, *, means: bool = True
    ) -> None:
        if settings.rate is not None:
            candidates = (Candidate(settings.rate, (POOLED if settings.rate == 0 else ALONE).penalty, 1.0),)
        self.n_classes, self.b = n_classes, settings.b
        # If candidates are not compared, the last of two is the reference, without a share.
        self._compared = len(candidates) > 1
        self.candidates = tuple(candidates) if self._compared else (*candidates, ALONE)
        self._still = [c for c, one in enumerate(self.candidates) if not one.moving]
        self._alone = self.candidates.index(ALONE)
        self._solves = settings.loss == "log"
        self._penalties = settings.lambda0 * np.array([one.penalty for one in self.candidates])
        self._steps = 0
        self._store = _Store(n_classes, [c for c, one in enumerate(self.candidates) if one.moving])
        # Sample averages of the stored tasks, and the mean of the variances of all tasks seen.
        # Without columns if nobody reads mean vectors and their errors.
        self._averages: Floats = np.empty((0, int(means)))
        self._variance: Floats = np.empty(0)
        self._labelled = 0
        self._weights = _first_weights(tuple(one.rate for one in self.candidates), settings.b)
        window = None if settings.W == "all" else int(settings.W)
        self._change = RateOfChange(settings.rate, window)
        self._at, self._before = Account(window), Account(window)
        # The candidates' rules for the next task with its gap, and weights of tasks within reach.
        self._coming: tuple[float, Floats] | None = None
        self._tracked: list[tuple[float, Floats]] = []

    def step(self, X1: Floats, y: Ints | None, gap: float = 1.0, *, revise: bool = True) -> LogStep:
        """Learn the next task; arguments as in `imrc.core.Learner.step`."""
        if y is None:
            X1, y = X1[:0], np.empty(0, dtype=np.int64)
        if self._steps and len(y) and self._compared:
            self._before.add(total_log_loss(scaled(X1) @ self._to_come(gap).transpose(0, 2, 1), y))
        self.add(X1, y, gap)
        alone, spent = self._learn_candidates(y)
        return LogStep(alone, *self._learn_tasks(spent, revise=revise))

    def predicted(self, gap: float = 1.0) -> TaskEstimate:
        """Return the rule for the next task, `gap` periods after the newest, the average of the candidates' rules."""
        shares, (worth, tracked) = self.shares(coming=True), self._tracked[0]
        rule = averaged(shares, self._to_come(gap))
        worth = max(borrowed(worth, self._change.over([gap])[0]), 1.0)
        return self._with_means(tracked, worth, worth, primal_parameters(rule), shares @ self._weights.forward()[0])

    def shares(self, *, coming: bool = False) -> Floats:
        """Return the shares of the candidates in rules of tasks so far or, if `coming`, in that of the next task."""
        if not self._compared:
            return np.array([1.0, 0.0])
        account, places = (self._before, range(len(self.candidates))) if coming else (self._at, self._still)
        return account.shares(np.array([self.candidates[c].start for c in places]))

    def choices(self) -> dict[str, float]:
        """Return the shares by rate in the rules of tasks so far, and the resulting factor of the penalty."""
        shares = self.shares()
        rates = {f"rate {self.candidates[c].rate:g}": float(shares[place]) for place, c in enumerate(self._still)}
        return rates | {"penalty": float(np.exp(shares @ np.log(self._penalties[self._still])))}

    @property
    def pools(self) -> bool:
        """Whether `pooled` equals a learner of that rule alone, which stores six tasks or 2,000 rows."""
        return POOLED in self.candidates and self.b < STORED_TASKS

    def pooled(self) -> Floats:
        """Return the parameters (C, D + 1), for unscaled rows, of one rule from all stored tasks alike.

        It begins from its own solutions, so it is the same computation beside other rules and alone, after `add`.
        """
        place, store = self.candidates.index(POOLED), self._store
        weights, ess = (part[[place, place]] for part in self._weights.forward())
        problems, near = self._problems(weights, ess, POOLED.penalty), (SCORING_TOLERANCE, TOLERANCE)
        store.solve(POOLED_PLACES, problems, POOLED_PLACES, near, after=(-1, 0))
        return primal_parameters(store.parameters(POOLED_PLACES[1:])[0]).reshape(self.n_classes, -1)

    def size(self, *, pooled: bool = False) -> int:
        """Return how many numbers are stored, for the pooled rule or for all others."""
        averages = len(self._store.sizes) * self.n_classes * self._store.X.shape[1]
        return self._store.size(pooled=pooled) + (0 if pooled else averages)

    def _to_come(self, gap: float) -> Floats:
        """Return the parameters of every candidate for the next task, computed once for each gap."""
        if self._coming is None or self._coming[0] != gap:
            time = (gap - 1.0) / TREND_PERIODS
            self._coming = gap, self._store.parameters(range(len(self.candidates)), time)
        return self._coming[1]

    def add(self, X1: Floats, y: Ints, gap: float = 1.0) -> None:
        """Take in the rows of the next task, with means, variances, change and weights."""
        dropped = surplus([*self._store.sizes, len(y)], max(STORED_TASKS, self.b + 1), STORED_ROWS)
        if self._steps == 0:
            # The penalty grows with the length of rows, so that the unit of the features does not matter.
            self._unit = float(np.sqrt((X1[:, 1:] ** 2).sum(axis=1).mean() / USUAL_LENGTH)) or 1.0
            self._averages = np.empty((0, self._averages.shape[1] * self.n_classes * X1.shape[1]))
            self._variance = self._own_mse = np.zeros(self._averages.shape[1])
        average = np.zeros_like(self._variance)
        self._labelled += len(y) > 0
        if len(y) and len(average):
            average, self._own_mse = sample_moments(X1, y, self.n_classes)
            variance = smoothed_variance(X1, y, self.n_classes)
            self._variance = self._variance + (variance - self._variance) / self._labelled
        self._change.add(X1[:, 1:], y, gap)
        self._averages = np.vstack([self._averages, average])[dropped:]
        self._store.add(scaled(X1), y, gap, dropped)
        self._weights = self._weights.after(len(y), gap, dropped)
        self._steps += 1

    def _learn_candidates(self, y: Ints) -> tuple[TaskEstimate, int]:
        """Learn every candidate's rule for the newest task. Return that of the task alone, and all iterations.

        Before that, each is learnt without half of the task's rows, and tested by its log loss on them.
        """
        store, places, held = self._store, range(len(self.candidates)), np.zeros(len(self._store.y), dtype=np.bool_)
        halves = self._still if len(y) > 1 and self._compared else []
        judged = [("half", c) for c in halves]
        weights, ess = self._weights.forward()
        if judged:
            held[-len(y) :] = half(y, self._labelled)
        less_weights, less_ess = (part[halves] for part in self._weights.forward(len(y) - int(held.sum())))
        both = np.concatenate([less_weights, weights]), np.append(less_ess, ess)
        problems = self._problems(*both, self._penalties[[*halves, *places]], len(halves), held if judged else None)
        # A rule that is only tested or averaged needs less accuracy than a rule that predicts.
        tolerances = np.full(len(judged) + len(places), SCORING_TOLERANCE)
        tolerances[len(judged) + self._alone] = TOLERANCE
        # Halves begin from the rules of the task before, which have not seen the rows held back, and rules from halves.
        after = np.full(len(tolerances), -1)
        after[len(judged) + np.array(halves, dtype=np.int64)] = np.arange(len(judged))
        solved = store.solve([*judged, *places], problems, [*halves, *places], tolerances, after)[len(judged) :]
        if judged:
            self._at.add(total_log_loss(store.scores(judged, held), store.y[held]))
            for one in judged:
                del store.solutions[one]
        self._coming, spent = None, sum(iterations for _, iterations in solved)
        if not len(y):
            nothing, unknown = np.zeros_like(self._variance), np.full(self.n_classes * store.X.shape[1], np.nan)
            return TaskEstimate(nothing, np.full_like(nothing, np.inf), 0.0, unknown, np.nan, np.nan), spent
        own, worth, (value, iterations) = weights[self._alone], float(ess[self._alone]), solved[self._alone]
        own = own / own.sum()
        mse = self._own_mse * (len(y) / worth)  # a task alone has only its own variances, as in the paper
        mu = primal_parameters(self._to_come(1.0)[self._alone])
        return TaskEstimate(own @ self._averages, mse, worth, mu, value, np.nan, iterations, own), spent

    def _learn_tasks(self, spent: int, *, revise: bool) -> tuple[TaskEstimate, list[TaskEstimate]]:
        """Learn the newest task and those within reach, the nearest first, with the shares of candidates."""
        shares, still, store = self.shares(), self._still, self._store
        tasks = [self._weights.forward(), *(self._weights.revised() if revise else [])]
        weights = np.array([shares @ task[0][still] for task in tasks])
        mixed = np.exp(np.log([[ess[still], self._penalties[still]] for _, ess in tasks]) @ shares)
        places: list[Hashable] = [("task", self._steps - back) for back in range(len(tasks))]
        store.solutions.pop(("task", self._steps - self.b - 1), None)
        solved, rules = [(np.nan, 0)] * len(tasks), np.empty((len(tasks), 0))
        if self._solves:
            problems = self._problems(weights, *mixed.T)
            # The newest task begins from the average of its candidates, those before it from their last solutions.
            store.start(places[0], problems[0][0], shares, still)
            # A task whose weights are closer to those of the task after it than to its last ones begins there.
            near = np.abs(weights[1:] - weights[:-1]).sum(axis=1) < 2.0 * weights[1:, -1]
            after = np.append(-1, np.where(near, np.arange(len(near)), -1))
            solved = store.solve(places, problems, places, TOLERANCE, after)
            rules = store.parameters(places)
        # The iterations for the newest rule include those `spent` on the candidates from which its solver begins.
        solved[0] = solved[0][0], spent + solved[0][1]
        changes = self._change.over([0.0, *(after - before for before, after in pairwise(store.times))])
        self._tracked = samples_and_weights(store.sizes, changes, self.b, weights=self._averages.size > 0)
        found, parts = [], zip(tasks, weights, rules, self._tracked, solved, strict=False)
        for (_, ess), own, rule, (worth, means), result in parts:
            alone, known = float(shares[still.index(self._alone)]), max(worth, 1.0)
            # To the extent that a task is learnt alone, its own samples count.
            promised = float(ess[self._alone] ** alone * known ** (1.0 - alone))
            mu = primal_parameters(rule) if self._solves else rule
            found.append(self._with_means(means, known, promised, mu, own if self._solves else means, result))
        return found[0], found[1:]

    def _problems(
        self, task_weights: Floats, ess: Floats, penalties: Floats | float, halves: int = 0, held: Flags | None = None
    ) -> _Problems:
        """Return problems by weights of tasks (a row each), the first `halves` without the rows held back."""
        sizes = np.array(self._store.sizes)
        matters = task_weights > NEGLIGIBLE_WEIGHT * task_weights.max(axis=1, keepdims=True)
        weights = np.repeat(np.where(matters, task_weights, 0.0) / np.maximum(sizes, 1), sizes, axis=1)
        if held is not None:
            weights[:halves, -sizes[-1] :] *= sizes[-1] / (sizes[-1] - held.sum())
            weights[:halves, held] = 0.0
        weights /= weights.sum(axis=1, keepdims=True)
        return weights, self._unit * penalties * self.n_classes / max(self.n_classes - 1, 1) / ess

    def _with_means(
        self, tracked: Floats, known: float, ess: float, mu: Floats, own: Floats, found: tuple[float, int] = (np.nan, 0)
    ) -> TaskEstimate:
        """Return a rule with the tracked mean vector of its task, from `known` effective samples."""
        mean = tracked / tracked.sum() @ self._averages if len(tracked) else tracked
        return TaskEstimate(mean, self._variance / known, float(ess), mu, found[0], np.nan, found[1], own / own.sum())


def scaled(X1: Floats) -> Floats:
    """Return mapped instances (N, D + 1) with the intercept column scaled."""
    out = X1.copy()
    out[:, 0] *= INTERCEPT_SCALE
    return out


def averaged(shares: Floats, rules: Floats) -> Floats:
    """Return the average (C, columns) of rules (rules, C, columns) with these shares."""
    return np.asarray(shares[None].dot(rules.reshape(len(rules), -1)).reshape(rules.shape[1:]))


def primal_parameters(coefficients: Floats) -> Floats:
    """Return mu (C * (D + 1),) from the coefficients (C, D + 1) of scaled features."""
    return scaled(coefficients).ravel()


def half(y: Ints, turn: int) -> Flags:
    """Return which rows of a task are held back, every other one of the rows by class, in turn.

    >>> half(np.array([1, 0, 1, 0]), 0), half(np.array([1, 0, 1, 0]), 1)
    (array([ True,  True, False, False]), array([False, False,  True,  True]))
    """
    held = np.zeros(len(y), dtype=np.bool_)
    # Classes are ordered by their first row, so that their names do not matter.
    order = {label: place for place, label in enumerate(dict.fromkeys(y.tolist()))}
    held[np.argsort([order[label] for label in y.tolist()], kind="stable")] = np.arange(len(y)) % 2 == turn % 2
    return held


def total_log_loss(values: Floats, y: Ints) -> Floats:
    """Return the sums of -log h(y|x) for scores (..., n, C), h with a floor."""
    given = np.ascontiguousarray(softmax(values)[..., np.arange(len(y)), y])  # for sums in the order of rows
    return np.asarray(-log_shares(given, values.shape[-1]).sum(axis=-1))


def log_shares(given: Floats, n_classes: int) -> Floats:
    """Return log h(y|x) of the probabilities of labels, with a floor so that no single confident mistake decides."""
    return np.asarray(np.log((1.0 - FLOOR) * given + FLOOR / n_classes))
