"""How the recommended presets use past data, and how they differ from the paper's choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.core.rates import RATES
from imrc.evaluation import RunResult
from imrc.evaluation.comparison import preset_in
from imrc.evaluation.words import with_error
from imrc.plots._panels import Traces, axis, panels
from imrc.plots._style import COLOURS, SHORT_NAMES
from imrc.wording import capital


def choices_table(result: RunResult) -> pd.DataFrame:
    """Return how past data were used: step (from 1), rate (geometric mean), low, high, transfer, pooled, penalty.

    `transfer`: share of repetitions that used the past; `pooled`: in which all stored samples counted alike; `penalty`:
    geometric mean of its factor. NaN where the preset does not choose.
    """
    steps = np.arange(1, result.n_tasks + 1)
    blank = np.full((1, result.n_tasks), np.nan)
    rates = result.choices.get("rate", blank)
    return pd.DataFrame(
        {
            "step": steps,
            "rate": np.exp(np.log(rates).mean(axis=0)),
            "low": rates.min(axis=0),
            "high": rates.max(axis=0),
            "transfer": result.choices.get("transfer", blank).mean(axis=0),
            "pooled": result.choices.get("pooled", blank).mean(axis=0),
            "penalty": np.exp(np.log(result.choices.get("penalty", blank)).mean(axis=0)),
        }
    )


def choices_chart(table: pd.DataFrame) -> go.Figure:
    """Return how past data were used at each step, from `choices_table`: a panel for each choice."""
    titles = {
        "rate": "Rate ρ = d² / σ²",
        "transfer": "Use of the past",
        "pooled": "All samples alike",
        "penalty": "Penalty factor",
    }
    titles = {name: title for name, title in titles.items() if name == "rate" or table[name].notna().all()}
    largest = 16 if table["penalty"].max() > 4.0 else 4
    shares = {"range": [-0.05, 1.05], "tickvals": [0, 0.5, 1], "ticktext": ["0 %", "50 %", "100 %"]}
    axes: dict[str, dict[str, Any]] = {
        "rate": {"type": "log", "tickvals": list(RATES), "range": [-2.2, 0.2]},
        "transfer": shares,
        "pooled": shares,
        "penalty": {
            "type": "log",
            "tickvals": [factor for factor in (1, 2, 4, 8, 16) if factor <= largest],
            "range": [-0.05, np.log10(largest) + 0.05],
        },
    }
    x = table["step"].to_numpy()
    colour, traces = COLOURS["reference"], Traces()
    spread = "Smallest to largest over repetitions"
    traces.band(x, table["low"].to_numpy(), table["high"].to_numpy(), colour, 0.15, name=spread)
    for panel, name in enumerate(titles, start=1):
        traces.add(
            x=x,
            y=table[name].to_numpy(),
            name="Mean over repetitions (rate and penalty: geometric)",
            showlegend=panel == 1,
            mode="lines+markers" if len(x) <= 40 else "lines",
            line={"color": colour, "width": 2},
            panel=panel,
        )
    return panels(
        traces,
        list(titles.values()),
        [axis("step (tasks learnt)", tickformat="d", nticks=8)] * len(titles),
        [axis(**axes[name]) for name in titles],
        gap=0.09,
        title="How were past data used at each step?",
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
