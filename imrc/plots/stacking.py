"""Fitting figures to pages: without the title a page shows as a heading, and panels below each other on phones."""

from __future__ import annotations

import plotly.graph_objects as go

from imrc.plots._panels import legend_rows, move_ends_apart, panel_titles
from imrc.plots._style import LEGEND_PX, TITLE_PX
from imrc.plots._themes import DIFFERENCE, SCALE
from imrc.plots.describing import plain_text

PHONE_PX = 640
"""Pages up to this width are treated as phones."""
_LEGEND_PX = 300
"""Width available to a legend on a phone."""
_GAP = 92
"""Pixels between two panels: tick labels and title of one axis, title of the next panel."""
_GAP_WITHOUT_NAME = 62
"""The same where only the last panel names the axis they share."""
_SCREEN_PX = 520
"""Panels and gaps together: with title and legend, all of them are on the screen of a phone at once."""


def untitled(figure: go.Figure) -> tuple[str, str]:
    """Take the title out of a figure, in place; return it and its unit as plain texts, for a heading.

    >>> figure = go.Figure(layout={"title": {"text": "Does it help?"}, "height": 400, "margin": {"t": 80}})
    >>> untitled(figure), figure.layout.height, figure.layout.margin.t
    (('Does it help?', ''), 350, 30)
    """
    title, unit = plain_text(figure.layout.title.text), plain_text(figure.layout.title.subtitle.text)
    figure.update_layout(
        title=None,
        margin_t=max((figure.layout.margin.t or 0) - TITLE_PX, 14),
        height=figure.layout.height - TITLE_PX,
        legend_y=1.0 if (figure.layout.legend.y or 0) > 0.5 else figure.layout.legend.y,
    )
    return title, unit


def _stacked(figure: go.Figure) -> go.Figure:
    """Put the panels of a figure with one row, and several panels, below each other, in place; return the figure."""
    named = panel_titles(figure)
    x_axes = [figure.layout[f"xaxis{name[1:]}"] for name in named]
    y_axes = [figure.layout[f"yaxis{name[1:]}"] for name in named]
    if (
        len(named) < 2
        or len({axis.domain for axis in y_axes}) > 1
        or len({axis.domain for axis in x_axes}) < len(named)
    ):
        return figure
    # The title of shared axes is written at one panel only and meant for all.
    names = {axis.title.text for axis in x_axes} - {None, ""}
    gap = _GAP_WITHOUT_NAME if len(names) == 1 else _GAP
    for axis in x_axes if len(names) == 1 else ():
        axis.title.text = next(iter(names)) if axis is x_axes[-1] else None
    names = {axis.title.text for axis in y_axes} - {None, ""}
    for axis in y_axes if len(names) == 1 else ():
        axis.title.text = next(iter(names))
    panel_height = min(240, (_SCREEN_PX - gap * (len(named) - 1)) // len(named))
    inner = len(named) * panel_height + (len(named) - 1) * gap
    for i, (title, x, y) in enumerate(zip(named.values(), x_axes, y_axes, strict=True)):
        top = 1.0 - i * (panel_height + gap) / inner
        x.domain = [0.0, 1.0]
        y.update(domain=[max(0.0, top - panel_height / inner), top], showticklabels=True)
        title.update(x=0.5, y=top)
    for scale in {SCALE, DIFFERENCE} & set(figure.layout):
        if figure.layout[scale].colorbar.orientation == "h":
            figure.layout[scale].colorbar.update(len=0.9, nticks=5)
    margin = figure.layout.margin
    height = inner + (margin.t or 0) + (margin.b or 0)
    if figure.layout.legend.y is not None:
        figure.layout.legend.y = 1 - (1 - figure.layout.legend.y) * figure.layout.height / height
    figure.update_layout(height=height)
    move_ends_apart(figure, panel_height)
    return figure


def _room_for_legend(figure: go.Figure, width: int) -> go.Figure:
    """Make a figure taller, in place, where its legend needs more rows of `width` pixels than on a page."""
    if not figure.layout.showlegend or figure.layout.legend.y is None:
        return figure
    more = LEGEND_PX * (legend_rows(figure.data, width) - legend_rows(figure.data))
    old = figure.layout.height
    figure.update_layout(
        height=old + more,
        margin_t=(figure.layout.margin.t or 0) + more,
        legend_y=1 - (1 - figure.layout.legend.y) * old / (old + more),
    )
    return figure


def on_phone(figure: go.Figure) -> go.Figure:
    """Change a figure in place so that it can be read on a phone, panels below each other, and return it."""
    return _room_for_legend(_stacked(figure), _LEGEND_PX)
