"""Realised effective samples on the page *Why it helps*: what was promised, counted in errors."""

from __future__ import annotations

import streamlit as st

import imrc
from imrc.evaluation import RunResult, realised_samples
from imrc.evaluation.realised import realised_sentence, realised_text
from imrc.plots.realised import realised_chart
from pages.ui import charts, controls, details


def show(result: RunResult, sequence: imrc.TaskSequence) -> None:
    """Offer to count; runs at several n are needed, so nothing is run until somebody asks for it."""
    st.markdown("### Do the errors show it?")
    if not controls.toggle(
        "Count realised samples",
        "realised",
        "Runs several n, and finds the n at which a task alone makes as few errors.",
    ):
        return
    runs = details.runs_by_n(result, sequence)
    if runs is None:
        return
    n = result.settings.n
    if len(runs) < 2:
        st.info("The tasks are too small for another n.", icon=":material/info:")
        return
    found = realised_samples(runs, n)
    st.markdown(realised_sentence(found, n))
    charts.show(
        realised_chart,
        found,
        n,
        name="realised-chart",
        alt="Effective samples promised and realised: "
        + ", ".join(
            f"{one.rule.replace('_', ' and ')} {one.promised.mean:.1f} and {realised_text(one)}" for one in found
        ),
    )
    st.caption(
        f"Realised: the n at which single-task learning makes as few errors on all tasks at the last step, between "
        f"{found[0].least} and {found[0].most}; intervals by bootstrap over repetitions. Where its errors do not fall "
        "clearly with n there is no number."
    )
