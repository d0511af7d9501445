"""The page Learn: six steps, by link, by mouse and by keyboard, each on one screen."""

import io
import re

import pandas as pd
import pytest
from playwright.sync_api import expect

from imrc import teaching
from imrc.teaching import Study
from pages.ui.lessons import LESSONS
from tests.app.conftest import texts

PAGE = "pages/views/how_it_works.py"
QUICK = {"dataset": "identical", "k": "3", "n": "5", "repetitions": "1"}
STEPS = list(LESSONS)


def opened(app, step: str = STEPS[0], **query: str):
    test = app(**QUICK).switch_page(PAGE)
    test.query_params.update(teach_step=step, **query)
    return test.run()


def title(test) -> str:
    return next(text.value for text in test.markdown if text.value.startswith("# "))


@pytest.mark.timeout(180)
def test_every_step_has_a_link_a_finding_of_its_own_and_a_picture(app):
    found = set()
    for step in STEPS:
        test = opened(app, step, teach_n="20", teach_change="0.5", teach_b="2", teach_seed="3")
        assert not test.exception, step
        found.add(title(test))
        assert re.search(r"\d", title(test)) or "Without" in title(test)
        assert test.slider(key="teach_n").value == 20
        charts = test.get("plotly_chart")
        assert len(charts) == 1
        assert len(charts[0].proto.alt) > 60
        kinds = ("slider", "number_input", "radio", "button", "toggle", "download_button")
        assert [widget.proto.label for kind in kinds for widget in test.get(kind) if not widget.proto.help] == []
        assert sum(text.value.startswith("# ") for text in test.markdown) == 1
    assert len(found) == len(STEPS)


def test_parameters_of_old_links_do_no_harm(app):
    old = {"teach_n": "31", "teach_change": "0.25", "teach_b": "3", "teach_task": "4", "teach_seed": "46"}
    test = app(**QUICK).switch_page(PAGE)
    test.query_params.update(teach_component="class 1, first feature", **old)
    test = test.run()
    assert not test.exception
    assert not test.error
    assert STEPS[0] == test.session_state["teach_step"]
    bad = opened(app, "<script>", teach_n="nan", teach_world="?")
    assert not bad.exception
    assert bad.session_state["teach_step"] == STEPS[0]


def test_next_and_back_walk_the_story(app):
    test = opened(app)
    for step in STEPS[1:]:
        test = test.button(key="teach_next").click().run()
        assert not test.exception
        assert test.session_state["teach_step"] == step
    assert test.button(key="teach_next").disabled
    test = test.button(key="teach_back").click().run()
    assert test.session_state["teach_step"] == STEPS[-2]


@pytest.mark.parametrize("step", ["1 One task", "3 Trust", "5 Repair"])
def test_the_answer_comes_after_the_guess(app, step):
    test = opened(app, step)
    question = next(radio for radio in test.radio if "Predict" in radio.label)
    assert question.value is None
    assert "**Yes.**" not in texts(test)
    assert "**No" not in texts(test)
    before = test.get("plotly_chart")[0].proto.spec
    test = question.set_value(question.options[0]).run()
    assert ("**Yes.**" in texts(test)) != ("**No" in texts(test))
    if step == "3 Trust":  # so do the curves
        assert len(test.get("plotly_chart")[0].proto.spec) > len(before)


def test_titles_are_the_numbers_of_the_simulation(app):
    removed = teaching.summary(Study(n=50, drift=0.5)).set_index("rule").loc["forward_backward", "removed"]
    test = opened(app, "3 Trust", teach_n="50", teach_change="0.5")
    assert title(test) == f"# At drift 0.5, neighbours remove {removed:.0%} of the avoidable errors".replace(
        "%", "\u00a0%"
    )
    # As in the theorem, and unlike what a page that lets the difficulty change would show.
    less = opened(app, "3 Trust", teach_n="50", teach_change="1.5")
    assert int(re.findall(r"(\d+)\s%", title(less))[0]) < round(100 * removed)


def test_what_is_known_of_the_change_is_said(app):
    test = opened(app, "6 Failure")
    assert "is told the true size of a change" in texts(test)
    told = title(test)
    test = test.radio(key="teach_knowledge").set_value("rate").run()
    assert not test.exception
    assert "The size of a change is estimated" in texts(test)
    assert title(test) != told
    assert "times as many avoidable errors" in told


def test_table_for_exercises(app):
    test = opened(app, "3 Trust")
    assert test.get("download_button")[0].proto.label == "Download as CSV"
    shown = test.dataframe[0].value
    again = pd.read_csv(io.StringIO(shown.to_csv(index=False)))
    assert set(again["drift"]) == set(teaching.DRIFTS)
    assert {"rule", "avoidable", "removed"} <= set(again)


# -- in a browser ----------------------------------------------------------------------------------------------


def check_on_screen(*parts) -> None:
    """Check that all of some elements is in view; they may still be moving to their places."""
    for part in parts:
        expect(part).to_be_in_viewport(ratio=0.99)


def test_a_teacher_walks_the_six_steps_by_keyboard_alone(new_page, server):
    page = new_page(1280, 720)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{server}/how-it-works")
    heading = page.get_by_role("heading", level=1)
    seen = set()
    for number, step in enumerate(STEPS):
        if number:
            page.keyboard.press("Shift+ArrowRight")
        expect(page.get_by_role("radio", name=step)).to_be_checked()
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        expect(heading).to_have_count(1)
        seen.add(heading.inner_text())
        # Cause and effect on one screen, without scrolling.
        check_on_screen(page.locator(".js-plotly-plot").first, page.get_by_test_id("stSlider").first)
        if step in ("2 Neighbours", "5 Repair"):
            task = page.get_by_role("slider", name="Newest task")
            expect(task).to_have_value("8" if number == 1 else "9")
            page.keyboard.press("ArrowRight")
            expect(page.get_by_text(f"Task {9 if number == 1 else 10} has just arrived")).to_be_visible()
            page.keyboard.press("Space")
            expect(page.get_by_text("Task 11 has just arrived")).to_be_visible()
            page.keyboard.press("Space")
            expect(page.get_by_role("button", name="Play")).to_be_visible()
            page.keyboard.press("ArrowLeft")
            page.wait_for_timeout(1500)  # longer than Play waits: nothing moves on its own
            page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
            # Keys pressed faster than the page answers count one by one.
            for _ in range(int(task.input_value()) - 9):
                page.keyboard.press("ArrowLeft")
            expect(page.get_by_text("Task 9 has just arrived")).to_be_visible()
            # The picture is drawn before the slider has told the browser its new value: somebody who goes on within
            # those milliseconds takes the old value along.
            expect(task).to_have_value("9")
            page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    assert len(seen) == len(STEPS)
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.get_by_role("radio", name=STEPS[-2])).to_be_checked()
    assert problems == []


def test_a_focused_slider_keeps_its_arrow_keys(new_page, server):
    page = new_page(1280, 720)
    page.goto(f"{server}/how-it-works?teach_step=2+Neighbours")
    expect(page.get_by_text("Task 8 has just arrived")).to_be_visible()
    drift = page.get_by_role("slider", name="Drift")
    drift.focus()
    page.keyboard.press("ArrowRight")
    expect(drift).to_have_value("0.3")
    expect(page.get_by_text("Task 8 has just arrived")).to_be_visible()
    task = page.get_by_role("slider", name="Newest task")
    task.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Task 9 has just arrived")).to_be_visible()
    page.wait_for_timeout(600)
    expect(task).to_have_value("9")


def test_projector_makes_the_type_larger_and_back(new_page, server):
    page = new_page(1280, 720)
    page.goto(f"{server}/how-it-works")
    size = "getComputedStyle(document.documentElement).fontSize"
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    before = page.evaluate(size)
    page.get_by_text("Projector").click()
    page.wait_for_function(f"{size} !== '{before}'")
    expect(page).to_have_url(re.compile("teach_projector=true"))
    page.get_by_text("Projector").click()
    page.wait_for_function(f"{size} === '{before}'")
