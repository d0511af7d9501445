"""Figures of questions to a run: other blocks, orders and sizes, weights of tasks, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.evaluation import Headline, RunResult
from imrc.evaluation.comparison import IMRC_RULES, curve_table, imrc_key
from imrc.evaluation.settings import BORROWING
from imrc.evaluation.significance import half_width
from imrc.evaluation.what_if import Otherwise
from imrc.plots._drawing import COLOURS, DASHES, Chart, decimals, error_ends, escaped, whiskers, whole_numbers
from imrc.plots.result import add_curves, limits, step_table
from imrc.wording import RULES, capital, signed


def blocks_chart(table: pd.DataFrame, present: int) -> go.Figure:
    """Return the error of each rule against the size of the blocks (`over_blocks`), the rows of a task now marked."""
    by_size, sizes = table.assign(x=table["size"]), sorted(table["size"].unique())
    drawn = Chart("How large should blocks be?", "error of all blocks at the last step", height=400)
    drawn.x("rows in a block", type="log", tickvals=sizes, ticktext=[f"{size:,}" for size in sizes])
    drawn.y("error", **limits(by_size))
    add_curves(drawn, by_size, RULES)
    drawn.band_key(by_size)
    drawn.straight([present, present], limits(by_size)["range"], f"now: {present:,} rows", dash="dot")
    return drawn.figure(ends=True)


def gains_chart(found: Otherwise) -> go.Figure:
    """Return the gain over a single task in the order of arrival and in random order, with intervals."""
    told = "error of learning alone minus that of the rule; bars: 95 % intervals"
    drawn, names, inside = Chart("Does the gain depend on the order of the tasks?", told, height=294), [], [0.0]
    for rule in BORROWING:
        orders = zip(("as they arrive", "random order"), ("circle", "circle-open"), found.gains(rule), strict=True)
        for where, symbol, (gain, low, high) in orders:
            names.append(f"{RULES[rule]},<br>{where}")
            drawn.row(names[-1], gain, (low, high), COLOURS[rule], symbol, f"{signed(gain)} fewer errors")
            inside += [gain, low, high]
    drawn.x("gain over a single task", **decimals(inside, sign=True))
    drawn.names(names)
    drawn.straight([0.0, 0.0], [names[-1], names[0]], "no gain", dash="dot")
    return drawn.figure(legend=False)


def without_chart(found: Otherwise, task: int, labels: Sequence[str]) -> go.Figure:
    """Return by how much the error of every other task rises without one (from 0), with intervals."""
    told, inside = "error without it minus error with it, at the last step; bars: 95 % intervals", [0.0]
    drawn = Chart(f"Which tasks need task {task + 1}?", told, height=400)
    for rule, shift, symbol in zip(BORROWING, (-0.12, 0.12), ("diamond", "circle"), strict=True):
        table = found.by_task(rule)
        if rule == "forward":  # tasks before it were learnt without it anyway
            table = table[table["task"] > task + 1]
        value, low, high = (table[column] for column in ("value", "low", "high"))
        inside += [*low, *value, *high]
        names = escaped(labels[int(one) - 1] for one in table["task"])
        look = {"symbol": symbol, "size": 9, "error_y": whiskers(high - value, value - low, colour=COLOURS[rule])}
        said = {"customdata": names, "said": "%{customdata}: %{y:+.3f}"}
        drawn.dots(table["task"] + shift, value, RULES[rule], COLOURS[rule], **look, **said)
    ends, shown = [0.5, len(labels) + 0.5], decimals(inside, sign=True)
    drawn.straight(ends, [0, 0], width=1, showlegend=False)
    drawn.straight([task + 1, task + 1], shown["range"], "left out", dash="dot")
    drawn.tasks(labels, range=ends)
    drawn.y("rise of the error", **shown)
    return drawn.figure()


def _against_k(result: RunResult) -> pd.DataFrame:
    """Return the error of each rule of the scenario against the number of tasks."""
    if result.scenario.kind != "average":
        table = step_table(result)
        return table[table["rule"].isin(result.rules)]
    rule_of = {imrc_key(result.settings.preset, rule): rule for rule in IMRC_RULES}
    by_k = curve_table([result], by="k")
    return by_k.assign(rule=by_k["method"].map(rule_of))


def budget_chart(by_n: pd.DataFrame, result: RunResult) -> go.Figure:
    """Return two panels: error against n, of `budget_table`, and error of a run that ends after k tasks."""
    by_k = _against_k(result)
    # Learnt all at once, fewer tasks would be another run: its first tasks are shown.
    number = "First k tasks of all" if result.settings.scenario == "multi_task" else "Number of tasks"
    titles = f"{capital(result.measure())}, samples of each task", f"{number}, n = {result.settings.n}"
    drawn = Chart("How much would more labels or more tasks help?", height=420, titles=titles)
    drawn.samples(by_n["x"].unique(), panel=1)
    drawn.x("tasks k", panel=2, **whole_numbers(result.n_tasks, 8))
    drawn.y(**limits(pd.concat([by_n, by_k])))
    for panel, part in enumerate((by_n, by_k), start=1):
        add_curves(drawn, part, by_n["rule"].unique(), panel)
    drawn.band_key(by_n)
    return drawn.figure(share_y=True, ends=True)


_SEEN = 0.002  # Tasks before the first with this weight are not drawn.
_PARTS = {"own samples": ("single", 0), "tasks before it": ("forward", -1), "tasks after it": ("forward_backward", 1)}


def weights_chart(table: pd.DataFrame, task: int) -> go.Figure:
    """Return the weight of every task in the rule of `task` (from 0), of `imrc.evaluation.weights.task_weights`."""
    table = table.iloc[int(np.argmax(table["weight"].to_numpy() >= _SEEN)) :]
    side = np.sign(table["task"].to_numpy() - 1 - task)
    drawn = Chart(f"How much does each task count in the rule of task {task + 1}?", height=330)
    for name, (colour, where) in _PARTS.items():
        part = table[side == where]
        if len(part):
            said = {"customdata": escaped(part["label"]), "said": "task %{x} (%{customdata}): %{y:.1f} %"}
            drawn.bars(part["task"], 100 * part["weight"], name, COLOURS[colour], **said)
    first, last = int(table["task"].iloc[0]), int(table["task"].iloc[-1])
    drawn.tasks(table["label"], first=first, ticks=10, showgrid=False, range=[first - 0.6, last + 0.6])
    drawn.y("weight", ticksuffix=" %", rangemode="tozero")
    return drawn.figure(bargap=0.2)


def reliability_table(result: RunResult) -> pd.DataFrame:
    """Return how often each rule is right against how sure it is, a row per rule and bin that is never empty.

    Columns rule, confidence (mean probability of the answer), accuracy, stderr, half (of the 95 % interval), samples.
    """
    columns = ["rule", "confidence", "accuracy", "stderr", "half", "samples"]
    rows = []
    for rule in result.rules:
        sums = result.reliability.get(rule)
        for samples, confidence, right in () if sums is None else np.moveaxis(sums[:, :, :3], 0, 2):
            if (samples > 0).all():
                found = Headline.of(right / samples)
                half, at = half_width(found.stderr, len(samples)), confidence.sum() / samples.sum()
                rows.append((rule, float(at), found.mean, found.stderr, float(half), int(samples.sum())))
    return pd.DataFrame(rows, columns=columns)


def reliability_chart(table: pd.DataFrame) -> go.Figure:
    """Return accuracy against confidence, per rule, with the line on which probabilities can be taken at their word."""
    drawn = Chart("Can you trust its probabilities?", "below the line: overconfident", height=380)
    drawn.x("probability of the predicted class", **decimals([*table["confidence"], 1.0]))
    ends = error_ends(table["accuracy"], table["half"])
    drawn.y("share of correct predictions", **decimals(np.append(ends, 1.0)))
    drawn.straight([0.0, 1.0], [0.0, 1.0], "perfectly calibrated", width=1, dash=None)
    said = "confidence %{x:.2f}, right %{y:.2f}<br>%{customdata:,} test samples"
    for rule, part in table.groupby("rule", sort=False):
        points = (part[column].to_numpy() for column in ("confidence", "accuracy", "half"))
        look = {"dash": DASHES[str(rule)], "few": math.inf, "customdata": part["samples"], "said": said, "box": ""}
        drawn.curve(points, RULES[str(rule)], COLOURS[str(rule)], 0.15, **look)
    drawn.band_key(table)
    return drawn.figure(ends=True)
