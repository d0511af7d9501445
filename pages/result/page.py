"""Result: one sentence, what one could do, what to do, and what to take away; below, one picture at a time."""

from typing import Any

import streamlit as st

from imrc.report import Report
from pages.result import box, landing, views
from pages.shell import controls, exporting, state
from pages.shell.running import current_report

visit = state.visit()
choice, sequence = visit.choice, visit.sequence()
lands = choice.dataset == landing.DATASET
if lands:
    landing.show()
level = "##" if lands else "#"
# What was there before stays, dimmed, until something new is drawn in its place.
headline = st.container()
box.scenario_switch()
left, right = st.columns([3, 2], gap="medium")
chart = left.container()
if not lands:
    with right:
        box.what_a_task_is(sequence)
drawn: dict[str, Any] = {}


def look(report: Report) -> None:
    """Draw what the first repetitions show: means, and from five on the sentence; what comes next is drawn over it."""
    place = drawn.get("sentence", headline)
    if not report.is_first_look:
        drawn["sentence"] = place.markdown(f"{level} {report.decision.sentence}")
    elif visit.report is None:  # else the sentence before stays, dimmed, so that nothing moves
        drawn["sentence"] = place.markdown(f"{level} On *{report.as_text(report.name)}*: a first look")
    if lands:  # the picture above has the same four bars
        return
    with chart:
        over = drawn.get("chart", (st, st))
        drawn["chart"] = box.strategies(report, name=f"decision-{report.run.settings.repetitions}", over=over)


report = current_report(first_look=look)
if report is None:
    st.stop()
drawn.get("sentence", headline).markdown(f"{level} {report.decision.sentence}")
if not lands:
    with chart:
        box.strategies(report, over=drawn.get("chart", (st, st)))
with right if lands else left:
    exporting.buttons(report, choice, sequence)
with left if lands else right:
    box.what_to_do(report, drawn=not lands)
views.show(report, sequence, decision=lands)
with controls.for_experts("experts") as fold:
    if fold.open:
        told = "All numbers, and what the rules promise for each task."
        controls.part("Show", views.EXPERTS, "expert", told)(report, sequence)
