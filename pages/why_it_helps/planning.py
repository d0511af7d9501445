"""Realised effective samples, counted in errors, and the planner: what n, k and b are worth at a rate of change."""

from __future__ import annotations

import math

import streamlit as st

from imrc.core.settings import SETTINGS
from imrc.diagnostics import Assessment
from imrc.evaluation import RunResult, realised_samples
from imrc.evaluation.budget import Realised, realised_sentence, realised_text
from imrc.planning import (
    PLACES,
    Rate,
    advice,
    learning_curve,
    make_plan,
    out_of_reach,
    plan_table,
    promise_rows,
    samples_for,
    way_sentence,
)
from imrc.plots.ess import plan_chart, realised_chart
from pages.shell import charts, controls, links
from pages.shell.running import runs_by_n

_RATES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
_SOURCES = {"measured": "As measured", "guess": "A guess"}
_WISHES = {"ess": "Effective samples", "error": "Error"}
_MOST = 10_000


def _found(result: RunResult, *, kept: bool) -> list[Realised]:
    """Return what runs at several n show; nothing where they were not run to their end, or were not `kept`."""
    runs = runs_by_n(kept=kept)
    return realised_samples(runs, result.settings.n) if runs else []


def known(result: RunResult) -> str:
    """Say what the errors showed if somebody has asked for it already; otherwise nothing."""
    found = _found(result, kept=True)
    return realised_sentence(found, result.settings.n) if found else ""


def realised(result: RunResult) -> None:
    """Offer to count; runs at several n are needed, so nothing is run until somebody asks for it."""
    st.markdown("### How many samples of its own would a task need instead?")
    if not controls.toggle(
        "Count realised samples",
        "realised",
        "Runs several n, and finds the n at which a task alone makes as few errors.",
    ):
        return
    found = _found(result, kept=False)
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


def _rate(diagnosis: Assessment) -> Rate:
    measured = Rate(*diagnosis.ratio_at(1)) if diagnosis.change is not None else None
    source = controls.switch(
        "Rate of change ρ",
        _SOURCES,
        "plan_rate",
        "ρ = d² / σ²: the change from task to task in units of the variance of a sample. Measured: of the page "
        "*Is it evolving?*, with its interval.",
        among=list(_SOURCES) if measured else ["guess"],
    )
    if measured is not None and source == "measured":
        return measured
    return Rate.guess(
        st.select_slider(
            "ρ", _RATES, 0.1, key="plan_rho", bind="query-params", help="0.1 is usual.", format_func="{:g}".format
        )
    )


def _numbers(result: RunResult) -> dict[str, int]:
    now = {"n": result.settings.n, "k": result.n_tasks, "b": result.settings.b}
    found = {}
    for column, (name, value) in zip(st.columns(3), now.items(), strict=True):
        found[name] = int(
            column.number_input(
                SETTINGS[name].label,
                0 if name == "b" else 1,
                _MOST,
                value,
                key=f"plan_{name}",
                bind="query-params",
                help="Of the plan; the run keeps its own.",
            )
        )
    return found


def _wish(result: RunResult, kind: str) -> float:
    if kind == "ess":
        return st.number_input(
            "Effective samples wanted",
            1.0,
            1e6,
            4.0 * result.settings.n,
            key="plan_ess",
            bind="query-params",
            format="%g",
            help="As many samples as a task alone would need for the same result.",
        )
    return st.number_input(
        "Error wanted",
        0.0,
        1.0,
        0.2,
        0.01,
        key="plan_error",
        bind="query-params",
        format="%g",
        help="Between 0 and 1, on test samples.",
    )


def plan(result: RunResult, diagnosis: Assessment) -> None:
    """Show the planner for a run on a sequence and its diagnosis."""
    settings = result.settings
    links.start_anew(
        (result.fingerprint, settings.n, settings.b),
        plan_n=settings.n,
        plan_k=result.n_tasks,
        plan_b=settings.b,
        plan_ess=4.0 * settings.n,
    )
    left, right = st.columns(2)
    with left:
        rate = _rate(diagnosis)
    with right:
        kind = controls.switch(
            "Wish",
            _WISHES,
            "plan_wish",
            "An error is turned into effective samples by the errors of single-task learning at several n, which "
            "are run first.",
        )
        wanted = _wish(result, kind)
    numbers = _numbers(result)
    of = controls.switch(
        "Whose effective samples?",
        PLACES,
        "plan_of",
        "The mean over all tasks with b steps back; the last task; or the one after it, before it has samples.",
    )
    curve = None
    if kind == "error":
        runs = runs_by_n(kept=False)
        if not runs:
            return
        curve, error = learning_curve(runs), wanted
        wanted = samples_for(curve, error)
        if math.isnan(wanted):
            st.markdown(f"**{out_of_reach(curve, error)}**")
    plan = make_plan(rate, **numbers, ess=None if math.isnan(wanted) else wanted, of=of)
    st.markdown(f"**{advice(plan)}**")
    for way in plan.ways:
        st.markdown(f"* *{way.vary}*: {way_sentence(plan, way)}")
    table = plan_table(plan)
    charts.show(
        plan_chart,
        table,
        plan,
        name="plan-curves",
        alt=f"Effective samples of {PLACES[of]} against n, k and b, with the band of the rate. {advice(plan)}",
    )
    st.dataframe(promise_rows(plan, curve), hide_index=True)
    charts.csv(table, name=f"plan-{result.name}")
