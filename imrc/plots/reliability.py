"""How often rules are right against how sure they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._axes import decimals
from imrc.plots._panels import Traces, axis, band_key, chart
from imrc.plots._style import COLOURS, DASHES, NAMES


def reliability_chart(table: pd.DataFrame) -> go.Figure:
    """Return accuracy against confidence, per rule, with the line on which probabilities can be taken at their word."""
    traces = Traces()
    traces.straight([0.0, 1.0], [0.0, 1.0], "as sure as right", width=1, dash=None)
    for rule, part in table.groupby("rule", sort=False):
        x, y, half = (part[column].to_numpy() for column in ("confidence", "accuracy", "half"))
        if np.isfinite(half).all() and len(part) > 1:
            low, high = (y - half).clip(0.0), (y + half).clip(max=1.0)
            traces.band(x, low, high, COLOURS[str(rule)], 0.15, showlegend=False)
        traces.add(
            x=x,
            y=y,
            mode="lines+markers",
            name=NAMES[str(rule)],
            line={"color": COLOURS[str(rule)], "width": 2, "dash": DASHES[str(rule)]},
            customdata=part["samples"],
            hovertemplate="%{x:.2f} sure, %{y:.2f} right<br>%{customdata:,} test samples<extra></extra>",
        )
    traces += band_key(table)
    ends = np.concatenate(
        [table["accuracy"] - table["half"].fillna(0), table["accuracy"] + table["half"].fillna(0), [1.0]]
    )
    return chart(
        traces,
        axis("probability of the answer given", **decimals([*table["confidence"], 1.0])),
        axis("share of right answers", **decimals(ends.clip(0.0, 1.0))),
        title="Can its probabilities be believed?",
        subtitle="below the line: too sure",
        height=380,
    )
