"""A link restores everything but an uploaded file."""

import re

import pytest
from playwright.sync_api import expect

from imrc.evaluation import largest_n
from pages.registry import PAGES
from pages.shell.choice import OWN
from tests.app.conftest import link, set_value, texts

FILES = {entry.url_path: entry.file for entry in PAGES}
SMALL = {"dataset": "random_walk", "k": "6", "n": "5", "repetitions": "2"}
# Another value for every control of the sidebar.
CHANGED = {
    "dataset": "trend", "n": 7, "k": 9, "b": 1, "W": 4, "repetitions": 3, "seed": 11, "features": "rff",
    "preset": "recommended", "loss": "0-1", "frequencies": 30, "sigma2": 2.5, "scenario": "adaptation",
}  # fmt: skip
# What the pages' own controls write into a link, and what they then hold. Texts are those on screen.
CONTROLS = [
    ("result", "view", "Ladder by task", "tasks"),
    ("result", "expert", "One task", "task"),
    ("result", "story_task", "2", 2),
    ("result", "uses_rule", "Forward", "forward"),
    ("result", "model_by", "Forward", "forward"),
    ("why-it-helps", "ess_picture", "What more would add", "more"),
    ("why-it-helps", "realised", "true", True),
    ("why-it-helps", "plan_of", "the newest task", "newest"),
    ("why-it-helps", "plan_ess", "60", 60.0),
    ("why-it-helps", "ess_part", "The guarantee", "guarantee"),
    ("why-it-helps", "ess_kappa", "2.5", 2.5),
    ("why-it-helps", "ess_delta", "0.2", 0.2),
    ("is-it-evolving", "evolving_picture", "Neighbours", "pacf"),
    ("is-it-evolving", "evolving_compare", "A random walk", "random_walk"),
    ("is-it-evolving", "evolving_part", "One component", "component"),
    ("is-it-evolving", "evolving_class", "0", 0),
    ("is-it-evolving", "evolving_component", "feature 3", 3),
    ("against-others", "compare_measure", "true", True),
    ("against-others", "compare_methods", ["Always the most frequent class"], ["majority"]),
    ("against-others", "compare_kind", "Before learning", "before"),
    ("against-others", "compare_about", "Always the most frequent class", "majority"),
    ("against-others", "compare_reference", "IMRC (paper)", "imrc:paper"),
    ("the-paper", "paper_part", "Errors", "errors"),
    ("the-paper", "paper_n", "50", 50),
    ("the-paper", "paper_error", "As the authors' script", "released"),
]
INPUTS = ("number_input", "selectbox", "multiselect", "slider", "select_slider", "toggle", "radio", "checkbox")


def held(test) -> dict[str, object]:
    """Return what every control with a key holds."""
    return {widget.key: widget.value for kind in INPUTS for widget in getattr(test, kind) if widget.key}


def test_all_settings_go_there_and_back(app):
    test = app(**SMALL)
    test.selectbox(key="dataset").set_value(CHANGED["dataset"]).run()
    test.selectbox(key="features").set_value(CHANGED["features"]).run()
    for name, value in CHANGED.items():
        if name != "scenario":  # a switch on the page
            set_value(test, name, value)
    test.run()
    test.radio(key="scenario_shown").set_value(CHANGED["scenario"]).run()
    first = held(test)
    kept = {name: test.session_state[name] for name in CHANGED}
    assert kept == CHANGED
    again = app(**link(test))
    assert held(again) == first
    assert again.session_state["visit"].choice == test.session_state["visit"].choice
    assert not again.warning


def silent(test) -> list[tuple[str, str]]:
    """Return the controls without a word of help; tips of a model's file and script would lie over each other."""
    return [
        (kind, widget.proto.label)
        for kind in (*INPUTS, "button", "download_button", "file_uploader")
        for widget in test.get(kind)
        if not re.search(r"\w", getattr(widget.proto, "help", "") or "")
        and (kind, widget.proto.label) not in (("download_button", "Model"), ("download_button", "Script"))
    ]


@pytest.mark.quick
@pytest.mark.parametrize("page", list(FILES))
def test_controls_of_pages_are_read_from_the_link_and_have_help(app, page):
    mine = [(name, written, value) for where, name, written, value in CONTROLS if where == page]
    # Folds are open: what is in them is part of a link, too.
    folds = dict.fromkeys(("experts", "ess_experts", "evolving_experts", "compare_experts"), "true")
    test = app(**SMALL, **folds, **{name: written for name, written, _ in mine})
    if page != "result":
        test = test.switch_page(FILES[page])
        for name, written in (folds | {name: written for name, written, _ in mine}).items():
            test.query_params[name] = written
        test = test.run()
    now = held(test)
    assert {name: now[name] for name, _, _ in mine} == {name: value for name, _, value in mine}
    # Nothing a page offers is missing from this list; the file's own choices are not part of a link.
    everywhere = {*CHANGED, "scenario_shown"}
    others = {name for name in now if name not in everywhere and not name.startswith("own_")}
    assert others == {name for name, _, _ in mine} - everywhere
    assert silent(test) == []
    if page == "your-data":  # what is there with a file
        test.button(key="own_sample").click().run()
        assert silent(test) == []


def test_another_sequence_has_other_components(app):
    opened = {"evolving_experts": "true", "evolving_part": "One component"}
    test = app(**SMALL).switch_page(FILES["is-it-evolving"])
    test.query_params.update(**opened, evolving_class="0", evolving_component="feature 3")
    test = test.run()
    assert held(test)["evolving_component"] == 3
    test.number_input(key="k").set_value(8)
    test = test.run()
    first = app(**{**SMALL, "k": "8"}).switch_page(FILES["is-it-evolving"])
    first.query_params.update(**opened)
    assert held(test) == held(first.run())


def test_nonsense_for_the_controls_is_ignored(app):
    test = app(**SMALL, view="<script>", experts="true", expert="One task", story_task="1e9", ess_kappa="nan")
    assert held(test)["view"] == "time"
    assert 1 <= held(test)["story_task"] <= 6


def test_an_uploaded_file_is_named_in_the_link_but_not_in_it(app):
    test = app(n="6", b="2", repetitions="2").switch_page(FILES["your-data"]).run()
    test.button(key="own_sample").click().run()
    test.button(key="own_use").click().run()
    written = link(test)
    # n is what the file can give; everything else stays.
    n = str(largest_n(test.session_state["visit"].own_sequence))
    assert (written["dataset"], written["n"], written["b"]) == (OWN, n, "2")
    assert "pump" not in str(written)
    assert "never contains your file. Whoever opens it clicks *Try a sample file*." in texts(test)
    assert "made with the sample file. Click *Try a sample file*, and all" in texts(app(**written))
    test.session_state["evolving_experts"] = True
    test = test.switch_page(FILES["is-it-evolving"]).run()
    test.radio(key="evolving_part").set_value("component").run()
    test.selectbox(key="evolving_class").set_value(0).run()
    test.selectbox(key="evolving_component").set_value(2).run()
    assert not {"evolving_class", "evolving_component"} & set(link(test))


def test_a_click_goes_into_the_link_and_comes_back(new_page, server):
    page = new_page()
    page.goto(f"{server}/?dataset=random_walk&k=5&n=5&repetitions=2")
    page.get_by_text("Ladder by task").click()
    expect(page).to_have_url(re.compile("view=Ladder"))
    expect(page.get_by_text("What did each task gain?")).to_be_visible()
    page.goto(page.url)
    expect(page.get_by_text("What did each task gain?")).to_be_visible()
