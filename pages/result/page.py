"""Result: what a task is, what could be done, what should be, and everything behind it on demand."""

import streamlit as st

from pages.result import details, landing, overview
from pages.shell import data, exporting, state, stored
from pages.shell.running import current_result

visit = state.visit()
choice = visit.choice
sequence = visit.sequence()
title = data.title_of(choice.dataset)
lands = choice.dataset == landing.DATASET
if lands:
    landing.show()
headline_slot, picker_slot = st.container(), st.container()
with picker_slot:
    stored.picker()
if not lands:
    overview.pictures(sequence)
result = current_result()
if result is None:
    st.stop()
references = overview.references(result, sequence)
decision = overview.decision_of(result, sequence, title, references)
with headline_slot:
    st.markdown(f"{'##' if lands else '#'} {decision.sentence}")
with overview.decision_box(decision, result):
    exporting.model_buttons(choice, sequence, decision)
    exporting.report_button(choice, sequence, result, references)
    overview.scenario_switch()
st.divider()
details.shown(result, sequence, references)
