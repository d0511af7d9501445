"""`Report`: every sentence, number and chart about a sequence, in one place."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from imrc._checks import InputError, check_choice, check_place
from imrc.diagnostics import Assessment, Verdict, assess, words
from imrc.evaluation import RunResult, RunSettings, effective_samples
from imrc.evaluation.budget import budget_table
from imrc.evaluation.latex import caption, latex_table
from imrc.evaluation.settings import BORROWING, STRATEGIES, as_command, as_python
from imrc.evaluation.significance import with_error
from imrc.planning import Place, Plan, Rate, make_plan, more_sentence, promise_sentence, samples_for
from imrc.report import worth as past
from imrc.report.decision import Advice, Decision, decide, usual_answer
from imrc.tasks import TaskSequence
from imrc.wording import RULES, capital, decimal, number, plain, unmarked

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from imrc.model import Model

_TESTED: dict[str, Place] = {"newest": "newest", "before": "next"}
"""Whose effective samples a scenario is about, where it is not an average task's."""
Fitted = Literal["alone", "single", "pooled", "forward", "forward_backward"]


def diagnose(sequence: TaskSequence, settings: RunSettings) -> Assessment:
    """Return the diagnosis of tasks in the representation of a run."""
    spec = settings.features.diagnosed
    return assess(sequence, features=spec, seed=settings.seed)


def readable(text: str) -> str:
    """Return a name from the data as a sentence in Markdown shows it."""
    return text.replace("*", "∗")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Report:
    """What we know about a sequence of tasks: whether it evolves, whether the past helps, and what to do.

    Created by `imrc.check`. Everything that pages, commands, notebooks and the HTML file state is computed here, for
    one scenario, one measure and one set of settings. `print` shows at most twelve lines, and a notebook shows a table
    with a chart.

    Raises
    ------
    InputError
        If the run was made from another sequence.
    """

    run: RunResult  #: Errors of IMRC's rules.
    sequence: TaskSequence | None = None  #: The tasks. Without them, the report is limited to what the run knows.
    diagnosis: Assessment | None = None  #: Evidence on how the tasks change.
    references: RunResult | None = None
    """The most frequent class, and one rule for all tasks, on the draws of the run."""
    curve: tuple[RunResult, ...] = ()
    """Runs at several n, including the run itself, to tell what more labels are worth; empty unless requested."""
    name: str = ""  #: Name of the tasks in sentences; by default the name of the sequence.
    is_first_look: bool = False
    """Whether only the first repetitions are done, so that there are means and charts but no advice yet."""
    as_text: Callable[[str], str] = field(default_factory=lambda: readable)
    """Escapes names from the data for sentences in Markdown."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.run.name)
        if self.sequence is None:
            return
        # All tasks, the first k, or those reached before the run was stopped.
        covered = self.sequence.head(min(self.run.n_tasks, len(self.sequence)))
        if covered.fingerprint != self.run.fingerprint:
            raise InputError(
                "sequence is not the one the result was made from: the fingerprints of the "
                f"{self.run.n_tasks} tasks differ."
            )
        object.__setattr__(self, "sequence", covered)

    @property
    def n(self) -> int:
        """Samples per task at which everything was measured; `fit` learns from all rows."""
        return self.run.settings.n

    @cached_property
    def decision(self) -> Decision:
        """Strategies with their errors, the finding, what to do, and notes."""
        usual = None if self.sequence is None else usual_answer(self.sequence)
        return decide(self.run, self.name, references=self.references, usual=usual, as_text=self.as_text)

    @property
    def advice(self) -> Advice:
        """Which strategy to choose, and why: ``advice.advised`` is None if there is no advice."""
        return self.decision.advice

    @property
    def verdict(self) -> Verdict | None:
        """How the tasks change; None if that was not diagnosed."""
        return None if self.diagnosis is None else self.diagnosis.verdict

    @property
    def evolving(self) -> bool | None:
        """Whether the tasks evolve as the paper assumes; None if the data cannot tell."""
        if self.verdict is None or self.verdict.name == "no_change":
            return None if self.verdict is None else False
        return {"supported": True, "contradicted": False}.get(self.verdict.assumption)

    @property
    def pays(self) -> bool | None:
        """Whether following the change pays, so that a rule that follows it is advised; None if there is no advice."""
        if self.advice.verdict in ("nothing tested", "too few repetitions"):
            return None
        return self.advice.advised in BORROWING

    @property
    def errors(self) -> pd.DataFrame:
        """Errors of the strategies, the simplest first.

        Columns: strategy, title, error (or balanced error, see ``decision.measure``), standard error, low and high (95
        % interval), recall (if a class is rare) and advised.
        """
        return self.decision.errors

    @property
    def finding(self) -> str:
        """How the tasks change, in plain words; empty if that was not diagnosed."""
        return "" if self.verdict is None else f"On *{self.as_text(self.name)}*, {self.verdict.finding}"

    @property
    def evidence(self) -> tuple[str, ...]:
        """What the finding is based on, what the errors show, and what the theorems promise, in Markdown."""
        if self.verdict is None:
            return ()
        returns = "" if self.sequence is None else self.sequence.info.get(f"if {self.verdict.name}", "")
        verdict = f"(Verdict: **{self.verdict.title}**.)"
        return tuple(text for text in (self.verdict.sentence, returns, verdict, self.measured, self.meaning) if text)

    @property
    def questions(self) -> tuple[words.Question, ...]:
        """The five questions that lead to the verdict, with the numbers behind the answers."""
        return () if self.diagnosis is None else tuple(words.questions(self.diagnosis, self.n))

    @property
    def meaning(self) -> str:
        """What the theorems promise at this rate of change, and under which condition; empty if the rate is unknown."""
        if self.diagnosis is None or self.diagnosis.change is None:
            return ""
        return words.meaning_sentence(self.diagnosis, self.n, RULES[self.run.scenario.main].lower())

    @property
    def measured(self) -> str:
        """How much lower the error of the main rule is than without other tasks; empty for a first look."""
        return "" if self.is_first_look else past.measured_sentence(self.run)

    @property
    def accounts(self) -> str:
        """How W and the accounts of past predictions affected the rules."""
        return past.accounts_sentence(self.run)

    @cached_property
    def worth(self) -> tuple[str, ...]:
        """What the past is worth, in Markdown: first what the errors show, then what the theorems promise."""
        run, diagnosis = self.run, self.diagnosis
        if self.is_first_look:
            return ()
        found = effective_samples(run)
        said = [
            f"{self.measured} {past.reason_sentence(run, diagnosis)}",
            f"{past.worth_sentence(run, self.verdict)} {past.RANGE}",
        ]
        if len(self.curve) > 1:
            said.append(past.realised_sentence(past.realised_samples(self.curve, self.n), self.n))
        said.append(past.borrowing_note(found))
        if self.plan is not None and self.plan.of == "mean":
            said.append(past.theorem_4_sentence(found, self.plan, run))
        return tuple(text.strip() for text in said if text)

    @cached_property
    def plan(self) -> Plan | None:
        """What n, k and b are worth to the task that the scenario tests; None if the rate was not measured."""
        found = self.diagnosis
        if found is None or found.change is None or not math.isfinite(found.change.ratio):
            return None
        scenario, k = self.run.scenario, self.run.n_tasks
        # Where nothing is revised, later tasks add nothing.
        b = self.run.settings.reach(k) if scenario.main == "forward_backward" else 0
        return make_plan(Rate(*found.ratio_at(1)), self.n, k, b, of=_TESTED.get(scenario.kind, "mean"))

    @property
    def labels(self) -> tuple[str, ...]:
        """How many labels you need: what the plan promises, and what errors at other n show."""
        # Where the verdict says that the gain cannot be predicted, nothing is promised.
        unknown = self.verdict is None or self.verdict.name in ("dependent", "too_few")
        said = [] if self.plan is None or unknown else [promise_sentence(self.plan), more_sentence(self.plan)]
        if said and self.verdict is not None and self.verdict.assumption != "supported":
            said[0] = f"If the tasks evolve as the theorems assume: {said[0]}"
        if len(self.curve) > 1:
            said.insert(0, past.budget_sentence(budget_table(self.curve), self.n))
        return tuple(said)

    def planned(self, *, ess: float | None = None, error: float | None = None, of: Place | None = None) -> Plan:
        """Return which samples, tasks or backward steps would reach a target: `ess` samples, or an error.

        An error needs ``imrc.check(..., labels=True)``. `of` chooses the task: an average one ("mean"), the "newest"
        or the "next"; by default the one that the scenario tests. `imrc.planning.way_sentence` puts each of the plan's
        ``ways`` into words. InputError: the rate of change is not known, or the error is beyond what was tried.
        """
        if self.plan is None:
            guess = "imrc.planning.make_plan(imrc.planning.Rate.guess(0.1), n, k, b)"
            raise InputError(f"The rate of change of these tasks was not measured. To plan with a guess, use {guess}.")
        if error is not None:
            if len(self.curve) < 2:
                raise InputError("A target error needs runs at other n: imrc.check(..., labels=True).")
            ess = samples_for(self.curve, error)
        return make_plan(self.plan.rate, self.n, self.plan.k, self.plan.b, ess=ess, of=of or self.plan.of)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided when the data were read, and what limits the numbers."""
        said: list[str] = [] if self.sequence is None else [*self.sequence.info.get("warnings", ())]
        if self.sequence is not None and self.n < self.sequence.n_classes:
            said.append(
                f"With n = {self.n}, a task has too few samples to contain all {self.sequence.n_classes} classes."
            )
        return tuple(said)

    @property
    def settings_in_words(self) -> str:
        """The settings, as stated at the top of every report."""
        settings, many = self.run.settings, self.run.settings.repetitions
        first = "first look, " if self.is_first_look else ""
        scenario = "" if settings.scenario == "continual" else f"scenario {settings.scenario}, "
        return (
            f"{self.run.n_tasks} tasks, n = {settings.n}, b = {settings.reach(self.run.n_tasks)}, W = "
            f"{settings.learner.W}, preset {settings.preset}, {scenario}seed {settings.seed}; {first}{many} "
            f"repetition{'s' * (many > 1)}"
        )

    def __repr__(self) -> str:
        spread = " ± standard error" if self.run.settings.repetitions > 1 else ""
        lines = [f"{self.name}: {self.settings_in_words}. {capital(self.decision.measure)}{spread}:"]
        lines += [f"  {line}" for line in self.decision.table()]
        lines += [self.decision.sentence, f"What to do: {self.decision.action}"]
        if self.verdict is not None:
            lines.append(f"Do the tasks evolve? {capital(self.verdict.title)}. {self.meaning}".rstrip())
        lines += [text for text in (self.measured, *self.labels[:1]) if text]
        if self.notes:
            many = f"{len(self.notes)} note{'s' * (len(self.notes) > 1)}"
            lines.append(f"{many} on the data: report.notes")
        return "\n".join(map(unmarked, lines))

    def _repr_html_(self) -> str:
        strategies = self.decision.strategies
        top, rows = max(0.05, 1.05 * float(np.nanmax([max(one.error.mean, one.high) for one in strategies]))), ""
        for one in strategies:
            ends = np.nan_to_num([one.low, one.error.mean, one.high], nan=one.error.mean)
            low, middle, high = (f"{260 * end / top:.1f}" for end in ends)
            drawn = (
                f'<svg width="264" height="16" role="img" aria-label="{decimal(one.low)} to {decimal(one.high)}">'
                f'<line x1="{low}" x2="{high}" y1="8" y2="8" stroke="currentColor" stroke-width="5" opacity=".3"/>'
                f'<circle cx="{middle}" cy="8" r="5" fill="currentColor"/></svg>'
            )
            error = with_error(one.error) + " ✓" * (one.name == self.advice.advised)
            title = f'<th style="text-align: left">{html.escape(one.title)}</th>'
            rows += f"<tr>{title}<td>{error}</td><td>{drawn}</td></tr>"
        said = [self.decision.sentence, self.decision.action]
        said += [] if self.verdict is None else [f"{capital(self.verdict.title)}. {self.meaning}", self.measured]
        told = "".join(f"<p>{html.escape(unmarked(text))}</p>" for text in said)
        head = f"<th></th><th>{capital(self.decision.measure)}</th><th>0 to {number(top)}, with 95 % intervals</th>"
        return (
            f"<div><p><strong>{html.escape(self.name)}</strong>: {html.escape(self.settings_in_words)}</p>{told}"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def plot(self, name: str = "decision") -> go.Figure:
        """Return one of the charts of the report.

        Parameters
        ----------
        name : str
            "decision": what you could do, with intervals; "ladder", "error-curves", "heatmaps-error", "ess-parts",
            "partial-autocorrelation", "variogram" and others, which the message for a wrong name lists.

        Returns
        -------
        Figure

        Raises
        ------
        InputError
            If the report has no such chart.
        """
        from imrc.report._write import charts

        there = []
        for _, stem, figure in charts(self):
            if stem == name:
                return figure
            there.append(stem)
        check_choice("name", name, there)
        raise AssertionError(name)

    def save(self, path: str | Path, chart: str = "decision", **options: Any) -> Path:  # noqa: ANN401 - of `page_of`
        """Write the report to one HTML file with all charts, which opens offline, or one chart to a picture file.

        Parameters
        ----------
        path : str or Path
            Where to write; an existing file is replaced. If the name ends in .pdf, .svg or .png, a picture is
            written; this requires the package kaleido and Chrome.
        chart : str
            Which chart to write as a picture (see `plot`).
        **options
            `commands`: code that reproduces the run, by heading; `compared`: runs of methods for charts; `date`.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            If the report has no such chart, or a picture cannot be made here.
        """
        from imrc.report._write import page_of

        file = check_place(path)
        if file.suffix in (".pdf", ".svg", ".png"):
            try:
                self.plot(chart).write_image(file)
            except RuntimeError as error:
                raise InputError(f"{file} needs Chrome and kaleido: pip install kaleido. Or save .html.") from error
            return file
        if file.suffix not in (".html", ".htm", ""):
            raise InputError(f"A report is saved as .html, one of its charts as .pdf, .svg or .png, not {file.name!r}.")
        file.write_text(page_of(self, **options), encoding="utf-8")
        return file

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, with `schema` and `version`; missing numbers are None."""
        decision, advice, settings = self.decision, self.advice, self.run.settings
        plan = None if self.plan is None else {place: found._asdict() for place, found in self.plan.promised.items()}
        sentences = {"sentence": decision.sentence, "action": decision.action}
        told: dict[str, Any] = plain(
            {
                "schema": "imrc.report",
                "version": 1,  # changes if a name or a meaning does
                "name": self.name,
                "first_look": self.is_first_look,
                "n": self.n,
                "k": self.run.n_tasks,
                "settings": settings.to_json() | {"W": settings.learner.W},
                "fingerprint": self.run.fingerprint,
                "evolving": self.evolving,
                "pays": self.pays,
                "measure": decision.measure,
                "errors": self.errors.to_dict("records"),
                "advice": {name: getattr(advice, name) for name in ("verdict", "best", "advised")}
                | {name: unmarked(text) for name, text in sentences.items()}
                | {"notes": [*map(unmarked, decision.notes)]},
                "verdict": None if self.diagnosis is None else self.diagnosis.summary(self.n),
                "meaning": self.meaning,
                "worth": [*map(unmarked, self.worth)],
                "effective_samples": plan,
                "labels": [*map(unmarked, self.labels)],
                "notes": self.notes,
            }
        )
        return told

    def to_latex(self) -> str:
        """Return the errors of the strategies as a LaTeX table (package booktabs), with the settings in its caption.

        Bold marks the lowest error and those that are not clearly different from it.
        """
        columns = {self.name: {one.title: np.array(one.errors) for one in self.decision.strategies}}
        return latex_table(columns, caption(self.run))

    def predictions(self, repetition: int = 0) -> pd.DataFrame:
        """Return what every strategy predicts for each test row (see `imrc.RunResult.predictions`)."""
        runs = [self.run]
        if self.references is not None:
            runs.append(self.references.seen_as(self.run.settings.scenario))
        return pd.concat([run.predictions(self._tasks(), repetition) for run in runs], ignore_index=True)

    def _tasks(self) -> TaskSequence:
        if self.sequence is None:
            raise InputError("This report does not contain the tasks. Create it with imrc.check.")
        return self.sequence

    def fit(self, strategy: Fitted | None = None) -> Model:
        """Return a model learnt from all rows by the advised strategy.

        Parameters
        ----------
        strategy : {"alone", "pooled", "forward", "forward_backward"}, optional
            What to learn instead of the advised strategy. Alone is the rule of the newest task, pooled is one rule for
            all tasks, and the others give the rule for the next task.

        Returns
        -------
        Model
            It includes the representation and how the file was read.

        Raises
        ------
        InputError
            If nothing is advised and no strategy is given, or if the strategy is unknown.
        """
        chosen = self.advice.advised if strategy is None else "single" if strategy == "alone" else strategy
        if chosen is None:
            raise InputError(
                f"No strategy is advised, so none is learnt. {unmarked(self.decision.action)} To learn one anyway, "
                f"name it: report.fit(strategy={self._best_learnt()!r})."
            )
        check_choice("strategy", chosen, ("alone", *STRATEGIES))
        from imrc.model import fit_model

        return fit_model(self._tasks(), strategy=chosen, settings=self.run.settings, n_measured=self.n)

    def _best_learnt(self) -> str:
        """Return the strategy with the lowest error among those that can be learnt."""
        there = [one for one in self.decision.strategies if one.name in STRATEGIES]
        name = min(there, key=lambda one: one.error.mean).name
        return "alone" if name == "single" else name

    def repeated_by(
        self, dataset: str, file_options: Mapping[str, Any] | None = None, strategy: str | None = None
    ) -> dict[str, str]:
        """Return code that reproduces the run: a "Python" script, which also learns a model, and a "Command line".

        `dataset` is its name or the path of the file, and `file_options` tell how a file becomes tasks. The script
        learns `strategy`, by default the advised one or, without advice, the one with the lowest error.
        """
        # A script that asks for advice where there is none would end with an error.
        learnt = strategy or (None if self.advice.advised in STRATEGIES else self._best_learnt())
        what = dataset, self.run.n_tasks, self.run.settings, file_options
        return {"Python": as_python(*what, strategy=learnt), "Command line": as_command(*what)}
