"""The first screen of *Result*: what a task is, what could be done, what should be."""

from __future__ import annotations

import streamlit as st

import imrc
from imrc.baselines import method_title, parse_method, registry
from imrc.core.presets import PRESET_DESCRIPTIONS
from imrc.evaluation import HEADLINES, SCENARIOS, Decision, RunResult, decide
from imrc.evaluation.decision import reference_settings, usual_answer
from imrc.evaluation.significance import with_error
from imrc.plots.result import decision_chart, preset_numbers, preset_table, run_choices
from imrc.plots.tasks import class_shares, image_strip, pictogram, sample_images, shares_of, three_ways
from imrc.wording import LOSSES
from pages.shell import charts, comparing, state
from pages.shell.choice import PRESET_TITLES, loss_in_words
from pages.shell.running import current_result
from pages.shell.words import plain

_ALONE = ("methods", "preset", "W", "b", "overrides", "scenario")
"""What the settings of the references replace in those of a run."""


def pictures(sequence: imrc.TaskSequence) -> None:
    """Show what a task is and three ways to learn tasks, each as one small picture."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        samples = sample_images(sequence)
        if samples is not None:
            charts.show(
                image_strip,
                samples,
                name="tasks",
                alt=f"One sample of each class for each of {len(samples.labels)} tasks, from {samples.labels[0]} to "
                f"{samples.labels[-1]}.",
            )
        else:
            charts.show(
                class_shares,
                shares_of(sequence),
                sequence.labels,
                sequence.class_names,
                name="tasks",
                alt="Share of each class in each task.",
            )
    scenario = state.visit().choice.settings.scenario
    with right:
        if scenario == "continual":
            charts.show(
                three_ways,
                name="ways",
                alt="Three rows of dots, 4 tasks each: without arrows, with arrows forward, with arrows both ways.",
            )
            st.caption("Each task by itself; old tasks help the new one; and the new one helps old ones, too.")
        else:
            charts.show(pictogram, scenario, name="scenario", alt=SCENARIOS[scenario].sentence)
            st.caption(f"{SCENARIOS[scenario].sentence} Filled: learnt from. Blue ring: tested.")


def references(result: RunResult, sequence: imrc.TaskSequence) -> RunResult | None:
    """Return the references of the decision, on the draws of the run; None if that was stopped."""
    if result.n_tasks < len(sequence):
        return None  # of a run that was stopped
    visit = state.visit()
    job = reference_settings(visit.choice.settings)
    if visit.stopped == state.key_of(sequence, job):
        return None
    return current_result(**{name: getattr(job, name) for name in _ALONE})


def compared(sequence: imrc.TaskSequence) -> dict[str, RunResult]:
    """Return title and run of the methods that *Against others* has run with these settings."""
    found = {}
    for run in comparing.stored(sequence, state.visit().choice.settings):
        name = run.settings.methods[0]
        if name != "imrc" and registry[parse_method(name)[0]].kind != "reference":
            found[method_title(name)] = run
    return found


def decision_of(result: RunResult, sequence: imrc.TaskSequence, title: str, beside: RunResult | None) -> Decision:
    """Return what should be done, judged with everything that was run on these draws."""
    whole = result.n_tasks == len(sequence)
    return decide(
        result,
        title,
        references=beside,
        compared=compared(sequence) if whole else None,
        usual=usual_answer(sequence.head(result.n_tasks)),
        as_text=plain,
    )


def decision_box(decision: Decision, result: RunResult) -> st.delta_generator.DeltaGenerator:
    """Show the strategies as one dot plot and what to do beside it; return the place for what can be taken away."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        charts.show(
            decision_chart,
            decision,
            name="decision",
            alt="Error of each strategy with its 95 % interval: "
            + ", ".join(f"{one.title} {with_error(one.error)}" for one in decision.strategies),
        )
        measure = decision.measure.capitalize()
        spread = f"{measure} ± one standard error" if result.settings.repetitions > 1 else measure
        st.caption(
            f"{spread}: " + " · ".join(f"{plain(one.title)} **{with_error(one.error)}**" for one in decision.strategies)
        )
    with right:
        st.markdown("### What to do")
        st.markdown(f"**{decision.action}**")
        for note in decision.notes:
            st.caption(note)
        many, averaged = result.settings.repetitions, HEADLINES[result.scenario.kind]
        st.caption(
            (
                f"{measure}: {averaged}, over {many} repetitions. A difference counts if its 95 % interval leaves out "
                "0."
                if many > 1
                else f"{measure}: {averaged}, one repetition."
            )
            + f" Rules shown: {LOSSES[result.loss]}."
        )
        return st.container(horizontal=True)


def scenario_switch() -> None:
    """Offer the four scenarios, each as one small picture with a sentence."""
    now = state.visit().choice.settings.scenario
    with st.popover(
        "Scenario",
        icon=":material/route:",
        help="Which tasks are learnt from, and which are tested: all so far, all at once, the newest, or the next.",
    ):
        st.caption("Filled: learnt from. Blue ring: tested. Arrows: which task helps which. Grey: the task to come.")
        for name, scenario in SCENARIOS.items():
            left, middle, right = st.columns([4, 5, 2], gap="small", vertical_alignment="center")
            with left:
                charts.show(pictogram, name, name=f"scenario-{name}", alt=scenario.sentence)
            middle.caption(f"{scenario.sentence} In the literature: {scenario.field}.")
            right.button(
                "Shown" if name == now else "Show this",
                key=f"scenario_{name}",
                disabled=name == now,
                on_click=state.use_values,
                args=({"scenario": name},),
                help=f"Judge by: {HEADLINES[scenario.kind]}.",
            )


def against_the_paper(result: RunResult) -> None:
    """Compare the preset with the paper's choices on the same draws."""
    preset = result.settings.preset
    if preset == "paper":
        st.markdown("These are the paper's choices, or values of your own: there is nothing to compare.")
        return
    other_rule = (
        ""
        if result.loss == "log"
        else " Here the rule is not that regression but the paper's, for the same mean vectors."
    )
    st.markdown(PRESET_DESCRIPTIONS[result.settings.learner.preset] + other_rule)
    paper = current_result(preset="paper", overrides=())
    if paper is None:
        return
    name = PRESET_TITLES[preset]
    st.caption(
        f"Rules shown: Paper, {LOSSES[paper.loss]}; {name}, {LOSSES[result.loss]}. Same draws and representation."
    )
    st.dataframe(preset_table(paper, result, name + loss_in_words(result.settings)), hide_index=True)
    charts.csv(preset_numbers(paper, result), name=f"presets-{result.name}")
    charts.show(
        run_choices,
        result,
        name="choices",
        alt="Share of each rate of change at each step, from all tasks alike to each task alone.",
    )
