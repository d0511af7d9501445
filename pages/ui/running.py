"""Running with progress, and the results kept for all visitors."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace
from typing import Any

import streamlit as st

import imrc
from imrc.evaluation import RunResult, RunSettings, StepResult, iter_run
from imrc.solvers import warm_up
from pages.ui import data, queue, state, stored
from pages.ui.keeping import Store, server_budget

_FIRST_SHOWN_S = 0.3
"""A run that ends sooner shows no progress bar: it would only flicker."""


@st.cache_resource(show_spinner=False)
def store() -> Store[state.RunKey, RunResult]:
    """Return the one store of this server."""
    return Store(server_budget())


class Compilation:
    """Whether this server has the solver ready; one visitor compiles, others wait for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.done = False


@st.cache_resource(show_spinner=False)
def compilation() -> Compilation:
    """Return the one state of this server."""
    return Compilation()


def ensure_compiled() -> None:
    """Compile the solver with progress; in later starts this loads it from the cache in a second."""
    state = compilation()
    if state.done:
        return
    bar = st.progress(0.0, text="Getting the solver ready. The first start compiles it, which takes some seconds.")
    with state.lock:
        if not state.done:
            warm_up(lambda share, text: bar.progress(share, text=f"{text}. This happens at the first start only."))
            state.done = True
    bar.empty()


def _stop(key: state.RunKey) -> None:
    state.visit().stopped = key


def current_result(**changes: Any) -> RunResult | None:  # noqa: ANN401 - fields of RunSettings
    """Return the result of the last Run: from the store, or computed now with progress and a Stop button.

    A run that was stopped gives what it reached, or None if it did not finish a single task.

    Parameters
    ----------
    **changes
        Fields of the settings to replace, for a second run beside the visitor's own.
    """
    visit = state.visit()
    settings = replace(visit.choice.settings, **changes)
    sequence = visit.sequence()
    key = (sequence.fingerprint, settings)
    result = store().get(key)
    if result is None:
        if visit.stopped == key:
            result = _stopped_result(key, sequence, settings)
        else:
            # What `imrc sweep` has kept is read, not computed.
            kept = stored.lookup(sequence, settings)
            if kept is None and not queue.may_run(sequence, settings):
                return None
            result = store().put(key, _compute(key, sequence, settings) if kept is None else kept)
    if visit.say_timing is not None and result is not None and not changes:
        visit.say_timing(
            f"Last run: {result.time_s.sum():.2f} s for {result.n_tasks} tasks × "
            f"{result.settings.repetitions} repetitions."
        )
    return None if result is None else data.named(result, sequence)


def _stopped_result(key: state.RunKey, sequence: imrc.TaskSequence, settings: RunSettings) -> RunResult | None:
    stopped, steps = state.visit().partial or (None, [])
    steps = steps if stopped == key else []
    if not steps:
        st.warning("Stopped before the first task was learnt. Press **Run** to start again.", icon=":material/stop:")
        return None
    st.warning(
        f"Stopped after task {len(steps)} of {len(sequence)}: results up to there. Press **Run** to start again.",
        icon=":material/stop:",
    )
    return RunResult.from_steps(settings, sequence, steps)


def _compute(key: state.RunKey, sequence: imrc.TaskSequence, settings: RunSettings) -> RunResult:
    ensure_compiled()
    steps: list[StepResult] = []
    state.visit().partial = key, steps
    slot = st.empty()
    bar = None

    def show() -> None:
        """Show how far the run is. Whatever is drawn here is also where a Stop or a closed tab ends the run."""
        nonlocal bar
        elapsed, total, number = time.monotonic() - started, len(sequence), len(steps)
        if elapsed < _FIRST_SHOWN_S:
            return
        if bar is None:
            with slot.container():
                bar = st.progress(0.0)
                st.button("Stop", icon=":material/stop:", key=f"stop-{settings.preset}", on_click=_stop, args=(key,))
        left = f", about {elapsed / number * (total - number):.0f} s left" if number else ""
        bar.progress(number / total, text=f"Task {max(number, 1)} of {total}{left}")

    with queue.turn(sequence, settings), contextlib.closing(iter_run(sequence, settings, tick=show)) as run:
        started = time.monotonic()  # waiting for a place does not count
        for step in run:
            steps.append(step)
            show()
    slot.empty()
    state.visit().partial = None
    return RunResult.from_steps(settings, sequence, steps)


def guaranteed_result() -> RunResult | None:
    """Return the run whose risks are guarantees: the visitor's own for 0-1 loss, otherwise the 0-1 rule beside it."""
    if state.visit().choice.settings.learner.loss == "0-1":
        return current_result()
    return current_result(preset="recommended_01", overrides=())
