"""The one budget for files of all visitors: those that arrive, and those that are open."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

BYTES = 256_000_000
"""Bytes of the files of all visitors together; of one visitor, half of it may wait to be read."""
NO_ROOM = "application/x-no-room"
"""Kind of a file that stands for one there was no room for."""
FULL = (
    "This server holds as many files as it may, 256 MB for all visitors together. Nothing of yours was kept. Files of "
    "visitors who leave are gone within a minute: upload yours again then, or a smaller part of it."
)


@st.cache_resource(show_spinner=False)
def _in_use() -> WeakValueDictionary[tuple[Hashable, int], Any]:
    """Return what some visitor has open, with the bytes of its file: a class that opens one file holds it once.

    Who has the same bytes learns nothing by it; when the last of them leaves, it is gone.
    """
    return WeakValueDictionary()


def open_bytes() -> int:
    """Return the bytes of all files that are open."""
    return sum(size for _, size in list(_in_use()))


def shared(key: Hashable, make: Callable[[], Any], size: int = 0) -> Any:  # noqa: ANN401 - a table or a cut
    """Return what another visitor has open under this key, or make it; `size` counts for as long as somebody has it."""
    held = _in_use().get((key, size))
    return _in_use().setdefault((key, size), make()) if held is None else held
