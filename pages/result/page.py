"""Result: one sentence, what one could do, what to do, and what to take away; below, one picture at a time."""

from typing import Any

import streamlit as st

from imrc.report import Report
from pages.result import views
from pages.shell import controls, exporting, state
from pages.shell.running import current_report

visit = state.visit()
choice, sequence = visit.choice, visit.sequence()
lands = choice.dataset == views.LANDING
if lands:
    views.landing()
level = "##" if lands else "#"
# What was there before stays, dimmed, until something new is drawn in its place.
headline = st.container(key="headline")
if not lands:
    views.scenario_switch()
# The landing has its picture above: what to do is beside the closer look; elsewhere it is beside what one could do.
with st.container(key="closer" if lands else "answer"):
    words, picture = st.columns([1, 2], gap="medium") if lands else st.columns([3, 2], gap="medium")[::-1]
chart = picture.container()
with words:
    if lands:
        views.scenario_switch()
    else:
        views.what_a_task_is(sequence)
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
        drawn["chart"] = views.strategies(report, name=f"decision-{report.run.settings.repetitions}", over=over)


report = current_report(first_look=look)
if report is None:
    st.stop()
drawn.get("sentence", headline).markdown(f"{level} {report.decision.sentence}")
if not lands:
    with chart:
        views.strategies(report, over=drawn.get("chart", (st, st)))
with words:
    views.what_to_do(report, drawn=not lands)
with words if lands else picture:
    exporting.buttons(report, choice, sequence)
with picture if lands else st.container():
    views.show(report, sequence, decision=lands)
with controls.for_experts("experts") as fold:
    if fold.open:
        told = "All numbers, and what the rules promise for each task."
        controls.part("Show", views.EXPERTS, "expert", told)(report, sequence)
