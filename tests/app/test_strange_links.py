"""A link can hold anything; the page then shows something sensible and says what it corrected."""

from urllib.parse import parse_qs, urlencode

import pytest
from streamlit.testing.v1 import AppTest

from imrc import datasets
from imrc.evaluation import PARAMETERS
from pages.ui.choice import NUMBERS, from_values
from tests.app.conftest import ROOT, metrics
from tests.app.strange_links import HTML, STRANGE, keys, strange_links

SEED = 20231
SMALL = {
    "dataset": "identical", "features": "rff", "k": "3", "n": "4", "b": "1", "repetitions": "1", "preset": "custom",
    "max_iter": "50",
}  # fmt: skip


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
            assert PARAMETERS[name].low <= values[name] <= PARAMETERS[name].high
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
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
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


@pytest.mark.parametrize("part", range(2))
def test_strange_links_open_a_page(visitor, part):
    # "Your data" computes nothing: many links can be opened.
    for query in strange_links(30, SEED + 1 + part):
        test = follow(visitor, query, "pages/views/your_data.py")
        assert not test.exception, query[:500]
        expected, _ = from_values(read(query), test.session_state["visit"].known_datasets())
        assert test.session_state["visit"].choice.dataset == expected.dataset, query[:500]


@pytest.mark.parametrize("name", keys())
def test_explore_runs_with_a_strange_value(visitor, name):
    value = STRANGE[(7 * keys().index(name)) % len(STRANGE)]
    test = follow(visitor, urlencode({**SMALL, name: value}), "pages/views/explore.py")
    assert not test.exception, value[:500]
    assert "Error, forward" in metrics(test)
