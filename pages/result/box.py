"""The first screen of *Result*: what a task is, what one could do, what to do."""

from __future__ import annotations

from typing import Any

import streamlit as st

import imrc
from imrc.evaluation import HEADLINES, SCENARIOS
from imrc.evaluation.significance import with_error
from imrc.plots.result import decision_chart
from imrc.plots.tasks import image_strip, moving_clouds, sample_images, task_clouds
from imrc.report import Report
from imrc.wording import capital
from pages.shell import charts, state

_SCENARIO = "scenario_shown"


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
        help="  \n".join(f"**{one.title}** ({one.field}): {one.sentence}" for one in SCENARIOS.values()),
    )


def what_a_task_is(sequence: imrc.TaskSequence) -> None:
    """Show what a task is, in its own pictures; a dataset with a picture of its own shows that one here."""
    samples, clouds = sample_images(sequence), None
    if samples is not None:
        first, last = samples.labels[0], samples.labels[-1]
        alt = f"One sample of each class for each of {len(samples.labels)} tasks, from {first} to {last}."
        charts.show(image_strip, samples, name="tasks", alt=alt)
    elif (clouds := task_clouds(sequence)) is not None:
        charts.show(moving_clouds, clouds, name="tasks", alt="Rows of each task as points, a colour for each class.")


def in_words(report: Report, how: str) -> str:
    """Return the errors of what one could do."""
    errors = ", ".join(f"{one.title} {with_error(one.error)}" for one in report.decision.strategies)
    return f"{capital(report.decision.measure)} of each strategy {how}: {errors}."


def strategies(report: Report, *, name: str = "decision", over: tuple[Any, Any] = (st, st)) -> Any:  # noqa: ANN401 - what `charts.show` returns
    """Show what one could do, with intervals; return what another chart can be shown over."""
    alt = in_words(report, "with its 95 % interval")
    return charts.show(decision_chart, report.errors, report.decision.measure, name=name, alt=alt, over=over)


def what_to_do(report: Report, *, drawn: bool) -> None:
    """Say what to do, and how that was judged; with the errors in words where no picture has them."""
    many, averaged = report.run.settings.repetitions, HEADLINES[report.run.scenario.kind]
    over = f"over {many} repetitions{'; bars are 95 % intervals' * drawn}" if many > 1 else "one repetition"
    learner, *notes = report.decision.notes
    st.markdown("### What to do", help=learner)
    st.markdown(f"**{report.decision.action}**")
    shown = [] if drawn else [in_words(report, "with its standard error")]
    st.caption("  \n".join([*shown, f"{capital(report.decision.measure)}: {averaged}, {over}.", *notes]))
