"""The paper: does it reproduce? Its tables and figures as shipped, ours beside the printed values."""

import streamlit as st

from imrc.paper import cells
from pages.shell import controls
from pages.the_paper import views

paper = (
    "V. Álvarez, S. Mazuelas, J. A. Lozano: *Minimax Forward and Backward Learning of Evolving Tasks with Performance "
    "Guarantees*, NeurIPS 2023."
)
st.markdown("# Can we reproduce the paper?", help=paper)
st.markdown(f"**{cells.headline()}.** {cells.both_readings()}")
row = st.container(horizontal=True)
controls.part("Show", views.PARTS, "paper_part", "Choose one of the paper's tables or figures.", row)(row)
