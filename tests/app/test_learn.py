"""Page Learn: the article, filling the page, at the scene and in the colours that the app asks for."""

import re

import pytest
from playwright.sync_api import expect

from tests.app.conftest import settle

OLD_STEPS = {
    "1+One+task": "average", "2+Neighbours": "neighbours", "3+Trust": "gain",
    "4+The+box": "trust", "5+Repair": "repair", "6+Failure": "failure",
}  # fmt: skip
"""Addresses of the page when it had six steps, and the scene that took their place."""


@pytest.fixture
def open_learn(new_page, server):
    """Return a function that opens the page at an address and gives it with the article in it."""

    def open_at(query: str = "", width: int = 1366, height: int = 768, **options: object):
        page = new_page(width, height, **options)
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.on("console", lambda said: pytest.fail(said.text) if "Content Security Policy" in said.text else None)
        page.goto(f"{server}/learn{query}")
        article = page.frame_locator("iframe")
        expect(article.locator("h1")).to_have_text("What neighbours know")
        return page, article

    return open_at


def test_it_is_the_article_and_ends_in_the_app(open_learn, server):
    page, article = open_learn()
    expect(page.get_by_role("heading", level=1, name="what neighbours know")).to_be_attached()
    expect(article.locator("[data-alone]")).to_be_hidden()
    article.get_by_role("link", name="Bring your own table").click()
    expect(page).to_have_url(f"{server}/your-data")


def test_it_fills_the_page_nothing_else_scrolls_and_it_has_the_colours_of_the_app(open_learn):
    page, article = open_learn("", 1440, 900)
    frame = page.locator("iframe")
    for width, height in ((1440, 900), (1366, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        page.wait_for_function(
            "(() => { const main = document.querySelector('[data-testid=stMain]');"
            " return main.scrollHeight <= main.clientHeight && document.documentElement.scrollWidth <= innerWidth; })()"
        )
        box = frame.bounding_box()
        assert box["y"] + box["height"] == pytest.approx(height, abs=6)
        assert box["height"] > 0.8 * height
        assert box["width"] > 0.87 * width
        assert frame.evaluate("one => one.contentDocument.documentElement.scrollWidth - one.clientWidth") <= 0
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(article.locator("html")).to_have_attribute("data-theme", scheme)
    page.reload()  # opened in the dark
    expect(article.locator("h1")).to_have_text("What neighbours know")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        expect(article.locator("html")).to_have_attribute("data-theme", scheme)


@pytest.mark.parametrize("step", OLD_STEPS)
def test_old_addresses_lead_to_their_scene(open_learn, step):
    _, article = open_learn(f"?teach_step={step}&teach_n=30")
    expect(article.locator(f"#{OLD_STEPS[step]} h2")).to_be_in_viewport()


def test_the_address_of_the_app_follows_and_restores_a_scene(open_learn):
    page, article = open_learn("?n=12&scene=4,rho:0.1")
    expect(article.locator("#rule h2")).to_be_in_viewport()
    slider = article.locator("#rule input[name=upto]")
    slider.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"[?&]n=12&(.*&)?scene=4,rho:0.1,upto:11$"))
    page.reload()
    expect(article.locator("#rule h2")).to_be_in_viewport()
    expect(slider).to_have_value("11")
    expect(article.locator("#rule input[name=rho]")).to_have_value("-1")
