"""Curves with bands: average error by step and by task, and the story of one task."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from imrc.plots._style import COLOURS, DASHES, NAMES, band_outline, finish, rgba

_MAJORITY = "Majority class"
_BANDS = "Confidence bands: ± 2 standard errors"


def _add_curve(
    figure: go.Figure, table: pd.DataFrame, rule: str, *, legend: bool = True, column: int | None = None
) -> None:
    """Draw one rule: line with markers, and its band of two standard errors where there is one."""
    place = {} if column is None else {"row": 1, "col": column}
    name = NAMES.get(rule, _MAJORITY if rule == "majority" else html.escape(rule))
    colour = COLOURS.get(rule, COLOURS["reference"])
    x, value = table["x"].to_numpy(), table["value"].to_numpy()
    spread = 2.0 * table["stderr"].to_numpy()
    if rule != "majority" and np.isfinite(spread).all():
        figure.add_trace(
            go.Scatter(
                **band_outline(x, value - spread, value + spread),
                fillcolor=rgba(colour, 0.16),
                legendgroup=rule,
                name=f"{name}, confidence band",
                showlegend=False,
            ),
            **place,
        )
    few = len(x) <= 40
    figure.add_trace(
        go.Scatter(
            x=x,
            y=value,
            mode="lines+markers" if few and rule != "majority" else "lines",
            name=name,
            legendgroup=rule,
            showlegend=legend,
            line={
                "color": colour,
                "width": 1.5 if rule == "majority" else 2.5,
                "dash": "dash" if rule == "majority" else DASHES.get(rule, "solid"),
            },
            marker={"size": 6},
            customdata=np.where(np.isfinite(spread), spread, 0.0),
            hovertemplate="%{y:.3f} ± %{customdata:.3f}<extra>" + name + "</extra>",
        ),
        **place,
    )


def _band_key(figure: go.Figure, table: pd.DataFrame) -> None:
    """Name the bands in the legend, once for all rules."""
    if np.isfinite(table["stderr"]).any():
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                mode="markers",
                marker={"symbol": "square", "size": 13, "color": "rgba(128,136,150,0.3)"},
                name=_BANDS,
                hoverinfo="skip",
            )
        )


def _panels(titles: tuple[str, str], parts: list[pd.DataFrame]) -> go.Figure:
    """Two panels with one legend; one line per rule in each."""
    figure = make_subplots(rows=1, cols=2, subplot_titles=titles, horizontal_spacing=0.1)
    for column, part in enumerate(parts, start=1):
        for rule in part["rule"].unique():
            _add_curve(figure, part[part["rule"] == rule], rule, legend=column == 1, column=column)
    _band_key(figure, parts[0])
    return figure


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
    figure = _panels(("Mean error of the tasks seen", "Error at the last step"), [by_step, by_task])
    finish(figure, title="Does it get better as tasks arrive, and for which tasks?", height=400)
    figure.update_xaxes(tickformat="d", nticks=8)
    figure.update_xaxes(title_text="step (tasks learnt)", col=1)
    figure.update_xaxes(title_text="task", col=2)
    figure.update_yaxes(tickformat=".2f")
    figure.update_annotations(font_size=14)
    figure.update_layout(margin_t=84, hovermode="x unified")
    return figure


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
    figure = _panels(
        ("Test error", risk),
        [table[table["quantity"] == quantity] for quantity in ("error", "risk")],
    )
    name = "" if label == str(task) else f" ({html.escape(label)})"
    finish(figure, title=f"What do later tasks add to task {task}{name}?", height=380)
    figure.update_xaxes(title_text="step (tasks learnt)", tickformat="d", nticks=8)
    figure.update_yaxes(tickformat=".2f")
    figure.update_annotations(font_size=14)
    figure.update_layout(margin_t=84)
    return figure
