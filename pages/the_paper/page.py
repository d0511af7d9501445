"""The paper: its tables and figures, ours beside the printed values."""

import streamlit as st

from imrc.paper import cells
from pages.the_paper import paper, paper_figures

PARTS = {
    "errors": ("Errors", paper.errors),
    "settings": ("W and b", paper.settings),
    "times": ("Running time", paper.times),
    "datasets": ("Datasets", paper.characteristics),
    "method": ("Algorithm", paper.algorithm),
    "figures": ("Figures", paper_figures.figures),
}

st.markdown(f"# {cells.headline()}")
st.caption(
    "V. Álvarez, S. Mazuelas, J. A. Lozano: *Minimax Forward and Backward Learning of Evolving Tasks with Performance "
    "Guarantees*, NeurIPS 2023. Our numbers come with this program and were made by the commands shown; nothing is "
    f"computed on this page. {cells.both_readings()} {cells.not_at_hand()}"
)
part = st.radio(
    "Show",
    list(PARTS),
    horizontal=True,
    format_func=lambda name: PARTS[name][0],
    key="paper_part",
    bind="query-params",
    help="Which of the paper's tables and figures.",
)
PARTS[part][1]()
