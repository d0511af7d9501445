"""Probabilities against what came true: sums kept by a run, and the measures made of them."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics import log_loss as sklearn_log_loss

import imrc
from imrc.evaluation.measures import balanced_error, calibration_error, counted, log_loss
from imrc.plots.what_if import reliability_chart, reliability_table

RULES = ("single", "forward", "forward_backward")


@pytest.mark.parametrize("classes", [2, 5])
def test_measures_are_those_of_scikit_learn(classes):
    rng = np.random.default_rng(classes)
    probabilities, y = rng.dirichlet(np.full(classes, 0.7), 400), rng.integers(classes, size=400)
    reliability, by_class = (part[None] for part in counted(probabilities, probabilities.argmax(axis=1), y))
    assert log_loss(reliability)[0] == pytest.approx(sklearn_log_loss(y, probabilities), rel=1e-3)
    expected = 1.0 - balanced_accuracy_score(y, probabilities.argmax(axis=1))
    assert balanced_error(by_class)[0] == pytest.approx(expected)
    largest, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    found = 0.0
    for low in np.arange(10) / 10:
        inside = (largest >= low) & ((largest < low + 0.1) | (low == 0.9))
        if inside.any():
            found += inside.mean() * abs(largest[inside].mean() - right[inside].mean())
    assert calibration_error(reliability)[0] == pytest.approx(found)


def test_certain_and_wrong_is_a_large_loss_and_no_infinite_one():
    reliability, by_class = counted(np.array([[1.0, 0.0, 0.0]]), np.array([0]), np.array([1]))
    assert log_loss(reliability[None])[0] == pytest.approx(-np.log(1e-6))
    assert calibration_error(reliability[None])[0] == 1.0
    # Of the classes without test samples nothing is known, so they do not count.
    assert balanced_error(by_class[None])[0] == 1.0


@pytest.mark.parametrize("scenario", ["continual", "multi_task"])
@pytest.mark.parametrize("preset", ["recommended", "paper"])
def test_a_run_counts_each_task_once_with_its_last_rule(preset, scenario, compiled):
    sequence = imrc.datasets.load("random_walk", tasks=6, samples=80)
    result = imrc.evaluate(sequence, n=6, b=2, preset=preset, scenario=scenario, repetitions=3)
    for rule in RULES:
        tests = result.test_samples
        wrong = (result.errors[rule][:, -1] * tests).sum(axis=1)
        for sums in (result.reliability[rule][:, :, 0], result.by_class[rule][:, :, 0]):
            np.testing.assert_array_equal(sums.sum(axis=1), tests.sum())
        np.testing.assert_allclose(tests.sum() - result.reliability[rule][:, :, 2].sum(axis=1), wrong)
        np.testing.assert_allclose(result.by_class[rule][:, :, 1].sum(axis=1), wrong)
    measures = result.measures()["forward_backward"]
    assert measures["calibration"].mean == pytest.approx(
        calibration_error(result.reliability["forward_backward"]).mean()
    )
    assert 0.0 < measures["log_loss"].mean < 14.0


def test_compared_methods_have_none_and_the_chart_shows_the_rules(compiled):
    sequence = imrc.datasets.load("random_walk", tasks=4, samples=60)
    result = imrc.evaluate(sequence, n=6, repetitions=2, methods=("imrc", "gem"))
    assert np.isnan(result.measures()["gem"]["log_loss"].mean)
    table = reliability_table(result)
    assert set(table["rule"]) == set(RULES)
    assert ((table["confidence"] >= 0.5) & (table["confidence"] <= 1.0)).all()
    assert [trace.name for trace in reliability_chart(table).data if trace.name in ("Alone", "Forward")]
