"""What the explorer is for: n, k, b and W can be picked on every built-in dataset, and each moves a picture."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from imrc import datasets
from pages.shell import charts

PICTURES = {
    "error heatmap": ("result", "heatmaps-error"),
    "ESS curve": ("why_it_helps", "ess-curves"),
    "partial autocorrelation": ("evolving", "evolving-pacf-independent"),
}
"""Each with its page and the key of its element there."""
CHANGES = {"n": (8, 6, 5), "k": (5, 6, 4), "b": (1, 0, 2), "W": (1, 4, 2)}
"""A value to try at each picture, the first away from what the test opens with."""
BUILT_IN = [name for name in datasets.names() if datasets.status(name).where == "built in"]


@pytest.fixture(autouse=True)
def only_these_pictures(monkeypatch) -> None:
    """Drawing takes most of the time of a page."""
    show, keys = charts.show, [key for _, key in PICTURES.values()]
    monkeypatch.setattr(charts, "show", lambda *a, name, **more: show(*a, name=name, **more) if name in keys else None)


def drawn(test: AppTest, key: str) -> list[dict[str, object]]:
    """Return what a figure draws, without names and texts: a number in a legend alone is no picture."""
    (figure,) = [
        json.loads(element.proto.spec) for element in test.get("plotly_chart") if element.proto.id.endswith(f"-{key}")
    ]
    return [{axis: trace.get(axis) for axis in ("x", "y", "z")} for trace in figure["data"]]


def moved(test: AppTest, changes: dict[str, tuple[int, ...]]) -> dict[str, str]:
    """Change one control of the sidebar after the other; return which picture each of them moved first."""
    found: dict[str, str] = {}
    for position, (picture, (page, key)) in enumerate(PICTURES.items()):
        if page != "result":
            test = test.switch_page(f"pages/{page}/page.py").run()
        for name in [name for name in changes if name not in found]:
            before = drawn(test, key)
            test.number_input(key=name).set_value(changes[name][position])
            test = test.run()
            assert test.number_input(key=name).value == changes[name][position]
            if drawn(test, key) != before:
                found[name] = picture
        if len(found) == len(changes):
            break
    return found


@pytest.mark.parametrize("preset", ["paper", "recommended"])
@pytest.mark.parametrize("dataset", BUILT_IN)
def test_each_control_moves_a_picture(app, dataset, preset):
    test = app(dataset=dataset, preset=preset, k="6", n="7", repetitions="1")
    assert set(moved(test, CHANGES)) == set(CHANGES)


def test_a_control_that_stays_moves_nothing(app):
    assert datasets.DEFAULT in BUILT_IN  # where visitors land is among the sequences above
    test = app(dataset="identical", k="5", n="5", W="2", repetitions="1")
    stays = {name: (test.number_input(key=name).value,) * len(PICTURES) for name in CHANGES}
    assert moved(test, stays) == {}
