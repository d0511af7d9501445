"""Sweeps that are stopped, and sweeps side by side: nothing is lost, nothing is run twice, numbers stay the same."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imrc.cli import main
from imrc.sweeps import ResultStore
from tests.conftest import ROOT
from tests.sweeps.cells import assert_same_stores, serial, small_spec

pytestmark = pytest.mark.usefixtures("compiled")
FLAGS = ["--datasets", "identical", "-n", "5", "6", "--presets", "recommended", "paper"]


def sweep(path: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "imrc.cli", "sweep", *FLAGS, "--store", str(path), *more], cwd=ROOT, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # Tests that run in the background of a script inherit that Ctrl-C is ignored.
        start_new_session=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) if os.name == "posix" else None,
    )  # fmt: skip


def finished(path: Path) -> dict[str, str]:
    """When each cell of a store was finished."""
    with ResultStore(path) as store:
        return dict(store._execute("SELECT key, finished_at FROM cells"))


@pytest.mark.first
def test_killed_then_stopped_with_worker_processes_and_resumed_equals_uninterrupted(tmp_path, capsys):
    # 12 cells of twenty tasks take some seconds, so the sweep is unfinished when the signal comes.
    path, size = tmp_path / "stopped.sqlite", ["-k", "20", "--repetitions", "3", "--jobs", "2"]
    before: dict[str, str] = {}
    for more, how, status in ((3, signal.SIGKILL, -signal.SIGKILL), (3, signal.SIGINT, 1)):
        process, goal = sweep(path, *size), len(before) + more  # a signal before it computes would end Python alone
        while not path.exists() or len(finished(path)) < goal:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        # A terminal sends Ctrl-C to the workers too.
        os.killpg(process.pid, how) if how == signal.SIGINT else process.kill()
        _, error = process.communicate(timeout=300)  # until the last of its workers has closed the output
        assert process.returncode == status
        now = finished(path)
        assert goal <= len(now) < 12
        assert all(now[key] == when for key, when in before.items()), "a finished cell was lost or run again"
        before = now
        if how == signal.SIGINT:
            said = f"imrc: stopped. {len(now)} of 12 cells are in {path}; run the same command again to continue."
            assert said in error
            assert "Traceback" not in error
    assert main(["sweep", *FLAGS, "--store", str(path), *size, "--jobs", "1"]) == 0
    assert f"12 cells, {len(before)} stored already" in capsys.readouterr().err
    with ResultStore(path) as store, serial(tmp_path / "serial.sqlite", small_spec(k=20)) as expected:
        assert_same_stores(store, expected)


def test_two_sweeps_at_once_share_one_store(tmp_path):
    path, size = tmp_path / "shared.sqlite", ["-k", "4", "--repetitions", "3", "--jobs", "1", "--json"]
    both = [sweep(path, *size) for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    rows = [json.loads(output)["rows"] for output, _ in outputs]
    assert rows[0] == rows[1]
    assert {row["cells"] for row in rows[0]} == {3}
    with ResultStore(path) as store, serial(tmp_path / "serial.sqlite", small_spec()) as expected:
        assert_same_stores(store, expected)
