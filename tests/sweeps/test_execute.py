"""Where cells run does not change what they give; workers that die, cells that fail, memory."""

import functools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imrc.sweeps import ResultStore, SchedulerError, make_plan, run_sweep
from imrc.sweeps.cell import Failure, run_cell
from imrc.sweeps.summary import summary_lines, summary_table
from tests.sweeps import cells
from tests.sweeps.cells import assert_same_stores, serial, small_spec

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("compiled")


def test_worker_processes_give_the_serial_result_bit_for_bit(tmp_path):
    spec = small_spec(n=5, features=("automatic", "rff"), methods=("imrc", "mer"), seeds=(0, 1))
    with serial(tmp_path / "serial.sqlite", spec) as expected, ResultStore(tmp_path / "parallel.sqlite") as store:
        plan = make_plan(spec, store)
        seen = []
        report = run_sweep(plan, store, jobs=2, progress=lambda report: seen.append(report.done))
        assert (report.ran, report.stored_before, report.shared, report.failed) == (len(plan.cells), 0, 0, [])
        assert seen == list(range(1, len(plan.cells) + 1))
        assert_same_stores(store, expected)
        again = run_sweep(make_plan(spec, store), store, jobs=2)
        assert (again.ran, again.stored_before) == (0, len(plan.cells))


def test_a_dead_worker_costs_its_cells_which_run_on_the_next_start(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    run = functools.partial(cells.killed_once, str(marks))
    with ResultStore(tmp_path / "serial.sqlite") as expected, ResultStore(tmp_path / "r.sqlite") as store:
        plan = make_plan(small_spec(repetitions=6), store)
        run_sweep(plan, expected, run=cells.trivial)
        report = run_sweep(plan, store, jobs=2, run=run)
        lost = [cell for cell, _ in report.failed]
        dead = sum(map(cells.deadly, plan.cells))
        assert len(list(marks.iterdir())) == dead == sum(map(cells.deadly, lost)) == 2
        assert len(lost) <= 2 * dead  # the one it was at, and the one that waited behind it
        assert {failure.message for _, failure in report.failed} == {"Its worker ended (out of memory, or killed)"}
        assert report.ran == len(plan.cells) - len(lost)
        again = run_sweep(make_plan(plan.spec, store), store, jobs=2, run=run)
        assert (again.ran, again.failed) == (len(lost), [])
        for table in ("arrays", "scores"):
            everything = f"SELECT * FROM {table} ORDER BY key"
            assert store._execute(everything) == expected._execute(everything)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_raises_is_reported_and_the_others_go_on(tmp_path, jobs):
    with ResultStore(tmp_path / "r.sqlite") as store:
        plan = make_plan(small_spec(), store)
        report = run_sweep(plan, store, jobs=jobs, run=cells.fails_at_n_6)
        assert report.ran == len(plan.cells) // 2
        assert {failure.message for _, failure in report.failed} == {"ValueError: no such luck"}
        assert len(make_plan(small_spec(), store).waiting) == len(plan.cells) // 2


def test_other_data_or_other_code_on_a_worker_is_a_failure():
    from dataclasses import replace

    cell = make_plan(small_spec()).cells[0]
    other_data = run_cell(replace(cell, fingerprint="0" * 64))
    assert isinstance(other_data, Failure)
    assert "identical on" in other_data.message
    assert "holds other data" in other_data.message
    other_code = run_cell(replace(cell, code="0" * 16))
    assert isinstance(other_code, Failure)
    assert "another version of the code of imrc" in other_code.message


def test_what_another_sweep_finished_is_not_run_again(tmp_path):
    spec = small_spec()
    with ResultStore(tmp_path / "r.sqlite") as store, ResultStore(tmp_path / "r.sqlite") as other:
        plan = make_plan(spec, store)
        ours = run_sweep(make_plan(small_spec(n=5), other), other).ran
        calls = []
        report = run_sweep(plan, store, run=lambda cell: calls.append(cell) or run_cell(cell))
        assert (report.ran, report.shared) == (len(plan.cells) - ours, ours)
        assert len(calls) == len(plan.cells) - ours


MEMORY = """
import resource, sys
from dataclasses import replace
from imrc.sweeps import ResultStore, make_plan, run_sweep
from tests.sweeps import cells

count, jobs, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
cell = make_plan(cells.small_spec()).cells[0]
plan = make_plan(cells.small_spec())
plan = replace(plan, cells=tuple(replace(cell, repetition=r) for r in range(count)))
[c.key for c in plan.cells]


def resident():
    pages = open("/proc/self/statm").read().split()[1]
    return int(pages) * resource.getpagesize() / 2**20


marks = {}
def look(progress):
    if progress.done in (count // 4, count):
        marks[progress.done] = resident()


with ResultStore(path) as store:
    report = run_sweep(plan, store, jobs=jobs, run=cells.trivial, progress=look)
    assert report.ran == count == len(store)
print(marks[count] - marks[count // 4])
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which Linux has")
def test_memory_does_not_grow_with_the_number_of_cells(tmp_path):
    # Three quarters of 4,000 cells leave 12 MB of arrays and 50 MB of everything if it were kept.
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, "4000", "2", str(tmp_path / "r.sqlite")],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(done.stdout) < 8.0, done.stdout


def test_workers_end_when_their_sweep_is_killed(tmp_path):
    code = (
        "import functools, os, sys\n"
        "from imrc.sweeps import *\n"
        "from imrc.sweeps.execute import _processes\n"
        "from tests.sweeps import cells\n"
        "workers = _processes(2)\n"
        "submit, _ = workers.__enter__()\n"
        "run = functools.partial(cells.sleeping, 60.0)\n"
        "handles = [submit(run, cell) for cell in make_plan(cells.small_spec()).cells[:2]]\n"
        "import multiprocessing, time; time.sleep(3)\n"
        "print(*[p.pid for p in multiprocessing.active_children()], flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    workers = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(workers) == 2
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and any(_alive(pid) for pid in workers):
        time.sleep(0.1)
    assert not any(_alive(pid) for pid in workers)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().split(")")[1].split()[0] != "Z"


def test_summary_is_over_seeds_and_repetitions(tmp_path):
    spec = small_spec(methods=("imrc", "majority"), seeds=(0, 1))
    with serial(tmp_path / "r.sqlite", spec) as store:
        # Cells of other sweeps in the same store are not part of it.
        run_sweep(make_plan(small_spec(n=7), store), store)
        table = summary_table(make_plan(spec, store), store)
        assert table["cells"].tolist() == [6] * len(table)
        assert len(table) == 2 * (2 * 3 + 1)
        row = table[(table["n"] == 5) & (table["preset"] == "paper") & (table["rule"] == "forward")].iloc[0]
        values = store.frame(n=5, preset="paper", rule="forward")["average"]
        assert row["error_average"] == pytest.approx(values.mean(), rel=1e-12)
        assert row["stderr_average"] == pytest.approx(values.std() / 6**0.5, rel=1e-12)
        same, lines = summary_lines(table)
        assert same == "dataset = identical, features = blended, k = 4, b = 3"
        assert list(lines[0]) == ["n", "W", "method", "cells", "error", "single task", "newest", "ESS"]
        assert [(line["W"], line["method"]) for line in lines] == [
            ("all", "imrc (recommended)"), ("2", "imrc (paper)"), ("–", "majority"),
        ] * 2  # fmt: skip


def test_an_address_without_a_scheduler_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("imrc.sweeps.execute._START_S", 1.0)
    with ResultStore(tmp_path / "r.sqlite") as store:
        plan = make_plan(small_spec(), store)
        with pytest.raises(SchedulerError, match=r"No Dask scheduler answers at tcp://127.0.0.1:9 .*dask scheduler"):
            run_sweep(plan, store, scheduler="tcp://127.0.0.1:9")
        monkeypatch.setitem(sys.modules, "distributed", None)
        with pytest.raises(SchedulerError, match=r'not installed: pip install "imrc\[cluster\]"'):
            run_sweep(plan, store, scheduler="tcp://127.0.0.1:9")
