"""Scenarios on the pages: every view in each, one run for three of them, the link."""

import pytest

import imrc
from imrc.evaluation import HEADLINES, SCENARIOS
from imrc.evaluation.significance import with_error
from pages.result.details import VIEWS
from pages.shell import running
from tests.app.conftest import link, texts

SMALL = {"dataset": "random_walk", "k": "6", "n": "5", "repetitions": "3"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_view_follows_the_scenario(app, name):
    test = app(**SMALL, **({} if name == "continual" else {"scenario": name}))
    assert not test.exception
    assert HEADLINES[SCENARIOS[name].kind] in texts(test)
    expected = imrc.evaluate(imrc.datasets.load("random_walk", tasks=6), n=5, repetitions=3, scenario=name)
    main = SCENARIOS[name].main
    assert with_error(expected.headline()[main]) in texts(test)
    assert link(test).get("scenario", "continual") == name
    for view in VIEWS:
        test.radio(key="view").set_value(view).run()
        assert not test.exception, view
    test.radio(key="view").set_value("tasks").run()
    for quantity in ("error", "difference", "risk"):
        test.radio(key="quantity").set_value(quantity).run()
        assert not test.exception, quantity
    for page in ("why_it_helps", "against_others", "evolving"):
        if page == "against_others":
            test.session_state["compare_methods"] = ["majority"]
        test = test.switch_page(f"pages/{page}/page.py").run()
        assert not test.exception, page
        if page == "against_others":  # it starts with the errors of the scenario, so that pages show the same numbers
            kind = {"multi_task": "average"}.get(name, SCENARIOS[name].kind)
            assert test.radio(key="compare_kind").value == kind
            if name != "multi_task":
                assert with_error(expected.headline()[main]) in texts(test)
            if kind == "before":
                assert "imrc:recommended:forward" not in test.selectbox(key="compare_reference").options


def test_three_scenarios_share_one_run(app, monkeypatch):
    test = app(**SMALL)
    computed = []
    compute = running._compute
    monkeypatch.setattr(running, "_compute", lambda *values: computed.append(values[2]) or compute(*values))
    for name in ("next_task", "adaptation", "continual"):
        test.button(key=f"scenario_{name}").click().run()
        assert not test.exception
        assert test.button(key=f"scenario_{name}").disabled
    assert computed == []
    test.button(key="scenario_multi_task").click().run()
    assert [settings.scenario for settings in computed] == ["multi_task"]
    assert link(test)["scenario"] == "multi_task"
