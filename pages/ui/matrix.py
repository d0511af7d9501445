"""An error matrix from another program, on the page *Your data*."""

from __future__ import annotations

import streamlit as st

from imrc.datasets import DataError
from imrc.evaluation import ErrorMatrix, read_matrix
from imrc.evaluation.matrix import MOST_BYTES
from imrc.plots import error_heatmaps
from pages.ui import charts, controls
from pages.ui.words import plain

_HOLDS = {"accuracy": "Accuracies", "error": "Errors"}
_ROWS = {"steps": "Steps", "tasks": "Tasks"}


def offered() -> bool:
    """Offer to show a matrix in place of a table; return whether that is wanted."""
    wanted = controls.toggle(
        "An error matrix instead",
        "matrix",
        "Shows what another program measured: R[step, task] as a heatmap, with measures of continual learning.",
    )
    if wanted:
        _show()
    return wanted


def _show() -> None:
    uploaded = st.file_uploader(
        "A matrix R[step, task]: .npy or .csv",
        key="own_matrix",
        max_upload_size=MOST_BYTES // 1_000_000,
        help="One row per step, one column per task; repetitions first where there are several. Also eval_results.csv "
        "of Avalanche, and accuracy_matrix or anytime_accuracy_matrix of CapyMOA, saved with numpy.save. It stays in "
        "the memory of your session.",
    )
    left, right = st.columns(2)
    holds = controls.switch("Values are", _HOLDS, "matrix_holds", "Between 0 and 1, or in percent.", place=left)
    rows = controls.switch(
        "Rows are", _ROWS, "matrix_rows", "Steps: row i holds what was measured after task i was learnt.", place=right
    )
    if uploaded is None:
        st.markdown(
            "* **R[i, j]** is the accuracy on task j after task i was learnt.\n"
            "* What lies above the diagonal, tasks not learnt yet, may be missing.\n"
            "* Nothing is run: what you see is what was measured."
        )
        return
    try:
        found = read_matrix(uploaded.getvalue(), name=uploaded.name, holds=holds, rows=rows)
    except DataError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    _draw(found)


def _draw(found: ErrorMatrix) -> None:
    for note in found.notes:
        st.caption(note)
    table, measures = found.table(), found.measures()
    last = measures.set_index("measure")["value"]["Average accuracy"]
    charts.show(
        error_heatmaps,
        {found.name: table},
        name="matrix-errors",
        alt=f"Error of {found.errors.tasks} tasks at each step. Average accuracy at the end: {last:.3f}.",
    )
    charts.table(
        measures, name="matrix-measures", column_config={"formula": st.column_config.TextColumn(width="large")}
    )
    st.caption(
        "Forward transfer needs the accuracy of a learner before any training, which a matrix does not hold. R[i, j]: "
        "accuracy on task j after task i of T was learnt."
    )
