"""What surrounds every page: navigation, titles, the sidebar, the bar, pinned runs, Back and Forward."""

import re

import pytest
from playwright.sync_api import expect

import imrc
from imrc import datasets
from imrc.evaluation.comparison import run_difference
from imrc.evaluation.significance import with_error
from imrc.report.against_others import interval_words
from pages.registry import PAGES
from pages.shell import state
from tests.app.conftest import link, metrics, settle, texts

SMALL = {"dataset": "random_walk", "k": "6", "n": "5", "repetitions": "2"}
WITH_RUNS = [entry for entry in PAGES if entry.runs]
WITHOUT_RUNS = [entry for entry in PAGES if not entry.runs]


@pytest.mark.parametrize("entry", WITHOUT_RUNS, ids=lambda entry: entry.url_path)
def test_pages_without_a_run_have_no_settings_and_lose_none(app, entry):
    test = app(**{**SMALL, "b": "1"})
    test = test.switch_page(entry.file).run()
    assert not {widget.key for widget in (*test.sidebar.number_input, *test.sidebar.selectbox)} & {"n", "k", "dataset"}
    assert "Learn tasks from few samples each" in texts(test)
    test = test.switch_page(WITH_RUNS[1].file).run()
    assert (test.number_input(key="b").value, test.number_input(key="n").value) == (1, 5)
    assert test.selectbox(key="dataset").value == "random_walk"


def test_a_first_visit_leaves_the_link_alone(app):
    assert (link(app()), link(app(**SMALL))) == ({}, SMALL)


def test_a_click_that_overtakes_the_new_link_is_not_back(app, monkeypatch):
    monkeypatch.setattr(state, "_LINK_ARRIVES_S", 60.0)
    test = app(**SMALL)
    test.number_input(key="n").set_value(9).run()
    there = link(test)
    test.query_params.clear()
    test.query_params.update(SMALL)
    test.run()
    assert test.number_input(key="n").value == 9
    assert link(test) == there


def test_what_was_corrected_is_said_once_can_be_closed_and_goes_with_the_next_change(app):
    test = app(**{**SMALL, "n": "5000", "b": "40"})
    assert len(test.main.warning) == 1
    assert "n = 200 is used, not 5,000" in test.main.warning[0].value
    test.button(key="close_notes").click().run()
    assert not test.main.warning
    test = app(**{**SMALL, "b": "40"})
    assert len(test.main.warning) == 1
    test.number_input(key="n").set_value(6).run()
    assert not test.main.warning


@pytest.mark.usefixtures("nothing_here")
def test_a_dataset_that_is_not_here_changes_nothing_but_offers_itself(app):
    test = app(**SMALL)
    before = metrics(test)
    assert any(option == "Spam ⤓" for option in test.selectbox(key="dataset").options)
    test.selectbox(key="dataset").set_value("spam").run()
    assert metrics(test) == before
    assert "Download (0.2 MB)" in [button.label for button in test.sidebar.button]
    assert link(test) == SMALL
    assert test.session_state["visit"].choice.dataset == "random_walk"


def test_a_data_file_that_cannot_be_read_keeps_the_present_result(app, tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_DATA", str(tmp_path))
    (tmp_path / "usenet1").mkdir()
    (tmp_path / "usenet1" / "usenet1.csv").write_bytes(b"not the file")
    test = app(**SMALL)
    before = metrics(test)
    test.selectbox(key="dataset").set_value("usenet1").run()
    assert "is not the published file" in texts(test)
    assert metrics(test) == before


def test_what_has_no_effect_is_not_shown_and_not_forgotten(app):
    test = app(**SMALL, features="rff", sigma2="3")
    assert test.number_input(key="sigma2").value == 3.0
    test.selectbox(key="features").set_value("standardised").run()
    assert not {"frequencies", "sigma2"} & {widget.key for widget in test.number_input}
    test.selectbox(key="features").set_value("rff").run()
    assert test.number_input(key="sigma2").value == 3.0
    test.radio(key="preset").set_value("paper").run()
    assert "loss" not in {widget.key for widget in test.selectbox}


def test_a_pinned_run_stays_beside_the_present_one(app):
    test = app(**SMALL)
    test.button(key="pin").click().run()
    assert "This run is pinned" in texts(test)
    test.number_input(key="n").set_value(20).run()
    sequence = imrc.datasets.load("random_walk", tasks=6)
    few, many = (imrc.evaluate(sequence, n=n, repetitions=2) for n in (5, 20))
    difference = run_difference(many, few)
    assert with_error(few.headline()["single"]) in texts(test)
    assert f"forward and backward {interval_words(difference)}, may be noise (95 % intervals)" in texts(test)
    # The link brings both.
    again = app(**link(test))
    assert texts(again).replace("−", "-").count("Change since the pinned run") == 1
    # Other draws are no pairs.
    test.number_input(key="seed").set_value(5).run()
    assert "the runs differ in tasks, draws or scenario, so their errors cannot be compared" in texts(test)
    test.button(key="pin").click().run()
    assert "Change since the pinned run" not in texts(test)
    assert "pin" not in link(test)


@pytest.mark.parametrize("pin", ["", "x", "dataset=../../etc/passwd", "n=1&n=2", "dataset=your_file", "%00" * 5000])
def test_a_strange_pin_is_ignored(app, pin):
    test = app(**SMALL, pin=pin)
    assert test.session_state["visit"].pinned is None


def test_one_step_of_history_for_a_run_and_none_for_a_visit(new_page, server):
    page = new_page(1366, 768)
    page.goto(f"{server}/?dataset=random_walk&k=5&n=5&repetitions=2")
    expect(page.locator("h1").first).to_be_visible()
    settle(page)
    begun = page.evaluate("history.length")
    arrived = page.url
    # Everything one needs is in sight.
    for name in ("Samples n", "Window W"):
        expect(page.get_by_role("spinbutton", name=name)).to_be_in_viewport()
    n = page.get_by_role("spinbutton", name="Samples n")
    n.fill("9")
    n.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]n=9(&|$)"))
    settle(page)
    assert page.evaluate("history.length") == begun + 1
    page.wait_for_timeout(1000)
    page.go_back()
    expect(n).to_have_value("5")
    settle(page)
    assert page.url == arrived
    page.go_forward()
    expect(n).to_have_value("9")
    # Another page shows the same run.
    settle(page)
    page.get_by_role("link", name="Is it evolving?").first.click()
    expect(page).to_have_url(re.compile(r"evolving\?(.*&)?n=9(&|$)"))


def test_a_very_long_sequence_opens_with_its_first_tasks(app, real_data):
    if not datasets.status("covertype").loadable:
        pytest.skip("all of Covertype is not on this computer")
    test = app(dataset="covertype", n="4", repetitions="1", preset="paper")
    assert test.session_state["visit"].choice.k == 60
    assert len(test.session_state["visit"].sequence()) == 60
