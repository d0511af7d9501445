"""A Dask cluster of real processes on this machine gives the serial result, also when a worker is killed."""

import os
import signal
import sys

import pytest

from imrc.sweeps import ResultStore, SchedulerError, plan_sweep, run_sweep
from tests.sweeps.cells import assert_same_stores, serial, small_spec, trivial

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture
def cluster():
    """Return a function that starts a cluster, which ends with the test."""
    started = []

    def start(workers: int, **options) -> distributed.LocalCluster:
        one = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", **options
        )
        started.append(one)
        return one

    yield start
    for one in started:
        one.close()


def test_a_cluster_with_a_killed_worker_gives_the_serial_result_bit_for_bit(tmp_path, cluster):
    spec = small_spec()
    there = cluster(2)
    place = tmp_path / "r.sqlite"
    with serial(tmp_path / "serial.sqlite", spec) as expected, ResultStore(place, create=True) as store:
        plan = plan_sweep(spec, store)
        killed = []

        def kill_one(progress) -> None:
            if progress.done == 3:
                killed.append(there.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        report = run_sweep(plan, store, scheduler=there.scheduler_address, progress=kill_one)
        assert killed
        assert (report.ran, report.failed) == (len(plan.cells), [])
        assert_same_stores(store, expected)


def test_no_scheduler_no_workers_and_no_dask_say_so(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("imrc.sweeps.execute._START_S", 1.0)
    with ResultStore(tmp_path / "r.sqlite", create=True) as store:
        plan = plan_sweep(small_spec(), store)
        for address in (cluster(0).scheduler_address, "tcp://127.0.0.1:9"):
            nobody = f"No Dask scheduler with workers answers at {address} .*dask scheduler.*dask worker {address}"
            with pytest.raises(SchedulerError, match=nobody):
                run_sweep(plan, store, scheduler=address)
        monkeypatch.setitem(sys.modules, "distributed", None)
        with pytest.raises(SchedulerError, match=r'not installed: pip install "imrc\[cluster\]"'):
            run_sweep(plan, store, scheduler=address)


def test_a_scheduler_that_ends_is_said_and_what_is_done_is_kept(tmp_path, cluster):
    there = cluster(1, processes=False, protocol="tcp")

    def end_it(progress) -> None:
        if progress.done == 3:
            there.close()

    with ResultStore(tmp_path / "r.sqlite", create=True) as store:
        plan = plan_sweep(small_spec(repetitions=100), store)
        with pytest.raises(SchedulerError, match=f"The scheduler at {there.scheduler_address} is gone"):
            run_sweep(plan, store, scheduler=there.scheduler_address, progress=end_it, run=trivial)
        assert 3 <= len(store) < 400
