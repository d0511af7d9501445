"""Comparing methods: one score per repetition, tables, paired tests with correction, average ranks.

A comparison works on a tidy table of scores (`score_table`): one row per dataset, n, method and repetition. All methods
of a dataset and n share their draws, so repetition r of one method is paired with repetition r of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice
from imrc.baselines import method_title, parse_method, registry
from imrc.evaluation.results import RunResult

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
ScoreKind = Literal["average", "newest", "own"]
SCORE_KINDS: dict[ScoreKind, str] = {
    "average": "mean over steps of the mean over the tasks seen",
    "newest": "mean over steps of the error on the newest task",
    "own": "newest task for methods that keep nothing for earlier tasks (Condor, DriftSurf, AUE), else average",
}
Test = Literal["automatic", "wilcoxon", "t"]
UsedTest = Literal["wilcoxon", "t", "none"]

FEW_REPETITIONS = 10
"""Below this many repetitions the automatic choice is the paired t test: with 5 pairs the smallest two-sided p-value
of Wilcoxon's test is .0625, so no difference could ever be significant."""

IMRC_RULES = {
    "forward_backward": "IMRC, forward and backward",
    "forward": "IMRC, forward",
    "single": "IMRC, single task",
}


def imrc_key(preset: str, rule: str = "forward_backward") -> str:
    """Return the method name of an IMRC rule in score tables.

    Examples
    --------
    >>> imrc_key("paper"), imrc_key("paper", "single")
    ('imrc:paper', 'imrc:paper:single')
    """
    return f"imrc:{preset}" if rule == "forward_backward" else f"imrc:{preset}:{rule}"


def title_of_method(name: str) -> str:
    """Return the name for people of a method in score tables.

    Examples
    --------
    >>> title_of_method("imrc:paper:single"), title_of_method("mer:argparse")
    ('IMRC, single task (paper)', 'MER (argparse)')
    """
    if not name.startswith("imrc"):
        return method_title(name)
    _, preset, rule = (*name.split(":"), "forward_backward")[:3]
    return f"{IMRC_RULES[rule]} ({preset})"


def own_kind(name: str) -> Literal["average", "newest"]:
    """Return which error sums a method up: "average", or "newest" for methods that adapt to the last task only."""
    return "average" if name.startswith("imrc") else registry[parse_method(name)[0]].headline


def score_table(results: RunResult | Iterable[RunResult]) -> pd.DataFrame:
    """Return one row per dataset, n, method and repetition.

    Parameters
    ----------
    results : RunResult or iterable of RunResult
        Runs; several of one dataset and n must share seed, tasks and representation, so that draws are paired.

    Returns
    -------
    DataFrame
        Columns dataset, n, method, repetition (from 1), average, newest, released (after b - 1 more tasks), before
        (test then train, NaN for IMRC), seconds (processor seconds per task, all IMRC rules together), state (numbers
        kept at the end).

    Raises
    ------
    ValueError
        If runs of one dataset and n do not share their draws.

    Examples
    --------
    >>> import imrc
    >>> result = imrc.evaluate(imrc.datasets.load("identical", tasks=3, samples=60), n=5, methods=("majority",))
    >>> score_table(result)[["method", "repetition"]].head(2).to_numpy().tolist()
    [['majority', 1], ['majority', 2]]
    """
    import pandas as pd

    frames = []
    seen: dict[tuple[str, int], tuple[object, ...]] = {}
    for result in [results] if isinstance(results, RunResult) else results:
        s = result.settings
        pairing = (result.fingerprint, s.seed, s.repetitions, s.features)
        if seen.setdefault((result.name, s.n), pairing) != pairing:
            raise ValueError(
                f"Runs on {result.name} with n = {s.n} differ in tasks, seed, repetitions or representation, so their "
                "repetitions are not paired. Run them with the same settings."
            )
        for rule, table in result.error_tables.items():
            method = imrc_key(s.preset, rule) if rule in IMRC_RULES else rule
            source = "imrc" if rule in IMRC_RULES else rule
            before = result.before.get(rule)
            frames.append(
                pd.DataFrame(
                    {
                        "dataset": result.name,
                        "n": s.n,
                        "method": method,
                        "repetition": np.arange(1, s.repetitions + 1),
                        "average": table.average(),
                        "newest": table.newest().mean(axis=1),
                        "released": result.per_repetition(rule, "released"),
                        "before": np.nan if before is None or before.shape[1] < 2 else before[:, 1:].mean(axis=1),
                        "seconds": result.method_time_s[source].mean(axis=1),
                        "state": result.state_sizes[source][:, -1],
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)
