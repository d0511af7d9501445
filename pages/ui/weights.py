"""How much each task counts in the rule of one: on demand under *Task by task* of the page *Result*."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pandas as pd
import streamlit as st

import imrc
from imrc.evaluation import RunResult
from imrc.evaluation.weights import task_weights, weights_sentence
from imrc.plots.weights import weights_chart
from imrc.wording import RULES
from pages.ui import charts, controls
from pages.ui.keeping import Store, shared

_kept: Callable[[], Store[tuple[Hashable, ...], pd.DataFrame]] = shared("weights")


def show(result: RunResult, sequence: imrc.TaskSequence, task: int) -> None:
    """Offer the weights of the tasks in the rule of a task (from 1); nothing is computed until somebody asks."""
    if not controls.toggle(
        "Weight of each task", "uses", "How much every task counts in the rule of the task chosen above."
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
    key = (head.fingerprint, settings, task, rule)
    with st.spinner("Learning the first repetition again …"):
        table = _kept().get_or_make(key, lambda: task_weights(head, settings, task - 1, rule))
    st.markdown(weights_sentence(table, task - 1))
    charts.show(
        weights_chart,
        table,
        task - 1,
        name="task-weights",
        alt=f"Weight of each task in the rule of task {task}. {weights_sentence(table, task - 1)}",
    )
    st.caption(f"Of the first of {settings.repetitions} repetitions.")
