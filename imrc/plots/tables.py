"""Tidy tables behind the figures: everything a figure shows, computed without drawing."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imrc._checks import check_choice
from imrc._types import Floats
from imrc.evaluation import LagTable, RunResult
from imrc.evaluation.scenarios import REFERENCES
from imrc.evaluation.significance import interval_columns, mean_and_stderr

Quantity = Literal["error", "difference", "risk"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)

LAG_VIEW_ABOVE = 60
"""With more tasks than this a (step, task) cell would be a hairline; the view is then task x lag, unless asked for."""
TRIANGLE_TASKS = 100  #: Tasks and steps of a triangle at most; of more, every q-th is shown.


def _lag_values(table: LagTable, lags: int, stride: int) -> Floats:
    """Return values (repetitions, tasks, lags), settled ones carried forward, NaN beyond the last step, by stride."""
    shown = range(0, lags, stride)
    values = np.stack([table.values[:, ::stride, min(lag, table.lags - 1)] for lag in shown], axis=2)
    reachable = np.arange(0, table.tasks, stride)[:, None] + np.array(shown) < table.tasks
    return np.where(reachable, values, np.nan)


def triangle_stride(tasks: int) -> int:
    """Return q where a triangle shows every q-th task and step.

    >>> triangle_stride(99), triangle_stride(1936)
    (1, 20)
    """
    return -(-tasks // TRIANGLE_TASKS)


def matrix_table(result: RunResult, rule: str, quantity: Quantity = "error", *, triangle: bool = False) -> pd.DataFrame:
    """Return one row per cell of a heatmap: error, error minus that of single tasks (paired over repetitions), or risk.

    Columns task, step, lag (numbers from 1, lag from 0), label, value, stderr, test_samples. Up to 60 tasks one row per
    step >= task; above that one per task and lag 0..b, or with `triangle`, of more than 100 tasks, every q-th of both.
    """
    check_choice("quantity", quantity, QUANTITIES)
    tables = result.risk_tables if quantity == "risk" else result.error_tables
    check_choice("rule", rule, tables)
    by_lag = result.n_tasks > LAG_VIEW_ABOVE and not triangle
    stride = 1 if by_lag else triangle_stride(result.n_tasks)
    lags = result.settings.reach(result.n_tasks) + 1 if by_lag else result.n_tasks
    values = _lag_values(tables[rule], lags, stride)
    if quantity == "difference":
        values = values - _lag_values(tables["single"], lags, stride)
    mean, stderr = mean_and_stderr(values)
    row, column = np.nonzero(np.isfinite(mean))
    task, lag = stride * row, stride * column
    return pd.DataFrame(
        {
            "task": task + 1,
            "step": task + lag + 1,
            "lag": lag,
            "label": np.array(result.labels, dtype=object)[task],
            "value": mean[row, column],
            "stderr": stderr[row, column],
            "test_samples": result.test_samples[task],
        }
    )


def _curve(rule: str, x: NDArray[np.integer], values: Floats) -> pd.DataFrame:
    return pd.DataFrame({"rule": rule, "x": x, **interval_columns(values)})


def _strategies(result: RunResult, references: RunResult | None) -> dict[str, tuple[RunResult, str]]:
    """Return the run and its method behind each strategy."""
    found = {rule: (result, rule) for rule in result.rules}
    if references is None:
        return found
    return found | {name: (references, name) for name in REFERENCES}


def step_table(result: RunResult, references: RunResult | None = None) -> pd.DataFrame:
    """Return the error a run is judged by (`RunResult.measure`) over the tasks seen, for each rule and the references.

    Where a scenario averages one error of each task: the mean of those of the tasks so far. Columns rule, x (step from
    1), value, stderr, half (of the width of the 95 % interval).
    """
    steps, kind = np.arange(1, result.n_tasks + 1), result.scenario.kind
    frames = []
    for name, (run, method) in _strategies(result, references).items():
        if kind == "before":  # nothing is known of the first task
            later = LagTable(run.before_of(method)[:, 1:, None])
            frames.append(_curve(name, steps[1:], later.by_step()))
        else:
            frames.append(_curve(name, steps, run.judged_by_step(method, kind)))
    if references is None and result.measure() == "error":
        frames.append(_curve("majority", steps, result.majority.by_step()))
    return pd.concat(frames, ignore_index=True)


def task_table(result: RunResult, references: RunResult | None = None) -> pd.DataFrame:
    """Return each task's share of wrong answers at the last step for each rule and the references, as `step_table`.

    Where a scenario averages another error of each task, that one. A single task has too few test samples of a rare
    class for a balanced error.
    """
    tasks, kind = np.arange(1, result.n_tasks + 1), result.scenario.kind
    first = 1 if kind == "before" else 0
    found = {name: run.by_task(method, kind) for name, (run, method) in _strategies(result, references).items()}
    if references is None:
        found["majority"] = result.majority.final()
    return pd.concat(
        [_curve(name, tasks[first:], values[:, first:]) for name, values in found.items()], ignore_index=True
    )


def story_table(result: RunResult, task: int, quantity: Literal["error", "risk"]) -> pd.DataFrame:
    """Return error or minimax risk of one task (from 0) as steps go by, columns as `step_table`.

    Steps after the last backward step, where nothing changes any more, are left out except for three.
    """
    tables = result.risk_tables if quantity == "risk" else result.error_tables
    shown = min(result.n_tasks - task, result.settings.reach(result.n_tasks) + 4)
    steps = np.arange(task + 1, task + 1 + shown)
    frames = [_curve(rule, steps, table.story(task)[:, :shown]) for rule, table in tables.items()]
    return pd.concat(frames, ignore_index=True)
