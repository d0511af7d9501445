"""How all figures are drawn: colours, two Plotly templates, axes, panels and traces.

Figures are written down at once: Plotly checks a finished description ten times faster than its updates. What changes
with the page is in the templates, and bands alone are not: traces without a colour are drawn in ink, heatmaps take
their scale from a colour axis, `SCALE` for sizes, `DIFFERENCE` for what is better or worse than 0.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import ArrayLike, NDArray

from imrc._types import Floats
from imrc.wording import RULES, SHORT_RULES, decimal

COLOURS = {
    "single": "#8A8F98",
    "forward": "#E69F00",
    "forward_backward": "#009E73",
    "reference": "#747B87",
    "majority": "#747B87",
    "pooled": "#0072B2",
}
"""The same meaning everywhere; readable for colour-blind people (Okabe and Ito).

All are seen on light and dark pages alike, at 3 : 1 or more on both where they draw lines alone. What has no colour,
such as the truth, is drawn in the ink of the page (see the templates)."""

DATA = "#0072B2"  #: What is measured on data and belongs to no rule.

NAMES, SHORT_NAMES = RULES, SHORT_RULES

DASHES = {"single": "dot", "forward": "dash", "forward_backward": "solid"}
"""Line styles repeat the colour code, for print and for colour-blind readers."""

SEQUENTIAL = [[0.0, "#F5F9FD"], [0.25, "#C3DAEE"], [0.5, "#7FB2D9"], [0.75, "#3379B5"], [1.0, "#0A2F66"]]
"""Sequential scale, light = small values."""

DIVERGING = [[0.0, "#00604A"], [0.25, "#5DB89C"], [0.5, "#F4F4F2"], [0.75, "#E8A25A"], [1.0, "#9A4A00"]]
"""Diverging scale, white at 0; green = better than the reference, brown = worse."""

SEQUENTIAL_ON_DARK = [[0.0, "#0A121D"], [0.25, "#16385C"], [0.5, "#2A679D"], [0.75, "#69A8D8"], [1.0, "#D6E8F7"]]
DIVERGING_ON_DARK = [[0.0, "#008262"], [0.25, "#075240"], [0.5, "#171C24"], [0.75, "#66350A"], [1.0, "#AD5A12"]]
"""The same on dark pages: what is small or equal recedes there too. Light letters can be read on all of the second."""

STROKE = [[0.0, "rgba(128,136,150,0.10)"], [1.0, "#0072B2"]]
"""Colours of images, to be seen on light and dark pages alike."""

GRID = "rgba(128,136,150,0.22)"

INK = {"light": "#0A0F18", "dark": "#E8EBF0"}  #: Colour of texts on light and dark pages.
PAPER = {"light": "#FFFFFF", "dark": "#020305"}  #: Colour of the pages (`.streamlit/config.toml`).

FONT = "Source Sans, Source Sans Pro, Segoe UI, Helvetica, Arial, sans-serif"


def rgba(colour: str, alpha: float) -> str:
    """Return a hex colour with transparency, for bands."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


MARGIN = {"l": 56, "r": 16, "t": 56, "b": 52}
"""Pixels around the plot; at the top with room for the title, at the bottom for ticks and the name of the axis."""

TITLE_PX = 50  #: Pixels the title of a figure takes.

LEGEND_PX = 26  #: Pixels a row of the legend takes, between title and plot.


LIGHT, DARK = "imrc_light", "imrc_dark"  # Names of the templates.
SCALE, DIFFERENCE = "coloraxis", "coloraxis2"  # Names of the colour axes.

_AXIS: dict[str, Any] = {
    "gridcolor": GRID,
    "zeroline": False,
    "automargin": True,
    # A finger that swipes over a chart scrolls the page; who wants numbers points at them.
    "fixedrange": True,
    "title": {"font": {"size": 13}, "standoff": 8},
}
"""A quiet grid that stays where it is."""

_HOVER = {"light": "#FFFFFF", "dark": "#1B2330"}  # Ground of what is said when pointing at something.


def _template(scheme: Literal["light", "dark"]) -> go.layout.Template:
    """Return what all figures share: title at the left, legend between it and the plot, a quiet grid."""
    layout = {
        "title": {
            "x": 0,
            "xanchor": "left",
            "y": 0.98,
            "yanchor": "top",
            "font": {"size": 18, "weight": 600},
            "subtitle": {"font": {"size": 13}},
        },
        "font": {"family": FONT, "size": 13, "color": INK[scheme]},
        # Close to the lines it names; how far from the top depends on the height (`chart`).
        "legend": {
            "orientation": "h",
            "x": 0,
            "yref": "container",
            "xanchor": "left",
            "yanchor": "top",
            "font": {"size": 12},
        },
        "dragmode": False,
        "hoverlabel": {
            "align": "left",
            "bgcolor": _HOVER[scheme],
            "bordercolor": GRID,
            "font": {"family": FONT, "size": 13, "color": INK[scheme]},
        },
        # Not transparent: a chart saved as a picture is pasted into documents of any colour.
        "paper_bgcolor": PAPER[scheme],
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "colorway": [INK[scheme]],
        SCALE: {"colorscale": SEQUENTIAL if scheme == "light" else SEQUENTIAL_ON_DARK},
        DIFFERENCE: {"colorscale": DIVERGING if scheme == "light" else DIVERGING_ON_DARK},
        "sliderdefaults": {"bgcolor": GRID, "bordercolor": GRID, "activebgcolor": GRID, "font": {"size": 12}},
    }
    return go.layout.Template(layout=layout)


pio.templates[LIGHT] = _template("light")
pio.templates[DARK] = _template("dark")

_FAINTER = 1.7
"""A transparent band needs this much more colour on a dark page to be seen as well; no template can say so."""


def on_dark(figure: go.Figure) -> go.Figure:
    """Change a figure in place for a dark page, where bands, faint on white, have to be stronger; return it."""
    for trace in figure.select_traces({"type": "scatter"}):
        if (trace.fillcolor or "").startswith("rgba("):
            red, green, blue, alpha = trace.fillcolor[5:-1].split(",")
            trace.fillcolor = f"rgba({red},{green},{blue},{min(1.0, _FAINTER * float(alpha)):.3g})"
    figure.update_layout(template=DARK)
    return figure


def whole_numbers(count: int, ticks: int = 12) -> dict[str, Any]:
    """Return tick settings for an axis of `count` whole numbers: never a number twice, never a half.

    >>> whole_numbers(4), whole_numbers(99)
    ({'tickformat': 'd', 'nticks': 4}, {'tickformat': 'd', 'nticks': 12})
    """
    # Plotly has at most so many ticks: with no more than there are numbers, steps of a half are impossible.
    return {"tickformat": "d", "nticks": max(min(count, ticks), 1)} | ({"dtick": 1} if count <= 3 else {})


def task_ticks(labels: Sequence[str], first: int = 1, ticks: int = 8) -> dict[str, Any]:
    """Return tick settings for tasks from number `first`: about `ticks` dates or names if they have some, else numbers.

    >>> task_ticks(["1", "2", "3", "4"])
    {'tickformat': 'd', 'nticks': 4}
    >>> task_ticks(["May", "June", "July"], ticks=2)
    {'tickvals': [1, 3], 'ticktext': ['May', 'July']}
    """
    if all(str(label).strip().isdigit() for label in labels):
        return whole_numbers(len(labels))
    # Dates and short names only: others would cover each other.
    step = max(1, math.ceil(len(labels) / ticks))
    chosen = range(0, len(labels), step)
    texts = [str(labels[i]) for i in chosen]
    short = [text if len(text) <= 12 else text[:11] + "…" for text in texts]
    return {"tickvals": [first + i for i in chosen], "ticktext": [html.escape(text) for text in short]}


def error_ends(error: ArrayLike, half: ArrayLike) -> tuple[Floats, Floats]:
    """Return the ends of intervals of errors, which stay within 0 and 1; the error itself where half is NaN.

    >>> [end.tolist() for end in error_ends([0.25, 0.5], [0.5, np.nan])]
    [[0.0, 0.5], [0.75, 0.5]]
    """
    error, half = np.asarray(error, dtype=np.float64), np.nan_to_num(np.asarray(half, dtype=np.float64))
    # A minimax log loss, drawn in the same way, may be above 1.
    return np.maximum(error - half, 0.0), np.minimum(error + half, np.where(error > 1.0, np.inf, 1.0))


def _step(width: float, ticks: int) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that needs at most so many ticks."""
    rough = width / ticks
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def decimals(values: ArrayLike, *, ticks: int = 6, sign: bool = False) -> dict[str, Any]:
    """Return range and ticks of an axis of errors: .35 without a leading zero, as many decimals as steps need.

    All finite values, ends of intervals included, are inside; `sign` writes + and − for differences.

    >>> decimals([0.31, 0.38])["ticktext"]
    ['.30', '.32', '.34', '.36', '.38']
    >>> decimals([-0.02, 0.011], sign=True)["ticktext"]
    ['−.02', '−.01', '0', '+.01']
    """
    found = np.asarray(values, dtype=np.float64).ravel()
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
    width = max(high - low, 0.002)
    step = _step(width, ticks)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # No empty step where the values end shortly after a tick.
    start += int(low - start * step > 0.6 * step)
    stop -= int(stop * step - high > 0.6 * step)
    marks = [round(i * step, 10) for i in range(start, stop + 1)]
    return {
        "range": [min(low, marks[0]) - 0.03 * width, max(high, marks[-1]) + 0.03 * width],
        "tickvals": marks,
        "ticktext": [_tick(mark, places, sign) for mark in marks],
    }


def _tick(value: float, places: int, sign: bool) -> str:
    if value == 0:
        return "0"
    text = decimal(value, places).replace("-", "−")
    return f"+{text}" if sign and value > 0 else text


_PAGE_PX = 900  # Width a legend has on a page of usual width.
_LINE_PX = 18  # Height of a line of text at the end of a curve.
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

    def line(
        self,
        x: ArrayLike,
        y: ArrayLike,
        name: str,
        colour: str,
        *,
        width: float = 2.5,
        dash: str | None = None,
        mode: str = "lines",
        **own: Any,  # noqa: ANN401 - as above
    ) -> None:
        """Add a curve."""
        self.add(x=x, y=y, mode=mode, name=name, line={"color": colour, "width": width, "dash": dash}, **own)

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

    def dots(
        self,
        x: Any,  # noqa: ANN401 - array-likes, names among them
        y: Any,  # noqa: ANN401 - as above
        name: str | None,
        colour: Any = None,  # noqa: ANN401 - one, or one for each
        *,
        symbol: Any = None,  # noqa: ANN401 - as colours
        size: float = 10,
        edge: float | None = None,
        **own: Any,  # noqa: ANN401 - as above
    ) -> None:
        """Add points, with an edge of so many pixels of the same colour; no colour: ink."""
        line = {"width": edge, "color": colour if isinstance(colour, str) else None} if edge else None
        marker = {"size": size, "color": colour, "symbol": symbol, "line": line}
        self.add(x=x, y=y, mode="markers", name=name, marker=marker, **own)

    def targets(self, x: Any, y: Any, customdata: Any, size: int, **own: Any) -> None:  # noqa: ANN401 - as above
        """Add unseen squares for a click to select: cells of a heatmap and shapes cannot be selected themselves."""
        unseen = {"marker": {"opacity": 0}}
        both: dict[str, Any] = {"selected": unseen, "unselected": unseen, "showlegend": False, **own}
        marker = {"opacity": 0, "size": size, "symbol": "square"}
        self.add(x=x, y=y, mode="markers", marker=marker, customdata=customdata, **both)


def bars(above: Any, below: Any = None, *, colour: str | None = None, **own: Any) -> dict[str, Any]:  # noqa: ANN401 - array-likes
    """Return error bars without ends, of the same length on both sides unless two are given; no colour: ink."""
    sides = {"array": above} if below is None else {"array": above, "arrayminus": below}
    return {"type": "data", **sides, "color": colour, "width": 0, **own}


def arrow(start: tuple[float, float], end: tuple[float, float], colour: str, **own: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the annotation that draws an arrow from one place on the axes to another."""
    places = dict(zip(("ax", "ay", "x", "y"), (*start, *end), strict=True))
    axes = {"axref": "x", "ayref": "y", "xref": "x", "yref": "y"}
    return {**places, **axes, "text": "", "showarrow": True, "arrowhead": 2, "arrowcolor": colour, **own}


def samples_axis(sizes: Iterable[int]) -> dict[str, Any]:
    """Return the logarithmic axis of samples per task, with a tick at each of the sizes."""
    ticks = sorted(sizes)
    return axis("samples n per task", type="log", tickvals=ticks, ticktext=[str(n) for n in ticks])


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

    >>> two = [End("Forward", "#E69F00", 0.30), End("Alone", "#8A8F98", 0.31)]
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
    frames: Sequence[dict[str, Any]] = (),
    **layout: Any,  # noqa: ANN401 - Plotly's properties
) -> go.Figure:
    """Return a figure from its traces (with their type) and axes (from `axis`).

    `order`: of the legend's entries. `below`, `above`: pixels, where the usual are too few. `ends`: from `line_ends`.
    `frames`: what a slider in the chart shows.
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
    return go.Figure({"data": list(traces), "layout": described, "frames": list(frames)})


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
    centred = {"xanchor": "center", "yanchor": "bottom", "xref": "paper", "yref": "paper", "y": 1.0}
    centred |= {"showarrow": False, "font": {"size": title_size}}
    for i, (text, x, y) in enumerate(zip(titles, x_axes, y_axes, strict=True)):
        left = i * (width + gap)
        suffix = "" if i == 0 else str(i + 1)
        shared = {"matches": "y", "showticklabels": False} if share_y and i > 0 else {}
        axes[f"xaxis{suffix}"] = {**x, "anchor": f"y{suffix}", "domain": [left, min(left + width, 1.0)]}
        axes[f"yaxis{suffix}"] = {**y, "anchor": f"x{suffix}", "domain": [0.0, 1.0], **shared}
        # Its name, that of the panel's horizontal axis in traces, tells a panel's title from other annotations.
        named.append({"name": f"x{suffix}", "text": text, "x": left + width / 2, **centred})
    return chart(traces, axes.pop("xaxis"), axes.pop("yaxis"), above=above, annotations=named, **axes, **layout)
