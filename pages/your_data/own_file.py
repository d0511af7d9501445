"""A visitor's own file: opened once, kept in this visitor's session only, never written to disk."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from imrc import datasets
from imrc.datasets import Cut, DataError, Table
from imrc.tables.cut import CATEGORIES, SMALLEST_TASK
from imrc.tasks import TaskSequence
from pages.shell import keeping, state, streamlit_private
from pages.shell.words import plain

SAMPLE = "pumps.csv"
_READINGS: dict[str, tuple[str, dict[Any, str]]] = {
    "dayfirst": ("Dates such as 1/2/2020", {True: "day first", False: "month first"}),
    "decimal": ("Decimals stand after", {".": "a point", ",": "a comma"}),
    "header": ("The first row holds", {True: "names of columns", False: "data"}),
    "sheet": ("Sheet", {}),
}
"""Controls for what can be read in two ways: their label, and what their values are called."""


def _opened(key: str, name: str, read: Callable[[], bytes]) -> Table | None:
    """Return the table of a file, read once per file; show a message if it cannot be read."""
    visit = state.visit()
    kept = visit.own_table
    if kept is None or kept[0] != key:
        try:
            with st.spinner("Reading the table …"):
                content = read()
                kept = (key, _read(content, name))
        except DataError as error:
            kept = (key, error)
        visit.own_table, visit.own_cut, visit.own_choices = kept, None, {}
        if not isinstance(kept[1], DataError) and kept[1].choices:
            visit.own_choices["content"] = content  # to be read in the other way
        # Choices made for another file mean nothing here.
        for widget in [str(key) for key in st.session_state if str(key).startswith("own_")]:
            if widget not in ("own_upload", "own_sample"):
                del st.session_state[widget]
    if isinstance(kept[1], DataError):
        st.error(plain(str(kept[1])), icon=":material/error:")
        return None
    return kept[1]


def _read(content: bytes, name: str, **reading: Any) -> Table:  # noqa: ANN401 - options of `open_table`
    place = hashlib.sha256(content).digest(), name, tuple(reading.items())
    return keeping.open_once(place, lambda: datasets.open_table(content, name=name, **reading), len(content))


def readings(table: Table) -> tuple[Table, dict[str, Any]]:
    """Draw a control for each thing in the file that can be read in two ways.

    Returned are the table as it is chosen to be read, and the options of `open_table` that differ from the usual.
    """
    visit = state.visit()
    content, chosen = visit.own_choices.get("content"), dict(visit.own_choices.get("reading", {}))
    if content is None or visit.own_table is None:
        return table, {}
    row = st.container(horizontal=True)
    for name, values in table.choices.items():
        label, words = _READINGS[name]
        value = row.selectbox(
            label,
            sorted(values, key=str),
            key=_remembered(f"own_read_{name}", values[0]),
            format_func=lambda value, words=words: words.get(value, str(value)),  # type: ignore[misc]
            help="The file can be read in both ways; the notes below say which was taken and why.",
        )
        if value != values[0]:
            chosen[name] = value
    if chosen != visit.own_choices.get("reading", {}):
        try:
            table = _read(content, visit.own_file, **chosen)
        except DataError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return table, {}
        visit.own_table, visit.own_cut = (visit.own_table[0], table), None
        visit.own_choices = {"content": content, "reading": chosen}
    return table, chosen


def _remembered(key: str, usual: Any, among: list[str] | None = None) -> str:  # noqa: ANN401 - what a widget holds
    """Give a widget back what was chosen before another page was opened, or what is usual; return its key.

    What is no longer `among` the columns to choose from is forgotten.
    """
    value = st.session_state[key] if key in st.session_state else state.visit().own_choices.get(key, usual)
    if among is not None:
        value = [item for item in value if item in among] if isinstance(value, list) else value
        value = usual if not isinstance(value, list) and value not in among else value
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return key


def _remember(key: str, value: Any) -> Any:  # noqa: ANN401
    """Keep what a widget holds for the next time the page is opened; return it."""
    state.visit().own_choices[key] = value
    return value


def choose() -> Table | None:
    """Draw the upload and the sample file; return the table, or None if there is none yet."""
    visit = state.visit()
    kept = visit.own_table
    uploaded = st.file_uploader(
        "A table: CSV, TSV, Excel, Parquet or ARFF, also packed (zip, gzip)",
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
        visit.own_file = SAMPLE
        return _opened("sample", SAMPLE, datasets.sample_csv)
    if uploaded is not None and uploaded.type == keeping.NO_ROOM:
        st.error(keeping.FULL, icon=":material/hourglass_empty:")
    elif uploaded is not None:
        visit.own_file = uploaded.name
        table = _opened(uploaded.file_id, uploaded.name, uploaded.getvalue)
        streamlit_private.drop_uploads()
        return table
    # The file read last stays until there is another: a person who comes back finds the choices, not an empty page.
    return None if kept is None else _opened(kept[0], visit.own_file, bytes)


def first_rows(table: Table) -> None:
    """Show the first rows as they stand in the file, and as they were read."""
    before, after = st.tabs(["As in the file", "As read"])
    before.dataframe(pd.DataFrame(table.preview, columns=list(table.names)), hide_index=True)
    after.dataframe(pd.DataFrame(table.as_read(), columns=list(table.names)), hide_index=True)


def example() -> None:
    """Show what a table looks like, and what its columns become, while there is none yet."""
    table = datasets.open_table(pd.read_csv(io.BytesIO(datasets.sample_csv(5))))
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
    key = (table.sha256, table.name, tuple(sorted((name, repr(value)) for name, value in options.items())))
    visit = state.visit()
    kept = visit.own_cut
    if kept is None or kept[0] != key:
        try:
            kept = (key, keeping.open_once(key, lambda: datasets.cut_table(table, **options)))
        except DataError as error:
            kept = (key, error)
        visit.own_cut = kept
    if isinstance(kept[1], DataError):
        st.error(plain(str(kept[1])), icon=":material/error:")
        return None
    return kept[1]


def use(table: Table, cut: Cut, options: dict[str, Any], n: int) -> None:
    """Make the tasks the dataset of all pages, with what was decided about their file, as a report shows it."""
    said = {"report": (*table.notes, *cut.in_words()), "warnings": (*table.notes, *cut.warnings(), *cut.notes)}
    sequence = replace(cut.sequence, info={**cut.sequence.info, **said})
    state.use_own(sequence, state.visit().own_file, options, n)


def _label(table: Table) -> dict[str, Any]:
    """Draw the choice of the label; return its options of `cut_table`, with None for a label not chosen."""
    names, suggested = list(table.names), datasets.suggest(table)
    label = st.selectbox(
        "Label: what is to be predicted",
        names,
        key=_remembered("own_label", suggested.label, names),
        index=None,
        placeholder="Choose a column",
        help="A column with 2 to 50 different values, or one of numbers, cut into those above and below its median.",
    )
    _remember("own_label", label)
    if label is None or table.column(label).kind != "number" or table.column(label).distinct < 3:
        return {"label": label}
    usual = "above or below the median" if table.column(label).distinct > datasets.MAX_CLASSES else "every value"
    classes = st.radio(
        f"Classes of {plain(label)}",
        ["every value", "above or below the median"],
        key=_remembered(f"own_classes_{names.index(label)}", usual),
        horizontal=True,
        help="Numbers that were measured make two classes: those above their median in the whole file, and the others.",
    )
    _remember(f"own_classes_{names.index(label)}", classes)
    return {"label": label, **({"threshold": "median"} if classes != "every value" else {})}


def _tasks(table: Table, label: str | None) -> dict[str, Any] | None:
    """Draw the choice of tasks; return its options of `cut_table`, None if it is incomplete."""
    names, suggested = list(table.names), datasets.suggest(table)
    how = st.radio(
        "Tasks",
        ["column", "blocks"],
        key=_remembered("own_how", "column" if suggested.task else "blocks"),
        horizontal=True,
        format_func={"column": "By a column", "blocks": "Blocks of rows"}.get,
        help="Rows with the same value belong together, or so many rows in the order of the file.",
    )
    _remember("own_how", how)
    if how == "blocks":
        block = st.number_input(
            "Rows per task",
            2,
            max(2, table.n_rows),
            key=_remembered("own_block", max(2, min(suggested.block, table.n_rows))),
            help="So many rows, in the order of the file, make one task; a shorter rest is left out.",
        )
        return {"block": _remember("own_block", block)}
    possible = [name for name in names if name != label]
    usual = suggested.task if suggested.task in possible else None
    task = st.selectbox(
        "Task column",
        possible,
        key=_remembered("own_task", usual, possible),
        index=None,
        placeholder="Choose a column",
        help="Dates and numbers are put in order; words come in the order in which they first appear.",
    )
    _remember("own_task", task)
    if task is None:
        st.info("Choose the column that says which task a row belongs to, or blocks of rows.")
        return None
    column = table.column(task)
    if column.kind != "date":
        return {"task": task}
    counts = datasets.possible_periods(column)
    key = f"own_period_{names.index(task)}"
    period = st.selectbox(
        "One task per",
        list(counts),
        key=_remembered(key, datasets.suggested_period(column)),
        format_func=lambda name: f"{'different moment' if name == 'value' else name} ({counts[name]:,})",
        help="Rows whose dates fall into the same period belong to one task. In brackets: how many tasks that gives.",
    )
    return {"task": task, "period": _remember(key, period)}


def options(table: Table) -> dict[str, Any] | None:
    """Draw what a visitor chooses about the columns; return the options of `cut_table`, None if incomplete."""
    left, right = st.columns(2)
    with left:
        label = _label(table)
    with right:
        tasks = _tasks(table, label["label"])
    if label["label"] is None:
        st.info("Choose the column that is to be predicted.")
    if label["label"] is None or tasks is None:
        return None
    return {**label, **tasks, **_details(table, {label["label"], tasks.get("task")})}


def _details(table: Table, taken: set[str | None]) -> dict[str, Any]:
    free = [column.name for column in table.columns if column.name not in taken]
    figures = [name for name in free if table.column(name).kind in ("number", "date")]
    off = [name for name in free if datasets.looks_like_identifier(table.column(name))]
    with st.expander("Roles of the other columns", icon=":material/tune:"):
        left, right = st.columns(2)
        exclude = left.multiselect(
            "Columns not to learn from",
            free,
            key=_remembered("own_exclude", off, free),
            help="Numbers of samples, identifiers, and whatever is known only after the label. What looks like an "
            "identifier is left out unless you take it from this list.",
        )
        words = right.multiselect(
            "Numbers that are names",
            figures,
            key=_remembered("own_words", [], figures),
            help="Columns whose numbers only tell things apart, such as numbers of shops: used as words.",
        )
        most = left.number_input(
            "0/1 columns per category, at most",
            *CATEGORIES,
            key=_remembered("own_most", TaskSequence.max_categories),
            help="The most frequent values of a category get a 0/1 column each; the others share one.",
        )
        least = right.number_input(
            "Rows per task, at least",
            2,
            10_000,
            key=_remembered("own_min", SMALLEST_TASK),
            help="Smaller tasks are left out and named. Half of a small task is kept for testing.",
        )
    for key, value in (("own_exclude", exclude), ("own_words", words), ("own_most", most), ("own_min", least)):
        _remember(key, value)
    chosen: dict[str, Any] = {"exclude": tuple(exclude), "max_categories": most, "min_samples": least}
    chosen |= {"include": tuple(back)} if (back := [name for name in off if name not in exclude]) else {}
    chosen |= {"words": tuple(words)} if words else {}
    return chosen if _all_tasks() else {**chosen, "newest": state.OWN_TASKS}


def _all_tasks() -> bool:
    """Whether a visitor asked for more than the newest tasks."""
    return bool(st.session_state.get("own_all", state.visit().own_choices.get("own_all")) == "all")


def first_look(cut: Cut, limit: int) -> int:
    """Draw how many samples the first look at the file takes, and which tasks if there are many; return n."""
    visit, left_out = state.visit(), [why for why, _ in cut.dropped if why.startswith("tasks before the newest")]
    left, right = st.columns(2)
    wanted = str(visit.own_wanted.get("n", ""))
    usual = min(int(wanted), limit) if wanted.isdecimal() and int(wanted) else limit
    key = _remembered(f"own_n_{limit}", max(1, usual))  # another cut has other limits
    n = left.number_input(
        "Training samples a task (n)", 1, max(1, limit), key=key, help="As many as the smallest task gives."
    )
    sizes = cut.sequence.sizes
    smallest = int(sizes.argmin())
    left.caption(
        f"At most {limit:,}: the smallest task, {plain(cut.sequence.labels[smallest])}, has {sizes[smallest]:,} rows, "
        f"of which {sizes[smallest] - limit:,} are kept for testing."
    )
    if left_out or len(cut.sequence) > state.OWN_TASKS:
        with right:
            some = st.radio(
                "Tasks",
                ["newest", "all"],
                key=_remembered("own_all", "newest"),
                horizontal=True,
                format_func={"newest": f"Newest {state.OWN_TASKS}", "all": "All tasks"}.get,
                help="Many tasks take long. Longer tasks, for example months in place of weeks, are fewer.",
            )
        _remember("own_all", some)
    return _remember(f"own_n_{limit}", n)
