"""Figures written down at once: Plotly checks a finished description ten times faster than its updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._style import MARGIN
from imrc.plots._themes import LIGHT


def axis(text: str | None = None, **own: Any) -> dict[str, Any]:  # noqa: ANN401 - Plotly's properties
    """Return an axis with a title and properties of its own.

    Examples
    --------
    >>> axis("task", tickformat="d")
    {'title': {'text': 'task'}, 'tickformat': 'd'}
    """
    return own if text is None else {"title": {"text": text}, **own}


def on_panel(trace: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a trace with the names of the axes of a panel, which count from 1.

    Examples
    --------
    >>> on_panel({"type": "scatter"}, 2)
    {'type': 'scatter', 'xaxis': 'x2', 'yaxis': 'y2'}
    """
    suffix = "" if number == 1 else str(number)
    return {**trace, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


class Traces(list[dict[str, Any]]):
    """The traces of a figure, in the order in which they are drawn."""

    def add(self, *, kind: str = "scatter", panel: int = 1, **properties: Any) -> None:  # noqa: ANN401 - Plotly's properties
        """Add a trace to a panel, which count from 1."""
        self.append(on_panel({"type": kind, **properties}, panel))


def band_key(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what names the bands in the legend, once for all of them; nothing if the column stderr has no number."""
    if not np.isfinite(table["stderr"]).any():
        return []
    return [
        {
            "type": "scatter",
            "x": [None],
            "y": [None],
            "mode": "markers",
            "marker": {"symbol": "square", "size": 13, "color": "rgba(128,136,150,0.3)"},
            "name": "Confidence bands: ± 2 standard errors",
            "hoverinfo": "skip",
        }
    ]


def chart(
    traces: Sequence[dict[str, Any]],
    x: dict[str, Any],
    y: dict[str, Any],
    *,
    title: str,
    height: int,
    subtitle: str = "",
    legend: bool = True,
    order: str | None = None,
    below: int = 0,
    above: int = 0,
    **layout: Any,  # noqa: ANN401 - Plotly's properties
) -> go.Figure:
    """Return a figure from its traces and axes.

    Parameters
    ----------
    traces : sequence of dict
        With their type.
    x, y : dict
        From `axis`.
    title, height, subtitle, legend
        Of the figure.
    order : str or None
        Of the entries of the legend, where Plotly's own is not right.
    below, above : int
        Pixels below and above the plot, where the usual ones are too few.
    **layout
        Further properties.

    Returns
    -------
    Figure
    """
    margin = {**MARGIN, "t": above or MARGIN["t"], "b": below or (MARGIN["b"] if legend else 48)}
    described = {
        # Set here because other programs change Plotly's default template.
        "template": LIGHT,
        "title": {"text": title, "subtitle": {"text": subtitle}} if subtitle else {"text": title},
        "height": height,
        "margin": margin,
        "showlegend": legend,
        "legend": {"traceorder": order},
        "xaxis": x,
        "yaxis": y,
        **layout,
    }
    return go.Figure({"data": list(traces), "layout": described})


def panel_title(text: str, number: int, x: float, y: float, size: int = 14) -> dict[str, Any]:
    """Return the title of a panel, centred above it; its name is that of the panel's horizontal axis in traces."""
    return {
        "name": on_panel({}, number)["xaxis"],
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": size},
    }


def panel_titles(figure: go.Figure) -> dict[str, Any]:
    """Return the titles of the panels of a figure, from left to right, by the names of their horizontal axes."""
    return {a.name: a for a in figure.layout.annotations if a.name}


def panels(
    traces: Sequence[dict[str, Any]],
    titles: Sequence[str],
    x_axes: Sequence[dict[str, Any]],
    y_axes: Sequence[dict[str, Any]],
    *,
    gap: float,
    above: int = 84,
    title_size: int = 14,
    share_y: bool = False,
    **layout: Any,  # noqa: ANN401 - of `chart`
) -> go.Figure:
    """Return a figure with one row of panels.

    Parameters
    ----------
    traces : sequence of dict
        With their type and, from `on_panel`, their axes.
    titles : sequence of str
        Of the panels, from left to right.
    x_axes, y_axes : sequence of dict
        From `axis`, one per panel.
    gap : float
        Between two panels, as a share of the width.
    above : int
        Pixels above the panels.
    title_size : int
        Of the titles of the panels.
    share_y : bool
        All panels have the vertical axis of the first.
    **layout
        As for `chart`.

    Returns
    -------
    Figure
    """
    width = (1.0 - gap * (len(titles) - 1)) / len(titles)
    axes: dict[str, Any] = {}
    named = []
    for i, (text, x, y) in enumerate(zip(titles, x_axes, y_axes, strict=True)):
        left = i * (width + gap)
        suffix = "" if i == 0 else str(i + 1)
        shared = {"matches": "y", "showticklabels": False} if share_y and i > 0 else {}
        axes[f"xaxis{suffix}"] = {**x, "anchor": f"y{suffix}", "domain": [left, min(left + width, 1.0)]}
        axes[f"yaxis{suffix}"] = {**y, "anchor": f"x{suffix}", "domain": [0.0, 1.0], **shared}
        named.append(panel_title(text, i + 1, left + width / 2, 1.0, title_size))
    return chart(traces, axes.pop("xaxis"), axes.pop("yaxis"), above=above, annotations=named, **axes, **layout)
