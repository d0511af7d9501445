"""A hundred things a visitor can do, in random order given by a seed, on all pages: none may fail."""

import os
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from imrc import datasets
from imrc.evaluation.comparison import imrc_key
from imrc.wording import RULES
from pages.against_others import views
from pages.registry import PAGES
from pages.shell import running
from tests.unit.known_files import table

ACTIONS = int(os.environ.get("IMRC_WALK_ACTIONS", "100"))
STARTS = (
    {"dataset": "identical"},
    {"dataset": "random_walk", "preset": "paper"},
    {"dataset": "trend", "loss": "0-1", "features": "standardised"},
    {"dataset": "rotated_digits", "preset": "paper"},
)
SMALL = {"k": 5, "n": 12, "repetitions": 2, "frequencies": 20}
"""Values above which a step would take long and show nothing new; the widgets allow far more."""
KINDS = (
    "button", "button_group", "checkbox", "file_uploader", "multiselect", "number_input", "select_slider", "selectbox",
    "slider", "text_input", "text_area", "toggle", "radio", "date_input",
)  # fmt: skip
FILES = (
    ("good.csv", table(40).encode()),
    ("words.csv", table(60, header="größe,t,y", y=lambda i: ["süß", "sauer", "<b>x</b>"][i % 3]).encode()),
    ("empty.csv", b""),
    ("<img src=x>.csv", b"x,y\n1,a\n2,b,c\n"),
    ("broken.zip", b"PK\x03\x04broken"),
)
_NOT_HERE = tuple(datasets.facts(name).title for name in datasets.catalogue())
METHODS = (*views.choices(), *(imrc_key(preset, rule) for preset in running.COMPARED_PRESETS for rule in RULES))


def _number(rng: np.random.Generator, widget: Any) -> float:
    low = widget.min if widget.min is not None else -1e6
    high = min(widget.max if widget.max is not None else 1e6, SMALL.get(widget.key, np.inf))
    # An empty field, "all", is a whole number too.
    whole = widget.value is None or (isinstance(widget.value, int) and not isinstance(widget.value, bool))
    edge = rng.random()
    value = low if edge < 0.2 else high if edge < 0.4 else rng.uniform(low, high)
    return int(value) if whole else float(value)


def _options(widget: Any) -> list[str]:
    """What a visitor can pick; published datasets, which may not be here, take no part."""
    return [option for option in widget.options if not str(option).startswith(_NOT_HERE)]


def _meant(widget: Any, text: str) -> Any:
    """Return the value a text stands for: options are what is shown, values what the program means by them."""
    position = list(widget.options).index(text)
    table = list(getattr(widget.format_func, "__self__", {}))
    for candidate in (text, position, position + 1, *table, *METHODS):
        try:
            if str(widget.format_func(candidate)) == text:
                return candidate
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            continue
    return text


def controls(test: AppTest) -> list[Any]:
    """Return everything on the page that can be used now."""
    found = [widget for kind in KINDS for widget in test.get(kind)]
    return [widget for widget in found if not getattr(widget, "disabled", False)]


def act(test: AppTest, rng: np.random.Generator) -> str:
    """Use one control, or go to another page, when the script runs next; return in words what is done."""
    present = controls(test)
    if not present or rng.random() < 0.15:
        # Pages that run many methods take most of the time: they come half as often.
        weights = np.array([0.5 if entry.url_path in ("against-others", "the-paper") else 1.0 for entry in PAGES])
        page = PAGES[rng.choice(len(PAGES), p=weights / weights.sum())]
        test.switch_page(page.file)
        return f"page {page.title}"
    widget = present[rng.integers(len(present))]
    kind = type(widget).__name__
    if kind == "Button":
        for field in test.number_input if widget.key == "own_use" else ():  # else n is the largest that a file allows
            if field.key.startswith("own_n_"):
                field.set_value(min(int(field.value), SMALL["n"]))
        widget.click()
        value: Any = "click"
    elif kind == "FileUploader":
        value, content = FILES[rng.integers(len(FILES))]
        widget.set_value((value, content, "text/csv"))
    elif kind in ("Checkbox", "Toggle"):
        value = not widget.value
        widget.set_value(value)
    elif kind in ("NumberInput", "Slider"):
        value = _number(rng, widget)
        widget.set_value(value)
    elif kind == "SelectSlider":
        value = widget.options[rng.integers(len(widget.options))]
        widget.set_value(value)
    elif kind in ("TextInput", "TextArea"):
        value = ["", "<b>x</b>", "../../etc/passwd", "1, 2", "ä" * 2000][rng.integers(5)]
        widget.set_value(value)
    elif kind == "Multiselect":
        options = _options(widget)
        value = [option for option in options if rng.random() < 0.3][:4]
        widget.set_value(value)
    else:
        options = _options(widget)
        value = options[rng.integers(len(options))]
        widget.set_value(_meant(widget, value))
    return f"{kind} {widget.key} = {value!r}"[:200]


def walk(test: AppTest, seed: int, actions: int) -> list[str]:
    """Do `actions` things; where the page shows a failure, the whole path is in the output of the test."""
    rng = np.random.default_rng(seed)
    path: list[str] = []
    for number in range(1, actions + 1):
        path.append(act(test, rng))
        print(f"seed {seed}, {number:3d} {path[-1]}")
        test.run()
    return path


@pytest.mark.first
@pytest.mark.timeout(max(400, ACTIONS))
@pytest.mark.parametrize("part", range(len(STARTS)))
def test_random_walk_through_all_controls(app, part):
    test = app(**STARTS[part], k="4", n="5", repetitions="1", frequencies="20")
    test.default_timeout = 300  # the limit of the whole walk is the test's
    path = walk(test, seed=1000 + part, actions=ACTIONS // len(STARTS))
    assert len(path) == ACTIONS // len(STARTS)
    # The walk is one: it visits pages and changes numbers, which begins runs.
    assert sum(step.startswith("page") for step in path) > 2
    assert any(f"NumberInput {key} = " in step for key in SMALL for step in path)
