"""Showing figures: one place for toolbar, file names and alternative texts."""

from __future__ import annotations

from typing import Any, Literal

import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from imrc.plots._style import INK


def show(  # noqa: ANN201 - Streamlit's own state object
    figure: go.Figure,
    *,
    name: str,
    alt: str,
    select: bool = False,
    width: int | Literal["stretch"] = "stretch",
):
    """Show a figure.

    Parameters
    ----------
    figure : Figure
        From `imrc.plots`.
    name : str
        Key of the element and stem of the file saved from its toolbar.
    alt : str
        What the chart shows, for screen readers.
    select : bool
        Rerun the page when a point is clicked and return the selection.
    width : int or "stretch"
        Width in pixels, or all there is.
    """
    # Streamlit makes its own template the default, and every new figure pays for building it; ours set all they need.
    pio.templates.default = "none"
    figure.update_layout(font_color=INK["dark" if st.context.theme.type == "dark" else "light"])
    config: dict[str, Any] = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
        "toImageButtonOptions": {"format": "svg", "filename": f"imrc-{name}"},
    }
    # theme=None: Streamlit's own theme would move legends and change sizes and colours.
    options: dict[str, Any] = {"on_select": "rerun", "selection_mode": "points"} if select else {}
    return st.plotly_chart(figure, key=name, alt=alt, config=config, theme=None, width=width, **options)
