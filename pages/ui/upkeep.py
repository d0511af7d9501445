"""Upkeep of a server that runs for a long time."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time

SWITCH = "IMRC_FREEZE"
"""Environment variable; "0" leaves all objects to the garbage collector."""

_GIVE_BACK_S, _SEARCH_S = 15.0, 300.0
"""Memory is given back so long after a page ran, and all objects are searched for garbage no more often than that."""

_lock = threading.Lock()
_settled = 0
_searched = time.monotonic()
_waiting = threading.Lock()


def settle() -> None:
    """Keep what the loaded libraries consist of out of garbage collections, again whenever more was loaded.

    After every run of a page Streamlit searches all objects for garbage. Nearly all of them belong to libraries, which
    are never garbage, and searching them took half of the server's time for a page of kept results
    (`tests/benchmarks/visitors.py`). What a visitor holds at that moment is kept out too; `_tidy` finds it.
    """
    global _settled
    if _waiting.acquire(blocking=False):
        timer = threading.Timer(_GIVE_BACK_S, _tidy)
        timer.daemon = True
        timer.start()
    loaded = len(sys.modules)
    if os.environ.get(SWITCH) == "0" or loaded == _settled or not _lock.acquire(blocking=False):
        return
    try:
        gc.collect()
        gc.freeze()
        _settled = loaded
    finally:
        _lock.release()


def _tidy() -> None:
    """Search all objects, now and then, and return free memory to the system; a page has run since the last time.

    Sessions of visitors who left are cycles, some of them kept out of collections, and large results leave holes that
    the C library keeps: without this a server that had seen large files held twice the memory it used.
    """
    global _searched
    _waiting.release()
    if os.environ.get(SWITCH) != "0" and time.monotonic() > _searched + _SEARCH_S:
        with _lock:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        _searched = time.monotonic()
    give_back()


def give_back() -> None:
    """Return memory that is free to the system, where the C library has a way to ask for that (glibc)."""
    trim = None
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
