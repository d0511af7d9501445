"""Cost of one step: linear in b, flat in k; memory O((b + k) m). Ratios are within one run.

    python -m tests.benchmarks.step_cost
    python -m tests.benchmarks.step_cost --tasks 100000

The second learns very many small tasks: does a step stay as fast? It writes ``results/many_tasks.csv``.
"""

import pickle
import resource
import time

import numpy as np

from imrc.core.learner import Learner
from imrc.core.settings import IMRCSettings, resolve_settings
from imrc.paper.measure import versions
from imrc.solvers import warm_up
from imrc.solvers.api import with_intercept
from tests.benchmarks.common import parser, write

N, D, REPEATS = 10, 64, 5
Y = np.arange(N) % 2


def task(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return one mapped task of N samples and D features."""
    return with_intercept(generator.normal(size=(N, D))), Y


def step_times(b: int, steps: int) -> np.ndarray:
    """Return seconds per step; minimum over repeats, because other programs only ever add time."""
    best = np.full(steps, np.inf)
    for repeat in range(REPEATS):
        generator = np.random.default_rng(repeat)
        learner = Learner(IMRCSettings(b=b), 2, rules=("forward", "forward_backward"))
        for k in range(steps):
            X1, y = task(generator)
            started = time.perf_counter()
            learner.step(X1, y)
            best[k] = min(best[k], time.perf_counter() - started)
    return best


def state_size(b: int, k: int) -> int:
    """Return the bytes of a learner's state after k tasks, pickled."""
    generator = np.random.default_rng(0)
    learner = Learner(IMRCSettings(b=b, max_iter=1), 2)
    for _ in range(k):
        learner.step(*task(generator))
    return len(pickle.dumps(learner))


def costs() -> None:
    """Print the tables of one step."""
    print(
        "Time of a step against b (k = 60..79, ratio to b = 0)\n\n| b | ratio | (ratio - 1) / b |\n| --- | --- | --- |"
    )
    base = np.median(step_times(0, 80)[60:])
    for b in (1, 2, 4, 8, 16, 32):
        ratio = np.median(step_times(b, 80)[60:]) / base
        print(f"| {b} | {ratio:.2f} | {(ratio - 1) / b:.2f} |")
    times = step_times(3, 800)
    print("\nTime of a step against k (b = 3, ratio to steps 20..39)\n\n| steps | ratio |\n| --- | --- |")
    for low, high in ((20, 40), (100, 120), (380, 400), (780, 800)):
        print(f"| {low}..{high - 1} | {np.median(times[low:high]) / np.median(times[20:40]):.2f} |")
    print("\nMemory of the learner (bytes of its state, pickled)\n\n| b | k = 50 | k = 400 |\n| --- | --- | --- |")
    for b in (0, 3, 12):
        print(f"| {b} | {state_size(b, 50):,} | {state_size(b, 400):,} |")


def many(tasks: int, features: int = 6, seed: int = 0) -> None:
    """Print and write milliseconds a task and largest memory after every tenth of so many tasks."""
    generator = np.random.default_rng(seed)
    learner = Learner(resolve_settings("paper", b=3), 2)
    centre = generator.normal(size=(2, features))
    part = max(tasks // 10, 1)
    rows, started = [], time.process_time()
    for done in range(1, tasks + 1):
        centre = 0.999 * centre + 0.05 * generator.normal(size=centre.shape)
        learner.step(with_intercept(centre[Y] + generator.normal(size=(N, features))), Y)
        if done % part == 0:
            ms, started = 1000 * (time.process_time() - started) / part, time.process_time()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            row = {"preset": "paper", "tasks": done, "n": N, "features": features, "ms_per_task": round(ms, 3)}
            rows.append(row | {"peak_mb": round(peak, 1), "seed": seed, "versions": versions()})
    write(rows, "many_tasks.csv")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--tasks", type=int, help="learn so many, instead of timing one step")
    given = options.parse_args()
    warm_up()
    if given.tasks:
        many(given.tasks)
    else:
        step_times(1, 3)
        costs()
