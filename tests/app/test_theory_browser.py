"""What only a browser shows of the theory pages: Play, and a chart of the right width."""

from __future__ import annotations

from playwright.sync_api import expect


def test_play_runs_through_the_steps(new_page, server):
    page = new_page(1440, 1400)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{server}/how-it-works?dataset=identical&k=3&n=5&repetitions=1")
    close = page.get_by_role("button", name="Close")
    expect(page.get_by_text("Step 15: task 10, after 5 more tasks")).to_be_visible()
    if close.count():
        close.first.click()
    play = page.locator(".updatemenu-button", has_text="Play")
    play.scroll_into_view_if_needed()
    play.click()
    expect(page.get_by_text("Step 2: task 2, just learnt")).to_be_visible()
    page.locator(".updatemenu-button", has_text="Pause").click()
    # Plotly rejects the promise of an animation that Pause interrupts, without a reason.
    assert set(problems) <= {"undefined"}


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
        page.wait_for_function("chart => chart.getBoundingClientRect().width < 520", arg=first.element_handle())
        check_widths(page, 800)
