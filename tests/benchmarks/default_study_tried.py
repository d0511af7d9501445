"""Changes to what `recommended_2023` chooses from past data, tried on the tuning seeds and not adopted; resumable.

Run:    python -m tests.benchmarks.default_study_tried run --seeds 0:5 --variants factor_16 factor_quarter
        python -m tests.benchmarks.default_study_tried run --seeds 0:10 --variants average_2 --only usenet german
Report: python -m tests.benchmarks.default_study_tried report

Differences are to `recommended_2023` on the same seeds (results/default_study_tuning.csv).
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import imrc
from imrc.core import learner
from imrc.core.log_loss_rules import LogLossRules
from imrc.core.rules import Fit
from imrc.core.selection import Candidate, alone
from imrc.evaluation import largest_n
from tests.benchmarks.default_study import METRICS, SETTINGS, SIZES, Store

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Change:
    """What is different from `recommended_2023`.

    Attributes
    ----------
    factors, alone : tuple of float
        Factors of the penalty with and without transfer.
    no_transfer_first : float
        Head start of no transfer, in nats of log loss.
    quarter_last : float
        Handicap of factors below 1, in nats.
    average : float
        Average the candidates' parameters with weights exp(-average * loss) instead of choosing; 0: choose.
    """

    factors: tuple[float, ...] = (1.0, 4.0)
    alone: tuple[float, ...] = (1.0, 4.0)
    no_transfer_first: float = 0.0
    quarter_last: float = 0.0
    average: float = 0.0

    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(Candidate(True, f) for f in self.factors) + tuple(Candidate(False, f) for f in self.alone)


TRIED = {
    "factor_16": Change((1.0, 4.0, 16.0), (1.0, 4.0, 16.0)),
    "factor_16_alone": Change((1.0, 4.0), (1.0, 4.0, 16.0)),
    "factor_quarter": Change((1.0, 4.0, 0.25), (1.0, 4.0, 0.25)),
    "factors_16_and_quarter_late": Change((1.0, 4.0, 16.0, 0.25), (1.0, 4.0, 16.0, 0.25), quarter_last=3.0),
    "prior_1": Change(no_transfer_first=1.0),
    "prior_3": Change(no_transfer_first=3.0),
    "average_1": Change(average=1.0),
    "average_2": Change(average=2.0),
}


def rules(change: Change) -> type[LogLossRules]:
    """Return the rules for log loss with one change."""

    class Changed(LogLossRules):
        def __init__(self, settings, n_classes):
            super().__init__(settings, n_classes)
            self._candidates = change.candidates()
            self._alone = alone(self._candidates)
            self._losses = {
                each: np.array([change.no_transfer_first * each.transfer + change.quarter_last * (each.penalty < 1)])
                for each in (*self._candidates, *self._alone)
            }

        def _learn(self, task, back, chosen, start):
            # The rule of one task alone, which has no weights of other tasks, is not averaged.
            if not change.average or task.weights is None:
                return super()._learn(task, back, chosen, start)
            losses = np.array([self._losses[each][0] for each in self._candidates])
            shares = np.exp(-change.average * (losses - losses.min()))
            shares[shares < 0.02] = 0.0
            learnt = [
                (share, *super(Changed, self)._learn(task, back, {each: 1.0}, start))
                for share, each in zip(shares / shares.sum(), self._candidates, strict=True)
                if share > 0.0
            ]
            mu = sum(share * fit.mu for share, fit, _ in learnt)
            value = sum(share * fit.value for share, fit, _ in learnt)
            ess = sum(share * fit.ess for share, fit, _ in learnt)
            return Fit(mu, value, float("nan"), ess), sum(share * coefficients for share, _, coefficients in learnt)

    return Changed


def run(seeds: range, variants: list[str], only: list[str]) -> None:
    """Run what is missing."""
    store = Store(RESULTS / "default_study_tried.csv")
    for seed in seeds:
        for setting in SETTINGS:
            if only and not any(part in setting.name for part in only):
                continue
            sequence = setting.load(seed)
            for n in sorted({min(size, largest_n(sequence)) for size in SIZES}):
                for variant in variants:
                    if (setting.name, str(n), str(seed), variant) in store.done:
                        continue
                    learner.LogLossRules = rules(TRIED[variant])
                    result = imrc.evaluate(sequence, n=n, features=setting.features, repetitions=1, seed=seed)
                    row: dict[str, object] = {"setting": setting.name, "n": n, "seed": seed, "variant": variant}
                    for kind in METRICS:
                        row[kind] = f"{result.headline(kind)['forward_backward'].mean:.5f}"
                    store.add([row])


def report() -> None:
    """Print each variant's paired difference to `recommended_2023`, over settings and for each setting."""
    both = [pd.read_csv(RESULTS / f"default_study_{stage}.csv") for stage in ("tuning", "tried")]
    data = pd.concat(both)
    data["size"] = np.select([data["n"] <= 10, data["n"] <= 50], [10, 50], 100)
    table = data.pivot_table(index=["setting", "size", "seed"], columns="variant", values="average")
    for variant in TRIED:
        if variant not in table:
            continue
        difference = (table[variant] - table["recommended_2023"]).dropna()
        cells = difference.groupby(["setting", "size"]).agg(["mean", "sem", "count"])
        print(f"\n{variant}")
        for size, part in cells.groupby("size"):
            better, worse = (part["mean"] < -2 * part["sem"]).sum(), (part["mean"] > 2 * part["sem"]).sum()
            # Seeds are shared by the settings, so the error of the mean is that over seeds.
            wide = difference.xs(size, level="size").reset_index(name="difference")
            seeds = wide.pivot_table(index="seed", columns="setting", values="difference").dropna().mean(axis=1)
            print(
                f"  n = {size}: mean of {len(part)} settings {part['mean'].mean():+.4f} ± {seeds.sem():.4f} over "
                f"{len(seeds)} seeds; {better} lower, {worse} higher by 2 se"
            )
        print(cells.round(4).to_string())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "report"])
    parser.add_argument("--seeds", default="0:5", help="first:last")
    parser.add_argument("--variants", nargs="+", default=list(TRIED), choices=TRIED)
    parser.add_argument("--only", nargs="+", default=[], help="parts of the names of the settings")
    options = parser.parse_args()
    if options.action == "report":
        report()
    else:
        run(range(*map(int, options.seeds.split(":"))), options.variants, options.only)


if __name__ == "__main__":
    main()
