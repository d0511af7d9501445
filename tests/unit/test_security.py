"""What visitors send is data, never code and never a path; the server keeps to itself."""

import builtins
import io
import os
import re
import tomllib

import numpy as np
import pytest

from imrc import datasets
from imrc.cli import main
from pages.shell import frame
from tests.conftest import ROOT
from tests.unit.known_files import Bomb, npz

SOURCES = [ROOT / "app.py", *sorted((ROOT / "imrc").rglob("*.py")), *sorted((ROOT / "pages").rglob("*.py"))]
PATHS = ("../../etc/passwd", "/etc/passwd", "..\\..\\x", "identical/../../../etc/passwd", "file:///etc/passwd", "a\0b")


def test_no_file_is_unpickled_and_no_page_is_given_html_to_act_on():
    """Of data that could run as code the linter's rules find the rest."""
    # A style that is written in the source cannot act.
    acts = re.compile(
        r"allow_pickle=True|joblib\.load\(|read_pickle|unsafe_allow_|"
        r'st\.(html|iframe)\((?!("|""")<style>[^<]*</style>\2\)|frame\.STYLE\))'
    )
    assert [str(path) for path in SOURCES if acts.search(path.read_text(encoding="utf-8"))] == []
    assert re.fullmatch("<style>[^<]*</style>", frame.STYLE)


@pytest.mark.parametrize("name", PATHS)
def test_a_name_of_a_dataset_is_never_a_path(name, monkeypatch):
    opened = []
    for module, function in ((builtins, "open"), (io, "open"), (os, "open"), (os, "stat")):
        original = getattr(module, function)

        def watch(path, *rest, _original=original, **options):
            opened.append(str(path))
            return _original(path, *rest, **options)

        monkeypatch.setattr(module, function, watch)
    for ask in (datasets.load, datasets.facts, datasets.status, datasets.entry, datasets.download):
        with pytest.raises((ValueError, KeyError, datasets.DataError)):
            ask(name)
    assert not [path for path in opened if "passwd" in path or ".." in path.replace("...", "")]


@pytest.mark.parametrize("name", PATHS)
def test_the_command_line_reads_files_as_tables_only_and_repeats_none_of_their_content(name, capsys):
    # On the command line a path is the user's own; what is not a table is refused like any other mistake.
    try:
        status = main(["run", name])
    except SystemExit as stopped:  # the parser refuses what no path can be
        status = stopped.code
    assert status == 2
    output = capsys.readouterr()
    assert "imrc" in output.err
    assert "root:" not in output.out + output.err
    assert "Traceback" not in output.err


def test_an_uploaded_file_never_runs_code():
    for data in (npz(x=np.array([Bomb()], dtype=object)), b"\x80\x04cos\nsystem\n(S'x'\ntR."):
        with pytest.raises(datasets.DataError):
            datasets.open_table(data, name="x.npz")
    assert not Bomb.ran


# What the server is told


def config() -> dict:
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def test_server_keeps_to_this_machine_and_reports_nothing():
    server = config()["server"]
    assert server["address"] in ("127.0.0.1", "localhost")
    assert server["enableXsrfProtection"] is True
    assert server.get("enableCORS", True) is True
    assert server.get("enableStaticServing", False) is False
    assert 1 <= server["maxUploadSize"] <= 100
    assert config()["browser"]["gatherUsageStats"] is False
    # A failure shows a message of ours, never a traceback.
    assert config()["client"]["showErrorDetails"] in ("none", False)


def test_the_limit_of_uploads_is_that_of_the_reader():
    with pytest.raises(datasets.DataError, match=f"{config()['server']['maxUploadSize']} MB"):
        datasets.open_table(b"x" * ((config()["server"]["maxUploadSize"] << 20) + 1), name="x.csv")


@pytest.mark.parametrize(("options", "address"), [([], "127.0.0.1"), (["--address", "0.0.0.0"], "0.0.0.0")])
def test_the_command_listens_on_this_machine_unless_told_otherwise(monkeypatch, options, address):
    class Started(BaseException):
        pass

    def started(program, command):
        raise Started(" ".join(command))

    monkeypatch.setattr(os, "chdir", lambda folder: None)
    monkeypatch.setattr(os, "execv", started)
    with pytest.raises(Started, match=f"--server.address {address}"):
        main(["app", *options])
