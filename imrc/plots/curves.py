"""Curves with bands: average error by step and by task, and the story of one task."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._panels import axis, band_key, on_panel, panels
from imrc.plots._style import COLOURS, DASHES, NAMES, band, hover_spread

_MAJORITY = "Majority class"


def _curve(table: pd.DataFrame, rule: str, *, legend: bool) -> list[dict[str, Any]]:
    """Describe one rule: line with markers, and before it its band of two standard errors where there is one."""
    name = NAMES.get(rule, _MAJORITY if rule == "majority" else html.escape(rule))
    colour = COLOURS.get(rule, COLOURS["reference"])
    x, value = table["x"].to_numpy(), table["value"].to_numpy()
    spread = 2.0 * table["stderr"].to_numpy()
    few = len(x) <= 40
    line = {
        "type": "scatter",
        "x": x,
        "y": value,
        "mode": "lines+markers" if few and rule != "majority" else "lines",
        "name": name,
        "legendgroup": rule,
        "showlegend": legend,
        "line": {
            "color": colour,
            "width": 1.5 if rule == "majority" else 2.5,
            "dash": "dash" if rule == "majority" else DASHES.get(rule, "solid"),
        },
        "marker": {"size": 6},
        "customdata": np.where(np.isfinite(spread), spread, 0.0),
        "hovertemplate": "%{y:.3f}" + hover_spread(spread) + "<extra>" + name + "</extra>",
    }
    if rule == "majority" or not np.isfinite(spread).all():
        return [line]
    around = {
        "type": "scatter",
        **band(x, value - spread, value + spread, colour, 0.16),
        "legendgroup": rule,
        "name": f"{name}, confidence band",
        "showlegend": False,
    }
    return [around, line]


def _two_panels(
    parts: list[pd.DataFrame],
    titles: tuple[str, str],
    x_titles: tuple[str, str],
    **layout: Any,  # noqa: ANN401 - Plotly's properties
) -> go.Figure:
    """Two panels with one legend; one line per rule in each."""
    traces = [
        on_panel(trace, number)
        for number, part in enumerate(parts, start=1)
        for rule in part["rule"].unique()
        for trace in _curve(part[part["rule"] == rule], rule, legend=number == 1)
    ]
    return panels(
        [*traces, *band_key(parts[0])],
        titles,
        [axis(text, tickformat="d", nticks=8) for text in x_titles],
        [axis(tickformat=".2f") for _ in x_titles],
        gap=0.1,
        **layout,
    )


def error_curves(by_step: pd.DataFrame, by_task: pd.DataFrame) -> go.Figure:
    """Return errors by step (mean over the tasks seen) and by task (at the last step) with bands.

    Parameters
    ----------
    by_step, by_task : DataFrame
        From `step_table` and `task_table`.

    Returns
    -------
    Figure
    """
    return _two_panels(
        [by_step, by_task],
        ("Mean error of the tasks seen", "Error at the last step"),
        ("step (tasks learnt)", "task"),
        title="Do errors fall as tasks arrive, and for which tasks?",
        height=400,
        hovermode="x unified",
    )


def task_story(table: pd.DataFrame, task: int, label: str, risk: str = "Minimax risk") -> go.Figure:
    """Return error and minimax risk of one task as steps go by, one line per rule.

    Parameters
    ----------
    table : DataFrame
        From `story_table`.
    task : int
        Task from 1, for the title.
    label : str
        Its name.
    risk : str
        What the rules minimise, for the title of the right panel.

    Returns
    -------
    Figure
    """
    name = "" if label == str(task) else f" ({html.escape(label)})"
    return _two_panels(
        [table[table["quantity"] == quantity] for quantity in ("error", "risk")],
        ("Test error", risk),
        ("step (tasks learnt)", "step (tasks learnt)"),
        title=f"What do later tasks add to task {task}{name}?",
        height=380,
    )
