"""Does the 95 % interval of an error hold its truth? The t interval over the repetitions of a run, over many seeds.

    python -m tests.benchmarks.intervals [--seeds 60]    power_supply needs $IMRC_DATA, streams $IMRC_STREAMS (see
                                                         sequences.py); what is not there is left out

One sequence of 8 tasks per dataset, n = 10, 6 repetitions, 60 seeds: everything random differs between seeds, the data
do not. The truth for a seed is the mean error over all others. "variance" is that of the error between seeds over what
its repetitions say of it, on average: 1 if repetitions hold everything that is random.
"""

import os

import numpy as np
from scipy.stats import t

import imrc
from tests.benchmarks.common import parser, share_error, write
from tests.benchmarks.sequences import Setting

FIRST_SEED, REPETITIONS, N = 7000, 6, 10
NEEDS = {"random_walk": "", "power_supply": "IMRC_DATA", "sea": "IMRC_STREAMS", "luxembourg": "IMRC_STREAMS"}


def coverage(name: str, seeds: range) -> list[dict[str, object]]:
    """Return one row per rule."""
    sequence = Setting(name, 8).load(0)
    runs = [
        imrc.evaluate(sequence, n=N, repetitions=REPETITIONS, seed=seed, features="blended").headline()
        for seed in seeds
    ]
    rows = []
    for rule in runs[0]:
        mean, stderr = np.array([(run[rule].mean, run[rule].stderr) for run in runs]).T
        truth = (mean.sum() - mean) / (len(mean) - 1)
        covered = float(np.mean(np.abs(mean - truth) <= t.ppf(0.975, REPETITIONS - 1) * stderr))
        values = {
            "error": mean.mean(),
            "covered": covered,
            "stderr": share_error(covered, len(mean)),
            "variance": mean.var(ddof=1) / np.mean(stderr**2),
        }
        rows.append({"on": name, "rule": rule, "seeds": len(mean)} | {key: round(v, 4) for key, v in values.items()})
    return rows


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=60)
    seeds = range(FIRST_SEED, FIRST_SEED + options.parse_args().seeds)
    there = [name for name, variable in NEEDS.items() if not variable or os.environ.get(variable)]
    write([row for name in there for row in coverage(name, seeds)], "intervals.csv")
