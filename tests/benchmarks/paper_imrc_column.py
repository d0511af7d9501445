"""The paper's IMRC column with a seed of its own per repetition; writes results/paper_imrc_column.csv.

    IMRC_DATA=FOLDER python -m tests.benchmarks.paper_imrc_column     # about a quarter of an hour on two cores
    IMRC_DATA=FOLDER python -m tests.benchmarks.paper_imrc_column --only usenet1 german --sizes 10 --repetitions 2

``imrc table`` gives the same column with one draw of random features and angles for all repetitions, as the pages do.
Here b = 3, W = 2, the paper's representation, 100 test samples per task. `error` is the one the authors' code prints:
task j after b - 1 further tasks (the last tasks: at the end), averaged over tasks; `average` the one the paper's text
defines, the mean over steps of the mean over the tasks seen. Each repetition has a seed of its own, which decides
splits, draws, random features and, for rotated MNIST, images and angles.
"""

import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from imrc import datasets
from imrc.evaluation import Headline, evaluate
from imrc.paper.measure import SIZES, beside_print, versions
from imrc.paper.printed import printed_errors
from tests.benchmarks.common import parser, write

SETS = ("usenet1", "usenet2", "german", "spam", "power_supply", "rotated_mnist")
"""Data sets of the paper whose files are published in the form it uses and small enough to run."""

MEASURED = {
    "single_task": ("single", "released"),
    "forward": ("forward", "released"),
    "error": ("forward_backward", "released"),
    "average": ("forward_backward", "average"),
}


def errors(name: str, n: int, repetitions: int) -> dict[str, np.ndarray]:
    """Return the errors `MEASURED` for each seed: a new draw of samples, splits, random features and angles."""
    kept = None if datasets.entry(name).seeded else datasets.load(name)

    def one(seed: int) -> list[float]:
        sequence = datasets.load(name, seed=seed) if kept is None else kept
        result = evaluate(sequence, n=n, b=3, W=2, preset="paper", features="paper", repetitions=1, seed=seed)
        return [float(result.per_repetition(rule, kind)[0]) for rule, kind in MEASURED.values()]

    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        return dict(zip(MEASURED, np.array(list(pool.map(one, range(repetitions)))).T, strict=True))


def row(name: str, n: int, repetitions: int) -> dict[str, object]:
    """Return our errors beside the printed one, and whether they are reproduced."""
    found, (printed, printed_std) = errors(name, n, repetitions), printed_errors(name, n)["imrc"]
    shown: dict[str, object] = {"dataset": name, "n": n, "printed": printed, "printed_std": printed_std}
    for kind, start in (("error", ""), ("average", "average_")):
        measured = Headline.of(found[kind])
        difference, noise, reproduced = beside_print(measured.mean, measured.stderr, printed, printed_std)
        values = {kind: measured.mean, f"{start}std": measured.std, f"{start}stderr": measured.stderr}
        values |= {f"{start}difference": difference, f"{start}two_stderr": noise}
        shown |= {title: round(value, 5) for title, value in values.items()}
        shown[f"{start}reproduced"] = bool(reproduced)
    shown |= {rule: round(float(found[rule].mean()), 5) for rule in ("single_task", "forward")}
    return shown | {"repetitions": repetitions, "seeds": f"0-{repetitions - 1}", "versions": versions()}


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", choices=SETS, default=SETS, help="datasets")
    options.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=SIZES)
    options.add_argument("--repetitions", type=int, default=50, help="rotated MNIST, which takes longer: at most 5")
    given = options.parse_args()
    many = {name: min(given.repetitions, 5 if name == "rotated_mnist" else 50) for name in given.only}
    write([row(*cell, many[cell[0]]) for cell in itertools.product(given.only, given.sizes)], "paper_imrc_column.csv")
