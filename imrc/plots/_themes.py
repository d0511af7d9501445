"""The look of all figures as two Plotly templates, and the colours that mean something on dark pages."""

from __future__ import annotations

from typing import Any, Literal

import plotly.graph_objects as go
import plotly.io as pio

from imrc.plots._style import (
    COLOURS,
    DIVERGING,
    DIVERGING_ON_DARK,
    FONT,
    GRID,
    INK,
    PAPER,
    SEQUENTIAL,
    SEQUENTIAL_ON_DARK,
)

LIGHT, DARK = "imrc_light", "imrc_dark"
"""Names of the templates."""

_AXIS: dict[str, Any] = {
    "gridcolor": GRID,
    "zeroline": False,
    "automargin": True,
    # A finger that swipes over a chart scrolls the page; who wants numbers points at them.
    "fixedrange": True,
    "title": {"font": {"size": 13}, "standoff": 8},
}
"""A quiet grid that stays where it is."""

_HOVER = {"light": "#FFFFFF", "dark": "#1B2330"}
"""Ground of what is said when pointing at something."""


def _template(scheme: Literal["light", "dark"]) -> go.layout.Template:
    """Return what all figures share: title at the left, legend between it and the plot, a quiet grid."""
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
        # Close to the lines it names; how far from the top depends on the height (`imrc.plots._panels.chart`).
        "legend": {
            "orientation": "h",
            "x": 0,
            "yref": "container",
            "xanchor": "left",
            "yanchor": "top",
            "font": {"size": 12},
        },
        "dragmode": False,
        "hoverlabel": {
            "align": "left",
            "bgcolor": _HOVER[scheme],
            "bordercolor": GRID,
            "font": {"family": FONT, "size": 13, "color": INK[scheme]},
        },
        # Not transparent: a chart saved as a picture is pasted into documents of any colour.
        "paper_bgcolor": PAPER[scheme],
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    }
    return go.layout.Template(layout=layout)


pio.templates[LIGHT] = _template("light")
pio.templates[DARK] = _template("dark")

_FAINTER = 1.7
"""A transparent band needs this much more colour on a dark page to be seen as well."""
_SCALES = ((SEQUENTIAL, SEQUENTIAL_ON_DARK), (DIVERGING, DIVERGING_ON_DARK))
_INKED = ("line", "marker", "error_x", "error_y", "textfont")


def _turn(holder: Any) -> None:  # noqa: ANN401 - any part of a figure that has a colour
    """Turn black, the one colour that is lost on a dark page, into its ink."""
    colour = holder.color
    black = (COLOURS["truth"], INK["light"])
    if isinstance(colour, str) and colour in black:
        holder.color = INK["dark"]
    elif isinstance(colour, (list, tuple)):
        holder.color = [INK["dark"] if one in black else one for one in colour]


def _turn_scale(holder: Any) -> None:  # noqa: ANN401 - a heatmap or the scale that several share
    for light, dark in _SCALES:
        if [list(step) for step in holder.colorscale or ()] == light:
            holder.colorscale = dark


def on_dark(figure: go.Figure) -> go.Figure:
    """Change a figure in place so that it can be read on a dark page.

    Colours that say what a trace is hold on both pages. Black does not, nor do scales of heatmaps, in which what is
    small would glow, nor bands as faint as they are on white.

    Parameters
    ----------
    figure : Figure
        One of this package.

    Returns
    -------
    Figure
        The same figure.
    """
    _turn_scale(figure.layout.coloraxis)
    for trace in figure.data:
        if trace.type == "heatmap":
            _turn_scale(trace)
        if trace.type not in ("scatter", "bar"):
            continue
        if trace.type == "scatter" and (trace.fillcolor or "").startswith("rgba("):
            red, green, blue, alpha = trace.fillcolor[5:-1].split(",")
            trace.fillcolor = f"rgba({red},{green},{blue},{min(1.0, _FAINTER * float(alpha)):.3g})"
        for place in _INKED:
            if place in trace and trace[place] is not None:
                _turn(trace[place])
        if "marker" in trace and trace.marker.line.color is not None:
            _turn(trace.marker.line)
    for shape in figure.layout.shapes:
        _turn(shape.line)
    for annotation in figure.layout.annotations:
        _turn(annotation.font)
    figure.update_layout(template=DARK)
    return figure
