"""Where the app opens: sixes and nines that turn, drawn in the browser from errors measured before."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from imrc.paper import shipped

DATASET = "six_or_nine"
_LEARN = "pages/learn/page.py"
_PARTS = {kind: Path(__file__).with_suffix(f".{kind}").read_text(encoding="utf-8") for kind in ("html", "js")}


def show() -> None:
    """Show the digits that turn beside the errors of four ways to learn them, and where to go from here."""
    st.components.v2.component("landing", **_PARTS)(key="landing", data=shipped.turning_digits())
    with st.container(horizontal=True):
        scene = {"scene": "1"}
        st.page_link(_LEARN, label="New here?", icon=":material/school:", query_params=scene)
        st.page_link(_LEARN, label="I teach")
        st.page_link("pages/your_data/page.py", label="I have a table")
        st.page_link("pages/against_others/page.py", label="I compare methods")
