"""Measures of continual learning: by hand, of runs, of matrices from elsewhere; probabilities and what came true."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics import log_loss as sklearn_log_loss

import imrc
from imrc._checks import DataError
from imrc.cli import main
from imrc.evaluation import LagTable, error_matrix
from imrc.evaluation.measures import (
    MEASURES,
    balanced_error,
    calibration_error,
    counted,
    log_loss,
    measure_rows,
    measures_of_errors,
)
from imrc.plots import describe, error_heatmaps
from imrc.plots.what_if import reliability_chart, reliability_table

# R[step, task] of four tasks, nothing known above the diagonal.
R = np.array([[0.9, np.nan, np.nan, np.nan], [0.7, 0.8, np.nan, np.nan], [0.8, 0.6, 0.5, np.nan], [0.6, 0.7, 0.9, 0.4]])


@pytest.mark.parametrize("matrix", [R, np.where(np.isnan(R), -1.0, R).tolist(), np.stack([R, R])], ids=type)
def test_by_hand_whatever_form_the_matrix_comes_in(matrix):
    before = 1.0 - np.array([[0.5, 0.3, 0.6, 0.2]])
    reference = 1.0 - np.array([[0.5, 0.5, 0.25, 0.25]])
    theirs = error_matrix(matrix)
    np.testing.assert_allclose(theirs.errors.dense()[0], 1.0 - R)
    found = measures_of_errors(theirs.errors, before[: len(theirs.errors.values)], reference)
    shown = theirs.measures().set_index("measure")["value"]
    for title in ("Average accuracy", "Backward transfer", "Forgetting"):
        assert shown[title] == pytest.approx(found[title.lower().replace(" ", "_")][0])
    assert found["average_accuracy"][0] == pytest.approx((0.6 + 0.7 + 0.9 + 0.4) / 4)
    assert found["backward_transfer"][0] == pytest.approx(((0.6 - 0.9) + (0.7 - 0.8) + (0.9 - 0.5)) / 3)
    # The best before the last step: .9, .8 and, of the third task, .5.
    assert found["forgetting"][0] == pytest.approx(((0.9 - 0.6) + (0.8 - 0.7) + (0.5 - 0.9)) / 3)
    assert found["forward_transfer"][0] == pytest.approx(((0.3 - 0.5) + (0.6 - 0.25) + (0.2 - 0.25)) / 3)


def test_against_the_matrix_unfolded():
    generator = np.random.default_rng(0)
    for lags in (1, 2, 4, 7):
        table = LagTable(generator.random((3, 7, lags)))
        accuracy = 1.0 - table.dense()
        last = accuracy[:, -1]
        found = measures_of_errors(table)
        np.testing.assert_allclose(found["average_accuracy"], last.mean(axis=1))
        own = np.diagonal(accuracy, axis1=1, axis2=2)
        np.testing.assert_allclose(found["backward_transfer"], (last - own)[:, :-1].mean(axis=1))
        best = np.nanmax(accuracy[:, :-1, :-1], axis=1)
        np.testing.assert_allclose(found["forgetting"], (best - last[:, :-1]).mean(axis=1))
        assert np.isnan(found["forward_transfer"]).all()


def test_one_task_has_no_transfer():
    found = measures_of_errors(LagTable(np.array([[[0.25]]])))
    assert found["average_accuracy"].tolist() == [0.75]
    assert all(np.isnan(found[name]).all() for name in found if name != "average_accuracy")


def test_a_run_gives_them_everywhere(compiled, capsys):
    result = imrc.evaluate(
        imrc.datasets.load("random_walk", tasks=5), n=6, b=2, repetitions=2, methods=("imrc", "gem", "pooled")
    )
    found = result.measures()
    assert list(found) == list(result.error_tables)
    for rule in ("single", "forward"):
        assert found[rule]["backward_transfer"].mean == found[rule]["forgetting"].mean == 0.0
    final = np.nanmean(1.0 - result.errors["gem"][:, -1], axis=1)
    assert found["gem"]["average_accuracy"].mean == pytest.approx(final.mean())
    for rule, name in (("gem", "gem"), ("single", "single"), ("forward", "imrc"), ("forward_backward", "imrc")):
        known = (result.before["majority"] - result.before[name])[:, 1:].mean()
        assert found[rule]["forward_transfer"].mean == pytest.approx(known)
    own = error_matrix(1.0 - np.asarray(result.errors["forward_backward"])).measures().set_index("measure")
    assert own.loc["Average accuracy", "value"] == pytest.approx(found["forward_backward"]["average_accuracy"].mean)
    assert own.loc["Forgetting", "stderr"] == pytest.approx(found["forward_backward"]["forgetting"].stderr)
    rows = measure_rows(result.measures())
    assert len(rows) == 5 * len(MEASURES)
    assert all(row["formula"] and row["source"] for row in rows)

    arguments = ["run", "random_walk", "-k", "5", "-n", "6", "-b", "2", "--repetitions", "2"]
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    by_rule = {row["rule"]: row for row in (*printed["rules"], *printed["references"])}
    assert by_rule["pooled"]["average_accuracy"] == found["pooled"]["average_accuracy"].mean
    assert by_rule["forward_backward"]["stderr_forgetting"] == found["forward_backward"]["forgetting"].stderr
    assert set(printed["measures"]) == {one.title for one in MEASURES.values()}
    assert main([*arguments, "--csv"]) == 0
    row = next(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(row["average_accuracy"]) == found["single"]["average_accuracy"].mean
    assert float(row["forward_transfer"]) == found["single"]["forward_transfer"].mean


def test_the_reference_of_forward_transfer_knows_nothing_of_the_task(compiled):
    # A class of one task only: answering it is right in that task and wrong in all others.
    columns = np.random.default_rng(0).normal(size=(4, 40, 2))
    sequence = imrc.TaskSequence(tuple(imrc.Task(X, np.full(40, j)) for j, X in enumerate(columns)), "one class each")
    result = imrc.evaluate(sequence, n=5, repetitions=2, methods=("logistic_seen", "majority"))
    assert np.isnan(result.before["majority"][:, 0]).all()
    np.testing.assert_array_equal(result.before["majority"][:, 1:], 1.0)
    assert result.measures()["logistic_seen"]["forward_transfer"].mean == 0.0
    alone = imrc.evaluate(sequence, n=5, repetitions=2, methods=("logistic_seen",))
    np.testing.assert_array_equal(alone.before["majority"], result.before["majority"])


BAD = {
    "not square": (R[:2], "one row per step"),
    "one task": (R[:1, :1], "one row per step"),
    "a gap below": (np.where(np.eye(4, dtype=bool), np.nan, R), r"R\[1, 1\]"),
    "negative": (-R, "between 0 and 1"),
    "percent": (100 * R, "Divide percent by 100"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_matrix_is_said(case):
    values, said = BAD[case]
    with pytest.raises(DataError, match=said):
        error_matrix(values, name=case)


def test_the_heatmap_says_nothing_of_test_samples():
    figure = error_heatmaps({"<b>theirs": error_matrix(R).table()})
    assert "test samples" not in figure.to_json()
    assert "<b>theirs" not in figure.to_json().replace("\\u003c", "<")
    assert "10 cells" in describe(figure)


# Probabilities


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
