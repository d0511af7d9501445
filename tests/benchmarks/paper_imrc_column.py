"""The paper's IMRC column with a seed of its own per repetition; writes results/paper_imrc_column.csv.

``imrc table`` gives the same column with one draw of random features and angles for all repetitions, as the pages do.

Run with IMRC_DATA set to a folder with the data sets (or after ``imrc.datasets.download``)::

    python tests/benchmarks/paper_imrc_column.py            # about a quarter of an hour on two cores
    python tests/benchmarks/paper_imrc_column.py --quick    # the two Usenets and German at n = 10
"""

import argparse
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
from imrc._checks import check_choice, check_int
from imrc.evaluation import Headline, evaluate
from imrc.paper.measure import PRINTED_REPETITIONS, SIZES, TOLERANCE
from imrc.paper.printed import printed_errors
from imrc.tasks import TaskSequence

RESULTS = Path(__file__).parent / "results" / "paper_imrc_column.csv"


SETS = ("usenet1", "usenet2", "german", "spam", "power_supply", "rotated_mnist")
"""Data sets of the paper whose files are published in the form it uses and small enough to run."""

Progress = Callable[[str, int, int], None]


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


def paper_imrc_column(
    names: Iterable[str] | None = None,
    sizes: Iterable[int] = SIZES,
    *,
    repetitions: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Measure the error of the ``paper`` preset beside the values the paper prints for IMRC.

    b = 3, W = 2, the paper's representation, 100 test samples per task. The error is the one the authors' code
    prints: task j after b - 1 further tasks (the last tasks: at the end), averaged over tasks; beside it the one the
    paper's text defines, the mean over steps of the mean over the tasks seen. Each repetition has a
    seed of its own, which decides splits, draws, random features and, for Rotated MNIST, images and angles.

    Parameters
    ----------
    names : iterable of str, optional
        Data sets, of `SETS`; default all whose files are on this computer.
    sizes : iterable of int
        Training samples per task, of 10, 50, 100, 150.
    repetitions : int
        Repetitions, 2 to 50.
    seed : int
        First seed; repetition r uses ``seed + r``.
    progress : callable, optional
        Called with (data set and n, cells done, cells in all).

    Returns
    -------
    DataFrame
        One row per data set and n: ``error``, ``std``, ``stderr`` over repetitions; ``printed``, ``printed_std``;
        ``difference`` (ours minus printed); ``two_stderr`` (of the difference); ``reproduced`` (within 0.02 or
        within two standard errors); the same for the error as the text defines it (``average``); errors of single-task
        and forward learning; repetitions and seeds.

    Raises
    ------
    NotAvailableError
        If a data set that was named is not on this computer.
    ValueError
        For an unknown data set, size or number of repetitions.
    """
    repetitions = check_int("repetitions", repetitions, 2, PRINTED_REPETITIONS)
    seed = check_int("seed", seed, 0)
    wanted = [name for name in SETS if datasets.status(name).loadable] if names is None else list(names)
    for name in wanted:
        check_choice("names", name, SETS)
    cells = [(name, n) for name in wanted for n in sizes]
    for _, n in cells:
        if n not in SIZES:
            raise ValueError(f"sizes must be among {', '.join(map(str, SIZES))}; got {n}.")
    seeds = list(range(seed, seed + repetitions))
    rows = []
    for done, (name, n) in enumerate(cells):
        if progress is not None:
            progress(f"{name}, n = {n}", done, len(cells))
        rows.append(_row(name, n, _errors(_loader(name), n, seeds), seeds))
    if progress is not None:
        progress("done", len(cells), len(cells))
    return pd.DataFrame(rows)


def _loader(name: str) -> Callable[[int], TaskSequence]:
    if datasets.entry(name).seeded:
        return lambda seed: datasets.load(name, seed=seed)
    sequence = datasets.load(name)
    return lambda _seed: sequence


def show(what: str, done: int, total: int) -> None:
    print(f"[{done}/{total}] {what}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repetitions", type=int, default=50)
    options = parser.parse_args()
    if options.quick:
        print(paper_imrc_column(["usenet1", "usenet2", "german"], [10], repetitions=2, progress=show).to_string())
        return
    tables = ["usenet1", "usenet2", "german", "spam", "power_supply"]
    frames = [
        paper_imrc_column(tables, repetitions=options.repetitions, progress=show),
        # 60 tasks of 784 pixels take longer: fewer repetitions.
        paper_imrc_column(["rotated_mnist"], repetitions=5, progress=show),
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
