"""Runs of all visitors: how large one may be, how long it may take, and how many at a time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

import imrc
from imrc.evaluation import RunSettings
from imrc.evaluation.limits import RunLimits, run_cells
from imrc.solvers import cores
from imrc.wording import duration

LIMIT = "IMRC_LIMIT"
"""Environment variable that `imrc app --limit` sets."""
_LOOK_S = 0.5
_PACE_S = 5.0
"""How long a run goes on before its pace is judged."""


def limits() -> RunLimits:
    """Return the limits of this server."""
    text = os.environ.get(LIMIT, "")
    return RunLimits.parse(text) if text else RunLimits()


@st.cache_resource(show_spinner=False)
def _places() -> threading.Semaphore:
    """Return the places of this server: as many runs at a time as there are cores."""
    return threading.BoundedSemaphore(cores())


def _refused(told: str) -> None:
    st.error(told, icon=":material/block:")


@contextmanager
def turn() -> Iterator[Callable[[float], None]]:
    """Hold a place while something runs; gives what is told the share done, and ends a run that takes too long."""
    slot = st.empty()
    while not _places().acquire(timeout=_LOOK_S):
        slot.info("Waiting for a free place. It starts by itself.", icon=":material/hourglass_empty:")
    started, most = time.monotonic(), limits().seconds

    def pace(share: float) -> None:
        elapsed = time.monotonic() - started
        if share > 0.0 and elapsed > _PACE_S and elapsed / share > most:
            _refused(
                f"**This run would take too long for this server**: about {duration(elapsed / share)}; at most "
                f"{duration(most)} are allowed. Fewer repetitions, tasks k or samples n make it shorter."
            )
            st.stop()

    try:
        slot.empty()  # who leaves or changes something meanwhile is told so here: the place is given back
        yield pace
    finally:
        _places().release()


def may_run(sequence: imrc.TaskSequence, settings: RunSettings) -> bool:
    """Return whether a run is small enough; say so if it is not."""
    less = "Fewer repetitions, tasks k, backward steps b, samples n or frequencies make it smaller."
    return fits("run", run_cells(sequence, settings), less)


def fits(what: str, cells: float, less: str) -> bool:
    """Return whether something holds few enough numbers at once; say so, and what makes it smaller, if it does not."""
    most = limits().cells
    if cells > most:
        _refused(
            f"**This {what} is too large for this server.** It would hold about {cells / 1e6:,.0f} million numbers at "
            f"once; at most {most / 1e6:,.4g} million are allowed. {less}"
        )
    return cells <= most
