"""What if: blocks of another size, another order, a task less."""

from __future__ import annotations

import html
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from imrc.evaluation.what_if import BORROWING, COMPARED, Changed
from imrc.plots._axes import decimals, task_ticks
from imrc.plots._panels import Traces, axis, band_key, bars, chart, names_axis
from imrc.plots._style import COLOURS, NAMES
from imrc.plots.curves import add_curves, limits


def blocks_chart(table: pd.DataFrame, present: int) -> go.Figure:
    """Return the error of each rule against the size of the blocks (`over_blocks`), the rows of a task now marked."""
    by_size = table.assign(x=table["size"])
    sizes = sorted(table["size"].unique())
    traces, shown = Traces(), limits(by_size)
    add_curves(traces, by_size, COMPARED)
    traces += band_key(by_size)
    traces.straight([present, present], shown["range"], f"now: {present:,} rows", dash="dot")
    return chart(
        traces,
        axis("rows in a block", type="log", tickvals=sizes, ticktext=[f"{size:,}" for size in sizes]),
        axis("error", **shown),
        title="How large should blocks be?",
        subtitle="error of all blocks at the last step",
        height=400,
    )


def gains_chart(found: Changed) -> go.Figure:
    """Return the gain over a single task in the order of arrival and in random order, with intervals."""
    traces = Traces()
    inside = [0.0]
    names = []
    for rule in BORROWING:
        for where, (value, low, high) in zip(("as they arrive", "random order"), found.gains(rule), strict=True):
            name = f"{NAMES[rule]},<br>{where}"
            names.append(name)
            inside += [value, low, high]
            traces.add(
                x=[value],
                y=[name],
                mode="markers",
                marker={
                    "size": 13,
                    "color": COLOURS[rule],
                    "symbol": "circle" if where == "as they arrive" else "circle-open",
                    "line": {"width": 2, "color": COLOURS[rule]},
                },
                error_x=bars([high - value], [value - low], colour=COLOURS[rule], thickness=4),
                name=name,
                hovertemplate="%{x:.3f} fewer errors<extra></extra>",
            )
    traces.straight([0, 0], [names[-1], names[0]], "no gain")
    return chart(
        traces,
        axis("gain over a single task", **decimals(inside, sign=True)),
        names_axis(names, range=[-0.6, len(names) - 0.4]),
        title="Does the order of the tasks carry the gain?",
        subtitle="error of a single task less that of the rule; bars: 95 % intervals",
        height=110 + 46 * len(names),
        legend=False,
        hovermode="closest",
    )


def without_chart(found: Changed, task: int, labels: Sequence[str]) -> go.Figure:
    """Return by how much the error of every other task rises without one (from 0), with intervals."""
    traces = Traces()
    inside = [0.0]
    for rule, shift in zip(BORROWING, (-0.12, 0.12), strict=True):
        table = found.by_task(rule)
        if rule == "forward":  # tasks before it were learnt without it anyway
            table = table[table["task"] > task + 1]
        inside += [*table["low"], *table["value"], *table["high"]]
        traces.add(
            x=table["task"] + shift,
            y=table["value"],
            mode="markers",
            marker={"color": COLOURS[rule], "size": 9, "symbol": "diamond" if rule == "forward" else "circle"},
            error_y=bars(table["high"] - table["value"], table["value"] - table["low"], colour=COLOURS[rule]),
            name=NAMES[rule],
            customdata=[html.escape(labels[int(one) - 1]) for one in table["task"]],
            hovertemplate="%{customdata}: %{y:+.3f}<extra></extra>",
        )
    ends = [0.5, len(labels) + 0.5]
    traces.straight(ends, [0, 0], width=1, showlegend=False)
    shown = decimals(inside, sign=True)
    traces.straight([task + 1, task + 1], shown["range"], "left out", dash="dot")
    return chart(
        traces,
        axis("task", **{**task_ticks(labels, ticks=8), "range": ends}),
        axis("rise of the error", **shown),
        title=f"Which tasks would miss task {task + 1}?",
        subtitle="error without it less error with it, at the last step; bars: 95 % intervals",
        height=400,
        hovermode="closest",
    )
