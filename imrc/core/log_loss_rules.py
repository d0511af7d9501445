"""The rule for log loss on the samples of the last tasks, weighted as the tracking weights them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.rules import Fit, surplus
from imrc.core.selection import (
    AVERAGED,
    CANDIDATES,
    DEFAULT,
    HOPELESS,
    LEAST_SHARE,
    POOLED_LAST,
    TEMPERATURES,
    Candidate,
    Shares,
    alone,
    fold_masks,
    log_loss,
    shares,
    split_weights,
)
from imrc.core.settings import IMRCSettings
from imrc.core.trackers import Tracked
from imrc.solvers.log_loss import TOLERANCE, LogLossSolution, dual_parameters, primal_parameters, scaled, solve_log_loss

NEGLIGIBLE_WEIGHT = 1e-3
"""Tasks whose sample average has a smaller weight are left out."""

MAX_STORED_TASKS = 30
STORED_SAMPLES = 400
"""The last tasks are stored: at least b + 1 of them, beyond these at most 30, and just enough for 400 samples."""

AVERAGED_SAMPLES, AVERAGED_NUMBERS = 2000, 1_000_000
"""Samples stored for selection "averaged", where old ones gain most; fewer, but not below 400, of many features."""

SCORING_TOLERANCE = 1e-2
"""Norm of the gradient at which a candidate is near enough to its solution to be scored, where many are averaged."""


@dataclass(frozen=True, eq=False)
class Used:
    """What one rule was learnt from."""

    X: Floats  # (N, D + 1): samples with a weight, `scaled`
    y: NDArray[np.int64]
    weights: Floats  # sum to 1
    strength: float  # factor of the penalty
    sizes: NDArray[np.int64]  # samples of each stored task, the newest last
    kept: NDArray[np.bool_]  # which of the stored samples have a weight


class _Problem(NamedTuple):
    """What is solved: samples that matter, their weights and classes, and their features or Gram matrix."""

    used: NDArray[np.int64]
    weights: Floats
    y: NDArray[np.int64]
    matrix: Floats


class Room(NamedTuple):
    """What the rule for log loss keeps."""

    samples: int  # beyond b + 1 tasks just enough of them for so many
    tasks: int  # which makes so many of n samples each
    primal: bool  # whether rules are solved for features instead of samples: the form with the smaller matrix


def room(settings: IMRCSettings, n: int, width: int, b: int) -> Room:
    """Return what is kept of tasks of n samples with `width` features, the intercept among them."""
    averaged = settings.selection == AVERAGED
    samples = max(STORED_SAMPLES, min(AVERAGED_SAMPLES, AVERAGED_NUMBERS // width)) if averaged else STORED_SAMPLES
    tasks = max(b + 1, min(MAX_STORED_TASKS, -(-samples // n)))
    return Room(samples, tasks, width <= (0.5 if averaged else 0.75) * n * tasks)


class LogLossRules:
    """Weighted logistic regression on the samples of the last tasks, weights from the tracking.

    The rule of a task alone, the reference for every gain, chooses or averages its penalty as the others do.
    """

    def __init__(self, settings: IMRCSettings, n_classes: int) -> None:
        self.settings = settings
        self.n_classes = n_classes
        # All stored samples, their classes, and how many are of each task.
        self._X: Floats = np.empty((0, 0))
        self._y = self._sizes = np.empty(0, dtype=np.int64)
        self._gram: Floats = np.empty((0, 0))
        # Newest coefficients of each task within reach, as warm starts: of samples (dual) or features (primal).
        self._coefficients: deque[Floats] = deque(maxlen=settings.b + 1)
        self._primal = False
        self._candidates = CANDIDATES[settings.selection]
        self._alone = alone(self._candidates)
        self._averaged = settings.selection == AVERAGED
        self._temperatures = TEMPERATURES if self._averaged else (1.0,)
        self._losses = {
            c: np.full(len(self._temperatures), POOLED_LAST * c.pooled) for c in (*self._candidates, *self._alone)
        }
        self._scoring_tolerance = SCORING_TOLERANCE if self._averaged else TOLERANCE
        self._samples = STORED_SAMPLES
        # Where several candidates have a share, the coefficients each was last scored with, as warm starts.
        self._scored: dict[Candidate, Floats] = {}
        self._steps = 0
        self._labelled = 0
        # Of each task within reach, the tasks with labels up to it.
        self._labelled_by: deque[int] = deque(maxlen=settings.b + 1)
        self._chosen: Shares = {DEFAULT: 1.0}

    def step(
        self, X1: Floats, y: NDArray[np.int64] | None, single: Tracked | None, forward: Tracked, revised: list[Tracked]
    ) -> tuple[Fit | None, Fit, list[Fit]]:
        """Solve for the newest task and the revised ones, each from its last solution."""
        if y is not None:
            self._store(scaled(X1), y)
            self._labelled += 1
        self._labelled_by.append(self._labelled)
        zeros = np.zeros((self.n_classes, X1.shape[1] if self._primal else len(self._y)))
        start = self._coefficients[-1] if self._coefficients else zeros
        choices = [self._candidates, self._alone if single is not None else ()]
        scored = dict.fromkeys(candidate for choice in choices if len(choice) > 1 for candidate in choice)
        if scored and y is not None:
            if self._averaged:
                hopeful = {one for choice in choices if choice for one in self._shares(choice, HOPELESS)}
                scored = {one: None for one in scored if one in hopeful}
            self._score_candidates(list(scored), forward, start)
        chosen = self._chosen = self._shares(self._candidates)
        own = None if single is None else self._learn(single, 0, self._shares(self._alone), zeros)[0]
        fits: list[Fit] = []
        self._coefficients.append(start)
        for back, task in enumerate([forward, *revised]):
            if fits and all(candidate.pooled for candidate in chosen):  # one rule for all tasks
                self._coefficients[-1 - back] = self._coefficients[-1]
                fits.append(replace(fits[0], ess=task.worth))
                continue
            fit, self._coefficients[-1 - back] = self._learn(task, back, chosen, self._coefficients[-1 - back])
            fits.append(fit)
        self._steps += 1
        return own, fits[0], fits[1:]

    def _shares(self, candidates: tuple[Candidate, ...], least: float = LEAST_SHARE) -> Shares:
        """Return the candidate with the smallest loss so far, the first of equal ones; or what each one has to say."""
        losses = {one: self._losses[one] for one in candidates}
        return shares(losses, self._temperatures, least if self._averaged else 1.0)

    def _learn(self, task: Tracked, back: int, chosen: Shares, start: Floats) -> tuple[Fit, Floats]:
        """Solve for the task `back` tasks before the newest."""
        weights, ess, penalty, worth = self._weighted(task, back, chosen)
        return self._solve(weights, ess, worth, start, penalty, self._moved_for(task, chosen))

    def _moved_for(self, task: Tracked, chosen: Shares) -> Floats | None:
        """Return the samples in place of the stored ones, where tasks do not move as a random walk."""
        moving = sum(share for one, share in chosen.items() if one.transfer and not one.pooled)
        return self._moved(task, share=moving) if moving else None

    def _weighted(self, task: Tracked, back: int, chosen: Shares) -> tuple[Floats, float, float, float]:
        """Return the weights of the stored tasks for the task `back` before the newest, their samples, and the penalty.

        Weights are averaged over the candidates by their shares, effective samples and penalties geometrically. Last
        is what the task is worth: samples that are pooled count no more than the recursions say, since a vote for
        pooling is no evidence that tasks do not change.
        """
        weights, ess, penalty, worth = np.zeros(len(self._sizes)), 1.0, 1.0, 1.0
        for candidate, share in chosen.items():
            own_weights, own_ess = self._weighted_by(task, back, candidate)
            weights[-len(own_weights) :] += share * own_weights
            ess *= own_ess**share
            penalty *= candidate.penalty**share
            worth *= (task.worth if candidate.pooled else own_ess) ** share
        return weights, ess, penalty, worth

    def _weighted_by(self, task: Tracked, back: int, candidate: Candidate) -> tuple[Floats, float]:
        """Return the weights of one candidate, and what they are worth."""
        if candidate.pooled:
            return self._pooled(0)
        if candidate.transfer:
            return self._aligned(task), task.worth
        weights, samples = self._own(back)
        # A task without labels has the rule of the last one with labels; only then its estimate is worth less.
        return weights, samples if task.ess > 0.999 * samples else task.ess

    def used(self, task: Tracked, back: int) -> Used:
        """Return what the rule of the task `back` tasks before the newest was learnt from at this step."""
        weights, ess, penalty, _ = self._weighted(task, back, self._chosen)
        per_sample = self._per_sample(weights)
        kept = per_sample > 0
        strength = self._strength(ess, penalty)
        moved = self._moved_for(task, self._chosen)
        return Used(
            (self._X if moved is None else moved)[kept],
            self._y[kept],
            per_sample[kept] / per_sample.sum(),
            strength,
            self._sizes,
            kept,
        )

    def predicted(self, task: Tracked) -> Fit:
        """Solve for the task to come, weighted as the forward rule of the newest."""
        return self._learn(task, 0, self._shares(self._candidates), self._coefficients[-1])[0]

    def size(self) -> int:
        """Return how many numbers are kept."""
        starts = (*self._coefficients, *self._scored.values())
        return self._X.size + self._y.size + self._gram.size + sum(part.size for part in starts)

    def choices(self) -> dict[str, float]:
        """Return the share of the past, of all of it alike where that is a choice, and the penalty's factor."""
        chosen = self._chosen.items()
        found = {"transfer": float(sum(share for one, share in chosen if one.transfer))}
        if any(one.pooled for one in self._candidates):
            found["pooled"] = float(sum(share for one, share in chosen if one.pooled))
        return found | {"penalty": float(np.prod([one.penalty**share for one, share in chosen]))}

    def _aligned(self, task: Tracked) -> Floats:
        """Weights of the stored tasks, none negative; tasks the tracker follows that are not stored are left out."""
        if task.weights is None:
            raise ValueError("the rule for log loss needs tracking='rate': one gain for all components.")
        weights = task.weights[-len(self._sizes) :]
        if task.path is None:
            return weights
        # Moved to one place, all stored samples could count alike; half of that measured better than either.
        return np.asarray((weights / weights.sum() + self._sizes / self._sizes.sum()) / 2.0)

    def _moved(self, task: Tracked | None, newest: int = 0, share: float = 1.0) -> Floats | None:
        """Return the stored samples moved to where the course of the tasks leads; None where they stay.

        Weights of an order above 1 can be negative, and log loss with negative weights is not convex. So the samples
        keep weights that are not negative, and those of task j are moved by the change of the mean of all instances
        from task j to the task wanted, or a `share` of it. The `newest` tasks stay.
        """
        if task is None or task.path is None:
            return None
        tasks = len(self._sizes) - newest
        moves = np.zeros((len(self._sizes), self._X.shape[1]))
        change = share * (task.mean - task.path[len(task.path) - tasks :])
        moves[:tasks] = change.reshape(tasks, self.n_classes, -1).sum(axis=1)
        moves[:, 0] = 0.0
        return np.asarray(self._X + np.repeat(moves, self._sizes, axis=0))

    def _own(self, back: int) -> tuple[Floats, float]:
        """Weights of one task only, `back` tasks before the newest or the last with labels before it; its samples."""
        weights, place = np.zeros(len(self._sizes)), self._labelled_by[-1 - back] - self._labelled - 1
        weights[place] = 1.0
        return weights, float(self._sizes[place])

    def _pooled(self, held: int) -> tuple[Floats, float]:
        """Weights of the stored tasks by their samples, `held` of the newest left out; the number of samples."""
        sizes = self._sizes.astype(np.float64)
        sizes[-1] -= held
        return sizes / sizes.sum(), float(sizes.sum())

    def _store(self, X: Floats, y: NDArray[np.int64]) -> None:
        """Add a task and drop the oldest beyond the limit; keep Gram matrix and warm starts in step."""
        if self._steps == 0:
            # Decided once, from what will be stored if tasks stay as large.
            self._samples, _, self._primal = room(self.settings, len(y), X.shape[1], self.settings.b)
        sizes = [*self._sizes.tolist(), len(y)]
        tasks = surplus(sizes, self.settings.b + 1, self._samples, MAX_STORED_TASKS)
        dropped, self._sizes = sum(sizes[:tasks]), np.array(sizes[tasks:])
        # A copy even of the first: NumPy's product of an array with its own transpose differs in the last digit.
        self._X = np.concatenate([self._X[dropped:], X]) if self._y.size else X.copy()
        self._y = np.append(self._y, y)[dropped:]
        if self._primal:
            return
        old = self._gram[dropped:, dropped:]
        cross = self._X @ X.T
        self._gram = np.block([[old, cross[: len(old)]], [cross.T]])
        fresh = np.zeros((self.n_classes, len(y)))
        for position, coefficients in enumerate(self._coefficients):
            self._coefficients[position] = np.concatenate([coefficients, fresh], axis=1)[:, dropped:]
        for candidate, coefficients in self._scored.items():
            self._scored[candidate] = np.concatenate([coefficients, fresh], axis=1)[:, dropped:]

    def _score_candidates(self, candidates: list[Candidate], forward: Tracked, start: Floats) -> None:
        """Add each candidate's log loss on held-out samples of the newest task to its account."""
        newest, weights, moved = int(self._sizes[-1]), self._aligned(forward), self._moved(forward.before, 1)
        X, y = self._X[-newest:], self._y[-newest:]
        starts = dict(self._scored)  # none has seen a sample that is held out now
        scores: dict[Candidate, list[Floats]] = {candidate: [] for candidate in candidates}
        masks = fold_masks(len(y), y, self._labelled - 1, self.settings.selection)
        for held in masks:
            problems: dict[tuple[bool, bool], tuple[_Problem, float]] = {}  # penalties differ in one number only
            for candidate in candidates:
                samples = moved if candidate.transfer and not candidate.pooled else None
                way = candidate.transfer, candidate.pooled
                if way not in problems:
                    if candidate.pooled:
                        task_weights, ess = self._pooled(int(held.sum()))
                    else:
                        base = weights if candidate.transfer else self._own(0)[0]
                        task_weights, ess = split_weights(base, len(y), len(y) - int(held.sum()))
                        ess = min(ess, forward.ess_walk)
                    problems[way] = self._problem(task_weights, held, samples), ess
                begin = starts.get(candidate, start)
                coefficients = self._solved(*problems[way], begin, candidate.penalty, self._scoring_tolerance)[1]
                if self._averaged:
                    self._scored[candidate] = coefficients
                if self._primal:
                    found = coefficients @ X[held].T
                elif samples is None:
                    found = coefficients @ self._gram[:, -len(y) :][:, held]
                else:
                    found = coefficients @ (samples @ X[held].T)
                scores[candidate].append(found.T)
        if masks:
            answers = np.concatenate([y[held] for held in masks])
            losses = {
                candidate: np.array([log_loss(together * one, answers) for one in self._temperatures])
                for candidate, together in ((one, np.concatenate(parts)) for one, parts in scores.items())
            }
            # What was not scored keeps its distance: it does as well as the best of the others.
            smallest = np.min(list(losses.values()), axis=0)
            for candidate in self._losses:
                self._losses[candidate] += losses.get(candidate, smallest)

    def _per_sample(self, task_weights: Floats) -> Floats:
        """Return the weights of the stored samples, those of tasks that hardly matter 0."""
        least = min(NEGLIGIBLE_WEIGHT, task_weights.max() / 2.0)  # a thousand tasks that count alike
        return np.repeat(np.where(task_weights > least, task_weights, 0.0) / self._sizes, self._sizes)

    def _strength(self, ess: float, penalty: float) -> float:
        """Return the factor of the penalty in the objective."""
        return self.settings.lambda0 * penalty * self.n_classes / max(self.n_classes - 1, 1) / ess

    def _problem(
        self, task_weights: Floats, held: NDArray[np.bool_] | None = None, moved: Floats | None = None
    ) -> _Problem:
        """Return the problem of weights per task on the samples of tasks that matter, without `held` of the newest.

        With `moved` samples in place of the stored ones.
        """
        per_sample = self._per_sample(task_weights)
        if held is not None:
            newest = per_sample[-len(held) :]
            newest *= len(held) / (len(held) - held.sum())
            newest[held] = 0.0
        used = np.flatnonzero(per_sample)
        weights = per_sample[used] / per_sample[used].sum()
        if self._primal:
            matrix = (self._X if moved is None else moved)[used]
        else:
            matrix = _square(self._gram, used) if moved is None else moved[used] @ moved[used].T
        return _Problem(used, weights, self._y[used], matrix)

    def _solved(
        self, problem: _Problem, ess: float, start: Floats, penalty: float, tolerance: float = TOLERANCE
    ) -> tuple[LogLossSolution, Floats]:
        """Return the solution, and its coefficients of all stored samples (dual) or features (primal)."""
        begin = start if self._primal else start[:, problem.used]
        strength = self._strength(ess, penalty)
        solution = solve_log_loss(
            problem.matrix, problem.y, problem.weights, strength, begin, primal=self._primal, tolerance=tolerance
        )
        if self._primal:
            return solution, solution.coefficients
        coefficients = np.zeros_like(start)
        coefficients[:, problem.used] = solution.coefficients
        return solution, coefficients

    def _solve(
        self, task_weights: Floats, ess: float, worth: float, start: Floats, penalty: float, moved: Floats | None
    ) -> tuple[Fit, Floats]:
        """Solve with weights per task, and return the rule of a task that is `worth` so many samples."""
        problem = self._problem(task_weights, moved=moved)
        solution, coefficients = self._solved(problem, ess, start, penalty)
        if self._primal:
            mu = primal_parameters(solution.coefficients)
        else:
            mu = dual_parameters((self._X if moved is None else moved)[problem.used], solution.coefficients)
        return Fit(mu, solution.value, float("nan"), worth, solution.iterations), coefficients


def _square(gram: Floats, used: NDArray[np.int64]) -> Floats:
    """Return ``gram[np.ix_(used, used)]``; samples that follow each other are copied as a block, ten times as fast."""
    gaps = np.flatnonzero(np.diff(used) > 1)
    first, count = int(used[0]), int(gaps[0]) + 1 if gaps.size else len(used)
    block = slice(first, first + count)
    if count == len(used):
        return gram[block, block].copy()
    square, rest = np.empty((len(used), len(used))), used[count:]
    square[:count, :count] = gram[block, block]
    square[:count, count:] = gram[block, rest]
    square[count:] = gram[np.ix_(rest, used)]
    return square
