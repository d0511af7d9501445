"""Figures of the diagnosis: how tasks change, what changed, how well kinds are recognised, the alarm."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from imrc._types import Floats
from imrc.diagnostics import VERDICTS, Assessment, PartialAutocorrelation
from imrc.diagnostics.changed import SHIFTS, Changed, moves
from imrc.diagnostics.power import SIMULATED
from imrc.diagnostics.tracks import step_changes
from imrc.plots._drawing import (
    COLOURS,
    DATA,
    DIFFERENCE,
    SCALE,
    Traces,
    axis,
    bars,
    chart,
    colour_axis,
    decimals,
    image_cells,
    names_axis,
    panels,
    task_ticks,
    whole_numbers,
)
from imrc.plots.tasks import image_side
from imrc.watch import first_alarm

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


def pacf_panels(by_title: Mapping[str, PartialAutocorrelation]) -> go.Figure:
    """Return averaged partial autocorrelations by title side by side, as in the last figure of the paper."""
    traces = Traces()
    for number, pacf in enumerate(by_title.values(), start=1):
        shown: dict[str, Any] = {"showlegend": number == 1, "panel": number}
        x = pacf.lags.astype(np.float64)
        few = len(x) == 1
        wide = np.array([0.7, 1.3]) if few else x
        stretch = (lambda values: np.repeat(values, 2)) if few else np.asarray
        traces.band(
            wide,
            stretch(pacf.mean - pacf.std),
            stretch(pacf.mean + pacf.std),
            DATA,
            0.15,
            name="± standard deviation over components (not an error bar)",
            legendgroup="spread",
            **shown,
        )
        if pacf.low is not None and pacf.high is not None:
            traces.band(
                wide,
                stretch(pacf.low),
                stretch(pacf.high),
                COLOURS["single"],
                0.45,
                name="95 % of the averages if order did not matter",
                legendgroup="reference",
                **shown,
            )
        traces.line(
            x,
            pacf.mean,
            "average over components",
            DATA,
            mode="lines+markers",
            legendgroup="mean",
            marker={"size": 8},
            hovertemplate="lag %{x}: %{y:.3f}<extra></extra>",
            **shown,
        )
        ends = [float(wide[0]), float(wide[-1])]
        traces.straight(ends, [0, 0], "zero", None, width=1, legendgroup="zero", **shown)
    count = len(by_title)
    return panels(
        traces,
        list(by_title),
        [axis("lag (tasks)", **whole_numbers(max(len(pacf.lags) for pacf in by_title.values()), 10))] * count,
        [axis("partial autocorrelation"), *[axis()] * (count - 1)],
        gap=0.2 / count,
        share_y=True,
        title="Are neighbouring tasks alike?",
        height=420,
    )


def variogram_chart(result: Assessment) -> go.Figure:
    """Return the variogram with what independent orders and the fitted random walk would give."""
    curve = result.variogram
    traces, limits = Traces(), {}
    if curve is not None:
        lags = curve.lags.astype(np.float64)
        if curve.envelope_lags is not None and curve.low is not None and curve.high is not None:
            name = "95 % of the orders if the order did not matter (flat)"
            at = curve.envelope_lags.astype(np.float64)
            traces.band(at, curve.low, curve.high, COLOURS["single"], 0.35, name=name)
        traces.line(
            lags,
            curve.gamma,
            "distance minus noise, mean over pairs",
            DATA,
            mode="lines+markers" if len(lags) <= 60 else "lines",
            customdata=curve.pairs,
            hovertemplate="lag %{x}: %{y:.3g}<br>%{customdata} pairs<extra></extra>",
        )
        if result.change is not None:
            name = f"random walk, {_ratio_text(result)}"
            traces.straight([0, lags[-1]], [0, result.change.ratio * lags[-1]], name, COLOURS["forward"], width=2)
            top = max(float(np.max(curve.gamma)), float(np.max(curve.high)) if curve.high is not None else 0.0)
            bottom = min(float(np.min(curve.gamma)), float(np.min(curve.low)) if curve.low is not None else 0.0, 0.0)
            room = 0.08 * max(top - bottom, 1e-9)
            limits["range"] = [bottom - room, top + 2 * room]
    ticks = whole_numbers(0 if curve is None else len(curve.lags))
    return chart(
        traces,
        axis("lag (tasks)", rangemode="tozero", **ticks),
        axis("squared distance / noise of one average", **limits),
        title="Does the distance between tasks grow with time?",
        height=420,
    )


def _blocks(distance: Floats) -> tuple[Floats, int]:
    """Average a long distance matrix in blocks; the diagonal is left out of the averages."""
    k = len(distance)
    values = distance.copy()
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
    names = [
        f"task {a} ({html.escape(result.labels[a - 1])})" if size == 1 else f"tasks {a} to {a + size - 1}"
        for a in start.tolist()
    ]
    finite = values[np.isfinite(values)]
    top = max(float(np.quantile(finite, 0.99)) if finite.size else 1.0, 1e-9)
    traces = Traces()
    traces.add(
        kind="heatmap",
        x=start,
        y=start,
        z=values,
        coloraxis=SCALE,
        customdata=np.array([[f"{a}<br>{b}" for a in names] for b in names], dtype=object),
        hovertemplate="%{customdata}<br>distance %{z:.3g}<extra></extra>",
        hoverongaps=False,
    )
    bar = {"title": {"text": "distance²<br>/ noise", "font": {"size": 12}}, "thickness": 14}
    both = {"constrain": "domain", "showgrid": False}
    ticks = [task_ticks(result.labels, ticks=number) for number in (5, 8)]
    return chart(
        traces,
        axis("task", **both, **ticks[0]),
        axis("task", autorange="reversed", scaleanchor="x", **both, **ticks[1]),
        title="Which tasks are alike?",
        height=460,
        legend=False,
        **colour_axis(SCALE, 0.0, top, bar),
    )


def change_chart(result: Assessment) -> go.Figure:
    """Return the change at each step (`step_changes`) with the common estimate n ρ, and where steps would lie."""
    table, traces = step_changes(result), Traces()
    x = table["task"].to_numpy(dtype=np.float64)
    few = len(x) <= 150
    if result.change is not None and len(x) > 1:
        low, high = table["low"].to_numpy(), table["high"].to_numpy()
        traces.band(x, low, high, COLOURS["forward"], 0.25, name="95 % of single steps at this rate")
    if len(x) > 1:
        noise = 1.96 * table["noise_se"].to_numpy()
        traces.band(x, -noise, noise, COLOURS["single"], 0.35, name="95 % of steps if nothing changed")
    if result.change is not None:
        name = f"mean of all steps at this rate, {_ratio_text(result)}"
        traces.straight(x[[0, -1]], [result.change.ratio] * 2, name, COLOURS["forward"], width=2.5)
    traces.line(
        x,
        table["change"],
        "change of the averages minus noise",
        DATA,
        width=1.5 if few else 1,
        mode="markers+lines" if few else "lines",
        marker={"size": 7},
        customdata=[html.escape(str(label)) for label in table["label"]],
        hovertemplate="step to task %{x} (%{customdata})<br>%{y:.3g}<extra></extra>",
    )
    return chart(
        traces,
        axis("step to task", **task_ticks(table["label"].tolist(), first=2)),
        axis("squared change / noise of one average"),
        title="When do the tasks change?",
        height=380,
    )


def model_gaps(result: Assessment) -> go.Figure:
    """Return the BIC of the best model of each kind minus that of the best overall; a root scale shows small gaps."""
    gaps = sorted(result.gaps.items(), key=lambda item: -item[1])
    named = {result.verdict.name, result.verdict.second}
    traces = Traces()
    for inside, name, colour in (
        (True, "named in the verdict", COLOURS["forward_backward"]),
        (False, "other kinds of change", COLOURS["single"]),
    ):
        chosen = {GROUP_NAMES[group]: gap for group, gap in gaps if (group in named) == inside}
        x, y = [math.sqrt(gap) for gap in chosen.values()], list(chosen)
        if chosen:
            traces.add(
                kind="bar",
                x=x,
                y=y,
                orientation="h",
                width=0.12,
                marker={"color": colour},
                showlegend=False,
                hoverinfo="skip",
            )
            # A dot at the end: the best has a bar of length 0.
            traces.add(
                x=x,
                y=y,
                mode="markers+text",
                name=name,
                marker={"color": colour, "size": 15},
                text=[f"   {gap:.1f}" if gap < 100 else f"   {gap:,.0f}" for gap in chosen.values()],
                textposition="middle right",
                cliponaxis=False,
                customdata=list(chosen.values()),
                hovertemplate="%{y}: %{customdata:.1f} behind the best<extra></extra>",
            )
    largest = max((gap for _, gap in gaps), default=1.0)
    # Room at the left: the dot of the best, at 0, must not cover its name.
    scale = math.sqrt(max(largest, 1.0))
    return chart(
        traces,
        axis("BIC behind the best (root scale; 0 is best)", showticklabels=False, range=[-0.05 * scale, 1.25 * scale]),
        axis(categoryorder="array", categoryarray=[GROUP_NAMES[group] for group, _ in gaps]),
        title="Which kind of change fits best?",
        height=460,
    )


def component_chart(table: pd.DataFrame, name: str) -> go.Figure:
    """Return one component over the tasks, of `component_tracks`: averages with bars, forward and smoothed bands."""
    traces = Traces()
    x = table["task"].to_numpy(dtype=np.float64)
    few = len(x) <= 150
    for column, colour, label, dash in (
        ("forward", COLOURS["forward"], "forward", "dash"),
        ("smooth", COLOURS["forward_backward"], "forward and backward", "solid"),
    ):
        value, se = table[column].to_numpy(), table[f"{column}_se"].to_numpy()
        traces.band(x, value - se, value + se, colour, 0.22, name=f"{label}, band ± √s")
        traces.line(x, value, label, colour, width=2, dash=dash, hovertemplate="%{y:.4g}<extra>" + label + "</extra>")
    traces.dots(
        x,
        table["mean"],
        "sample average ± √s" if few else "sample average",
        COLOURS["single"],
        size=7 if few else 3,
        error_y=bars(table["mean_se"], colour=COLOURS["single"]) if few else None,
        customdata=[html.escape(str(label)) for label in table["label"]],
        hovertemplate="task %{x} (%{customdata})<br>average %{y:.4g}<extra></extra>",
    )
    return chart(
        traces,
        axis("task", **task_ticks(table["label"].tolist())),
        axis(html.escape(name)),
        title="How do single components change?",
        height=420,
    )


_ANSWERS = {
    "named": ("this kind", "#0072B2"),
    "two": ("two kinds", "#56B4E9"),
    "another": ("another kind", "#D55E00"),
    "nothing": ("no change or no order", "#9AA1AC"),
}
_WRITTEN = 10.0  # Percentages below are too narrow for their number.


def power_chart(table: pd.DataFrame, here: Sequence[str | None] = ()) -> go.Figure:
    """Return one bar for each kind a sequence could be of, divided by what the diagnosis says of it.

    `table` is from `power_table`; kinds named `here` are in bold.
    """
    names = [f"<b>{SIMULATED[kind][1]}</b>" if kind in here else SIMULATED[kind][1] for kind in table["kind"]]
    traces = Traces()
    for column, (name, colour) in _ANSWERS.items():
        percent = table[column]
        traces.add(
            kind="bar",
            orientation="h",
            x=percent,
            y=names,
            name=name,
            marker={"color": colour},
            text=[f"{value:.0f}" if value >= _WRITTEN else "" for value in percent],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "#FFFFFF" if column in ("named", "another") else "#14181F"},
            hovertemplate=f"%{{y}}: {name} in %{{x:.0f}} of 100<extra></extra>",
        )
    return chart(
        traces,
        axis("of 100 simulated sequences the diagnosis names", range=[0, 100], tickvals=[0, 25, 50, 75, 100]),
        names_axis(names, "really"),
        title="How often would each kind be recognised?",
        height=150 + 32 * len(names),
        order="normal",
        barmode="stack",
        bargap=0.25,
        hovermode="closest",
    )


PER_ROW = 3
_ROWS = 3  # Classes whose images are shown.
_GAP = 1
_LONGEST = 30


def changed_panels(result: Changed, first: int = 0) -> go.Figure:
    """Return three of the largest changes over the tasks, from row `first` on, with what no change would be."""
    rows = range(first, min(first + PER_ROW, len(result.table)))
    traces, titles = Traces(), []
    for number, row in enumerate(rows, start=1):
        kind, c, column = (result.table.loc[row, name] for name in ("kind", "class_index", "column_index"))
        values, errors = moves(result.counted, kind, int(c))
        value, error = (part[:, int(c if kind == "label" else column)] for part in (values, errors))
        there = np.flatnonzero(np.isfinite(value))
        x = there + 1.0
        name = result.row_name(row)
        short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        titles.append(f"{html.escape(short)}<br><span style='font-size:12px'>{SHIFTS[kind]}</span>")
        shown: dict[str, Any] = {"panel": number, "showlegend": number == 1 and first == 0}
        level = float(np.average(value[there], weights=1.0 / np.maximum(error[there], 1e-12) ** 2))
        low, high = value[there] - 1.96 * error[there], value[there] + 1.96 * error[there]
        traces.band(x, low, high, DATA, 0.2, name="95 % interval of each task", legendgroup="band", **shown)
        traces.straight([1, result.k], [level, level], "mean of all tasks", legendgroup="mean", **shown)
        traces.line(
            x,
            value[there],
            "average of the task",
            DATA,
            width=2,
            mode="lines+markers" if len(x) <= 60 else "lines",
            legendgroup="value",
            marker={"size": 6},
            customdata=[html.escape(result.labels[i]) for i in there],
            hovertemplate="task %{x} (%{customdata}): %{y:.3g}<extra></extra>",
            **shown,
        )
    ticks = task_ticks(result.labels, ticks=4)
    return panels(
        traces,
        titles,
        [axis("task", **ticks)] * len(titles),
        [axis("share" if "share of" in title else "average") for title in titles],
        gap=0.09,
        title="What changed most?" if first == 0 else "What changed next?",
        height=360,
        above=100,
        title_size=13,
    )


def changed_images(result: Changed) -> go.Figure | None:
    """Return average images by class in the first and last third of the tasks, and differences; None: no images."""
    side = image_side(result.columns)
    if side is None:
        return None
    counted, third = result.counted, max(1, result.k // 3)
    spread = np.sqrt((counted.n.sum(axis=0)[:, None] * counted.variance).sum(axis=0) / counted.n.sum())
    classes = sorted(np.argsort(-counted.n.sum(axis=0), kind="stable")[:_ROWS].tolist())
    step = side + _GAP
    averages = np.full((len(classes) * step - _GAP, 2 * step - _GAP), np.nan)
    change = np.full((len(classes) * step - _GAP, side), np.nan)
    for row, c in enumerate(classes):
        place = slice(row * step, row * step + side)
        early, late = (
            (counted.n[part, c, None] * counted.mean[part, c]).sum(axis=0) / max(counted.n[part, c].sum(), 1.0)
            for part in (slice(third), slice(-third, None))
        )
        averages[place, :side], averages[place, step:] = early.reshape(side, side), late.reshape(side, side)
        moved = np.where(spread > 0, (late - early) / np.where(spread > 0, spread, 1.0), 0.0)
        change[place] = moved.reshape(side, side)
    most = max(float(np.nanmax(np.abs(change))), 1e-9)
    centre = (side - 1) / 2
    quiet: dict[str, Any] = {"showgrid": False, "ticks": "", "constrain": "domain"}
    down = {
        **quiet,
        "autorange": "reversed",
        "tickvals": [row * step + centre for row in range(len(classes))],
        "ticktext": [html.escape(result.classes[c]) for c in classes],
    }
    names = [f"tasks 1 to {third}", f"tasks {result.k - third + 1} to {result.k}"] if third > 1 else ["first", "last"]
    brightest = float(np.nanmax(averages))
    traces = Traces([image_cells(averages, zmax=brightest, hovertemplate="average %{z:.3g}<extra></extra>")])
    said = "change %{z:+.2f} sd<extra></extra>"
    traces.add(kind="heatmap", z=change, coloraxis=DIFFERENCE, hoverongaps=False, hovertemplate=said, panel=2)
    bar = {"title": {"text": "change in sd", "font": {"size": 12}}, "thickness": 12}
    return panels(
        traces,
        ["Average image", "Late less early"],
        [
            axis(tickvals=[centre, step + centre], ticktext=names, **quiet),
            axis(showticklabels=False, **quiet),
        ],
        [axis(scaleanchor="x", **down), axis(scaleanchor="x2", **{**down, "showticklabels": False})],
        gap=0.08,
        title="What do the classes look like early and late?",
        height=110 + 150 * len(classes),
        legend=False,
        **colour_axis(DIFFERENCE, -most, most, bar),
    )


_ALARM = "#D55E00"
_LEAST, _MOST = 1e-2, 1e8  # Evidence is drawn between these: below and above it says the same.


def watch_chart(story: pd.DataFrame, alpha: float = 0.05) -> go.Figure:
    """Return what `watch_story` says of each task: evidence of a change, its size, errors before and after learning."""
    x, alarm, last = story["task"], first_alarm(story, alpha), int(story["task"].iloc[-1])
    label = np.array([html.escape(str(one)) for one in story["label"]], dtype=object)
    lit, ends, traces = story["unusual"].to_numpy(dtype=bool), [1.5, last + 0.5], Traces()

    def line(y: ArrayLike, name: str, colour: str, digits: str, dash: str | None = None, panel: int = 1) -> None:
        traces.line(
            x,
            y,
            name,
            colour,
            width=2,
            dash=dash,
            mode="lines+markers" if last <= 60 else "lines",
            marker={"size": 6},
            customdata=label,
            hovertemplate=f"task %{{x}} (%{{customdata}}): %{{y:{digits}}}<extra>{name if panel > 1 else ''}</extra>",
            panel=panel,
        )

    evidence = np.clip(story["evidence"].to_numpy(), _LEAST, _MOST)
    line(evidence, "evidence", DATA, ".3g")
    traces.straight(ends, [1.0 / alpha] * 2, f"alarm, from {1.0 / alpha:g}", _ALARM)
    if alarm is not None:
        at, said = story["task"].to_numpy() == alarm, "alarm at task %{x}<extra></extra>"
        look: dict[str, Any] = {"symbol": "diamond", "size": 12, "showlegend": False}
        traces.dots(x[at], evidence[at], f"alarm at task {alarm}", _ALARM, hovertemplate=said, **look)
    for where, name, colour in ((~lit, "change", COLOURS["reference"]), (lit, "more than usual", "#CC79A7")):
        if where.any():
            traces.add(
                kind="bar",
                x=x[where],
                y=story["change"][where],
                name=name,
                marker={"color": colour},
                customdata=label[where],
                hovertemplate="step to task %{x} (%{customdata}): %{y:.3g}<extra></extra>",
                panel=2,
            )
    line(story["before"], "before learning it", COLOURS["single"], ".3f", "dot", panel=3)
    line(story["after"], "after learning it", COLOURS["forward"], ".3f", "solid", panel=3)

    top = max(2.0 / alpha, float(np.clip(story["evidence"].max(), _LEAST, _MOST)) * 2.0)
    powers = range(math.floor(math.log10(_LEAST)), math.ceil(math.log10(top)) + 1)
    shown = [power for power in powers if len(powers) <= 6 or power % 2 == 0]
    scale: dict[str, Any] = {
        "tickvals": [10.0**power for power in shown],
        "ticktext": [_power(power) for power in shown],
    }
    change = story["change"].to_numpy()
    low, high = min(float(np.nanmin(change, initial=0.0)), 0.0), float(np.nanmax(change, initial=1e-9))
    ticks = {"range": ends, **task_ticks(story["label"].tolist(), first=2, ticks=4)}
    return panels(
        traces,
        ["Evidence of a change", "Size of the change, d² / σ²", "Error of the newest task"],
        [axis("task", **ticks)] * 3,
        [
            axis(type="log", range=[math.log10(_LEAST) - 0.2, math.log10(top)], **scale),
            axis(range=[low - 0.05 * (high - low), high + 0.08 * (high - low)]),
            axis(**decimals(story[["before", "after"]])),
        ],
        gap=0.09,
        title="Would an alarm have gone off?",
        height=380,
    )


def _power(power: int) -> str:
    text = f"{10.0**power:,g}" if abs(power) < 4 else f"10<sup>{power}</sup>"
    return f"over {text}" if 10.0**power >= _MOST else text
