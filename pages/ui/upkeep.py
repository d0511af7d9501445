"""Upkeep of a server that runs for a long time."""

from __future__ import annotations

import gc
import sys
import threading

_lock = threading.Lock()
_settled = 0


def settle() -> None:
    """Keep what the loaded libraries consist of out of garbage collections, again whenever more was loaded.

    After every run of a page Streamlit searches all objects for garbage. Nearly all of them belong to libraries, which
    are never garbage, and searching them took half of the server's time for a page of kept results
    (`tests/benchmarks/visitors.py`).
    """
    global _settled
    loaded = len(sys.modules)
    if loaded == _settled or not _lock.acquire(blocking=False):
        return
    try:
        gc.collect()
        gc.freeze()
        _settled = loaded
    finally:
        _lock.release()
