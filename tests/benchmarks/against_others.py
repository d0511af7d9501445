"""Errors that the page *Against others* shows at once: built-in data, n = 5, 10, 20 and 50 or the largest possible.

    python -m tests.benchmarks.against_others

Everything else as a visitor finds it: tasks, seed 0, ten repetitions, the recommended preset. Cells that are in
``data/results/against.csv`` stay as they are, the others are measured, and the file is written after each of them; the
last line is its checksum. Remove a row to measure it again.
"""

import hashlib
from collections.abc import Sequence

import pandas as pd

import imrc
from imrc.evaluation import largest_n
from imrc.evaluation.comparison import imrc_key, score_table
from imrc.paper.shipped import results_folder

SIZES, KINDS = (5, 10, 20, 50), ["average", "newest"]
METHODS = (
    *("imrc", "pooled", "majority", "logistic_seen", "forest"),
    *("gem", "mer", "ella", "ewc", "condor", "driftsurf", "aue"),
)
RULES = (imrc_key("recommended", "single"), imrc_key("recommended", "forward"), imrc_key("recommended"))


def cell(name: str, n: int, methods: Sequence[str]) -> pd.DataFrame:
    """Return one row per method and kind of error, a column per repetition."""
    sequence = imrc.datasets.load(name, tasks=imrc.datasets.entry(name).opens_with)
    scores = score_table(imrc.evaluate(sequence, n=n, methods=methods), plain=True)
    rows = []
    for (method, kind), part in scores.melt(["method", "repetition"], KINDS).groupby(
        ["method", "variable"], sort=False
    ):
        of = scores[scores["method"] == method]
        costs = {"ms": round(1000 * of["seconds"].mean(), 3), "state": round(of["state"].mean())}
        errors = dict(zip(map(str, part["repetition"]), part["value"].round(5), strict=True))
        rows.append({"dataset": name, "n": n, "method": method, "kind": kind, **costs, **errors})
    return pd.DataFrame(rows)


def main() -> None:
    """Measure the cells that are missing, and write them."""
    file = results_folder() / "against.csv"
    table = pd.read_csv(file)
    built_in = [name for name in imrc.datasets.names() if imrc.datasets.status(name).where == "built in"]
    order = {"dataset": built_in, "kind": KINDS, "method": [*RULES, *METHODS[1:]]}
    for name in built_in:
        most = largest_n(imrc.datasets.load(name))
        for n in sorted({min(size, most) for size in SIZES}):
            there = set(table.query("dataset == @name and n == @n")["method"].replace(RULES[-1], "imrc"))
            if missing := [method for method in METHODS if method not in there]:
                table = pd.concat([table, cell(name, n, missing)]).sort_values(
                    ["dataset", "n", "kind", "method"],
                    key=lambda values: values.map(order[values.name].index) if values.name in order else values,
                )
                table.to_csv(file, index=False, lineterminator="\n", float_format="%.5g")
                print(f"{name}, n = {n}: {len(missing)} methods", flush=True)
    print(hashlib.sha256(file.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
