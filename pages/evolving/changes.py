"""What changed, on the page *Is it evolving?*: ranked classes and columns, the largest as charts, images as images."""

from __future__ import annotations

import streamlit as st

from imrc.diagnostics import words
from imrc.diagnostics.changed import SHIFTS
from imrc.plots.evolving import PER_ROW, changed_images, changed_panels
from imrc.plots.tasks import image_side
from pages.shell import assessing, charts, controls
from pages.shell.choice import Choice

_SHOWN = 6
_NUMBERS = {
    "before": ("Before", "%.3g", "First third of the tasks."),
    "after": ("After", "%.3g", "Last third of the tasks."),
    "change": ("Change (sd)", "%.2f", None),
    "size": ("Spread over tasks (sd)", "%.2f", None),
    "share": ("Share (%)", "%.1f", None),
    "lag1": ("Lag 1", "%.2f", None),
    "q": ("q", "%.2g", None),
}
_EXPLAINED = """
Every row is a comparison of its own, on all samples. *Label shift*: the share of a class. *Input shift*: a column in
all classes alike. *Concept change*: a column in one class, against the others. A change of the shares alone moves
neither of the last two; a column that moves in one class only does both.

*Change*: last third of the tasks less first third, in standard deviations of a sample. *Share*: of all that was found.
*Lag 1*: autocorrelation of the averages; near 1 they wander or drift, near 0 each task stands alone. *q*: expected
share of false discoveries among this row and those with smaller q (Benjamini and Hochberg). For columns, q counts how
often as much is seen where samples of each class change places between tasks at random; rows must be independent.
"""


def what_changed(choice: Choice) -> None:
    """Offer the ranking; nothing is computed until somebody asks for it."""
    st.markdown("### What changed?")
    if not controls.toggle(
        "Rank classes and columns",
        "changed",
        "Which columns and shares of classes change, in which direction, and whether in all classes or in one.",
    ):
        return
    result = assessing.changed(choice)
    if not len(result.table):
        st.info("No column varies within a task: there is nothing to compare.", icon=":material/info:")
        return
    st.markdown(f"**{words.changed_sentence(result)}**")
    largest = [result.row_name(row) for row in range(min(_SHOWN, len(result.table)))]
    for first in range(0, len(largest), PER_ROW):
        charts.show(
            changed_panels,
            result,
            first,
            name=f"changed-{first}",
            alt=f"Averages by task of {', '.join(largest[first : first + PER_ROW])}, with 95 % intervals.",
        )
    if image_side(result.columns) is not None:
        charts.show(
            changed_images,
            result,
            name="changed-images",
            alt="Average image of each class in the first and the last third of the tasks, and their difference.",
        )
    table = result.table.drop(columns=["found", "class_index", "column_index", "p"])
    table["kind"] = table["kind"].map(SHIFTS)
    st.dataframe(
        table,
        hide_index=True,
        height=280,
        column_config={
            **{column: column.capitalize() for column in ("kind", "class", "column", "direction")},
            **{
                column: st.column_config.NumberColumn(label, format=shown, help=told)
                for column, (label, shown, told) in _NUMBERS.items()
            },
        },
    )
    charts.csv(result.table, name="what-changed")
    with st.expander("How this is tested", icon=":material/science:"):
        st.markdown(_EXPLAINED)
        if result.left_out:
            st.caption(f"Left out because they are constant within tasks: {result.left_out:,} columns.")
