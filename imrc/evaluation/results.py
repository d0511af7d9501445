"""`RunResult`: everything a run gave, its summaries, and its file."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice
from imrc._types import Floats
from imrc.evaluation.lagtable import LagTable
from imrc.evaluation.measures import MeasureName, measures_of
from imrc.evaluation.scenarios import SCENARIOS, HeadlineKind, Scenario, ScenarioName, planned
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Difference, Headline, paired_differences
from imrc.evaluation.splits import held_out
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

    from imrc.evaluation.run import StepResult

_FORMAT = 3
TABLES = {"error": "errors", "risk": "risks", "ess": "ess", "miss": "misses"}
"""Tables that a run holds (with "_tables") and saves, with their names in a step."""
COLUMNS = ("before", "before_risk", "before_ess", "method_time_s", "state_sizes", "choices")
"""What a run holds as one number per repetition and task."""
SUMS = ("reliability", "by_class")
"""What it holds once per repetition, as of the last step."""


class _Dense(Mapping[str, Floats]):
    """Tables unfolded to (repetitions, steps, tasks) when asked for."""

    def __init__(self, tables: Mapping[str, LagTable]) -> None:
        self._tables = tables

    def __getitem__(self, key: str) -> Floats:
        return self._tables[key].dense()

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


@dataclass(frozen=True, eq=False)
class RunResult:
    """Result of a run.

    Attributes
    ----------
    settings : RunSettings
        What was run.
    name, fingerprint : str
        Sequence it was run on.
    labels : tuple of str
        Names of the tasks.
    test_samples : ndarray of shape (tasks,)
        Test samples per task.
    error_tables, risk_tables, ess_tables : dict of str to LagTable
        Per rule ("single", "forward", "forward_backward"); `errors`, `risks`, `ess` give them unfolded. Compared
        methods have errors only, under their names.
    majority : LagTable
        Errors of the majority class, as a reference.
    time_s : ndarray of shape (tasks,)
        Seconds per step, all repetitions together.
    before : dict of str to ndarray of shape (repetitions, tasks)
        Error on each task of the state before it was learnt (test then train); NaN for the first task. Keys are the
        compared methods, "majority" (the class most frequent in the tasks before), "imrc" (the rule of the predicted
        estimate) and "single" (the single-task rule of the task before). Results kept by earlier versions lack some of
        the last three.
    before_risk, before_ess : dict of str to ndarray of shape (repetitions, tasks)
        Minimax risk and effective samples of those two rules.
    method_time_s : dict of str to ndarray of shape (repetitions, tasks)
        Per method ("imrc" too, all its rules together): processor seconds of learning each task.
    state_sizes : dict of str to ndarray of shape (repetitions, tasks)
        Per method: numbers kept after each task.
    choices : dict of str to ndarray of shape (repetitions, tasks)
        What past data decided at each step: the share (0 to 1) of each rate of change, "rate 0" (all tasks alike) to
        "rate inf" (the task alone), and "penalty", its factor.
    miss_tables : dict of str to LagTable
        Per rule: test samples of the rare class given another one. Empty where no class is rare.
    rare_counts : LagTable or None
        Test samples of the rare class per task.
    rare_class : str
        Its name; empty where no class is rare, see `imrc.evaluation.splits.rare_class`.
    reliability : dict of str to ndarray of shape (repetitions, bins, 4)
        Per rule of IMRC: what its probabilities add up to over the test samples of all tasks at the last step, see
        `imrc.evaluation.calibration.counted`. Results kept by earlier versions lack it.
    by_class : dict of str to ndarray of shape (repetitions, classes, 2)
        The same by class: test samples, and those of them given another one.
    """

    settings: RunSettings
    name: str
    fingerprint: str
    labels: tuple[str, ...]
    test_samples: NDArray[np.int64]
    error_tables: dict[str, LagTable]
    risk_tables: dict[str, LagTable]
    ess_tables: dict[str, LagTable]
    majority: LagTable
    time_s: Floats
    before: dict[str, Floats] = field(default_factory=dict)
    before_risk: dict[str, Floats] = field(default_factory=dict)
    before_ess: dict[str, Floats] = field(default_factory=dict)
    method_time_s: dict[str, Floats] = field(default_factory=dict)
    state_sizes: dict[str, Floats] = field(default_factory=dict)
    choices: dict[str, Floats] = field(default_factory=dict)
    miss_tables: dict[str, LagTable] = field(default_factory=dict)
    rare_counts: LagTable | None = None
    rare_class: str = ""
    reliability: dict[str, Floats] = field(default_factory=dict)
    by_class: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def from_steps(cls, settings: RunSettings, sequence: TaskSequence, steps: Sequence[StepResult]) -> RunResult:
        """Collect the steps of `iter_run`; a run that was stopped early gives the tasks it reached.

        Parameters
        ----------
        settings : RunSettings
            What was run.
        sequence : TaskSequence
            What it was run on; its first tasks if the run was stopped.
        steps : sequence of StepResult
            In order, at least one.

        Returns
        -------
        RunResult

        Raises
        ------
        ValueError
            If there is no step.
        """
        if not steps:
            raise ValueError("No step was run, so there is no result.")
        tasks, repetitions = len(steps), len(steps[0].majority)

        def tables(name: str) -> dict[str, LagTable]:
            return {rule: table(name, rule) for rule in getattr(steps[0], name)}

        def table(name: str, rule: str) -> LagTable:
            # A rule has as many lags as it has steps at which some task's value was measured again.
            lags = 1 + max(step.step - task for step in steps for task in getattr(step, name)[rule])
            values = np.full((repetitions, tasks, lags), np.nan)
            for step in steps:
                for task, row in getattr(step, name)[rule].items():
                    values[:, task, step.step - task] = row
            if settings.scenario == "multi_task":
                # Until a task is learnt again, at the end, it keeps the rule it had.
                for lag in range(1, lags):
                    now, before = values[:, : tasks - lag, lag], values[:, : tasks - lag, lag - 1]
                    np.copyto(now, before, where=np.isnan(now))
            return LagTable(values)

        def columns(name: str) -> dict[str, Floats]:
            return {
                key: np.stack([getattr(step, name)[key] for step in steps], axis=1) for key in getattr(steps[0], name)
            }

        sequence = sequence.head(tasks)
        held: dict[str, Any] = {f"{kind}_tables": tables(name) for kind, name in TABLES.items()}
        held |= {name: columns(name) for name in COLUMNS} | {name: getattr(steps[-1], name) for name in SUMS}
        return cls(
            settings=settings,
            name=sequence.name,
            fingerprint=sequence.fingerprint,
            labels=sequence.labels,
            test_samples=np.array([held_out(int(size)) for size in sequence.sizes]),
            majority=LagTable(np.stack([step.majority for step in steps], axis=1)[:, :, None]),
            time_s=np.array([step.time_s for step in steps]),
            rare_counts=LagTable(np.stack([step.rare for step in steps if step.rare is not None], axis=1)[:, :, None])
            if steps[0].rare is not None
            else None,
            rare_class=steps[0].rare_class,
            **held,
        )

    @property
    def errors(self) -> Mapping[str, Floats]:
        """Errors[repetition, step, task] per rule, NaN where the task is later than the step."""
        return _Dense(self.error_tables)

    @property
    def risks(self) -> Mapping[str, Floats]:
        """Minimax risks[repetition, step, task] per rule."""
        return _Dense(self.risk_tables)

    @property
    def ess(self) -> Mapping[str, Floats]:
        """Effective sample sizes[repetition, step, task] per rule."""
        return _Dense(self.ess_tables)

    @property
    def loss(self) -> str:
        """Loss of the rules: "0-1" or "log"; `risks` are minimax risks of this loss."""
        return self.settings.learner.loss

    @property
    def n_tasks(self) -> int:
        """Number of tasks run."""
        return len(self.labels)

    @property
    def scenario(self) -> Scenario:
        """What is averaged, and which rules there are."""
        return SCENARIOS[self.settings.scenario]

    @property
    def rules(self) -> tuple[str, ...]:
        """Rules of IMRC there are in the scenario, and the compared methods."""
        others = [name for name in self.error_tables if name not in SCENARIOS["continual"].rules]
        return (*(rule for rule in self.scenario.rules if rule in self.error_tables), *others)

    def seen_as(self, scenario: ScenarioName) -> RunResult:
        """Return the same run, judged as another scenario judges it.

        Parameters
        ----------
        scenario : {"continual", "adaptation", "next_task"}
            What is averaged; nothing is computed anew.

        Returns
        -------
        RunResult

        Raises
        ------
        ValueError
            If one of the two is "multi_task", where every task is within reach of every other, or if the result was
            kept by a version that did not test before learning.
        """
        settings = replace(self.settings, scenario=scenario)
        if settings.computed != self.settings.computed:
            raise ValueError(f"{scenario!r} needs a run of its own: this one was {self.settings.scenario!r}.")
        if scenario == "next_task" and not self.has_before:
            raise ValueError("This result was kept by a version that did not test before learning: run it again.")
        return replace(self, settings=settings)

    @property
    def has_before(self) -> bool:
        """Whether everything that was run was also tested on each task before learning it."""
        return all(self._before_key(rule) in self.before for rule in self.error_tables)

    @staticmethod
    def _before_key(rule: str) -> str:
        """Return whose state is tested before a task: forward and backward rules share the predicted one."""
        return "imrc" if rule in ("forward", "forward_backward") else rule

    def before_of(self, rule: str, of: str = "before") -> Floats:
        """Return what is known of each task before it is learnt, shape (repetitions, tasks); NaN where nothing is.

        Parameters
        ----------
        rule : str
            A key of `errors`. Forward, and forward and backward rules share the rule of the predicted estimate.
        of : {"before", "before_risk", "before_ess"}
            Errors, minimax risks or effective samples.

        Returns
        -------
        ndarray of shape (repetitions, tasks)
        """
        found = getattr(self, of).get(self._before_key(rule))
        return np.full(self.majority.values.shape[:2], np.nan) if found is None else found

    def by_task(self, rule: str, kind: HeadlineKind | None = None) -> Floats:
        """Return the error of each task that a headline averages, shape (repetitions, tasks).

        Parameters
        ----------
        rule : str
            A key of `errors`.
        kind : str or None
            Which headline, see `headline`; "average" averages several errors of a task, the last is given.

        Returns
        -------
        ndarray of shape (repetitions, tasks)
            NaN for the first task where `kind` is "before".
        """
        table = self.error_tables[check_choice("rule", rule, self.error_tables)]
        return self.before_of(rule) if self._kind(kind) == "before" else self._cells(table, kind)

    def _kind(self, kind: HeadlineKind | None) -> HeadlineKind:
        return self.scenario.kind if kind is None else check_choice("kind", kind, get_args(HeadlineKind))

    def _cells(self, table: LagTable, kind: HeadlineKind | None) -> Floats:
        reach = self.settings.reach(table.tasks)
        lags = {"newest": 0, "lag": reach, "released": max(min(self.settings.b - 1, reach), 0)}
        return table.at_lag(lags.get(self._kind(kind), table.tasks))

    def _mean(self, table: LagTable, kind: HeadlineKind | None) -> Floats:
        if self._kind(kind) == "average":
            return table.average()
        return np.asarray(self._cells(table, kind).mean(axis=1))

    def per_repetition(self, rule: str, kind: HeadlineKind | None = None) -> Floats:
        """Return the share of wrong answers of one rule for each repetition, shape (repetitions,).

        Parameters
        ----------
        rule : str
            A key of `errors`.
        kind : str or None
            Which headline, see `headline`.

        Returns
        -------
        ndarray of shape (repetitions,)
            NaN where `kind` is "before" and there is no such error: with one task, and in results of earlier versions.
        """
        table = self.error_tables[check_choice("rule", rule, self.error_tables)]
        if self._kind(kind) != "before":
            return self._mean(table, kind)
        later = self.before_of(rule)[:, 1:]
        return np.asarray(later.mean(axis=1)) if later.shape[1] else np.full(len(later), np.nan)

    def promised(self, rule: str) -> float:
        """Return the mean minimax risk of one rule over what the scenario averages, and over repetitions.

        Parameters
        ----------
        rule : {"single", "forward", "forward_backward"}
            Which rule.

        Returns
        -------
        float
        """
        table = self.risk_tables[check_choice("rule", rule, self.risk_tables)]
        if self.scenario.kind != "before":
            return float(self._mean(table, None).mean())
        later = self.before_of(rule, "before_risk")[:, 1:]
        return float(later.mean()) if later.size else float("nan")

    def misses(self, rule: str, kind: HeadlineKind | None = None) -> Floats | None:
        """Return the share of the rare class given another one for each repetition; None where no class is rare.

        Parameters
        ----------
        rule : str
            A key of `errors`.
        kind : str or None
            Which headline, see `headline`; it is counted over the same tasks and steps. None for "before": misses are
            counted after learning only.

        Returns
        -------
        ndarray of shape (repetitions,) or None
        """
        if self.rare_counts is None or rule not in self.miss_tables or self._kind(kind) == "before":
            return None
        samples = self._mean(self.rare_counts, kind)
        return self._mean(self.miss_tables[rule], kind) / samples if (samples > 0).all() else None

    def balanced(self, rule: str, kind: HeadlineKind | None = None) -> Floats | None:
        """Return the balanced error for each repetition; None where no class is rare.

        The mean of two error rates: on samples of the rare class, see `misses`, and on all others.

        Parameters
        ----------
        rule : str
            A key of `errors`.
        kind : str or None
            Which headline, see `headline`.

        Returns
        -------
        ndarray of shape (repetitions,) or None
        """
        if self.misses(rule, kind) is None:
            return None
        return self._balanced(rule, lambda table: self._mean(table, kind))

    def _balanced(self, rule: str, averaged: Callable[[LagTable], Floats]) -> Floats:
        """Return the balanced error of answers averaged in some way; NaN where no sample of the rare class is."""
        samples, missed = self.test_samples[None, :, None], self.miss_tables[rule]
        rare = self.rare_counts or LagTable(np.zeros_like(self.majority.values))
        wrong = LagTable(self.error_tables[rule].values * samples - missed.values)
        with np.errstate(invalid="ignore"):
            on_rare = averaged(missed) / averaged(rare)
            return np.asarray(0.5 * (on_rare + averaged(wrong) / averaged(LagTable(samples - rare.values))))

    def measure(self, kind: HeadlineKind | None = None) -> str:
        """Return what the run is judged by: "error", or "balanced error" where a class is rare.

        Parameters
        ----------
        kind : str or None
            Which headline, see `headline`. Misses are not counted before learning, so "before" is judged by the error.

        Returns
        -------
        str
        """
        counted = any(self.misses(rule, kind) is not None for rule in self.error_tables)
        return "balanced error" if counted else "error"

    def judged(self, rule: str, kind: HeadlineKind | None = None) -> Floats:
        """Return the error of one rule that the run is judged by, see `measure`, for each repetition.

        Everything that states the error of a run, or compares two, takes it from here.

        Parameters
        ----------
        rule : str
            A key of `errors`.
        kind : str or None
            Which headline, see `headline`.

        Returns
        -------
        ndarray of shape (repetitions,)
        """
        balanced = self.balanced(rule, kind)
        return self.per_repetition(rule, kind) if balanced is None else balanced

    def judged_by_step(self, rule: str, kind: HeadlineKind | None = None, *, so_far: bool = False) -> Floats:
        """Return the error of one rule that the run is judged by, as tasks arrive.

        Parameters
        ----------
        rule : str
            A key of `errors`.
        kind : str or None
            Which headline, see `headline`, except "before". "average": the mean over the tasks seen at each step; where
            one error of each task is averaged, the mean of those of the tasks so far.
        so_far : bool
            The mean over the steps so far: what a run would give that ends there.

        Returns
        -------
        ndarray of shape (repetitions, steps)
            NaN where a balanced error has met no sample of the rare class yet.
        """

        def averaged(table: LagTable) -> Floats:
            seen = table if self._kind(kind) == "average" else LagTable(self._cells(table, kind)[:, :, None])
            values = seen.by_step()
            return np.cumsum(values, axis=1) / np.arange(1, table.tasks + 1) if so_far else values

        if self.misses(rule, kind) is None:
            return averaged(self.error_tables[rule])
        return self._balanced(rule, averaged)

    def headline(self, kind: HeadlineKind | None = None) -> dict[str, Headline]:
        """Return the error of each rule of the scenario, see `judged`, as one number with its uncertainty.

        Parameters
        ----------
        kind : {"average", "newest", "lag", "released", "end", "before"} or None
            Which average; `HEADLINES` holds the definitions in words. None: that of the scenario.

        Returns
        -------
        dict of str to Headline
        """
        return {rule: Headline.of(self.judged(rule, kind)) for rule in self.rules}

    def measures(self) -> dict[str, dict[MeasureName, Headline]]:
        """Return measures of continual learning by name: average accuracy, transfer, forgetting.

        Returns
        -------
        dict of str to dict of str to Headline
            Per rule or method; `imrc.evaluation.measures.MEASURES` holds formulas and sources.
        """
        return measures_of(self)

    def difference(self, rule: str, reference: str = "single", kind: HeadlineKind | None = None) -> Difference:
        """Return the paired difference of two rules' headline errors (negative: `rule` is better), with its interval.

        This is the one rule for "more than noise": two-sided 95 % paired t interval over repetitions. The main rule of
        the scenario (forward and backward learning, unless said otherwise) against single-task learning is the planned
        comparison and stands alone; the other rules and methods of the run are corrected by Holm's method, see
        `imrc.evaluation.significance.paired_differences`.

        Parameters
        ----------
        rule, reference : str
            Among `rules`.
        kind : str or None
            Which headline, see `headline`.

        Returns
        -------
        Difference
            Mean, standard error, interval, and whether it is clear: whether the interval leaves out 0. With one
            repetition there is no interval and nothing is clear.
        """
        check_choice("rule", rule, self.rules)
        if rule == reference:
            return Difference(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, clear=False)
        errors = {name: self.judged(name, kind) for name in self.rules}
        check_choice("reference", reference, errors)
        return paired_differences(errors, reference, planned=planned(self.settings.scenario, reference))[rule]

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy table: one row per rule, repetition, task and lag.

        Columns: rule, repetition (from 1), task (from 1), label, step (from 1, the step at which the value was
        learnt), lag, error, risk, ess, test_samples, weight. After the last lag listed a value stays as it is, and
        counts in the average at all later steps: the errors of a rule and repetition times their weights add up to
        `per_repetition`.
        """
        import pandas as pd

        frames = []
        for rule, table in self.error_tables.items():
            repetition, task, lag = (index.ravel() for index in np.indices(table.values.shape))
            frame = pd.DataFrame(
                {
                    "rule": rule,
                    "repetition": repetition + 1,
                    "task": task + 1,
                    "label": np.array(self.labels, dtype=object)[task],
                    "step": task + lag + 1,
                    "lag": lag,
                    "error": table.values.ravel(),
                    "risk": self._values(self.risk_tables, rule, table),
                    "ess": self._values(self.ess_tables, rule, table),
                    "test_samples": self.test_samples[task],
                    "weight": table.weights()[task, lag],
                }
            )
            frames.append(frame[frame["error"].notna()])
        return pd.concat(frames, ignore_index=True)

    @staticmethod
    def _values(tables: Mapping[str, LagTable], rule: str, like: LagTable) -> Floats:
        return tables[rule].values.ravel() if rule in tables else np.full(like.values.size, np.nan)

    def save(self, path: str | Path) -> None:
        """Write the result to an ``.npz`` file (arrays and one JSON text; nothing is pickled).

        Parameters
        ----------
        path : str or Path
            Where to; a file there is replaced.
        """
        with open(path, "wb") as file:
            self._write(file)

    def to_bytes(self) -> bytes:
        """Return the bytes `save` writes."""
        buffer = io.BytesIO()
        self._write(buffer)
        return buffer.getvalue()

    def _write(self, file: BinaryIO) -> None:
        arrays: dict[str, Any] = {"majority": self.majority.values, "time_s": self.time_s}
        arrays["test_samples"] = self.test_samples
        if self.rare_counts is not None:
            arrays["rare_counts"] = self.rare_counts.values
        for kind in TABLES:
            for rule, table in getattr(self, f"{kind}_tables").items():
                arrays[f"{kind}/{rule}"] = table.values
        for kind in (*COLUMNS, *SUMS):
            for rule, values in getattr(self, kind).items():
                arrays[f"{kind}/{rule}"] = values
        header = {
            "format": _FORMAT,
            "settings": self.settings.to_json(),
            "name": self.name,
            "fingerprint": self.fingerprint,
            "labels": list(self.labels),
            "rare_class": self.rare_class,
        }
        np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> RunResult:
        """Read a result written by `save`.

        Parameters
        ----------
        path : str or Path
            A file `save` wrote.

        Returns
        -------
        RunResult

        Raises
        ------
        ValueError
            If the file is not one of these, or of a newer format.
        """
        return cls._read(path, str(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> RunResult:
        """Return the result whose bytes `to_bytes` gave.

        Parameters
        ----------
        content : bytes
            What `to_bytes` returned.

        Returns
        -------
        RunResult

        Raises
        ------
        ValueError
            If the bytes are damaged or something else.
        """
        return cls._read(io.BytesIO(content), "This content")

    @classmethod
    def _read(cls, source: str | Path | BinaryIO, shown: str) -> RunResult:
        try:
            with np.load(source, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                arrays = {name: file[name] for name in file.files}
        except FileNotFoundError:
            raise
        except Exception as error:
            raise ValueError(f"{shown} is not a result saved by imrc: {error}") from error
        if header.get("format") in (1, 2) and header["settings"]["preset"] != "paper":
            raise ValueError(
                f"{shown} was saved by imrc 1, whose recommended learner was another one. Open it with that version or "
                "run its settings again."
            )
        if header.get("format") not in (1, 2, _FORMAT):
            raise ValueError(f"{shown} has format {header.get('format')}; this version reads formats 1 to {_FORMAT}.")

        def held(kind: str) -> dict[str, Floats]:
            start = f"{kind}/"
            return {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}

        parts: dict[str, Any] = {kind: held(kind) for kind in (*COLUMNS, *SUMS)}
        for kind in TABLES:
            parts[f"{kind}_tables"] = {rule: LagTable(values) for rule, values in held(kind).items()}
        return cls(
            settings=RunSettings.from_json(header["settings"]),
            name=header["name"],
            fingerprint=header["fingerprint"],
            labels=tuple(header["labels"]),
            test_samples=arrays["test_samples"],
            rare_counts=LagTable(arrays["rare_counts"]) if "rare_counts" in arrays else None,
            rare_class=header.get("rare_class", ""),
            majority=LagTable(arrays["majority"]),
            time_s=arrays["time_s"],
            **parts,
        )
