"""Showing figures and tables: one place for headings, toolbar, file names and alternative texts."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from imrc.plots import describe, on_dark, room_for_legend, stacked
from imrc.plots.describing import plain_text
from pages.ui import screen
from pages.ui.words import plain

IMAGE_FORMATS = ("png", "svg")
PHONE_PX = 300
"""Width a legend has on a phone."""
_TITLE_PX = 50
"""Room the title takes inside a figure; on a page it stands above as a heading, which wraps and can be listened to."""


def _heading(figure: go.Figure) -> None:
    """Show the title of a figure as a heading of the page and take it out of the figure."""
    title, unit = plain_text(figure.layout.title.text), plain_text(figure.layout.title.subtitle.text)
    figure.update_layout(
        meta={"title": title},
        title=None,
        margin_t=max(figure.layout.margin.t - _TITLE_PX, 14),
        height=figure.layout.height - _TITLE_PX,
    )
    st.markdown(f"### {plain(title)}" + (f" :small[{plain(unit)}]" if unit else ""))


def show(  # noqa: ANN201 - Streamlit's own state object
    figure: go.Figure,
    *,
    name: str,
    alt: str,
    select: bool = False,
    width: int | Literal["stretch"] = "stretch",
):
    """Show a figure under its title.

    Parameters
    ----------
    figure : Figure
        From `imrc.plots`.
    name : str
        Key of the element and stem of the file saved from its toolbar.
    alt : str
        What the chart shows, for screen readers; the numbers drawn are added.
    select : bool
        Rerun the page when a point is clicked and return the selection.
    width : int or "stretch"
        Width in pixels, or all there is.
    """
    # Streamlit makes its own template the default, and every new figure pays for building it; ours set all they need.
    pio.templates.default = "none"
    words = describe(figure)
    _heading(figure)
    if screen.narrow():
        room_for_legend(stacked(figure), PHONE_PX)
    if st.context.theme.type == "dark":
        on_dark(figure)
    config: dict[str, Any] = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
        "toImageButtonOptions": {
            "format": st.session_state.get("image_format") or IMAGE_FORMATS[0],
            "filename": f"imrc-{name}",
            "scale": 2,
        },
    }
    # theme=None: Streamlit's own theme would move legends and change sizes and colours.
    options: dict[str, Any] = {"on_select": "rerun", "selection_mode": "points"} if select else {}
    return st.plotly_chart(figure, key=name, alt=f"{alt} {words}", config=config, theme=None, width=width, **options)


def table(frame: pd.DataFrame, *, name: str, label: str = "Download as CSV", **options: Any) -> None:  # noqa: ANN401
    """Show a table with a button that saves it.

    Parameters
    ----------
    frame : DataFrame
        What is shown and saved.
    name : str
        Stem of the file.
    label : str
        Text of the button.
    **options
        For `st.dataframe`.
    """
    st.dataframe(frame, hide_index=True, **options)
    csv(frame, name=name, label=label)


def csv(frame: pd.DataFrame, *, name: str, label: str = "Download as CSV") -> None:
    """Show a button that saves a table; the file is written when somebody asks for it."""
    st.download_button(
        label,
        lambda: frame.to_csv(index=False),
        f"imrc-{name}.csv",
        "text/csv",
        key=f"csv-{name}",
        icon=":material/download:",
        on_click="ignore",
        help="The numbers as comma-separated values, in full precision.",
    )
