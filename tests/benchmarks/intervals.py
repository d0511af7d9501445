"""Does the 95 % interval of an error hold its truth? The t interval over the repetitions of a run, over many seeds.

Run: python -m tests.benchmarks.intervals             power_supply needs $IMRC_DATA, streams $IMRC_STREAMS (see
                                                      sequences.py); what is not there is left out

One sequence of 8 tasks per dataset, n = 10, 6 repetitions, 60 seeds: everything random differs between seeds, the data
do not. The truth for a seed is the mean error over all others. "variance" is that of the error between seeds over what
its repetitions say of it, on average: 1 if repetitions hold everything that is random.
"""

import csv
import os
from pathlib import Path

import numpy as np
from scipy.stats import t

import imrc
from tests.benchmarks.sequences import Setting

RESULTS = Path(__file__).parent / "results" / "intervals.csv"
SEEDS = range(7000, 7060)
REPETITIONS, N = 6, 10
NEEDS = {"random_walk": "", "power_supply": "IMRC_DATA", "sea": "IMRC_STREAMS", "luxembourg": "IMRC_STREAMS"}


def coverage(name: str) -> list[dict[str, object]]:
    """Return one row per rule."""
    sequence = Setting(name, 8).load(0)
    means: dict[str, list[float]] = {}
    spreads: dict[str, list[float]] = {}
    for seed in SEEDS:
        result = imrc.evaluate(sequence, n=N, repetitions=REPETITIONS, seed=seed, features="blended")
        for rule, error in result.headline().items():
            means.setdefault(rule, []).append(error.mean)
            spreads.setdefault(rule, []).append(error.stderr)
    rows = []
    for rule in means:
        mean, stderr = np.array(means[rule]), np.array(spreads[rule])
        truth = (mean.sum() - mean) / (len(mean) - 1)
        share = float(np.mean(np.abs(mean - truth) <= t.ppf(0.975, REPETITIONS - 1) * stderr))
        rows.append(
            {
                "on": name,
                "rule": rule,
                "seeds": len(mean),
                "error": round(float(mean.mean()), 4),
                "covered": round(share, 4),
                "stderr": round(float(np.sqrt(share * (1 - share) / len(mean))), 4),
                "variance": round(float(mean.var(ddof=1) / np.mean(stderr**2)), 2),
            }
        )
    return rows


def main() -> None:
    """Print and store the table."""
    rows = []
    for name, variable in NEEDS.items():
        if not variable or os.environ.get(variable):
            rows += coverage(name)
            print(*(row.values() for row in rows[-3:]), sep="\n", flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
