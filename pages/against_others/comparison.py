"""What *Against others* runs, one method at a time and each kept in the store, and how it is shown."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, Literal

import pandas as pd
import streamlit as st

import imrc
from imrc.baselines import method_title, parse_method, registry
from imrc.evaluation import SCENARIOS, RunResult, RunSettings, StepResult, iter_run, largest_n
from imrc.evaluation.comparison import (
    SCORE_KINDS,
    UNTUNED,
    ScoreKind,
    curve_table,
    default_reference,
    preset_in,
    sample_size_table,
    sample_sizes,
    score_table,
    title_of_method,
)
from imrc.paper import shipped
from imrc.plots import method_curves, sample_and_task_curves
from imrc.wording import LOSSES, duration, with_spread
from pages.shell import charts, comparing, controls, places, state
from pages.shell.running import ensure_compiled, stoppable, store

LONG_S = 60.0
"""A method that would take longer than this, at the pace of its first task, is stopped there and waits for a click."""

KINDS: dict[ScoreKind, str] = {
    "average": "All tasks seen",
    "newest": "Newest task",
    "before": "Before learning",
    "own": "Each method's own",
    "released": "As released",
}
"""Errors a visitor can choose."""


def choices() -> list[str]:
    """Return all methods and profiles a visitor can choose, defaults first."""
    defaults = list(registry)
    others = [f"{name}:{profile}" for name in registry for profile in registry[name].profiles if profile != "default"]
    return defaults + others


def kind_of(settings: RunSettings) -> ScoreKind:
    """Return the error the comparison starts with: that of the scenario, where methods are compared by it."""
    kind = SCENARIOS[settings.scenario].kind
    return next((known for known in KINDS if known == kind), "average")


def rules_sentence(settings: RunSettings) -> str:
    """Say which rule each preset of IMRC learns, and what was tuned."""
    jobs = comparing.jobs(settings, ())
    rules = [f"{preset_in(job.preset, job.features)}, {LOSSES[job.learner.loss]}" for job in jobs]
    return (
        f"Rules of IMRC shown: {'; '.join(rules)}. After ±: one standard error. Charts show 95 % intervals. {UNTUNED} "
        "IMRC's preset *recommended* was tuned, on other draws of the built-in and published sequences."
    )


def about_methods(names: tuple[str, ...]) -> None:
    """Show a card per method; where its implementation here differs from the published one is folded."""
    st.markdown("### What are these methods?")
    columns = st.columns(2)
    for position, method in enumerate(dict.fromkeys(parse_method(name)[0] for name in names)):
        cls = registry[method]
        with columns[position % 2].container(border=True):
            st.markdown(f"**{cls.title}**. {cls.idea}")
            st.caption(f"**Wins with:** {cls.wins}  \n**Keeps:** {cls.keeps}")
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


def run_long(name: str) -> None:
    """Run a method to its end although it takes long; called by its button."""
    st.session_state["compare_long"][1][name] = 0.0


def stop(comparison: Hashable) -> None:
    """Remember for which comparison Stop was pressed; None: for none."""
    state.visit().compare_stopped = comparison


def compared_results(
    sequence: imrc.TaskSequence,
    settings: RunSettings,
    names: tuple[str, ...],
    show: Callable[[list[RunResult]], None] = lambda there: None,
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
    # Seconds that methods stopped after their first task would take, for what is shown; 0: run it.
    long: dict[str, float] = st.session_state["compare_long"][1]
    jobs = comparing.jobs(settings, names)

    def still_missing() -> list[RunSettings]:
        waiting = [job for job in jobs if not long.get(job.methods[0])]
        return [job for job in waiting if store().get(state.key_of(sequence, job)) is None]

    missing = still_missing()
    slot = st.empty()
    mine = (sequence.fingerprint, settings, names)
    allowed = all(places.may_run(sequence, job) for job in missing)
    if missing and allowed and state.visit().compare_stopped != mine:
        ensure_compiled()
        began = time.monotonic()
        with slot.container():
            bar = stoppable(f"compare_stop_{settings.n}", stop, mine)
        for position, job in enumerate(missing):
            show(comparing.there(sequence, jobs))
            name = job.methods[0]
            may_stop = name != "imrc" and name not in long
            result = _run(sequence, job, bar.progress, position, len(missing), may_stop, began)
            if isinstance(result, RunResult):
                store().put(state.key_of(sequence, job), result)
            else:
                long[name] = result
    slot.empty()
    left_out = [_title(job) for job in still_missing()]
    return comparing.there(sequence, jobs), left_out, {name: long[name] for name in names if long.get(name)}


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
        draw(done, text=f"{_title(settings)} ({position + 1} of {count}): task {max(number, 1)} of {total}{left}")

    with places.turn() as pace, contextlib.closing(iter_run(sequence, settings, tick=show)) as run:
        for step in run:
            steps.append(step)
            if may_stop and step.number == 1 and step.time_s * step.total > LONG_S:
                return step.time_s * step.total
            show()
            pace(step.number / step.total)
    return RunResult.from_steps(settings, sequence, steps)


def curves(
    sequence: imrc.TaskSequence,
    settings: RunSettings,
    results: list[RunResult],
    table: pd.DataFrame,
    names: tuple[str, ...],
    *,
    kind: ScoreKind,
) -> None:
    """Draw error by step for the methods a visitor chooses and, when asked, against n and k."""
    shown = st.multiselect(
        "Methods in the curves",
        list(table["method"]),
        default=curves_shown(list(table["method"])),
        format_func=title_of_method,
        key="compare_curves",
        bind="query-params",
        help="Curves of more than six methods are hard to tell apart.",
    )
    if not shown:
        return
    measured: Literal["average", "newest", "before"] = "average"
    if kind == "newest" or kind == "before":
        measured = kind
    by_step = curve_table(results, kind=measured)
    charts.show(
        method_curves,
        by_step[by_step["method"].isin(shown)],
        measured,
        name="method-curves",
        alt="Error by step for the chosen methods, with confidence bands.",
    )
    sizes = sample_sizes(largest_n(sequence), settings.n)
    if not controls.toggle(
        f"Curves against n = {', '.join(map(str, sizes))} and against k",
        "compare_sizes",
        "Runs the chosen methods for each n; the curve against k needs no further runs.",
    ):
        return
    again = tuple(name for name in names if name in shown)
    runs = []
    for n in sizes:
        runs += compared_results(sequence, replace(settings, n=n), again)[0]
    by_n = sample_size_table(score_table(runs), kind=measured)
    by_k = curve_table(results, by="k", kind=measured)
    charts.show(
        sample_and_task_curves,
        by_n[by_n["method"].isin(shown)],
        by_k[by_k["method"].isin(shown)],
        name="method-sizes",
        alt="Left: error against samples per task. Right: error against the number of tasks.",
    )
