"""The paper's curve for any sequence: errors against the number of consecutive tasks k, and against n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._axes import decimals, whole_numbers
from imrc.plots._panels import Traces, axis, band_key, panels
from imrc.plots._style import COLOURS, NAMES

_BY_SIZE = ("solid", "dash", "dot", "dashdot")
"""Line styles of several n: colours are those of the rules everywhere."""


def window_curves(table: pd.DataFrame, *, raw: bool = False) -> go.Figure:
    """Return errors against the number of consecutive tasks, and against n (if several), from `window_table`.

    Divided by that of single-task learning, unless `raw`; `table` is of one sequence and preset.
    """
    value, half = ("error", "half") if raw else ("ratio", "ratio_half")
    stderr = "stderr" if raw else "ratio_stderr"
    sizes = sorted(table["n"].unique())
    rules = [rule for rule in NAMES if rule in set(table["rule"]) and (raw or rule != "single")]
    traces = Traces()
    for rule in rules:
        for n, dash in zip(sizes, _BY_SIZE * len(sizes), strict=False):
            part = table[(table["rule"] == rule) & (table["n"] == n)].sort_values("k")
            _line(traces, part["k"], part[value], part[half], COLOURS[rule], dash, f"{NAMES[rule]}, n = {n}", 1)
    if not raw:
        _level(traces, [table["k"].min(), table["k"].max()], 1)
    titles, x_axes = ["Against k"], [axis("consecutive tasks k", **whole_numbers(int(table["k"].max()), 8))]
    if len(sizes) > 1:
        lengths = _two_lengths(table["k"].unique())
        for rule in rules:
            for k, dash in zip(lengths, _BY_SIZE, strict=False):
                part = table[(table["rule"] == rule) & (table["k"] == k)].sort_values("n")
                name = f"{NAMES[rule]}, k = {k}"
                _line(traces, part["n"], part[value], part[half], COLOURS[rule], dash, name, 2)
        if not raw:
            _level(traces, [sizes[0], sizes[-1]], 2)
        titles.append(f"Against n, k = {' and '.join(map(str, lengths))}")
        ticks = {"tickvals": sizes, "ticktext": [str(n) for n in sizes]}
        x_axes.append(axis("samples n per task", type="log", **ticks))
    shown = table[table["rule"].isin(rules)]
    spread = np.nan_to_num(shown[half].to_numpy())
    ends = np.concatenate([shown[value] - spread, shown[value] + spread, [] if raw else [1.0]])
    y_axes = [axis("error" if raw else "error / single-task error", **decimals(ends))]
    named = shown.assign(stderr=shown[stderr])
    return panels(
        [*traces, *band_key(named)],
        titles,
        x_axes,
        [*y_axes, *[axis(**decimals(ends))] * (len(titles) - 1)],
        gap=0.06,
        share_y=True,
        title="How much do more tasks help?",
        height=450,
    )


def _two_lengths(lengths: Sequence[int]) -> list[int]:
    """Return two numbers of tasks to compare: about a tenth of the longest, and the longest up to 10 of them all."""
    ordered = sorted(int(k) for k in lengths)
    middle = min(ordered, key=lambda k: abs(k - 10))
    return sorted({ordered[len(ordered) // 4], middle} if middle != ordered[0] else {ordered[0], ordered[-1]})


def _line(
    traces: Traces, x: pd.Series, y: pd.Series, half: pd.Series, colour: str, dash: str, name: str, panel: int
) -> None:
    if np.isfinite(half).all() and len(x) > 1:
        low, high = (y - half).to_numpy(), (y + half).to_numpy()
        traces.band(x.to_numpy(), low, high, colour, 0.13, showlegend=False, panel=panel, legendgroup=name)
    said = [f" ± {value:.3f}" if np.isfinite(value) else "" for value in half]
    traces.add(
        x=x,
        y=y,
        mode="lines+markers",
        name=name,
        legendgroup=name,
        line={"color": colour, "width": 2, "dash": dash},
        marker={"size": 5},
        customdata=said,
        hovertemplate="%{x}: %{y:.3f}%{customdata}<extra>" + name + "</extra>",
        panel=panel,
    )


def _level(traces: Traces, x: Sequence[int], panel: int) -> None:
    shown: dict[str, Any] = {"legendgroup": "single", "showlegend": panel == 1, "panel": panel}
    traces.straight(x, [1.0, 1.0], NAMES["single"], COLOURS["single"], dash="dot", **shown)
