"""Finished charts, kept for all visitors: building a Plotly figure costs far more than everything else on a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from imrc.plots import describe, on_dark, on_phone
from imrc.plots.describing import plain_text
from pages.ui.fingerprint import fingerprint
from pages.ui.keeping import Store

_TITLE_PX = 50
"""Room the title takes inside a figure; on a page it stands above as a heading, which wraps and can be listened to."""
_KEEP_BYTES = 64_000_000


@dataclass(frozen=True)
class Drawing:
    """A chart ready to be sent.

    Attributes
    ----------
    title, unit : str
        What stands above it.
    words : str
        What it shows, in words.
    spec : str
        The figure as JSON, without its title.
    """

    title: str
    unit: str
    words: str
    spec: str

    @property
    def size(self) -> int:
        """Bytes it takes, nearly."""
        return sum(len(text.encode()) for text in (self.title, self.unit, self.words, self.spec))

    def figure(self) -> go.Figure:
        """Return it as what `st.plotly_chart` takes: a figure that Plotly does not check once more."""
        return _Finished(self.spec)


class _Finished(go.Figure):
    """A figure that was checked before: asked for its content, it gives what was kept."""

    def __init__(self, spec: str) -> None:
        super().__init__()
        self._spec = spec

    def to_dict(self) -> dict[str, Any]:
        """Return the content; a new object for each caller, so that no visitor can change another's."""
        content: dict[str, Any] = json.loads(self._spec)
        return content


@st.cache_resource(show_spinner=False)
def store() -> Store[bytes, Drawing]:
    """Return the one store of this server."""
    return Store(_KEEP_BYTES, lambda drawing: drawing.size)


def _drawing(figure: go.Figure, *, narrow: bool, dark: bool) -> Drawing:
    """Take the title out of a figure and fit the rest to the visitor's page."""
    words = describe(figure)
    title, unit = plain_text(figure.layout.title.text), plain_text(figure.layout.title.subtitle.text)
    figure.update_layout(
        meta={"title": title},
        title=None,
        margin_t=max(figure.layout.margin.t - _TITLE_PX, 14),
        height=figure.layout.height - _TITLE_PX,
    )
    if narrow:
        on_phone(figure)
    if dark:
        on_dark(figure)
    return Drawing(title, unit, words, pio.to_json(figure, validate=False))


def drawing(
    builder: Callable[..., go.Figure], values: tuple[Any, ...], options: dict[str, Any], *, narrow: bool, dark: bool
) -> Drawing:
    """Return the chart a function makes of these values: one kept from before if there is one.

    Parameters
    ----------
    builder : callable
        A function of a module that gives the same figure for the same values.
    values, options
        Its arguments. All of them, and nothing else, decide which chart is the same.
    narrow, dark : bool
        For a phone, and for a dark page.
    """
    key = fingerprint(builder, values, sorted(options.items()), narrow, dark)

    def make() -> Drawing:
        # Streamlit makes its own template the default, and every new figure pays for it; ours set all they need.
        pio.templates.default = "none"
        return _drawing(builder(*values, **options), narrow=narrow, dark=dark)

    return store().get_or_make(key, make)
