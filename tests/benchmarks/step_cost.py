"""Cost of one step: linear in b, flat in k; memory O((b + k) m). Prints ratios within one run.

Run: python tests/benchmarks/step_cost.py
"""

import pickle
import time

import numpy as np

from imrc.core.learner import Learner
from imrc.core.settings import IMRCSettings
from imrc.solvers._api import with_intercept

N, D, REPEATS = 10, 64, 5


def task(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return one mapped task of N samples and D features."""
    return with_intercept(generator.normal(size=(N, D))), np.arange(N) % 2


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


def main() -> None:
    """Print the tables."""
    step_times(1, 3)  # compilation
    print("Time of a step against b (k = 60..79, ratio to b = 0)\n")
    print("| b | ratio | (ratio - 1) / b |\n| --- | --- | --- |")
    base = np.median(step_times(0, 80)[60:])
    for b in (1, 2, 4, 8, 16, 32):
        ratio = np.median(step_times(b, 80)[60:]) / base
        print(f"| {b} | {ratio:.2f} | {(ratio - 1) / b:.2f} |")
    times = step_times(3, 800)
    print("\nTime of a step against k (b = 3, ratio to steps 20..39)\n")
    print("| steps | ratio |\n| --- | --- |")
    for low, high in ((20, 40), (100, 120), (380, 400), (780, 800)):
        print(f"| {low}..{high - 1} | {np.median(times[low:high]) / np.median(times[20:40]):.2f} |")
    print("\nMemory of the learner (bytes of its state, pickled)\n")
    print("| b | k = 50 | k = 400 |\n| --- | --- | --- |")
    for b in (0, 3, 12):
        sizes = []
        for k in (50, 400):
            generator = np.random.default_rng(0)
            learner = Learner(IMRCSettings(b=b, max_iter=1), 2)
            for _ in range(k):
                learner.step(*task(generator))
            sizes.append(len(pickle.dumps(learner)))
        print(f"| {b} | {sizes[0]:,} | {sizes[1]:,} |")
    print("\nThe learner forgets what is out of reach; the estimator adds the coefficients of each task, O(k m).")


if __name__ == "__main__":
    main()
