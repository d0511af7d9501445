"""Where the app opens: sixes and nines that turn, drawn in the browser from errors measured before."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from imrc.paper import shipped

DATASET = "six_or_nine"
_PARTS = {kind: Path(__file__).with_suffix(f".{kind}").read_text(encoding="utf-8") for kind in ("html", "js")}


def show() -> None:
    """Show the digits that turn beside the errors of four ways to learn them, and where that is explained."""
    st.components.v2.component("landing", **_PARTS)(key="landing", data=shipped.turning_digits())
    st.page_link(
        "pages/learn/page.py", label="What is going on?", icon=":material/school:", query_params={"scene": "1"}
    )
