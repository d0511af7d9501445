"""Next-task error, test then train: IMRC's predicted rule against logistic regression on the past.

    python tests/benchmarks/next_task_study.py [--seeds 4] [--repetitions 5]

Every method is tested on each task before it learns it, on the same draws. A cell is the mean over seeds (data and
draws) and repetitions, ± one standard error over them; the mean over tasks starts with the second. Prints the table of
README.
"""

import argparse
import time

import numpy as np

import imrc
from imrc.wording import decimal

SEQUENCES = (
    "rotated_digits",
    "random_walk",
    "trend",
    "mean_reverting",
    "periodic",
    "abrupt",
    "independent",
    "identical",
)
SIZES = {("rotated_digits", 50): 45}
"""What the smallest task has to learn from."""
METHODS = {
    "paper": {"preset": "paper", "b": 0},
    "recommended_2023": {"preset": "recommended_2023", "features": "automatic", "b": 0},
    "last": {"methods": ("logistic_single",)},
    "last 4": {"methods": ("logistic_recent",), "b": 3},
    "all": {"methods": ("logistic_seen",)},
}
"""What is run; the rule before learning does not depend on b, which costs time only."""


def errors(name: str, n: int, settings: dict, seeds: range, repetitions: int) -> np.ndarray:
    """Return the next-task error of every seed and repetition."""
    method = settings.get("methods", ("imrc",))[0]
    rule = "forward" if method == "imrc" else method
    found = []
    for seed in seeds:
        sequence = imrc.datasets.load(name, seed=seed)
        result = imrc.evaluate(sequence, n=n, repetitions=repetitions, seed=seed, scenario="next_task", **settings)
        found.append(result.per_repetition(rule))
    return np.concatenate(found)


def main() -> None:
    """Print one line per sequence and n."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    seeds, started = range(100, 100 + options.seeds), time.monotonic()
    print(f"| sequence | n | {' | '.join(METHODS)} |")
    print("| --- | ---: |" + " ---: |" * len(METHODS))
    for name in SEQUENCES:
        for n in (10, 50):
            cells = []
            for settings in METHODS.values():
                values = errors(name, SIZES.get((name, n), n), settings, seeds, options.repetitions)
                stderr = values.std(ddof=1) / np.sqrt(len(values))
                cells.append((values.mean(), f"{decimal(values.mean())} ± {decimal(stderr)}"))
            best = min(mean for mean, _ in cells)
            shown = [f"**{text}**" if mean == best else text for mean, text in cells]
            print(f"| {name} | {SIZES.get((name, n), n)} | {' | '.join(shown)} |", flush=True)
    print(f"\n{options.seeds} seeds from 100, {options.repetitions} repetitions, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
