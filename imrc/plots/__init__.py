"""Figures: one function for each picture of the app, most of them from a tidy table of `imrc.plots.result`."""

from __future__ import annotations

from imrc.plots._drawing import on_dark
from imrc.plots.against_others import method_curves, method_differences, method_errors, sample_and_task_curves
from imrc.plots.ess import bound_chart, ess_by_task, ess_curves, ess_parts_chart, plan_chart
from imrc.plots.evolving import (
    change_chart,
    changed_images,
    changed_panels,
    component_chart,
    distance_heatmap,
    model_gaps,
    pacf_panels,
    power_chart,
    variogram_chart,
    watch_chart,
)
from imrc.plots.fitting import describe, on_phone
from imrc.plots.paper import flow_diagram, flow_in_words, printed_matrix, running_time_curves, window_curves
from imrc.plots.result import (
    decision_chart,
    error_heatmaps,
    matrix_table,
    run_choices,
    run_curves,
    run_heatmaps,
    run_ladder,
    run_story,
)
from imrc.plots.tasks import class_balance, image_strip, moving_clouds
from imrc.plots.what_if import blocks_chart, budget_chart, gains_chart, reliability_chart, weights_chart, without_chart

__all__ = [
    "describe", "on_dark", "on_phone",
    "decision_chart", "error_heatmaps", "run_heatmaps", "run_ladder", "run_curves", "run_story", "run_choices",
    "method_errors", "method_differences", "method_curves", "sample_and_task_curves",
    "pacf_panels", "variogram_chart", "distance_heatmap", "change_chart", "model_gaps", "component_chart",
    "power_chart", "changed_panels", "changed_images", "watch_chart",
    "ess_curves", "ess_by_task", "ess_parts_chart", "bound_chart", "plan_chart",
    "blocks_chart", "gains_chart", "without_chart", "budget_chart", "weights_chart", "reliability_chart",
    "printed_matrix", "window_curves", "flow_diagram", "running_time_curves",
    "image_strip", "moving_clouds", "class_balance",
]  # fmt: skip
