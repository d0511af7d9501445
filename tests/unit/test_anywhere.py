"""The library and the command work where they were installed by somebody else, and on terminals of every kind."""

import errno
import io
import json
import os
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from imrc._folders import replacing
from imrc.cli import main
from tests.conftest import ROOT

pytestmark = pytest.mark.slow  # a process each

# What a service's user, or a container that is read only, meets: nothing may be written but in the folder for
# temporary files. As root, as tests may run, permissions alone would stop nothing.
NOTHING_MAY_BE_WRITTEN = """
import errno, os, sys, tempfile
allowed, original = tempfile.gettempdir(), tempfile.TemporaryFile
def refuse(*rest, dir=None, **options):
    if dir is not None and not os.path.abspath(dir).startswith(os.path.join(allowed, "imrc-compiled-")):
        raise PermissionError(errno.EACCES, "Permission denied", dir)
    return original(*rest, dir=dir, **options)
tempfile.TemporaryFile = refuse
"""
RUN = """
import imrc
sequence = imrc.datasets.load("identical", tasks=3, samples=60)
imrc.evaluate(sequence, n=5, repetitions=1, preset="paper", solver="exact")  # two small kernels
import pathlib
folder = pathlib.Path(os.environ["NUMBA_CACHE_DIR"])
print(folder, folder.stat().st_mode, any(folder.rglob("*.nbi")))
"""


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, with nothing of this one's settings."""
    keep = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME", "SYSTEMROOT") if name in os.environ}
    told = {"capture_output": True, "cwd": ROOT, "env": {**keep, **environment}, "timeout": 170, "encoding": "utf-8"}
    return subprocess.run([sys.executable, "-c", code], **told)


def test_it_computes_where_nothing_may_be_written_and_says_so_once(tmp_path):
    done = run_python(NOTHING_MAY_BE_WRITTEN + RUN, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Neither the package folder") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr
    folder, mode, kept = done.stdout.split()
    assert Path(folder).parent == tmp_path
    assert not list(tmp_path.iterdir())  # nothing is left behind
    assert kept == "True"  # worker processes find it
    if os.name == "posix":
        assert stat.S_IMODE(int(mode)) == 0o700  # nobody else can put code there


def test_where_it_may_be_written_nothing_is_said():
    code = "import os\nimport imrc._compiled\nprint(os.environ.get('NUMBA_CACHE_DIR'))"
    done = run_python(code)
    assert (done.stdout.strip(), done.stderr) == ("None", "")


@pytest.mark.parametrize("encoding", ["ascii", "cp1251", "cp932", "cp437"])
def test_results_are_printed_where_characters_are_missing(encoding, monkeypatch):
    def printed(*words: str, encoding: str = encoding) -> str:
        terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main(words) == 0
        terminal.flush()
        return terminal.buffer.getvalue().decode(encoding)

    shown = printed("run", "identical", "-n", "5", "-k", "3", "--repetitions", "2", "--preset", "paper")
    sign = re.search(r"Forward and backward +[0-9.]+ (\S) ", shown)[1]
    assert sign == ("?" if encoding == "ascii" else "±")
    table, listed = ["datasets", "list"], ["datasets", "list", "--json"]
    assert printed(*table) == printed(*table, encoding="utf-8").encode(encoding, "replace").decode(encoding)
    assert json.loads(printed(*listed)) == json.loads(printed(*listed, encoding="utf-8"))  # without any loss


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "99999"], "--port must be between 1 and 65535"),
        (["--port", "0"], "--port must be between 1 and 65535"),
        (["--port", "x"], "invalid int value: 'x'"),
        (["--address", "nonsense.invalid"], "is not an address of this machine"),
        (["--address", "300.1.1.1"], "is not an address of this machine"),
        (["--address", "x" * 80], "is not an address of this machine"),
        (["--address", "192.0.2.7"], "is not an address of this machine"),
        (["--limit", "lots"], "gigabytes and minutes"),
        (["--port", "TAKEN"], " is in use. Choose another with --port"),
    ],
)
def test_a_server_that_cannot_be_started_says_why(options, message, monkeypatch, capsys):
    for place in ("os.execv", "subprocess.run"):
        monkeypatch.setattr(place, lambda *_, **__: pytest.fail("a server was started"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        try:
            status = main(["app", *(port if word == "TAKEN" else word for word in options)])
        except SystemExit as stopped:
            status = stopped.code
    error = capsys.readouterr().err
    assert status == 2
    assert message in error
    assert "Traceback" not in error


def test_stopped_while_loading_there_is_no_traceback():
    code = (
        "import builtins, sys\n"
        "original = builtins.__import__\n"
        "def stop(name, *rest):\n"
        "    if name.startswith('imrc.commands'):\n"
        "        raise KeyboardInterrupt\n"
        "    return original(name, *rest)\n"
        "from imrc.cli import main\n"
        "builtins.__import__ = stop\n"
        "sys.exit(main(['datasets', 'list']))"
    )
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", "imrc: stopped")


def test_a_file_somebody_reads_is_replaced_as_soon_as_that_is_possible(tmp_path, monkeypatch):
    # What Windows does while another program has the file open.
    file, replace, refusals = tmp_path / "a.csv", os.replace, [PermissionError(errno.EACCES, "in use")] * 3
    file.write_text("old")

    def refuse(*names):
        if refusals:
            raise refusals.pop()
        replace(*names)

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with replacing(file) as part:
        part.write_text("new")
    assert file.read_text() == "new"
    refusals.extend([PermissionError(errno.EACCES, "in use")] * 100)
    with pytest.raises(PermissionError), replacing(file) as part:
        part.write_text("newer")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]
