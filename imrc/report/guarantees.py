"""Risk bounds of Theorems 1 and 3 for a sequence, with plug-in values for what cannot be known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from imrc._checks import check_int
from imrc._types import Floats
from imrc.core.recursions import sample_moments
from imrc.core.theory import AdmissibleKappa, risk_bound, samples_for_bound
from imrc.core.theory import admissible_kappa as _admissible_kappa
from imrc.diagnostics import Assessment, Verdict
from imrc.diagnostics.samples import CONSTANT, mapped, resolve_transform
from imrc.solvers import Problem, prepare_instances
from imrc.tasks import TaskSequence
from imrc.wording import huge, number

_ITERATIONS = 1000
"""Of the subgradient method, from zero: stopping it early keeps ||mu||_1 small, which favours the bound."""


SOLVED = 24  # tasks at most by default, spread over the sequence


@dataclass(frozen=True, eq=False)
class PlugIn:
    """Estimates, from all samples of a task, of the quantities in the bounds that depend on the truth."""

    tasks: NDArray[np.int64]  # tasks evaluated, from 0
    risk: Floats  # in place of R_inf: minimax risk with the averages over all samples of the task taken as exact
    mu_norm: Floats  # in place of ||mu_inf||_1: ||mu||_1 of that rule
    M: float  # largest |component| of Phi seen
    m: int  # number of components
    n_classes: int  # number of classes


def plug_in(sequence: TaskSequence, features: object = None, *, largest: int = SOLVED, seed: int = 0) -> PlugIn:
    """Estimate R_inf, ||mu_inf||_1 and M from all samples of `largest` tasks at most; `features` as in `assess`."""
    count = min(len(sequence), check_int("largest", largest, 1))
    tasks = np.unique(np.linspace(0, len(sequence) - 1, count).round().astype(np.int64))
    transform, _ = resolve_transform(features, sequence, seed)
    rows = mapped(TaskSequence(tuple(sequence[j] for j in tasks), classes=sequence.classes), transform)
    risks, norms, largest_value, width = [], [], 0.0, 0
    for j, X1 in zip(tasks, rows, strict=True):
        tau, _ = sample_moments(X1, sequence.encoded(int(j)), sequence.n_classes)
        solution = Problem(prepare_instances(X1), tau, np.zeros_like(tau)).solve(sequence.n_classes, _ITERATIONS)
        risks.append(max(solution.value, 0.0))
        norms.append(float(np.abs(solution.mu).sum()))
        largest_value, width = max(largest_value, float(np.abs(X1).max())), X1.shape[1]
    classes = sequence.n_classes
    return PlugIn(tasks, np.array(risks), np.array(norms), largest_value, classes * width, classes)


def admissible_kappa(stand_in: PlugIn, result: Assessment) -> AdmissibleKappa:
    """Return the kappa of the paper's remark after Theorem 1, max(M / min sigma, 2 M / min d).

    sigma comes from all samples of a task, d^2 = rho sigma^2 from the diagnosis. Constant components are left out.
    """
    moments = result.moments
    if moments.n is None:
        raise ValueError("kappa needs the variances of samples, but the diagnosis was made from given means.")
    variances = moments.s * moments.n[:, None]
    varying = variances > CONSTANT * variances.max()
    pooled = moments.pooled_variance()
    rate = 0.0 if result.change is None else result.ratio_at(1)[0]
    changes = np.sqrt(rate * pooled[pooled > CONSTANT * pooled.max()])
    return _admissible_kappa(stand_in.M, np.sqrt(variances[varying]), changes)


def bound_table(
    stand_in: PlugIn, ess: dict[str, ArrayLike], *, delta: float = 0.05, kappa: float = 1.0
) -> tuple[pd.DataFrame, float]:
    """Return the bounds of the tasks in `stand_in`, columns task (from 1) and rules, and the risk of guessing."""
    reached = min(len(np.asarray(sizes)) for sizes in ess.values())
    inside = stand_in.tasks < reached  # a run that was stopped has fewer tasks
    tasks = stand_in.tasks[inside]
    table = pd.DataFrame({"task": tasks + 1})
    for rule, sizes in ess.items():
        of, norms, risks = np.asarray(sizes, dtype=np.float64)[tasks], stand_in.mu_norm[inside], stand_in.risk[inside]
        bound = risk_bound(of, m=stand_in.m, mu_norm=norms, smallest_risk=risks, delta=delta, M=stand_in.M, kappa=kappa)
        table[rule] = bound.value
    return table, 1.0 - 1.0 / stand_in.n_classes


def vacuous_sentence(stand_in: PlugIn, vacuous: ArrayLike, trivial: float, delta: float, kappa: float) -> str:
    """State for how many tasks the bound is vacuous, and what would make it informative."""
    flags = np.asarray(vacuous, dtype=bool)
    middle = int(np.argsort(stand_in.mu_norm)[len(stand_in.mu_norm) // 2])
    room, norm, count = trivial - stand_in.risk[middle], float(stand_in.mu_norm[middle]), int(flags.sum())
    if count == 0:
        return "The bound is below the risk of guessing for every task shown."
    all_of = "every task shown" if count == len(flags) else f"{count} of the {len(flags)} tasks shown"
    text = f"The bound is vacuous for {all_of}: it is above the risk of guessing."
    if room <= 0:
        return text
    size = samples_for_bound(room, m=stand_in.m, mu_norm=norm, delta=delta, M=stand_in.M, kappa=kappa)
    return f"{text} For a typical task, an informative bound needs an effective sample size of {huge(size)}."


def order_sentence(verdict: Verdict) -> str:
    """State the conditions under which the bounds at least rank the rules correctly, or that they fail here."""
    if verdict.assumption == "contradicted":
        return (
            "Theorems 1 and 3 assume changes that are independent and zero-mean. The verdict on these tasks is "
            f"*{verdict.title}*, so here neither these bounds nor their order is guaranteed."
        )
    seen = "supports" if verdict.assumption == "supported" else "neither supports nor contradicts"
    return (
        f"More effective samples mean a smaller margin if the tasks evolve as assumed, which the diagnosis {seen}, and "
        "if variances and changes are known. Here they are estimated."
    )


def constants_sentence(stand_in: PlugIn) -> str:
    """State the constants of a bound."""
    low, high = number(float(stand_in.mu_norm.min())), number(float(stand_in.mu_norm.max()))
    return (
        f"Constants: M = {stand_in.M:.3g} (largest feature value seen), m = {stand_in.m} components, "
        f"‖μ‖₁ from {low} to {high}."
    )


def kappa_sentence(limit: AdmissibleKappa) -> str:
    """State the kappa that the paper allows for these data.

    >>> print(kappa_sentence(AdmissibleKappa(6.65, 81.8)))
    κ allowed by the remark after Theorem 1: max(M / min σ, 2 M / min d) = max(6.7, 82) = 82.
    """
    text = "κ allowed by the remark after Theorem 1: max(M / min σ, 2 M / min d)"
    if math.isinf(limit.from_changes):
        return f"{text}; no change is seen, so d = 0 and only M / min σ = {number(limit.from_features)} is finite."
    return f"{text} = max({number(limit.from_features)}, {number(limit.from_changes)}) = {number(limit.value)}."
