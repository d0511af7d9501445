"""Names and labels of a file are shown as they stand, on every page, in charts, hover, tables and sentences."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import imrc
from imrc import datasets
from pages.registry import PAGES
from tests.app.conftest import IDLE

IMAGE = "<img src=x onerror=window.hacked=1>"
NASTY = {
    "html": f"{IMAGE}QQ",
    "anchor": '<a href="javascript:alert(1)">QQ</a>',
    "bold": "**QQ** __QQ__",
    "image": "![QQ](http://example.invalid/a.png)",
    "link": "[QQ](http://example.invalid)",
    "formula": "$QQ^2$",
    "colour": ":red[QQ] :material/home:",
}
"""Texts Markdown or a chart would act on. QQ marks what must not have been, as no character after a backslash is."""
ACTED_ON = re.compile(r"<img|<a |\*\*QQ|__QQ|\]\(http|\$QQ|:red\[QQ|:material/home:")
MARKDOWN = ("markdown", "caption", "warning", "info", "error", "success", "metric")


def strings(value: object) -> list[str]:
    """Return all texts of the message of an element, titles and help included."""
    found = []
    for field, content in value.ListFields():
        if field.type == field.TYPE_STRING and isinstance(content, str):
            found.append((field.name, content))
        elif field.type == field.TYPE_MESSAGE and not hasattr(content, "append") and hasattr(content, "ListFields"):
            found += strings(content)
    return found


@pytest.fixture(scope="module")
def sequence() -> imrc.TaskSequence:
    """Tasks with names no reader of files would let through: the pages must cope all the same."""
    rng = np.random.default_rng(3)
    names = list(NASTY.values())
    classes = names[:3]
    tasks = []
    for number in range(6):
        y = rng.integers(0, 3, 60)
        X = rng.standard_normal((60, 3)) + y[:, None] + 0.3 * number
        tasks.append(imrc.Task(X, np.array(classes, dtype=object)[y], label=names[number % len(names)] + str(number)))
    return imrc.TaskSequence(
        tasks, name="nasty", classes=np.array(classes, dtype=object), feature_names=tuple(names[3:6])
    )


def test_every_page_shows_names_as_they_stand(app, sequence):
    test = app(dataset="identical", k="4", n="5", repetitions="2", loss="0-1")
    test.session_state["visit"].own_sequence = sequence
    test.session_state["visit"].own_source = (f"{IMAGE}.csv", {"label": NASTY["anchor"], "task": NASTY["html"]})
    test.run()
    test.selectbox(key="dataset").set_value("your_file").run()
    test.run()
    assert test.session_state["visit"].choice.dataset == "your_file"
    test.session_state["compare_methods"] = ["majority"]
    for entry in PAGES:
        test.switch_page(entry.file).run()
        for kind in MARKDOWN:
            for element in test.get(kind):
                for name, text in strings(element.proto):
                    assert not ACTED_ON.search(re.sub(r"\\.", "", text)), (entry.url_path, kind, name, text)
        for chart in test.get("plotly_chart"):
            spec = chart.proto.spec.replace("\\u003c", "<")
            assert "<img" not in spec, entry.url_path
            assert "<a " not in spec, entry.url_path


def test_nothing_in_a_file_becomes_part_of_the_page(new_page, server):
    rows = "".join(
        f"{i // 20},{i % 7},{i * i % 5},{list(NASTY.values())[i % 2] if i % 3 else ':red[QQ]'}\n" for i in range(120)
    )
    content = f'"{IMAGE}",![QQ](http://example.invalid/a.png),$QQ$,"<b>y</b>"\n{rows}'
    page = new_page(1440, 1200)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/your-data?dataset=identical&k=3&n=5&repetitions=1")
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(
        [{"name": f"{IMAGE}.csv", "mimeType": "text/csv", "buffer": content.encode()}]
    )
    expect(page.get_by_role("button", name="Use this")).to_be_visible()
    pages = [entry for entry in PAGES if entry.url_path in ("is-it-evolving", "why-it-helps")]
    page.get_by_role("button", name="Use this").click()
    name = datasets.open_table(content.encode(), name=f"{IMAGE}.csv").name
    expect(page.get_by_text(f"On {name}").first).to_be_visible()
    for entry in [None, *pages]:
        if entry is not None:
            page.get_by_role("link", name=entry.title).first.click()
            expect(page).to_have_url(re.compile(entry.url_path))
            expect(page.locator(".js-plotly-plot").first).to_be_visible()
        page.wait_for_selector(IDLE)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img[src='x'], [onerror], a[href*='javascript'], a[href*='example.invalid']").count() == 0
        assert page.locator("b, strong, em", has_text=re.compile(r"^\s*QQ")).count() == 0
    assert not [url for url in asked if "example.invalid" in url]
