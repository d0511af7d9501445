"""Risk bounds of Theorems 1 to 4 with their constants exposed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import check_int, check_real
from imrc._types import Floats
from imrc.core.theory._closed import _check_positive


@dataclass(frozen=True, eq=False)
class RiskBound:
    """Upper bounds of the minimax risk, one per effective sample size."""

    value: Floats
    """R_inf + margin."""
    margin: Floats
    """M (kappa + 1) sqrt(2 log(2 m / delta)) / sqrt(ESS) ||mu_inf||_1."""
    trivial: float
    """1 - 1/C: no minimax risk is above it, so a bound above it says nothing."""


def risk_bound(
    ess: ArrayLike,
    *,
    m: int,
    mu_norm: ArrayLike,
    smallest_risk: ArrayLike = 0.0,
    delta: float = 0.05,
    M: float = 1.0,
    kappa: float = 1.0,
    n_classes: int = 2,
) -> RiskBound:
    """Bound of the minimax risk of a task, eqs. (5), (8) and (11): only the effective sample size `ess` differs.

    `m` components C (D + 1); `mu_norm` ||mu_inf||_1 and `smallest_risk` R_inf of the rule for exactly known mean
    vectors; it holds with probability 1 - delta; M bounds all components of Phi. kappa, at least 1, is the ratio of
    sub-Gaussian parameters to standard deviations: 1 (normal variables) is the most favourable, `admissible_kappa` the
    safe value.

    >>> bound = risk_bound([10, 1000], m=6, mu_norm=0.5, smallest_risk=0.1)
    >>> bound.value.round(3).tolist(), (bound.value >= bound.trivial).tolist()
    ([1.147, 0.205], [True, False])
    """
    size = _check_positive("ess", ess)
    norm = _check_positive("mu_norm", mu_norm, zero=True)
    risk = _check_positive("smallest_risk", smallest_risk, zero=True)
    m = check_int("m", m, 1)
    n_classes = check_int("n_classes", n_classes, 2)
    delta = check_real("delta", delta, 0.0, 1.0, low_open=True)
    M = check_real("M", M, 0.0, low_open=True)
    kappa = check_real("kappa", kappa, 0.0)
    margin = M * (kappa + 1.0) * math.sqrt(2.0 * math.log(2.0 * m / delta)) * norm / np.sqrt(size)
    return RiskBound(np.asarray(risk + margin), np.asarray(margin), 1.0 - 1.0 / n_classes)


def samples_for_bound(
    margin: float, *, m: int, mu_norm: float, delta: float = 0.05, M: float = 1.0, kappa: float = 1.0
) -> float:
    """Effective sample size at which the margin of `risk_bound` falls to a given value above 0.

    >>> size = samples_for_bound(0.1, m=6, mu_norm=0.5)
    >>> round(float(risk_bound(size, m=6, mu_norm=0.5).margin), 12)
    0.1
    """
    margin = check_real("margin", margin, 0.0, low_open=True)
    one = float(risk_bound(1.0, m=m, mu_norm=mu_norm, delta=delta, M=M, kappa=kappa).margin)
    return (one / margin) ** 2


@dataclass(frozen=True)
class AdmissibleKappa:
    """The value of kappa that bounded features always allow, and the two terms it is the larger of."""

    from_features: float
    """M / min sigma."""
    from_changes: float
    """2 M / min d; infinite without any change."""

    @property
    def value(self) -> float:
        """The larger of the two; infinite if one is."""
        return max(self.from_features, self.from_changes)


def admissible_kappa(M: float, sigma: ArrayLike, d: ArrayLike) -> AdmissibleKappa:
    """Value of kappa for which Theorems 1 and 3 hold whatever the distributions: max(M / min sigma, 2 M / min d).

    The remark after Theorem 1: a variable within [-M, M] is sub-Gaussian with parameter M at most, a change of its mean
    with 2 M. Minima are over tasks and components; those that do not vary are left out (ValueError: none varies).

    >>> limit = admissible_kappa(1.0, [[0.5, 0.2], [0.4, 0.0]], [[0.05, 0.1]])
    >>> limit.from_features, limit.from_changes, limit.value
    (5.0, 40.0, 40.0)
    """
    M = check_real("M", M, 0.0, low_open=True)
    deviations = _check_positive("sigma", sigma, zero=True)
    changes = _check_positive("d", d, zero=True)
    deviations, changes = deviations[deviations > 0], changes[changes > 0]
    if not deviations.size:
        raise ValueError("sigma must have a component above 0: nothing varies.")
    smallest = float(changes.min()) if changes.size else 0.0
    return AdmissibleKappa(M / float(deviations.min()), 2.0 * M / smallest if smallest > 0 else math.inf)
