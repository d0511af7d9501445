"""Three hundred things a visitor can do, in random order, on all pages: none may fail."""

import os

import pytest

from tests.app.walking import walk

PARTS = 6
ACTIONS = int(os.environ.get("IMRC_WALK_ACTIONS", "300"))
STARTS = (
    {"dataset": "identical"},
    {"dataset": "random_walk", "preset": "paper"},
    {"dataset": "trend", "loss": "0-1", "features": "standardised"},
    {"dataset": "rotated_digits", "preset": "custom", "max_iter": "50"},
)


@pytest.mark.timeout(max(400, ACTIONS))
@pytest.mark.parametrize("part", range(PARTS))
def test_random_walk_through_all_controls(app, part):
    test = app(**STARTS[part % len(STARTS)], k="4", n="5", repetitions="1")
    test.default_timeout = 300  # the limit of the whole walk is the test's
    path = walk(test, seed=1000 + part, actions=ACTIONS // PARTS)
    assert len(path) == ACTIONS // PARTS
    # The walk is one: it visits pages and it runs things.
    assert sum(step.startswith("page") for step in path) > 2
    assert any("Button run" in step for step in path)
