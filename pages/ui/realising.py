"""Realised effective samples on the page *Why it helps*: what was promised, counted in errors."""

from __future__ import annotations

import streamlit as st

import imrc
from imrc.evaluation import RunResult, realised_samples
from imrc.evaluation.realised import Realised, realised_sentence, realised_text
from imrc.plots.realised import realised_chart
from pages.ui import charts, controls, details


def _found(result: RunResult, sequence: imrc.TaskSequence, *, kept: bool) -> list[Realised]:
    """Return what runs at several n show; nothing where they were not run to their end, or were not `kept`."""
    runs = details.runs_by_n(result, sequence, kept=kept)
    return realised_samples(runs, result.settings.n) if runs is not None and len(runs) > 1 else []


def known(result: RunResult, sequence: imrc.TaskSequence) -> str:
    """Say what the errors showed if somebody has asked for it already; otherwise nothing."""
    found = _found(result, sequence, kept=True)
    return realised_sentence(found, result.settings.n) if found else ""


def show(result: RunResult, sequence: imrc.TaskSequence) -> None:
    """Offer to count; runs at several n are needed, so nothing is run until somebody asks for it."""
    st.markdown("### How many samples of its own would a task need instead?")
    if not controls.toggle(
        "Count realised samples",
        "realised",
        "Runs several n, and finds the n at which a task alone makes as few errors.",
    ):
        return
    found = _found(result, sequence, kept=False)
    if not found:
        st.info("The tasks are too small for another n.", icon=":material/info:")
        return
    n = result.settings.n
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
        f"Realised: the n at which single-task learning makes as few errors, between {found[0].least} and "
        f"{found[0].most}; intervals by bootstrap over repetitions. Where its errors do not fall clearly with n there "
        "is no number."
    )
