"""Comparing runs and methods: one score per repetition, tables, paired tests with correction, average ranks.

A comparison works on a tidy table of scores (`score_table`): one row per dataset, n, method and repetition. All methods
of a dataset and n share their draws, so repetition r of one method is paired with repetition r of another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from imrc._checks import check_choice
from imrc.baselines import method_class, method_title
from imrc.core.presets import own_features
from imrc.evaluation.latex import BOLD, latex_table
from imrc.evaluation.results import RunResult, same_draws
from imrc.evaluation.settings import HEADLINES, planned
from imrc.evaluation.significance import (
    Difference,
    Interval,
    half_width,
    interval_columns,
    mean_interval,
    paired_differences,
)
from imrc.features import FeatureSpec
from imrc.wording import capital

if TYPE_CHECKING:
    import pandas as pd

ScoreKind = Literal["average", "newest", "own", "released", "before"]
SCORE_KINDS: dict[ScoreKind, str] = {
    "average": HEADLINES["average"],
    "newest": HEADLINES["newest"],
    "own": "newest task for methods that keep nothing for earlier tasks (Condor, DriftSurf, AUE), else average",
    "released": HEADLINES["released"],
    "before": HEADLINES["before"],
}

IMRC_RULES = {"forward_backward": "IMRC", "forward": "IMRC, forward only", "single": "IMRC, each task alone"}

UNTUNED = "The other methods use published default hyper-parameters, not tuned for these data."
"""Caveat shown wherever methods are compared."""


def run_difference(first: RunResult, second: RunResult, rule: str = "forward_backward") -> Interval | None:
    """Return how much larger the errors of the first run are; None if scenarios or tested draws differ."""
    if not same_draws(first, second) or (first.scenario, first.measure()) != (second.scenario, second.measure()):
        return None
    return mean_interval(first.judged(rule) - second.judged(rule))


def imrc_key(preset: str, rule: str = "forward_backward") -> str:
    """Return the method name of an IMRC rule in score tables, such as "imrc:paper" or "imrc:paper:single"."""
    return f"imrc:{preset}" if rule == "forward_backward" else f"imrc:{preset}:{rule}"


def _method(result: RunResult, rule: str) -> str:
    return imrc_key(result.settings.preset, rule) if rule in IMRC_RULES else rule


def title_of_method(name: str, features: FeatureSpec | None = None) -> str:
    """Return the name for people of a method in score tables, of a preset with its representation (`preset_in`)."""
    if not name.startswith("imrc"):
        return method_title(name)
    _, preset, rule = (*name.split(":"), "forward_backward")[:3]
    return f"{IMRC_RULES[rule]} ({preset_in(preset, features)})"


def preset_in(preset: str, features: FeatureSpec | None) -> str:
    """Return the name of a preset, with the representation where it is not the preset's own: that is another method.

    >>> preset_in("paper", FeatureSpec("automatic")), preset_in("paper", FeatureSpec("blended"))
    ('paper', 'paper, features blended')
    """
    own = own_features(preset).kind
    if features is None or features.kind in ((own, "paper") if own == "automatic" else (own,)):
        return preset
    return f"{preset}, features {features.kind}"


SCORES = ["dataset", "n", "method", "repetition", "average", "newest", "released", "before", "seconds", "state"]
SCORES += ["measure", "measure_before", "title"]
"""Columns of a table of scores."""


def score_table(results: RunResult | Iterable[RunResult], *, plain: bool = False) -> pd.DataFrame:
    """Return one row per dataset, n, method and repetition; ValueError unless runs of a cell share draws.

    Columns dataset, n, method, repetition (from 1), average, newest, released (after b - 1 more tasks), before (NaN
    where unknown or the same as another rule's), seconds (of a processor per task, all IMRC rules together), state
    (numbers kept at the end), measure (measure_before: of before): "balanced error" if a class is rare, unless `plain`.
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
        error = result.per_repetition if plain else result.judged
        for rule in result.error_tables:
            source = "imrc" if rule in IMRC_RULES else rule
            frames.append(
                pd.DataFrame(
                    {
                        "dataset": result.name,
                        "n": s.n,
                        "method": _method(result, rule),
                        "repetition": np.arange(1, s.repetitions + 1),
                        **{kind: error(rule, kind) for kind in ("average", "newest", "released")},
                        "before": np.nan if rule == "forward" else error(rule, "before"),
                        "seconds": result.method_time_s[source].mean(axis=1),
                        "state": result.state_sizes[source][:, -1],
                        "measure": "error" if plain else result.measure("average"),
                        "measure_before": "error" if plain else result.measure("before"),
                        "title": title_of_method(_method(result, rule), s.features),
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)


def score_column(scores: pd.DataFrame, kind: ScoreKind) -> pd.Series[float]:
    """Return the errors of a table of scores, a value per row, NaN where they are the same as another rule's."""
    check_choice("kind", kind, get_args(ScoreKind))
    if kind != "own":
        repeated = scores["method"].str.endswith(":forward") & (kind == "newest")  # nothing is revised yet
        return scores[kind].mask(repeated)
    of_newest = {
        name for name in scores["method"] if not name.startswith("imrc") and method_class(name).headline == "newest"
    }
    newest = scores["method"].isin(of_newest)
    return scores["average"].where(~newest, scores["newest"])


def comparison_latex(scores: pd.DataFrame, kind: ScoreKind = "average", settings: str = "") -> str:
    r"""Return the errors of a table of scores, a column per dataset and n, as a table for LaTeX (`latex_table`).

    `settings`: what its caption says of the runs, a sentence.

    >>> import imrc
    >>> scores = score_table(imrc.evaluate(imrc.datasets.load("identical", tasks=3), n=5, repetitions=2))
    >>> print(comparison_latex(scores).splitlines()[-4])
    IMRC (recommended) & \textbf{.231} $\pm$ .025 \\
    """
    known = scores.assign(score=score_column(scores, kind)).dropna(subset="score")
    columns = {
        f"{dataset}, n = {n}": {title: part["score"].to_numpy() for title, part in rows.groupby("title", sort=False)}
        for (dataset, n), rows in known.groupby(["dataset", "n"], sort=False)
    }
    measure = capital(", ".join(dict.fromkeys(known["measure_before" if kind == "before" else "measure"])))
    told = f"{measure}, {SCORE_KINDS[kind]}; mean ± one standard error over {known['repetition'].max()} repetitions."
    return latex_table(columns, " ".join(filter(None, (told, settings, BOLD))))


def methods_with(scores: pd.DataFrame, kind: ScoreKind = "average") -> list[str]:
    """Return the methods of a table of scores that have an error of this kind, in its order."""
    known = score_column(scores, kind).groupby(scores["method"], sort=False).count()
    return [str(name) for name in known.index[known > 0]]


def _errors_by_method(scores: pd.DataFrame, kind: ScoreKind) -> pd.DataFrame:
    """Errors with one row per repetition and one column per method that has this error, in the order of the scores."""
    known = methods_with(scores, kind)
    if not known:
        raise ValueError(
            f"No method has the error {kind!r}. Either there is only one task, or an earlier version saved the results."
        )
    errors = scores.assign(error=score_column(scores, kind))
    errors = errors[errors["method"].isin(known)]
    wide = errors.pivot_table(index="repetition", columns="method", values="error", sort=False)
    if wide.isna().any(axis=None):
        raise ValueError("Methods have different repetitions, so they cannot be paired.")
    return wide[known]


def default_reference(methods: Sequence[str]) -> str:
    """Return the method to test the others against: IMRC's forward-and-backward rule, or without it the first."""
    rules = [name for name in methods if name.startswith("imrc:") and name.count(":") == 1]
    recommended = imrc_key("recommended")
    return recommended if recommended in rules else (rules or list(methods))[0]


def comparison_table(
    scores: pd.DataFrame, *, kind: ScoreKind = "average", reference: str | None = None
) -> pd.DataFrame:
    """Return one row per method for one dataset and n, best first, tested against `reference` or IMRC, else the best.

    IMRC's rule against its single-task rule of the same preset is the planned comparison, others are corrected by
    Holm's method (`paired_differences`). Columns dataset, n, method, title, measure, error, std, stderr, half (of its
    95 % interval), average, newest, released, before, rank (1 = best), seconds (per task), state, difference,
    difference_stderr, low, high (interval of the difference as tested), p, verdict ("reference", "better", "worse", "no
    clear difference", "untested").
    """
    import pandas as pd

    cells = scores[["dataset", "n"]].drop_duplicates()
    if len(cells) != 1:
        raise ValueError(f"comparison_table needs scores of a single dataset and n, got {len(cells)} combinations.")
    wide = _errors_by_method(scores, kind)
    mean = wide.mean().sort_values(kind="stable")
    if reference is None:
        reference = default_reference([str(name) for name in mean.index])
    check_choice("reference", reference, tuple(wide.columns))
    errors = {str(name): wide[name].to_numpy() for name in mean.index}
    found = paired_differences(errors, reference, planned=_planned(reference))
    spread = wide.std(ddof=1) if len(wide) > 1 else mean * np.nan
    table = pd.DataFrame({"error": mean, "std": spread, "stderr": spread / np.sqrt(len(wide))}).loc[mean.index]
    table["half"] = half_width(table["stderr"], len(wide))
    kinds = ["average", "newest", "released", "before", "seconds", "state"]
    by_method = scores.groupby("method", sort=False)
    table = table.join(by_method[kinds].mean())
    table["rank"] = wide.rank(axis=1).mean()
    same = Difference(0.0, 0.0, 0.0, 0.0, 0.0, math.nan, clear=False)
    gaps = pd.DataFrame([vars(found.get(name, same)) for name in errors], index=mean.index)
    table = table.assign(difference=gaps["mean"], difference_stderr=gaps["stderr"])
    table = table.join(gaps[["low", "high", "p"]])
    table["verdict"] = ["reference" if name == reference else _verdict(found[name]) for name in errors]
    measure = scores["measure_before" if kind == "before" else "measure"].iloc[0]
    told = {**cells.iloc[0].to_dict(), "method": mean.index, "title": by_method["title"].first()[mean.index].to_numpy()}
    return pd.DataFrame({**told, "measure": measure}).join(table.reset_index(drop=True))


def _planned(reference: str) -> str | None:
    """Return the comparison decided on before looking: IMRC's main rule and its single-task rule, of one preset."""
    if not reference.startswith("imrc:"):
        return None
    _, preset, rule = (*reference.split(":"), "forward_backward")[:3]
    other = planned("continual", rule)
    return None if other is None else imrc_key(preset, other)


def _verdict(gap: Difference) -> str:
    if not np.isfinite(gap.low):
        return "untested"
    if not gap.clear:
        return "no clear difference"
    return "better" if gap.mean < 0 else "worse"


def curve_table(
    results: Iterable[RunResult],
    *,
    by: Literal["step", "k"] = "step",
    kind: Literal["average", "newest", "before"] = "average",
) -> pd.DataFrame:
    """Return the error of every method as tasks arrive, of runs on one sequence and n: at each step, or of k tasks.

    A run that ends after k tasks is the mean over its steps, since what happens up to step k does not depend on later
    tasks. `kind`: of the tasks seen ("average", balanced where a class is rare), the newest, or the newest before it
    is learnt. Columns method, title, x (from 1), value, stderr, half; NaN with one repetition.
    """
    import pandas as pd

    check_choice("by", by, ("step", "k"))
    check_choice("kind", kind, ("average", "newest", "before"))
    frames = []
    for result in results:
        for rule, table in result.error_tables.items():
            if rule == "forward" and kind != "average":
                continue  # the same as the rule with backward learning, which revises nothing yet
            method, values = _method(result, rule), table.newest()
            if kind == "average":
                values = result.judged_by_step(rule, "average", so_far=by == "k")
            steps = np.arange(1, values.shape[1] + 1)
            if kind == "before":
                values, steps = result.before_of(rule)[:, 1:], steps[1:]
                if not np.isfinite(values).any():
                    continue
            if by == "k" and kind != "average":
                values = np.cumsum(values, axis=1) / np.arange(1, len(steps) + 1)
            title = title_of_method(method, result.settings.features)
            frame = {"method": method, "title": title, "x": steps, **interval_columns(values)}
            frames.append(pd.DataFrame(frame))
    return pd.concat(frames, ignore_index=True)


def best_methods(table: pd.DataFrame, most: int = 6) -> list[str]:
    """Return the best methods of a `comparison_table` to draw: IMRC's presets with their best rule, no oracle."""
    return [name for name in table["method"] if name.count(":") != 2 and name != "oracle"][:most]


def sample_size_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the error of every method against n: method, title, x (n), value, stderr, half (of the 95 % interval)."""
    grouped = scores.groupby(["method", "n"], sort=False)["average"]
    table = grouped.agg(value="mean", stderr="sem", half="size").sort_index()
    table = table.reindex(scores["method"].unique(), level="method").reset_index().rename(columns={"n": "x"})
    table["half"] = half_width(table["stderr"], table["half"])
    table.insert(1, "title", table["method"].map(scores.groupby("method")["title"].first()))
    return table
