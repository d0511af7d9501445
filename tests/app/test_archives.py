"""Both archives hold what they need: the app starts from the wheel that is made from the source archive."""

import re
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import pytest

import imrc
from tests.app.conftest import ROOT, server_process
from tests.conftest import run_python


def built(kind: str, folder: Path, source: Path) -> Path:
    """Build an archive without a network: the tool that builds is installed already."""
    run_python("-m", "hatchling", "build", "-t", kind, "-d", str(folder), folder=source)
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """Return the contents of a wheel made from the source archive."""
    folder = tmp_path_factory.mktemp("archives")
    with tarfile.open(built("sdist", folder / "sdist", ROOT)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later have it
        archive.extractall(folder / "source")
    (source,) = (folder / "source").iterdir()
    with zipfile.ZipFile(built("wheel", folder / "wheel", source)) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_the_app_starts_from_the_archive(unpacked, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(unpacked))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # nothing is run, and nothing need be compiled for it
    home = run_python("-c", "import imrc; print(imrc.__file__)", folder=tmp_path, PYTHONPATH=str(unpacked))
    assert str(unpacked) in home.stdout
    with server_process(folder=tmp_path) as (url, _):
        assert b"<html" in urllib.request.urlopen(url).read()
        for path, text in (
            ("", b"I have a table"),
            ("how-to/score.html", b"pumps.imrc"),
            ("article.html", b"neighbours know"),
        ):
            assert text in urllib.request.urlopen(f"{url}/documentation/{path}").read()


def test_a_run_works_from_the_archive(unpacked, tmp_path):
    words = ["-m", "imrc.cli", "run", "identical", "-k", "3", "-n", "5", "--preset", "paper", "--solver", "exact"]
    path = {"PYTHONPATH": str(unpacked), "NUMBA_DISABLE_JIT": "1"}  # five samples need no compiler
    assert "identical: 3 tasks" in run_python(*words, folder=tmp_path, **path).stdout


def test_the_version_is_in_one_place_and_links_work_anywhere(unpacked):
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    text = metadata.read_text(encoding="utf-8")
    assert f"\nVersion: {imrc.__version__}\n" in text
    assert re.findall(r"\]\((?!https?:)\S*\)", text) == []  # the package's page has no files beside it
    assert f"\nversion: {imrc.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_data_and_types_are_there_and_nothing_of_others(unpacked):
    (record,) = unpacked.glob("*.dist-info/RECORD")
    files = {line.split(",")[0] for line in record.read_text(encoding="utf-8").splitlines()}
    needed = "py.typed datasets/datasets.toml paper/results/errors.csv _app/app.py _app/.streamlit/config.toml"
    assert {f"imrc/{name}" for name in needed.split()} <= files
    assert [name for name in files if re.search(r"tests/|\.pyc$|\.nb[ic]$|\.sqlite", name)] == []


def test_the_first_start_asks_nothing_at_the_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # no credentials file: Streamlit would ask for an e-mail address
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("BROWSER", "true")  # the command of that name opens nothing
    with server_process("-m", "imrc.cli", "app") as (url, process):
        assert process.poll() is None, url
