"""What the diagnosis would say of sequences whose kind is known."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from imrc.diagnostics.power import KINDS
from imrc.plots._panels import Traces, axis, chart, names_axis

_ANSWERS = {
    "named": ("this kind", "#0072B2"),
    "two": ("two kinds", "#56B4E9"),
    "another": ("another kind", "#D55E00"),
    "nothing": ("no change or no order", "#9AA1AC"),
}
_WRITTEN = 10.0
"""Percentages below are too narrow for their number."""


def power_chart(table: pd.DataFrame, here: Sequence[str | None] = ()) -> go.Figure:
    """Return one bar for each kind a sequence could be of, divided by what the diagnosis says of it.

    `table` is from `power_table`; kinds named `here` are in bold.
    """
    names = [f"<b>{KINDS[kind][1]}</b>" if kind in here else KINDS[kind][1] for kind in table["kind"]]
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
