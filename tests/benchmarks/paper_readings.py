"""IMRC's column of the paper with other readings of its text and code; writes data/results/readings.csv.

    IMRC_DATA=<folder of raw files> python -m tests.benchmarks.paper_readings [--only task_angle]

The code of the authors' follow-up (2025) has lambda0 = .7 where that of the paper has 1, and its random Fourier
features come without an intercept. Each choice alone and both together are measured beside the paper's, on the same
draws as ``imrc table``: seed 0, b = 3, W = 2, 10 repetitions (rotated MNIST, whose pixels keep the intercept: 3).
Rotated MNIST is also measured with one angle per task, as the paper's text has it, instead of one per image.
"""

import argparse
import sys
from collections.abc import Iterator
from datetime import date
from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd

from imrc import datasets
from imrc._types import Floats
from imrc.evaluation import Headline, RunSettings
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import MappedRows, iter_run
from imrc.paper.measure import SIZES, versions
from imrc.paper.readings import CHOICES, TASK_ANGLE
from imrc.paper.shipped import results_folder
from imrc.tasks import TaskSequence
from tests.benchmarks.paper_imrc_column import SETS

SEED = 0


class WithoutIntercept(MappedRows):
    """Mapped rows whose first column is zero instead of one.

    Its mean, variance and confidence are then zero too, so the slope of problem (3) is, and the coefficient stays where
    it starts: at zero. No rule can tell such a column from one that is not there.
    """

    def _mapped(self, task: int, index: np.ndarray) -> Floats:
        X1 = super()._mapped(task, index)
        X1[:, 0] = 0.0
        return X1


def run(sequence: TaskSequence, settings: RunSettings, *, intercept: bool) -> RunResult:
    """Run IMRC on tables with or without intercept; pixels always have it."""
    without = not intercept and "pixel" not in (sequence.column_kinds or ())
    with patch("imrc.evaluation.run.MappedRows", WithoutIntercept if without else MappedRows):
        return RunResult.from_steps(settings, sequence, list(iter_run(sequence, settings)))


def variants() -> Iterator[tuple[str, str, int, bool, float, dict[str, str]]]:
    """Yield reading, dataset, n, intercept, lambda0 and options of the dataset."""
    for name, n, (reading, choice) in product(SETS, SIZES, CHOICES.items()):
        yield reading, name, n, choice.intercept, choice.lambda0, {}
    for n in SIZES:
        yield TASK_ANGLE, "rotated_mnist", n, True, 1.0, {"angles": "task"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=(*CHOICES, TASK_ANGLE), help="readings; others stay as they are")
    only = parser.parse_args().only
    rows, sequence, loaded = [], None, None
    for reading, name, n, intercept, lambda0, options in variants():
        if only is not None and reading not in only:
            continue
        print(f"{name}, n = {n}, {reading}", file=sys.stderr, flush=True)
        if loaded != (name, options):
            sequence, loaded = datasets.load(name, seed=SEED, **options), (name, options)
        repetitions = 3 if name == "rotated_mnist" else 10
        overrides = {"lambda0": lambda0}
        settings = RunSettings(
            n=n, preset="paper", features="paper", repetitions=repetitions, seed=SEED, overrides=overrides
        )
        result = run(sequence, settings, intercept=intercept)
        for kind in ("average", "released"):
            error = Headline.of(result.per_repetition("forward_backward", kind))
            rows.append((name, n, reading, kind, error.mean, error.std, error.stderr, repetitions))
    columns = ["dataset", "n", "reading", "error_kind", "error", "std", "stderr", "repetitions"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.assign(seed=SEED, versions=versions(), date=date.today().isoformat())
    file = results_folder() / "readings.csv"
    if only is not None:
        kept = pd.read_csv(file)
        table = pd.concat([kept[~kept["reading"].isin(only)], table])
    table.to_csv(file, index=False, float_format="%.5g")
    print(table.drop(columns=["seed", "versions", "date"]).to_string())


if __name__ == "__main__":
    main()
