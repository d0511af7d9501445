"""Effective sample sizes: closed forms, a run's own and realised ones, growth with n, k and b, risk bounds."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from imrc import wording
from imrc._checks import check_int, check_real
from imrc._types import Floats
from imrc.core import theory
from imrc.evaluation import EffectiveSamples, RunResult
from imrc.evaluation.budget import Realised, realised_text
from imrc.evaluation.effective import samples_text
from imrc.planning import PLACES, Plan
from imrc.plots._drawing import (
    COLOURS,
    DASHES,
    DATA,
    NAMES,
    Traces,
    axis,
    bars,
    chart,
    names_axis,
    panels,
    rgba,
    task_ticks,
    whole_numbers,
)
from imrc.wording import decimal

PAIRS = ((10, 13), (10, 20), (100, 103), (100, 110))  #: Task j of k tasks: the pairs in the paper's figure.

BARS_UP_TO = 120
_LARGEST_K = 1_000_000
_LARGEST_B = 60
_ENOUGH = 0.95  # Share of the full gain that counts as enough.
_GREENS = ("#009E73", "#4DBF9F", "#00805C", "#7FD1BA", "#2C8F73", "#5AA88F")
_ORANGES = ("#E69F00", "#B97F00", "#F2BE4D", "#CC8800", "#D98200", "#A07328")
"""Shades of a rule's colour, one per pair; the line style says which rule it is."""
_AHEAD = {
    "next": "next task after {count}, before any of its samples",
    "ceiling": "its ceiling σ² / d²: no past is worth more",
}
PARTS = ("own samples", "from preceding tasks", "from succeeding tasks")


class OwnRatio(NamedTuple):
    """A sequence's n d^2 / sigma^2 with its interval, and that of its last W changes, marked on the curves."""

    value: float
    low: float
    high: float
    name: str
    recent: tuple[int, float] | None = None


def ess_curve_table(
    pairs: Sequence[tuple[int, int]],
    low: float = 1e-6,
    high: float = 1e2,
    points: int = 241,
    *,
    after: int | None = None,
) -> pd.DataFrame:
    """Evaluate Theorems 2 and 4 for pairs (j, k) over a range of n d² / σ², and what the next task is worth.

    Columns rule, j, k, ratio, ess (ESS / n). With `after` tasks learnt, rule "next" is the next task before any of its
    samples, "ceiling" what it stays below however many tasks there were.

    >>> ess_curve_table([(10, 20)], 0.1, 10.0, 3).round(3).query("rule == 'forward'")["ess"].tolist()
    [3.685, 1.618, 1.092]
    """
    low = check_real("low", low, 0.0, low_open=True)
    ratio = np.geomspace(low, check_real("high", high, low, low_open=True), check_int("points", points, 2))
    frames = []
    for j in sorted({j for j, _ in pairs}):
        ess = theory.ess_forward(j, 1, ratio)
        frames.append(pd.DataFrame({"rule": "forward", "j": j, "k": j, "ratio": ratio, "ess": ess}))
    for j, k in sorted(set(pairs)):
        ess = theory.ess_forward_backward(j, k, 1, ratio)
        frames.append(pd.DataFrame({"rule": "forward_backward", "j": j, "k": k, "ratio": ratio, "ess": ess}))
    if after is not None:
        for rule, ess in (("next", theory.ess_next(after, 1, ratio)), ("ceiling", 1.0 / ratio)):
            frames.append(pd.DataFrame({"rule": rule, "j": after + 1, "k": after, "ratio": ratio, "ess": ess}))
    return pd.concat(frames, ignore_index=True)


def ess_curves(table: pd.DataFrame, own: OwnRatio | None = None, reached: EffectiveSamples | None = None) -> go.Figure:
    """Return the paper's figure: ESS / n against n d² / σ² on logarithmic axes, with the regimes.

    `own`: the sequence's ratio, a line with its interval; `reached`: what a run reached there.
    """
    traces = Traces()
    ahead = table[table["rule"].isin(["next", "ceiling"])]
    table = table.drop(ahead.index)
    top = float(table["ess"].max()) * 1.6
    # Before any of its samples the next task can be worth less than one task's own.
    bottom = 0.15 if len(ahead) else 0.9
    low, high = float(table["ratio"].min()), float(table["ratio"].max())
    if own is not None and own.high > 0:
        _mark_own(traces, own, (low, high), (bottom, top))
    tasks = sorted(table["j"].unique())
    both = table[table["rule"] == "forward_backward"]
    pairs = sorted({(j, k) for j, k in zip(both["j"], both["k"], strict=True)})
    for (rule, j, k), part in table.groupby(["rule", "j", "k"], sort=False):
        forward = rule == "forward"
        shades = _ORANGES if forward else _GREENS
        shade = shades[(tasks.index(j) if forward else pairs.index((j, k))) % len(shades)]
        name = f"forward, task {j}" if forward else f"forward and backward, task {j} of {k}"
        _add_curve(traces, part, name, shade, DASHES[str(rule)])
    for rule, part in ahead.groupby("rule", sort=False):
        name = _AHEAD[str(rule)].format(count=int(part["k"].iloc[0]))
        colour, dash = {"next": (DATA, "dashdot"), "ceiling": (COLOURS["reference"], "dot")}[str(rule)]
        _add_curve(traces, part[(part["ess"] >= bottom) & (part["ess"] <= top)], name, colour, dash)
    borders = [1.0 / max(tasks) ** 2, 1.0]
    for border, name in zip(borders, (f"n d² / σ² = 1/{max(tasks)}²", "n d² / σ² = 1"), strict=True):
        said = f"border of regimes, {name}"
        traces.straight([border, border], [bottom, top], said, width=1, dash="dot", showlegend=False)
    if own is not None and reached is not None and reached.own > 0:
        whose = NAMES.get(reached.rule, "before any label").lower()
        name = f"this run, {whose}: {reached.mean:,.1f} samples, mean of all tasks"
        colour = COLOURS.get(reached.rule, DATA)
        marker = {"symbol": "diamond", "size": 12, "color": colour, "line": {"width": 2}}
        _mark_run(traces, reached, float(np.clip(own.value, low, high)), unit=reached.own, name=name, marker=marker)
    return chart(
        traces,
        axis(
            "n d² / σ²  (change per step / noise of one average)",
            type="log",
            range=[np.log10(low), np.log10(high)],
            exponentformat="power",
            dtick=1,
        ),
        axis(
            "ESS / n",
            type="log",
            range=[np.log10(bottom), np.log10(top)],
            tickvals=[0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000],
        ),
        title="How many times its own samples is a task worth?",
        height=510,
        above=90,
        annotations=_regime_names(low, high, borders),
    )


def _add_curve(traces: Traces, part: pd.DataFrame, name: str, colour: str, dash: str) -> None:
    traces.line(
        part["ratio"],
        part["ess"],
        name,
        colour,
        dash=dash,
        hovertemplate="n d² / σ² = %{x:.2g}<br>ESS = %{y:.3g} n<extra>" + name + "</extra>",
    )


def _mark_run(traces: Traces, run: EffectiveSamples, x: float, *, unit: float = 1.0, **own: Any) -> None:  # noqa: ANN401
    """Draw what a run reached, with its interval, in units of so many samples."""
    interval = None
    if math.isfinite(run.low):
        interval = bars([(run.high - run.mean) / unit], [(run.mean - run.low) / unit], width=None)
    traces.add(
        x=[x],
        y=[run.mean / unit],
        mode="markers",
        error_y=interval,
        hovertemplate=f"this run: {samples_text(run)}<extra></extra>",
        **own,
    )


def _mark_own(traces: Traces, own: OwnRatio, within: tuple[float, float], ends: tuple[float, float]) -> None:
    """Draw the sequence's own ratio: a band for the interval, a line for the estimate."""
    (low, high), (bottom, top) = within, ends
    left, right = (float(np.clip(value, low, high)) for value in (own.low, own.high))
    traces.add(
        x=[left, right, right, left],
        y=[bottom, bottom, top, top],
        fill="toself",
        mode="none",
        fillcolor=rgba(COLOURS["single"], 0.2),
        name="its 95 % interval",
        hoverinfo="skip",
    )
    position = float(np.clip(own.value, low, high))
    reached = "" if own.value >= low else " (or smaller)"
    traces.add(
        x=[position, position],
        y=[bottom, top],
        mode="lines",
        name=f"{own.name}: n d² / σ² = {wording.number(own.value)}{reached}",
        line={"width": 2, "dash": "dash"},
        hovertemplate=f"{own.name}<br>n d² / σ² = {wording.number(own.value)}<extra></extra>",
    )
    if own.recent is not None:
        window, value = own.recent
        position = float(np.clip(value, low, high))
        name = f"its last change{'s' * (window > 1)}, W = {window}: {wording.number(max(value, 0.0))}"
        traces.straight([position, position], [bottom, top], name, None, width=1.5, dash="dot")


def _regime_names(low: float, high: float, borders: list[float]) -> list[dict[str, Any]]:
    """Return the names of the three regimes, above the plot."""
    edges = [low, *borders, high]
    names = ("proportional<br>to k", "grows like<br>1/√(n d²/σ²)", "little<br>to gain")
    return [
        {
            "x": np.log10(np.sqrt(left * right)),
            "y": 1.0,
            "xref": "x",
            "yref": "paper",
            "yanchor": "bottom",
            "text": name,
            "showarrow": False,
            "font": {"size": 12, "color": COLOURS["reference"]},
        }
        for name, left, right in zip(names, edges[:-1], edges[1:], strict=True)
        if right > left
    ]


def ess_parts_table(parts: ArrayLike, labels: Sequence[str]) -> pd.DataFrame:
    """Return one row per task: task (from 1), label and its `ess_parts`, an array of shape (k, 3)."""
    values = np.asarray(parts, dtype=np.float64)
    table = pd.DataFrame(values, columns=list(PARTS))
    table.insert(0, "task", np.arange(1, len(values) + 1))
    table.insert(1, "label", [str(label) for label in labels])
    table["ess"] = values.sum(axis=1)  # NaN where nothing is known
    return table


def ess_parts_chart(table: pd.DataFrame) -> go.Figure:
    """Return stacked effective sample sizes by task: own, preceding, succeeding; bars up to 120 tasks, areas above."""
    traces = Traces()
    colours = (COLOURS["single"], COLOURS["forward"], COLOURS["forward_backward"])
    few = len(table) <= BARS_UP_TO
    for name, colour in zip(PARTS, colours, strict=True):
        if not table[name].any():
            continue
        text = "<b>task %{x}</b> (%{customdata[0]})<br>" + name + ": %{customdata[1]:.1f}<br>all: %{customdata[2]:.1f}"
        common = {
            "x": table["task"],
            "y": table[name],
            "name": name,
            "customdata": table[["label", name, "ess"]].assign(label=table["label"].map(html.escape)),
            "hovertemplate": text + "<extra></extra>",
        }
        if few:
            traces.add(kind="bar", marker={"color": colour}, **common)
        else:
            area: dict[str, Any] = {"line": {"width": 0, "color": colour}, "fillcolor": rgba(colour, 0.85)}
            traces.add(mode="lines", stackgroup="parts", **area, **common)
    return chart(
        traces,
        axis("task", **task_ticks(table["label"].tolist())),
        axis("effective sample size", rangemode="tozero"),
        title="How many samples is each task worth?",
        height=400,
        order="normal",
        barmode="stack",
        bargap=0.15,
    )


def ess_growth_table(n: float, ratio: float, k: int, b: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return effective sample sizes as tasks arrive, and as b grows to at most 60, at a ratio n d² / σ².

    Columns rule, k, ess (forward: newest task; else mean), and b, ess, share (of the full gain over forward learning).
    """
    k, b = check_int("k", k, 1), check_int("b", b, 0)
    counts = np.arange(1, k + 1)
    d2 = ratio / n
    settled = theory.ess_forward_backward(counts, counts + b, n, d2)
    cumulated = np.concatenate([[0.0], np.cumsum(settled)])
    averages = []
    for number in range(1, k + 1):
        recent = np.arange(max(1, number - b), number + 1)  # these have fewer than b tasks after them
        new = theory.ess_forward_backward(recent, number, n, d2).sum()
        averages.append((cumulated[recent[0] - 1] + new) / number)
    newest = theory.ess_forward(counts, n, d2)
    by_k = pd.concat(
        [
            pd.DataFrame({"rule": "forward", "k": counts, "ess": newest}),
            pd.DataFrame({"rule": "forward_backward", "k": counts, "ess": averages}),
        ],
        ignore_index=True,
    )
    steps = np.arange(0, min(k - 1, _LARGEST_B) + 1)
    mean = np.array([theory.ess_forward_backward(counts, np.minimum(k, counts + b_), n, d2).mean() for b_ in steps])
    full = theory.ess_forward_backward(counts, k, n, d2).mean() - newest.mean()
    share = (mean - newest.mean()) / full if full > 0 else np.ones_like(mean)
    return by_k, pd.DataFrame({"b": steps, "ess": mean, "share": share})


def enough_steps(by_b: pd.DataFrame) -> int | None:
    """Return the smallest b in the table that reaches 95 % of the full gain, None if none does."""
    reached = by_b.loc[by_b["share"] >= _ENOUGH - 1e-12, "b"]
    return int(reached.iloc[0]) if len(reached) else None


def ess_growth(
    by_k: pd.DataFrame,
    by_b: pd.DataFrame,
    n: float,
    b: int,
    run: EffectiveSamples | None = None,
) -> go.Figure:
    """Return effective sample sizes against k and b, from `ess_growth_table`; what a run reached beside Theorem 4."""
    traces = Traces()
    names = {
        "forward": f"{NAMES['forward']}, Theorem 2: the newest task",
        "forward_backward": f"{NAMES['forward_backward']}, Theorem 4: mean over all tasks",
    }
    for rule, part in by_k.groupby("rule", sort=False):
        traces.line(
            part["k"],
            part["ess"],
            names[rule],
            COLOURS[rule],
            dash=DASHES[str(rule)],
            legendgroup=rule,
            hovertemplate="k = %{x}: ESS %{y:.1f}<extra></extra>",
            panel=1,
        )
    traces.line(
        by_b["b"],
        by_b["ess"],
        names["forward_backward"],
        COLOURS["forward_backward"],
        mode="lines+markers" if len(by_b) <= 40 else "lines",
        legendgroup="forward_backward",
        showlegend=False,
        customdata=100 * by_b["share"],
        hovertemplate="b = %{x}: ESS %{y:.1f}<br>%{customdata:.0f} % of the backward gain<extra></extra>",
        panel=2,
    )
    for column, last in ((1, float(by_k["k"].max())), (2, float(max(by_b["b"].max(), 1)))):
        shown: dict[str, Any] = {"legendgroup": "single", "showlegend": column == 1, "panel": column}
        name = f"{NAMES['single']}: n = {n:g}"
        traces.straight([0, last], [n, n], name, COLOURS["single"], width=2, dash="dot", **shown)
        if run is not None:
            shown |= {"legendgroup": "run", "name": f"this run, forward and backward: {samples_text(run)}"}
            marker = {"symbol": "diamond", "size": 10}
            _mark_run(traces, run, last if column == 1 else float(b), marker=marker, **shown)
    enough = enough_steps(by_b)
    if enough is not None and len(by_b) > 1:
        name = f"b = {enough} gives {100 * _ENOUGH:.0f} % of the backward gain"
        traces.straight([enough, enough], [0, float(by_b["ess"].max())], name, None, panel=2)
    return panels(
        traces,
        ("As tasks arrive", f"With b steps back (now {b})"),
        [
            axis("tasks k", **whole_numbers(int(by_k["k"].max()), 8)),
            axis("backward steps b", **whole_numbers(len(by_b), 8)),
        ],
        [axis("effective sample size", rangemode="tozero"), axis(rangemode="tozero")],
        gap=0.1,
        title="Do more tasks and more backward steps still help?",
        height=400,
    )


def bound_chart(table: pd.DataFrame, trivial: float) -> go.Figure:
    """Return the bound of Theorem 3, minimax risk and error of each task as multiples of the risk of guessing.

    `table` has columns task, label, single, forward, forward_backward (bounds), risk, error; `trivial` is 1 - 1/C.
    Multiples, since a bound above 1 is no probability: it only says how far it is from saying something.
    """
    traces = Traces()
    for rule, dash in DASHES.items():
        traces.line(
            table["task"],
            table[rule] / trivial,
            f"bound, {NAMES[rule].lower()}",
            COLOURS[rule],
            width=2,
            dash=dash,
            mode="lines+markers",
            hovertemplate="task %{x}: bound %{y:,.3g} times guessing<extra></extra>",
        )
    for column, name, symbol in (("risk", "minimax risk reached", "diamond"), ("error", "test error", "circle-open")):
        traces.add(
            x=table["task"],
            y=table[column] / trivial,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 8},
            customdata=[decimal(value) for value in table[column]],
            hovertemplate="task %{x}: %{customdata}<extra>" + name + "</extra>",
        )
    ends = [float(table["task"].min()), float(table["task"].max())]
    traces.straight(ends, [1.0, 1.0], f"guessing, {decimal(trivial, 2)}: a bound above says nothing")
    bounds, lowest = table[list(DASHES)].to_numpy(), table[["risk", "error"]].to_numpy()
    scale: dict[str, Any] = {"rangemode": "tozero"}
    if np.nanmin(lowest) > 0 and np.nanmax(bounds) > 3 * trivial:
        ticks = [10.0**power for power in range(-3, 13)]
        scale = {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.12g}" for tick in ticks]}
    return chart(
        traces,
        axis("task", **whole_numbers(len(table))),
        axis("times the risk of guessing", **scale),
        title="How far is the guarantee from saying something?",
        height=420,
    )


def parse_pairs(texts: Sequence[str]) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the pairs 1 <= j <= k <= 1,000,000 typed by a visitor, and the texts that are none, shortened.

    >>> parse_pairs(["10, 13", "5 4", "x"])
    ([(10, 13)], ['5 4', 'x'])
    """
    pairs, wrong = [], []
    for text in texts:
        pieces = text.replace(",", " ").replace(";", " ").split()
        digits = [piece for piece in pieces if piece.isascii() and piece.isdigit() and len(piece) <= 7]
        j, k = (int(digits[0]), int(digits[1])) if len(digits) == len(pieces) == 2 else (0, 0)
        if 1 <= j <= k <= _LARGEST_K:
            pairs.append((j, k))
        else:
            wrong.append(text[:30])
    return pairs, wrong


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
    risk = result.risk_tables["forward_backward"].final().mean(axis=0)
    error = result.error_tables["forward_backward"].final().mean(axis=0)
    inside = index < len(risk)  # a run that was stopped has fewer tasks
    return bounds[inside].assign(risk=risk[index[inside]], error=error[index[inside]])


def realised_chart(found: Sequence[Realised], n: int) -> go.Figure:
    """Return promised and realised samples of each rule with 95 % intervals.

    What is off the grid is said beside the row.
    """
    traces = Traces()
    names, notes = [], []
    most = max(found[0].most, *(one.promised.mean for one in found))
    for one in found:
        colour = COLOURS[one.rule]
        rows = (
            ("promised", one.promised.mean, one.promised.low, one.promised.high, "circle-open"),
            ("realised", one.value, one.low, one.high, "circle"),
        )
        for what, value, low, high, symbol in rows:
            name = f"{NAMES[one.rule]},<br>{what}"
            names.append(name)
            if math.isfinite(low):
                traces.straight([low, min(high, most)], [name, name], colour=rgba(colour, 0.45), width=5, dash=None)
            traces.add(
                x=[value if math.isfinite(value) else None],
                y=[name],
                mode="markers",
                name=name,
                marker={"size": 13, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}},
                hovertemplate="%{x:.1f} samples<extra></extra>",
            )
            if what == "realised" and not math.isfinite(value):
                notes.append((name, realised_text(one)))
    traces.straight([n, n], [names[-1], names[0]], "a task's own samples", COLOURS["single"], dash="dot")
    return chart(
        traces,
        axis(
            "samples a task is worth",
            type="log",
            range=[math.log10(min(found[0].least, n) * 0.9), math.log10(most * 1.05)],
        ),
        names_axis(names, range=[-0.6, len(names) - 0.4]),
        title="Do the errors show what was promised?",
        subtitle="bars: 95 % intervals; dotted: a task's own samples",
        height=110 + 46 * len(names),
        legend=False,
        annotations=[
            {"x": 0.02, "xref": "paper", "y": name, "xanchor": "left", "text": text, "showarrow": False}
            for name, text in notes
        ],
        hovermode="closest",
    )


_X = {"n": "samples n per task", "k": "tasks k", "b": "backward steps b"}


def plan_chart(table: pd.DataFrame, plan: Plan) -> go.Figure:
    """Return three panels: effective samples as n, k or b varies, with the band of the rate, the plan and the wish."""
    traces = Traces()
    colour = COLOURS["forward_backward" if plan.of == "mean" else "forward"]
    name = f"effective samples of {PLACES[plan.of]}"
    uncertain = plan.rate.low != plan.rate.high
    here = {"n": plan.n, "k": plan.k, "b": plan.b}
    ticks = []
    for number, vary in enumerate(_X, start=1):
        shown: dict[str, Any] = {"showlegend": number == 1, "panel": number}
        part = table[table["vary"] == vary]
        x = part["x"].to_numpy()
        ticks.append(whole_numbers(int(x.max()), 6))
        if uncertain:
            low, high = part["low"].to_numpy(), part["high"].to_numpy()
            traces.band(x, low, high, colour, 0.18, name="95 % interval of ρ", legendgroup="band", **shown)
        traces.line(
            x,
            part["value"],
            name,
            colour,
            mode="lines+markers" if vary == "b" else "lines",
            legendgroup="value",
            hovertemplate=f"{vary} = %{{x}}: %{{y:.1f}} samples<extra></extra>",
            **shown,
        )
        if plan.wish is not None:
            ends = [float(x.min()), float(x.max())]
            traces.straight(ends, [plan.wish] * 2, f"wanted: {plan.wish:,.3g}", legendgroup="wish", **shown)
        traces.add(
            x=[here[vary]],
            y=[plan.promised[plan.of].value],
            mode="markers",
            name="the plan",
            legendgroup="plan",
            marker={"symbol": "diamond", "size": 10},
            hovertemplate=f"the plan, {vary} = %{{x}}: %{{y:.1f}} samples<extra></extra>",
            **shown,
        )
    return panels(
        traces,
        [f"k = {plan.k}, b = {plan.b}", f"n = {plan.n}, b = {plan.b}", f"n = {plan.n}, k = {plan.k}"],
        [axis(text, **tick) for text, tick in zip(_X.values(), ticks, strict=True)],
        [axis("effective sample size", rangemode="tozero"), *[axis(rangemode="tozero")] * 2],
        gap=0.08,
        title="What would more samples, tasks or steps back be worth?",
        height=400,
    )
