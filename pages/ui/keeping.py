"""What is computed once and kept for all visitors, within a limit of memory."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
import streamlit as st
from cachetools import LRUCache, cached

from pages.ui import upkeep

KEEP_BYTES = 192_000_000
"""Bytes of everything a server keeps for its visitors: sequences, results, diagnoses and finished charts together."""

_numbers = itertools.count()

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def size_in_memory(value: object) -> int:
    """Return about how many bytes a value takes, with all that it holds.

    Arrays, tables, texts, collections and objects with attributes are followed; what occurs twice counts once, a view
    counts as what it looks at.

    Examples
    --------
    >>> array = np.zeros(1000)
    >>> 8000 <= size_in_memory({"all": array, "again": array, "part": array[:10]}) < 10_000
    True
    """
    seen: set[int] = set()
    waiting, total = [value], 0
    while waiting:
        part = waiting.pop()
        while isinstance(part, np.ndarray) and part.base is not None:
            part = part.base
        if id(part) in seen or isinstance(part, type):
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            total += part.nbytes
        elif isinstance(part, (pd.DataFrame, pd.Series, pd.Index)):
            total += int(np.sum(part.memory_usage(deep=True)))
        else:
            total += sys.getsizeof(part)
            waiting.extend(_parts(part))
    return total


def _parts(value: object) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    else:
        yield from getattr(value, "__dict__", {}).values()
        for kind in type(value).__mro__:
            for name in getattr(kind, "__slots__", ()):
                if hasattr(value, name):
                    yield getattr(value, name)


class Budget:
    """Bytes that several stores share: what was used least recently goes first, whichever store it is in."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.entries: LRUCache[tuple[int, Hashable], _Entry] = LRUCache(limit, getsizeof=lambda entry: entry.size)
        self.changed = threading.Condition()
        # With a condition, whoever asks for a key another thread is making waits for that one.
        self.get_or_make = cached(self.entries, key=lambda key, make: key, condition=self.changed)(
            lambda key, make: make()
        )

    @property
    def size(self) -> int:
        """Bytes of all values kept."""
        return int(self.entries.currsize)


@dataclass(frozen=True, eq=False)
class _Entry:
    value: Any
    size: int


@st.cache_resource(show_spinner=False)
def server_budget() -> Budget:
    """Return the one budget of this server."""
    return Budget(KEEP_BYTES)


class OneLarge(Generic[K, V]):
    """The value used last, of kinds too large to keep several of; dropped some seconds after its last use."""

    def __init__(self, idle_s: float) -> None:
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._held: tuple[K, V] | None = None
        self._timer: threading.Timer | None = None

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value kept, or let it go and make another; whoever asks meanwhile waits."""
        with self._lock:
            if self._held is None or self._held[0] != key:
                self._held = None  # before the next is made: both together may be too much
                self._held = (key, make())
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(self._idle_s, self.drop)
            self._timer.daemon = True
            self._timer.start()
            return self._held[1]

    def drop(self) -> None:
        """Let the value go."""
        with self._lock:
            self._held = None
        upkeep.give_back()


class Store(Generic[K, V]):
    """Values by key, the least recently used ones dropped first; safe for many threads.

    The newest value stays even if it alone is larger than the limit: whoever asked for it asks again with the next
    click. The budget is shared with other stores, or the bytes of this one alone.
    """

    def __init__(self, budget: Budget | int, size_of: Callable[[V], int] = size_in_memory) -> None:
        self._budget = Budget(budget) if isinstance(budget, int) else budget
        self._size_of = size_of
        self._number = next(_numbers)

    def _mine(self) -> list[_Entry]:
        with self._budget.changed:
            return [entry for (number, _), entry in self._budget.entries.items() if number == self._number]

    def __len__(self) -> int:
        return len(self._mine())

    @property
    def size(self) -> int:
        """Bytes of all values kept."""
        return sum(entry.size for entry in self._mine())

    def get(self, key: K) -> V | None:
        """Return a kept value or None."""
        with self._budget.changed:
            entry = self._budget.entries.get((self._number, key))
        return None if entry is None else entry.value

    def put(self, key: K, value: V) -> V:
        """Keep a value and return it; one that is there already under this key stays."""
        return self.get_or_make(key, lambda: value)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return a kept value, or make and keep it; who asks while another makes it waits for that one."""

        def entry() -> _Entry:
            value = make()
            # A value that is too large counts as the whole limit: it is kept, alone.
            return _Entry(value, min(self._size_of(value), self._budget.limit))

        value: V = self._budget.get_or_make((self._number, key), entry).value
        return value


@st.cache_resource(show_spinner=False)
def _store(what: str) -> Store[Any, Any]:
    return Store(server_budget())


def shared(what: str) -> Callable[[], Store[Any, Any]]:
    """Return what gives the one store of this server for values of a kind, within the memory of all."""
    return partial(_store, what)
