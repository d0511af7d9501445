"""What runs say in sentences: what errors show, first, what effective samples promise beside it, which method wins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from imrc.diagnostics import Assessment
from imrc.evaluation import RunResult
from imrc.evaluation.effective import EffectiveSamples, effective_samples, interval_text
from imrc.evaluation.significance import Difference, Headline, with_error
from imrc.wording import RULES, capital, decimal, fewest, listed, p_cell, signed, with_spread

_TURNS_BACK = 0.6
"""Neighbours are this much less alike than tasks two apart where every step undoes the one before."""
_RARELY = 0.6
"""A rule that borrowed in fewer of its steps has judged by itself that neighbours mislead."""
_ALONE = {"adaptation": "the newest task alone", "next_task": "the rule of the last task"}


def measured_sentence(result: RunResult, title: str | None = None) -> str:
    """State how much lower the error of the main rule is than without other tasks, in Markdown.

    A title makes it a headline without numbers; without one the sentence begins with the rule and has them.
    """
    main, measure = result.scenario.main, result.measure()
    headlines, gain = result.headline(), result.difference(main)
    single = headlines["single"]
    numbers = "" if title is not None else f" ({with_error(headlines[main])} against {with_error(single)})"
    rule, alone = f"{RULES[main].lower()} learning", _ALONE.get(result.settings.scenario, "each task alone")
    start = f"On *{title}*, {rule}" if title is not None else capital(rule)
    if not np.isfinite(single.mean):
        return f"{start} cannot be judged yet: it takes two tasks to test one before it is learnt."
    if not np.isfinite(gain.low):
        return f"{start} and {alone} were compared in one repetition{numbers}: the difference may be chance."
    if not gain.clear:
        return f"{start} makes no clear difference to {alone}{numbers}."
    less = gain.mean < 0
    share = f"{100 * abs(gain.mean) / single.mean:.0f}\u00a0%" if single.mean > 0 else ""
    if measure == "error":
        return f"{start} makes {share} {'fewer' if less else 'more'} errors than {alone}{numbers}."
    return f"{start} has a {share} {'lower' if less else 'higher'} {measure} than {alone}{numbers}."


def reason_sentence(result: RunResult, diagnosis: Assessment | None = None) -> str:
    """Give the likely reason why errors do not follow effective samples; empty where they do or nothing is known."""
    gain = result.difference(result.scenario.main)
    if not np.isfinite(gain.low) or (gain.clear and gain.mean < 0):
        return ""
    worth = effective_samples(result)
    curve = None if diagnosis is None else diagnosis.variogram
    if curve is not None and len(curve.gamma) > 1 and curve.gamma[1] < _TURNS_BACK * curve.gamma[0]:
        return (
            "Tasks two apart are more alike than neighbours: what is right for one task is wrong for the next, as "
            "where labels flip back and forth, so neighbours mislead. The theorems assume changes that do not depend "
            "on each other."
        )
    if worth.borrowing < _RARELY:
        return f"Each task alone has a share of {100 * (1 - worth.borrowing):.0f} % in the rules themselves."
    if diagnosis is not None and diagnosis.verdict.assumption == "contradicted":
        return (
            f"The theorems assume independent changes around zero; the verdict here is *{diagnosis.verdict.title}*, "
            "for which they promise nothing."
        )
    return (
        "Effective samples make the mean vectors surer. Errors need not follow: a few components, such as those that "
        "flip with the labels, may change far more than the average that this number goes by, or the rule is already "
        "about as good as its features allow."
    )


def accounts_sentence(result: RunResult) -> str:
    """State what W and the accounts of past predictions did: the mean share of each rate of change over the steps."""
    window, worth = result.settings.learner.W, effective_samples(result)
    samples = f"a task counts as {worth.mean:,.1f} samples on average"
    shares: dict[str, float] = {}
    for name, values in result.choices.items():
        if name.startswith("rate "):
            kind = {"rate 0": "all tasks alike", "rate inf": "each task alone"}.get(name, "rates between them")
            shares[kind] = shares.get(kind, 0.0) + float(values.mean())
    if not shares:
        return f"With W = {window}, each change is taken from the {window} nearest squared differences: {samples}."
    given = listed([f"{100 * share:.0f}\u00a0% {kind}" for kind, share in shares.items()])
    arrivals = "all arrivals" if window == "all" else f"the last {window} arrivals"
    return f"What predicted {arrivals} best (W = {window}) decides how much the past counts: {given}; {samples}."


def worth_sentence(result: RunResult) -> str:
    """State what the theorems promise for the changes a run estimated, in Markdown."""
    worth = effective_samples(result)
    if worth.borrowing == 0:
        return f"**Promised:** no more than each task's own {worth.own:g} samples."
    before = result.scenario.kind == "before"
    text = (
        f"**Promised** by the theorems for the changes this run estimated: each task is worth {worth.mean:,.1f} "
        f"samples {'before any of its labels' if before else f'instead of {worth.own:g}'}"
    )
    interval = interval_text(worth)
    return f"{text} ({'95 % interval ' if ' to ' in interval else ''}{interval})."


def next_task_sentence(result: RunResult, ratio: tuple[float, float, float] | None = None) -> str:
    """State what the next task is worth before any of its labels, in Markdown; empty where that is not known.

    Empty too where `worth_sentence` says it, or tasks do not arrive one by one. `ratio` is n d^2 / sigma^2, with ends.

    >>> import imrc
    >>> result = imrc.evaluate(imrc.datasets.load("identical", tasks=4), n=5, repetitions=2)
    >>> next_task_sentence(result, (0.5, 0.1, 1.0)).endswith("no past makes it worth more than σ² / d² = 10.0.")
    True
    """
    if not result.has_before or result.n_tasks < 2 or result.settings.scenario in ("next_task", "multi_task"):
        return ""
    found = effective_samples(result.seen_as("next_task"))
    text = f"**Before any of its labels**, a task is worth {found.mean:,.1f} samples in the run"
    if ratio is None or ratio[0] <= 0:
        return f"{text}."
    return f"{text}; by the measured change no past makes it worth more than σ² / d² = {found.own / ratio[0]:,.1f}."


def theorem_4_sentence(run: EffectiveSamples, theorem: EffectiveSamples, full: float, result: RunResult) -> str:
    """Compare Theorem 4 at the ratio measured on all samples (`full`: all succeeding tasks) with a run, and explain."""
    learner, n = result.settings.learner, result.settings.n
    estimate = (
        f"the run has to find the rate of change while it learns, from the {n} samples drawn of each task so far"
        if learner.tracking == "rate"
        else f"the run estimates variances and changes by equation (7) from {n} samples of each task, where noise "
        "counts as change, and the component that changes most decides"
    )
    off = ", and it borrows in part only" if run.borrowing < 1 and run.mean < theorem.mean else ""
    reach = result.settings.reach(result.n_tasks)
    limit = f" (without that limit Theorem 4 gives {full:,.1f})" if reach < result.n_tasks - 1 else ""
    return (
        f"**Theorem 4** at the ratio measured on all samples gives {theorem.mean:,.1f} (interval {theorem.low:,.1f} to "
        f"{theorem.high:,.1f}, from that of the ratio). Both are means over the tasks with at most {reach} "
        f"step{'s' * (reach != 1)} back{limit}; they differ because {estimate}{off}."
    )


def interval_words(difference: Difference) -> str:
    """Return a difference with the interval it is judged by; the difference alone if there was one repetition.

    >>> interval_words(Difference(-0.066, 0.02, 0.006, -0.0801, -0.052, 0.001, clear=True))
    '−.066 (−.080 to −.052)'
    """
    text = signed(difference.mean)
    if math.isfinite(difference.low):
        text += f" ({signed(difference.low)} to {signed(difference.high)})"
    return text.replace("-", "−")


def plain_errors_note(rare: str) -> str:
    """Say what errors of single tasks are where a run is judged by the balanced error; `rare` names the rare class."""
    return f"Errors of single tasks are shares of all answers: one task has too few of “{rare}” for a balanced error."


def _fair(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[Any], pd.Series[Any]]:
    """Return the methods without the oracle, the best of them, and the reference."""
    fair = table[table["method"] != "oracle"]
    return fair, fair.iloc[0], table[table["verdict"] == "reference"].iloc[0]


def comparison_summary(table: pd.DataFrame, title: str) -> str:
    """Return one sentence on which method makes the fewest errors and how the others compare, in Markdown."""
    fair, best, reference = _fair(table)
    numbers = with_error(Headline(best["error"], best["std"], best["stderr"]))
    first = f"On *{title}*, **{best['title']}** makes {fewest(best['measure'])} ({numbers})."
    verdicts = fair[fair["verdict"] != "reference"]["verdict"]
    if not len(verdicts):
        return first
    if (verdicts == "untested").any():
        return f"{first} With one repetition no difference can be tested."
    counts = {
        "clearly better": int((verdicts == "better").sum()),
        "clearly worse": int((verdicts == "worse").sum()),
        "statistically tied with it": int((verdicts == "no clear difference").sum()),
    }
    parts = [f"{count} {'are' if count > 1 else 'is'} {what}" for what, count in counts.items() if count]
    others = f"{len(verdicts)} others" if len(verdicts) > 1 else "one other"
    return f"{first} Of {others}, compared with **{reference['title']}**, {listed(parts)}."


def winner_sentence(table: pd.DataFrame) -> str:
    """Say by how much the method with the fewest errors beats the reference, at what cost; empty if it is it."""
    fair, best, reference = _fair(table)
    is_reference = best["method"] == reference["method"]
    if is_reference and len(fair) < 2:
        return ""
    other = fair.iloc[1] if is_reference else reference
    what = "fewer errors" if best["measure"] == "error" else f"a lower {best['measure']}"
    verb = f"makes {what} than the next," if is_reference else f"makes {what} than"
    tested = other if is_reference else best
    gap = {"no clear difference": "; that may be noise", "untested": ""}.get(tested["verdict"], "")
    low, high = (-tested["high"], -tested["low"]) if is_reference else (tested["low"], tested["high"])
    difference = best["error"] - other["error"]
    interval = f" ({signed(low)} to {signed(high)})" if math.isfinite(low) else ""
    text = f"{best['title']} {verb} {other['title']}: {signed(difference)}{interval}{gap}. "
    costs = [
        _times(best[column], other[column], noun)
        for column, noun in (("seconds", "time per task"), ("state", "memory"))
        if other[column] > 0 and best[column] > 0
    ]
    return (text + (f"It takes {' and '.join(costs)}." if costs else "")).replace("-", "−")


def _times(cost: float, other: float, noun: str) -> str:
    """Return a cost as a multiple of another.

    >>> [_times(cost, 10.0, "memory") for cost in (30.0, 2.5, 10.5)]
    ['3.0 times the memory', '25 % of the memory', 'about the same memory']
    """
    ratio = cost / other
    if 0.9 < ratio < 1.1:
        return f"about the same {noun}"
    return f"{ratio:,.1f} times the {noun}" if ratio > 1 else f"{100 * ratio:.2g} % of the {noun}"


def comparison_view(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison for display: values with their uncertainty, columns with titles."""
    rows = list(table.to_dict("records"))
    view = pd.DataFrame(
        {
            "Method": [row["title"] for row in rows],
            capital(rows[0]["measure"]): [with_spread(row["error"], row["stderr"]) for row in rows],
            "Paper": [with_spread(row.get("printed", math.nan), row.get("printed_std", math.nan), 2) for row in rows],
            "Mean rank": [row["rank"] for row in rows],
            "Against reference": [row["verdict"] for row in rows],
            "p, corrected": [p_cell(row["p"]) for row in rows],
            "All tasks seen": [decimal(row["average"]) for row in rows],
            "Newest task": [decimal(row["newest"]) for row in rows],
            "ms per task": [1000.0 * row["seconds"] for row in rows],
            "Numbers kept": [round(row["state"]) for row in rows],
            "Before learning": [with_spread(row["before"], math.nan) for row in rows],
        }
    )
    # Drop empty columns.
    return view.loc[:, [column for column in view if not (view[column] == "").all()]]


def significance_note(table: pd.DataFrame, repetitions: int) -> str:
    """Return how differences were tested and what the result covers."""
    if repetitions < 2:
        return "One repetition: no test is possible. Choose at least 5 repetitions to compare methods."
    note = (
        f"Paired t intervals over {repetitions} repetitions, level .05. Forward and backward against single-task "
        f"learning of one preset is the planned comparison; the others among the {len(table) - 1} are corrected by "
        "Holm's method. Repetitions redraw samples of the same data, so this is about this dataset and n, not about "
        "other data."
    )
    return note if repetitions >= 5 else f"{note} With {repetitions} repetitions only large differences can show."
