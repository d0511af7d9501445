"""What is computed once and kept for all visitors, within a limit of memory."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from cachetools import LRUCache, cached

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


class Store(Generic[K, V]):
    """Values by key, the least recently used ones dropped first; safe for many threads.

    The newest value stays even if it alone is larger than the limit: whoever asked for it asks again with the next
    click.

    Parameters
    ----------
    limit : int
        Bytes all values together may take.
    size_of : callable
        Gives the bytes of a value.
    """

    def __init__(self, limit: int, size_of: Callable[[V], int] = size_in_memory) -> None:
        # A value that is too large counts as the whole limit: it is kept, alone.
        self._cache: LRUCache[K, V] = LRUCache(limit, getsizeof=lambda value: min(size_of(value), limit))
        self._changed = threading.Condition()
        # With a condition, whoever asks for a key another thread is making waits for that one.
        self._make = cached(self._cache, key=lambda key, make: key, condition=self._changed)(lambda key, make: make())

    def __len__(self) -> int:
        return len(self._cache)

    @property
    def size(self) -> int:
        """Bytes of all values kept."""
        return int(self._cache.currsize)

    def get(self, key: K) -> V | None:
        """Return a kept value or None."""
        with self._changed:
            return self._cache.get(key)

    def put(self, key: K, value: V) -> V:
        """Keep a value and return it; one that is there already under this key stays."""
        return self.get_or_make(key, lambda: value)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return a kept value, or make and keep it; who asks while another makes it waits for that one."""
        value: V = self._make(key, make)
        return value
