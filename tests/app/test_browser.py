"""One real server, one real browser: what only they can show."""

import re
import tomllib

from playwright.sync_api import expect

from imrc.plots._drawing import PAPER
from tests.app.conftest import ROOT, running_server, settle

SMALL = "?dataset=identical&k=4&n=5&repetitions=2"  # as other tests ask for, too: computed once


def test_a_sidebar_opened_late_shows_and_runs_the_settings_of_the_link(new_page, server):
    """On phones the sidebar is closed at first; its widgets are drawn after a second run of the script."""
    page = new_page(390, 900)
    page.goto(f"{server}/?dataset=random_walk&n=12&b=2&k=6&preset=paper&repetitions=2")
    expect(page.locator(".js-plotly-plot .heatmaplayer .hm")).to_have_count(3)
    page.get_by_text("Ladder by task", exact=True).first.click()
    expect(page.locator(".js-plotly-plot .heatmaplayer .hm")).to_have_count(0)
    page.get_by_role("button", name="Expand sidebar").click()
    for name, value in {"Samples n": "12", "Backward b": "2", "Tasks k": "6"}.items():
        expect(page.get_by_role("spinbutton", name=name)).to_have_value(value)
    # The lists of datasets and presets are judged by what a run makes of them.
    page.get_by_role("spinbutton", name="Samples n").fill("14")
    page.get_by_role("spinbutton", name="Samples n").press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]n=14(&|$)"))
    assert all(part in page.url for part in ("dataset=random_walk", "b=2", "k=6", "preset=paper", "repetitions=2"))
    # Closed, it can be opened again.
    page.locator("[data-testid=stSidebarCollapseButton] button").click()
    expect(page.get_by_text("Ladder by task", exact=True).first).to_be_in_viewport()
    page.get_by_role("button", name="Expand sidebar").click()
    expect(page.get_by_role("spinbutton", name="Samples n")).to_have_value("14")


def test_a_phone_has_a_list_of_all_pages(new_page, server):
    page = new_page(390, 900)
    page.goto(f"{server}/{SMALL}")
    settle(page)  # when a narrow page asks for other charts, Streamlit forgets a link that was clicked just before
    page.get_by_role("button", name="Expand sidebar").click()
    page.get_by_test_id("stSidebar").get_by_role("link", name="Learn").click()
    expect(page.locator("h1").filter(has_text="what neighbours know")).to_be_attached()
    expect(page).to_have_url(re.compile(r"learn\?(.*&)?n=5(&|$)"))


def test_direct_link_on_a_fresh_server_has_the_frame(new_page):
    """A server of its own: started without `imrc app`, and no page has run there before."""
    page = new_page(1440, 1200)
    with running_server("-m", "streamlit", "run", "app.py") as url:
        page.goto(f"{url}/effective-sample-size{SMALL}")
        expect(page.get_by_role("spinbutton", name="Samples n")).to_be_visible()
        expect(page.get_by_text("How many times its own samples is a task worth?")).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)


def test_the_name_of_the_landing_page_and_earlier_addresses_lead_on(new_page, server):
    page = new_page(1440, 1200)
    for earlier, now in (("result", ""), ("explore", ""), ("effective-sample-size", "why-it-helps")):
        page.goto(f"{server}/{earlier}{SMALL}")
        expect(page.locator("h1", has_text="On Identical tasks")).to_be_visible()
        expect(page).to_have_url(re.compile(rf"{server}/{now}\?(.*&)?k=4(&|$)"))
        expect(page.get_by_text("Page not found")).to_have_count(0)
        expect(page.get_by_role("spinbutton", name="Tasks k")).to_have_value("4")


def test_the_documentation_opens_from_the_app_and_no_other_file_is_served(server, new_page):
    page = new_page()
    page.goto(f"{server}/{SMALL}")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Documentation").click()
    target = opened.value
    target.wait_for_load_state()
    assert target.url.startswith(f"{server}/documentation/")
    assert target.title()
    target.close()
    for path in ("conf.py", "..%2fconf.py", "no-such-page.html"):
        assert page.request.get(f"{server}/documentation/{path}").status in (400, 404), path


def test_a_saved_picture_has_the_ground_its_ink_needs(new_page, server, tmp_path):
    from PIL import Image

    page = new_page(1200, 1400)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{server}/{SMALL}")
        expect(page.locator(".js-plotly-plot .heatmaplayer .hm")).to_have_count(3)
        chart = page.locator(".js-plotly-plot").filter(has=page.locator(".heatmaplayer"))
        chart.hover()
        with page.expect_download() as download:
            chart.locator('.modebar-btn[data-title^="Download plot"]').click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.name == "imrc-heatmaps-error.png"
        picture = Image.open(file).convert("RGBA")
        assert min(picture.size) > 500  # twice the pixels of the page, for slides
        ground = tuple(bytes.fromhex(PAPER[scheme][1:]))  # alone at the left edge, where nothing is cut
        assert picture.crop((0, 0, 6, picture.height)).getcolors() == [(6 * picture.height, (*ground, 255))]


def test_charts_have_the_ground_of_the_page():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    assert {scheme: theme[scheme]["backgroundColor"] for scheme in PAPER} == PAPER
