"""The teaching simulation as one animated figure, and coverage over many runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from imrc._checks import check_int
from imrc.plots._axes import whole_numbers
from imrc.plots._panels import Traces, axis, chart, on_panel, panel_title, panels
from imrc.plots._style import COLOURS, DASHES, GRID, INK, NAMES, band, rgba
from imrc.teaching import COMPONENTS, NOMINAL, Lesson
from imrc.wording import decimal

Floats = NDArray[np.float64]

_BELOW_PX = 150
_TITLES = ("Samples and rules", "Uncertainty sets", "One component of the mean vector, task by task")


@dataclass(frozen=True)
class _Place:
    """Where panels (left to right, bottom to top), controls and the sentence stand; pixels above the panels."""

    domains: tuple[tuple[list[float], list[float]], ...]
    inner_px: int
    top_px: int
    buttons_px: int
    slider_px: int
    slider_x: float
    text_px: int
    text_x: float
    text_size: int
    ticks: int

    @classmethod
    def for_page(cls, narrow: bool) -> _Place:
        """Return the places for a page that is as narrow as a phone, or not."""
        if narrow:
            third, gap = 0.8 / 3, 0.1
            rows = [[i * (third + gap), min(i * (third + gap) + third, 1.0)] for i in (2, 1, 0)]
            return cls(tuple(([0.0, 1.0], row) for row in rows), 900, 310, 262, 214, 0.0, 108, -0.14, 12, 8)
        upper, lower = [0.5296, 1.0], [0.0, 0.3696]
        domains = ([0.0, 0.44], upper), ([0.56, 1.0], upper), ([0.0, 1.0], lower)
        return cls(domains, 560, 258, 208, 208, 0.42, 106, 0.0, 14, 16)


CLASSES = (("class 1", "#0072B2", "circle"), ("class 2", "#CC79A7", "diamond"))
_REACH = 60.0


def _line(w: Floats) -> tuple[list[float], list[float]]:
    """Two far points of the line w0 + w1 x1 + w2 x2 = 0; none if the rule does not depend on x."""
    normal = w[1:]
    length = float(normal @ normal)
    if not np.isfinite(length) or length < 1e-18:
        return [], []
    foot = -w[0] * normal / length
    along = np.array([-normal[1], normal[0]]) / np.sqrt(length)
    ends = foot + _REACH * np.array([[-1.0], [1.0]]) * along
    return ends[:, 0].tolist(), ends[:, 1].tolist()


def _best_line(means: Floats) -> tuple[list[float], list[float]]:
    """Line half-way between two class means: the best boundary of equal spherical normal classes."""
    normal = means[1] - means[0]
    return _line(np.concatenate([[-normal @ means.mean(axis=0)], normal]))


def _box(centre: Floats, half: Floats) -> tuple[list[float], list[float]]:
    """Corners of a rectangle, closed."""
    (x, y), (a, b) = centre, half
    return [x - a, x + a, x + a, x - a, x - a], [y - b, y - b, y + b, y + b, y - b]


def _sample_traces(lesson: Lesson, step: int, task: int) -> list[dict[str, Any]]:
    """Return samples of one task with the best and the learnt boundaries."""
    traces = []
    for c, (name, colour, symbol) in enumerate(CLASSES):
        inside = lesson.y[task] == c
        traces.append(
            {
                "type": "scatter",
                "x": lesson.X[task][inside, 0],
                "y": lesson.X[task][inside, 1],
                "mode": "markers",
                "name": name,
                "marker": {"color": colour, "symbol": symbol, "size": 8, "opacity": 0.75},
                "hovertemplate": "%{x:.2f}, %{y:.2f}<extra>" + name + "</extra>",
            }
        )
    x, y = _best_line(lesson.class_means[task])
    traces.append(
        {
            "type": "scatter",
            "x": x,
            "y": y,
            "mode": "lines",
            "name": "best boundary (truth)",
            "line": {"color": COLOURS["truth"], "width": 2, "dash": "dash"},
            "hoverinfo": "skip",
        }
    )
    for rule in NAMES:
        x, y = _line(lesson.boundary[rule][step, task])
        traces.append(
            {
                "type": "scatter",
                "x": x,
                "y": y,
                "mode": "lines",
                "name": NAMES[rule],
                "legendgroup": rule,
                "line": {"color": COLOURS[rule], "width": 3, "dash": DASHES[rule]},
                "hoverinfo": "skip",
            }
        )
    return traces


def _box_traces(lesson: Lesson, step: int, task: int, pair: tuple[int, int]) -> list[dict[str, Any]]:
    """Uncertainty sets of one task in two components, tau +- sqrt(s), with the truth."""
    traces = []
    index = list(pair)
    for rule in NAMES:
        x, y = _box(lesson.mean[rule][step, task, index], np.sqrt(lesson.mse[rule][step, task, index]))
        traces.append(
            {
                "type": "scatter",
                "x": x,
                "y": y,
                "mode": "lines",
                "fill": "toself",
                "fillcolor": rgba(COLOURS[rule], 0.16),
                "name": f"uncertainty set, {NAMES[rule].lower()}",
                "legendgroup": rule,
                "showlegend": False,
                "line": {"color": COLOURS[rule], "width": 2.5, "dash": DASHES[rule]},
                "hoverinfo": "skip",
            }
        )
    truth = lesson.truth[task, index]
    traces.append(
        {
            "type": "scatter",
            "x": [truth[0]],
            "y": [truth[1]],
            "mode": "markers",
            "name": "true mean vector",
            "legendgroup": "truth",
            "marker": {"symbol": "x", "size": 11, "color": COLOURS["truth"]},
            "hovertemplate": "truth %{x:.3f}, %{y:.3f}<extra></extra>",
        }
    )
    return traces


def _track_traces(lesson: Lesson, step: int, task: int, component: int) -> list[dict[str, Any]]:
    """One component up to this step: truth, averages with error bars, forward and forward-and-backward bands."""
    seen = slice(0, step + 1)
    x = np.arange(1, step + 2)
    traces: list[dict[str, Any]] = []
    for rule in ("forward", "forward_backward"):
        value = lesson.mean[rule][step, seen, component]
        half = np.sqrt(lesson.mse[rule][step, seen, component])
        traces += [
            {
                "type": "scatter",
                **band(x, value - half, value + half, COLOURS[rule], 0.25),
                "name": f"{NAMES[rule].lower()}, band ± √s",
            },
            {
                "type": "scatter",
                "x": x,
                "y": value,
                "mode": "lines",
                "legendgroup": rule,
                "showlegend": False,
                "name": NAMES[rule],
                "line": {"color": COLOURS[rule], "width": 2.5, "dash": DASHES[rule]},
                "hovertemplate": "task %{x}: %{y:.3f}<extra>" + NAMES[rule] + "</extra>",
            },
        ]
    average = lesson.mean["single"][step, seen, component]
    traces.append(
        {
            "type": "scatter",
            "x": x,
            "y": average,
            "mode": "markers",
            "name": "sample average ± √s",
            "marker": {"color": COLOURS["single"], "size": 8},
            "error_y": {
                "type": "data",
                "array": np.sqrt(lesson.mse["single"][step, seen, component]),
                "color": COLOURS["single"],
                "width": 0,
            },
            "hovertemplate": "task %{x}: %{y:.3f}<extra>sample average</extra>",
        }
    )
    traces.append(
        {
            "type": "scatter",
            "x": x,
            "y": lesson.truth[seen, component],
            "mode": "lines",
            "name": "true mean",
            "line": {"color": COLOURS["truth"], "width": 2, "dash": "dash"},
            "hovertemplate": "task %{x}: %{y:.3f}<extra>truth</extra>",
        }
    )
    traces.append(
        {
            "type": "scatter",
            "x": [task + 1],
            "y": [average[task]],
            "mode": "markers",
            "name": "task shown above",
            "marker": {"symbol": "circle-open", "size": 17, "color": COLOURS["truth"], "line": {"width": 2}},
            "hoverinfo": "skip",
        }
    )
    return traces


def _moving(trace: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a trace that changes from step to step: frames stay small."""
    out = {"type": "scatter", "x": trace["x"], "y": trace["y"]}
    if "error_y" in trace:
        out["error_y"] = {"array": trace["error_y"]["array"]}
    return out


def _frame_traces(
    lesson: Lesson, step: int, watched: int, component: int, pair: tuple[int, int]
) -> tuple[list[dict[str, Any]], str]:
    """Return all traces of one step, and the sentence above them."""
    task = min(step, watched)
    traces = _sample_traces(lesson, step, task)
    traces += _box_traces(lesson, step, task, pair)
    traces += _track_traces(lesson, step, task, component)
    single, forward, both = (f"{NAMES[rule].lower()} {decimal(lesson.error[rule][step, task])}" for rule in NAMES)
    later = step - task
    when = "just learnt" if later == 0 else f"after {later} more task{'s' if later > 1 else ''}"
    # Short lines: the figure may be narrow.
    text = f"<b>Step {step + 1}: task {task + 1}, {when}</b><br>error: {single}, {forward},"
    text += f"<br>{both}; best possible {decimal(lesson.bayes[task])}"
    return traces, text


def _ranges(lesson: Lesson, component: int, pair: tuple[int, int], watched: int) -> dict[str, list[float]]:
    """Axis ranges that hold for all steps."""
    shown = np.unique([min(step, watched) for step in range(lesson.k)])
    low, high = lesson.X[shown].min(axis=(0, 1)), lesson.X[shown].max(axis=(0, 1))
    pad = 0.06 * (high - low)
    out = {"x": [low[0] - pad[0], high[0] + pad[0]], "y": [low[1] - pad[1], high[1] + pad[1]]}
    half = np.sqrt(lesson.mse["single"][-1])
    centre = lesson.mean["single"][-1]
    for name, c in zip(("x2", "y2"), pair, strict=True):
        left, right = (centre - half)[shown, c].min(), (centre + half)[shown, c].max()
        left, right = min(left, lesson.truth[shown, c].min()), max(right, lesson.truth[shown, c].max())
        out[name] = [left - 0.08 * (right - left), right + 0.08 * (right - left)]
    left, right = (centre - half)[:, component].min(), (centre + half)[:, component].max()
    left, right = min(left, lesson.truth[:, component].min()), max(right, lesson.truth[:, component].max())
    out["y3"] = [left - 0.08 * (right - left), right + 0.08 * (right - left)]
    return out


def lesson_animation(
    lesson: Lesson,
    watched: int,
    component: int = 4,
    pair: tuple[int, int] = (4, 5),
    start: int | None = None,
    *,
    narrow: bool = False,
) -> go.Figure:
    """Return the simulation with a step slider and Play: samples and boundaries, uncertainty sets, one component.

    Parameters
    ----------
    lesson : Lesson
        From `imrc.teaching.teach`.
    watched : int
        Task (from 0) shown once it has arrived; before that, the newest one.
    component : int
        Component of the lower panel, 0 to 5.
    pair : (int, int)
        Components of the uncertainty sets.
    start : int or None
        Step (from 0) shown at first; None: the last.
    narrow : bool
        Whether the three panels stand below each other, for phones.

    Returns
    -------
    Figure
        With one frame per step.
    """
    watched = check_int("watched", watched, 0, lesson.k - 1)
    component = check_int("component", component, 0, 5)
    start = lesson.k - 1 if start is None else check_int("start", start, 0, lesson.k - 1)
    place = _Place.for_page(narrow)
    titles = [
        panel_title(text, number, sum(x) / 2, y[1])
        for number, (text, (x, y)) in enumerate(zip(_TITLES, place.domains, strict=True), start=1)
    ]

    def said(words: str) -> dict[str, object]:
        return {
            "text": words,
            "x": place.text_x,
            "y": 1 + place.text_px / place.inner_px,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "top",
            "align": "left",
            "showarrow": False,
            "font": {"size": place.text_size},
        }

    frames = []
    for step in range(lesson.k):
        stepped, words = _frame_traces(lesson, step, watched, component, pair)
        frames.append(
            {
                "name": str(step + 1),
                "data": [_moving(trace) for trace in stepped],
                "traces": list(range(len(stepped))),
                "layout": {"annotations": [*titles, said(words)]},
            }
        )
    traces, text = _frame_traces(lesson, start, watched, component, pair)
    panel = [1] * 6 + [2] * 4 + [3] * (len(traces) - 10)
    ranges = _ranges(lesson, component, pair, watched)
    texts = [("first feature", "second feature"), tuple(COMPONENTS[c] for c in pair), ("task", COMPONENTS[component])]
    axes: dict[str, Any] = {}
    for suffix, names, domains in zip(("", "2", "3"), texts, place.domains, strict=True):
        for letter, other, name, domain in zip("xy", "yx", names, domains, strict=True):
            limits = ranges.get(f"{letter}{suffix}", [0.5, lesson.k + 0.5])
            axes[f"{letter}axis{suffix}"] = axis(
                name, anchor=f"{other}{suffix}", domain=domain, range=[float(limit) for limit in limits]
            )
    axes["xaxis3"] |= whole_numbers(lesson.k, place.ticks)
    figure = chart(
        [on_panel(trace, number) for trace, number in zip(traces, panel, strict=True)],
        axes.pop("xaxis"),
        axes.pop("yaxis"),
        title="See each rule learn, step by step",
        height=place.inner_px + place.top_px + _BELOW_PX,
        above=place.top_px,
        below=_BELOW_PX,
        annotations=[*titles, said(text)],
        **axes,
        **_controls(lesson.k, start, place),
    )
    figure.frames = frames
    return figure


def _controls(k: int, start: int, where: _Place) -> dict[str, Any]:
    """Return Play, Pause and the step slider, between title and panels."""
    still = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    play = {"frame": {"duration": 900, "redraw": True}, "transition": {"duration": 0}, "fromcurrent": True}
    buttons = [
        {"label": "▶ Play", "method": "animate", "args": [[str(step + 1) for step in range(k)], play]},
        {"label": "❚❚ Pause", "method": "animate", "args": [[None], still]},
    ]
    steps = [{"label": str(step + 1), "method": "animate", "args": [[str(step + 1)], still]} for step in range(k)]
    place = {"yanchor": "top", "y": 1 + where.buttons_px / where.inner_px}
    below = {"yanchor": "top", "y": 1 + where.slider_px / where.inner_px}
    return {
        "updatemenus": [
            {
                "type": "buttons",
                "direction": "left",
                "showactive": False,
                "x": 0,
                "xanchor": "left",
                "pad": {"t": 8, "r": 12},
                "buttons": buttons,
                # Plotly lights a button up under the pointer, on dark pages too: dark text on light in both.
                "bgcolor": "#DDE3EA",
                "bordercolor": GRID,
                "font": {"color": INK["light"]},
                **place,
            }
        ],
        "sliders": [
            {
                "active": start,
                "x": where.slider_x,
                "len": 1 - where.slider_x,
                "pad": {"t": 4, "b": 4},
                "currentvalue": {"prefix": "step ", "xanchor": "right"},
                "steps": steps,
                "bgcolor": "#9AA3B0",
                "activebgcolor": COLOURS["forward_backward"],
                "bordercolor": GRID,
                "tickcolor": GRID,
                **below,
            }
        ],
    }


def coverage_chart(table: pd.DataFrame) -> go.Figure:
    """Return how often the truth lies within one root of s, against the nominal value.

    Parameters
    ----------
    table : DataFrame
        From `imrc.teaching.coverage_study`.

    Returns
    -------
    Figure
    """
    traces = Traces()
    last = float(table["task"].max())
    for column, knowledge in enumerate(("known", "estimated"), start=1):
        for rule in NAMES:
            part = table[(table["knowledge"] == knowledge) & (table["rule"] == rule)]
            traces.add(
                x=part["task"],
                y=part["coverage"],
                mode="lines+markers",
                name=NAMES[rule],
                legendgroup=rule,
                showlegend=column == 1,
                line={"color": COLOURS[rule], "width": 2, "dash": DASHES[rule]},
                marker={"size": 6},
                error_y={"type": "data", "array": 2 * part["coverage_se"], "width": 0, "thickness": 1},
                customdata=np.stack([2 * part["coverage_se"], part["efficiency"]], axis=1),
                hovertemplate="task %{x}: %{y:.3f} ± %{customdata[0]:.3f}<br>"
                "n × squared error / variance: %{customdata[1]:.2f}<extra>" + NAMES[rule] + "</extra>",
                panel=column,
            )
        traces.add(
            x=[1, last],
            y=[NOMINAL, NOMINAL],
            mode="lines",
            name="nominal, 0.683",
            legendgroup="nominal",
            showlegend=column == 1,
            line={"color": COLOURS["truth"], "width": 1.5, "dash": "dash"},
            hoverinfo="skip",
            panel=column,
        )
    low = min(0.5, float((table["coverage"] - 2 * table["coverage_se"]).min()))
    limits: dict[str, Any] = {"range": [low, max(0.85, float(table["coverage"].max()) + 0.05)], "tickformat": ".2f"}
    return panels(
        traces,
        ("Variances and change known", "Estimated, as in a run"),
        [axis("task", **whole_numbers(int(last), 10))] * 2,
        [axis("share of truths within ± √s", **limits), axis(**limits)],
        gap=0.06,
        share_y=True,
        title="Do the bands hold what they promise?",
        height=400,
        below=112,
    )
