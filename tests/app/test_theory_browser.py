"""What only a browser shows of the theory pages: a chart of the right width."""

from __future__ import annotations

from playwright.sync_api import expect


def check_widths(page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    main = page.get_by_test_id("stMain").bounding_box()
    for chart in page.locator(".js-plotly-plot").all():
        box = chart.bounding_box()
        assert box["x"] + box["width"] <= main["x"] + main["width"] + 1


def test_nothing_is_wider_than_the_page(new_page, server):
    page = new_page()
    for path in ("effective-sample-size", "evolving", "how-it-works"):
        page.set_viewport_size({"width": 1440, "height": 1000})
        page.goto(f"{server}/{path}?dataset=identical&k=5&n=5&repetitions=1")
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        check_widths(page, 1440)
        page.set_viewport_size({"width": 800, "height": 1000})
        first = page.locator(".js-plotly-plot").first
        page.wait_for_function("chart => chart.getBoundingClientRect().width < 800", arg=first.element_handle())
        check_widths(page, 800)
