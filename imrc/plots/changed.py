"""What changed: the largest changes as small multiples, and changes of images as images."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import plotly.graph_objects as go

from imrc.diagnostics.changed import KIND_TITLES, Changed, moves
from imrc.plots._axes import task_ticks
from imrc.plots._panels import Traces, axis, colour_axis, image_cells, panels
from imrc.plots._style import DATA
from imrc.plots._themes import DIFFERENCE
from imrc.plots.task_pictures import image_side

PER_ROW = 3
_ROWS = 3
"""Classes whose images are shown."""
_GAP = 1
_LONGEST = 30


def changed_panels(result: Changed, first: int = 0) -> go.Figure:
    """Return three of the largest changes over the tasks, from row `first` on, with what no change would be."""
    rows = range(first, min(first + PER_ROW, len(result.table)))
    traces, titles = Traces(), []
    for number, row in enumerate(rows, start=1):
        kind, c, column = (result.table.loc[row, name] for name in ("kind", "class_index", "column_index"))
        values, errors = moves(result.counted, kind, int(c))
        value, error = (part[:, int(c if kind == "label" else column)] for part in (values, errors))
        there = np.flatnonzero(np.isfinite(value))
        x = there + 1.0
        name = result.row_name(row)
        short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        titles.append(f"{html.escape(short)}<br><span style='font-size:12px'>{KIND_TITLES[kind]}</span>")
        shown: dict[str, Any] = {"panel": number, "showlegend": number == 1 and first == 0}
        level = float(np.average(value[there], weights=1.0 / np.maximum(error[there], 1e-12) ** 2))
        low, high = value[there] - 1.96 * error[there], value[there] + 1.96 * error[there]
        traces.band(x, low, high, DATA, 0.2, name="95 % interval of each task", legendgroup="band", **shown)
        traces.straight([1, result.k], [level, level], "mean of all tasks", legendgroup="mean", **shown)
        traces.add(
            x=x,
            y=value[there],
            mode="lines+markers" if len(x) <= 60 else "lines",
            name="average of the task",
            legendgroup="value",
            line={"color": DATA, "width": 2},
            marker={"size": 6},
            customdata=[html.escape(result.labels[i]) for i in there],
            hovertemplate="task %{x} (%{customdata}): %{y:.3g}<extra></extra>",
            **shown,
        )
    ticks = task_ticks(result.labels, ticks=4)
    return panels(
        traces,
        titles,
        [axis("task", **ticks)] * len(titles),
        [axis("share" if "share of" in title else "average") for title in titles],
        gap=0.09,
        title="What changed most?" if first == 0 else "What changed next?",
        height=360,
        above=100,
        title_size=13,
    )


def changed_images(result: Changed) -> go.Figure | None:
    """Return average images by class in the first and last third of the tasks, and differences; None: no images."""
    side = image_side(result.columns)
    if side is None:
        return None
    counted, third = result.counted, max(1, result.k // 3)
    spread = np.sqrt((counted.n.sum(axis=0)[:, None] * counted.variance).sum(axis=0) / counted.n.sum())
    classes = sorted(np.argsort(-counted.n.sum(axis=0), kind="stable")[:_ROWS].tolist())
    step = side + _GAP
    averages = np.full((len(classes) * step - _GAP, 2 * step - _GAP), np.nan)
    change = np.full((len(classes) * step - _GAP, side), np.nan)
    for row, c in enumerate(classes):
        place = slice(row * step, row * step + side)
        early, late = (
            (counted.n[part, c, None] * counted.mean[part, c]).sum(axis=0) / max(counted.n[part, c].sum(), 1.0)
            for part in (slice(third), slice(-third, None))
        )
        averages[place, :side], averages[place, step:] = early.reshape(side, side), late.reshape(side, side)
        moved = np.where(spread > 0, (late - early) / np.where(spread > 0, spread, 1.0), 0.0)
        change[place] = moved.reshape(side, side)
    most = max(float(np.nanmax(np.abs(change))), 1e-9)
    centre = (side - 1) / 2
    quiet: dict[str, Any] = {"showgrid": False, "ticks": "", "constrain": "domain"}
    down = {
        **quiet,
        "autorange": "reversed",
        "tickvals": [row * step + centre for row in range(len(classes))],
        "ticktext": [html.escape(result.classes[c]) for c in classes],
    }
    names = [f"tasks 1 to {third}", f"tasks {result.k - third + 1} to {result.k}"] if third > 1 else ["first", "last"]
    brightest = float(np.nanmax(averages))
    traces = Traces([image_cells(averages, zmax=brightest, hovertemplate="average %{z:.3g}<extra></extra>")])
    said = "change %{z:+.2f} sd<extra></extra>"
    traces.add(kind="heatmap", z=change, coloraxis=DIFFERENCE, hoverongaps=False, hovertemplate=said, panel=2)
    bar = {"title": {"text": "change in sd", "font": {"size": 12}}, "thickness": 12}
    return panels(
        traces,
        ["Average image", "Late less early"],
        [
            axis(tickvals=[centre, step + centre], ticktext=names, **quiet),
            axis(showticklabels=False, **quiet),
        ],
        [axis(scaleanchor="x", **down), axis(scaleanchor="x2", **{**down, "showticklabels": False})],
        gap=0.08,
        title="What do the classes look like early and late?",
        height=110 + 150 * len(classes),
        legend=False,
        **colour_axis(DIFFERENCE, -most, most, bar),
    )
