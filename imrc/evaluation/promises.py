"""What errors show of a run, first, and what effective samples promise beside it: where the two disagree, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from imrc.evaluation.effective import EffectiveSamples, effective_samples
from imrc.evaluation.words import interval_text, with_error
from imrc.wording import RULES, capital

if TYPE_CHECKING:
    from imrc.diagnostics import Assessment
    from imrc.evaluation.results import RunResult

_TURNS_BACK = 0.6
"""Neighbours are this much less alike than tasks two apart where every step undoes the one before."""
_RARELY = 0.6
"""A rule that borrowed in fewer of its steps has judged by itself that neighbours mislead."""
_ALONE = {"adaptation": "the newest task alone", "next_task": "the rule of the last task"}


def is_kept(result: RunResult) -> bool | None:
    """Return whether the main rule of the scenario makes clearly fewer errors; None with one repetition."""
    gain = result.difference(result.scenario.main)
    return None if not np.isfinite(gain.low) else gain.clear and gain.mean < 0


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
    return _reason(effective_samples(result), diagnosis) if is_kept(result) is False else ""


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


def _reason(worth: EffectiveSamples, diagnosis: Assessment | None) -> str:
    """Return why more effective samples need not make fewer errors here."""
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
