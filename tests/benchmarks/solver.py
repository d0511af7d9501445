"""Speed of the solvers against plain NumPy and scipy, of whole runs, and how it grows with n, k and b.

    python -m tests.benchmarks.solver [--only subgradient exact runs growth]

Every ratio compares two programs timed in turns in one process and one thread, in processor seconds: other programs on
the machine then hardly matter. Whole runs are wall-clock seconds. Results go to results/solver_*.csv.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: one thread for each contestant

import highspy
import numpy as np
import pandas as pd
import scipy
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, eye_array, kron

import imrc
from imrc.paper.measure import versions
from imrc.solvers import prepare_instances, warm_up
from imrc.solvers._exact import solve_exact
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
    solvers = f"scipy {scipy.__version__}, HiGHS {highspy.Highs().version()}"
    of = f"{platform.machine()} {processor()}, {versions()}, {solvers}"
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


def program(X1, tau, lam):
    """The compact linear program: cost, inequality rows, equality rows, bounds."""
    (n, p), n_classes = X1.shape, len(tau)
    features = kron(eye_array(n_classes), csr_array(X1), format="csr")
    pairs = n * n_classes
    limits = block_array([[features, -features, -eye_array(pairs), csr_array(np.full((pairs, 1), -1.0))]], format="csr")
    nothing = csr_array((n, 2 * n_classes * p))
    sums = block_array([[nothing, kron(np.ones((1, n_classes)), eye_array(n)), csr_array((n, 1))]], format="csr")
    bounds = [(0, None)] * (2 * n_classes * p + pairs) + [(None, None)]
    return cost(tau, lam, pairs), limits, sums, bounds


def cost(tau, lam, pairs):
    """Cost of u, v, alpha, nu; only this changes with tau and lambda."""
    return np.concatenate([(lam - tau).ravel(), (lam + tau).ravel(), np.zeros(pairs), [1.0]])


def contestants(n, features, n_classes):
    """Programs that solve one X with the tau and lambda of twenty later steps in turn; each returns the optimum."""
    X1, tau, lam = random_problem(n, features, n_classes, SEED)
    rng = np.random.default_rng(SEED)
    moved = [(tau + 0.02 * lam * rng.normal(size=tau.shape), lam * rng.uniform(0.8, 1.0)) for _ in range(20)]
    moved = [(one.ravel(), other.ravel()) for one, other in moved]
    _, limits, sums, bounds = program(X1, tau, lam)
    pairs = n * n_classes
    instances, zeros = prepare_instances(X1), np.zeros(tau.size)
    nothing, ones = np.zeros(pairs), np.ones(n)
    before = solve_exact(X1, tau.ravel(), lam.ravel(), n_classes).mu

    return (
        lambda step: (
            1.0 + linprog(cost(*moved[step % 20], pairs), limits, nothing, sums, ones, bounds, method="highs").fun
        ),
        lambda step: solve_exact(X1, *moved[step % 20], n_classes).value,
        lambda step: solve_exact(X1, *moved[step % 20], n_classes, start=before).value,
        lambda step: run_subgradient(instances, *moved[step % 20], n_classes, K, zeros, zeros).value,
    )


def typical(programs, repeats):
    """Return the median milliseconds of each program over later steps: their cost differs from step to step."""
    taken = np.empty((len(programs), repeats))
    for step in range(repeats):
        for index, solve_step in enumerate(programs):
            started = time.thread_time()
            solve_step(step)
            taken[index, step] = time.thread_time() - started
    return 1e3 * np.median(taken, axis=1)


def exact() -> None:
    """Cold scipy, the exact method cold and warm, 2000 subgradient iterations; medians over steps."""
    rows = []
    for n, features, n_classes in [*WANTED, (300, 400, 2)]:
        programs = contestants(n, features, n_classes)
        differences = [abs(programs[i](step) - programs[0](step)) for i in (1, 2) for step in range(3)]
        taken = typical(programs, 5 if n > 100 else 40 if n < 100 else 20)
        names = ("scipy_cold_ms", "imrc_cold_ms", "imrc_warm_ms", "imrc_subgradient_ms")
        row = {"n": n, "D": features, "C": n_classes, **dict(zip(names, taken, strict=True))}
        row |= {"cold_ratio": taken[0] / taken[1], "warm_ratio": taken[0] / taken[2]}
        rows.append(row | {"largest_difference": max(differences)})
    save("exact", rows)


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


def run_here(tasks, n, b, repetitions=1):
    """Wall-clock and processor seconds of one `evaluate`."""
    options = {"n": n, "b": b, "preset": "paper", "features": "paper", "repetitions": repetitions}
    data = sequence(tasks)
    started, used = time.perf_counter(), time.process_time()
    imrc.evaluate(data, **options)
    return {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - used}


def peak_memory():
    """Peak resident memory of this process in GB (getrusage would count the parent's at the fork)."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e6


def one_run(*setting) -> None:
    """Print the result of `run_here` and the peak memory as JSON (called in a process of its own)."""
    warm_up()
    run_here(4, *setting[1:])
    print(json.dumps(run_here(*setting) | {"peak_memory_gb": peak_memory()}))


def run_apart(*setting):
    """Result of `one_run` in a new process."""
    command = [sys.executable, "-m", "tests.benchmarks.solver", "--one-run", *map(str, setting)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def runs() -> None:
    """Whole runs: draws, mapping, learning under all three rules, testing."""
    rows = []
    for tasks, n, repetitions, wanted in ((99, 10, 1, 2), (99, 10, 5, ""), (1936, 100, 1, 60)):
        tries = 1 if tasks > 1000 else 5
        best = min((run_apart(tasks, n, 3, repetitions) for _ in range(tries)), key=lambda result: result["seconds"])
        setting = {"tasks": tasks, "n": n, "b": 3, "repetitions": repetitions}
        rows.append({**setting, **best, "wanted_s": wanted, "load_average": os.getloadavg()[0]})
    save("runs", rows)


def slope(x, y):
    """Slope of log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]) if np.ptp(x) > 0 else np.nan


def growth() -> None:
    """Seconds against k, b and n (processor seconds: they do not see other programs), with fitted exponents."""
    rows = []
    for name, values in (("k", (50, 100, 200, 400)), ("b", (4, 8, 16, 32)), ("n", (10, 20, 30, 50, 75, 100, 125, 150))):
        for value in values:
            setting = {"k": 100, "n": 10, "b": 3} | ({"k": 200} if name == "b" else {}) | {name: value}
            best = min(run_here(setting["k"], setting["n"], setting["b"])["cpu_seconds"] for _ in range(3))
            rows.append({"varied": name, **setting, "cpu_seconds": best, "ms_per_task": 1e3 * best / setting["k"]})
    table = pd.DataFrame(rows)
    # A step solves a problem for the new task alone, one forward, and one for each task it goes back to.
    table["problems"] = [sum(2 + min(row.b, step) for step in range(row.k)) for row in table.itertuples()]
    for name, part in table.groupby("varied"):
        for column, against in (("exponent", name), ("exponent_in_problems", "problems")):
            table.loc[part.index, column] = slope(part[against], part["cpu_seconds"])
    save("growth", table)


def main() -> None:
    """Run the parts asked for."""
    every = {"subgradient": subgradient, "exact": exact, "runs": runs, "growth": growth}
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", choices=list(every), default=list(every))
    options.add_argument("--one-run", nargs=4, type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.one_run:
        one_run(*given.one_run)
        return
    warm_up(kernels=("subgradient",))
    for name in given.only:
        every[name]()


if __name__ == "__main__":
    main()
