"""The look of all figures as two Plotly templates, and the colours that mean something on dark pages."""

from __future__ import annotations

from typing import Any, Literal

import plotly.graph_objects as go
import plotly.io as pio

from imrc.plots._style import FONT, GRID, INK, PAPER

LIGHT, DARK = "imrc_light", "imrc_dark"
"""Names of the templates."""

_AXIS: dict[str, Any] = {
    "gridcolor": GRID,
    "zeroline": False,
    "automargin": True,
    "title": {"font": {"size": 13}, "standoff": 8},
}
"""A quiet grid."""


def _template(scheme: Literal["light", "dark"]) -> go.layout.Template:
    """Return what all figures share: title at the left, legend below the plot, a quiet grid."""
    layout = {
        "title": {
            "x": 0,
            "xanchor": "left",
            "y": 0.98,
            "yanchor": "top",
            "font": {"size": 18, "weight": 600},
            "subtitle": {"font": {"size": 13}},
        },
        "font": {"family": FONT, "size": 13, "color": INK[scheme]},
        # At the bottom of the whole figure: it can never collide with title or axis labels.
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 0.0,
            "yref": "container",
            "xanchor": "left",
            "yanchor": "bottom",
            "font": {"size": 12},
        },
        "hoverlabel": {"align": "left"},
        # Not transparent: a chart saved as a picture is pasted into documents of any colour.
        "paper_bgcolor": PAPER[scheme],
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    }
    return go.layout.Template(layout=layout)


pio.templates[LIGHT] = _template("light")
pio.templates[DARK] = _template("dark")

# Plotly gives traces the colours of a template by their position, and here a colour says what a trace is.
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
    figure.update_layout(template=DARK)
    return figure
