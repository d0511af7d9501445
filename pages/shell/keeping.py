"""What is kept in memory for all visitors, within limits: what was computed, and files that are open."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Hashable
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import pandas as pd
import streamlit as st
from cachetools import Cache, LRUCache, cached

KEEP_BYTES = 192_000_000
"""Bytes of everything a server keeps for its visitors: sequences, results, diagnoses and finished charts together."""
FILE_BYTES = 256_000_000
"""Bytes of the files of all visitors, arriving, waiting and open; of one visitor, half of it may wait to be read."""
NO_ROOM = "application/x-no-room"
"""Kind of a file that stands for one there was no room for."""
FULL = (
    "This server holds as many files as it may, 256 MB for all visitors together. Nothing of yours was kept. Files of "
    "visitors who leave are gone within a minute: upload yours again then, or a smaller part of it."
)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def size_in_memory(value: object) -> int:
    """Return about how many bytes a value takes, with all that it holds; what occurs twice counts once."""
    seen: set[int] = set()
    waiting, total = [value], 0
    while waiting:
        part: Any = waiting.pop()
        while isinstance(part, np.ndarray) and part.base is not None:
            part = part.base  # a view counts as what it looks at
        if id(part) in seen or isinstance(part, (type, FunctionType, ModuleType)):
            continue
        seen.add(id(part))
        total += sys.getsizeof(part)
        if not isinstance(part, (pd.DataFrame, pd.Series, pd.Index)):  # these count all they hold
            waiting.extend(gc.get_referents(part))
    return total


class Kept:
    """Values of all kinds in one memory, those used least recently dropped first; safe for many threads.

    Who asks for a value that another makes waits for that one.
    """

    def __init__(self, limit: int) -> None:
        self.entries: LRUCache[tuple[str, Any], tuple[Any, int]] = LRUCache(limit, getsizeof=lambda entry: entry[1])
        self.changed = threading.Condition()
        self.get_or_make = cached(self.entries, key=lambda key, make: key, condition=self.changed)(
            lambda key, make: make()
        )


@st.cache_resource(show_spinner=False)
def kept() -> Kept:
    """Return what this server keeps."""
    return Kept(KEEP_BYTES)


class Store(Generic[K, V]):
    """The values of one kind by key, in the memory of all kinds."""

    def __init__(self, all_kinds: Kept, kind: str, size_of: Callable[[V], int] = size_in_memory) -> None:
        self._all, self._kind, self._size_of = all_kinds, kind, size_of

    def get(self, key: K) -> V | None:
        """Return a kept value or None."""
        with self._all.changed:
            return self._all.entries.get((self._kind, key), (None, 0))[0]

    def values(self) -> list[V]:
        """Return all values kept, which is no use of them."""
        with self._all.changed:
            entries = self._all.entries
            return [Cache.__getitem__(entries, key)[0] for key in entries if key[0] == self._kind]

    def put(self, key: K, value: V) -> V:
        """Keep a value and return it; one that is there already under this key stays."""
        return self.get_or_make(key, lambda: value)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return a kept value, or make and keep it."""

        def entry() -> tuple[V, int]:
            value = make()
            # A value that is too large counts as the whole limit: it is kept, alone, for the next click.
            return value, min(self._size_of(value), int(self._all.entries.maxsize))

        value: V = self._all.get_or_make((self._kind, key), entry)[0]
        return value


def shared(kind: str) -> Callable[[], Store[Any, Any]]:
    """Return what gives the values of a kind that this server keeps."""
    return lambda: Store(kept(), kind)


@st.cache_resource(show_spinner=False)
def _open() -> WeakValueDictionary[tuple[Hashable, int], Any]:
    """Return what some visitor has open, with the bytes of its file; when the last of them leaves, it is gone."""
    return WeakValueDictionary()


def open_bytes() -> int:
    """Return the bytes of all files that are open."""
    return sum(size for _, size in list(_open()))


def open_once(key: Hashable, make: Callable[[], Any], size: int = 0) -> Any:  # noqa: ANN401 - a table or a cut
    """Return what another visitor has open under this key, or make it; `size` counts for as long as somebody has it.

    So a class that opens one file holds it once; who has the same bytes learns nothing by it.
    """
    held = _open().get((key, size))
    return _open().setdefault((key, size), make()) if held is None else held
