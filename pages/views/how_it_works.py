"""How it works: a simulation with known truth, step by step."""

import streamlit as st

from imrc import teaching
from imrc.plots import teaching as pictures
from imrc.wording import LOSSES, RULES, decimal
from pages.ui import charts, formulas, screen
from pages.ui.choice import PRESET_TITLES

TASKS = 15

st.markdown("# A few samples are not enough to learn a task well. Its neighbours can help.")
st.markdown(
    "Two classes in two dimensions; both class means take a random step from task to task, so the best boundary "
    "moves. *Forward* learning passes what was learnt on to the newest task; *backward* learning improves earlier "
    "tasks with what came later. Everything here is simulated, so the truth is known."
)
controls = st.container(horizontal=True)
n = controls.slider(
    "Samples per task n",
    4,
    100,
    10,
    key="teach_n",
    bind="query-params",
    width=220,
    help="More samples: less to borrow.",
)
change = controls.slider(
    "Drift per step",
    0.0,
    1.5,
    0.25,
    0.05,
    key="teach_change",
    bind="query-params",
    width=220,
    help="Standard deviation of one step of a class mean, per feature, in units of the spread inside a class.",
)
b = controls.slider(
    "Backward steps b",
    0,
    8,
    3,
    key="teach_b",
    bind="query-params",
    width=220,
    help="How many earlier tasks each new one revises.",
)
controls = st.container(horizontal=True)
watched = controls.select_slider(
    "Task to watch",
    range(1, TASKS + 1),
    10,
    key="teach_task",
    bind="query-params",
    width=220,
    help="Until it arrives, the newest is shown.",
)
component = controls.selectbox(
    "Component in the lower panel",
    range(6),
    index=4,
    format_func=teaching.COMPONENTS.__getitem__,
    key="teach_component",
    bind="query-params",
    width=220,
    help="Which of the six averages the recursions track: the share of each class, or a feature where it occurs.",
)
seed = controls.number_input(
    "Simulation",
    0,
    9999,
    46,
    key="teach_seed",
    bind="query-params",
    width=220,
    help="Seed. Number 46 is a particularly clear example.",
)

lesson = teaching.teach(n, change, b, TASKS, int(seed))
average = teaching.average_lesson(n, change, b, TASKS).set_index("rule")
st.markdown(teaching.lesson_sentence(average, lesson.ratio, n, b))
cards = st.container(horizontal=True)
for rule in (*RULES, "bayes"):
    row = average.loc[rule]
    gain = f"{decimal(row['all_gain'])} ± {decimal(row['all_gain_se'])}".replace("-", "−")
    cards.metric(
        f"Error, {RULES[rule].lower()}" if rule in RULES else "Best possible",
        f"{decimal(row['all'])} ± {decimal(row['all_se'])}",
        gain if rule in ("forward", "forward_backward") else "reference" if rule == "single" else "with known truth",
        delta_color="green" if rule in ("forward", "forward_backward") and row["all_gain"] < 0 else "off",
        delta_arrow="off",
        border=True,
        help="Exact error probability at the last step, mean over 15 tasks and 20 simulated sequences ± standard "
        "error; below, the paired difference to single-task learning.",
    )
st.caption(f"Rules shown: preset *{PRESET_TITLES['paper']}*, {LOSSES['0-1']}.")
charts.show(
    pictures.lesson_animation,
    lesson,
    watched - 1,
    component,
    narrow=screen.narrow(),
    name="teach-steps",
    alt=f"Animation over {TASKS} steps. Upper left: samples of task {watched} with the best and the learnt boundaries. "
    f"Upper right: its uncertainty sets. Below: {teaching.COMPONENTS[component]} with forward and backward bands.",
)
formulas.show("uncertainty")
formulas.show("tracks")
charts.show(
    pictures.coverage_chart,
    teaching.coverage_study(n, change, b, TASKS),
    name="teach-coverage",
    alt="Share of simulated runs whose true mean lies within one root of s, by task and rule, with known and with "
    "estimated variances and changes, next to the nominal .683.",
)
st.caption(
    "400 simulated sequences; bars are ± 2 standard errors. With few samples an average of a class that may be rare is "
    "not quite normal, and estimated variances and changes make the bands a little too narrow."
)
formulas.show("coverage")
