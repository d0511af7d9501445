"""Diagnoses and bounds for the pages: computed once per sequence and representation, shared by all visitors."""

from __future__ import annotations

import streamlit as st

import imrc
from imrc.diagnostics import Assessment, assess
from imrc.diagnostics.guarantees import PlugIn, plug_in
from imrc.features import FeatureSpec
from imrc.features._spec import TITLES
from pages.ui import data
from pages.ui.choice import Choice


@st.cache_resource(max_entries=32, show_spinner="Diagnosing the sequence …")
def _assessment(fingerprint: str, spec: FeatureSpec, seed: int, _sequence: imrc.TaskSequence) -> Assessment:
    # Frozen result, read only: one copy serves everyone. The sequence is identified by its fingerprint.
    return assess(_sequence, features=spec, representation=TITLES[spec.kind].lower(), seed=seed)


@st.cache_resource(max_entries=32, show_spinner="Solving the tasks with all samples …")
def _plug_in(fingerprint: str, spec: FeatureSpec, seed: int, _sequence: imrc.TaskSequence) -> PlugIn:
    return plug_in(_sequence, spec, seed=seed)


def assessment(choice: Choice) -> Assessment:
    """Return the diagnosis of the chosen sequence in the chosen representation, from all samples."""
    sequence = data.sequence_for(choice)
    return _assessment(sequence.fingerprint, choice.settings.features, choice.settings.seed, sequence)


def stand_ins(choice: Choice) -> PlugIn:
    """Return plug-in values for the bounds of the chosen sequence."""
    sequence = data.sequence_for(choice)
    return _plug_in(sequence.fingerprint, choice.settings.features, choice.settings.seed, sequence)


def reference(kind: str, choice: Choice) -> Assessment:
    """Return the diagnosis of a synthetic sequence with as many tasks, to compare pictures with."""
    tasks = min(max(len(data.sequence_for(choice)), 4), 60)
    sequence = data.sequence_for(Choice(dataset=kind, k=tasks))
    return _assessment(sequence.fingerprint, FeatureSpec(), 0, sequence)
