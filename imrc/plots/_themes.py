"""The look of all figures as two Plotly templates: what changes with the page is in them, and bands alone are not.

Traces without a colour are drawn in ink, heatmaps take their scale from a colour axis: `SCALE` for sizes, `DIFFERENCE`
for what is better or worse than 0.
"""

from __future__ import annotations

from typing import Any, Literal

import plotly.graph_objects as go
import plotly.io as pio

from imrc.plots._style import (
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
SCALE, DIFFERENCE = "coloraxis", "coloraxis2"
"""Names of the colour axes."""

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
        "colorway": [INK[scheme]],
        SCALE: {"colorscale": SEQUENTIAL if scheme == "light" else SEQUENTIAL_ON_DARK},
        DIFFERENCE: {"colorscale": DIVERGING if scheme == "light" else DIVERGING_ON_DARK},
    }
    return go.layout.Template(layout=layout)


pio.templates[LIGHT] = _template("light")
pio.templates[DARK] = _template("dark")

_FAINTER = 1.7
"""A transparent band needs this much more colour on a dark page to be seen as well; no template can say so."""


def on_dark(figure: go.Figure) -> go.Figure:
    """Change a figure in place for a dark page, where bands, faint on white, have to be stronger; return it."""
    for trace in figure.select_traces({"type": "scatter"}):
        if (trace.fillcolor or "").startswith("rgba("):
            red, green, blue, alpha = trace.fillcolor[5:-1].split(",")
            trace.fillcolor = f"rgba({red},{green},{blue},{min(1.0, _FAINTER * float(alpha)):.3g})"
    figure.update_layout(template=DARK)
    return figure
