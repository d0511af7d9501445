"""The rule for log loss on the samples of the last tasks, weighted as the tracking weights them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.rules import Fit, surplus
from imrc.core.selection import (
    CANDIDATES,
    DEFAULT,
    POOLED_LAST,
    Candidate,
    alone,
    fold_masks,
    log_loss,
    split_weights,
)
from imrc.core.settings import IMRCSettings
from imrc.core.trackers import Tracked
from imrc.solvers.log_loss import LogLossSolution, dual_parameters, primal_parameters, scaled, solve_log_loss

NEGLIGIBLE_WEIGHT = 1e-3
"""Tasks whose sample average has a smaller weight are left out."""

MAX_STORED_TASKS = 30
STORED_SAMPLES = 400
"""The last tasks are stored: at least b + 1 of them, beyond these at most 30, and just enough for 400 samples."""


@dataclass(frozen=True, eq=False)
class Used:
    """What one rule was learnt from."""

    X: Floats  # (N, D + 1): samples with a weight, `scaled`
    y: NDArray[np.int64]
    weights: Floats  # sum to 1
    strength: float  # factor of the penalty
    sizes: NDArray[np.int64]  # samples of each stored task, the newest last
    kept: NDArray[np.bool_]  # which of the stored samples have a weight


class LogLossRules:
    """Weighted logistic regression on the samples of the last tasks, weights from the tracking.

    The rule of a task alone, the reference for every gain, chooses its penalty in the same way as the others.
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
        self._losses = {c: POOLED_LAST * c.pooled for c in (*self._candidates, *self._alone)}
        self._steps = 0
        self._labelled = 0
        # Of each task within reach, the tasks with labels up to it.
        self._labelled_by: deque[int] = deque(maxlen=settings.b + 1)
        self._chosen = DEFAULT

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
            self._score_candidates(list(scored), forward, start)
        chosen = self._chosen = self._best(self._candidates)
        own = None if single is None else self._learn(single, 0, self._best(self._alone), zeros)[0]
        fits: list[Fit] = []
        self._coefficients.append(start)
        for back, task in enumerate([forward, *revised]):
            if chosen.pooled and fits:  # one rule for all tasks
                self._coefficients[-1 - back] = self._coefficients[-1]
                fits.append(fits[0])
                continue
            fit, self._coefficients[-1 - back] = self._learn(task, back, chosen, self._coefficients[-1 - back])
            fits.append(fit)
        self._steps += 1
        return own, fits[0], fits[1:]

    def _best(self, candidates: tuple[Candidate, ...]) -> Candidate:
        """Return the candidate with the smallest loss so far, the first of equal ones."""
        return min(candidates, key=self._losses.__getitem__)

    def _learn(self, task: Tracked, back: int, candidate: Candidate, start: Floats) -> tuple[Fit, Floats]:
        """Solve for the task `back` tasks before the newest."""
        weights, ess = self._weighted(task, back, candidate)
        return self._solve(weights, ess, start, candidate.penalty, moved=self._moved_for(task, candidate))

    def _moved_for(self, task: Tracked, candidate: Candidate) -> Floats | None:
        """Return the samples in place of the stored ones, where tasks do not move as a random walk."""
        return self._moved(task) if candidate.transfer and not candidate.pooled else None

    def _weighted(self, task: Tracked, back: int, candidate: Candidate) -> tuple[Floats, float]:
        """Return the weights of the stored tasks for the task `back` tasks before the newest, and what it is worth."""
        if candidate.pooled:
            return self._pooled(0)
        if candidate.transfer:
            return self._aligned(task), task.worth
        weights, samples = self._own(back)
        # A task without labels has the rule of the last one with labels; only then its estimate is worth less.
        return weights, samples if task.ess > 0.999 * samples else task.ess

    def used(self, task: Tracked, back: int) -> Used:
        """Return what the rule of the task `back` tasks before the newest was learnt from at this step."""
        weights, ess = self._weighted(task, back, self._chosen)
        per_sample = self._per_sample(weights)
        kept = per_sample > 0
        strength = self._strength(ess, self._chosen.penalty)
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
        start, chosen = self._coefficients[-1], self._best(self._candidates)
        if chosen.pooled:
            return self._solve(*self._pooled(0), start, chosen.penalty)[0]
        if chosen.transfer:
            return self._solve(self._aligned(task), task.worth, start, chosen.penalty, moved=self._moved(task))[0]
        weights, samples = self._own(0)
        return self._solve(weights, min(samples, task.ess), start, chosen.penalty)[0]

    def size(self) -> int:
        """Return how many numbers are kept."""
        return self._X.size + self._y.size + self._gram.size + sum(part.size for part in self._coefficients)

    def choices(self) -> dict[str, float]:
        """Return whether the past is used, whether all of it alike where that is a choice, and the penalty's factor."""
        pooled = {"pooled": float(self._chosen.pooled)} if any(one.pooled for one in self._candidates) else {}
        return {"transfer": float(self._chosen.transfer), **pooled, "penalty": self._chosen.penalty}

    def _aligned(self, task: Tracked) -> Floats:
        """Weights of the stored tasks, none negative; tasks the tracker follows that are not stored are left out."""
        if task.weights is None:
            raise ValueError("the rule for log loss needs tracking='rate': one gain for all components.")
        weights = task.weights[-len(self._sizes) :]
        if task.path is None:
            return weights
        # Moved to one place, all stored samples could count alike; half of that measured better than either.
        return np.asarray((weights / weights.sum() + self._sizes / self._sizes.sum()) / 2.0)

    def _moved(self, task: Tracked | None, newest: int = 0) -> Floats | None:
        """Return the stored samples moved to where the course of the tasks leads; None where they stay.

        Weights of an order above 1 can be negative, and log loss with negative weights is not convex. So the samples
        keep weights that are not negative, and those of task j are moved by the change of the mean of all instances
        from task j to the task wanted. The `newest` tasks stay.
        """
        if task is None or task.path is None:
            return None
        tasks = len(self._sizes) - newest
        moves = np.zeros((len(self._sizes), self._X.shape[1]))
        change = task.mean - task.path[len(task.path) - tasks :]
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
            # Decided once, from what will be stored if tasks stay as large: the form with the smaller matrix.
            tasks = max(self.settings.b + 1, min(MAX_STORED_TASKS, -(-STORED_SAMPLES // len(y))))
            self._primal = X.shape[1] <= 0.75 * len(y) * tasks
        sizes = [*self._sizes.tolist(), len(y)]
        tasks = surplus(sizes, self.settings.b + 1, STORED_SAMPLES, MAX_STORED_TASKS)
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
            shifted = np.concatenate([coefficients, fresh], axis=1)[:, dropped:]
            self._coefficients[position] = shifted

    def _score_candidates(self, candidates: list[Candidate], forward: Tracked, start: Floats) -> None:
        """Add each candidate's log loss on held-out samples of the newest task to its account."""
        newest, weights, moved = int(self._sizes[-1]), self._aligned(forward), self._moved(forward.before, 1)
        X, y = self._X[-newest:], self._y[-newest:]
        for held in fold_masks(len(y), y, self._steps):
            for candidate in candidates:
                samples = moved if candidate.transfer and not candidate.pooled else None
                if candidate.pooled:
                    task_weights, ess = self._pooled(int(held.sum()))
                else:
                    base = weights if candidate.transfer else self._own(0)[0]
                    task_weights, ess = split_weights(base, len(y), len(y) - int(held.sum()))
                    ess = min(ess, forward.ess_walk)
                coefficients = self._solve(task_weights, ess, start, candidate.penalty, held, samples)[1]
                if self._primal:
                    scores = coefficients @ X[held].T
                elif samples is None:
                    scores = coefficients @ self._gram[:, -len(y) :][:, held]
                else:
                    scores = coefficients @ (samples @ X[held].T)
                self._losses[candidate] += log_loss(scores.T, y[held])

    def _per_sample(self, task_weights: Floats) -> Floats:
        """Return the weights of the stored samples, those of tasks that hardly matter 0."""
        least = min(NEGLIGIBLE_WEIGHT, task_weights.max() / 2.0)  # a thousand tasks that count alike
        return np.repeat(np.where(task_weights > least, task_weights, 0.0) / self._sizes, self._sizes)

    def _strength(self, ess: float, penalty: float) -> float:
        """Return the factor of the penalty in the objective."""
        return self.settings.lambda0 * penalty * self.n_classes / max(self.n_classes - 1, 1) / ess

    def _solve(
        self,
        task_weights: Floats,
        ess: float,
        start: Floats,
        penalty: float = 1.0,
        held: NDArray[np.bool_] | None = None,
        moved: Floats | None = None,
    ) -> tuple[Fit, Floats]:
        """Solve with weights per task on the samples of tasks that matter, without `held` ones of the newest.

        With `moved` samples in place of the stored ones.
        """
        per_sample = self._per_sample(task_weights)
        if held is not None:
            newest = per_sample[-len(held) :]
            newest *= len(held) / (len(held) - held.sum())
            newest[held] = 0.0
        used = np.flatnonzero(per_sample)
        weights = per_sample[used] / per_sample[used].sum()
        y = self._y[used]
        strength = self._strength(ess, penalty)
        if self._primal:
            solution = solve_log_loss(
                (self._X if moved is None else moved)[used], y, weights, strength, start, primal=True
            )
            return _fit(primal_parameters(solution.coefficients), solution, ess), solution.coefficients
        samples = None if moved is None else moved[used]
        gram = _square(self._gram, used) if samples is None else samples @ samples.T
        solution = solve_log_loss(gram, y, weights, strength, start[:, used], primal=False)
        coefficients = np.zeros_like(start)
        coefficients[:, used] = solution.coefficients
        mu = np.empty(0)  # scores of held-out samples need no parameters
        if held is None:
            mu = dual_parameters(self._X[used] if samples is None else samples, solution.coefficients)
        return _fit(mu, solution, ess), coefficients


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


def _fit(mu: Floats, solution: LogLossSolution, ess: float) -> Fit:
    return Fit(mu, solution.value, float("nan"), ess, solution.iterations)
