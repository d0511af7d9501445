"""Figures: tidy tables (`imrc.plots.tables`) and builders that turn a table into a Plotly figure."""

from __future__ import annotations

from imrc.plots._drawing import on_dark
from imrc.plots.compare import (
    method_curves,
    method_differences,
    method_errors,
    sample_and_task_curves,
)
from imrc.plots.fitting import describe, on_phone
from imrc.plots.paper import flow_diagram, flow_in_words, ours_against_printed, printed_matrix, running_time_curves
from imrc.plots.result import (
    decision_chart,
    error_heatmaps,
    run_choices,
    run_curves,
    run_heatmaps,
    run_ladder,
    run_story,
)
from imrc.plots.tables import matrix_table, step_table, story_table, task_table
from imrc.plots.tasks import class_balance

__all__ = [
    "decision_chart", "run_heatmaps", "run_ladder", "run_curves", "run_story", "run_choices", "error_heatmaps",
    "method_errors", "method_differences", "method_curves", "sample_and_task_curves",
    "printed_matrix", "ours_against_printed", "flow_diagram", "flow_in_words", "running_time_curves",
    "class_balance", "matrix_table", "step_table", "story_table", "task_table", "describe", "on_dark", "on_phone",
]  # fmt: skip
