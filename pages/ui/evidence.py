"""Evidence on the page Evolving?: cards and the component browser."""

from __future__ import annotations

from typing import Literal

import streamlit as st

import imrc
from imrc.diagnostics import Assessment, tracks, words
from imrc.evaluation import RunSettings
from imrc.features._spec import TITLES
from imrc.plots import diagnostics as pictures
from pages.ui import charts, links

_TESTS = """
1. p-value of *all tasks share one distribution*. Q = {q:.3g} is the variance between tasks over its expectation for
   identical tasks (1 if nothing changes).
2. Exact permutation test of *every order of the tasks is equally likely*; it looks for similar neighbours, slow change
   and periods. With fewer than 5 tasks no order is unusual enough.
3. Change per step over the noise of one average of n samples, n ρ with the rate of change ρ = d² / σ², and its 95 %
   interval; estimated on all samples and converted to n. Effective sample sizes follow from it: the smaller, the more
   neighbours help.
4. On changes with the sampling noise filtered out: do they drift in one direction throughout? A negative value means
   that they partly cancel.
5. Are changes 2 to 5 tasks apart correlated? Positive: they go on in the same way for a while; negative: they turn
   back. The last two count only where the order of the tasks matters.
"""


def path(result: Assessment, settings: RunSettings) -> None:
    """Show the five questions that lead to the verdict, with their answers and where these would turn."""
    rows = [
        f"| {number} | {asked.text} | **{asked.answer}** | {asked.evidence} | {asked.turns_at} |"
        for number, asked in enumerate(words.questions(result, settings.n), start=1)
    ]
    st.markdown("\n".join(["| | Question | Answer | Evidence | Would turn at |", "|---|---|---|---|---|", *rows]))
    with st.expander("How these are tested", icon=":material/science:"):
        st.markdown(_TESTS.format(q=result.q))
        st.caption(words.setting_sentence(result))
        if settings.features != settings.features.diagnosed:
            st.caption(
                f"Rules learn in *{TITLES[settings.features.kind]}*. How often the verdict is wrong was measured in "
                f"*{TITLES[settings.features.diagnosed.kind]}*, so tasks are judged there."
            )


def component_browser(
    result: Assessment, sequence: imrc.TaskSequence, names: tuple[str, ...], *, in_link: bool
) -> None:
    """Show one component of the mean vectors over the tasks, chosen by class and feature.

    The link may name them, `in_link`, unless they come from a visitor's own file.
    """
    width = result.moments.tau.shape[1] // sequence.n_classes
    first = tracks.most_changing(result)
    # Another sequence or representation has other components.
    links.start_anew(
        (sequence.fingerprint, result.representation, width),
        evolving_class=first // width,
        evolving_component=first % width,
    )
    bind: Literal["query-params"] | None = "query-params" if in_link else None
    left, right = st.columns(2)
    block = left.selectbox(
        "Class",
        range(sequence.n_classes),
        index=first // width,
        format_func=sequence.class_names.__getitem__,
        key="evolving_class",
        bind=bind,
        help="Each class has its own block of the mean vector.",
    )
    position = right.selectbox(
        "Component",
        range(width),
        index=first % width,
        format_func=lambda i: tracks.feature_label(i, width, names),
        key="evolving_component",
        bind=bind,
        help="Component of the mean vector: the share of the class, or a feature where the class occurs. Default: the "
        "one that changes most.",
    )
    component = tracks.component_tracks(result, block * width + position)
    name = f"{tracks.feature_label(position, width, names)}, class {sequence.class_names[block]}"
    charts.show(
        pictures.component_chart,
        component,
        name,
        name="evolving-component",
        alt=f"Component {name} over {result.k} tasks: sample averages with error bars, forward and smoothed bands.",
    )
