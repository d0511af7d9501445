"""The Compare page without a browser: same numbers as the library, choices, long methods, Stop."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

import imrc
from imrc.evaluation.comparison import UNTUNED, comparison_table, score_table
from imrc.report.sentences import comparison_summary, comparison_view
from pages.against_others import comparison
from pages.shell import comparing
from tests.app.conftest import texts

METHODS = ("gem", "condor", "majority")
IMRC = {"IMRC (recommended)", "IMRC (paper, features blended)"}


@pytest.fixture
def compare(app) -> Callable[..., AppTest]:
    """Return a function that opens the page with few methods on a small sequence."""

    def open_page(**query: str) -> AppTest:
        test = app(**{"dataset": "random_walk", "k": "5", "n": "8", "repetitions": "5"} | query)
        test.session_state["compare_methods"] = list(METHODS)
        return test.switch_page("pages/against_others/page.py").run()

    return open_page


def expected(kind="average", reference=None):
    settings = {"n": 8, "repetitions": 5, "preset": "paper", "features": "blended"}
    result = imrc.evaluate(imrc.datasets.load("random_walk", tasks=5), methods=("imrc", *METHODS), **settings)
    return comparison_table(score_table(result), kind=kind, reference=reference)


def shown(test):
    """The table on the page, without times, which differ from run to run."""
    return test.dataframe[0].value.drop(columns="ms per task").reset_index(drop=True)


def view(table):
    return comparison_view(table).drop(columns="ms per task").reset_index(drop=True)


def test_same_numbers_as_the_library(compare, monkeypatch):
    monkeypatch.setattr(comparing, "PRESETS", ("paper",))
    test = compare()
    assert not test.exception
    table = expected()
    assert shown(test).equals(view(table))
    assert comparison_summary(table, "Random walk").split("**")[1] in texts(test)
    assert UNTUNED in texts(test)
    assert "Holm" in texts(test)
    for kind in ("newest", "own"):
        test.radio(key="compare_kind").set_value(kind)
        test.selectbox(key="compare_reference").set_value("condor").run()
        assert not test.exception
        assert shown(test).equals(view(expected(kind=kind, reference="condor")))


def test_methods_can_be_added_and_removed(compare):
    test = compare()
    test.multiselect(key="compare_methods").set_value(["ella:python"]).run()
    assert not test.exception
    titles = set(shown(test)["Method"])
    assert "ELLA (python)" in titles
    assert "GEM" not in titles
    assert titles >= IMRC
    test.multiselect(key="compare_methods").set_value([]).run()
    assert not test.exception
    assert all(title.startswith("IMRC") for title in shown(test)["Method"])


def test_long_methods_stop_after_their_first_task_and_wait_for_a_click(compare, monkeypatch):
    monkeypatch.setattr(comparison, "LONG_S", -1.0)  # everything counts as long
    run, steps = comparison.iter_run, []

    def counted(sequence, settings, **options):
        for step in run(sequence, settings, **options):
            steps.append((settings.methods[0], step.number))
            yield step

    monkeypatch.setattr(comparison, "iter_run", counted)
    test = compare()
    assert not test.exception
    assert [number for name, number in steps if name == "gem"] == [1]
    # IMRC is always there, however long it takes.
    assert set(shown(test)["Method"]) >= IMRC
    assert [button.label.split(" (about ")[0] for button in test.button if "compare_long" in (button.key or "")] == [
        "Run GEM",
        "Run Condor",
        "Run Always the most frequent class",
    ]
    assert "GEM" not in set(shown(test)["Method"])
    assert "not run" not in texts(test)  # nobody pressed Stop
    steps.clear()
    test.run()
    assert steps == []  # what is known to be long is not started again
    test.button(key="compare_long_gem").click().run()
    assert not test.exception
    assert steps == [("gem", number) for number in range(1, 6)]
    assert "GEM" in set(shown(test)["Method"])
    # With other settings nothing is known yet.
    test.number_input(key="n").set_value(7)
    steps.clear()
    test.run()
    assert not test.exception
    assert [number for name, number in steps if name == "gem"] == [1]


def test_curves_against_n_and_k(compare):
    test = compare()
    before = len(test.get("plotly_chart"))
    test.toggle(key="compare_sizes").set_value(True).run()
    assert not test.exception
    assert len(test.get("plotly_chart")) == before + 1


def test_stop_keeps_what_is_there_and_goes_on_when_asked(compare, monkeypatch):
    test = compare()
    test.multiselect(key="compare_methods").set_value(["gem"]).run()
    # As if Stop had been pressed while ELLA was running.
    sequence = imrc.datasets.load("random_walk", tasks=5, seed=0)
    settings = test.session_state["visit"].choice.settings
    names = ("gem", "ella")
    test.session_state["visit"].compare_stopped = (sequence.fingerprint, settings, names)
    test.multiselect(key="compare_methods").set_value(list(names)).run()
    assert not test.exception
    assert "Stopped: ELLA not run." in texts(test)
    assert "ELLA" not in set(shown(test)["Method"])
    test.button(key="compare_rest").click().run()
    assert not test.exception
    assert "Stopped" not in texts(test)
    assert "ELLA" in set(shown(test)["Method"])
