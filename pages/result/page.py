"""Result: one sentence, what to do, what to take away, what you could do; below, one picture at a time."""

from typing import Any

import streamlit as st

from imrc.report import Report
from pages.result import views
from pages.shell import controls, exporting, state
from pages.shell.running import current_report, whole

visit = state.visit()
choice, sequence = visit.choice, visit.sequence()
lands = choice.dataset == views.LANDING
if lands:
    views.landing(choice.settings.n)
level = "##" if lands else "#"
# What was there before stays, dimmed, until something new is drawn in its place.
headline = st.container(key="lower_headline" if lands else "headline")
headline.empty()  # a container of nothing would take no room
with st.container(key="to_do"):
    to_do, to_take = st.columns([7, 9], gap="small", vertical_alignment="center")
with st.container(key="closer" if lands else "above"):
    left, below = st.columns([1, 2] if lands else [3, 2], gap="medium")
chart = left.container(key="could_do")
chart.empty()  # as above
judged = (left if lands else st).container(horizontal=True, vertical_alignment="center")
with judged:
    views.scenario_switch()
if not lands:  # its picture is above
    with below:
        views.what_a_task_is(sequence)
    below = st.container()
drawn: dict[str, Any] = {}


def sentence(report: Report) -> str:
    """Return the headline; below the landing's picture, which has errors of its own, it says whose errors these are."""
    decision = report.decision
    return f"{level} With your settings, {decision.finding}." if lands else f"{level} {decision.sentence}"


def look(report: Report) -> None:
    """Draw what the first repetitions show: means, and from five on the sentence; what comes next is drawn over it."""
    place = drawn.get("sentence", headline)
    if not report.is_first_look:
        drawn["sentence"] = place.markdown(sentence(report))
    elif visit.report is None:  # else the sentence before stays, dimmed, so that nothing moves
        drawn["sentence"] = place.markdown(f"{level} On *{report.as_text(report.name)}*: a first look")
    over = drawn.get("chart", (chart, chart))
    drawn["chart"] = views.strategies(report, name=f"decision-{report.run.settings.repetitions}", over=over)


report = current_report(first_look=look)
if report is None:
    st.stop()
drawn.get("sentence", headline).markdown(sentence(report))
with to_do:
    st.markdown(f"{level}# What to do: **{report.decision.action}**")
with to_take:
    exporting.buttons(report, choice, sequence)
with chart:
    views.strategies(report, over=drawn.get("chart", (st, st)))
with judged:
    views.how_judged(report)
with below:  # one picture at a time; the others are not computed
    told = "One chart at a time shows what is behind the answer above."
    controls.part("Look closer", views.VIEWS, "view", told, label_visibility="collapsed")(report, sequence)
with controls.for_experts("experts") as fold:
    if fold.open:
        draw = controls.part("Show", views.EXPERTS, "expert", "All numbers, and what the rules promise for each task.")
        if (full := whole(report)) is not None:
            draw(full, sequence)
