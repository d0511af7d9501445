"""How wide the visitor's page is: panels of a chart are below each other on phones."""

from __future__ import annotations

import streamlit as st

from imrc.plots.fitting import PHONE_PX

_KEY = "screen"

# The server cannot see the width of a window. This reports it, and only when it is not what the server assumed, so
# that a page of usual width costs no second run.
_SCRIPT = f"""
export default function ({{ data, setStateValue }}) {{
  const query = window.matchMedia("(max-width: {PHONE_PX}px)");
  const tell = () => {{ if (query.matches !== data.narrow) setStateValue("narrow", query.matches); }};
  tell();
  query.addEventListener("change", tell);
  return () => query.removeEventListener("change", tell);
}}
"""


def narrow() -> bool:
    """Return whether the page is as narrow as a phone: as its browser reported, or, before that, said who it is."""
    reported = st.session_state.get(_KEY)
    if reported is not None and reported.get("narrow") is not None:
        return bool(reported["narrow"])
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def watch() -> None:
    """Let the browser report when its width is another than assumed."""
    report = st.components.v2.component("page_width", js=_SCRIPT)
    report(key=_KEY, data={"narrow": narrow()}, on_narrow_change=lambda: None)


# Streamlit opens and closes the sidebar for an app only until a visitor has done so by hand once. So its own button is
# pressed; each wish once, whatever is drawn again.
_MOVER = """
let done = 0;
export default function ({ data }) {
  if (data.number === done) return;
  done = data.number;
  const expand = document.querySelector('[data-testid="stExpandSidebarButton"]');
  const collapse = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
  if (data.open && expand) expand.click();
  if (!data.open && !expand && collapse) collapse.click();
}
"""


def move_sidebar(number: int, is_open: bool) -> None:
    """Open or close the sidebar of a phone; wishes are numbered from 1, 0: none yet."""
    move = st.components.v2.component("sidebar_mover", js=_MOVER)
    move(key="sidebar_mover", data={"number": number, "open": is_open})
