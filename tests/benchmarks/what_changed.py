"""Is what changed ranked first, how often is something found where nothing changed, and are three kinds told apart?

Run: python -m tests.benchmarks.what_changed [runs]
"""

import csv
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

import imrc
from imrc.diagnostics import Changed, what_changed
from imrc.tasks import sequence_from_blocks

FOLDER = Path(__file__).parent / "results"
TASKS, SAMPLES, COLUMNS = 20, 20, 50


def simulated(kind: str, seed: int, size: float = 1.0, columns: int = COLUMNS) -> imrc.TaskSequence:
    """Return two classes with one change in the middle: of nothing, a column, one class, both apart, or the shares."""
    generator = np.random.default_rng([seed, 4])
    late = np.repeat(np.arange(TASKS) >= TASKS // 2, SAMPLES)
    share = np.where(late & (kind == "label"), 0.5 + 0.4 * size, 0.5)
    y = (generator.random(len(late)) < share).astype(np.int64)
    X = generator.standard_normal((len(late), columns)) + y[:, None]
    column = int(generator.integers(columns))
    moved = {"input": np.ones(len(y)), "one class": 1.0 * (y == 1), "concept": y - 0.5}.get(kind, np.zeros(len(y)))
    X[:, column] += size * late * moved
    return sequence_from_blocks(X, y, SAMPLES, name=f"{kind}, {column}")


def ranked_first(kind: str, seed: int) -> bool:
    """Return whether the column that was moved comes first."""
    sequence = simulated(kind, seed)
    return what_changed(sequence).table["column_index"][0] == int(sequence.name.split(", ")[1])


def false_discovery(sequence: imrc.TaskSequence) -> float:
    """Return the share of false discoveries: all are, so it is 1 or 0."""
    return float(any(what_changed(sequence).found.values()))


def shuffled(sequence: imrc.TaskSequence, seed: int, most: int = 20) -> imrc.TaskSequence:
    """Return samples of a real sequence in random order over its first tasks: nothing changes, nothing is normal."""
    head = sequence.head(most)
    X = np.concatenate([task.X for task in head])
    y = np.concatenate([task.y for task in head])
    order = np.random.default_rng([seed, 5]).permutation(len(y))
    ends = np.cumsum(head.sizes)[:-1]
    parts = zip(np.split(X[order], ends), np.split(y[order], ends), head, strict=True)
    return replace(head, tasks=tuple(replace(task, X=rows, y=labels) for rows, labels, task in parts))


def told_apart(kind: str, seed: int) -> bool:
    """Return whether the largest change found is of the kind that was simulated."""
    table = what_changed(simulated(kind, seed, 2.0 if kind == "concept" else 1.0)).table
    return bool(table["found"][0]) and table["kind"][0] == kind


def no_other(kind: str, seed: int) -> bool:
    """Return whether nothing of another kind is found; false discoveries are among what q allows."""
    found = what_changed(simulated(kind, seed, 2.0 if kind == "concept" else 1.0)).found
    return {name for name, count in found.items() if count} == {kind}


def shares(name: str, test: Callable[[int], float], runs: int) -> dict[str, object]:
    """Return a share of the runs with its exact 95 % interval (Clopper and Pearson)."""
    hits = int(sum(test(seed) for seed in range(runs)))
    low, high = stats.binomtest(hits, runs).proportion_ci(0.95)
    return {"what": name, "runs": runs, "share": hits / runs, "low": f"{low:.4f}", "high": f"{high:.4f}"}


def false_share(result: Changed, column: int) -> float:
    """Return the share of false discoveries where one column moves."""
    found = result.table[result.table["found"]]
    return float((found["column_index"] != column).mean()) if len(found) else 0.0


def study(runs: int) -> list[dict[str, object]]:
    """Return everything that must hold, measured."""
    rows = [
        shares(f"{kind}: the column moved by 1 sd comes first", lambda seed, kind=kind: ranked_first(kind, seed), runs)
        for kind in ("input", "one class", "concept")
    ]
    rows.append(shares("something found, identical tasks", lambda seed: false_discovery(simulated("none", seed)), runs))
    for dataset in ("rotated_digits", "power_supply", "german", "spam"):
        if imrc.datasets.status(dataset).loadable:
            real = imrc.datasets.load(dataset)
            rows.append(
                shares(
                    f"something found, shuffled {dataset}",
                    lambda seed, real=real: false_discovery(shuffled(real, seed)),
                    runs,
                )
            )
    for name, test in (("the largest change found", told_apart), ("found, and nothing else", no_other)):
        rows += [
            shares(f"{kind}: {name}", lambda seed, kind=kind, test=test: test(kind, seed), runs)
            for kind in ("label", "input", "concept")
        ]
    of_all = []
    for seed in range(runs):
        sequence = simulated("input", seed)
        of_all.append(false_share(what_changed(sequence), int(sequence.name.split(", ")[1])))
    rows.append({"what": "mean share of false discoveries, one column moved", "runs": runs, "share": np.mean(of_all)})
    return rows


if __name__ == "__main__":
    found = study(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / "what_changed.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["what", "runs", "share", "low", "high"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    for row in found:
        print(row)
