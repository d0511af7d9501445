"""Effective sample size: what the theorems promise for the chosen sequence."""

import numpy as np
import streamlit as st

from imrc.core import theory
from imrc.diagnostics import words
from imrc.evaluation import effective_samples, theorem_4
from imrc.evaluation.words import borrowing_note, theorem_4_sentence, worth_sentence
from imrc.plots import ess
from pages.ui import assessing, bounds, charts, data, formulas, state
from pages.ui.running import current_result, guaranteed_result

visit = state.visit()
choice = visit.choice
settings = choice.settings
sequence = visit.sequence()
title, n = data.title_of(choice.dataset), settings.n
headline = st.container()
result = assessing.assessment(choice)
run = current_result()
ratio = result.ratio_at(n) if result.change is not None else None
own = ess.OwnRatio(*ratio, title) if ratio else None

PAIRS = tuple(f"{j}, {k}" for j, k in ess.PAIRS)
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
    f"pairs {', '.join(texts)}. " + (words.regime_sentence(result, n) if own else "")
)
charts.show(ess.ess_curves, ess.ess_curve_table(pairs or [(10, 20)]), own, name="ess-curves", alt=alt)
formulas.show("ess_closed")
with st.expander("Notes on the three regimes", icon=":material/info:"):
    st.markdown(formulas.REGIME_NOTES)

TOO_FEW = "Too few tasks or samples to estimate how much the tasks change."
if run is None:
    headline.markdown(f"# {title}: effective sample size" if ratio else f"# {TOO_FEW}")
    st.stop()

worth = effective_samples(run)
with headline:
    st.markdown(f"# {worth_sentence(worth, title)}")
    for text in filter(None, (borrowing_note(worth), "" if ratio else TOO_FEW)):
        st.markdown(text)
    if ratio:
        theorem, full = (theorem_4(n, ratio, run.n_tasks, b) for b in (settings.b, None))
        st.markdown(theorem_4_sentence(worth, theorem, full.mean, run))
        st.markdown(words.regime_sentence(result, n))
    st.caption(f"{words.setting_sentence(result)} Verdict on the page *Evolving?*: {result.verdict.title}.")

SOURCES = {"run": "As estimated in the run", "diagnosis": "One ratio measured on all samples"}
source = st.radio(
    "Size of the change",
    list(SOURCES) if ratio else ["run"],
    horizontal=True,
    key="ess_source",
    bind="query-params",
    format_func=SOURCES.get,
    help="**Run**: what the rules had, step by step, from the n samples drawn; the mean is the number above. **One "
    "ratio**: Theorems 2 and 4 at the n d² / σ² of all samples (page *Evolving?*), the same for all components and "
    "steps.",
)
own_n = np.full(run.n_tasks, float(n))
by_theorem = theory.ess_parts(own_n, 1.0, ratio[0] / n, settings.b) if ratio else None
parts = ess.run_parts(run) if source == "run" else by_theorem
table = ess.ess_parts_table(parts, run.labels)
alt = (
    f"Effective sample size of each of {run.n_tasks} tasks split into own samples, from preceding and from succeeding "
    f"tasks. Mean {table['ess'].mean():.1f}, own {n}."
)
charts.show(ess.ess_parts_chart, table, name="ess-parts", alt=alt)
formulas.show("ess_recursion")

if ratio:
    by_k, by_b = ess.ess_growth_table(n, ratio[0], run.n_tasks, settings.b)
    enough = ess.enough_steps(by_b)
    alt = (
        "Effective sample size by Theorem 4 against the number of tasks and against backward steps b, with what the "
        f"run reached, {worth.mean:.1f}. b = {enough} gives 95 % of the backward gain."
    )
    charts.show(ess.ess_growth, by_k, by_b, n, settings.b, run=worth, name="ess-growth", alt=alt)
    formulas.show("steps")

guaranteed = guaranteed_result()
if guaranteed is not None:
    bounded = by_theorem if source == "diagnosis" else ess.run_parts(guaranteed)
    sizes = {"single": bounded[:, 0], "forward": bounded[:, :2].sum(axis=1), "forward_backward": bounded.sum(axis=1)}
    bounds.show(assessing.stand_ins(choice), sizes, guaranteed, result)
with st.expander("Numbers behind the charts", icon=":material/table:"):
    charts.table(table, name=f"ess-{sequence.name}", height=280)
