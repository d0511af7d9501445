"""Figures of the comparison: errors side by side, differences with their intervals, curves by step, n and k."""

from __future__ import annotations

import html
import math
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._drawing import COLOURS, DASHES, LEGEND_PX, Chart, decimals, error_ends, whiskers, whole_numbers
from imrc.plots.result import limits
from imrc.wording import decimal, fewest, signed, with_spread

METHOD_COLOURS = {
    "pooled": COLOURS["pooled"],
    "gem": "#6B8E00",
    "mer": "#D55E00",
    "ella": "#CC79A7",
    "ewc": "#3A9BD5",
    "condor": "#7B5EA7",
    "driftsurf": "#A6761D",
    "aue": "#B3001B",
}
"""Okabe and Ito's colours, extended; other references have that of references."""

METHOD_DASHES = {
    "majority": "dot",
    "logistic_single": "dash",
    "logistic_recent": "longdash",
    "logistic_seen": "dashdot",
    "oracle": "longdashdot",
}
"""References share one colour and differ in this; published methods are drawn through."""

_NAMES: dict[str, Any] = {"tickfont": {"size": 12}, "showgrid": True}


def _rows_px(table: pd.DataFrame) -> int:
    """Return how high a list of methods is, which has at least the room of five."""
    return max(17 * len(table), 90)


def _rule_of(method: str) -> str | None:
    """Return the rule of IMRC that a name in a score table means."""
    return (*method.split(":"), "forward_backward")[2] if method.startswith("imrc:") else None


def _is_paper(method: str) -> bool:
    return method.startswith("imrc:paper")


def colour_of(method: str) -> str:
    """Return the colour of a method; its profiles share it, IMRC's rules have theirs."""
    return COLOURS.get(_rule_of(method) or "", METHOD_COLOURS.get(method.partition(":")[0], COLOURS["reference"]))


def method_errors(table: pd.DataFrame) -> go.Figure:
    """Return errors of all methods of a `comparison_table`, best at the top, with bands and printed numbers if any."""
    rows, measure = table.iloc[::-1], table["measure"].iloc[0]
    low, high = error_ends(rows["error"], rows["half"])
    printed = rows[rows["printed"].notna()] if "printed" in rows else rows[:0]
    bars = "bars: 95 % intervals" if np.isfinite(rows["half"]).any() else ""
    height = 84 + LEGEND_PX * bool(len(printed)) + _rows_px(rows)
    drawn = Chart(f"Which method makes {fewest(measure)}?", bars, height=height)
    drawn.x(**decimals(np.concatenate([low, high, printed.get("printed", ())]), ticks=6))
    drawn.names(table["title"], **_NAMES)
    told = map(with_spread, rows["error"], rows["half"]), map(decimal, rows["newest"]), rows["rank"]
    look: dict[str, Any] = {
        "symbol": ["circle-open" if _is_paper(name) else "circle" for name in rows["method"]],
        "error_x": whiskers(high - rows["error"], rows["error"] - low, colour=COLOURS["reference"], thickness=2),
        "said": "<b>%{y}</b><br>%{customdata[0]}<br>newest task %{customdata[1]}<br>mean rank %{customdata[2]:.1f}",
        "customdata": list(zip(*told, strict=True)),
    }
    colours = list(map(colour_of, rows["method"]))
    drawn.dots(rows["error"], rows["title"], "Measured here", colours, size=11, edge=2, **look)
    if len(printed):
        look = {"symbol": "diamond-open", "edge": 1.5, "said": "%{y}, paper: %{customdata}"}
        look["customdata"] = [decimal(value, 2) for value in printed["printed"]]
        drawn.dots(printed["printed"], printed["title"], "Printed in the paper", COLOURS["reference"], **look)
    return drawn.figure(legend=len(printed) > 0, below=30)


_VERDICTS = {
    "better": ("Fewer errors", COLOURS["forward_backward"], "circle"),
    "worse": ("More errors", "#B45309", "circle"),
    "no clear difference": ("May be noise: the interval contains 0", COLOURS["single"], "circle-open"),
    "untested": ("Not tested: one repetition", COLOURS["single"], "x-thin-open"),
}


def method_differences(table: pd.DataFrame) -> go.Figure:
    """Return differences to the reference method with the intervals they are judged by; hollow where these contain 0.

    `table` is from `imrc.evaluation.comparison.comparison_table`.
    """
    reference = table.loc[table["verdict"] == "reference", "title"].iloc[0]
    rows = table[table["verdict"] != "reference"].iloc[::-1]
    told = f"error minus that of {html.escape(reference)}"
    drawn = Chart("Which differences are more than noise?", told, height=134 + _rows_px(rows))
    drawn.x("difference in error", **decimals([0.0, *rows["difference"], *rows["low"], *rows["high"]], sign=True))
    drawn.names(rows["title"][::-1], **_NAMES)
    for verdict, (name, colour, symbol) in _VERDICTS.items():
        part = rows[rows["verdict"] == verdict]
        if not len(part):
            continue
        pairs = zip(part["low"], part["high"], strict=True)
        intervals = [f"<br>{signed(low)} to {signed(high)}" if np.isfinite(low) else "" for low, high in pairs]
        # As tested: the interval of a difference that was corrected more is wider.
        above, below = (np.nan_to_num(part[end] - part["difference"]) for end in ("high", "low"))
        look = {"size": 11, "edge": 2, "error_x": whiskers(above, -below, colour=colour, thickness=2)}
        said = {"customdata": list(zip(map(signed, part["difference"]), intervals, strict=True))}
        look |= {"symbol": symbol, "said": "<b>%{y}</b><br>%{customdata[0]}%{customdata[1]}"}
        drawn.dots(part["difference"], part["title"], name, colour, **look, **said)
    zero = {"type": "line", "x0": 0, "x1": 0, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    return drawn.figure(shapes=[{**zero, "line": {"color": COLOURS["reference"], "width": 1.5, "dash": "dash"}}])


def _add_methods(drawn: Chart, table: pd.DataFrame, panel: int = 1) -> None:
    """Draw one line with its band per method."""
    for method, part in table.astype({"method": str}).groupby("method", sort=False):
        rule, paper = _rule_of(method), _is_paper(method)
        dash = DASHES[rule] if rule else METHOD_DASHES.get(method.partition(":")[0], "solid")
        look = {"width": 3 if rule == "forward_backward" else 2, "dash": dash, "few": math.inf if paper else 12}
        points = (part[column].to_numpy() for column in ("x", "value", "half"))
        symbol = {"symbol": "circle-open" if paper else "circle"}
        name = html.escape(str(part["title"].iloc[0]))
        drawn.curve(points, name, colour_of(method), 0.13, marker=symbol, panel=panel, **look)


_MEASURED = {
    "average": "mean error of the tasks seen",
    "newest": "error on the newest task",
    "before": "error on the newest task before learning it",
}


def method_curves(table: pd.DataFrame, kind: Literal["average", "newest", "before"] = "average") -> go.Figure:
    """Return errors of the given kind by step, one line per method, of `imrc.evaluation.comparison.curve_table`."""
    drawn = Chart("Which methods improve as tasks arrive?", height=430)
    drawn.x("step (tasks learnt)", **whole_numbers(int(table["x"].max())))
    drawn.y(_MEASURED[kind], **limits(table))
    _add_methods(drawn, table)
    drawn.band_key(table)
    return drawn.figure(hovermode="x unified", ends=True)


def sample_and_task_curves(by_n: pd.DataFrame, by_k: pd.DataFrame) -> go.Figure:
    """Return the two panels of the paper: error against samples per task, and against the number of tasks.

    `by_n` is from `imrc.evaluation.comparison.sample_size_table`, `by_k` from `curve_table` with ``by="k"``.
    """
    titles = "Error against n", "Error against k"
    drawn = Chart("How much do more samples and more tasks help?", height=450, titles=titles)
    drawn.samples(by_n["x"].unique(), panel=1)
    drawn.x("tasks k", panel=2, **whole_numbers(int(by_k["x"].max()), 8))
    drawn.y(**limits(pd.concat([by_n, by_k])))
    _add_methods(drawn, by_n)
    _add_methods(drawn, by_k, 2)
    drawn.band_key(by_n)
    return drawn.figure(share_y=True, ends=True)
