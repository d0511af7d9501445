"""Figures of the comparison: errors side by side, differences with their intervals, curves by step, n and k."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._drawing import (
    COLOURS,
    DASHES,
    End,
    Traces,
    axis,
    band_key,
    bars,
    chart,
    decimals,
    error_ends,
    line_ends,
    names_axis,
    panels,
    samples_axis,
    whole_numbers,
)
from imrc.wording import decimal, fewest, signed

METHOD_COLOURS = {
    "gem": "#0072B2",
    "mer": "#D55E00",
    "ella": "#CC79A7",
    "ewc": "#3A9BD5",
    "condor": "#7B5EA7",
    "driftsurf": "#A6761D",
    "aue": "#B3001B",
}
"""Okabe and Ito's colours, extended; references have that of references."""

METHOD_DASHES = {
    "majority": "dot",
    "logistic_single": "dash",
    "logistic_recent": "longdash",
    "logistic_seen": "dashdot",
    "oracle": "longdashdot",
}
"""References share one colour and differ in this; published methods are drawn through."""

_ROW_PX = 25  # Height of a method in a list.


def _rule_of(method: str) -> str | None:
    """Return the rule of IMRC a name of score tables stands for."""
    return (*method.split(":"), "forward_backward")[2] if method.startswith("imrc:") else None


def _is_paper(method: str) -> bool:
    return method.startswith("imrc:paper")


def colour_of(method: str) -> str:
    """Return the colour of a method; its profiles share it, IMRC's rules have theirs."""
    rule = _rule_of(method)
    return COLOURS[rule] if rule else METHOD_COLOURS.get(method.partition(":")[0], COLOURS["reference"])


def _dash_of(method: str) -> str:
    """Return the line style: rules of IMRC have theirs on every page."""
    rule = _rule_of(method)
    return DASHES[rule] if rule else METHOD_DASHES.get(method.partition(":")[0], "solid")


def _plus_minus(means: Iterable[float], halves: Iterable[float]) -> list[str]:
    """Return numbers with half of their interval, as hover texts show them."""
    return [
        decimal(mean) + (f" ± {decimal(half)}" if np.isfinite(half) else "")
        for mean, half in zip(means, halves, strict=True)
    ]


def method_errors(table: pd.DataFrame) -> go.Figure:
    """Return errors of all methods of a `comparison_table`, best at the top, with bands and printed numbers if any."""
    traces = Traces()
    rows = table.iloc[::-1]
    half = rows["half"].to_numpy()
    low, high = error_ends(rows["error"], half)
    said = np.stack(
        [_plus_minus(rows["error"], half), [decimal(value) for value in rows["newest"]], rows["rank"]], axis=1
    )
    traces.dots(
        rows["error"],
        rows["title"],
        "Measured here, with 95 % intervals" if np.isfinite(half).any() else "Measured here",
        [colour_of(name) for name in rows["method"]],
        symbol=["circle-open" if _is_paper(name) else "circle" for name in rows["method"]],
        size=11,
        edge=2,
        error_x=bars(high - rows["error"], rows["error"] - low, colour=COLOURS["reference"], thickness=2),
        customdata=said,
        hovertemplate="<b>%{y}</b><br>%{customdata[0]}<br>newest task %{customdata[1]}<br>"
        "mean rank %{customdata[2]:.1f}<extra></extra>",
    )
    printed = rows[rows["printed"].notna()] if "printed" in rows else rows[:0]
    if len(printed):
        traces.dots(
            printed["printed"],
            printed["title"],
            "Printed in the paper",
            COLOURS["reference"],
            symbol="diamond-open",
            edge=1.5,
            customdata=[decimal(value, 2) for value in printed["printed"]],
            hovertemplate="%{y}, paper: %{customdata}<extra></extra>",
        )
    ends = [low, high, printed.get("printed", ())]
    return chart(
        traces,
        axis(table["measure"].iloc[0], **decimals(np.concatenate(ends), ticks=8)),
        names_axis(table["title"], showgrid=True),
        title=f"Which method makes {fewest(table['measure'].iloc[0])}?",
        height=134 + _ROW_PX * len(rows),
    )


def method_differences(table: pd.DataFrame) -> go.Figure:
    """Return differences to the reference method with the intervals they are judged by; those that hold 0 are hollow.

    `table` is from `imrc.evaluation.comparison.comparison_table`.
    """
    reference = table.loc[table["verdict"] == "reference", "title"].iloc[0]
    rows = table[table["verdict"] != "reference"].iloc[::-1]
    traces = Traces()
    looks = {
        "better": ("Fewer errors", COLOURS["forward_backward"], "circle"),
        "worse": ("More errors", "#B45309", "circle"),
        "no clear difference": ("May be noise: the interval holds 0", COLOURS["single"], "circle-open"),
        "untested": ("Not tested: one repetition", COLOURS["single"], "x-thin-open"),
    }
    for verdict, (name, colour, symbol) in looks.items():
        part = rows[rows["verdict"] == verdict]
        if not len(part):
            continue
        interval = [
            "" if not np.isfinite(low) else f"<br>{signed(low)} to {signed(high)}"
            for low, high in zip(part["low"], part["high"], strict=True)
        ]
        traces.dots(
            part["difference"],
            part["title"],
            name,
            colour,
            symbol=symbol,
            size=11,
            edge=2,
            # As tested: the interval of a difference that was corrected more is wider.
            error_x=bars(
                np.nan_to_num(part["high"] - part["difference"]),
                np.nan_to_num(part["difference"] - part["low"]),
                colour=colour,
                thickness=2,
            ),
            customdata=np.stack([[signed(value) for value in part["difference"]], interval], axis=1),
            hovertemplate="<b>%{y}</b><br>%{customdata[0]}%{customdata[1]}<extra></extra>",
        )
    zero = {"type": "line", "x0": 0, "x1": 0, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    return chart(
        traces,
        axis(
            "difference in error",
            **decimals(np.concatenate([[0.0], rows["difference"], rows["low"], rows["high"]]), sign=True),
        ),
        names_axis(rows["title"][::-1]),
        title="Which differences are more than noise?",
        subtitle=f"error minus that of {html.escape(reference)}",
        height=134 + _ROW_PX * len(rows),
        shapes=[{**zero, "line": {"color": COLOURS["reference"], "width": 1.5, "dash": "dash"}}],
    )


def _add_methods(traces: Traces, table: pd.DataFrame, *, panel: int = 1) -> list[End]:
    """Draw one line with its band per method; return where the lines end."""
    ends = []
    for method, part in table.groupby("method", sort=False):
        title, colour = str(part["title"].iloc[0]), colour_of(str(method))
        name = html.escape(title)
        x, value, half = (part[column].to_numpy() for column in ("x", "value", "half"))
        if np.isfinite(half).all():
            said = f"{name}, 95 % interval"
            traces.band(x, *error_ends(value, half), colour, 0.13, name=said, showlegend=False, panel=panel)
        paper = _is_paper(str(method))
        traces.line(
            x,
            value,
            name,
            colour,
            width=3 if _rule_of(str(method)) == "forward_backward" else 2,
            dash=_dash_of(str(method)),
            mode="lines+markers" if len(x) <= 12 or paper else "lines",
            showlegend=False,
            marker={"size": 6, "symbol": "circle-open" if paper else "circle"},
            customdata=_plus_minus(value, half),
            hovertemplate="%{customdata}<extra>" + name + "</extra>",
            panel=panel,
        )
        ends.append(End(name, colour, float(value[-1])))
    return ends


def _limits(*tables: pd.DataFrame) -> dict[str, Any]:
    """Return range and ticks of an axis of errors with room for all bands."""
    joined = pd.concat(tables)
    return decimals(np.concatenate(error_ends(joined["value"], joined["half"])))


_MEASURED = {
    "average": "mean error of the tasks seen",
    "newest": "error on the newest task",
    "before": "error on the newest task before learning it",
}


def method_curves(table: pd.DataFrame, kind: Literal["average", "newest", "before"] = "average") -> go.Figure:
    """Return errors of the given kind by step, one line per method, of `imrc.evaluation.comparison.curve_table`."""
    traces = Traces()
    ends = _add_methods(traces, table)
    limits, height = _limits(table), 430
    return chart(
        [*traces, *band_key(table)],
        axis("step (tasks learnt)", **whole_numbers(int(table["x"].max()))),
        axis(_MEASURED[kind], **limits),
        title="Which methods improve as tasks arrive?",
        height=height,
        hovermode="x unified",
        ends=line_ends(ends, limits["range"], height - 130),
    )


def sample_and_task_curves(by_n: pd.DataFrame, by_k: pd.DataFrame) -> go.Figure:
    """Return the two panels of the paper: error against samples per task, and against the number of tasks.

    `by_n` is from `imrc.evaluation.comparison.sample_size_table`, `by_k` from `curve_table` with ``by="k"``.
    """
    traces = Traces()
    _add_methods(traces, by_n)
    ends = _add_methods(traces, by_k, panel=2)
    limits, height = _limits(by_n, by_k), 450
    return panels(
        [*traces, *band_key(by_n)],
        ("Error against n", "Error against k"),
        [
            samples_axis(by_n["x"].unique()),
            axis("tasks k", **whole_numbers(int(by_k["x"].max()), 8)),
        ],
        [axis(**limits)] * 2,
        gap=0.06,
        share_y=True,
        title="How much do more samples and more tasks help?",
        height=height,
        ends=line_ends(ends, limits["range"], height - 160, panel=2),
    )
