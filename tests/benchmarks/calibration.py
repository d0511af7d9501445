"""Do the promises hold? Coverage of tau ± 2 sqrt(s), and minimax risk against the randomised rule's error.

Run: python -m tests.benchmarks.calibration
"""

import csv
import os
from pathlib import Path

import numpy as np

import imrc
from imrc.core.learner import Learner
from imrc.core.prediction import randomised_rule, scores
from imrc.core.settings import resolve_settings
from imrc.evaluation.splits import draw_task, largest_n, repetition_seeds, task_seed
from imrc.features import make
from imrc.solvers._api import with_intercept

RESULTS = Path(__file__).parent / "results" / "calibration.csv"
SEEDS = range(10)
REAL = ("usenet1", "usenet2", "german", "spam", "weather", "power_supply")


VARIANTS = {"paper": {"preset": "paper"}, "recommended": {}, "recommended 0-1": {"loss": "0-1"}}


def coverage(variant: str, n: int) -> tuple[dict[str, float], dict[str, float]]:
    """Share of components with the true mean inside tau ± 2 sqrt(s), and its standard error over seeds."""
    shares: dict[str, list[float]] = {"forward": [], "forward_backward": []}
    for seed in SEEDS:
        sequence = imrc.datasets.load("random_walk", tasks=20, samples=n, seed=seed, change=0.3)
        settings = resolve_settings(**{"preset": "recommended", **VARIANTS[variant]}, b=3)
        learner = Learner(settings, 2, rules=("forward", "forward_backward"))
        inside: dict[str, list[float]] = {"forward": [], "forward_backward": []}
        for j, task in enumerate(sequence):
            update = learner.step(with_intercept(task.X), sequence.encoded(j))
            truth = sequence.truth["mean_vectors"]
            pairs = [("forward", j, update.forward), *(("forward_backward", i, e) for i, e in update.revised.items())]
            for rule, i, estimate in pairs:
                inside[rule].append(np.mean(np.abs(estimate.mean - truth[i]) <= 2 * np.sqrt(estimate.mse)))
        for rule, values in inside.items():
            shares[rule].append(float(np.mean(values)))
    means = {rule: float(np.mean(values)) for rule, values in shares.items()}
    errors = {rule: float(np.std(values, ddof=1) / np.sqrt(len(values))) for rule, values in shares.items()}
    return means, errors


def bounded(name: str, n: int, seeds: range) -> tuple[float, int]:
    """Share of revised tasks whose minimax risk is at least the randomised rule's error, and their number."""
    held, total = 0, 0
    for seed in seeds:
        built_in = name in imrc.datasets.names()[:8]
        sequence = imrc.datasets.load(name, tasks=20, seed=seed) if built_in else imrc.datasets.load(name)
        sequence = sequence.head(min(20, len(sequence)))
        size = min(n, largest_n(sequence))
        feature_map = make("blended", sequence, seed)
        learner = Learner(resolve_settings("recommended", b=3, loss="0-1"), sequence.n_classes)
        repetition, tests = repetition_seeds(seed, 1)[0], {}
        for j, task in enumerate(sequence):
            y = sequence.encoded(j)
            draw = draw_task(y, size, sequence.n_classes, task_seed(repetition, j))
            X1 = with_intercept(feature_map.transform(task.X))
            tests[j] = X1[draw.test], y[draw.test]
            update = learner.step(X1[draw.train], y[draw.train])
            for i, estimate in {j: update.forward, **update.revised}.items():
                X_test, y_test = tests[i]
                rule = randomised_rule(scores(X_test, estimate.coef, sequence.n_classes), estimate.nu)
                held += float(1 - rule[np.arange(len(y_test)), y_test].mean()) <= estimate.risk
                total += 1
    return held / total, total


def main() -> None:
    """Print and store the tables."""
    rows: list[dict[str, object]] = []
    for preset in VARIANTS:
        for n in (10, 50, 100):
            means, errors = coverage(preset, n)
            for rule in means:
                row = {
                    "what": "coverage of tau ± 2 sqrt(s)",
                    "on": "random_walk",
                    "preset": preset,
                    "n": n,
                    "rule": rule,
                }
                rows.append(row | {"value": round(means[rule], 4), "stderr": round(errors[rule], 4)})
    names = imrc.datasets.names()[:8] + (list(REAL) if os.environ.get("IMRC_DATA") else [])
    for name in names:
        for n in (50, 100):
            share, total = bounded(name, n, range(3))
            row = {"what": "risk bounds error", "on": name, "preset": "recommended 0-1", "n": n, "rule": "all"}
            rows.append(
                row | {"value": round(share, 4), "stderr": round(float(np.sqrt(share * (1 - share) / total)), 4)}
            )
    for row in rows:
        print(*row.values(), sep="  ")
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
