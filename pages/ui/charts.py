"""Showing figures: one place for toolbar, file names and alternative texts."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st


def show(figure: go.Figure, *, name: str, alt: str, select: bool = False) -> Any:  # noqa: ANN401 - Streamlit's state
    """Show a figure over the full width.

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
    """
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
        "toImageButtonOptions": {"format": "svg", "filename": f"imrc-{name}"},
    }
    if select:
        return st.plotly_chart(
            figure,
            key=name,
            alt=alt,
            config=config,
            on_select="rerun",
            selection_mode="points",
            width="stretch",
        )
    return st.plotly_chart(figure, key=name, alt=alt, config=config, width="stretch")
