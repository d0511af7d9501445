"""The pictures of the evidence, on the page *Is it evolving?*, one at a time."""

from __future__ import annotations

import streamlit as st

from imrc.diagnostics import Assessment, words
from imrc.plots import evolving
from imrc.plots.tasks import image_side
from pages.shell import assessing, charts, controls
from pages.shell.choice import Choice

_Row = st.delta_generator.DeltaGenerator
_COMPARE = {"nothing": "Nothing", "independent": "Independent tasks", "random_walk": "A random walk"}


def show(choice: Choice, result: Assessment) -> None:
    """Show the picture that is chosen."""
    row = st.container(horizontal=True)
    about = "Partial autocorrelation is the paper's last figure; the others show the same tasks from other sides."
    controls.part("Picture", _PICTURES, "evolving_picture", about, row)(choice, result, row)


def _pacf(choice: Choice, result: Assessment, row: _Row) -> None:
    compare = controls.switch(
        "Beside it",
        _COMPARE,
        "evolving_compare",
        "A synthetic sequence with the same number of tasks and a known kind of change.",
        index=1,
        place=row,
    )
    if result.pacf is None:
        st.info("Partial autocorrelations need at least 4 tasks.", icon=":material/info:")
        return
    panels = {"These tasks": result.pacf}
    if compare != "nothing":
        panels[_COMPARE[compare]] = assessing.reference(compare, choice).pacf
    charts.show(
        evolving.pacf_panels,
        panels,
        name=f"evolving-pacf-{compare}",
        alt="Partial autocorrelation of the mean vectors by lag, averaged over components, with their spread and the "
        f"band for tasks without order. {words.pacf_sentence('These tasks', result.pacf)}",
    )


def _distance(_choice: Choice, result: Assessment, _row: _Row) -> None:
    alt = "Squared distance of tasks by lag minus noise, with the envelope for tasks without order and a random walk."
    charts.show(evolving.variogram_chart, result, name="evolving-variogram", alt=alt)


def _alike(_choice: Choice, result: Assessment, _row: _Row) -> None:
    alt = f"Heatmap of the squared distances of all pairs of {result.k} tasks minus noise."
    charts.show(evolving.distance_heatmap, result, name="evolving-distances", alt=alt)


def _when(_choice: Choice, result: Assessment, _row: _Row) -> None:
    alt = "Change at each step minus noise, the common n ρ, and where 95 % of single steps would lie at that rate."
    charts.show(evolving.change_chart, result, name="evolving-change", alt=alt)


def _what(choice: Choice, _result: Assessment, _row: _Row) -> None:
    found = assessing.changed(choice)
    if not len(found.table):
        st.info("No column varies within a task: there is nothing to compare.", icon=":material/info:")
        return
    largest = [found.row_name(row) for row in range(min(evolving.PER_ROW, len(found.table)))]
    st.markdown(f"**{words.changed_sentence(found)}**")
    charts.show(
        evolving.changed_panels,
        found,
        name="changed",
        alt=f"Averages by task of {', '.join(largest)}, with 95 % intervals.",
    )
    if image_side(found.columns) is not None:
        charts.show(
            evolving.changed_images,
            found,
            name="changed-images",
            alt="Average image of each class in the first and the last third of the tasks, and their difference.",
        )
    told = f" Left out, constant within tasks: {found.left_out:,} columns." if found.left_out else ""
    st.caption(
        "Label shift: the share of a class. Input shift: a column in all classes alike. Concept change: a column in "
        f"one class against the others. Among all rows called found at most {100 * found.level:g} % are expected to be "
        f"false (q-values of Benjamini and Hochberg; rows of the data must be independent).{told}"
    )
    charts.csv(found.table, name="what-changed", label="All comparisons as CSV")


_PICTURES = {
    "pacf": ("Neighbours", _pacf),
    "distance": ("Distance by lag", _distance),
    "alike": ("Which tasks are alike", _alike),
    "when": ("When it changed", _when),
    "what": ("What changed", _what),
}
