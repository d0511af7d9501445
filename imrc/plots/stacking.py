"""Stack side-by-side panels for narrow pages."""

from __future__ import annotations

import plotly.graph_objects as go

from imrc.plots._panels import panel_titles
from imrc.plots.describing import plain_text

PHONE_PX = 640
"""Pages up to this width are treated as phones."""
_LEGEND_PX = 300
"""Width available to a legend on a phone."""
_GAP = 92
"""Pixels between two panels: tick labels and title of one axis, title of the next panel."""


def _stacked(figure: go.Figure, *, panel_height: int = 250) -> go.Figure:
    """Put the panels of a figure with one row below each other, in place; return the figure.

    Figures with a single panel, or with several rows, stay as they are.

    Parameters
    ----------
    figure : Figure
        From `imrc.plots._panels.panels`, or any other of this package.
    panel_height : int
        Height of a panel in pixels.

    Returns
    -------
    Figure
        The same object, taller.
    """
    named = panel_titles(figure)
    x_axes = [figure.layout[f"xaxis{name[1:]}"] for name in named]
    y_axes = [figure.layout[f"yaxis{name[1:]}"] for name in named]
    if (
        len(named) < 2
        or len({axis.domain for axis in y_axes}) > 1
        or len({axis.domain for axis in x_axes}) < len(named)
    ):
        return figure
    inner = len(named) * panel_height + (len(named) - 1) * _GAP
    for axes in (x_axes, y_axes):
        # The title of shared axes is written at one panel only and meant for all.
        texts = {axis.title.text for axis in axes} - {None, ""}
        for axis in axes if len(texts) == 1 else ():
            axis.title.text = next(iter(texts))
    for i, (title, x, y) in enumerate(zip(named.values(), x_axes, y_axes, strict=True)):
        top = 1.0 - i * (panel_height + _GAP) / inner
        x.domain = [0.0, 1.0]
        y.update(domain=[max(0.0, top - panel_height / inner), top], showticklabels=True)
        title.update(x=0.5, y=top)
    bar = figure.layout.coloraxis.colorbar
    if bar.orientation == "h":
        bar.update(len=0.9, nticks=5)
    margin = figure.layout.margin
    figure.update_layout(height=inner + (margin.t or 0) + (margin.b or 0))
    return figure


def _room_for_legend(figure: go.Figure, width: int) -> go.Figure:
    """Make a figure taller, in place, where its legend needs more rows than there is room for; return the figure.

    Parameters
    ----------
    figure : Figure
        With its legend at the bottom, as all of `imrc.plots`.
    width : int
        Pixels a row of the legend has.

    Returns
    -------
    Figure
    """
    if not figure.layout.showlegend:
        return figure
    rows, used = 1, 0.0
    for trace in figure.data:
        if trace.showlegend is False or not trace.name:
            continue
        size = 48 + 6.2 * len(plain_text(trace.name))
        if used and used + size > width:
            rows, used = rows + 1, 0.0
        used += size
    missing = 62 + 21 * rows - (figure.layout.margin.b or 0)
    if missing > 0:
        figure.update_layout(height=figure.layout.height + missing, margin_b=figure.layout.margin.b + missing)
    return figure


def on_phone(figure: go.Figure) -> go.Figure:
    """Change a figure in place so that it can be read on a phone: panels below each other, room for the legend.

    Parameters
    ----------
    figure : Figure
        One of this package.

    Returns
    -------
    Figure
        The same figure.
    """
    return _room_for_legend(_stacked(figure), _LEGEND_PX)
