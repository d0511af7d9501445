"""Effective samples promised and realised on the seven synthetic kinds, and why they differ.

One command, 10 seeds, k = 20 tasks, n = 10, b = 3:

    PYTHONPATH=. python tests/benchmarks/realised_study.py [--real]

Realised in errors: the n at which single-task learning makes as few, `imrc.evaluation.realised_samples`, for the rules
for log loss, and on the first seeds for 0-1 loss, which takes longer. Realised in means: n times the mean squared error
of single-task mean vectors over that of the rule's, against the known truth, on the same draws. If the recursions are
right, the means agree with the promise; what errors then show beyond it comes from elsewhere.

Writes ``results/realised_study.csv`` (one row per kind, seed, loss and rule) and prints
``results/realised_summary.csv``. A study that was stopped goes on where it was.
"""

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd

import imrc
from imrc.core.learner import Learner
from imrc.core.rules import TaskEstimate
from imrc.datasets.synthetic import KINDS
from imrc.diagnostics import assess
from imrc.evaluation import RunSettings, draw_task, evaluate, realised_samples, theorem_4
from imrc.evaluation.splits import repetition_seeds, task_seed
from imrc.solvers._api import with_intercept
from tests.benchmarks.sequences import SEQUENCES

TASKS, N, B = 20, 10, 3
GRID = {"log": (5, 10, 20, 50, 100), "0-1": (5, 10, 20, 50)}
RESULTS = Path(__file__).parent / "results"


def in_means(sequence: imrc.TaskSequence, settings: RunSettings) -> dict[str, float]:
    """Return by rule the effective samples that the errors of mean vectors show."""
    truth, classes = sequence.truth["mean_vectors"], sequence.n_classes
    squared = dict.fromkeys(("single", "forward", "forward_backward"), 0.0)
    for seed in repetition_seeds(settings.seed, settings.repetitions):
        learner = Learner(settings.learner, classes)
        last: dict[str, dict[int, TaskEstimate]] = {rule: {} for rule in squared}
        for j in range(len(sequence)):
            y = sequence.encoded(j)
            rows = draw_task(y, settings.n, classes, task_seed(seed, j)).train
            update = learner.step(with_intercept(sequence[j].X[rows]), y[rows])
            last["single"][j], last["forward"][j] = update.single, update.forward
            last["forward_backward"] |= {j: update.forward, **update.revised}
        for rule, estimates in last.items():
            squared[rule] += sum(float(((one.mean - truth[j]) ** 2).sum()) for j, one in estimates.items())
    return {rule: settings.n * squared["single"] / squared[rule] for rule in squared}


def rows_of(kind: str, seed: int, loss: str, repetitions: int) -> list[dict[str, object]]:
    """Return what one sequence shows."""
    sequence = imrc.datasets.load(kind, tasks=TASKS, seed=seed)
    diagnosis = assess(sequence, features="identity", permutations=99)
    runs = [evaluate(sequence, n=n, b=B, loss=loss, repetitions=repetitions, features="identity") for n in GRID[loss]]
    means = in_means(sequence, next(run.settings for run in runs if run.settings.n == N))
    rows: list[dict[str, object]] = []
    for found in realised_samples(runs, N):
        band = theorem_4(N, diagnosis.ratio_at(N), TASKS, 0 if found.rule == "forward" else B)
        rows.append(
            {
                "kind": kind,
                "seed": seed,
                "loss": loss,
                "rule": found.rule,
                "borrowing": found.promised.borrowing,
                "promised": found.promised.mean,
                "theorem_4": band.mean,
                "theorem_4_low": band.low,
                "theorem_4_high": band.high,
                "errors": found.value,
                "errors_low": found.low,
                "errors_high": found.high,
                "means": means[found.rule],
            }
        )
    return rows


def on_real_data() -> pd.DataFrame:
    """Return promise and errors of the default on real sequences, n = 10, with their ratio where errors tell it."""
    rows = []
    for setting in SEQUENCES:
        if setting.dataset in KINDS:
            continue
        sequence = setting.load(0)
        runs = [evaluate(sequence, n=n, b=B, repetitions=6) for n in (5, 10, 20, 40)]
        found = next(one for one in realised_samples(runs, N) if one.rule == "forward_backward")
        rows.append({"sequence": setting.dataset, "promised": found.promised.mean, "errors": found.value})
        rows[-1]["ratio"] = found.value / found.promised.mean
        print(rows[-1], flush=True)
    return pd.DataFrame(rows).round(2)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return medians over seeds, and how often the promise lies in the interval of what errors show."""
    table = table.assign(
        told=np.isfinite(table["errors"]),
        agrees=(table["errors_low"] <= table["promised"]) & (table["promised"] <= table["errors_high"]),
        more=table["errors_low"] > table["promised"],
        less=table["errors_high"] < table["promised"],
    )
    grouped = table.groupby(["kind", "loss", "rule"], sort=False)
    out = grouped[["promised", "theorem_4", "errors", "means"]].median()
    counts = grouped[["told", "agrees", "more", "less"]].sum()
    return out.round(1).join(counts).assign(seeds=grouped.size()).reset_index()


def main() -> None:
    """Run the study and print its summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--real", action="store_true", help="on real sequences instead, see sequences.py")
    parser.add_argument("--seeds-01", type=int, default=4, help="of the rules for 0-1 loss, which take longer")
    parser.add_argument("--repetitions", type=int, default=6)
    parser.add_argument("--output", type=Path, default=RESULTS / "realised_study.csv")
    given = parser.parse_args()
    if given.real:
        on_real_data().to_csv(RESULTS / "realised_real.csv", index=False)
        return
    done = set()
    if given.output.exists():
        kept = pd.read_csv(given.output)[["kind", "seed", "loss"]]
        done = set(kept.itertuples(index=False, name=None))
    started = time.time()
    for loss, seeds in (("log", given.seeds), ("0-1", given.seeds_01)):
        for seed, kind in itertools.product(range(seeds), KINDS):
            if (kind, seed, loss) not in done:
                new = pd.DataFrame(rows_of(kind, seed, loss, given.repetitions))
                new.round(3).to_csv(given.output, mode="a", header=not given.output.exists(), index=False)
                print(f"{loss}, seed {seed}, {kind}: {time.time() - started:.0f} s", flush=True)
    found = summary(pd.read_csv(given.output))
    found.to_csv(given.output.with_name("realised_summary.csv"), index=False)
    print(found.to_string(index=False))


if __name__ == "__main__":
    main()
