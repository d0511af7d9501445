"""Diagnosis of a sequence, from data to verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import InputError, check_int, check_real
from imrc._types import Floats
from imrc.diagnostics._change import ChangeEstimate, change_estimate, estimate_change
from imrc.diagnostics._identical import SHUFFLES, WORK_LIMIT, SameMethod, approximate_p_value, exact_p_value
from imrc.diagnostics._innovations import Innovations, innovations
from imrc.diagnostics._models import Group, ModelFit, fit_models, group_gaps
from imrc.diagnostics._order import (
    ENUMERATED,
    LEAST_TASKS,
    OrderTests,
    centre_twice,
    combine_order_tests,
    draw_orders,
    order_statistics,
)
from imrc.diagnostics._pictures import (
    PartialAutocorrelation,
    Variogram,
    partial_autocorrelation,
    variogram_of,
    with_envelope,
    with_pacf_band,
)
from imrc.diagnostics._reading import Reading, noise_components, read_sequence
from imrc.diagnostics._reduction import (
    Moments,
    Reduced,
    given_moments,
    reduce_moments,
    resolve_transform,
)
from imrc.diagnostics._verdict import (
    RETURNS_UP_TO,
    Verdict,
    VerdictName,
    decide,
    find_returns,
    not_judged,
    word_verdict,
)
from imrc.tasks import TaskSequence
from imrc.wording import plain

MANY_TASKS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment:
    """Verdict on the assumption of evolving tasks, with its evidence.

    Everything is in units of the sampling noise of one average over ``n`` samples; `ratio_at` converts.
    """

    verdict: Verdict
    """What the evidence says, in words."""
    name: str
    """Name of the sequence."""
    representation: str
    """Name of the feature map."""
    labels: tuple[str, ...]
    """Names of the tasks."""
    k: int
    """Number of tasks."""
    m: int
    """Number of components used."""
    dropped: int
    """Components dropped because they do not vary."""
    n: float | None
    """Samples per average (harmonic mean over tasks); None if only means were given."""
    is_bounded: bool
    """Whether all features lie in [-1, 1]."""
    m_noise: float | None = None
    """Effective number of independent components of the sampling noise; None if only means were given."""
    m_eff: float = 1.0
    """Effective number of independent components used in likelihoods."""
    q: float = math.nan
    """Variance between tasks over its value for identical tasks, expected 1 if nothing changes."""
    p_same: float = 1.0
    """p-value of "all tasks share one distribution"."""
    same_method: SameMethod = "chi-squared approximation"
    """How p_same was computed."""
    p_change: float = 1.0
    """Twice the smaller of p_same and p_order: the p-value of "nothing changes"."""
    order: OrderTests | None = None
    """Tests of the order; None below 5 tasks."""
    pacf: PartialAutocorrelation | None = None
    """Partial autocorrelation with its band; None below 4 tasks."""
    variogram: Variogram | None = None
    """Noise-corrected variogram with its envelope."""
    distance: Floats
    """Noise-corrected squared distances, shape (k, k)."""
    returns: tuple[tuple[int, int], ...] = ()
    """Pairs of tasks (from 0) that are alike although a task between them is not; not searched above 60
    tasks."""
    returns_share: float = 0.0
    """Their share of all pairs."""
    change: ChangeEstimate | None = None
    """n rho = n d^2 / sigma^2 with its interval; rho = d^2 / sigma^2 is the rate of change."""
    innovations: Innovations | None = None
    """Tests on the changes; None below 5 tasks."""
    models: tuple[ModelFit, ...] = ()
    """Competing models, best first; empty below 5 tasks."""
    moments: Moments
    """Sample averages and their mean squared errors, all components."""

    @property
    def gaps(self) -> dict[Group, float]:
        """BIC of the best model of each group minus that of the best overall."""
        return group_gaps(self.models)

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
            If nothing could be estimated, or `n` is given although only means are known.
        """
        if self.change is None:
            raise InputError("Too few tasks or components to estimate the size of the change.")
        factor = 1.0
        if n is not None:
            if self.n is None:
                raise ValueError("The number of samples behind the given means is not known; leave n out.")
            factor = check_real("n", n, 0.0, low_open=True) / self.n
        return self.change.ratio * factor, self.change.low * factor, self.change.high * factor

    def summary(self, n: float | None = None) -> dict[str, Any]:
        """Return verdict and main numbers as plain types that JSON can hold (infinite or missing: None).

        Parameters
        ----------
        n : float or None
            Convert n rho = n d^2 / sigma^2 to this number of samples per task.
        """
        out: dict[str, Any] = {
            "sequence": self.name,
            "representation": self.representation,
            "tasks": self.k,
            "components": self.m,
            "components_dropped": self.dropped,
            "samples_per_task": self.n,
            "verdict": self.verdict.name,
            "second": self.verdict.second,
            "title": self.verdict.title,
            "sentence": self.verdict.sentence,
            "notes": list(self.verdict.notes),
            "assumption": self.verdict.assumption,
            "Q": self.q,
            "p_same": self.p_same,
            "p_same_method": self.same_method,
            "p_order": self.p_order,
            "p_change": self.p_change,
            "order_statistics": self.order.statistics if self.order else {},
            "order_p_values": self.order.p_values if self.order else {},
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
        if self.innovations is not None:
            tests = self.innovations
            out["changes"] = self.verdict.changes_text
            out |= {"z_mean": tests.z_mean, "z_lags": {str(t): z for t, z in tests.z_lags.items()}}
        out["bic_behind_best"] = {str(group): gap for group, gap in self.gaps.items()}
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
    """Judge whether tasks evolve: changes between consecutive tasks independent and zero-mean.

    Parameters
    ----------
    data : TaskSequence or array-like of shape (k, m)
        The tasks, all samples of which are used, or sample averages of their mean vectors.
    mse : array-like, broadcastable to (k, m)
        Mean squared errors of given averages; required with averages, not allowed with a sequence.
    features : None, str, FeatureSpec, object with ``transform(X)``, or function X (n, d) -> (n, D)
        Representation of the instances of a sequence; by default that of `imrc.evaluate` and of the command. None:
        standardised inputs, one scale for all tasks. The verdict can depend on it.
    representation : str or None
        Name of the representation for the result.
    permutations : int or None
        Random orders compared, 99 to 9999. None: 999 (499 above 1000 tasks). Up to 7 tasks all orders are
        used.
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
            raise ValueError("mse is for given means only; a sequence provides its own.")
        transform, told = resolve_transform(features, data, seed)
        reading = read_sequence(data, transform, streams[0], WORK_LIMIT / SHUFFLES)
        moments, name, labels = reading.moments, data.name, data.labels
    else:
        if mse is None:
            raise ValueError("Given means need mse, their mean squared errors (s = sigma^2 / n).")
        moments, told, name = given_moments(data, mse), "given means", "given means"
        labels = tuple(str(j + 1) for j in range(len(moments.tau)))
    k = len(moments.tau)
    drawn = (499 if k > MANY_TASKS else 999) if permutations is None else permutations
    drawn = check_int("permutations", drawn, 99, 9999)
    head: dict[str, Any] = {
        "name": name,
        "representation": representation or told,
        "labels": labels,
        "k": k,
        "moments": moments,
        "is_bounded": reading is not None and reading.is_bounded,
    }
    reduced = reduce_moments(moments)
    head |= {"m": reduced.m, "dropped": int((~reduced.kept).sum()), "n": reduced.n_ref}
    if k < 2 or reduced.m == 0:
        # A single task, or no component that varies.
        return Assessment(verdict=word_verdict("too_few", None, k=k), distance=np.zeros((k, k)), **head)
    m_noise = None
    p_same: float | None = None
    if reading is not None and isinstance(data, TaskSequence):
        m_noise = noise_components(reading, reduced)
        if reading.rows is not None:
            classes = [data.encoded(j) for j in range(k)]
            p_same = exact_p_value(reading.rows, classes, data.n_classes, streams[1])
    result = _judge(head, reduced, m_noise, p_same, drawn, streams[2])
    if reading is None:
        return result
    verdict, of_rows = result.verdict, reading.of_rows
    added = of_rows.notes(is_change_seen=verdict.name not in ("no_change", "too_few"))
    if of_rows.are_dependent:
        verdict = not_judged(verdict)
    return replace(result, verdict=replace(verdict, notes=(*verdict.notes, *added)))


def _judge(
    head: dict[str, Any],
    reduced: Reduced,
    m_noise: float | None,
    p_same: float | None,
    permutations: int,
    generator: np.random.Generator,
) -> Assessment:
    """Collect the evidence on a reduced sequence and decide."""
    orders = draw_orders(reduced.k, permutations, generator) if reduced.k >= 4 else np.arange(reduced.k)[None]
    found = gather(reduced, m_noise, p_same, orders)
    pacf, curve = _pictures(head["moments"].tau[:, reduced.kept], reduced, orders)
    verdict = word_verdict(
        found.name,
        found.second,
        k=reduced.k,
        change=found.change,
        pairs=found.returns,
        share=found.returns_share,
        fits=found.models,
        tests=found.innovations,
        is_bounded=head["is_bounded"],
        n=head["n"],
    )
    evidence = {name: value for name, value in vars(found).items() if name not in ("name", "second")}
    return Assessment(
        verdict=verdict,
        m_noise=m_noise,
        m_eff=found.change.m_eff,
        q=reduced.statistic,
        pacf=pacf,
        variogram=curve,
        distance=reduced.distance,
        **evidence,
        **head,
    )


@dataclass(frozen=True, eq=False)
class Evidence:
    """What decides about a verdict, and which one it is; all but the names are attributes of `Assessment`."""

    name: VerdictName
    second: VerdictName | None
    p_same: float
    same_method: SameMethod
    p_change: float
    order: OrderTests | None
    returns: tuple[tuple[int, int], ...]
    returns_share: float
    change: ChangeEstimate
    innovations: Innovations | None
    models: tuple[ModelFit, ...]


def gather(reduced: Reduced, m_noise: float | None, p_same: float | None, orders: NDArray[np.int64]) -> Evidence:
    """Collect the evidence on a reduced sequence, with these random orders of its tasks, and decide."""
    k = reduced.k
    ratio, values, projections = estimate_change(reduced)
    tests = innovations(reduced, ratio) if k >= LEAST_TASKS else None
    m_eff = tests.m_eff if tests else (m_noise or 1.0)
    change = change_estimate(ratio, values, projections, m_eff)
    method: SameMethod = "permutation of samples"
    if p_same is None:
        p_same, method = approximate_p_value(reduced, m_noise, m_eff)
    # Among many tasks chance pairs abound; they are neither used nor shown there.
    searched = k <= RETURNS_UP_TO
    pairs, share = find_returns(reduced.distance, reduced.h, m_noise or m_eff) if searched else ((), 0.0)
    order: OrderTests | None = None
    models: tuple[ModelFit, ...] = ()
    if k >= LEAST_TASKS:
        factor = reduced.Z / np.sqrt(reduced.m) if reduced.is_balanced else None
        statistics = order_statistics(centre_twice(reduced.scaled), orders, factor)
        order = combine_order_tests(statistics, k <= ENUMERATED)
        models = fit_models(reduced.scaled, reduced.h, m_eff)
    name, second, p_change = decide(k, p_same, order.p_order if order else None, change, share, models)
    return Evidence(name, second, p_same, method, p_change, order, pairs, share, change, tests, models)


def _pictures(
    means: Floats, reduced: Reduced, orders: NDArray[np.int64]
) -> tuple[PartialAutocorrelation | None, Variogram]:
    """Partial autocorrelation (from 4 tasks on) and variogram, with bands from 4 tasks on."""
    curve = variogram_of(reduced)
    if reduced.k < 4:
        return None, curve
    pacf = None
    if (np.ptp(means, axis=0) > 0).any():
        pacf = with_pacf_band(partial_autocorrelation(means), means, orders)
    return pacf, with_envelope(curve, reduced, orders)
