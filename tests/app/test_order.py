"""The order of the change on the pages: its control, the link, copies, the report, and what goes with no preset."""

import pytest

import imrc
from imrc import report
from imrc.core.orders import KNOWN_ORDERS, ORDERS
from imrc.evaluation.words import order_in_use, with_error
from pages.ui.choice import from_values
from tests.app.conftest import link, texts

SMALL = {"dataset": "trend", "k": "12", "n": "60", "repetitions": "2", "b": "1"}
EVOLVING = "pages/views/evolving.py"


def evaluated(order):
    return imrc.evaluate(imrc.datasets.load("trend", tasks=12), n=60, b=1, repetitions=2, order=order)


@pytest.mark.parametrize("order", ORDERS)
def test_the_control_runs_what_the_library_runs_and_the_link_has_it(app, order):
    test = app(**SMALL)
    assert "order" not in link(test)
    test.selectbox(key="order").set_value(order).run()
    assert not test.exception
    assert not test.warning
    assert link(test).get("order", "1") == str(order)
    expected = evaluated(order)
    assert with_error(expected.headline()["forward_backward"]) in texts(test)
    again = app(**link(test))
    assert again.session_state["visit"].choice == test.session_state["visit"].choice
    assert again.selectbox(key="order").value == order
    code = {block.language: block.value for block in again.sidebar.code}
    assert (f"--order {order}" in code["bash"]) == (order != 1)
    assert ("order=" in code["python"]) == (order != 1)


def test_the_rule_for_0_1_loss_keeps_the_order_and_the_papers_presets_have_none(app):
    test = app(**SMALL, order="2")
    test.toggle(key="rule_01").set_value(True).run()
    assert test.session_state["visit"].choice.settings.learner.order == 2
    assert link(test)["preset"] == "recommended_01"
    test.radio(key="preset").set_value("paper").run()  # a short run, which starts by itself
    assert not test.exception
    assert test.session_state["visit"].choice.settings.learner.order == 1
    assert "goes with the recommended presets only" in test.warning[0].value
    assert "order" not in {widget.key for widget in test.selectbox}
    assert "order" not in link(test)
    test.radio(key="preset").set_value("recommended").run()
    assert test.selectbox(key="order").value == 1


@pytest.mark.parametrize("preset", ["paper", "custom"])
def test_what_does_not_go_together_is_said(app, preset):
    test = app(**SMALL, preset=preset, order="auto")
    assert not test.exception
    assert "the paper's tracking takes changes to be independent" in test.warning[0].value
    assert test.session_state["visit"].choice.settings.learner.order == 1


@pytest.mark.parametrize("order", ["3", "AUTO", "", "<b>ar</b>", "1.0", "nan"])
def test_an_order_nobody_knows_is_said(order):
    choice, notes = from_values({"order": order}, {"rotated_digits"})
    assert "is not known; 1 is used." in notes["order"]
    assert choice.settings.overrides == ()
    assert from_values({"order": 1}, {"rotated_digits"}) == from_values({}, {"rotated_digits"})


def test_pages_and_report_say_which_order_the_learner_uses(app):
    plain = app(**SMALL).switch_page(EVOLVING).run()
    assert "The learner's change model now: random walk (1)." in texts(plain)
    test = app(**SMALL, order="auto")
    assert not test.exception
    run = evaluated("auto")
    assert "Recommended, order auto" in test.session_state["visit"].choice.in_words()
    evolving = test.switch_page(EVOLVING).run()
    sentence = order_in_use(run.settings, run)
    assert "in 100 % of the steps" not in sentence  # the choice is not the walk throughout
    assert f"The learner's change model now: {sentence}." in texts(evolving)
    text = report.to_html(run, sequence=imrc.datasets.load("trend", tasks=12))
    assert f'<th scope="row">Order of the change</th><td>{sentence}</td>' in text
    assert "Custom values" not in text


def test_every_page_has_the_order(app):
    test = app(**SMALL, order="auto")
    test.radio(key="view").set_value("choices").run()
    assert not test.exception
    assert "Recommended, order auto" in texts(test)
    test.session_state["compare_methods"] = ["majority"]
    test = test.switch_page("pages/views/compare.py").run()
    assert not test.exception
    assert "recommended, order auto" in texts(test)
    table = next(frame.value for frame in test.dataframe if "Method" in frame.value)
    row = table.set_index("Method").loc["IMRC (recommended)"]
    assert row["Error"] == with_error(evaluated("auto").headline()["forward_backward"])
    test = test.switch_page("pages/views/ess.py").run()
    test.toggle(key="ess_bound").set_value(True).run()
    assert not test.exception
    assert "Recommended, 0-1 rule, order auto" in texts(test)


def test_every_order_has_a_name_in_the_sidebar():
    from pages.ui.sidebar import _ORDER_TITLES

    assert set(_ORDER_TITLES) == set(ORDERS) == {"auto", *KNOWN_ORDERS}
