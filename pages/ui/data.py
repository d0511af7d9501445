"""Sequences for the pages: loaded once, shared by all visitors; a visitor's own file stays in their session."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import streamlit as st

import imrc
from imrc import datasets
from imrc.diagnostics import Assessment
from imrc.evaluation import RunResult
from pages.ui.choice import OWN, Choice
from pages.ui.keeping import Store

_LARGE = 10_000_000
"""Numbers (80 MB) above which a sequence counts as large: one of those is kept."""
_KEEP_BYTES = 128_000_000

T = TypeVar("T", RunResult, Assessment)


@st.cache_resource(show_spinner=False)
def _sequences() -> Store[tuple[str, int, int], imrc.TaskSequence]:
    return Store(_KEEP_BYTES)


def _load(name: str, tasks: int, seed: int) -> imrc.TaskSequence:
    # Arrays of a sequence are read-only, so one copy can serve everyone.
    return _sequences().get_or_make((name, tasks, seed), lambda: datasets.load(name, tasks=tasks, seed=seed))


@st.cache_resource(max_entries=1, show_spinner="Loading the dataset …")
def _load_large(name: str, tasks: int, seed: int) -> imrc.TaskSequence:
    return datasets.load(name, tasks=tasks, seed=seed)


def _is_large(name: str) -> bool:
    if name not in datasets.catalogue():
        return False
    facts = datasets.facts(name)
    return facts.samples * facts.features > _LARGE


def listed_datasets() -> set[str]:
    """Names in the list, also of data sets that are not on this computer."""
    own = {OWN} if "own_sequence" in st.session_state else set()
    return set(datasets.names()) | own


def known_datasets() -> set[str]:
    """Names this visitor can run."""
    return {name for name in listed_datasets() if name == OWN or datasets.status(name).loadable}


def title_of(name: str) -> str:
    """Name of a dataset for people."""
    return "Your file" if name == OWN else datasets.entry(name).title


def _own_head(k: int) -> imrc.TaskSequence:
    own: imrc.TaskSequence = st.session_state["own_sequence"]
    whole, head = st.session_state.get("own_head", (None, own))
    # The same object again for every click: its fingerprint, a checksum of all values, is known then.
    if whole is not own or len(head) != min(k, len(own)):
        head = own.head(min(k, len(own)))
        st.session_state["own_head"] = own, head
    return head


def sequence_for(choice: Choice) -> imrc.TaskSequence:
    """Return the tasks of a choice; k is lowered to what there is."""
    if choice.dataset == OWN:
        return _own_head(choice.k)
    entry = datasets.entry(choice.dataset)
    load = _load_large if _is_large(choice.dataset) else _load
    return load(choice.dataset, min(choice.k, entry.max_tasks), choice.settings.seed if entry.seeded else 0)


def current_sequence() -> imrc.TaskSequence:
    """Return the tasks of the last Run."""
    return sequence_for(st.session_state["choice"])


def named(result: T, sequence: imrc.TaskSequence) -> T:
    """Return a kept result under the name of this visitor's sequence.

    Results are kept by what their numbers depend on, which the name is not: it may be that of another visitor's file
    with the same content.
    """
    return result if result.name == sequence.name else replace(result, name=sequence.name)
