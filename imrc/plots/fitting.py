"""Fitting figures to those who look: said in words, without the title a page shows as a heading, and on phones."""

from __future__ import annotations

import html
import re
import textwrap
from operator import itemgetter
from typing import Any

import numpy as np
import plotly.graph_objects as go

from imrc.plots._drawing import DIFFERENCE, END, LEGEND_PX, MARGIN, SCALE, TITLE_PX, legend_rows, panel_titles

_LONGEST = 1500  # Longest description, in characters.


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


def _line(trace: Any, *, down: bool) -> str | None:  # noqa: ANN401 - a scatter or bar trace
    """Return ends and extremes of a line, a bar or points (tasks may go `down` the page); None where nothing is."""
    x, y = trace.x, trace.y
    if x is None or y is None or not trace.name or (trace.type == "scatter" and trace.fill == "toself"):
        return None
    if down or (len(y) and isinstance(y[0], str)):
        x, y = y, x
    points = [(a, float(b)) for a, b in zip(x, y, strict=False) if a is not None and b is not None and np.isfinite(b)]
    if not points:
        return None
    name = plain_text(trace.name)
    if len(points) <= 3 or isinstance(points[0][0], str):
        # A row of its own has the name of what it shows.
        said = (f"{_number(a)}: ".removeprefix(f"{name}: ") + _number(b) for a, b in points[:20])
        return f"{name}: " + ", ".join(said)
    low, high = (extreme(points, key=itemgetter(1)) for extreme in (min, max))
    if high[1] - low[1] <= 1e-9 * max(1.0, abs(high[1])):
        return f"{name}: {_number(low[1])} throughout"
    said = (f"{_number(b)} at {_number(a)}" for a, b in (points[0], points[-1], low, high))
    return "{}: from {} to {}, lowest {}, highest {}".format(name, *said)


def _heatmap(trace: Any, panel: str) -> str | None:  # noqa: ANN401 - a heatmap trace
    values = np.asarray(trace.z, dtype=np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    name = f"{panel}: " if panel else ""
    return f"{name}{finite.size} cells, mean {finite.mean():.3g}, from {finite.min():.3g} to {finite.max():.3g}"


def describe(figure: go.Figure) -> str:
    """Return in plain text what a figure shows: its title, its axes, and the ends and extremes of everything drawn.

    Parameters
    ----------
    figure : Figure
        From `imrc.plots`.

    Examples
    --------
    >>> figure = go.Figure(go.Scatter(x=[1, 2, 3, 4], y=[0.5, 0.4, 0.35, 0.36], name="Forward"))
    >>> describe(figure.update_layout(title_text="Does it help?"))
    'Does it help? Forward: from 0.5 at 1 to 0.36 at 4, lowest 0.35 at 3, highest 0.5 at 1.'
    """
    panels = {axis: plain_text(said.text) for axis, said in panel_titles(figure).items()}
    upright, across = (
        next((plain_text(one.title.text) for one in axes if one.title.text), "")
        for axes in (figure.select_yaxes(), figure.select_xaxes())
    )
    texts, current = (figure.layout.title.text, figure.layout.title.subtitle.text), None
    low, high = figure.layout.yaxis.range or (0, 1)
    down = None not in (low, high) and low > high and {one.type for one in figure.data[:1]} == {"scatter"}
    axes = (across, upright) if down else (upright, across)
    sentences = [*map(plain_text, texts), " against ".join(filter(None, axes))]
    for trace in figure.data:
        if "xaxis" not in trace or trace.visible is False:  # of Plotly's other charts nothing is known
            continue
        panel = panels.get(trace.xaxis or "x", "")
        if said := _heatmap(trace, panel) if trace.type == "heatmap" else _line(trace, down=down):
            other = trace.type != "heatmap" and panel not in ("", current)
            sentences.append(f"{panel}. {said}" if other else said)
            current = panel
    text = ""
    for sentence in filter(None, sentences):
        more = sentence if sentence[-1] in ".?!" else f"{sentence}."
        if len(text) + len(more) > _LONGEST:
            return f"{text} And more."
        text = f"{text} {more}".strip()
    return text


PHONE_PX = 640  #: Pages up to this width are treated as phones.
_LEGEND_PX = 300  # Width available to a legend on a phone.
_LONG_NAME = 25  # Letters from which on a name beside a row is broken.
_PHONE_TICKS = 6  # More of them have no room beside each other below a chart.
_GAP = 92  # Pixels between two panels: tick labels and title of one axis, title of the next panel.
_GAP_WITHOUT_NAME = 62  # The same where only the last panel names the axis they share.
_SLIDER_PX = 84  # A slider with the value it has and its ticks.
_SCREEN_PX = 520  # Panels and gaps together: with title and legend, all of them are on the screen of a phone at once.


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


def _with_height(figure: go.Figure, height: float, more: int = 0) -> go.Figure:
    """Change the height of a figure, and the pixels above its plot by some more; the legend keeps its distance."""
    layout, legend_y = figure.layout, figure.layout.legend.y
    if legend_y is not None:
        legend_y = 1 - (1 - legend_y) * layout.height / height
    return figure.update_layout(height=height, margin_t=(layout.margin.t or 0) + more, legend_y=legend_y)


def _stacked(figure: go.Figure) -> go.Figure:
    """Put the panels of a figure with one row, and several panels, below each other, in place; return the figure."""
    named = panel_titles(figure)
    if len(named) < 2 or figure.layout.xaxis.domain == figure.layout.xaxis2.domain:
        return figure
    x_axes, y_axes = ([figure.layout[f"{side}axis{name[1:]}"] for name in named] for side in "xy")
    # The title of shared axes is written at one panel only and meant for all.
    below, beside = ({axis.title.text for axis in axes} - {None, ""} for axes in (x_axes, y_axes))
    for axis in x_axes if len(below) == 1 else ():
        axis.title.text = next(iter(below)) if axis is x_axes[-1] else None
    for axis in y_axes if len(beside) == 1 else ():
        axis.title.text = next(iter(beside))
    gap = _GAP_WITHOUT_NAME if len(below) == 1 else _GAP
    panel_height = min(240, (_SCREEN_PX - gap * (len(named) - 1)) // len(named))
    inner = len(named) * panel_height + (len(named) - 1) * gap
    for i, (title, x, y) in enumerate(zip(named.values(), x_axes, y_axes, strict=True)):
        top = 1.0 - i * (panel_height + gap) / inner
        x.domain = [0.0, 1.0]
        y.update(domain=[max(0.0, top - panel_height / inner), top], showticklabels=True)
        title.update(x=0.5, y=top)
    return _with_height(figure, inner + figure.layout.margin.t + figure.layout.margin.b)


def _named_in_legend(figure: go.Figure) -> go.Figure:
    """Name curves in the legend, in place, and not at their ends; make room for its rows."""
    shown = [trace for trace in figure.data if trace.visible is not False]
    before = legend_rows(shown)
    names = {plain_text(label.text).removeprefix("● ") for label in figure.layout.annotations if label.name == END}
    names |= {plain_text(trace.name) for trace in figure.select_traces({"mode": "lines+markers+text"})}
    if names:
        figure.layout.annotations = [label for label in figure.layout.annotations if label.name != END]
        figure.update_layout(showlegend=True, margin_l=MARGIN["l"], margin_r=MARGIN["r"])
    for trace in figure.data:
        if trace.type == "scatter" and trace.fill is None and plain_text(trace.name) in names:
            trace.update(showlegend=True, text=None)
            names.remove(plain_text(trace.name))
    more = LEGEND_PX * (legend_rows(shown, _LEGEND_PX) - before) if figure.layout.showlegend else 0
    return _with_height(figure, figure.layout.height + more, more)


def on_phone(figure: go.Figure) -> go.Figure:
    """Change a figure in place so that it can be read on a phone, panels below each other, and return it."""
    for axis in figure.select_xaxes():
        if axis.tickvals is not None and len(axis.tickvals) > _PHONE_TICKS:
            texts = list(axis.ticktext or [])
            for i, text in zip(range(2, len(texts), 2), texts[1::2], strict=False):  # a year goes on to the next tick
                texts[i] += text[text.find("<br>") :] if "<br>" in text and "<br>" not in texts[i] else ""
            axis.update(tickvals=axis.tickvals[::2], ticktext=texts[::2] or None)
    for axis in figure.select_yaxes({"type": "category"}):
        names = axis.categoryarray or ()
        if max(map(len, names), default=0) > _LONG_NAME and not any("<br>" in name for name in names):
            texts = ["<br>".join(textwrap.wrap(name, _LONG_NAME)) for name in names]
            axis.update(tickvals=names, ticktext=texts, tickfont_size=11)
            figure.layout.height += 12 * len(names) * max(text.count("<br>") for text in texts)
    for bar in (figure.layout[scale].colorbar for scale in {SCALE, DIFFERENCE} & set(figure.layout)):
        bar.len = 0.9 if bar.orientation == "h" else bar.len
    for row, one in enumerate(figure.layout.sliders[1:], start=1):  # below each other
        figure.layout.sliders[0].len = 1
        one.update(x=0, len=1, pad_t=one.pad.t + _SLIDER_PX * row)
        _with_height(figure, figure.layout.height + _SLIDER_PX).layout.margin.b += _SLIDER_PX
    return _named_in_legend(_stacked(figure))
