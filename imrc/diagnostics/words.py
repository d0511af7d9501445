"""Sentences about diagnoses and effective sample sizes, for pages and reports."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from imrc.core.theory import AdmissibleKappa, samples_for_bound
from imrc.diagnostics._assess import Assessment
from imrc.diagnostics._verdict import Verdict
from imrc.diagnostics.guarantees import PlugIn


def number(value: float) -> str:
    """Return a positive number with two or three digits that matter, as people write it.

    Examples
    --------
    >>> [number(x) for x in (0.0123, 0.4, 3.456, 9.99, 43.21, 1234.5, 1e-7, float("inf"))]
    ['0.012', '0.40', '3.5', '10', '43', '1,230', '1e-07', 'no limit']
    """
    if math.isinf(value):
        return "no limit"
    if value == 0 or abs(value) >= 10:
        return f"{float(f'{value:.3g}') if abs(value) >= 100 else round(value):,.0f}"
    # Both digits also where the second is a zero: 0.40 between 0.32 and 0.50.
    return f"{value:#.2g}".rstrip(".") if value >= 1e-4 else f"{value:.2g}"


def huge(value: float) -> str:
    """Return a number that may have many digits: from a thousand million on its power of ten alone.

    Examples
    --------
    >>> huge(152_000.0), huge(1.13e14)
    ('152,000', 'about 10¹⁴')
    """
    if value < 1e9:
        return number(value)
    return "about 10" + str(round(math.log10(value))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def p_text(p: float | None) -> str:
    """Return a p-value for people.

    Examples
    --------
    >>> [p_text(p) for p in (0.00012, 0.0312, 0.5, 1.0, None)]
    ['p < .001', 'p = .031', 'p = .50', 'p = 1', 'not testable']
    """
    if p is None:
        return "not testable"
    if p < 0.001:
        return "p < .001"
    if p >= 0.995:
        return "p = 1"
    return "p = " + (f"{p:.3f}" if p < 0.0995 else f"{p:.2f}").lstrip("0")


def regime_sentence(result: Assessment, n: float) -> str:
    """Say how large the change per step is beside the noise of one average over n samples."""
    ratio, low, high = result.ratio_at(n)
    head = f"Its n d² / σ² at n = {n:g} is {number(ratio)} (95 % interval {number(low)} to {number(high)})"
    if high <= 0.01:
        return f"{head}: tasks change so slowly that nearly all samples could be pooled."
    if high < 1:
        return f"{head}: tasks change less than the noise of one average."
    if low < 1:
        return f"{head}: the change may be smaller or larger than the noise of one average."
    return f"{head}: tasks change more than the noise of one average."


def setting_sentence(result: Assessment) -> str:
    """Say what a verdict rests on: representation, samples, components."""
    samples = "given means" if result.n is None else f"all samples (about {number(result.n)} per task)"
    dropped = f", {result.dropped} constant ones left out" if result.dropped else ""
    return (
        f"Judged on {samples}, {result.k} tasks, representation: {result.representation}; "
        f"{result.m} components{dropped}, worth about {number(result.m_eff)} independent ones. "
        "The verdict can change with the representation and with the number of samples."
    )


def meaning_sentence(result: Assessment, n: float) -> str:
    """Say what the size of the change means for learning with n samples per task, and on which condition."""
    ratio, low, high = result.ratio_at(n)
    verdict = result.verdict
    if verdict.name == "too_few":
        return "Without more tasks or samples the gain of forward and backward learning cannot be foreseen."
    if high < 0.3:
        gain = "can be expected to help much"
    elif high < 1:
        gain = "can be expected to help clearly"
    elif low < 1:
        gain = "may help (the interval reaches from below to above 1)"
    else:
        gain = "can help only a little" if ratio < 5 else "can hardly help"
    size = f"For learning with n = {n:g} samples per task the size of the change counts: n d² / σ² = {number(ratio)}"
    if verdict.assumption == "contradicted":
        return (
            f"{size}. By itself this would mean that forward and backward learning {gain}; but that is so for tasks "
            "that evolve as the theorems assume, and these do not seem to, so only the errors can tell."
        )
    condition = {"supported": ", as the theorems promise", "open": " if the tasks evolve"}[verdict.assumption]
    if verdict.name == "no_change":
        condition = ": the tasks look alike"
    return f"{size}, so forward and backward learning {gain}{condition}."


def vacuous_sentence(stand_in: PlugIn, vacuous: ArrayLike, trivial: float, delta: float, kappa: float) -> str:
    """Say for how many tasks the bound says nothing, and what it would take."""
    flags = np.asarray(vacuous, dtype=bool)
    middle = int(np.argsort(stand_in.mu_norm)[len(stand_in.mu_norm) // 2])
    room = trivial - stand_in.risk[middle]
    count = int(flags.sum())
    if count == 0:
        return "The bound is below the risk of guessing for every task shown."
    all_of = "every task shown" if count == len(flags) else f"{count} of the {len(flags)} tasks shown"
    text = f"The bound is vacuous for {all_of}: it is above the risk of guessing."
    if room > 0:
        norm = float(stand_in.mu_norm[middle])
        size = samples_for_bound(room, m=stand_in.m, mu_norm=norm, delta=delta, M=stand_in.M, kappa=kappa)
        text += f" For a typical task it would take an effective sample size of {huge(size)} to say anything."
    return text


def order_sentence(verdict: Verdict) -> str:
    """Say on which conditions the bounds at least order the rules rightly, or that they do not here."""
    if verdict.assumption == "contradicted":
        return (
            "Theorems 1 and 3 assume changes that are independent and zero-mean. The verdict on these tasks is "
            f"*{verdict.title}*, so here neither these bounds nor their order are guaranteed."
        )
    seen = {
        "supported": "which the diagnosis supports",
        "open": "which the diagnosis neither supports nor contradicts",
    }[verdict.assumption]
    return (
        f"More effective samples mean a smaller margin, provided that the tasks evolve as assumed, {seen}, and that "
        "variances and changes are known; here they are estimated."
    )


def report(result: Assessment, n: float) -> str:
    """Return verdict and evidence as a few lines of text.

    Parameters
    ----------
    result : Assessment
        From `imrc.diagnostics.assess`.
    n : float
        Samples per task to which the size of the change is converted; not used if only means were given.
    """
    lines = [f"{result.name}: {result.verdict.title}", result.verdict.sentence, *result.verdict.notes]
    lines += [setting_sentence(result), ""]
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


def constants_sentence(stand_in: PlugIn) -> str:
    """Say which constants a bound was computed with."""
    low, high = float(stand_in.mu_norm.min()), float(stand_in.mu_norm.max())
    return (
        f"Constants: M = {stand_in.M:.3g} (largest feature value seen), m = {stand_in.m} components, "
        f"‖μ‖₁ from {number(low)} to {number(high)}."
    )


def kappa_sentence(limit: AdmissibleKappa) -> str:
    """Say which kappa the paper allows for the data at hand.

    Examples
    --------
    >>> print(kappa_sentence(AdmissibleKappa(6.65, 81.8)))
    κ allowed by the remark after Theorem 1: max(M / min σ, 2 M / min d) = max(6.7, 82) = 82.
    """
    text = "κ allowed by the remark after Theorem 1: max(M / min σ, 2 M / min d)"
    if math.isinf(limit.from_changes):
        return f"{text}; no change is seen, so d = 0 and only M / min σ = {number(limit.from_features)} is finite."
    return f"{text} = max({number(limit.from_features)}, {number(limit.from_changes)}) = {number(limit.value)}."
