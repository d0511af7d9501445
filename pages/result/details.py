"""What *Result* shows on demand: each task, the course of the errors, what fewer labels would do, the numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pandas as pd
import streamlit as st

import imrc
from imrc.evaluation import HEADLINES, RunResult, largest_n
from imrc.evaluation.budget import budget_sentence, budget_table
from imrc.evaluation.comparison import sample_sizes
from imrc.evaluation.measures import MEASURES, measure_rows
from imrc.evaluation.significance import with_error
from imrc.evaluation.weights import task_weights, weights_sentence
from imrc.plots.result import TITLES, run_curves, run_heatmaps, run_ladder, run_story
from imrc.plots.tables import LAG_VIEW_ABOVE, Quantity, triangle_stride
from imrc.plots.what_if import budget_chart, reliability_chart, reliability_table, weights_chart
from imrc.report.sentences import plain_errors_note
from imrc.wording import RISKS, RULES
from pages.result import overview, what_if
from pages.shell import charts, controls, links, state
from pages.shell.keeping import Store, shared
from pages.shell.running import current_result, stored_result
from pages.shell.words import plain

VIEWS = {
    "tasks": "Task by task",
    "time": "As tasks arrive",
    "budget": "How many labels?",
    "what_if": "What if?",
    "choices": "Paper's choices",
    "numbers": "Numbers",
}

_QUANTITIES = {"ladder": "Ladder", "error": "Errors", "difference": "Difference to each task alone"}

_weights_kept: Callable[[], Store[tuple[Hashable, ...], pd.DataFrame]] = shared("weights")


def tasks(result: RunResult, sequence: imrc.TaskSequence) -> None:
    """Show every task, as rungs or heatmaps; a click marks its row and shows its story beside it."""
    names = {**_QUANTITIES, "risk": RISKS[result.loss]}
    quantity = controls.switch(
        "Show",
        names,
        "quantity",
        "The error of each task when it was learnt and now; or heatmaps of errors, of errors minus those of "
        "single-task learning (green: fewer), or of the risk the rules promise. In heatmaps rows are tasks and columns "
        "the steps at which they are tested.",
    )
    # The task in the middle is the default; other tasks have another one.
    middle = max(1, result.n_tasks // 2)
    links.start_anew((result.fingerprint, result.n_tasks), story_task=middle)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _clicked("ladder" if quantity == "ladder" else f"heatmaps-{quantity}")
        triangle = (
            quantity != "ladder"
            and result.n_tasks > LAG_VIEW_ABOVE
            and controls.toggle(
                "Steps beside tasks",
                "triangle",
                "With many tasks columns are tasks learnt after; this shows all steps, as the paper does"
                + (f": every {stride}th of both." if (stride := triangle_stride(result.n_tasks)) > 1 else "."),
            )
        )
        _picture(result, quantity, int(st.session_state.get("story_task", middle)), triangle=triangle)
        if result.scenario.kind == "before":
            st.caption("Errors after learning; those before it are under *As tasks arrive*.")
        if result.measure() != "error":
            st.caption(plain_errors_note(plain(result.rare_class)))
    with right:
        task = st.number_input(
            "Task",
            1,
            result.n_tasks,
            middle,
            key="story_task",
            bind="query-params",
            help="Choose a task here or by a click in the picture; its row is marked there.",
        )
        charts.show(
            run_story,
            result,
            task,
            "risk" if quantity == "risk" else "error",
            name="task-story",
            alt=f"{RISKS[result.loss] if quantity == 'risk' else 'Error'} of task {task} at the steps from {task} on, "
            "per rule, with 95 % bands.",
        )
    if quantity == "risk":
        st.caption(
            "Worst-case log loss over the uncertainty set, penalty included: no bound on the error, and rules that use "
            "other tasks may promise more and still make fewer errors."
            if result.loss == "log"
            else "Bound on the error of the randomised rule where the true distribution lies in the uncertainty set. "
            "An early-stopped solver can leave it too low, and a value above 1 promises nothing."
        )
    _weights(result, sequence, int(task))


def _picture(result: RunResult, quantity: str, marked: int, *, triangle: bool) -> None:
    if quantity == "ladder":
        alt = "Error of each task alone, when it was learnt, and now."
        charts.show(run_ladder, result, marked, name="ladder", alt=alt, select=True)
        return
    kind: Quantity = quantity  # type: ignore[assignment]  # one of the keys of the switch
    headlines = result.headline()
    charts.show(
        run_heatmaps,
        result,
        kind,
        RISKS[result.loss].lower(),
        marked,
        triangle=triangle,
        name=f"heatmaps-{quantity}",
        alt=f"{TITLES[kind]}. Average {result.measure()}: "
        + ", ".join(f"{RULES[rule]} {with_error(headlines[rule])}" for rule in result.rules),
        select=True,
    )


def _clicked(chart: str) -> None:
    """Make the task of a new click on a chart the one whose story is shown, before the chart is drawn anew."""
    clicked = charts.clicked(chart)
    visit = state.visit()
    if clicked is not None and clicked != visit.clicked:
        visit.clicked = clicked
        st.session_state["story_task"] = int(clicked)


def _weights(result: RunResult, sequence: imrc.TaskSequence, task: int) -> None:
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
        table = _weights_kept().get_or_make(key, lambda: task_weights(head, settings, task - 1, rule))
    st.markdown(weights_sentence(table, task - 1))
    charts.show(
        weights_chart,
        table,
        task - 1,
        name="task-weights",
        alt=f"Weight of each task in the rule of task {task}. {weights_sentence(table, task - 1)}",
    )
    st.caption(f"Of the first of {settings.repetitions} repetitions.")


def time(result: RunResult, references: RunResult | None) -> None:
    """Show errors by step and by task, with the references."""
    charts.show(
        run_curves,
        result,
        references,
        name="error-curves",
        alt=f"Left: {result.measure()} so far, by step. Right: error of each task. Per rule with bands, and what one "
        f"could do without. {result.measure().capitalize()}: {HEADLINES[result.scenario.kind]}.",
    )


def runs_by_n(result: RunResult, sequence: imrc.TaskSequence, *, kept: bool = False) -> list[RunResult] | None:
    """Return the run at several n, n rising; None where one of them was not run to its end, or `kept` before."""
    runs = []
    for n in sample_sizes(largest_n(sequence), result.settings.n):
        run = stored_result(state.visit().choice, n=n) if kept else current_result(n=n)
        if run is None or run.n_tasks < len(sequence):
            return None
        runs.append(run)
    return runs


def budget(result: RunResult, sequence: imrc.TaskSequence) -> None:
    """Show the error against samples per task, and how many samples reach the same error."""
    runs = runs_by_n(result, sequence)
    if runs is None:
        return
    table = budget_table(runs)
    st.markdown(budget_sentence(table, result.settings.n))
    charts.show(
        budget_chart,
        table,
        result,
        name="label-budget",
        alt=f"Left: {result.measure()} against samples per task. Right: against the number of tasks. Per rule, 95 % "
        "bands.",
    )
    charts.csv(table, name=f"label-budget-{result.name}")


def numbers(result: RunResult) -> None:
    """Show measures by the names papers use, and what the charts are made of."""
    charts.table(
        pd.DataFrame(measure_rows(result.measures())),
        name=f"measures-{result.name}",
        label="Download measures as CSV",
        height=280,
    )
    st.caption(
        "Measures of continual learning. R[i, j]: accuracy on task j after task i of T was learnt. "
        + plain(" ".join(f"{one.title}: {one.note}" for one in MEASURES.values() if one.note))
    )
    table = reliability_table(result)
    if len(table):
        charts.show(
            reliability_chart,
            table,
            name="reliability",
            alt="Share of right answers against the probability of the answer given, per rule with bands: "
            + "; ".join(
                f"{RULES[rule]} {', '.join(f'{row.confidence:.2f}: {row.accuracy:.2f}' for row in part.itertuples())}"
                for rule, part in table.groupby("rule", sort=False)
            ),
        )
    frame: pd.DataFrame = result.to_frame()
    st.caption(
        "One row per rule, repetition, task and step at which its error was measured anew. Errors of a rule and "
        "repetition times their weights add up to the average error; its mean over repetitions is the number above."
    )
    st.dataframe(frame, height=280)
    charts.csv(frame, name=f"run-{result.name}")


@st.fragment
def shown(result: RunResult, sequence: imrc.TaskSequence, references: RunResult | None) -> None:
    """Draw the view a visitor chose; the others are not computed."""
    view = controls.switch(
        "Look closer",
        VIEWS,
        "view",
        "What is behind the decision above: every task, the course of the errors, what more or fewer labels would "
        "do, the same run on other blocks, in another order or without a task, or with the choices of the paper, and "
        "all numbers.",
        index=list(VIEWS).index("choices" if st.query_params.get("against_paper") == "true" else "tasks"),
    )
    draw = {
        "tasks": lambda: tasks(result, sequence),
        "time": lambda: time(result, references),
        "budget": lambda: budget(result, sequence),
        "what_if": lambda: what_if.show(result, sequence),
        "choices": lambda: overview.against_the_paper(result),
        "numbers": lambda: numbers(result),
    }
    draw[view]()
