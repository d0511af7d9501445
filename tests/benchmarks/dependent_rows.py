"""How often a change is claimed where rows follow each other, and how often independent rows are taken for such.

Run: python -m tests.benchmarks.dependent_rows [runs]

Stationary series of five columns, each AR(1) with the same correlation of neighbouring rows, classes by coin, cut into
blocks; and all sequences of `diagnostics_study`, whose rows are independent.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from scipy import stats

import imrc
from imrc.diagnostics import assess
from imrc.diagnostics._reduction import resolve_transform
from imrc.diagnostics._rows import read_rows
from imrc.tasks import sequence_from_blocks
from tests.benchmarks.diagnostics_study import SCENARIOS, TASKS, simulate

FOLDER = Path(__file__).parent / "results"
UNJUDGED = ("no_change", "too_few", "dependent")


def stationary(correlation: float, tasks: int, samples: int, seed: int) -> imrc.TaskSequence:
    """Return a stationary series in blocks."""
    generator = np.random.default_rng([seed, 7])
    X = generator.standard_normal((tasks * samples, 5))
    for i in range(1, len(X)):
        X[i] = correlation * X[i - 1] + np.sqrt(1.0 - correlation**2) * X[i]
    return sequence_from_blocks(X, generator.integers(2, size=len(X)), samples)


def share(what: str, hits: int, runs: int) -> dict[str, object]:
    """Return a share of the runs with its exact 95 % interval (Clopper and Pearson)."""
    low, high = stats.binomtest(hits, runs).proportion_ci(0.95)
    return {"what": what, "runs": runs, "share": hits / runs, "low": f"{low:.4f}", "high": f"{high:.4f}"}


def verdict(sequence: imrc.TaskSequence) -> str:
    """Return the name `assess` gives; of dependent rows without what it would say if they were not."""
    transform, _ = resolve_transform("automatic", sequence, 0)
    of_rows = read_rows((transform(task.X), sequence.encoded(j)) for j, task in enumerate(sequence))
    return "dependent" if of_rows.are_dependent else assess(sequence).verdict.name


def study(runs: int) -> list[dict[str, object]]:
    """Return the shares."""
    rows = []
    few = runs // 8
    for correlation, tasks, samples, count in (
        (0.7, 15, 30, runs),
        (0.7, 30, 10, few),
        (0.7, 10, 10, few),
        (0.3, 15, 30, few),
        (0.0, 15, 30, few),
    ):
        found = [verdict(stationary(correlation, tasks, samples, seed)) for seed in range(count)]
        where = f"correlation {correlation:g}, {tasks} tasks of {samples} rows"
        rows.append(share(f"a change claimed, {where}", sum(name not in UNJUDGED for name in found), count))
        rows.append(share(f"not judged, {where}", found.count("dependent"), count))
    noted = sequences = 0
    for scenario in SCENARIOS:
        for k in TASKS:
            for run in range(few):
                sequence, features, _ = simulate(scenario, k, run, 2024)
                mapped = [(features(task.X), sequence.encoded(j)) for j, task in enumerate(sequence)]
                noted, sequences = noted + read_rows(mapped).are_dependent, sequences + 1
    return [*rows, share("not judged, sequences of diagnostics_study", noted, sequences)]


if __name__ == "__main__":
    found = study(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / "dependent_rows.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["what", "runs", "share", "low", "high"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    for row in found:
        print(row)
