"""What the results store and the scheduler cost on cells of 0.2 s, and memory over 5,000 cells.

    python -m tests.benchmarks.sweep_overhead [--cells 200] [--memory-cells 5000] [--only overhead memory]

Overhead: a cell waits 0.2 s and then hands over the record of a real one (20 tasks, three rules). Ideal is the time the
cells themselves took (on a busy machine a little more than 0.2 s each) divided by the number of workers; what the sweep
took longer is due to store, scheduler and their messages, and to other programs that keep them waiting.
Beside it stand the processor seconds this process spends per cell, which other programs hardly touch. The last
row measures what a real cell does besides learning and testing (checks, packing): processor seconds of `run_cell` less
those of the bare loop.

Memory: 5,000 real cells of some milliseconds; resident memory of this process and of the workers after every 500.
"""

import argparse
import functools
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from imrc.evaluation import iter_run
from imrc.sweeps import ResultStore, SweepSpec, make_plan, run_sweep
from imrc.sweeps.cell import Cell, Record, run_cell, sequence_of
from imrc.sweeps.execute import Outcome, SweepReport
from imrc.sweeps.plan import SweepPlan

RESULTS = Path(__file__).parent / "results"
CELL_S = 0.2
SEED = 20231


def waiting(seconds: float, record: Record, _: Cell) -> Record:
    """Take a known time, then give a record of the usual size."""
    started = time.perf_counter()
    time.sleep(seconds)
    return replace(record, wall_s=time.perf_counter() - started)


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def many(count: int) -> SweepPlan:
    """A plan of so many cells that differ in their number only."""
    plan = make_plan(SweepSpec(datasets="rotated_digits", seeds=SEED, repetitions=1))
    cells = tuple(replace(plan.cells[0], repetition=r) for r in range(count))
    return replace(plan, cells=cells)


def one_overhead(name: str, run: Callable[[Cell], Outcome], workers: int, count: int, **where) -> dict[str, object]:
    """Run cells of 0.2 s; the first four of each worker, which wait for its start, do not count."""
    warm = 4 * workers
    plan = many(count + warm)
    marks: list[tuple[float, float]] = []

    def look(report: SweepReport) -> None:
        if report.done in (warm, count + warm):
            marks.append((time.perf_counter(), time.process_time()))

    with tempfile.TemporaryDirectory() as folder, ResultStore(f"{folder}/r.sqlite") as store:
        report = run_sweep(plan, store, run=run, progress=look, **where)
        assert report.ran == count + warm
        wall, processor = np.diff(np.array(marks), axis=0)[0]
        walls = store.frame().sort_values("finished_at", kind="stable")["wall_s"][::3]  # three rules, one row each
        ideal = float(walls.mean()) * count / workers
    return {
        "runs on": name,
        "cells": count,
        "workers": workers,
        "ideal_s": round(ideal, 2),
        "wall_s": round(wall, 2),
        "overhead_percent": round(100 * (wall / ideal - 1), 2),
        "own_processor_ms_per_cell": round(1e3 * processor / count, 2),
    }


class _Cluster:
    """A scheduler and worker processes of Dask, as a person would start them."""

    def __init__(self, folder: str, workers: int) -> None:
        root = str(Path(__file__).resolve().parents[2])
        environment = {**os.environ, "PYTHONPATH": root}
        file = Path(folder) / "scheduler.json"
        common = {"cwd": root, "env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        base = [sys.executable, "-m", "dask"]
        quiet = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
        self.processes = [subprocess.Popen([*base, "scheduler", "--port", "0", *quiet], **common)]
        for i in range(workers):
            place = ["--nthreads", "1", "--no-nanny", "--local-directory", f"{folder}/w{i}"]
            self.processes.append(subprocess.Popen([*base, "worker", *place, *quiet], **common))
        while not file.exists() or not file.read_text().strip():
            time.sleep(0.1)
        import json

        self.address = json.loads(file.read_text())["address"]

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def inside_a_cell(repeats: int = 15) -> dict[str, object]:
    """What a real cell does besides the bare loop, in processor seconds."""
    cell = many(1).cells[0]
    run_cell(cell)
    sequence = sequence_of(cell.dataset, cell.tasks, SEED)
    whole, bare = [], []
    for _ in range(repeats):
        started = time.process_time()
        run_cell(cell)
        middle = time.process_time()
        list(iter_run(sequence, cell.settings, only=(0,), threads=1))
        bare.append(time.process_time() - middle)
        whole.append(middle - started)
    extra = float(np.median(np.array(whole) - np.array(bare)))
    return {
        "runs on": "inside a cell: checks and packing",
        "cells": repeats,
        "workers": 1,
        "overhead_percent": round(100 * extra / CELL_S, 2),
        "own_processor_ms_per_cell": round(1e3 * extra, 2),
    }


def overhead(count: int) -> pd.DataFrame:
    """Overhead in this process, in worker processes, and on a cluster of two worker processes."""
    record = run_cell(many(1).cells[0])
    assert isinstance(record, Record)
    run = functools.partial(waiting, CELL_S, record)
    rows = [one_overhead("this process", run, 1, count // 2)]
    rows.append(one_overhead("2 worker processes", run, 2, count, jobs=2))
    with tempfile.TemporaryDirectory() as folder:
        cluster = _Cluster(folder, 2)
        try:
            from distributed import Client

            with Client(cluster.address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=60)
            rows.append(one_overhead("Dask, 2 worker processes", run, 2, count, scheduler=cluster.address))
        finally:
            cluster.close()
    rows.append(inside_a_cell())
    table = pd.DataFrame(rows)
    table["record_bytes"] = len(record.content)
    return table


def memory(count: int) -> pd.DataFrame:
    """Resident memory while many real cells run in two worker processes."""
    repetitions = 200
    combinations = -(-count // repetitions)
    spec = SweepSpec(
        datasets="identical",
        k=4,
        n=list(range(5, 5 + combinations)),
        presets="paper",
        repetitions=repetitions,
        seeds=SEED,
    )
    rows = []
    started = time.perf_counter()

    def look(progress: SweepReport) -> None:
        if progress.done % 500 == 0:
            workers = [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
            row = {"cells": progress.done, "this_process_mb": round(resident_mb(os.getpid()), 1)}
            row["largest_worker_mb"] = round(max(map(resident_mb, workers)), 1)
            row["seconds"] = round(time.perf_counter() - started, 1)
            rows.append(row)
            print(row, flush=True)

    with tempfile.TemporaryDirectory() as folder, ResultStore(f"{folder}/r.sqlite") as store:
        plan = make_plan(spec, store)
        plan = replace(plan, cells=plan.cells[:count])
        report = run_sweep(plan, store, jobs=2, progress=look)
        assert report.ran == count == len(store)
        for row in rows:
            row["store_mb"] = round(store.path.stat().st_size / 2**20, 1)
    return pd.DataFrame(rows)


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--memory-cells", type=int, default=5000)
    parser.add_argument("--only", nargs="+", choices=("overhead", "memory"), default=("overhead", "memory"))
    options = parser.parse_args()
    facts = {
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "seed": SEED,
    }
    for name in options.only:
        before = os.getloadavg()[0]
        table = overhead(options.cells) if name == "overhead" else memory(options.memory_cells)
        load = f"{before:.1f} to {os.getloadavg()[0]:.1f}"
        table = table.assign(load_average=load, **facts)
        print(table.to_string(index=False))
        table.to_csv(RESULTS / f"sweep_{name}.csv", index=False)


if __name__ == "__main__":
    main()
