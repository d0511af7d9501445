"""Figures of the diagnosis: how tasks change, what changed, how well kinds are recognised, the alarm."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc._types import Floats
from imrc.diagnostics import VERDICTS, Assessment, PartialAutocorrelation
from imrc.diagnostics.assessment import step_changes
from imrc.diagnostics.changed import SHIFTS, Changed, moves
from imrc.diagnostics.power import SIMULATED
from imrc.plots import _drawing
from imrc.plots._drawing import COLOURS, DATA, DIFFERENCE, SCALE, Chart, decimals, escaped, whole_numbers
from imrc.plots.tasks import QUIET, image_side, mosaic, mosaic_rows
from imrc.watch import first_alarm
from imrc.wording import RULES

GROUP_NAMES = {name: term.title for name, term in VERDICTS.items()} | {
    "no_change": "no change",
    "iid": "independent (i.i.d.-like)",
}
CELLS = 200  #: Largest number of rows of the distance heatmap; longer sequences are averaged in blocks.


def _ratio_text(result: Assessment) -> str:
    """Return the estimated change in the units of the charts: averages over all samples of a task."""
    if result.change is None:
        return ""
    samples = "" if result.n is None else f" at n = {result.n:.0f} (all)"
    return f"n ρ = {result.change.ratio:.2g}{samples}"


_SPREAD = "± standard deviation over components (not an error bar)"
_NO_ORDER = "95 % of the averages if the order did not matter"


def pacf_panels(by_title: Mapping[str, PartialAutocorrelation]) -> go.Figure:
    """Return averaged partial autocorrelations by title side by side, as in the last figure of the paper."""
    drawn = Chart("Are neighbouring tasks alike?", height=420, titles=list(by_title))
    drawn.x("lag (tasks)", **whole_numbers(max(len(pacf.lags) for pacf in by_title.values()), 10))
    inside: list[Floats] = []
    for panel, pacf in enumerate(by_title.values(), start=1):
        x = pacf.lags.astype(np.float64)
        # A single lag is as wide as a bar.
        wide, times = (x, 1) if len(x) > 1 else (np.array([0.7, 1.3]), 2)
        bands = [(pacf.mean - pacf.std, pacf.mean + pacf.std, DATA, 0.15, _SPREAD)]
        if pacf.low is not None and pacf.high is not None:
            bands.append((pacf.low, pacf.high, COLOURS["single"], 0.45, _NO_ORDER))
        for low, high, colour, alpha, name in bands:
            ends = np.repeat(low, times), np.repeat(high, times)
            drawn.band(wide, ends, colour, alpha, name=name, panel=panel)
            inside += ends
        look = {"width": 2.5, "few": math.inf, "marker": {"size": 8}, "said": "lag %{x}: %{y:.3f}"}
        drawn.line(x, pacf.mean, "average over components", DATA, panel=panel, **look)
        drawn.straight(wide[[0, -1]], [0, 0], "", None, width=1, showlegend=False, panel=panel)
    drawn.y("partial autocorrelation", **decimals(np.concatenate(inside)))
    return drawn.figure(gap=0.2 / len(by_title), share_y=True)


def variogram_chart(result: Assessment) -> go.Figure:
    """Return the variogram with what independent orders and the fitted random walk would give."""
    curve, drawn = result.variogram, Chart("Does the distance between tasks grow with time?", height=420)
    drawn.x("lag (tasks)", rangemode="tozero", **whole_numbers(0 if curve is None else len(curve.lags)))
    drawn.y("squared distance / noise of one average")
    if curve is None:
        return drawn.figure()
    inside = [np.append(curve.gamma, 0.0)]
    if curve.envelope_lags is not None and curve.low is not None and curve.high is not None:
        at, name = curve.envelope_lags.astype(np.float64), "95 % of the orders if the order did not matter (flat)"
        drawn.band(at, (curve.low, curve.high), COLOURS["single"], 0.35, name=name)
        inside += [curve.low, curve.high]
    look = {"width": 2.5, "few": 60, "customdata": curve.pairs, "said": "lag %{x}: %{y:.3g}<br>%{customdata} pairs"}
    drawn.line(curve.lags, curve.gamma, "distance minus noise, mean over pairs", DATA, **look)
    if result.change is not None:
        last, name = curve.lags[-1], f"random walk, {_ratio_text(result)}"
        drawn.straight([0, last], [0, result.change.ratio * last], name, COLOURS["forward"], width=2)
        top, bottom = np.max(np.concatenate(inside)), np.min(np.concatenate(inside))
        room = 0.08 * max(top - bottom, 1e-9)
        drawn.y(range=[bottom - room, top + 2 * room])
    return drawn.figure()


def _blocks(distance: Floats) -> tuple[Floats, int]:
    """Average a long distance matrix in blocks; the diagonal is left out of the averages."""
    k, values = len(distance), distance.copy()
    np.fill_diagonal(values, np.nan)
    size = math.ceil(k / CELLS)
    if size == 1:
        return values, 1
    count = k // size
    cut = values[: count * size, : count * size].reshape(count, size, count, size)
    return np.asarray(np.nanmean(cut, axis=(1, 3))), size


def distance_heatmap(result: Assessment) -> go.Figure:
    """Return squared distances of tasks minus noise, diagonal blank; averages over blocks above 200 tasks."""
    values, size = _blocks(result.distance)
    start = 1 + size * np.arange(len(values))
    names = [f"tasks {a} to {a + size - 1}" for a in start.tolist()]
    if size == 1:
        names = [f"task {a} ({label})" for a, label in enumerate(escaped(result.labels), start=1)]
    finite = values[np.isfinite(values)]
    top = max(float(np.quantile(finite, 0.99)) if finite.size else 1.0, 1e-9)
    pairs = np.array([[f"{a}<br>{b}" for a in names] for b in names], dtype=object)
    both: dict[str, Any] = {"constrain": "domain", "showgrid": False}
    drawn = Chart("Which tasks are alike?", height=460)
    drawn.tasks(result.labels, ticks=3, tickangle=0, **both)
    drawn.y("task", autorange="reversed", scaleanchor="x", **both, **_drawing.task_ticks(result.labels, down=True))
    drawn.colours(SCALE, 0.0, top, title={"text": "distance²<br>/ noise"})
    drawn.cells(start, start, values, SCALE, customdata=pairs, said="%{customdata}<br>distance %{z:.3g}")
    return drawn.figure(legend=False)


def change_chart(result: Assessment) -> go.Figure:
    """Return the change at each step (`step_changes`) with the common estimate n ρ, and where steps would be."""
    table, drawn = step_changes(result), Chart("When do the tasks change?", height=380)
    drawn.tasks(table["label"], "step to task", first=2)
    drawn.y("squared change / noise of one average")
    x, change, low, high, noise = (table[one].to_numpy(float) for one in ("task", "change", "low", "high", "noise_se"))
    if result.change is not None and len(x) > 1:
        drawn.band(x, (low, high), COLOURS["forward"], 0.25, name="95 % of single steps at this rate")
    if len(x) > 1:
        name = "95 % of steps if nothing changed"
        drawn.band(x, (-1.96 * noise, 1.96 * noise), COLOURS["single"], 0.35, name=name)
    if result.change is not None:
        name = f"mean of all steps at this rate, {_ratio_text(result)}"
        drawn.straight(x[[0, -1]], [result.change.ratio] * 2, name, COLOURS["forward"], width=2.5)
    look = {"width": 1.5 if len(x) <= 150 else 1, "few": 150, "marker": {"size": 7}}
    said = {"customdata": escaped(table["label"]), "said": "step to task %{x} (%{customdata})<br>%{y:.3g}"}
    drawn.line(x, change, "change of the averages minus noise", DATA, **look, **said)
    return drawn.figure()


def model_gaps(result: Assessment) -> go.Figure:
    """Return the BIC of the best model of each kind minus that of the best overall; a root scale shows small gaps."""
    gaps = dict(sorted(result.gaps.items(), key=lambda item: -item[1]))
    named = {result.verdict.name, result.verdict.second}
    drawn = Chart("Which kind of change fits best?", height=460)
    # Room at the left: the dot of the best, at 0, must not cover its name.
    scale = math.sqrt(max([*gaps.values(), 1.0]))
    drawn.x("BIC above the best (root scale)", showticklabels=False, range=[-0.05 * scale, 1.25 * scale])
    drawn.y(categoryorder="array", categoryarray=[GROUP_NAMES[group] for group in gaps])
    for inside, name, rule in (
        (True, "named in the verdict", "forward_backward"),
        (False, "other kinds of change", "single"),
    ):
        chosen = {GROUP_NAMES[group]: gap for group, gap in gaps.items() if (group in named) == inside}
        x, y, values = list(map(math.sqrt, chosen.values())), list(chosen), list(chosen.values())
        if chosen:
            look = {"orientation": "h", "width": 0.12, "showlegend": False, "hoverinfo": "skip"}
            drawn.bars(x, y, "", COLOURS[rule], **look)
            # A dot at the end: the best has a bar of length 0.
            texts = [f"   {gap:.1f}" if gap < 100 else f"   {gap:,.0f}" for gap in values]
            look = {"size": 15, "text": texts, "textposition": "middle right", "cliponaxis": False}
            said = {"customdata": values, "said": "%{y}: %{customdata:.1f} above the best"}
            drawn.dots(x, y, name, COLOURS[rule], mode="markers+text", **look, **said)
    return drawn.figure()


def component_chart(table: pd.DataFrame, name: str) -> go.Figure:
    """Return one component over the tasks, of `component_tracks`: averages with bars, forward and smoothed bands."""
    drawn = Chart("How do single components change?", height=420)
    drawn.tasks(table["label"])
    drawn.y(html.escape(name))
    x, few = table["task"].to_numpy(dtype=np.float64), len(table) <= 150
    for column, rule, dash in (("forward", "forward", "dash"), ("smooth", "forward_backward", "solid")):
        value, se = table[column].to_numpy(), table[f"{column}_se"].to_numpy()
        label, colour = RULES[rule].lower(), COLOURS[rule]
        drawn.band(x, (value - se, value + se), colour, 0.22, name=f"{label}, band ± √s")
        drawn.line(x, value, label, colour, dash=dash, said="%{y:.4g}", box=label)
    label, colour = "sample average ± √s" if few else "sample average", COLOURS["single"]
    look = {"size": 7 if few else 3, "error_y": _drawing.whiskers(table["mean_se"], colour=colour) if few else None}
    said = {"customdata": escaped(table["label"]), "said": "task %{x} (%{customdata})<br>average %{y:.4g}"}
    drawn.dots(x, table["mean"], label, colour, **look, **said)
    return drawn.figure()


_ANSWERS = {
    "named": ("this kind", "#0072B2"),
    "two": ("two kinds", "#56B4E9"),
    "another": ("another kind", "#D55E00"),
    "nothing": ("no change or no order", "#9AA1AC"),
}
_WRITTEN = 10.0  # Percentages below are too narrow for their number.


def power_chart(table: pd.DataFrame, here: Sequence[str | None] = ()) -> go.Figure:
    """Return one bar for each kind a sequence could be of, divided by the verdicts on it.

    `table` is from `power_table`; kinds named `here` are in bold.
    """
    names = [f"<b>{SIMULATED[kind][1]}</b>" if kind in here else SIMULATED[kind][1] for kind in table["kind"]]
    drawn = Chart("How often would each kind be recognised?", height=150 + 32 * len(names))
    drawn.x("verdicts on 100 simulated sequences", range=[0, 100], tickvals=[0, 25, 50, 75, 100])
    drawn.names(names, "really")
    for column, (name, colour) in _ANSWERS.items():
        texts = [f"{value:.0f}" if value >= _WRITTEN else "" for value in table[column]]
        look = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "orientation": "h"}
        ink = {"color": "#FFFFFF" if column in ("named", "another") else "#14181F"}
        said = f"%{{y}}: {name} in %{{x:.0f}} of 100"
        drawn.bars(table[column], names, name, colour, said, text=texts, textfont=ink, **look)
    return drawn.figure(barmode="stack", bargap=0.25)


PER_ROW = 3
_ROWS = 3  # Classes whose images are shown.
_LONGEST = 30


def changed_panels(result: Changed) -> go.Figure:
    """Return the three largest changes over the tasks, with what no change would be."""
    drawn = Chart("What changed most?", height=360)
    for panel, row in enumerate(range(min(PER_ROW, len(result.table))), start=1):
        kind, c, column = (result.table.loc[row, name] for name in ("kind", "class_index", "column_index"))
        values, errors = moves(result.counted, kind, int(c))
        value, error = (part[:, int(c if kind == "label" else column)] for part in (values, errors))
        there = np.flatnonzero(np.isfinite(value))
        x, value, error = there + 1.0, value[there], error[there]
        name = html.escape(_drawing.short(result.row_name(row), _LONGEST))
        drawn.titles.append(f"{name}<br><span style='font-size:12px'>{SHIFTS[kind]}</span>")
        drawn.y("share" if "share of" in drawn.titles[-1] else "average", panel)
        level = float(np.average(value, weights=1.0 / np.maximum(error, 1e-12) ** 2))
        ends = value - 1.96 * error, value + 1.96 * error
        drawn.band(x, ends, DATA, 0.2, name="95 % interval of each task", panel=panel)
        drawn.straight([1, result.k], [level, level], "mean of all tasks", panel=panel)
        labels = escaped(result.labels[i] for i in there)
        said = {"customdata": labels, "said": "task %{x} (%{customdata}): %{y:.3g}"}
        drawn.line(x, value, "average of the task", DATA, few=60, **said, panel=panel)
    drawn.tasks(result.labels, ticks=4)
    return drawn.figure(gap=0.09, above=100, title_size=13)


def changed_images(result: Changed) -> go.Figure | None:
    """Return average images by class in the first and last third of the tasks, and differences; None without images."""
    side = image_side(result.columns)
    if side is None:
        return None
    counted, third = result.counted, max(1, result.k // 3)
    spread = np.sqrt((counted.n.sum(axis=0)[:, None] * counted.variance).sum(axis=0) / counted.n.sum())
    classes = sorted(np.argsort(-counted.n.sum(axis=0), kind="stable")[:_ROWS].tolist())
    early, late = (
        (counted.n[part][:, classes, None] * counted.mean[part][:, classes]).sum(axis=0)
        / np.maximum(counted.n[part][:, classes].sum(axis=0), 1.0)[:, None]
        for part in (slice(third), slice(-third, None))
    )
    moved = np.divide(late - early, spread, out=np.zeros(early.shape), where=spread > 0)
    averages = mosaic(np.stack([early, late], axis=1).reshape(len(classes), 2, side, side))
    change = mosaic(moved.reshape(len(classes), 1, side, side))
    most, middle = max(float(np.nanmax(np.abs(change))), 1e-9), (side - 1) / 2
    down = mosaic_rows((result.classes[c] for c in classes), side)
    names = [f"tasks 1 to {third}", f"tasks {result.k - third + 1} to {result.k}"] if third > 1 else ["first", "last"]
    titles, brightest = ("Average image", "Late less early"), float(np.nanmax(averages))
    drawn = Chart("What do the classes look like early and late?", height=110 + 115 * len(classes), titles=titles)
    drawn.x(**QUIET)
    drawn.x(panel=1, tickvals=[middle, middle + side + 1], ticktext=names)
    drawn.x(panel=2, showticklabels=False)
    drawn.y(panel=1, scaleanchor="x", **down)
    drawn.y(panel=2, scaleanchor="x2", **{**down, "showticklabels": False})
    drawn.colours(DIFFERENCE, -most, most, title={"text": "change in sd"})
    drawn.cells(None, None, averages, None, zmax=brightest, said="average %{z:.3g}")
    drawn.cells(None, None, change, DIFFERENCE, said="change %{z:+.2f} sd", panel=2)
    return drawn.figure(gap=0.08, legend=False)


_ALARM = "#D55E00"
_LEAST, _MOST = 1e-2, 1e8  # Evidence is drawn between these limits, beyond which it means the same.


def watch_chart(story: pd.DataFrame, alpha: float = 0.05) -> go.Figure:
    """Return three panels from `watch_story`: evidence of a change, its size, errors before and after learning."""
    x, alarm, last = story["task"].to_numpy(), first_alarm(story, alpha), int(story["task"].iloc[-1])
    labels, lit = np.array(escaped(story["label"]), dtype=object), story["unusual"].to_numpy(dtype=bool)
    evidence, change = np.clip(story["evidence"].to_numpy(), _LEAST, _MOST), story["change"].to_numpy()
    ends, said = [1.5, last + 0.5], "task %{x} (%{customdata}): "
    titles = "Evidence of a change", "Size of the change, d² / σ²", "Error of the newest task"
    drawn = Chart("Would an alarm have gone off?", height=380, titles=titles)
    drawn.tasks(story["label"], first=2, ticks=4, range=ends)
    look = {"customdata": labels, "few": 60}
    drawn.line(x, evidence, "evidence", DATA, said=said + "%{y:.3g}", **look)
    drawn.straight(ends, [1.0 / alpha] * 2, f"alarm, from {1.0 / alpha:g}", _ALARM)
    if alarm is not None:
        at = {"symbol": "diamond", "size": 12, "showlegend": False, "said": "alarm at task %{x}"}
        drawn.dots([alarm], evidence[x == alarm], f"alarm at task {alarm}", _ALARM, **at)
    for where, name, colour in ((~lit, "change", COLOURS["reference"]), (lit, "more than usual", "#CC79A7")):
        if where.any():
            shown = {"customdata": labels[where], "said": f"step to {said}%{{y:.3g}}", "panel": 2}
            drawn.bars(x[where], change[where], name, colour, **shown)
    for column, rule, dash in (("before", "single", "dot"), ("after", "forward", "solid")):
        shown = {"said": said + "%{y:.3f}", "box": f"{column} learning it", "panel": 3, **look}
        drawn.line(x, story[column], f"{column} learning it", COLOURS[rule], dash=dash, **shown)
    top = max(2.0 / alpha, float(np.clip(story["evidence"].max(), _LEAST, _MOST)) * 2.0)
    powers = range(math.floor(math.log10(_LEAST)), math.ceil(math.log10(top)) + 1)
    powers = powers if len(powers) <= 6 else range(2 * math.ceil(powers[0] / 2), powers[-1] + 1, 2)
    words = [f"{10.0**power:,g}" if abs(power) < 4 else f"10<sup>{power}</sup>" for power in powers]
    words = [f"over {word}" if 10.0**power >= _MOST else word for power, word in zip(powers, words, strict=True)]
    scale: dict[str, Any] = {"tickvals": [10.0**power for power in powers], "ticktext": words}
    drawn.y(panel=1, type="log", range=[math.log10(_LEAST) - 0.2, math.log10(top)], **scale)
    drawn.y(panel=2, **decimals([0.0, *change]))
    drawn.y(panel=3, **decimals(story[["before", "after"]]))
    return drawn.figure(gap=0.09)
