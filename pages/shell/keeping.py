"""What visitors share of this server, within limits: what it keeps in memory, files that are open, places for runs."""

from __future__ import annotations

import os
import pickle  # nosec B403
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

import streamlit as st
from cachetools import Cache, LRUCache, cached

from imrc.datasets import DataError
from imrc.evaluation.settings import RunLimits
from imrc.solvers import cores
from imrc.wording import duration

KEEP_BYTES = 192_000_000
"""Bytes of everything a server keeps for its visitors: sequences, results, diagnoses and finished charts together."""
FILE_BYTES = 256_000_000
"""Bytes of the files of all visitors, arriving, waiting and open, and of the tables and tasks made of them."""
FULL = (
    "The server has no room for your file: it stores at most 256 MB for all visitors together, with the tables and "
    "tasks made of files. Files of visitors who leave are deleted within a minute, so try again shortly, or upload a "
    "smaller part of your file."
)
LIMIT = "IMRC_LIMIT"
"""Environment variable that `imrc app --limit` sets."""
_LOOK_S = 0.5
_PACE_S = 5.0
"""How long a run goes on before its pace is judged."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def size_in_memory(value: object) -> int:
    """Return about how many bytes a value takes, with all that it holds; what occurs twice counts once."""
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return len(rest) + sum(array.raw().nbytes for array in arrays)


@st.cache_resource(show_spinner=False)
def memory() -> Any:  # noqa: ANN401 - what `cached` returns
    """Return what makes and keeps values of all kinds, with their sizes; those used least recently go first."""
    entries: LRUCache[tuple[str, Any], tuple[Any, int]] = LRUCache(KEEP_BYTES, getsizeof=lambda entry: entry[1])
    return cached(entries, key=lambda key, _: key, condition=threading.Condition())(lambda _, make: make())


class Kept(Generic[K, V]):
    """The values of one kind by key, in the memory of all kinds; who asks for one that another makes waits for it."""

    def __init__(self, kind: str, size_of: Callable[[V], int] = size_in_memory) -> None:
        self._kind, self._size_of = kind, size_of

    def get(self, key: K) -> V | None:
        """Return a kept value or None."""
        with memory().cache_condition:
            return memory().cache.get((self._kind, key), (None, 0))[0]

    def values(self) -> list[V]:
        """Return all values kept, which is no use of them."""
        with memory().cache_condition:
            entries = memory().cache
            return [Cache.__getitem__(entries, key)[0] for key in entries if key[0] == self._kind]

    def put(self, key: K, value: V) -> V:
        """Keep a value and return it; one that is there already under this key stays."""
        return self.get_or_make(key, lambda: value)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return a kept value, or make and keep it."""

        def entry() -> tuple[V, int]:
            value = make()
            # A value that is too large counts as the whole limit: it is kept, alone, for the next click.
            return value, min(self._size_of(value), KEEP_BYTES)

        value: V = memory()((self._kind, key), entry)[0]
        return value


@st.cache_resource(show_spinner=False)
def _open() -> WeakValueDictionary[tuple[Hashable, int], Any]:
    """Return what some visitor has open, with its bytes; when the last of them leaves, it is gone."""
    return WeakValueDictionary()


def open_bytes(but: Iterable[object] = ()) -> int:
    """Return the bytes of all that is open, `but` for some of it."""
    gone = {id(one) for one in but}
    return sum(size for (_, size), value in list(_open().items()) if id(value) not in gone)


def open_once(key: Hashable, make: Callable[[], Any], mine: Iterable[object]) -> Any:  # noqa: ANN401 - a table or a cut
    """Return what some visitor has open under this key, or make it; DataError if others, not `mine`, leave no room."""
    held = next((value for (name, _), value in list(_open().items()) if name == key), None)
    if held is None:
        held = make()
        size, others = size_in_memory(held), open_bytes(but=mine)
        if others and others + size > FILE_BYTES:
            raise DataError(FULL)
        held = _open().setdefault((key, size), held)
    return held


def limits() -> RunLimits:
    """Return the limits of this server."""
    text = os.environ.get(LIMIT, "")
    return RunLimits.parse(text) if text else RunLimits()


def fits(what: str, cells: float, less: str) -> bool:
    """Return whether something holds few enough numbers at once; say so, and what makes it smaller, if it does not."""
    most = limits().cells
    if cells > most:
        st.error(
            f"**This {what} is too large for this server.** It would need about {cells / 1e6:,.0f} million numbers at "
            f"once; at most {most / 1e6:,.4g} million are allowed. {less}",
            icon=":material/block:",
        )
    return cells <= most


@st.cache_resource(show_spinner=False)
def _places() -> threading.Semaphore:
    """Return the places of this server: as many runs at a time as there are cores."""
    return threading.BoundedSemaphore(cores())


@contextmanager
def turn(slot: Any) -> Iterator[Callable[[float], None]]:  # noqa: ANN401 - Streamlit's own element
    """Hold a place while something runs, waiting in a slot; gives what is told the share done, and ends a slow one."""
    while not _places().acquire(timeout=_LOOK_S):
        slot.info("Other runs are using all cores. This one waits for a free core.", icon=":material/hourglass_empty:")
    started, most = time.monotonic(), limits().seconds

    def pace(share: float) -> None:
        elapsed = time.monotonic() - started
        if share > 0.0 and elapsed > _PACE_S and elapsed / share > most:
            st.error(
                f"**This run would take too long for this server**: about {duration(elapsed / share)}; at most "
                f"{duration(most)} are allowed. To make it shorter, use fewer repetitions, tasks k or samples n.",
                icon=":material/block:",
            )
            st.stop()

    try:
        slot.empty()  # who leaves or changes something meanwhile is told so here: the place is given back
        yield pace
    finally:
        _places().release()
