"""Speed of the subgradient method against plain NumPy, and how that of whole runs grows with n, k and b.

    python -m tests.benchmarks.solver [--only subgradient growth]

Every ratio compares two programs timed in turns in one process and one thread, in processor seconds: other programs on
the machine then hardly matter. Results go to results/solver_*.csv.
"""

import os
import platform
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: one thread for each contestant

import numpy as np
import pandas as pd

import imrc
from imrc.paper.measure import versions
from imrc.solvers import prepare_instances, warm_up
from imrc.solvers.api import run_subgradient
from imrc.tasks import Task, TaskSequence
from tests.benchmarks.common import parser, processor, write
from tests.benchmarks.problems import random_problem, subgradient_numpy

K = 2000
SEED = 0
WANTED = {(10, 20, 2): 100, (10, 400, 2): 30, (100, 400, 2): 35, (40, 10, 4): 50}


def fastest(*programs, repeats, inner=1):
    """Return the minimum time in milliseconds of each program, run in turns."""
    best = [np.inf] * len(programs)
    for _ in range(repeats):
        for index, program in enumerate(programs):
            for _ in range(inner if index else 1):
                started = time.thread_time()
                program()
                best[index] = min(best[index], time.thread_time() - started)
    return [1e3 * value for value in best]


def save(name, rows):
    """Write and print one table."""
    of = f"{platform.machine()} {processor()}, {versions()}"
    print(f"\n{name}, {of}\n")
    write(pd.DataFrame(rows).assign(seed=SEED, versions=of), f"solver_{name}.csv")


def subgradient() -> None:
    """One thread, K = 2000, layout of the instances included."""
    rows = []
    for (n, features, n_classes), wanted in WANTED.items():
        X1, tau, lam = random_problem(n, features, n_classes, SEED)
        zeros = np.zeros_like(tau)
        flat = [values.ravel() for values in (tau, lam, zeros)]

        def plain(problem=(X1, tau, lam, zeros, zeros, K)):
            return subgradient_numpy(*problem)

        def ours(X1=X1, tau=flat[0], lam=flat[1], zeros=flat[2], n_classes=n_classes):
            return run_subgradient(prepare_instances(X1), tau, lam, n_classes, K, zeros, zeros)

        (best, value, last, _), solution = plain(), ours()
        slow, fast = fastest(plain, ours, repeats=8, inner=30)
        gaps = (solution.mu - best.ravel(), solution.last - last.ravel(), solution.value - value)
        row = {"n": n, "D": features, "C": n_classes, "numpy_ms": slow, "imrc_ms": fast, "ratio": slow / fast}
        rows.append(row | {"wanted": wanted, "largest_difference": max(np.abs(gap).max() for gap in gaps)})
    save("subgradient", rows)


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
    save("growth", table)


if __name__ == "__main__":
    every = {"subgradient": subgradient, "growth": growth}
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", choices=list(every), default=list(every))
    warm_up()
    for name in options.parse_args().only:
        every[name]()
