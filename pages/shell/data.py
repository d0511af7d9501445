"""Sequences for the pages: loaded once, shared by all visitors. Those of one visitor alone are in `state`."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import streamlit as st

import imrc
from imrc import datasets
from imrc.core.settings import SETTINGS
from imrc.diagnostics import Assessment
from imrc.evaluation import RunResult
from pages.shell.choice import OWN, Choice
from pages.shell.keeping import Store, shared

_LARGE = 10_000_000
"""Numbers (80 MB) above which a sequence counts as large: one of those is kept."""
_LARGE_S = 600.0
"""Seconds after which that one is loaded again, so that it does not stay for ever."""

_LOOKED_S = 5.0
"""Seconds for which it is not asked again which files are on this computer."""

T = TypeVar("T", RunResult, Assessment)

_sequences: Callable[[], Store[tuple[str, int, int], imrc.TaskSequence]] = shared("sequences")


def _load(name: str, tasks: int, seed: int) -> imrc.TaskSequence:
    # Arrays of a sequence are read-only, so one copy can serve everyone.
    return _sequences().get_or_make((name, tasks, seed), lambda: datasets.load(name, tasks=tasks, seed=seed))


@st.cache_resource(show_spinner="Loading the dataset …", max_entries=1, ttl=_LARGE_S)
def _load_large(name: str, tasks: int, seed: int) -> imrc.TaskSequence:
    return datasets.load(name, tasks=tasks, seed=seed)


@st.cache_resource(show_spinner=False)
def looked() -> dict[tuple[str, ...], tuple[float, set[str]]]:
    """Return when the folders of data were looked at last, and which datasets were there."""
    return {}


def here() -> set[str]:
    """Return the datasets whose files are on this computer, as seen some seconds ago."""
    folders = tuple(os.environ.get(name, "") for name in ("IMRC_DATA", "IMRC_CACHE"))
    when, found = looked().get(folders, (-math.inf, set()))
    if time.monotonic() - when >= _LOOKED_S:
        found = {name for name in datasets.names() if datasets.status(name).loadable}
        looked()[folders] = time.monotonic(), found
    return found


def is_large(name: str) -> bool:
    """Return whether a dataset takes long to load."""
    if name not in datasets.catalogue():
        return False
    facts = datasets.facts(name)
    return facts.samples * facts.features > _LARGE


def title_of(name: str) -> str:
    """Name of a dataset for people; of a visitor's own table the name of the file."""
    if name != OWN:
        return datasets.entry(name).title
    mine = st.session_state.get("visit")
    return mine.own_sequence.name if mine is not None and mine.own_sequence is not None else "Your file"


def labels_of(name: str) -> int:
    """Return the training samples a task that a dataset opens with."""
    return int(SETTINGS["n"].default if name == OWN else datasets.entry(name).labels)


def sequence_for(choice: Choice) -> imrc.TaskSequence:
    """Return the tasks of a choice of a dataset all visitors share; k is lowered to what there is."""
    entry = datasets.entry(choice.dataset)
    load = _load_large if is_large(choice.dataset) else _load
    return load(choice.dataset, min(choice.k, entry.max_tasks), choice.settings.seed if entry.seeded else 0)


def named(result: T, sequence: imrc.TaskSequence) -> T:
    """Return a kept result under the name of this visitor's sequence.

    Results are kept by what their numbers depend on, which the name is not: it may be that of another visitor's file
    with the same content.
    """
    return result if result.name == sequence.name else replace(result, name=sequence.name)
