"""The curves of the comparison, by step and against n and k."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pandas as pd
import streamlit as st

from imrc.evaluation import RunResult, RunSettings, largest_n
from imrc.evaluation.comparison import (
    ScoreKind,
    curve_table,
    sample_size_table,
    sample_sizes,
    score_table,
    title_of_method,
)
from imrc.plots import method_curves, sample_and_task_curves
from imrc.tasks import TaskSequence
from pages.ui import charts, comparing, controls


def curves(
    sequence: TaskSequence,
    settings: RunSettings,
    results: list[RunResult],
    table: pd.DataFrame,
    names: tuple[str, ...],
    *,
    kind: ScoreKind,
) -> None:
    """Draw error by step for the methods a visitor chooses and, when asked, against n and k."""
    shown = st.multiselect(
        "Methods in the curves",
        list(table["method"]),
        default=comparing.curves_shown(list(table["method"])),
        format_func=title_of_method,
        key="compare_curves",
        bind="query-params",
        help="Curves of more than six methods are hard to tell apart.",
    )
    if not shown:
        return
    measured: Literal["average", "newest", "before"] = "average"
    if kind == "newest" or kind == "before":
        measured = kind
    by_step = curve_table(results, kind=measured)
    charts.show(
        method_curves,
        by_step[by_step["method"].isin(shown)],
        measured,
        name="method-curves",
        alt="Error by step for the chosen methods, with confidence bands.",
    )
    sizes = sample_sizes(largest_n(sequence), settings.n)
    if not controls.toggle(
        f"Curves against n = {', '.join(map(str, sizes))} and against k",
        "compare_sizes",
        "Runs the chosen methods for each n; the curve against k needs no further runs.",
    ):
        return
    again = tuple(name for name in names if name in shown)
    runs = []
    for n in sizes:
        runs += comparing.compared_results(sequence, replace(settings, n=n), again)[0]
    by_n = sample_size_table(score_table(runs), kind=measured)
    by_k = curve_table(results, by="k", kind=measured)
    charts.show(
        sample_and_task_curves,
        by_n[by_n["method"].isin(shown)],
        by_k[by_k["method"].isin(shown)],
        name="method-sizes",
        alt="Left: error against samples per task. Right: error against the number of tasks.",
    )
