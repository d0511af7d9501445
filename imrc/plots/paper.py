"""Figures of the page on the paper: ours against print, its curves, what a step does, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale, unlabel_rgb

from imrc.paper.method import FLOW, Box, lines_of, short_name
from imrc.plots._drawing import (
    COLOURS,
    DIFFERENCE,
    DIVERGING,
    NAMES,
    Traces,
    arrow,
    axis,
    band_key,
    bars,
    chart,
    colour_axis,
    decimals,
    panels,
    samples_axis,
    whole_numbers,
)
from imrc.plots.compare import METHOD_COLOURS
from imrc.plots.fitting import plain_text
from imrc.plots.result import BAR_BELOW
from imrc.wording import decimal

_FULL = 0.2  # Differences of at least this size have the full colour.

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon", "hexagon", "triangle-down")


def _texts(cells: pd.DataFrame, *, milliseconds: bool) -> tuple[list[str], list[str]]:
    """Return the text and the hover text of each cell."""

    def value(number: float, digits: int, ms: bool) -> str:
        if not np.isfinite(number):
            return "–"
        return f"{1000 * number:.{digits}f}" if ms else decimal(number, digits)

    shown, said = [], []
    for cell in cells.itertuples():
        # Printed running times are whole milliseconds; of ours, small ones have a decimal.
        digits = (int(cell.ours < 0.01), 0) if milliseconds else (3, 2)
        ours, printed = (value(v, d, milliseconds) for v, d in zip((cell.ours, cell.printed), digits, strict=True))
        shown.append(f"<b>{ours}</b><br>({printed})" if np.isfinite(cell.ours) else f"({printed})")
        unit = " ms" if milliseconds else ""
        std = f" ± {decimal(cell.std)}" if np.isfinite(cell.std) else ""
        printed_std = f" ± {decimal(cell.printed_std, 2)}" if np.isfinite(cell.printed_std) else ""
        many = "repetitions" if getattr(cell, "dataset", "-") else "datasets"  # the row of averages has no dataset
        measured = f"{ours}{unit}{std} ({cell.repetitions} {many})" if np.isfinite(cell.ours) else "not measured"
        why = f"<br>{cell.why}" if getattr(cell, "why", "") else ""
        said.append(f"{cell.title}, {cell.column}<br>ours: {measured}<br>printed: {printed}{unit}{printed_std}{why}")
    return shown, said


def _colour_on(share: float) -> str:
    """Return white, or "" for ink, which turns light on dark pages: what reads better at this share of the scale."""
    red, green, blue = unlabel_rgb(sample_colorscale(DIVERGING, [min(max(share, 0.0), 1.0)])[0])
    linear = [(c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # White and black have equal contrast where (1 + .05) / (L + .05) = (L + .05) / .05.
    return "" if luminance > 0.18 else "#FFFFFF"


def printed_matrix(cells: pd.DataFrame, *, title: str, milliseconds: bool = False) -> go.Figure:
    """Return a table as a heatmap, datasets in rows, coloured by ours minus printed.

    `cells` are from `imrc.paper.cells`; where ours is NaN the printed value stands alone. With `milliseconds` values
    are seconds, coloured by the logarithm of ours over printed.

    >>> cell = {"title": "Spam", "column": "MER", "ours": 0.1, "std": 0.01, "printed": 0.13, "printed_std": 0.02}
    >>> figure = printed_matrix(pd.DataFrame([cell | {"gap": -0.03, "repetitions": 10}]), title="How close?")
    >>> str(figure.data[0].text[0][0])
    '<b>.100</b><br>(.13)'
    """
    rows, columns = list(dict.fromkeys(cells["title"])), list(dict.fromkeys(cells["column"]))
    row, column = cells["title"].map(rows.index).to_numpy(), cells["column"].map(columns.index).to_numpy()
    shown, said = _texts(cells, milliseconds=milliseconds)
    grid = np.full((len(rows), len(columns)), np.nan)
    texts, hovers = np.full(grid.shape, "", dtype=object), np.full(grid.shape, "", dtype=object)
    values = np.log10(cells["ours"] / cells["printed"]) if milliseconds else cells["gap"]
    # Measured without a printed counterpart: neither better nor worse.
    grid[row, column] = np.where(cells["ours"].notna(), values.fillna(0.0), np.nan)
    texts[row, column], hovers[row, column] = shown, said
    full = 3.0 if milliseconds else _FULL
    bar = {**BAR_BELOW, "len": 0.8, "nticks": 5}
    if milliseconds:
        bar |= {"tickvals": [-2, 0, 2], "ticktext": ["1/100", "equal", "100 times"]}
    else:
        ticks = decimals([-full, full], sign=True, ticks=4)
        bar |= {name: ticks[name] for name in ("tickvals", "ticktext")}
    traces = Traces()
    traces.add(
        kind="heatmap",
        z=grid,
        x=columns,
        y=rows,
        text=texts,
        customdata=hovers,
        hovertemplate="%{customdata}<extra></extra>",
        coloraxis=DIFFERENCE,
        xgap=2,
        ygap=2,
    )
    # Plotly's own choice of text colour is hard to read on medium shades. No colour: the ink of the page.
    colours = np.array(
        [COLOURS["reference"] if np.isnan(value) else _colour_on((value / full + 1) / 2) for value in grid.flat]
    )
    for colour in dict.fromkeys(colours):
        here = colours == colour
        traces.add(
            x=np.tile(columns, len(rows))[here],
            y=np.repeat(rows, len(columns))[here],
            mode="text",
            text=texts.ravel()[here],
            textfont={"size": 11, "color": colour or None},
            customdata=hovers.ravel()[here],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    slanted = max(map(len, columns)) > 8
    top = 150 if slanted else 84
    unit = "ours / printed" if milliseconds else "ours − printed"
    return chart(
        traces,
        axis(side="top", showgrid=False, tickangle=-50 if slanted else 0, type="category"),
        axis(autorange="reversed", showgrid=False, type="category"),
        title=title,
        subtitle=f"colour: {unit}",
        height=68 + top + 36 * len(rows),
        legend=False,
        above=top,
        below=64,
        **colour_axis(DIFFERENCE, -full, full, bar),
    )


def ours_against_printed(cells: pd.DataFrame) -> go.Figure:
    """Return our errors against the printed ones, a point per cell of `printed_matrix`, and the line of equality."""
    both = cells[cells["gap"].notna()]
    top = 1.05 * max(0.1, float(both[["ours", "printed"]].to_numpy().max(initial=0.1)))
    traces = Traces()
    traces.straight([0.0, top], [0.0, top], "equal")
    for position, (name, part) in enumerate(both.groupby("column", sort=False)):
        own = str(name).startswith("IMRC")
        colour = COLOURS["forward_backward"] if own else METHOD_COLOURS.get(str(name).lower(), COLOURS["reference"])
        hollow = own and "recommended" in str(name)
        symbol = _SYMBOLS[position % len(_SYMBOLS)]
        traces.dots(
            part["printed"],
            part["ours"],
            str(name),
            colour,
            symbol=f"{symbol}-open" if hollow else symbol,
            error_x=bars(part["printed_std"].fillna(0.0), colour=colour, thickness=1),
            error_y=bars(part["std"].fillna(0.0), colour=colour, thickness=1),
            opacity=0.9,
            customdata=part["title"],
            hovertemplate="%{customdata}: ours %{y:.3f}, printed %{x:.2f}<extra>" + str(name) + "</extra>",
        )
    return chart(
        traces,
        axis("printed error", tickformat=".1f", range=[0.0, top]),
        axis("our error", tickformat=".1f", range=[0.0, top]),
        title="Do our errors match the printed ones?",
        height=520,
    )


_BY_SIZE = ("solid", "dash", "dot", "dashdot")  # Line styles of several n: colours are those of the rules everywhere.


def window_curves(table: pd.DataFrame) -> go.Figure:
    """Return errors against the number of consecutive tasks, and against n (if several), from `window_table`.

    Divided by that of single-task learning; `table` is of one sequence and preset.
    """
    sizes = sorted(table["n"].unique())
    rules = [rule for rule in NAMES if rule in set(table["rule"]) and rule != "single"]
    traces = Traces()
    for rule in rules:
        for n, dash in zip(sizes, _BY_SIZE * len(sizes), strict=False):
            part = table[(table["rule"] == rule) & (table["n"] == n)].sort_values("k")
            _line(traces, part["k"], part, COLOURS[rule], dash, f"{NAMES[rule]}, n = {n}", 1)
    _level(traces, [table["k"].min(), table["k"].max()], 1)
    titles, x_axes = ["Against k"], [axis("consecutive tasks k", **whole_numbers(int(table["k"].max()), 8))]
    if len(sizes) > 1:
        lengths = _two_lengths(table["k"].unique())
        for rule in rules:
            for k, dash in zip(lengths, _BY_SIZE, strict=False):
                part = table[(table["rule"] == rule) & (table["k"] == k)].sort_values("n")
                _line(traces, part["n"], part, COLOURS[rule], dash, f"{NAMES[rule]}, k = {k}", 2)
        _level(traces, [sizes[0], sizes[-1]], 2)
        titles.append(f"Against n, k = {' and '.join(map(str, lengths))}")
        x_axes.append(samples_axis(sizes))
    shown = table[table["rule"].isin(rules)]
    spread = np.nan_to_num(shown["ratio_half"].to_numpy())
    ends = decimals(np.concatenate([shown["ratio"] - spread, shown["ratio"] + spread, [1.0]]))
    return panels(
        [*traces, *band_key(shown.assign(stderr=shown["ratio_stderr"]))],
        titles,
        x_axes,
        [axis("error / single-task error", **ends), *[axis(**ends)] * (len(titles) - 1)],
        gap=0.06,
        share_y=True,
        title="How much do more tasks help?",
        height=450,
    )


def _two_lengths(lengths: Sequence[int]) -> list[int]:
    """Return two numbers of tasks to compare: about a tenth of the longest, and the longest up to 10 of them all."""
    ordered = sorted(int(k) for k in lengths)
    middle = min(ordered, key=lambda k: abs(k - 10))
    return sorted({ordered[len(ordered) // 4], middle} if middle != ordered[0] else {ordered[0], ordered[-1]})


def _line(traces: Traces, x: pd.Series, part: pd.DataFrame, colour: str, dash: str, name: str, panel: int) -> None:
    y, half = part["ratio"], part["ratio_half"]
    if np.isfinite(half).all() and len(x) > 1:
        low, high = (y - half).to_numpy(), (y + half).to_numpy()
        traces.band(x.to_numpy(), low, high, colour, 0.13, showlegend=False, panel=panel, legendgroup=name)
    said = [f" ± {value:.3f}" if np.isfinite(value) else "" for value in half]
    traces.line(
        x,
        y,
        name,
        colour,
        width=2,
        dash=dash,
        mode="lines+markers",
        legendgroup=name,
        marker={"size": 5},
        customdata=said,
        hovertemplate="%{x}: %{y:.3f}%{customdata}<extra>" + name + "</extra>",
        panel=panel,
    )


def _level(traces: Traces, x: Sequence[int], panel: int) -> None:
    shown: dict[str, Any] = {"legendgroup": "single", "showlegend": panel == 1, "panel": panel}
    traces.straight(x, [1.0, 1.0], NAMES["single"], COLOURS["single"], dash="dot", **shown)


_COLUMNS = ("tasks k − b, …, k − 1", "new task k")
_WIDTH, _HEIGHT = 0.86, 0.62  # Of a box, where columns and rows are 1 apart.


def _colour(box: Box) -> str:
    return COLOURS[box.rule or "reference"]


def _arrow(start: Box, end: Box) -> dict[str, Any]:
    """Return an arrow: from below to above within a column, from side to side between columns."""
    across = end.column - start.column
    from_x, to_x = start.column + across * _WIDTH / 2, end.column - across * _WIDTH / 2
    from_y, to_y = float(start.row), float(end.row)
    if not across:
        from_y, to_y = from_y + _HEIGHT / 2, to_y - _HEIGHT / 2
    return arrow((from_x, from_y), (to_x, to_y), _colour(start), arrowwidth=1.5)


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
    """Draw the boxes of `imrc.paper.method.FLOW`; ``customdata`` holds the dotted names of their functions.

    >>> list(flow_diagram().data[0].customdata[:2])
    ['imrc.core.moments.sample_moments', 'imrc.core.change.forward_change']
    """
    linked = [box for box in FLOW.values() if box.function]
    traces = Traces()
    traces.targets(
        [box.column for box in linked],
        [box.row for box in linked],
        [box.function for box in linked],
        40,  # a click anywhere near the middle of a box chooses its function
        text=[f"{box.function}<br>{lines_of(box.function)} of Algorithm 1" for box in linked],
        hovertemplate="%{text}<extra></extra>",
    )
    shapes = [
        {
            "type": "rect",
            "x0": box.column - _WIDTH / 2,
            "x1": box.column + _WIDTH / 2,
            "y0": box.row - _HEIGHT / 2,
            "y1": box.row + _HEIGHT / 2,
            "line": {"color": _colour(box), "width": 2 if box.function else 1, "dash": "solid"},
        }
        for box in FLOW.values()
    ]
    texts = [
        {
            "x": box.column,
            "y": box.row,
            "text": f"{box.text}<br><b>{short_name(box.function)}</b>" if box.function else box.text,
            "showarrow": False,
            "font": {"size": 13},
        }
        for box in FLOW.values()
    ]
    heads = [
        {"x": column, "y": -0.62, "text": text, "showarrow": False, "font": {"size": 13}}
        for column, text in enumerate(_COLUMNS)
    ]
    # From above within a column comes all that stands there: one arrow, from the box before.
    arrows = [
        _arrow(FLOW[name], box)
        for box in FLOW.values()
        for position, name in enumerate(box.after)
        if FLOW[name].column != box.column or position == 0
    ]
    return chart(
        traces,
        axis(visible=False, range=[-0.5, 1.5]),
        axis(visible=False, range=[5.4, -0.85]),
        title="What does a step do?",
        height=560,
        legend=False,
        shapes=shapes,
        annotations=[*arrows, *texts, *heads],
        margin={"l": 4, "r": 4, "t": 50, "b": 4},
    )


PANELS = {"n": "Samples per task n", "k": "Number of tasks k", "b": "Backward steps b"}


def running_time_curves(table: pd.DataFrame) -> go.Figure:
    """Draw the time per task against n, k and b, a panel each, from zero; the panel's title holds the fixed values.

    `table` has columns varied ("n", "k" or "b"), n, k, b and ms_per_task. ValueError: it has no row to draw.
    """
    names = [name for name in PANELS if (table["varied"] == name).any()]
    if not names:
        raise ValueError("table has no row in which n, k or b is varied.")
    titles = []
    for name in names:
        fixed = table.loc[table["varied"] == name].iloc[0]
        titles.append(", ".join(f"{other} = {fixed[other]}" for other in PANELS if other != name))
    traces = Traces()
    for column, name in enumerate(names, start=1):
        part = table[table["varied"] == name].sort_values(name)
        traces.line(
            part[name],
            part["ms_per_task"],
            "all three rules",
            COLOURS["forward_backward"],
            width=2,
            mode="lines+markers",
            marker={"size": 7},
            showlegend=False,
            hovertemplate=f"{name} = %{{x}}<br>%{{y:.1f}} ms per task<extra></extra>",
            panel=column,
        )
    return panels(
        traces,
        titles,
        [axis(PANELS[name], rangemode="tozero") for name in names],
        [axis(None if i else "Milliseconds per task", rangemode="tozero") for i in range(len(names))],
        gap=0.09,
        above=52,
        title_size=12,
        title="How long does one more task take?",
        height=360,
        legend=False,
    )
