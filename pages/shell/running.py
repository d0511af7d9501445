"""Running with progress, and the results kept for all visitors."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

import imrc
from imrc.datasets import DataError
from imrc.evaluation import RunResult, RunSettings, StepResult, iter_run
from imrc.evaluation.limits import run_cells
from imrc.solvers import warm_up
from pages.shell import data, places, state, stored
from pages.shell.choice import Choice
from pages.shell.keeping import Store, shared
from pages.shell.words import plain

_FIRST_SHOWN_S = 0.3
"""A run that ends sooner shows no progress bar: it would only flicker."""
_SHORT_S = 1.0
"""A run that takes less starts while its values are still being changed."""
_TRIAL_S = 0.4
"""How long a run that would take longer is given to show that."""

store: Callable[[], Store[state.RunKey, RunResult]] = shared("runs")


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


def stoppable(key: str, on_stop: Callable[..., object], *args: object, text: str = "", help: str | None = None) -> Any:  # noqa: ANN401 - Streamlit's own element
    """Draw a progress bar with a Stop button; where it is moved on is also where Stop or a closed tab ends the run."""
    bar = st.progress(0.0, text=text or None)
    st.button("Stop", icon=":material/stop:", key=key, on_click=on_stop, args=args, help=help)
    return bar


def _stop(key: state.RunKey) -> None:
    state.visit().stopped = key


class _TooLongError(Exception):
    """Ends a run that would not be short."""


def run_if_short() -> None:
    """Make what the widgets hold the choice if its run is short; otherwise note about how long it would take.

    Nobody can tell beforehand how long tasks take that were never learnt, so the run itself is begun.
    """
    visit, held = state.visit(), state.widget_values()
    if held == visit.choice.values() or held["dataset"] not in visit.known_datasets():
        visit.slow = None
        return
    if (visit.slow is not None and visit.slow[0] == held) or visit.failure:
        return
    if data.is_large(held["dataset"]) or not compilation().done:
        visit.slow = held, 0.0
        return
    try:
        choice, asked, notes = visit.fitted(state.wanted_values())
        sequence = visit.sequence_for(choice)
    except DataError as error:
        visit.failure = plain(str(error))
        return
    settings = choice.settings.computed
    key = state.key_of(sequence, settings)
    if store().get(key) is None and (kept := stored.lookup(sequence, settings)) is not None:
        store().put(key, kept)
    elif store().get(key) is None:
        steps: list[StepResult] = []
        started = time.monotonic()

        def give_up_if_long() -> None:
            elapsed = time.monotonic() - started
            if elapsed > _TRIAL_S and (not steps or elapsed * len(sequence) / len(steps) > _SHORT_S):
                raise _TooLongError

        def busy(_slot: object) -> None:
            raise _TooLongError

        if run_cells(sequence, settings) > places.limits().cells:
            visit.slow = held, 0.0
            return
        try:
            trial = iter_run(sequence, settings, tick=give_up_if_long)
            with places.turn(busy), contextlib.closing(trial) as run:
                for step in run:
                    steps.append(step)
                    give_up_if_long()
        except _TooLongError:
            elapsed = time.monotonic() - started
            visit.slow = held, elapsed * len(sequence) / len(steps) if steps else 0.0
            return
        store().put(key, RunResult.from_steps(settings, sequence, steps))
    visit.take(choice, asked, notes)


def stored_result(choice: Choice, **changes: Any) -> RunResult | None:  # noqa: ANN401 - fields of RunSettings
    """Return the result of a choice, with `changes` to its settings, if it is there already."""
    sequence = state.visit().sequence_for(choice)
    found = store().get(state.key_of(sequence, choice.settings, **changes))
    return None if found is None else _judged(found, choice, sequence, changes)


def _judged(result: RunResult, choice: Choice, sequence: imrc.TaskSequence, changes: dict[str, Any]) -> RunResult:
    """Return a run as the scenario asked for judges it, several of which share one run, with its visitor's name."""
    scenario = changes.get("scenario", choice.settings.scenario)
    return data.named(result if result.settings.scenario == scenario else result.seen_as(scenario), sequence)


def result_of(choice: Choice, **changes: Any) -> RunResult | None:  # noqa: ANN401 - fields of RunSettings
    """Return the result of a choice: from the store, or computed now with progress and a Stop button.

    `changes` replace fields of its settings. A run that was stopped gives what it reached, or None if it did not finish
    a single task.
    """
    visit = state.visit()
    sequence = visit.sequence_for(choice)
    key = state.key_of(sequence, choice.settings, **changes)
    # One place, whatever has to be said in it: what follows on the page does not move.
    with st.container():
        result = store().get(key)
        if result is None:
            settings = (replace(choice.settings, **changes) if changes else choice.settings).computed
            if visit.stopped == key:
                result = _stopped_result(key, sequence, settings)
            else:
                # What `imrc sweep` has kept is read, not computed.
                kept = stored.lookup(sequence, settings)
                if kept is None and not places.may_run(sequence, settings):
                    return None
                result = store().put(key, _compute(key, sequence, settings) if kept is None else kept)
    return None if result is None else _judged(result, choice, sequence, changes)


def current_result(**changes: Any) -> RunResult | None:  # noqa: ANN401 - fields of RunSettings
    """Return the result of the last Run, or of a second one beside it with other settings, see `result_of`."""
    visit = state.visit()
    result = result_of(visit.choice, **changes)
    if visit.show_result is not None and result is not None and not changes:
        visit.show_result(result)
    return result


def _stopped_result(key: state.RunKey, sequence: imrc.TaskSequence, settings: RunSettings) -> RunResult | None:
    stopped, steps = state.visit().partial or (None, [])
    steps = steps if stopped == key else []
    if not steps:
        st.warning("Stopped before the first task was learnt. Press **Run** to start again.", icon=":material/stop:")
        return None
    st.warning(
        f"Stopped after {len(steps)} of {len(sequence)} tasks: everything here is about these. Press **Run** to start "
        "again.",
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
        """Show how far the run is."""
        nonlocal bar
        elapsed, total, number = time.monotonic() - started, len(sequence), len(steps)
        if elapsed < _FIRST_SHOWN_S:
            return
        if bar is None:
            with slot.container():
                bar = stoppable(f"stop-{settings.preset}-{settings.methods[0]}-{settings.n}", _stop, key)
        left = f", about {elapsed / number * (total - number):.0f} s left" if number else ""
        bar.progress(number / total, text=f"Task {max(number, 1)} of {total}{left}")

    with places.turn() as pace, contextlib.closing(iter_run(sequence, settings, tick=show)) as run:
        started = time.monotonic()  # waiting for a place does not count
        for step in run:
            steps.append(step)
            show()
            pace(step.number / step.total)
    slot.empty()
    state.visit().partial = None
    return RunResult.from_steps(settings, sequence, steps)


def guaranteed_result() -> RunResult | None:
    """Return the run whose risks are guarantees: the visitor's own for 0-1 loss, otherwise the 0-1 rule beside it."""
    if state.visit().choice.settings.learner.loss == "0-1":
        return current_result()
    # Bounds are stated with what the diagnosis measures, in its representation.
    features = state.visit().choice.settings.features.diagnosed
    return current_result(preset="recommended", overrides=(("loss", "0-1"),), features=features)
