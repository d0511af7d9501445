"""Image sets: listing, preparing, extracting (resumable), and the feature files of others."""

import importlib.util
import io
import zipfile

import numpy as np
import pytest
import scipy.io

from imrc import datasets
from imrc.datasets import DataError, _images, extract_features, facts
from imrc.datasets._arrays import read_idx, read_mat, read_npz
from imrc.datasets._features import interpret_mat, sequence_from_features
from imrc.features import Representation, make

Image = pytest.importorskip("PIL.Image", reason="pillow is not installed")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IMRC_DATA", str(tmp_path / "nothing"))
    return tmp_path / "cache"


def _paint(path, generator, size=(20, 30)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(generator.integers(0, 256, (*size, 3), dtype=np.uint8)).save(path)


def colour_means(batch):
    """A backbone of the test's own: 512 numbers that tell images apart."""
    flat = batch.reshape(len(batch), -1)
    return np.stack([flat[:, j::512].mean(axis=1) for j in range(512)], axis=1)


def _faces(folder, generator, count=510):
    for i in range(count):
        _paint(folder / f"{1 + i // 100}_{i % 2}_0_{i:06d}.jpg", generator, (8, 8))
    return folder


def test_domains_become_tasks(tmp_path, cache, rng):
    for domain in _images.DOMAINS:
        for name in ("Airplane", "ambulance", "bus", "police car"):
            for i in range(2):
                _paint(tmp_path / "images" / domain / name / f"{i}.png", rng)
    seen = []
    path = extract_features(
        "domainnet", tmp_path / "images", backbone=colour_means, batch_size=7, progress=lambda *v: seen.append(v)
    )
    assert path == cache / "domainnet" / "domainnet_resnet18.npz"
    assert seen[0] == (0, 48)
    assert seen[-1] == (48, 48)
    sequence = datasets.load("domainnet")
    assert sequence.labels == _images.DOMAINS
    assert sequence.class_counts().tolist() == [[2, 2, 2, 2]] * 6
    assert sequence.n_features == 512
    image = Image.open(tmp_path / "images" / "sketch" / "bus" / "1.png")
    expected = colour_means(_images.prepare(image)[None])[0]
    np.testing.assert_allclose(sequence[4].X[5], expected, rtol=1e-6)


def test_extraction_goes_on_where_it_was_stopped(tmp_path, cache, rng):
    folder = _faces(tmp_path / "faces", rng)
    calls = []

    def failing(batch):
        calls.append(len(batch))
        if len(calls) == 6:
            raise KeyboardInterrupt
        return colour_means(batch)

    with pytest.raises(KeyboardInterrupt):
        extract_features("utkfaces", folder, backbone=failing, batch_size=50, save_every=2)
    assert not datasets.status("utkfaces").loadable
    again = []

    def counting(batch):
        again.append(len(batch))
        return colour_means(batch)

    path = extract_features("utkfaces", folder, backbone=counting, batch_size=50)
    assert sum(again) == 510 - 200, "four batches of 50 had been saved"
    assert sorted(item.name for item in path.parent.iterdir()) == [path.name]
    resumed = read_npz(path.read_bytes())
    whole = read_npz(
        extract_features("utkfaces", folder, output=tmp_path / "w.npz", backbone=colour_means).read_bytes()
    )
    np.testing.assert_array_equal(resumed["features"], whole["features"])
    sequence = datasets.load("utkfaces")
    assert (len(sequence), set(sequence.sizes)) == (2, {250})


def test_other_images_do_not_go_on_from_a_stopped_extraction(tmp_path, cache, rng):
    folder = _faces(tmp_path / "faces", rng, 60)

    def failing(batch):
        if failing.calls == 2:
            raise KeyboardInterrupt
        failing.calls += 1
        return colour_means(batch)

    failing.calls = 0
    with pytest.raises(KeyboardInterrupt):
        extract_features("utkfaces", folder, backbone=failing, batch_size=20, save_every=1)
    (folder / "1_0_0_000000.jpg").unlink()
    again = []
    extract_features("utkfaces", folder, backbone=lambda b: again.append(len(b)) or colour_means(b), batch_size=20)
    assert sum(again) == 59


def test_noise_grows_over_tasks_and_is_the_same_every_time(tmp_path, cache, rng):
    for name in ("bird", "snake"):
        for i in range(20):
            _paint(tmp_path / "images" / name / f"{i}.png", rng)
    items = _images.list_images("imagenet_noise", tmp_path / "images")
    assert [sum(item.task == j for item in items) for j in range(10)] == [4] * 10
    assert sorted({round(item.noise, 3) for item in items}) == [round(0.04 * j, 3) for j in range(10)]
    assert len({item.path for item in items}) == 40, "every image belongs to one task"
    clean = _images.prepare(Image.new("RGB", (300, 300), (128, 128, 128)))
    noisy = _images.prepare(Image.new("RGB", (300, 300), (128, 128, 128)), noise=0.1, seed=3)
    spread = ((noisy - clean) * _images._STD).std()
    assert spread == pytest.approx(0.1, rel=0.02)
    a = _images._batch(items[-3:])
    np.testing.assert_array_equal(a, _images._batch(items[-3:]))
    extract_features("imagenet_noise", tmp_path / "images", backbone=colour_means)
    assert datasets.load("imagenet_noise").labels[1] == "noise 0.4"


def test_years_and_buckets(tmp_path, cache, rng):
    for i, year in enumerate([1950, 1930, 1940]):
        _paint(tmp_path / "y" / "FM"[i % 2] / f"{year}_x_{i}.png", rng)
    assert [item.path.name[:4] for item in _images.list_images("yearbook", tmp_path / "y")] == ["1930", "1940", "1950"]
    assert [item.label for item in _images.list_images("yearbook", tmp_path / "y")] == [1, 0, 0]
    for bucket in range(1, 11):
        for name in ("soccer", "hockey", "racing"):
            _paint(tmp_path / "c" / str(bucket) / name / "a.jpg", rng)
    items = _images.list_images("clear", tmp_path / "c")
    assert [(item.task, item.label) for item in items] == [(j, c) for j in range(10) for c in range(3)]


@pytest.mark.parametrize(
    ("prepare", "name", "message"),
    [
        (lambda folder: None, "utkfaces", "no folder"),
        (lambda folder: folder.mkdir(), "utkfaces", "no images"),
        (lambda folder: (folder.mkdir(), (folder / "me.jpg").write_bytes(b"x")), "utkfaces", "age_gender_race_date"),
        (lambda folder: (folder / "snake").mkdir(parents=True), "imagenet_noise", "should hold a folder 'bird'"),
        (lambda folder: None, "usenet1", "not made from images"),
    ],
)
def test_folders_that_do_not_fit(prepare, name, message, tmp_path, cache):
    prepare(tmp_path / "images")
    with pytest.raises(DataError, match=message):
        extract_features(name, tmp_path / "images", backbone=colour_means)


def test_damaged_image_is_named(tmp_path, cache):
    (tmp_path / "1_0_0_x.jpg").write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"1_0_0_x\.jpg is not a readable image"):
        extract_features("utkfaces", tmp_path, backbone=colour_means)


def test_without_torch_the_message_names_the_extra(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_images.importlib, "import_module", missing)
    with pytest.raises(DataError, match=r"imrc\[images\]"):
        _images.resnet18()


@pytest.mark.skipif(importlib.util.find_spec("torchvision") is None, reason="torch and torchvision are not installed")
def test_resnet18_with_random_weights(tmp_path, cache, rng):
    folder = _faces(tmp_path / "faces", rng, 6)
    backbone = _images.resnet18("random")
    arrays = read_npz(extract_features("utkfaces", folder, backbone=backbone, batch_size=4).read_bytes())
    assert arrays["features"].shape == (6, 512)
    assert arrays["features"].std() > 0
    single = backbone(_images._batch(_images.list_images("utkfaces", folder)[5:]))
    np.testing.assert_allclose(arrays["features"][5], single[0], rtol=1e-4, atol=1e-5)


# Feature files of others


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
    monkeypatch.setattr("imrc.datasets._files.verify", lambda file, path: None)
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


def test_npz_limits_and_objects():
    out = io.BytesIO()
    np.savez(out, a=np.zeros(1000), b=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="'b' holds Python objects"):
        read_npz(out.getvalue())
    out = io.BytesIO()
    np.savez_compressed(out, a=np.zeros(10_000_000))
    assert len(out.getvalue()) < 100_000
    with pytest.raises(DataError, match="'a' needs 76 MB"):
        read_npz(out.getvalue(), limit=10 << 20)


def test_idx_types():
    for code, dtype in ((8, ">u1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")):
        array = np.arange(6, dtype=dtype).reshape(2, 3)
        data = bytes([0, 0, code, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + array.tobytes()
        np.testing.assert_array_equal(read_idx(data), array)
