"""The recommended learner: rates of change side by side, each judged by what it predicted.

1. A task is learnt by one weighted logistic regression on stored rows, weights from tracking mean vectors with a rate
   of change rho.
2. Four rates are followed side by side: 0 (all tasks alike), .1, 1, and infinity (the task alone).
3. When a task arrives, each rule is first tested on all its rows as it is; the sum of these log losses gives each its
   share in the rule of a task to come.
4. Then half of the task's rows are held back, and each candidate learns the other half and the past; the sum of these
   log losses gives each its share in the rules of tasks at hand, backward ones too.
5. For the task to come there is one candidate more, whose coefficients move linearly in time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats, Ints
from imrc.core.moments import sample_moments, smoothed_variance
from imrc.core.prediction import softmax
from imrc.core.recursions import borrowed_samples, forward_step, revise
from imrc.core.rules import TaskEstimate, surplus
from imrc.core.settings import IMRCSettings
from imrc.solvers.log_loss import TOLERANCE, primal_parameters, scaled, solve_log_loss


class Candidate(NamedTuple):
    """One way to learn from the past."""

    rate: float  # of change, rho = d^2 / sigma^2 per period
    penalty: float  # factor of the penalty
    start: float  # its share before anything is known, as a multiple of the others'
    moving: bool = False  # whether coefficients move linearly in time: for the task to come only


POOLED = Candidate(0.0, 16.0, 4.0)
ALONE = Candidate(np.inf, 4.0, 1.0)
CANDIDATES = (POOLED, Candidate(0.1, 4.0, 2.0), Candidate(1.0, 4.0, 1.0), ALONE, Candidate(0.01, 4.0, 1.0, moving=True))
TREND_PERIODS = 3.0
"""Periods in which coefficients that move do so by one unit."""

STORED_ROWS, STORED_TASKS = 2000, 6
"""The last tasks are stored: at least 6 of them (b + 1 if that is more), beyond these just enough for 2,000 rows."""

NEGLIGIBLE_WEIGHT = 1e-3
"""Tasks with a smaller weight, as a share of the largest, are left out."""

USUAL_LENGTH = 250.0
"""Mean squared length of a row of 200 random frequencies beside linear features, where penalties were chosen."""

NEGLIGIBLE_VARIANCE = 1e-12
"""Features that vary less within a class say nothing of the change."""

FLOOR = 0.01
"""Part of a probability that is uniform where candidates are tested: a class never seen must not decide for ever."""

SCORING_TOLERANCE = 1e-2
"""Norm of the gradient at which a candidate is near enough to its solution to be tested."""


class LogStep(NamedTuple):
    """What one step learnt."""

    alone: TaskEstimate  # the newest task from its own samples
    forward: TaskEstimate  # the newest task
    revised: list[TaskEstimate]  # the tasks before it, the nearest first


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

    def _change(self, gap: float) -> Floats:
        """Return the change over so many periods; over none nothing changes, whatever the rate."""
        return self._rates * gap if gap > 0.0 else np.zeros_like(self._rates)

    def _step(self, own: Floats, samples: int, gap: float) -> tuple[Floats, Floats]:
        tau, s = self._before
        return forward_step(own, self._a(samples), tau, s, self._change(gap))

    def forward(self, samples: int | None = None) -> tuple[Floats, Floats]:
        """Return weights (candidates, tasks) of the newest task and effective samples, had it so many samples."""
        newest = self._within[-1]
        return _worth(*(newest[2:4] if samples is None else self._step(newest.own, samples, newest.gap)))

    def revised(self) -> list[tuple[Floats, Floats]]:
        """Return the same of the tasks before it, the nearest first, from both sides."""
        newest, *earlier = reversed(self._within)
        changes = [self._change(task.gap) for task in (newest, *earlier)][:-1]
        return [_worth(*pair) for pair in revise(newest[:2], (task[:4] for task in earlier), changes)]


def _worth(weights: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return weights and effective samples: the part of them that is still stored, not less than one."""
    return weights, np.maximum(weights.sum(axis=1) / a[:, 0], 1.0)


class _Change:
    """The rate of change that samples show, and the effective samples that Theorems 1 and 3 promise for it.

    The differences of eq. (7), of averages within each class, in units of the variance there and less what sampling
    makes of them: draws keep the shares of classes, so averages over all classes vary less than the variance says.
    """

    def __init__(self, rate: float | None, window: int | None) -> None:
        self._known = rate
        self._excess: deque[tuple[float, float]] = deque(maxlen=window)  # and over how many periods
        self._squares: Floats = np.zeros(1)  # of deviations from the average of class and task, over all tasks so far
        self._freedom = 0
        self._last: dict[int, tuple[Floats, int]] = {}
        self._since = 0.0

    def add(self, X: Floats, y: NDArray[np.int64], gap: float) -> None:
        """Take in the rows of the next task; without any it is one without labels."""
        self._since += gap
        if not len(y):
            return
        last, self._last = self._last, {}
        for c in np.unique(y).tolist():
            rows = X[y == c]
            average = rows.mean(axis=0)
            self._last[c] = average, len(rows)
            self._squares = self._squares + ((rows - average) ** 2).sum(axis=0)
            self._freedom += len(rows) - 1
        variance = self._squares / max(self._freedom, 1)
        varies = variance > NEGLIGIBLE_VARIANCE
        both = [c for c in self._last if c in last]
        if both and varies.any() and self._since > 0.0:
            moved = []
            for c in both:
                (average, count), (before, count_before) = self._last[c], last[c]
                squared = float(((average - before)[varies] ** 2 / variance[varies]).mean())
                moved.append(count / len(y) * (squared - 1.0 / count - 1.0 / count_before))
            self._excess.append((float(np.mean(moved)), self._since))
        self._since = 0.0

    @property
    def rate(self) -> float:
        """The rate of change: the one that was given, or the mean of the last W differences, at least 0.

        Where nothing has been measured, as with one sample of each class, nothing may be promised: infinite.
        """
        if self._known is not None or not self._excess:
            return np.inf if self._known is None else self._known
        moved, periods = np.sum(self._excess, axis=0)
        return max(float(moved / periods), 0.0)

    def tracked(self, samples: Sequence[int], gaps: Sequence[float], reach: int) -> list[tuple[float, Floats]]:
        """Return effective samples and weights of all tasks, for the newest and those before it, the nearest first."""
        count, rate = len(samples), self.rate
        forward = [(0.0, np.zeros(count))]
        for place, (n, gap) in enumerate(zip(samples, gaps, strict=True)):
            forward.append(_joined((float(n), _unit(place, count)), forward[-1], rate, gap))
        found, backward = [forward[-1]], (float(samples[-1]), _unit(count - 1, count))
        for back in range(1, min(reach, count - 1) + 1):
            found.append(_joined(forward[-1 - back], backward, rate, gaps[-back]))
            own = float(samples[-1 - back]), _unit(count - 1 - back, count)
            backward = _joined(own, backward, rate, gaps[-back])
        return found


def _borrowed(worth: float, rate: float, gap: float) -> float:
    """Return what effective samples are worth so many periods away."""
    return float(borrowed_samples(worth, 1.0, rate * gap if gap else 0.0))


def _joined(one: tuple[float, Floats], other: tuple[float, Floats], rate: float, gap: float) -> tuple[float, Floats]:
    """Join two estimates that do not share samples, the second so many periods away: eqs. (6) and (10)."""
    borrowed = _borrowed(other[0], rate, gap)
    total = one[0] + borrowed
    return total, one[1] if total == 0.0 else (one[0] * one[1] + borrowed * other[1]) / total


def _unit(place: int, count: int) -> Floats:
    weights = np.zeros(count)
    weights[place] = 1.0
    return weights


class LogLossLearner:
    """Learn a sequence task by task; see the top of this module.

    With a rate in the settings there is that one only, and each task alone as the reference. Beside the rules, mean
    vectors are tracked at the rate of change that the samples show; with loss "0-1" somebody else learns from these.
    """

    def __init__(self, settings: IMRCSettings, n_classes: int, candidates: Sequence[Candidate] = CANDIDATES) -> None:
        if settings.rate is not None:
            candidates = (Candidate(settings.rate, (POOLED if settings.rate == 0 else ALONE).penalty, 1.0),)
        self.n_classes, self.b = n_classes, settings.b
        # Where candidates are not compared, the last of two is the reference, and has no share.
        self._compared = len(candidates) > 1
        self.candidates = tuple(candidates) if self._compared else (*candidates, ALONE)
        self._still = [c for c, one in enumerate(self.candidates) if not one.moving]
        self._alone = self.candidates.index(ALONE)
        self._solves = settings.loss == "log"
        self._penalties = settings.lambda0 * np.array([one.penalty for one in self.candidates])
        self._steps = 0
        # The stored tasks: rows and labels; samples and time of each.
        self._X: Floats = np.empty((0, 0))
        self._gram: Floats | None = np.empty((0, 0))
        self._y: Ints = np.empty(0, dtype=np.int64)
        self._sizes: list[int] = []
        self._times: list[float] = []
        # Their sample averages, and the mean of the variances of all tasks seen.
        self._averages: Floats = np.empty((0, 0))
        self._variance: Floats = np.empty(0)
        self._labelled = 0
        # Where solvers begin, by candidate and by task: coefficients of stored rows, or of features once rows are many.
        self._starts: dict[Hashable, Floats] = {}
        self._weights = _Weights([one.rate for one in self.candidates], settings.b)
        last = None if settings.W == "all" else int(settings.W)
        self._change = _Change(settings.rate, last)
        self._at: deque[Floats] = deque(maxlen=last)
        self._before: deque[Floats] = deque(maxlen=last)

    def step(self, X1: Floats, y: NDArray[np.int64] | None, gap: float = 1.0, *, revise: bool = True) -> LogStep:
        """Learn the next task; arguments as in `imrc.core.Learner.step`."""
        if y is None:
            X1, y = X1[:0], np.empty(0, dtype=np.int64)
        if self._steps and len(y) and self._compared:
            rows = scaled(X1)
            self._before.append(np.array([log_loss(rows @ rule.T, y) for rule in self._to_come(gap)]))
        self._store(X1, y, gap)
        self._steps += 1
        if len(y) > 1 and self._compared:
            self._at.append(self._held_out(y))
        weights, ess = self._weights.forward()
        spent = 0
        for c in range(len(self.candidates)):
            value, iterations = self._solve(c, weights[c], ess[c], self._penalties[c])
            spent += iterations
            if c == self._alone:
                mu, own = primal_parameters(self._parameters(c)), weights[c]
                alone = self._with_means(own, ess[c], ess[c], mu, own, value, iterations) if len(y) else self._unknown()
        if len(y):
            # A task alone knows no variances but its own, as in the paper.
            alone = replace(alone, mse=self._own_mse * (len(y) / alone.ess))
        shares, number = self.shares()[0], ("task", self._steps)
        tracked = self._tracked()
        # The newest task begins where its candidates lead on average, those before it where they were.
        self._starts[number] = np.tensordot(shares, [self._starts[c] for c in self._still], axes=1)
        self._starts.pop(("task", self._steps - self.b - 1), None)
        found, last = [self._mixed(number, weights, ess, shares, tracked[0])], shares @ weights[self._still]
        for back, task in enumerate(self._weights.revised() if revise else [], start=1):
            place, mine = ("task", self._steps - back), shares @ task[0][self._still]
            # Nearer to the weights of the task after it than to what they were before this step: it begins there.
            if np.abs(mine - last).sum() < 2.0 * mine[-1]:
                self._starts[place] = self._starts["task", self._steps - back + 1]
            found.append(self._mixed(place, *task, shares, tracked[back]))
            last = mine
        # What the newest rule took, the candidates where its solver begins included.
        return LogStep(alone, replace(found[0], iterations=spent + found[0].iterations), found[1:])

    def predicted(self, gap: float = 1.0) -> TaskEstimate:
        """Return the rule of the task to come, `gap` periods after the newest: the average of the candidates'."""
        shares, (worth, tracked) = self.shares()[1], self._tracked()[0]
        rule = np.tensordot(shares, self._to_come(gap), axes=1)
        worth = max(_borrowed(worth, self._change.rate, gap), 1.0)
        return self._with_means(tracked, worth, worth, primal_parameters(rule), shares @ self._weights.forward()[0])

    def shares(self) -> tuple[Floats, Floats]:
        """Return the shares of the candidates in the rules of tasks at hand, and in that of the task to come."""
        if not self._compared:
            return np.array([1.0, 0.0]), np.array([1.0, 0.0])
        starts = np.log([one.start for one in self.candidates])
        at, before = (
            softmax((first - np.sum(account, axis=0))[None])[0]
            for first, account in ((starts[self._still], self._at), (starts, self._before))
        )
        return at, before

    def choices(self) -> dict[str, float]:
        """Return the shares in the rules of tasks at hand by rate, and the factor of the penalty they give."""
        shares = self.shares()[0]
        rates = {f"rate {self.candidates[c].rate:g}": float(shares[place]) for place, c in enumerate(self._still)}
        return rates | {"penalty": float(np.exp(shares @ np.log(self._penalties[self._still])))}

    def size(self) -> int:
        """Return how many numbers are kept."""
        kept = (self._X, self._y, self._averages, *self._starts.values())
        return sum(part.size for part in kept) + (0 if self._gram is None else self._gram.size)

    def _to_come(self, gap: float) -> list[Floats]:
        """Return the parameters of every candidate for the task to come."""
        return [self._parameters(c, (gap - 1.0) / TREND_PERIODS) for c in range(len(self.candidates))]

    def _held_out(self, y: NDArray[np.int64]) -> Floats:
        """Return the log loss of each candidate on the half of the newest task that it does not learn from."""
        held = np.zeros(len(self._y), dtype=np.bool_)
        held[-len(y) :] = half(y, self._labelled)
        weights, ess = self._weights.forward(len(y) - int(held.sum()))
        losses = []
        for c in self._still:
            # It begins from the rule of the task before, which has not seen the half held back.
            self._solve(c, weights[c], ess[c], self._penalties[c], held)
            losses.append(log_loss(self._X[held] @ self._parameters(c).T, self._y[held]))
        return np.array(losses)

    def _tracked(self) -> list[tuple[float, Floats]]:
        """Return effective samples and weights of the mean vectors within reach, that of the newest task first."""
        gaps = np.diff(self._times, prepend=self._times[0]).tolist()
        return self._change.tracked(self._sizes, gaps, self.b)

    def _mixed(
        self, place: Hashable, weights: Floats, ess: Floats, shares: Floats, tracked: tuple[float, Floats]
    ) -> TaskEstimate:
        """Solve for a task with the weights, effective samples and penalties of all candidates by their shares."""
        still = self._still
        worth, penalty = np.exp(shares @ np.log([ess[still], self._penalties[still]]).T)
        together, alone = shares @ weights[still], float(shares[still.index(self._alone)])
        known = max(tracked[0], 1.0)
        # As far as a task is learnt alone, its own samples count.
        promised = float(ess[self._alone] ** alone * known ** (1.0 - alone))
        if not self._solves:
            return self._with_means(tracked[1], known, promised, np.empty(0), tracked[1])
        value, iterations = self._solve(place, together, worth, penalty)
        mu = primal_parameters(self._parameters(place))
        return self._with_means(tracked[1], known, promised, mu, together, value, iterations)

    def _with_means(
        self,
        tracked: Floats,
        known: float,
        ess: float,
        mu: Floats,
        weights: Floats,
        value: float = np.nan,
        iterations: int = 0,
    ) -> TaskEstimate:
        """Return a rule with the tracked mean vector of its task, worth `known` samples."""
        mean, mse = tracked / tracked.sum() @ self._averages, self._variance / known
        return TaskEstimate(mean, mse, mu, value, np.nan, float(ess), iterations, weights / weights.sum())

    def _unknown(self) -> TaskEstimate:
        """Return what a task without labels says of itself."""
        nothing, unknown = np.zeros_like(self._variance), np.full_like(self._variance, np.nan)
        return TaskEstimate(nothing, np.full_like(nothing, np.inf), unknown, np.nan, np.nan, 0.0)

    def _solve(
        self, place: Hashable, task_weights: Floats, ess: float, penalty: float, held: NDArray[np.bool_] | None = None
    ) -> tuple[float, int]:
        """Solve one weighted problem from the solution in its place, without the rows held back.

        Returns its value and the iterations it took; the solution is then in the place.
        """
        sizes = np.array(self._sizes)
        matters = task_weights > NEGLIGIBLE_WEIGHT * task_weights.max()
        weights = np.repeat(np.where(matters, task_weights, 0.0) / np.maximum(sizes, 1), sizes)
        if held is not None:
            weights[-sizes[-1] :] *= sizes[-1] / (sizes[-1] - held.sum())
            weights[held] = 0.0
        first, last = np.flatnonzero(weights)[[0, -1]]
        rows = slice(first, last + 1)
        # What is only tested, or mixed with others, need not be as near to its solution as a rule somebody uses.
        tested = held is not None or (isinstance(place, int) and place != self._alone)
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
            self._unit * penalty * self.n_classes / max(self.n_classes - 1, 1) / ess,
            np.zeros((self.n_classes, matrix.shape[1])) if start is None else start,
            primal=self._gram is None,
            tolerance=SCORING_TOLERANCE if tested else TOLERANCE,
        )
        found = solved.coefficients
        if self._gram is not None:
            found = np.zeros((self.n_classes, len(self._y)))
            found[:, rows] = solved.coefficients
        self._starts[place] = found
        return solved.value, solved.iterations

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

    def _store(self, X1: Floats, y: NDArray[np.int64], gap: float) -> None:
        """Add a task and drop the oldest beyond the limit, in the Gram matrix and where solvers begin too."""
        tasks = surplus([*self._sizes, len(y)], max(STORED_TASKS, self.b + 1), STORED_ROWS)
        kept, X = slice(sum(self._sizes[:tasks]), None), scaled(X1)
        if self._steps == 0:
            # The penalty grows with the length of rows: it must not depend on the unit of the features.
            self._unit = float(np.sqrt((X1[:, 1:] ** 2).sum(axis=1).mean() / USUAL_LENGTH)) or 1.0
            self._X, self._averages = X[:0], np.empty((0, self.n_classes * X.shape[1]))
            self._variance = np.zeros(self._averages.shape[1])
        average = np.zeros_like(self._variance)
        if len(y):
            average, self._own_mse = sample_moments(X1, y, self.n_classes)
            self._labelled += 1
            self._variance = (
                self._variance + (smoothed_variance(X1, y, self.n_classes) - self._variance) / self._labelled
            )
        self._change.add(X1[:, 1:], y, gap)
        self._averages = np.vstack([self._averages, average])[tasks:]
        old = self._X
        self._X, self._y = np.concatenate([old[kept], X]), np.append(self._y, y)[kept]
        self._weights.add(len(y), gap, tasks)
        if self._gram is not None and len(self._X) <= 2 * X.shape[1]:
            cross = self._X @ X.T
            self._gram = np.block([[self._gram[kept, kept], cross[: len(cross) - len(X)]], [cross.T]])
            fresh = np.zeros((self.n_classes, len(X)))
            self._starts = {place: np.hstack([found[:, kept], fresh]) for place, found in self._starts.items()}
        elif self._gram is not None:
            # From here on features make the smaller matrix.
            times = self._times_of_rows() if self._times else np.empty(0)
            for place, found in self._starts.items():
                moving = self._moves(place)
                self._starts[place] = np.hstack([found @ old, (found * times) @ old]) if moving else found @ old
            self._gram = None
        self._sizes = [*self._sizes, len(y)][tasks:]
        self._times = [*self._times, gap + (self._times[-1] if self._times else 0.0)][tasks:]


def half(y: NDArray[np.int64], turn: int) -> NDArray[np.bool_]:
    """Return which rows of a task are held back: of rows sorted by class every other one, the others the next time.

    >>> half(np.array([1, 0, 1, 0]), 0), half(np.array([1, 0, 1, 0]), 1)
    (array([ True,  True, False, False]), array([False, False,  True,  True]))
    """
    _, first, which = np.unique(y, return_index=True, return_inverse=True)
    held = np.zeros(len(y), dtype=np.bool_)
    # Classes by their first row, so that their names do not matter.
    held[np.argsort(first[which], kind="stable")] = np.arange(len(y)) % 2 == turn % 2
    return held


def log_loss(values: Floats, y: NDArray[np.int64]) -> float:
    """Return the sum of -log h(y|x) for scores (n, C), h with a floor."""
    given = softmax(values)[np.arange(len(y)), y]
    return float(-np.log((1.0 - FLOOR) * given + FLOOR / values.shape[1]).sum())
