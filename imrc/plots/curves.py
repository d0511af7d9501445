"""Curves with bands: average error by step and by task, and the story of one task."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.evaluation.decision import STRATEGIES
from imrc.evaluation.scenarios import HeadlineKind
from imrc.plots._axes import decimals, error_ends, task_ticks, whole_numbers
from imrc.plots._panels import Traces, axis, band_key, chart, panels
from imrc.plots._style import COLOURS, DASHES, NAMES

_NAMES = STRATEGIES | NAMES
_DASHES = {**DASHES, "majority": "dash", "pooled": "longdashdot"}


def add_curves(traces: Traces, table: pd.DataFrame, rules: Iterable[str] | None = None, panel: int = 1) -> None:
    """Draw the rules of a table, those of the first panel in the legend."""
    for rule in table["rule"].unique() if rules is None else rules:
        _add_curve(traces, table[table["rule"] == rule], rule, panel)


def _add_curve(traces: Traces, table: pd.DataFrame, rule: str, panel: int) -> None:
    """Draw one rule: line with markers, and before it its band where there is one."""
    name = _NAMES.get(rule, html.escape(rule))
    colour = COLOURS.get(rule, COLOURS["reference"])
    x, value, half = (table[column].to_numpy() for column in ("x", "value", "half"))
    own = rule in NAMES
    shown: dict[str, Any] = {"legendgroup": rule, "panel": panel}
    spread = " ± %{customdata:.3f}" if np.isfinite(half).any() else ""
    if own and np.isfinite(half).all():
        said = f"{name}, confidence band"
        traces.band(x, *error_ends(value, half), colour, 0.16, name=said, showlegend=False, **shown)
    traces.add(
        x=x,
        y=value,
        mode="lines+markers" if len(x) <= 40 and own else "lines",
        name=name,
        showlegend=panel == 1,
        line={"color": colour, "width": 2.5 if own else 1.5, "dash": _DASHES.get(rule, "solid")},
        marker={"size": 6},
        customdata=np.where(np.isfinite(half), half, 0.0),
        hovertemplate="%{y:.3f}" + spread + "<extra>" + name + "</extra>",
        **shown,
    )


def limits(table: pd.DataFrame) -> dict[str, Any]:
    """Return range and ticks of the vertical axis for lines with their bands."""
    half = table["half"].where(table["rule"].isin(list(NAMES)))
    return decimals(np.concatenate(error_ends(table["value"], half)))


_PLAIN = {"balanced error": "Plain error"}
_PANELS: dict[HeadlineKind, tuple[str, str]] = {
    "average": ("Mean error of the tasks seen", "Error at the last step"),
    "end": ("Mean error of tasks 1 to k at the end", "Error at the end"),
    "newest": ("Mean error of newest tasks so far", "Error of each newest task"),
    "before": ("Mean error before learning so far", "Error before learning each task"),
}


def error_curves(
    by_step: pd.DataFrame,
    by_task: pd.DataFrame,
    labels: Sequence[str] = (),
    kind: HeadlineKind = "average",
    measure: str = "error",
) -> go.Figure:
    """Return errors by step (mean over the tasks seen) and by task (at the last step) with bands.

    Parameters
    ----------
    by_step, by_task : DataFrame
        From `step_table` and `task_table`.
    labels : sequence of str
        Names of the tasks; empty: they have none.
    kind : {"average", "end", "newest", "before"}
        What the scenario of the run averages.
    measure : str
        What the errors by step are, from `imrc.evaluation.RunResult.measure`; those of single tasks are error rates.

    Returns
    -------
    Figure
    """
    parts = (by_step, by_task)
    labels = labels or [str(task) for task in range(1, int(by_task["x"].max()) + 1)]
    traces = Traces()
    for number, part in enumerate(parts, start=1):
        add_curves(traces, part, panel=number)
    return panels(
        [*traces, *band_key(by_step)],
        (_PANELS[kind][0].replace("error", measure), _PANELS[kind][1].replace("Error", _PLAIN.get(measure, "Error"))),
        [axis("step (tasks learnt)", **whole_numbers(len(labels), 8)), axis("task", **task_ticks(labels, ticks=6))],
        [axis(**limits(part)) for part in parts],
        gap=0.1,
        title="Do errors fall as tasks arrive, and for which tasks?",
        height=420,
        hovermode="x unified",
    )


def task_story(table: pd.DataFrame, task: int, label: str, tasks: int) -> go.Figure:
    """Return the error, or the risk, of one task as steps go by, one line per rule.

    Parameters
    ----------
    table : DataFrame
        From `story_table`, one quantity.
    task : int
        Task from 1, for the title.
    label : str
        Its name.
    tasks : int
        Tasks of the run, for the ticks.

    Returns
    -------
    Figure
    """
    name = "" if label == str(task) else f" ({html.escape(label)})"
    traces = Traces()
    add_curves(traces, table)
    return chart(
        traces + band_key(table),
        axis(f"step (of {tasks})", **whole_numbers(int(table["x"].nunique()), 8)),
        axis(**limits(table)),
        title=f"What do later tasks add to task {task}{name}?",
        height=380,
        hovermode="x unified",
    )
