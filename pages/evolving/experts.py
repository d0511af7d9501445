"""For experts, on the page *Is it evolving?*: how the questions are tested, how reliable that is, components, alarm."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd
import streamlit as st

from imrc.diagnostics import Assessment, tracks, words
from imrc.diagnostics.evidence import LEAST_TASKS
from imrc.diagnostics.power import SIMULATED, power_sentences, power_table
from imrc.features import FEATURE_TITLES
from imrc.paper import shipped
from imrc.plots import evolving
from imrc.watch import arrival_sentences, watch_story
from pages.shell import assessing, charts, controls, formulas, state
from pages.shell.choice import OWN, Choice
from pages.shell.keeping import Store
from pages.shell.running import current_result

_TESTS = """
1. p-value of *all tasks share one distribution*. Q = {q:.3g} is the variance between tasks over its expectation for
   identical tasks (1 if nothing changes).
2. Exact permutation test of *every order of the tasks is equally likely*; it looks for similar neighbours, slow change
   and periods. With fewer than 5 tasks no order is unusual enough.
3. Change per step over the noise of one average of n samples, n ρ with the rate of change ρ = d² / σ², and its 95 %
   interval; estimated on all samples and converted to n.
4. On changes with the sampling noise filtered out: do they drift in one direction throughout? A negative value means
   that they partly cancel.
5. Are changes 2 to 5 tasks apart correlated? Positive: they go on in the same way for a while; negative: they turn
   back. The last two count only where the order of the tasks matters.
"""
_ALARM = """
Each task is compared with all samples before it, in random splits: without a change its p-value is any number from 0
to 1. A bet on small ones pays 1 on average; with a new bet started at every task, all bets together are the
*evidence*. If all rows are independent draws from one distribution, the probability that it ever reaches 1 / α is at
most α, however long you watch (Ville's inequality). Rows that follow each other and are alike set it off without a
change. *More than usual* is calibrated by simulation only. An alarm says that something changes, not that it matters:
slow drift, for which forward learning is made, sets it off too. For a file that grows: `imrc watch`.
"""
_stories = Store[tuple[Hashable, ...], pd.DataFrame]("watching")


def show(choice: Choice, result: Assessment) -> None:
    """Show one part of what only experts ask."""
    about = "How the five answers come about, how far to trust them, and what else the same tests are good for."
    controls.part("Show", _PARTS, "evolving_part", about)(choice, result)


def _tests(choice: Choice, result: Assessment) -> None:
    st.markdown(_TESTS.format(q=result.q))
    st.caption(words.setting_sentence(result))
    features = choice.settings.features
    if features != features.diagnosed:
        st.caption(
            f"Rules learn in *{FEATURE_TITLES[features.kind]}*. How often the verdict is wrong was measured in "
            f"*{FEATURE_TITLES[features.diagnosed.kind]}*, so tasks are judged there."
        )
    for name in ("pacf", "variogram", "ratio"):
        formulas.show(name)
    st.download_button(
        "Download the evidence as JSON",
        lambda: tracks.as_json(result, choice.settings.n),
        f"imrc-assess-{result.name}.json",
        "application/json",
        icon=":material/download:",
        on_click="ignore",
        help="The verdict and every number behind it, for programs.",
    )


def _kinds(_choice: Choice, result: Assessment) -> None:
    if not result.models:
        st.info(f"Kinds of change are compared from {LEAST_TASKS} tasks on.", icon=":material/info:")
        return
    charts.show(
        evolving.model_gaps,
        result,
        name="evolving-models",
        alt="BIC of each kind of change behind the best: "
        + ", ".join(f"{evolving.GROUP_NAMES[group]} {gap:.0f}" for group, gap in result.gaps.items()),
    )
    formulas.show("models")


def _reliable(_choice: Choice, result: Assessment) -> None:
    if result.k < LEAST_TASKS or result.change is None or result.verdict.name == "dependent":
        st.info("No kind of change is named here, so there is nothing to rely on.", icon=":material/info:")
        return
    table = power_table(shipped.table("verdicts"), result.k)
    said = power_sentences(table, result.verdict)
    st.markdown(f"**{said[0]}** {said[1]}")
    named = ", ".join(f"{SIMULATED[one.kind][1]} {one.named:.0f}" for one in table.itertuples())
    charts.show(
        evolving.power_chart,
        table,
        [result.verdict.name, result.verdict.second],
        name="power-chart",
        alt=f"For each kind of change, of 100 simulated sequences: in how many the diagnosis names it. {named}.",
    )
    st.caption(said[2])
    charts.csv(table, name="power")


def _component(choice: Choice, result: Assessment) -> None:
    shown, names = assessing.in_columns(choice)
    sequence = state.visit().sequence()
    width = shown.moments.tau.shape[1] // sequence.n_classes
    first = dict(zip(("evolving_class", "evolving_component"), divmod(tracks.most_changing(shown), width), strict=True))
    # Another sequence or representation has other components. Those of a visitor's own file are not part of a link.
    controls.start_anew((sequence.fingerprint, shown.representation, width), **first)
    bound: dict[str, Any] = {} if choice.dataset == OWN else {"bind": "query-params"}
    left, right = st.columns(2)
    block = left.selectbox(
        "Class",
        range(sequence.n_classes),
        first["evolving_class"],
        format_func=sequence.class_names.__getitem__,
        key="evolving_class",
        help="Each class has its own block of the mean vector.",
        **bound,
    )
    position = right.selectbox(
        "Component",
        range(width),
        first["evolving_component"],
        format_func=lambda i: tracks.feature_label(i, width, names),
        key="evolving_component",
        help="The share of the class, or a feature where the class occurs. Default: the one that changes most.",
        **bound,
    )
    name = f"{tracks.feature_label(position, width, names)}, class {sequence.class_names[block]}"
    charts.show(
        evolving.component_chart,
        tracks.component_tracks(shown, block * width + position),
        name,
        name="evolving-component",
        alt=f"Component {name} over {shown.k} tasks: sample averages with error bars, forward and smoothed bands.",
    )
    if shown is not result:
        st.caption("The chart shows the standardised columns of the data. The rules learn from features that mix them.")
    formulas.show("tracks")


def _alarm(choice: Choice, result: Assessment) -> None:
    if result.k < 3:
        st.info("Watching needs at least 3 tasks.", icon=":material/info:")
        return
    alpha = controls.switch(
        "False alarms at most",
        {value: f"{100 * value:g} %" for value in (0.01, 0.05, 0.1)},
        "watch_alpha",
        "The probability that the alarm ever goes off without a change, however long one watches.",
        index=1,
    )
    run = current_result(scenario="continual")  # an alarm hears tasks as they arrive, whatever is averaged
    if run is None:
        return
    sequence, features, seed = state.visit().sequence(), choice.settings.features.diagnosed, choice.settings.seed
    key = (sequence.fingerprint, features, seed, run.settings, run.n_tasks)
    with st.spinner("Watching the tasks …"):
        story = _stories.get_or_make(key, lambda: watch_story(sequence, features, seed, run))
    said = arrival_sentences(story, result.k, alpha)
    st.markdown(f"**{said[0]}** " + " ".join(said[1:]))
    charts.show(
        evolving.watch_chart,
        story,
        alpha,
        name="watch-chart",
        alt=f"Evidence, size of each change, and errors before and after learning each task. {said[0]}",
    )
    st.markdown(_ALARM)
    charts.csv(story, name="watch")


_PARTS = {
    "tests": ("How it is tested", _tests),
    "kinds": ("Kinds of change", _kinds),
    "reliable": ("How reliable it is", _reliable),
    "component": ("One component", _component),
    "alarm": ("Alarm", _alarm),
}
