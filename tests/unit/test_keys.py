"""What is kept is found again only if nothing its numbers depend on has changed: each input is changed once."""

from copy import copy
from dataclasses import fields, replace

import numpy as np
import pytest

import imrc
from imrc.core.settings import IMRCSettings
from imrc.evaluation import RunSettings, iter_run
from imrc.features import FeatureSpec
from imrc.sweeps.cell import Cell, cell_key
from imrc.tasks import Task, TaskSequence

X = [[0.0, 1.0], [1.0, 2.0], [0.0, 2.0]]
BASE = TaskSequence(
    [Task(X, [0, 1, 1], "a"), Task(X, [1, 1, 0], "b"), Task(X, [0, 0, 1], "c")],
    classes=[0, 1],
    column_kinds=("binary", "numeric"),
)


def with_first(**changes) -> TaskSequence:
    return replace(BASE, tasks=(replace(BASE[0], **changes), *BASE.tasks[1:]))


# Field of a sequence or of a task -> the same sequence with that field changed once.
SEQUENCE = {
    "X": with_first(X=[[0.0, 1.0], [1.0, 2.0], [0.0, 2.0 + 1e-15]]),
    "y": with_first(y=[1, 1, 0]),
    "label": with_first(label="a, b"),
    "allow_missing": with_first(allow_missing=True),
    "tasks": BASE.head(2),
    "classes": replace(BASE, classes=[0, 1, 2]),
    "column_kinds": replace(BASE, column_kinds=("binary", "pixel")),
    "max_categories": replace(BASE, max_categories=3),
    "max_missing": replace(BASE, max_missing=0.5),
}
MORE = {
    "order of tasks": replace(BASE, tasks=BASE.tasks[::-1]),
    "words as labels": replace(
        BASE, tasks=tuple(replace(task, y=task.y.astype(str)) for task in BASE), classes=["0", "1"]
    ),
    "undeclared": replace(BASE, column_kinds=()),
}
# What results do not depend on; only people read it.
SHOWN = {
    "name": replace(BASE, name="other"),
    "description": replace(BASE, description="other"),
    "feature_names": replace(BASE, feature_names=("u", "v")),
    "info": replace(BASE, info={"class_names": ("no", "yes")}),
    "truth": replace(BASE, truth={"bayes_error": np.zeros(3)}),
    "categories": replace(BASE, categories={0: ("red", "blue")}),
}


def test_every_field_of_a_sequence_is_decided():
    names = {field.name for cls in (Task, TaskSequence) for field in fields(cls)}
    assert names == SEQUENCE.keys() | SHOWN.keys()


@pytest.mark.parametrize("name", [*SEQUENCE, *MORE])
def test_whatever_results_depend_on_changes_the_fingerprint(name):
    changed = {**SEQUENCE, **MORE}[name]
    assert changed.fingerprint != BASE.fingerprint
    assert replace(changed, name="again").fingerprint == changed.fingerprint


def test_the_changes_have_fingerprints_of_their_own():
    # A task less allowed to be missing or named alike must not be taken for another.
    assert len({sequence.fingerprint for sequence in (BASE, *SEQUENCE.values(), *MORE.values())}) == 13


@pytest.mark.parametrize("name", SHOWN)
def test_what_only_people_read_is_not_part_of_the_fingerprint_and_changes_no_number(name):
    assert SHOWN[name].fingerprint == BASE.fingerprint
    chosen = RunSettings(n=1, repetitions=1, features="automatic")
    one, other = (list(iter_run(sequence, chosen)) for sequence in (BASE, SHOWN[name]))
    assert [step.risks for step in one] == [step.risks for step in other]


SETTINGS = {
    "n": 11, "k": 3, "b": 4, "W": 3, "preset": "recommended", "features": FeatureSpec("rff"), "seed": 1,
    "methods": ("mer",), "overrides": (("lambda0", 0.5),), "scenario": "multi_task",
}  # fmt: skip
FEATURES = {"kind": "rff_median", "frequencies": 100, "sigma2": 10.0000001}


def test_every_setting_is_decided():
    assert {field.name for field in fields(RunSettings)} == {*SETTINGS, "repetitions"}
    assert {field.name for field in fields(FeatureSpec)} == FEATURES.keys()


@pytest.mark.parametrize("name", [*SETTINGS, *FEATURES])
def test_every_setting_of_a_run_and_number_of_a_representation_changes_the_key_of_a_cell(name):
    base = RunSettings(preset="paper", features=FeatureSpec("rff", frequencies=50))
    if name in FEATURES:
        other = replace(base, features=replace(base.features, **{name: FEATURES[name]}))
    else:
        other = replace(base, **{name: SETTINGS[name]})
        assert base.key() != base.key(**{name: SETTINGS[name]}) == other.key()  # by which pages keep results
    assert cell_key("f", other, 0) != cell_key("f", base, 0)


# The name of a preset stands for its values; test_store.py has what W counts for.
@pytest.mark.parametrize("name", [field.name for field in fields(IMRCSettings) if field.name not in ("preset", "W")])
def test_every_value_of_the_learner_changes_the_key_of_a_cell(name, monkeypatch):
    base = RunSettings()
    before, changed = cell_key("f", base, 0), copy(base.learner)
    object.__setattr__(changed, name, "changed")  # past its checks: some values go together only
    monkeypatch.setattr(RunSettings, "learner", property(lambda self: changed))
    assert cell_key("f", base, 0) != before


@pytest.mark.parametrize("change", [("fingerprint", "g"), ("repetition", 1), ("code", "other")])
def test_data_repetition_and_code_change_the_key_of_a_cell(change):
    cell = Cell("identical", 3, "f", RunSettings(), 0, "code")
    assert replace(cell, **dict([change])).key != cell.key


def test_kinds_of_columns_decide_results_and_are_told_apart():
    """The default representation depends on them: two sequences of the same values are not the same data."""
    sequence = imrc.datasets.load("random_walk", tasks=3, samples=60)
    as_pixels = replace(sequence, column_kinds=("pixel",) * sequence.n_features)
    one, other = (imrc.evaluate(s, n=10, repetitions=2) for s in (sequence, as_pixels))
    assert one.headline()["single"] != other.headline()["single"]
    assert one.fingerprint != other.fingerprint
