"""On a phone: a swipe over a chart scrolls the page, and no chart is higher than the screen."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.conftest import settle

WIDTH, HEIGHT = 390, 844
PAGES = ("", "why-it-helps", "is-it-evolving", "against-others?compare_methods=majority", "the-paper")


def swipe(page: Page, x: float, y: float, by: float) -> None:
    """Move one finger, as the browser itself would report it."""
    session = page.context.new_cdp_session(page)
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 11):
        point = {"x": x, "y": y + by * step / 10}
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        page.wait_for_timeout(16)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


@pytest.fixture(scope="module")
def phone(browser):
    with browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True, is_mobile=True) as page:
        page.set_default_timeout(180_000)
        yield page


@pytest.mark.parametrize("address", PAGES)
def test_a_swipe_over_each_chart_scrolls_the_page(phone, server, address):
    page = phone
    settings = "dataset=identical&k=4&n=5&repetitions=2"
    page.goto(f"{server}/{address}{'&' if '?' in address else '?'}{settings}")
    charts = page.locator(".js-plotly-plot")
    expect(charts.first.locator(".main-svg").first).to_be_visible()
    settle(page)
    page.wait_for_timeout(1000)  # by then a narrow page has asked for other charts
    settle(page)
    main = page.get_by_test_id("stMain")
    for chart in charts.all():
        # The lower half of the screen: above, the header of the page would take the finger.
        chart.evaluate("chart => chart.scrollIntoView({block: 'center'})")
        place = main.evaluate("main => [main.scrollTop, main.scrollHeight - main.clientHeight]")
        box = chart.bounding_box()
        assert box["height"] <= HEIGHT
        drawn = chart.locator(".main-svg").first
        before = chart.evaluate("chart => JSON.stringify([chart.layout.xaxis.range, chart.layout.yaxis.range])")
        up = place[0] + 150 < place[1]
        swipe(page, box["x"] + box["width"] / 2, HEIGHT / 2, -200 if up else 200)
        moved = "([main, old]) => Math.abs(main.scrollTop - old) > 60"
        page.wait_for_function(moved, arg=[main.element_handle(), place[0]], timeout=60_000)
        expect(drawn).to_be_attached()
        after = chart.evaluate("chart => JSON.stringify([chart.layout.xaxis.range, chart.layout.yaxis.range])")
        assert after == before
