"""A figure in words, from its numbers: for screen readers, and for reports without pictures."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from imrc.plots._panels import panel_titles

_LONGEST = 1500
"""Longest description, in characters."""


def plain_text(text: str | None) -> str:
    """Return a text of a figure without its markup.

    >>> plain_text("n d<sup>2</sup> <b>&lt; 1</b><br>here")
    'n d2 < 1 here'
    """
    without = re.sub(
        r"</?(?:b|i|sup|sub|span|br)\b[^>]*>", lambda tag: " " if tag[0].startswith("<br") else "", text or ""
    )
    return re.sub(r"\s+", " ", html.unescape(without)).strip()


def _number(value: Any) -> str:  # noqa: ANN401 - whatever an axis holds
    if isinstance(value, (int, float, np.integer, np.floating)):
        number = float(value)
        return f"{number:,.0f}" if number == round(number) and abs(number) < 1e9 else f"{number:.3g}"
    return plain_text(str(value))


def _line(trace: Any) -> str | None:  # noqa: ANN401 - a scatter or bar trace
    """Return ends and extremes of one line, bar or set of points; None where there is nothing to say."""
    outline = trace.fill == "toself" if trace.type == "scatter" else False
    hidden = trace.marker.opacity == 0 if trace.type == "scatter" else False
    if outline or hidden or trace.x is None or trace.y is None or not trace.name:
        return None
    x, y = list(trace.x), list(trace.y)
    if y and isinstance(y[0], str):
        x, y = y, x
    points = [(a, float(b)) for a, b in zip(x, y, strict=False) if a is not None and b is not None and np.isfinite(b)]
    name = plain_text(trace.name)
    if not points:
        return None
    if len(points) <= 3 or isinstance(points[0][0], str):
        return f"{name}: " + ", ".join(f"{_number(a)}: {_number(b)}" for a, b in points[:20])
    low, high = min(points, key=lambda point: point[1]), max(points, key=lambda point: point[1])
    if high[1] - low[1] <= 1e-9 * max(1.0, abs(high[1])):
        return f"{name}: {_number(low[1])} throughout"
    return (
        f"{name}: from {_number(points[0][1])} at {_number(points[0][0])} to {_number(points[-1][1])} at "
        f"{_number(points[-1][0])}, lowest {_number(low[1])} at {_number(low[0])}, highest {_number(high[1])} at "
        f"{_number(high[0])}"
    )


def _heatmap(trace: Any, panel: str) -> str | None:  # noqa: ANN401 - a heatmap trace
    values = np.asarray(trace.z, dtype=np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    name = f"{panel}: " if panel else ""
    return f"{name}{finite.size} cells, mean {finite.mean():.3g}, from {finite.min():.3g} to {finite.max():.3g}"


def describe(figure: go.Figure) -> str:
    """Say what a figure shows: its title, its axes, and the ends and extremes of everything drawn.

    Parameters
    ----------
    figure : Figure
        From `imrc.plots`.

    Returns
    -------
    str
        Plain text.

    Examples
    --------
    >>> figure = go.Figure(go.Scatter(x=[1, 2, 3, 4], y=[0.5, 0.4, 0.35, 0.36], name="Forward"))
    >>> describe(figure.update_layout(title_text="Does it help?"))
    'Does it help? Forward: from 0.5 at 1 to 0.36 at 4, lowest 0.35 at 3, highest 0.5 at 1.'
    """
    panels = {axis: plain_text(said.text) for axis, said in panel_titles(figure).items()}
    sentences, current = [plain_text(figure.layout.title.text)], None
    for trace in figure.data:
        panel = panels.get(getattr(trace, "xaxis", None) or "x", "")
        said = _heatmap(trace, panel) if trace.type == "heatmap" else None
        if trace.type in ("scatter", "bar"):
            said = _line(trace)
            if said and panel and panel != current:
                said = f"{panel}. {said}"
        if said:
            sentences.append(said)
            current = panel
    return _shortened(_closed(sentence) for sentence in sentences if sentence)


def _closed(sentence: str) -> str:
    return sentence if sentence[-1] in ".?!" else f"{sentence}."


def _shortened(sentences: Iterable[str]) -> str:
    text = ""
    for sentence in sentences:
        if len(text) + len(sentence) > _LONGEST:
            return f"{text} And more."
        text = f"{text} {sentence}".strip()
    return text
