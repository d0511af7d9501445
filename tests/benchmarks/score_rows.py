"""Seconds a model takes to answer 100,000 raw rows: a data frame, and a file, read in a process of its own.

python -m tests.benchmarks.score_rows
"""

import tempfile
import time
from pathlib import Path

import pandas as pd

from imrc.datasets import read_table, sample_csv
from imrc.evaluation import RunSettings
from imrc.model import STRATEGIES, fit_model

ROWS, REPEATS = 100_000, 5


def main() -> None:
    """Print the least of some repeats, for other programs only ever add time."""
    sequence = read_table(sample_csv(), label="state", task="date", period="week")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "next.csv")
        path.write_bytes(sample_csv(ROWS))
        frame = pd.read_csv(path)
        for strategy in STRATEGIES:
            model = fit_model(sequence, strategy=strategy, settings=RunSettings())
            for name, rows in (("data frame", frame), ("file", path)):
                best = float("inf")
                for _ in range(REPEATS):
                    started = time.perf_counter()
                    model.predict(rows)
                    best = min(best, time.perf_counter() - started)
                print(f"{strategy:17s} {name:10s} {best:.2f} s")


if __name__ == "__main__":
    main()
