"""Error matrices from elsewhere: layouts, names, percent, and files that are none."""

import contextlib
import io

import numpy as np
import pytest

import imrc
from imrc._checks import DataError
from imrc.evaluation import error_matrix, read_matrix
from imrc.evaluation.measures import measures_of
from imrc.plots import describe, error_heatmaps

R = np.array([[0.9, 0.5, 0.4], [0.7, 0.8, 0.6], [0.6, 0.75, 0.85]])
LOWER = np.where(np.tri(3, dtype=bool), R, np.nan)


def npy(values) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def text(values, mark=",", names=False) -> bytes:
    rows = [[f"{value:g}" for value in row] for row in values]
    if names:
        rows = [["", "t1", "t2", "t3"], *([f"after {i}", *row] for i, row in enumerate(rows, start=1))]
    return "\n".join(mark.join(row) for row in rows).encode()


LAYOUTS = {
    "npy": npy(R),
    "npy, Fortran order": npy(np.asfortranarray(R)),
    "npy, percent": npy(100 * R),
    "repetitions": npy(np.stack([R, R])),
    "csv": text(R),
    "csv with names": text(R, names=True),
    "semicolons and decimal commas": text(R, ";").replace(b".", b","),
    "tabs": text(R, "\t"),
    "tasks x times x tasks": npy(np.stack([R - 0.1, R - 0.05, R - 0.02, R], axis=1)),
    "long": b"eval_exp,training_exp,eval_accuracy,eval_loss,forgetting\n"
    + b"\n".join(f"{j},{i},{R[i, j]:.4f},0.1,0".encode() for i in range(3) for j in range(3)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_errors_and_measures(layout):
    found = read_matrix(LAYOUTS[layout], name=layout)
    np.testing.assert_allclose(found.errors.dense()[0], 1.0 - LOWER)
    measures = found.measures().set_index("measure")["value"]
    assert measures["Average accuracy"] == pytest.approx(R[2].mean())
    assert measures["Backward transfer"] == pytest.approx(((R[2, 0] - 0.9) + (R[2, 1] - 0.8)) / 2)
    assert measures["Forgetting"] == pytest.approx((0.3 + 0.05) / 2)
    assert measures["Accuracy on the next task"] == pytest.approx((0.5 + 0.6) / 2)


def test_errors_the_other_way_round_and_gaps_above_the_diagonal():
    found = error_matrix((1.0 - LOWER).T, holds="error", rows="tasks")
    np.testing.assert_allclose(found.errors.dense()[0], 1.0 - LOWER)
    assert found.before is None
    assert "Accuracy on the next task" not in set(found.measures()["measure"])
    # Zeros above the diagonal are what was not measured.
    assert error_matrix(np.tril(R)).before is None


def test_a_run_and_its_own_matrix_have_the_same_measures():
    run = imrc.evaluate(imrc.datasets.load("random_walk", tasks=6), n=10, repetitions=3)
    dense = np.asarray(run.errors["forward_backward"])
    found = error_matrix(dense, holds="error").measures().set_index("measure")
    expected = measures_of(run)["forward_backward"]
    assert found.loc["Average accuracy", "value"] == pytest.approx(expected["average_accuracy"].mean)
    assert found.loc["Forgetting", "stderr"] == pytest.approx(expected["forgetting"].stderr)


BAD = {
    "not square": (npy(R[:2]), "one row per step"),
    "one task": (npy(R[:1, :1]), "one row per step"),
    "a gap below": (npy(np.where(np.eye(3, dtype=bool), np.nan, R)), r"R\[1, 1\]"),
    "negative": (npy(-R), "between 0 and 1"),
    "huge": (npy(1000 * R), "between 0 and 1"),
    "words": (b"0.1,0.2\nx,y\n", "not a number"),
    "empty": (b"", "empty"),
    "bytes": (b"\xff\xfe\x00\x01", "neither"),
    "objects": (npy(np.array([[1, "a"], [2, "b"]], dtype=object)), "numbers"),
    "cut off": (npy(R)[:-9], "cut off"),
    "a header that lies": (npy(R).replace(b"(3, 3)", b"(9, 9)"), "cut off"),
    "a damaged header": (npy(R).replace(b"descr", b"d(scr"), "cannot be read"),
    "long, damaged": (b"eval_exp,training_exp,eval_accuracy\n0,0,good\n", "Row 2"),
    "long, far away": (b"eval_exp,training_exp,eval_accuracy\n0,99999999,0.5\n", "experiences count"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_matrix_is_said(case):
    data, said = BAD[case]
    with pytest.raises(DataError, match=said):
        read_matrix(data, name=case)


def test_any_bytes_give_a_matrix_or_a_message():
    rng = np.random.default_rng(8)
    for data in (*LAYOUTS.values(), *(content for content, _ in BAD.values())):
        for _ in range(30):
            damaged = bytearray(data)
            for _ in range(rng.integers(1, 6)):
                if damaged:
                    damaged[rng.integers(len(damaged))] = rng.integers(256)
            with contextlib.suppress(DataError):
                read_matrix(bytes(damaged), name="damaged")


def test_the_heatmap_says_nothing_of_test_samples():
    figure = error_heatmaps({"<b>theirs": error_matrix(R).table()})
    assert "test samples" not in figure.to_json()
    assert "<b>theirs" not in figure.to_json().replace("\\u003c", "<")
    assert "6 cells" in describe(figure)
