"""How often the diagnosis names each kind of change, from simulated sequences of known kind."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imrc.diagnostics.models import ChangeKind
from imrc.diagnostics.words import Verdict

SIMULATED: dict[ChangeKind, tuple[str, str, str]] = {
    "no_change": ("identical", "identical", "identical"),
    "iid": ("iid", "independent", "independent of their order"),
    "evolving": ("walk", "random walk", "a random walk"),
    "mean_reverting": ("ar_0.6", "mean-reverting", "returning towards a mean"),
    "trend": ("straight_trend", "trend", "moving along a straight line"),
    "jump": ("jump", "one jump", "two halves with a jump between them"),
    "periodic": ("period_5", "periodic", "periodic"),
    "recurring": ("two_come_and_go", "alternating", "alternating between two kinds"),
}
"""Kinds of change a verdict can name: the scenario of the study, a short name and a phrase."""
TWO = "two names"
_QUIET = ("no_change", "iid", "too_few", "differ")  # in an order: sums must not depend on that of a set


def power_table(study: pd.DataFrame, tasks: int) -> pd.DataFrame:
    """Return the verdicts on simulated sequences with about so many tasks, one row per kind, from the shipped study.

    It adds the percentages `named` (this kind alone), `two` (kinds), `another` and `nothing` (not even an order).
    """
    studied = np.unique(study["k"])
    nearest = studied[np.abs(np.log(studied / tasks)).argmin()]
    scenarios = [scenario for scenario, _, _ in SIMULATED.values()]
    table = study[study["k"] == nearest].set_index("scenario").loc[scenarios].reset_index().assign(kind=list(SIMULATED))
    rows = table.to_dict("records")
    named = np.array([row[row["kind"]] for row in rows], dtype=float)
    nothing = np.array([sum(row[kind] for kind in _QUIET if kind != row["kind"]) for row in rows], dtype=float)
    another = (100.0 - named - table[TWO] - nothing).clip(lower=0.0)
    return table.assign(named=named, two=table[TWO], another=another, nothing=nothing)


def _share(percent: float, runs: int) -> str:
    from scipy.stats import binomtest

    found = binomtest(round(percent * runs / 100.0), runs).proportion_ci(0.95, method="wilson")
    return f"{percent:.0f} of 100 ({100 * found.low:.0f} to {100 * found.high:.0f})"


def power_sentences(table: pd.DataFrame, verdict: Verdict) -> list[str]:
    """State how reliable a verdict is (by random walks if it names no kind), the likeliest mistake, and the study."""
    rows, said = table.set_index("kind"), TWO if verdict.second else verdict.name
    asked: ChangeKind = verdict.name if verdict.name in SIMULATED and said != TWO else "evolving"
    own, others = rows.loc[asked], rows.drop(index=said, errors="ignore")
    mistake = others.loc[others[said].idxmax()]
    return [
        f"If the tasks really were {SIMULATED[asked][2]}, the diagnosis would recognise this in "
        f"{_share(own['named'], own['runs'])} sequences.",
        f"The most likely mistake: it gives the same verdict for {_share(mistake[said], mistake['runs'])} sequences "
        f"that are really {SIMULATED[mistake.name][2]}."
        if mistake[said] > 0
        else "It gave this verdict for no simulated sequence of any other kind.",
        f"These rates come from at least {rows['runs'].min()} simulated sequences of each kind, with "
        f"{rows['k'].iloc[0]} tasks of 10 or 100 samples and steps about as large as the noise of one average. If "
        f"tasks are further apart, kinds are recognised more often.",
    ]
