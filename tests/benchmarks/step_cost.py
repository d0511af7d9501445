"""How the processor time of a step grows with n, k, b, classes and features, as slopes on log axes.

    python -m tests.benchmarks.step_cost
    python -m tests.benchmarks.step_cost --tasks 100000

The second learns very many small tasks: does a step stay as fast? It writes ``results/many_tasks.csv``.
"""

import resource
import time

import numpy as np

from imrc.core.learner import Learner
from imrc.core.settings import resolve_settings
from imrc.evaluation._threads import single_thread
from imrc.paper.measure import versions
from imrc.solvers import warm_up
from imrc.solvers.api import with_intercept
from tests.benchmarks.common import parser, write

N = 10
Y = np.arange(N) % 2
USUAL = {"n": 10, "k": 20, "b": 3, "C": 2, "D": 64}
VARIED = {
    "n": (20, 40, 80, 160),
    "k": (20, 80, 320),
    "b": (2, 4, 8, 16),
    "C": (2, 5, 10, 40),
    "D": (64, 256, 1024, 2048),
}
LAST = 5


def step_ms(preset: str, n: int, k: int, b: int, C: int, D: int) -> float:
    """Return milliseconds of the last steps of k, the fastest: other programs only ever add time."""
    generator, spent = np.random.default_rng(0), []
    learner, y = Learner(resolve_settings(preset, b=b), C), np.arange(max(n, C)) % C
    centre = generator.normal(size=(C, D))
    for step in range(k):
        centre = centre + 0.1 * generator.normal(size=centre.shape)
        X1 = with_intercept(centre[y] + generator.normal(size=(len(y), D)))
        started = time.thread_time()
        learner.step(X1, y)
        if step >= k - LAST:
            spent.append(1000 * (time.thread_time() - started))
    return min(spent)


def costs() -> None:
    """Print milliseconds for the values of each, and the slope between the last two."""
    print("| preset | with | milliseconds a step | last slope |\n| --- | --- | --- | ---: |")
    for preset in ("recommended", "paper"):
        for name, values in VARIED.items():
            ms = [step_ms(preset, **{**USUAL, name: value}) for value in values]
            slope = np.log(ms[-1] / ms[-2]) / np.log(values[-1] / values[-2])
            told = ", ".join(f"{value}: {one:.1f}" for value, one in zip(values, ms, strict=True))
            print(f"| {preset} | {name} | {told} | {slope:.1f} |", flush=True)


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
        with single_thread():
            costs()
