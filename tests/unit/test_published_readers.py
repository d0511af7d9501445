"""Published files that do not hold what they should, and the forms not at hand: messages, years, features."""

import contextlib
import io
import types

import numpy as np
import pytest
import scipy.io

from imrc import datasets
from imrc.datasets import DataError, DownloadError, _fetch, facts
from imrc.datasets._features import interpret_mat, read_mat, read_npz, sequence_from_features
from imrc.features import Representation, make
from tests.unit.known_files import npz, zipped


@pytest.fixture
def put(nothing_here, monkeypatch):
    """Return a function that puts a file where a data set is looked for; its checksum is taken as right."""
    monkeypatch.setattr("imrc.datasets._catalogue.verify", lambda file, path: None)

    def write(path: str, data: bytes):
        target = nothing_here / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return target

    return write


ARFF = b"@relation p\n@attribute a numeric\n@attribute b numeric\n@attribute h {0}\n@data\n"


@pytest.mark.parametrize(
    ("name", "path", "data", "message"),
    [
        ("power_supply", "power_supply/powersupply.arff", ARFF + b"1,2,3\n", "found 1 and 2"),
        ("spam", "spam/Spam.zip", b"PK\x05\x06" + b"\0" * 18, "does not contain Spam.arff"),
        ("rotated_mnist", "mnist/train-images-idx3-ubyte.gz", b"", "missing"),
    ],
)
def test_files_that_hold_something_else(put, name, path, data, message):
    put(path, data)
    with pytest.raises(DataError, match=message):
        datasets.load(name)


def test_spam_from_the_authors_csv_is_the_same_as_from_the_archive(real_data, put):
    from imrc.tables.packed import unpack

    arff = unpack((real_data / "spam" / "Spam.zip").read_bytes(), 1 << 24, "Spam.arff")[0].decode()
    rows = [row.strip().rstrip(",") for row in arff.lower().partition("@data")[2].splitlines() if row.strip()]
    put("spam/spam.csv", "\r\n".join(rows).encode())
    from_csv = datasets.load("spam")
    assert from_csv.info["rows"] == 6213
    put("spam/Spam.zip", (real_data / "spam" / "Spam.zip").read_bytes())
    from_archive = datasets.load("spam")
    assert from_csv.fingerprint == from_archive.fingerprint


def test_years_of_yearbook_tasks(real_data, put):
    attributes = (real_data / "yearbook" / "yearbook_attributes.csv").read_bytes()
    rows = attributes.decode().splitlines()[1:]
    X = np.zeros((37921, 4), dtype=np.float32)
    put("yearbook/yearbook_resnet18.npz", npz(features=X, labels=np.arange(37921) % 2))
    put("yearbook/yearbook_attributes.csv", attributes)
    sequence = datasets.load("yearbook")
    assert len(sequence) == 126
    assert sequence.labels[0] == f"{rows[0][:4]}–{rows[299][:4]}"
    assert sequence.labels[-1] == f"{rows[125 * 300][:4]}–{rows[126 * 300 - 1][:4]}"
    assert sequence.labels[0].startswith("1905")
    put("yearbook/yearbook_attributes.csv", attributes[: len(attributes) // 2])
    assert datasets.load("yearbook").labels[0] == "1"


def test_own_feature_files_that_do_not_fit(put):
    X = np.zeros((3, 2))
    for name, arrays, message in (
        ("utkfaces", {"x": X}, "needs the arrays 'features' and 'labels'; it has x"),
        ("utkfaces", {"features": X, "labels": np.zeros(4)}, "do not match"),
        ("utkfaces", {"features": X, "labels": np.zeros(3)}, "3 rows are too few for one task of 250"),
        ("clear", {"features": X, "labels": np.arange(3)}, "which row belongs to which task"),
    ):
        put(f"{name}/{name}_resnet18.npz", npz(**arrays))
        with pytest.raises(DataError, match=message):
            datasets.load(name)
    row = ",".join(["1"] * 513)
    for lines, message in (
        ("1,2,3\n4,5,6\n", "has 3 columns; 512 features and a label"),
        (f"{row}\n{row[:-1]}x\n", "is not a number: In CSV column 513"),
    ):
        for number in (1, 2, 3):
            put(f"yearbook/yearbook_features_resnet18_{number}.csv", lines.encode())
        with pytest.raises(DataError, match=message):
            datasets.load("yearbook")


def test_own_feature_file_with_tasks_and_their_names(put, rng):
    tasks, names = np.repeat(np.arange(6), 8), ["real", "painting", "infograph", "clipart", "sketch", "quickdraw"]
    X = rng.standard_normal((48, 512)).astype(np.float32)
    arrays = {"features": X, "labels": np.arange(48) % 4, "tasks": tasks, "task_names": np.array(names)}
    put("domainnet/domainnet_resnet18.npz", npz(**arrays))
    sequence = datasets.load("domainnet")
    assert sequence.labels == tuple(names)
    assert sequence.class_counts().tolist() == [[2, 2, 2, 2]] * 6
    np.testing.assert_array_equal(sequence[4].X, X[32:40])


def test_matlab_features_of_domains(put, rng):
    X, y, domain = rng.standard_normal((48, 512)), np.arange(48) % 4 + 1, np.repeat(np.arange(6), 8)
    out = io.BytesIO()
    scipy.io.savemat(out, {"data": {"first": np.column_stack([y, X]), "domain": domain}})
    put("domainnet/domain_4_classes.mat", out.getvalue())
    sequence = datasets.load("domainnet")
    np.testing.assert_array_equal(sequence[3].X, X[24:32])
    assert sequence[3].y.tolist() == [1, 2, 3, 4, 1, 2, 3, 4]
    assert sequence.class_names == facts("domainnet").class_names


def _yearbook_csv(rows, header, index, generator):
    X = generator.standard_normal((rows, 512)).round(4)
    y = generator.integers(0, 2, rows)
    lines = [",".join([*([str(i)] if index else []), *map(str, X[i]), str(float(y[i]))]) for i in range(rows)]
    if header:
        lines.insert(0, ",".join([*([""] if index else []), *map(str, range(512)), "512"]))
    return "\n".join(lines).encode(), X, y


@pytest.mark.parametrize(("header", "index"), [(False, False), (True, False), (True, True), (False, True)])
def test_yearbook_feature_files_in_each_published_form(header, index, put, rng):
    first, X1, y1 = _yearbook_csv(200, header, index, rng)
    second, X2, y2 = _yearbook_csv(150, header, index, rng)
    first = first.replace(str(X1[3, 7]).encode(), b"", 1)  # a missing value
    X1[3, 7] = np.nan
    for name, data in (("yearbook_features_resnet18_1.csv", first), ("yearbook_features_resnet18_2.csv", second)):
        put(f"yearbook/{name}.zip", zipped({name: data}))
    sequence = sequence_from_features(facts("yearbook"))
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
    with pytest.raises(DataError, match=r"Its variables are A \(3, 3\)"):
        interpret_mat(_mat(A=np.eye(3)), entry)


def test_objects_are_not_read():
    out = io.BytesIO()
    np.savez(out, a=np.zeros(1000), b=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="Object arrays cannot be loaded"):
        read_npz(out.getvalue())


# Downloads: what goes wrong on the other side, and on this one


def test_endless_answers_are_cut_off(put, monkeypatch):
    answer = contextlib.nullcontext(
        types.SimpleNamespace(headers={}, raise_for_status=lambda: None, iter_content=lambda size: 9 * [bytes(300)])
    )
    monkeypatch.setattr("requests.get", lambda url, **_: answer)
    monkeypatch.setattr(_fetch, "MAX_DOWNLOAD_BYTES", 1000)
    with pytest.raises(DownloadError, match="sent a file far larger"):
        datasets.download("german")


def test_optional_file_comes_with_the_download(put):
    asked = []

    def get(file, url, target, progress):
        asked.append(file.name)
        target.write_bytes(b"x")

    datasets.download("yearbook", downloader=get)
    parts = [f"yearbook_features_resnet18_{number}.csv.zip" for number in (1, 2)]
    assert asked == [*parts, "yearbook_attributes.csv"]
