"""The bounds of Theorems 1 and 3 beside what was reached, with their two constants to choose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from imrc.core.settings import RULE_NAMES
from imrc.diagnostics import guarantees, words
from imrc.evaluation import RunResult
from imrc.plots import ess
from pages.ui import charts, formulas
from pages.ui.choice import PRESET_TITLES


def show(stand_in: guarantees.PlugIn, sizes: Mapping[str, NDArray[np.float64]], run: RunResult) -> None:
    """Draw the bounds for effective sample sizes by rule, with risks and errors of a run."""
    left, right = st.columns(2)
    kappa = left.slider(
        "κ (sub-Gaussian ratio)",
        1.0,
        5.0,
        1.0,
        0.1,
        key="ess_kappa",
        bind="query-params",
        help="At least 1; 1 is the most favourable value.",
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
        words.vacuous_sentence(stand_in, table["forward_backward"] >= trivial, trivial, delta, kappa)
        + f" Risks and errors below are those of the {RULE_NAMES['0-1']}, "
        + f"preset *{PRESET_TITLES[run.settings.preset]}*. What is guaranteed without reserve is the order: more "
        + "effective samples, smaller margin."
    )
    st.caption(words.constants_sentence(stand_in))
    charts.show(
        ess.bound_chart,
        ess.with_reached(table, run),
        trivial,
        name="ess-bound",
        alt="Bounds of Theorems 1 and 3 per task next to the minimax risk and the test error reached, and the risk of "
        f"guessing, {trivial:.2f}.",
    )
    formulas.show("bound")
