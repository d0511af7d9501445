"""The private parts of Streamlit in use here; `tests/app/test_private.py` says what to do if it breaks."""

from __future__ import annotations

import gc

from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx


def pages_come_from_code_only() -> None:
    """Keep Streamlit from looking for pages in the folder `pages`, where it would find none for the first visitor."""
    PagesManager.uses_pages_directory = False


def drop_uploads() -> None:
    """Let go of this visitor's uploads once they are read: Streamlit keeps their bytes as long as the page is open."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)


def waiting_bytes() -> dict[str, int]:
    """Return the bytes of the files that wait to be read, by session."""
    files = Runtime.instance().uploaded_file_mgr.file_storage
    return {session: sum(len(file.data) for file in list(own.values())) for session, own in list(files.items())}


def replaced_in(session: str) -> list[object]:
    """Return what of a visitor's file goes when another one is opened."""
    found = Runtime.instance()._session_mgr.get_active_session_info(session)
    visit = None if found is None else found.session.session_state.filtered_state.get("visit")
    return [] if visit is None else visit.replaced_by_another_file()


def forget_who_left() -> None:
    """Let go of what visitors held who left: Streamlit looks for them only when the next one leaves."""
    for _, left in Runtime.instance()._session_mgr._session_storage._cache.expire():
        left.session.session_state.clear()  # the loop of the server has who left last until somebody else comes
    gc.collect()
