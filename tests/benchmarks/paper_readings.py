"""IMRC's column of the paper with other readings of its text and code; writes data/results/readings.csv.

    IMRC_DATA=<folder of raw files> python -m tests.benchmarks.paper_readings [--only task_angle]

The code of the authors' follow-up (2025) has lambda0 = .7 where that of the paper has 1, and its random Fourier
features come without an intercept. Each choice alone and both together are measured beside the paper's, on the same
draws as ``imrc table``: seed 0, b = 3, W = 2, 10 repetitions (rotated MNIST, whose pixels keep the intercept: 3).
Rotated MNIST is also measured with one angle per task, as the paper's text has it, instead of one per image.
"""

import sys
from datetime import date
from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd

from imrc import datasets
from imrc._types import Floats
from imrc.evaluation import Headline, RunSettings
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import iter_run
from imrc.evaluation.splits import MappedRows
from imrc.paper.measure import SIZES, versions
from imrc.paper.readings import TASK_ANGLE, VARIANTS
from imrc.paper.shipped import results_folder
from imrc.tasks import TaskSequence
from tests.benchmarks.common import parser

SEED = 0
SETS = ("usenet1", "usenet2", "german", "spam", "power_supply", "rotated_mnist")
"""Data sets of the paper whose files are published in the form it uses and small enough to run."""


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


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", choices=(*VARIANTS, TASK_ANGLE), help="readings; others stay as they are")
    options.add_argument("--datasets", nargs="+", choices=SETS, default=SETS)
    options.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=SIZES)
    options.add_argument("--show", action="store_true", help="print the table, write nothing")
    given = options.parse_args()
    variants = [(name, reading, choice, {}) for name, (reading, choice) in product(given.datasets, VARIANTS.items())]
    variants.append(("rotated_mnist", TASK_ANGLE, VARIANTS["paper"], {"angles": "task"}))
    rows = []
    for name, reading, choice, how in variants:
        if name not in given.datasets or reading not in (given.only or (reading,)):
            continue
        sequence, repetitions = datasets.load(name, seed=SEED, **how), 3 if name == "rotated_mnist" else 10
        for n in given.sizes:
            print(f"{name}, n = {n}, {reading}", file=sys.stderr, flush=True)
            settings = RunSettings(
                n=n,
                preset="paper",
                features="paper",
                repetitions=repetitions,
                seed=SEED,
                overrides={"lambda0": choice.lambda0},
            )
            result = run(sequence, settings, intercept=choice.intercept)
            for kind in ("average", "released"):
                error = Headline.of(result.per_repetition("forward_backward", kind))
                rows.append((name, n, reading, kind, error.mean, error.std, error.stderr, repetitions))
    columns = ["dataset", "n", "reading", "error_kind", "error", "std", "stderr", "repetitions"]
    table = pd.DataFrame(rows, columns=columns)
    print(table.to_string())
    if given.show:
        return
    file, cells = results_folder() / "readings.csv", columns[:4]
    table = table.assign(seed=SEED, versions=versions(), date=date.today().isoformat())
    table = pd.concat([pd.read_csv(file), table]).drop_duplicates(cells, keep="last")
    table.to_csv(file, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
