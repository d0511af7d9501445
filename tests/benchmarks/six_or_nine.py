"""Errors that the landing page shows: sixes and nines that turn, by how far they turn and how many labels a task has.

    python -m tests.benchmarks.six_or_nine

Each of the ten repetitions deals the images out anew and draws its own labels, so intervals hold for both. An error is
that of all tasks so far, on the images of a task that were not used for learning, as in the decision of a run.
Writes ``data/results/six_or_nine.json``.
"""

import json

import numpy as np

import imrc
from imrc.evaluation.decision import run_references
from imrc.evaluation.significance import mean_and_stderr, mean_interval, paired_differences
from imrc.paper.shipped import results_folder

TURNS, LABELS, REPETITIONS = (0, 90, 180, 360, 720), (2, 4, 8), 10
STRATEGIES = ("single", "pooled", "forward", "forward_backward")


def cell(turn: int, labels: int) -> dict[str, object]:
    """Return the errors at one setting: by step, over all steps, and how much more each makes than the best."""
    overall, by_step = ({name: [] for name in STRATEGIES} for _ in range(2))
    for seed in range(REPETITIONS):
        sequence = imrc.datasets.load("six_or_nine", turn=turn, seed=seed)
        result = imrc.evaluate(sequence, n=labels, repetitions=1, seed=seed)
        references = run_references(sequence, result.settings)
        for name in STRATEGIES:
            source = references if name == "pooled" else result
            overall[name].append(source.judged(name)[0])
            by_step[name].append(source.judged_by_step(name)[0])
    errors = {name: np.array(values) for name, values in overall.items()}
    best = min(STRATEGIES, key=lambda name: errors[name].mean())
    gaps = paired_differences(errors, best)
    found: dict[str, object] = {"best": best}
    for name in STRATEGIES:
        mean, stderr = mean_and_stderr(np.array(by_step[name]))
        more = gaps.get(name)
        found[name] = {
            "mean": mean.round(4).tolist(),
            "stderr": stderr.round(4).tolist(),
            "overall": np.round(mean_interval(errors[name]), 4).tolist()[:3],
            "above_best": None if more is None else np.round([more.mean, more.low, more.high], 4).tolist(),
        }
    return found


def main() -> None:
    """Compute the grid and write it."""
    made = {
        "version": imrc.__version__,
        "repetitions": REPETITIONS,
        "image_seeds": list(range(REPETITIONS)),
        "images_a_task": 18,
        "preset": "recommended",
        "cells": {f"{turn},{labels}": cell(turn, labels) for turn in TURNS for labels in LABELS},
    }
    for setting, errors in made["cells"].items():
        print(setting, {name: errors[name]["overall"] for name in STRATEGIES}, flush=True)
    text = json.dumps(made).replace('}}, "', '}},\n"')
    (results_folder() / "six_or_nine.json").write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
