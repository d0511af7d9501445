"""Stack side-by-side panels for narrow pages."""

from __future__ import annotations

import math
from dataclasses import dataclass

import plotly.graph_objects as go

from imrc.plots.describing import plain_text

PHONE_PX = 640
"""Pages up to this width are treated as phones."""
_LEGEND_PX = 300
"""Width available to a legend on a phone."""
_GAP = 92
"""Pixels between two panels: tick labels and title of one axis, title of the next panel."""


@dataclass(frozen=True)
class _Panel:
    """One pair of axes: their keys in the layout, and where the horizontal one lies."""

    x: str
    y: str
    left: float
    right: float


def _panels(figure: go.Figure) -> list[_Panel]:
    """Pairs of axes from left to right."""
    out = []
    for axis in figure.select_xaxes():
        anchor = axis.anchor or "y"
        domain = axis.domain or (0.0, 1.0)
        out.append(_Panel(axis.plotly_name, f"yaxis{anchor[1:]}", *domain))
    return sorted(out, key=lambda panel: panel.left)


def _stacked(figure: go.Figure, *, panel_height: int = 250) -> go.Figure:
    """Put the panels of a figure with one row below each other, in place; return the figure.

    Figures with a single panel, or with several rows, stay as they are.

    Parameters
    ----------
    figure : Figure
        Made by `plotly.subplots.make_subplots` with one row.
    panel_height : int
        Height of a panel in pixels.

    Returns
    -------
    Figure
        The same object, taller.
    """
    panels = _panels(figure)
    rows = {tuple(figure.layout[panel.y].domain or (0.0, 1.0)) for panel in panels}
    if len(panels) < 2 or len(rows) > 1 or len({panel.left for panel in panels}) < len(panels):
        return figure
    inner = len(panels) * panel_height + (len(panels) - 1) * _GAP
    titles = {axis: _title(figure, [getattr(panel, axis) for panel in panels]) for axis in ("x", "y")}
    moved = []
    for i, panel in enumerate(panels):
        top = 1.0 - i * (panel_height + _GAP) / inner
        centre = (panel.left + panel.right) / 2
        for annotation in figure.layout.annotations:
            of_panel = annotation.xref == annotation.yref == "paper" and annotation.yanchor == "bottom"
            if of_panel and annotation.x is not None and math.isclose(annotation.x, centre, abs_tol=1e-6):
                moved.append((annotation, top))
        figure.layout[panel.x].update(domain=[0.0, 1.0])
        figure.layout[panel.y].update(domain=[max(0.0, top - panel_height / inner), top], showticklabels=True)
        for axis, key in (("x", panel.x), ("y", panel.y)):
            if titles[axis] and not figure.layout[key].title.text:
                figure.layout[key].update(title_text=titles[axis])
    for annotation, top in moved:
        annotation.update(x=0.5, y=top)
    bar = figure.layout.coloraxis.colorbar
    if bar.orientation == "h":
        bar.update(len=0.9, nticks=5)
    margin = figure.layout.margin
    figure.update_layout(height=inner + (margin.t or 0) + (margin.b or 0))
    return figure


def _title(figure: go.Figure, keys: list[str]) -> str | None:
    """Title of shared axes: written at one panel only, meant for all."""
    texts = {figure.layout[key].title.text for key in keys} - {None, ""}
    return texts.pop() if len(texts) == 1 else None


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
