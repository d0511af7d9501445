"""How far the verdict can be relied on, on the page *Is it evolving?*: simulated on demand, kept for all visitors."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import streamlit as st

from imrc.diagnostics import Assessment, Power, verdict_power
from imrc.diagnostics.power import KIND_NAMES, LEAST_TASKS, power_rows, power_sentences
from imrc.plots.power import power_chart
from pages.ui import charts, controls, queue, state
from pages.ui.choice import Choice
from pages.ui.keeping import Store, shared

SIMULATIONS = 200
"""Of each kind."""
_EXPLAINED = """
Every simulated sequence has as many tasks as this one, with as many samples, as many components as there are effective
independent ones here, and tasks as far apart as these; only how they follow each other is that of the kind. Each is
judged by the same tests and models. Intervals are 95 % (Wilson). A kind that is seldom recognised cannot be excluded
because the verdict does not name it.
"""

_kept: Callable[[], Store[tuple[Hashable, ...], Power]] = shared("power")


def asked(result: Assessment) -> bool:
    """Offer the table; return whether somebody asked for it. Nothing is simulated before."""
    return (
        result.k >= LEAST_TASKS
        and result.change is not None
        and result.verdict.name != "dependent"
        and controls.toggle(
            "How reliable is this?",
            "power",
            f"Simulates {SIMULATIONS} sequences like this one of each kind and counts what the diagnosis says of "
            "them. Takes about a minute, once; switching off stops it.",
        )
    )


def show(result: Assessment, choice: Choice) -> None:
    """Show what the diagnosis says of sequences of known kinds."""
    power = _simulated(result, choice)
    said = power_sentences(power)
    st.markdown(f"**{said[0]}** {said[1]}")
    charts.show(
        power_chart,
        power,
        name="power-chart",
        alt="For each kind of change, of 100 simulated sequences: in how many the diagnosis names it. "
        + ", ".join(
            f"{KIND_NAMES[kind]} {100 * share:.0f}"
            for kind, share in power.table[["kind", "named"]].itertuples(index=False)
        )
        + ".",
    )
    st.caption(said[2])
    with st.expander("How this is simulated, and all numbers", icon=":material/science:"):
        st.markdown(_EXPLAINED)
        st.dataframe(power_rows(power), hide_index=True)
        charts.csv(power.table, name="power")


def _simulated(result: Assessment, choice: Choice) -> Power:
    sequence, settings = state.visit().sequence_for(choice), choice.settings
    key = (sequence.fingerprint, settings.features.diagnosed, settings.seed)
    slot = st.empty()
    power = _kept().get(key)
    if power is None:
        with slot.container(), queue.turn(sequence, settings):
            bar = st.progress(0.0, text="Simulating …")

            # Whatever is drawn is also where a click or a closed tab ends the simulations.
            def tick(share: float) -> None:
                bar.progress(share, text=f"Simulating {SIMULATIONS} sequences of each kind … {100 * share:.0f} %")

            power = _kept().put(key, verdict_power(result, simulations=SIMULATIONS, tick=tick))
    slot.empty()
    return power
