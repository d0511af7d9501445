"""The page Against others without a browser: shipped results at once, the library's numbers when measured, Stop."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

import imrc
from imrc.baselines import registry
from imrc.evaluation.comparison import UNTUNED, comparison_table, score_table
from imrc.paper import shipped
from imrc.report.against_others import comparison_summary, comparison_view
from imrc.wording import decimal
from pages.shell import running, state
from tests.app.conftest import texts

METHODS = ("gem", "condor", "majority")
IMRC = {"IMRC (recommended)", "IMRC (paper, features blended)"}
PAGE = "pages/against_others/page.py"


@pytest.fixture
def compare(app) -> Callable[..., AppTest]:
    """Return a function that opens the page, measuring few methods on a small sequence."""

    def open_page(**query: str) -> AppTest:
        test = app(
            **{"dataset": "random_walk", "k": "5", "n": "8", "repetitions": "5", "compare_measure": "true"} | query
        )
        test.session_state["compare_methods"] = list(METHODS)
        return test.switch_page(PAGE).run()

    return open_page


def shown(test):
    """The table on the page, without times, which differ from run to run."""
    return test.dataframe[0].value.drop(columns="ms per task").reset_index(drop=True)


def test_built_in_data_have_shipped_results_at_once(app, monkeypatch):
    test = app(dataset="identical", k="4", n="12", repetitions="1")
    monkeypatch.setattr(running, "iter_run", lambda *_, **__: pytest.fail("computed on the page"))
    test = test.switch_page(PAGE).run()
    scores = shipped.comparison("identical")
    sizes = sorted(set(scores["n"]))
    for n in (10, sizes[-1]):  # the one nearest to n, and the largest
        test = test.radio(key="compare_n").set_value(n).run() if n != 10 else test
        table = comparison_table(scores[scores["n"] == n])
        assert comparison_summary(table, "Identical tasks").split("**")[1] in texts(test)
        best, view = table.iloc[0], test.dataframe[0].value.set_index("Method")
        assert view.loc[best["title"], f"n = {n}"] == f"{decimal(best['error'])} ✓"
        assert view.loc[best["title"], f"n = {sizes[0]}"].startswith(".")
    test.selectbox(key="compare_about").set_value("forest").run()
    assert registry["forest"].idea in texts(test)
    assert UNTUNED in texts(test)


def test_what_is_measured_has_the_numbers_of_the_library(compare, monkeypatch):
    monkeypatch.setattr(running, "COMPARED_PRESETS", ("paper",))
    test = compare(compare_experts="true")
    settings = {"n": 8, "repetitions": 5, "preset": "paper", "features": "blended"}
    result = imrc.evaluate(imrc.datasets.load("random_walk", tasks=5), methods=("imrc", *METHODS), **settings)
    for kind, reference in (("average", None), ("newest", "condor")):
        test.selectbox(key="compare_kind").set_value(kind).run()
        if reference:
            test.selectbox(key="compare_reference").set_value(reference).run()
        table = comparison_table(score_table(result), kind=kind, reference=reference)
        expected = comparison_view(table, kind).drop(columns="ms per task").reset_index(drop=True)
        assert shown(test).equals(expected)
        assert comparison_summary(table, "Random walk").split("**")[1] in texts(test)
    assert "Holm" in texts(test)
    assert len(test.get("plotly_chart")) == 3  # errors, differences, curves
    test.multiselect(key="compare_methods").set_value(["ella:python"]).run()
    assert "ELLA (python)" in set(shown(test)["Method"])
    assert "GEM" not in set(shown(test)["Method"])
    test.number_input(key="b").set_value(
        1
    ).run()  # part of the run with more steps, of whose numbers kept nothing is known
    assert set(shown(test)["Numbers kept"].isna()) == {True, False}


def test_a_method_that_is_stopped_is_left_out(compare):
    test = compare(repetitions="2")
    test.multiselect(key="compare_methods").set_value(["gem"]).run()
    # As if Stop had been pressed while ELLA was running.
    sequence, visit = imrc.datasets.load("random_walk", tasks=5, seed=0), test.session_state["visit"]
    visit.stopped = state.key_of(sequence, visit.choice.settings, methods=("ella",))
    test.multiselect(key="compare_methods").set_value(["gem", "ella"]).run()
    assert "Stopped" in texts(test)
    assert set(shown(test)["Method"]) >= IMRC | {"GEM"}
    assert "ELLA" not in set(shown(test)["Method"])
