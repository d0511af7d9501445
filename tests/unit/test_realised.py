"""Realised effective samples: the n at which single-task learning makes as few errors, or no number."""

import math
from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc._checks import InputError
from imrc.evaluation.columns import LagTable
from imrc.report.worth import realised_samples, realised_sentence, realised_text

GRID = (5, 10, 20, 40)


@pytest.fixture(scope="module")
def runs():
    sequence = imrc.datasets.load("rotated_digits", tasks=8)
    return [imrc.evaluate(sequence, n=n, repetitions=3) for n in GRID]


def with_errors(runs, single, forward):
    """Return the runs with these errors of all tasks in all repetitions, plus a little noise."""
    noise = np.random.default_rng(0).normal(0, 1e-4, (3, 8, 1))
    made = []
    for run, error in zip(runs, single, strict=True):
        rules = dict.fromkeys(("forward", "forward_backward"), forward)
        values = {"single": error, **rules}
        tables = {
            rule: LagTable(np.full((3, 8, 1), value) + noise * (1 + i))
            for i, (rule, value) in enumerate(values.items())
        }
        made.append(replace(run, error_tables=tables))
    return made


def test_the_n_with_the_same_error_is_found_between_those_run(runs):
    found = realised_samples(with_errors(runs, (0.4, 0.3, 0.2, 0.1), 0.25), 5)
    assert [one.value for one in found] == pytest.approx([10 * math.sqrt(2)] * 2, rel=0.01)
    assert all(one.low <= one.value <= one.high for one in found)
    assert realised_sentence(found, 5).startswith("**A task alone would need 14.1 (14.1 to ")


@pytest.mark.parametrize(
    ("single", "forward"),
    [((0.4, 0.3, 0.2, 0.1), 0.05), ((0.3, 0.3, 0.3, 0.3), 0.3), ((0.4, 0.1, 0.3, 0.2), 0.15)],
    ids=["fewer errors than the curve", "flat", "not falling"],
)
def test_where_the_curve_does_not_say_there_is_no_number(runs, single, forward):
    found = realised_samples(with_errors(runs, single, forward), 10)
    assert all(math.isnan(one.value) and one.agrees is None for one in found)
    assert realised_text(found[1]) == "beyond the grid"
    assert "The errors do not imply" in realised_sentence(found, 10)


def test_more_errors_than_the_smallest_n_are_at_most_that(runs):
    found = realised_samples(with_errors(runs, (0.4, 0.3, 0.2, 0.1), 0.5), 10)
    assert realised_text(found[0]).startswith("at most 5.0")


def test_on_digits_the_promise_is_kept(runs):
    found = realised_samples(runs, 10)
    assert 10 < found[0].value < found[1].value < 41


def test_what_is_needed_is_said(runs):
    with pytest.raises(InputError, match="several n"):
        realised_samples(runs[:1], 5)
    with pytest.raises(InputError, match="n = 7"):
        realised_samples(runs, 7)


def test_the_promise_stands_beside_what_errors_show(runs):
    first, main = realised_samples(with_errors(runs, (0.4, 0.3, 0.2, 0.1), 0.25), 5)
    one = main.promised  # with an interval of its own
    for low, said in ((one.high + 0.1, "more than"), (one.low - 1.1, "fewer than"), (one.mean - 0.5, "agrees")):
        assert said in realised_sentence([first, replace(main, value=low + 0.5, low=low, high=low + 1)], 5)


@pytest.mark.parametrize("scenario", ["adaptation", "next_task"])
def test_errors_are_those_of_the_scenario(runs, scenario):
    seen = [run.seen_as(scenario) for run in runs]
    (found,) = realised_samples(seen, 10)
    assert found.rule == "forward"
    alone = {run.settings.n: run.headline()["single"].mean for run in seen}
    reached = seen[GRID.index(10)].headline()["forward"].mean
    assert alone[max(n for n in GRID if n <= found.value)] >= reached or found.value == GRID[0]
