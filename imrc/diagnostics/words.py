"""Sentences about diagnoses, for pages and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from imrc.diagnostics._assess import Assessment
from imrc.diagnostics._innovations import FLAG_LIMIT, MEAN_LIMIT
from imrc.diagnostics._models import Group
from imrc.diagnostics._pictures import PartialAutocorrelation
from imrc.diagnostics._verdict import FINDINGS, LEAD, LEVEL
from imrc.diagnostics.changed import KIND_TITLES, Changed, Kind
from imrc.wording import capital, decimal, listed, number, p_text

GUESSES: dict[Group, str] = {kind: capital(FINDINGS[kind]) for kind in get_args(Group)}
"""Kinds of change somebody can guess, in the words of the verdict."""


@dataclass(frozen=True)
class Question:
    """One step on the way to a verdict."""

    text: str
    answer: str  # Yes, No, a few words, or why there is no answer
    evidence: str  # the number behind it
    turns_at: str  # where the answer would be another one; empty without an answer


def questions(result: Assessment, n: float) -> list[Question]:
    """Return the five questions that lead to a verdict, in order, with the numbers behind the answers, for n a task.

    The last two are about changes, which are only judged where the order of the tasks matters.
    """
    level = f"p = {decimal(LEVEL, 2)}"
    asked = []
    for text, p in (("Are the tasks different?", result.p_same), ("Does their order matter?", result.p_order)):
        answer = "Not testable" if p is None else "Yes" if p <= LEVEL else "No"
        asked.append(Question(text, answer, p_text(p), level if p is not None else ""))
    if result.change is not None:
        ratio, low, high = result.ratio_at(n)
        size = "Yes" if high < 1 else "No" if low > 1 else "Perhaps"
        interval = f"n d² / σ² = {number(ratio)} ({number(low)} to {number(high)})"
        asked.append(Question("Is a step smaller than the noise?", size, interval, "1"))
    tests = result.innovations
    if tests is not None:
        judged = result.verdict.changes is not None
        drift = "Yes" if tests.z_mean > MEAN_LIMIT else "No"
        linked = "No" if not tests.is_flagged else "Yes, they go on" if tests.largest > 0 else "Yes, they turn back"
        for text, answer, z, limit in (
            ("Do changes keep one direction?", drift, tests.z_mean, f"z = {MEAN_LIMIT:g}"),
            ("Do changes depend on earlier ones?", linked, tests.largest, f"z = ± {FLAG_LIMIT:g}"),
        ):
            evidence = f"z = {z:.1f}".replace("-", "−")
            asked.append(
                Question(text, answer, evidence, limit)
                if judged
                else Question(text, "Not judged", "the order does not matter", "")
            )
    if result.verdict.name == "dependent":
        return [Question(one.text, "Not judged", "rows follow each other", "") for one in asked]
    return asked


def guess_sentence(result: Assessment, guess: Group) -> tuple[bool, str]:
    """Return whether the verdict names a guess, alone or as one of two, and what speaks against it in Markdown."""
    verdict = result.verdict
    said = f"The diagnosis: {verdict.finding}. {verdict.sentence}"
    if guess == verdict.name and verdict.second is None:
        return True, f"**Your guess agrees.** {said}"
    if guess in (verdict.name, verdict.second):
        return True, f"**Your guess is one of two that the models cannot tell apart.** {said}"
    if verdict.name in ("too_few", "differ", "dependent"):
        return False, f"**The diagnosis names no kind here.** {said}"
    if verdict.name == "no_change":
        why = f"differences between the tasks are no larger than noise ({p_text(result.p_change)})"
    elif guess == "no_change":
        why = f"the tasks are not all alike ({p_text(result.p_change)})"
    elif verdict.name == "iid" or not result.gaps:
        why = f"neighbours are no more alike than other pairs ({p_text(result.p_order)})"
    elif guess == "iid":
        why = f"the order of the tasks matters ({p_text(result.p_order)})"
    elif guess in result.gaps:
        gap = result.gaps[guess] - result.gaps[cast(Group, verdict.name)]
        why = (
            f"the best model of your guess is {decimal(gap, 1)} behind in BIC, and from {LEAD:g} on it is no longer "
            "named"
        )
    else:
        why = "no model of your guess fits so few tasks"
    return False, f"**Your guess differs:** {why}. {said}"


def regime_sentence(result: Assessment, n: float) -> str:
    """Compare the change per step with the noise of one average over n samples."""
    ratio, low, high = result.ratio_at(n)
    head = f"At n = {n:g}, n d² / σ² is {number(ratio)} (95 % interval {number(low)} to {number(high)})"
    if high <= 0.01:
        return f"{head}: tasks change so slowly that nearly all samples could be pooled."
    if high < 1:
        return f"{head}: tasks change by less than the noise of one average."
    if low < 1:
        return f"{head}: the change may be smaller or larger than the noise of one average."
    return f"{head}: tasks change by more than the noise of one average."


def setting_sentence(result: Assessment) -> str:
    """State what a verdict is based on: representation, samples, components."""
    samples = "given means" if result.n is None else f"all samples (about {number(result.n)} per task)"
    dropped = f", {result.dropped} constant ones left out" if result.dropped else ""
    return (
        f"Judged on {samples}, {result.k} tasks, representation: {result.representation}; "
        f"{result.m} components{dropped}, worth about {number(result.m_eff)} independent ones. "
        "The verdict can change with the representation and with the number of samples."
    )


def meaning_sentence(result: Assessment, n: float) -> str:
    """State what the theorems promise at this size of the change with n samples per task, and on which condition."""
    ratio, low, high = result.ratio_at(n)
    verdict = result.verdict
    if verdict.name == "dependent":
        return "The size of the change and the gain of forward and backward learning cannot be predicted from these."
    if verdict.name == "too_few":
        return "Without more tasks or samples the gain of forward and backward learning cannot be predicted."
    if high < 0.3:
        gain = "a large gain"
    elif high < 1:
        gain = "a clear gain"
    elif low < 1:
        gain = "a gain that may be small (the interval contains 1)"
    else:
        gain = "only a little" if ratio < 5 else "hardly anything"
    size = f"With n = {n:g} samples per task, n d² / σ² = {number(ratio)}"
    by = "the theorems promise"
    if verdict.assumption == "contradicted":
        by = "the theorems would promise"
        condition = ", if the tasks evolved as they assume, which these do not seem to"
    elif verdict.name == "no_change":
        condition = ": the tasks look alike"
    else:
        held = {"supported": ", and these tasks evolve as they assume", "open": " if the tasks evolve"}
        condition = held[verdict.assumption]
    return f"{size}: {by} {gain} from learning forward and backward{condition}."


def report(result: Assessment, n: float) -> str:
    """Return verdict and evidence as lines of text, the size of the change for n samples a task."""
    lines = [f"{result.name}: {result.verdict.title}", result.verdict.sentence, *result.verdict.notes]
    lines += [setting_sentence(result), ""]
    if result.verdict.name == "dependent":
        lines.append("All that follows holds for independent rows only.")
    lines.append(f"tasks different?      {p_text(result.p_same)} ({result.same_method}), Q = {result.q:.3g}")
    lines.append(f"order matters?        {p_text(result.p_order)}")
    if result.change is not None:
        at = None if result.n is None else n
        ratio, low, high = result.ratio_at(at)
        where = "" if at is None else f" at n = {n:g}"
        lines.append(f"n d2 / sigma2{where}: {number(ratio)} (95 % interval {number(low)} to {number(high)})")
    if result.pacf is not None:
        lines.append(f"partial autocorrelation at lag 1: {result.pacf.mean[0]:.2f} ± {result.pacf.std[0]:.2f} (spread)")
    if result.innovations is not None:
        tests = result.innovations
        lines.append(
            f"changes: direction z = {tests.z_mean:.1f}, dependence z = {tests.largest:.1f}: "
            f"{result.verdict.changes_text}"
        )
    if result.models:
        gaps = ", ".join(f"{group} {gap:.1f}" for group, gap in result.gaps.items())
        lines.append(f"BIC behind the best: {gaps}")
    return "\n".join(lines)


def changed_sentence(result: Changed) -> str:
    """State which kinds of change were found, in how many columns, and which makes up most of the change."""
    if result.note:
        return "Not judged: rows follow each other, and the table below holds for independent rows only."
    tests, found = result.table["kind"].value_counts(), result.found
    if not any(found.values()):
        return (
            f"Nothing moves by more than noise: of {len(result.table):,} comparisons of classes and columns none is "
            f"clear at a false-discovery rate of {100 * result.level:g} %."
        )
    share = result.table.groupby("kind")["share"].sum()
    concept = result.table[(result.table["kind"] == "concept") & result.table["found"]]["column_index"].nunique()
    columns = int(tests.get("input", 0))
    names: dict[Kind, str] = {"input": f"{found['input']:,} of {columns:,} columns move in all classes alike"}
    if "concept" in tests:
        names["concept"] = f"{concept:,} of {columns:,} move in one class against the others"
    if "label" in tests:
        names["label"] = "the shares of the classes " + ("move" if found["label"] else "stay")
    parts = [
        f"{text} ({KIND_TITLES[kind]}" + (f", {share[kind]:.0f} % of the change)" if found[kind] else ")")
        for kind, text in names.items()
    ]
    text = listed(parts)
    return f"{capital(text)}."


def pacf_sentence(title: str, pacf: PartialAutocorrelation) -> str:
    """Say what partial autocorrelations show: how much at lag 1, and at which lags they leave the band.

    >>> import numpy as np
    >>> low, high = np.full(3, -0.1), np.full(3, 0.1)
    >>> found = PartialAutocorrelation(np.arange(1, 4), np.empty((3, 0)), np.array([0.5, 0, -0.2]), low, low, high)
    >>> pacf_sentence("Spam", found)
    'Spam: .50 at lag 1; outside the band of tasks without order at lags 1, 3.'
    """
    start = f"{title}: {decimal(float(pacf.mean[0]), 2)} at lag 1"
    if pacf.low is None or pacf.high is None:
        return f"{start}."
    outside = pacf.lags[(pacf.mean < pacf.low) | (pacf.mean > pacf.high)].tolist()
    if not outside:
        return f"{start}; inside the band of tasks without order at every lag shown."
    lags = f"lag{'s' * (len(outside) > 1)} {', '.join(map(str, outside))}"
    only = outside == [1] and len(pacf.lags) > 1
    return (
        f"{start}; outside the band of tasks without order at {lags}{' only, as the method assumes' if only else ''}."
    )
