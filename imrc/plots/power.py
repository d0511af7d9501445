"""What the diagnosis would say of sequences whose kind is known."""

from __future__ import annotations

import plotly.graph_objects as go

from imrc.diagnostics.power import KIND_NAMES, Power
from imrc.plots._panels import Traces, axis, chart, names_axis

_ANSWERS = {
    "named": ("this kind", "#0072B2"),
    "one_of_two": ("this kind or another", "#56B4E9"),
    "another": ("another kind", "#D55E00"),
    "nothing": ("no change or no order", "#9AA1AC"),
}
_WRITTEN = 0.1
"""Shares below are too narrow for their number."""


def power_chart(power: Power) -> go.Figure:
    """Return a bar for each kind a sequence could be of, divided by what is said of it; the verdict's is bold."""
    table = power.table
    here = power.verdict.split(" or ")
    names = [f"<b>{KIND_NAMES[kind]}</b>" if kind in here else KIND_NAMES[kind] for kind in table["kind"]]
    traces = Traces()
    for column, (name, colour) in _ANSWERS.items():
        percent = 100 * table[column]
        traces.add(
            kind="bar",
            orientation="h",
            x=percent,
            y=names,
            name=name,
            marker={"color": colour},
            text=[f"{value:.0f}" if value >= 100 * _WRITTEN else "" for value in percent],
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
