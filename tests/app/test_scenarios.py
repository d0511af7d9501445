"""Scenarios on the pages: every view in each, one run for three of them, the link."""

import pytest

import imrc
from imrc.evaluation import HEADLINES, SCENARIOS
from imrc.evaluation.significance import with_error
from pages.result.views import EXPERTS, VIEWS
from pages.shell import running
from tests.app.conftest import link, texts

SMALL = {"dataset": "random_walk", "k": "5", "n": "5", "repetitions": "2"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_view_follows_the_scenario(app, name):
    test = app(**SMALL, **({} if name == "continual" else {"scenario": name}))
    assert any(HEADLINES[SCENARIOS[name].kind] in one.proto.help for one in test.caption)
    expected = imrc.evaluate(imrc.datasets.load("random_walk", tasks=5), n=5, repetitions=2, scenario=name)
    main = SCENARIOS[name].main
    assert with_error(expected.headline()[main]) in texts(test)
    assert link(test).get("scenario", "continual") == name
    for view in VIEWS:
        test.radio(key="view").set_value(view).run()
    test.session_state["experts"] = True
    test.run()
    for part in EXPERTS:
        test.radio(key="expert").set_value(part).run()
    for page in ("why_it_helps", "against_others", "evolving"):
        if page == "against_others":
            test.session_state["compare_measure"], test.session_state["compare_experts"] = True, True
            test.session_state["compare_methods"] = ["majority"]
        test = test.switch_page(f"pages/{page}/page.py").run()
        if page == "against_others":  # it starts with the errors of the scenario, so that pages show the same numbers
            kind = {"multi_task": "average"}.get(name, SCENARIOS[name].kind)
            assert test.selectbox(key="compare_kind").value == kind
            if name != "multi_task":
                assert with_error(expected.headline()[main]) in texts(test)
            if kind == "before":
                assert "imrc:recommended:forward" not in test.selectbox(key="compare_reference").options


def test_three_scenarios_share_one_run(app, monkeypatch):
    test = app(**SMALL)
    computed = []
    compute = running._compute
    monkeypatch.setattr(
        running, "_compute", lambda *values, **beside: computed.append(values[2]) or compute(*values, **beside)
    )
    for name in ("next_task", "adaptation", "continual"):
        test.radio(key="scenario_shown").set_value(name).run()
        assert link(test).get("scenario", "continual") == name
    assert computed == []
    test.radio(key="scenario_shown").set_value("multi_task").run()
    assert [settings.scenario for settings in computed] == ["multi_task"]
    assert link(test)["scenario"] == "multi_task"
