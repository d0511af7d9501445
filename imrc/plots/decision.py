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
    """Return errors of the strategies with 95 % intervals, simplest at the top, lowest in bold, advised with a tick."""
    strategies, advised = decision.strategies, decision.advice.advised
    titles = ["<br>".join(map(html.escape, textwrap.wrap(one.title, 20))) for one in strategies]
    mean = np.array([one.error.mean for one in strategies])
    ends = np.array([[one.low, one.high] for one in strategies])
    known = bool(np.isfinite(ends).all())
    colours = [COLOURS.get(one.name, COLOURS["reference"]) for one in strategies]
    # Plotly draws one colour of bars per trace.
    traces = Traces()
    for (low, high), title, colour in zip(ends, titles, colours, strict=True):
        if high > low:
            traces.straight([low, high], [title, title], colour=rgba(colour, 0.45), width=5, dash=None)
    symbols = ["diamond" if one.name in ("majority", "pooled") else "circle" for one in strategies]
    interval = "<br>95 % interval %{customdata[0]:.3f} to %{customdata[1]:.3f}" if known else ""
    traces.add(
        x=mean,
        y=titles,
        mode="markers",
        marker={"size": 13, "color": colours, "symbol": symbols},
        customdata=ends,
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
            "text": (
                f"<b>{decimal(one.error.mean)}</b>" if one.name == decision.advice.best else decimal(one.error.mean)
            )
            + " ✓" * (one.name == advised),
            "font": {"size": 14},
        }
        for title, one in zip(titles, strategies, strict=True)
    ]
    said = ["bars: 95 % intervals" if known else "one repetition: no intervals", "bold: lowest", "✓ advised"]
    return chart(
        traces,
        axis(_AXIS[decision.measure], **decimals([mean, *ends.T])),
        names_axis(titles, range=[-0.6, len(titles) - 0.4]),
        title="What could one do?",
        subtitle=" · ".join(said if advised else said[:2]),
        height=106 + 36 * len(titles),
        legend=False,
        annotations=numbers,
        hovermode="closest",
        margin={"r": 68},
    )
