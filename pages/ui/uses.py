"""What the rule of one task uses: on demand under *Task by task* of the page *Result*."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import streamlit as st

import imrc
from imrc.evaluation import RunResult
from imrc.evaluation.uses import MOST_REFITS, RuleUses, rule_uses, sample_rows, uses_sentences
from imrc.plots.task_pictures import image_side
from imrc.plots.uses import pull_images, uses_chart
from imrc.wording import RULES
from pages.ui import charts, controls
from pages.ui.keeping import Store, shared

_LONG_S = 20.0
"""Refits estimated to take longer are left out."""

_kept: Callable[[], Store[tuple[Hashable, ...], RuleUses]] = shared("uses")


def show(result: RunResult, sequence: imrc.TaskSequence, task: int) -> None:
    """Offer what the rule of a task (from 1) uses; nothing is computed until somebody asks for it."""
    if not controls.toggle(
        "What the rule uses",
        "uses",
        "The weight of every task in the rule of the task chosen above, what leaving each one out changes, and "
        "the samples that pull most.",
    ):
        return
    rule = controls.switch(
        "Rule",
        RULES,
        "uses_rule",
        "Forward: as the task was learnt. Forward and backward: as it was learnt again with the tasks after it.",
        among=["forward_backward", "forward"],
    )
    head, settings = sequence.head(result.n_tasks), result.settings
    refits = float(result.time_s.sum()) / settings.repetitions * (MOST_REFITS + 1) <= _LONG_S
    key = (head.fingerprint, head.class_names, settings, task, rule, refits)
    with st.spinner("Leaving out one task after the other …"):
        uses = _kept().get_or_make(key, lambda: rule_uses(head, settings, task - 1, rule, refits=refits))
    st.markdown(" ".join(uses_sentences(uses)))
    charts.show(
        uses_chart,
        uses,
        name="uses-chart",
        alt=f"Left: weight of each task in the rule of task {task}. Right: its error without the task less its error.",
    )
    st.caption(
        f"Of the first of {settings.repetitions} repetitions, {uses.tests} test samples; lines are 95 % intervals. "
        + (
            "Every dot is an exact refit without the task; without its own labels at the task itself."
            if refits
            else "Refits without single tasks would take too long here."
        )
    )
    if not len(uses.samples):
        st.caption("Which samples pull most is known for the rule for log loss only (preset *Recommended*).")
        return
    images = image_side(head.feature_names) is not None
    if images:
        charts.show(
            pull_images,
            uses,
            head,
            name="pull",
            alt=f"Pictures of the {len(uses.samples)} samples that pull most at the rule of task {task}.",
        )
    else:
        st.markdown("### Which samples pull most?")
    number = st.column_config.NumberColumn
    rows = uses.samples if images else sample_rows(uses, head)
    st.dataframe(
        rows.set_axis(range(1, len(rows) + 1)),
        height=280,
        column_config={
            "task": "Task",
            "label": "Name of the task",
            "row": number("Row", help="In the task, from 0."),
            "class": "Class",
            "weight": number("Weight", format="%.3f", help="In the rule; all samples together have 1."),
            "pull": number(
                "Pull", format="%.3f", help="How far scores of test samples move without it, root mean square."
            ),
            "helps": number(
                "Helps", format="%+.4f", help="Rise of the log loss on test samples without it, in nats; − it harms."
            ),
        },
    )
