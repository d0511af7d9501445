"""The paper's IMRC column with a seed of its own per repetition; writes results/paper_imrc_column.csv.

``imrc table`` gives the same column with one draw of random features and angles for all repetitions, as the pages do.

Run with IMRC_DATA set to a folder with the data sets (or after ``imrc.datasets.download``)::

    python tests/benchmarks/paper_imrc_column.py            # about a quarter of an hour on two cores
    python tests/benchmarks/paper_imrc_column.py --quick    # the two Usenets and German at n = 10
"""

import argparse
import itertools
import math
import os
import platform
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pandas as pd

import imrc
from imrc import datasets
from imrc.evaluation import Headline, evaluate
from imrc.paper.measure import PRINTED_REPETITIONS, SIZES, TOLERANCE
from imrc.paper.printed import printed_errors
from imrc.tasks import TaskSequence

RESULTS = Path(__file__).parent / "results" / "paper_imrc_column.csv"


SETS = ("usenet1", "usenet2", "german", "spam", "power_supply", "rotated_mnist")
"""Data sets of the paper whose files are published in the form it uses and small enough to run."""

MEASURED = (
    ("single", "released"), ("forward", "released"), ("forward_backward", "released"), ("forward_backward", "average"),
)  # fmt: skip


def _errors(sequences: Callable[[int], TaskSequence], n: int, seeds: Iterable[int]) -> np.ndarray:
    """Errors `MEASURED` for each seed: a new draw of samples, splits, random features and, where used, angles."""

    def one(seed: int) -> list[float]:
        result = evaluate(sequences(seed), n=n, b=3, W=2, preset="paper", features="paper", repetitions=1, seed=seed)
        return [float(result.per_repetition(rule, kind)[0]) for rule, kind in MEASURED]

    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        return np.array(list(pool.map(one, seeds)))


def _beside_print(errors: np.ndarray, printed: float, printed_std: float) -> tuple[Headline, float, float, bool]:
    """Return our error, ours minus printed, two standard errors of that, and whether it is reproduced."""
    measured = Headline.of(errors)
    difference = measured.mean - printed
    # A printed value has its own sampling noise and was rounded to two digits; rounding is left to the tolerance.
    noise = 2.0 * math.hypot(measured.stderr, printed_std / math.sqrt(PRINTED_REPETITIONS))
    return measured, difference, noise, abs(difference) <= max(TOLERANCE, noise)


def _row(name: str, n: int, errors: np.ndarray, seeds: list[int]) -> dict[str, object]:
    printed, printed_std = printed_errors(name, n)["imrc"]
    measured, difference, noise, reproduced = _beside_print(errors[:, 2], printed, printed_std)
    average, average_difference, _, average_reproduced = _beside_print(errors[:, 3], printed, printed_std)
    return {
        "dataset": name,
        "n": n,
        "error": round(measured.mean, 5),
        "std": round(measured.std, 5),
        "stderr": round(measured.stderr, 5),
        "printed": printed,
        "printed_std": printed_std,
        "difference": round(difference, 5),
        "two_stderr": round(noise, 5),
        "reproduced": reproduced,
        "average": round(average.mean, 5),
        "average_difference": round(average_difference, 5),
        "average_reproduced": average_reproduced,
        "single_task": round(float(errors[:, 0].mean()), 5),
        "forward": round(float(errors[:, 1].mean()), 5),
        "repetitions": len(seeds),
        "seeds": f"{seeds[0]}-{seeds[-1]}",
    }


def paper_imrc_column(names: Iterable[str], sizes: Iterable[int] = SIZES, *, repetitions: int) -> pd.DataFrame:
    """Measure the error of the ``paper`` preset beside the values the paper prints for IMRC, one row a dataset and n.

    b = 3, W = 2, the paper's representation, 100 test samples per task. `error` is the one the authors' code prints:
    task j after b - 1 further tasks (the last tasks: at the end), averaged over tasks; `average` the one the paper's
    text defines, the mean over steps of the mean over the tasks seen. Each repetition has a seed of its own, which
    decides splits, draws, random features and, for rotated MNIST, images and angles.
    """
    rows, seeds = [], list(range(repetitions))
    for name, n in itertools.product(names, sizes):
        print(f"{name}, n = {n}", file=sys.stderr, flush=True)
        rows.append(_row(name, n, _errors(_loader(name), n, seeds), seeds))
    return pd.DataFrame(rows)


def _loader(name: str) -> Callable[[int], TaskSequence]:
    if datasets.entry(name).seeded:
        return lambda seed: datasets.load(name, seed=seed)
    sequence = datasets.load(name)
    return lambda _seed: sequence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repetitions", type=int, default=50)
    options = parser.parse_args()
    if options.quick:
        print(paper_imrc_column(["usenet1", "usenet2", "german"], [10], repetitions=2).to_string())
        return
    tables = ["usenet1", "usenet2", "german", "spam", "power_supply"]
    frames = [
        paper_imrc_column(tables, repetitions=options.repetitions),
        # 60 tasks of 784 pixels take longer: fewer repetitions.
        paper_imrc_column(["rotated_mnist"], repetitions=5),
    ]
    table = pd.concat(frames, ignore_index=True)
    table["versions"] = (
        f"imrc {imrc.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}"
    )
    RESULTS.parent.mkdir(exist_ok=True)
    table.to_csv(RESULTS, index=False)
    print(table.drop(columns=["versions", "seeds"]).to_string())


if __name__ == "__main__":
    main()
