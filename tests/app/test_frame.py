"""What surrounds every page: navigation, titles, the sidebar, the bar, pinned runs, Back and Forward."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from pages.ui.registry import PAGES
from tests.app.conftest import ROOT, texts

SMALL = {"dataset": "random_walk", "k": "6", "n": "5", "repetitions": "2"}
QUERY = "?dataset=random_walk&k=6&n=5&repetitions=2"
WITH_RUNS = [entry for entry in PAGES if entry.runs]
WITHOUT_RUNS = [entry for entry in PAGES if not entry.runs]


@pytest.mark.parametrize("entry", WITHOUT_RUNS, ids=lambda entry: entry.url_path)
def test_pages_without_a_run_have_no_settings_and_lose_none(app, entry):
    test = app(**{**SMALL, "b": "1"})
    test = test.switch_page(entry.file).run()
    assert not test.exception
    assert not {widget.key for widget in (*test.sidebar.number_input, *test.sidebar.selectbox)} & {"n", "k", "dataset"}
    assert "Learn a sequence of tasks" in texts(test)
    test = test.switch_page(WITH_RUNS[1].file).run()
    assert (test.number_input(key="b").value, test.number_input(key="n").value) == (1, 5)
    assert test.selectbox(key="dataset").value == "random_walk"


def test_every_page_has_its_title_and_asks_no_other_host(new_page, server):
    page = new_page(1366, 768)
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    for entry in PAGES:
        page.goto(f"{server}/{'' if entry.default else entry.url_path}{QUERY}")
        expect(page).to_have_title(f"{entry.title} · Evolving tasks")
        heading = page.locator("h1").first
        expect(heading).to_be_visible()
        assert heading.bounding_box()["y"] < 180, entry.title
    assert asked <= {urlsplit(server).netloc, ""}


def test_the_icon_of_the_tab_is_our_own(new_page, server):
    page = new_page()
    page.goto(f"{server}/{QUERY}")
    expect(page.locator("h1").first).to_be_visible()
    icon = base64.b64encode((ROOT / "pages" / "ui" / "icon.svg").read_bytes()[:60])[:72].decode()
    assert icon in page.evaluate("document.querySelector('link[rel~=icon]').href")
