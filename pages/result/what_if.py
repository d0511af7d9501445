"""What if, on the page *Result*: blocks of another size, another order, a task less; run on demand, kept for all."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import streamlit as st

import imrc
from imrc.diagnostics import assess
from imrc.evaluation import RunResult, RunSettings
from imrc.evaluation import what_if as asked
from imrc.plots.what_if import blocks_chart, gains_chart, without_chart
from pages.shell import charts, controls, keeping, running, state
from pages.shell.keeping import Kept

QUESTIONS = {"blocks": "Other block sizes", "order": "Another order", "drop": "A task less"}

_kept = Kept[tuple[Hashable, ...], Any]("what if")


def _found(
    what: tuple[Hashable, ...],
    sequence: imrc.TaskSequence,
    settings: RunSettings,
    make: Callable[..., Any],
    needs: tuple[imrc.TaskSequence, RunSettings] | None = None,
) -> Any:  # noqa: ANN401 - whatever is made
    """Return what is kept, or make it with progress and Stop; None if stopped, or its largest run `needs` too much."""
    key, slot = (*what, sequence.fingerprint, settings), st.empty()
    kept = _kept.get(key)
    if kept is not None:
        return kept
    if state.visit().stopped == key:
        running.stopped("what_if", "Stopped before all runs had finished.")
        return None
    if not running.may_run(*(needs or (sequence, settings))):
        return None
    running.ensure_compiled(slot)
    with keeping.turn(slot) as pace, slot.container():
        bar = running.stoppable("what_if", key, "Running …")

        def tick(share: float) -> None:
            bar.progress(share, text=f"Running … {100 * share:.0f} %")
            pace(share)

        made = make(tick=tick)
    slot.empty()
    return _kept.put(key, made)


_TOLD = {
    "blocks": "The rows of all tasks, in their order, are cut into blocks of equal size, and n grows with them, so the "
    "total number of labelled rows stays the same. An incomplete block at the end is left out. Blocks of another size "
    "have other test samples, so these errors are not paired.",
    "order": "Mean error of all tasks at the last step. Each repetition has its own random order. Both orders use the "
    "same rows for training and testing.",
    "drop": "Error of each task at the last step, with and without the task left out, on the same rows for training "
    "and testing. Without correction for multiple comparisons, about one interval in 20 excludes 0 by chance.",
}
"""How each answer was found."""
_HOW: dict[str, tuple[Callable[..., Any], Callable[..., str], Callable[..., Any]]] = {
    "blocks": (asked.over_blocks, asked.blocks_sentence, blocks_chart),
    "order": (asked.shuffled, asked.shuffled_sentence, gains_chart),
    "drop": (asked.without, asked.without_sentence, without_chart),
}


def show(result: RunResult, sequence: imrc.TaskSequence) -> None:
    """Show the answer to the question chosen."""
    question = controls.switch(
        "What if the tasks were different?",
        QUESTIONS,
        "what_if",
        "Cut the same rows into blocks of another size, put the tasks in random order, or leave one task out. "
        "Each is a separate run with the current settings.",
    )
    head, settings = sequence.head(result.n_tasks), result.settings
    if settings.scenario != "continual":
        st.caption("These runs always learn tasks as they arrive, in every scenario.")
    sizes = asked.block_sizes(head, settings) if question == "blocks" else []
    if not sizes and (question == "blocks" or len(head) < 3):
        few = "There are too few rows for blocks of another size with so many samples per task."
        st.info(few if question == "blocks" else "At least 3 tasks are needed.", icon=":material/info:")
        return
    options: dict[str, Any] = {}
    told: tuple[Any, ...] = ()  # what sentence and chart need beside what was found
    needs: tuple[imrc.TaskSequence, RunSettings] | None = None
    if question == "blocks":
        options, told = {"sizes": sizes, "diagnose": assess}, (round(float(head.sizes.mean())),)
        needs = asked.in_blocks(head, sizes[0]), asked.settings_for(sizes[0], head, settings)
    elif question == "drop":
        middle = max(1, len(head) // 2)
        controls.start_anew((head.fingerprint, len(head)), what_if_task=middle)
        why = "All other tasks are learnt without it, on the same rows."
        left = controls.number("Task left out", 1, len(head), middle, "what_if_task", why, width=200) - 1
        options, told = {"task": left}, (left,)
    learn, say, draw = _HOW[question]
    found = _found((question, *told), head, settings, partial(learn, head, settings, **options), needs)
    if found is None:
        return
    st.markdown(say(found, *told))
    charts.show(draw, found, *told, *((head.labels,) if question == "drop" else ()), name=f"what-if-{question}")
    if question == "blocks":
        charts.csv(found, name="what-if-blocks")
    st.caption(_TOLD[question])
