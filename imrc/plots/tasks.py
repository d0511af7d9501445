"""Small pictures of what the tasks are, and of the four scenarios."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from imrc._checks import check_choice
from imrc.evaluation.scenarios import SCENARIO_NAMES, SCENARIOS, ScenarioName
from imrc.plots._drawing import COLOURS, DATA, Traces, arrow, axis, chart, image_cells, rgba, task_ticks
from imrc.tasks import TaskSequence

_SHOWN = 10  # Tasks whose images are shown; of longer sequences every second, third, ... is.
_GAP = 1  # Pixels of an image's own size between two images.
_HEIGHT = 176
_ROWS, _FRAMES = 60, 40  # Rows of a task, and tasks, that are shown as clouds.
_MOVE = {"frame": {"duration": 0, "redraw": False}, "transition": {"duration": 250}}


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


@dataclass(frozen=True, eq=False)
class Clouds:
    """Rows of some tasks in one plane that does not move."""

    points: tuple[NDArray[np.float64], ...]  # of each task shown, (rows, 2)
    codes: tuple[NDArray[np.int64], ...]  # their classes
    labels: tuple[str, ...]  # of the tasks shown
    classes: tuple[str, ...]
    axes: tuple[str, str]
    tasks: int  # how many there are


def task_clouds(sequence: TaskSequence) -> Clouds | None:
    """Return the first rows of each task in a plane learnt from the first tasks; None with fewer than two columns.

    Two columns are shown as they are. Of more, standardised, the first axis leads from class to class, the second is
    the direction in which all rows differ most beside it.
    """
    if sequence.n_features < 2:
        return None
    early = sequence.head(max(1, len(sequence) // 4))
    X = np.concatenate([np.asarray(task.X[:_ROWS], dtype=np.float64) for task in early])
    y = np.concatenate([early.encoded(j)[:_ROWS] for j in range(len(early))])
    centre, spread, plane = np.zeros(X.shape[1]), np.ones(X.shape[1]), np.eye(X.shape[1], 2)
    if X.shape[1] > 2:
        there = np.isfinite(X)
        counted = np.maximum(there.sum(axis=0), 1)
        centre = np.where(there, X, 0.0).sum(axis=0) / counted
        spread = np.sqrt(np.where(there, (X - centre) ** 2, 0.0).sum(axis=0) / counted)
        spread[spread == 0.0] = np.inf
        rows = np.nan_to_num((X - centre) / spread)
        most = np.argsort(-np.bincount(y, minlength=2), kind="stable")[:2]
        apart = (
            rows[y == most.max()].mean(axis=0) - rows[y == most.min()].mean(axis=0) if (y != y[0]).any() else rows[0]
        )
        apart = apart / max(float(np.linalg.norm(apart)), 1e-12)
        beside = np.linalg.svd(rows - np.outer(rows @ apart, apart), full_matrices=False)[2][0]
        plane = np.column_stack([apart, beside * np.sign(beside[np.abs(beside).argmax()])])
    shown = np.unique(np.linspace(0, len(sequence) - 1, min(len(sequence), _FRAMES)).round().astype(int))
    points = tuple(
        np.nan_to_num((np.asarray(sequence[int(j)].X[:_ROWS], dtype=np.float64) - centre) / spread) @ plane
        for j in shown
    )
    names = sequence.feature_names if sequence.n_features == 2 else ("class to class", "next main direction")
    return Clouds(
        points=points,
        codes=tuple(sequence.encoded(int(j))[:_ROWS] for j in shown),
        labels=tuple(sequence.labels[j] for j in shown),
        classes=sequence.class_names[: len(CLASS_COLOURS)],
        axes=(names[0], names[1]) if len(names) == 2 else ("first column", "second column"),
        tasks=len(sequence),
    )


def moving_clouds(clouds: Clouds) -> go.Figure:
    """Return the clouds of `task_clouds`, a colour for each class, with a slider over the tasks that moves them."""
    everything = np.concatenate(clouds.points)
    low, high = np.quantile(everything, [0.005, 0.995], axis=0)
    room = 0.08 * (high - low) + 1e-9
    across, up = map(html.escape, clouds.axes)

    def drawn(place: int) -> list[dict[str, Any]]:
        points, codes = clouds.points[place], clouds.codes[place]
        return [{"x": points[codes == c, 0], "y": points[codes == c, 1]} for c in range(len(clouds.classes))]

    traces = Traces()
    for at, name, colour in zip(drawn(0), clouds.classes, CLASS_COLOURS, strict=False):
        marker = {"size": 6, "color": colour, "opacity": 0.7}
        traces.add(**at, mode="markers", name=html.escape(name), marker=marker, hoverinfo="skip")
    labels = [html.escape(label) for label in clouds.labels]
    steps = [
        {"label": label, "method": "animate", "args": [[str(place)], {"mode": "immediate", **_MOVE}]}
        for place, label in enumerate(labels)
    ]
    figure = chart(
        traces,
        axis(f"across: {across}<br>up: {up}", range=[low[0] - room[0], high[0] + room[0]], showticklabels=False),
        axis(None, range=[low[1] - room[1], high[1] + room[1]], showticklabels=False),
        title="What is a task?",
        subtitle=f"rows of each task; drag to the next{_some(len(labels), clouds.tasks)}",
        height=290,
        below=110,
        sliders=[
            {"steps": steps, "currentvalue": {"prefix": "task "}, "pad": {"t": 46}, "ticklen": 0, "minorticklen": 0}
        ],
    )
    figure.frames = [go.Frame(name=str(place), data=drawn(place)) for place in range(len(labels))]
    return figure


CLASS_COLOURS = ("#0072B2", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#8A8F98")
"""Distinct from the colours of the rules, so that a class is never mistaken for a rule."""


def class_balance(table: pd.DataFrame) -> go.Figure:
    """Draw rows per task, stacked by class; above six classes the five most frequent and the others together.

    `table` is from `Cut.task_table`: task (from 1), name, rows, and one column "class NAME" per class.
    """
    classes = [column for column in table.columns if column.startswith("class ")]
    counts = table[classes].to_numpy()
    names = [html.escape(column.removeprefix("class ")) for column in classes]
    if len(classes) > len(CLASS_COLOURS):
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        first, rest = order[: len(CLASS_COLOURS) - 1], order[len(CLASS_COLOURS) - 1 :]
        counts = np.column_stack([counts[:, first], counts[:, rest].sum(axis=1)])
        names = [*(names[j] for j in first), f"{len(rest)} other classes"]
    labels = [html.escape(str(name)) for name in table["name"]]
    share = counts / np.maximum(table["rows"].to_numpy()[:, None], 1)
    traces = Traces()
    for j, name in enumerate(names):
        traces.add(
            kind="bar",
            x=table["task"],
            y=counts[:, j],
            name=name,
            marker={"color": CLASS_COLOURS[j]},
            customdata=np.column_stack([labels, np.char.mod("%.0f %%", 100 * share[:, j])]),
            hovertemplate="Task %{x} (%{customdata[0]})<br>%{y} rows, %{customdata[1]}<extra>" + name + "</extra>",
        )
    return chart(
        traces,
        axis("task", showgrid=False),
        axis("samples", rangemode="tozero"),
        title="How many samples of each class does each task have?",
        height=320,
        barmode="stack",
        order="normal",
        bargap=0.12 if len(table) <= 100 else 0.0,
    )


_TASKS = 4
_PICTOGRAM_PX = 96


def pictogram(scenario: ScenarioName) -> go.Figure:
    """Return four tasks and the next one: filled where learnt from, ringed where tested, arrows where helped."""
    check_choice("scenario", scenario, SCENARIO_NAMES)
    tasks = list(range(1, _TASKS + 1))
    last = _TASKS + 1 if scenario == "next_task" else _TASKS
    tested = {"adaptation": [_TASKS], "next_task": [last]}.get(scenario, tasks)
    both = scenario in ("continual", "multi_task")
    colour = COLOURS["forward_backward" if both else "forward"]
    look = {"arrowsize": 1.1, "arrowwidth": 2}
    arrows = []
    for i in range(1, last):
        y = 0.16 if both else 0.0
        arrows.append(arrow((i + 0.3, y), (i + 0.7, y), colour, **look))
        if both:
            arrows.append(arrow((i + 0.7, -y), (i + 0.3, -y), colour, **look))
    next_one = [] if scenario == "multi_task" else [_TASKS + 1]
    traces, shapes = Traces(), []
    for at, size, fill, edge in (
        (next_one, 13, "rgba(0,0,0,0)", COLOURS["reference"]),
        (tasks, 15, rgba(colour, 0.4), colour),
        (tested, 25, "rgba(0,0,0,0)", DATA),
    ):
        marker = {"size": size, "color": fill, "line": {"width": 2, "color": edge}}
        if at:
            traces.add(x=at, y=[0.0] * len(at), mode="markers", marker=marker, hoverinfo="skip", name="")
    if scenario == "multi_task":
        # All of them are there from the start: one frame around them, and no task to come.
        frame = {"type": "rect", "x0": 0.55, "x1": _TASKS + 0.45, "y0": -0.92, "y1": 0.92}
        shapes.append({**frame, "line": {"color": COLOURS["reference"], "width": 1, "dash": "dot"}})
    return chart(
        traces,
        axis(range=[0.4, _TASKS + 1.6], visible=False),
        axis(range=[-1.0, 1.0], visible=False),
        title=SCENARIOS[scenario].title,
        height=_PICTOGRAM_PX,
        legend=False,
        below=4,
        annotations=arrows,
        shapes=shapes,
        margin={"l": 4, "r": 4},
    )
