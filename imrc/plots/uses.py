"""What one rule uses: weights of tasks, errors without them, and pictures of the samples that pull most."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import plotly.graph_objects as go

from imrc.evaluation.uses import RuleUses
from imrc.plots._axes import decimals, task_ticks
from imrc.plots._panels import Traces, axis, bars, chart, image_cells, panels
from imrc.plots._style import COLOURS
from imrc.plots.task_pictures import image_side
from imrc.tasks import TaskSequence
from imrc.wording import decimal

_SEEN = 0.002
"""Tasks before the first with this weight are not drawn."""
_PARTS = {"own samples": "single", "tasks before it": "forward", "tasks after it": "forward_backward"}
_IN_A_ROW = 5
_GAP = 1


def uses_chart(uses: RuleUses) -> go.Figure:
    """Return the weight of every task in a rule, and by how much its error changes without the task."""
    table = uses.tasks
    start = int(np.argmax(table["weight"].to_numpy() >= _SEEN))
    table = table.iloc[start:]
    side = np.sign(table["task"].to_numpy() - 1 - uses.task)
    traces = Traces()
    inside = [0.0]
    for (name, colour), where in zip(_PARTS.items(), (0, -1, 1), strict=True):
        part = table[side == where]
        if not len(part):
            continue
        labels = [html.escape(label) for label in part["label"]]
        shown: dict[str, Any] = {"name": name, "legendgroup": name, "customdata": labels}
        traces.add(
            kind="bar",
            x=part["task"],
            y=100 * part["weight"],
            marker={"color": COLOURS[colour]},
            hovertemplate="task %{x} (%{customdata}): %{y:.1f} %<extra></extra>",
            **shown,
        )
        refitted = part[np.isfinite(part["change"])]
        spread = 1.96 * refitted["change_se"]
        inside += [*(refitted["change"] - spread), *(refitted["change"] + spread)]
        traces.add(
            x=refitted["task"],
            y=refitted["change"],
            mode="markers",
            marker={"color": COLOURS[colour], "size": 9},
            error_y=bars(spread, colour=COLOURS[colour]),
            hovertemplate="without task %{x} (%{customdata}): %{y:+.3f}<extra></extra>",
            showlegend=False,
            panel=2,
            **{**shown, "customdata": [html.escape(label) for label in refitted["label"]]},
        )
    limits = [float(table["task"].iloc[0]) - 0.6, float(table["task"].iloc[-1]) + 0.6]
    traces.straight(limits, [0, 0], width=1, showlegend=False, panel=2)
    ticks = {"range": limits, **task_ticks(table["label"].tolist(), first=int(table["task"].iloc[0]), ticks=5)}
    return panels(
        traces,
        ["Weight of each task", f"Error without it, less {decimal(uses.error)}"],
        [axis("task", showgrid=False, **ticks), axis("task", **ticks)],
        [axis(ticksuffix=" %", rangemode="tozero"), axis(**decimals(inside, sign=True))],
        gap=0.12,
        title=f"What does the rule of task {uses.task + 1} use?",
        height=360,
        bargap=0.2,
    )


def pull_images(uses: RuleUses, sequence: TaskSequence) -> go.Figure | None:
    """Return pictures of the samples that pull most, strongest first; None where there are no square images."""
    side = image_side(sequence.feature_names)
    count = len(uses.samples)
    if side is None or not count:
        return None
    step, rows = side + _GAP, -(-count // _IN_A_ROW)
    down = step + 2 * max(1, side // 8)
    grid = np.full((rows * down, _IN_A_ROW * step - _GAP), np.nan)
    hover = np.full(grid.shape, "", dtype=object)
    annotations = []
    for place, sample in enumerate(uses.samples.itertuples()):
        row, column = divmod(place, _IN_A_ROW)
        image = np.asarray(sequence[sample.task - 1].X[sample.row], dtype=np.float64).reshape(side, side)
        top, left = row * down + down - step, column * step
        at = (slice(top, top + side), slice(left, left + side))
        grid[at] = image / max(float(image.max()), 1e-12)
        name = html.escape(
            sequence.class_names[int(np.searchsorted(sequence.classes, sequence[sample.task - 1].y[sample.row]))]
        )
        hover[at] = f"{place + 1}: task {sample.task} ({html.escape(sample.label)}), {name}, pull {sample.pull:.2f}"
        annotations.append(
            {
                "x": left + (side - 1) / 2,
                "y": top - 0.5,
                "text": f"{place + 1} · {name if len(name) <= 8 else name[:7] + '…'}",
                "showarrow": False,
                "yanchor": "bottom",
                "font": {"size": 12},
            }
        )
    return chart(
        [image_cells(grid, customdata=hover, hovertemplate="%{customdata}<extra></extra>")],
        axis(visible=False, constrain="domain"),
        axis(visible=False, autorange="reversed", scaleanchor="x", constrain="domain"),
        title="Which samples pull most?",
        height=80 + 115 * rows,
        legend=False,
        below=10,
        annotations=annotations,
        margin={"l": 8, "r": 8},
    )
