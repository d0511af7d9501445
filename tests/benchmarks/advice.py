"""Advice against the truth: how often what a run of few repetitions advises costs more than .01 of error.

    PYTHONPATH=. nice python tests/benchmarks/advice.py [--repetitions 200] [--only-table]

On each sequence (the seven synthetic kinds and rotated digits) and for each n the errors of all strategies are measured
in many repetitions. Their means are taken for the truth. Disjoint groups of 2, 3, 5 and 10 repetitions then stand for
as many runs, `imrc.evaluation.decision.advise` advises each, and its advice costs the true error of what it advises
less that of the truly best strategy.

Writes ``results/advice_errors.csv`` (one row per sequence, n and repetition), in rounds over all settings, so that a
stopped study has about as many repetitions of each and goes on where it was; ``results/advice.csv`` (one row per
sequence, n and number of repetitions), and prints the table by n and repetitions. Repetitions of another learner must
not be mixed: remove ``advice_errors.csv`` when the default has changed.
"""

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd

import imrc
from imrc.datasets.synthetic import KINDS
from imrc.evaluation import RunResult, RunSettings, decide, iter_run, largest_n
from imrc.evaluation.decision import MARGIN, advise, reference_settings

SEQUENCES = (*KINDS, "rotated_digits")
SIZES = (10, 5, 20, 50)
GROUPS = (2, 3, 5, 10)
ROUND = 20
RESULTS = Path(__file__).parent / "results"
ERRORS = RESULTS / "advice_errors.csv"


def errors_of(name: str, n: int, chosen: range) -> pd.DataFrame:
    """Return the errors of all strategies in some repetitions, one row each."""
    sequence = imrc.datasets.load(name)
    settings = RunSettings(n=min(n, largest_n(sequence)), repetitions=200)
    result, references = (
        RunResult.from_steps(job, sequence, list(iter_run(sequence, job, only=chosen)))
        for job in (settings, reference_settings(settings))
    )
    strategies = decide(result, name, references=references).strategies
    return pd.DataFrame(
        {"sequence": name, "n": n, "repetition": [*chosen]} | {one.name: one.errors for one in strategies}
    )


def measure(repetitions: int) -> None:
    """Measure what is missing."""
    started, done = time.time(), set()
    if ERRORS.exists():
        kept = pd.read_csv(ERRORS)[["sequence", "n", "repetition"]]
        done = set(kept.itertuples(index=False, name=None))
    for first, n, name in itertools.product(range(0, repetitions, ROUND), SIZES, SEQUENCES):
        if (name, n, first) not in done:
            new = errors_of(name, n, range(first, min(first + ROUND, repetitions)))
            new.to_csv(ERRORS, mode="a", header=not ERRORS.exists(), index=False, float_format="%.6f")
            print(f"{name}, n = {n}, repetitions from {first}: {time.time() - started:.0f} s", flush=True)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run that a group of repetitions stands for: verdict, cost of the advice, gain at hand."""
    rows = []
    for (name, n), part in table.groupby(["sequence", "n"], sort=False):
        part = part.sort_values("repetition")
        errors = part.drop(columns=["sequence", "n", "repetition"]).dropna(axis="columns")
        truth = errors.mean()
        for size in GROUPS:
            for first in range(0, len(errors) - size + 1, size):
                group = errors.iloc[first : first + size]
                found = advise({one: group[one].to_numpy() for one in group})
                cost = np.nan if found.advised is None else truth[found.advised] - truth.min()
                one = {"sequence": name, "n": n, "repetitions": size, "verdict": found.verdict, "cost": cost}
                rows.append(one | {"right": found.advised == truth.idxmin(), "truth_from": len(errors)})
    return pd.DataFrame(rows)


def summary(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return counts of verdicts and what advice costs."""
    return runs.groupby(by, sort=False).apply(
        lambda part: pd.Series(
            {
                "truth_from": part["truth_from"].min(),
                "runs": len(part),
                "too_few": (part["verdict"] == "too few repetitions").sum(),
                "none_of_these": (part["verdict"] == "none of these").sum(),
                "simpler": (part["verdict"] == "simpler").sum(),
                "close": (part["verdict"] == "close").sum(),
                "truly_best": part["right"].sum(),
                "costly": (part["cost"] > MARGIN).sum(),
                "costly_share": round(float((part["cost"] > MARGIN).mean()), 3),
                "mean_cost": round(float(part["cost"].mean()), 4),
                "worst_cost": round(float(part["cost"].max()), 4),
            },
            dtype=object,
        ),
        include_groups=False,
    )


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--only-table", action="store_true", help="from what has been measured")
    given = parser.parse_args()
    if not given.only_table:
        measure(given.repetitions)
    runs = judged(pd.read_csv(ERRORS))
    summary(runs, ["sequence", "n", "repetitions"]).reset_index().to_csv(RESULTS / "advice.csv", index=False)
    print(summary(runs, ["n", "repetitions"]).to_string())
    print(summary(runs, ["repetitions"]).to_string())


if __name__ == "__main__":
    main()
