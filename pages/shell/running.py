"""Runs with progress, diagnoses and comparisons, kept for all visitors, and the one report of the run shown."""

from __future__ import annotations

import contextlib
import math
import subprocess  # nosec B404
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

import imrc
from imrc.baselines import PUBLISHED
from imrc.datasets import DEFAULT, DataError, load
from imrc.diagnostics import Assessment, assess
from imrc.evaluation import RunResult, RunSettings, StepResult, iter_run, join_repetitions, largest_n
from imrc.evaluation.run import REFERENCE, split_references, with_references
from imrc.evaluation.settings import diagnosis_cells, run_cells, seconds_of
from imrc.evaluation.splits import sample_sizes
from imrc.features import FeatureSpec
from imrc.paper import grid, shipped
from imrc.report import FIRST_LOOK, Report
from imrc.solvers import warm_up
from imrc.sweeps import ResultStore, default_store_path
from imrc.wording import duration
from pages.shell import controls, keeping, state
from pages.shell.choice import Choice, plain
from pages.shell.keeping import K, Kept, V

_Slot = st.delta_generator.DeltaGenerator
COMPARED_PRESETS = ("recommended", "paper")
"""Presets of IMRC that are always compared."""

COMPARED_METHODS = ("pooled", "majority", "logistic_seen", "forest", *(name for name in PUBLISHED if name != "mer"))
"""Those of the shipped comparison but MER, which takes as long as all others together."""


def comparison_changes(settings: RunSettings, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return what the runs of IMRC and of the methods named change in the settings.

    Custom values belong to none of them, nor does a scenario: what is averaged is chosen on the page of the comparison,
    so that one run serves all. The loss is that of the page where a preset has a choice, as are b and W.
    """
    loss = tuple(pair for pair in settings.overrides if pair[0] == "loss")
    alone: dict[str, Any] = {"overrides": (), "scenario": "continual"}
    presets = ({"preset": one, "overrides": loss if one == "recommended" else ()} for one in COMPARED_PRESETS)
    found = [*({"methods": ("imrc",)} | preset for preset in presets), *({"methods": (name,)} for name in names)]
    return [alone | one for one in found]


def comparison_kept(
    sequence: imrc.TaskSequence, settings: RunSettings, names: Iterable[str] = COMPARED_METHODS
) -> list[RunResult]:
    """Return the runs of the comparison that are there already, with their visitor's names."""
    # By key: settings of runs that nobody asked for need not be made.
    keys = (state.key_of(sequence, settings, **change) for change in comparison_changes(settings, names))
    return [state.named(result, sequence) for key in keys if (result := kept_runs.get(key)) is not None]


def _in_store(sequence: imrc.TaskSequence, settings: RunSettings) -> RunResult | None:
    """Return what `imrc sweep` has kept of a run; None if that is nothing, or cannot be read."""
    if len(settings.methods) != 1:
        return None
    with contextlib.suppress(OSError, RuntimeError):
        if (path := default_store_path()).is_file():
            with ResultStore(path) as kept:
                return kept.result(sequence.fingerprint, settings)
    return None


AT_ONCE_S = 3.0
"""What is estimated to take longer waits for *Run*."""
_FIRST_LOOK_S = 1.0
"""A run that is estimated to take longer is shown after its first repetitions, and refined."""
_SENTENCE_AT = 5
"""Repetitions from which a first look has a sentence: what it says then, all ten say, too."""
_FIRST_SHOWN_S = 0.3
"""A run that ends sooner shows no progress bar: it would only flicker."""

_TESTING, _UNKNOWN = 0.1, 5.0
"""Time that every method takes for drawing and testing, and of one that is not shipped, in multiples of the default."""

kept_runs = Kept[state.RunKey, RunResult]("runs")
_shipped = Kept[state.RunKey, RunResult | None]("shipped")
_diagnoses = Kept[tuple[str, FeatureSpec, int], Assessment]("diagnoses")


def may_run(sequence: imrc.TaskSequence, settings: RunSettings) -> bool:
    """Return whether a run is small enough; say so if it is not."""
    less = "To make it smaller, use fewer repetitions, tasks k, backward steps b, samples n or frequencies."
    return keeping.fits("run", run_cells(sequence, settings), less)


def diagnosed(sequence: imrc.TaskSequence, spec: FeatureSpec, seed: int) -> Assessment:
    """Return the diagnosis of a sequence from all samples, made once per sequence and representation."""
    key = sequence.fingerprint, spec, seed
    less = "To make it smaller, use fewer tasks k or fewer frequencies."
    if _diagnoses.get(key) is None and not keeping.fits("diagnosis", diagnosis_cells(sequence, spec, seed), less):
        st.stop()
    # Frozen result, read only: one copy serves everyone.
    make = partial(assess, sequence, features=spec, seed=seed)
    expected = partial(seconds_of, "diagnosis", sequence, spec, seed)
    return state.named(waited(_diagnoses, key, make, "Diagnosing the sequence", expected), sequence)


def waited(kept: Kept[K, V], key: K, make: Callable[[], V], what: str, expected_s: Callable[[], float]) -> V:
    """Return what is kept, or make it, which cannot tell how far it is: a spinner says about how long it takes."""
    if (found := kept.get(key)) is not None:
        return found
    seconds = expected_s()
    with st.spinner(f"{what}, about {duration(seconds)} …" if seconds > 1.0 else f"{what} …"):
        return kept.get_or_make(key, make)


def assessment(choice: Choice) -> Assessment:
    """Return the diagnosis of the chosen sequence from all samples."""
    sequence = state.visit().sequence_for(choice)
    return diagnosed(sequence, choice.settings.features.diagnosed, choice.settings.seed)


@dataclass
class Solver:
    """Whether this server has the solver ready (one visitor compiles, others wait for it), and how fast it is."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    done: bool = False
    pace: float = math.inf  # processor seconds for each number held and task learnt, in the fastest run so far


@st.cache_resource(show_spinner=False)
def solver() -> Solver:
    """Return the one state of this server."""
    return Solver()


def compile_early() -> None:
    """Compile the solver beside the server, whose first visitors see what comes with the app, and load it."""
    names = "features.py", "solvers/logistic.py", "solvers/_subgradient.py"
    sources = [Path(imrc.__file__).parent / one for one in names]
    kernels = {one: one.parent.glob(f"__pycache__/{one.stem}.*.nbi") for one in sources}
    with solver().lock:
        # What is newer than its source is loaded in a second.
        if not all(any(new.stat().st_mtime > one.stat().st_mtime for new in found) for one, found in kernels.items()):
            subprocess.run([sys.executable, "-c", "from imrc.solvers import warm_up; warm_up()"], check=False)
        warm_up()
        solver().done = True


def ensure_compiled(slot: _Slot) -> None:
    """Compile the solver, or wait, in a slot, until it is; in later starts this loads it from the cache in a second."""
    if not solver().done:
        told = "Preparing the solver. At the first start it is compiled, which takes a few seconds."
        with slot, st.spinner(told), solver().lock:
            warm_up()
            solver().done = True


def _stop(key: Hashable) -> None:
    state.visit().stopped = key


def stoppable(name: str, key: Hashable) -> Any:  # noqa: ANN401 - Streamlit's own element
    """Draw a progress bar with a Stop button; where it is moved on is also where Stop or a closed tab ends the run."""
    row = st.container(horizontal=True, vertical_alignment="center")
    bar = row.progress(0.0, width=200)
    controls.button("Stop", "stop", f"stop-{name}", "Ends the run.", place=row, on_click=_stop, args=(key,))
    return bar


def stopped(name: str, told: str) -> None:
    """Say what was stopped, with a way on."""
    row = st.container(horizontal=True, vertical_alignment="center")
    row.warning(told, icon=":material/stop:")
    then = {"place": row, "on_click": _stop, "args": (None,)}
    controls.button("Go on", "play_arrow", f"again-{name}", "Runs the rest of this experiment.", **then)


@cache
def _shipped_pace() -> float:
    """Return the pace at which the results that come with the app were made, until a run here has shown another."""
    table = shipped.table("against")
    one = table[(table["dataset"] == DEFAULT) & (table["method"] == "imrc:recommended")].iloc[0]
    return float(one["ms"]) / 1000.0 / run_cells(load(DEFAULT), RunSettings(n=int(one["n"]), repetitions=1))


def expected_s(sequence: imrc.TaskSequence, settings: RunSettings) -> float:
    """Return about how many seconds a run and its references take, by the pace of those before."""
    pace = solver().pace if math.isfinite(solver().pace) else _shipped_pace()
    return 1.5 * pace * run_cells(sequence, settings) * len(sequence)


@dataclass
class Job:
    """Runs with one progress bar, by the seconds that each is expected to take."""

    seconds: float = 1.0  # of all of them
    done: float = 0.0  # of those that have ended
    now: float = 1.0  # of the one under way
    worked: float = 0.0  # what they have really taken so far


def how_far(share: float, worked: float) -> str:
    """Return the words beside a bar for the share done of what has run for so many seconds."""
    left = f", about {duration(worked * (1.0 / share - 1.0))} left" if share > 0.0 else ""
    return f"{100 * share:.0f} %{left}"


def waits(name: str, key: Hashable, seconds: float, what: str = "", **look: Any) -> bool:  # noqa: ANN401 - of a button
    """Return whether something takes too long to start by itself, and nobody has clicked *Run*, which is drawn."""
    visit = state.visit()
    shown = state.key_of(visit.sequence(), visit.choice.settings)  # may stay stopped while others run
    if seconds <= AT_ONCE_S or (visit.asked == key and visit.stopped in (None, shown)):
        return False

    def ask() -> None:
        visit.asked, visit.stopped = key, shown if visit.stopped == shown else None

    label = f"Run{what} (about {duration(seconds)})" if math.isfinite(seconds) else f"Run{what}"
    told = "Long runs wait for this click. You can stop them at any time."
    controls.button(label, "play_arrow", name, told, type="primary", on_click=ask, **look)
    return True


def as_one(name: str, choice: Choice, changes: list[Any], *, whole: bool = True) -> Iterator[RunResult | None]:
    """Yield what `result_of` returns for each of several changes, with one bar for all; what is kept if others wait."""
    visit, expected = state.visit(), [change_s(choice, change, whole=whole) for change in changes]
    key = state.key_of(visit.sequence_for(choice), choice.settings), repr(changes)
    if waits(name, key, sum(expected)):
        changes = [change for change, seconds in zip(changes, expected, strict=True) if not seconds]
        expected = [0.0] * len(changes)
    job = Job(sum(expected))
    visit.job = job if any(expected) else None
    try:
        for change, job.now in zip(changes, expected, strict=True):
            yield result_of(choice, whole=whole, asked=True, **change)
            job.done += job.now
    finally:
        visit.job = None
        if visit.line is not None:
            visit.line.empty()


def change_s(choice: Choice, change: dict[str, Any], *, whole: bool = True) -> float:
    """Return about how many seconds the run of a choice with a change takes: none if it is kept."""
    sequence = state.visit().sequence_for(choice)
    if _kept(choice, sequence, whole=whole, **change) is not None:
        return 0.0
    settings = _changed(choice, change)
    usual = replace(settings, methods=("imrc",), preset="recommended", overrides=())
    return expected_s(sequence, usual) * sum(_cost(name, settings.preset) for name in settings.methods)


@cache
def _cost(method: str, preset: str) -> float:
    """Return how long a method takes on shipped data, with its tests, as a multiple of the default."""
    ms = shipped.table("against").groupby("method")["ms"].mean()
    ms /= ms["imrc:recommended"]
    return float(ms.get(f"imrc:{preset}" if method == "imrc" else method, _UNKNOWN)) + _TESTING


def follow() -> float:
    """Make what the widgets hold the choice, whose run ends the one under way, unless it waits for *Run*.

    Return about how many seconds it then takes, inf for a large dataset that has to be read first; 0: nothing waits.
    """
    visit, held = state.visit(), state.widget_values()
    if held == visit.choice.values() or held["dataset"] not in visit.known_datasets() or visit.failure:
        return 0.0
    asked = visit.asked == "run"  # below these settings
    if state.is_large(held["dataset"]) and held["dataset"] != visit.choice.dataset and not asked:
        return math.inf
    try:
        choice, notes = visit.fitted(state.wanted_values())
    except DataError as error:
        visit.failure, visit.asked = plain(str(error)), None
        return 0.0
    sequence = visit.sequence_for(choice)
    seconds = expected_s(sequence, choice.settings)
    if seconds > AT_ONCE_S and not asked and _kept(choice, sequence) is None:
        return seconds
    visit.become(choice, list(notes.values()))
    visit.link_to_present()
    return 0.0


def _kept(choice: Choice, sequence: imrc.TaskSequence, *, whole: bool = False, **changes: Any) -> RunResult | None:  # noqa: ANN401
    """Return the result that is kept, or part of a larger one; if not `whole`, errors that come with the app do."""
    key = state.key_of(sequence, choice.settings, **changes)
    if (found := kept_runs.get(key)) is not None:
        return found
    n, seed = (changes.get(name, getattr(choice.settings, name)) for name in ("n", "seed"))
    for run in kept_runs.values():
        if (run.settings.n, run.settings.seed) != (n, seed):
            continue
        longer, asked = sequence, _changed(choice, changes)
        if run.n_tasks > len(sequence) and run.name == sequence.name and not state.is_large(choice.dataset):
            longer = state.visit().sequence_for(replace(choice, k=run.n_tasks))
            asked = replace(asked, k=len(sequence))
        held = run.answering(asked, longer)
        if held is not None and held.fingerprint == sequence.fingerprint:
            return kept_runs.put(key, replace(held, settings=_changed(choice, changes)))
    if whole or sequence.fingerprint not in grid.fingerprints():
        return None
    wide, asked = replace(choice.settings.computed, n=n, b=grid.REACH), _changed(choice, changes)
    shipped = _shipped.get_or_make((sequence.fingerprint, wide.key()), lambda: grid.run(sequence, wide))
    parts = () if shipped is None else split_references(shipped, wide)
    found = next((held for run in parts if (held := run.answering(asked, sequence)) is not None), None)
    return None if found is None else replace(found, settings=asked)


def _changed(choice: Choice, changes: dict[str, Any]) -> RunSettings:
    return (replace(choice.settings, **changes) if changes else choice.settings).computed


def kept_result(choice: Choice, **changes: Any) -> RunResult | None:  # noqa: ANN401 - fields of RunSettings
    """Return the result of a choice, with `changes` to its settings, if it is there already."""
    with contextlib.suppress(DataError):
        sequence = state.visit().sequence_for(choice)
        found = _kept(choice, sequence, **changes)
        return None if found is None else _judged(found, choice, sequence, changes)
    return None


def _judged(result: RunResult, choice: Choice, sequence: imrc.TaskSequence, changes: dict[str, Any]) -> RunResult:
    """Return a run as the scenario asked for judges it, several of which share one run, with its visitor's name."""
    scenario = changes.get("scenario", choice.settings.scenario)
    return state.named(result if result.settings.scenario == scenario else result.seen_as(scenario), sequence)


def result_of(choice: Choice, *, whole: bool = True, asked: bool = False, **changes: Any) -> RunResult | None:  # noqa: ANN401 - as above
    """Return the result of a choice, kept or run now, or what it reached, if anything; if not `whole`, errors do.

    What takes long waits for *Run*, unless it is the run shown, whose errors do not come with the app, or was `asked`.
    """
    visit = state.visit()
    sequence = visit.sequence_for(choice)
    key = state.key_of(sequence, choice.settings, **changes)
    result = _kept(choice, sequence, whole=whole, **changes)
    slot = st.empty()  # also where nothing is to be computed: what follows keeps its place, and a click on it counts
    if result is None:
        settings = _changed(choice, changes)
        kept = _in_store(sequence, settings)  # what `imrc sweep` has kept is read, not computed
        pinned = choice != visit.choice
        name = "_".join(["run", "pinned"] if pinned else ["run", *(changes or ["whole"])])
        is_shown = not pinned and (not _kept(choice, sequence) if not changes else changes == REFERENCE)
        if kept is not None:
            result = kept_runs.put(key, kept)
        elif visit.stopped == key:
            result = _stopped_result(key, sequence, settings)
        elif not may_run(sequence, settings):
            return None
        elif asked or is_shown or not waits(name, key, change_s(choice, changes), " the pinned run" * pinned):
            result = _compute(key, sequence, settings, settings.repetitions, slot, beside=not changes)
    if result is None:
        return None
    result = _judged(result, choice, sequence, changes)
    if visit.show_result is not None and choice == visit.choice and not changes:
        visit.show_result(result)
    return result


def current_report(
    *,
    diagnosed: bool = False,
    labels: bool = False,
    whole: bool = False,
    first_look: Callable[[Report], object] | None = None,
) -> Report | None:
    """Return the one report of the run shown; None if no task was learnt.

    `whole`: with more than errors; `diagnosed`: with how the tasks change; `labels`: with the runs at other n, made if
    they are not there; `first_look` draws what the first repetitions of a longer run show.
    """
    visit = state.visit()
    choice, sequence = visit.choice, visit.sequence()
    key, beside = (state.key_of(sequence, choice.settings, **changes) for changes in ({}, REFERENCE))
    begins = first_look is not None and visit.stopped is None and _kept(choice, sequence, whole=whole) is None
    slot = st.empty()  # as in `result_of`
    if begins and not _show_first(choice, sequence, first_look, slot):
        return None
    run = result_of(choice, whole=whole)
    if run is None:
        return None
    # References have all tasks, which a stopped run has not.
    known = is_finished(run)
    references = result_of(choice, whole=whole, **REFERENCE) if known and visit.stopped != beside else None
    of = (key, choice, sequence.name, run.n_tasks, run.settings.repetitions, references is None, bool(run.ess_tables))
    found = visit.report[1] if visit.report is not None and visit.report[0] == of else None
    if found is None:
        found = _report(choice, sequence, run, references)
    if diagnosed and found.diagnosis is None:
        found = replace(found, diagnosis=assessment(choice))
    if known and not found.curve and (curve := runs_by_n(kept=not labels)):
        found = replace(found, curve=tuple(curve))
    if not state.is_large(choice.dataset):  # of those no visitor holds one
        visit.report = of, found
    return found


def is_finished(run: RunResult) -> bool:
    """Return whether a run has all tasks and repetitions that are asked for."""
    visit = state.visit()
    return run.n_tasks == len(visit.sequence()) and run.settings.repetitions == visit.choice.settings.repetitions


def whole(report: Report) -> Report | None:
    """Return the report of the run shown with more than errors, which is run now where only these come with the app."""
    return report if report.run.ess_tables else current_report(whole=True)


def _report(choice: Choice, sequence: imrc.TaskSequence, run: RunResult, references: RunResult | None) -> Report:
    name = state.title_of(choice.dataset)
    return Report(run=run, sequence=sequence, references=references, name=name, as_text=plain)


def _show_first(choice: Choice, sequence: imrc.TaskSequence, draw: Callable[[Report], object], slot: _Slot) -> bool:
    """Draw what the first repetitions show, if all of them take so long that somebody waits; False: none can run."""
    settings = choice.settings.computed
    if settings.repetitions <= FIRST_LOOK or expected_s(sequence, settings) < _FIRST_LOOK_S:
        return True
    if _in_store(sequence, settings) is not None or not may_run(sequence, settings):
        return _in_store(sequence, settings) is not None
    for many in (FIRST_LOOK, _SENTENCE_AT):
        if many < settings.repetitions:
            found = _compute(state.key_of(sequence, settings), sequence, settings, many, slot, beside=True)
            first = replace(settings, repetitions=many)
            run, references = split_references(found, first) if found.settings.compared else (found, None)
            shown = _report(choice, sequence, _judged(run, choice, sequence, {}), references)
            draw(replace(shown, is_first_look=many < _SENTENCE_AT))
    return True


def runs_by_n(*, kept: bool) -> list[RunResult]:
    """Return the run shown at several n, n rising; none where one was not run to its end, or is not `kept`."""
    choice, sequence, runs = state.visit().choice, state.visit().sequence(), list[RunResult]()
    changes = [{"n": n} for n in sample_sizes(largest_n(sequence), choice.settings.n)]
    if len(changes) == 1 and not kept:
        st.info("The tasks are too small for another n.", icon=":material/info:")
    there = (kept_result(choice, **one) for one in changes)
    for run in there if kept else as_one("run_budget", choice, changes, whole=False):
        if run is None or run.n_tasks < len(sequence):
            return []
        runs.append(run)
    return runs if 1 < len(runs) == len(changes) else []


def _stopped_result(key: state.RunKey, sequence: imrc.TaskSequence, settings: RunSettings) -> RunResult | None:
    """Return what a run had reached when it was stopped: its first repetitions, or its first tasks."""
    visit = state.visit()
    found, reached = visit.begun.get(key), ""
    if found is not None:
        settings = replace(settings, repetitions=found.settings.repetitions)
        reached = f"{settings.repetitions} of {visit.choice.settings.repetitions} repetitions"
    elif visit.partial is not None and visit.partial[0] == key and visit.partial[2]:
        _, job, steps = visit.partial
        found, reached = RunResult.from_steps(job, sequence, steps), f"{len(steps)} of {len(sequence)} tasks"
    told = f"Stopped after {reached}. The results below use only these."
    stopped(str(key[1][0]), told if found else "Stopped before the first task was learnt.")
    return found.part(settings) if found else None


def _compute(
    key: state.RunKey, sequence: imrc.TaskSequence, settings: RunSettings, until: int, slot: _Slot, *, beside: bool
) -> RunResult:
    """Run the repetitions up to `until`, `beside` them the references of a decision, with progress in a slot."""
    ensure_compiled(slot)
    visit, first = state.visit(), state.visit().begun.get(key)
    others = state.key_of(sequence, settings, **REFERENCE)
    job = settings if first is None else replace(first.settings, repetitions=settings.repetitions)
    if first is None and beside and "imrc" in settings.methods and kept_runs.get(others) is None:
        job = with_references(settings)
    begin = 0 if first is None else first.settings.repetitions
    if first is not None and begin >= until:
        return first
    only, steps = range(begin, until), list[StepResult]()
    part = job if len(only) == job.repetitions else replace(job, repetitions=len(only))
    visit.partial = None if begin else (key, part, steps)
    waiting, slot = slot, slot if visit.line is None else visit.line
    bar, is_alone = None, visit.job is None or visit.job.now == visit.job.seconds
    visit.job = under_way = Job() if visit.job is None or (is_alone and not begin) else visit.job

    def show() -> None:
        """Show how far the run is."""
        nonlocal bar
        elapsed, total, number = time.monotonic() - started, len(sequence), len(steps)
        if elapsed < _FIRST_SHOWN_S:
            return
        if bar is None:
            with slot.container():
                bar = stoppable(f"{settings.preset}-{settings.methods[0]}-{settings.n}-{begin}", key)
        share = (begin + len(only) * number / total) / settings.repetitions
        share = min((under_way.done + under_way.now * share) / under_way.seconds, 1.0)
        bar.progress(share, text=how_far(share, under_way.worked + elapsed))

    with keeping.turn(waiting) as pace, contextlib.closing(iter_run(sequence, job, only=only, tick=show)) as run:
        started = time.monotonic()  # waiting for a place does not count, nor a pause after Stop
        for step in run:
            steps.append(step)
            show()
            pace(step.number / step.total)
        under_way.worked += time.monotonic() - started
    if bar is not None and is_alone:
        slot.empty()
    visit.partial = None
    found = RunResult.from_steps(part, sequence, steps)
    if "imrc" in settings.methods:
        # Processor seconds: what others compute meanwhile does not count.
        work = run_cells(sequence, part) * len(sequence)
        solver().pace = min(solver().pace, float(found.method_time_s["imrc"].sum()) / work)
    if first is not None:
        found = join_repetitions([first, found], replace(job, repetitions=until))
        del visit.begun[key]
    if until < settings.repetitions:
        visit.begun[key] = found
        return found
    if job is not settings and job.methods != settings.methods:
        found, references = split_references(found, settings)
        kept_runs.put(others, references)
    return kept_runs.put(key, found)
