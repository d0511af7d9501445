"""Finished charts, kept for all visitors, and how they and tables are shown: title, toolbar, file, words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from joblib import hash as content_hash

from imrc.plots import describe, on_dark, on_phone
from imrc.plots.fitting import untitled
from imrc.tables import csv_text
from pages.shell import controls, frame
from pages.shell.choice import plain
from pages.shell.keeping import Kept


@dataclass(frozen=True)
class Drawing:
    """A chart ready to be sent, without its title, to be read only; `size` in bytes, nearly."""

    title: str
    unit: str
    words: str
    figure: go.Figure
    size: int


_kept = Kept[str, Drawing]("charts", lambda drawing: drawing.size)


def drawing(
    builder: Callable[..., go.Figure], values: tuple[Any, ...], options: dict[str, Any], *, narrow: bool, dark: bool
) -> Drawing:
    """Return the chart a function makes of these values, fitted to the visitor's page: one from before if there is."""

    def make() -> Drawing:
        figure = builder(*values, **options)
        whole = figure.layout.to_plotly_json()
        words, (title, unit) = describe(figure), untitled(figure)
        # A saved picture has the title, a heading of the page (see `frame`), and not its font, which it cannot load.
        picture = {name: whole.get(name) for name in ("title", "margin", "legend", "height")}
        figure.update_layout(meta={"picture": picture | {"font": {"family": "Helvetica, Arial, sans-serif"}}})
        if narrow:
            on_phone(figure)
        if dark:
            on_dark(figure)
        # Read back, numbers stand packed as they are sent: copying them for a visitor takes no time, and no array that
        # somebody else holds can change them. What was a figure is valid, and checking it again takes the longest.
        spec = figure.to_json(validate=False)
        return Drawing(title, unit, words, go.Figure(json.loads(spec), _validate=False), len(spec))

    # By a checksum of the whole content of everything it is made from.
    return _kept.get_or_make(content_hash((builder, values, options, narrow, dark), hash_name="sha1"), make)


def show(  # noqa: ANN201 - Streamlit's own state object
    builder: Callable[..., go.Figure],
    *values: Any,  # noqa: ANN401 - whatever the builder takes
    name: str,
    alt: str = "",
    over: tuple[Any, Any] = (st, st),
    **options: Any,  # noqa: ANN401
):
    """Show the figure a builder of `imrc.plots` makes of some values under its title; made once for all visitors.

    `name` is the key of the element and stem of the file saved from its toolbar, `alt` what screen readers hear before
    the figure in words. Returned are heading and chart, `over` which another chart can be shown.
    """
    dark, narrow = st.context.theme.type == "dark", frame.narrow()
    made = drawing(builder, values, options, narrow=narrow, dark=dark)
    unit = f" :small[{plain(made.unit)}]" if made.unit else ""
    heading = over[0].markdown(f"## {plain(made.title)}{unit}")
    config: dict[str, Any] = {
        # On phones there is no mouse to bring the toolbar up with: it would always be there, over the first row.
        "displayModeBar": False if narrow else "hover",
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d"],
        "doubleClick": False,
        "toImageButtonOptions": {"format": "png", "filename": f"imrc-{name}", "scale": 2},
    }
    # theme=None: Streamlit's own theme would move legends and change sizes and colours.
    event = over[1].plotly_chart(
        made.figure, key=name, alt=f"{alt} {made.words}".strip(), config=config, theme=None, width="stretch"
    )
    return heading, event


def table(frame: pd.DataFrame, *, name: str, label: str = "Download as CSV", **options: Any) -> None:  # noqa: ANN401
    """Show a table with a button that saves it as a file of this name; `options` are for `st.dataframe`."""
    st.dataframe(frame, hide_index=True, **options)
    csv(frame, name=name, label=label)


def rows(rows: Sequence[Sequence[str]]) -> None:
    """Show a table of Markdown, its first row the titles; on a phone a paragraph a row."""
    if frame.narrow():
        st.markdown("\n\n".join(" · ".join(filter(None, (first and f"**{first}**", *rest))) for first, *rest in rows))
    else:
        st.markdown("\n".join(f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])))


def csv(frame: pd.DataFrame, *, name: str, label: str = "Download as CSV") -> None:
    """Show a button that saves a table; the file is written when somebody asks for it."""
    told = "The numbers as comma-separated values, in full precision."
    controls.save(label, lambda: csv_text(frame), f"imrc-{name}.csv", "text/csv", f"csv-{name}", help=told)
