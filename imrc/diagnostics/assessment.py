"""Diagnosis of a sequence, from data to verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from imrc._checks import InputError, InputTypeError, check_int, check_real
from imrc._types import Floats, Ints
from imrc.core.recursions import smooth, track_forward
from imrc.diagnostics import by_lag, evidence, samples, words
from imrc.diagnostics.by_lag import PartialAutocorrelation, Variogram
from imrc.diagnostics.evidence import LEAST_TASKS, ChangeEstimate, Innovations, OrderTests, SameMethod
from imrc.diagnostics.models import ChangeKind, ModelFit, fit_models
from imrc.diagnostics.samples import Moments, Reading, Reduced
from imrc.diagnostics.words import LEVEL, Verdict, VerdictName
from imrc.tasks import TaskSequence, how_to_make_tasks
from imrc.wording import number, plain

NAMED: tuple[ChangeKind, ...] = ("evolving", "mean_reverting", "trend", "jump", "periodic", "recurring")
"""Kinds of change that a verdict names if the order of the tasks matters."""
_MANY_TASKS = 1000


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Assessment:
    """Verdict on the assumption of evolving tasks, with its evidence.

    Everything is in units of the sampling noise of one average over ``n`` samples; `ratio_at` converts.
    """

    verdict: Verdict  #: Conclusion in words.
    name: str  #: Name of the sequence.
    representation: str  #: Name of the feature map.
    labels: tuple[str, ...]  #: Names of the tasks.
    k: int  #: Number of tasks.
    m: int  #: Number of components used.
    dropped: int  #: Components dropped because they do not vary.
    n: float | None  #: Samples per average (harmonic mean over tasks); None if only means were given.
    is_bounded: bool  #: Whether all features lie in [-1, 1].
    m_noise: float | None = None  #: Effective number of independent components of the noise of samples.
    m_eff: float = 1.0  #: Effective number of independent components used in likelihoods.
    q: float = math.nan  #: Variance between tasks over its expectation for identical tasks.
    p_same: float = 1.0  #: p-value of "all tasks share one distribution".
    same_method: SameMethod = "chi-squared approximation"  #: How p_same was computed.
    p_change: float = 1.0  #: Twice the smaller of p_same and p_order: the p-value of "nothing changes".
    order: OrderTests | None = None  #: Tests of the order; None below 5 tasks.
    pacf: PartialAutocorrelation | None = None  #: Partial autocorrelation with its band; None below 4 tasks.
    variogram: Variogram | None = None  #: Noise-corrected variogram with its envelope.
    distance: Floats  #: Noise-corrected squared distances, shape (k, k).
    returns: tuple[tuple[int, int], ...] = ()  #: Similar tasks (from 0) with another between; none above 60 tasks.
    returns_share: float = 0.0  #: Their share of all pairs.
    change: ChangeEstimate | None = None  #: n rho = n d^2 / sigma^2 with its interval, rho the rate of change.
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
        best = {fit.group: fit.bic for fit in reversed(self.models)}
        return {fit.group: best[fit.group] - self.models[0].bic for fit in self.models}

    @property
    def p_order(self) -> float | None:
        """Combined p-value of the order tests."""
        return None if self.order is None else self.order.p_order

    def ratio_at(self, n: float | None = None) -> tuple[float, float, float]:
        """Return n rho = n d^2 / sigma^2 and its 95 % interval for averages over `n` samples (default: as diagnosed).

        The rate of change rho = d^2 / sigma^2 is the ratio at n = 1.
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
        """Return verdict and main numbers, with n rho for `n` samples, as JSON types; infinite numbers become None."""
        verdict, order, curve = self.verdict, self.order, self.variogram
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
            out |= {"n": n if n is not None else self.n, "LR_no_change": self.change.lr}
        if self.pacf is not None:
            out |= {"pacf_mean": self.pacf.mean.tolist(), "pacf_std": self.pacf.std.tolist()}
        if curve is not None:
            out |= {"gamma": curve.gamma.tolist(), "growth_exponent": curve.exponent}
        if (tests := self.innovations) is not None:
            out |= {"changes": verdict.changes_text, "z_mean": tests.z_mean, "z_lags": tests.z_lags}
        out |= {"bic_behind_best": self.gaps, "returns": [[i + 1, j + 1] for i, j in self.returns[:20]]}
        return {name: plain(value) for name, value in out.items()}


def assess(
    data: TaskSequence | ArrayLike,
    mse: ArrayLike | None = None,
    *,
    features: object = "automatic",
    permutations: int | None = None,
    seed: int = 0,
) -> Assessment:
    """Return whether tasks evolve: whether changes between consecutive tasks are independent and zero-mean.

    Parameters
    ----------
    data : TaskSequence or array-like of shape (k, m)
        The tasks with all their samples, or sample averages of their mean vectors.
    mse : array-like, broadcastable to (k, m)
        Mean squared errors of given averages; required with averages, not allowed with a sequence.
    features : None, str, FeatureSpec, object with ``transform(X)``, or function X (n, d) -> (n, D)
        Representation of the instances of a sequence, on which the verdict can depend. With None, inputs are
        standardised with one scale for all tasks.
    permutations : int or None
        Number of random orders to compare, 99 to 9999. The default is 999 (499 above 1000 tasks). With up to 7 tasks,
        all orders are used.
    seed : int
        Seed of all random draws.

    Raises
    ------
    ValueError
        If shapes do not match or a value is missing.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> walk = np.cumsum(generator.standard_normal((40, 30)), axis=0)
    >>> assess(walk + generator.standard_normal((40, 30)), 1.0).verdict.title
    'evolving'
    """
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(check_int("seed", seed, 0)).spawn(3)]
    if isinstance(data, TaskSequence):
        if mse is not None:
            raise ValueError("Give mse only with means; a sequence provides its own.")
        transform, representation = samples.resolve_transform(features, data, seed)
        reading = samples.read_sequence(data, transform, streams[0], evidence.WORK_LIMIT / evidence.SHUFFLES)
        name, labels = data.name, data.labels
    else:
        if mse is None:
            what = "If you give means, also give mse, their mean squared errors (s = sigma^2 / n). "
            what = what if isinstance(data, np.ndarray) else "imrc.diagnostics.assess needs a TaskSequence. "
            raise InputTypeError(what + how_to_make_tasks(data))
        means = samples.given_moments(data, mse)
        reading, name, representation = Reading(means, samples.reduce_moments(means)), "given means", "given means"
        labels = tuple(str(j + 1) for j in range(len(means.tau)))
    moments, reduced = reading.moments, reading.reduced
    k = len(moments.tau)
    drawn = (499 if k > _MANY_TASKS else 999) if permutations is None else permutations
    drawn = check_int("permutations", drawn, 99, 9999)
    found = Assessment(
        verdict=Verdict("too_few", None, "", "", ()),
        name=name,
        representation=representation,
        labels=labels,
        k=k,
        m=reduced.m,
        dropped=int((~reduced.kept).sum()),
        n=reduced.n_ref,
        is_bounded=reading.is_bounded,
        distance=np.zeros((k, k)),
        moments=moments,
    )
    if k < 2 or reduced.m == 0:
        # A single task, or no component that varies.
        return replace(found, verdict=words.word_verdict("too_few", None, found))
    p_same = None if reading.rows is None else evidence.exact_p_value(reading.rows, streams[1])
    orders = evidence.draw_orders(k, drawn, streams[2]) if k >= 4 else np.arange(k)[None]
    found = replace(found, **_evidence(moments.tau[:, reduced.kept], reduced, reading.m_noise, p_same, orders))
    first, second, p_change = judge(found)
    verdict = words.word_verdict(first, second, found)
    added = reading.of_rows.notes(is_change_seen=first not in ("no_change", "too_few"))
    verdict = words.not_judged(verdict) if reading.of_rows.dependence else verdict
    return replace(found, verdict=replace(verdict, notes=(*verdict.notes, *added)), p_change=p_change)


def _evidence(
    means: Floats, reduced: Reduced, m_noise: float | None, p_same: float | None, orders: Ints
) -> dict[str, Any]:
    """Return the evidence by attribute of `Assessment`."""
    distance, method = reduced.distance, "permutation of samples"
    values, vectors = evidence.walk_basis(reduced.h)
    likelihood = evidence.log_likelihood(evidence.RATIOS, values, evidence.project(reduced.scaled, vectors))
    found: dict[str, Any] = {"m_noise": m_noise, "m_eff": m_noise or 1.0, "q": reduced.statistic, "distance": distance}
    if reduced.k >= LEAST_TASKS:
        tests = evidence.innovations(reduced, float(evidence.RATIOS[np.argmax(likelihood)]))
        found |= {"innovations": tests, "m_eff": tests.m_eff, "order": evidence.order_tests(reduced, orders)}
        found["models"] = fit_models(reduced.scaled, reduced.h, tests.m_eff)
    m_eff, curve = found["m_eff"], by_lag.variogram_of(reduced)
    if p_same is None:
        p_same, method = evidence.approximate_p_value(reduced, m_noise, m_eff)
    pairs, share = by_lag.find_returns(distance, reduced.h, m_noise or m_eff)
    if reduced.k >= 4:
        curve = by_lag.with_envelope(curve, reduced, orders)
        if (np.ptp(means, axis=0) > 0).any():
            found["pacf"] = by_lag.with_pacf_band(by_lag.partial_autocorrelation(means), means, orders)
    found |= {"p_same": p_same, "same_method": method, "returns": pairs, "returns_share": share, "variogram": curve}
    return found | {"change": evidence.change_estimate(likelihood, m_eff)}


def judge(found: Assessment) -> tuple[VerdictName, VerdictName | None, float]:
    """Apply the rules to the evidence. Return the verdict, a second one or None, and p_change."""
    k, p_same, p_order = found.k, found.p_same, found.p_order
    p_change = min(1.0, 2.0 * (p_same if p_order is None else min(p_same, p_order)))
    if p_change > LEVEL:
        is_small = k >= 3 and found.change is not None and found.change.high <= 1.0
        return ("no_change" if is_small else "too_few"), None, p_change
    if p_order is None or k < LEAST_TASKS:
        return "differ", None, p_change
    if p_order > LEVEL:
        if k < words.RECURRING_BELOW:
            return ("recurring" if found.returns_share >= words.RECURRING_SHARE else "differ"), None, p_change
        return "iid", None, p_change
    gaps = {kind: gap for kind, gap in found.gaps.items() if kind in NAMED}
    first, second = sorted(gaps, key=lambda kind: gaps[kind])[:2]
    return first, (second if gaps[second] - gaps[first] < words.LEAD else None), p_change


def component_tracks(result: Assessment, component: int) -> pd.DataFrame:
    """Return the averages of a component (class times D + 1, plus feature) with forward and smoothed estimates.

    Columns task (from 1), label, mean, mean_se, forward, forward_se, smooth, smooth_se; variances are pooled.
    """
    component = check_int("component", component, 0, result.moments.tau.shape[1] - 1)
    tau = result.moments.tau[:, component : component + 1]
    n, variance = result.moments.n, result.moments.pooled_variance()[component]
    s = np.full_like(tau, variance) if n is None else (variance / n)[:, None]
    ratio = result.change.ratio if result.change is not None else 0.0
    d = np.full_like(s, ratio * s.mean())
    forward, s_fwd = track_forward(tau, s, d)
    smoothed, s_smooth = smooth(forward, s_fwd, d)
    table = pd.DataFrame({"task": np.arange(1, result.k + 1), "label": list(result.labels)})
    parts = {"mean": (tau, s), "forward": (forward, s_fwd), "smooth": (smoothed, np.maximum(s_smooth, 0.0))}
    for name, (values, mse) in parts.items():
        table[name], table[f"{name}_se"] = values[:, 0], np.sqrt(mse)[:, 0]
    return table


def step_changes(result: Assessment) -> pd.DataFrame:
    """Return the noise-corrected squared distance of neighbours: task (from 1, where the step leads), label, change.

    And noise_se (if nothing changed), low and high (95 % of single steps of a random walk with the estimated ratio).
    """
    change = np.diagonal(result.distance, 1)
    n = result.moments.n
    h = np.ones(result.k) if n is None or result.n is None else result.n / n  # noise variances, mean 1
    components = result.m_noise or result.m_eff
    noise = h[:-1] + h[1:]
    se = np.sqrt(2.0) * noise / np.sqrt(components)
    low = high = np.full(len(change), np.nan)
    if result.change is not None:
        from scipy.special import chdtri

        # Under the walk, a squared distance is a mean of m_eff squares of normal numbers, minus its noise.
        degrees = result.m_eff
        low, high = ((result.change.ratio + noise) * chdtri(degrees, p) / degrees - noise for p in (0.975, 0.025))
    steps = {"task": np.arange(2, result.k + 1), "label": list(result.labels[1:]), "change": change}
    return pd.DataFrame({**steps, "noise_se": se, "low": low, "high": high})


def recent_ratio(result: Assessment, window: int, n: float) -> float:
    """Return n d^2 / sigma^2 of the last `window` changes, eq. (7) less noise (maybe negative; NaN with one task)."""
    changes = np.diagonal(result.distance, 1)[-window:]
    return float(changes.mean()) * n / (result.n or n) if len(changes) else float("nan")


def lag_rows(result: Assessment) -> pd.DataFrame:
    """Return the evidence by lag: sequence, lag, gamma, pairs, pacf, pacf_std, and its band pacf_low and pacf_high."""
    curve, pacf = result.variogram, result.pacf
    if curve is None:
        return pd.DataFrame()
    table = pd.DataFrame({"sequence": result.name, "lag": curve.lags, "gamma": curve.gamma, "pairs": curve.pairs})
    for name, part in {"pacf": "mean", "pacf_std": "std", "pacf_low": "low", "pacf_high": "high"}.items():
        table[name] = pd.Series(getattr(pacf, part, None), dtype=np.float64)
    return table


def most_changing(result: Assessment) -> int:
    """Return the component whose averages vary most between tasks, relative to their noise."""
    tau, s = result.moments.tau, result.moments.s.mean(axis=0)
    usable = s > 1e-10 * max(float(s.max()), 1e-300)
    ratio = np.where(usable, tau.var(axis=0) / np.where(usable, s, 1.0), -1.0)
    return int(np.argmax(ratio))
