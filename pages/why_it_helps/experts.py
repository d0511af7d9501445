"""For experts, on the page *Why it helps*: regimes and formulas, the guarantee, the numbers behind the charts."""

from __future__ import annotations

import math

import streamlit as st

from imrc.features import FEATURE_TITLES
from imrc.plots import ess
from imrc.report import Report, guarantees
from imrc.report.worth import next_task_sentence
from imrc.wording import LOSSES
from pages.shell import assessing, charts, controls, formulas
from pages.shell.choice import PRESET_TITLES, Choice, loss_in_words
from pages.shell.running import guaranteed_result

_LARGEST_KAPPA = 1e9


def show(choice: Choice, report: Report) -> None:
    """Show one part of what only experts ask."""
    about = "Where the curves come from, how far the theorems' guarantee is from saying something, and all numbers."
    controls.part("Show", _PARTS, "ess_part", about)(choice, report)


def _regimes(_choice: Choice, _report: Report) -> None:
    formulas.show("ess_closed")
    st.markdown(formulas.REGIME_NOTES)


def _numbers(_choice: Choice, report: Report) -> None:
    for text in report.worth[2 + (len(report.curve) > 1) :]:
        st.markdown(text)
    found = report.diagnosis
    ratio = found.ratio_at(report.n) if found is not None and found.change is not None else None
    if said := next_task_sentence(report.run, ratio):
        st.markdown(said)
    formulas.show("ess_recursion")
    table = ess.ess_parts_table(ess.run_parts(report.run), report.run.labels)
    charts.table(table, name=f"ess-{report.run.name}", height=280)


def _guarantee(choice: Choice, report: Report) -> None:
    """Say what the bounds are worth, and draw them with what a run reached."""
    diagnosis = report.diagnosis
    run = guaranteed_result()
    if run is None or diagnosis is None:
        return
    if run.settings.scenario != "multi_task":
        run = run.seen_as("continual")  # bounds are of what was learnt, not of what is averaged
    stand_in = assessing.stand_ins(choice, run.settings.features)
    limit = guarantees.admissible_kappa(stand_in, diagnosis)
    allowed = limit.value if math.isfinite(limit.value) else limit.from_features
    suggested = min(float(math.ceil(max(allowed, 1.0))), _LARGEST_KAPPA)
    controls.start_anew((run.fingerprint, diagnosis.representation), ess_kappa=suggested)
    left, right = st.columns(2)
    kappa = left.number_input(
        "κ (sub-Gaussian ratio)",
        1.0,
        _LARGEST_KAPPA,
        suggested,
        key="ess_kappa",
        bind="query-params",
        format="%g",
        help="Sub-Gaussian parameters of features and changes over the standard deviations used. 1 is the most "
        "favourable value: normal features and changes whose standard deviations are known exactly. Default: the value "
        "that the paper allows for any bounded features.",
    )
    delta = right.select_slider(
        "δ (1 − confidence)",
        [0.001, 0.01, 0.05, 0.1, 0.2],
        0.05,
        key="ess_delta",
        bind="query-params",
        help="The bound holds with probability 1 − δ.",
    )
    parts = ess.run_parts(run)
    sizes = {"single": parts[:, 0], "forward": parts[:, :2].sum(axis=1), "forward_backward": parts.sum(axis=1)}
    table, trivial = guarantees.bound_table(stand_in, sizes, delta=delta, kappa=kappa)
    st.markdown(
        guarantees.vacuous_sentence(stand_in, table["forward_backward"] >= trivial, trivial, delta, kappa)
        + f" Risks and errors below are those of the {LOSSES['0-1']}, "
        + f"preset *{PRESET_TITLES[run.settings.preset]}{loss_in_words(run.settings)}*, "
        f"representation *{FEATURE_TITLES[run.settings.features.kind]}*. "
        + guarantees.order_sentence(diagnosis.verdict)
    )
    charts.show(
        ess.bound_chart,
        ess.with_reached(table, run),
        trivial,
        name="ess-bound",
        alt="Bounds of Theorems 1 and 3 per task next to the minimax risk and the test error reached, all as multiples "
        f"of the risk of guessing, {trivial:.2f}.",
    )
    st.caption(f"{guarantees.constants_sentence(stand_in)} {guarantees.kappa_sentence(limit)}")
    formulas.show("bound")


_PARTS = {
    "regimes": ("Regimes and formulas", _regimes),
    "guarantee": ("The guarantee", _guarantee),
    "numbers": ("Numbers", _numbers),
}
