"""Where the app opens: a digit that turns, bars that race, and sliders that answer without the server."""

import re

import pytest
from playwright.sync_api import expect

from imrc.paper import shipped
from tests.app.conftest import IDLE

RULES = ("single", "pooled", "forward", "forward_backward")
CELLS = shipped.turning_digits()["cells"]


@pytest.fixture
def landing(new_page, server):
    """Return a function that opens the app and gives page and component."""

    def open_at(width: int = 1366, height: int = 768, **options: object):
        page = new_page(width, height, **options)
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(server)
        card = page.get_by_role("group", name="Sixes and nines that turn")
        expect(card).to_be_visible()
        return page, card

    return open_at


def shown(card):
    return dict(zip(RULES, map(float, card.locator(".value").all_inner_texts()), strict=True))


def measured(setting, task):
    return {rule: pytest.approx(100 * CELLS[setting][rule]["mean"][task - 1], abs=0.0501) for rule in RULES}


def test_every_setting_shows_its_measured_errors_without_the_server(landing):
    page, card = landing()
    assert shown(card) == measured("360,4", 20)
    for role, name in (
        ("heading", "What to do"),
        *(("button", one) for one in ("Model", "Score a file", "Report", "Code")),
    ):
        expect(page.get_by_role(role, name=name)).to_be_in_viewport(ratio=1)  # of 768 pixels
    page.wait_for_selector(IDLE)
    page.wait_for_load_state("networkidle")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate("""() => {
      const send = WebSocket.prototype.send;
      WebSocket.prototype.send = function (...what) { (window.sent ??= []).push(1); return send.apply(this, what); };
    }""")
    for setting, cell in CELLS.items():
        for name, place in zip(("turn", "labels"), setting.split(","), strict=True):
            options = ("0", "90", "180", "360", "720") if name == "turn" else ("2", "4", "8")
            card.locator(f"[name={name}]").fill(str(options.index(place)))
        assert shown(card) == measured(setting, 20)
        best = page.locator(".verdict b").first
        assert best.inner_text().replace(" and ", "_") == cell["best"].replace("single", "alone")
    card.get_by_label("Tasks that have arrived").press("Home")
    assert shown(card) == measured("720,8", 1)
    card.get_by_label("Tasks that have arrived").press("ArrowRight")
    assert shown(card) == measured("720,8", 2)
    assert not [address for address in sent if not address.startswith("blob:")]
    assert page.evaluate("window.sent") is None


def test_it_plays_by_button_and_by_space_bar_and_shows_its_method_in_a_room(landing):
    page, card = landing()
    for motion in ("reduce", "no-preference"):
        page.emulate_media(reduced_motion=motion)
        card.get_by_role("button", name="Play").click()
        expect(card.locator(".told")).to_contain_text(re.compile(r"Task [3-9] of 20"))
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(" ")
        expect(card.get_by_role("button", name="Play")).to_be_visible()
        there = card.locator(".told").inner_text()
        page.wait_for_timeout(200)
        assert card.locator(".told").inner_text() == there
        card.get_by_label("Tasks that have arrived").fill("16")
        card.get_by_label("How fast does it turn?").focus()
        page.keyboard.press(" ")
        expect(card.locator(".told")).to_contain_text("Task 20 of 20 · 360°")
        expect(card.get_by_role("button", name="Play")).to_be_visible()
        assert shown(card) == measured("360,4", 20)
    explained(page, "I teach", projector=1)


def explained(page, door: str, projector: int) -> None:
    """What is new is explained by the first scene, in a room where there is one."""
    page.get_by_role("link", name=door).click()
    expect(page).to_have_url(re.compile(r"scene=1"))
    expect(page.frame_locator("iframe").locator("#turn h2")).to_be_in_viewport()
    expect(page.frame_locator("iframe").locator("html.projector")).to_have_count(projector)


def test_it_has_the_colours_of_the_app_and_fits_a_phone(landing):
    page, card = landing(390, 844, color_scheme="light", has_touch=True)
    lightness = "one => getComputedStyle(one).color.match(/[0-9.]+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)"
    assert card.evaluate(lightness) < 200
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"one => ({lightness})(one) > 600", arg=card.element_handle())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert card.evaluate("one => one.scrollWidth <= one.clientWidth")
    for slider in card.get_by_role("slider").all():  # a swipe over it scrolls the page
        assert slider.evaluate("one => getComputedStyle(one).touchAction") == "pan-y"
    explained(page, "New here?", projector=0)
    page.go_back()
    explained(page, "I teach", projector=0)
