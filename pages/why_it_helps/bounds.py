"""The bounds of Theorems 1 and 3 next to observed risks and errors, with controls for their two constants."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from imrc.diagnostics import Assessment
from imrc.evaluation import RunResult
from imrc.features import FEATURE_TITLES
from imrc.plots import ess
from imrc.report import guarantees
from imrc.wording import LOSSES
from pages.shell import assessing, charts, controls, formulas, links
from pages.shell.choice import PRESET_TITLES, Choice, loss_in_words
from pages.shell.running import guaranteed_result

_LARGEST_KAPPA = 1e9


def on_demand(choice: Choice, diagnosis: Assessment, one_ratio: NDArray[np.float64] | None) -> None:
    """Offer the bounds; for effective sample sizes of one ratio for all steps where they are given, else of the run."""
    st.markdown("### What do the theorems guarantee?")
    if not controls.toggle(
        "Show the bound", "ess_bound", "Solves the tasks with all samples first, which can take some seconds."
    ):
        st.markdown(
            "The errors above are measured. The theorems also bound the error probability beforehand, but in practice "
            "the bound is far above guessing: it explains why more samples help, not how small the error is."
        )
        return
    guaranteed = guaranteed_result()
    if guaranteed is None:
        return
    if guaranteed.settings.scenario != "multi_task":
        guaranteed = guaranteed.seen_as("continual")  # bounds are of what was learnt, not of what is averaged
    parts = ess.run_parts(guaranteed) if one_ratio is None else one_ratio
    sizes = {"single": parts[:, 0], "forward": parts[:, :2].sum(axis=1), "forward_backward": parts.sum(axis=1)}
    show(assessing.stand_ins(choice, guaranteed.settings.features), sizes, guaranteed, diagnosis)


def show(
    stand_in: guarantees.PlugIn, sizes: Mapping[str, NDArray[np.float64]], run: RunResult, diagnosis: Assessment
) -> None:
    """Say what the bounds are worth, and draw them for effective sample sizes by rule with what a run reached."""
    limit = guarantees.admissible_kappa(stand_in, diagnosis)
    allowed = limit.value if math.isfinite(limit.value) else limit.from_features
    suggested = min(float(math.ceil(max(allowed, 1.0))), _LARGEST_KAPPA)
    links.start_anew((run.fingerprint, diagnosis.representation), ess_kappa=suggested)
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
    table, trivial = guarantees.bound_table(stand_in, sizes, delta=delta, kappa=kappa)
    st.markdown(
        guarantees.vacuous_sentence(stand_in, table["forward_backward"] >= trivial, trivial, delta, kappa)
        + f" Risks and errors below are those of the {LOSSES['0-1']}, "
        + f"preset *{PRESET_TITLES[run.settings.preset]}{loss_in_words(run.settings)}*, "
        f"representation *{FEATURE_TITLES[run.settings.features.kind]}*. "
        + guarantees.order_sentence(diagnosis.verdict)
    )
    st.caption(f"{guarantees.constants_sentence(stand_in)} {guarantees.kappa_sentence(limit)}")
    charts.show(
        ess.bound_chart,
        ess.with_reached(table, run),
        trivial,
        name="ess-bound",
        alt="Bounds of Theorems 1 and 3 per task next to the minimax risk and the test error reached, all as multiples "
        f"of the risk of guessing, {trivial:.2f}.",
    )
    formulas.show("bound")
