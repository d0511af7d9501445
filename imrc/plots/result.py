"""Tidy tables and figures of a run: strategies, heatmaps, ladder, curves, the story of a task, shares of candidates."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from imrc._checks import check_choice
from imrc._types import Floats
from imrc.evaluation import LagTable, RunResult
from imrc.evaluation.settings import REFERENCES, STRATEGY_TITLES, HeadlineKind
from imrc.evaluation.significance import interval_columns, mean_and_stderr
from imrc.plots import _drawing
from imrc.plots._drawing import COLOURS, DIFFERENCE, SCALE, Chart, decimals, escaped, task_ticks, whole_numbers
from imrc.wording import RULES, SHORT_RULES, decimal, with_spread

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
    """Return q where a triangle shows every q-th task and step."""
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
    known = steps[1:] if kind == "before" else steps  # before learning, nothing is known of the first task
    runs = _strategies(result, references)
    frames = [_curve(name, known, run.judged_by_step(method, kind)) for name, (run, method) in runs.items()]
    if references is None and result.measure() == "error":
        frames.append(_curve("majority", steps, result.majority.by_step()))
    return pd.concat(frames, ignore_index=True)


def task_table(result: RunResult, references: RunResult | None = None) -> pd.DataFrame:
    """Return each task's share of wrong answers at the last step for each rule and the references, as `step_table`.

    Where a scenario averages another error of each task, that one. One has too few rows of a rare class to balance.
    """
    tasks, kind = np.arange(1, result.n_tasks + 1), result.scenario.kind
    first = 1 if kind == "before" else 0
    found = {name: run.by_task(method, kind) for name, (run, method) in _strategies(result, references).items()}
    if references is None:
        found["majority"] = result.majority.final()
    return pd.concat(
        [_curve(name, tasks[first:], values[:, first:]) for name, values in found.items()], ignore_index=True
    )


def decision_chart(errors: pd.DataFrame, measure: str = "error") -> go.Figure:
    """Return errors of the strategies with 95 % intervals, simplest at the top, lowest in bold, advised with a tick.

    `errors` are those of a report (`Report.errors`), and `measure` is what they are.
    """
    numbers, names, best = [], [], int(errors["error"].to_numpy().argmin())
    known = bool(np.isfinite(errors[["low", "high"]]).all(axis=None))
    key = f"{measure}, {'95 % intervals' if known else 'one repetition'}"
    key += " · ✓ advised" * bool(errors["advised"].any())
    drawn = Chart("What could you do?", key, height=84 + 36 * len(errors))
    drawn.x(**decimals(errors[["error", "low", "high"]], ticks=3))
    for one in errors.itertuples():
        names.append("<br>".join(escaped(textwrap.wrap(one.title, 20))))
        number, symbol = decimal(one.error), "diamond" if one.strategy in ("majority", "pooled") else "circle"
        said = f"{number}<br>95 % interval {decimal(one.low)} to {decimal(one.high)}" if known else number
        colour = COLOURS.get(one.strategy, COLOURS["reference"])
        drawn.row(names[-1], one.error, (one.low, one.high), colour, symbol, said)
        # The numbers are in a column of their own, where no interval covers them.
        text = (f"<b>{number}</b>" if one.Index == best else number) + " ✓" * one.advised
        place = {"x": 1.0, "xref": "paper", "y": names[-1], "yref": "y", "xanchor": "left", "xshift": 6}
        numbers.append({**place, "showarrow": False, "text": text, "font": {"size": 14}})
    drawn.names(names)
    return drawn.figure(legend=False, annotations=numbers, below=30, margin={"r": 68})


QUANTITY_TITLES: dict[Quantity, str] = {
    "error": "Where are the errors?",
    "difference": "Where does transfer help?",
    "risk": "What does each rule promise?",
}


def _range(values: Floats, quantity: Quantity) -> tuple[float, float]:
    if quantity == "difference":
        largest = max(float(np.abs(values).max()), 0.01)
        return -largest, largest
    # A risk can be negative: with an early-stopped solver or an empty uncertainty set nothing keeps it above 0.
    low = np.floor(float(values.min()) * 20) / 20
    return low, max(np.ceil(float(values.max()) * 20) / 20, low + 0.05)


def _hover(table: pd.DataFrame, unit: str) -> list[str]:
    return [
        f"<b>Task {row.task}</b> ({html.escape(str(row.label))})<br>step {row.step}, {row.lag} tasks later"
        f"<br>{unit} {with_spread(row.value, row.stderr)}"
        + (f"<br>{row.test_samples} test samples" if "test_samples" in table else "")  # else not known
        for row in table.itertuples()
    ]


def error_heatmaps(
    tables: Mapping[str, pd.DataFrame], quantity: Quantity = "error", risk: str = "minimax risk"
) -> go.Figure:
    """Return heatmaps side by side with one colour scale, from `matrix_table` or `ErrorMatrix.table` by rule.

    Rows with step = task + lag for all later steps, or for every q-th, give the triangle (rows: task, columns: step);
    otherwise columns are lags. `risk` names that quantity.
    """
    unit = {"error": "error", "difference": "difference to alone", "risk": risk}[
        check_choice("quantity", quantity, QUANTITY_TITLES)
    ]
    first = next(iter(tables.values()))
    tasks = int(first["task"].max())
    by_lag = int(first["lag"].max()) < tasks - 1
    column, text = ("lag", "lag: tasks learnt since then") if by_lag else ("step", "step")
    row_at, column_at = np.unique(first["task"]), np.unique(first[column])
    half = 0.5 * (int(row_at[1] - row_at[0]) if len(row_at) > 1 else 1)
    scale = DIFFERENCE if quantity == "difference" else SCALE
    gaps = {"xgap": int(len(column_at) <= 30), "ygap": int(tasks <= 30)}
    # In the subtitle: a horizontal colour bar leaves no room for the name of its unit.
    title, told = QUANTITY_TITLES[quantity], f"colour: {html.escape(unit)}" if quantity != "error" else ""
    titles = [SHORT_RULES.get(rule, html.escape(rule)) for rule in tables]
    drawn = Chart(title, told, height=310 if tasks <= 20 else 370 if tasks <= 30 else 530, titles=titles)
    for number, table in enumerate(tables.values(), start=1):
        grid = np.full((len(row_at), len(column_at)), np.nan)
        place = np.searchsorted(row_at, table["task"]), np.searchsorted(column_at, table[column])
        texts = np.full(grid.shape, "", dtype=object)
        grid[place], texts[place] = table["value"], _hover(table, unit)
        drawn.cells(column_at, row_at, grid, scale, panel=number, text=texts, hoverinfo="text", **gaps)
    room = 0.5 if by_lag else half
    ends = [column_at[0] - room, column_at[-1] + room]
    drawn.x(range=ends, showgrid=False, **whole_numbers(len(column_at), 3))
    drawn.x(text, panel=(len(tables) + 1) // 2)
    # Names are at tasks that follow each other.
    ticks = task_ticks(first.drop_duplicates("task")["label"].tolist(), ticks=4, down=True) if half == 0.5 else {}
    drawn.y("task", range=[tasks + half, row_at[0] - half], showgrid=False, **ticks)
    low, high = _range(np.concatenate([table["value"] for table in tables.values()]), quantity)
    drawn.colours(scale, low, high, **_drawing.bar_below(low, high, ticks=5, sign=quantity == "difference", len=0.6))
    return drawn.figure(gap=0.025, share_y=True, legend=False, above=72, below=88)


def run_heatmaps(
    result: RunResult, quantity: Quantity = "error", risk: str = "minimax risk", *, triangle: bool = False
) -> go.Figure:
    """Return `error_heatmaps` of the rules of a run; single-task learning is left out of differences to itself."""
    rules = [rule for rule in RULES if rule in result.rules and not (quantity == "difference" and rule == "single")]
    tables = {rule: matrix_table(result, rule, quantity, triangle=triangle) for rule in rules}
    return error_heatmaps(tables, quantity, risk)


_RUNGS = {
    "single": ("Alone", "line-ns"),
    "forward": ("When learnt (forward)", "circle-open"),
    "forward_backward": ("Now (forward and backward)", "circle"),
}


def run_ladder(result: RunResult) -> go.Figure:
    """Return a rung per task, from its error when learnt to that now, the error alone beside it."""
    errors = {rule: result.error_tables[rule].final().mean(axis=0) for rule in _RUNGS}
    tasks = np.arange(1, result.n_tasks + 1)
    few, gap = len(tasks) <= 60, np.full(len(tasks), np.nan)
    height = int(np.clip(190 + 15 * len(tasks), 300, 560))
    drawn = Chart("What did each task gain?", "left is better", height=height)
    drawn.x(_PLAIN.get(result.measure(), "Error").lower(), **decimals(list(errors.values())))
    ticks = {"dtick": 1 if len(tasks) <= 25 else None} | task_ticks(result.labels, ticks=25, down=True)
    drawn.y("task", range=[len(tasks) + 0.7, 0.3], **ticks)
    rungs = np.column_stack([errors["forward"], errors["forward_backward"], gap]).ravel()
    look, colour = {"width": 3 if few else 1, "dash": None}, _drawing.rgba(COLOURS["forward_backward"], 0.5)
    drawn.straight(rungs, np.column_stack([tasks, tasks, gap]).ravel(), "", colour, showlegend=False, **look)
    texts = [
        f"<b>Task {task}</b> ({label})<br>"
        + "<br>".join(f"{title}: {decimal(errors[rule][task - 1])}" for rule, (title, _) in _RUNGS.items())
        for task, label in zip(tasks, escaped(result.labels), strict=True)
    ]
    for rule, (title, symbol) in _RUNGS.items():
        # Around the filled circle, the open one is seen where both are the same.
        own = {"symbol": symbol, "size": (14 if rule == "forward" else 10) if few else 4, "edge": 2}
        drawn.dots(errors[rule], tasks, title, COLOURS[rule], text=texts, hoverinfo="text", **own)
    return drawn.figure()


def add_curves(drawn: Chart, table: pd.DataFrame, rules: Iterable[str] | None = None, panel: int = 1) -> None:
    """Draw the rules of a table: a line each, before it its band if any."""
    names, dashes = STRATEGY_TITLES | RULES, {**_drawing.DASHES, "majority": "dash", "pooled": "longdashdot"}
    for rule in table["rule"].unique() if rules is None else rules:
        x, value, half = (table.loc[table["rule"] == rule, column].to_numpy() for column in ("x", "value", "half"))
        own = rule in RULES
        look = {"width": 2.5, "few": 40} if own else {"width": 1.5, "customdata": list(map(with_spread, value, half))}
        name, colour = names.get(rule, html.escape(rule)), COLOURS.get(rule, COLOURS["reference"])
        shown = {"dash": dashes.get(rule, "solid"), "panel": panel, **look}
        drawn.curve((x, value, half if own else half * np.nan), name, colour, 0.16, **shown)


def limits(table: pd.DataFrame) -> dict[str, Any]:
    """Return range and ticks of the vertical axis for lines with their bands."""
    half = table["half"].where(table["rule"].isin(list(RULES))) if "rule" in table else table["half"]
    return decimals(np.concatenate(_drawing.error_ends(table["value"], half)))


_PLAIN = {"balanced error": "Plain error"}
_PANELS: dict[HeadlineKind, tuple[str, str]] = {
    "average": ("Mean error of the tasks seen", "Error at the last step"),
    "end": ("Mean error of tasks 1 to k at the end", "Error at the end"),
    "newest": ("Mean error of newest tasks so far", "Error of each newest task"),
    "before": ("Mean error before learning so far", "Error before learning each task"),
}


def run_curves(result: RunResult, references: RunResult | None = None) -> go.Figure:
    """Return errors by step (mean over the tasks seen) and by task (at the last step) with bands, with references."""
    parts = step_table(result, references), task_table(result, references)
    labels, titles, measure = result.labels, _PANELS[result.scenario.kind], result.measure()
    heads = titles[0].replace("error", measure), titles[1].replace("Error", _PLAIN.get(measure, "Error"))
    drawn = Chart("Do errors fall as tasks arrive, and for which tasks?", height=420, titles=heads)
    drawn.x("step (tasks learnt)", panel=1, **whole_numbers(len(labels), 8))
    drawn.x("task", panel=2, **task_ticks(labels, ticks=6))
    for number, part in enumerate(parts, start=1):
        drawn.y(panel=number, **limits(part))
        add_curves(drawn, part, panel=number)
    drawn.band_key(parts[0])
    return drawn.figure(gap=0.1, ends=True, hovermode="x unified")


def run_story(result: RunResult, task: int) -> go.Figure:
    """Return the error of one task, from 1, as steps go by, one line per rule.

    Steps after the last backward step, where nothing changes any more, are left out except for three.
    """
    last = min(result.n_tasks, task + result.settings.reach(result.n_tasks) + 3)
    steps, tables = np.arange(task, last + 1), result.error_tables
    stories = {rule: one.story(task - 1)[:, : len(steps)] for rule, one in tables.items()}
    table = pd.concat([_curve(rule, steps, story) for rule, story in stories.items()], ignore_index=True)
    label = result.labels[task - 1]
    name = "" if label == str(task) else f" ({html.escape(label)})"
    drawn = Chart(f"What do later tasks add to task {task}{name}?", height=380)
    drawn.x(f"step (of {result.n_tasks})", **whole_numbers(int(table["x"].nunique()), 8))
    drawn.y(**limits(table))
    add_curves(drawn, table)
    drawn.band_key(table)
    return drawn.figure(ends=True, hovermode="x unified")


RATES = {
    "rate 0": ("All tasks alike", COLOURS["pooled"]),
    "rate 0.1": ("Slow change (ρ\u00a0=\u00a0.1)", "#56B4E9"),
    "rate 1": ("Fast change (ρ\u00a0=\u00a01)", "#CC79A7"),
    "rate inf": ("The task alone", COLOURS["single"]),
}
"""Names and colours of the rates of change that the recommended preset follows side by side."""


def run_choices(result: RunResult) -> go.Figure:
    """Return the share of each rate of change in the rules of tasks so far, step by step, mean over repetitions."""
    drawn = Chart("How fast did the method assume that tasks change?", height=310)
    steps = np.arange(1, result.n_tasks + 1)
    drawn.x("step (tasks learnt)", tickformat="d", nticks=8)
    drawn.y("share in the rules", range=[-0.05, 1.05], tickvals=[0, 0.5, 1], ticktext=["0 %", "50 %", "100 %"])
    for name, (title, colour) in RATES.items():
        if name in result.choices:
            drawn.line(steps, result.choices[name].mean(axis=0), title, colour, few=40)
    return drawn.figure(ends=True)
