"""Pictures of the lessons: tries of one task, tasks one after another, gains by drift, boxes, and what goes wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc._checks import check_int
from imrc._types import Floats
from imrc.plots._axes import whole_numbers
from imrc.plots._panels import End, Traces, axis, bars, chart, line_ends, panels
from imrc.plots._style import COLOURS, DASHES, NAMES
from imrc.teaching import DRIFTS, SEPARATION, TASKS, World, track

_HEIGHT, _LARGE_HEIGHT = 410, 385
"""With room for the title; with all that stands above it, a picture ends within 720 pixels."""
CLASSES = (("class 1", "#0072B2", "circle"), ("class 2", "#CC79A7", "diamond"))
_PLAYER_PX = 75
"""Play and the slider above a picture take this."""
_LARGE = 1.3
_AROUND_PX = 130
"""Of these, title, ticks and names of axes."""
_REACH = (5.0, 3.2)
"""Half the width and height of the picture of one task, in standard deviations inside a class."""


def _sized(figure: go.Figure, large: bool) -> go.Figure:
    """Make text, lines and points larger, for a projector."""
    if large:
        figure.layout.height -= _HEIGHT - _LARGE_HEIGHT
        template = figure.layout.template.layout
        figure.update_layout(font_size=round(_LARGE * template.font.size))
        for axes in (figure.select_xaxes(), figure.select_yaxes()):
            for one in axes:
                one.title.font.size = round(_LARGE * 13)
        for note in figure.layout.annotations:
            note.font.size = round(_LARGE * (note.font.size or 13))
        for trace in figure.data:
            if trace.marker.size is not None:
                trace.marker.size *= _LARGE
            if trace.line.width is not None:
                trace.line.width *= _LARGE
        figure.layout.margin.r *= _LARGE if figure.layout.margin.r > 40 else 1
    return figure


def _note(text: str, x: float, y: float, colour: str | None, **own: Any) -> dict[str, Any]:  # noqa: ANN401 - Plotly's properties
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": {"size": 13, "color": colour}, **own}


def _ends(values: dict[str, float], limits: tuple[float, float], panel: int = 1) -> list[dict[str, Any]]:
    """Return the names of lines, beside the plot at the height of their last points."""
    ends = [End(NAMES.get(rule, rule), COLOURS.get(rule, COLOURS["reference"]), y) for rule, y in values.items()]
    return line_ends(ends, limits, _HEIGHT - _AROUND_PX, panel=panel, width=12)


def tries_chart(samples: Floats, boundaries: Floats, *, large: bool = False) -> go.Figure:
    """Return samples of `try_one_task` with the boundaries of several tries, and the best; large for a projector."""
    traces = Traces()
    x: list[float | None] = []
    y: list[float | None] = []
    for w0, w1, w2 in boundaries:
        # Two points far outside the picture, at both ends of the line.
        normal = np.array([w1, w2])
        foot, along = -w0 * normal / (normal @ normal), np.array([-w2, w1]) / np.linalg.norm(normal)
        ends = foot + 20.0 * np.array([[-1.0], [1.0]]) * along
        x += [*ends[:, 0], None]
        y += [*ends[:, 1], None]
    grey = {"color": COLOURS["single"], "width": 1}
    traces.add(x=x, y=y, mode="lines", name="boundaries learnt", line=grey, opacity=0.7, hoverinfo="skip")
    traces.add(x=x[:2], y=y[:2], mode="lines", name="from these samples", line={**grey, "width": 4, "dash": "dot"})
    traces.straight([0.0, 0.0], [-20.0, 20.0], "best possible", None, width=3)
    for (name, colour, symbol), points in zip(CLASSES, samples.reshape(2, -1, 2), strict=True):
        traces.add(
            x=points[:, 0],
            y=points[:, 1],
            mode="markers",
            name=f"samples of {name}",
            marker={"color": colour, "symbol": symbol, "size": 9},
            hovertemplate="%{x:.2f}, %{y:.2f}<extra>" + name + "</extra>",
        )
    (right, top), middle = _REACH, SEPARATION / 2.0
    notes = [
        _note("best possible", 0.0, top, None, xanchor="left", xshift=6, yanchor="top"),
        *(
            _note(name, side * (middle + 2.0), -top, colour, yanchor="bottom")
            for side, (name, colour, _) in zip((-1.0, 1.0), CLASSES, strict=True)
        ),
    ]
    figure = chart(
        traces,
        axis("first feature", range=[-right, right]),
        axis("second feature", range=[-top, top]),
        title=f"{len(boundaries)} tries, each with other samples",
        height=_HEIGHT,
        legend=False,
        annotations=notes,
    )
    return _sized(figure, large)


def sequence_chart(
    world: World,
    newest: int,
    b: int = 0,
    *,
    rules: tuple[str, ...] = ("single", "forward"),
    large: bool = False,
) -> go.Figure:
    """Return what is known when task `newest`, from 0, has just arrived: an average of every task, and its worth.

    Of the first sequence of the world; axes are the same for every `newest`.
    """
    k = len(world.truth)
    newest = check_int("newest", newest, 0, k - 1)
    found = track(world.until(newest), b)
    tasks = np.arange(1, newest + 2)
    truth = world.truth[:, 0, 2]
    traces = Traces()
    traces.add(
        x=tasks,
        y=truth[: newest + 1],
        mode="lines",
        name="truth",
        line={"width": 2, "dash": "dash"},
        hovertemplate="task %{x}: %{y:.2f}<extra>truth</extra>",
    )
    for rule in rules:
        mean, half = found[rule][0][:, 0, 2], np.sqrt(found[rule][1][:, 0, 2])
        alone = rule == "single"
        if not alone:
            traces.band(tasks, mean - half, mean + half, COLOURS[rule], 0.2, name=f"{NAMES[rule]}, box")
        traces.add(
            x=tasks,
            y=mean,
            mode="markers" if alone else "lines+markers",
            name=NAMES[rule],
            marker={"color": COLOURS[rule], "size": 8 if alone else 5},
            line={"color": COLOURS[rule], "width": 3, "dash": DASHES[rule]},
            error_y=bars(half, colour=COLOURS[rule], visible=alone),
            hovertemplate="task %{x}: %{y:.2f}<extra>" + NAMES[rule] + "</extra>",
        )
        traces.add(
            x=tasks,
            y=2.0 / found[rule][1][:, 0, 2],
            mode="lines+markers",
            name=f"{NAMES[rule]}, samples",
            marker={"color": COLOURS[rule], "size": 6},
            line={"color": COLOURS[rule], "width": 3, "dash": DASHES[rule]},
            hovertemplate="task %{x}: %{y:.0f} samples<extra>" + NAMES[rule] + "</extra>",
            panel=2,
        )
    # The same limits for every task that can be the newest, so that nothing jumps while it plays.
    spread = 2.2 * np.sqrt(2.0 / world.n)
    low, high = float(truth.min() - spread), float(truth.max() + spread)
    most = 1.12 * max(float(2.0 / mse.min()) for _, mse in track(world, b).values())
    at_end = {rule: float(2.0 / found[rule][1][newest, 0, 2]) for rule in rules}
    across = axis("task", **whole_numbers(k, 8), range=[0.5, k + 0.5])
    figure = panels(
        traces,
        ("One average, truth and belief", "Samples each task is worth"),
        [across, across],
        [axis(None, range=[low, high]), axis(None, range=[0.0, most])],
        gap=0.2,
        title=f"Task {newest + 1} has just arrived",
        height=_HEIGHT - _PLAYER_PX,
        legend=False,
        ends=_ends({"truth": float(truth[newest])}, (low, high)) + _ends(at_end, (0.0, most), panel=2),
    )
    return _sized(figure, large)


def _add_errors(traces: Traces, part: pd.DataFrame, rule: str, x: str, mode: str) -> float:
    """Draw avoidable errors in 100 with their 95 % band against a column; return the last of them."""
    name, errors = NAMES[rule], 100.0 * part["avoidable"].to_numpy()
    half = 196.0 * part["avoidable_se"].to_numpy()
    traces.band(part[x].to_numpy(), errors - half, errors + half, COLOURS[rule], 0.2, name=f"{name}, band")
    traces.add(
        x=part[x],
        y=errors,
        mode=mode,
        name=name,
        marker={"color": COLOURS[rule], "size": 5},
        line={"color": COLOURS[rule], "width": 3, "dash": DASHES[rule]},
        hovertemplate=x + " %{x}: %{y:.2f} errors in 100<extra>" + name + "</extra>",
    )
    return float(errors[-1])


def drift_chart(table: pd.DataFrame, now: pd.DataFrame, drift: float, *, large: bool = False) -> go.Figure:
    """Return errors above the best possible against drift.

    `table` is from `drift_table` (without rows one drift only is shown), `now` from `summary`, for the drift chosen.
    """
    traces = Traces()
    ends: dict[str, float] = {}
    last = max(DRIFTS[-1], drift)
    for rule, name in NAMES.items():
        line = table[table["rule"] == rule]
        point = 100.0 * float(now.set_index("rule").loc[rule, "avoidable"])
        ends[rule] = _add_errors(traces, line, rule, "drift", "lines") if len(line) else point
        traces.add(
            x=[drift],
            y=[point],
            mode="markers",
            name=f"{name}, at this drift",
            marker={"color": COLOURS[rule], "size": 12},
            hovertemplate="drift %{x}: %{y:.2f} errors in 100<extra>" + name + "</extra>",
        )
    top = 125.0 * float(now["avoidable"].max())
    figure = chart(
        traces,
        axis("drift: size of a change from task to task", range=[-0.04, last + 0.04], tickvals=[0, 0.5, 1.0, 1.5]),
        axis("avoidable errors in 100", range=[0.0, top], tickformat=".1~f"),
        title="What is left above the best possible",
        height=_HEIGHT,
        legend=False,
        ends=_ends(ends, (0.0, top)),
    )
    return _sized(figure, large)


def box_chart(table: pd.DataFrame, *, large: bool = False) -> go.Figure:
    """Return the centres of the boxes of `box_table` around the truth: those that hold it and those that do not.

    One panel per rule; the square is the box of the middle size, drawn around the truth: a centre inside it has a box
    that holds the truth.
    """
    traces, titles = Traces(), []
    reach = 1.05 * float(max(table["off_1"].abs().max(), table["off_2"].abs().max()))
    for panel, (rule, name) in enumerate(NAMES.items(), start=1):
        part = table[table["rule"] == rule]
        titles.append(f"{name}<br>{part['holds'].mean():.0%} hold the truth".replace("%", " %"))
        a, b = part["half_1"].median(), part["half_2"].median()
        for holds, colour, symbol in ((True, COLOURS[rule], "circle"), (False, "#8A93A0", "x-thin-open")):
            points = part[part["holds"] == holds]
            traces.add(
                x=points["off_1"],
                y=points["off_2"],
                mode="markers",
                name=f"{name}, box {'holds' if holds else 'misses'} the truth",
                marker={"color": colour, "size": 5, "symbol": symbol},
                hovertemplate="off by %{x:.2f}, %{y:.2f}<extra>" + name + "</extra>",
                panel=panel,
            )
        traces.add(
            x=[-a, a, a, -a, -a],
            y=[-b, -b, b, b, -b],
            mode="lines",
            name=f"{name}, box",
            fill="toself",
            fillcolor="rgba(128,136,150,0.18)",
            line={"color": COLOURS[rule], "width": 3},
            hoverinfo="skip",
            panel=panel,
        )
        traces.add(
            x=[0.0],
            y=[0.0],
            mode="markers",
            name="truth",
            marker={"size": 11, "symbol": "cross"},
            hoverinfo="skip",
            panel=panel,
        )
    limits: dict[str, Any] = {"range": [-reach, reach], "nticks": 5}
    figure = panels(
        traces,
        titles,
        [axis("off by, first feature", **limits)] * 3,
        [axis("off by, second feature", **limits), axis(**limits), axis(**limits)],
        gap=0.04,
        share_y=True,
        above=112,
        title="Where the estimate lies around the truth",
        height=_HEIGHT,
        legend=False,
    )
    return _sized(figure, large)


def task_chart(table: pd.DataFrame, *, large: bool = False) -> go.Figure:
    """Return errors above the best possible, task by task, from `task_table`."""
    traces = Traces()
    ends: dict[str, float] = {}
    for rule in NAMES:
        ends[rule] = _add_errors(traces, table[table["rule"] == rule], rule, "task", "lines+markers")
    k, top = int(table["task"].max()), 112.0 * float(table["avoidable"].max())
    figure = chart(
        traces,
        axis("task", **whole_numbers(k, TASKS + 1), range=[0.5, k + 0.5]),
        axis("avoidable errors in 100", range=[0.0, top], tickformat=".1~f"),
        title="What each task pays above the best possible",
        height=_HEIGHT,
        legend=False,
        ends=_ends(ends, (0.0, top)),
    )
    return _sized(figure, large)
