"""Figures of the page on the paper: ours against print, its curves, what a step does, and how long it takes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc._types import Floats
from imrc.paper.method import FLOW, Box, lines_of, short_name
from imrc.plots._drawing import COLOURS, DIFFERENCE, Chart, bar_below, decimals, whole_numbers
from imrc.plots.fitting import plain_text
from imrc.wording import RULES, with_spread

_FULL = 0.2  # Differences of at least this size have the full colour.
_DASHES = ("solid", "dash")  # Of the smaller and the larger n or k.
_DARK = (-0.79, 0.86)  # Beyond these shares of the scale, white letters have more contrast than black ones.


def _texts(cell: Any, *, milliseconds: bool) -> tuple[str, str]:  # noqa: ANN401 - a row of a table
    """Return the text and the hover text of a cell."""

    def value(number: float, digits: int, spread: float = math.nan) -> str:
        if milliseconds and math.isfinite(number):
            return f"{1000 * number:.{digits}f}"
        return with_spread(number, spread, digits) or "–"

    # Printed running times are whole milliseconds; of ours, small ones have a decimal.
    of_ours, of_print = (int(cell.ours < 0.01), 0) if milliseconds else (3, 2)
    unit, measured = " ms" * milliseconds, math.isfinite(cell.ours)
    many = "repetitions" if getattr(cell, "dataset", "-") else "datasets"  # the row of averages has no dataset
    ours = f"{value(cell.ours, of_ours, cell.std)}{unit} ({cell.repetitions} {many})" if measured else "not measured"
    printed = f"{value(cell.printed, of_print, cell.printed_std)}{unit}"
    why = f"<br>{cell.why}" if getattr(cell, "why", "") else ""
    in_print = f"({value(cell.printed, of_print)})" if math.isfinite(cell.printed) else ""
    shown = f"<b>{value(cell.ours, of_ours)}</b><br>{in_print}".removesuffix("<br>") if measured else in_print
    return shown, f"{cell.title}, {cell.column}<br>ours: {ours}<br>printed: {printed}{why}"


def printed_matrix(cells: pd.DataFrame, *, title: str, milliseconds: bool = False) -> go.Figure:
    """Return a table as a heatmap, datasets in rows, coloured by ours minus printed.

    `cells` are from `imrc.paper.cells`; where ours is NaN, only the printed value is shown. With `milliseconds` values
    are seconds, coloured by the logarithm of ours over printed.
    """
    rows, columns = list(dict.fromkeys(cells["title"])), list(dict.fromkeys(cells["column"]))
    row, column = cells["title"].map(rows.index).to_numpy(), cells["column"].map(columns.index).to_numpy()
    shown, said = zip(*(_texts(cell, milliseconds=milliseconds) for cell in cells.itertuples()), strict=True)
    grid = np.full((len(rows), len(columns)), np.nan)
    texts, hovers = np.full(grid.shape, "", dtype=object), np.full(grid.shape, "", dtype=object)
    values = np.log10(cells["ours"] / cells["printed"]) if milliseconds else cells["gap"]
    # Measured without a printed counterpart: neither better nor worse.
    grid[row, column] = np.where(cells["ours"].notna(), values.fillna(0.0), np.nan)
    texts[row, column], hovers[row, column] = shown, said
    full, own = 3.0 if milliseconds else _FULL, {}
    if milliseconds:
        own = {"tickvals": [-2, 0, 2], "ticktext": ["1/100", "equal", "100 times"]}
    slanted = max(map(len, columns)) > 8
    top = 150 if slanted else 84
    unit = "ours / printed" if milliseconds else "ours − printed"
    drawn, told = Chart(title, f"colour: {unit}", height=68 + top + 36 * len(rows)), "%{customdata}"
    drawn.x(side="top", showgrid=False, tickangle=-50 if slanted else 0, type="category")
    drawn.y(autorange="reversed", showgrid=False, type="category")
    drawn.colours(DIFFERENCE, -full, full, **bar_below(-full, full, ticks=4, sign=True, len=0.8, **own))
    drawn.cells(columns, rows, grid, DIFFERENCE, text=texts, customdata=hovers, said=told, xgap=2, ygap=2)
    # Plotly's own choice of text colour is hard to read on medium shades. No colour: the ink of the page.
    dark = (grid < _DARK[0] * full) | (grid > _DARK[1] * full)
    inks = np.where(np.isnan(grid), COLOURS["reference"], np.where(dark, "#FFFFFF", "")).ravel()
    for ink in dict.fromkeys(inks.tolist()):
        here = inks == ink
        x, y = np.tile(columns, len(rows))[here], np.repeat(rows, len(columns))[here]
        look: dict[str, Any] = {"mode": "text", "textfont": {"size": 11, "color": ink or None}, "showlegend": False}
        drawn.add(x=x, y=y, text=texts.ravel()[here], customdata=hovers.ravel()[here], said=told, **look)
    return drawn.figure(legend=False, above=top, below=64)


def _ratio_ends(ratio: Floats, half: Floats) -> tuple[Floats, Floats]:
    return ratio - half, ratio + half


def window_curves(table: pd.DataFrame) -> go.Figure:
    """Return errors divided by that of single-task learning, against the number of consecutive tasks and against n.

    `table` is the shipped "tasks", of one sequence and preset. Dashed: the larger n, and the larger k.
    """
    sizes, lengths = (sorted(table[one].unique().tolist()) for one in ("n", "k"))
    two = [lengths[len(lengths) // 4], min(lengths, key=lambda k: abs(k - 10))]
    shown = table[table["rule"].isin(list(RULES)[1:])]
    titles = "Against k", f"Against n, k = {two[0]} and {two[1]}"
    drawn = Chart("How much do more tasks help?", height=450, titles=titles)
    drawn.x("consecutive tasks k", panel=1, **whole_numbers(lengths[-1], 8))
    drawn.samples(sizes, panel=2)
    up = np.concatenate(_ratio_ends(shown["ratio"], np.nan_to_num(shown["ratio_half"])))
    drawn.y("error / single-task error", **decimals(np.append(up, 1.0)))
    for panel, (over, other, values) in enumerate((("k", "n", sizes), ("n", "k", two)), start=1):
        for (rule, part), (value, dash) in itertools.product(shown.groupby("rule"), zip(values, _DASHES, strict=False)):
            rows = part[part[other] == value].sort_values(over)
            points = (rows[column].to_numpy() for column in (over, "ratio", "ratio_half"))
            look = {"dash": dash, "few": math.inf, "marker": {"size": 5}, "ends": _ratio_ends, "panel": panel}
            drawn.curve(points, f"{RULES[rule]}, {other} = {value}", COLOURS[rule], 0.13, **look)
        ends = [table[over].min(), table[over].max()]
        drawn.straight(ends, [1.0, 1.0], RULES["single"], COLOURS["single"], dash="dot", panel=panel)
    drawn.band_key(shown.assign(stderr=shown["ratio_stderr"]))
    return drawn.figure(share_y=True)


_COLUMNS = ("tasks k − b, …, k − 1", "new task k")
_WIDTH, _HEIGHT = 0.86, 0.62  # Of a box, where columns and rows are 1 apart.


def _colour(box: Box) -> str:
    return COLOURS[box.rule or "reference"]


def _arrow(start: Box, end: Box) -> dict[str, Any]:
    """Return an arrow: from below to above within a column, from side to side between columns."""
    across = end.column - start.column
    x, y = (0.0, _HEIGHT / 2) if not across else (across * _WIDTH / 2, 0.0)
    places = {"ax": start.column + x, "ay": start.row + y, "x": end.column - x, "y": end.row - y}
    axes = {"axref": "x", "ayref": "y", "xref": "x", "yref": "y"}
    look = {"text": "", "showarrow": True, "arrowhead": 2, "arrowcolor": _colour(start), "arrowwidth": 1.5}
    return {**places, **axes, **look}


def flow_in_words() -> str:
    """Return what the flow diagram shows, for people who cannot see it."""
    words = {key: plain_text(box.text) for key, box in FLOW.items()}
    parts = [
        f"{short_name(box.function)} makes {words[key]} of {' and '.join(words[name] for name in box.after)}"
        for key, box in FLOW.items()
        if box.function
    ]
    return "; ".join(parts) + "."


def flow_diagram() -> go.Figure:
    """Draw the boxes of `imrc.paper.method.FLOW`, each with the name of its function."""
    linked = [box for box in FLOW.values() if box.function]
    columns, rows = zip(*((box.column, box.row) for box in linked), strict=True)
    told = [f"{box.function}<br>{lines_of(box.function)} of Algorithm 1" for box in linked]
    drawn = Chart("What does a step do?", height=560)
    drawn.x(visible=False, range=[-0.5, 1.5])
    drawn.y(visible=False, range=[5.4, -0.85])
    # Unseen: something to point at.
    unseen = {"opacity": 0, "size": 40, "symbol": "square"}
    drawn.add(x=columns, y=rows, mode="markers", marker=unseen, text=told, said="%{text}", showlegend=False)
    shapes, texts = [], []
    for box in FLOW.values():
        x, y = float(box.column), float(box.row)
        look = {"color": _colour(box), "width": 2 if box.function else 1, "dash": "solid"}
        corners = {"x0": x - _WIDTH / 2, "x1": x + _WIDTH / 2, "y0": y - _HEIGHT / 2, "y1": y + _HEIGHT / 2}
        shapes.append({"type": "rect", **corners, "line": look})
        text = f"{box.text}<br><b>{short_name(box.function)}</b>" if box.function else box.text
        texts.append((x, y, text))
    texts += [(float(column), -0.62, text) for column, text in enumerate(_COLUMNS)]
    written = [{"x": x, "y": y, "text": text, "showarrow": False, "font": {"size": 13}} for x, y, text in texts]
    # Within a column one arrow is enough, from the box above.
    arrows = [
        _arrow(FLOW[name], box)
        for box in FLOW.values()
        for position, name in enumerate(box.after)
        if FLOW[name].column != box.column or position == 0
    ]
    margin = {"l": 4, "r": 4, "t": 50, "b": 4}
    return drawn.figure(legend=False, shapes=shapes, annotations=[*arrows, *written], margin=margin)


PANELS = {"n": "Samples per task n", "k": "Number of tasks k", "b": "Backward steps b"}


def running_time_curves(table: pd.DataFrame) -> go.Figure:
    """Draw the time per task against n, k and b, a panel each, from zero; the panel's title has the fixed values.

    `table` has columns varied ("n", "k" or "b"), n, k, b and ms_per_task.
    """
    parts = {name: table[table["varied"] == name].sort_values(name) for name in PANELS}
    titles = [
        ", ".join(f"{other} = {part[other].iloc[0]}" for other in PANELS if other != name)
        for name, part in parts.items()
    ]
    drawn = Chart("How long does one more task take?", height=360, titles=titles)
    drawn.y("Milliseconds per task", rangemode="tozero")
    for panel, (name, part) in enumerate(parts.items(), start=1):
        drawn.x(PANELS[name], panel, rangemode="tozero")
        look = {"few": math.inf, "marker": {"size": 7}, "said": f"{name} = %{{x}}<br>%{{y:.1f}} ms per task"}
        colour = COLOURS["forward_backward"]
        drawn.line(part[name], part["ms_per_task"], "all three rules", colour, panel=panel, **look)
    return drawn.figure(gap=0.09, above=52, title_size=12, legend=False)
