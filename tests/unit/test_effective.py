"""Effective samples: the mean over tasks, its t interval, and how much was borrowed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import imrc
from imrc.core import theory
from imrc.diagnostics import assess, words
from imrc.evaluation import LagTable, effective_samples
from imrc.evaluation.measures import samples_text
from imrc.planning import Rate, make_plan
from imrc.report import guarantees
from imrc.report.worth import borrowing_note, reason_sentence, worth_sentence


@pytest.fixture(scope="module")
def run():
    return imrc.evaluate(imrc.datasets.load("random_walk", tasks=6, samples=80), n=10, repetitions=3)


def with_values(run, values, transfer=None):
    """Put effective samples (repetitions, tasks) at the last step into a run, and what it used."""
    table = LagTable(np.asarray(values, dtype=np.float64)[:, :, None])
    choices = {} if transfer is None else {"rate inf": 1.0 - np.asarray(transfer, dtype=np.float64)}
    return replace(run, ess_tables={**run.ess_tables, "forward_backward": table}, choices=choices)


def test_mean_and_interval_are_over_repetitions(run):
    found = effective_samples(with_values(run, [[10.0, 20.0], [14.0, 22.0], [15.0, 33.0]]))
    expected = stats.t.interval(0.95, 2, loc=19.0, scale=stats.sem([15.0, 18.0, 24.0]))
    assert (found.mean, found.low, found.high) == pytest.approx((19.0, *expected))
    assert found.own == 10.0


def test_one_repetition_has_no_interval(run):
    one = with_values(run, [[10.0, 20.0]])
    found = effective_samples(one)
    assert found.mean == 15.0
    assert np.isnan([found.low, found.high]).all()
    assert samples_text(found) == "15.0"
    assert "(one repetition)" in worth_sentence(one)


def test_equal_repetitions_show_no_interval_of_width_zero(run):
    equal = with_values(run, [[10.0, 20.0], [10.0, 20.0], [10.0, 20.01]])
    found = effective_samples(equal)
    assert samples_text(found) == "15.0"
    assert "15.0 samples instead of 10 (the same in all repetitions)." in worth_sentence(equal)
    # The condition is that of the page *Is it evolving?*.
    found = assess(np.where(np.arange(20) < 10, 0.0, 9.0)[:, None] + np.zeros(5), 1.0)
    assert found.verdict.name == "jump"
    condition = found.verdict.promise[1]
    assert worth_sentence(equal, found.verdict).startswith("**The theorems would promise**, for")
    assert worth_sentence(equal, found.verdict).endswith(f"repetitions){condition}.")
    assert words.meaning_sentence(replace(found, n=10.0), 10).endswith(f"{condition}.")


def test_steps_without_borrowing_are_counted_and_said(run):
    # The first step has no past: what was chosen there does not count.
    found = effective_samples(with_values(run, np.full((2, 5), 12.0), [[1, 0, 0, 0, 1], [1, 0, 1, 1, 0]]))
    assert found.borrowing == pytest.approx(3 / 8)
    assert borrowing_note(found).startswith("On average over the steps, rules that borrow from other tasks get 38 %")
    assert borrowing_note(effective_samples(run, "single")) == ""
    never = with_values(run, np.full((2, 3), 10.0), [[1, 0, 0], [1, 0, 0]])
    assert "in every step" in borrowing_note(effective_samples(never))
    assert "own 10 samples" in worth_sentence(never)
    for share, text in ((0.999, "99 %"), (0.001, "1 %")):
        assert f"get {text} of the weight" in borrowing_note(replace(found, borrowing=share))


def test_theorem_4_follows_the_ratio_and_its_interval():
    found = make_plan(Rate(0.05, 0.02, 0.2), 10, 7, 2).promised["mean"]
    for value, rho in ((found.value, 0.05), (found.high, 0.02), (found.low, 0.2)):
        assert value == pytest.approx(theory.ess_recursion(np.full(7, 10.0), 1.0, rho, 2)[2].mean())
    ends = make_plan(Rate(0.05, 0.0, np.inf), 10, 7, 6).promised["mean"]
    assert (ends.low, ends.high) == (10.0, pytest.approx(70.0))


def test_kappa_of_a_built_in_sequence():
    sequence = imrc.datasets.load("random_walk")
    result = assess(sequence, features="automatic", permutations=99)
    stand_in = guarantees.plug_in(sequence, "automatic", largest=2)
    limit = guarantees.admissible_kappa(stand_in, result)
    assert limit.from_features == pytest.approx(7, rel=0.1)
    # d^2 = rho sigma^2: the second term is about 2 / sqrt(rho) times the first.
    assert limit.from_changes > limit.from_features
    with pytest.raises(ValueError, match="given means"):
        guarantees.admissible_kappa(stand_in, assess(np.random.default_rng(0).normal(size=(6, 4)), 1.0))


def test_identical_tasks_allow_no_finite_kappa_for_changes():
    sequence = imrc.datasets.load("identical", tasks=6, samples=60)
    result = assess(sequence, features="identity")
    limit = guarantees.admissible_kappa(guarantees.plug_in(sequence, "identity"), result)
    assert np.isinf(limit.from_changes) == (result.change.ratio == 0)


def test_labels_that_flip_are_named_as_the_reason(run):
    flips = np.tile([1.0, -1.0], 5)[:, None] * np.array([3.0, 2.0, 1.0]) + 0.01 * np.arange(30).reshape(10, 3)
    level = replace(run, error_tables=run.error_tables | {"forward_backward": run.error_tables["single"]})
    turning = assess(flips, 0.1)
    assert "labels flip back and forth" in reason_sentence(level, turning)
    other = replace(turning, verdict=replace(turning.verdict, second="evolving"))
    assert "labels flip back and forth" not in reason_sentence(level, other)
    walk = np.cumsum(np.random.default_rng(0).normal(size=(10, 3)), axis=0)
    assert "labels flip back and forth" not in reason_sentence(level, assess(walk, 0.01))
