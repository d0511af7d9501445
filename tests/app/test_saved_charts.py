"""Charts saved from their toolbar: the format chosen, a name that says what it is, readable wherever it is pasted."""

import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import expect

from imrc.plots._drawing import PAPER

ROOT = Path(__file__).resolve().parents[2]


def saved(new_page, server: str, scheme: str, folder: Path) -> Path:
    """Press the camera of the heatmaps; return the file."""
    page = new_page(1200, 1400, color_scheme=scheme)
    page.goto(f"{server}/?dataset=identical&k=4&n=5&repetitions=1")
    expect(page.locator(".js-plotly-plot .heatmaplayer .hm")).to_have_count(3)
    chart = page.locator(".js-plotly-plot").filter(has=page.locator(".heatmaplayer"))
    chart.hover()
    with page.expect_download() as download:
        chart.locator('.modebar-btn[data-title^="Download plot"]').click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_picture_has_the_ground_its_ink_needs(new_page, server, scheme, tmp_path):
    from PIL import Image

    file = saved(new_page, server, scheme, tmp_path)
    assert file.name == "imrc-heatmaps-error.png"
    picture = Image.open(file).convert("RGBA")
    assert min(picture.size) > 500  # twice the pixels of the page, for slides
    ground = tuple(bytes.fromhex(PAPER[scheme][1:]))
    assert picture.getpixel((4, 4)) == (*ground, 255)


def test_charts_have_the_ground_of_the_page():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    assert {scheme: theme[scheme]["backgroundColor"] for scheme in PAPER} == PAPER
