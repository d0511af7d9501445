"""Evidence on the page Evolving?: cards and the component browser."""

from __future__ import annotations

from typing import Literal

import streamlit as st

import imrc
from imrc.diagnostics import Assessment, tracks
from imrc.diagnostics._innovations import FLAG_LIMIT, MEAN_LIMIT
from imrc.plots import diagnostics as pictures
from imrc.wording import number, p_text
from pages.ui import charts, links


def cards(result: Assessment, n: int) -> None:
    """Show the main tests and the size of the change as cards."""
    row = st.container(horizontal=True)
    row.metric(
        "Are the tasks different?",
        p_text(result.p_same),
        border=True,
        help=f"p-value of *all tasks share one distribution* ({result.same_method}). Q = {result.q:.3g} is the "
        "variance between tasks over its expectation for identical tasks (1 if nothing changes).",
    )
    row.metric(
        "Does their order matter?",
        p_text(result.p_order),
        border=True,
        help="Exact permutation test of *every order of the tasks is equally likely*; it looks for similar "
        "neighbours, slow change and periods. With fewer than 5 tasks no order is unusual enough.",
    )
    if result.change is not None:
        ratio, low, high = result.ratio_at(n)
        row.metric(
            f"n d² / σ² at n = {n}",
            number(ratio),
            f"{number(low)} to {number(high)}",
            delta_color="off",
            delta_arrow="off",
            border=True,
            help="Change per step over the noise of one sample average, n ρ with the rate of change ρ = d² / σ², and "
            "its 95 % interval; estimated on all samples and converted to n. The effective sample sizes of Theorems 2 "
            "and 4 follow from it.",
        )
    if result.innovations is not None:
        tests = result.innovations
        row.metric(
            "Changes: direction, dependence",
            f"z = {tests.z_mean:.1f}, {tests.largest:.1f}".replace("-", "−"),
            result.verdict.changes_text,
            delta_color="off",
            delta_arrow="off",
            border=True,
            help="On increments with the sampling noise filtered out. First: do changes drift in one direction "
            f"throughout (reported above {MEAN_LIMIT})? Second: are changes 2 to 5 tasks apart correlated "
            f"(reported beyond ± {FLAG_LIMIT:g})? Both count only where the order of the tasks matters. "
            f"Raw increments have a lag-1 correlation of {tests.raw_correlation:.2f}; "
            f"noise and n ρ alone give {tests.expected_raw_correlation:.2f}.",
        )


def component_browser(
    result: Assessment, sequence: imrc.TaskSequence, names: tuple[str, ...], *, in_link: bool
) -> None:
    """Show one component of the mean vectors over the tasks, chosen by class and feature.

    Parameters
    ----------
    result, sequence
        The diagnosis and what was diagnosed.
    names : tuple of str
        Of the features, or empty.
    in_link : bool
        Whether the link may name them: not if they come from a visitor's own file.
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
