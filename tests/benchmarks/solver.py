"""How processor seconds of whole runs grow with n, k and b, in one thread: ``python -m tests.benchmarks.solver``."""

import os
import platform
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: one thread for each contestant

import numpy as np
import pandas as pd

import imrc
from imrc.solvers import warm_up
from imrc.sweeps.cell import versions
from imrc.tasks import Task, TaskSequence
from tests.benchmarks.common import parser, processor, write

SEED = 0


def sequence(tasks, rows=300, inputs=10):
    """Two classes around drifting centres; 200 random frequencies make D = 400 of it."""
    rng = np.random.default_rng(SEED)
    centres = rng.normal(size=(2, inputs))
    made = []
    for _ in range(tasks):
        centres = centres + 0.1 * rng.normal(size=centres.shape)
        y = rng.integers(0, 2, rows)
        made.append(Task(0.5 * centres[y] + rng.normal(size=(rows, inputs)), y))
    return TaskSequence(tuple(made), "drift")


def run_here(tasks, n, b):
    """Processor seconds of one `evaluate`."""
    data, started = sequence(tasks), time.process_time()
    imrc.evaluate(data, n=n, b=b, preset="paper", features="paper", repetitions=1)
    return time.process_time() - started


def slope(x, y):
    """Slope of log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]) if np.ptp(x) > 0 else np.nan


def growth() -> None:
    """Seconds against k, b and n (processor seconds: they do not see other programs), with fitted exponents."""
    rows = []
    for name, values in (("k", (50, 100, 200, 400)), ("b", (4, 8, 16, 32)), ("n", (10, 20, 30, 50, 75, 100, 125, 150))):
        for value in values:
            setting = {"k": 100, "n": 10, "b": 3} | ({"k": 200} if name == "b" else {}) | {name: value}
            best = min(run_here(setting["k"], setting["n"], setting["b"]) for _ in range(3))
            rows.append({"varied": name, **setting, "cpu_seconds": best, "ms_per_task": 1e3 * best / setting["k"]})
    table = pd.DataFrame(rows)
    # A step solves a problem for the new task alone, one forward, and one for each task it goes back to.
    table["problems"] = [sum(2 + min(row.b, step) for step in range(row.k)) for row in table.itertuples()]
    for name, part in table.groupby("varied"):
        for column, against in (("exponent", name), ("exponent_in_problems", "problems")):
            table.loc[part.index, column] = slope(part[against], part["cpu_seconds"])
    of = f"{platform.machine()} {processor()}, {versions()}"
    write(table.assign(seed=SEED, versions=of), "solver_growth.csv")


if __name__ == "__main__":
    parser(__doc__).parse_args()
    warm_up()
    growth()
