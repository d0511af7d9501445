"""How long learning takes: time per task against samples, tasks and backward steps."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from imrc.plots._panels import Traces, axis, panels
from imrc.plots._style import COLOURS

PANELS = {"n": "Samples per task n", "k": "Number of tasks k", "b": "Backward steps b"}


def running_time_curves(table: pd.DataFrame) -> go.Figure:
    """Draw the time per task against n, k and b, a panel each, from zero; the fixed values stand in the panel's title.

    `table` has columns varied ("n", "k" or "b"), n, k, b and ms_per_task. ValueError: it has no row to draw.
    """
    names = [name for name in PANELS if (table["varied"] == name).any()]
    if not names:
        raise ValueError("table has no row in which n, k or b is varied.")
    titles = []
    for name in names:
        fixed = table.loc[table["varied"] == name].iloc[0]
        titles.append(", ".join(f"{other} = {fixed[other]}" for other in PANELS if other != name))
    traces = Traces()
    for column, name in enumerate(names, start=1):
        part = table[table["varied"] == name].sort_values(name)
        traces.add(
            x=part[name],
            y=part["ms_per_task"],
            mode="lines+markers",
            line={"color": COLOURS["forward_backward"], "width": 2},
            marker={"size": 7},
            name="all three rules",
            showlegend=False,
            hovertemplate=f"{name} = %{{x}}<br>%{{y:.1f}} ms per task<extra></extra>",
            panel=column,
        )
    return panels(
        traces,
        titles,
        [axis(PANELS[name], rangemode="tozero") for name in names],
        [axis(None if i else "Milliseconds per task", rangemode="tozero") for i in range(len(names))],
        gap=0.09,
        above=52,
        title_size=12,
        title="How long does one more task take?",
        height=360,
        legend=False,
    )
