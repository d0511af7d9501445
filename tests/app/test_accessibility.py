"""Every page in a real browser, light and dark, wide and narrow: its title, what axe finds, whether anything is cut."""

import base64
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from pages import registry
from tests.app.conftest import ROOT, settle

SMALL = "?dataset=random_walk&k=5&n=5&repetitions=2"
# The fastest methods only: the chart and the table are the same for all.
PAGES = {
    "landing": "/",
    "explore": f"/{SMALL}",
    "ess": f"/why-it-helps{SMALL}",
    "evolving": f"/is-it-evolving{SMALL}",
    "compare": f"/against-others{SMALL}&compare_methods=Majority+class&compare_methods=Logistic%2C+single+task",
    "learn": "/learn",
    "your data": "/your-data",
    "the paper": "/the-paper",
    "the paper, running time": "/the-paper?paper_part=Running+time&paper_times_n=100",
    "the paper, figures": "/the-paper?paper_part=Figures",
}
TITLES = {"/" if entry.default else f"/{entry.url_path}": entry.title for entry in registry.PAGES}
# Findings inside Streamlit's own elements that an app cannot influence: rule, start of the element, reason.
KNOWN = (
    (
        "scrollable-region-focusable",
        '<span class="katex-display">',
        "st.latex gives its formula a box that could scroll and takes no tabindex; no formula is wider than its box "
        "(tested below), and screen readers read the MathML inside.",
    ),
)
# Titles, ticks and legends of all charts with the box of their figure, in page coordinates.
TEXTS = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => {
  const outer = plot.getBoundingClientRect();
  const parts = '.gtitle, .xtitle, .ytitle, .annotation-text, .legendtext, .xtick text, .ytick text, .cbtitle text';
  return [...plot.querySelectorAll(parts)].filter(text => text.textContent.trim() && text.getClientRects().length)
      .map(text => {
    const box = text.getBoundingClientRect();
    return {text: text.textContent, left: box.left - outer.left, right: outer.right - box.right,
            top: box.top - outer.top, bottom: outer.bottom - box.bottom};
  });
})"""
# Panel titles of one chart that lie on each other, and entries of its legend that lie on its axis titles.
OVERLAPS = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => {
  const boxes = what => [...plot.querySelectorAll(what)].filter(text => text.textContent.trim())
    .map(text => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  const titles = boxes('.annotation-text'), legend = boxes('.legendtext'), axes = boxes('.xtitle');
  const found = [];
  titles.forEach((a, i) => titles.slice(i + 1).forEach(b => meet(a[1], b[1]) && found.push(a[0] + ' / ' + b[0])));
  legend.forEach(a => axes.forEach(b => meet(a[1], b[1]) && found.push(a[0] + ' / ' + b[0])));
  return found;
})"""
FORMULAS = """() => [...document.querySelectorAll('.katex-display')].filter(box => {
  const inner = [...box.querySelectorAll('.katex-html > .base')].map(part => part.getBoundingClientRect());
  return Math.max(...inner.map(part => part.right)) > box.getBoundingClientRect().right + 1;
}).map(box => box.textContent.slice(0, 60))"""


def found_by_axe(page, **options: object) -> list[str]:
    """Return what is serious, except what cannot be influenced."""
    from axe_playwright_python.sync_playwright import Axe

    return [
        f"{violation['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for violation in Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
        if not any(violation["id"] == rule and node["html"].startswith(start) for rule, start, _ in KNOWN)
    ]


def nothing_is_cut_or_scrolls_sideways(page) -> None:
    main = page.get_by_test_id("stMain")
    assert main.get_by_text("Something went wrong").count() == 0
    assert main.evaluate("part => part.scrollWidth - part.clientWidth") <= 0
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    edge = main.evaluate("part => part.getBoundingClientRect().right")
    charts = page.locator(".js-plotly-plot")
    assert max(charts.evaluate_all("all => all.map(one => one.getBoundingClientRect().right)"), default=0) <= edge + 1
    if "your-data" in page.url:  # A page that has just become narrow draws its chart again.
        page.wait_for_function(f"({TEXTS})().length > 0")
    texts = page.evaluate(TEXTS)
    cut = [text for text in texts if min(text["left"], text["right"], text["top"], text["bottom"]) < -1]
    assert cut == []
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(FORMULAS) == []


def charts_have_words_and_the_page_one_first_heading(page) -> None:
    assert page.locator("h1").count() == 1
    charts = page.get_by_test_id("stPlotlyChart")
    for number in range(charts.count()):
        words = charts.nth(number).evaluate(
            "part => [part, ...part.querySelectorAll('[aria-label]')].map(one => one.getAttribute('aria-label'))"
            ".filter(Boolean).sort((a, b) => b.length - a.length)[0] || ''"
        )
        # A sentence with numbers, not a name.
        assert len(words) > 60
        assert any(character.isdigit() for character in words), words


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_read_a_page_light_and_dark_wide_and_narrow(new_page, server, name):
    page = new_page(1440, 1000)
    asked, complaints = set(), []
    page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    page.on("console", lambda line: complaints.append(line.text) if "Content Security" in line.text else None)
    page.goto(server + PAGES[name])
    expect(page).to_have_title(f"{TITLES[urlsplit(PAGES[name]).path]} · Evolving tasks")
    heading = page.locator("h1").first
    expect(heading).to_be_visible()
    assert heading.bounding_box()["y"] < 180
    if name == "your data":  # one page with a file chosen
        settle(page)  # what loads later moves the button
        page.get_by_role("button", name="Try a sample file").click()
        page.get_by_text("Rows of each task, and what").click()
        page.locator(".js-plotly-plot").wait_for()
    settle(page)
    assert found_by_axe(page) == []
    charts_have_words_and_the_page_one_first_heading(page)
    nothing_is_cut_or_scrolls_sideways(page)
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert found_by_axe(page, runOnly=["color-contrast"]) == []  # a scheme changes colours alone
    for width in (1024, 800, 390):
        page.set_viewport_size({"width": width, "height": 1000})
        settle(page)
        nothing_is_cut_or_scrolls_sideways(page)
    assert asked - {""} == {urlsplit(server).netloc}
    assert complaints == []
    # The icon of the tab is our own.
    icon = base64.b64encode((ROOT / "pages" / "shell" / "icon.svg").read_bytes()[:60])[:72].decode()
    assert icon in page.evaluate("document.querySelector('link[rel~=icon]').href")


def test_all_pages_are_among_them():
    assert set(TITLES) == {urlsplit(address).path for address in PAGES.values()}


def test_a_click_while_the_page_is_drawn_anew_is_not_lost(new_page, server):
    """Neither what only phones have nor what is drawn while a run computes moves the part that a click belongs to."""
    page = new_page(1440, 900)
    page.goto(f"{server}{PAGES['explore']}&seed=77")  # computed for this page, and kept when it is drawn anew
    page.get_by_text("Ladder by task", exact=True).wait_for()
    settle(page)
    ladder = page.get_by_text("Ladder by task", exact=True).element_handle()
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_timeout(30)
    ladder.evaluate("label => label.click()")
    page.get_by_text("What did each task gain?").wait_for()
    settle(page)
    assert ladder.evaluate("label => label.isConnected")


def test_keyboard_alone_runs_another_setting(new_page, server):
    page = new_page()
    page.goto(f"{server}{PAGES['explore']}")
    page.wait_for_selector("h1")
    settle(page)
    box = page.get_by_role("spinbutton", name="Backward b")
    box.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("1")
    page.keyboard.press("Tab")
    # Where the focus is can be seen, and from there Shift+Tab leads to the help of the field.
    frame = "one => getComputedStyle(one.closest('[data-testid=stNumberInputContainer]')).borderColor"
    window = page.get_by_role("spinbutton", name="Window W")
    expect(window).to_be_focused()
    assert window.evaluate(frame) != box.evaluate(frame)
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="Help for Window W")).to_be_focused()
    expect(page).to_have_url(re.compile(r"[?&]b=1(&|$)"))
