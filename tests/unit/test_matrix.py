"""Error matrices from elsewhere: layouts, gaps, and arrays that are none."""

import numpy as np
import pytest

import imrc
from imrc._checks import DataError
from imrc.evaluation import error_matrix
from imrc.plots import describe, error_heatmaps

R = np.array([[0.9, 0.5, 0.4], [0.7, 0.8, 0.6], [0.6, 0.75, 0.85]])
LOWER = np.where(np.tri(3, dtype=bool), R, np.nan)


LAYOUTS = {
    "lists": R.tolist(),
    "repetitions": np.stack([R, R]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_errors_and_measures(layout):
    found = error_matrix(LAYOUTS[layout], name=layout)
    np.testing.assert_allclose(found.errors.dense()[0], 1.0 - LOWER)
    measures = found.measures().set_index("measure")["value"]
    assert measures["Average accuracy"] == pytest.approx(R[2].mean())
    assert measures["Backward transfer"] == pytest.approx(((R[2, 0] - 0.9) + (R[2, 1] - 0.8)) / 2)
    assert measures["Forgetting"] == pytest.approx((0.3 + 0.05) / 2)


def test_gaps_above_the_diagonal():
    found = error_matrix(LOWER)
    np.testing.assert_allclose(found.errors.dense()[0], 1.0 - LOWER)


def test_a_run_and_its_own_matrix_have_the_same_measures():
    run = imrc.evaluate(imrc.datasets.load("random_walk", tasks=6), n=10, repetitions=3)
    dense = np.asarray(run.errors["forward_backward"])
    found = error_matrix(1.0 - dense).measures().set_index("measure")
    expected = run.measures()["forward_backward"]
    assert found.loc["Average accuracy", "value"] == pytest.approx(expected["average_accuracy"].mean)
    assert found.loc["Forgetting", "stderr"] == pytest.approx(expected["forgetting"].stderr)


BAD = {
    "not square": (R[:2], "one row per step"),
    "one task": (R[:1, :1], "one row per step"),
    "a gap below": (np.where(np.eye(3, dtype=bool), np.nan, R), r"R\[1, 1\]"),
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
    assert "6 cells" in describe(figure)
