"""How far the verdict can be relied on, on the page *Is it evolving?*: a study that comes with the package."""

from __future__ import annotations

import streamlit as st

from imrc.diagnostics import Assessment
from imrc.diagnostics._order import LEAST_TASKS
from imrc.diagnostics.power import KINDS, power_rows, power_sentences, power_table
from imrc.paper import shipped
from imrc.plots.power import power_chart
from pages.ui import charts, controls


def show(result: Assessment) -> None:
    """Offer what the diagnosis says of sequences of known kinds, where it names kinds at all."""
    if result.k < LEAST_TASKS or result.change is None or result.verdict.name == "dependent":
        return
    if not controls.toggle(
        "How reliable is this?", "power", "What the diagnosis said of simulated sequences of each kind of change."
    ):
        return
    table = power_table(shipped.table("verdicts"), result.k)
    said = power_sentences(table, result.verdict)
    st.markdown(f"**{said[0]}** {said[1]}")
    charts.show(
        power_chart,
        table,
        [result.verdict.name, result.verdict.second],
        name="power-chart",
        alt="For each kind of change, of 100 simulated sequences: in how many the diagnosis names it. "
        + ", ".join(
            f"{KINDS[kind][1]} {percent:.0f}" for kind, percent in table[["kind", "named"]].itertuples(index=False)
        )
        + ".",
    )
    st.caption(said[2])
    with st.expander("All numbers", icon=":material/table:"):
        st.markdown(
            "Only how tasks follow each other differs between the kinds. Each sequence is judged by the same tests and "
            "models as yours; intervals are 95 % (Wilson). A kind that is seldom recognised cannot be excluded because "
            "the verdict does not name it."
        )
        st.dataframe(power_rows(table), hide_index=True)
        charts.csv(table, name="power")
