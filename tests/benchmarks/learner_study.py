"""Errors of the recommended learner against its rivals: all tasks so far, and the task to come.

    python tests/benchmarks/learner_study.py continual --methods learner paper --sizes 10 50 --seeds 8801:8811
    python tests/benchmarks/learner_study.py next --methods learner forest --seeds 8801:8811
    python tests/benchmarks/learner_study.py report

A cell is one sequence, n, seed and method. A seed decides the data of synthetic sequences, the draws and the random
features, the same for every method. Each finished cell is a line of results/learner_study_*.csv; cells already there
are skipped, so a run that was stopped goes on where it was.

Tables for the task to come are read from the folder $IMRC_TEMPORAL (name.csv.gz with columns `task` and `label`), the
five streams from $IMRC_STREAMS (name.csv.gz, label last, blocks of 300 rows).
"""

import argparse
import csv
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from default_study import BLENDED, STREAMS, Setting

import imrc
from imrc import features
from imrc.core.prediction import softmax
from imrc.core.rules_log import LogLossLearner, LogRule
from imrc.evaluation import largest_n
from imrc.evaluation.calibration import calibration_error, counted, log_loss
from imrc.evaluation.splits import draw_task, repetition_seeds, task_seed

RESULTS = Path(__file__).parent / "results"
B = 3
SEEN = (
    "weather",
    "rotated_digits",
    "independent",
    "identical",
    "periodic",
    "movingsquares",
    "chess",
    "sea",
    "luxembourg",
)
"""Sequences on which choices were made; all others are untouched."""


# All tasks so far


def evaluated(sequence: imrc.TaskSequence, n: int, seed: int, **options: object) -> dict[str, object]:
    """Return the measures of a method that `imrc.evaluate` runs."""
    result = imrc.evaluate(sequence, n=n, repetitions=1, seed=seed, b=B, **options)
    name = "forward_backward" if "forward_backward" in result.error_tables else str(options["methods"][0])
    own = name == "forward_backward"
    row: dict[str, object] = {kind: result.headline(kind)[name].mean for kind in ("average", "newest")}
    row["before"] = float(np.nanmean(result.before["imrc" if own else name]))
    if own:
        row["single"] = result.headline()["single"].mean
        row["log_loss"] = log_loss(result.reliability[name])[0]
        row["calibration"] = calibration_error(result.reliability[name])[0]
    row["ms"] = 1000.0 * float(np.mean(result.method_time_s["imrc" if own else name]))
    return row


def forest(sequence: imrc.TaskSequence, n: int, seed: int) -> dict[str, object]:
    """Return the measures of one forest on all samples so far, with the number of the task as a column."""
    from sklearn.ensemble import RandomForestClassifier

    repetition = repetition_seeds(seed, 1)[0]
    known, labels, tests, errors, before, times = [], [], [], [], [], []
    model = None
    for task, block in enumerate(sequence.tasks):
        y = sequence.encoded(task)
        draw = draw_task(y, n, sequence.n_classes, task_seed(repetition, task))
        numbered = np.column_stack([block.X, np.full(len(y), task)])
        if model is not None:
            before.append(np.mean(model.predict(numbered[draw.test]) != y[draw.test]))
        known.append(numbered[draw.train])
        labels.append(y[draw.train])
        tests.append((numbered[draw.test], y[draw.test]))
        started = time.process_time()
        model = RandomForestClassifier(100, random_state=seed).fit(np.vstack(known), np.concatenate(labels))
        times.append(time.process_time() - started)
        answers = model.predict(np.vstack([X for X, _ in tests]))
        ends = np.cumsum([len(truth) for _, truth in tests])[:-1]
        errors.append([np.mean(a != t) for a, (_, t) in zip(np.split(answers, ends), tests, strict=True)])
    return {
        "average": float(np.mean([np.mean(row) for row in errors])),
        "newest": float(np.mean([row[-1] for row in errors])),
        "before": float(np.mean(before)),
        "ms": 1000.0 * float(np.mean(times)),
    }


def learnt(sequence: imrc.TaskSequence, n: int, seed: int, **options: object) -> dict[str, object]:
    """Return the measures of the learner for log loss."""
    repetition, C = repetition_seeds(seed, 1)[0], sequence.n_classes
    learner = LogLossLearner(C, features.learner("blended", sequence, seed), b=B, **options)
    tests, wrong, sums = [], {name: [] for name in ("both", "alone", "pooled")}, []
    current, before, times, newest = [], [], [], []
    for task, block in enumerate(sequence.tasks):
        y = sequence.encoded(task)
        draw = draw_task(y, n, C, task_seed(repetition, task))
        tests.append((block.X[draw.test], y[draw.test]))
        started = time.thread_time()
        rule = learner.predicted() if task else None
        step = learner.step(block.X[draw.train], y[draw.train])
        times.append(time.thread_time() - started)
        if rule is not None:
            before.append(error(rule, *tests[-1]))
        found = [tested(rule, *tests[task - back]) for back, rule in enumerate([step.forward, *step.revised])]
        current[task - len(found) + 1 :] = found[::-1]
        newest.append(current[-1][0])
        wrong["both"].append(np.mean([one for one, _ in current]))
        if step.alone is not None:
            alone = error(step.alone, *tests[-1])
            wrong["alone"].append(np.mean([*own, alone]) if (own := wrong.setdefault("own", [])) else alone)
            own.append(alone)
        if step.pooled is not None:
            X, truth = np.vstack([X for X, _ in tests]), np.concatenate([t for _, t in tests])
            wrong["pooled"].append(error(step.pooled, X, truth))
    reliability = np.sum([sums for _, sums in current], axis=0)[None]
    return {
        "average": float(np.mean(wrong["both"])),
        "newest": float(np.mean(newest)),
        "before": float(np.mean(before)),
        "single": float(np.mean(wrong["alone"])),
        "pooled": float(np.mean(wrong["pooled"])),
        "log_loss": log_loss(reliability)[0],
        "calibration": calibration_error(reliability)[0],
        "ms": 1000.0 * float(np.mean(times)),
    }


def error(rule: LogRule, X: np.ndarray, y: np.ndarray) -> float:
    """Return the error of a rule."""
    return float(np.mean(rule.scores(X).argmax(axis=1) != y))


def tested(rule: LogRule, X: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the error of a rule, and what its probabilities add to the sums."""
    values = rule.scores(X)
    answers = values.argmax(axis=1)
    return float(np.mean(answers != y)), counted(softmax(values), answers, y)[0]


CONTINUAL: dict[str, Callable[..., dict[str, object]]] = {
    "recommended_1.0": lambda s, n, seed: evaluated(s, n, seed, preset="recommended"),
    "paper": lambda s, n, seed: evaluated(s, n, seed, preset="paper"),
    "logistic_seen": lambda s, n, seed: evaluated(s, n, seed, methods=("logistic_seen:tuned",), preset="recommended"),
    "logistic_single": lambda s, n, seed: evaluated(
        s, n, seed, methods=("logistic_single:tuned",), preset="recommended"
    ),
    "forest": forest,
    "learner": learnt,
}


COLUMNS = (
    "setting",
    "n",
    "seed",
    "method",
    "average",
    "newest",
    "before",
    "single",
    "pooled",
    "log_loss",
    "calibration",
    "ms",
)


class Store:
    """CSV of finished cells."""

    def __init__(self, path: Path) -> None:
        self.path, self.done = path, set()
        if path.exists():
            with path.open(newline="") as file:
                self.done = {tuple(row[name] for name in COLUMNS[:4]) for row in csv.DictReader(file)}

    def has(self, *cell: object) -> bool:
        return tuple(map(str, cell)) in self.done

    def add(self, row: dict[str, object]) -> None:
        fresh = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if fresh:
                writer.writeheader()
            writer.writerow({name: f"{v:.5f}" if isinstance(v, float) else v for name, v in row.items()})


def run_continual(path: Path, methods: list[str], sizes: list[int], seeds: range, only: list[str]) -> None:
    """Run what is missing, a seed after the other."""
    store = Store(path)
    for n in sizes:
        for seed in seeds:
            for setting in BLENDED:
                if only and setting.dataset not in only:
                    continue
                missing = [m for m in methods if not store.has(setting.dataset, n, seed, m)]
                if not missing:
                    continue
                sequence = setting.load(seed)
                most = largest_n(sequence)
                if n > most and n > 50:  # digits have 45 samples to learn from: their largest n counts as 50
                    continue
                for method in missing:
                    row = CONTINUAL[method](sequence, min(n, most), seed)
                    store.add({"setting": setting.dataset, "n": n, "seed": seed, "method": method, **row})


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["continual", "next", "report"])
    parser.add_argument("--methods", nargs="+", default=["learner"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--seeds", default="8801:8811", help="first:last")
    parser.add_argument("--only", nargs="*", default=[], help="names of sequences")
    parser.add_argument("--file", type=Path, default=RESULTS / "learner_study_continual.csv")
    options = parser.parse_args()
    seeds = range(*map(int, options.seeds.split(":")))
    if options.action == "continual":
        run_continual(options.file, options.methods, options.sizes, seeds, options.only)


if __name__ == "__main__":
    main()
