"""Heatmaps of a quantity by step and task, the three rules side by side."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc._checks import check_choice
from imrc.plots._axes import task_ticks, whole_numbers
from imrc.plots._panels import Traces, axis, colour_axis, panels
from imrc.plots._style import SHORT_NAMES
from imrc.plots._themes import DIFFERENCE, SCALE
from imrc.plots.ladder import marked_row
from imrc.plots.tables import QUANTITIES, Quantity

TITLES: dict[Quantity, str] = {
    "error": "Where are the errors?",
    "difference": "Where does transfer help?",
    "risk": "What does each rule promise?",
}
_BAR: dict[Quantity, str] = {
    "error": "error",
    "difference": "difference to each task alone",
    "risk": "minimax risk",
}
BAR_BELOW = {"orientation": "h", "thickness": 10, "x": 0.5, "y": 0.0, "yref": "container", "yanchor": "bottom"}
"""Colour bar below the panels: on a narrow page one at the side would take up the width of a panel."""
_CLICKABLE = 1900
"""Up to this many cells each gets a marker, so that a click can select its task."""


def _range(tables: Mapping[str, pd.DataFrame], quantity: Quantity) -> tuple[float, float]:
    values = np.concatenate([table["value"].to_numpy() for table in tables.values()])
    if quantity == "difference":
        largest = max(float(np.abs(values).max()), 0.01)
        return -largest, largest
    low, high = float(values.min()), float(values.max())
    # A risk can be negative: with an early-stopped solver or an empty uncertainty set nothing keeps it above 0.
    low = np.floor(low * 20) / 20
    return low, max(np.ceil(high * 20) / 20, low + 0.05)


def _hover(table: pd.DataFrame, unit: str) -> list[str]:
    texts = []
    for row in table.itertuples():
        spread = "" if np.isnan(row.stderr) else f" ± {row.stderr:.3f}"
        tested = f"<br>{row.test_samples} test samples" if "test_samples" in table else ""  # else not known
        texts.append(
            f"<b>Task {row.task}</b> ({html.escape(str(row.label))})<br>step {row.step}, {row.lag} tasks later"
            f"<br>{unit} {row.value:.3f}{spread}{tested}"
        )
    return texts


def error_heatmaps(
    tables: Mapping[str, pd.DataFrame],
    quantity: Quantity = "error",
    risk: str = "minimax risk",
    marked: int | None = None,
) -> go.Figure:
    """Return heatmaps side by side with one colour scale.

    Parameters
    ----------
    tables : mapping of rule to DataFrame
        From `matrix_table` or `ErrorMatrix.table`, in the order in which they are shown. Rows with step = task + lag
        for all later steps, or for every q-th, give the triangle (rows: task, columns: step); otherwise columns are
        lags.
    quantity : {"error", "difference", "risk"}
        Decides title and colour scale.
    risk : str
        What the rules minimise, for the name of that quantity.
    marked : int or None
        Task, from 1, whose row is marked.

    Returns
    -------
    Figure
        Clicking a cell selects it where there are not too many cells (``customdata`` holds the task from 1).
    """
    check_choice("quantity", quantity, QUANTITIES)
    unit = {**_BAR, "risk": risk}[quantity]
    first = next(iter(tables.values()))
    tasks = int(first["task"].max())
    by_lag = int(first["lag"].max()) < tasks - 1
    column = "lag" if by_lag else "step"
    row_at, column_at = np.unique(first["task"]), np.unique(first[column])
    columns = len(column_at)
    half = 0.5 * (int(row_at[1] - row_at[0]) if len(row_at) > 1 else 1)
    low, high = _range(tables, quantity)
    scale = DIFFERENCE if quantity == "difference" else SCALE
    clickable = len(first) <= _CLICKABLE
    traces = Traces()
    for number, table in enumerate(tables.values(), start=1):
        grid = np.full((len(row_at), columns), np.nan)
        row, col = np.searchsorted(row_at, table["task"]), np.searchsorted(column_at, table[column])
        grid[row, col] = table["value"]
        texts = np.full(grid.shape, "", dtype=object)
        texts[row, col] = _hover(table, unit)
        traces.add(
            kind="heatmap",
            z=grid,
            x=column_at,
            y=row_at,
            coloraxis=scale,
            hoverongaps=False,
            xgap=1 if columns <= 30 else 0,
            ygap=1 if tasks <= 30 else 0,
            # Markers, where present, take the hover events; their texts need not be sent twice.
            **({"hoverinfo": "skip"} if clickable else {"hoverinfo": "text", "text": texts}),
            panel=number,
        )
        if clickable:
            traces.add(**_targets(table, column, texts[row, col]), panel=number)
    text = "lag: tasks learnt after it" if by_lag else "step (tasks learnt)"
    middle = (len(tables) - 1) // 2
    return panels(
        traces,
        [SHORT_NAMES.get(rule, html.escape(rule)) for rule in tables],
        [
            axis(
                text if i == middle else None,
                range=[column_at[0] - (0.5 if by_lag else half), column_at[-1] + (0.5 if by_lag else half)],
                showgrid=False,
                **whole_numbers(columns, 6),
            )
            for i in range(len(tables))
        ],
        [
            axis(
                "task" if i == 0 else None,
                range=[tasks + half, row_at[0] - half],
                showgrid=False,
                # Names stand at tasks that follow each other.
                **(task_ticks(first.drop_duplicates("task")["label"].tolist(), ticks=10) if half == 0.5 else {}),
            )
            for i in range(len(tables))
        ],
        gap=0.025,
        share_y=True,
        # In the subtitle: a horizontal colour bar leaves no room for the name of its unit.
        title=TITLES[quantity],
        subtitle=f"colour: {html.escape(unit)}",
        height=470 if tasks <= 30 else 560,
        legend=False,
        above=86,
        below=104,
        **colour_axis(scale, low, high, {**BAR_BELOW, "len": 0.6, "tickformat": ".2f", "nticks": 6}),
        shapes=[marked_row(marked, number) for number in range(1, len(tables) + 1)] if marked else [],
        clickmode="event+select",
    )


def _targets(table: pd.DataFrame, column: str, texts: np.ndarray) -> dict[str, Any]:
    """Invisible markers over the cells: a heatmap itself cannot be selected from."""
    hidden = {"marker": {"opacity": 0}}
    return {
        "x": table[column].to_numpy(),
        "y": table["task"].to_numpy(),
        "mode": "markers",
        "marker": {"opacity": 0, "size": 14, "symbol": "square"},
        "selected": hidden,
        "unselected": hidden,
        "customdata": table["task"].to_numpy(),
        "text": texts,
        "hoverinfo": "text",
        "showlegend": False,
    }
