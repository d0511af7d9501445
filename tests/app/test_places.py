"""Runs that are too large or too slow are refused; runs of many visitors wait for each other."""

import pytest

from imrc.solvers import cores
from pages.shell import keeping, running
from tests.app.conftest import texts

LARGEST = {
    "dataset": "random_walk", "k": "2000", "n": "1", "b": "1999", "repetitions": "200", "features": "rff",
    "frequencies": "1000",
}  # fmt: skip
SMALL = {"dataset": "identical", "k": "4", "n": "5", "b": "1", "repetitions": "2"}


def test_a_link_to_a_run_that_is_far_too_large_runs_nothing(app, monkeypatch):
    monkeypatch.setattr(running, "iter_run", lambda *_, **__: pytest.fail("a run was started"))
    test = app(**LARGEST)
    (message,) = [error.value for error in test.error]
    assert "too large for this server" in message
    assert "at most 250 million" in message
    assert "fewer repetitions, tasks k" in message


def test_a_diagnosis_that_is_far_too_large_is_not_begun(app, monkeypatch):
    monkeypatch.setenv(keeping.LIMIT, "0.0028,2")
    monkeypatch.setattr(running, "assess", lambda *_, **__: pytest.fail("a diagnosis was begun"))
    test = app(**SMALL).switch_page("pages/evolving/page.py").run()
    assert "This diagnosis is too large for this server" in texts(test)


def test_a_run_that_is_too_slow_ends_early(app, monkeypatch):
    monkeypatch.setenv(keeping.LIMIT, "1,0.00001")
    monkeypatch.setattr(keeping, "_PACE_S", 0.0)
    test = app(**SMALL)
    assert len([error for error in test.error if "would take too long for this server" in error.value]) == 1
    # Its place is free again: with a higher limit it runs.
    monkeypatch.delenv(keeping.LIMIT)
    test.run()
    assert not test.error


def test_a_failure_gives_the_place_back(app, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(running, "iter_run", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("no")))
        for _ in range(3):
            with pytest.raises(AssertionError, match="encountered an error"):
                app(**SMALL)
    app(**SMALL)


def test_who_leaves_at_the_moment_a_place_is_free_gives_it_back(nothing_kept):
    class Left(BaseException):
        """What the server raises in a script whose visitor has gone, wherever that draws something."""

    class Slot:
        def empty(self):
            raise Left

    for _ in range(cores() + 1):  # with a place lost each time the last would wait for ever
        with pytest.raises(Left), keeping.turn(Slot()):
            pytest.fail("nothing was to run")
