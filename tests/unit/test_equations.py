"""The table of imrc.core names the functions that run, and each equation stands in one place."""

import re
import sys

import pytest

import imrc
import imrc.core
from imrc.diagnostics import assess
from imrc.diagnostics.assessment import component_tracks
from imrc.plots import ess_curves

NAMED = sorted(
    set(re.findall(r"`((?:imrc\.solvers\.|theory\.)?[A-Za-z_]+(?:\.step)?)`", imrc.core.__doc__.split("Symbols")[0]))
)


def found(name):
    home = imrc if name.startswith("imrc.") else imrc.core
    value = home
    for part in name.removeprefix("imrc.").split("."):
        value = getattr(value, part)
    return value


@pytest.fixture(scope="module")
def called():
    """Code of every Python function that runs while tasks are learnt and the pages' tables are made."""
    codes = set()
    before = sys.getprofile()
    sequence = imrc.datasets.load("random_walk", tasks=5, samples=40)
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code) if event == "call" else None)
    try:
        for options in (
            {"preset": "paper", "max_iter": 3},
            {"preset": "paper", "max_iter": 3, "change": "printed"},
            {},
        ):
            model = imrc.IMRC(b=2, **options)
            for task in sequence:
                model.partial_fit(task.X, task.y, classes=sequence.classes)
        # What pages show beside a run: effective sample sizes, bounds, one component over the tasks.
        ess_curves([(3, 5)])
        component_tracks(assess(sequence), 1)
        imrc.core.theory.samples_for_bound(0.1, m=12, mu_norm=2.0)
    finally:
        sys.setprofile(before)
    return codes


@pytest.mark.parametrize("name", [name for name in NAMED if name != "imrc.solvers.solve"])
def test_each_named_function_is_on_the_call_path(called, name):
    assert found(name).__code__ in called


def test_the_table_names_what_is_exported():
    assert len(NAMED) >= 12
    inside = {name.split(".")[0] for name in NAMED if not name.startswith("imrc.")}
    assert inside == {*imrc.core.__all__, "theory"}
    assert callable(found("imrc.solvers.solve"))
