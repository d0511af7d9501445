"""Where cells run does not change what they give; workers that die, cells that fail, memory."""

import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from imrc.sweeps import ResultStore, plan_sweep, run_sweep, summary_table
from imrc.sweeps.cell import Failure, run_cell
from imrc.sweeps.plan import summary_lines
from tests.conftest import run_python
from tests.sweeps import cells
from tests.sweeps.cells import assert_same_stores, serial, small_spec

pytestmark = pytest.mark.usefixtures("compiled")


def test_worker_processes_give_the_serial_result_bit_for_bit_also_when_one_is_killed(tmp_path):
    spec = small_spec(n=5, features=("automatic", "rff"), methods=("imrc", "mer:argparse"), repetitions=2)
    place = tmp_path / "parallel.sqlite"
    with serial(tmp_path / "serial.sqlite", spec) as expected, ResultStore(place, create=True) as store:
        plan = plan_sweep(spec, store)
        others, killed, seen = set(multiprocessing.active_children()), [], []

        def kill_one(report) -> None:
            seen.append(report.done)
            if report.done == 5:
                killed.append(min({one.pid for one in set(multiprocessing.active_children()) - others}))
                os.kill(killed[0], signal.SIGKILL)

        report = run_sweep(plan, store, jobs=2, progress=kill_one)
        assert killed
        assert (report.ran, report.stored_before, report.by_others, report.failed) == (len(plan.cells), 0, 0, [])
        assert seen == list(range(1, len(plan.cells) + 1))
        assert_same_stores(store, expected)
        again = run_sweep(plan_sweep(spec, store), store, jobs=2)
        assert (again.ran, again.stored_before) == (0, len(plan.cells))


def test_a_cell_that_ends_its_process_is_named_and_the_others_go_on(tmp_path):
    with ResultStore(tmp_path / "r.sqlite", create=True) as store:
        plan = plan_sweep(small_spec(), store)
        report = run_sweep(plan, store, jobs=2, run=cells.misbehaving)
        said = {(cell.settings.n, cell.settings.preset, cell.repetition): failure for cell, failure in report.failed}
        assert "ended its worker process" in said.pop((5, "paper", 0)).message
        assert len(said) == 6
        assert {(n, failure.message) for (n, *_), failure in said.items()} == {(6, "ValueError: no such luck")}
        assert report.ran == len(store) == 5
        again = run_sweep(plan_sweep(small_spec(), store), store, run=cells.trivial)
        assert (again.ran, again.stored_before, again.failed) == (7, 5, [])


def test_other_data_or_other_code_on_a_worker_is_a_failure():
    other = {"fingerprint": "differs from the data", "code": "another version of the code of imrc"}
    for name, message in other.items():
        failure = run_cell(replace(plan_sweep(small_spec()).cells[0], **{name: "0" * 64}))
        assert isinstance(failure, Failure)
        assert message in failure.message


def test_what_another_sweep_finished_is_not_run_again(tmp_path):
    spec = small_spec()
    place = tmp_path / "r.sqlite"
    with ResultStore(place, create=True) as store, ResultStore(place) as other:
        plan = plan_sweep(spec, store)
        ours = run_sweep(plan_sweep(small_spec(n=5), other), other).ran
        calls = []
        report = run_sweep(plan, store, run=lambda cell: calls.append(cell) or run_cell(cell))
        assert (report.ran, report.by_others) == (len(plan.cells) - ours, ours)
        assert len(calls) == len(plan.cells) - ours
        assert len(store) == len(plan.cells)


MEMORY = """
import resource, sys
from dataclasses import replace
from imrc.sweeps import ResultStore, plan_sweep, run_sweep
from tests.sweeps import cells

plan = plan_sweep(cells.small_spec())
plan = replace(plan, cells=tuple(replace(plan.cells[0], repetition=r) for r in range(500)))
pages = {}


def look(progress):
    pages[progress.done] = int(open("/proc/self/statm").read().split()[1])


with ResultStore(sys.argv[1], create=True) as store:
    store._execute("PRAGMA synchronous = OFF")  # these cells need not outlive a power cut
    assert run_sweep(plan, store, jobs=2, run=cells.trivial, progress=look).ran == len(store) == 500
print((pages[500] - pages[125]) * resource.getpagesize() / 2**20)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which Linux has")
def test_memory_does_not_grow_with_the_number_of_cells(tmp_path):
    # Three quarters of 500 cells leave 15 MB of arrays if they were kept.
    assert float(run_python("-c", MEMORY, str(tmp_path / "r.sqlite")).stdout) < 8.0


def test_summary_is_over_seeds_and_repetitions(tmp_path):
    spec = small_spec(methods=("imrc", "majority"), seeds=(0, 1))
    with serial(tmp_path / "r.sqlite", spec) as store:
        # Cells of other sweeps in the same store are not part of it.
        run_sweep(plan_sweep(small_spec(n=7), store), store)
        table = summary_table(plan_sweep(spec, store), store)
        assert table["cells"].tolist() == [6] * len(table)
        assert len(table) == 2 * (2 * 3 + 1)
        row = table[(table["n"] == 5) & (table["preset"] == "paper") & (table["rule"] == "forward")].iloc[0]
        values = store.frame(n=5, preset="paper", rule="forward")["average"]
        assert row["error_average"] == pytest.approx(values.mean(), rel=1e-12)
        assert row["stderr_average"] == pytest.approx(values.std() / 6**0.5, rel=1e-12)
        same, lines = summary_lines(table)
        assert same == "dataset = identical, features = blended, k = 4, b = 3"
        assert list(lines[0]) == ["n", "W", "method", "cells", "error", "alone", "newest", "ESS"]
        assert [(line["W"], line["method"]) for line in lines] == [
            ("all", "imrc (recommended)"), ("2", "imrc (paper)"), ("–", "majority"),
        ] * 2  # fmt: skip
