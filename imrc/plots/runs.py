"""Figures of a whole run, shared by pages and reports."""

from __future__ import annotations

import plotly.graph_objects as go

from imrc.evaluation import RunResult
from imrc.plots._style import NAMES
from imrc.plots.choices import choices_chart, choices_table
from imrc.plots.curves import error_curves, task_story
from imrc.plots.heatmaps import error_heatmaps
from imrc.plots.ladder import ladder_chart, ladder_table
from imrc.plots.tables import Quantity, matrix_table, step_table, story_table, task_table


def run_heatmaps(
    result: RunResult,
    quantity: Quantity = "error",
    risk: str = "minimax risk",
    marked: int | None = None,
    *,
    triangle: bool = False,
) -> go.Figure:
    """Return `error_heatmaps` of the rules of a run; single-task learning is left out of differences to itself."""
    rules = [rule for rule in NAMES if rule in result.rules and not (quantity == "difference" and rule == "single")]
    tables = {rule: matrix_table(result, rule, quantity, triangle=triangle) for rule in rules}
    return error_heatmaps(tables, quantity, risk, marked)


def run_ladder(result: RunResult, marked: int | None = None) -> go.Figure:
    """Return `ladder_chart` of a run."""
    return ladder_chart(ladder_table(result), marked)


def run_curves(result: RunResult, references: RunResult | None = None) -> go.Figure:
    """Return `error_curves` of a run, with its references where they were run."""
    return error_curves(
        step_table(result, references),
        task_table(result, references),
        result.labels,
        result.scenario.kind,
        result.measure(),
    )


def run_story(result: RunResult, task: int, quantity: Quantity = "error") -> go.Figure:
    """Return `task_story` of one task of a run; tasks count from 1."""
    table = story_table(result, task - 1)
    shown = table[table["quantity"] == ("risk" if quantity == "risk" else "error")]
    return task_story(shown, task, result.labels[task - 1], result.n_tasks)


def run_choices(result: RunResult) -> go.Figure:
    """Return `choices_chart` of a run of a recommended preset."""
    return choices_chart(choices_table(result))
