"""Figures of the comparison: errors side by side, differences with noise bands, curves by step, n and k."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._axes import SIGNED
from imrc.plots._panels import Traces, axis, band_key, chart, panels
from imrc.plots._style import COLOURS, band, hover_spread, rgba

METHOD_COLOURS = {
    "gem": "#0072B2",
    "mer": "#D55E00",
    "ella": "#CC79A7",
    "ewc": "#56B4E9",
    "condor": "#7B5EA7",
    "driftsurf": "#A6761D",
    "aue": "#B3001B",
    "majority": "#9AA1AB",
    "logistic_single": "#6B7280",
    "logistic_recent": "#4B5563",
    "logistic_seen": "#1F2937",
    "oracle": "#000000",
}
"""Okabe and Ito's colours, extended; greys and black for references."""

METHOD_DASHES = {
    "gem": "dash",
    "mer": "dashdot",
    "ella": "longdash",
    "ewc": "dot",
    "condor": "longdashdot",
    "driftsurf": "dash",
    "aue": "dot",
    "majority": "dot",
    "logistic_single": "dash",
    "logistic_recent": "longdash",
    "logistic_seen": "dashdot",
    "oracle": "dash",
}


def colour_of(method: str) -> str:
    """Return the colour of a method; its profiles share it, IMRC's rules have theirs."""
    if method.startswith("imrc:"):
        rule = (*method.split(":"), "forward_backward")[2]
        return COLOURS[rule]
    return METHOD_COLOURS.get(method.partition(":")[0], COLOURS["reference"])


def _dash_of(method: str) -> str:
    if method.startswith("imrc:"):
        # Presets share their colour: the paper's is broken, its other rules are dotted.
        whole, others = ("dash", "dot") if method.split(":")[1] == "paper" else ("solid", "dash")
        return whole if method.count(":") == 1 else others
    return METHOD_DASHES.get(method.partition(":")[0], "solid")


def method_errors(table: pd.DataFrame) -> go.Figure:
    """Return errors of all methods, best at the top, with bands and the paper's printed numbers.

    Parameters
    ----------
    table : DataFrame
        From `imrc.evaluation.comparison.comparison_table`.

    Returns
    -------
    Figure
    """
    traces = Traces()
    rows = table.iloc[::-1]
    spread = 2.0 * rows["stderr"].to_numpy()
    traces.add(
        x=rows["error"],
        y=rows["title"],
        mode="markers",
        name="Ours ± 2 standard errors",
        marker={"size": 11, "color": [colour_of(name) for name in rows["method"]]},
        error_x={"array": np.nan_to_num(spread), "thickness": 2, "width": 0, "color": "#6B7280"},
        customdata=np.stack([np.nan_to_num(spread), rows["newest"], rows["rank"]], axis=1),
        hovertemplate="%{y}: %{x:.3f}"
        + hover_spread(spread, "customdata[0]")
        + "<br>newest task %{customdata[1]:.3f}, "
        "mean rank %{customdata[2]:.1f}<extra></extra>",
    )
    printed = rows[rows["printed"].notna()]
    if len(printed):
        traces.add(
            x=printed["printed"],
            y=printed["title"],
            mode="markers",
            name="Printed in the paper",
            marker={"symbol": "diamond-open", "size": 10, "color": COLOURS["reference"], "line": {"width": 1.5}},
            hovertemplate="%{y}, paper: %{x:.2f}<extra></extra>",
        )
    return chart(
        traces,
        axis("error", tickformat=".2f", rangemode="normal"),
        axis(type="category", categoryorder="array", categoryarray=list(rows["title"]), showgrid=True),
        title="Which method makes the fewest errors?",
        height=150 + 26 * len(rows),
        below=96,
    )


def method_differences(table: pd.DataFrame) -> go.Figure:
    """Return differences to the reference method with bands; those that may be noise are hollow and grey.

    Parameters
    ----------
    table : DataFrame
        From `imrc.evaluation.comparison.comparison_table`.

    Returns
    -------
    Figure
    """
    reference = table.loc[table["verdict"] == "reference", "title"].iloc[0]
    rows = table[table["verdict"] != "reference"].iloc[::-1]
    traces = Traces()
    looks = {
        "better": ("Fewer errors", "#009E73", "circle"),
        "worse": ("More errors", "#B45309", "circle"),
        "no clear difference": ("May be noise", "#8A8F98", "circle-open"),
        "untested": ("Not tested: one repetition", "#8A8F98", "x-thin-open"),
    }
    for verdict, (name, colour, symbol) in looks.items():
        part = rows[rows["verdict"] == verdict]
        if not len(part):
            continue
        spread = 2.0 * part["difference_stderr"].to_numpy()
        traces.add(
            x=part["difference"],
            y=part["title"],
            mode="markers",
            name=name,
            marker={"size": 11, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}},
            error_x={"array": np.nan_to_num(spread), "thickness": 2, "width": 0, "color": rgba(colour, 0.7)},
            customdata=np.stack([np.nan_to_num(spread), part["p"]], axis=1),
            hovertemplate="%{y}: %{x:+.3f}"
            + hover_spread(spread, "customdata[0]")
            + "<br>corrected p = %{customdata[1]:.3f}"
            "<extra></extra>",
        )
    zero = {"type": "line", "x0": 0, "x1": 0, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    return chart(
        traces,
        axis(f"error minus that of<br>{html.escape(reference)}<br>(± 2 standard errors)", **SIGNED),
        axis(type="category", categoryorder="array", categoryarray=list(rows["title"])),
        title="Which differences exceed the noise?",
        height=190 + 26 * len(rows),
        below=136,
        shapes=[{**zero, "line": {"color": "#6B7280", "width": 1.5, "dash": "dash"}}],
    )


def _add_methods(traces: Traces, table: pd.DataFrame, *, panel: int = 1) -> None:
    """Draw one line with its band per method."""
    for method, part in table.groupby("method", sort=False):
        name, colour = html.escape(str(part["title"].iloc[0])), colour_of(str(method))
        x, value = part["x"].to_numpy(), part["value"].to_numpy()
        spread = 2.0 * part["stderr"].to_numpy()
        if np.isfinite(spread).all():
            traces.add(
                **band(x, value - spread, value + spread, colour, 0.13),
                legendgroup=str(method),
                name=f"{name}, confidence band",
                showlegend=False,
                panel=panel,
            )
        imrc = str(method).startswith("imrc:") and str(method).count(":") == 1
        traces.add(
            x=x,
            y=value,
            mode="lines+markers" if len(x) <= 12 else "lines",
            name=name,
            legendgroup=str(method),
            showlegend=panel == 1,
            line={"color": colour, "width": 3 if imrc else 2, "dash": _dash_of(str(method))},
            marker={"size": 6},
            customdata=np.nan_to_num(spread),
            hovertemplate="%{y:.3f}" + hover_spread(spread) + "<extra>" + name + "</extra>",
            panel=panel,
        )


def _whole_ticks(table: pd.DataFrame) -> dict[str, Any]:
    """Ticks at whole numbers only, also where there are few."""
    return {"tickformat": "d", **({"dtick": 1} if table["x"].max() <= 12 else {"nticks": 10})}


def method_curves(table: pd.DataFrame, *, newest: bool = False) -> go.Figure:
    """Return errors by step, one line per method.

    Parameters
    ----------
    table : DataFrame
        From `imrc.evaluation.comparison.curve_table` with ``by="step"``.
    newest : bool
        Whether the values are errors on the newest task (else means over the tasks seen).

    Returns
    -------
    Figure
    """
    traces = Traces()
    _add_methods(traces, table)
    traces += band_key(table)
    return chart(
        traces,
        axis("step (tasks learnt)", **_whole_ticks(table)),
        axis("error on the newest task" if newest else "mean error of the tasks seen", tickformat=".2f"),
        title="Which methods improve as tasks arrive?",
        height=430,
        below=130,
        hovermode="x unified",
    )


def sample_and_task_curves(by_n: pd.DataFrame, by_k: pd.DataFrame) -> go.Figure:
    """Return the two panels of the paper: error against samples per task, and against the number of tasks.

    Parameters
    ----------
    by_n : DataFrame
        From `imrc.evaluation.comparison.sample_size_table`.
    by_k : DataFrame
        From `imrc.evaluation.comparison.curve_table` with ``by="k"``.

    Returns
    -------
    Figure
    """
    traces = Traces()
    _add_methods(traces, by_n)
    _add_methods(traces, by_k, panel=2)
    traces += band_key(by_n)
    ticks = sorted(by_n["x"].unique())
    return panels(
        traces,
        ("Error against samples per task", "Error against the number of tasks"),
        [
            axis("samples n per task", type="log", tickvals=ticks, ticktext=list(map(str, ticks))),
            axis("tasks k", **_whole_ticks(by_k)),
        ],
        [axis(tickformat=".2f")] * 2,
        gap=0.1,
        share_y=True,
        title="How much do more samples and more tasks help?",
        height=450,
        below=130,
    )
