"""The HTML report: verdict, settings, numbers, charts, and how to repeat them. It escapes names and loads nothing."""

from __future__ import annotations

import base64
import gzip
import html
import math
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from string import Template

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from imrc import datasets
from imrc.diagnostics import words
from imrc.evaluation import RunResult, effective_samples
from imrc.evaluation.measures import MEASURES, definitions, samples_text
from imrc.evaluation.settings import HEADLINES
from imrc.evaluation.significance import with_error
from imrc.features import FEATURE_TITLES
from imrc.planning import plan_table
from imrc.plots import against_others, describe, ess, evolving, on_phone
from imrc.plots.fitting import PHONE_PX, untitled
from imrc.plots.result import QUANTITIES, decision_chart, run_choices, run_curves, run_heatmaps, run_ladder, run_story
from imrc.report._report import Report, diagnose
from imrc.report.against_others import interval_words, plain_errors_note
from imrc.tasks import TaskSequence
from imrc.wording import RISKS, RULES, capital, decimal, versions, with_spread

_PACKAGES = ("imrc", "numpy", "scipy", "scikit-learn", "numba", "pandas", "plotly")
_PAPER_PX = 675
"""Width between the margins of A4."""
_MANY, _CELLS = 200, 10_000
"""A chart is made light if an axis has more numbers, or a heatmap more cells, than this."""
_LIBRARY = "plotly.min.js.gz"
"""The build of plotly.js for charts with two axes, version 4.1.1, with its licence: a third of the whole."""


def _packed(name: str, content: bytes) -> str:
    """Return an element with compressed bytes, which no text can close."""
    return f'<script type="text/plain" id="{escape(name)}">{base64.b64encode(content).decode()}</script>'


def escape(text: object) -> str:
    """Return a text as HTML shows it literally."""
    return html.escape(str(text))


def sentence(markdown: str) -> str:
    """Return one of the library's own sentences as HTML: emphasis is kept, everything else escaped.

    >>> sentence("On *<digits>*, **17 % fewer errors**.")
    'On <em>&lt;digits&gt;</em>, <strong>17 % fewer errors</strong>.'
    """
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escape(markdown))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)


def paragraph(markdown: str, kind: str = "") -> str:
    """Return one of the library's own texts as a paragraph; kind "quiet" is small print."""
    start = f'<p class="{kind}">' if kind else "<p>"
    return f"{start}{sentence(markdown)}</p>"


def grid(rows: Iterable[Sequence[object]], columns: Sequence[str] = ()) -> str:
    """Return a table, with a head where its columns have names; the first column names the rows."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def listed(texts: Iterable[object]) -> str:
    """Return texts as a list; nothing if there are none."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return items and f"<ul>{items}</ul>"


def _light(figure: go.Figure) -> go.Figure:
    """Make a figure of many numbers small: few digits, and hover texts made from the place of a cell."""
    for trace in figure.data:
        for name in {"x", "y", "z"} & set(trace.to_plotly_json()):
            values = np.asarray(trace[name])
            if values.dtype.kind == "f" and values.size > _MANY:
                largest = float(np.nanmax(np.abs(values), initial=1e-9))
                digits = 3 if name == "z" else 4
                trace[name] = np.round(values, digits - math.ceil(math.log10(largest))).astype(np.float32)
        if trace.type == "heatmap" and np.size(trace.z) > _CELLS and trace.customdata is not None:
            trace.update(customdata=None, hovertemplate="%{x}, %{y}: %{z:.3g}<extra></extra>")
    return figure


def chart(name: str, figure: go.Figure) -> str:
    """Return a figure under its title, with its description in words, laid out for pages and for phones."""
    told, page = escape(describe(figure)), _light(go.Figure(figure))
    title, unit = untitled(page)
    drawn, phone = page.to_dict(), on_phone(page).layout.to_plotly_json()  # to_dict has copied it
    both = to_json_plotly([drawn["data"], drawn["layout"], phone])
    packed = _packed(f"{name}-drawn", gzip.compress(both.encode(), mtime=0))
    note = f' <span class="quiet">{escape(unit)}</span>' if unit else ""
    return (
        f"<h3>{escape(title)}{note}</h3>\n<figure>"
        f'<div class="chart" id="{escape(name)}" role="group" aria-label="{told}"></div>{packed}'
        f"<details><summary>In words</summary><figcaption>{told}</figcaption></details></figure>"
    )


def _settings(result: RunResult) -> dict[str, object]:
    settings, features = result.settings, result.settings.features
    detail = f", {features.frequencies} frequencies, sigma² = {features.sigma2:g}" if features.kind == "rff" else ""
    overridden = ", ".join(f"{name} = {value}" for name, value in settings.overrides)
    return {
        "Samples per task n": settings.n,
        "Tasks k": result.n_tasks,
        "Backward steps b": settings.reach(result.n_tasks),
        "Window W": settings.learner.W,
        "Scenario": f"{result.scenario.title} ({result.scenario.field})",
        "Preset": settings.preset,
        "Representation": FEATURE_TITLES[features.kind] + detail,
        "Repetitions": settings.repetitions,
        "Seed": settings.seed,
        **({"Custom values": overridden} if overridden else {}),
    }


def _data(result: RunResult, sequence: TaskSequence | None) -> dict[str, object]:
    rows: dict[str, object] = {"Sequence": result.name}
    if sequence is not None:
        info = sequence.info
        rows |= {
            "Description": sequence.description or "–",
            "Size": f"{len(sequence):,} tasks, {int(sequence.sizes.sum()):,} samples, "
            f"{sequence.n_features:,} features, {sequence.n_classes} classes",
            **{name: info.get(name.lower(), "not stated") for name in ("Source", "Licence")},
            **{"Cite": info.get("citation"), "SHA-256 of the file": info.get("file_sha256")},
        }
    rows |= {"Fingerprint of the tasks": result.fingerprint}
    return {name: value for name, value in rows.items() if value}


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
    worth = "".join(map(paragraph, report.worth))
    repetitions = result.settings.repetitions
    spread = f"{measure} ± one standard error over {repetitions} repetitions" if repetitions > 1 else "One repetition"
    averaged = next(iter(kinds.values())).lower()
    at = "before learning" if result.scenario.kind == "before" else "at the last step"
    notes = "; ".join(f"{name.lower()}: {HEADLINES[kind]}" for kind, name in kinds.items())
    return (
        f'<h3>{measure} of the rules</h3>{grid(rows, columns)}<p class="quiet">{spread}. '
        f"{escape(capital(notes))}. Difference: paired, {averaged}. ESS: effective "
        f"sample size {at}, mean over tasks and repetitions with its 95 % t interval over repetitions."
        f"{' A minimax risk above 1 promises nothing.' * bool(promised)}</p>{worth}"
    )


def _measures(result: RunResult) -> str:
    """Return measures of continual learning by name as a table, with their definitions."""
    rows = [
        [RULES.get(rule, rule), *(with_spread(one.mean, one.stderr) or "not measured" for one in found.values())]
        for rule, found in result.measures().items()
    ]
    table = grid(rows, ["Rule", *(one.title for one in MEASURES.values())])
    note = paragraph("R[i, j]: accuracy on task j after task i of T; ± one standard error.", "quiet")
    return table + note + listed(f"{title}: {text}" for title, text in definitions().items())


def _verdict(report: Report) -> list[str]:
    diagnosis = report.diagnosis
    if diagnosis is None:
        return []
    text, notes = f"{diagnosis.verdict.sentence} {report.meaning}".rstrip(), diagnosis.verdict.notes
    title = f"<strong>{sentence(words.evolve_sentence(diagnosis.verdict))}</strong>"
    told = [f"<p>{title} {sentence(text)}</p>", *(paragraph(one, "quiet") for one in notes)]
    if diagnosis.verdict.name != "dependent":
        rows = [(one.text, one.answer, one.in_words) for one in report.questions]
        told.append(grid(rows, ["Question", "Answer", "Evidence"]))
    return [*told, paragraph(words.setting_sentence(diagnosis), "quiet")]


def _repeat(report: Report, commands: Mapping[str, str] | None) -> str:
    result = report.run
    if commands is None and result.name in datasets.names():
        # The first k tasks of a published dataset are the same whatever k; those of a longer walk are not.
        is_same = datasets.status(result.name).where != "built in"
        if not is_same:
            loaded = datasets.load(result.name, tasks=result.n_tasks, seed=result.settings.seed)
            is_same = loaded.fingerprint == result.fingerprint
        commands = report.repeated_by(result.name) if is_same else {}
    shown = {escape(name): escape(text) for name, text in (commands or {}).items()}
    return "".join(f"<h3>{name}</h3><pre>{text}</pre>" for name, text in shown.items()) or (
        "<p>The library cannot load these tasks by name. With the same file or sequence, <code>imrc.evaluate</code> "
        "with the settings above gives the same numbers. The fingerprint tells you whether the tasks are the same.</p>"
    )


def charts(report: Report, compared: Sequence[RunResult] = ()) -> Iterator[tuple[str, str, go.Figure]]:
    """Yield topic, stem of a file, and figure of each chart of a report."""
    result, plan, diagnosis, topic = report.run, report.plan, report.diagnosis, "Errors"
    yield topic, "decision", decision_chart(report.errors, report.decision.measure)
    for quantity in QUANTITIES[: 3 if result.loss == "0-1" else 2]:
        yield topic, f"heatmaps-{quantity}", run_heatmaps(result, quantity, RISKS[result.loss].lower())
    yield topic, "error-curves", run_curves(result, report.references)
    if "forward_backward" in result.rules:  # elsewhere later tasks revise nothing
        yield topic, "ladder", run_ladder(result)
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
        from imrc.evaluation.comparison import best_methods, comparison_table, curve_table, score_table
        from imrc.paper.printed import with_printed

        topic, table = "Comparison", with_printed(comparison_table(score_table(list(compared))))
        yield topic, "method-errors", against_others.method_errors(table)
        if len(table) > 1:
            yield topic, "method-differences", against_others.method_differences(table)
        by_step = curve_table(list(compared))
        best = by_step["method"].isin(best_methods(table))
        yield topic, "method-curves", against_others.method_curves(by_step[best])


def page_of(
    report: Report,
    *,
    compared: Sequence[RunResult] = (),
    commands: Mapping[str, str] | None = None,
    date: datetime | None = None,
) -> str:
    """Return a report as one HTML text that needs nothing else: charts, verdict, how to repeat it.

    `compared` are runs of methods on the same draws, `commands` headings and texts of what repeats the run.
    """
    if report.sequence is not None and report.diagnosis is None and len(report.sequence) > 1:
        report = replace(report, diagnosis=diagnose(report.sequence, report.run.settings))
    result, decision, when = report.run, report.decision, (date or datetime.now(UTC)).astimezone(UTC)
    steps = () if report.sequence is None else report.sequence.info.get("report", ())
    strategies = [
        (one.title, with_error(one.error), f"{decimal(one.low)} to {decimal(one.high)}" * math.isfinite(one.low))
        for one in decision.strategies
    ]
    body = [
        paragraph(f"Evolving tasks: a {'first look' if report.is_first_look else 'report'} by imrc", "quiet"),
        f"<h1>{sentence(decision.sentence)}</h1>",
        *map(paragraph, (decision.action, *decision.notes)),
        f'<p class="quiet">{when:%d %B %Y, %H:%M} UTC · {escape(report.settings_in_words)}</p>',
        *_verdict(report),
        "<h2>Numbers</h2>",
        grid(strategies, ["What to do", capital(decision.measure), "95 % interval"]),
        _headline(report),
        *(["<h2>Measures of continual learning</h2>", _measures(result)] if "forward_backward" in result.rules else []),
        *(["<h2>How many labels?</h2>", *map(paragraph, report.labels)] if report.labels else []),
    ]
    for topic, drawn in groupby(charts(report, compared), itemgetter(0)):
        rare = [plain_errors_note(result.rare_class)] if topic == "Errors" and result.measure() != "error" else []
        body += [f"<h2>{escape(topic)}</h2>", *(paragraph(one, "quiet") for one in rare)]
        body += [chart(stem, figure) for _, stem, figure in drawn]
    body += [
        "<h2>Settings</h2>",
        grid(_settings(result).items()),
        "<h2>Data</h2>",
        grid(_data(result, report.sequence).items()),
        listed(steps),
        "<h2>Repeat it</h2>",
        _repeat(report, commands),
        f'<p class="quiet">Made with {escape(versions(_PACKAGES))} on {escape(platform.system())}, '
        f"{when:%Y-%m-%d %H:%M} UTC.</p>",
    ]
    package = files("imrc.report")
    return Template(package.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        name=escape(report.name),
        library=_packed("plotly", package.joinpath(_LIBRARY).read_bytes()),
        body="\n".join(body),
        phone=PHONE_PX,
        paper=_PAPER_PX,
    )
