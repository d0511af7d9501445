"""What the tasks of a sequence are, and three ways to learn them, as small pictures."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from imrc.plots._axes import task_ticks
from imrc.plots._panels import Traces, axis, chart, image_cells
from imrc.plots._style import COLOURS, rgba
from imrc.plots.classes import CLASS_COLOURS
from imrc.tasks import TaskSequence

_SHOWN = 10
"""Tasks whose images are shown; of longer sequences every second, third, ... is."""
_GAP = 1
"""Pixels of an image's own size between two images."""
_HEIGHT = 196


@dataclass(frozen=True, eq=False)
class Samples:
    """One image per class and task."""

    grid: NDArray[np.float64]  # (classes (side + 1) - 1, tasks (side + 1) - 1): images from 0 to 1, NaN between them
    side: int
    labels: tuple[str, ...]  # of the tasks shown, as are the classes
    classes: tuple[str, ...]
    tasks: int  # how many there are


def _some(shown: int, tasks: int) -> str:
    return f", {shown} of {tasks}" if shown < tasks else ""


def image_side(names: tuple[str, ...]) -> int | None:
    """Return width and height of the images that columns with these names are; None if they are no square images."""
    side = round(np.sqrt(len(names)))
    pixels = side >= 4 and side * side == len(names) and re.fullmatch(r"pixel \d+,\d+", names[-1])
    return side if pixels else None


def sample_images(sequence: TaskSequence) -> Samples | None:
    """Return one image of each of two classes per task; None if the inputs are no square images."""
    side = image_side(sequence.feature_names)
    if side is None:
        return None
    tasks = np.unique(np.linspace(0, len(sequence) - 1, min(len(sequence), _SHOWN)).round().astype(int))
    classes = range(min(sequence.n_classes, 2))
    step = side + _GAP
    grid = np.full((len(classes) * step - _GAP, len(tasks) * step - _GAP), np.nan)
    for column, j in enumerate(tasks):
        X, y = sequence[int(j)].X, sequence.encoded(int(j))
        for row in classes:
            found = np.flatnonzero(y == row)
            if len(found):
                image = np.asarray(X[found[0]], dtype=np.float64).reshape(side, side)
                image = image / max(float(image.max()), 1e-12)
                grid[row * step : row * step + side, column * step : column * step + side] = image
    labels = tuple(sequence.labels[j] for j in tasks)
    return Samples(grid, side, labels, tuple(sequence.class_names[c] for c in classes), len(sequence))


def image_strip(samples: Samples) -> go.Figure:
    """Return the images of `sample_images`, tasks from left to right, classes from top to bottom."""
    step, tasks = samples.side + _GAP, len(samples.labels)
    centres = np.arange(tasks) * step + (samples.side - 1) / 2
    ticks = task_ticks(samples.labels, first=0, ticks=6)
    chosen = ticks.get("tickvals", list(range(0, tasks, max(1, tasks // 6))))
    names = ticks.get("ticktext", [html.escape(samples.labels[i]) for i in chosen])
    rows = [row * step + (samples.side - 1) / 2 for row in range(len(samples.classes))]
    return chart(
        [image_cells(samples.grid, hoverinfo="skip")],
        axis(tickvals=[centres[i] for i in chosen], ticktext=names, showgrid=False, ticks="", constrain="domain"),
        axis(
            tickvals=rows,
            ticktext=[html.escape(name) for name in samples.classes],
            autorange="reversed",
            showgrid=False,
            ticks="",
            scaleanchor="x",
            constrain="domain",
        ),
        title="What is a task?",
        subtitle=f"one sample of each answer; tasks from left to right{_some(tasks, samples.tasks)}",
        height=_HEIGHT,
        legend=False,
        below=30,
    )


def class_shares(shares: NDArray[np.float64], labels: tuple[str, ...], classes: tuple[str, ...]) -> go.Figure:
    """Return the shares of the classes by task, (tasks, classes) from `shares_of`, as small bars."""
    order = np.argsort(-shares.mean(axis=0), kind="stable")[: len(CLASS_COLOURS)]
    tasks = np.arange(1, len(shares) + 1)
    traces = Traces()
    for c, colour in zip(order, CLASS_COLOURS, strict=False):
        name = html.escape(classes[c])
        traces.add(
            kind="bar",
            x=tasks,
            y=100 * shares[:, c],
            name=name,
            marker={"color": colour},
            customdata=[html.escape(label) for label in labels],
            hovertemplate="task %{customdata}: %{y:.0f} %<extra>" + name + "</extra>",
        )
    return chart(
        traces,
        axis(None, showgrid=False, range=[0.5, len(shares) + 0.5], **task_ticks(labels, ticks=6)),
        axis(ticksuffix=" %", tickvals=[0, 50, 100], range=[0, 100]),
        title="What is a task?",
        subtitle=f"{len(shares)} tasks, from left to right, each with its own samples; share of each answer",
        height=_HEIGHT + 26,
        below=30,
        barmode="stack",
        order="normal",
        bargap=0.15 if len(shares) <= 100 else 0.0,
    )


def shares_of(sequence: TaskSequence) -> NDArray[np.float64]:
    """Return the share of each class in each task, shape (tasks, classes)."""
    counts = sequence.class_counts().astype(np.float64)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


_WAYS = {"single": "<b>Alone</b>", "forward": "<b>Forward</b>", "forward_backward": "<b>Both ways</b>"}


def three_ways() -> go.Figure:
    """Return three ways to learn four tasks: arrows show which task helps which."""
    traces: list[dict[str, Any]] = []
    arrows: list[dict[str, Any]] = []
    for row, (rule, text) in enumerate(_WAYS.items()):
        colour, y = COLOURS[rule], 2.0 - row
        traces.append(dots([1, 2, 3, 4], 15, rgba(colour, 0.35), colour, y))
        for i in (1, 2, 3):
            if rule != "single":
                arrows.append(arrow(i + 0.2, i + 0.8, y + (0.13 if rule == "forward_backward" else 0.0), colour))
            if rule == "forward_backward":
                arrows.append(arrow(i + 0.8, i + 0.2, y - 0.13, colour))
        beside = {"x": 4.45, "y": y, "showarrow": False, "xanchor": "left", "align": "left", "font": {"size": 13}}
        arrows.append({"text": text, **beside})
    return chart(
        traces,
        axis(range=[0.7, 8.2], visible=False),
        axis(range=[-0.5, 2.5], visible=False),
        title="Three ways to learn",
        height=_HEIGHT - 40,
        legend=False,
        below=10,
        annotations=arrows,
        margin={"l": 8, "r": 8},
    )


def dots(tasks: list[int], size: int, fill: str, line: str, y: float = 0.0) -> dict[str, Any]:
    """Return a trace that draws tasks as circles in a row."""
    return {
        "type": "scatter",
        "x": tasks,
        "y": [y] * len(tasks),
        "mode": "markers",
        "marker": {"size": size, "color": fill, "line": {"width": 2, "color": line}},
        "hoverinfo": "skip",
        "name": "",
    }


def arrow(start: float, end: float, y: float, colour: str) -> dict[str, Any]:
    """Return the annotation that draws a level arrow from `start` to `end`."""
    return {
        "x": end,
        "y": y,
        "ax": start,
        "ay": y,
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "text": "",
        "showarrow": True,
        "arrowhead": 2,
        "arrowsize": 1.1,
        "arrowwidth": 2,
        "arrowcolor": colour,
    }
