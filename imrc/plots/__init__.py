"""Figures: tidy tables (`imrc.plots.tables`) and builders that turn a table into a Plotly figure."""

from __future__ import annotations

from imrc.plots._themes import on_dark
from imrc.plots.classes import class_balance
from imrc.plots.compare import (
    method_curves,
    method_differences,
    method_errors,
    sample_and_task_curves,
)
from imrc.plots.curves import error_curves, task_story
from imrc.plots.describing import describe
from imrc.plots.flow import flow_diagram, flow_in_words
from imrc.plots.heatmaps import error_heatmaps
from imrc.plots.paper import ours_against_printed, printed_matrix
from imrc.plots.running_time import running_time_curves
from imrc.plots.stacking import on_phone
from imrc.plots.tables import matrix_table, step_table, story_table, task_table

__all__ = [
    "class_balance",
    "describe",
    "on_dark",
    "on_phone",
    "error_curves",
    "method_curves",
    "method_differences",
    "method_errors",
    "sample_and_task_curves",
    "error_heatmaps",
    "flow_diagram",
    "flow_in_words",
    "matrix_table",
    "ours_against_printed",
    "printed_matrix",
    "running_time_curves",
    "step_table",
    "story_table",
    "task_story",
    "task_table",
]
