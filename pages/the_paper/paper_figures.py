"""The paper's figures on page *The paper*, drawn from the results that come with the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
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
from pages.shell import charts, controls
from pages.the_paper.paper import made_by


def figures() -> None:
    """Draw one of the paper's figures."""
    figure = controls.switch(
        "Figure",
        {name: title for name, (title, _) in FIGURES.items()},
        "paper_figure",
        "Which of the paper's figures. Pages *Result*, *Why it helps* and *Is it evolving?* draw them for your data.",
    )
    FIGURES[figure][1]()


def _chosen_run() -> str:
    return st.selectbox(
        "Run",
        shipped.run_names(),
        format_func=lambda name: shipped.index()[name]["what"],
        key="paper_run",
        bind="query-params",
        help="The sequence that was learnt, and how.",
        width=420,
    )


def _curves() -> None:
    name = _chosen_run()
    result = shipped.run(name)
    charts.show(
        sample_and_task_curves,
        cells.sample_size_curve(result.name),
        curve_table([result], by="k"),
        name="paper-curves",
        alt=f"{shipped.index()[name]['what']}: error of single-task, forward and forward and backward learning against "
        "n (left) and against the number of tasks (right).",
    )
    st.caption(
        "The paper shows the same for Yearbook and DomainNet, not measured here. Left: all n measured, with "
        "the number of tasks of the dataset; right: the sequence that begins with the first task and ends after k."
    )
    made_by(name)
    table = shipped.table("tasks")
    of_run = table[table["dataset"] == result.name]
    if len(of_run):
        _windows(of_run)
        made_by("tasks", f"imrc table --kind tasks --datasets {result.name} --n 10 100 --repetitions 3")


def _windows(table: pd.DataFrame) -> None:
    raw = controls.toggle("The error itself", "paper-windows-raw", "Instead of the ratio.")
    last = table[(table["k"] == table["k"].max()) & (table["rule"] == "forward_backward")]
    ratios = ", ".join(f"{row.ratio:.2f} at n = {row.n}" for row in last.itertuples())
    charts.show(
        window_curves,
        table,
        raw=raw,
        name="paper-windows",
        alt="Error of forward, and forward and backward learning, divided by that of single-task learning, against "
        f"the number of consecutive tasks. For the most tasks: {ratios}.",
    )
    st.caption(
        f"Mean over all sequences of k consecutive tasks, each learnt from its own beginning; of more than {STARTS}, "
        f"evenly spaced ones, of at most {LONGEST} tasks. Few sequences are as long as the longest, so the right ends "
        "are rough."
    )
    charts.csv(table, name="paper-windows")


def _heatmaps() -> None:
    name = _chosen_run()
    result = shipped.run(name)
    charts.show(
        run_heatmaps,
        result,
        triangle=True,
        name="paper-heatmaps",
        alt=f"{shipped.index()[name]['what']}: error of each task at each step for the three rules.",
    )
    st.caption(
        "Backward learning changes the rules of earlier tasks, so its errors fall along a row; single-task and "
        "forward rules stay as they were learnt. The paper shows this for Yearbook."
    )
    made_by(name)


def _ess() -> None:
    charts.show(
        ess_curves,
        ess_curve_table(PAIRS),
        name="paper-ess",
        alt="Effective sample size over n against n d² for the paper's pairs of j and k.",
    )
    st.caption("The closed forms of Theorems 2 and 4; page *Why it helps* draws them for any j and k.")
    st.code(
        f"from imrc.plots.ess import ess_curve_table, ess_curves\ness_curves(ess_curve_table({list(PAIRS)})).show()",
        language="python",
    )


def _pacf() -> None:
    table = shipped.table("lags")
    panels = {
        datasets.entry(str(name)).title: PartialAutocorrelation(
            part["lag"].to_numpy(),
            np.empty((len(part), 0)),
            *(part[column].to_numpy() for column in ("pacf", "pacf_std", "pacf_low", "pacf_high")),
        )
        for name, part in table.groupby("sequence", sort=False)
    }
    most = max(len(pacf.lags) for pacf in panels.values())
    shown = st.slider(
        "Lags",
        1,
        most,
        most,
        key="paper-pacf-lags",
        bind="query-params",
        help="At most 20, and fewer than half of the tasks: beyond, the estimates are noise.",
        width=420,
    )
    cut = {title: _up_to(pacf, shown) for title, pacf in panels.items()}
    charts.show(
        pacf_panels,
        cut,
        name="paper-pacf",
        alt="Partial autocorrelation of the mean vectors by lag, averaged over components, for " + ", ".join(cut) + ".",
    )
    st.caption("  \n".join(words.pacf_sentence(title, pacf) for title, pacf in cut.items()))
    made_by("lags")


def _up_to(pacf: PartialAutocorrelation, lag: int) -> PartialAutocorrelation:
    low, high = (None if band is None else band[:lag] for band in (pacf.low, pacf.high))
    return PartialAutocorrelation(pacf.lags[:lag], pacf.values[:lag], pacf.mean[:lag], pacf.std[:lag], low, high)


def _time() -> None:
    charts.show(
        running_time_curves,
        shipped.table("growth"),
        name="paper-growth",
        alt="Milliseconds per task against samples per task, number of tasks and backward steps.",
    )
    st.caption("Linear in b, independent of the number of tasks, and growing slowly with n.")
    made_by("growth")


FIGURES = {
    "curves": ("Error against n and k", _curves),
    "heatmaps": ("Heatmaps", _heatmaps),
    "ess": ("Effective sample size", _ess),
    "pacf": ("Partial autocorrelations", _pacf),
    "time": ("Running time", _time),
}
