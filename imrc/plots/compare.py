"""Figures of the comparison: errors side by side, differences with noise bands, curves by step, n and k."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from imrc.plots._axes import SIGNED
from imrc.plots._style import COLOURS, GRID, band_outline, finish, hover_spread, rgba

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
_BAND = "rgba(128,136,150,0.3)"


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
    figure = go.Figure()
    rows = table.iloc[::-1]
    spread = 2.0 * rows["stderr"].to_numpy()
    figure.add_trace(
        go.Scatter(
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
    )
    printed = rows[rows["printed"].notna()]
    if len(printed):
        figure.add_trace(
            go.Scatter(
                x=printed["printed"],
                y=printed["title"],
                mode="markers",
                name="Printed in the paper",
                marker={"symbol": "diamond-open", "size": 10, "color": COLOURS["reference"], "line": {"width": 1.5}},
                hovertemplate="%{y}, paper: %{x:.2f}<extra></extra>",
            )
        )
    finish(figure, title="Which method makes the fewest errors?", height=150 + 26 * len(rows))
    figure.update_xaxes(title_text="error", tickformat=".2f", rangemode="normal")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(rows["title"]), showgrid=True)
    figure.update_layout(margin_b=96)
    return figure


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
    figure = go.Figure()
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
        figure.add_trace(
            go.Scatter(
                x=part["difference"],
                y=part["title"],
                mode="markers",
                name=name,
                marker={"size": 11, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}},
                error_x={"array": np.nan_to_num(spread), "thickness": 2, "width": 0, "color": rgba(colour, 0.7)},
                customdata=np.stack([np.nan_to_num(spread), part["p_holm"]], axis=1),
                hovertemplate="%{y}: %{x:+.3f}"
                + hover_spread(spread, "customdata[0]")
                + "<br>corrected p = %{customdata[1]:.3f}"
                "<extra></extra>",
            )
        )
    finish(
        figure,
        title="Which differences exceed the noise?",
        height=190 + 26 * len(rows),
    )
    figure.add_vline(x=0, line={"color": "#6B7280", "width": 1.5, "dash": "dash"})
    figure.update_xaxes(
        title_text=f"error minus that of<br>{html.escape(reference)}<br>(± 2 standard errors)",
        **SIGNED,
    )
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(rows["title"]))
    figure.update_layout(margin_b=136)
    return figure


def _add_methods(figure: go.Figure, table: pd.DataFrame, *, column: int | None = None, legend: bool = True) -> None:
    """Draw one line with its band per method."""
    place = {} if column is None else {"row": 1, "col": column}
    for method, part in table.groupby("method", sort=False):
        name, colour = html.escape(str(part["title"].iloc[0])), colour_of(str(method))
        x, value = part["x"].to_numpy(), part["value"].to_numpy()
        spread = 2.0 * part["stderr"].to_numpy()
        if np.isfinite(spread).all():
            figure.add_trace(
                go.Scatter(
                    **band_outline(x, value - spread, value + spread),
                    fillcolor=rgba(colour, 0.13),
                    legendgroup=str(method),
                    name=f"{name}, confidence band",
                    showlegend=False,
                ),
                **place,
            )
        imrc = str(method).startswith("imrc:") and str(method).count(":") == 1
        figure.add_trace(
            go.Scatter(
                x=x,
                y=value,
                mode="lines+markers" if len(x) <= 12 else "lines",
                name=name,
                legendgroup=str(method),
                showlegend=legend,
                line={"color": colour, "width": 3 if imrc else 2, "dash": _dash_of(str(method))},
                marker={"size": 6},
                customdata=np.nan_to_num(spread),
                hovertemplate="%{y:.3f}" + hover_spread(spread) + "<extra>" + name + "</extra>",
            ),
            **place,
        )


def _whole_ticks(table: pd.DataFrame) -> dict[str, Any]:
    """Ticks at whole numbers only, also where there are few."""
    return {"tickformat": "d", **({"dtick": 1} if table["x"].max() <= 12 else {"nticks": 10})}


def _band_key(figure: go.Figure, table: pd.DataFrame) -> None:
    if np.isfinite(table["stderr"]).any():
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                mode="markers",
                marker={"symbol": "square", "size": 13, "color": _BAND},
                name="Confidence bands: ± 2 standard errors",
                hoverinfo="skip",
            )
        )


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
    figure = go.Figure()
    _add_methods(figure, table)
    _band_key(figure, table)
    finish(figure, title="Which methods improve as tasks arrive?", height=430)
    figure.update_xaxes(title_text="step (tasks learnt)", **_whole_ticks(table))
    figure.update_yaxes(
        title_text="error on the newest task" if newest else "mean error of the tasks seen", tickformat=".2f"
    )
    figure.update_layout(hovermode="x unified", margin_b=130)
    return figure


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
    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=("Error against samples per task", "Error against the number of tasks"),
        horizontal_spacing=0.1,
        shared_yaxes=True,
    )
    _add_methods(figure, by_n, column=1)
    _add_methods(figure, by_k, column=2, legend=False)
    _band_key(figure, by_n)
    finish(figure, title="How much do more samples and more tasks help?", height=450)
    ticks = sorted(by_n["x"].unique())
    figure.update_xaxes(
        title_text="samples n per task", type="log", tickvals=ticks, ticktext=list(map(str, ticks)), col=1
    )
    figure.update_xaxes(title_text="tasks k", **_whole_ticks(by_k), col=2)
    figure.update_yaxes(tickformat=".2f", gridcolor=GRID)
    figure.update_annotations(font_size=14)
    figure.update_layout(margin_t=84, margin_b=130)
    return figure
