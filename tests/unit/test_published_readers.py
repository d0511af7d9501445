"""Published files that do not hold what they should, and the forms not at hand: messages, second sets, years."""

import contextlib
import errno
import io
import types

import numpy as np
import pytest
import scipy.io

from imrc import datasets
from imrc.datasets import DataError, DownloadError, _fetch, facts
from tests.unit.known_files import npz


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Return a function that puts a file where a data set is looked for; its checksum is taken as right."""
    monkeypatch.setenv("IMRC_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("imrc.datasets._catalogue.verify", lambda file, path: None)

    def write(path: str, data: bytes):
        target = tmp_path / "cache" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return target

    return write


ARFF = b"@relation p\n@attribute a numeric\n@attribute b numeric\n@attribute h {0}\n@data\n"


@pytest.mark.parametrize(
    ("name", "path", "data", "message"),
    [
        ("power_supply", "power_supply/powersupply.arff", ARFF + b"1,2,3\n", "found 1 and 2"),
        ("spam", "spam/Spam.zip", b"PK\x05\x06" + b"\0" * 18, "does not hold Spam.arff"),
        ("rotated_mnist", "mnist/train-images-idx3-ubyte.gz", b"", "missing"),
    ],
)
def test_files_that_hold_something_else(put, name, path, data, message):
    put(path, data)
    with pytest.raises(DataError, match=message):
        datasets.load(name)


def test_spam_from_the_authors_csv_is_the_same_as_from_the_archive(real_data, put):
    from imrc.tables.packed import unzip
    from imrc.tables.read import parse_arff

    _, columns, _ = parse_arff(unzip((real_data / "spam" / "Spam.zip").read_bytes(), "Spam.arff", 1 << 24))
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
    put("spam/spam.csv", "\r\n".join(map(",".join, rows)).encode())
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
        ("utkfaces", {"x": X}, "should hold arrays 'features' and 'labels'; it holds x"),
        ("utkfaces", {"features": X, "labels": np.zeros(4)}, "do not fit together"),
        ("utkfaces", {"features": X, "labels": np.zeros(3)}, "3 rows do not make one task of 250"),
        ("clear", {"features": X, "labels": np.arange(3)}, "which row belongs to which task"),
    ):
        put(f"{name}/{name}_resnet18.npz", npz(**arrays))
        with pytest.raises(DataError, match=message):
            datasets.load(name)
    row = ",".join(["1"] * 513)
    for lines, message in (
        ("1,2,3\n4,5,6\n", "has 3 columns; 512 features and a label"),
        (f"{row}\n{row[:-1]}x\n", "is no number: In CSV column 513"),
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


# Downloads: what goes wrong on the other side, and on this one


class _Answer(OSError):
    def __init__(self, status: int) -> None:
        super().__init__(f"{status} Client Error")
        self.response = types.SimpleNamespace(status_code=status)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (_Answer(404), "answered with status 404"),
        (TimeoutError("timed out"), "cannot be reached"),
        (ValueError("odd\nsecond line"), r"archive.ics.uci.edu: odd;"),
        (OSError(errno.ENOSPC, "no room"), r"cannot be written to .*IMRC_CACHE"),
        (OSError(errno.EACCES, "no right"), r"cannot be written to .*IMRC_CACHE"),
    ],
)
def test_what_went_wrong_is_said_in_few_words_and_the_disk_is_not_blamed_on_the_network(put, error, message):
    def get(file, url, target, progress):
        raise error

    with pytest.raises(DownloadError, match=message) as caught:
        datasets.download("german", downloader=get)
    assert len(caught.value.reason) < 250


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
