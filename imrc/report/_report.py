"""`Report`: every sentence, number and chart about a sequence, in one place; `check` makes it with one progress bar."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from imrc._checks import ENDINGS, InputError, InputTypeError, check_bool, check_choice, check_place
from imrc._progress import ProgressLine
from imrc.diagnostics import Assessment, Verdict, assess, words
from imrc.evaluation import RunResult, RunSettings, effective_samples, join_repetitions, largest_n
from imrc.evaluation.budget import budget_table
from imrc.evaluation.latex import caption, latex_table
from imrc.evaluation.run import run_all, split_references, with_references
from imrc.evaluation.settings import BORROWING, STRATEGIES, as_command, as_python
from imrc.evaluation.significance import with_error
from imrc.evaluation.splits import sample_sizes
from imrc.planning import Place, Plan, Rate, make_plan, more_sentence, promise_sentence, samples_for
from imrc.report import worth as past
from imrc.report.decision import Advice, Decision, decide, usual_answer
from imrc.tasks import TaskSequence, checked_tasks
from imrc.wording import RULES, capital, decimal, number, plain, unmarked

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from imrc.model import Model

_TESTED: dict[str, Place] = {"newest": "newest", "before": "next"}
"""Whose effective samples a scenario is about, where it is not an average task's."""
Fitted = Literal["alone", "single", "pooled", "forward", "forward_backward"]
ShareDone = Callable[[float, str], object]
FIRST_LOOK = 3
"""Repetitions after which there is a first look."""


def diagnose(sequence: TaskSequence, settings: RunSettings) -> Assessment:
    """Return the diagnosis of tasks in the representation of a run."""
    return assess(sequence, features=settings.features.diagnosed, seed=settings.seed)


def readable(text: str) -> str:
    """Return a name from the data as a sentence in Markdown shows it."""
    return text.replace("*", "∗")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Report:
    """What we know about a sequence of tasks: whether it evolves, whether the past helps, and what to do.

    Created by `imrc.check`. Everything that pages, commands, notebooks and the HTML file state is computed here, for
    one scenario, one measure and one set of settings. `print` shows at most twelve lines, and a notebook a chart.

    Raises
    ------
    InputError
        If the run was made from another sequence.
    """

    run: RunResult  #: Errors of IMRC's rules.
    sequence: TaskSequence | None = None  #: The tasks. Without them, the report is limited to what the run knows.
    diagnosis: Assessment | None = None  #: Evidence on how the tasks change.
    references: RunResult | None = None  #: The most frequent class, and one rule for all tasks, on the same draws.
    curve: tuple[RunResult, ...] = ()  #: Runs at several n, including the run itself; empty unless requested.
    name: str = ""  #: Name of the tasks in sentences; by default the name of the sequence.
    is_first_look: bool = False  #: Whether only the first repetitions are done, so that there is no advice yet.
    as_text: Callable[[str], str] = field(default_factory=lambda: readable)  #: Escapes names for Markdown.

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.run.name)
        if self.sequence is None:
            return
        # All tasks, the first k, or those reached before the run was stopped.
        covered = self.sequence.head(min(self.run.n_tasks, len(self.sequence)))
        if covered.fingerprint != self.run.fingerprint:
            of = f"the fingerprints of the {self.run.n_tasks} tasks differ."
            raise InputError(f"sequence is not the one the result was made from: {of}")
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
        if self.verdict is None:
            return None
        known = {"supported": True, "contradicted": False}
        return False if self.verdict.name == "no_change" else known.get(self.verdict.assumption)

    @property
    def pays(self) -> bool | None:
        """Whether following the change pays, so that a rule that follows it is advised; None if there is no advice."""
        if self.advice.verdict in ("nothing tested", "too few repetitions"):
            return None
        return self.advice.advised in BORROWING

    @property
    def errors(self) -> pd.DataFrame:
        """Errors of the strategies, the simplest first (balanced errors if ``decision.measure`` is "balanced error").

        Columns: strategy, title, error, standard error, low, high (95 % interval), recall (of a rare class), advised.
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
    def accounts(self) -> tuple[str, ...]:
        """How W and the accounts of past predictions affected the rules, and what a task is worth, if that is known."""
        return past.accounts_sentences(self.run)

    @cached_property
    def worth(self) -> tuple[str, ...]:
        """What the past is worth, in Markdown: first what the errors show, then what the theorems promise."""
        if self.is_first_look:
            return ()
        run, found, has_curve = self.run, effective_samples(self.run), len(self.curve) > 1
        useless, promise = self.advice.verdict == "none of these", past.worth_sentence(run, self.verdict)
        said = (
            f"{self.measured} {past.reason_sentence(run, self.diagnosis, useless=useless)}".strip(),
            past.realised_sentence(past.realised_samples(self.curve, self.n), self.n) if has_curve else "",
            promise if has_curve else f"{promise} {past.RANGE}",
            past.borrowing_note(found),
            past.theorem_4_sentence(found, self.plan, run) if self.plan is not None and self.plan.of == "mean" else "",
        )
        return tuple(filter(None, said))

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
            said[0] = f"If the tasks evolve as the theorems assume: {said[0][:1].lower()}{said[0][1:]}"
        if said and self.run.ess_tables:
            ess = effective_samples(self.run).mean
            said[0] += f" This run gives {ess:,.1f}, because it {past.how_estimated(self.run)}."
        if len(self.curve) > 1:
            said.insert(0, past.budget_sentence(budget_table(self.curve), self.n, self.run.measure()))
        return tuple(said)

    def planned(self, *, ess: float | None = None, error: float | None = None, of: Place | None = None) -> Plan:
        """Return which samples, tasks or backward steps would reach a target: `ess` samples, or an error.

        An error needs ``imrc.check(..., labels=True)``. `of` chooses the task: "mean", "newest" or "next"; by default
        the one that the scenario tests. `imrc.planning.way_sentence` puts each of the plan's ``ways`` into words.
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
        if self.sequence is None:
            return ()
        classes, said = self.sequence.n_classes, tuple(self.sequence.info.get("warnings", ()))
        few = f"With n = {self.n}, a task has too few samples to contain all {classes} classes."
        return (*said, few) if self.n < classes else said

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
            lines.append(f"{words.evolve_sentence(self.verdict)} {self.meaning}".rstrip())
        told = self.labels if len(self.curve) > 1 else self.worth[1:] if self.run.ess_tables else ()
        lines += [text for text in (self.measured, *told[:1]) if text]
        if many := len(self.notes):
            lines.append(f"{many} note{'s' * (many > 1)} on the data: report.notes")
        return "\n".join(map(unmarked, lines))

    def _repr_html_(self) -> str:
        strategies = self.decision.strategies
        top, rows = max(0.05, 1.05 * float(np.nanmax([max(one.error.mean, one.high) for one in strategies]))), ""
        for one in strategies:
            ends = np.nan_to_num([one.low, one.error.mean, one.high], nan=one.error.mean)
            low, middle, high = (f"{260 * end / top:.1f}" for end in ends)
            drawn = (
                f'<svg width="264" height="16" role="img" aria-label="{decimal(one.low)} to {decimal(one.high)}">'
                f'<line x1="{low}" x2="{high}" y1="8" y2="8" stroke="currentColor" stroke-width="14" opacity=".3"/>'
                f'<circle cx="{middle}" cy="8" r="3" fill="currentColor"/></svg>'
            )
            error = with_error(one.error) + " ✓" * (one.name == self.advice.advised)
            title = f'<th style="text-align: left">{html.escape(one.title)}</th>'
            rows += f"<tr>{title}<td>{error}</td><td>{drawn}</td></tr>"
        evolving = (
            [] if self.verdict is None else [f"{words.evolve_sentence(self.verdict)} {self.meaning}", self.measured]
        )
        said = [self.decision.sentence, self.decision.action, *evolving]
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

        Raises
        ------
        InputError
            If the report has no such chart.
        """
        from imrc.report._write import charts

        there = dict[str, Any]()
        for _, stem, figure in charts(self):
            there[stem] = figure
            if stem == name:
                break
        return there[check_choice("name", name, there)]

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

        file = check_place(path, *ENDINGS["html"])
        if (kind := file.suffix.lower()[1:]) in ("pdf", "svg", "png"):
            try:
                self.plot(chart).write_image(file, format=kind)
            except RuntimeError as error:
                raise InputError(f"{file} needs Chrome and kaleido: pip install kaleido. Or save .html.") from error
            return file
        file.write_text(page_of(self, **options), encoding="utf-8")
        return file

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, with `schema` and `version`; missing numbers are None."""
        decision, advice, settings = self.decision, self.advice, self.run.settings
        plan = None if self.plan is None else {place: found._asdict() for place, found in self.plan.promised.items()}
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
                | {name: unmarked(getattr(decision, name)) for name in ("sentence", "action")}
                | {"notes": [*map(unmarked, decision.notes)]},
                "verdict": None if self.diagnosis is None else self.diagnosis.summary(self.n),
                "meaning": self.meaning,
                "worth": [*map(unmarked, self.worth)],
                "samples_by_theorem": plan,  # at the rate of change of all rows
                "samples_in_run": vars(effective_samples(self.run)) if self.run.ess_tables else None,
                "labels": [*map(unmarked, self.labels)],
                "notes": self.notes,
            }
        )
        return told

    def to_latex(self) -> str:
        """Return the errors of the strategies as a LaTeX table (package booktabs), the lowest in bold."""
        columns = {self.name: {one.title: np.array(one.errors) for one in self.decision.strategies}}
        return latex_table(columns, caption(self.run))

    def predictions(self, repetition: int = 0) -> pd.DataFrame:
        """Return what every strategy predicts for each test row (see `imrc.RunResult.predictions`)."""
        runs = [self.run, *([] if self.references is None else [self.references.seen_as(self.run.settings.scenario)])]
        return pd.concat([run.predictions(self._tasks(), repetition) for run in runs], ignore_index=True)

    def _tasks(self) -> TaskSequence:
        if self.sequence is None:
            raise InputError("This report does not contain the tasks. Create it with imrc.check.")
        return self.sequence

    def fit(self, strategy: Fitted | None = None) -> Model:
        """Return a model learnt from all rows by the advised strategy, which also knows how the file was read.

        Parameters
        ----------
        strategy : {"alone", "pooled", "forward", "forward_backward"}, optional
            What to learn instead of the advised strategy. Alone is the rule of the newest task, pooled is one rule for
            all tasks, and the others give the rule for the next task.

        Raises
        ------
        InputError
            If nothing is advised and no strategy is given, or if the strategy is unknown.
        """
        chosen = self.advice.advised if strategy is None else "single" if strategy == "alone" else strategy
        if chosen is None:
            best = self._best_learnt()
            raise InputError(
                f"No strategy is advised, so none is learnt. {unmarked(self.decision.action)} To learn one anyway, "
                f"name it: report.fit(strategy={best!r}), or imrc fit --strategy {best.replace('alone', 'single')}."
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

        `dataset` is its name or the path of a file, which is cut by `file_options`. The script learns `strategy`.
        """
        # A script that asks for advice where there is none would end with an error.
        learnt = strategy or (None if self.advice.advised in STRATEGIES else self._best_learnt())
        what = dataset, self.run.n_tasks, self.run.settings, file_options
        return {"Python": as_python(*what, strategy=learnt), "Command line": as_command(*what)}


def check(
    tasks: TaskSequence,
    n: int | None = None,
    *,
    labels: bool = False,
    progress: bool | ShareDone | None = None,
    **settings: Any,  # noqa: ANN401 - checked by RunSettings
) -> Report:
    """Report whether tasks evolve, whether borrowing from the past pays, what to do, and how many labels that takes.

    Parameters
    ----------
    tasks : TaskSequence
        From `imrc.tasks_from`, or a dataset.
    n : int or None
        Training samples per task; by default the largest n that leaves 100 rows, or half, of each task for testing.
    labels : bool
        Whether to run other values of n too, to find out how many labels are needed. Takes several times as long.
    progress : bool, callable or None
        True shows a bar on stderr; None does so only in a terminal or a notebook. A callable receives the share done
        and a message several times a second; if it raises an exception, the work ends.
    **settings
        Of `imrc.evaluate`, except `methods`: `k`, `b`, `W`, `preset`, `features`, `repetitions`, `seed`, `scenario` and
        values that replace the preset's.

    Returns
    -------
    Report
        With verdict, run, strategies on the same draws and decision.

    Raises
    ------
    InputError
        For a value out of range, an unknown option, or tasks that are too small; the message says what to change.

    Examples
    --------
    >>> import imrc
    >>> report = check(imrc.datasets.load("identical", tasks=6, samples=60), n=10, repetitions=5)
    >>> report.n, len(report.errors), len(str(report).splitlines()) <= 12
    (10, 5, True)
    """
    (report,) = iter_check(tasks, n, labels=labels, first_look=False, progress=progress, **settings)
    return report


def iter_check(
    tasks: TaskSequence,
    n: int | None = None,
    *,
    labels: bool = False,
    first_look: bool = True,
    progress: bool | ShareDone | None = None,
    **settings: Any,  # noqa: ANN401 - checked by RunSettings
) -> Iterator[Report]:
    """Yield a first look at the tasks after three repetitions, which gives no advice, then what `check` returns.

    Parameters
    ----------
    tasks, n, labels : see `check`
        The tasks, and what to run.
    first_look : bool
        Whether to yield the first look; numbers of the whole report do not depend on it.
    progress, **settings : see `check`
        How progress is shown, and the settings of runs.

    Yields
    ------
    Report
        The first look, marked `is_first_look`, and the whole report.

    Raises
    ------
    InputError
        As `check` does.

    Examples
    --------
    >>> import imrc
    >>> tasks = imrc.datasets.load("identical", tasks=4, samples=60)
    >>> [report.is_first_look for report in iter_check(tasks, n=5, repetitions=5)]
    [True, False]
    """
    sequence = checked_tasks("imrc.check", tasks)
    check_bool("labels", labels)
    if progress is not None and not callable(progress):
        check_bool("progress, unless it can be called with a share and a message,", progress)
    if "methods" in settings:
        raise InputTypeError("check compares strategies of one learner. Compare methods by imrc.evaluate(methods=...).")
    k = settings.get("k")
    largest = largest_n(sequence if k is None else sequence.head(k))
    chosen = RunSettings.of("check", n=largest if n is None else n, **settings)
    sequence, many = chosen.fit_to(sequence), chosen.repetitions
    sizes = [size for size in sample_sizes(largest, chosen.n) if size != chosen.n] if labels else []
    steps, done = len(sequence) * (1 + many * (1 + len(sizes))), 0
    with ProgressLine() as line:
        silent = progress is False or (progress is None and not line.is_seen)
        told = progress if callable(progress) else (lambda *_: None) if silent else line.of("imrc")

        def show(what: str, more: int = 0) -> None:
            nonlocal done
            done += more
            told(min(done / steps, 1.0), what)

        def run(settings: RunSettings, what: str, only: range) -> RunResult:
            return run_all(
                sequence,
                settings,
                only=only,
                show=lambda step: show(f"{what}, task {step.number} of {step.total}", len(only)),
                tick=lambda: show(what),
            )

        show("do the tasks evolve?")
        diagnosis = diagnose(sequence, chosen)
        show("do the tasks evolve?", len(sequence))
        ends = [FIRST_LOOK, many] if first_look and many > FIRST_LOOK else [many]
        job, parts = with_references(chosen), list[RunResult]()
        for begin, end in zip([0, *ends], ends, strict=False):
            parts.append(run(job, "errors", range(begin, end)))
            both = parts[0] if len(parts) == 1 else join_repetitions(parts, replace(job, repetitions=end))
            result, references = split_references(both, replace(chosen, repetitions=end))
            report = Report(run=result, sequence=sequence, diagnosis=diagnosis, references=references)
            if end < many:
                yield replace(report, is_first_look=True)
        curve = [run(replace(chosen, n=size), f"n = {size}", range(many)) for size in sizes]
        yield replace(report, curve=tuple(sorted([*curve, result], key=lambda one: one.settings.n)) if curve else ())
