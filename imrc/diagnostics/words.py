"""Sentences about diagnoses and effective sample sizes, for pages and reports."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from imrc.core.theory import samples_for_bound
from imrc.diagnostics._assess import Assessment
from imrc.diagnostics._innovations import MEAN_LIMIT, Innovations
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


def worth_sentence(ess: ArrayLike, n: float, labels: tuple[str, ...], title: str) -> str:
    """Say what the effective sample size of a middle task means.

    Examples
    --------
    >>> worth_sentence([15.0, 43.2, 20.0], 10, ("1", "2", "3"), "Digits")
    'On *Digits*, task 2 is learnt as if it had 43 samples, not 10.'
    """
    values = np.asarray(ess, dtype=np.float64)
    task = len(values) // 2
    name = f" ({labels[task]})" if labels[task] != str(task + 1) else ""
    text = f"On *{title}*, task {task + 1}{name} is learnt as if it had {number(float(values[task]))} samples, "
    return text + f"not {n:g}."


def regime_sentence(rho: float, low: float, high: float, n: float) -> str:
    """Say where a sequence lies on the curve of effective sample sizes."""
    interval = f"95 % interval {number(low)} to {number(high)}"
    head = f"Its n d² / σ² at n = {n:g} is {number(rho)} ({interval})"
    if high <= 0.01:
        return f"{head}: tasks change so slowly that nearly all samples can be pooled."
    if high < 1:
        return f"{head}: tasks change less than the noise of one average, so neighbours help a lot."
    if low < 1:
        return f"{head}: the change may be smaller or larger than the noise of one average, so the gain is uncertain."
    return f"{head}: tasks change more than the noise of one average, so little can be borrowed from neighbours."


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
    """Say what the size of the change means for learning with n samples per task."""
    rho, low, high = result.rho_at(n)
    if result.verdict.name == "too_few":
        return "Without more tasks or samples the gain of forward and backward learning cannot be foreseen."
    if high < 0.3:
        gain = "can be expected to help much"
    elif high < 1:
        gain = "can be expected to help clearly"
    elif low < 1:
        gain = "may help (the interval reaches from below to above 1)"
    else:
        gain = "can help only a little" if rho < 5 else "can hardly help"
    kind = "as the theorems promise" if result.verdict.name == "evolving" else "whatever the kind of change"
    return (
        f"For learning with n = {n:g} samples per task the size of the change counts: n d² / σ² = {number(rho)}, so "
        f"forward and backward learning {gain}, {kind}."
    )


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
        text += f" For a typical task it would take an effective sample size of {number(size)} to say anything."
    return text


def changes_text(tests: Innovations) -> str:
    """Say in a few words whether the changes look zero-mean and independent."""
    if tests.z_mean > MEAN_LIMIT:
        return "they keep a direction"
    if tests.is_flagged:
        return "go the same way for a while" if tests.largest > 0 else "tend to come back"
    return "nothing unusual"


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
        rho, low, high = result.rho_at(at)
        where = "" if at is None else f" at n = {n:g}"
        lines.append(f"n d2 / sigma2{where}: {number(rho)} (95 % interval {number(low)} to {number(high)})")
    if result.pacf is not None:
        lines.append(f"partial autocorrelation at lag 1: {result.pacf.mean[0]:.2f} ± {result.pacf.std[0]:.2f} (spread)")
    if result.innovations is not None:
        tests = result.innovations
        lines.append(f"changes: direction z = {tests.z_mean:.1f}, dependence z = {tests.largest:.1f}")
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
