"""Learn very many small tasks one after another: does a step stay as fast, and memory as small, as at the start?

    python -m tests.benchmarks.many_tasks [--tasks 100000] [--preset paper]

Prints, and writes to ``results/many_tasks.csv``, milliseconds a task and resident memory after every tenth of the
sequence. Tasks are drawn when they are needed: nothing but the learner holds what was.
"""

import argparse
import csv
import resource
import time
from pathlib import Path

import numpy as np

from imrc.core.learner import Learner
from imrc.core.settings import resolve_settings
from imrc.paper.measure import versions
from imrc.solvers import warm_up

N, FEATURES, SEED = 10, 6, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--preset", default="paper")
    options = parser.parse_args()
    warm_up()
    generator = np.random.default_rng(SEED)
    learner = Learner(resolve_settings(options.preset, b=3), 2)
    centre = generator.normal(size=(2, FEATURES))
    y = np.arange(N) % 2
    rows, started = [], time.process_time()
    for task in range(1, options.tasks + 1):
        centre = 0.999 * centre + 0.05 * generator.normal(size=centre.shape)
        X1 = np.column_stack([np.ones(N), centre[y] + generator.normal(size=(N, FEATURES))])
        learner.step(X1, y)
        if task % max(options.tasks // 10, 1) == 0:
            seconds, started = time.process_time() - started, time.process_time()
            ms = 1000 * seconds / max(options.tasks // 10, 1)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rows.append([options.preset, task, N, FEATURES, round(ms, 3), round(peak, 1), SEED, versions()])
            print(f"{task:>9,} tasks  {ms:7.3f} ms a task  {peak:8.1f} MB at most", flush=True)
    path = Path(__file__).parent / "results" / "many_tasks.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["preset", "tasks", "n", "features", "ms_per_task", "peak_mb", "seed", "versions"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
