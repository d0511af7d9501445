"""What tracked weights are worth to other classifiers: error on the next task, against all rows alike and last three.

Logistic regression, a forest of 20 trees and boosting of 20 rounds, on the columns as they are (scaled), n = 30 rows a
task or what there is, on the first 12 tasks of the 21 sequences of `sequences.py`; the error of a task is that of rules
learnt before it, mean over the second half of the tasks. Mean ranks are over sequences and repetitions, of the three
ways of one classifier; the worst loss is that of a sequence's mean error against the best of the three.

    IMRC_DATA=... IMRC_STREAMS=... python tests/benchmarks/evolving_study.py [REPETITIONS]
"""

import sys
import warnings

import numpy as np
import pandas as pd
from common import RESULTS, Cells, write
from sequences import SEQUENCES
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import imrc
from imrc.evaluation import largest_n

CLASSIFIERS = {
    "logistic": LogisticRegression(max_iter=1000),
    "forest": RandomForestClassifier(20),
    "boosting": HistGradientBoostingClassifier(max_iter=20),
}
WAYS = {"seen": "all", "recent": "last three", "evolving": "evolving"}
NAME = "evolving_study.csv"


def measure(repetitions: int) -> None:
    """Measure what has not been measured."""
    warnings.filterwarnings("ignore", message=".*sklearn.utils.parallel")
    cells = Cells(RESULTS / NAME, ["sequence"])
    for setting in SEQUENCES:
        if cells.has(setting.dataset):
            continue
        sequence = setting.load(0).head(12)
        methods = [(f"{name} {way}", one, way) for name, one in CLASSIFIERS.items() for way in WAYS]
        n = min(30, largest_n(sequence))
        options = {"b": 2, "features": "standardised", "repetitions": repetitions, "methods": tuple(methods)}
        run = imrc.evaluate(sequence, n=n, **options)
        half = run.n_tasks // 2
        cells.add(
            [
                {
                    "sequence": setting.dataset,
                    "n": n,
                    "classifier": name,
                    "way": WAYS[way],
                    "seed": seed,
                    "error": error,
                }
                for name in CLASSIFIERS
                for way in WAYS
                for seed, error in enumerate(run.before[f"own:{name} {way}"][:, half:].mean(axis=1).round(4).tolist())
            ]
        )


def summary() -> pd.DataFrame:
    """Return mean error with its standard error over seeds, mean rank and worst loss of each way."""
    table = pd.read_csv(RESULTS / NAME)
    table["rank"] = table.groupby(["sequence", "classifier", "seed"])["error"].rank()
    means = table.groupby(["classifier", "way", "sequence"])["error"].mean()
    loss = means - means.groupby(level=["classifier", "sequence"]).transform("min")
    seeds = table.groupby(["classifier", "way", "seed"])[["error", "rank"]].mean()
    grouped = seeds.groupby(level=["classifier", "way"])
    spread = grouped.std() / np.sqrt(grouped.count())
    found = grouped.mean().join(spread.add_suffix(" se")).join(loss.groupby(level=[0, 1]).max().rename("worst loss"))
    return found.round(4).reset_index().assign(sequences=table["sequence"].nunique())


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    write(summary(), "evolving_summary.csv")
