"""Figures of page *The paper*: tables coloured by the difference from the printed values, ours against printed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale, unlabel_rgb

from imrc.plots._axes import decimals
from imrc.plots._panels import Traces, axis, chart, colour_axis
from imrc.plots._style import COLOURS, DIVERGING
from imrc.plots._themes import DIFFERENCE
from imrc.plots.compare import METHOD_COLOURS
from imrc.plots.heatmaps import BAR_BELOW
from imrc.wording import decimal

_FULL = 0.2
"""Differences of at least this size have the full colour."""

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon", "hexagon", "triangle-down")


def _texts(cells: pd.DataFrame, *, milliseconds: bool, spread: bool) -> tuple[list[str], list[str]]:
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
        with_std = spread and np.isfinite(cell.std)
        first = f"{ours} ±{decimal(cell.std, 2)}" if with_std else ours
        second = f"{printed} ±{decimal(cell.printed_std, 2)}" if spread and np.isfinite(cell.printed_std) else printed
        shown.append(f"<b>{first}</b><br>({second})" if np.isfinite(cell.ours) else f"({second})")
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


def printed_matrix(cells: pd.DataFrame, *, title: str, milliseconds: bool = False, spread: bool = False) -> go.Figure:
    """Return a table as a heatmap, datasets in rows, coloured by ours minus printed.

    `cells` are from `imrc.paper.cells`; where ours is NaN the printed value stands alone. With `milliseconds` values
    are seconds, coloured by the logarithm of ours over printed; `spread` writes standard deviations into the cells.

    >>> cell = {"title": "Spam", "column": "MER", "ours": 0.1, "std": 0.01, "printed": 0.13, "printed_std": 0.02}
    >>> figure = printed_matrix(pd.DataFrame([cell | {"gap": -0.03, "repetitions": 10}]), title="How close?")
    >>> str(figure.data[0].text[0][0])
    '<b>.100</b><br>(.13)'
    """
    rows, columns = list(dict.fromkeys(cells["title"])), list(dict.fromkeys(cells["column"]))
    row, column = cells["title"].map(rows.index).to_numpy(), cells["column"].map(columns.index).to_numpy()
    shown, said = _texts(cells, milliseconds=milliseconds, spread=spread)
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
        bars = {"thickness": 1, "width": 0, "color": colour}
        traces.add(
            x=part["printed"],
            y=part["ours"],
            error_x={"array": part["printed_std"].fillna(0.0), **bars},
            error_y={"array": part["std"].fillna(0.0), **bars},
            mode="markers",
            name=str(name),
            marker={"size": 10, "color": colour, "symbol": f"{symbol}-open" if hollow else symbol},
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
