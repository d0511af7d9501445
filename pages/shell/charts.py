"""Showing figures and tables: one place for headings, toolbar, file names and alternative texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from imrc.tables import csv_text
from pages.shell import drawings, screen
from pages.shell.words import plain


def show(  # noqa: ANN201 - Streamlit's own state object
    builder: Callable[..., go.Figure],
    *values: Any,  # noqa: ANN401 - whatever the builder takes
    name: str,
    alt: str,
    select: bool = False,
    over: tuple[Any, Any] = (st, st),
    **options: Any,  # noqa: ANN401
):
    """Show the figure a builder of `imrc.plots` makes of some values under its title; made once for all visitors.

    The values and options alone decide what the figure shows. `name` is the key of the element and stem of the file
    saved from its toolbar, `alt` what the chart shows for screen readers; the numbers drawn are added.

    With `select` the page reruns when a point is clicked, and the selection is returned. On a phone nothing can be
    selected: Streamlit would take a swipe over the chart for a drag, and the page could not be scrolled there. Without,
    heading and chart are returned, and another chart can be shown `over` them.
    """
    dark, narrow = st.context.theme.type == "dark", screen.narrow()
    drawing = drawings.drawing(builder, values, options, narrow=narrow, dark=dark)
    unit = f" :small[{plain(drawing.unit)}]" if drawing.unit else ""
    heading = over[0].markdown(f"### {plain(drawing.title)}{unit}")
    config: dict[str, Any] = {
        # On phones there is no mouse to bring the toolbar up with: it would always be there, over the first row.
        "displayModeBar": False if narrow else "hover",
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d"],
        "doubleClick": False,
        "toImageButtonOptions": {"format": "png", "filename": f"imrc-{name}", "scale": 2},
    }
    # theme=None: Streamlit's own theme would move legends and change sizes and colours.
    selecting = select and not narrow
    selection: dict[str, Any] = {"on_select": "rerun", "selection_mode": "points"} if selecting else {}
    event = over[1].plotly_chart(
        drawing.figure, key=name, alt=f"{alt} {drawing.words}", config=config, theme=None, width="stretch", **selection
    )
    return event if selecting else None if select else (heading, event)


def clicked(name: str) -> Any:  # noqa: ANN401 - whatever the figure gives its points
    """Return the data of the point clicked in a chart, None if there is none; known before the chart is drawn."""
    event = st.session_state.get(name)
    points = event.selection.points if event else []
    data = points[0].get("customdata") if points else None
    return data[0] if isinstance(data, list) else data


def table(frame: pd.DataFrame, *, name: str, label: str = "Download as CSV", **options: Any) -> None:  # noqa: ANN401
    """Show a table with a button that saves it as a file of this name; `options` are for `st.dataframe`."""
    st.dataframe(frame, hide_index=True, **options)
    csv(frame, name=name, label=label)


def csv(frame: pd.DataFrame, *, name: str, label: str = "Download as CSV") -> None:
    """Show a button that saves a table; the file is written when somebody asks for it."""
    st.download_button(
        label,
        lambda: csv_text(frame),
        f"imrc-{name}.csv",
        "text/csv",
        key=f"csv-{name}",
        icon=":material/download:",
        on_click="ignore",
        help="The numbers as comma-separated values, in full precision.",
    )
