"""The contents of the HTML report: verdict, settings, numbers, charts, and how to repeat them."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter

import plotly.graph_objects as go

from imrc import datasets
from imrc.diagnostics import words
from imrc.evaluation import RunResult, effective_samples
from imrc.evaluation.measures import MEASURES, definitions, samples_text
from imrc.evaluation.settings import HEADLINES
from imrc.evaluation.significance import with_error
from imrc.features import FEATURE_TITLES
from imrc.planning import plan_table
from imrc.plots import against_others, ess, evolving
from imrc.plots.result import QUANTITIES, decision_chart, run_choices, run_curves, run_heatmaps, run_ladder, run_story
from imrc.report import _page
from imrc.report._report import Report, diagnose
from imrc.report.against_others import interval_words, plain_errors_note
from imrc.report.decision import Decision
from imrc.tasks import TaskSequence
from imrc.wording import RISKS, RULES, capital, decimal, versions, with_spread

_PACKAGES = ("imrc", "numpy", "scipy", "scikit-learn", "numba", "pandas", "plotly")


def _settings(result: RunResult) -> dict[str, object]:
    settings = result.settings
    features = settings.features
    detail = f", {features.frequencies} frequencies, sigma² = {features.sigma2:g}" if features.kind == "rff" else ""
    rows: dict[str, object] = {
        "Samples per task n": settings.n,
        "Tasks k": result.n_tasks,
        "Backward steps b": settings.reach(result.n_tasks),
        "Window W": settings.learner.W,
        "Scenario": f"{result.scenario.title} ({result.scenario.field})",
        "Preset": settings.preset,
        "Representation": FEATURE_TITLES[features.kind] + detail,
        "Repetitions": settings.repetitions,
        "Seed": settings.seed,
    }
    if settings.overrides:
        rows["Custom values"] = ", ".join(f"{name} = {value}" for name, value in settings.overrides)
    return rows


def _data(result: RunResult, sequence: TaskSequence | None) -> dict[str, object]:
    rows: dict[str, object] = {"Sequence": result.name}
    if sequence is not None:
        info = sequence.info
        rows |= {
            "Description": sequence.description or "–",
            "Size": f"{len(sequence):,} tasks, {int(sequence.sizes.sum()):,} samples, "
            f"{sequence.n_features:,} features, {sequence.n_classes} classes",
            "Source": info.get("source", "not stated"),
            "Licence": info.get("licence", "not stated"),
        }
        more = {"Cite": info.get("citation"), "SHA-256 of the file": info.get("file_sha256")}
        rows |= {name: value for name, value in more.items() if value}
    return {**rows, "Fingerprint of the tasks": result.fingerprint}


def _strategies(decision: Decision) -> str:
    """Return what a practitioner could do, as a table."""
    ends = [f"{decimal(one.low)} to {decimal(one.high)}" * math.isfinite(one.low) for one in decision.strategies]
    rows = [(one.title, with_error(one.error), end) for one, end in zip(decision.strategies, ends, strict=True)]
    return _page.grid(rows, ["What to do", capital(decision.measure), "95 % interval"])


def _headline(report: Report) -> str:
    result = report.run
    # Minimax log loss is no bound on the error, and lowest where nothing is shared: it would mislead beside errors.
    promised = [RISKS["0-1"]] if result.loss == "0-1" else []
    kinds = {kind: capital(name) for kind, name in result.scenario.kinds.items()}
    measure = capital(result.measure())
    columns = ["Rule", *(kinds.values()), "Difference to alone", *promised, "ESS"]
    rows = [
        [
            RULES[rule],
            *(with_error(result.headline(kind)[rule]) for kind in kinds),
            "reference" if rule == "single" else interval_words(result.difference(rule)),
            *(decimal(result.promised(rule)) for _ in promised),
            samples_text(effective_samples(result, rule)),
        ]
        for rule in result.rules
    ]
    worth = "".join(map(_page.paragraph, report.worth))
    repetitions = result.settings.repetitions
    spread = f"{measure} ± one standard error over {repetitions} repetitions" if repetitions > 1 else "One repetition"
    if measure != "Error":
        spread += f". {_page.escape(plain_errors_note(result.rare_class).removesuffix('.'))}"
    averaged = next(iter(kinds.values())).lower()
    at = "before learning" if result.scenario.kind == "before" else "at the last step"
    notes = "; ".join(f"{name.lower()}: {HEADLINES[kind]}" for kind, name in kinds.items())
    return f"<h3>{measure} of the rules</h3>{_page.grid(rows, columns)}" + (
        f'<p class="quiet">{spread}. '
        f"{_page.escape(capital(notes))}. Difference: paired, {averaged}. ESS: effective sample "
        f"size {at}, mean over tasks and repetitions with its 95 % t interval over repetitions."
        + (" A minimax risk above 1 promises nothing." if promised else "")
        + f"</p>{worth}"
    )


def _measures(result: RunResult) -> str:
    """Return measures of continual learning by name as a table, with their definitions."""
    rows = [
        [RULES.get(rule, rule), *(with_spread(one.mean, one.stderr) or "not measured" for one in found.values())]
        for rule, found in result.measures().items()
    ]
    table = _page.grid(rows, ["Rule", *(one.title for one in MEASURES.values())])
    note = _page.note("R[i, j]: accuracy on task j after task i of T; ± one standard error.")
    return table + note + _page.listed(f"{title}: {text}" for title, text in definitions().items())


def _verdict(report: Report) -> list[str]:
    diagnosis = report.diagnosis
    if diagnosis is None:
        return []
    text = f"{diagnosis.verdict.sentence} {report.meaning}".rstrip()
    title = f"<strong>Do the tasks evolve? {_page.sentence(capital(diagnosis.verdict.title))}.</strong>"
    told = [f"<p>{title} {_page.sentence(text)}</p>", *map(_page.note, diagnosis.verdict.notes)]
    if diagnosis.verdict.name != "dependent":
        rows = [(one.text, one.answer, one.in_words) for one in report.questions]
        told.append(_page.grid(rows, ["Question", "Answer", "Evidence"]))
    return [*told, _page.note(words.setting_sentence(diagnosis))]


def _is_loaded_by_name(result: RunResult) -> bool:
    """Whether name, number of tasks and seed give the tasks of the run: not so for the first k of a longer walk."""
    if result.name not in datasets.names():
        return False
    if datasets.status(result.name).where != "built in":
        return True  # the first k tasks of a published dataset are the same whatever k
    loaded = datasets.load(result.name, tasks=result.n_tasks, seed=result.settings.seed)
    return loaded.fingerprint == result.fingerprint


def _repeat(report: Report, commands: Mapping[str, str] | None) -> str:
    if commands is None:
        commands = report.repeated_by(report.run.name) if _is_loaded_by_name(report.run) else {}
    if not commands:
        return (
            "<p>The library cannot load these tasks by name. With the same file or sequence, "
            "<code>imrc.evaluate</code> with the settings above gives the same numbers. The fingerprint tells you "
            "whether the tasks are the same.</p>"
        )
    return "".join(f"<h3>{_page.escape(name)}</h3><pre>{_page.escape(text)}</pre>" for name, text in commands.items())


def charts(report: Report, compared: Sequence[RunResult] = ()) -> Iterator[tuple[str, str, go.Figure]]:
    """Yield topic, stem of a file, and figure of each chart of a report."""
    result, plan, diagnosis, topic = report.run, report.plan, report.diagnosis, "Errors"
    yield topic, "decision", decision_chart(report.errors, report.decision.measure)
    for quantity in QUANTITIES[: 3 if result.loss == "0-1" else 2]:
        yield topic, f"heatmaps-{quantity}", run_heatmaps(result, quantity, RISKS[result.loss].lower())
    yield topic, "ladder", run_ladder(result)
    yield topic, "error-curves", run_curves(result, report.references)
    yield topic, "task-story", run_story(result, max(1, result.n_tasks // 2))
    if result.choices:
        yield topic, "choices", run_choices(result)
    topic = "Effective sample size"
    yield topic, "ess-parts", ess.ess_parts_chart(ess.ess_parts_table(ess.run_parts(result), result.labels))
    if diagnosis is not None and plan is not None:
        if plan.of == "mean":
            yield topic, "ess-curves", ess.ess_by_task(plan.k, plan.b, ess.OwnRatio(*diagnosis.ratio_at(plan.n)))
        yield topic, "plan", ess.plan_chart(plan_table(plan), plan)
    if diagnosis is not None and diagnosis.variogram is not None:
        topic = "Do the tasks evolve?"
        if diagnosis.pacf is not None:
            yield topic, "partial-autocorrelation", evolving.pacf_panels({"This sequence": diagnosis.pacf})
        yield topic, "variogram", evolving.variogram_chart(diagnosis)
        yield topic, "change", evolving.change_chart(diagnosis)
        yield topic, "distances", evolving.distance_heatmap(diagnosis)
        if diagnosis.models:
            yield topic, "models", evolving.model_gaps(diagnosis)
    if compared:
        from imrc.evaluation.comparison import comparison_table, curve_table, score_table
        from imrc.paper.printed import with_printed

        topic, table = "Comparison", with_printed(comparison_table(score_table(list(compared))))
        yield topic, "method-errors", against_others.method_errors(table)
        if len(table) > 1:
            yield topic, "method-differences", against_others.method_differences(table)
        by_step = curve_table(list(compared))
        best = by_step["method"].isin(table["method"].head(6))
        yield topic, "method-curves", against_others.method_curves(by_step[best])


def page_of(
    report: Report,
    *,
    compared: Sequence[RunResult] = (),
    commands: Mapping[str, str] | None = None,
    date: datetime | None = None,
) -> str:
    """Return a report as one HTML text that needs nothing else: charts, verdict, how to repeat it.

    `compared` are runs of methods on the same draws, `commands` headings and texts of what repeats the run. Names are
    escaped, and the page forbids itself any request. Tasks that were not diagnosed are diagnosed.
    """
    if report.sequence is not None and report.diagnosis is None and len(report.sequence) > 1:
        report = replace(report, diagnosis=diagnose(report.sequence, report.run.settings))
    result, decision = report.run, report.decision
    when = (date or datetime.now(UTC)).astimezone(UTC)
    first = "a first look by imrc" if report.is_first_look else "a report by imrc"
    steps = () if report.sequence is None else report.sequence.info.get("report", ())
    body = [
        _page.note(f"Evolving tasks: {first}"),
        f"<h1>{_page.sentence(decision.sentence)}</h1>",
        *map(_page.paragraph, (decision.action, *decision.notes)),
        f'<p class="quiet">{when:%d %B %Y, %H:%M} UTC · {_page.escape(report.settings_in_words)}</p>',
        *_verdict(report),
        "<h2>Numbers</h2>",
        _strategies(decision),
        _headline(report),
        "<h2>Measures of continual learning</h2>",
        _measures(result),
        *(["<h2>How many labels?</h2>", *map(_page.paragraph, report.labels)] if report.labels else []),
    ]
    for topic, drawn in groupby(charts(report, compared), itemgetter(0)):
        body += [f"<h2>{_page.escape(topic)}</h2>", *(_page.chart(stem, figure) for _, stem, figure in drawn)]
    body += [
        "<h2>Settings</h2>",
        _page.grid(_settings(result).items()),
        "<h2>Data</h2>",
        _page.grid(_data(result, report.sequence).items()),
        _page.listed(steps),
        "<h2>Repeat it</h2>",
        _repeat(report, commands),
        f'<p class="quiet">Made with {_page.escape(versions(_PACKAGES))} on {_page.escape(platform.system())}, '
        f"{when:%Y-%m-%d %H:%M} UTC.</p>",
    ]
    return _page.page(f"Evolving tasks: {report.name}", body)
