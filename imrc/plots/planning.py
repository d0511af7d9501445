"""What more samples, tasks or backward steps would be worth."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from imrc.planning import PLACES, Plan
from imrc.plots._axes import whole_numbers
from imrc.plots._panels import Traces, axis, panels
from imrc.plots._style import COLOURS, band

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
        part = table[table["vary"] == vary]
        x = part["x"].to_numpy()
        ticks.append(whole_numbers(int(x.max()), 6))
        if uncertain:
            traces.add(
                **band(x, part["low"].to_numpy(), part["high"].to_numpy(), colour, 0.18),
                name="95 % interval of ρ",
                legendgroup="band",
                showlegend=number == 1,
                panel=number,
            )
        traces.add(
            x=x,
            y=part["value"],
            mode="lines+markers" if vary == "b" else "lines",
            name=name,
            legendgroup="value",
            showlegend=number == 1,
            line={"color": colour, "width": 2.5},
            hovertemplate=f"{vary} = %{{x}}: %{{y:.1f}} samples<extra></extra>",
            panel=number,
        )
        if plan.wish is not None:
            traces.add(
                x=[float(x.min()), float(x.max())],
                y=[plan.wish] * 2,
                mode="lines",
                name=f"wanted: {plan.wish:,.3g}",
                legendgroup="wish",
                showlegend=number == 1,
                line={"color": COLOURS["reference"], "width": 1.5, "dash": "dash"},
                hoverinfo="skip",
                panel=number,
            )
        traces.add(
            x=[here[vary]],
            y=[plan.promised[plan.of].value],
            mode="markers",
            name="the plan",
            legendgroup="plan",
            showlegend=number == 1,
            marker={"symbol": "diamond", "size": 10, "color": COLOURS["truth"]},
            hovertemplate=f"the plan, {vary} = %{{x}}: %{{y:.1f}} samples<extra></extra>",
            panel=number,
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
