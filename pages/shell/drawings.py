"""Finished charts, kept for all visitors: building a Plotly figure costs far more than everything else on a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio
from joblib import hash as content_hash

from imrc.plots import describe, on_dark, on_phone
from imrc.plots.fitting import untitled
from pages.shell.keeping import Store, kept


@dataclass(frozen=True)
class Drawing:
    """A chart ready to be sent: its title, what it shows in words, and its size in bytes, nearly.

    The figure has no title. One object serves all visitors: it is only read.
    """

    title: str
    unit: str
    words: str
    figure: go.Figure
    size: int


def store() -> Store[str, Drawing]:
    """Return the charts that this server keeps."""
    return Store(kept(), "charts", lambda drawing: drawing.size)


def _drawing(figure: go.Figure, *, narrow: bool, dark: bool) -> Drawing:
    """Take the title out of a figure and fit the rest to the visitor's page."""
    words = describe(figure)
    title, unit = untitled(figure)
    figure.update_layout(meta={"title": title})
    if narrow:
        on_phone(figure)
    if dark:
        on_dark(figure)
    # Read back, numbers stand packed as they are sent: copying them for a visitor takes no time, and no array that
    # somebody else holds can change them.
    spec = pio.to_json(figure, validate=False)
    return Drawing(title, unit, words, pio.from_json(spec), len(spec))


def key_of(
    builder: Callable[..., go.Figure], values: tuple[Any, ...], options: dict[str, Any], *, narrow: bool, dark: bool
) -> str:
    """Return what a chart is kept by: a checksum of the whole content of everything it is made from.

    A function without a name of its own, such as a lambda, cannot be told from another: PicklingError.
    """
    key: str = content_hash((builder, values, options, narrow, dark), hash_name="sha1")
    return key


def drawing(
    builder: Callable[..., go.Figure], values: tuple[Any, ...], options: dict[str, Any], *, narrow: bool, dark: bool
) -> Drawing:
    """Return the chart a function makes of these values: one kept from before if there is one.

    The values, and nothing else, decide which chart is the same.
    """
    key = key_of(builder, values, options, narrow=narrow, dark=dark)
    return store().get_or_make(key, lambda: _drawing(builder(*values, **options), narrow=narrow, dark=dark))
