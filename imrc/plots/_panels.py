"""Figures written down at once: Plotly checks a finished description ten times faster than its updates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from imrc.plots._style import COLOURS, LEGEND_PX, MARGIN, STROKE, TITLE_PX, rgba
from imrc.plots._themes import LIGHT

_PAGE_PX = 900
"""Width a legend has on a page of usual width."""
_LINE_PX = 18
"""Height of a line of text at the end of a curve."""
_END = "end of a line"


def axis(text: str | None = None, **own: Any) -> dict[str, Any]:  # noqa: ANN401 - Plotly's properties
    """Return an axis with a title and properties of its own."""
    return own if text is None else {"title": {"text": text}, **own}


def on_panel(trace: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a trace with the names of the axes of a panel, which count from 1.

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

    def band(
        self,
        x: NDArray[Any],
        low: NDArray[Any],
        high: NDArray[Any],
        colour: str,
        alpha: float,
        **own: Any,  # noqa: ANN401 - as above
    ) -> None:
        """Add a filled band between two curves: its outline, without line and hover."""
        own |= {"mode": "lines", "fill": "toself", "fillcolor": rgba(colour, alpha), "line": {"width": 0}}
        self.add(x=np.concatenate([x, x[::-1]]), y=np.concatenate([high, low[::-1]]), hoverinfo="skip", **own)

    def straight(
        self,
        x: ArrayLike,
        y: ArrayLike,
        name: str | None = None,
        colour: str | None = COLOURS["reference"],
        *,
        width: float = 1.5,
        dash: str | None = "dash",
        **own: Any,  # noqa: ANN401 - as above
    ) -> None:
        """Add a straight line to read others against, such as a level or a border, without hover; no colour: ink."""
        line = {"color": colour, "width": width, "dash": dash}
        self.add(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip", **own)


def bars(above: Any, below: Any = None, *, colour: str | None = None, **own: Any) -> dict[str, Any]:  # noqa: ANN401 - array-likes
    """Return error bars without ends, of the same length on both sides unless two are given; no colour: ink."""
    sides = {"array": above} if below is None else {"array": above, "arrayminus": below}
    return {"type": "data", **sides, "color": colour, "width": 0, **own}


def names_axis(names: Sequence[str], text: str | None = None, **own: Any) -> dict[str, Any]:  # noqa: ANN401 - Plotly's
    """Return a vertical axis of names, the first at the top."""
    return axis(text, type="category", categoryorder="array", categoryarray=list(names)[::-1], **own)


def colour_axis(name: str, low: float, high: float, bar: dict[str, Any]) -> dict[str, Any]:
    """Return the layout of a colour axis, `SCALE` or `DIFFERENCE`; its colours are in the template."""
    return {name: {"cmin": low, "cmax": high, "colorbar": bar}}


def image_cells(grid: NDArray[np.float64], **own: Any) -> dict[str, Any]:  # noqa: ANN401 - Plotly's properties
    """Return a trace of small images, values from 0 to 1, nothing where NaN."""
    shown = {"zmin": 0, "zmax": 1, "showscale": False, "hoverongaps": False}
    return {"type": "heatmap", "z": grid, "colorscale": STROKE, **shown, **own}


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
            "name": "Bands: 95 % intervals",
            "hoverinfo": "skip",
        }
    ]


class End(NamedTuple):
    """Where a curve ends, and its name."""

    name: str
    colour: str
    y: float


def line_ends(
    ends: Iterable[End], limits: Sequence[float], height: int, *, panel: int = 1, width: int = 18
) -> list[dict[str, Any]]:
    """Return annotations that name curves at their right ends, from bottom to top, moved apart where they overlap.

    `limits` are those of the vertical axis, `height` is in pixels; a line of a name has at most `width` letters.

    >>> two = [End("Forward", "#E69F00", 0.30), End("Each task alone", "#8A8F98", 0.31)]
    >>> [round(label["y"], 2) for label in line_ends(two, (0.0, 1.0), 300)]
    [0.3, 0.36]
    """
    ordered = sorted((end for end in ends if math.isfinite(end.y)), key=lambda end: end.y)
    texts = ["<br>".join(_lines(end.name, width)) for end in ordered]
    needs = [(1 + text.count("<br>")) * _LINE_PX / height for text in texts]
    span = max(limits[1] - limits[0], 1e-12)
    places = _apart([min(max((end.y - limits[0]) / span, 0.0), 1.0) for end in ordered], needs)
    axis_name = on_panel({}, panel)
    return [
        {
            "name": _END,
            "text": f"<span style='color:{end.colour}'>●</span> {text}",
            "x": 1.0,
            "xref": f"{axis_name['xaxis']} domain",
            "xanchor": "left",
            "xshift": 4,
            "y": place,
            "yref": f"{axis_name['yaxis']} domain",
            "yanchor": "middle",
            "align": "left",
            "showarrow": False,
            "font": {"size": 12},
        }
        for end, text, place in zip(ordered, texts, places, strict=True)
    ]


def _apart(wanted: Sequence[float], needs: Sequence[float]) -> list[float]:
    """Return places from 0 to 1, as near to those wanted, in rising order, as what each needs around it allows."""
    places: list[float] = []
    for want, need in zip(wanted, needs, strict=True):
        lowest = places[-1] + (needs[len(places) - 1] + need) / 2 if places else 0.0
        places.append(max(want, lowest))
    top = 1.0
    for i in range(len(places) - 1, -1, -1):  # those pushed out at the top push the others down
        places[i] = min(places[i], top)
        top = places[i] - (needs[i] + needs[i - 1]) / 2 if i else top
    return places


def move_ends_apart(figure: go.Figure, height: int) -> None:
    """Move the names of `line_ends` apart again, in place, where panels now have another height in pixels."""
    for axis_name in {label.yref for label in figure.layout.annotations if label.name == _END}:
        labels = [label for label in figure.layout.annotations if label.name == _END and label.yref == axis_name]
        needs = [(1 + label.text.count("<br>")) * _LINE_PX / height for label in labels]
        for label, place in zip(labels, _apart([label.y for label in labels], needs), strict=True):
            label.y = place


def _lines(text: str, width: int) -> list[str]:
    """Break a name between its words."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        lines[-1:] = [joined] if len(joined) <= width or not lines[-1] else [lines[-1], word]
    return lines


def legend_rows(traces: Iterable[Any], width: int = _PAGE_PX) -> int:
    """Return how many rows the legend of some traces needs in so many pixels; 0 without entries."""
    names = [
        str(trace["name"])
        for trace in traces
        if "name" in trace and trace["name"] and not ("showlegend" in trace and trace["showlegend"] is False)
    ]
    if not names:
        return 0
    sizes = [52 + 6.3 * len(name) for name in names]
    # Plotly gives all entries the width of the widest as soon as they need a second row.
    return 1 if sum(sizes) <= width else math.ceil(len(sizes) / max(1, int(width // max(sizes))))


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
    ends: Sequence[dict[str, Any]] = (),
    **layout: Any,  # noqa: ANN401 - Plotly's properties
) -> go.Figure:
    """Return a figure from its traces (with their type) and axes (from `axis`).

    `order`: of the legend's entries. `below`, `above`: pixels, where the usual are too few. `ends`: from `line_ends`.
    """
    rows = legend_rows(traces) if legend else 0
    margin = {**MARGIN, "t": (above or MARGIN["t"]) + LEGEND_PX * rows, "b": below or MARGIN["b"]}
    margin |= layout.pop("margin", {})
    if ends:
        longest = max(len(line) for end in ends for line in end["text"].partition("</span> ")[2].split("<br>"))
        margin["r"] = 26 + round(6.4 * longest)
        layout["annotations"] = [*layout.get("annotations", ()), *ends]
    described = {
        # Set here because other programs change Plotly's default template.
        "template": LIGHT,
        "title": {"text": title, "subtitle": {"text": subtitle}} if subtitle else {"text": title},
        "height": height,
        "margin": margin,
        "showlegend": rows > 0,
        "legend": {"traceorder": order, "y": 1 - TITLE_PX / height},
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
    return {a.name: a for a in figure.layout.annotations if a.name and a.name != _END}


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
    """Return a figure with one row of panels, from traces that `on_panel` put there and one pair of axes each.

    `gap` is a share of the width, `above` in pixels; with `share_y` all have the vertical axis of the first.
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
