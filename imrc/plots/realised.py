"""Effective samples promised and realised, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from imrc.evaluation.realised import Realised, realised_text
from imrc.plots._panels import Traces, axis, chart, names_axis
from imrc.plots._style import COLOURS, NAMES, rgba


def realised_chart(found: Sequence[Realised], n: int) -> go.Figure:
    """Return promised and realised samples of each rule with 95 % intervals.

    What is off the grid is said beside the row.
    """
    traces = Traces()
    names, notes = [], []
    most = max(found[0].most, *(one.promised.mean for one in found))
    for one in found:
        colour = COLOURS[one.rule]
        rows = (
            ("promised", one.promised.mean, one.promised.low, one.promised.high, "circle-open"),
            ("realised", one.value, one.low, one.high, "circle"),
        )
        for what, value, low, high, symbol in rows:
            name = f"{NAMES[one.rule]},<br>{what}"
            names.append(name)
            if math.isfinite(low):
                traces.straight([low, min(high, most)], [name, name], colour=rgba(colour, 0.45), width=5, dash=None)
            traces.add(
                x=[value if math.isfinite(value) else None],
                y=[name],
                mode="markers",
                name=name,
                marker={"size": 13, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}},
                hovertemplate="%{x:.1f} samples<extra></extra>",
            )
            if what == "realised" and not math.isfinite(value):
                notes.append((name, realised_text(one)))
    traces.straight([n, n], [names[-1], names[0]], "a task's own samples", COLOURS["single"], dash="dot")
    return chart(
        traces,
        axis(
            "samples a task is worth",
            type="log",
            range=[math.log10(min(found[0].least, n) * 0.9), math.log10(most * 1.05)],
        ),
        names_axis(names, range=[-0.6, len(names) - 0.4]),
        title="Do the errors show what was promised?",
        subtitle="bars: 95 % intervals; dotted: a task's own samples",
        height=110 + 46 * len(names),
        legend=False,
        annotations=[
            {"x": 0.02, "xref": "paper", "y": name, "xanchor": "left", "text": text, "showarrow": False}
            for name, text in notes
        ],
        hovermode="closest",
    )
