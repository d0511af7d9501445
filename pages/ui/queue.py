"""Runs of all visitors: how large one may be, how many at a time, and who is next."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

import imrc
from imrc.evaluation import RunSettings
from imrc.evaluation.limits import RunLimits, RunNeeds, diagnosis_needs, lower, run_needs
from imrc.features import FeatureSpec
from imrc.solvers import cores
from pages.ui.words import plain

LIMIT = "IMRC_LIMIT"
"""Environment variable that `imrc app --limit` sets."""
_LOOK_S = 0.5


@dataclass(eq=False)
class _Ticket:
    visitor: str
    size: float


@dataclass
class Line:
    """Who runs and who waits: first come, first served, one run of a visitor at a time.

    `places` run at the same time, if together they need no more bytes than `room`; a run that needs more runs alone.
    """

    places: int
    room: float
    _running: list[_Ticket] = field(default_factory=list)
    _waiting: list[_Ticket] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def turn(self, visitor: str, size: float, wait: Callable[[int], object]) -> Iterator[None]:
        """Hold a place while a run of a visitor that needs so many bytes runs.

        `wait` is called with the number of runs that come first, several times a second until there is a place; what it
        raises gives up waiting.
        """
        ticket = _Ticket(visitor, size)
        with self._changed:
            self._waiting.append(ticket)
        try:
            while (first := self._enter(ticket)) is not None:
                wait(first)
            yield
        finally:
            with self._changed:
                for tickets in (self._waiting, self._running):
                    if ticket in tickets:
                        tickets.remove(ticket)
                self._changed.notify_all()

    def _enter(self, ticket: _Ticket) -> int | None:
        """Let whoever is next in; return None for a place, else how many are before this one, after a short wait."""
        with self._changed:
            next_one = next((one for one in self._waiting if self._may_start(one)), None)
            if next_one is ticket:
                self._waiting.remove(ticket)
                self._running.append(ticket)
                self._changed.notify_all()
                return None
            self._changed.wait(_LOOK_S)
            return len(self._running) + self._waiting.index(ticket)

    def _may_start(self, ticket: _Ticket) -> bool:
        # Nobody passes a large run that waits for room: it would never have its turn.
        others = self._waiting[: self._waiting.index(ticket)]
        if len(self._running) >= self.places or any(one.visitor == ticket.visitor for one in self._running):
            return False
        if any(one.visitor not in {running.visitor for running in self._running} for one in others):
            return False  # somebody else is first
        return not self._running or sum(one.size for one in self._running) + ticket.size <= self.room


def limits() -> RunLimits:
    """Return the limits of this server."""
    text = os.environ.get(LIMIT, "")
    return RunLimits.parse(text) if text else RunLimits()


@st.cache_resource(show_spinner=False)
def line() -> Line:
    """Return the one line of this server."""
    return Line(cores(), limits().together)


def visitor() -> str:
    """Return who is here: the browser, whose tabs share a cookie, or else this session."""
    own: str = st.session_state.setdefault("place_in_line", secrets.token_hex())
    return st.context.cookies.get("_streamlit_xsrf", own)


def _wanted(what: str, key: tuple[object, ...]) -> None:
    st.session_state[f"large_{what}_wanted"] = key


def may_run(sequence: imrc.TaskSequence, settings: RunSettings) -> bool:
    """Return whether a run may start now; one that needs much is shown with what it needs, and waits for a click."""
    # A click is for the size: runs of other presets and methods beside this one need not be asked for again.
    reach = settings.reach(len(sequence))
    key = (sequence.fingerprint, settings.n, reach, settings.repetitions, settings.features)
    return _may_start("run", key, run_needs(sequence, settings), lambda: lower(sequence, settings))


def may_diagnose(sequence: imrc.TaskSequence, features: FeatureSpec, seed: int) -> bool:
    """Return whether a sequence may be diagnosed now, as `may_run` does."""
    less = "Fewer tasks k or frequencies would make it smaller."
    key = (sequence.fingerprint, features, seed)
    return _may_start("diagnosis", key, diagnosis_needs(sequence, features, seed), lambda: less)


def _may_start(what: str, key: tuple[object, ...], needs: RunNeeds, less: Callable[[], str]) -> bool:
    most = limits()
    if most.refuses(needs):
        st.error(
            f"**This {what} is too large for this server.** It needs {needs.in_words()}; at most "
            f"{most.most_in_words()} are allowed. {plain(less())}",
            icon=":material/block:",
        )
        return False
    if not most.asks(needs) or st.session_state.get(f"large_{what}_wanted") == key:
        return True
    st.info(
        f"**A large {what} is prepared.** It needs {needs.in_words()}. {plain(less())}",
        icon=":material/hourglass_empty:",
    )
    st.button(
        f"Start this {what}",
        icon=":material/play_arrow:",
        key=f"start_large_{what}_{hash(key)}",
        on_click=_wanted,
        args=(what, key),
    )
    return False


@contextmanager
def turn(sequence: imrc.TaskSequence, settings: RunSettings) -> Iterator[None]:
    """Hold a place in the line of this server while something runs; the page says how many come first."""
    slot = st.empty()

    def wait(first: int) -> None:
        slot.info(
            f"Waiting for a free place: {first} run{'s' * (first != 1)} before this one. It starts by itself.",
            icon=":material/hourglass_empty:",
        )

    with line().turn(visitor(), run_needs(sequence, settings).bytes, wait):
        slot.empty()
        yield
