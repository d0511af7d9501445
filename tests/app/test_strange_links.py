"""A link can hold anything; the page then shows something sensible and says what it corrected."""

from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlencode

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from imrc import datasets
from imrc.core.presets import PRESETS
from imrc.core.settings import SETTINGS
from imrc.features import FEATURE_KINDS
from pages.shell.choice import NUMBERS, Choice, from_values
from tests.app.conftest import ROOT, Page, metrics

SEED = 20231
SMALL = {
    "dataset": "identical", "features": "rff", "k": "3", "n": "4", "b": "1", "repetitions": "1", "preset": "paper",
}  # fmt: skip
HTML = "<img src=x onerror=alert(1)>"
STRANGE = (
    "", " ", "0", "-1", "1e308", "1e999", "nan", "-inf", "0x10", "1_000", "٣", "½", "1.5", "True", "None", "null",
    "../../etc/passwd", "..\\..\\windows\\system32", "/etc/passwd", "file:///etc/passwd", "C:\\secret.csv",
    HTML, "<script>alert(1)</script>", "'; DROP TABLE x; --", "{{7*7}}", "${7*7}", "%00", "\x00", "\x1b[31m",
    "\u202egnp", "![x](http://example.invalid/a.png)", "[click](javascript:alert(1))", "**bold**", "$x^2$", ":red[x]",
    "`code`", "😀" * 20, "ä" * 300, "x" * 50_000, "9" * 5_000, "-" * 1_000, "[]", "{}", "[1, 2]", '{"k": 3}', "\ud7ff",
    "\ufffd", "your_file", "rotated_digits ", "ROTATED_DIGITS", "__class__", "self", "dataset=identical&k=3",
)  # fmt: skip
EXTRA_KEYS = (
    "embed", "embed_options", "page", "__proto__", "choice", "own_sequence", "stopped", "n ", "N", HTML, "k[]",
)  # fmt: skip


def _valid(rng: np.random.Generator, name: str) -> str:
    words = {"dataset": datasets.names(), "features": FEATURE_KINDS, "preset": PRESETS, "loss": SETTINGS["loss"].words}
    if name in words:
        return str(list(words[name])[rng.integers(len(words[name]))])
    return str(rng.integers(1, 30))


def keys() -> list[str]:
    """Return every key a link of this app can have."""
    custom, _ = from_values({"features": "rff"}, set(datasets.names()))
    other, _ = from_values({"loss": "0-1", "scenario": "next_task"}, set(datasets.names()))
    return list(dict.fromkeys([*Choice().to_query(), *custom.to_query(), *other.to_query()]))


def strange_links(count: int, seed: int) -> Iterator[str]:
    """Yield query strings, without the question mark."""
    rng = np.random.default_rng(seed)
    known = keys()
    for _ in range(count):
        pairs = []
        for _ in range(rng.integers(0, 12)):
            name = EXTRA_KEYS[rng.integers(len(EXTRA_KEYS))] if rng.random() < 0.1 else known[rng.integers(len(known))]
            kind = rng.random()
            if kind < 0.4:
                value = _valid(rng, name)
            elif kind < 0.85:
                value = STRANGE[rng.integers(len(STRANGE))]
            else:  # letters from all of Unicode but the halves of pairs, which no address can hold
                value = "".join(chr(c) for c in rng.integers(1, 0xD800, rng.integers(0, 30)))
            pairs.append((name, value))
        # Some links are typed by hand and not encoded.
        yield urlencode(pairs) if rng.random() < 0.8 else "&".join(f"{quote(k)}={v}" for k, v in pairs)


def read(query: str) -> dict[str, str]:
    """Read a query string as the app does: of a repeated key, the last value."""
    return {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}


def test_a_thousand_strange_links_become_choices_in_range():
    known = set(datasets.names())
    corrected = 0
    for query in strange_links(1000, SEED):
        choice, notes = from_values(read(query), known)
        corrected += bool(notes)
        assert choice.dataset in known
        values = choice.values()
        for name in NUMBERS:
            if name == "W" and values[name] is None:  # all changes so far
                continue
            assert type(values[name]) is int
            low, high = SETTINGS[name].limits
            assert low <= values[name] <= high
        # What was corrected is said in one line, whatever the link held.
        assert all(20 < len(note) < 300 for note in notes.values())
        # The link the page writes in its place says the same thing and needs no correction.
        again, nothing = from_values(choice.to_query(), known)
        assert not nothing
        assert again.to_query() == choice.to_query()
        assert again.settings.learner == choice.settings.learner
    assert corrected > 500


@pytest.mark.parametrize(
    "value", [HTML, "![x](http://example.invalid/a.png)", "[c](javascript:alert(1))", ":red[x]", "$x$"]
)
def test_a_note_about_a_link_shows_it_as_plain_text(value):
    for name in ("n", "dataset"):
        _, notes = from_values({name: value}, {"identical", datasets.DEFAULT})
        (note,) = notes.values()
        for mark in "<>[]()$":
            assert mark not in note.split("is not")[0].replace(f"\\{mark}", "")
        assert "http:" not in note


@pytest.fixture(scope="module")
def visitor() -> AppTest:
    """One visitor for many links: opening the app anew for each would take most of the time."""
    test = Page(str(ROOT / "app.py"), default_timeout=180)
    for name, value in SMALL.items():
        test.query_params[name] = value
    return test.run()


def follow(test: AppTest, query: str, page: str) -> AppTest:
    """Open a link: nothing of the visit before is left."""
    if "visit" in test.session_state:
        del test.session_state["visit"]
    test.query_params.clear()
    for name, values in parse_qs(query, keep_blank_values=True).items():
        test.query_params[name] = values
    return test.switch_page(page).run()


def test_strange_links_open_a_page(visitor):
    # "Your data" computes nothing: many links can be opened.
    for query in strange_links(30, SEED + 1):
        test = follow(visitor, query, "pages/your_data/page.py")
        expected, _ = from_values(read(query), test.session_state["visit"].known_datasets())
        assert test.session_state["visit"].choice.dataset == expected.dataset, query[:500]


@pytest.mark.parametrize("name", keys())
def test_explore_runs_with_a_strange_value(visitor, name):
    value = STRANGE[(7 * keys().index(name)) % len(STRANGE)]
    test = follow(visitor, urlencode({**SMALL, name: value}), "pages/result/page.py")
    assert "Error, forward" in metrics(test)
