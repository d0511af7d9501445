"""Effective sample sizes: closed forms, a run's own and realised ones, what more would add, risk bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from imrc._types import Floats
from imrc.core import theory
from imrc.evaluation import EffectiveSamples, RunResult
from imrc.evaluation.measures import samples_text
from imrc.planning import PLACES, Plan
from imrc.plots import _drawing
from imrc.plots._drawing import COLOURS, DASHES, DATA, Chart, Property, Traces, slider, whole_numbers
from imrc.wording import RULES, decimal, number

PAIRS = ((10, 13), (10, 20), (100, 103), (100, 110))  #: Task j of k tasks: the pairs in the paper's figure.

_POWERS = range(-6, 3)
_TIMES = [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")  # In the size of all other ticks.
_FRAMES = 30  # Tasks that the slider can choose.
_STEPS_BACK = (0, 1, 2, 3, 5, 10, 20, 50)  # Values of b that the other slider can choose, beside b and all.
_PLOT_PX = 260  # Height of the plot, nearly.
_GREENS = ("#009E73", "#4DBF9F", "#00805C", "#7FD1BA", "#2C8F73", "#5AA88F")
_ORANGES = ("#E69F00", "#B97F00", "#F2BE4D", "#CC8800", "#D98200", "#A07328")
"""Shades of a rule's colour, one per pair; the line style marks the rule."""
PARTS = ("own samples", "from preceding tasks", "from succeeding tasks")


class OwnRatio(NamedTuple):
    """A sequence's n d^2 / sigma^2 with its interval, and that of its last W changes, marked on the curves."""

    value: float
    low: float
    high: float
    recent: tuple[int, float] | None = None


def ess_curves(pairs: Sequence[tuple[int, int]] = PAIRS) -> go.Figure:
    """Return the paper's figure: ESS / n by Theorems 2 and 4 for tasks j of k against n d² / σ², with the regimes."""
    across, tasks = (1e-6, 1e2), sorted({j for j, _ in pairs})
    drawn = _against_change(across, height=450)
    ratio = np.geomspace(*across, 241)
    for j, shade in zip(tasks, itertools.cycle(_ORANGES)):
        name, ess = f"task {j}, forward", theory.ess_forward(j, 1, ratio)
        _add_curve(drawn, ratio, ess, name, "forward", colour=shade, showlegend=False)
    for (j, k), shade in zip(sorted(set(pairs)), itertools.cycle(_GREENS)):
        name, ess = f"task {j} of {k}", theory.ess_forward_backward(j, k, 1, ratio)
        _add_curve(drawn, ratio, ess, name, "forward_backward", colour=shade, showlegend=False)
    upwards = 0.9, 1.6 * max(float(one["y"].max()) for one in drawn)
    limits = np.log10(upwards).tolist()
    told = [*_drawing.name_curves(drawn, limits, _PLOT_PX, log=True), *_regime_names(across, tasks[-1])]
    _add_borders(drawn, tasks[-1], upwards)
    drawn.y(range=limits)
    return drawn.figure(annotations=told, above=90, margin={"l": 144, "r": 56})


def ess_by_task(k: int, b: int, own: OwnRatio | None = None, reached: EffectiveSamples | None = None) -> go.Figure:
    """Return Theorems 2 and 4 for a task j of k that is looked back on from b later ones: sliders choose j and b.

    All curves are there from the start. `own`: the sequence's ratio, a line with its interval; `reached`: by a run.
    """
    across, b = (1e-5, 1e2), min(b, k - 1)
    # Before any of its samples the next task can be worth less than one task's own.
    upwards, ratio = (0.15, 1.6 * k), np.geomspace(*across, 71)
    shown = np.unique(np.linspace(1, k, min(k, _FRAMES)).round().astype(int)).tolist()
    back = sorted({b, k - 1, *(steps for steps in _STEPS_BACK if steps < k)})

    def moving(j: int) -> Traces:
        found, name = Traces(), "forward (Theorem\u00a02)"
        _add_curve(found, ratio, theory.ess_forward(j, 1, ratio), name, "forward", "bottom left")
        for steps in back:  # never below the other
            ess = theory.ess_forward_backward(j, min(k, j + steps), 1, ratio)
            name = f"forward and backward, b\u00a0=\u00a0{steps} (Theorem\u00a04)"
            _add_curve(found, ratio, ess, name, "forward_backward", "top left", visible=steps == b)
        _add_borders(found, j, upwards)
        return found

    drawn = _against_change(across, height=540)
    drawn.y(range=np.log10(upwards))
    first = shown[len(shown) // 2]
    drawn += moving(first)
    moved = list(range(len(drawn)))
    _add_curve(
        drawn, ratio, theory.ess_next(k, 1, ratio), "the next task, without samples", colour=DATA, dash="dashdot"
    )
    _add_curve(drawn, ratio, 1.0 / ratio, "ceiling of the next task, σ² / d²", colour=COLOURS["reference"], dash="dot")
    if own is not None and own.high > 0:
        _mark_own(drawn, own, across, upwards)
    if own is not None and reached is not None and reached.own > 0:
        _mark_run(drawn, reached, float(np.clip(own.value, *across)))
    frames = [
        # What moves, and no more: curves up and down, borders to the side.
        {"name": str(j), "data": [{"y": one["y"]} if "text" in one else {"x": one["x"]} for one in moving(j)]}
        | {"traces": moved, "layout": {"annotations": _regime_names(across, j)}}
        for j in shown
    ]
    steps = [
        {"label": str(one), "method": "restyle", "args": [{"visible": [one == other for other in back]}, moved[1:-2]]}
        for one in back
    ]
    half = {"len": 0.46, "pad": {"t": 44}}
    tasks = slider(shown, shown, active=shown.index(first), currentvalue={"prefix": f"task j of {k}: "}, **half)
    later = {"steps": steps, "active": back.index(b), "currentvalue": {"prefix": "steps back b = "}, "x": 0.54, **half}
    told, sliders = _regime_names(across, first), [tasks, later] if k > 1 else []
    room: dict[str, Any] = {"below": 136, "above": 90, "margin": {"l": 144, "r": 56}}
    return drawn.figure(annotations=told, frames=frames, sliders=sliders, **room)


def _against_change(across: tuple[float, float], height: int) -> Chart:
    """Return a chart of effective samples against the size of the change, both on logarithmic axes."""
    drawn = Chart("How many times its own samples is a task worth?", height=height)
    powers, texts = 10.0 ** np.array(_POWERS), [f"10{str(power).translate(_RAISED)}" for power in _POWERS]
    title = "n d² / σ²  (change per step / noise of one average)"
    drawn.x(title, type="log", range=np.log10(across), tickvals=powers, ticktext=texts)
    drawn.y("times its own samples (ESS / n)", type="log", tickvals=_TIMES, side="right")
    return drawn


def _add_curve(
    traces: Traces, x: ArrayLike, y: ArrayLike, name: str, rule: str = "", place: str = "", **look: Property
) -> None:
    """Draw one curve over n d² / σ², in the look of a rule or one of its own; its name at its left end if it moves."""
    look = {"colour": COLOURS.get(rule), "dash": DASHES.get(rule), **look}
    if place:
        told = [f"<span style='color:{COLOURS[rule]}'>●</span> {name.replace(', ', ',<br>')}"]
        look |= {"mode": "lines+markers+text", "text": told, "textposition": place, "textfont": {"size": 12}}
        look |= {"marker": {"size": 7, "opacity": 0}, "cliponaxis": False, "showlegend": False}  # names are off curves
    traces.line(x, y, name, width=2.5, said="n d² / σ² = %{x:.2g}<br>ESS = %{y:.3g} n", box=name, **look)


def _add_borders(traces: Traces, j: int, upwards: tuple[float, float]) -> None:
    """Draw where the regimes of task j meet."""
    for border, name in ((1.0 / j**2, f"1/{j}²"), (1.0, "1")):
        said = f"border of regimes, n d² / σ² = {name}"
        traces.straight([border, border], upwards, said, width=1, dash="dot", showlegend=False)


def _mark_run(traces: Traces, run: EffectiveSamples, x: float) -> None:
    """Draw what a run reached, with its interval, in units of a task's own samples."""
    whose = RULES.get(run.rule, "before any label").lower()
    name, said = f"this run, {whose}: {run.mean:,.1f} samples on average", f"this run: {samples_text(run)}"
    ends = [(run.high - run.mean) / run.own], [(run.mean - run.low) / run.own]
    interval = _drawing.whiskers(*ends, width=None) if math.isfinite(run.low) else None
    look = {"symbol": "diamond", "size": 12, "edge": 2, "error_y": interval}
    traces.dots([x], [run.mean / run.own], name, COLOURS.get(run.rule, DATA), said=said, **look)


def _mark_own(traces: Traces, own: OwnRatio, across: tuple[float, float], upwards: tuple[float, float]) -> None:
    """Draw the sequence's own ratio: a line for the estimate, a band for the interval."""
    position, left, right = (float(np.clip(value, *across)) for value in own[:3])
    smaller = "" if own.value >= across[0] else " (or smaller)"
    name = f"these tasks: n d² / σ² = {number(own.value)}{smaller}, band: 95 %"
    traces.straight([position, position], upwards, name, None, width=2)
    ends = (np.array([end, end]) for end in upwards)
    traces.band(np.array([left, right]), ends, COLOURS["single"], 0.2, showlegend=False)
    if own.recent is not None:
        window, value = own.recent
        position = float(np.clip(value, *across))
        name = f"its last change{'s' * (window > 1)}, W = {window}: {number(max(value, 0.0))}"
        traces.straight([position, position], upwards, name, None, dash="dot")


def _regime_names(across: tuple[float, float], j: int) -> list[dict[str, Any]]:
    """Return the names of the three regimes of task j, above the plot."""
    edges = [across[0], max(1.0 / j**2, across[0]), 1.0, across[1]]
    names = ("proportional<br>to k", "grows like<br>1/√(n d²/σ²)", "little<br>to gain")
    at = {"y": 1.0, "xref": "x", "yref": "paper", "yanchor": "bottom", "showarrow": False}
    at |= {"font": {"size": 12, "color": COLOURS["reference"]}}
    return [
        # As many for every task: of what a frame of the slider leaves out the one before it would stay.
        {**at, "x": np.log10(np.sqrt(left * right)), "text": name, "visible": bool(right > 3 * left)}
        for name, left, right in zip(names, edges[:-1], edges[1:], strict=True)
    ]


def ess_parts_table(parts: ArrayLike, labels: Sequence[str]) -> pd.DataFrame:
    """Return one row per task: task (from 1), label and its own, earlier and later samples (k, 3)."""
    values = np.asarray(parts, dtype=np.float64)
    table = pd.DataFrame(values, columns=list(PARTS)).assign(ess=values.sum(axis=1))  # NaN where nothing is known
    table.insert(0, "task", np.arange(1, len(values) + 1))
    table.insert(1, "label", list(map(str, labels)))
    return table


def ess_parts_chart(table: pd.DataFrame) -> go.Figure:
    """Return stacked effective sample sizes by task: own, preceding, succeeding."""
    drawn = Chart("How many samples is each task worth?", height=400)
    drawn.tasks(table["label"])
    drawn.y("effective sample size", rangemode="tozero")
    for name, rule in zip(PARTS, RULES, strict=True):
        if not table[name].any():
            continue
        text = (
            f"<b>task %{{x}}</b> (%{{customdata[0]}})<br>{name}: %{{customdata[1]:.1f}}<br>all: %{{customdata[2]:.1f}}"
        )
        told = table[["label", name, "ess"]].assign(label=_drawing.escaped(table["label"]))
        drawn.bars(table["task"], table[name], name, COLOURS[rule], text, customdata=told)
    return drawn.figure(barmode="stack", bargap=0.15)


def bound_chart(table: pd.DataFrame, trivial: float) -> go.Figure:
    """Return the bound of Theorem 3, minimax risk and error of each task as multiples of the risk of guessing.

    `table` has columns task, label, single, forward, forward_backward (bounds), risk, error; `trivial` is 1 - 1/C.
    Multiples, because a bound above 1 is no probability: only its distance from a useful bound means something.
    """
    drawn, x = Chart("How far is the guarantee from being informative?", height=420), table["task"]
    for rule, dash in DASHES.items():
        look = {"dash": dash, "few": math.inf, "said": "task %{x}: bound %{y:,.3g} times guessing"}
        drawn.line(x, table[rule] / trivial, f"bound, {RULES[rule].lower()}", COLOURS[rule], **look)
    for column, name, symbol in (("risk", "minimax risk reached", "diamond"), ("error", "test error", "circle-open")):
        said = {"customdata": list(map(decimal, table[column])), "said": "task %{x}: %{customdata}", "box": name}
        drawn.dots(x, table[column] / trivial, name, symbol=symbol, size=8, **said)
    drawn.straight([x.min(), x.max()], [1.0, 1.0], f"guessing, {decimal(trivial, 2)}: above this, a bound is useless")
    scale: dict[str, Any] = {"rangemode": "tozero"}
    if np.nanmin(table[["risk", "error"]]) > 0 and np.nanmax(table[list(DASHES)]) > 3 * trivial:
        ticks = [10.0**power for power in range(-3, 13)]
        scale = {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.12g}" for tick in ticks]}
    drawn.x("task", **whole_numbers(len(table)))
    drawn.y("times the risk of guessing", **scale)
    return drawn.figure()


def run_parts(result: RunResult) -> Floats:
    """Return own, preceding and succeeding samples of each task at the last step, means over repetitions, (k, 3).

    In the scenario "next_task" what each task is worth before any of its samples, NaN for the first.
    """
    if result.scenario.kind == "before":
        ahead = result.before_of(result.scenario.main, "before_ess").mean(axis=0)
        return np.stack([np.zeros_like(ahead), ahead, np.zeros_like(ahead)], axis=1)
    own, forward, main = (
        result.ess_tables[rule].final().mean(axis=0) for rule in ("single", "forward", result.scenario.main)
    )
    return np.stack([own, forward - own, main - forward], axis=1)


def with_reached(bounds: pd.DataFrame, result: RunResult) -> pd.DataFrame:
    """Add minimax risk and test error of forward and backward learning at the last step to a table of bounds."""
    index = bounds["task"].to_numpy() - 1
    tables = result.risk_tables, result.error_tables
    risk, error = (table["forward_backward"].final().mean(axis=0) for table in tables)
    inside = index < len(risk)  # a run that was stopped has fewer tasks
    return bounds[inside].assign(risk=risk[index[inside]], error=error[index[inside]])


_X = {"n": "samples n per task", "k": "tasks k", "b": "backward steps b"}


def plan_chart(table: pd.DataFrame, plan: Plan) -> go.Figure:
    """Return three panels: effective samples as n, k or b varies, with the band of the rate, the plan and the wish."""
    here, fixed = {"n": plan.n, "k": plan.k, "b": plan.b}, "{0} = {1}".format
    titles = [", ".join(fixed(*pair) for pair in here.items() if pair[0] != vary) for vary in here]
    drawn = Chart("What would more samples, tasks or steps back be worth?", height=400, titles=titles)
    drawn.y("effective sample size", rangemode="tozero")
    colour = COLOURS["forward_backward" if plan.of == "mean" else "forward"]
    for panel, (vary, text) in enumerate(_X.items(), start=1):
        part, said = table[table["vary"] == vary], f"{vary} = %{{x}}: %{{y:.1f}} samples"
        x, value, low, high = (part[one].to_numpy() for one in ("x", "value", "low", "high"))
        drawn.x(text, panel, **whole_numbers(int(x.max()), 6))
        if plan.rate.low != plan.rate.high:
            drawn.band(x, (low, high), colour, 0.18, name="95 % interval of ρ", panel=panel)
        look = {"width": 2.5, "few": math.inf if vary == "b" else 0, "said": said, "panel": panel}
        drawn.line(x, value, f"effective samples of {PLACES[plan.of]}", colour, **look)
        if plan.wish is not None:
            drawn.straight([x.min(), x.max()], [plan.wish] * 2, f"wanted: {plan.wish:,.3g}", panel=panel)
        look = {"symbol": "diamond", "said": f"the plan, {said}"}
        drawn.dots([here[vary]], [plan.promised[plan.of].value], "the plan", panel=panel, **look)
    return drawn.figure(gap=0.08)
