"""How the error of each task moved: alone, when it was learnt, and now."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.evaluation import RunResult
from imrc.evaluation.significance import mean_and_stderr
from imrc.plots._axes import decimals, task_ticks
from imrc.plots._panels import Traces, axis, chart
from imrc.plots._style import COLOURS, NAMES, rgba

_SYMBOLS = {"single": "line-ns", "forward": "circle-open", "forward_backward": "circle"}
_TITLES = {"single": "Alone", "forward": "When learnt (forward)", "forward_backward": "Now (forward and backward)"}


def ladder_table(result: RunResult) -> pd.DataFrame:
    """Return one row per task: its error at the last step for each rule (forward: when it was learnt).

    Columns task (from 1), label, test_samples, single, single_stderr and so on.
    """
    table = pd.DataFrame(
        {"task": np.arange(1, result.n_tasks + 1), "label": result.labels, "test_samples": result.test_samples}
    )
    for rule in NAMES:
        table[rule], table[f"{rule}_stderr"] = mean_and_stderr(result.error_tables[rule].final())
    return table


def ladder_chart(table: pd.DataFrame, marked: int | None = None) -> go.Figure:
    """Return a rung per task, from its error when learnt to that now, the error alone beside it; `marked` is from 1."""
    tasks = table["task"].to_numpy()
    few = len(tasks) <= 60
    gap = np.full(len(tasks), np.nan)
    traces = Traces()
    traces.straight(
        np.column_stack([table["forward"], table["forward_backward"], gap]).ravel(),
        np.column_stack([tasks, tasks, gap]).ravel(),
        colour=rgba(COLOURS["forward_backward"], 0.5),
        width=3 if few else 1,
        dash=None,
        showlegend=False,
    )
    texts = [
        f"<b>Task {row.task}</b> ({html.escape(str(row.label))})<br>"
        + "<br>".join(f"{_TITLES[rule]}: {getattr(row, rule):.3f}".replace(" 0.", " .") for rule in NAMES)
        for row in table.itertuples()
    ]
    for rule, colour in ((rule, COLOURS[rule]) for rule in NAMES):
        line = {"width": 2, "color": colour}
        traces.add(
            x=table[rule],
            y=tasks,
            name=_TITLES[rule],
            mode="markers",
            marker={"symbol": _SYMBOLS[rule], "size": 10 if few else 4, "color": colour, "line": line},
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            customdata=tasks,
            text=texts,
            hoverinfo="text",
        )
    return chart(
        traces,
        axis("error", **decimals(table[list(NAMES)].to_numpy())),
        axis("task", range=[len(tasks) + 0.7, 0.3], **task_ticks(list(table["label"]), ticks=12)),
        title="What did each task gain?",
        subtitle="left is better; click a task for its story",
        height=int(np.clip(190 + 15 * len(tasks), 300, 560)),
        shapes=[marked_row(marked)] if marked else [],
        clickmode="event+select",
        hovermode="closest",
    )


def marked_row(task: int, number: int = 1) -> dict[str, object]:
    """Return the shape that marks the row of a task on a panel; panels count from 1."""
    suffix = "" if number == 1 else str(number)
    return {
        "type": "rect",
        "xref": f"x{suffix} domain",
        "yref": f"y{suffix}",
        "x0": 0,
        "x1": 1,
        "y0": task - 0.5,
        "y1": task + 0.5,
        "line": {"width": 2, "color": "#D55E00"},
        "layer": "above",
    }
