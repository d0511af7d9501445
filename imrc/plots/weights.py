"""How much each task counts in the rule of one task."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._axes import task_ticks
from imrc.plots._panels import Traces, axis, chart
from imrc.plots._style import COLOURS

_SEEN = 0.002
"""Tasks before the first with this weight are not drawn."""
_PARTS = {"own samples": ("single", 0), "tasks before it": ("forward", -1), "tasks after it": ("forward_backward", 1)}


def weights_chart(table: pd.DataFrame, task: int) -> go.Figure:
    """Return the weight of every task in the rule of `task` (from 0), of `imrc.evaluation.weights.task_weights`."""
    table = table.iloc[int(np.argmax(table["weight"].to_numpy() >= _SEEN)) :]
    side = np.sign(table["task"].to_numpy() - 1 - task)
    traces = Traces()
    for name, (colour, where) in _PARTS.items():
        part = table[side == where]
        if len(part):
            traces.add(
                kind="bar",
                x=part["task"],
                y=100 * part["weight"],
                name=name,
                marker={"color": COLOURS[colour]},
                customdata=[html.escape(label) for label in part["label"]],
                hovertemplate="task %{x} (%{customdata}): %{y:.1f} %<extra></extra>",
            )
    first, last = int(table["task"].iloc[0]), int(table["task"].iloc[-1])
    ticks = task_ticks(table["label"].tolist(), first=first, ticks=10)
    return chart(
        traces,
        axis("task", showgrid=False, range=[first - 0.6, last + 0.6], **ticks),
        axis("weight", ticksuffix=" %", rangemode="tozero"),
        title=f"How much does each task count in the rule of task {task + 1}?",
        height=330,
        bargap=0.2,
    )
