"""Tasks as they arrive: evidence against its threshold, size of the change, errors before and after learning."""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from imrc.plots._axes import decimals, task_ticks
from imrc.plots._panels import Traces, axis, panels
from imrc.plots._style import COLOURS, DATA
from imrc.watch import first_alarm

_ALARM = "#D55E00"
_LEAST, _MOST = 1e-2, 1e8
"""Evidence is drawn between these: below and above it says the same."""


def watch_chart(story: pd.DataFrame, task: int, alpha: float = 0.05) -> go.Figure:
    """Return what `watch_story` knows when a task (from 1) has arrived; axes fit the whole sequence, to be played."""
    seen, last = story[story["task"] <= task], int(story["task"].iloc[-1])
    x, alarm = seen["task"], first_alarm(seen, alpha)
    label = np.array([html.escape(str(one)) for one in seen["label"]], dtype=object)
    lit, ends, traces = seen["unusual"].to_numpy(dtype=bool), [1.5, last + 0.5], Traces()

    def line(y: ArrayLike, name: str, colour: str, digits: str, dash: str | None = None, panel: int = 1) -> None:
        traces.add(
            x=x,
            y=y,
            mode="lines+markers" if last <= 60 else "lines",
            name=name,
            line={"color": colour, "width": 2} | ({} if dash is None else {"dash": dash}),
            marker={"size": 6},
            customdata=label,
            hovertemplate=f"task %{{x}} (%{{customdata}}): %{{y:{digits}}}<extra>{name if panel > 1 else ''}</extra>",
            panel=panel,
        )

    evidence = np.clip(seen["evidence"].to_numpy(), _LEAST, _MOST)
    line(evidence, "evidence", DATA, ".3g")
    traces.straight(ends, [1.0 / alpha] * 2, f"alarm, from {1.0 / alpha:g}", _ALARM)
    if alarm is not None:
        at = seen["task"].to_numpy() == alarm
        traces.add(
            x=x[at],
            y=evidence[at],
            mode="markers",
            showlegend=False,
            name=f"alarm at task {alarm}",
            marker={"symbol": "diamond", "size": 12, "color": _ALARM},
            hovertemplate="alarm at task %{x}<extra></extra>",
        )
    for where, name, colour in ((~lit, "change", COLOURS["reference"]), (lit, "more than usual", "#CC79A7")):
        if where.any():
            traces.add(
                kind="bar",
                x=x[where],
                y=seen["change"][where],
                name=name,
                marker={"color": colour},
                customdata=label[where],
                hovertemplate="step to task %{x} (%{customdata}): %{y:.3g}<extra></extra>",
                panel=2,
            )
    line(seen["before"], "before learning it", COLOURS["single"], ".3f", "dot", panel=3)
    line(seen["after"], "after learning it", COLOURS["forward"], ".3f", "solid", panel=3)

    top = max(2.0 / alpha, float(np.clip(story["evidence"].max(), _LEAST, _MOST)) * 2.0)
    powers = range(math.floor(math.log10(_LEAST)), math.ceil(math.log10(top)) + 1)
    shown = [power for power in powers if len(powers) <= 6 or power % 2 == 0]
    scale: dict[str, Any] = {
        "tickvals": [10.0**power for power in shown],
        "ticktext": [_power(power) for power in shown],
    }
    change = story["change"].to_numpy()
    low, high = min(float(np.nanmin(change, initial=0.0)), 0.0), float(np.nanmax(change, initial=1e-9))
    ticks = {"range": ends, **task_ticks(story["label"].tolist(), first=2, ticks=4)}
    return panels(
        traces,
        ["Evidence of a change", "Size of the change, d² / σ²", "Error of the newest task"],
        [axis("task", **ticks)] * 3,
        [
            axis(type="log", range=[math.log10(_LEAST) - 0.2, math.log10(top)], **scale),
            axis(range=[low - 0.05 * (high - low), high + 0.08 * (high - low)]),
            axis(**decimals(story[["before", "after"]])),
        ],
        gap=0.09,
        title=f"What is known when task {task} has arrived?",
        height=380,
    )


def _power(power: int) -> str:
    text = f"{10.0**power:,g}" if abs(power) < 4 else f"10<sup>{power}</sup>"
    return f"over {text}" if 10.0**power >= _MOST else text
