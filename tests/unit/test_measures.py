"""Measures of continual learning against numbers worked out by hand from a matrix of accuracies."""

import csv
import io
import json

import numpy as np
import pytest

import imrc
from imrc.cli import main
from imrc.evaluation import LagTable, error_matrix
from imrc.evaluation.measures import MEASURES, measure_rows, measures_of_errors

# R[step, task] of four tasks, nothing known above the diagonal.
R = np.array([[0.9, np.nan, np.nan, np.nan], [0.7, 0.8, np.nan, np.nan], [0.8, 0.6, 0.5, np.nan], [0.6, 0.7, 0.9, 0.4]])


def test_by_hand():
    before = 1.0 - np.array([[0.5, 0.3, 0.6, 0.2]])
    reference = 1.0 - np.array([[0.5, 0.5, 0.25, 0.25]])
    found = measures_of_errors(error_matrix(R).errors, before, reference)
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
