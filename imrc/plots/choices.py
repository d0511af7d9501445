"""How the recommended preset uses past data, and how it differs from the paper's choices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.evaluation import RunResult
from imrc.evaluation.comparison import preset_in
from imrc.evaluation.words import with_error
from imrc.plots._panels import Traces, axis, panels
from imrc.plots._style import SHORT_NAMES
from imrc.wording import capital

RATES = {
    "rate 0": ("All tasks alike", "#0072B2"),
    "rate 0.1": ("Slow change (ρ = .1)", "#56B4E9"),
    "rate 1": ("Fast change (ρ = 1)", "#E69F00"),
    "rate inf": ("The task alone", "#D55E00"),
}
"""Names and colours of the rates of change that the recommended preset follows side by side."""


def choices_table(result: RunResult) -> pd.DataFrame:
    """Return step (from 1) and the share of each rate of change in the rules of tasks at hand, mean over repetitions.

    Rates that a run does not follow are left out.
    """
    shares = {name: result.choices[name].mean(axis=0) for name in RATES if name in result.choices}
    return pd.DataFrame({"step": np.arange(1, result.n_tasks + 1), **shares})


def choices_chart(table: pd.DataFrame) -> go.Figure:
    """Return the shares of the rates of change at each step, from `choices_table`."""
    x, traces = table["step"].to_numpy(), Traces()
    for name in table.columns[1:]:
        title, colour = RATES[name]
        traces.add(
            x=x,
            y=table[name].to_numpy(),
            name=title,
            mode="lines+markers" if len(x) <= 40 else "lines",
            line={"color": colour, "width": 2},
        )
    return panels(
        traces,
        ["Share in the rules, by how well each predicted"],
        [axis("step (tasks learnt)", tickformat="d", nticks=8)],
        [axis(range=[-0.05, 1.05], tickvals=[0, 0.5, 1], ticktext=["0 %", "50 %", "100 %"])],
        gap=0.0,
        title="How fast were tasks taken to change at each step?",
        height=340,
    )


def preset_numbers(paper: RunResult, other: RunResult) -> pd.DataFrame:
    """Return the numbers of `preset_table` in full: columns error, rule, preset, mean, stderr."""
    return pd.DataFrame(
        [
            {"error": kind, "rule": rule, "preset": run.settings.preset, "mean": one.mean, "stderr": one.stderr}
            for kind in other.scenario.kinds
            for rule in other.rules
            for run in (paper, other)
            for one in [run.headline(kind)[rule]]
        ]
    )


def preset_table(paper: RunResult, other: RunResult, title: str) -> pd.DataFrame:
    """Return the errors of two presets on the same draws side by side, ready to show; `title` names the other."""
    rows = [
        {
            capital(other.measure(kind)): words,
            "Rule": SHORT_NAMES[rule],
            capital(preset_in("paper", paper.settings.features)): with_error(paper.headline(kind)[rule]),
            title: with_error(other.headline(kind)[rule]),
        }
        for kind, words in other.scenario.kinds.items()
        for rule in other.rules
    ]
    return pd.DataFrame(rows)
