"""Comparisons in words: differences, which method wins, and how that was tested."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from imrc.core.settings import SETTINGS
from imrc.evaluation.comparison import UNTUNED
from imrc.evaluation.significance import Difference, Headline, Interval, with_error
from imrc.wording import capital, decimal, ends, fewest, listed, p_cell, signed, with_spread


def interval_words(difference: Difference | Interval) -> str:
    """Return a difference with the interval it is judged by; the difference alone if there was one repetition.

    >>> interval_words(Difference(-0.066, 0.02, 0.006, -0.0801, -0.052, 0.001, clear=True))
    '−.066 (−.080 to −.052)'
    >>> interval_words(Interval(-0.0027, -0.0051, -0.0003))
    '−.003 (−.005 to just below 0)'
    """
    known = math.isfinite(difference.low)
    return signed(difference.mean) + f" ({ends(difference.low, difference.high, shown=signed)})" * known


def plain_errors_note(rare: str) -> str:
    """Say what errors of single tasks are if a run is judged by the balanced error; `rare` names the rare class."""
    return (
        f"Errors of single tasks are plain error rates, because one task has too few samples of “{rare}” for a "
        "balanced error."
    )


def _fair(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[Any], pd.Series[Any]]:
    """Return the methods without the oracle, the best of them, and the reference."""
    fair = table[table["method"] != "oracle"]
    return fair, fair.iloc[0], table[table["verdict"] == "reference"].iloc[0]


def comparison_summary(table: pd.DataFrame, title: str) -> str:
    """Return one sentence on which method makes the fewest errors and how the others compare, in Markdown."""
    fair, best, reference = _fair(table)
    numbers = with_error(Headline(best["error"], best["std"], best["stderr"]))
    first = f"On *{title}*, **{best['title']}** makes {fewest(best['measure'])} of {len(fair)} methods ({numbers})."
    verdicts = fair[fair["verdict"] != "reference"]["verdict"]
    if not len(verdicts):
        return first
    if (verdicts == "untested").any():
        return f"{first} With one repetition, no difference can be tested."
    words = {"better": "clearly better", "worse": "clearly worse", "no clear difference": "statistically tied"}
    counts = {what: int((verdicts == verdict).sum()) for verdict, what in words.items()}
    parts = [f"{count} {'are' if count > 1 else 'is'} {what}" for what, count in counts.items() if count]
    if counts["clearly better"]:
        parts[0] += f" ({listed(fair[fair['verdict'] == 'better']['title'].tolist(), 3)})"
    said = (" ", f" of {len(verdicts)} others ") if len(verdicts) > 1 else ("1", "the other")
    parts[0] = parts[0].replace(*said, 1)
    return f"{first} Against **{reference['title']}**, {listed(parts)}."


def winner_sentence(table: pd.DataFrame) -> str:
    """Say by how much the best method beats the reference (or, if it is the reference, the next one), at what cost."""
    fair, best, reference = _fair(table)
    is_reference = best["method"] == reference["method"]
    if is_reference and len(fair) < 2:
        return ""
    other = fair.iloc[1] if is_reference else reference
    tested = other if is_reference else best
    low, high = (-tested["high"], -tested["low"]) if is_reference else (tested["low"], tested["high"])
    difference = signed(best["error"] - other["error"])
    difference += f", 95 % interval {ends(low, high, shown=signed)}" if math.isfinite(low) else ""
    what = "makes fewer errors than" if best["measure"] == "error" else f"has a lower {best['measure']} than"
    verb = "is statistically tied with" if tested["verdict"] == "no clear difference" else what
    text = f"{best['title']} {verb} {other['title']} (difference {difference})"
    costs = [
        _times(best[column], other[column], noun)
        for column, noun in (("seconds", "time per task"), ("state", "memory"))
        if other[column] > 0 and best[column] > 0
    ]
    return f"{text}, and takes {' and '.join(costs)}." if costs else f"{text}."


def _times(cost: float, other: float, noun: str) -> str:
    """Return a cost as a multiple of another.

    >>> [_times(cost, 10.0, "memory") for cost in (30.0, 2.5, 10.5)]
    ['3.0 times the memory', '25 % of the memory', 'about the same memory']
    """
    ratio = cost / other
    if 0.9 < ratio < 1.1:
        return f"about the same {noun}"
    return f"{ratio:,.1f} times the {noun}" if ratio > 1 else f"{100 * ratio:.2g} % of the {noun}"


def comparison_view(table: pd.DataFrame, kind: str = "average") -> pd.DataFrame:
    """Return the comparison by a kind of error for display: values with their uncertainty, no error twice."""
    rows = [
        {
            "Method": row["title"],
            capital(row["measure"]): with_spread(row["error"], row["stderr"]),
            "Paper": with_spread(row.get("printed", math.nan), row.get("printed_std", math.nan), 2),
            "Rank": row["rank"],
            "Against reference": row["verdict"],
            "p": p_cell(row["p"]),
            "All tasks": "" if kind == "average" else decimal(row["average"]),
            "Newest task": "" if kind == "newest" else decimal(row["newest"]),
            "ms per task": 1000.0 * row["seconds"],
            "Numbers kept": np.round(row["state"]),  # NaN in part of a run with more backward steps
        }
        for row in table.to_dict("records")
    ]
    view = pd.DataFrame(rows)
    return view.loc[:, ~(view == "").all()]


def shipped_view(scores: pd.DataFrame, table: pd.DataFrame, kind: str = "average") -> pd.DataFrame:
    """Return the errors of all methods at every shipped n, as texts, with what they cost at the n shown."""
    mean = scores.pivot_table(kind, "method", "n", sort=False).loc[table["method"]]
    view = pd.DataFrame({"Method": table["title"].to_numpy()})
    for n in sorted(mean):
        best = mean[n].min()
        view[f"n = {n}"] = [decimal(value) + (" ✓" if value == best else "") for value in mean[n]]
    view["Against reference"] = table["verdict"].to_numpy()
    costs = {"ms per task": 1000 * table["seconds"], "Numbers kept": table["state"]}
    return view.assign(**{title: values.to_numpy() for title, values in costs.items()})


def comparison_settings(presets: Iterable[str], shipped: int | None, kind: str, *, without_mer: bool) -> str:
    """Say with which settings methods were compared, and what was tuned; `shipped`: tasks of shipped results."""
    tuned = f"{UNTUNED} IMRC's preset *recommended* was tuned on other draws of these and published sequences."
    if shipped is None:
        first = f"Measured on these tasks with these settings; IMRC as {' and '.join(presets)}."
        slow = " MER can take nearly as long as all others together. It is left out until you add it under *Methods*."
        return f"{first}{slow * without_mer} {tuned}"
    b, seed, repetitions = (SETTINGS[name].default for name in ("b", "seed", "repetitions"))
    of = "the newest task" if kind == "newest" else "all tasks seen"
    return f"Shipped errors on {of}: {shipped} tasks, b = {b}, {repetitions} repetitions, seed {seed}. {tuned}"


def significance_note(table: pd.DataFrame, repetitions: int) -> str:
    """Return how differences were tested and what the result covers."""
    if repetitions < 2:
        return "With one repetition, no test is possible. Choose at least 5 repetitions to compare methods."
    few = f" With {repetitions} repetitions, only large differences can be detected." if repetitions < 5 else ""
    return (
        f"Differences are tested by paired t intervals over {repetitions} repetitions at the 5 % level. IMRC's "
        "main rule against alone, with the same preset, is the planned comparison; the others of the "
        f"{len(table) - 1} are corrected by Holm's method. Repetitions redraw samples from the same data, so the "
        f"results apply to this dataset and n, not to other data.{few}"
    )
