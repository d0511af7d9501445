"""Ranks of methods averaged over datasets, for the tables of the benchmarks."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from imrc.evaluation.comparison import ScoreKind, _score_column, title_of_method


@dataclass(frozen=True, eq=False)
class AverageRanks:
    """Ranks of methods averaged over datasets."""

    table: pd.DataFrame  # columns method, title, rank (1 = best), sorted
    datasets: int  # their number; different n of one are averaged first, because they are not independent
    friedman_p: float  # of Friedman's test that all methods are alike; NaN with fewer than 3 methods or 2 datasets
    critical_difference: float  # Nemenyi's: ranks closer than this are not clearly different at level .05; NaN as above


def average_ranks(scores: pd.DataFrame, *, kind: ScoreKind = "average") -> AverageRanks:
    """Rank the methods on each dataset and average the ranks; methods missing in some dataset and n are left out."""
    cells = scores.assign(error=_score_column(scores, kind)).pivot_table(
        index=["dataset", "n"], columns="method", values="error", aggfunc="mean", sort=False
    )
    cells = cells[list(dict.fromkeys(scores["method"]))].dropna(axis=1)
    if cells.shape[1] == 0:
        raise ValueError("No method was run on every dataset and n, so there is nothing to rank.")
    by_dataset = cells.rank(axis=1).groupby(level="dataset").mean()
    mean = by_dataset.mean().sort_values(kind="stable")
    count, methods = len(by_dataset), len(mean)
    p = difference = float("nan")
    if methods >= 3 and count >= 2:
        p = float(stats.friedmanchisquare(*(by_dataset[name] for name in mean.index)).pvalue)
        quantile = float(stats.studentized_range.ppf(0.95, methods, np.inf)) / np.sqrt(2.0)
        difference = float(quantile * np.sqrt(methods * (methods + 1) / (6.0 * count)))
    table = pd.DataFrame(
        {"method": mean.index, "title": [title_of_method(name) for name in mean.index], "rank": mean.to_numpy()}
    )
    return AverageRanks(table, count, p, difference)
