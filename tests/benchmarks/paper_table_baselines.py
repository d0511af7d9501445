"""Table of compared methods on the paper's tabular sets and on rotated MNIST, beside the printed values.

    IMRC_DATA=<folder of raw files> python tests/benchmarks/paper_table_baselines.py [--only usenet1 spam] [--n 10 50]

One cell is a dataset, n and a method. Finished cells are kept in ``results/paper_table_baselines_repetitions.csv`` (one
row per repetition), so the script can be stopped and started again; ``--table`` only rebuilds
``results/paper_table_baselines.csv`` and the Markdown table from them. Representation as in the paper: 200 random
Fourier features with sigma2 = 10 on raw inputs for tables, pixels in [0, 1] for rotated MNIST. Seconds are processor
seconds of learning per task; they depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
os.environ.setdefault("IMRC_DATA", str(HERE.parents[2] / "shared" / "data" / "raw"))

import numpy as np  # noqa: E402 - after the thread setting
import pandas as pd  # noqa: E402

import imrc  # noqa: E402
from imrc.evaluation.comparison import score_table  # noqa: E402

RECORDS = HERE / "results" / "paper_table_baselines_repetitions.csv"
TABLE = HERE / "results" / "paper_table_baselines.csv"
SEED = 0
TABULAR = ("usenet1", "usenet2", "german", "spam", "power_supply")
METHODS = (
    *("gem", "ewc", "condor", "driftsurf", "aue", "ella", "mer:argparse"),
    *("majority", "logistic_single", "logistic_recent", "logistic_seen", "oracle"),
    *("driftsurf:zeros", "aue:zeros", "ewc:slow", "condor:weak", "ella:python", "gem:argparse"),
    *("imrc", "mer", "aue:hoeffding"),
)
SLOW = ("mer", "aue:hoeffding")


def cells(only: list[str], sizes: list[int], methods: list[str]) -> list[tuple[str, int, str]]:
    """All cells, cheap ones first."""
    made = [
        (dataset, n, method)
        for n in sizes
        for dataset in only
        for method in methods
        if dataset != "rotated_mnist" or n == 10
    ]
    return sorted(made, key=lambda cell: cell[2] in SLOW)


def done_cells() -> set[tuple[str, int, str]]:
    if not RECORDS.exists():
        return set()
    frame = pd.read_csv(RECORDS)
    return set(zip(frame["dataset"], frame["n"], frame["run"], strict=True))


def run_cell(dataset: str, n: int, method: str, repetitions: int) -> None:
    sequence = imrc.datasets.load(dataset)
    started = time.perf_counter()
    result = imrc.evaluate(
        sequence, n=n, repetitions=repetitions, seed=SEED, features="paper", methods=(method,), preset="paper"
    )
    scores = score_table(result).assign(
        dataset=dataset,
        run=method,
        tasks=result.n_tasks,
        seed=SEED,
        imrc=imrc.__version__,
        numpy=np.__version__,
        date=time.strftime("%Y-%m-%d"),
    )
    scores.to_csv(RECORDS, mode="a", header=not RECORDS.exists(), index=False, float_format="%.6g")
    mean = scores.groupby("method")[["average", "newest"]].mean().round(3).to_dict("index")
    print(f"{dataset} n={n} {method}: {mean} ({time.perf_counter() - started:.1f} s)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[*TABULAR, "rotated_mnist"], help="datasets")
    parser.add_argument("--n", nargs="+", type=int, default=[10, 50, 100, 150], help="training samples per task")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="methods")
    parser.add_argument("--repetitions", type=int, default=10, help="for tables (default 10)")
    parser.add_argument("--mnist-repetitions", type=int, default=3, help="for rotated MNIST (default 3)")
    parser.add_argument("--table", action="store_true", help="run nothing, rebuild the table")
    arguments = parser.parse_args()
    RECORDS.parent.mkdir(exist_ok=True)
    if not arguments.table:
        done = done_cells()
        for cell in cells(arguments.only, arguments.n, arguments.methods):
            if cell not in done:
                mnist = cell[0] == "rotated_mnist"
                run_cell(*cell, arguments.mnist_repetitions if mnist else arguments.repetitions)


if __name__ == "__main__":
    main()
