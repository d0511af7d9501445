"""The paper's curves for any sequence: errors against k and n, running time, and uncertainty sets of one task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._axes import decimals, whole_numbers
from imrc.plots._panels import Traces, axis, band_key, chart, panels
from imrc.plots._style import COLOURS, NAMES

_BY_SIZE = ("solid", "dash", "dot", "dashdot")
"""Line styles of several n: colours are those of the rules everywhere."""
_STEPS = ("#9ECAE1", "#6BAED6", "#4292C6", "#2171B5", "#084594")
"""Shades of more backward steps."""


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


def growth_curves(table: pd.DataFrame) -> go.Figure:
    """Return running time (`growth_table`) against n, and k at the smallest and largest n, a line per b."""
    sizes, longest = sorted(table["n"].unique()), int(table["k"].max())
    traces, titles, x_axes = Traces(), [], []
    shades = dict(zip(sorted(table["b"].unique()), _STEPS, strict=False))
    if len(sizes) > 1:
        titles.append(f"Against n, k = {longest}")
        x_axes.append(axis("samples n per task", rangemode="tozero"))
    titles += [f"Against k, n = {n}" for n in dict.fromkeys([sizes[0], sizes[-1]])]
    x_axes += [axis("tasks k", rangemode="tozero", **whole_numbers(longest, 6))] * (len(titles) - len(x_axes))
    for b, colour in shades.items():
        of_b = table[table["b"] == b]
        parts = [of_b[of_b["k"] == longest].sort_values("n").assign(x=lambda part: part["n"])] if len(sizes) > 1 else []
        for n in dict.fromkeys([sizes[0], sizes[-1]]):
            parts.append(of_b[of_b["n"] == n].sort_values("k").assign(x=lambda part: part["k"]))
        for panel, part in enumerate(parts, start=1):
            traces.add(
                x=part["x"],
                y=part["seconds"],
                mode="lines+markers",
                name=f"b = {b}",
                legendgroup=f"b{b}",
                showlegend=panel == 1,
                line={"color": colour, "width": 2},
                marker={"size": 5},
                hovertemplate=f"b = {b}, %{{x}}: %{{y:.3g}} s<extra></extra>",
                panel=panel,
            )
    return panels(
        traces,
        titles,
        x_axes,
        [axis("seconds" if i == 0 else None, rangemode="tozero") for i in range(len(titles))],
        gap=0.08,
        title="How does the running time grow?",
        height=400,
    )


def uncertainty_boxes(table: pd.DataFrame, names: tuple[str, str], label: str) -> go.Figure:
    """Return the rules' `uncertainty_sets` for one task in two components, and the way of the tasks' own means."""
    truth = table[table["set"] == "truth"]
    task = int(table.loc[table["set"] != "truth", "task"].iloc[0])
    traces = Traces()
    traces.add(
        x=truth["x"],
        y=truth["y"],
        mode="lines+markers",
        name="Averages of all samples, task by task",
        line={"color": COLOURS["reference"], "width": 1},
        marker={"size": 4},
        customdata=truth["task"],
        hovertemplate="task %{customdata}<extra>average of all samples</extra>",
    )
    for rule, name in NAMES.items():
        row = table[table["set"] == rule].iloc[0]
        x, y = (np.array([row[c] - row[f"{c}_half"], row[c] + row[f"{c}_half"]]) for c in ("x", "y"))
        area = 4.0 * row["x_half"] * row["y_half"]
        traces.add(
            x=[x[0], x[1], x[1], x[0], x[0]],
            y=[y[0], y[0], y[1], y[1], y[0]],
            mode="lines",
            name=f"{name}, area {area:.2g}",
            line={"color": COLOURS[rule], "width": 2.5},
            hovertemplate=f"{name}<extra></extra>",
        )
    here = truth[truth["task"] == task]
    traces.add(
        x=here["x"],
        y=here["y"],
        mode="markers",
        name=f"Task {task}, all samples",
        marker={"size": 12, "symbol": "x", "color": COLOURS["reference"]},
        hovertemplate=f"task {task}, all samples<extra></extra>",
    )
    return chart(
        traces,
        axis(f"{names[0]}, class {label}"),
        axis(f"{names[1]}, class {label}"),
        title=f"What is known of task {task}?",
        height=480,
    )
