"""Explore: what forward and backward learning do on the chosen sequence."""

import streamlit as st

from imrc.evaluation.words import summary, with_error
from imrc.plots.heatmaps import TITLES
from imrc.plots.runs import run_curves, run_heatmaps, run_story
from imrc.wording import LOSSES, RISKS, RULES
from pages.ui import assessing, charts, data, exporting, links, overview, state, stored
from pages.ui.running import current_result

visit = state.visit()
choice = visit.choice
sequence = visit.sequence()
title = data.title_of(choice.dataset)
headline_slot = st.container()
stored.picker()
result = current_result()
if result is None:
    st.stop()

diagnosis = assessing.assessment(choice)
with headline_slot:
    st.markdown(f"# {summary(result, title)}")
    st.caption(f"Rules shown: {LOSSES[result.loss]}. Verdict on the page *Evolving?*: **{diagnosis.verdict.title}**.")
    overview.cards(result)
headlines = result.headline()

quantity = st.radio(
    "Heatmaps show",
    list(TITLES),
    horizontal=True,
    format_func={
        "error": "Errors",
        "difference": "Difference to single task",
        "risk": RISKS[result.loss],
    }.get,
    key="quantity",
    bind="query-params",
    help="Errors on test samples; errors minus those of single-task learning (green: fewer); or the risk the rules "
    "promise. Rows are tasks, columns the steps at which they are tested. Click a cell for the story of its task.",
)
event = charts.show(
    run_heatmaps,
    result,
    quantity,
    RISKS[result.loss].lower(),
    name=f"heatmaps-{quantity}",
    alt=f"{TITLES[quantity]}. Average over steps and tasks: "
    + ", ".join(f"{RULES[rule]} {with_error(headlines[rule])}" for rule in RULES),
    select=True,
)

points = event.selection.points if event else []
clicked = points[0].get("customdata") if points else None
clicked = clicked[0] if isinstance(clicked, list) else clicked
if clicked is not None and clicked != visit.clicked:
    visit.clicked = clicked
    st.session_state["story_task"] = int(clicked)
# The task in the middle is the default; other tasks have another one.
middle = max(1, result.n_tasks // 2)
links.start_anew((choice.dataset, result.n_tasks), story_task=middle)
task = st.number_input(
    "Task",
    1,
    result.n_tasks,
    middle,
    key="story_task",
    bind="query-params",
    help="Choose a task here or by a click on a heatmap.",
    width=320,
)
charts.show(
    run_story,
    result,
    task,
    RISKS[result.loss],
    name="task-story",
    alt=f"Error and {RISKS[result.loss].lower()} of task {task} at the steps from {task} on, per rule, "
    "with confidence bands.",
)

charts.show(
    run_curves,
    result,
    name="error-curves",
    alt="Left: mean error over the tasks seen, by step. Right: error of each task at the last step. Per rule with "
    "bands, and the majority class as a reference.",
)
overview.against_the_paper(result)
exporting.report_button(choice, sequence, result, diagnosis)
with st.expander("Numbers behind the charts", icon=":material/table:"):
    frame = result.to_frame()
    st.dataframe(frame, height=280)
    charts.csv(frame, name=f"run-{result.name}")
