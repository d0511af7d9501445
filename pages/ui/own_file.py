"""A visitor's own file: opened once, kept in this visitor's session only, never written to disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from imrc import datasets
from imrc.datasets import Cut, DataError, Table
from pages.ui import state
from pages.ui.words import plain

SAMPLE = "pumps.csv"


def _opened(key: str, name: str, read: Callable[[], bytes]) -> Table | None:
    """Return the table of a file, read once per file; show a message if it cannot be read."""
    visit = state.visit()
    kept = visit.own_table
    if kept is None or kept[0] != key:
        try:
            with st.spinner("Reading the table …"):
                kept = (key, datasets.open_upload(read(), name=name))
        except DataError as error:
            kept = (key, error)
        visit.own_table, visit.own_cut = kept, None
        # Choices made for another file mean nothing here.
        for widget in ("own_label", "own_task", "own_period", "own_block", "own_how", "own_exclude", "own_min"):
            st.session_state.pop(widget, None)
    if isinstance(kept[1], DataError):
        st.error(plain(str(kept[1])), icon=":material/error:")
        return None
    return kept[1]


def choose() -> Table | None:
    """Draw the upload and the sample file; return the table, or None if there is none yet."""
    visit = state.visit()
    datasets.prepare_reading()
    uploaded = st.file_uploader(
        "A table: CSV, TSV, Parquet or ARFF, also zipped",
        key="own_upload",
        help=f"{datasets.LIMITS_IN_WORDS} It stays in the memory of your session and is never written to disk or shown "
        "to anyone else.",
    )
    left, right = st.columns(2)
    left.download_button(
        "Download a sample file",
        datasets.sample_csv,
        SAMPLE,
        "text/csv",
        icon=":material/download:",
        width="stretch",
        help="Made-up readings of pumps over 40 weeks, to see what a table can look like.",
    )
    if right.button(
        "Try the sample file",
        icon=":material/science:",
        width="stretch",
        key="own_sample",
        help="Opens it here, as if you had uploaded it.",
    ):
        visit.own_sample = True
    if uploaded is not None:
        visit.own_sample, visit.own_file = False, uploaded.name
        return _opened(uploaded.file_id, uploaded.name, uploaded.getvalue)
    if visit.own_sample:
        visit.own_file = SAMPLE
        return _opened("sample", SAMPLE, datasets.sample_csv)
    visit.own_table = None
    return None


def first_rows(table: Table) -> None:
    """Show the first rows as they stand in the file."""
    st.dataframe(pd.DataFrame(table.preview, columns=list(table.names)), hide_index=True)


def example() -> None:
    """Show what a table looks like, and what its columns become, while there is none yet."""
    table = datasets.open_table(datasets.sample_csv(5), name=SAMPLE)
    st.markdown("### What a table looks like")
    first_rows(table)
    st.markdown(
        "* **One row per sample.** These are readings of pumps, the first rows of the sample file.\n"
        "* **One column holds the label**: what is to be predicted. Here *state*: normal or fault.\n"
        "* **One column says which task a row belongs to**: dates, batches, places or years. Here *date*, one task per "
        "week. Without such a column, rows in the order in which they were collected are cut into blocks.\n"
        "* **All other columns are learnt from**: numbers as they are, words such as *pump* as 0/1 columns. Missing "
        "values are filled in with medians of the first task, and everything that is done is said."
    )


def cut(table: Table, options: dict[str, Any]) -> Cut | None:
    """Return the table cut into tasks, computed once per choice; show a message if the choice does not work."""
    key = (table.sha256, tuple(sorted((name, repr(value)) for name, value in options.items())))
    visit = state.visit()
    kept = visit.own_cut
    if kept is None or kept[0] != key:
        try:
            kept = (key, datasets.cut_table(table, **options))
        except DataError as error:
            kept = (key, error)
        visit.own_cut = kept
    if isinstance(kept[1], DataError):
        st.error(plain(str(kept[1])), icon=":material/error:")
        return None
    return kept[1]


def options(table: Table) -> dict[str, Any] | None:
    """Draw what a visitor chooses about the columns; return the options of `cut_table`, None if incomplete."""
    suggested = datasets.suggest(table)
    names = list(table.names)
    left, right = st.columns(2)
    label = left.selectbox(
        "Label: what is to be predicted",
        names,
        index=names.index(suggested.label) if suggested.label in names else None,
        key="own_label",
        placeholder="Choose a column",
        help="A column with 2 to 50 different values, numbers or words.",
    )
    how = right.radio(
        "Tasks",
        ["column", "blocks"],
        index=0 if suggested.task else 1,
        horizontal=True,
        format_func={"column": "By a column", "blocks": "Blocks of rows"}.get,
        key="own_how",
        help="Rows with the same value belong together, or so many rows in the order of the file.",
    )
    chosen: dict[str, Any] = {"label": label}
    left, right = st.columns(2)
    if how == "blocks":
        chosen["block"] = left.number_input(
            "Rows per task",
            2,
            max(2, table.n_rows),
            min(suggested.block, table.n_rows),
            key="own_block",
            help="So many rows, in the order of the file, make one task; a shorter rest is left out.",
        )
    else:
        possible = [name for name in names if name != label]
        task = left.selectbox(
            "Task column",
            possible,
            index=possible.index(suggested.task) if suggested.task in possible else None,
            key="own_task",
            placeholder="Choose a column",
            help="Dates and numbers are put in order; words come in the order in which they first appear.",
        )
        if task is None:
            st.info("Choose the column that says which task a row belongs to, or blocks of rows.")
            return None
        chosen["task"] = task
        column = table.column(task)
        if column.kind == "date":
            periods = ["value", "day", "week", "month", "quarter", "year"]
            chosen["period"] = right.selectbox(
                "One task per",
                periods,
                index=periods.index(datasets.suggested_period(column)),
                format_func=lambda period: {"value": "different moment"}.get(period, period),
                key=f"own_period_{names.index(task)}",
                help="Rows whose dates fall into the same period belong to one task.",
            )
    if label is None:
        st.info("Choose the column that is to be predicted.")
        return None
    return {**chosen, **_details(names, {label, chosen.get("task")})}


def _details(names: list[str], taken: set[str | None]) -> dict[str, Any]:
    with st.expander("More choices", icon=":material/tune:"):
        left, middle, right = st.columns(3)
        exclude = left.multiselect(
            "Columns not to learn from",
            [name for name in names if name not in taken],
            key="own_exclude",
            help="Numbers of samples, identifiers, and whatever is known only after the label.",
        )
        most = middle.number_input(
            "0/1 columns per category, at most",
            1,
            200,
            20,
            key="own_most",
            help="The most frequent values of a category get a 0/1 column each; the others share one.",
        )
        least = right.number_input(
            "Rows per task, at least",
            2,
            10_000,
            4,
            key="own_min",
            help="Smaller tasks are left out and named. Half of a small task is kept for testing.",
        )
    return {"exclude": tuple(exclude), "max_categories": most, "min_samples": least}
