"""What the pages keep for all visitors: each input changed once, and nobody is shown what belongs to another."""

from dataclasses import fields, replace

import numpy as np
import pytest
import streamlit as st

import imrc
from imrc import datasets
from imrc.evaluation import RunResult, RunSettings, iter_run
from imrc.evaluation.columns import LagTable
from imrc.features import FeatureSpec
from imrc.plots._drawing import Chart
from pages.evolving.views import feature_names
from pages.shell import charts, running, state
from pages.shell.choice import Choice
from pages.your_data import own_file

SPEC = FeatureSpec("identity")


def no_curves(_result):
    return Chart("None", height=80).figure()


@pytest.fixture(autouse=True)
def _empty_stores():
    st.cache_resource.clear()
    st.cache_data.clear()
    st.session_state.clear()
    st.session_state["visit"] = state.Visit()


@pytest.fixture(scope="module")
def sequence():
    return datasets.load("identical", tasks=4, samples=40)


@pytest.fixture(scope="module")
def result(sequence):
    settings = RunSettings(n=4, repetitions=2, features=SPEC)
    return RunResult.from_steps(settings, sequence, list(iter_run(sequence, settings)))


@pytest.mark.parametrize("name", [field.name for field in fields(RunResult)])
def test_everything_a_result_holds_is_part_of_what_its_charts_are_kept_by(name, result):
    value = getattr(result, name)
    if isinstance(value, str | tuple):
        other = value + type(value)("x")
    elif isinstance(value, dict):
        other = {**value, "more": np.zeros(2)}
    elif isinstance(value, np.ndarray):
        other = value + 1
    elif value is None:  # of sequences without a rare class
        other = LagTable(np.ones((2, 4, 1)))
    else:
        other = replace(value, **({"seed": 5} if isinstance(value, RunSettings) else {"values": value.values + 1e-12}))
    made_from = (result, replace(result, **{name: other}), result)
    first, second, again = (charts.drawing(no_curves, (kept,), {}, narrow=False, dark=False) for kept in made_from)
    assert first is again is not second


def test_a_label_by_position_is_not_one_by_name():
    text = b"2,1,y\n" + b"1,0,0\n3,1,1\n2,0,1\n4,1,0\n" * 3
    opened = datasets.open_table(text)
    assert own_file.cut(opened, {"label": "1", "block": 4}) is not own_file.cut(opened, {"label": 1, "block": 4})


def test_the_same_content_under_another_name_keeps_that_name(sequence, result):
    """Results are kept by content; the name of one visitor's file must not appear on another's page."""
    mine = replace(sequence, name="mine")
    assert mine.fingerprint == sequence.fingerprint
    assert state.named(result, sequence) is result
    assert state.named(result, mine).name == "mine"
    first = running.diagnosed(sequence, SPEC, 0)
    assert (first.name, running.diagnosed(mine, SPEC, 0).name) == ("identical", "mine")
    assert running.kept_runs.put(state.key_of(sequence, result.settings), result) is result
    settings = replace(result.settings, methods=("majority",))
    running.kept_runs.put(state.key_of(sequence, settings), replace(result, settings=settings))
    assert {found.name for found in running.comparison_kept(mine, result.settings)} == {"mine"}


def test_a_component_has_the_name_of_its_column_or_word():
    sequence = imrc.tasks_from(datasets.sample_csv(240), target="state", by="date", period="week")
    st.session_state["visit"].own_sequence = sequence
    for kind, count in (("identity", 7), ("standardised", 7), ("automatic", 0)):
        names = feature_names(Choice("your_file", 4, settings=RunSettings(features=FeatureSpec(kind))))
        assert len(names) == count
        assert not count or names[3:] == ("flow", "pump = A", "pump = B", "pump = C")
