"""Figures of the diagnosis: autocorrelation, variogram, distances, changes, models, components."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc._types import Floats
from imrc.diagnostics import TITLES, Assessment, PartialAutocorrelation
from imrc.plots._axes import task_ticks, whole_numbers
from imrc.plots._panels import Traces, axis, bars, chart, colour_axis
from imrc.plots._panels import panels as in_a_row
from imrc.plots._style import COLOURS, DATA
from imrc.plots._themes import SCALE

GROUP_NAMES = TITLES | {"no_change": "no change", "iid": "independent (i.i.d.-like)"}
CELLS = 200
"""Largest number of rows of the distance heatmap; longer sequences are averaged in blocks."""


def _ratio_text(result: Assessment) -> str:
    """Return the estimated change in the units of the charts: averages over all samples of a task."""
    if result.change is None:
        return ""
    samples = "" if result.n is None else f" at n = {result.n:.0f} (all)"
    return f"n ρ = {result.change.ratio:.2g}{samples}"


def pacf_panels(panels: Mapping[str, PartialAutocorrelation]) -> go.Figure:
    """Return averaged partial autocorrelations by title side by side, as in the last figure of the paper."""
    traces = Traces()
    for number, pacf in enumerate(panels.values(), start=1):
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
        traces.add(
            x=x,
            y=pacf.mean,
            mode="lines+markers",
            name="average over components",
            legendgroup="mean",
            line={"color": DATA, "width": 2.5},
            marker={"size": 8},
            hovertemplate="lag %{x}: %{y:.3f}<extra></extra>",
            **shown,
        )
        ends = [float(wide[0]), float(wide[-1])]
        traces.straight(ends, [0, 0], "zero", None, width=1, legendgroup="zero", **shown)
    return in_a_row(
        traces,
        list(panels),
        [axis("lag (tasks)", **whole_numbers(max(len(pacf.lags) for pacf in panels.values()), 10))] * len(panels),
        [axis("partial autocorrelation"), *[axis()] * (len(panels) - 1)],
        gap=0.2 / len(panels),
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
        traces.add(
            x=lags,
            y=curve.gamma,
            mode="lines+markers" if len(lags) <= 60 else "lines",
            name="distance minus noise, mean over pairs",
            line={"color": DATA, "width": 2.5},
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


def change_chart(table: pd.DataFrame, result: Assessment) -> go.Figure:
    """Return the change at each step (`step_changes`) with the common estimate n ρ, and where steps would lie."""
    traces = Traces()
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
    traces.add(
        x=x,
        y=table["change"],
        mode="markers+lines" if few else "lines",
        name="change of the averages minus noise",
        line={"color": DATA, "width": 1.5 if few else 1},
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
        chosen = [(GROUP_NAMES[group], gap) for group, gap in gaps if (group in named) == inside]
        if chosen:
            traces.add(
                kind="bar",
                x=[math.sqrt(gap) for _, gap in chosen],
                y=[label for label, _ in chosen],
                orientation="h",
                width=0.12,
                marker={"color": colour},
                showlegend=False,
                hoverinfo="skip",
            )
            # A dot at the end: the best has a bar of length 0.
            traces.add(
                x=[math.sqrt(gap) for _, gap in chosen],
                y=[label for label, _ in chosen],
                mode="markers+text",
                name=name,
                marker={"color": colour, "size": 15},
                text=[f"   {gap:.1f}" if gap < 100 else f"   {gap:,.0f}" for _, gap in chosen],
                textposition="middle right",
                cliponaxis=False,
                customdata=[gap for _, gap in chosen],
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
        traces.add(
            x=x,
            y=value,
            mode="lines",
            name=label,
            line={"color": colour, "width": 2, "dash": dash},
            hovertemplate="%{y:.4g}<extra>" + label + "</extra>",
        )
    traces.add(
        x=x,
        y=table["mean"],
        mode="markers",
        name="sample average ± √s" if few else "sample average",
        marker={"color": COLOURS["single"], "size": 7 if few else 3},
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
