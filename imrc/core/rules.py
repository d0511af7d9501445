"""From mean vectors to classification rules: the 0-1 rule of the paper and the rule for log loss."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from imrc.core.selection import CANDIDATES, DEFAULT, fold_masks, log_loss, split_weights
from imrc.core.settings import IMRCSettings
from imrc.core.trackers import Tracked
from imrc.solvers import Instances, Problem, Solution, prepare_instances, solve_many
from imrc.solvers.log_loss import dual_parameters, primal_parameters, scaled, solve_log_loss

Floats = NDArray[np.float64]

NEGLIGIBLE_WEIGHT = 1e-3
"""Tasks whose sample average has a smaller weight are left out of the rule for log loss."""


PAPER_ITERATIONS = 2000


@dataclass(frozen=True, eq=False)
class Fit:
    """A rule and the value of its problem.

    Attributes
    ----------
    mu : ndarray of shape (m,)
        Classifier parameters.
    value : float
        Value of the problem at mu: minimax risk (0-1 loss) or minimax log loss in nats.
    nu : float
        The max term of problem (3); NaN for log loss.
    """

    mu: Floats
    value: float
    nu: float


class Rules(Protocol):
    """Learns rules for the newest task and for the revised ones."""

    def step(
        self, X1: Floats, y: NDArray[np.int64], single: Tracked | None, forward: Tracked, revised: list[Tracked]
    ) -> tuple[Fit | None, Fit, list[Fit]]:
        """Return the rules of the newest task alone (if asked for), forward, and of the revised tasks."""
        ...

    def size(self) -> int:
        """Return how many numbers are kept."""
        ...

    def choices(self) -> dict[str, float]:
        """Return what was chosen from the data so far."""
        ...


class ZeroOneRules:
    """Problem (3) by the subgradient method (or exactly), warm-started from the closest task.

    Parameters
    ----------
    settings : IMRCSettings
        lambda0, confidence, instances, solver and max_iter are used.
    n_classes : int
        Number of classes C.
    threads : int
        Threads for problems that do not need each other's result.
    """

    def __init__(self, settings: IMRCSettings, n_classes: int, threads: int) -> None:
        self.settings = settings
        self.n_classes = n_classes
        self.threads = threads
        self._own: deque[Instances] = deque(maxlen=settings.b + 1)
        self._solutions: deque[Solution] = deque(maxlen=settings.b + 1)
        self._samples: deque[Floats] = deque()

    def step(
        self, X1: Floats, y: NDArray[np.int64], single: Tracked | None, forward: Tracked, revised: list[Tracked]
    ) -> tuple[Fit | None, Fit, list[Fit]]:
        """Solve for the newest task, then for the revised ones from their own forward solutions."""
        own = prepare_instances(X1)
        common = self._common(X1)
        iterations = self.settings.iterations(len(y))
        warm = self._solutions[-1] if self._solutions else None
        batch = [Problem(common or own, forward.mean, self._confidence(forward), warm)]
        if single is not None:
            batch.append(self._alone(own, single))
        if single is None or self.settings.tracking == "component":
            solutions = self._solve(batch, iterations)
        else:
            # The reference of every preset is the paper's single-task rule, with the paper's iterations.
            solutions = self._solve(batch[:1], iterations) + self._solve(batch[1:], PAPER_ITERATIONS)
        self._own.append(own)
        self._solutions.append(solutions[0])
        fits = [
            _fit(task, problem, solution)
            for task, problem, solution in zip([forward, single or forward], batch, solutions, strict=False)
        ]
        problems = [
            Problem(common or self._own[-1 - back], task.mean, self._confidence(task), self._solutions[-1 - back])
            for back, task in enumerate(revised, start=1)
        ]
        solved = zip(revised, problems, self._solve(problems, iterations), strict=True)
        return fits[1] if single is not None else None, fits[0], [_fit(*each) for each in solved]

    def size(self) -> int:
        """Return how many numbers are kept."""
        kept = sum(part.X1.size for part in self._own) + 2 * sum(part.mu.size for part in self._solutions)
        return kept + sum(X1.size for X1 in self._samples)

    def choices(self) -> dict[str, float]:
        """Nothing is chosen."""
        return {}

    def _alone(self, own: Instances, single: Tracked) -> Problem:
        """Return the single-task problem, eq. (4), with the same lambda0 where the recursions are the paper's."""
        factor = self.settings.lambda0 if self.settings.tracking == "component" else 1.0
        return Problem(own, single.mean, factor * np.sqrt(single.mse))

    def _common(self, X1: Floats) -> Instances | None:
        """Return the common set X of this step, or None where each task uses its own samples."""
        kind = self.settings.instances
        if kind == "own":
            return None
        self._samples.append(X1)
        limit = {"reach": self.settings.b + 1, "recent": self.settings.recent_tasks(len(X1))}.get(kind)
        while limit is not None and len(self._samples) > limit:
            self._samples.popleft()
        return prepare_instances(np.concatenate(self._samples))

    def _confidence(self, task: Tracked) -> Floats:
        lam = np.sqrt(task.mse)
        if self.settings.confidence == "over_ess":
            lam /= np.sqrt(task.ess)
        return np.asarray(self.settings.lambda0 * lam)

    def _solve(self, problems: list[Problem], iterations: int) -> list[Solution]:
        return solve_many(problems, self.n_classes, iterations, threads=self.threads, method=self.settings.solver)


def _fit(task: Tracked, problem: Problem, solution: Solution) -> Fit:
    linear = 1.0 - problem.tau @ solution.mu + problem.lam @ np.abs(solution.mu)
    nu = solution.value - float(linear)
    # The promise is that of lambda = sqrt(s) at least, whatever confidence vector chose mu.
    slack = np.maximum(np.sqrt(task.mse) - problem.lam, 0.0)
    return Fit(solution.mu, solution.value + float(slack @ np.abs(solution.mu)), nu)


class LogLossRules:
    """Weighted logistic regression on the samples of the last tasks, weights from the tracking.

    Parameters
    ----------
    settings : IMRCSettings
        lambda0 scales the penalty, selection says whether penalty and transfer are chosen from past data.
    n_classes : int
        Number of classes C.
    """

    def __init__(self, settings: IMRCSettings, n_classes: int) -> None:
        self.settings = settings
        self.n_classes = n_classes
        self._X: deque[Floats] = deque()
        self._y: deque[NDArray[np.int64]] = deque()
        self._gram: Floats = np.empty((0, 0))
        # Newest coefficients of each task within reach, as warm starts: of samples (dual) or features (primal).
        self._coefficients: deque[Floats] = deque(maxlen=settings.b + 1)
        self._primal = False
        self._candidates = CANDIDATES[settings.selection]
        self._losses = np.zeros(len(self._candidates))
        self._steps = 0
        self._chosen = DEFAULT

    def step(
        self, X1: Floats, y: NDArray[np.int64], single: Tracked | None, forward: Tracked, revised: list[Tracked]
    ) -> tuple[Fit | None, Fit, list[Fit]]:
        """Solve for the newest task and the revised ones, each from its last solution."""
        self._store(scaled(X1), y)
        zeros = np.zeros((self.n_classes, X1.shape[1] if self._primal else sum(map(len, self._y))))
        start = self._coefficients[-1] if self._coefficients else zeros
        if len(self._candidates) > 1:
            self._score_candidates(self._aligned(forward), start)
        chosen = self._chosen = self._candidates[int(np.argmin(self._losses))]
        alone = None if single is None else self._solve(self._own(0), single.ess, zeros)[0]
        fits = []
        self._coefficients.append(start)
        for back, task in enumerate([forward, *revised]):
            weights, ess = self._aligned(task), task.ess
            if not chosen.transfer:
                weights, ess = self._own(back), float(len(self._y[-1 - back]))
            fit, self._coefficients[-1 - back] = self._solve(
                weights, ess, self._coefficients[-1 - back], chosen.penalty
            )
            fits.append(fit)
        self._steps += 1
        return alone, fits[0], fits[1:]

    def size(self) -> int:
        """Return how many numbers are kept."""
        samples = sum(part.size for part in self._X) + sum(part.size for part in self._y)
        return samples + self._gram.size + sum(part.size for part in self._coefficients)

    def choices(self) -> dict[str, float]:
        """Return whether the past is used, and the factor of the penalty."""
        return {"transfer": float(self._chosen.transfer), "penalty": self._chosen.penalty}

    def _aligned(self, task: Tracked) -> Floats:
        """Weights of the stored tasks; tasks followed by the tracker but no longer stored are left out."""
        if task.weights is None:
            raise ValueError("the rule for log loss needs tracking='rate': one gain for all components.")
        return task.weights[-len(self._y) :]

    def _own(self, back: int) -> Floats:
        """Weights that use one task only, `back` tasks before the newest."""
        weights = np.zeros(len(self._y))
        weights[-1 - back] = 1.0
        return weights

    def _store(self, X: Floats, y: NDArray[np.int64]) -> None:
        """Add a task and drop the oldest beyond the limit; keep Gram matrix and warm starts in step."""
        if self._steps == 0:
            # Decided once, from what will be stored: the form with the smaller matrix.
            self._primal = X.shape[1] <= 0.75 * len(y) * self.settings.stored_tasks(len(y))
        self._X.append(X)
        self._y.append(y)
        dropped = 0
        if len(self._y) > self.settings.stored_tasks(len(y)):
            self._X.popleft()
            dropped = len(self._y.popleft())
        if self._primal:
            return
        old = self._gram[dropped:, dropped:]
        cross = np.concatenate(self._X) @ X.T
        self._gram = np.block([[old, cross[: len(old)]], [cross.T]])
        fresh = np.zeros((self.n_classes, len(y)))
        for position, coefficients in enumerate(self._coefficients):
            shifted = np.concatenate([coefficients, fresh], axis=1)[:, dropped:]
            self._coefficients[position] = shifted

    def _score_candidates(self, weights: Floats, start: Floats) -> None:
        """Add each candidate's log loss on held-out samples of the newest task to its account."""
        X, y = self._X[-1], self._y[-1]
        for held in fold_masks(len(y), y, self._steps):
            for position, candidate in enumerate(self._candidates):
                base = weights if candidate.transfer else self._own(0)
                task_weights, ess = split_weights(base, len(y), len(y) - int(held.sum()))
                coefficients = self._solve(task_weights, ess, start, candidate.penalty, held)[1]
                scores = coefficients @ (X[held].T if self._primal else self._gram[:, -len(y) :][:, held])
                self._losses[position] += log_loss(scores.T, y[held])

    def _solve(
        self,
        task_weights: Floats,
        ess: float,
        start: Floats,
        penalty: float = 1.0,
        held: NDArray[np.bool_] | None = None,
    ) -> tuple[Fit, Floats]:
        """Solve with weights per task on the samples of tasks that matter, without `held` ones of the newest."""
        sizes = np.array([len(part) for part in self._y])
        per_sample = np.repeat(np.where(task_weights > NEGLIGIBLE_WEIGHT, task_weights, 0.0) / sizes, sizes)
        if held is not None:
            newest = per_sample[-len(held) :]
            newest *= len(held) / (len(held) - held.sum())
            newest[held] = 0.0
        used = np.flatnonzero(per_sample)
        weights = per_sample[used] / per_sample[used].sum()
        strength = self.settings.lambda0 * penalty * self.n_classes / max(self.n_classes - 1, 1) / ess
        y = np.concatenate(self._y)[used]
        if self._primal:
            samples = np.concatenate(self._X)[used]
            solution = solve_log_loss(samples, y, weights, strength, start, primal=True)
            coefficients = solution.coefficients
            mu = primal_parameters(coefficients)
        else:
            gram = self._gram[np.ix_(used, used)]
            solution = solve_log_loss(gram, y, weights, strength, start[:, used], primal=False)
            coefficients = np.zeros_like(start)
            coefficients[:, used] = solution.coefficients
            # Scores of held-out samples need no parameters.
            mu = (
                np.empty(0)
                if held is not None
                else dual_parameters(np.concatenate(self._X)[used], solution.coefficients)
            )
        return Fit(mu, solution.value, float("nan")), coefficients
