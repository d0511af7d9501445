"""What *Result* shows: the landing or what a task is, what you could do, one picture at a time, a fold for experts."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

import imrc
from imrc.diagnostics import assess
from imrc.evaluation import HEADLINES, SCENARIOS, RunSettings
from imrc.evaluation import what_if as asked
from imrc.evaluation.budget import budget_table
from imrc.evaluation.measures import MEASURES, measure_rows
from imrc.evaluation.significance import with_error
from imrc.evaluation.weights import task_weights, weights_sentence
from imrc.paper import shipped
from imrc.plots import result, tasks, what_if
from imrc.report import Report
from imrc.report.against_others import plain_errors_note
from imrc.wording import RISKS, RULES, capital
from pages.shell import charts, controls, keeping, running, state
from pages.shell.choice import plain
from pages.shell.keeping import Kept

LANDING = "six_or_nine"
"""The dataset the app opens with; its picture is drawn in the browser from errors measured before."""
_PARTS = {kind: Path(__file__).with_name(f"landing.{kind}").read_text(encoding="utf-8") for kind in ("html", "js")}
_LEARN = "pages/learn/page.py"
_SCENARIO = "scenario_shown"
_MEANINGS = [f"**{one.title}** ({one.field}): {one.sentence}" for one in SCENARIOS.values()]
_weights_kept = Kept[tuple[Hashable, ...], pd.DataFrame]("weights")
_answers = Kept[Hashable, Any]("what if")


def landing(n: int) -> None:
    """Show digits that turn beside the errors of four ways to learn them from n labels, and where to go from here."""
    row = {"vertical_alignment": "center", "horizontal_alignment": "distribute", "key": "landing_title"}
    with st.container(horizontal=True, **row):
        st.markdown("# Is it a 6 or a 9?", width="content")
        with st.container(horizontal=True, width="content"):
            st.page_link(_LEARN, label="New here?", icon=":material/school:", query_params={"scene": "1"})
            st.page_link(_LEARN, label="I teach: one minute", query_params={"scene": "1,projector"})
            st.page_link("pages/your_data/page.py", label="I have a table")
            st.page_link("pages/against_others/page.py", label="I compare methods")
    st.components.v2.component("landing", **_PARTS)(key="landing", data={**shipped.turning_digits(), "n": n})


def scenario_switch() -> None:
    """Offer the four scenarios by plain words."""
    st.session_state[_SCENARIO] = state.visit().choice.settings.scenario
    st.radio(
        "Judged by",
        list(SCENARIOS),
        horizontal=True,
        format_func=lambda name: SCENARIOS[name].title,
        key=_SCENARIO,
        on_change=lambda: state.use_values({"scenario": st.session_state[_SCENARIO]}),
        label_visibility="collapsed",
        help="  \n".join(_MEANINGS),
    )


def what_a_task_is(sequence: imrc.TaskSequence) -> None:
    """Show what a task is, in its own pictures; a dataset with a picture of its own shows that one here."""
    if (samples := tasks.sample_images(sequence)) is not None:
        charts.show(tasks.image_strip, samples, name="tasks")
    elif (clouds := tasks.task_clouds(sequence)) is not None:
        charts.show(tasks.moving_clouds, clouds, name="tasks")


def in_words(report: Report, how: str) -> str:
    """Return the errors of what you could do."""
    errors = ", ".join(f"{one.title} {with_error(one.error)}" for one in report.decision.strategies)
    return f"{capital(report.decision.measure)} of each strategy {how}: {errors}."


def strategies(report: Report, *, name: str = "decision", over: tuple[Any, Any] = (st, st)) -> Any:  # noqa: ANN401 - what `charts.show` returns
    """Show what you could do, with intervals; return what another chart can be shown over."""
    alt = in_words(report, "with its 95 % interval")
    return charts.show(result.decision_chart, report.errors, report.decision.measure, name=name, alt=alt, over=over)


def how_judged(report: Report) -> None:
    """Say over what errors are averaged, and what a reader should know of them."""
    run, (learner, *notes) = report.run, report.decision.notes
    averaged, many = HEADLINES[run.scenario.kind], run.settings.repetitions
    told = [f"{capital(report.decision.measure)}: {averaged}.", in_words(report, "with its standard error"), learner]
    told += _MEANINGS
    if not run.ess_tables:
        made = "computed by {command} on {date}".format(**shipped.index()["grid"])
        told.append(f"These errors come with the app, {made}. On another processor, a few answers may differ.")
    over = f"{many} repetitions" if many > 1 else "One repetition"
    st.caption("  \n".join([over, *notes]), help="  \n".join(told), width="content")


def _time(report: Report, _sequence: imrc.TaskSequence) -> None:
    heatmaps(report)
    if report.accounts:
        st.caption(report.accounts[0], help=report.accounts[1])


def heatmaps(report: Report, quantity: result.Quantity = "error") -> None:
    """Show a number of each task, in rows, at each step, in columns, for every rule."""
    run = report.run
    triangle = run.n_tasks > result.LAG_VIEW_ABOVE and controls.toggle(
        "Steps beside tasks",
        f"triangle_{quantity}",
        "With many tasks, the columns count the tasks learnt after each one. Switch this on to show all steps, as the "
        "paper does"
        + (f": every {stride}th task and step." if (stride := result.triangle_stride(run.n_tasks)) > 1 else "."),
    )
    name = f"heatmaps-{quantity}"
    charts.show(result.run_heatmaps, run, quantity, RISKS[run.loss].lower(), triangle=triangle, name=name)
    if run.scenario.kind == "before":
        st.caption("Errors after learning.", help="For errors before learning, see *Curves* under *For experts*.")
    if run.measure() != "error":
        st.caption(plain_errors_note(plain(run.rare_class)))


def _ladder(report: Report, _sequence: imrc.TaskSequence) -> None:
    charts.show(result.run_ladder, report.run, name="ladder")
    if report.run.measure() != "error":
        st.caption(plain_errors_note(plain(report.run.rare_class)))


def _budget(report: Report, _sequence: imrc.TaskSequence) -> None:
    """Show the error against samples per task, and how many samples reach the same error."""
    if not running.is_finished(run := report.run):
        st.info("This needs a finished run. Click *Go on* above.", icon=":material/info:")
    elif (found := running.current_report(labels=True)) is not None and found.curve:
        table = budget_table(found.curve)
        st.markdown(found.labels[0])
        charts.show(what_if.budget_chart, table, run, name="label-budget")
        charts.csv(table, name=f"label-budget-{run.name}")


def _answer(key: Hashable, runs: int, needs: tuple[imrc.TaskSequence, RunSettings], make: Callable[..., Any]) -> Any:  # noqa: ANN401 - whatever is made
    """Return what is kept, or make it in so many runs; None if it waits, was stopped, or a run `needs` too much."""
    slot, kept = st.empty(), _answers.get(key)
    if kept is not None:
        return kept
    if not running.may_run(*needs) or running.waits("run_what_if", key, runs * running.expected_s(*needs)):
        return None
    if state.visit().stopped == key:
        running.stopped("what_if", "Stopped before all runs had finished.")
        return None
    running.ensure_compiled(slot)
    with keeping.turn(slot) as pace, slot.container():
        bar, started = running.stoppable("what_if", key), time.monotonic()

        def tick(share: float) -> None:
            bar.progress(share, text=running.how_far(share, time.monotonic() - started))
            pace(share)

        made = make(tick=tick)
    slot.empty()
    return _answers.put(key, made)


_ASKED: dict[str, tuple[str, Callable[..., Any], Callable[..., str], Callable[..., Any], str]] = {
    "blocks": (
        "Other block sizes",
        asked.over_blocks,
        asked.blocks_sentence,
        what_if.blocks_chart,
        "The rows of all tasks, in their order, are cut into blocks of equal size, and n grows with them, so the total "
        "number of labelled rows stays the same. An incomplete block at the end is left out. Blocks of another size "
        "have other test samples, so these errors are not paired.",
    ),
    "order": (
        "Another order",
        asked.shuffled,
        asked.shuffled_sentence,
        what_if.gains_chart,
        "Mean error of all tasks at the last step. Each repetition has its own random order. Both orders use the same "
        "rows for training and testing.",
    ),
    "drop": (
        "A task less",
        asked.without,
        asked.without_sentence,
        what_if.without_chart,
        "Error of each task at the last step, with and without the task left out, on the same rows for training and "
        "testing. Without correction for multiple comparisons, about one interval in 20 excludes 0 by chance.",
    ),
}
"""What if: each question with what runs it, words and chart of the answer, and how it was found."""


def _what_if(report: Report, sequence: imrc.TaskSequence) -> None:
    """Show the answer to the question chosen."""
    about = (
        "Cut the same rows into blocks of another size, put the tasks in random order, or leave one task out. "
        "Each is a separate run with the current settings."
    )
    titles = {name: title for name, (title, *_) in _ASKED.items()}
    question = controls.switch("What if the tasks were different?", titles, "what_if", about)
    head, settings = sequence.head(report.run.n_tasks), report.run.settings
    if settings.scenario != "continual":
        st.caption("These runs always learn tasks as they arrive, in every scenario.")
    sizes = asked.block_sizes(head, settings) if question == "blocks" else []
    if not sizes and (question == "blocks" or len(head) < 3):
        few = "There are too few rows for blocks of another size with so many samples per task."
        st.info(few if question == "blocks" else "At least 3 tasks are needed.", icon=":material/info:")
        return
    options, runs = dict[str, Any](), max(2, len(sizes))
    told: tuple[Any, ...] = ()  # what sentence and chart need beside what was found
    needs = head, settings
    if question == "blocks":
        options, told = {"sizes": sizes, "diagnose": assess}, (round(float(head.sizes.mean())),)
        needs = asked.in_blocks(head, sizes[0]), asked.settings_for(sizes[0], head, settings)
    elif question == "drop":
        middle, of = max(1, len(head) // 2), (head.fingerprint, len(head))
        why = "All other tasks are learnt without it, on the same rows."
        left = controls.number("Task left out", 1, len(head), middle, "what_if_task", why, of, width=200) - 1
        options, told = {"task": left}, (left,)
    _, learn, say, draw, how = _ASKED[question]
    key = (question, *told, head.fingerprint, settings)
    found = _answer(key, runs, needs, partial(learn, head, settings, **options))
    if found is None:
        return
    st.markdown(say(found, *told))
    charts.show(draw, found, *told, *((head.labels,) if question == "drop" else ()), name=f"what-if-{question}")
    if question == "blocks":
        charts.csv(found, name="what-if-blocks")
    st.caption(how)


VIEWS = {
    "time": ("As tasks arrive", _time),
    "tasks": ("Ladder by task", _ladder),
    "budget": ("How many labels?", _budget),
    "what_if": ("What if?", _what_if),
}


def _risks(report: Report, _sequence: imrc.TaskSequence) -> None:
    heatmaps(report, "risk")
    st.caption(
        "Worst-case log loss over the uncertainty set, with the penalty. It does not bound the error: a rule that "
        "borrows may have a higher value and fewer errors."
        if report.run.loss == "log"
        else "Bound on the error of the randomised rule if the true distribution lies in the uncertainty set. A solver "
        "that stops early can leave it too low, and a value above 1 promises nothing."
    )


def _curves(report: Report, _sequence: imrc.TaskSequence) -> None:
    run = report.run
    charts.show(result.run_curves, run, report.references, name="error-curves")
    if run.choices:
        charts.show(result.run_choices, run, name="choices")


def _task(report: Report, sequence: imrc.TaskSequence) -> None:
    """Show the story of one task, and the weights of all tasks in its rule."""
    run = report.run
    middle = max(1, run.n_tasks // 2)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    told, of = "See its error at every step, and the weight of every task in its rule.", (run.fingerprint, run.n_tasks)
    task = controls.number("Task", 1, run.n_tasks, middle, "story_task", told, of, row, width=140)
    told = "Which rule's weights to show: the rule first learnt for the task, or the rule revised with later tasks."
    titles = {name: RULES[name] for name in ("forward_backward", "forward")}
    rule = controls.switch("Rule", titles, "uses_rule", told, place=row)
    charts.show(result.run_story, run, task, name="task-story")
    head, settings = sequence.head(run.n_tasks), run.settings
    key, make = (head.fingerprint, settings, task, rule), partial(task_weights, head, settings, task - 1, rule)
    expected = partial(running.expected_s, head, replace(settings, repetitions=1))
    table = running.waited(_weights_kept, key, make, "Learning the first repetition again", expected)
    st.markdown(weights_sentence(table, task - 1))
    charts.show(what_if.weights_chart, table, task - 1, name="task-weights")
    st.caption(f"From the first of {settings.repetitions} repetitions.")


def _numbers(report: Report, _sequence: imrc.TaskSequence) -> None:
    """Show measures by the names papers use, and what the charts are made of."""
    run = report.run
    rows = pd.DataFrame(measure_rows(run.measures()))
    charts.table(rows, name=f"measures-{run.name}", label="Download measures as CSV", height=280)
    st.caption(
        "Measures of continual learning. R[i, j]: accuracy on task j after task i of T was learnt. "
        + plain(" ".join(f"{one.title}: {one.note}" for one in MEASURES.values() if one.note))
    )
    charts.table(run.to_frame(), name=f"run-{run.name}", height=280)
    st.caption(
        "One row per rule, repetition, task and step at which the error was measured. For each rule and repetition, "
        "the errors times their weights add up to the average error."
    )


def _calibration(report: Report, _sequence: imrc.TaskSequence) -> None:
    table = what_if.reliability_table(report.run)
    if not len(table):
        st.info("The rules give no probabilities, or this run is part of a longer one.", icon=":material/info:")
        return
    charts.show(what_if.reliability_chart, table, name="reliability")


EXPERTS = {
    "numbers": ("Numbers", _numbers),
    "calibration": ("Calibration", _calibration),
    "risk": ("Risks", _risks),
    "difference": ("Differences", lambda report, _: heatmaps(report, "difference")),
    "curves": ("Curves", _curves),
    "task": ("One task", _task),
}
