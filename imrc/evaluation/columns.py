"""What a run keeps, declared once: which numbers there are, and how steps, repetitions and files store them.

Numbers go by kind ("error", "before", ...) and by rule or method. Of one repetition a step is a plain dictionary, named
as the fields of `StepResult`; of all repetitions it is a `StepResult`; all steps are an `imrc.RunResult`. What a result
keeps is written, read and joined as arrays by kind and rule (`arrays_of`, `columns_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from imrc._types import Floats

Arrays = dict[tuple[str, str], Floats]
"""By kind and rule; first axis repetitions, second tasks. What is no matter of rules has "" in place of one."""

TABLES = {"error": "errors", "risk": "risks", "ess": "ess", "miss": "misses"}
"""Kinds with a value per task and step, with their fields in a step; a result has them as "error_tables" and so on."""

_TOTAL = {"total": True}
"""Marks numbers that a run keeps of its last step only."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """Numbers by rule or method: of a step one per repetition, of a run one per repetition and task."""

    before: dict[str, Floats] = field(default_factory=dict)
    """Error on each task of the state before it was learnt (test then train), NaN for the first: of the compared
    methods, of the class most frequent in the tasks before ("majority"), of IMRC's rule of the predicted estimate
    ("imrc") and of the single-task rule of the task before ("single")."""
    before_miss: dict[str, Floats] = field(default_factory=dict)
    """Of these errors, misclassified test samples of the rare class; empty if no class is rare."""
    before_risk: dict[str, Floats] = field(default_factory=dict)
    """Minimax risk of IMRC's two rules, "imrc" and "single"."""
    before_ess: dict[str, Floats] = field(default_factory=dict)
    """Effective samples of "imrc"; how far the task moved away from the last one is in no number of "single"."""
    method_time_s: dict[str, Floats] = field(default_factory=dict)
    """Per method ("imrc" too, all its rules together): processor seconds of learning each task."""
    state_sizes: dict[str, Floats] = field(default_factory=dict)
    """Per method: numbers kept after each task."""
    choices: dict[str, Floats] = field(default_factory=dict)
    """What past data decided at each step: the share (0 to 1) of each rate of change, "rate 0" (all tasks alike) to
    "rate inf" (the task alone), and "penalty", its factor."""
    reliability: dict[str, Floats] = field(default_factory=dict, metadata=_TOTAL)
    """Per rule of IMRC, (repetitions, bins, 4): what its probabilities add up to over the test samples of all tasks,
    each with the rule it has at the last step (see `imrc.evaluation.measures.counted`)."""
    by_class: dict[str, Floats] = field(default_factory=dict, metadata=_TOTAL)
    """The same by class, (repetitions, classes, 2): test samples, and how many were given another class."""


@dataclass(frozen=True, eq=False, kw_only=True)
class StepResult(Columns):
    """The result of one step, over all repetitions. `Columns` lists what is known per rule or method."""

    step: int  #: Number of the newest task, from 0.
    total: int  #: Tasks of the run.
    errors: dict[str, dict[int, Floats]]
    """Per rule or compared method, and task learnt at this step: error on its test samples, (repetitions,)."""
    risks: dict[str, dict[int, Floats]]  #: The same for the rules' minimax risks.
    ess: dict[str, dict[int, Floats]]  #: The same for their effective sample sizes.
    majority: Floats
    """Error on the newest task of always predicting the most frequent class of all training samples so far."""
    time_s: float  #: Seconds of learning and testing, all repetitions together.
    misses: dict[str, dict[int, Floats]] = field(default_factory=dict)
    """Like `errors`: misclassified test samples of the rare class; empty if no class is rare."""
    rare: Floats | None = None  #: Test samples of the rare class in the newest task, (repetitions,).
    rare_class: str = ""  #: Its name.

    @property
    def number(self) -> int:
        """Number of tasks learnt so far, from 1."""
        return self.step + 1


TOTALS = tuple(one.name for one in fields(Columns) if one.metadata)
"""Kinds of numbers that a run keeps of its last step only."""


def over_repetitions(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - as deep as what is given
    """Return one array of what each repetition gave, inside mappings entry by entry."""
    if isinstance(parts[0], Mapping):
        return {key: over_repetitions([part[key] for part in parts]) for key in parts[0]}
    return np.array(parts, dtype=np.float64)


def over_steps(steps: Sequence[StepResult], *, keep: bool) -> Arrays:
    """Return the arrays of a result from its steps; with `keep`, a task that is not learnt again keeps its value."""
    arrays = {
        ("majority", ""): np.stack([step.majority for step in steps], axis=1)[:, :, None],
        ("time_s", ""): np.array([step.time_s for step in steps]),
    }
    rare = [step.rare for step in steps if step.rare is not None]
    if rare:
        arrays["rare_counts", ""] = np.stack(rare, axis=1)[:, :, None]
    for kind, name in TABLES.items():
        for rule in getattr(steps[0], name):
            arrays[kind, rule] = _by_lag([getattr(step, name)[rule] for step in steps], keep=keep)
    for one in fields(Columns):
        for rule in getattr(steps[0], one.name):
            found = [getattr(step, one.name)[rule] for step in steps]
            arrays[one.name, rule] = found[-1] if one.name in TOTALS else np.stack(found, axis=1)
    return arrays


def _by_lag(learnt: Sequence[Mapping[int, Floats]], *, keep: bool) -> Floats:
    """Return the values (repetitions, tasks, lags) of one rule from those of the tasks learnt at each step."""
    # A rule has as many lags as it has steps at which some task's value was measured again.
    lags = 1 + max(step - task for step, values in enumerate(learnt) for task in values)
    table = np.full((len(learnt[0][0]), len(learnt), lags), np.nan)
    for step, values in enumerate(learnt):
        for task, row in values.items():
            table[:, task, step - task] = row
    for lag in range(1, lags) if keep else ():
        now, before = table[:, : len(learnt) - lag, lag], table[:, : len(learnt) - lag, lag - 1]
        np.copyto(now, before, where=np.isnan(now))
    return table


def arrays_of(result: Any) -> Arrays:  # noqa: ANN401 - an `imrc.RunResult`, which is made of what is here
    """Return the arrays of a result, as `columns_of` reads them."""
    arrays = {("majority", ""): result.majority.values, ("time_s", ""): result.time_s}
    arrays["test_samples", ""] = result.test_samples
    if result.rare_counts is not None:
        arrays["rare_counts", ""] = result.rare_counts.values
    for kind in TABLES:
        arrays |= {(kind, rule): table.values for rule, table in getattr(result, f"{kind}_tables").items()}
    for one in fields(Columns):
        arrays |= {(one.name, rule): values for rule, values in getattr(result, one.name).items()}
    return arrays


def columns_of(arrays: Arrays) -> dict[str, Any]:
    """Return the fields of a result which these arrays are; what earlier versions did not keep stays empty."""

    def of(kind: str) -> dict[str, Floats]:
        return {rule: values for (known, rule), values in arrays.items() if known == kind}

    found: dict[str, Any] = {one.name: of(one.name) for one in fields(Columns)}
    for kind in TABLES:
        found[f"{kind}_tables"] = {rule: LagTable(values) for rule, values in of(kind).items()}
    for kind in ("majority", "rare_counts"):
        found[kind] = LagTable(arrays[kind, ""]) if (kind, "") in arrays else None
    return found | {kind: arrays[kind, ""] for kind in ("time_s", "test_samples")}


@dataclass(frozen=True, eq=False)
class LagTable:
    """A quantity of each task at each later step, stored by lag, (repetitions, tasks, lags); NaN beyond the last step.

    The value of task j at step q >= j is ``values[:, j, min(q - j, lags - 1)]``: after the last lag nothing changes.
    Single-task and forward rules have one lag, forward and backward rules b + 1, others as many as there are tasks.
    """

    values: Floats

    @property
    def lags(self) -> int:
        """Number of lags stored."""
        return int(self.values.shape[2])

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return int(self.values.shape[1])

    def dense(self) -> Floats:
        """Return values[repetition, step, task], NaN above the diagonal (task later than step)."""
        step, task = np.indices((self.tasks, self.tasks))
        lag = np.clip(step - task, 0, self.lags - 1)
        return np.where(step >= task, self.values[:, task, lag], np.nan)

    def by_step(self) -> Floats:
        """Return the mean over the tasks seen at each step, shape (repetitions, steps)."""
        repetitions, tasks, lags = self.values.shape
        total = np.zeros((repetitions, tasks))
        for lag in range(lags - 1):
            total[:, lag:] += self.values[:, : tasks - lag, lag]
        settled = self.values[:, : tasks - lags + 1, -1]
        total[:, lags - 1 :] += np.cumsum(settled, axis=1)
        return np.asarray(total / np.arange(1, tasks + 1))

    def average(self) -> Floats:
        """Return the mean over steps of the mean over the tasks seen, shape (repetitions,)."""
        return np.asarray(self.by_step().mean(axis=1))

    def weights(self) -> Floats:
        """Return by how much each value counts in `average`, shape (tasks, lags); 0 where there is none."""
        # At step q (from 0) each of the q + 1 tasks seen counts alike, and all steps count alike.
        by_step = 1.0 / (self.tasks * np.arange(1, self.tasks + 1))
        later = np.append(np.cumsum(by_step[::-1])[::-1], 0.0)
        there = np.minimum(np.arange(self.tasks)[:, None] + np.arange(self.lags), self.tasks)
        weights = np.append(by_step, 0.0)[there]
        weights[:, -1] = later[there[:, -1]]
        return np.asarray(weights)

    def newest(self) -> Floats:
        """Return each task's value at its own step, shape (repetitions, tasks)."""
        return self.values[:, :, 0]

    def at_lag(self, lag: int) -> Floats:
        """Return each task's value after `lag` more tasks, or at the last step, shape (repetitions, tasks)."""
        remaining = np.arange(self.tasks - 1, -1, -1)
        index = np.minimum(np.minimum(remaining, lag), self.lags - 1)
        return np.take_along_axis(self.values, index[None, :, None], axis=2)[:, :, 0]

    def final(self) -> Floats:
        """Return each task's value at the last step, shape (repetitions, tasks)."""
        return self.at_lag(self.tasks)

    def story(self, task: int) -> Floats:
        """Return the values of one task, from 0, at steps task, ..., last, shape (repetitions, tasks - task)."""
        lag = np.minimum(np.arange(self.tasks - task), self.lags - 1)
        return self.values[:, task, lag]
