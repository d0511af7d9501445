"""The run loop: draw, learn, test, task by task; all repetitions and methods advance together."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_int
from imrc._types import Floats
from imrc.baselines import Baseline, OwnMethod, parse_method, registry
from imrc.baselines.registry import warm_up_method
from imrc.baselines.simple import Pooled
from imrc.core.learner import Learner, StepUpdate
from imrc.core.presets import DEFAULT
from imrc.core.rules_log import LogLossLearner
from imrc.core.settings import SETTINGS, Window, documented
from imrc.core.tracking import TaskEstimate
from imrc.evaluation.columns import TABLES, Columns, StepResult, over_repetitions
from imrc.evaluation.measures import counted
from imrc.evaluation.results import RunResult
from imrc.evaluation.settings import REFERENCES, Method, RunSettings, ScenarioName
from imrc.evaluation.splits import MappedRows, TaskDraw, draw_task, method_seed, rare_class, repetition_seeds, task_seed
from imrc.features import FeatureSpec
from imrc.solvers import cores
from imrc.solvers.api import probabilities, scores
from imrc.tasks import TaskSequence, checked_tasks
from imrc.wording import RULES

_TICK_S = 0.2
"""Seconds between two ticks, few so that *Stop* ends a run at once. A tick costs almost nothing."""

RowsOf = Callable[[int, NDArray[np.int64]], Floats]
"""Mapped rows of a task, with the intercept in the first column."""

_Wrong = dict[str, dict[int, NDArray[np.bool_]]]
"""Which answers are wrong, by rule or method and task."""

_KEPT_LIMIT = 25_000_000
"""Most mapped numbers that a run keeps to test rows again (200 MB). Rows beyond them are mapped again each time."""

_TOGETHER = 2_000_000
"""Most mapped numbers in memory at once, unless one task alone has more."""


@cache
def _thread_pools() -> Any:  # noqa: ANN401 - a class of threadpoolctl
    # Finding the libraries takes some 10 ms, so it is done once, after those that bring thread pools are loaded.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _let_this_thread_decide() -> None:
    """Let this thread change limits: threadpoolctl heeds one thread at a time and ignores all others silently."""
    for library in _thread_pools().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


class _SingleThread:
    """One thread for linear algebra while any run computes; runs may overlap in threads."""

    def __init__(self) -> None:
        self._running = 0
        self._lock = threading.Lock()
        self._limits: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
            if self._running == 1:
                _let_this_thread_decide()
                self._limits = _thread_pools().limit(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if self._running == 0:
                    _let_this_thread_decide()
                    self._limits.restore_original_limits()
                    _let_this_thread_decide()  # and whoever comes next after it


single_thread = _SingleThread()


def _made(
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


class _ComparedMethods:
    """The compared methods of one repetition. `Pooled` learns beside `pooling`, which gets each task first."""

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
        self.learners = {name: _made(name, settings, n_classes, n_features, repetition) for name in settings.compared}
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
            before[name] = learner.predict(newest) != self._labels[task] if task > 0 else math.nan
            started = time.thread_time()
            learner.partial_fit_task(task, *data)
            spent[name] = time.thread_time() - started
        wrong = self._wrong(task, newest, rows)
        sizes = {name: learner.state_size() for name, learner in self.learners.items()}
        # Only of tasks tested now: those whose rule cannot have changed are not tested again.
        tested = _tested(wrong, self._labels, self._rare)
        return {"before": before, "method_time_s": spent, "state_sizes": sizes, **tested}

    def _wrong(self, task: int, newest: Floats, rows: RowsOf) -> _Wrong:
        """Return which answers of each method are wrong, on the tasks seen whose rule may have changed."""
        wrong: _Wrong = {name: {} for name in self.learners}
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
        """Yield the test rows of all tasks seen, a few tasks at a time, because all together can be very large."""
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
        """Keep the test rows of the newest task if there is room and all earlier ones are kept."""
        end = self._ends[-1] + len(tested)
        if task != len(self._ends) - 1 or end > len(self._kept):
            return
        self._kept[self._ends[-1] : end] = tested
        self._ends.append(end)


_Numbers = dict[str, Any]
"""The numbers of one step of one repetition, by rule or method, named as in `StepResult`.

Without vectors of the estimates, by far the largest thing a run makes: nothing reads them once rules are tested."""


class Repetition:
    """One repetition: its draws, its learner, the compared methods, and the test samples still needed."""

    def __init__(
        self,
        settings: RunSettings,
        sequence: TaskSequence,
        seed: np.random.SeedSequence,
        threads: int,
        room: int,
        places: Sequence[int],
    ) -> None:
        self._sequence, self._seed, self._places = sequence, seed, places
        self._n, self._threads = settings.n, threads
        self._mapped = MappedRows(sequence, settings.features, self.draw(0).pool, seed)
        imrc, learner = "imrc" in settings.methods, settings.learner
        # In multi-task learning, tasks are learnt again once all have arrived.
        self._once = len(sequence) - 1 if settings.scenario == "multi_task" else None
        if self._once is not None:
            learner = replace(learner, b=settings.reach(len(sequence)))
        self._loss = learner.loss
        self._learner = Learner(learner, sequence.n_classes, threads=threads, means=False) if imrc else None
        self._last_alone: TaskEstimate | None = None
        self._rare = rare_class(sequence)
        pooling = None if self._learner is None else self._learner.pooling
        shape = sequence.n_classes, self._mapped.n_outputs
        self._compared = _ComparedMethods(settings, *shape, seed, room, self._rare, pooling)
        self._tests: dict[int, tuple[Callable[[], Floats], NDArray[np.int64]]] = {}
        self._counts = np.zeros(sequence.n_classes, dtype=np.int64)
        # Sums over the test samples of all tasks, and the part of each task that may be learnt again.
        self._sums: dict[str, tuple[Floats, Floats]] = {}
        self._parts: dict[tuple[str, int], tuple[Floats, Floats]] = {}

    def draw(self, task: int) -> TaskDraw:
        """Return the training and test rows of a task."""
        seed = task_seed(self._seed, self._places[task])
        return draw_task(self._sequence.encoded(task), self._n, self._sequence.n_classes, seed)

    def step(self, task: int) -> _Numbers:
        """Learn a task with every method, and test what was learnt."""
        draw, y = self.draw(task), self._sequence.encoded(task)
        train, test = y[draw.train], y[draw.test]
        unprepared = self._most_frequent_wrong(test) if task > 0 else math.nan
        self._counts += np.bincount(train, minlength=len(self._counts))
        mine: _Numbers = {}
        if self._learner is not None:
            self._tests[task] = self._mapped.again(task, draw.test), test
            mine = self._learn(self._learner, task, self._mapped.rows(task, draw.train), train)
        theirs = self._compared.step(task, draw, y, self._mapped.rows)
        theirs["before"] = {"majority": unprepared, **theirs["before"]}
        done: _Numbers = {"majority": self._most_frequent_wrong(test).mean()}
        for name in TABLES.values():  # these list rules before methods
            done[name] = mine.get(name, {}) | theirs.get(name, {})
        for name in (one.name for one in fields(Columns)):
            done[name] = theirs.get(name, {}) | mine.get(name, {})
        wrong = done["before"]  # of each answer whether it is; NaN where nothing has been learnt
        done["before"] = {name: float(np.mean(one)) for name, one in wrong.items()}
        if self._rare is not None:
            is_rare = test == self._rare
            done["rare"] = int(is_rare.sum())
            done["before_miss"] = {name: float(np.sum(one * is_rare)) for name, one in wrong.items()}
        return done

    def _most_frequent_wrong(self, test: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which test samples are not of the class that was most frequent so far."""
        return np.asarray(test != int(self._counts.argmax()))

    def _learn(self, learner: Learner, task: int, X1: Floats, y: NDArray[np.int64]) -> _Numbers:
        """Let IMRC learn a task, and test its rules."""
        known = {} if self._last_alone is None else {"imrc": learner.predicted(), "single": self._last_alone}
        names = ("imrc", "single")
        mine: _Numbers = {
            "before": {one: self._wrong(task, known[one]) if known else math.nan for one in names},
            "before_risk": {one: known[one].risk if known else math.nan for one in names},
            "before_ess": {"imrc": known["imrc"].ess if known else math.nan},
        }
        # A step that spreads over several threads is timed by the wall clock.
        clock = time.perf_counter if self._threads > 1 else time.thread_time
        started = clock()
        update = learner.step(X1, y, revise=self._once in (None, task))
        mine["method_time_s"] = {"imrc": clock() - started}
        mine["state_sizes"] = {"imrc": learner.state_size()}
        self._last_alone = update.single
        settled = task - learner.settings.b - 1
        self._tests.pop(settled, None)
        for rule in RULES:
            self._parts.pop((rule, settled), None)
        labels = {j: y for j, (_, y) in self._tests.items()}
        mine |= _tested(self._imrc_wrong(task, update), labels, self._rare)
        estimates = {"single": {task: update.single}, "forward": {task: update.forward}}
        estimates["forward_backward"] = {task: update.forward, **update.revised}
        for name, of in (("risks", "risk"), ("ess", "ess")):
            mine[name] = {rule: {j: getattr(one, of) for j, one in ones.items()} for rule, ones in estimates.items()}
        mine["choices"] = update.choices
        for place, name in enumerate(("reliability", "by_class")):
            mine[name] = {rule: sums[place] for rule, sums in self._sums.items()}
        return mine

    def _imrc_wrong(self, task: int, update: StepUpdate) -> _Wrong:
        wrong = {
            "single": {task: self._wrong(task, update.single, "single")},
            "forward": {task: self._wrong(task, update.forward, "forward", "forward_backward")},
        }
        revised = {j: self._wrong(j, one, "forward_backward") for j, one in update.revised.items()}
        return wrong | {"forward_backward": wrong["forward"] | revised}

    def _wrong(self, task: int, estimate: TaskEstimate, *rules: str) -> NDArray[np.bool_]:
        """Return which test samples of a task are misclassified, and count the probabilities for the given rules."""
        rows, y = self._tests[task]
        values = scores(rows(), estimate.coef, self._sequence.n_classes)
        answers = values.argmax(axis=1)
        if rules:
            parts = counted(probabilities(values, self._loss, estimate.nu), answers, y)
            nothing = np.zeros_like(parts[0]), np.zeros_like(parts[1])
            for rule in rules:
                sums, old = self._sums.get(rule, nothing), self._parts.get((rule, task), nothing)
                self._sums[rule] = sums[0] - old[0] + parts[0], sums[1] - old[1] + parts[1]
                self._parts[rule, task] = parts
        return np.asarray(answers != y)


def _tested(
    wrong: _Wrong, labels: Mapping[int, NDArray[np.int64]] | list[NDArray[np.int64]], rare: int | None
) -> _Numbers:
    """Return the share of wrong answers by rule or method and task, and how often the rare class was missed."""
    found = {"errors": {name: {j: float(one.mean()) for j, one in parts.items()} for name, parts in wrong.items()}}
    if rare is not None:
        found["misses"] = {
            name: {j: float(one[labels[j] == rare].sum()) for j, one in parts.items()} for name, parts in wrong.items()
        }
    return found


def _finished(futures: list[Future[_Numbers]], tick: Callable[[], object] | None) -> list[_Numbers]:
    """Return all results. Call `tick` meanwhile; if it raises, drop what has not begun."""
    try:
        while wait(futures, timeout=_TICK_S, return_when=FIRST_EXCEPTION).not_done:
            if any(future.done() and future.exception() is not None for future in futures):
                break
            if tick is not None:
                tick()
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


def iter_run(
    sequence: TaskSequence,
    settings: RunSettings,
    *,
    only: Sequence[int] | None = None,
    threads: int | None = None,
    tick: Callable[[], object] | None = None,
    places: Sequence[int] | None = None,
) -> Iterator[StepResult]:
    """Yield the result of each step of a run, one task at a time.

    All repetitions advance together in threads (the solver releases the interpreter's lock), so if you stop after
    any step, the results up to there are complete. Closing the iterator frees the threads. Linear algebra uses one
    thread while a step is computed, so the numbers are the same to the last bit for any number of cores.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    settings : RunSettings
        What to run.
    only : sequence of int or None
        Which repetitions to run, from 0; by default all. The results of a repetition do not depend on which others run.
    threads : int or None
        Maximum number of threads; by default one per core that this process may use. It does not affect the numbers.
    tick : callable or None
        Called without arguments in the caller's thread several times a second while a step is being computed. If it
        raises, the run ends: repetitions that have not begun are dropped, and the call waits for those already running.
    places : sequence of int or None
        For each task, the position (from 0) whose draws it gets. A reordered or shorter sequence is then trained and
        tested on the same rows as the original. By default, each task's own position.

    Raises
    ------
    ValueError
        If the sequence is too short or its tasks too small for the settings, `only` is empty or names a repetition
        below 0, or `places` does not have one entry per task.

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("random_walk", tasks=4, samples=60)
    >>> [step.number for step in iter_run(sequence, RunSettings(n=10, repetitions=2))]
    [1, 2, 3, 4]
    """
    sequence = settings.fit_to(sequence)
    chosen = list(range(settings.repetitions)) if only is None else [check_int("only", r, 0) for r in only]
    if not chosen:
        raise ValueError("only is empty. Name at least one repetition.")
    drawn = list(range(len(sequence))) if places is None else [check_int("places", one, 0) for one in places]
    if len(drawn) != len(sequence):
        raise ValueError(f"places has {len(drawn)} entries for {len(sequence)} tasks.")
    for name in settings.compared:
        if not isinstance(name, OwnMethod):
            warm_up_method(name)
    available = cores() if threads is None else check_int("threads", threads, 1)
    workers = max(1, min(len(chosen), available))
    seeds = repetition_seeds(settings.seed, max(chosen) + 1)
    rare = rare_class(sequence)
    # Cores left over by the repetitions solve the problems of a step side by side.
    room = _KEPT_LIMIT // len(chosen)
    with single_thread():
        repetitions = [Repetition(settings, sequence, seeds[r], available // workers, room, drawn) for r in chosen]
    with ThreadPoolExecutor(workers, thread_name_prefix="imrc") as pool:
        for task in range(len(sequence)):
            started = time.perf_counter()
            with single_thread():
                done = _finished([pool.submit(repetition.step, task) for repetition in repetitions], tick)
            yield StepResult(
                step=task,
                total=len(sequence),
                rare_class="" if rare is None else sequence.class_names[rare],
                time_s=time.perf_counter() - started,
                **over_repetitions(done),
            )


def run_all(
    sequence: TaskSequence,
    settings: RunSettings,
    *,
    show: Callable[[StepResult], object] = lambda _: None,
    only: Sequence[int] | None = None,
    **options: Any,  # noqa: ANN401 - those of `iter_run`
) -> RunResult:
    """Return the result of `iter_run`, with the repetitions that were run; `show` is called with every step."""
    steps = []
    for step in iter_run(sequence, settings, only=only, **options):
        steps.append(step)
        show(step)
    own = settings if only is None else replace(settings, repetitions=len(only))
    return RunResult.from_steps(own, sequence, steps)


@documented
def evaluate(
    sequence: TaskSequence,
    n: int = SETTINGS["n"].default,
    *,
    k: int | None = None,
    b: int = SETTINGS["b"].default,
    W: Window | None = None,
    preset: str = DEFAULT,
    features: str | FeatureSpec | None = None,
    repetitions: int = SETTINGS["repetitions"].default,
    seed: int = SETTINGS["seed"].default,
    methods: Sequence[Method] = ("imrc",),
    scenario: ScenarioName = "continual",
    **overrides: Any,  # noqa: ANN401 - values are checked by IMRCSettings
) -> RunResult:
    """Return errors, risks and effective sample sizes from learning a sequence task by task.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    {n}
    k : int or None
        Use the first k tasks; by default all.
    {b, W, preset}
    features : str, FeatureSpec or None
        Representation (see `imrc.features`). The preset decides by default: "blended" or, for paper, "automatic".
    {repetitions, seed}
    methods : sequence of str or tuple
        What to run: "imrc" and names of `imrc.baselines.registry`, with a profile after a colon if it is not the
        default one; and your own as ``("my forest", RandomForestClassifier())``. It can be any scikit-learn classifier
        and is refitted at every task on all samples so far, or, with "recent" or "single" as a third entry, on the last
        b + 1 tasks or the newest one (see `imrc.baselines.OwnMethod`). Its errors are stored under "own:my forest".
        All methods get the same draws and features.
    scenario : {"continual", "multi_task", "adaptation", "next_task"}
        Which tasks are learnt from, and which errors are averaged: those on all tasks so far; on all tasks at once (b
        has no effect); on the newest task only; on the next task, before it has any labels. See
        `imrc.evaluation.settings`. All except "multi_task" come from the same run (see `RunResult.seen_as`).
    **overrides
        Values that replace the preset's, explained at `imrc.IMRCSettings`: `lambda0`, `instances`, `solver`,
        `max_iter`, `tracking`, `confidence`, `loss`, `rate`, `change`. None keeps the preset's value.

    Raises
    ------
    ValueError, TypeError
        For values out of range, an unknown option, or a sequence that is too small; the message says what to change.

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("identical", tasks=6, samples=100)
    >>> result = evaluate(sequence, n=5, repetitions=2)
    >>> result.errors["single"].shape
    (2, 6, 6)
    """
    how = {"preset": preset, "features": features, "methods": methods, "scenario": scenario, **overrides}
    settings = RunSettings.of("evaluate", n=n, k=k, b=b, W=W, repetitions=repetitions, seed=seed, **how)
    return run_all(checked_tasks("imrc.evaluate", sequence), settings)


REFERENCE: Mapping[str, Any] = {
    "methods": REFERENCES, "preset": "paper", "W": None, "b": 0, "overrides": (), "scenario": "continual",
}  # fmt: skip
"""Settings in which the run of the references differs from a run. They share everything else, also the draws."""


def run_references(sequence: TaskSequence, settings: RunSettings) -> RunResult:
    """Run the references of a decision on the same draws as a run with these settings."""
    return run_all(sequence, replace(settings, **REFERENCE))


def with_references(settings: RunSettings) -> RunSettings:
    """Return settings that run the references as well, in one pass; `split_references` separates the results."""
    return replace(settings, methods=(*settings.methods, *REFERENCES))


def split_references(result: RunResult, settings: RunSettings) -> tuple[RunResult, RunResult]:
    """Separate the result of `with_references` into the run of these settings and that of its references."""
    return result.part(settings), result.part(replace(settings, **REFERENCE))
