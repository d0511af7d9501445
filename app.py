"""The explorer: page frame, sidebar and navigation. Start it with ``imrc app`` or ``streamlit run app.py``."""

from __future__ import annotations

import streamlit as st

from pages.ui import sidebar
from pages.ui.registry import PAGES

st.set_page_config(page_title="Evolving tasks", page_icon=":material/timeline:", layout="wide")

page = st.navigation(
    [
        st.Page(entry.file, title=entry.title, icon=entry.icon, url_path=entry.url_path, default=entry.default)
        for entry in PAGES
    ],
    position="top" if len(PAGES) > 1 else "hidden",
)
sidebar.show()
page.run()
