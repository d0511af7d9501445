"""What the past is worth, first by what errors show, then by what effective samples promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from imrc._checks import InputError
from imrc.diagnostics import Assessment, Verdict
from imrc.evaluation import RunResult
from imrc.evaluation.budget import falling, samples_at, samples_to_reach
from imrc.evaluation.measures import EffectiveSamples, effective_samples, interval_text, shares
from imrc.evaluation.settings import BORROWING
from imrc.evaluation.significance import interval_columns, mean_interval, with_error
from imrc.paper.grid import accounts
from imrc.planning import Plan, effective_samples_of
from imrc.wording import RULES, capital, decimal

_TURNS_BACK = 0.6
"""Neighbours are this much less alike than tasks two apart where every step undoes the one before."""
_RARELY = 0.6
"""A rule that borrowed in fewer of its steps has judged by itself that neighbours mislead."""
_ALONE = {"adaptation": "learning the newest task alone", "next_task": "learning the last task alone"}


def measured_sentence(result: RunResult, title: str | None = None) -> str:
    """State how much lower the error of the main rule is than without other tasks, with numbers if without a title."""
    main, measure = result.scenario.main, result.measure()
    headlines, gain = result.headline(), result.difference(main)
    single = headlines["single"]
    numbers = "" if title is not None else f" ({with_error(headlines[main])} against {with_error(single)})"
    rule, alone = f"{RULES[main].lower()} learning", _ALONE.get(result.settings.scenario, "learning each task alone")
    start = f"On *{title}*, {rule}" if title is not None else capital(rule)
    if not np.isfinite(single.mean):
        return f"{start} cannot be judged yet, because testing a task before it is learnt takes at least two tasks."
    if not np.isfinite(gain.low):
        return f"{start} was compared with {alone} in only one repetition{numbers}, so the difference may be chance."
    if not gain.clear:
        return f"{start} makes no clear difference compared with {alone}{numbers}."
    less = gain.mean < 0
    share = f"{100 * abs(gain.mean) / single.mean:.0f}\u00a0%" if single.mean > 0 else ""
    more = f"makes {share} {'fewer' if less else 'more'} errors"
    if measure != "error":
        more = f"has a {share} {'lower' if less else 'higher'} {measure}"
    return f"{start} {more} than {alone}{numbers}."


def reason_sentence(result: RunResult, diagnosis: Assessment | None = None, *, useless: bool = False) -> str:
    """Give the likely reason why errors do not follow effective samples; empty if they do or nothing is known.

    `useless`: no rule clearly beats the most frequent class.
    """
    gain, worth = result.difference(result.scenario.main), effective_samples(result)
    if useless and np.isfinite(gain.low):
        return (
            "More effective samples make a rule more precise, but they cannot help where inputs say little about the "
            "classes, as here."
        )
    if not np.isfinite(gain.low) or (gain.clear and gain.mean < 0):
        return ""
    evolving = diagnosis is not None and "evolving" in (diagnosis.verdict.name, diagnosis.verdict.second)
    curve = None if diagnosis is None or evolving else diagnosis.variogram  # tests of changes say more
    if curve is not None and len(curve.gamma) > 1 and curve.gamma[1] < _TURNS_BACK * curve.gamma[0]:
        return (
            "Tasks two apart are more alike than neighbours. What is right for one task is wrong for the next, as "
            "when labels flip back and forth, so neighbours mislead. The theorems assume that changes do not depend "
            "on each other."
        )
    if worth.borrowing < _RARELY:
        return f"In the rules themselves, learning each task alone has a share of {100 * (1 - worth.borrowing):.0f} %."
    if diagnosis is not None and diagnosis.verdict.assumption == "contradicted":
        return (
            "The theorems assume independent changes around zero, and promise nothing if that is not so. Here the "
            f"verdict is *{diagnosis.verdict.title}*."
        )
    return (
        "Effective samples make the mean vectors more precise, but errors need not follow. A few components, such as "
        "those that flip with the labels, may change far more than the average behind this number, or the rule may "
        "already be about as good as its features allow."
    )


def accounts_sentences(result: RunResult) -> tuple[str, ...]:
    """State what weight W and past predictions give the past, and what a task is worth; none if that was not kept."""
    if result.ess_tables:
        found, worth = shares(result), effective_samples(result).mean
    elif (kept := accounts(result)) is not None:
        found, worth = kept
    else:
        return ()
    window = result.settings.learner.W
    whose = {"newest": "the newest task", "before": "the next task, before it has labels,"}
    samples = f"On average, {whose.get(result.scenario.kind, 'a task')} is worth {worth:,.1f} samples."
    if not found:
        return f"Each rate of change is the mean of the {window} nearest squared differences (W = {window}).", samples
    given = ", ".join(f"{kind} {100 * share:.0f}\u00a0%" for kind, share in found.items())
    samples = f"The weights of rates of change, by how well each predicted the next task. {samples}"
    return f"Past predictions (W = {window}) count tasks as {given}.", samples


def worth_sentence(result: RunResult, verdict: Verdict | None = None) -> str:
    """State what the theorems promise for the changes a run estimated, and on which condition, in Markdown."""
    worth = effective_samples(result)
    if worth.borrowing == 0:
        return f"**The theorems promise** no more than each task's own {worth.own:g} samples."
    promise, condition = ("promise", "") if verdict is None else verdict.promise
    instead = "before it has any labels" if result.scenario.kind == "before" else f"instead of {worth.own:g}"
    each = "each task, while it is the newest," if result.scenario.kind == "newest" else "each task"
    interval = interval_text(worth)
    return (
        f"**The theorems {promise}**, for the changes estimated in this run, that {each} is worth {worth.mean:,.1f} "
        f"samples {instead} ({'95 % interval ' if ' to ' in interval else ''}{interval}){condition}."
    )


def next_task_sentence(result: RunResult, ratio: tuple[float, float, float] | None = None) -> str:
    """State what the next task is worth before any of its labels, in Markdown; empty if that is not known.

    Empty too if `worth_sentence` says it, or tasks do not arrive one by one. `ratio` is n d^2 / sigma^2 with its ends.
    """
    if not result.has_before or result.n_tasks < 2 or result.settings.scenario in ("next_task", "multi_task"):
        return ""
    found = effective_samples(result.seen_as("next_task"))
    text = f"**Before it has any labels**, a task is worth {found.mean:,.1f} samples in this run"
    if ratio is None or ratio[0] <= 0:
        return f"{text}."
    most = found.own / ratio[0]
    above = f" The run gives more, because it {how_estimated(result)}." if found.mean > most else ""
    return f"{text}. At the measured rate of change, the past is never worth more than σ² / d² = {most:,.1f}.{above}"


def how_estimated(result: RunResult) -> str:
    """Say how a run gets its rate of change, which is why its effective samples differ from those at one rate."""
    if result.settings.learner.tracking == "rate":
        return "averages over several rates of change, by how well each predicted the next task"
    return "estimates changes by equation (7) from the samples drawn, so noise counts as change"


def theorem_4_sentence(run: EffectiveSamples, plan: Plan, result: RunResult) -> str:
    """Explain why a run's effective samples differ from Theorem 4 at the ratio measured on all samples, a plan's."""
    theorem, b = plan.promised["mean"], plan.b
    off = ", and because it borrows only in part" if run.borrowing < 1 and run.mean < theorem.value else ""
    full = effective_samples_of(plan.n, plan.k, plan.k - 1, plan.rate.value)
    limit = f" (without that limit, Theorem 4 gives {full:,.1f})" if b < plan.k - 1 else ""
    return (
        f"**Theorem 4**, with the ratio measured on all samples, gives a task {theorem.value:,.1f} samples "
        f"({theorem.low:,.1f} to {theorem.high:,.1f}, from the interval of the ratio), and this run {run.mean:,.1f}. "
        f"Both are means over the tasks, with at most {b} step{'s' * (b != 1)} back{limit}. They differ because the "
        f"run {how_estimated(result)}{off}."
    )


def borrowing_note(worth: EffectiveSamples) -> str:
    """State how much weight the past has; empty if it is used throughout."""
    if worth.borrowing >= 1:
        return ""
    if worth.borrowing <= 0:
        return "Borrowing was switched off in every step, so each task counts only its own samples."
    share = min(max(round(100 * worth.borrowing), 1), 99)  # never rounded to none or to all
    return f"On average over the steps, rules that borrow from other tasks get {share} % of the weight."


def budget_sentence(table: pd.DataFrame, n: int, measure: str = "error") -> str:
    """Say how many samples learning alone needs for what the main rule reaches at n, the table's last, in Markdown.

    >>> import pandas as pd
    >>> made = {"rule": ["single"] * 2 + ["forward_backward"] * 2, "x": [10, 40] * 2, "value": [0.4, 0.3, 0.3, 0.2]}
    >>> budget_sentence(pd.DataFrame(made), 40)
    'An error of .200 takes **more than 40 labels** per task alone, and **40** with forward and backward learning.'
    """
    main = str(table["rule"].iloc[-1])
    error = float(table.loc[(table["rule"] == main) & (table["x"] == n), "value"].iloc[0])
    alone = samples_to_reach(table, "single", error)
    labels = f"more than {table['x'].max()}" if math.isnan(alone) else f"{math.ceil(alone - 1e-9)}"
    if not math.isnan(alone) and alone <= table["x"].min() < n:
        labels += " or fewer"
    what, learning = f"{'An' if measure == 'error' else 'A'} {measure}", f"{RULES[main].lower()} learning"
    return f"{what} of {decimal(error)} takes **{labels} labels** per task alone, and **{n}** with {learning}."


_DRAWS = 400
_LEVEL = (0.025, 0.975)
RANGE = "On real streams, errors implied .3 to 1.5 times as many samples as promised."
"""Measured on eleven real sequences at n = 10, at the last step (`tests/benchmarks/README.md`)."""


@dataclass(frozen=True)
class Realised:
    """Effective samples of one rule, as its errors show them."""

    rule: str
    value: float  # the n at which single-task learning has the same error; NaN if its curve does not tell
    low: float  # 95 % bootstrap interval over repetitions; NaN with one repetition or without a value
    high: float  # infinite if beyond the grid
    least: int  # first n of the grid
    most: int
    promised: EffectiveSamples  # by the recursions

    @property
    def agrees(self) -> bool | None:
        """Whether the interval meets that of the promise; None if that cannot be told."""
        told = math.isfinite(self.value + self.low)
        return self.low <= self.promised.high and self.promised.low <= self.high if told else None


def realised_samples(runs: Sequence[RunResult], n: int) -> list[Realised]:
    """Return how many samples each rule that borrows was worth at n, counted in errors, from runs with rising n."""
    mine = next((run for run in runs if run.settings.n == n), None)
    if mine is None or len(runs) < 2:
        raise InputError(f"Give runs at several n, including n = {n}.")
    grid = np.array([run.settings.n for run in runs], dtype=np.float64)
    alone = np.stack([run.judged("single") for run in runs], axis=1)
    repetitions, curve = len(alone), falling(alone.mean(axis=0))
    usable, generator, found = bool(curve[0] > curve[-1]), np.random.default_rng(0), []
    if repetitions > 1:  # a curve must fall by more than noise, and rise nowhere by more
        columns = interval_columns(alone)
        usable = mean_interval(alone[:, 0] - alone[:, -1]).low > 0.0
        usable &= bool((np.abs(columns["value"] - curve) <= columns["half"] + 1e-12).all())
    for rule in (rule for rule in BORROWING if rule in mine.rules):
        errors, low, high = mine.judged(rule), math.nan, math.nan
        value = samples_at(grid, curve, float(errors.mean())) if usable else math.inf
        if math.isinf(value):
            value = math.nan
        elif repetitions > 1:
            drawn = generator.integers(repetitions, size=(_DRAWS, repetitions))
            many = [samples_at(grid, falling(alone[d].mean(axis=0)), float(errors[d].mean())) for d in drawn]
            # Order statistics: between a number and infinity there is nothing to interpolate.
            low, high = map(float, np.quantile(many, _LEVEL, method="nearest"))
        found.append(Realised(rule, value, low, high, int(grid[0]), int(grid[-1]), effective_samples(mine, rule)))
    return found


def realised_text(found: Realised) -> str:
    """Return realised effective samples with their interval, or in words if there is no number."""
    if math.isnan(found.value):
        return "beyond the grid"
    text = f"{'at most ' if found.value <= found.least else ''}{found.value:,.1f}"
    if math.isnan(found.low):
        return text
    return f"{text} ({found.low:,.1f} to {f'{found.high:,.1f}' if math.isfinite(found.high) else 'beyond the grid'})"


def realised_sentence(found: Sequence[Realised], n: int) -> str:
    """State how many samples the errors show, and whether they agree with the promise, in Markdown."""
    main = found[-1]
    name = f"{RULES[main.rule].lower()} learning"
    if math.isnan(main.value):
        return (
            f"**The errors do not imply a number of samples.** Learning each task alone, with {main.least} to "
            f"{main.most} samples, never clearly reaches the error of {name} with {n}."
        )
    other = f"{'fewer' if main.promised.mean > main.high else 'more'} than promised"
    unknown = "though one repetition cannot show whether that agrees with the promise"
    verdict = {None: unknown, True: "which agrees with the promise", False: other}[main.agrees]
    return f"**A task alone would need {realised_text(main)} samples** to match {name} with {n}, {verdict}."
