"""The charts of a report, in the order of the pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from imrc.diagnostics import Assessment, tracks
from imrc.evaluation import Decision, RunResult, effective_samples
from imrc.plots import compare, diagnostics, ess, runs
from imrc.plots.decision import decision_chart
from imrc.plots.tables import QUANTITIES
from imrc.wording import RISKS

_STORY = 2


def _errors(result: RunResult, decision: Decision, references: RunResult | None) -> Iterator[tuple[str, go.Figure]]:
    risk = RISKS[result.loss]
    yield "decision", decision_chart(decision)
    for quantity in QUANTITIES[: 3 if result.loss == "0-1" else 2]:
        yield f"heatmaps-{quantity}", runs.run_heatmaps(result, quantity, risk.lower())
    yield "ladder", runs.run_ladder(result)
    yield "error-curves", runs.run_curves(result, references)
    yield "task-story", runs.run_story(result, max(1, result.n_tasks // _STORY))
    if result.choices:
        yield "choices", runs.run_choices(result)


def _effective(result: RunResult, diagnosis: Assessment | None) -> Iterator[tuple[str, go.Figure]]:
    settings, b = result.settings, result.settings.reach(result.n_tasks)
    yield "ess-parts", ess.ess_parts_chart(ess.ess_parts_table(ess.run_parts(result), result.labels))
    if diagnosis is None or diagnosis.change is None or result.scenario.main != "forward_backward":
        return
    ratio, low, high = diagnosis.ratio_at(settings.n)
    own = ess.OwnRatio(ratio, low, high, "this sequence")
    yield "ess-curves", ess.ess_curves(ess.ess_curve_table(ess.PAIRS), own)
    by_k, by_b = ess.ess_growth_table(settings.n, ratio, result.n_tasks, b)
    yield "ess-growth", ess.ess_growth(by_k, by_b, settings.n, b, run=effective_samples(result))


def _evidence(diagnosis: Assessment) -> Iterator[tuple[str, go.Figure]]:
    if diagnosis.variogram is None:
        return
    if diagnosis.pacf is not None:
        yield "partial-autocorrelation", diagnostics.pacf_panels({"This sequence": diagnosis.pacf})
    yield "variogram", diagnostics.variogram_chart(diagnosis)
    yield "change", diagnostics.change_chart(tracks.step_changes(diagnosis), diagnosis)
    yield "distances", diagnostics.distance_heatmap(diagnosis)
    if diagnosis.models:
        yield "models", diagnostics.model_gaps(diagnosis)


def _compared(compared: Sequence[RunResult]) -> Iterator[tuple[str, go.Figure]]:
    from imrc.evaluation.comparison import comparison_table, curve_table, score_table
    from imrc.paper.printed import with_printed

    table = with_printed(comparison_table(score_table(list(compared))))
    yield "method-errors", compare.method_errors(table)
    if len(table) > 1:
        yield "method-differences", compare.method_differences(table)
    best = list(table["method"])[:6]
    by_step = curve_table(list(compared))
    yield "method-curves", compare.method_curves(by_step[by_step["method"].isin(best)])


def sections(
    result: RunResult,
    diagnosis: Assessment | None,
    compared: Sequence[RunResult],
    decision: Decision,
    references: RunResult | None,
) -> dict[str, list[tuple[str, go.Figure]]]:
    """Return the charts of a report by topic, each with the stem of the file it is saved as."""
    found = {
        "Errors": [*_errors(result, decision, references)],
        "Effective sample size": [*_effective(result, diagnosis)],
        "Do the tasks evolve?": [] if diagnosis is None else [*_evidence(diagnosis)],
        "Comparison": [*_compared(compared)] if compared else [],
    }
    return {topic: charts for topic, charts in found.items() if charts}
