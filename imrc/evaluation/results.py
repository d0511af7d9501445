"""`RunResult`: everything a run gave, its summaries, and its file."""

from __future__ import annotations

import io
import json
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import InputError, check_choice, check_place
from imrc._types import Floats
from imrc.baselines import method_class, method_title
from imrc.core.presets import STORED_TASKS
from imrc.evaluation.columns import TABLES, TOTALS, Columns, LagTable, StepResult, arrays_of, columns_of, over_steps
from imrc.evaluation.measures import MeasureName, balanced_error, calibration_error, log_loss, measures_of_errors
from imrc.evaluation.settings import HEADLINES, SCENARIOS, HeadlineKind, RunSettings, Scenario, ScenarioName, planned
from imrc.evaluation.significance import Difference, Headline, paired_differences, with_error
from imrc.evaluation.splits import held_out, rare_class
from imrc.tasks import TaskSequence
from imrc.wording import RULES, capital, in_columns

if TYPE_CHECKING:
    import pandas as pd

_FORMAT = 3


def _holds_fewer_steps(settings: RunSettings, compared: Sequence[str]) -> bool:
    """Whether fewer backward steps leave the rules of these settings as they are, except the ones no longer learnt."""
    learner = settings.learner
    stored = learner.instances == "own" if learner.loss == "0-1" else settings.b < STORED_TASKS
    return stored and not any("b" in method_class(name).shared_settings for name in compared)


class _Dense(UserDict[str, Any]):
    """Tables unfolded on request, because all together can be larger than the rest of a run."""

    def __getitem__(self, key: str) -> Floats:
        """Return (repetitions, steps, tasks), NaN where the task is later than the step."""
        return np.asarray(self.data[key].dense())


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RunResult(Columns):
    """Result of a run.

    Of each task just before it was learnt, (repetitions, tasks) per rule or method: `before`, `before_miss`,
    `before_risk` and `before_ess`. When it was learnt: `method_time_s`, `state_sizes` and `choices` (what past data
    decided). Sums over all test samples at the last step: `reliability` and `by_class`.
    """

    settings: RunSettings  #: What was run.
    name: str  #: Of the sequence that was learnt.
    fingerprint: str  #: Its checksum.
    labels: tuple[str, ...]  #: Names of the tasks.
    test_samples: NDArray[np.int64]  #: Test samples per task.
    error_tables: dict[str, LagTable]
    """Per rule ("single", "forward", "forward_backward") or compared method; `errors` returns them unfolded."""
    risk_tables: dict[str, LagTable]  #: The same for the rules' minimax risks (`risks`).
    ess_tables: dict[str, LagTable]  #: The same for their effective samples (`ess`).
    majority: LagTable  #: Errors of the majority class, as a reference.
    time_s: Floats  #: Seconds per step, all repetitions together, (tasks,).
    miss_tables: dict[str, LagTable] = field(default_factory=dict)
    """Per rule, test samples of the rare class that were misclassified; empty if no class is rare."""
    rare_counts: LagTable | None = None  #: Test samples of the rare class per task.
    rare_class: str = ""  #: Its name, empty if there is none (`imrc.evaluation.splits.rare_class`).

    @classmethod
    def from_steps(cls, settings: RunSettings, sequence: TaskSequence, steps: Sequence[StepResult]) -> RunResult:
        """Return the result of steps of `iter_run`, at least one; a run that was stopped has the tasks it reached."""
        if not steps:
            raise ValueError("No step was run, so there is no result.")
        sequence = sequence.head(len(steps))
        # Learnt all at once, a task keeps the rule it had until it is learnt again, at the end.
        arrays = over_steps(steps, keep=settings.scenario == "multi_task")
        arrays["test_samples", ""] = np.array([held_out(int(size)) for size in sequence.sizes])
        return cls(
            settings=settings,
            name=sequence.name,
            fingerprint=sequence.fingerprint,
            labels=sequence.labels,
            rare_class=steps[0].rare_class,
            **columns_of(arrays),
        )

    def __repr__(self) -> str:
        settings, many = self.settings, self.settings.repetitions
        spread = f", mean ± standard error over {many} repetitions" if many > 1 else ", one repetition"
        named = [[RULES.get(rule) or method_title(rule), with_error(found)] for rule, found in self.headline().items()]
        return "\n".join(
            [
                f"{self.name}: {self.n_tasks} tasks, n = {settings.n}, b = {settings.reach(self.n_tasks)}, W = "
                f"{settings.learner.W}, preset {settings.preset}, seed {settings.seed}",
                f"{capital(self.measure())}{spread}: {HEADLINES[self.scenario.kind]}",
                *(f"  {line}" for line in in_columns(named)),
            ]
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
        """The rules of IMRC in this scenario, and the compared methods."""
        others = [name for name in self.error_tables if name not in SCENARIOS["continual"].rules]
        return (*(rule for rule in self.scenario.rules if rule in self.error_tables), *others)

    def seen_as(self, scenario: ScenarioName) -> RunResult:
        """Return the same run, judged as another scenario; ValueError if one is "multi_task" or it has no `before`."""
        settings = replace(self.settings, scenario=scenario)
        if settings.computed != self.settings.computed:
            raise ValueError(f"{scenario!r} needs its own run. This one was {self.settings.scenario!r}.")
        if scenario == "next_task" and not self.has_before:
            raise ValueError("This result was saved by a version that did not test before learning. Run it again.")
        return replace(self, settings=settings)

    def part(self, settings: RunSettings) -> RunResult:
        """Return the results of the methods of these settings from a run that also contains other methods."""
        compared, rules = self.settings.compared, "imrc" in settings.methods

        def belongs(kind: str, name: str) -> bool:
            if name == "" or (kind in ("before", "before_miss") and name == "majority"):
                return True
            return name in settings.methods if name in compared else rules

        kept = {key: values for key, values in arrays_of(self).items() if belongs(*key)}
        return replace(self, settings=settings, **columns_of(kept))

    def answering(self, settings: RunSettings, sequence: TaskSequence) -> RunResult | None:
        """Return the result of other settings on the tasks of this run, equal to the last bit, or None if missing.

        It may have fewer repetitions, methods, backward steps or tasks (the first k). A shorter run has no calibration
        and no `by_class`; numbers kept with fewer backward steps are NaN.
        """
        mine, b = self.settings, settings.b
        others = {"k": None, "repetitions": 1, "methods": ("imrc",), "scenario": "continual"}
        if (
            mine.key(b=b, **others) != settings.key(**others)
            or "multi_task" in (mine.scenario, settings.scenario)
            or not (b == mine.b or (b < mine.b and _holds_fewer_steps(mine, settings.compared)))
            or not {*settings.methods} <= {*mine.methods}
            or settings.repetitions > mine.repetitions
            or sequence.head(self.n_tasks).fingerprint != self.fingerprint
            or (settings.k or len(sequence)) > self.n_tasks
        ):
            return None
        head, part = settings.fit_to(sequence), self.part(settings)
        rare, many, k = rare_class(head), settings.repetitions, len(head)
        if self.rare_class != ("" if rare is None else head.class_names[rare]):
            return None
        arrays = {}
        for (kind, name), values in arrays_of(part).items():
            if kind in TOTALS and (k < self.n_tasks or (b < mine.b and name == "forward_backward")):
                continue
            if kind in ("time_s", "test_samples"):
                arrays[kind, name] = values[:k]
                continue
            kept = values[:many] if kind in TOTALS else values[:many, :k]
            if kind in TABLES:
                kept = kept[:, :, : min(k, settings.reach(k) + 1 if name == "forward_backward" else k)]
                kept = np.where(np.add.outer(np.arange(k), np.arange(kept.shape[2])) < k, kept, np.nan)
            if (kind, name) == ("state_sizes", "imrc") and b < mine.b:
                kept = np.full_like(kept, np.nan)
            arrays[kind, name] = kept
        held = columns_of(arrays)
        return replace(part, fingerprint=head.fingerprint, labels=head.labels, **held)

    @property
    def has_before(self) -> bool:
        """Whether everything was also tested on each task before learning it."""
        return all(self._before_key(rule) in self.before for rule in self.error_tables)

    @staticmethod
    def _before_key(rule: str) -> str:
        """Return whose state is tested before a task: forward and backward rules share the predicted one."""
        return "imrc" if rule in ("forward", "forward_backward") else rule

    def before_of(self, rule: str, of: str = "before") -> Floats:
        """Return errors, risks or effective samples before each task is learnt, (repetitions, tasks), or NaN."""
        found = getattr(self, of).get(self._before_key(rule))
        return np.full(self.majority.values.shape[:2], np.nan) if found is None else found

    def by_task(self, rule: str, kind: HeadlineKind | None = None) -> Floats:
        """Return the error of each task that a headline averages, (repetitions, tasks); NaN where there is none."""
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
        cells = self._cells(table, kind)
        return np.asarray(cells.mean(axis=1)) if cells.shape[1] else np.full(len(cells), np.nan)

    def _table(self, rule: str, kind: HeadlineKind | None) -> LagTable:
        """Return the errors that a headline averages; before learning, those on the second task and later."""
        table = self.error_tables[check_choice("rule", rule, self.error_tables)]
        return LagTable(self.before_of(rule)[:, 1:, None]) if self._kind(kind) == "before" else table

    def _rare_tables(self, rule: str, kind: HeadlineKind | None) -> tuple[LagTable, LagTable] | None:
        """Return the test samples of the rare class that are misclassified, and all; None if none were counted."""
        missed, there = self.miss_tables.get(rule), self.rare_counts
        if there is not None and self._kind(kind) == "before":
            before = self.before_miss.get(self._before_key(rule))
            missed, there = None if before is None else LagTable(before[:, 1:, None]), LagTable(there.values[:, 1:])
        if missed is None or there is None or not (self._mean(there, kind) > 0).all():
            return None
        return missed, there

    def per_repetition(self, rule: str, kind: HeadlineKind | None = None) -> Floats:
        """Return the error of a rule in each repetition, (repetitions,); "before" is NaN with one task."""
        return self._mean(self._table(rule, kind), kind)

    def promised(self, rule: str) -> float:
        """Return the mean minimax risk of a rule, over repetitions and the tasks that the scenario averages."""
        table = self.risk_tables[check_choice("rule", rule, self.risk_tables)]
        if self.scenario.kind != "before":
            return float(self._mean(table, None).mean())
        later = self.before_of(rule, "before_risk")[:, 1:]
        return float(later.mean()) if later.size else float("nan")

    def misses(self, rule: str, kind: HeadlineKind | None = None) -> Floats | None:
        """Return the share of the rare class that is misclassified, (repetitions,), or None (see `balanced`)."""
        tables = self._rare_tables(rule, kind)
        return None if tables is None else self._mean(tables[0], kind) / self._mean(tables[1], kind)

    def balanced(self, rule: str, kind: HeadlineKind | None = None) -> Floats | None:
        """Return the mean of the error rates on the rare class and on all others; None if they are not counted."""
        return self._balanced(rule, kind, lambda table: self._mean(table, kind))

    def _balanced(self, rule: str, kind: HeadlineKind | None, averaged: Callable[[LagTable], Floats]) -> Floats | None:
        """Return the balanced error of answers averaged in some way; NaN where no sample of the rare class is."""
        if (tables := self._rare_tables(rule, kind)) is None:
            return None
        missed, rare = tables
        samples = self.test_samples[None, -rare.tasks :, None]
        wrong = LagTable(self._table(rule, kind).values * samples - missed.values)
        with np.errstate(invalid="ignore"):
            on_rare = averaged(missed) / averaged(rare)
            return np.asarray(0.5 * (on_rare + averaged(wrong) / averaged(LagTable(samples - rare.values))))

    def measure(self, kind: HeadlineKind | None = None) -> str:
        """Return the error that judges the run: "error", or "balanced error" if a class is rare (see `balanced`)."""
        counted = any(self.misses(rule, kind) is not None for rule in self.error_tables)
        return "balanced error" if counted else "error"

    def judged(self, rule: str, kind: HeadlineKind | None = None) -> Floats:
        """Return the error of a rule that judges the run and is compared with others (`measure`), (repetitions,)."""
        balanced = self.balanced(rule, kind)
        return self.per_repetition(rule, kind) if balanced is None else balanced

    def judged_by_step(self, rule: str, kind: HeadlineKind | None = None, *, so_far: bool = False) -> Floats:
        """Return `judged` as tasks arrive, (repetitions, steps); NaN until the first sample of the rare class."""

        def averaged(table: LagTable) -> Floats:
            seen = table if self._kind(kind) == "average" else LagTable(self._cells(table, kind)[:, :, None])
            values = seen.by_step()
            return np.cumsum(values, axis=1) / np.arange(1, table.tasks + 1) if so_far else values

        balanced = self._balanced(rule, kind, averaged)
        return averaged(self._table(rule, kind)) if balanced is None else balanced

    def headline(self, kind: HeadlineKind | None = None) -> dict[str, Headline]:
        """Return the error of each rule of the scenario (`judged`) as one number with its uncertainty.

        Parameters
        ----------
        kind : {"average", "newest", "lag", "released", "end", "before"} or None
            Which average, by default that of the scenario; `HEADLINES` defines them in words.
        """
        return {rule: Headline.of(self.judged(rule, kind)) for rule in self.rules}

    def measures(self) -> dict[str, dict[MeasureName, Headline]]:
        """Return `imrc.evaluation.measures.MEASURES` by rule or method and name."""
        reference, found = self.before_of("majority"), {}
        of_sums: tuple[tuple[MeasureName, dict[str, Floats], Callable[[Floats], Floats]], ...] = (
            ("balanced_error", self.by_class, balanced_error),
            ("log_loss", self.reliability, log_loss),
            ("calibration", self.reliability, calibration_error),
        )
        for rule, errors in self.error_tables.items():
            values = measures_of_errors(errors, self.before_of(rule), reference)
            for name, sums, measured in of_sums:
                values[name] = measured(sums[rule]) if rule in sums else np.full(len(reference), np.nan)
            found[rule] = {name: Headline.of(one) for name, one in values.items()}
        return found

    def difference(self, rule: str, reference: str = "single", kind: HeadlineKind | None = None) -> Difference:
        """Return the paired difference of two rules' headline errors (negative: `rule` is better), with its interval.

        The main rule of the scenario against each task alone is planned; all others are corrected by Holm's method.
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
        learnt), lag, error, risk, ess, test_samples, weight. After the last lag listed, a value stays the same and
        is averaged at all later steps. For each rule and repetition, the errors times their weights add up to
        `per_repetition`.
        """
        import pandas as pd

        frames = []
        for rule, table in self.error_tables.items():
            repetition, task, lag = (index.ravel() for index in np.indices(table.values.shape))
            unknown = LagTable(np.full_like(table.values, np.nan))
            frame = pd.DataFrame(
                {
                    "rule": rule,
                    "repetition": repetition + 1,
                    "task": task + 1,
                    "label": np.array(self.labels, dtype=object)[task],
                    "step": task + lag + 1,
                    "lag": lag,
                    "error": table.values.ravel(),
                    "risk": self.risk_tables.get(rule, unknown).values.ravel(),
                    "ess": self.ess_tables.get(rule, unknown).values.ravel(),
                    "test_samples": self.test_samples[task],
                    "weight": table.weights()[task, lag],
                }
            )
            frames.append(frame[frame["error"].notna()])
        return pd.concat(frames, ignore_index=True)

    def predictions(self, sequence: TaskSequence, repetition: int = 0) -> pd.DataFrame:
        """Return what rules and methods predict for the test rows of one repetition (from 0), which is run again.

        Columns: task (from 1), label (its name), row (of the task, from 0), rule, class, true, and ``p(name)``, the
        probability of each class (NaN for compared methods). Rules are those at the end of the run or, if the next
        task is judged, those before the task is learnt. ValueError if these are not the tasks of the run.
        """
        from imrc.evaluation.predictions import predictions

        return predictions(self, sequence, repetition)

    def to_latex(self) -> str:
        """Return a LaTeX table of errors, mean ± standard error, with the settings in its caption."""
        from imrc.evaluation.latex import caption, latex_table

        errors = {RULES.get(rule) or method_title(rule): self.judged(rule) for rule in self.rules}
        return latex_table({self.name: errors}, caption(self))

    def save(self, path: str | Path) -> None:
        """Write the result to an ``.npz`` file (arrays and one JSON text; nothing is pickled).

        Parameters
        ----------
        path : str or Path
            Where to write; an existing file is replaced.
        """
        check_place(path).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the bytes `save` writes."""
        header = {
            "format": _FORMAT,
            "settings": self.settings.to_json(),
            "name": self.name,
            "fingerprint": self.fingerprint,
            "labels": list(self.labels),
            "rare_class": self.rare_class,
        }
        arrays: Any = {"/".join(filter(None, key)): values for key, values in arrays_of(self).items()}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, header=np.array(json.dumps(header)), **arrays)
        return buffer.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> RunResult:
        """Read a result written by `save`.

        Parameters
        ----------
        path : str or Path
            A file `save` wrote.

        Raises
        ------
        ValueError
            If the file is not a saved result, or has a newer format.
        """
        return cls.from_bytes(Path(path).read_bytes(), str(path))

    @classmethod
    def from_bytes(cls, content: bytes, shown: str = "This content") -> RunResult:
        """Return the result whose bytes `to_bytes` returned; ValueError if they are damaged or not a result."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                places = (name.partition("/") for name in file.files if name != "header")
                arrays = {(kind, rule): file[kind + slash + rule] for kind, slash, rule in places}
            layout = header["format"]
            if layout == _FORMAT or (layout in (1, 2) and header["settings"]["preset"] == "paper"):
                return cls(
                    settings=RunSettings.from_json(header["settings"]),
                    name=header["name"],
                    fingerprint=header["fingerprint"],
                    labels=tuple(header["labels"]),
                    rare_class=header.get("rare_class", ""),
                    **columns_of(arrays),
                )
        except Exception as error:
            raise InputError(f"{shown} is not a result saved by imrc, or it is damaged. Run it again.") from error
        raise ValueError(
            f"{shown} was saved by imrc 1, which had a different recommended learner. Open it with that version, "
            "or run its settings again."
            if layout in (1, 2)
            else f"{shown} has format {layout}; this version reads formats 1 to {_FORMAT}."
        )


def join_repetitions(results: Sequence[RunResult], settings: RunSettings) -> RunResult:
    """Return one result, as `iter_run` with these settings gives it, of repetitions run one by one, in order.

    Seconds per step are added up. ValueError: other sequences or methods, or another number of repetitions.
    """
    if not results or sum(len(part.majority.values) for part in results) != settings.repetitions:
        raise ValueError(
            f"The results do not contain the {settings.repetitions} repetitions that the settings ask for."
        )
    first = results[0]
    for part in results:
        if part.fingerprint != first.fingerprint or list(part.error_tables) != list(first.error_tables):
            raise ValueError("Repetitions of different sequences or methods cannot be combined.")
    parts = [arrays_of(part) for part in results]
    kept = set.intersection(*map(set, parts))  # an earlier version did not keep everything
    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0] if key in kept}
    joined["time_s", ""] = np.sum([part.time_s for part in results], axis=0)
    joined["test_samples", ""] = first.test_samples
    return replace(first, settings=settings, **columns_of(joined))


def same_draws(first: RunResult, second: RunResult) -> bool:
    """Return whether repetition r of both runs is tested on the same samples of the same tasks; n and b may differ."""
    theirs, mine = (
        (run.fingerprint, run.n_tasks, run.settings.seed, run.settings.repetitions) for run in (first, second)
    )
    return theirs == mine
