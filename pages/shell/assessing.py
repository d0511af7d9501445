"""Diagnoses and bounds for the pages: computed once per sequence and representation, shared by all visitors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

import imrc
from imrc.diagnostics import Assessment, Changed, assess, what_changed
from imrc.evaluation.limits import diagnosis_cells
from imrc.features import FEATURE_TITLES, FeatureSpec, make, output_names
from imrc.report.guarantees import PlugIn, plug_in
from pages.shell import keeping, state
from pages.shell.choice import Choice
from pages.shell.keeping import Store

Key = tuple[str, FeatureSpec, int]

_assessments = Store[Key, Assessment]("diagnoses")
_plug_ins = Store[Key, PlugIn]("plug ins")
_changes = Store[tuple[Hashable, ...], Changed]("changes")


def _assess(sequence: imrc.TaskSequence, spec: FeatureSpec, seed: int) -> Assessment:
    key = sequence.fingerprint, spec, seed
    if _assessments.get(key) is None:
        less = "To make it smaller, use fewer tasks k or fewer frequencies."
        if not keeping.fits("diagnosis", diagnosis_cells(sequence, spec, seed), less):
            st.stop()
    # Frozen result, read only: one copy serves everyone.
    with st.spinner("Diagnosing the sequence …"):
        kept = _assessments.get_or_make(
            key, lambda: assess(sequence, features=spec, representation=FEATURE_TITLES[spec.kind].lower(), seed=seed)
        )
    return state.named(kept, sequence)


def assessment(choice: Choice) -> Assessment:
    """Return the diagnosis of the chosen sequence from all samples."""
    sequence = state.visit().sequence_for(choice)
    return _assess(sequence, choice.settings.features.diagnosed, choice.settings.seed)


def feature_names(choice: Choice) -> tuple[str, ...]:
    """Return names of the features that are diagnosed, as far as they have some."""
    sequence, settings = state.visit().sequence_for(choice), choice.settings
    return output_names(make(settings.features.diagnosed, sequence, settings.seed), sequence)


def in_columns(choice: Choice) -> tuple[Assessment, tuple[str, ...]]:
    """Return a diagnosis whose components have names, and these; without names where the columns have none.

    Random features of columns mean nothing to anybody: then the columns themselves, standardised, are diagnosed.
    """
    names = feature_names(choice)
    sequence = state.visit().sequence_for(choice)
    if names or not sequence.feature_names:
        return assessment(choice), names
    plain = replace(choice, settings=replace(choice.settings, features=FeatureSpec(kind="standardised")))
    return assessment(plain), feature_names(plain)


def changed(choice: Choice) -> Changed:
    """Return what changed between the tasks of the chosen sequence, column by column."""
    sequence, seed = state.visit().sequence_for(choice), choice.settings.seed
    # Names are part of what is shown and not of the fingerprint: another visitor's file may have others.
    names = (sequence.feature_names, sequence.class_names, tuple(sequence.categories.items()))
    with st.spinner("Comparing all columns …"):
        return _changes.get_or_make((sequence.fingerprint, seed, names), lambda: what_changed(sequence, seed=seed))


def stand_ins(choice: Choice, spec: FeatureSpec) -> PlugIn:
    """Return plug-in values for the bounds of the chosen sequence in a representation."""
    sequence, seed = state.visit().sequence_for(choice), choice.settings.seed
    with st.spinner("Solving the tasks with all samples …"):
        return _plug_ins.get_or_make((sequence.fingerprint, spec, seed), lambda: plug_in(sequence, spec, seed=seed))


def reference(kind: str, choice: Choice) -> Assessment:
    """Return the diagnosis of a synthetic sequence with as many tasks, to compare pictures with."""
    tasks = min(max(len(state.visit().sequence_for(choice)), 4), 60)
    sequence = state.sequence_for(Choice(dataset=kind, k=tasks))
    return _assess(sequence, FeatureSpec(), 0)
