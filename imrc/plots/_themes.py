"""Figures on dark pages: the few colours that would vanish there, replaced by ones of the same meaning."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from imrc.plots._style import INK, PAPER

_ON_DARK = {
    # Truth and reference: black and dark grey.
    "#000000": INK["dark"],
    "#4B5563": "#B4BCC8",
    "#6B7280": "#A3ACB9",
    "#1F2937": "#D3D9E2",
    # The darkest shades of forward, and of forward and backward.
    "#00442F": "#BCE8DA",
    "#00674B": "#8FD9C0",
    "#6E4B00": "#F8DFA6",
    "#8F6200": "#F5D08A",
    # Methods and verdicts.
    "#0072B2": "#4BA3DB",
    "#7B5EA7": "#AE95D4",
    "#B3001B": "#F0707F",
    "#B45309": "#E08A3C",
    "#A6761D": "#CDA04C",
}
_FAINTER = 1.7
"""A transparent band needs this much more colour on a dark page to be seen as well."""
_PLACES = ("line", "marker", "error_x", "error_y", "textfont")


def _replace(holder: Any) -> None:  # noqa: ANN401 - any part of a trace that has a colour
    colour = holder.color
    if isinstance(colour, str):
        if colour.upper() in _ON_DARK:
            holder.color = _ON_DARK[colour.upper()]
    elif colour is not None and not isinstance(colour, (int, float)) and len(colour) and isinstance(colour[0], str):
        holder.color = [_ON_DARK.get(one.upper(), one) for one in colour]


def on_dark(figure: go.Figure) -> go.Figure:
    """Change a figure in place so that it can be read on a dark page.

    Heatmaps stay as they are: their cells bring their own background.

    Parameters
    ----------
    figure : Figure
        One of this package.

    Returns
    -------
    Figure
        The same figure.
    """
    for trace in figure.data:
        if trace.type not in ("scatter", "bar"):
            continue
        if trace.type == "scatter" and (trace.fillcolor or "").startswith("rgba("):
            red, green, blue, alpha = trace.fillcolor[5:-1].split(",")
            trace.fillcolor = f"rgba({red},{green},{blue},{min(1.0, _FAINTER * float(alpha)):.3g})"
        for place in _PLACES:
            if place in trace and trace[place] is not None:
                _replace(trace[place])
        if "marker" in trace and trace.marker.line.color is not None:
            _replace(trace.marker.line)
    for shape in figure.layout.shapes:
        _replace(shape.line)
    for annotation in figure.layout.annotations:
        _replace(annotation.font)
    figure.update_layout(font_color=INK["dark"], paper_bgcolor=PAPER["dark"])
    return figure
