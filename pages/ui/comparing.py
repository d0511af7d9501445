"""Running compared methods for a page: one at a time, each with progress, each kept in the store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

import imrc
from imrc.baselines import PUBLISHED, method_title, parse_method, registry
from imrc.evaluation import SCENARIOS, RunResult, RunSettings, StepResult, iter_run
from imrc.evaluation.comparison import SCORE_KINDS, ScoreKind, default_reference, preset_in, title_of_method
from imrc.evaluation.words import UNTUNED
from imrc.paper import shipped
from imrc.wording import LOSSES, duration, with_spread
from pages.ui import data, places, state
from pages.ui.running import ensure_compiled, stoppable, store

LONG_S = 60.0
"""A method that would take longer than this, at the pace of its first task, is stopped there and waits for a click."""

PRESETS = ("recommended", "paper")
"""Presets of IMRC that are always compared."""

KINDS: dict[ScoreKind, str] = {
    "average": "All tasks seen",
    "newest": "Newest task",
    "before": "Before learning",
    "own": "Each method's own",
    "released": "As released",
}
"""Errors a visitor can choose."""

DEFAULT_METHODS = (*PUBLISHED, "majority", "logistic_single", "logistic_seen", "oracle")


def choices() -> list[str]:
    """Return all methods and profiles a visitor can choose, defaults first."""
    defaults = list(registry)
    others = [f"{name}:{profile}" for name in registry for profile in registry[name].profiles if profile != "default"]
    return defaults + others


def kind_of(settings: RunSettings) -> ScoreKind:
    """Return the error the comparison starts with: that of the scenario, where methods are compared by it."""
    kind = SCENARIOS[settings.scenario].kind
    return next((known for known in KINDS if known == kind), "average")


def imrc_settings(settings: RunSettings) -> list[RunSettings]:
    """Return the runs of IMRC; custom values belong to no method of this comparison, nor does a scenario.

    The loss is that of the page where a preset has a choice, as are b and W.

    What is averaged is chosen on the page of the comparison, so that one run serves all.
    """
    alone = replace(settings, overrides=(), methods=("imrc",), scenario="continual")
    return [replace(alone, preset=preset, overrides=_loss(settings, preset)) for preset in PRESETS]


def _jobs(settings: RunSettings, names: Iterable[str]) -> list[RunSettings]:
    """Return the runs of IMRC and of the methods named."""
    alone = replace(settings, overrides=(), scenario="continual")
    return [*imrc_settings(settings), *(replace(alone, methods=(name,)) for name in names)]


def _loss(settings: RunSettings, preset: str) -> tuple[tuple[str, Any], ...]:
    return tuple(pair for pair in settings.overrides if pair[0] == "loss") if preset == "recommended" else ()


def rules_sentence(settings: RunSettings) -> str:
    """Say which rule each preset of IMRC learns, and what was tuned."""
    rules = [f"{preset_in(job.preset, job.features)}, {LOSSES[job.learner.loss]}" for job in imrc_settings(settings)]
    return (
        f"Rules of IMRC shown: {'; '.join(rules)}. After ±: one standard error. Charts show 95 % intervals. {UNTUNED} "
        "IMRC's preset *recommended* was tuned, on other draws of the built-in and published sequences."
    )


def stored(sequence: imrc.TaskSequence, settings: RunSettings) -> tuple[RunResult, ...]:
    """Return the runs of the comparison that are there already; none unless a method beside IMRC is among them."""
    found = [store().get((sequence.fingerprint, job)) for job in _jobs(settings, DEFAULT_METHODS)]
    if not any(found[len(PRESETS) :]):
        return ()
    return tuple(data.named(result, sequence) for result in found if result is not None)


IDEAS = {
    "gem": (
        "Keeps samples of earlier tasks and never takes a step that would make errors on them worse.",
        "Many tasks that must all be remembered and do not contradict each other.",
        "Up to 256 samples per task, and a network.",
    ),
    "mer": (
        "Learns a small network on a mixture of new samples and a reservoir of old ones, with steps that favour what "
        "tasks have in common.",
        "Tasks so alike that one rule serves all: it pools everything, with a flexible rule.",
        "A reservoir of up to 5,120 samples, and a network.",
    ),
    "ella": (
        "Describes the rule of each task by a few building blocks that all tasks share.",
        "Many tasks that are variations of few themes, in any order.",
        "A rule per task, and the shared blocks.",
    ),
    "ewc": (
        "Goes on learning one rule and holds back the weights that mattered for earlier tasks.",
        "Few tasks, and no room to keep samples.",
        "A network, and how much each weight matters.",
    ),
    "condor": (
        "Keeps up to 25 earlier rules and starts the new one from a weighted mixture of them.",
        "Abrupt changes, with old situations that come back.",
        "25 linear rules.",
    ),
    "driftsurf": (
        "Watches the error; after a suspicion it trains a fresh rule beside the old one and keeps the better.",
        "Long stable phases with rare jumps.",
        "Two or three linear rules, and the samples since the last jump.",
    ),
    "aue": (
        "A committee of ten trees, one per block of data, weighted by how well they do on the newest block.",
        "Slow and abrupt change with many samples per task.",
        "Ten trees.",
    ),
    "majority": (
        "Always answers the class that was most frequent so far. What cannot beat it has learnt nothing.",
        "Never, except where nothing can be learnt or one class is rare.",
        "Counts of the classes.",
    ),
    "logistic_single": (
        "Logistic regression on the samples of one task alone.",
        "Tasks with many samples, or tasks that have nothing in common.",
        "A linear rule per task.",
    ),
    "logistic_recent": (
        "Logistic regression on the last b + 1 tasks together.",
        "Steady change: old tasks no longer matter.",
        "The samples of the last b + 1 tasks.",
    ),
    "pooled": (
        "One rule for all tasks: the recommended learner with a rate of change of 0, on everything so far.",
        "Tasks that hardly change, or one rule that serves them all.",
        "The last samples, 2,000 at least.",
    ),
    "logistic_seen": (
        "Logistic regression on all samples so far: what anybody would try first.",
        "Tasks that hardly change.",
        "All samples.",
    ),
    "oracle": (
        "Logistic regression with all samples of a task, not only n: no method can have them.",
        "Not a rival: it shows what more samples would give.",
        "A linear rule per task.",
    ),
}
"""Of each method: its idea, when it wins, and what it keeps."""


def about_methods(names: tuple[str, ...]) -> None:
    """Show a card per method; where its implementation here differs from the published one is folded."""
    st.markdown("### What are these methods?")
    columns = st.columns(2)
    for position, method in enumerate(dict.fromkeys(parse_method(name)[0] for name in names)):
        cls, (idea, wins, keeps) = registry[method], IDEAS[method]
        with columns[position % 2].container(border=True):
            st.markdown(f"**{cls.title}**. {idea}")
            st.caption(f"**Wins with:** {wins}  \n**Keeps:** {keeps}")
            needs = "needs the task of a sample" if cls.needs_task_id else "one rule for every task"
            with st.expander("Source, and where this implementation differs"):
                st.markdown(f"{cls.paper or 'No publication'} ({needs}).  \n" + " ".join(cls.deviations))


def measured_earlier(dataset: str, n: int) -> pd.DataFrame:
    """Return errors of this dataset and n that came with the program, mean ± standard error, best first."""
    known = shipped.table("errors").query("dataset == @dataset and n == @n and error_kind == 'average'")
    known = known.sort_values("error")
    errors = [with_spread(mean, spread) for mean, spread in zip(known["error"], known["stderr"], strict=True)]
    return pd.DataFrame({"Method": [title_of_method(name) for name in known["method"]], "Error": errors})


def curves_shown(ranking: list[str]) -> list[str]:
    """Return the methods whose curves are drawn first: IMRC, its single-task rule, the best three others, majority."""
    rules = [name for name in ranking if name.startswith("imrc:") and name.count(":") == 1]
    single = f"{default_reference(ranking)}:single"
    others = [name for name in ranking if not name.startswith("imrc:") and name not in ("majority", "oracle")]
    return [name for name in ranking if name in (*rules, single, *others[:3], "majority")]


def columns(kind: ScoreKind) -> dict[str, Any]:
    """Return how the columns of the comparison are shown, with what they mean."""
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    error = text(width=100, help=f"{SCORE_KINDS[kind]}, ± one standard error of the mean over repetitions.")
    return {
        "Error": error,
        "Balanced error": error,
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
    sequence: imrc.TaskSequence,
    settings: RunSettings,
    names: tuple[str, ...],
    show: Callable[[list[RunResult]], None] | None = None,
) -> tuple[list[RunResult], list[str], dict[str, float]]:
    """Run IMRC and the named methods, or take them from the store.

    How long a method takes is known after its first task. One that would take longer than `LONG_S` ends there and
    nothing of it is kept, until the visitor asks for it. `show` gets what is there, at once and after each method.

    Returns the results, the names of methods left out because the visitor pressed Stop, and the methods stopped after
    their first task with the seconds all of their tasks would take.
    """
    place = (sequence.fingerprint, replace(settings, methods=("imrc",)))
    if st.session_state.get("compare_long", (None,))[0] != place:
        st.session_state["compare_long"] = (place, {})
    long = _estimates()
    jobs = _jobs(settings, names)
    missing = [job for job in jobs if store().get((sequence.fingerprint, job)) is None and not long.get(job.methods[0])]
    slot = st.empty()
    mine = (sequence.fingerprint, settings, names)

    def there() -> list[RunResult]:
        found = [store().get((sequence.fingerprint, job)) for job in jobs]
        return [data.named(result, sequence) for result in found if result is not None]

    allowed = all(places.may_run(sequence, job) for job in missing)
    if missing and allowed and state.visit().compare_stopped != mine:
        ensure_compiled()
        began = time.monotonic()
        with slot.container():
            bar = stoppable(f"compare_stop_{settings.n}", _stop, mine)
        for position, job in enumerate(missing):
            if show is not None:
                show(there())
            name = job.methods[0]
            may_stop = name != "imrc" and name not in long
            result = _run(sequence, job, bar.progress, position, len(missing), may_stop, began)
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
    began: float,
) -> RunResult | float:
    """Return the result; or, if the method may be stopped and is long, about how many seconds it would take."""
    steps: list[StepResult] = []

    def show() -> None:
        number, total = len(steps), len(sequence)
        done, spent = (position + number / total) / count, time.monotonic() - began
        left = f"; {duration(spent)} so far, about {duration(spent / done - spent)} left in all" if done > 0.1 else ""
        draw(
            done,
            text=f"{_title(settings)} ({position + 1} of {count}): task {max(number, 1)} of {total}{left}",
        )

    with places.turn() as pace, contextlib.closing(iter_run(sequence, settings, tick=show)) as run:
        for step in run:
            steps.append(step)
            if may_stop and step.number == 1 and step.time_s * step.total > LONG_S:
                return step.time_s * step.total
            show()
            pace(step.number / step.total)
    return RunResult.from_steps(settings, sequence, steps)
