"""Comparing methods: one score per repetition, tables, paired tests with correction, average ranks.

A comparison works on a tidy table of scores (`score_table`): one row per dataset, n, method and repetition. All methods
of a dataset and n share their draws, so repetition r of one method is paired with repetition r of another.
"""

from __future__ import annotations

from collections.abc import Iterable
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


@dataclass(frozen=True)
class PairedTest:
    """Result of a paired test of two methods over repetitions.

    Attributes
    ----------
    difference, stderr : float
        Mean of first minus second, and its standard error (NaN with one repetition).
    p : float
        Two-sided p-value; NaN with one repetition.
    test : {"wilcoxon", "t", "none"}
        What was used.
    """

    difference: float
    stderr: float
    p: float
    test: UsedTest


def paired_test(first: Floats, second: Floats, test: Test = "automatic") -> PairedTest:
    """Test whether two methods differ, repetition by repetition.

    Repetitions redraw test and training samples of the same data, so the answer is about this dataset and n, not about
    datasets at large.

    Parameters
    ----------
    first, second : ndarray of shape (repetitions,)
        Errors on the same draws.
    test : {"automatic", "wilcoxon", "t"}
        Wilcoxon's signed-rank test, or the paired t test. Automatic: t below `FEW_REPETITIONS` repetitions.

    Returns
    -------
    PairedTest

    Raises
    ------
    ValueError
        If the numbers of repetitions differ.

    Examples
    --------
    >>> paired_test(np.array([0.3, 0.4, 0.5]), np.array([0.2, 0.3, 0.5]), "t").test
    't'
    """
    check_choice("test", test, get_args(Test))
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or len(first) == 0:
        raise ValueError(f"Paired errors must be two rows of equal length, got {first.shape} and {second.shape}.")
    gap = first - second
    if len(gap) == 1:
        return PairedTest(float(gap[0]), float("nan"), float("nan"), "none")
    # Equal errors can differ in the last bit after averaging; such differences are none.
    gap = np.where(np.abs(gap) < 1e-12, 0.0, gap)
    stderr = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    use: UsedTest = test if test != "automatic" else ("t" if len(gap) < FEW_REPETITIONS else "wilcoxon")
    if not gap.any():
        return PairedTest(0.0, 0.0, 1.0, use)
    from scipy import stats

    if use == "wilcoxon":
        p = float(stats.wilcoxon(gap, zero_method="pratt").pvalue)
    elif np.ptp(gap) < 1e-12:  # the same difference every time: infinitely many standard errors from 0
        p = 0.0
    else:
        p = float(stats.ttest_1samp(gap, 0.0).pvalue)
    return PairedTest(float(gap.mean()), stderr, p, use)


def holm(p: Floats) -> Floats:
    """Return p-values corrected for several tests by Holm's step-down method; NaN stays NaN and does not count.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    corrected = np.full(len(p), np.nan)
    order = [i for i in np.argsort(p, kind="stable") if np.isfinite(p[i])]
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p[i]))
        corrected[i] = largest
    return corrected


def _score_column(scores: pd.DataFrame, kind: ScoreKind) -> pd.Series[float]:
    check_choice("kind", kind, get_args(ScoreKind))
    if kind != "own":
        return scores[kind]
    newest = scores["method"].map(own_kind) == "newest"
    return scores["average"].where(~newest, scores["newest"])


def _errors_by_method(scores: pd.DataFrame, kind: ScoreKind) -> pd.DataFrame:
    """Errors with one row per repetition and one column per method, in the order of the scores."""
    wide = scores.assign(error=_score_column(scores, kind)).pivot_table(
        index="repetition", columns="method", values="error", sort=False
    )
    if wide.isna().any(axis=None):
        raise ValueError("Methods have different repetitions, so they cannot be paired.")
    return wide[list(dict.fromkeys(scores["method"]))]


def comparison_table(
    scores: pd.DataFrame,
    *,
    kind: ScoreKind = "average",
    reference: str | None = None,
    test: Test = "automatic",
    level: float = 0.05,
) -> pd.DataFrame:
    """Return one row per method for one dataset and n, best first.

    Parameters
    ----------
    scores : DataFrame
        From `score_table`, of one dataset and n.
    kind : {"average", "newest", "own"}
        Which error; `SCORE_KINDS` has the definitions.
    reference : str or None
        Method the others are tested against; None: IMRC's forward-and-backward rule if there, else the best.
    test : {"automatic", "wilcoxon", "t"}
        Paired test over repetitions, see `paired_test`; p-values are corrected by Holm's method.
    level : float
        Corrected p-values below this count as a clear difference.

    Returns
    -------
    DataFrame
        Columns method, title, error, std (over repetitions), stderr, average, newest, before, rank (mean over
        repetitions, 1 = best), seconds (per task), state (numbers kept), difference and difference_stderr (to the
        reference), p, p_holm, test, verdict ("reference", "better", "worse", "no clear difference", "untested"),
        printed, printed_std (the paper's, NaN where it has none).

    Raises
    ------
    ValueError
        If the scores are of several datasets or n, or the reference is not among the methods.
    """
    import pandas as pd

    from imrc.evaluation.printed import printed_errors

    cells = scores[["dataset", "n"]].drop_duplicates()
    if len(cells) != 1:
        raise ValueError(f"comparison_table needs scores of one dataset and n, got {len(cells)} combinations.")
    wide = _errors_by_method(scores, kind)
    mean = wide.mean().sort_values(kind="stable")
    if reference is None:
        reference = next((name for name in wide.columns if name.startswith("imrc:")), str(mean.index[0]))
    check_choice("reference", reference, tuple(wide.columns))
    others = [name for name in mean.index if name != reference]
    tests = {name: paired_test(wide[name].to_numpy(), wide[reference].to_numpy(), test) for name in others}
    corrected = dict(zip(others, holm(np.array([tests[name].p for name in others])), strict=True))
    ranks = wide.rank(axis=1).mean()
    columns = scores.groupby("method", sort=False)[["average", "newest", "before", "seconds", "state"]].mean()
    printed = printed_errors(str(cells["dataset"].iloc[0]), int(cells["n"].iloc[0]))
    rows = []
    for name in mean.index:
        result = tests.get(name, PairedTest(0.0, 0.0, float("nan"), "none"))
        p_holm = corrected.get(name, float("nan"))
        spread = float(wide[name].std(ddof=1)) if len(wide) > 1 else float("nan")
        shown = printed.get(_printed_name(name), (float("nan"), float("nan")))
        rows.append(
            {
                "method": name,
                "title": title_of_method(name),
                "error": mean[name],
                "std": spread,
                "stderr": spread / np.sqrt(len(wide)),
                **columns.loc[name].to_dict(),
                "rank": ranks[name],
                "difference": result.difference,
                "difference_stderr": result.stderr,
                "p": result.p,
                "p_holm": p_holm,
                "test": result.test,
                "verdict": "reference" if name == reference else _verdict(result.difference, p_holm, level),
                "printed": shown[0],
                "printed_std": shown[1],
            }
        )
    return pd.DataFrame(rows)


def _verdict(difference: float, p: float, level: float) -> str:
    if not np.isfinite(p):
        return "untested"
    if p >= level or difference == 0.0:
        return "no clear difference"
    return "better" if difference < 0 else "worse"


def _printed_name(name: str) -> str:
    """Name in the paper's tables: only default profiles and the forward-and-backward rule stand beside them."""
    if name == imrc_key("paper"):
        return "imrc"
    return name if ":" not in name else ""


@dataclass(frozen=True, eq=False)
class AverageRanks:
    """Ranks of methods averaged over datasets.

    Attributes
    ----------
    table : DataFrame
        Columns method, title, rank (1 = best), sorted.
    datasets : int
        Number of datasets. Different n of one dataset are averaged first: they are not independent.
    friedman_p : float
        p-value of Friedman's test that all methods are alike; NaN with fewer than 3 methods or 2 datasets.
    critical_difference : float
        Nemenyi's: ranks closer than this are not clearly different at level .05; NaN as above.
    """

    table: pd.DataFrame
    datasets: int
    friedman_p: float
    critical_difference: float


def average_ranks(scores: pd.DataFrame, *, kind: ScoreKind = "average") -> AverageRanks:
    """Rank the methods on each dataset and average the ranks.

    Parameters
    ----------
    scores : DataFrame
        From `score_table`, of one or more datasets. Methods missing in some dataset and n are left out.
    kind : {"average", "newest", "own"}
        Which error.

    Returns
    -------
    AverageRanks

    Raises
    ------
    ValueError
        If no method was run everywhere.
    """
    import pandas as pd

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
        from scipy import stats

        p = float(stats.friedmanchisquare(*(by_dataset[name] for name in mean.index)).pvalue)
        quantile = float(stats.studentized_range.ppf(0.95, methods, np.inf)) / np.sqrt(2.0)
        difference = float(quantile * np.sqrt(methods * (methods + 1) / (6.0 * count)))
    table = pd.DataFrame(
        {"method": mean.index, "title": [title_of_method(name) for name in mean.index], "rank": mean.to_numpy()}
    )
    return AverageRanks(table, count, p, difference)
