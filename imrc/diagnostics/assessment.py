"""Diagnosis of a sequence, from data to verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from imrc._checks import InputError, InputTypeError, check_int, check_real
from imrc._types import Floats, Ints
from imrc.diagnostics import evidence, pictures, samples
from imrc.diagnostics.evidence import LEAST_TASKS, ChangeEstimate, Innovations, OrderTests, SameMethod
from imrc.diagnostics.models import ChangeKind, ModelFit, fit_models, kind_gaps
from imrc.diagnostics.pictures import PartialAutocorrelation, Variogram
from imrc.diagnostics.samples import Moments, Reading, Reduced
from imrc.diagnostics.words import (
    LEAD,
    LEVEL,
    RECURRING_BELOW,
    RECURRING_SHARE,
    Verdict,
    VerdictName,
    not_judged,
    word_verdict,
)
from imrc.tasks import TaskSequence, how_to_make_tasks
from imrc.wording import number, plain

NAMED: tuple[ChangeKind, ...] = ("evolving", "mean_reverting", "trend", "jump", "periodic", "recurring")
"""Kinds of change that are named where the order of the tasks matters."""
_RETURNS_UP_TO = 60
_MANY_TASKS = 1000


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Assessment:
    """Verdict on the assumption of evolving tasks, with its evidence.

    Everything is in units of the sampling noise of one average over ``n`` samples; `ratio_at` converts.
    """

    verdict: Verdict  #: What the evidence says, in words.
    name: str  #: Name of the sequence.
    representation: str  #: Name of the feature map.
    labels: tuple[str, ...]  #: Names of the tasks.
    k: int  #: Number of tasks.
    m: int  #: Number of components used.
    dropped: int  #: Components dropped because they do not vary.
    n: float | None  #: Samples per average (harmonic mean over tasks); None if only means were given.
    is_bounded: bool  #: Whether all features lie in [-1, 1].
    m_noise: float | None = None
    """Effective number of independent components of the sampling noise; None if only means were given."""
    m_eff: float = 1.0  #: Effective number of independent components used in likelihoods.
    q: float = math.nan  #: Variance between tasks over its value for identical tasks, expected 1 if nothing changes.
    p_same: float = 1.0  #: p-value of "all tasks share one distribution".
    same_method: SameMethod = "chi-squared approximation"  #: How p_same was computed.
    p_change: float = 1.0  #: Twice the smaller of p_same and p_order: the p-value of "nothing changes".
    order: OrderTests | None = None  #: Tests of the order; None below 5 tasks.
    pacf: PartialAutocorrelation | None = None  #: Partial autocorrelation with its band; None below 4 tasks.
    variogram: Variogram | None = None  #: Noise-corrected variogram with its envelope.
    distance: Floats  #: Noise-corrected squared distances, shape (k, k).
    returns: tuple[tuple[int, int], ...] = ()
    """Pairs of tasks (from 0) that are alike although a task between them is not; not searched above 60
    tasks."""
    returns_share: float = 0.0  #: Their share of all pairs.
    change: ChangeEstimate | None = None
    """n rho = n d^2 / sigma^2 with its interval; rho = d^2 / sigma^2 is the rate of change."""
    innovations: Innovations | None = None  #: Tests on the changes; None below 5 tasks.
    models: tuple[ModelFit, ...] = ()  #: Competing models, best first; empty below 5 tasks.
    moments: Moments  #: Sample averages and their mean squared errors, all components.

    def __repr__(self) -> str:
        found = f"{self.name}, {self.k} tasks: {self.verdict.title}. {self.verdict.sentence}"
        if self.change is not None:
            ratio, low, high = map(number, self.ratio_at())
            found += f"\nn d² / σ² = {ratio} (95 % interval {low} to {high})"
            found += "" if self.n is None else f" with n = {number(self.n)} samples per task"
        return "\n".join([found, *self.verdict.notes])

    @property
    def gaps(self) -> dict[ChangeKind, float]:
        """BIC of the best model of each group minus that of the best overall."""
        return kind_gaps(self.models)

    @property
    def p_order(self) -> float | None:
        """Combined p-value of the order tests."""
        return None if self.order is None else self.order.p_order

    def ratio_at(self, n: float | None = None) -> tuple[float, float, float]:
        """Return n rho = n d^2 / sigma^2 and its 95 % interval for averages over `n` samples (None: as diagnosed).

        The rate of change rho = d^2 / sigma^2 does not depend on n: it is the ratio at n = 1.

        Parameters
        ----------
        n : float or None
            Samples of one average.

        Returns
        -------
        tuple of float
            Estimate, lower and upper end.

        Raises
        ------
        ValueError
            If nothing could be estimated, or if `n` is given although only means are known.
        """
        if self.change is None:
            raise InputError("Too few tasks or components to estimate the size of the change.")
        factor = 1.0
        if n is not None:
            if self.n is None:
                raise ValueError("The number of samples behind the given means is unknown, so leave n out.")
            factor = check_real("n", n, 0.0, low_open=True) / self.n
        return self.change.ratio * factor, self.change.low * factor, self.change.high * factor

    def summary(self, n: float | None = None) -> dict[str, Any]:
        """Return verdict and main numbers, n rho for `n` samples, as plain types that JSON can hold (else None)."""
        verdict, order, tests = self.verdict, self.order, self.innovations
        out: dict[str, Any] = {
            "sequence": self.name,
            "representation": self.representation,
            "tasks": self.k,
            "components": self.m,
            "components_dropped": self.dropped,
            "samples_per_task": self.n,
            "verdict": verdict.name,
            **{name: getattr(verdict, name) for name in ("second", "title", "sentence", "notes", "assumption")},
            "Q": self.q,
            "p_same": self.p_same,
            "p_same_method": self.same_method,
            "p_order": self.p_order,
            "p_change": self.p_change,
            "order_statistics": order.statistics if order else {},
            "order_p_values": order.p_values if order else {},
            "m_eff": self.m_eff,
            "m_noise": self.m_noise,
        }
        if self.change is not None:
            for name, at in (("n_rho", n), *([("rho", 1)] if self.n is not None else [])):
                out |= dict(zip((name, f"{name}_low", f"{name}_high"), self.ratio_at(at), strict=True))
            out["n"] = n if n is not None else self.n
            out["LR_no_change"] = self.change.lr
        if self.pacf is not None:
            out |= {"pacf_mean": self.pacf.mean.tolist(), "pacf_std": self.pacf.std.tolist()}
        if self.variogram is not None:
            out |= {"gamma": self.variogram.gamma.tolist(), "growth_exponent": self.variogram.exponent}
        if tests is not None:
            out |= {"changes": verdict.changes_text, "z_mean": tests.z_mean, "z_lags": tests.z_lags}
        out["bic_behind_best"] = self.gaps
        out["returns"] = [[i + 1, j + 1] for i, j in self.returns[:20]]
        result: dict[str, Any] = plain(out)
        return result


def assess(
    data: TaskSequence | ArrayLike,
    mse: ArrayLike | None = None,
    *,
    features: object = "automatic",
    representation: str | None = None,
    permutations: int | None = None,
    seed: int = 0,
) -> Assessment:
    """Judge whether tasks evolve, that is, whether changes between consecutive tasks are independent and zero-mean.

    Parameters
    ----------
    data : TaskSequence or array-like of shape (k, m)
        The tasks (all their samples are used), or sample averages of their mean vectors.
    mse : array-like, broadcastable to (k, m)
        Mean squared errors of given averages; required with averages, not allowed with a sequence.
    features : None, str, FeatureSpec, object with ``transform(X)``, or function X (n, d) -> (n, D)
        Representation of the instances of a sequence; the default is that of the command. None: standardised inputs,
        with one scale for all tasks. The verdict can depend on it.
    representation : str or None
        Name of the representation for the result.
    permutations : int or None
        Number of random orders to compare, 99 to 9999. None: 999 (499 above 1000 tasks). With up to 7 tasks,
        all orders are used.
    seed : int
        Seed of everything drawn.

    Returns
    -------
    Assessment

    Raises
    ------
    ValueError
        If shapes do not fit or a value is missing.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> walk = np.cumsum(generator.standard_normal((40, 30)), axis=0)
    >>> assess(walk + generator.standard_normal((40, 30)), 1.0).verdict.title
    'evolving'
    """
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(check_int("seed", seed, 0)).spawn(3)]
    reading: Reading | None = None
    if isinstance(data, TaskSequence):
        if mse is not None:
            raise ValueError("Give mse only with means; a sequence provides its own.")
        transform, told = samples.resolve_transform(features, data, seed)
        keep = evidence.WORK_LIMIT / evidence.SHUFFLES
        reading = samples.read_sequence(data, transform, streams[0], keep)
        moments, name, labels = reading.moments, data.name, data.labels
    else:
        if mse is None:
            means = "If you give means, also give mse, their mean squared errors (s = sigma^2 / n). "
            what = means if isinstance(data, np.ndarray) else "imrc.diagnostics.assess needs a TaskSequence. "
            raise InputTypeError(what + how_to_make_tasks(data))
        moments, told, name = samples.given_moments(data, mse), "given means", "given means"
        labels = tuple(str(j + 1) for j in range(len(moments.tau)))
    k = len(moments.tau)
    drawn = (499 if k > _MANY_TASKS else 999) if permutations is None else permutations
    drawn = check_int("permutations", drawn, 99, 9999)
    reduced = samples.reduce_moments(moments)
    found = Assessment(
        verdict=Verdict("too_few", None, "", "", ()),
        name=name,
        representation=representation or told,
        labels=labels,
        k=k,
        m=reduced.m,
        dropped=int((~reduced.kept).sum()),
        n=reduced.n_ref,
        is_bounded=reading is not None and reading.is_bounded,
        distance=np.zeros((k, k)),
        moments=moments,
    )
    if k < 2 or reduced.m == 0:
        # A single task, or no component that varies.
        return replace(found, verdict=word_verdict("too_few", None, found))
    m_noise: float | None = None
    p_same: float | None = None
    if reading is not None and isinstance(data, TaskSequence):
        m_noise = samples.noise_components(reading, reduced)
        if reading.rows is not None:
            classes = [data.encoded(j) for j in range(k)]
            p_same = evidence.exact_p_value(reading.rows, classes, data.n_classes, streams[1])
    orders = evidence.draw_orders(k, drawn, streams[2]) if k >= 4 else np.arange(k)[None]
    found = replace(found, m_noise=m_noise, **_evidence(reduced, m_noise, p_same, orders))
    found = replace(found, **_pictures(moments.tau[:, reduced.kept], reduced, orders))
    first, second, p_change = judge(found)
    verdict = word_verdict(first, second, found)
    if reading is not None:
        added = reading.of_rows.notes(is_change_seen=first not in ("no_change", "too_few"))
        verdict = not_judged(verdict) if reading.of_rows.are_dependent else verdict
        verdict = replace(verdict, notes=(*verdict.notes, *added))
    return replace(found, verdict=verdict, p_change=p_change)


def _evidence(reduced: Reduced, m_noise: float | None, p_same: float | None, orders: Ints) -> dict[str, Any]:
    """Return what decides about a verdict, by attributes of `Assessment`; some of it from 5 tasks on."""
    k, distance = reduced.k, reduced.distance
    ratio, values, projections = evidence.estimate_change(reduced)
    tests = evidence.innovations(reduced, ratio) if k >= LEAST_TASKS else None
    m_eff = tests.m_eff if tests else (m_noise or 1.0)
    method: SameMethod = "permutation of samples"
    if p_same is None:
        p_same, method = evidence.approximate_p_value(reduced, m_noise, m_eff)
    # Among many tasks chance pairs abound; they are neither used nor shown there.
    pairs, share = find_returns(distance, reduced.h, m_noise or m_eff) if k <= _RETURNS_UP_TO else ((), 0.0)
    return {
        "m_eff": m_eff,
        "q": reduced.statistic,
        "p_same": p_same,
        "same_method": method,
        "order": evidence.order_tests(reduced, orders) if k >= LEAST_TASKS else None,
        "distance": distance,
        "returns": pairs,
        "returns_share": share,
        "change": evidence.change_estimate(ratio, values, projections, m_eff),
        "innovations": tests,
        "models": fit_models(reduced.scaled, reduced.h, m_eff) if k >= LEAST_TASKS else (),
    }


def _pictures(means: Floats, reduced: Reduced, orders: Ints) -> dict[str, Any]:
    """Return partial autocorrelation (from 4 tasks on) and variogram, with bands from 4 tasks on."""
    curve, pacf = pictures.variogram_of(reduced), None
    if reduced.k >= 4:
        curve = pictures.with_envelope(curve, reduced, orders)
        if (np.ptp(means, axis=0) > 0).any():
            pacf = pictures.with_pacf_band(pictures.partial_autocorrelation(means), means, orders)
    return {"pacf": pacf, "variogram": curve}


def find_returns(distance: Floats, h: Floats, components: float) -> tuple[tuple[tuple[int, int], ...], float]:
    """Find pairs of tasks (from 0) that are alike although one between them is not, most alike first, and their share.

    `distance` (k, k) are squared, minus noise, which has so many effective `components`.

    >>> far = np.array([[0.0, 9.0, 0.0], [9.0, 0.0, 9.0], [0.0, 9.0, 0.0]])
    >>> find_returns(far, np.full(3, 0.1), 10.0)
    (((0, 2),), 0.3333333333333333)
    """
    k = len(h)
    error = math.sqrt(2.0) * (h[:, None] + h[None, :]) / math.sqrt(components)
    found = []
    for i, j in np.argwhere(np.triu(distance <= 2.0 * error, 2)):
        near, se = distance[i, j], error[i, j]
        between = np.minimum(distance[i, i + 1 : j], distance[i + 1 : j, j]).max()
        if between >= max(4.0 * se, 4.0 * near):
            found.append((float(near), int(i), int(j)))
    pairs = tuple((i, j) for _, i, j in sorted(found))
    return pairs, len(pairs) / (k * (k - 1) / 2) if k > 1 else 0.0


def judge(found: Assessment) -> tuple[VerdictName, VerdictName | None, float]:
    """Apply the rules to what was found; return the verdict, a second name or None, and p_change."""
    k, p_same, p_order = found.k, found.p_same, found.p_order
    p_change = min(1.0, 2.0 * (p_same if p_order is None else min(p_same, p_order)))
    if p_change > LEVEL:
        is_small = k >= 3 and found.change is not None and found.change.high <= 1.0
        return ("no_change" if is_small else "too_few"), None, p_change
    if p_order is None or k < LEAST_TASKS:
        return "differ", None, p_change
    if p_order > LEVEL:
        if k < RECURRING_BELOW:
            return ("recurring" if found.returns_share >= RECURRING_SHARE else "differ"), None, p_change
        return "iid", None, p_change
    gaps = {kind: gap for kind, gap in found.gaps.items() if kind in NAMED}
    first, second = sorted(gaps, key=lambda kind: gaps[kind])[:2]
    return first, (second if gaps[second] - gaps[first] < LEAD else None), p_change
