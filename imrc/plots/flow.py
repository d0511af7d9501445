"""The paper's flow diagram: boxes of one step, each with the function that does it, and what goes where."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from imrc.paper.method import FLOW, Box, lines_of, short_name
from imrc.plots._panels import Traces, axis, chart
from imrc.plots._style import COLOURS
from imrc.plots.describing import plain_text

_COLUMNS = ("tasks k − b, …, k − 1", "new task k")
_WIDTH, _HEIGHT = 0.86, 0.62
"""Of a box, where columns and rows are 1 apart."""


def _colour(box: Box) -> str:
    return COLOURS[box.rule or "reference"]


def _arrow(start: Box, end: Box) -> dict[str, Any]:
    """Return an arrow: from below to above within a column, from side to side between columns."""
    across = end.column - start.column
    from_x, to_x = start.column + across * _WIDTH / 2, end.column - across * _WIDTH / 2
    from_y, to_y = float(start.row), float(end.row)
    if not across:
        from_y, to_y = from_y + _HEIGHT / 2, to_y - _HEIGHT / 2
    place: dict[str, Any] = dict(zip(("ax", "ay", "x", "y"), (from_x, from_y, to_x, to_y), strict=True))
    axes = {"axref": "x", "ayref": "y", "xref": "x", "yref": "y"}
    return {**place, **axes, "text": "", "arrowhead": 2, "arrowwidth": 1.5, "arrowcolor": _colour(start)}


def flow_in_words() -> str:
    """Return what the flow diagram shows, for people who cannot see it."""
    words = {key: plain_text(box.text) for key, box in FLOW.items()}
    parts = [
        f"{short_name(box.function)} makes {words[key]} of {' and '.join(words[name] for name in box.after)}"
        for key, box in FLOW.items()
        if box.function
    ]
    return "; ".join(parts) + "."


def flow_diagram() -> go.Figure:
    """Draw the boxes of `imrc.paper.method.FLOW`; ``customdata`` holds the dotted names of their functions.

    >>> list(flow_diagram().data[0].customdata[:2])
    ['imrc.core.moments.sample_moments', 'imrc.core.change.forward_change']
    """
    linked = [box for box in FLOW.values() if box.function]
    traces = Traces()
    traces.add(
        x=[box.column for box in linked],
        y=[box.row for box in linked],
        mode="markers",
        # Seen by the pointer alone: a click anywhere near the middle of a box chooses its function.
        marker={"size": 40, "symbol": "square", "opacity": 0.0},
        selected={"marker": {"opacity": 0.0}},
        unselected={"marker": {"opacity": 0.0}},
        customdata=[box.function for box in linked],
        text=[f"{box.function}<br>{lines_of(box.function)} of Algorithm 1" for box in linked],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    shapes = [
        {
            "type": "rect",
            "x0": box.column - _WIDTH / 2,
            "x1": box.column + _WIDTH / 2,
            "y0": box.row - _HEIGHT / 2,
            "y1": box.row + _HEIGHT / 2,
            "line": {"color": _colour(box), "width": 2 if box.function else 1, "dash": "solid"},
        }
        for box in FLOW.values()
    ]
    texts = [
        {
            "x": box.column,
            "y": box.row,
            "text": f"{box.text}<br><b>{short_name(box.function)}</b>" if box.function else box.text,
            "showarrow": False,
            "font": {"size": 13},
        }
        for box in FLOW.values()
    ]
    heads = [
        {"x": column, "y": -0.62, "text": text, "showarrow": False, "font": {"size": 13}}
        for column, text in enumerate(_COLUMNS)
    ]
    # From above within a column comes all that stands there: one arrow, from the box before.
    arrows = [
        _arrow(FLOW[name], box)
        for box in FLOW.values()
        for position, name in enumerate(box.after)
        if FLOW[name].column != box.column or position == 0
    ]
    return chart(
        traces,
        axis(visible=False, range=[-0.5, 1.5]),
        axis(visible=False, range=[5.4, -0.85]),
        title="What does a step do?",
        height=560,
        legend=False,
        shapes=shapes,
        annotations=[*arrows, *texts, *heads],
        margin={"l": 4, "r": 4, "t": 50, "b": 4},
    )
