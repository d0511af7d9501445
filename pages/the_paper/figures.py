"""The paper's figures on page *The paper*, drawn from the results that come with the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from imrc import datasets
from imrc.diagnostics import PartialAutocorrelation, words
from imrc.evaluation.comparison import curve_table
from imrc.paper import cells, shipped
from imrc.paper.windows import LONGEST, STARTS
from imrc.plots import running_time_curves, sample_and_task_curves
from imrc.plots.ess import PAIRS, ess_curve_table, ess_curves
from imrc.plots.evolving import pacf_panels
from imrc.plots.paper import window_curves
from imrc.plots.result import run_heatmaps
from pages.shell import charts
from pages.the_paper.tables import made_by


def show(row: st.delta_generator.DeltaGenerator) -> None:
    """Draw one of the paper's figures."""
    figure = row.selectbox(
        "Figure",
        list(_FIGURES),
        format_func=lambda name: _FIGURES[name][0],
        key="paper_figure",
        bind="query-params",
        help="*Result*, *Why it helps* and *Is it evolving?* draw them for your data.",
        width=260,
    )
    _FIGURES[figure][1](row)


def _run(row: Any) -> str:  # noqa: ANN401 - a container
    name: str = row.selectbox(
        "Run",
        shipped.run_names(),
        format_func=lambda name: shipped.index()[name]["what"],
        key="paper_run",
        bind="query-params",
        help="The sequence that was learnt, and how.",
        width=420,
    )
    return name


def _curves(row: st.delta_generator.DeltaGenerator) -> None:
    name = _run(row)
    result = shipped.run(name)
    charts.show(
        sample_and_task_curves,
        cells.sample_size_curve(result.name),
        curve_table([result], by="k"),
        name="paper-curves",
        alt=f"{shipped.index()[name]['what']}: error of learning alone, forward, and forward and backward against "
        "n (left) and against the number of tasks (right).",
    )
    st.caption(
        "The paper shows the same for Yearbook and DomainNet, not measured here. Left: all n measured, with "
        "the number of tasks of the dataset; right: the sequence that begins with the first task and ends after k."
    )
    made_by(name)
    table = shipped.table("tasks").query("dataset == @result.name")
    if not len(table):
        return
    charts.show(
        window_curves,
        table,
        name="paper-windows",
        alt="Error of forward, and forward and backward learning, divided by that of learning alone, against "
        "the number of consecutive tasks.",
    )
    st.caption(
        f"Mean over all sequences of k consecutive tasks, each learnt from its own beginning; of more than {STARTS}, "
        f"evenly spaced ones, of at most {LONGEST} tasks. Few sequences are as long as the longest."
    )
    made_by("tasks")


def _heatmaps(row: st.delta_generator.DeltaGenerator) -> None:
    name = _run(row)
    alt = f"{shipped.index()[name]['what']}: error of each task at each step for the three rules."
    charts.show(run_heatmaps, shipped.run(name), triangle=True, name="paper-heatmaps", alt=alt)
    st.caption(
        "Backward learning changes the rules of earlier tasks, so its errors fall along a row; rules learnt alone "
        "and forward stay as they were learnt. The paper shows this for Yearbook."
    )
    made_by(name)


def _ess(_row: st.delta_generator.DeltaGenerator) -> None:
    alt = "Effective sample size over n against n d² for the paper's pairs of j and k."
    charts.show(ess_curves, ess_curve_table(PAIRS), name="paper-ess", alt=alt)
    st.caption("The closed forms of Theorems 2 and 4; page *Why it helps* draws them for every task of yours.")
    code = f"from imrc.plots.ess import ess_curve_table, ess_curves\ness_curves(ess_curve_table({list(PAIRS)})).show()"
    st.code(code, language=None)


def _pacf(_row: st.delta_generator.DeltaGenerator) -> None:
    found = {
        datasets.entry(str(name)).title: PartialAutocorrelation(
            part["lag"].to_numpy(),
            np.empty((len(part), 0)),
            *(part[column].to_numpy() for column in ("pacf", "pacf_std", "pacf_low", "pacf_high")),
        )
        for name, part in shipped.table("lags").groupby("sequence", sort=False)
    }
    alt = f"Partial autocorrelation of the mean vectors by lag, averaged over components, for {', '.join(found)}."
    charts.show(pacf_panels, found, name="paper-pacf", alt=alt)
    st.caption("  \n".join(words.pacf_sentence(title, pacf) for title, pacf in found.items()))
    made_by("lags")


def _time(_row: st.delta_generator.DeltaGenerator) -> None:
    alt = "Milliseconds per task against samples per task, number of tasks and backward steps."
    charts.show(running_time_curves, shipped.table("growth"), name="paper-growth", alt=alt)
    st.caption("Linear in b, independent of the number of tasks, and growing slowly with n.")
    made_by("growth")


_FIGURES = {
    "curves": ("Error against n and k", _curves),
    "heatmaps": ("Heatmaps", _heatmaps),
    "ess": ("Effective sample size", _ess),
    "pacf": ("Partial autocorrelations", _pacf),
    "time": ("Running time", _time),
}
