"""Results kept by ``imrc sweep``: read instead of computed, and chosen from a list."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

import imrc
from imrc.evaluation import SCENARIOS, RunResult, RunSettings
from imrc.features import FEATURE_TITLES
from imrc.sweeps import ResultStore, StoreError, default_store_path
from imrc.sweeps.store import StoredRun
from pages.shell import data, state
from pages.shell.choice import Choice, loss_in_words
from pages.shell.words import plain

_BROKEN = (StoreError, OSError, RuntimeError)
_LISTED = 1000
"""Runs in the list, newest first; more than that nobody scrolls through."""


def _path() -> Path | None:
    """Return where results are kept, None if nothing is there."""
    path = default_store_path()
    return path if path.is_file() else None


def lookup(sequence: imrc.TaskSequence, settings: RunSettings) -> RunResult | None:
    """Return a run from the results store; None without a store, if it is not there, or if the store is broken."""
    if len(settings.methods) != 1:
        return None
    try:
        path = _path()
        if path is None:
            return None
        with ResultStore(path, read_only=True) as store:
            return store.result(sequence.fingerprint, settings)
    except _BROKEN:  # said once, where the list would be
        return None


def _title(run: StoredRun) -> str:
    s = run.settings
    window = "" if s.learner.W == "all" else f", W = {s.learner.W}"
    window += "" if s.scenario == "continual" else f" · {SCENARIOS[s.scenario].title.lower()}"
    many = f"{s.repetitions} repetition{'s' * (s.repetitions > 1)}"
    return (
        f"{data.title_of(run.dataset)}: n = {s.n}, k = {run.tasks}, b = {s.b}{window} · "
        f"{s.preset}{loss_in_words(s)} · {FEATURE_TITLES[s.features.kind]} · seed {s.seed}, {many}"
    )


def _chosen(runs: Mapping[str, StoredRun]) -> None:
    run = runs.get(st.session_state.get("stored_run") or "")
    st.session_state["stored_run"] = None
    if run is None:
        return
    state.use_values(Choice(run.dataset, run.tasks, run.settings.preset, run.settings).values())
    visit = state.visit()
    if visit.sequence().fingerprint != run.fingerprint:
        visit.notes.append(
            "The data of this stored result are not those on this computer now, so it was computed anew."
        )


def picker() -> None:
    """Let a visitor choose a run of the results store, where there is one; its result shows at once."""
    try:
        path = _path()
        if path is None:
            return
        with ResultStore(path, read_only=True) as store:
            found, damaged = store.runs(), store.damaged
    except _BROKEN as error:
        st.warning(f"Stored results cannot be listed. {plain(str(error))}", icon=":material/database_off:")
        return
    if damaged:
        st.warning(
            "1 stored run cannot be read and is left out."
            if damaged == 1
            else f"{damaged:,} stored runs cannot be read and are left out.",
            icon=":material/database_off:",
        )
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
            help=f"Runs in {path}, newest first. A run sets the dataset and all settings and shows at once, without "
            "computing. Only results of this version of the code are listed.",
        )
