"""The paper: does it reproduce? Its tables and figures as shipped, ours beside the printed values."""

import streamlit as st

from imrc.paper import cells
from pages.shell import controls
from pages.the_paper import figures, tables

PARTS = {
    "errors": ("Errors", tables.errors),
    "settings": ("W and b", tables.settings),
    "times": ("Running time", tables.times),
    "datasets": ("Datasets", tables.characteristics),
    "method": ("Algorithm", tables.algorithm),
    "figures": ("Figures", figures.show),
}

st.markdown("# Does the paper reproduce?")
st.markdown(f"**{cells.headline()}** {cells.both_readings()}")
row = st.container(horizontal=True)
controls.part("Show", PARTS, "paper_part", "Which of the paper's tables and figures.", row)(row)
st.caption(
    "V. Álvarez, S. Mazuelas, J. A. Lozano: *Minimax Forward and Backward Learning of Evolving Tasks with Performance "
    "Guarantees*, NeurIPS 2023. Our numbers come with this program and were made by the commands shown; nothing is "
    f"computed on this page. {cells.not_at_hand()}"
)
