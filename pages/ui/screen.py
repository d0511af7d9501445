"""How wide the visitor's page is: panels of a chart stand below each other on phones."""

from __future__ import annotations

import streamlit as st

from imrc.plots.stacking import PHONE_PX

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
