"""A Dask cluster of real processes on this machine gives the serial result, also when a worker is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from imrc.sweeps import ResultStore, SchedulerError, make_plan, run_sweep
from tests.sweeps.cells import assert_same_stores, serial, small_spec

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("compiled")


@contextmanager
def started(*arguments: str):
    """Run a command of Dask until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def cluster(folder: Path, workers: int = 2):
    """Start a scheduler and worker processes; give its address and the workers."""
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        quiet = ["--host", "127.0.0.1", "--no-dashboard"]
        stack.enter_context(started("scheduler", "--port", "0", "--scheduler-file", str(file), *quiet))
        processes = [
            stack.enter_context(
                started("worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", *quiet,
                        "--local-directory", str(folder / f"worker{i}"))
            )
            for i in range(workers)
        ]  # fmt: skip
        while not file.exists() or not file.read_text().strip():
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"], processes


def test_a_cluster_with_a_killed_worker_gives_the_serial_result_bit_for_bit(tmp_path):
    spec = small_spec(repetitions=6)
    with (
        cluster(tmp_path) as (address, workers),
        serial(tmp_path / "serial.sqlite", spec) as expected,
        ResultStore(tmp_path / "r.sqlite") as store,
    ):
        plan = make_plan(spec, store)

        def kill_one(progress) -> None:
            if progress.done == 6:
                os.kill(workers[0].pid, signal.SIGKILL)

        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            report = run_sweep(plan, store, scheduler=address, progress=kill_one)
            while len(client.nthreads()) != 1:  # the scheduler notices a lost worker in its own time
                time.sleep(0.05)
        assert workers[0].wait(5) == -signal.SIGKILL
        assert workers[1].poll() is None
        assert (report.ran, report.failed) == (len(plan.cells), [])
        assert_same_stores(store, expected)


def test_a_cluster_that_loses_all_workers_waits_for_new_ones(tmp_path):
    spec = small_spec(repetitions=10)
    with (
        ExitStack() as stack,
        cluster(tmp_path, workers=1) as (address, workers),
        ResultStore(tmp_path / "r.sqlite") as store,
    ):

        def replace_it(progress) -> None:
            if progress.done == 3:
                workers[0].kill()
                workers[0].wait()
                stack.enter_context(started("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"))

        report = run_sweep(make_plan(spec, store), store, scheduler=address, progress=replace_it)
        assert (report.ran, report.failed) == (40, [])


def test_a_cluster_without_workers_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("imrc.sweeps.execute._START_S", 3.0)
    with cluster(tmp_path, workers=0) as (address, _), ResultStore(tmp_path / "r.sqlite") as store:
        plan = make_plan(small_spec(), store)
        with pytest.raises(SchedulerError, match=f"{address} has no workers. Start some with: dask worker"):
            run_sweep(plan, store, scheduler=address)


def test_a_scheduler_that_ends_is_said_and_what_is_done_is_kept(tmp_path):
    file = tmp_path / "scheduler.json"
    with ExitStack() as stack:
        quiet = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
        scheduler = stack.enter_context(started("scheduler", "--port", "0", *quiet))
        stack.enter_context(started("worker", "--nthreads", "1", "--no-nanny", *quiet))
        while not file.exists() or not file.read_text().strip():
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        store = stack.enter_context(ResultStore(tmp_path / "r.sqlite"))

        def end_it(progress) -> None:
            if progress.done == 3:
                scheduler.kill()

        with pytest.raises(SchedulerError, match=f"The scheduler at {address} is gone"):
            run_sweep(make_plan(small_spec(repetitions=10), store), store, scheduler=address, progress=end_it)
        assert 3 <= len(store) < 40
