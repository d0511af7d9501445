"""Risk bounds of Theorems 1 and 3 for a sequence, with plug-in values for what cannot be known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from imrc._checks import check_int
from imrc.core.moments import sample_moments
from imrc.core.theory import AdmissibleKappa, risk_bound
from imrc.core.theory import admissible_kappa as _admissible_kappa
from imrc.diagnostics._assess import Assessment
from imrc.diagnostics._reduction import CONSTANT, mapped, reduce_moments, resolve_transform
from imrc.solvers._api import solve_subgradient
from imrc.tasks import TaskSequence

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlugIn:
    """Stand-ins, from all samples of a task, for the quantities of the bounds that only the truth would give."""

    tasks: NDArray[np.int64]
    """Tasks treated, from 0."""
    risk: Floats
    """Minimax risk with the averages over all samples of the task taken as exact: stands for R_inf."""
    mu_norm: Floats
    """||mu||_1 of that rule: stands for ||mu_inf||_1."""
    M: float
    """Largest |component| of Phi seen."""
    m: int
    """Number of components."""
    n_classes: int
    """Number of classes."""


def plug_in(
    sequence: TaskSequence, features: object = None, *, largest: int = 24, max_iter: int = 1000, seed: int = 0
) -> PlugIn:
    """Estimate R_inf, ||mu_inf||_1 and M from all samples of each task.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    features : object
        Representation, as in `imrc.diagnostics.assess`.
    largest : int
        At most this many tasks, evenly spaced, are treated.
    max_iter : int
        Iterations of the subgradient method; it starts from zero, and stopping early keeps ||mu||_1 small, which
        favours the bound.
    seed : int
        Seed of the feature map.

    Returns
    -------
    PlugIn
    """
    count = min(len(sequence), check_int("largest", largest, 1))
    tasks = np.unique(np.linspace(0, len(sequence) - 1, count).round().astype(np.int64))
    transform, _ = resolve_transform(features, sequence, seed)
    rows = mapped(TaskSequence(tuple(sequence[j] for j in tasks), classes=sequence.classes), transform)
    risks, norms, largest_value, width = [], [], 0.0, 0
    for j, X1 in zip(tasks, rows, strict=True):
        tau, _ = sample_moments(X1, sequence.encoded(int(j)), sequence.n_classes, with_variance=False)
        zero = np.zeros_like(tau)
        solution = solve_subgradient(X1, tau, zero, sequence.n_classes, max_iter, zero, zero)
        risks.append(max(solution.value, 0.0))
        norms.append(float(np.abs(solution.mu).sum()))
        largest_value, width = max(largest_value, float(np.abs(X1).max())), X1.shape[1]
    return PlugIn(
        tasks=tasks,
        risk=np.array(risks),
        mu_norm=np.array(norms),
        M=largest_value,
        m=sequence.n_classes * width,
        n_classes=sequence.n_classes,
    )


def admissible_kappa(stand_in: PlugIn, result: Assessment) -> AdmissibleKappa:
    """Value of kappa that the paper's remark after Theorem 1 allows for a sequence: max(M / min sigma, 2 M / min d).

    Standard deviations sigma of each task and component come from all samples, those of the changes from the one rate
    of the diagnosis: d^2 = rho sigma^2 with sigma^2 pooled over tasks. Components that are constant but for rounding
    are left out.

    Parameters
    ----------
    stand_in : PlugIn
        Gives M.
    result : Assessment
        Diagnosis of the same sequence in the same representation, made from samples.

    Returns
    -------
    AdmissibleKappa

    Raises
    ------
    ValueError
        If no component varies or the diagnosis was made from given means.
    """
    moments = result.moments
    if moments.n is None:
        raise ValueError("kappa needs variances of samples; the diagnosis was made from given means.")
    variances = moments.s * moments.n[:, None]
    varying = variances > CONSTANT * variances.max()
    reduced = reduce_moments(moments)
    rate = 0.0 if result.change is None else result.ratio_at(1)[0]
    changes = np.sqrt(rate * reduced.variance[reduced.kept])
    return _admissible_kappa(stand_in.M, np.sqrt(variances[varying]), changes)


def bound_table(
    stand_in: PlugIn, ess: dict[str, ArrayLike], *, delta: float = 0.05, kappa: float = 1.0
) -> tuple[pd.DataFrame, float]:
    """Evaluate the bounds of the treated tasks.

    Parameters
    ----------
    stand_in : PlugIn
        From `plug_in`.
    ess : dict of str to array-like of shape (k,)
        Effective sample sizes of all tasks, by rule.
    delta, kappa : float
        As in `imrc.core.theory.risk_bound`.

    Returns
    -------
    table : DataFrame
        Column task (from 1) and one column per rule.
    trivial : float
        Risk of guessing.
    """
    reached = min(len(np.asarray(sizes)) for sizes in ess.values())
    inside = stand_in.tasks < reached  # a run that was stopped has fewer tasks
    tasks = stand_in.tasks[inside]
    table = pd.DataFrame({"task": tasks + 1})
    trivial = 1.0 - 1.0 / stand_in.n_classes
    for rule, sizes in ess.items():
        bound = risk_bound(
            np.asarray(sizes, dtype=np.float64)[tasks],
            m=stand_in.m,
            mu_norm=stand_in.mu_norm[inside],
            smallest_risk=stand_in.risk[inside],
            delta=delta,
            M=stand_in.M,
            kappa=kappa,
            n_classes=stand_in.n_classes,
        )
        table[rule] = bound.value
        trivial = bound.trivial
    return table, trivial
