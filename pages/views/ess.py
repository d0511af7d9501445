"""Effective sample size: what the theorems promise for the chosen sequence."""

import numpy as np
import streamlit as st

from imrc.core import theory
from imrc.diagnostics import words
from imrc.plots import ess
from pages.ui import assessing, bounds, charts, data, formulas
from pages.ui.running import guaranteed_result
from pages.ui.words import plain

choice = st.session_state["choice"]
settings = choice.settings
sequence = data.current_sequence()
title, k, n = data.title_of(choice.dataset), len(sequence), settings.n
headline = st.container()
result = assessing.assessment(choice)
own, rho = None, None
if result.change is not None:
    rho, low, high = result.rho_at(n)
    own = ess.OwnRatio(rho, low, high, title)

OTHER_RUN = " The run is the one of the preset *Recommended, 0-1 rule* on the same draws: the theorems are about it."
PAIRS = ("10, 13", "10, 20", "100, 103", "100, 110")
texts = st.multiselect(
    "Pairs (task j, tasks k)",
    PAIRS,
    default=PAIRS,
    accept_new_options=True,
    max_selections=6,
    key="ess_pairs",
    bind="query-params",
    help="Type two numbers, for example `12, 40`: the 12th of 40 tasks. At most six pairs.",
)
pairs, wrong = ess.parse_pairs(texts)
if wrong:
    st.warning(f"Not a pair j, k with 1 ≤ j ≤ k ≤ 1,000,000: {', '.join(wrong)}.", icon=":material/build:")
alt = (
    "Effective sample size over n against n d² on logarithmic axes, forward and forward and backward, for the "
    f"pairs {', '.join(texts)}. " + (words.regime_sentence(rho, low, high, n) if own else "")
)
charts.show(ess.ess_curves, ess.ess_curve_table(pairs or [(10, 20)]), own, name="ess-curves", alt=alt)
formulas.show("ess_closed")
with st.expander("Notes on the three regimes", icon=":material/info:"):
    st.markdown(ess.REGIME_NOTES)

if rho is None:
    headline.markdown("# Too few tasks or samples to estimate how much the tasks change")
    st.stop()

run = guaranteed_result()
sources = ["diagnosis", "run"] if run is not None else ["diagnosis"]
source = st.radio(
    "Size of the change",
    sources,
    horizontal=True,
    key="ess_source",
    bind="query-params",
    format_func={"diagnosis": "One rate for all components", "run": "As estimated in the run"}.get,
    help="**One rate**: n d² / σ² from all samples (page *Evolving?*), the same for all components and steps. "
    "**Run**: equation (7) on the n samples drawn, largest component, as the theorems are stated; it counts sampling "
    "noise as change, so it promises less." + OTHER_RUN * (settings.learner.loss != "0-1"),
)
own_n = np.full(k, float(n))
parts = theory.ess_parts(own_n, 1.0, rho / n, settings.b) if source == "diagnosis" else ess.run_parts(run)
table = ess.ess_parts_table(parts, sequence.labels)
with headline:
    st.markdown(f"# {words.worth_sentence(table['ess'], n, tuple(map(plain, sequence.labels)), title)}")
    st.markdown(words.regime_sentence(rho, low, high, n))
    st.caption(f"{words.setting_sentence(result)} Verdict on the page *Evolving?*: {result.verdict.title}.")
alt = (
    f"Effective sample size of each of {k} tasks split into own samples, from preceding and from succeeding tasks. "
    f"Mean {table['ess'].mean():.1f}, own {n}."
)
charts.show(ess.ess_parts_chart, table, name="ess-parts", alt=alt)
formulas.show("ess_recursion")

by_k, by_b = ess.ess_growth_table(n, rho, k, settings.b)
enough = ess.enough_steps(by_b)
alt = (
    f"Effective sample size against the number of tasks and against backward steps b. b = {enough} gives 95 % of "
    "the backward gain."
)
charts.show(ess.ess_growth, by_k, by_b, n, settings.b, name="ess-growth", alt=alt)
formulas.show("steps")

if run is not None:
    sizes = {"single": own_n, "forward": parts[:, :2].sum(axis=1), "forward_backward": parts.sum(axis=1)}
    bounds.show(assessing.stand_ins(choice), sizes, run)
with st.expander("Numbers behind the charts", icon=":material/table:"):
    charts.table(table, name=f"ess-{sequence.name}", height=280)
