"""What effective samples promise beside what was measured: where the two disagree, so it is said, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from imrc.evaluation.effective import EffectiveSamples, effective_samples
from imrc.evaluation.words import interval_text, with_error

if TYPE_CHECKING:
    from imrc.diagnostics import Assessment
    from imrc.evaluation.results import RunResult

_TURNS_BACK = 0.6
"""Neighbours are this much less alike than tasks two apart where every step undoes the one before."""
_RARELY = 0.6
"""A rule that borrowed in fewer of its steps has judged by itself that neighbours mislead."""


def is_kept(result: RunResult) -> bool | None:
    """Return whether the main rule of the scenario makes clearly fewer errors; None with one repetition."""
    gain = result.difference(result.scenario.main)
    return None if not np.isfinite(gain.low) else gain.clear and gain.mean < 0


def worth_sentence(result: RunResult, title: str) -> str:
    """State what the effective sample size of a run means, in Markdown.

    It is a fact where the errors fall as well, and a promise where they do not.
    """
    worth = effective_samples(result)
    if worth.borrowing == 0:
        return f"On *{title}*, each task is worth its own {worth.own:g} samples."
    interval = interval_text(worth)
    interval = f"95 % interval {interval}" if " to " in interval else interval
    kept = is_kept(result)
    verb = "is" if kept else "would be"
    tail = {True: "", False: ", but the errors do not show it", None: " if the tasks evolve"}[kept]
    return (
        f"On *{title}*, each task {verb} worth {worth.mean:,.1f} samples instead of {worth.own:g} ({interval}){tail}."
    )


def measured_sentence(result: RunResult, diagnosis: Assessment | None = None) -> str:
    """Set the measured gain beside the promise; where it contradicts it, give the likely reason. In Markdown."""
    headlines, gain = result.headline(), result.difference(result.scenario.main)
    single = headlines["single"]
    numbers = f"{with_error(headlines[result.scenario.main])} against {with_error(single)} for each task alone"
    kept = is_kept(result)
    if kept is None:
        return f"**Measured** in one repetition: errors of {numbers}. The difference may be chance."
    share = f"{100 * abs(gain.mean) / single.mean:.0f}\u00a0%" if single.mean > 0 else ""
    if kept:
        return f"**Measured:** {share} fewer errors ({numbers}). Promise and measurement agree in direction."
    found = f"{share} more errors" if gain.clear else "no clear difference"
    return f"**Measured:** {found} ({numbers}). {_reason(effective_samples(result), diagnosis)}"


def next_task_sentence(result: RunResult, ratio: tuple[float, float, float] | None = None) -> str:
    """State what the next task is worth before any of its labels, in Markdown; empty if that is not known.

    `ratio` is n d^2 / sigma^2 with the ends of its interval, measured on all samples.

    >>> import imrc
    >>> result = imrc.evaluate(imrc.datasets.load("identical", tasks=4), n=5, repetitions=2)
    >>> next_task_sentence(result, (0.5, 0.1, 1.0)).endswith("no past makes it worth more than σ² / d² = 10.0.")
    True
    """
    if not result.has_before or result.n_tasks < 2:
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
        return f"The rules themselves did without other tasks in {100 * (1 - worth.borrowing):.0f} % of the steps."
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
