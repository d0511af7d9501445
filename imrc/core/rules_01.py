"""The 0-1 rule of the paper: problem (3) for every task."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.presets import RECENT_SAMPLES
from imrc.core.settings import IMRCSettings
from imrc.core.tracking import TaskEstimate, Tracked, surplus
from imrc.solvers import InstanceSet, Problem, Solution, prepare_instances, solve_many


class ZeroOneLearner:
    """Problem (3) by the subgradient method (or exactly), warm-started from the closest task."""

    def __init__(self, settings: IMRCSettings, n_classes: int, threads: int) -> None:
        self.settings = settings
        self.n_classes = n_classes
        self.threads = threads
        self._own: deque[InstanceSet] = deque(maxlen=settings.b + 1)
        self._solutions: deque[Solution] = deque(maxlen=settings.b + 1)
        self._samples: deque[Floats] = deque()

    def step(
        self, X1: Floats, y: NDArray[np.int64] | None, single: Tracked | None, forward: Tracked, revised: list[Tracked]
    ) -> tuple[TaskEstimate | None, TaskEstimate, list[TaskEstimate]]:
        """Solve for the newest task, then for the revised ones from their own forward solutions."""
        own = prepare_instances(X1)
        common = self._common(X1)
        self._iterations = self.settings.iterations(len(X1))
        self._newest = common or own
        warm = self._solutions[-1] if self._solutions else None
        alone = [] if single is None else [(own, single, None)]
        newest = self._solved([(self._newest, forward, warm), *alone])
        self._own.append(own)
        self._solutions.append(newest[0][0])
        again = self._solved(
            [(common or self._own[-1 - i], task, self._solutions[-1 - i]) for i, task in enumerate(revised, start=1)]
        )
        return newest[1][1] if alone else None, newest[0][1], [fit for _, fit in again]

    def predicted(self, task: Tracked) -> TaskEstimate:
        """Solve for the next task on the newest instances, from the newest solution."""
        return self._solved([(self._newest, task, self._solutions[-1])])[0][1]

    def size(self) -> int:
        """Return how many numbers are stored."""
        kept = sum(part.X1.size for part in self._own) + 2 * sum(part.mu.size for part in self._solutions)
        return kept + sum(X1.size for X1 in self._samples)

    def _common(self, X1: Floats) -> InstanceSet | None:
        """Return the common set X of this step, or None if each task uses its own samples."""
        kind = self.settings.instances
        if kind == "own":
            return None
        self._samples.append(X1)
        if kind != "all":
            wanted = RECENT_SAMPLES if kind == "recent" else 0
            for _ in range(surplus([len(part) for part in self._samples], self.settings.b + 1, wanted)):
                self._samples.popleft()
        return prepare_instances(np.concatenate(self._samples))

    def _confidence(self, task: Tracked) -> Floats:
        lam = np.sqrt(task.mse)
        if self.settings.confidence == "over_ess":
            lam /= np.sqrt(task.ess)
        return np.asarray(self.settings.lambda0 * lam)

    def _solved(
        self, wanted: Sequence[tuple[InstanceSet, Tracked, Solution | None]]
    ) -> list[tuple[Solution, TaskEstimate]]:
        """Solve for tasks on instances, each from a solution or from zeros."""
        problems = [Problem(instances, task.mean, self._confidence(task), start) for instances, task, start in wanted]
        solutions = solve_many(
            problems, self.n_classes, self._iterations, threads=self.threads, method=self.settings.solver
        )
        found = zip(wanted, problems, solutions, strict=True)
        return [(solution, _fit(task, problem, solution)) for (_, task, _), problem, solution in found]


def _fit(task: Tracked, problem: Problem, solution: Solution) -> TaskEstimate:
    linear = 1.0 - problem.tau @ solution.mu + problem.lam @ np.abs(solution.mu)
    nu = solution.value - float(linear)
    # The minimax risk uses at least lambda = sqrt(s), even if mu was found with a smaller confidence vector.
    slack = np.maximum(np.sqrt(task.mse) - problem.lam, 0.0)
    value = solution.value + float(slack @ np.abs(solution.mu))
    return TaskEstimate(task.mean, task.mse, task.ess, solution.mu, value, nu, solution.iterations)
