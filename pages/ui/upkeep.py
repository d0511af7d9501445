"""Upkeep of a server that runs for a long time."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading

SWITCH = "IMRC_FREEZE"
"""Environment variable; "0" leaves all objects to the garbage collector."""

_lock = threading.Lock()
_settled = 0


def settle() -> None:
    """Keep what the loaded libraries consist of out of garbage collections, again whenever more was loaded.

    After every run of a page Streamlit searches all objects for garbage. Nearly all of them belong to libraries, which
    are never garbage, and searching them took half of the server's time for a page of kept results
    (`tests/benchmarks/visitors.py`). What a visitor holds at that moment is kept out too and stays if it becomes
    part of a cycle; that happens only while libraries are still being loaded, in the first minutes of a server.
    """
    global _settled
    loaded = len(sys.modules)
    if os.environ.get(SWITCH) == "0" or loaded == _settled or not _lock.acquire(blocking=False):
        return
    try:
        gc.collect()
        gc.freeze()
        _settled = loaded
    finally:
        _lock.release()


def give_back() -> None:
    """Return memory that is free to the system, where the C library has a way to ask for that (glibc)."""
    trim = None
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
