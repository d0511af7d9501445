"""A visitor's own file: opened once, kept in this visitor's session only, and under no name on a disk."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Hashable
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import streamlit as st

from imrc import datasets, tables
from imrc.datasets import Cut, DataError, Table
from imrc.tables import Suggestion
from imrc.wording import date_parts, listed
from pages.shell import controls, guard, keeping, state, streamlit_private
from pages.shell.choice import plain

SAMPLE = "pumps.csv"
_WHY = "The notes below say which reading was used, and why."
_WIDGETS = {
    "own_read_dayfirst": ("Dates such as 1/2/2020", _WHY),
    "own_read_decimal": ("Decimals follow", _WHY),
    "own_read_header": ("The first row contains", _WHY),
    "own_read_sheet": ("Sheet", "The first sheet with a table is read."),
    "own_label": ("Label: the column to predict", "A column with 2 to 50 different values, or with measured numbers."),
    "own_block": ("Rows per task", "Blocks follow the order of the file. An incomplete last block is left out."),
    "own_task": (
        "Task column",
        "Rows with the same value form a task. Dates and numbers are sorted; words keep the order in which they first "
        "appear. Without a column, tasks are blocks of rows in the order of the file.",
    ),
    "own_period_": ("One task per", "Rows of the same period form a task. The number of tasks is in brackets."),
    "own_exclude": ("Columns not to learn from", "Identifiers, and whatever is known only after the label."),
    "own_words": (
        "Numbers that are names",
        "Columns whose numbers are only names, such as shop numbers. They are treated as words.",
    ),
    "own_n_": ("Training samples per task (n)", "The smallest task sets the limit."),
    "own_all": ("Tasks", "Many tasks take a long time. Longer periods (months instead of weeks) give fewer tasks."),
}
"""Label and help of each widget."""
_SHOWN: dict[str, dict[Any, str]] = {
    "dayfirst": {True: "day first", False: "month first"},
    "decimal": {".": "a point", ",": "a comma"},
    "header": {True: "names of columns", False: "data"},
}
"""What the readings of a file are called."""


def _or_error(make: Callable[[], Any]) -> Any:  # noqa: ANN401
    try:
        return make()
    except DataError as error:
        return DataError(str(error))  # the one that was raised keeps what its frames had, such as all rows


def _shown(found: Any) -> Any:  # noqa: ANN401
    """Return what was made; show the message if it was none, and return None."""
    if isinstance(found, DataError):
        st.error(plain(str(found)), icon=":material/error:")
        return None
    return found


def _opened(key: str, name: str, read: Callable[[], bytes]) -> Table | None:
    """Return the table of a file, read once per file; show a message if it cannot be read."""
    visit = state.visit()
    opened = visit.own_table
    if opened is None or opened[0] != key:
        # What was open goes first, because there may be no room for both; choices made for it mean nothing here.
        visit.forget_file()
        visit.forget_columns()
        with st.spinner("Reading the table …"):
            opened = visit.own_table = key, _or_error(lambda: _read(read(), name))
    return _shown(opened[1])


def _read(content: bytes, name: str, **reading: Any) -> Table:  # noqa: ANN401 - options of `open_table`
    place = hashlib.sha256(content).digest(), name, tuple(reading.items())
    table: Table = _open_once(place, lambda: datasets.open_table(content, name=name, **reading))
    if table.choices or reading:  # to be read in the other way; an array of the same bytes can be counted
        same = _open_once(place[:1], lambda: np.frombuffer(content, np.uint8), table)
        state.visit().own_choices = {"content": same, "reading": reading}
    return table


def _open_once(key: Hashable, make: Callable[[], Any], *mine: object) -> Any:  # noqa: ANN401
    return keeping.open_once(key, make, mine=[*mine, *state.visit().open_files()])


def readings(table: Table) -> tuple[Table, dict[str, Any]]:
    """Draw a control for each thing in the file that can be read in two ways; return the table and options chosen."""
    visit = state.visit()
    content, chosen = visit.own_choices.get("content"), dict(visit.own_choices.get("reading", {}))
    sample = visit.own_table is not None and visit.own_table[0] == "sample"
    said = visit.own_choices["said"] = {"sample": ["yes"]} if sample else {}  # in the link
    if content is None or visit.own_table is None:
        return table, {}
    row = st.container(horizontal=True)
    for name, values in table.choices.items():
        options = {value: _SHOWN.get(name, {}).get(value, str(value)) for value in sorted(values, key=str)}
        value = _kept(row.selectbox, f"own_read_{name}", list(options), usual=values[0], format_func=options.get)
        if value != values[0]:
            chosen[name] = value
    if chosen != visit.own_choices.get("reading", {}):
        other = _shown(_or_error(lambda: _read(content.base, visit.own_file, **chosen)))
        if other is None:
            return table, {}
        visit.own_table, visit.own_cut, table = (visit.own_table[0], other), None, other
    visit.own_choices["said"] = said | {f"read_{name}": [str(value)] for name, value in chosen.items()}
    return table, chosen


def _kept(draw: Callable[..., Any], key: str, *options: Any, usual: Any, part: object = "", **more: Any) -> Any:  # noqa: ANN401
    """Draw a widget that holds what was chosen, if it can be chosen still, or what is usual; return its value."""
    (label, note), name, key = _WIDGETS[key], key.removeprefix("own_").strip("_"), f"{key}{part}"
    kind, chosen = draw.__name__, state.visit().own_choices
    first = chosen[key] if key in chosen else _wanted(kind, name, options, usual)
    value = st.session_state.get(key, first)
    if kind in ("selectbox", "multiselect") and value is not None:
        there = [one for one in (value if isinstance(value, list) else [value]) if one in options[0]]
        value = there if isinstance(value, list) else there[0] if there else usual
    # The browser shows what was in it for the file before unless told; told alone is lost where a run follows at once.
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    default = {"number_input": "value", "multiselect": "default"}.get(kind, "index")
    more[default] = options[0].index(value) if default == "index" and value is not None else value
    value = chosen[key] = draw(label, *options, key=key, help=note, **more)
    if value != usual and name != "n":  # which the link has anyway
        chosen["said"][name] = value or [""] if isinstance(value, list) else ["" if value is None else str(value)]
    return value


def _in_link() -> dict[str, list[str]]:
    """Return what the link that waits for a file says about its columns, by the names of the widgets."""
    return parse_qs(str(state.visit().own_wanted.get(state.COLUMNS, "")), keep_blank_values=True)


def _wanted(kind: str, name: str, options: tuple[Any, ...], usual: Any) -> Any:  # noqa: ANN401 - as the widget has it
    """Return what the link says that a widget holds; what is usual if it says nothing, or nothing possible."""
    texts = _in_link().get(name)
    if texts is None:
        return usual
    if kind == "number_input":
        return min(max(int(texts[0][:9]), options[0]), options[1]) if texts[0].isdecimal() else usual
    there = {str(one): one for one in options[0]}
    if kind == "multiselect":
        return [there[text] for text in dict.fromkeys(texts) if text in there]
    return there.get(texts[0], usual)


def choose() -> Table | None:
    """Draw the upload and the sample file; return the table, or None if there is none yet."""
    visit = state.visit()
    uploaded = st.file_uploader(
        "A table: CSV, TSV, Excel, Parquet or ARFF, plain or compressed (zip, gzip)",
        key="own_upload",
        help=f"{tables.LIMITS_IN_WORDS} It stays in your session's memory; nobody else sees it.",
    )
    label, told = "Try a sample file: made-up readings of pumps", "Shows how this page works, with a made-up file."
    row = st.container(horizontal=True)
    sampled = controls.button(label, "science", "own_sample", told, place=row)
    told = "Whoever gets a link or a script that you made with the sample can use this file."
    with row:
        controls.save("or download it", datasets.sample_csv, SAMPLE, "text/csv", "own_file", type="tertiary", help=told)
    if sampled:
        visit.own_file = SAMPLE
        return _opened("sample", SAMPLE, datasets.sample_csv)
    if uploaded is not None and uploaded.type == guard.NO_ROOM:
        st.error(keeping.FULL, icon=":material/hourglass_empty:")
    elif uploaded is not None and (content := streamlit_private.upload(uploaded.file_id)) is not None:
        visit.own_file = uploaded.name
        for copy in (uploaded, st.session_state["own_upload"]):  # the value of the widget has the bytes, too
            copy.truncate(0)
        table = _opened(uploaded.file_id, uploaded.name, lambda: content)
        streamlit_private.drop_uploads()
        return table
    # The file read last stays until there is another: a person who comes back finds the choices, not an empty page.
    return None if visit.own_table is None else _opened(visit.own_table[0], visit.own_file, bytes)


def first_rows(table: Table) -> None:
    """Show the first rows as the file has them, and as they were read."""
    before, after = st.tabs(["As in the file", "As read"])
    before.dataframe(pd.DataFrame(table.preview, columns=list(table.names)), hide_index=True)
    after.dataframe(pd.DataFrame(table.as_read(), columns=list(table.names)), hide_index=True)


def example() -> None:
    """Show what a table looks like, and what its columns become, while there is none yet."""
    st.markdown("## What a table looks like")
    first_rows(datasets.open_table(pd.read_csv(io.BytesIO(datasets.sample_csv()), nrows=5)))
    st.markdown(
        "* **One row per sample**; these are the first of the sample file.\n"
        "* **One column contains the label**, which you want to predict: *state*, normal or fault.\n"
        "* **One column shows which task a row belongs to**, such as a date. Without it, tasks are blocks of rows.\n"
        "* **All other columns are inputs**: numbers, dates and words. Every change to them is listed."
    )


def cut(table: Table, options: dict[str, Any]) -> Cut | None:
    """Return the table cut into tasks, computed once per choice; show a message if the choice does not work."""
    visit, key = state.visit(), (table.sha256, table.name, repr(sorted(options.items())))
    if visit.own_cut is None or visit.own_cut[0] != key or str(visit.own_cut[1]) == keeping.FULL:
        visit.own_cut = key, _or_error(lambda: _open_once(key, lambda: datasets.cut_table(table, **options)))
    return _shown(visit.own_cut[1])


def options(table: Table) -> dict[str, Any] | None:
    """Draw what a visitor chooses about the columns; return the options of `cut_table`, None if incomplete."""
    named = {one for name in ("label", "task", "exclude", "words") for one in _in_link().get(name, [])}
    if missing := sorted(named - {"", *table.names}):
        told = plain(listed([repr(name[:60]) for name in missing], 5))
        st.warning(f"Columns that the link names are not in this file: {told}.", icon=":material/build:")
    suggested, places = datasets.suggest(table), st.columns(3)
    label = _kept(places[0].selectbox, "own_label", list(table.names), usual=suggested.label)
    tasks = _tasks(table, label, suggested, places)
    if label is None:
        st.info("Choose the column to predict.")
        return None
    if table.column(label).kind == "number" and table.column(label).distinct > tables.MAX_CLASSES:
        places[0].caption("A measured number is split into two classes: above its median, and the rest.")
        tasks["threshold"] = "median"
    return {"label": label, **tasks, **_details(table, {label, tasks.get("task")})}


def _tasks(table: Table, label: str | None, suggested: Suggestion, places: list[Any]) -> dict[str, Any]:
    """Draw the choice of what makes a task; return its options of `cut_table`."""
    possible = ["", *(name for name in table.names if name != label)]
    usual: Any = suggested.task if suggested.task in possible else ""
    task = _kept(
        places[1].selectbox, "own_task", possible, usual=usual, format_func=lambda one: one or "Blocks of rows"
    )
    if not task:
        most = max(2, table.n_rows)
        return {"block": _kept(places[2].number_input, "own_block", 2, most, usual=min(max(2, suggested.block), most))}
    if table.column(task).kind != "date":
        return {"task": task}
    counts, usual = tables.possible_periods(table.column(task)), tables.suggested_period(table.column(task))
    shown = {name: f"{'different moment' if name == 'value' else name} ({count:,})" for name, count in counts.items()}
    options = {"usual": usual, "part": table.names.index(task), "format_func": shown.get}
    return {"task": task, "period": _kept(places[2].selectbox, "own_period_", list(counts), **options)}


def _details(table: Table, taken: set[str | None]) -> dict[str, Any]:
    free = [column.name for column in table.columns if column.name not in taken]
    figures = [name for name in free if table.column(name).kind in ("number", "date")]
    off = [name for name in free if tables.looks_like_identifier(table.column(name))]
    with st.expander("Roles of the other columns", icon=":material/tune:"):
        left, right = st.columns(2)
        exclude = _kept(left.multiselect, "own_exclude", free, usual=off)
        words = _kept(right.multiselect, "own_words", figures, usual=[])
    chosen: dict[str, Any] = {"exclude": tuple(name for name in exclude if name not in off)}
    chosen |= {"include": tuple(back)} if (back := [name for name in off if name not in exclude]) else {}
    chosen |= {"words": tuple(words)} if words else {}
    first = state.visit().own_choices.get("own_all", "".join(_in_link().get("all", [])))
    everything = st.session_state.get("own_all", first) == "all"
    return chosen if everything else {**chosen, "newest": state.OWN_TASKS}


def first_look(cut: Cut, limit: int) -> tuple[int, Any]:
    """Draw how many samples a task gives, and which tasks if there are many; return n and a place beside them."""
    wanted, left_out = str(state.visit().own_wanted.get("n", "")), [why for why, _ in cut.dropped if "newest" in why]
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    usual = max(1, min(int(wanted[:9]) or limit, limit) if wanted.isdecimal() else limit)
    # Another cut has other limits.
    n = int(_kept(left.number_input, "own_n_", 1, max(1, limit), usual=usual, part=limit))
    if left_out or len(cut.sequence) > state.OWN_TASKS:
        shown = {"newest": f"Newest {state.OWN_TASKS}", "all": "All tasks"}
        _kept(middle.radio, "own_all", list(shown), usual="newest", horizontal=True, format_func=shown.get)
    sizes = cut.sequence.sizes
    smallest = int(sizes.argmin())
    name = " ".join(date_parts(cut.sequence.labels[smallest])).strip()
    st.caption(
        f"At most {limit:,} training samples: the smallest task, {plain(name)}, has {sizes[smallest]:,} rows, of which "
        f"{sizes[smallest] - limit:,} are for testing."
    )
    return n, right
