"""Data sets of the catalogue: facts, lookup order, checksums, downloads, and what the published files hold."""

import contextlib
import errno
import functools
import gzip
import hashlib
import http.server
import subprocess
import threading
import time
import types
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imrc import datasets
from imrc.datasets import ChecksumError, DataError, DownloadError, NotAvailableError, _catalogue
from imrc.datasets._catalogue import RemoteFile
from imrc.paper import printed as in_print
from tests.unit.known_files import zipped


def test_every_data_set_of_the_paper_is_described_with_its_counts():
    entries = datasets.catalogue()
    for name in in_print.datasets():
        entry, printed = entries[name], in_print.characteristics(name)
        assert {"classes": entry.classes, "samples": entry.samples, "tasks": entry.tasks} == printed, name
        if entry.task_rows:
            assert entry.samples // entry.task_rows == entry.tasks
    assert {"weather", "electricity"} <= set(entries)
    assert {name for name, entry in entries.items() if entry.paper} == set(in_print.datasets())


@pytest.mark.parametrize("name", list(datasets.catalogue()))
def test_facts_are_complete(name):
    entry = datasets.facts(name)
    for text in (entry.title, entry.summary, entry.cut, entry.label, entry.source, entry.citation, entry.licence):
        assert len(text) > 3
    assert len(entry.description) > 100
    assert len(entry.class_names) == entry.classes
    assert len(entry.column_kinds) == entry.features
    assert set(entry.column_kinds) <= {"numeric", "binary", "pixel"}
    assert entry.homepage.startswith("http")
    lengths = {"sha256": 64, "sha256_content": 64, "md5": 32, "git_blob": 40}
    for file in entry.files:
        assert not Path(file.path).is_absolute()
        assert all(url.startswith("http") for url in file.urls)
        assert bool(file.urls) <= bool(file.algorithm), "what is downloaded must be checked"
        if file.algorithm:
            assert len(file.checksum) == lengths[file.algorithm]
            int(file.checksum, 16)


# Counts of the published files: rows, features, rows per class in the order of the classes, tasks.
COUNTS = {
    "power_supply": (29928, 2, [14964, 14964], 99),
    "usenet1": (1500, 99, [700, 800], 5),
    "usenet2": (1500, 99, [1000, 500], 5),
    "german": (1000, 24, [700, 300], 3),
    "spam": (6213, 499, [4144, 2069], 20),
    "weather": (18159, 8, [12461, 5698], 60),
    "covertype_excerpt": (20000, 54, [20000 - 6022, 6022], 66),
}


@pytest.mark.parametrize("name", list(COUNTS))
def test_published_files_hold_exactly_what_is_published(name, real_data):
    rows, features, per_class, tasks = COUNTS[name]
    sequence = datasets.load(name)
    assert sequence.info["rows"] == rows
    assert list(sequence.info["class_counts"].values()) == per_class
    assert sequence.n_features == features == len(sequence.feature_names)
    assert len(sequence) == tasks
    assert set(sequence.sizes) == {300}
    assert len(sequence.class_names) == sequence.n_classes == len(per_class)


def test_rows_keep_their_order(real_data):
    power = datasets.load("power_supply")
    # Hours run 0, 1, ..., 23 from the first row: 12 of am, then 12 of pm. The first row is 1495, 1490.
    assert power[0].y[:48].tolist() == (["am"] * 12 + ["pm"] * 12) * 2
    text = (real_data / "power_supply" / "powersupply.arff").read_text().split("@data", 1)[-1].split("@DATA", 1)[-1]
    lines = [line.split(",") for line in text.split() if line]
    for task, row in ((0, 0), (50, 17), (98, 299)):
        assert power[task].X[row].tolist() == [float(cell) for cell in lines[300 * task + row][:2]]
    # The row with the stray comma (22,203rd) is read like the others.
    assert power[74].X[2].tolist() == [128.3, 93.3]
    assert power[74].y[2] == "am"
    per_block = [[100, 200], [200, 100], [100, 200], [200, 100], [100, 200]]
    assert datasets.load("usenet1").class_counts().tolist() == per_block
    assert datasets.load("usenet2").class_counts().tolist() == [[200, 100]] * 5
    spam = datasets.load("spam").class_counts()[:, 1] / 300
    assert spam[:2].min() >= 0.98
    assert spam[9] == 0.0


def test_german_and_weather_equal_an_independent_reader(real_data):
    weather = {"delimiter": ",", "skiprows": 1}
    files = {"german": ("german_credit/german.data-numeric", {}), "weather": ("weather/weather.csv", weather)}
    for name, (file, options) in files.items():
        rows, sequence = np.loadtxt(real_data / file, **options), datasets.load(name)
        whole = rows[: sequence.sizes.sum()]
        np.testing.assert_array_equal(np.concatenate([task.X for task in sequence]), whole[:, :-1])
        if name == "german":
            np.testing.assert_array_equal(np.concatenate([task.y for task in sequence]), whole[:, -1])


@pytest.fixture
def covertype(real_data):
    if not datasets.status("covertype").loadable:
        pytest.skip("all of Covertype is not on this computer")


@pytest.mark.slow
def test_covertype_with_either_reading_of_its_two_classes(covertype):
    guess, lodgepole = (datasets.load("covertype", **options) for options in ({}, {"labels": "2"}))
    assert (len(guess), set(guess.sizes), guess.n_features, guess.info["rows"]) == (1936, {300}, 54, 581_012)
    # As published: 211840, 283301, 35754, 2747, 9493, 17367, 20510 rows of types 1 to 7.
    assert guess.info["class_counts"] == {0: 50_117, 1: 530_895}
    assert lodgepole.info["class_counts"] == {0: 297_711, 1: 283_301}
    assert guess.class_names == ("other cover types", "cover types 1, 2, 3")
    for other in (datasets.load("covertype", tasks=60), guess.head(60)):
        assert other.fingerprint == datasets.load("covertype", tasks=60, seed=4).fingerprint
    started = time.process_time()  # only these tasks are read; the checksum was looked at above, once per process
    datasets.load("covertype", tasks=60)
    assert time.process_time() - started < 0.5
    entry = datasets.entry("covertype")
    assert (entry.tasks, entry.opens_with, entry.max_tasks) == (1936, 60, 1936)
    # The file begins with the excerpt.
    excerpt = datasets.load("covertype_excerpt")
    assert lodgepole.head(66).fingerprint == excerpt.fingerprint
    for wrong in (0, 1937):
        with pytest.raises(ValueError, match="must be between"):
            datasets.load("covertype", tasks=wrong)


def test_covertype_excerpt(real_data):
    sequence = datasets.load("covertype_excerpt")
    assert sequence.info["class_counts"] == {0: 20_000 - 6022, 1: 6022}
    assert sequence.column_kinds[9:11] == ("numeric", "binary")
    with pytest.raises(ValueError, match="labels must be one of"):
        datasets.load("covertype_excerpt", labels="all")


@pytest.mark.slow
def test_rotated_mnist(real_data):
    from imrc.datasets._published import _images
    from imrc.datasets.digits import rotate_images

    sequence = datasets.load("rotated_mnist", tasks=350, seed=4)
    assert (len(sequence), set(sequence.sizes)) == (350, {200})
    assert sequence.n_features == 784
    entry = datasets.facts("rotated_mnist")
    files = _catalogue.require(entry)
    images, digits = _images(files, tuple(path.stat().st_mtime_ns for _, path in files))
    raw = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
    assert np.bincount(digits).tolist() == raw
    assert sequence.class_counts().sum(axis=0).tolist() == [sum(raw[:5]), sum(raw[5:])]
    # The compiled rotation against the plain one, image by image, with the same draws; then one angle per task.
    alike = datasets.load("rotated_mnist", tasks=350, seed=4, angles="task", labels="more than 5")
    assert alike.class_counts().sum(axis=0).tolist() == [42048, 27952]
    for found, drawn in ((sequence, 70_000), (alike, 350)):
        generator = np.random.default_rng([4, 28])
        order = generator.permutation(70_000)
        angles = (np.repeat(np.arange(350), drawn // 350) + generator.random(drawn)) * 180.0 / 350
        angles = np.repeat(angles, 70_000 // drawn)
        for task in (0, 200, 349):
            rows = slice(200 * task, 200 * task + 20)
            expected = np.clip(rotate_images(images[order[rows]] / 255.0, angles[rows]), 0, 1).reshape(20, -1)
            np.testing.assert_allclose(found[task].X[:20], expected, atol=1e-12)
            assert ((angles[rows] >= task * 180 / 350) & (angles[rows] <= (task + 1) * 180 / 350)).all()
            for drawn_of, above in ((sequence, 4), (alike, 5)):
                assert ((drawn_of[task].y[:20] == drawn_of.classes[1]) == (digits[order[rows]] > above)).all()
    with pytest.raises(ValueError, match="angles must be one of"):
        datasets.load("rotated_mnist", angles="step")


@pytest.mark.slow
def test_faces_go_by_age(real_data):
    if not datasets.status("utkfaces_grey").loadable:
        pytest.skip("the small grey images are not here")
    faces = datasets.load("utkfaces_grey")
    assert (len(faces), set(faces.sizes), faces.n_features) == (94, {250}, 1024)
    assert faces.info["class_counts"] == {0: 12390, 1: 11317}
    assert faces.labels[0] == "1–1 years"
    assert faces.class_counts()[0, 1] == 0  # in the file the youngest are all male


ELECTRICITY = "@relation electricity\n" + "@attribute x numeric\n" * 8 + "@attribute class {UP,DOWN}\n@data\n"


def test_electricity_from_a_file_of_the_published_form(monkeypatch, two_places):
    monkeypatch.setattr("imrc.datasets._catalogue.verify", lambda file, path: None)
    lines = [
        f"0.{i % 10000:04d},{i // 48 % 7 + 1},{(i % 48) / 47:.6f},.056,.439,.003,.422,.414,{'UP' if i % 3 else 'DOWN'}"
        for i in range(45312)
    ]

    def load(rows: list[str]) -> datasets.TaskSequence:
        text = ELECTRICITY + "\n".join(rows) + "\n"
        packed = zipped({"readme.txt": b"not this one", "Electricity.arff": text.encode()})
        _put(two_places[0], datasets.facts("electricity").files[0], packed)
        return datasets.load("electricity")

    sequence = load(lines)
    assert (len(sequence), sequence.n_features, sequence.info["rows"]) == (151, 8, 45312)
    assert sequence.classes.tolist() == ["DOWN", "UP"]
    assert sequence[0].X[50].tolist() == [0.0050, 2, pytest.approx(2 / 47, abs=1e-6), 0.056, 0.439, 0.003, 0.422, 0.414]
    assert sequence[0].y[:4].tolist() == ["DOWN", "UP", "UP", "DOWN"]
    with pytest.raises(DataError, match="expected 45,312 rows and 8 features, found 600 and 8"):
        load(lines[:600])


# Lookup and checksums


@pytest.fixture
def two_places(tmp_path, nothing_here):
    return tmp_path / "nothing", nothing_here


def _put(folder: Path, file: RemoteFile, data: bytes) -> Path:
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_data_folder_comes_before_the_cache(two_places):
    data, cache = two_places
    file = datasets.facts("usenet1").files[0]
    assert _catalogue.find(file) is None
    assert not datasets.status("usenet1").loadable
    in_cache = _put(cache, file, b"c")
    assert _catalogue.find(file) == in_cache
    assert datasets.status("usenet1").where == "cache"
    in_data = _put(data, file, b"d")
    assert _catalogue.find(file) == in_data
    assert datasets.status("usenet1").where == "IMRC_DATA"


@pytest.fixture
def real_data_bytes(real_data):
    def read(name: str) -> bytes:
        return (real_data / datasets.facts(name).files[0].path).read_bytes()

    return read


def test_wrong_bytes_are_refused(real_data_bytes, two_places):
    good, file = real_data_bytes("usenet1"), datasets.facts("usenet1").files[0]
    one_byte = good[:5000] + bytes([good[5000] ^ 1]) + good[5001:]
    for bad in (good[:-100], one_byte, real_data_bytes("usenet2"), b""):
        path = _put(two_places[0], file, bad)
        with pytest.raises(ChecksumError, match="not the published file") as caught:
            datasets.load("usenet1")
        assert str(path) in str(caught.value)
        assert f"{len(bad):,} bytes" in str(caught.value)
    # Put right, it loads: the verdict on the old bytes is not kept.
    _put(two_places[0], file, good)
    assert len(datasets.load("usenet1")) == 5


CONTENT = b"rows of bytes" * 1000


def test_packed_content_is_checked_whatever_its_wrapper(tmp_path):
    gz = RemoteFile("f.gz", 0, "sha256_content", hashlib.sha256(CONTENT).hexdigest(), ())
    archive = replace(gz, path="f.zip", member="a.csv")
    for file, data, message in (
        (gz, gzip.compress(CONTENT, 1), ""),
        (gz, gzip.compress(CONTENT, 9), ""),
        (gz, gzip.compress(CONTENT + b"!"), "checksum"),
        (gz, gzip.compress(CONTENT)[:-20], "unpacked"),
        (archive, zipped({"a.csv": CONTENT}, zipfile.ZIP_STORED), ""),
        (archive, zipped({"a.csv": CONTENT}), ""),
        (archive, zipped({"a.csv": CONTENT + b"!"}), "checksum"),
        (archive, zipped({"b.csv": CONTENT}), "unpacked"),
        (archive, b"PK no archive", "unpacked"),
    ):
        with pytest.raises(ChecksumError, match=message) if message else contextlib.nullcontext():
            _catalogue.verify(file, _put(tmp_path, file, data))


def test_git_blob_is_what_git_says(tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(np.random.default_rng(0).bytes(100_000))
    expected = subprocess.run(["git", "hash-object", str(path)], capture_output=True, text=True, check=True)
    assert _catalogue.digest(path, "git_blob") == expected.stdout.strip()


def test_missing_data_say_how_to_get_them(two_places):
    data, _ = two_places
    with pytest.raises(NotAvailableError) as caught:
        datasets.load("spam")
    for part in ("Spam is not on this computer", "download('spam')", "https://", str(data / "spam" / "Spam.zip")):
        assert part in str(caught.value)
    with pytest.raises(NotAvailableError, match=r"utkfaces_resnet18.npz from the images .*page Features of images"):
        datasets.load("utkfaces")
    status = datasets.status("power_supply")
    assert (status.loadable, status.downloadable, status.size_bytes) == (False, True, 397055)
    assert status.in_words == "Not on this computer; download 0.4 MB."
    assert not datasets.status("clear").downloadable


# Downloads, with a downloader of the test's own


def _serving(content: dict[str, bytes | BaseException], asked: list[str]):
    def get(file, url: str, target: Path, progress) -> None:
        asked.append(url)
        answer = content.get(url, ConnectionError("no route to host\nand more"))
        if isinstance(answer, BaseException):
            target.write_bytes(b"half of it")
            raise answer
        progress(file.name, len(answer), file.size_bytes)
        target.write_bytes(answer)

    return get


def test_download_checks_puts_in_place_and_then_loads(real_data_bytes, two_places):
    _, cache = two_places
    good = real_data_bytes("power_supply")
    file = datasets.facts("power_supply").files[0]
    seen: list[tuple[str, int, int]] = []
    asked: list[str] = []
    folder = datasets.download(
        "power_supply",
        progress=lambda *values: seen.append(values),
        downloader=_serving({file.urls[0]: b"<html>not found</html>", file.urls[1]: good}, asked),
    )
    assert folder == cache
    assert asked == list(file.urls), "the first address gave other bytes, so the mirror is tried"
    assert seen[-1] == ("powersupply.arff", 397055, 397055)
    assert [path.name for path in (cache / "power_supply").iterdir()] == ["powersupply.arff"]
    assert len(datasets.load("power_supply")) == 99
    datasets.download("power_supply", downloader=_serving({}, asked))
    assert len(asked) == 2, "what is there and right is not downloaded again"


def test_failed_download_leaves_nothing_and_says_what_to_do(two_places):
    _, cache = two_places
    asked: list[str] = []
    with pytest.raises(DownloadError, match="German credit could not be downloaded") as caught:
        datasets.download("german", downloader=_serving({}, asked))
    for part in ("raw.githubusercontent.com cannot be reached", "By hand", "Is this computer online"):
        assert part in str(caught.value)
    assert "no route" not in str(caught.value)
    assert "By hand" not in caught.value.reason
    assert len(asked) == 2
    refused = OSError("404 Client Error")
    refused.response = types.SimpleNamespace(status_code=404)
    for name, answer, error, message in (
        ("usenet2", b"abc", DownloadError, r"did not return the published file \(it sent 3 bytes\)"),
        ("german", KeyboardInterrupt(), KeyboardInterrupt, None),
        ("german", refused, DownloadError, "answered with status 404"),
        ("german", TimeoutError("timed out"), DownloadError, "cannot be reached"),
        ("german", ValueError("odd\nsecond line"), DownloadError, r"archive.ics.uci.edu: odd;"),
        # The disk is not blamed on the network.
        ("german", OSError(errno.ENOSPC, "no room"), DownloadError, r"cannot be written to .*IMRC_CACHE"),
        ("german", OSError(errno.EACCES, "no right"), DownloadError, r"cannot be written to .*IMRC_CACHE"),
    ):
        served = _serving(dict.fromkeys(datasets.facts(name).files[0].urls, answer), asked)
        with pytest.raises(error, match=message) as caught:
            datasets.download(name, downloader=served)
        assert len(getattr(caught.value, "reason", "")) < 250
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_data_without_addresses_cannot_be_downloaded(two_places):
    with pytest.raises(DownloadError, match=r"cannot be downloaded.*page Features of images"):
        datasets.download("imagenet_noise")
    with pytest.raises(ValueError, match="must be one of"):
        datasets.download("nothing")


def test_the_real_downloader_against_a_server_on_this_machine(two_places, tmp_path, monkeypatch):
    content = np.random.default_rng(1).bytes(300_000)
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "file.bin").write_bytes(content)

    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(tmp_path / "www"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        here = f"http://127.0.0.1:{server.server_port}"
        urls = (f"{here}/nothing.bin", f"{here}/file.bin")
        file = RemoteFile("x/file.bin", 300_000, "sha256", hashlib.sha256(content).hexdigest(), urls)
        monkeypatch.setitem(datasets.catalogue(), "german", replace(datasets.facts("german"), files=(file,)))
        seen: list[tuple[str, int, int]] = []
        folder = datasets.download("german", progress=lambda *values: seen.append(values))
        assert (folder / "x" / "file.bin").read_bytes() == content
        assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
        assert seen[-1] == ("file.bin", 300_000, 300_000)
        assert len(seen) > 2
        gone = replace(file, path="y/file.bin", urls=urls[:1])
        monkeypatch.setitem(datasets.catalogue(), "german", replace(datasets.facts("german"), files=(gone,)))
        with pytest.raises(DownloadError, match="answered with status 404"):
            datasets.download("german")
    finally:
        server.shutdown()
        server.server_close()
