"""Your data: a visitor's own table as a sequence of tasks."""

import streamlit as st

from imrc.evaluation import largest_n
from imrc.plots import class_balance
from pages.shell import charts, controls, state
from pages.shell.choice import plain
from pages.your_data import own_file


def _show() -> None:
    """Show the page; a variable of the script itself would keep the last visitor's table for ever."""
    st.markdown("# Use your own table: pick the column to predict and how rows form tasks")
    visit, hint = state.visit(), st.empty()
    table = own_file.choose()
    if table is None and visit.own_wanted:
        hint.info(f"{visit.asks_for()}, and all its settings return.", icon=":material/upload:")
    if table is None:
        own_file.example()
        st.stop()
    table, reading = own_file.readings(table)
    size = f"{table.n_rows:,} rows, {len(table.columns):,} columns"
    st.markdown(f"**{plain(table.name)}**: {size}. {plain(table.format)}.")
    if table.notes:
        with st.expander(f"Notes from reading the file ({len(table.notes)})", icon=":material/info:", expanded=True):
            st.markdown("\n".join(f"* {plain(note)}" for note in table.notes[:30]))
    with st.expander("First rows", icon=":material/table:"):
        own_file.first_rows(table)
    options = own_file.options(table)
    cut = own_file.cut(table, options) if options is not None else None
    if cut is None:
        st.stop()

    sequence = cut.sequence
    n, place = own_file.first_look(cut, largest_n(sequence))
    told = "Uses these tasks as the dataset on all pages, only for you, and shows the result."
    args = sequence, visit.own_file, {**reading, **options}, n, visit.own_choices["said"]
    then = {"type": "primary", "on_click": state.use_own, "args": args}
    controls.button("Use this", "check", "own_use", told, place=place, **then)
    if visit.own_adopted:
        visit.own_adopted = False
        # With the parameters given: Streamlit refuses to clear those that belong to controls of this page.
        st.switch_page("pages/result/page.py", query_params=visit.link)

    cards = st.container(horizontal=True)
    for name, value, note in (
        ("Tasks", len(sequence), None),
        ("Classes", sequence.n_classes, plain(", ".join(sequence.class_names[:20]))),
        ("Features", sequence.n_features, "Columns used for learning. Words become 0/1 columns in a run."),
    ):
        cards.metric(name, f"{value:,}", border=True, help=note)
    st.markdown("\n".join(f"* {plain(sentence)}" for sentence in cut.in_words() if sentence != cut.always))
    with controls.for_experts("own_details", "Rows of each task, and what happens to each column") as fold:
        if fold.open:
            st.markdown(plain(cut.always))
            charts.show(class_balance, cut.task_table(), name="class-balance")
            charts.table(cut.columns, name="columns", height="content" if len(cut.columns) <= 12 else 440)


_show()
