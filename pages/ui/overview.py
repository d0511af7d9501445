"""The cards at the top of Explore and the comparison with the paper's choices."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from imrc.core.settings import DESCRIPTIONS
from imrc.evaluation import Difference, RunResult, effective_samples
from imrc.evaluation.results import HEADLINES
from imrc.evaluation.words import borrowing_note, interval_text, with_error
from imrc.plots.choices import preset_table
from imrc.plots.runs import run_choices
from imrc.wording import LOSSES, RISKS, RULES, decimal
from pages.ui import charts
from pages.ui.running import current_result

_RISK_NOTES = {
    "0-1": (
        "Value of problem (3) for forward and backward learning, averaged like the errors. It bounds the error of the "
        "randomised rule if the true distribution lies in the uncertainty set; an early-stopped solver and few "
        "instances can make it too low."
    ),
    "log": (
        "Worst-case log loss (in nats) of the forward and backward rule over its uncertainty set, penalty included. No "
        "bound on the error: choose a preset with the 0-1 rule where a guarantee is wanted."
    ),
}

_SLOW_S = 3.0
"""Slower runs are repeated with the paper's choices only on request."""


def change_text(difference: Difference) -> str:
    """Return a difference with its sign and its error, as the cards show it."""
    sign = "+" if difference.mean > 0 else ""
    return sign + with_error(difference).replace("-", "−")


def change_colour(difference: Difference) -> Literal["green", "orange", "off"]:
    """Green: clearly fewer errors. Orange: clearly more. Off: may be noise."""
    if not difference.clear:
        return "off"
    return "green" if difference.mean < 0 else "orange"


def cards(result: RunResult) -> None:
    """Show errors, effective samples, risk and time."""
    repetitions = result.settings.repetitions
    spread = f"± one standard error over {repetitions} repetitions" if repetitions > 1 else "one repetition"
    row = st.container(horizontal=True)
    for rule, headline in result.headline().items():
        difference = result.difference(rule)
        row.metric(
            f"Error, {RULES[rule].lower()}",
            with_error(headline),
            "reference" if rule == "single" else change_text(difference),
            delta_color=change_colour(difference) if rule != "single" else "off",
            delta_arrow="off",
            border=True,
            help=f"Average error: {HEADLINES['average']}, {spread}. Below: "
            "paired difference to single-task learning, green or orange where its 95 % interval leaves out 0.",
        )
    row = st.container(horizontal=True)
    worth = effective_samples(result)
    card = row.container(border=True)
    card.metric(
        "Effective samples",
        f"{worth.mean:,.1f}",
        f"own {worth.own:g}; {interval_text(worth)}",
        delta_color="off",
        delta_arrow="off",
        help="How many samples a task is worth with forward and backward learning: its effective sample size at the "
        "last step, by the recursions of Theorems 1 and 3 with estimated variances and changes. Mean over tasks and "
        "repetitions with a 95 % interval; valid if the tasks evolve as assumed.",
    )
    card.caption(f"If the tasks evolve. {borrowing_note(worth)}")
    risk = float(result.risk_tables["forward_backward"].average().mean())
    row.metric(RISKS[result.loss], decimal(risk), border=True, help=_RISK_NOTES[result.loss])
    row.metric(
        "Time per task",
        f"{1000 * result.time_s.mean() / repetitions:.1f} ms",
        border=True,
        help="Time to learn and test one task with all three rules, per repetition.",
    )


def against_the_paper(result: RunResult) -> None:
    """Compare the preset with the paper's choices on the same draws."""
    preset = result.settings.preset
    if preset == "paper" or result.settings.overrides:
        return
    st.markdown("## What changed against the paper's choices?")
    st.markdown(DESCRIPTIONS[result.settings.learner.preset])
    if not st.toggle(
        "Show both on the same draws",
        value=result.time_s.sum() <= _SLOW_S,
        key="against_paper",
        bind="query-params",
        help="Also runs the paper's choices, which takes about as long as the run itself, and shows what was selected "
        "at each step.",
    ):
        return
    paper = current_result(preset="paper")
    if paper is None:
        return
    st.caption(f"Rules shown: Paper, {LOSSES[paper.loss]}; Recommended, {LOSSES[result.loss]}. Same draws.")
    charts.table(preset_table(paper, result, "Recommended"), name=f"presets-{result.name}")
    charts.show(
        run_choices,
        result,
        name="choices",
        alt="Rate of change chosen by likelihood at each step, the share of repetitions that use the past, and the "
        "factor of the penalty.",
    )
