"""What is kept of uploaded files: nothing once they are read, and little of what nobody asked for."""

from __future__ import annotations

import threading
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

MOST_OF_A_VISITOR = 130 << 20
MOST_OF_ALL = 400 << 20
"""Bytes of uploads that wait to be read; older ones are dropped beyond."""


class Bounded:
    """Adds files to Streamlit's store of uploads and drops the oldest beyond the limits.

    Whoever has a page open can upload to its address, whether or not the page asks for a file, and Streamlit keeps
    what comes as long as the page is open.

    Parameters
    ----------
    manager : UploadedFileManager
        Streamlit's store.
    of_a_visitor, of_all : int
        Most bytes of one visitor, and of all.
    """

    def __init__(self, manager: Any, of_a_visitor: int = MOST_OF_A_VISITOR, of_all: int = MOST_OF_ALL) -> None:  # noqa: ANN401
        self._manager, self._add = manager, manager.add_file
        self._of_a_visitor, self._of_all = of_a_visitor, of_all
        self._lock = threading.Lock()
        self._order: list[tuple[str, str]] = []

    def add_file(self, session_id: str, file: Any) -> None:  # noqa: ANN401
        """Keep a file, and drop older ones beyond the limits."""
        with self._lock:
            self._add(session_id, file)
            self._order = [key for key in self._order if key != (session_id, file.file_id) and self._size(key) >= 0]
            self._order.append((session_id, file.file_id))
            self._drop([key for key in self._order if key[0] == session_id], self._of_a_visitor)
            self._drop(self._order, self._of_all)

    def _size(self, key: tuple[str, str]) -> int:
        """Return the bytes of a file, -1 if it is gone."""
        found = self._manager.get_files(key[0], [key[1]])
        return len(found[0].data) if found else -1

    def _drop(self, keys: list[tuple[str, str]], most: int) -> None:
        total = sum(max(self._size(key), 0) for key in keys)
        for key in keys:
            if total <= most:
                return
            total -= max(self._size(key), 0)
            self._manager.remove_file(*key)


@st.cache_resource(show_spinner=False)
def _bounded(_manager: Any) -> Bounded:  # noqa: ANN401
    bounded = Bounded(_manager)
    _manager.add_file = bounded.add_file
    return bounded


def bound() -> None:
    """Bound the uploads that wait on this server; does something only the first time."""
    context = get_script_run_ctx()
    if context is not None:
        _bounded(context.uploaded_file_mgr)


def drop() -> None:
    """Drop this visitor's uploads: what was asked for has been read."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
