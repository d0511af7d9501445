"""The explorer: page frame, sidebar and navigation. Start it with ``imrc app`` or ``streamlit run app.py``.

A page is a line of `pages.registry.PAGES` and a folder in `pages`.
"""

from __future__ import annotations

import gc
import threading

import streamlit as st
from starlette.middleware import Middleware
from streamlit.starlette import App

from pages.registry import PAGES
from pages.shell import frame, guard, running, sidebar, state, streamlit_private

if __name__ != "__main__":
    # The server imports this file once, before the first visitor.
    streamlit_private.pages_come_from_code_only()
    middleware = [Middleware(guard.Guard)]
    app = App("app.py", routes=guard.routes(PAGES), on_script_error=frame.show_failure, middleware=middleware)
    threading.Thread(target=running.compile_early, daemon=True).start()
    # After every run of a page Streamlit searches all objects for garbage. Libraries are none, and nobody is here yet.
    gc.freeze()
else:
    # The icon is a file: Streamlit fetches the icons it knows by name from another host.
    st.set_page_config(page_icon="pages/shell/icon.svg", layout="wide")
    st.logo("pages/shell/name.svg", size="large", icon_image="pages/shell/icon.svg")
    pages = [
        st.Page(one.file, title=one.title, url_path="" if one.default else one.url_path, default=one.default)
        for one in PAGES
    ]
    # With what the link says, which a click would take away as soon as there are pages to click on.
    state.visit()
    page = st.navigation(pages, position="top")
    entry = PAGES[pages.index(page)]
    st.set_page_config(
        page_title=f"{entry.title} · Evolving tasks",
        initial_sidebar_state="collapsed" if entry.roomy else frame.SIDEBAR_PX,
    )
    # What is there at times only has a place that is always there: what moved would be drawn anew, and a click on
    # it meanwhile lost.
    line, pinned, notes, body = (st.container(key=f"frame{number}") for number in range(4))
    state.follow_address(entry.title)
    if state.ask_for_file() and entry.runs:
        st.switch_page("pages/your_data/page.py")
    sidebar.show(settings=entry.runs)
    state.write_link()
    if entry.runs:
        with line:
            frame.show_line()
        with notes:
            state.show_notes()
    with body:
        page.run()
    if entry.runs:
        with pinned:
            frame.show_pinned()
