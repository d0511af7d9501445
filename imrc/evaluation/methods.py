"""Running compared methods beside IMRC: same draws, same representation, time and memory recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.baselines import Baseline, OwnMethod, parse_method, registry
from imrc.baselines.simple import Pooled
from imrc.core.rules_log import LogLossLearner
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.splits import TaskDraw, method_seed

RowsOf = Callable[[int, NDArray[np.int64]], Floats]
"""Mapped rows of a task, with the intercept in the first column."""

KEPT_LIMIT = 25_000_000
"""Numbers of mapped test rows that a run keeps for testing again (200 MB); beyond, rows are mapped again each time."""

_TOGETHER = 2_000_000
"""Numbers of mapped test rows that are there at once, at least those of one task."""


def make_method(
    name: str, settings: RunSettings, n_classes: int, n_features: int, repetition: np.random.SeedSequence
) -> Baseline:
    """Return the learner of ``"name"`` or ``"name:profile"``; its randomness depends on repetition and method only."""
    if isinstance(name, OwnMethod):
        return name.learner(n_classes, n_features, method_seed(repetition, name), settings.b)
    method, profile = parse_method(name)
    cls = registry[method]
    return cls(
        n_classes=n_classes,
        n_features=n_features,
        random_state=method_seed(repetition, method),
        profile=profile,
        **{key: getattr(settings, key) for key in cls.shared_settings},
    )


def warm_up_methods(names: tuple[str, ...]) -> None:
    """Compile kernels and load libraries, so that no task's time contains it."""
    for name in names:
        if not isinstance(name, OwnMethod):
            _warm_up(name)


@cache
def _warm_up(name: str) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.5]]), np.array([0, 1, 0])
    method, profile = parse_method(name)
    learner = registry[method](n_classes=2, n_features=2, random_state=0, profile=profile)
    for step in range(2):
        learner.partial_fit_task(step, X, y if step == 0 else 1 - y)
    learner.predict(X)


class ComparedMethods:
    """The compared methods of one repetition; `n_features` counts mapped features without intercept.

    One rule for all tasks is learnt by `pooling`, where there is such a learner, which has each task before they have.
    """

    def __init__(
        self,
        settings: RunSettings,
        n_classes: int,
        n_features: int,
        repetition: np.random.SeedSequence,
        room: int,
        rare: int | None = None,
        pooling: LogLossLearner | None = None,
    ) -> None:
        self._rare = rare
        self.learners = {
            name: make_method(name, settings, n_classes, n_features, repetition) for name in settings.compared
        }
        for learner in self.learners.values():
            if isinstance(learner, Pooled) and pooling is not None:
                learner.learn_beside(pooling)
        # Tests of all tasks are needed again at every step by methods whose rules for old tasks change.
        self._again = any(not learner.fixed_old_rules for learner in self.learners.values())
        self._tests: list[NDArray[np.int64]] = []
        # Mapped test rows of the first tasks, one below the other, as far as there is room. What is not filled takes no
        # memory; a block that grew would leave the smaller ones before it in pieces between those of other repetitions.
        self._kept, self._ends = np.empty((room // n_features if self._again else 0, n_features)), [0]
        self._labels: list[NDArray[np.int64]] = []

    def step(self, task: int, draw: TaskDraw, y: NDArray[np.int64], rows: RowsOf) -> dict[str, dict[str, Any]]:
        """Let every method learn a task; return what each did, named as in `StepResult`."""
        if not self.learners:
            return {"before": {}}
        self._tests.append(draw.test)
        self._labels.append(y[draw.test])
        newest = rows(task, draw.test)[:, 1:]
        self._keep(task, newest)
        train = np.ascontiguousarray(rows(task, draw.train)[:, 1:]), y[draw.train]
        pool = None
        before, spent = {}, {}
        for name, learner in self.learners.items():
            if learner.uses_pool and pool is None:
                pool = np.ascontiguousarray(rows(task, draw.pool)[:, 1:]), y[draw.pool]
            data = pool if learner.uses_pool and pool is not None else train
            before[name] = float(np.mean(learner.predict(newest) != self._labels[task])) if task > 0 else float("nan")
            started = time.thread_time()
            learner.partial_fit_task(task, *data)
            spent[name] = time.thread_time() - started
        wrong = self._wrong(task, newest, rows)
        found: dict[str, dict[str, Any]] = {
            "before": before,
            "method_time_s": spent,
            "state_sizes": {name: learner.state_size() for name, learner in self.learners.items()},
            # Only of tasks tested now: those whose rule cannot have changed are not tested again.
            "errors": {name: {j: float(one.mean()) for j, one in parts.items()} for name, parts in wrong.items()},
        }
        if self._rare is not None:
            found["misses"] = {
                name: {j: float(one[self._labels[j] == self._rare].sum()) for j, one in parts.items()}
                for name, parts in wrong.items()
            }
        return found

    def _wrong(self, task: int, newest: Floats, rows: RowsOf) -> dict[str, dict[int, NDArray[np.bool_]]]:
        """Return which answers of each method are wrong, on the tasks seen whose rule may have changed."""
        wrong: dict[str, dict[int, NDArray[np.bool_]]] = {name: {} for name in self.learners}
        for tasks, X in self._again_tested(task, rows):
            ends = np.cumsum([len(self._labels[j]) for j in tasks])[:-1]
            for name, learner in self.learners.items():
                if learner.fixed_old_rules:
                    continue
                if learner.keeps_old_rules:
                    parts = [learner.predict(part, task=j) for j, part in zip(tasks, np.split(X, ends), strict=True)]
                else:
                    parts = np.split(learner.predict(X), ends)
                wrong[name] |= {j: part != self._labels[j] for j, part in zip(tasks, parts, strict=True)}
        for name, learner in self.learners.items():
            if learner.fixed_old_rules:
                wrong[name][task] = learner.predict(newest, task=task) != self._labels[task]
        return wrong

    def _again_tested(self, task: int, rows: RowsOf) -> Iterator[tuple[list[int], Floats]]:
        """Give the test rows of all tasks seen, a few tasks at a time: together they can outweigh all else of a run."""
        tasks: list[int] = []
        for j in range(task + 1) if self._again else ():
            tasks.append(j)
            if j == task or sum(len(self._tests[one]) for one in tasks) * self._kept.shape[1] >= _TOGETHER:
                if j < len(self._ends) - 1:
                    yield tasks, self._kept[self._ends[tasks[0]] : self._ends[j + 1]]
                else:
                    yield tasks, np.concatenate([rows(one, self._tests[one])[:, 1:] for one in tasks])
                tasks = []

    def _keep(self, task: int, tested: Floats) -> None:
        """Keep the test rows of the newest task if there is room, and those of all before it were kept."""
        end = self._ends[-1] + len(tested)
        if task != len(self._ends) - 1 or end > len(self._kept):
            return
        self._kept[self._ends[-1] : end] = tested
        self._ends.append(end)
