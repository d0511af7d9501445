"""Why it helps: what errors showed, and beside it how many samples a task is worth by the theorems and in the run."""

import numpy as np
import streamlit as st

from imrc.core import theory
from imrc.diagnostics import tracks, words
from imrc.evaluation import effective_samples, theorem_4
from imrc.evaluation.budget import RANGE
from imrc.evaluation.effective import borrowing_note
from imrc.plots import ess
from imrc.report.sentences import (
    measured_sentence,
    next_task_sentence,
    reason_sentence,
    theorem_4_sentence,
    worth_sentence,
)
from pages.shell import assessing, charts, controls, data, formulas, links, state
from pages.shell.running import current_report, current_result
from pages.why_it_helps import bounds, planning

visit = state.visit()
choice = visit.choice
settings = choice.settings
sequence = visit.sequence()
title, n, k = data.title_of(choice.dataset), settings.n, len(sequence)
headline = st.container()
result = assessing.assessment(choice)
run = current_result()
worth = effective_samples(run) if run is not None else None
ratio = result.ratio_at(n) if result.change is not None else None
W = settings.learner.W
recent = None if W == "all" else (W, tracks.recent_ratio(result, W, n))
own = ess.OwnRatio(*ratio, title, recent) if ratio else None

OWN_PAIR, PAIRS = f"{max(1, k // 2)}, {k}", tuple(f"{j}, {k}" for j, k in ess.PAIRS)
links.start_anew(k, ess_pairs=[OWN_PAIR])
chart = st.container()
with st.expander("Other tasks, and the paper's curves", icon=":material/stacked_line_chart:"):
    texts = st.multiselect(
        "Pairs (task j, tasks k)",
        list(dict.fromkeys((OWN_PAIR, *PAIRS))),
        default=[OWN_PAIR],
        accept_new_options=True,
        max_selections=6,
        key="ess_pairs",
        bind="query-params",
        placeholder="Type two numbers, such as 12, 40",
        help="Type two numbers, for example `12, 40`: the 12th of 40 tasks. At most six pairs.",
    )
    every = controls.toggle("The six curves of the paper", "ess_paper", "Also j = 10 and 100.")
    st.markdown(formulas.REGIME_NOTES)
pairs, wrong = ess.parse_pairs([*texts, *(PAIRS if every else ())])
if wrong:
    st.warning(f"Not a pair j, k with 1 ≤ j ≤ k ≤ 1,000,000: {', '.join(wrong)}.", icon=":material/build:")
pairs = pairs or [(max(1, k // 2), k)]
alt = (
    "Effective sample size over n against n d² / σ² on logarithmic axes, forward and forward and backward, for the "
    f"pairs {pairs}, and of the next task before any of its samples, with its ceiling. "
    + (words.regime_sentence(result, n) if own else "")
)
with chart:
    charts.show(ess.ess_curves, ess.ess_curve_table(pairs, after=k), own, worth, name="ess-curves", alt=alt)
    formulas.show("ess_closed")

TOO_FEW = "Too few tasks or samples to estimate how much the tasks change."
if run is None or worth is None:
    headline.markdown(f"# {title}: effective sample size" if ratio else f"# {TOO_FEW}")
    st.stop()

with headline:
    st.markdown(f"# {measured_sentence(run, title)}")
    decided = st.empty()
    shown, promised = planning.known(run), worth_sentence(run)
    said = (reason_sentence(run, result), shown, promised if shown else f"{promised} {RANGE}")
    for text in filter(None, (*said, next_task_sentence(run, ratio), "" if ratio else TOO_FEW)):
        st.markdown(text)
    st.caption(f"{borrowing_note(worth)} Verdict on the page *Is it evolving?*: {result.verdict.title}.")

# Theorem 4 is about forward and backward learning, which looks at tasks again.
BACKWARD = run.scenario.main == "forward_backward"
SOURCES = {"run": "As estimated in the run", "diagnosis": "One ratio measured on all samples"}
source = controls.switch(
    "Size of the change",
    SOURCES,
    "ess_source",
    "**Run**: what the rules had, step by step, from the n samples drawn; the mean is the number above. **One "
    "ratio**: Theorems 2 and 4 at the n d² / σ² of all samples (page *Is it evolving?*), the same for all components "
    "and steps.",
    among=list(SOURCES) if ratio and BACKWARD else ["run"],
)
own_n, b = np.full(run.n_tasks, float(n)), settings.reach(run.n_tasks)
by_theorem = theory.ess_parts(own_n, 1.0, ratio[0] / n, b) if ratio else None
parts = ess.run_parts(run) if source == "run" else by_theorem
table = ess.ess_parts_table(parts, run.labels)
alt = (
    f"Effective sample size of each of {run.n_tasks} tasks split into own samples, from preceding and from succeeding "
    f"tasks. Mean {table['ess'].mean():.1f}, own samples {n}."
)
charts.show(ess.ess_parts_chart, table, name="ess-parts", alt=alt)
formulas.show("ess_recursion")

if ratio and BACKWARD:
    theorem, full = (theorem_4(n, ratio, run.n_tasks, steps) for steps in (b, None))
    st.markdown(theorem_4_sentence(worth, theorem, full.mean, run))
    by_k, by_b = ess.ess_growth_table(n, ratio[0], run.n_tasks, b)
    enough = ess.enough_steps(by_b)
    alt = (
        "Effective sample size by Theorem 4 against the number of tasks and against backward steps b, with what the "
        f"run reached, {worth.mean:.1f}. b = {enough} gives 95 % of the backward gain."
    )
    charts.show(ess.ess_growth, by_k, by_b, n, b, run=worth, name="ess-growth", alt=alt)
    formulas.show("steps")

planning.realised(run)

st.markdown("### What would more samples, tasks or steps back be worth?")
if controls.toggle(
    "Plan",
    "plan",
    "What other n, k and b are worth at this rate of change or another one, and what a target would take.",
):
    planning.plan(run, result)

bounds.on_demand(choice, result, by_theorem if source == "diagnosis" else None)
with st.expander("Numbers behind the charts", icon=":material/table:"):
    charts.table(table, name=f"ess-{sequence.name}", height=280)

# The decision of this run, word for word as on *Result*; what it is compared with may have to be run first.
report = current_report(diagnosed=True)
if report is not None:
    decided.markdown(report.decision.sentence)
