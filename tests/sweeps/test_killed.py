"""Sweeps that are killed, and sweeps side by side: nothing is lost, nothing is run twice, numbers stay the same."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imrc.sweeps import ResultStore, plan_sweep
from tests.sweeps.cells import assert_same_stores, serial, small_spec

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("compiled")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
FLAGS = ["--datasets", "identical", "-k", "4", "-n", "5", "6", "--presets", "recommended", "paper"]

# One process that has everything imported and compiled; each round is a fork of it, so that rounds start at once.
ROUNDS = """
import json, os, signal, sys, time
import numpy as np
from imrc.cli import main
from imrc.solvers import warm_up
from imrc.sweeps import ResultStore

path, kills, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
warm_up()
random = np.random.default_rng(20231)
ResultStore(path).close()
seen = []


def finished():
    with ResultStore(path, read_only=True) as store:
        return store.frame().set_index("key")["finished_at"].to_dict()


def start(limit=None):
    pid = os.fork()
    if pid == 0:
        put = ResultStore.put

        def put_unless_done(self, *values):
            # The sweep must not be finished before it is killed, however late that comes.
            while limit is not None and len(self) >= limit:
                time.sleep(1.0)
            return put(self, *values)

        ResultStore.put = put_unless_done
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(main(["sweep", *command, "--store", path, "--jobs", "1"]))
    return pid


for _ in range(kills):
    before = finished()
    goal = len(before) + int(random.integers(0, 5))
    pid = start(limit=goal + 8)
    while len(finished()) < goal:
        time.sleep(0.005)
    time.sleep(random.uniform(0.0, 0.05))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), "finished before it was killed"
    now = finished()
    assert all(now[key] == when for key, when in before.items()), "a finished cell was lost or run again"
    seen.append(len(now))
_, status = os.waitpid(start(), 0)
print(json.dumps({"stored": seen, "status": os.WEXITSTATUS(status)}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, which this system cannot")
def test_killed_five_times_and_resumed_equals_uninterrupted(tmp_path):
    path = tmp_path / "killed.sqlite"
    command = [*FLAGS, "--repetitions", "20"]  # 80 cells, of which at most 60 before the last kill
    done = subprocess.run(
        [sys.executable, "-c", ROUNDS, str(path), "5", *command],
        cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["status"] == 0
    assert len(told["stored"]) == 5
    assert 0 < told["stored"][-1] < 80
    with ResultStore(path) as store, serial(tmp_path / "serial.sqlite", small_spec(repetitions=20)) as expected:
        assert len(store) == 80
        assert_same_stores(store, expected)


def sweep(path: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "imrc.cli", "sweep", *FLAGS, "--store", str(path), *more],
        cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # Tests that run in the background of a script inherit that Ctrl-C is ignored.
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) if os.name == "posix" else None,
    )  # fmt: skip


@pytest.mark.parametrize(("how", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 1)])
def test_the_command_stopped_with_worker_processes_goes_on(tmp_path, how, status):
    path = tmp_path / "r.sqlite"
    # 800 cells of forty tasks take a minute, so the sweep is unfinished when the signal comes, at the third cell.
    process = sweep(path, "-k", "40", "--repetitions", "200", "--jobs", "2")
    stored = 0
    while stored < 3:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
        if path.exists():
            with ResultStore(path) as store:
                stored = len(store)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does: to the workers too
    else:
        process.kill()
    _, error = process.communicate(timeout=100)  # until the last of its workers has closed the output
    assert process.returncode == status
    with ResultStore(path) as store:
        kept = len(store)
        assert 3 <= kept < 800
        plan = plan_sweep(small_spec(k=40, repetitions=200), store)
        assert (len(plan.cells), len(plan.done)) == (800, kept)
    if how == signal.SIGINT:
        assert f"imrc: stopped. {kept} of 800 cells are in {path}; the same command goes on from there." in error
        assert "Traceback" not in error


def test_two_sweeps_at_once_share_one_store(tmp_path):
    path = tmp_path / "shared.sqlite"
    both = [sweep(path, "--repetitions", "6", "--jobs", "1", "--json") for _ in range(2)]
    outputs = [process.communicate(timeout=150) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    rows = [json.loads(output) for output, _ in outputs]
    assert rows[0] == rows[1]
    assert {row["cells"] for row in rows[0]} == {6}
    with ResultStore(path) as store, serial(tmp_path / "serial.sqlite", small_spec(repetitions=6)) as expected:
        assert_same_stores(store, expected)
