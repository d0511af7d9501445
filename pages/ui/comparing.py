"""Running compared methods for a page: one at a time, each with progress, each kept in the store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import streamlit as st

import imrc
from imrc.baselines import PUBLISHED, method_title, parse_method, registry
from imrc.core.settings import resolve_settings
from imrc.evaluation import RunResult, RunSettings, StepResult, iter_run
from imrc.evaluation.comparison import SCORE_KINDS, ScoreKind, default_reference
from imrc.evaluation.words import UNTUNED
from imrc.wording import LOSSES
from pages.ui import data, queue, state
from pages.ui.running import ensure_compiled, store

LONG_S = 60.0
"""A method that would take longer than this, at the pace of its first task, is stopped there and waits for a click."""

PRESETS = ("recommended", "paper")
"""Presets of IMRC that are always compared."""

DEFAULT_METHODS = (*PUBLISHED, "majority", "logistic_single", "logistic_seen", "oracle")


def choices() -> list[str]:
    """Return all methods and profiles a visitor can choose, defaults first."""
    defaults = list(registry)
    others = [f"{name}:{profile}" for name in registry for profile in registry[name].profiles if profile != "default"]
    return defaults + others


def imrc_settings(settings: RunSettings) -> list[RunSettings]:
    """Return the runs of IMRC; custom values belong to no method of this comparison."""
    return [replace(settings, preset=preset, overrides=(), methods=("imrc",)) for preset in PRESETS]


def rules_sentence() -> str:
    """Say which rule each preset of IMRC learns, and what was tuned."""
    rules = [f"{preset}, {LOSSES[resolve_settings(preset, b=1).loss]}" for preset in PRESETS]
    return (
        f"Rules of IMRC shown: {'; '.join(rules)}. After ±: standard errors of the mean in the "
        "sentence above and in the charts, standard deviations over repetitions in the table, as in the paper. "
        f"{UNTUNED} IMRC's preset *recommended* was tuned, on other draws of the built-in and published sequences."
    )


def stored(sequence: imrc.TaskSequence, settings: RunSettings) -> tuple[RunResult, ...]:
    """Return the runs of the comparison that are there already; none unless a method beside IMRC is among them."""
    jobs = [*imrc_settings(settings), *(replace(settings, methods=(name,), overrides=()) for name in DEFAULT_METHODS)]
    found = [store().get((sequence.fingerprint, job)) for job in jobs]
    if not any(found[len(PRESETS) :]):
        return ()
    return tuple(data.named(result, sequence) for result in found if result is not None)


def about_methods(names: tuple[str, ...]) -> None:
    """Say what the methods are, and where their implementation here differs from the published one."""
    with st.expander("What the methods are, and where this implementation differs", icon=":material/menu_book:"):
        for method in dict.fromkeys(parse_method(name)[0] for name in names):
            cls = registry[method]
            needs = "needs the task of a sample" if cls.needs_task_id else "one rule for every task"
            st.markdown(f"**{cls.title}** ({needs}). {cls.paper}  \n" + " ".join(cls.deviations))


def curves_shown(ranking: list[str]) -> list[str]:
    """Return the methods whose curves are drawn first: IMRC, its single-task rule, the best three others, majority."""
    rules = [name for name in ranking if name.startswith("imrc:") and name.count(":") == 1]
    single = f"{default_reference(ranking)}:single"
    others = [name for name in ranking if not name.startswith("imrc:") and name not in ("majority", "oracle")]
    return [name for name in ranking if name in (*rules, single, *others[:3], "majority")]


def columns(kind: ScoreKind) -> dict[str, Any]:
    """Return how the columns of the comparison are shown, with what they mean."""
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    return {
        "Error ± std": text(width=100, help=f"{SCORE_KINDS[kind]}, ± standard deviation over repetitions."),
        "Paper": text(width=90, help="Mean ± standard deviation the paper prints for this dataset and n."),
        "Mean rank": number(format="%.1f", help="Rank in each repetition, averaged; 1 is best."),
        "Against reference": text(help="Whether a paired test over repetitions sees a difference to the reference."),
        "p, corrected": text(help="p-value of that test, corrected for all comparisons by Holm's method."),
        "All tasks seen": text(help=SCORE_KINDS["average"]),
        "Newest task": text(help=SCORE_KINDS["newest"]),
        "Before learning": text(help="Error on each task of the state before learning it (test, then train)."),
        "ms per task": number(
            format="%.2f",
            help="Processor time of learning one task. IMRC: single-task, forward and backward rules together.",
        ),
        "Numbers kept": number(
            format="localized", help="Parameters, memories, statistics and samples held after the last task."
        ),
    }


def _stop(comparison: Hashable) -> None:
    state.visit().compare_stopped = comparison


def go_on() -> None:
    """Forget that Stop was pressed."""
    state.visit().compare_stopped = None


def run_long(name: str) -> None:
    """Run a method to its end although it takes long; called by its button."""
    _estimates()[name] = 0.0


def _estimates() -> dict[str, float]:
    """Seconds that methods stopped after their first task would take, for what is shown; 0: run it."""
    estimates: dict[str, float] = st.session_state["compare_long"][1]
    return estimates


def compared_results(
    sequence: imrc.TaskSequence, settings: RunSettings, names: tuple[str, ...]
) -> tuple[list[RunResult], list[str], dict[str, float]]:
    """Run IMRC and the named methods, or take them from the store.

    How long a method takes is known after its first task. One that would take longer than `LONG_S` ends there and
    nothing of it is kept, until the visitor asks for it.

    Returns the results, the names of methods left out because the visitor pressed Stop, and the methods stopped after
    their first task with the seconds all of their tasks would take.
    """
    place = (sequence.fingerprint, replace(settings, methods=("imrc",)))
    if st.session_state.get("compare_long", (None,))[0] != place:
        st.session_state["compare_long"] = (place, {})
    long = _estimates()
    jobs = [*imrc_settings(settings), *(replace(settings, methods=(name,), overrides=()) for name in names)]
    missing = [job for job in jobs if store().get((sequence.fingerprint, job)) is None and not long.get(job.methods[0])]
    slot = st.empty()
    mine = (sequence.fingerprint, settings, names)
    allowed = all(queue.may_run(sequence, job) for job in missing)
    if missing and allowed and state.visit().compare_stopped != mine:
        ensure_compiled()
        with slot.container():
            bar = st.progress(0.0)
            st.button(
                "Stop",
                icon=":material/stop:",
                key=f"compare_stop_{settings.n}",
                on_click=_stop,
                args=(mine,),
            )
        for position, job in enumerate(missing):
            name = job.methods[0]
            may_stop = name != "imrc" and name not in long
            result = _run(sequence, job, bar.progress, position, len(missing), may_stop)
            if isinstance(result, RunResult):
                store().put((sequence.fingerprint, job), result)
            else:
                long[name] = result
    slot.empty()
    results, left_out = [], []
    for job in jobs:
        stored = store().get((sequence.fingerprint, job))
        if stored is not None:
            results.append(data.named(stored, sequence))
        elif not long.get(job.methods[0]):
            left_out.append(_title(job))
    waiting = {name: long[name] for name in names if long.get(name)}
    return results, left_out, waiting


def _title(settings: RunSettings) -> str:
    name = settings.methods[0]
    return f"IMRC ({settings.preset})" if name == "imrc" else method_title(name)


def _run(
    sequence: imrc.TaskSequence,
    settings: RunSettings,
    draw: Callable[..., object],
    position: int,
    count: int,
    may_stop: bool,
) -> RunResult | float:
    """Return the result; or, if the method may be stopped and is long, about how many seconds it would take."""
    steps: list[StepResult] = []
    started = time.monotonic()

    def show() -> None:
        number, total = len(steps), len(sequence)
        left = f", about {(time.monotonic() - started) / number * (total - number):.0f} s left for it" if number else ""
        draw(
            (position + number / total) / count,
            text=f"{_title(settings)} ({position + 1} of {count}): task {max(number, 1)} of {total}{left}",
        )

    # What is drawn is also where a Stop or a closed tab ends the run.
    with queue.turn(sequence, settings), contextlib.closing(iter_run(sequence, settings, tick=show)) as run:
        for step in run:
            steps.append(step)
            if may_stop and step.number == 1 and step.time_s * step.total > LONG_S:
                return step.time_s * step.total
            show()
    return RunResult.from_steps(settings, sequence, steps)
