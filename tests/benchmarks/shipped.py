"""Errors on built-in data that come with the app, as a visitor finds it: seed 0, ten repetitions, the default."""

import hashlib
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from itertools import repeat

import pandas as pd

import imrc
from imrc.evaluation import RunSettings, largest_n
from imrc.evaluation.columns import arrays_of, columns_of
from imrc.evaluation.comparison import imrc_key, score_table
from imrc.evaluation.run import run_all
from imrc.paper import grid
from imrc.paper.shipped import index, results_folder
from tests.benchmarks.six_or_nine import replace as replaced

BUILT_IN = [name for name in imrc.datasets.names() if imrc.datasets.status(name).where == "built in"]
SIZES, COMPARED_SIZES, KINDS = range(4, 51), (5, 10, 20, 50), ["average", "newest"]
METHODS = (
    *("imrc", "pooled", "majority", "logistic_seen", "forest"),
    *("gem", "mer", "ella", "ewc", "condor", "driftsurf", "aue"),
)
RULES = (imrc_key("recommended", "single"), imrc_key("recommended", "forward"), imrc_key("recommended"))


def rows(name: str, n: int) -> list[grid.Bytes]:
    """Return the runs of one n, the window of all tasks first; the references do not depend on it."""
    sequence, real = imrc.datasets.load(name), imrc.datasets.entry(name).group == "built in"
    whole = run_all(sequence, grid.settings_of(n), threads=1)
    found = [grid.row_of(whole)]
    for W in range(len(sequence) - 1, 0, -1) if real else ():
        other = arrays_of(run_all(sequence, RunSettings(n=n, b=grid.REACH, W=W), threads=1))
        both = columns_of(arrays_of(whole) | other)
        found.append(grid.row_of(replace(whole, settings=grid.settings_of(n, W), **both)))
    return found


def runs() -> None:
    """Compute all runs, on all cores, and write them."""
    started, made = time.perf_counter(), {}
    with ProcessPoolExecutor() as pool:
        waiting = {}
        for name in BUILT_IN:
            most = largest_n(imrc.datasets.load(name))
            waiting[name] = pool.map(rows, repeat(name), [n for n in SIZES if n <= most])
        for name, parts in waiting.items():
            made[imrc.datasets.load(name).fingerprint] = [row for part in parts for row in part]
            print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    path = results_folder() / index()["grid"]["file"]
    grid.write(path, made)
    replaced(results_folder() / "index.toml", r'(\[grid\].*?date = ")[0-9-]*(")', date.today().isoformat())
    used, count = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]), sum(map(len, made.values()))
    print(f"{count} runs, {path.stat().st_size / 1e6:.2f} MB, {used:.0f} processor seconds")


def cell(name: str, n: int, methods: Sequence[str]) -> pd.DataFrame:
    """Return one row per method and kind of error, a column per repetition."""
    sequence = imrc.datasets.load(name, tasks=imrc.datasets.entry(name).opens_with)
    scores = score_table(imrc.evaluate(sequence, n=n, methods=methods), plain=True)
    found = []
    for (method, kind), part in scores.melt(["method", "repetition"], KINDS).groupby(
        ["method", "variable"], sort=False
    ):
        of = scores[scores["method"] == method]
        costs = {"ms": round(1000 * of["seconds"].mean(), 3), "state": round(of["state"].mean())}
        errors = dict(zip(map(str, part["repetition"]), part["value"].round(5), strict=True))
        found.append({"dataset": name, "n": n, "method": method, "kind": kind, **costs, **errors})
    return pd.DataFrame(found)


def methods() -> None:
    """Measure the cells that are missing, and write them."""
    file = results_folder() / "against.csv"
    table = pd.read_csv(file)
    order = {"dataset": BUILT_IN, "kind": KINDS, "method": [*RULES, *METHODS[1:]]}
    for name in BUILT_IN:
        most = largest_n(imrc.datasets.load(name))
        for n in sorted({min(size, most) for size in COMPARED_SIZES}):
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
    {"runs": runs, "methods": methods}[sys.argv[1]]()
