"""How all figures are drawn: colours, two Plotly templates, axes, panels and traces.

Figures are written down at once: Plotly checks a finished description ten times faster than its updates. What changes
with the page is in the templates, and bands alone are not: traces without a colour are drawn in ink, heatmaps take
their scale from a colour axis, `SCALE` for sizes, `DIFFERENCE` for what is better or worse than 0.
"""

from __future__ import annotations

import html
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import ArrayLike

from imrc._types import Floats
from imrc.evaluation.budget import falling
from imrc.wording import date_parts, decimal, signed, with_spread

Property: TypeAlias = Any  # What Plotly takes: numbers, names, arrays, descriptions.

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

DASHES = {"single": "dot", "forward": "dash", "forward_backward": "solid"}
"""Line styles repeat the colour code, for print and for colour-blind readers."""

SEQUENTIAL = [[0.0, "#F5F9FD"], [0.25, "#C3DAEE"], [0.5, "#7FB2D9"], [0.75, "#3379B5"], [1.0, "#0A2F66"]]
"""Sequential scale, light = small values."""

DIVERGING = [[0.0, "#00604A"], [0.25, "#5DB89C"], [0.5, "#F4F4F2"], [0.75, "#E8A25A"], [1.0, "#9A4A00"]]
"""Diverging scale, white at 0; green = better than the reference, brown = worse."""

SEQUENTIAL_ON_DARK = [[0.0, "#0A121D"], [0.25, "#16385C"], [0.5, "#2A679D"], [0.75, "#69A8D8"], [1.0, "#D6E8F7"]]
DIVERGING_ON_DARK = [[0.0, "#008262"], [0.25, "#075240"], [0.5, "#171C24"], [0.75, "#66350A"], [1.0, "#AD5A12"]]
"""The same on dark pages: what is small or equal recedes there too. Light letters can be read on all of the second."""

GRID = "rgba(128,136,150,0.22)"

INK = {"light": "#0A0F18", "dark": "#E8EBF0"}  #: Colour of texts on light and dark pages.
STROKE = {scheme: [[0.0, "rgba(128,136,150,0.10)"], [1.0, INK[scheme]]] for scheme in INK}  #: Colours of images.
PAPER = {"light": "#FFFFFF", "dark": "#020305"}  #: Colour of the pages (`.streamlit/config.toml`).

FONT = "Source Sans, Source Sans Pro, Segoe UI, Helvetica, Arial, sans-serif"


def escaped(texts: Iterable[object]) -> list[str]:
    """Return texts of data, such as names of tasks, as they are drawn and not read as markup."""
    return [html.escape(str(text)) for text in texts]


def short(text: str, most: int) -> str:
    """Return a text of at most so many letters."""
    return text if len(text) <= most else text[: most - 1] + "…"


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

_BAR = {"thickness": 14, "title": {"font": {"size": 12}}}
_HOVER = {"light": "#FFFFFF", "dark": "#1B2330"}  # Ground of what is said when pointing at something.


def _template(scheme: Literal["light", "dark"]) -> go.layout.Template:
    """Return what all figures share: title at the left, legend between it and the plot, a quiet grid."""
    layout = {
        "title": {
            "x": 0.012,
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
        SCALE: {"colorscale": SEQUENTIAL if scheme == "light" else SEQUENTIAL_ON_DARK, "colorbar": _BAR},
        DIFFERENCE: {"colorscale": DIVERGING if scheme == "light" else DIVERGING_ON_DARK, "colorbar": _BAR},
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
    for image in figure.select_traces(lambda trace: trace.type == "heatmap" and trace.coloraxis is None):
        image.colorscale = STROKE["dark"]
    figure.update_layout(template=DARK)
    return figure


def whole_numbers(count: int, ticks: int = 12) -> dict[str, Any]:
    """Return tick settings for an axis of `count` whole numbers: never a number twice, never a half."""
    # Plotly has at most so many ticks: with no more than there are numbers, steps of a half are impossible.
    return {"tickformat": "d", "nticks": max(min(count, ticks), 1)} | ({"dtick": 1} if count <= 3 else {})


def task_name(label: object) -> str:
    """Return the name of a task in one line, dates as `2 Jan 2023`.

    >>> task_name("2023-01-02"), task_name("2023-01"), task_name("batch <3>")
    ('2 Jan 2023', 'Jan 2023', 'batch &lt;3&gt;')
    """
    return html.escape(" ".join(date_parts(str(label))).strip())


def task_ticks(labels: Sequence[str], first: int = 1, ticks: int = 8, *, down: bool = False) -> dict[str, Any]:
    """Return tick settings for tasks from number `first`: about `ticks` dates or names if they have some, else numbers.

    Dates have the year where it changes, below; down a vertical axis they are in one line.
    """
    names = [str(label).strip() for label in labels]
    if names == [str(first + i) for i in range(len(names))]:
        return whole_numbers(len(names), ticks if down else max(ticks, 12))
    step = max(1, math.ceil(len(names) / ticks))
    names = names[::step]
    days, years = zip(*map(date_parts, names), strict=True)
    if all(years):
        whole = map(task_name, names) if down else map("{}<br>{}".format, days, years)
        new = map(str.__ne__, years, ("", *years))
        texts = [full if is_new else day for full, day, is_new in zip(whole, days, new, strict=True)]
    else:
        # Short names only, which differ: others would cover each other.
        cut = [short(name, 12) for name in names]
        texts = escaped(cut if len({*cut}) == len({*names}) else (short(name[::-1], 12)[::-1] for name in names))
    return {"tickvals": [first + step * i for i in range(len(names))], "ticktext": texts}


def error_ends(error: ArrayLike, half: ArrayLike) -> tuple[Floats, Floats]:
    """Return the ends of intervals of errors, which stay within 0 and 1; the error itself where half is NaN.

    >>> [end.tolist() for end in error_ends([0.25, 0.5], [0.5, np.nan])]
    [[0.0, 0.5], [0.75, 0.5]]
    """
    error, half = np.asarray(error, dtype=np.float64), np.nan_to_num(np.asarray(half, dtype=np.float64))
    # A minimax log loss, drawn in the same way, may be above 1.
    return np.maximum(error - half, 0.0), np.minimum(error + half, np.where(error > 1.0, np.inf, 1.0))


def decimals(values: ArrayLike, *, ticks: int = 6, sign: bool = False) -> dict[str, Any]:
    """Return range and ticks of an axis of errors, all finite values inside: .35, as many decimals as steps need.

    >>> decimals([-0.02, 0.011], sign=True)["ticktext"]
    ['−.02', '−.01', '0', '+.01']
    """
    found = np.asarray(values, dtype=np.float64).ravel()
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
    width = max(high - low, 0.002)
    rough = width / ticks
    power = 10.0 ** math.floor(math.log10(rough))
    # The smallest of 1, 2 and 5 times a power of ten that needs at most so many ticks.
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # No empty step where the values end shortly after a tick.
    start += int(low - start * step > 0.6 * step)
    stop -= int(stop * step - high > 0.6 * step)
    marks, written = [round(i * step, 10) for i in range(start, stop + 1)], signed if sign else decimal
    return {
        "range": [min(low, marks[0]) - 0.03 * width, max(high, marks[-1]) + 0.03 * width],
        "tickvals": marks,
        "ticktext": [written(mark, places) if mark else "0" for mark in marks],
    }


_PAGE_PX = 900  # Width a legend has on a page of usual width.
_LINE_PX = 18  # Height of a line of text at the end of a curve.
END = "end of a line"  #: Name of the annotations that name curves.


def bar_below(low: float, high: float, *, ticks: int = 6, sign: bool = False, **own: Property) -> dict[str, Any]:
    """Return a colour bar below the panels: on a narrow page one at the side would take up the width of a panel."""
    marks = decimals([low, high], ticks=ticks, sign=sign)
    place = {"orientation": "h", "thickness": 10, "x": 0.5, "y": 0.0, "yref": "container", "yanchor": "bottom"}
    return {**place, "tickvals": marks["tickvals"], "ticktext": marks["ticktext"], "tickangle": 0, **own}


def on_panel(number: int) -> dict[str, str]:
    """Return the names of the axes of a panel in traces, x and y or, from the second on, x2 and y2."""
    suffix = "" if number == 1 else str(number)
    return {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


def _taken(own: dict[str, Any], **usual: Property) -> dict[str, Any]:
    """Take properties out of others; return them, where they are missing as usual."""
    return {name: own.pop(name, value) for name, value in usual.items()}


class Traces(list[dict[str, Any]]):
    """The traces of a figure, in the order in which they are drawn; no colour: ink.

    Panels count from 1. `said` is what is shown when pointing at something, with `box` beside it.
    """

    def add(
        self, *, kind: str = "scatter", panel: Property = 1, said: Property = "", box: Property = "", **own: Property
    ) -> None:
        """Add a trace."""
        hover = {"hovertemplate": f"{said}<extra>{box}</extra>"} if said else {}
        self.append({"type": kind, **own, **hover, **on_panel(panel)})

    def band(self, x: Property, ends: Iterable[Floats], colour: str, alpha: float, **own: Property) -> None:
        """Add a filled band between a lower and an upper curve: its outline, without line and hover."""
        low, high = ends
        own |= {"mode": "lines", "fill": "toself", "fillcolor": rgba(colour, alpha), "line": {"width": 0}}
        own["legendrank"] = 1001  # after the curve it belongs to
        self.add(x=np.concatenate([x, x[::-1]]), y=np.concatenate([high, low[::-1]]), hoverinfo="skip", **own)

    def line(
        self, x: Property, y: Property, name: Property, colour: Property, *, few: Property = 0, **own: Property
    ) -> None:
        """Add a curve, of a width and dash, with its points if they are at most so few."""
        mode, line = "lines+markers" if len(x) <= few else "lines", {"color": colour} | _taken(own, width=2, dash=None)
        self.add(**{"x": x, "y": y, "mode": mode, "name": name, "line": line, **own})

    def curve(self, points: Iterable[Floats], name: str, colour: str, alpha: float, **own: Property) -> None:
        """Add a curve from x, y and the half of its intervals, before it the band to their `ends` if all are known."""
        (x, y, half), ends = points, own.pop("ends", error_ends)
        if np.isfinite(half).all():
            self.band(x, ends(y, half), colour, alpha, legendgroup=name, showlegend=False, panel=own.get("panel", 1))
        hover = {"customdata": list(map(with_spread, y, half)), "said": "%{customdata}", "box": name}
        self.line(x, y, name, colour, **{"legendgroup": name, **hover, **own})

    def straight(
        self, x: Property, y: Property, name: str = "", colour: Property = COLOURS["reference"], **own: Property
    ) -> None:
        """Add a straight line to read others against, such as a level or a border, without hover."""
        self.line(x, y, name, colour, **{"width": 1.5, "dash": "dash", "hoverinfo": "skip", **own})

    def dots(self, x: Property, y: Property, name: Property, colour: Property = None, **own: Property) -> None:
        """Add points, of one look or one each: a symbol, a size, and an edge of so many pixels of the same colour."""
        edge, look = own.pop("edge", None), {"color": colour} | _taken(own, size=10, symbol=None)
        look["line"] = {"width": edge, "color": colour if isinstance(colour, str) else None} if edge else None
        self.add(**{"x": x, "y": y, "mode": "markers", "name": name, "marker": look, **own})

    def bars(self, x: Property, y: Property, name: str, colour: str, said: Property = "", **own: Property) -> None:
        """Add bars."""
        self.add(kind="bar", x=x, y=y, name=name, marker={"color": colour}, said=said, **own)

    def cells(self, x: Property, y: Property, z: Property, scale: str | None, **own: Property) -> None:
        """Add a heatmap on a colour axis, nothing where NaN; without one, of images, values from 0 to 1."""
        image = {"colorscale": STROKE["light"], "zmin": 0, "zmax": 1, "showscale": False}
        look = {"coloraxis": scale} if scale else image
        self.add(**{"kind": "heatmap", "x": x, "y": y, "z": z, "hoverongaps": False, **look, **own})

    def band_key(self, table: pd.DataFrame) -> None:
        """Name the bands in the legend, once for all of them; not if the column stderr of a table has no number."""
        if np.isfinite(table["stderr"]).any():
            look = {"symbol": "square", "size": 13, "colour": "rgba(128,136,150,0.3)"}
            self.dots([None], [None], "Bands: 95 % intervals", hoverinfo="skip", **look)


def whiskers(above: Property, below: Property = None, *, colour: str | None = None, **own: Property) -> dict[str, Any]:
    """Return error bars without ends, of the same length on both sides unless two are given; no colour: ink."""
    sides = {"array": above} if below is None else {"array": above, "arrayminus": below}
    return {"type": "data", **sides, "color": colour, "width": 0, **own}


def _is_named_at(trace: dict[str, Any], y: str) -> bool:
    """Return whether a trace is a curve on this axis whose end can have its name: no band, and not upright."""
    drawn = trace["yaxis"] == y and trace.get("name") and "lines" in trace.get("mode", "") and "fill" not in trace
    return bool(drawn and trace["x"][0] != trace["x"][-1])


def name_curves(
    curves: Iterable[dict[str, Any]], limits: Sequence[float], height: int, panel: int = 1, *, log: bool = False
) -> list[dict[str, Any]]:
    """Return annotations that name curves at their right ends, from bottom to top; on a `log` axis, at the left ones.

    `limits` are those of the vertical axis, `height` is in pixels.
    """
    x, y = on_panel(panel).values()
    known = {one["name"]: math.log10(one["y"][0]) if log else float(one["y"][-1]) for one in curves}
    inks = {one["name"]: one["line"]["color"] for one in curves}
    names = sorted((name for name in known if math.isfinite(known[name])), key=known.__getitem__)
    room = height // _LINE_PX - len(names)  # for breaks: names are wider where there are many
    for width in (18, 28, 40):
        texts = ["<br>".join(textwrap.wrap(name, width, break_long_words=False)) for name in names]
        if sum(text.count("<br>") for text in texts) <= room:
            break
    ends = np.array([known[name] for name in names])
    places = _apart((ends - limits[0]) / max(limits[1] - limits[0], 1e-12), texts, height)
    side, align, shift = (0.0, "right", -4) if log else (1.0, "left", 4)
    look = {"align": align, "xanchor": align, "xshift": shift, "yanchor": "middle"}
    at = {"name": END, "x": side, "xref": f"{x} domain", "yref": f"{y} domain", "showarrow": False, **look}
    at["font"] = {"size": 12}
    return [
        {**at, "y": place, "text": f"<span style='color:{inks[name]}'>●</span> {text}"}
        for name, text, place in zip(names, texts, places, strict=True)
    ]


def _apart(wanted: ArrayLike, texts: Sequence[str], height: int) -> list[float]:
    """Return places from 0 to 1 for texts in rising order, as near to those wanted as their lines allow."""
    needs = np.array([1 + text.count("<br>") for text in texts]) * _LINE_PX / height
    # Places less the room that those below need must rise; where there is too little room all get less.
    below = np.cumsum(needs) - needs / 2 - needs[:1].sum() / 2
    below /= max(1.0, *below[-1:])
    found = np.clip(-falling(below - np.asarray(wanted)), 0.0, 1.0 - below[-1:].sum())
    return list(map(float, found + below))


def slider(frames: Iterable[object], labels: Iterable[object], ms: Property = 0, **own: Property) -> dict[str, Any]:
    """Return a slider that moves a figure to its frames, in so many milliseconds."""
    move = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": ms}}
    steps = [
        {"label": str(label), "method": "animate", "args": [[str(frame)], move]}
        for frame, label in zip(frames, labels, strict=True)
    ]
    return {"steps": steps, **own}


def legend_rows(traces: Iterable[Any], width: int = _PAGE_PX) -> int:
    """Return how many rows the legend of some traces needs in so many pixels; 0 without entries."""
    named = [one for one in traces if "name" in one and one["name"] not in (None, "")]  # traces of figures have no get
    shown = [str(one["name"]) for one in named if "showlegend" not in one or one["showlegend"] is not False]
    if not shown:
        return 0
    sizes = [52 + 6.3 * len(name) for name in shown]
    # Plotly gives all entries the width of the widest as soon as they need a second row.
    return 1 if sum(sizes) <= width else math.ceil(len(sizes) / max(1, int(width // max(sizes))))


class Chart(Traces):
    """A figure while it is drawn: its title, traces, and one pair of axes for each panel that `titles` name, or one.

    Panels are side by side. Where `panel` is 0, an axis is that of all panels.
    """

    def __init__(self, title: str, subtitle: str = "", *, height: int, titles: Sequence[str] = ()) -> None:
        super().__init__()
        self.titles, self.axes = list(titles), dict[str, dict[str, Any]]()
        named = {"text": title, "subtitle": {"text": subtitle}} if subtitle else {"text": title}
        # The template is set here because other programs change Plotly's default.
        self._layout: dict[str, Any] = {"template": LIGHT, "title": named, "height": height}

    def x(self, text: str | None = None, panel: int = 0, **own: Property) -> None:
        """Set the title and properties of a horizontal axis; what is not given stays."""
        self._set("x", text, panel, own)

    def y(self, text: str | None = None, panel: int = 0, **own: Property) -> None:
        """Set those of a vertical axis; the title for all panels is left of the first."""
        self._set("y", text, panel, own)

    def _set(self, side: str, text: str | None, panel: int, own: dict[str, Any]) -> None:
        first, last = (panel, panel) if panel else (1, max(1, len(self.titles)))
        for number in range(first, last + 1):
            titled = text is not None and (side == "x" or number == first)
            at = self.axes.setdefault(f"{side}axis{number if number > 1 else ''}", {})
            at |= {"title": {"text": text}, **own} if titled else own

    def tasks(
        self, labels: Iterable[str], text: str = "task", *, first: int = 1, ticks: int = 8, **own: Property
    ) -> None:
        """Set the horizontal axis of tasks from number `first`, with about so many of their labels."""
        self.x(text, **task_ticks(list(labels), first, ticks), **own)

    def samples(self, sizes: Iterable[int], panel: int) -> None:
        """Set the logarithmic axis of samples per task, with a tick at each of the sizes."""
        ticks = sorted(sizes)
        self.x("samples n per task", panel, type="log", tickvals=ticks, ticktext=list(map(str, ticks)))

    def names(self, names: Iterable[str], text: str | None = None, **own: Property) -> None:
        """Set the vertical axis of names, the first at the top: one for each row, however close they are."""
        names = list(names)[::-1]
        look = {"type": "category", "dtick": 1, "range": [-0.6, len(names) - 0.4], "ticklabelstandoff": 2, **own}
        self.y(text, categoryorder="array", categoryarray=names, **look)

    def colours(self, scale: str, low: float, high: float, **bar: Property) -> None:
        """Set limits and bar of a colour axis, `SCALE` or `DIFFERENCE`; its colours are in the template."""
        self.axes[scale] = {"cmin": low, "cmax": high, "colorbar": bar}

    def row(self, name: str, value: float, ends: tuple[float, float], colour: str, symbol: str, said: str) -> None:
        """Draw a value with its interval in a row of its own, whose name is on the vertical axis."""
        if ends[1] > ends[0]:
            # Caps are higher than the marker, so that an interval narrower than it is seen, too.
            caps = {"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": colour}}
            self.straight(ends, [name] * 2, "", colour, dash=None, mode="lines+markers", marker=caps, cliponaxis=False)
        look = {"symbol": symbol, "size": 6, "edge": 2, "said": said, "cliponaxis": False}
        self.dots([value if math.isfinite(value) else None], [name], name, colour, **look)

    def _panels(self, gap: float, title_size: int, *, share_y: bool) -> list[dict[str, Any]]:
        """Place the panels; return their titles."""
        width, named = (1.0 - gap * (len(self.titles) - 1)) / len(self.titles), []
        look = {"xanchor": "center", "yanchor": "bottom", "xref": "paper", "yref": "paper", "y": 1.0}
        look |= {"showarrow": False, "font": {"size": title_size}}
        for i, text in enumerate(self.titles):
            left, (x, y) = i * (width + gap), on_panel(i + 1).values()
            self.x(panel=i + 1, anchor=y, domain=[left, min(left + width, 1.0)])
            shared: dict[str, Any] = {"matches": "y", "showticklabels": False} if share_y and i > 0 else {}
            self.y(panel=i + 1, anchor=x, domain=[0.0, 1.0], **shared)
            # Its name, that of the panel's horizontal axis in traces, tells a panel's title from other annotations.
            named.append({"name": x, "text": text, "x": left + width / 2, **look})
        count, seen = Counter(trace.get("name") for trace in self), set()
        for trace in self:
            # What several panels show has one name in the legend, and a click there hides it in all of them.
            if trace.get("name") and count[trace["name"]] > 1:
                trace |= {"legendgroup": trace["name"], "showlegend": trace["name"] not in seen, **trace}
                seen.add(trace["name"])
        return named

    def figure(
        self,
        *,
        legend: bool = True,
        above: int | None = None,
        below: int = MARGIN["b"],
        ends: bool = False,
        gap: float = 0.06,
        title_size: int = 14,
        share_y: bool = False,
        frames: Sequence[dict[str, Any]] = (),
        **layout: Property,
    ) -> go.Figure:
        """Return the figure, with so many pixels `above` and `below`, and `frames` for a slider.

        `ends`: curves of the last panel are named there. `gap`: between panels, a share of the width.
        """
        written = list(layout.pop("annotations", ()))
        written += self._panels(gap, title_size, share_y=share_y) if self.titles else []
        last = max(1, len(self.titles))
        named = [one for one in self if ends and _is_named_at(one, on_panel(last)["yaxis"])]
        names = {one["name"] for one in named}
        for one in self:
            one |= {"showlegend": False} if one.get("name") in names else {}
        rows, height = legend_rows(self) if legend else 0, self._layout["height"]
        margin = MARGIN | {"b": below, "t": LEGEND_PX * rows + (above or (84 if self.titles else MARGIN["t"]))}
        if named:
            limits = self.axes[f"yaxis{last if last > 1 else ''}"]["range"]
            told = name_curves(named, limits, height - margin["t"] - margin["b"], last)
            longest = max(len(line) for end in told for line in end["text"].partition("</span> ")[2].split("<br>"))
            margin["r"] = 26 + round(6.4 * longest)
            written += told
        order = "normal" if layout.get("barmode") == "stack" else None
        described = {
            **self._layout,
            "showlegend": rows > 0,
            "legend": {"traceorder": order, "y": 1 - TITLE_PX / height},
            "annotations": written,
            **self.axes,
            **layout,
            "margin": margin | layout.get("margin", {}),
        }
        return go.Figure({"data": list(self), "layout": described, "frames": list(frames)})


def panel_titles(figure: go.Figure) -> dict[str, Any]:
    """Return the titles of the panels of a figure, from left to right, by the names of their horizontal axes."""
    return {a.name: a for a in figure.layout.annotations if a.name and a.name != END}
