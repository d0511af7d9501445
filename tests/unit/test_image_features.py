"""Image sets: the feature files of others, and what damaged files of arrays lead to."""

import io
import zipfile

import numpy as np
import pytest
import scipy.io

from imrc.datasets import DataError, facts
from imrc.datasets._arrays import read_idx, read_mat, read_npz
from imrc.datasets._features import interpret_mat, sequence_from_features
from imrc.features import Representation, make


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IMRC_DATA", str(tmp_path / "nothing"))
    return tmp_path / "cache"


def _yearbook_csv(rows, header, index, generator):
    X = generator.standard_normal((rows, 512)).round(4)
    y = generator.integers(0, 2, rows)
    lines = [",".join([*([str(i)] if index else []), *map(str, X[i]), str(float(y[i]))]) for i in range(rows)]
    if header:
        lines.insert(0, ",".join([*([""] if index else []), *map(str, range(512)), "512"]))
    return "\n".join(lines).encode(), X, y


@pytest.mark.parametrize(("header", "index"), [(False, False), (True, False), (True, True), (False, True)])
def test_yearbook_feature_files_in_each_published_form(header, index, tmp_path, cache, monkeypatch, rng):
    entry = facts("yearbook")
    first, X1, y1 = _yearbook_csv(200, header, index, rng)
    second, X2, y2 = _yearbook_csv(150, header, index, rng)
    first = first.replace(str(X1[3, 7]).encode(), b"", 1)  # a missing value
    X1[3, 7] = np.nan
    folder = cache / "yearbook"
    folder.mkdir(parents=True)
    for number, data in ((1, first), (2, second)):
        with zipfile.ZipFile(folder / f"yearbook_features_resnet18_{number}.csv.zip", "w") as archive:
            archive.writestr(f"yearbook_features_resnet18_{number}.csv", data)
    monkeypatch.setattr("imrc.datasets._catalogue.verify", lambda file, path: None)
    sequence = sequence_from_features(entry)
    assert (len(sequence), sequence.n_features) == (1, 512)
    X = np.concatenate([X1, X2])
    np.testing.assert_array_equal(sequence[0].X, X[:300])
    X[3, 7] = np.nanmedian(X[:300, 7])
    np.testing.assert_array_equal(make("identity", sequence).transform(sequence[0].X), X[:300])
    X[3, 7] = np.median(np.delete(X[:50, 7], 3))
    fifty = Representation.of("identity", sequence).learn(sequence[0].X[:50])
    np.testing.assert_array_equal(fifty.transform(sequence[0].X), X[:300])
    np.testing.assert_array_equal(sequence[0].y, np.concatenate([y1, y2])[:300])


def _mat(**variables):
    out = io.BytesIO()
    scipy.io.savemat(out, variables)
    return read_mat(out.getvalue())


def test_matlab_files_are_interpreted(rng):
    entry = facts("domainnet")
    X = rng.standard_normal((120, 512))
    y, task = np.arange(120) % 4, np.repeat(np.arange(6), 20)
    plain = interpret_mat(_mat(X=X, Y=y[:, None], domain=task[None, :]), entry)
    turned = interpret_mat(_mat(features=X.T, label=y, d=task), entry)
    with_label = interpret_mat(_mat(data=np.column_stack([X, y]), d=task), entry)
    per_domain = interpret_mat(_mat(**{f"d{j}": np.column_stack([X, y])[task == j] for j in range(6)}), entry)
    structs = interpret_mat(_mat(**{f"d{j}": {"X": X[task == j], "y": y[task == j]} for j in range(6)}), entry)
    for arrays in (plain, turned, with_label, per_domain, structs):
        np.testing.assert_array_equal(arrays["features"], X)
        np.testing.assert_array_equal(np.ravel(arrays["labels"]), y)
        np.testing.assert_array_equal(np.ravel(arrays["tasks"]), task)
    with pytest.raises(DataError, match=r"not clear. It holds: A \(3, 3\)"):
        interpret_mat(_mat(A=np.eye(3)), entry)


@pytest.mark.parametrize(
    ("data", "read", "message"),
    [
        (b"", read_mat, "not a readable MATLAB file"),
        (b"MATLAB 7.3 MAT-file" + b" " * 200, read_mat, "version 7.3"),
        (b"PK\x03\x04 broken", read_npz, "not a readable NPZ"),
        (b"\x93NUMPY\x01\x00 broken", read_npz, "not a readable NPZ"),
        (b"\0\0\x08\x03\0\0", read_idx, "cut short"),
        (b"hello", read_idx, "not an IDX file"),
        (bytes([0, 0, 8, 1, 0, 0, 0, 9, 1]), read_idx, "has 9 bytes, its header promises 17"),
    ],
)
def test_damaged_array_files(data, read, message):
    with pytest.raises(DataError, match=message):
        read(data)


def test_objects_are_not_read():
    out = io.BytesIO()
    np.savez(out, a=np.zeros(1000), b=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="Object arrays cannot be loaded"):
        read_npz(out.getvalue())
