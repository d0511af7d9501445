"""The private parts of Streamlit in use here; `tests/app/test_private.py` says what to do if it breaks."""

from __future__ import annotations

import gc
from typing import Any

from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx


def pages_come_from_code_only() -> None:
    """Keep Streamlit from looking for pages in the folder `pages`, where it would find none for the first visitor."""
    PagesManager.uses_pages_directory = False


def upload(file: str) -> bytes | None:
    """Return the bytes of this visitor's upload if they are still here; the value of the widget is a copy."""
    context = get_script_run_ctx()
    found = [] if context is None else context.uploaded_file_mgr.get_files(context.session_id, [file])
    return found[0].data if found else None


def drop_uploads() -> None:
    """Let go of this visitor's uploads once they are read: Streamlit keeps their bytes as long as the page is open."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)


def waiting_bytes() -> int:
    """Return the bytes of the files that wait to be read."""
    files = Runtime.instance().uploaded_file_mgr.file_storage
    return sum(len(file.data) for own in list(files.values()) for file in list(own.values()))


def visit_of(session: str) -> Any:  # noqa: ANN401 - a `state.Visit`
    """Return what is kept for a visitor, None if nothing is."""
    found = Runtime.instance()._session_mgr.get_active_session_info(session)
    return None if found is None or "visit" not in found.session.session_state else found.session.session_state["visit"]


def forget_who_left() -> None:
    """Let go of what visitors held who left: Streamlit looks for them only when the next one leaves."""
    for _, left in Runtime.instance()._session_mgr._session_storage._cache.expire():
        left.session.session_state.clear()  # the loop of the server has who left last until somebody else comes
    gc.collect()
