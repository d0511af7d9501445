"""Small pictures of what the tasks are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from imrc.plots._drawing import Chart, escaped, slider, task_name, task_ticks
from imrc.tasks import TaskSequence

_SHOWN = 10  # Tasks whose images are shown; of longer sequences every second, third, ... is.
_GAP = 1  # Pixels of an image's own size between two images.
QUIET: dict[str, Any] = {"showgrid": False, "ticks": "", "constrain": "domain"}  #: Axes of images.
_ROWS, _FRAMES = 60, 40  # Rows of a task, and tasks, that are shown as clouds.


@dataclass(frozen=True, eq=False)
class Samples:
    """One image per class and task."""

    grid: NDArray[np.float64]  # (classes (side + 1) - 1, tasks (side + 1) - 1): images from 0 to 1, NaN between them
    side: int
    labels: tuple[str, ...]  # of the tasks shown, as are the classes
    classes: tuple[str, ...]
    tasks: int  # how many there are


def _some(shown: int, tasks: int) -> str:
    return f"{shown} of {tasks} tasks" if shown < tasks else ""


def image_side(names: tuple[str, ...]) -> int | None:
    """Return width and height of the images that columns with these names are; None if they are no square images."""
    side = round(np.sqrt(len(names)))
    pixels = side >= 4 and side * side == len(names) and re.fullmatch(r"pixel \d+,\d+", names[-1])
    return side if pixels else None


def brightened(images: NDArray[Any]) -> NDArray[np.float64]:
    """Return images, one a row, as shares of the brightest pixel of each."""
    return np.asarray(images / np.maximum(images.max(axis=1, keepdims=True), 1e-12), dtype=np.float64)


def sample_images(sequence: TaskSequence) -> Samples | None:
    """Return one image of each of two classes per task; None if the inputs are no square images.

    Each is the one most like that of the task before: what differs from tile to tile is the task, not the example.
    """
    side = image_side(sequence.feature_names)
    if side is None:
        return None
    tasks = np.unique(np.linspace(0, len(sequence) - 1, min(len(sequence), _SHOWN)).round().astype(int)).tolist()
    shown = np.full((min(sequence.n_classes, 2), len(tasks), side * side), np.nan)
    for (row, column), _ in np.ndenumerate(shown[..., 0]):
        images = brightened(sequence[tasks[column]].X[sequence.encoded(tasks[column]) == row])
        if len(images):
            known = shown[row][np.isfinite(shown[row, :, 0])]
            nearest = np.square(images - (known[-1] if len(known) else images[0])).sum(axis=1).argmin()
            shown[row, column] = images[nearest]
    labels, classes = (sequence.labels[j] for j in tasks), sequence.class_names[: len(shown)]
    return Samples(mosaic(shown.reshape(*shown.shape[:2], side, side)), side, tuple(labels), classes, len(sequence))


def mosaic(images: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return images of shape (rows, columns, height, width) as one, NaN between them."""
    rows, _, height, _ = images.shape
    spaced = np.pad(images, ((0, 0), (0, 0), (0, _GAP), (0, _GAP)), constant_values=np.nan)
    return np.asarray(spaced.swapaxes(1, 2).reshape(rows * (height + _GAP), -1)[:-_GAP, :-_GAP])


def mosaic_rows(names: Iterable[object], side: int) -> dict[str, Any]:
    """Return the vertical axis of a mosaic of images of this height, with the name of each row."""
    texts = escaped(names)
    middle = [row * (side + _GAP) + (side - 1) / 2 for row in range(len(texts))]
    return {"autorange": "reversed", "tickvals": middle, "ticktext": texts, **QUIET}


def image_strip(samples: Samples) -> go.Figure:
    """Return the images of `sample_images`, tasks from left to right, classes from top to bottom."""
    step, centre, tasks = samples.side + _GAP, (samples.side - 1) / 2, len(samples.labels)
    ticks = task_ticks(samples.labels, first=0, ticks=3)
    chosen = ticks.get("tickvals", range(0, tasks, max(1, tasks // 3)))
    names = ticks.get("ticktext", escaped(samples.labels[i] for i in chosen))
    drawn = Chart("What is a task?", _some(tasks, samples.tasks), height=150)
    drawn.x(tickvals=[i * step + centre for i in chosen], ticktext=names, **QUIET)
    drawn.y(scaleanchor="x", **mosaic_rows(samples.classes, samples.side))
    drawn.cells(None, None, samples.grid, None, hoverinfo="skip")
    return drawn.figure(legend=False, below=30)


@dataclass(frozen=True, eq=False)
class Clouds:
    """Rows of some tasks in one plane that does not move."""

    points: tuple[NDArray[np.float64], ...]  # of each task shown, (rows, 2)
    codes: tuple[NDArray[np.int64], ...]  # their classes
    labels: tuple[str, ...]  # of the tasks shown
    classes: tuple[str, ...]
    axes: tuple[str, ...]  # names of two columns; nothing for two directions of more
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
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(X)
        centre, spread = scaler.mean_, scaler.scale_
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
    return Clouds(
        points=points,
        codes=tuple(sequence.encoded(int(j))[:_ROWS] for j in shown),
        labels=tuple(sequence.labels[j] for j in shown),
        classes=sequence.class_names[: len(CLASS_COLOURS)],
        axes=(sequence.feature_names or ("first column", "second column")) if sequence.n_features == 2 else (),
        tasks=len(sequence),
    )


def moving_clouds(clouds: Clouds) -> go.Figure:
    """Return the clouds of `task_clouds`, a colour for each class, with a slider over the tasks that moves them."""
    low, high = np.quantile(np.concatenate(clouds.points), [0.005, 0.995], axis=0)
    room, named = 0.08 * (high - low) + 1e-9, bool(clouds.axes)
    axes = f"across: {'<br>up: '.join(escaped(clouds.axes))}" if named else "two main directions"

    def points_of(place: int) -> list[dict[str, Any]]:
        points, codes = clouds.points[place], clouds.codes[place]
        return [{"x": points[codes == c, 0], "y": points[codes == c, 1]} for c in range(len(clouds.classes))]

    shown = range(len(clouds.labels))
    drawn = Chart("What is a task?", _some(len(shown), clouds.tasks), height=290)
    ends = np.column_stack([low - room, high + room])
    drawn.x(axes, range=ends[0], showticklabels=False)
    drawn.y(range=ends[1], showticklabels=False)
    for at, name, colour in zip(points_of(0), escaped(clouds.classes), CLASS_COLOURS, strict=False):
        drawn.dots(**at, name=name, marker={"size": 6, "color": colour, "opacity": 0.7}, hoverinfo="skip")
    look = {"currentvalue": {"prefix": "task "}, "pad": {"t": 46 if named else 32}, "ticklen": 0, "minorticklen": 0}
    moves = slider(shown, map(task_name, clouds.labels), 250, **look)
    frames = [{"name": str(place), "data": points_of(place)} for place in shown]
    return drawn.figure(below=110 if named else 84, sliders=[moves], frames=frames)


CLASS_COLOURS = ("#3A9BD5", "#CC79A7", "#D55E00", "#A6761D", "#F0E442", "#7B5EA7")
"""Distinct from the colours of the rules, so that a class is never mistaken for a rule."""


def class_balance(table: pd.DataFrame) -> go.Figure:
    """Draw rows per task, stacked by class; above six classes the five most frequent and the others together.

    `table` is from `Cut.task_table`: task (from 1), name, rows, and one column "class NAME" per class.
    """
    classes = [column for column in table.columns if column.startswith("class ")]
    counts, names = table[classes].to_numpy(), escaped(column.removeprefix("class ") for column in classes)
    if len(classes) > len(CLASS_COLOURS):
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        first, rest = order[: len(CLASS_COLOURS) - 1], order[len(CLASS_COLOURS) - 1 :]
        counts = np.column_stack([counts[:, first], counts[:, rest].sum(axis=1)])
        names = [*(names[j] for j in first), f"{len(rest)} other classes"]
    shares = np.char.mod("%.0f %%", 100 * counts / np.maximum(table["rows"].to_numpy()[:, None], 1))
    drawn = Chart("How many samples of each class does each task have?", height=320)
    drawn.x("task", showgrid=False)
    drawn.y("samples", rangemode="tozero")
    for name, colour, count, share in zip(names, CLASS_COLOURS, counts.T, shares.T, strict=False):
        said = "Task %{x} (%{customdata[0]})<br>%{y} rows, %{customdata[1]}"
        told = np.column_stack([escaped(table["name"]), share])
        drawn.bars(table["task"], count, name, colour, said, box=name, customdata=told)
    return drawn.figure(barmode="stack", bargap=0.12 if len(table) <= 100 else 0.0)
