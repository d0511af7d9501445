"""What more samples, tasks or backward steps would be worth."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from imrc.planning import PLACES, Plan
from imrc.plots._axes import whole_numbers
from imrc.plots._panels import Traces, axis, panels
from imrc.plots._style import COLOURS

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
        traces.add(
            x=x,
            y=part["value"],
            mode="lines+markers" if vary == "b" else "lines",
            name=name,
            legendgroup="value",
            line={"color": colour, "width": 2.5},
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
