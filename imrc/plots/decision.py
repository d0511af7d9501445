"""What a practitioner could do, as one dot plot."""

from __future__ import annotations

import html
import textwrap

import numpy as np
import plotly.graph_objects as go

from imrc.evaluation import Decision
from imrc.plots._axes import decimals
from imrc.plots._panels import Traces, axis, chart, names_axis
from imrc.plots._style import COLOURS, rgba
from imrc.wording import decimal

_AXIS = {"error": "share of wrong answers", "balanced error": "balanced error"}


def decision_chart(decision: Decision) -> go.Figure:
    """Return errors of the strategies with their 95 % intervals, the simplest at the top."""
    titles = ["<br>".join(map(html.escape, textwrap.wrap(one.title, 18))) for one in decision.strategies]
    mean = np.array([one.error.mean for one in decision.strategies])
    half = np.nan_to_num(np.array([one.high - one.error.mean for one in decision.strategies]))
    colours = [COLOURS.get(one.name, COLOURS["reference"]) for one in decision.strategies]
    # Plotly draws one colour of bars per trace.
    traces = Traces()
    for value, width, title, colour in zip(mean, half, titles, colours, strict=True):
        if width > 0:
            ends = [value - width, value + width]
            traces.straight(ends, [title, title], colour=rgba(colour, 0.45), width=5, dash=None)
    symbols = ["diamond" if one.name in ("majority", "pooled") else "circle" for one in decision.strategies]
    interval = "<br>95 % interval %{customdata[0]:.3f} to %{customdata[1]:.3f}" if half.any() else ""
    traces.add(
        x=mean,
        y=titles,
        mode="markers",
        marker={"size": 13, "color": colours, "symbol": symbols},
        customdata=np.stack([mean - half, mean + half], axis=1),
        hovertemplate="%{x:.3f}" + interval + "<extra></extra>",
    )
    # The numbers stand in a column of their own, where no interval covers them.
    numbers = [
        {
            "x": 1.0,
            "xref": "paper",
            "y": title,
            "yref": "y",
            "xanchor": "left",
            "xshift": 6,
            "showarrow": False,
            "text": f"<b>{decimal(one.error.mean)}</b>" if one.name == decision.advised else decimal(one.error.mean),
            "font": {"size": 14},
        }
        for title, one in zip(titles, decision.strategies, strict=True)
    ]
    return chart(
        traces,
        axis(_AXIS[decision.measure], **decimals([mean - half, mean + half])),
        names_axis(titles, range=[-0.6, len(titles) - 0.4]),
        title="What could one do?",
        subtitle="bars: 95 % intervals" if half.any() else "one repetition: no intervals",
        height=106 + 36 * len(titles),
        legend=False,
        annotations=numbers,
        hovermode="closest",
        margin={"r": 56},
    )
