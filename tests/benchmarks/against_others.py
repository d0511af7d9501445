"""Errors that the page *Against others* shows at once: built-in data, n = 5, 10, 20 and 50 or the largest possible.

    python -m tests.benchmarks.against_others

Everything else as a visitor finds it: tasks, seed 0, ten repetitions, the recommended preset. MER is left out, which
would take as long as all others together. Writes ``data/results/against.csv`` and prints its checksum.
"""

import hashlib

import pandas as pd

import imrc
from imrc.evaluation import largest_n
from imrc.evaluation.comparison import score_table
from imrc.paper.shipped import KINDS, results_folder

SIZES = (5, 10, 20, 50)
METHODS = (
    *("imrc", "pooled", "majority", "logistic_seen", "forest"),
    *("gem", "ella", "ewc", "condor", "driftsurf", "aue"),
)


def cell(name: str, n: int) -> pd.DataFrame:
    """Return one row per method and kind of error, a column per repetition."""
    sequence = imrc.datasets.load(name, tasks=imrc.datasets.entry(name).opens_with)
    scores = score_table(imrc.evaluate(sequence, n=n, methods=METHODS), plain=True)
    rows = []
    for (method, kind), part in scores.melt(["method", "repetition"], list(KINDS)).groupby(
        ["method", "variable"], sort=False
    ):
        of = scores[scores["method"] == method]
        costs = {"ms": round(1000 * of["seconds"].mean(), 3), "state": round(of["state"].mean())}
        errors = dict(zip(part["repetition"], part["value"].round(5), strict=True))
        rows.append({"dataset": name, "n": n, "method": method, "kind": kind, **costs, **errors})
    return pd.DataFrame(rows)


def main() -> None:
    """Compute all cells and write them."""
    built_in = [name for name in imrc.datasets.names() if imrc.datasets.status(name).where == "built in"]
    cells = [
        cell(name, n)
        for name in built_in
        for n in sorted({min(size, largest_n(imrc.datasets.load(name))) for size in SIZES})
    ]
    file = results_folder() / "against.csv"
    pd.concat(cells).to_csv(file, index=False, lineterminator="\n", float_format="%.5g")
    print(hashlib.sha256(file.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
