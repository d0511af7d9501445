"""Results kept by ``imrc sweep``: read instead of computed, and chosen from a list."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import streamlit as st

import imrc
from imrc.evaluation import RunResult, RunSettings
from imrc.features import FEATURE_TITLES
from imrc.sweeps import ResultStore, StoreError, default_store_path
from imrc.sweeps.store import StoredRun
from pages.shell import data, state
from pages.shell.choice import Choice
from pages.shell.words import plain

_BROKEN = (StoreError, OSError, RuntimeError)
_LISTED = 1000
"""Runs in the list, newest first; more than that nobody scrolls through."""


@contextlib.contextmanager
def _opened() -> Iterator[ResultStore | None]:
    """Open the results store, None if nothing is there."""
    path = default_store_path()
    if not path.is_file():
        yield None
        return
    with ResultStore(path) as store:
        yield store


def lookup(sequence: imrc.TaskSequence, settings: RunSettings) -> RunResult | None:
    """Return a run from the results store; None without a store, if it is not there, or if the store is broken."""
    if len(settings.methods) != 1:
        return None
    with contextlib.suppress(*_BROKEN), _opened() as store:  # said once, where the list would be
        return None if store is None else store.result(sequence.fingerprint, settings)
    return None


def _choice(run: StoredRun) -> Choice:
    return Choice(run.dataset, run.tasks, run.settings)


def _title(run: StoredRun) -> str:
    settings, many = run.settings, run.settings.repetitions
    return (
        f"{data.title_of(run.dataset)}: {_choice(run).in_words()} · {FEATURE_TITLES[settings.features.kind]} · seed "
        f"{settings.seed}, {many} repetition{'s' * (many > 1)}"
    )


def _chosen(runs: Mapping[str, StoredRun]) -> None:
    run = runs.get(st.session_state.get("stored_run") or "")
    st.session_state["stored_run"] = None
    if run is None:
        return
    state.use_values(_choice(run).values())
    visit = state.visit()
    if visit.sequence().fingerprint != run.fingerprint:
        visit.notes.append(
            "The data of this stored result are not those on this computer now, so it was computed anew."
        )


def picker() -> None:
    """Let a visitor choose a run of the results store, where there is one; its result shows at once."""
    try:
        with _opened() as store:
            if store is None:
                return
            found = store.runs()
    except _BROKEN as error:
        st.warning(f"Stored results cannot be listed. {plain(str(error))}", icon=":material/database_off:")
        return
    known = state.visit().known_datasets()
    runs: dict[str, StoredRun] = {}
    for run in found:
        if run.dataset in known and set(dict(run.settings.overrides)) <= {"loss"} and len(runs) < _LISTED:
            runs.setdefault(_title(run), run)
    if runs:
        st.selectbox(
            "Stored results",
            list(runs),
            index=None,
            placeholder=f"Choose one of {len(runs):,} runs kept by imrc sweep",
            key="stored_run",
            on_change=_chosen,
            args=(runs,),
            help=f"Runs in {default_store_path()}, newest first. A run sets the dataset and all settings and shows at "
            "once, without computing. Only results of this version of the code are listed.",
        )
