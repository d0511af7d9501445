"""Diagnostics against statsmodels, a Kalman filter, and dense matrices."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from imrc.diagnostics import evidence, partial_autocorrelation
from imrc.diagnostics.by_lag import variogram_of, with_envelope, with_pacf_band
from imrc.diagnostics.evidence import LEADING, centre_twice, draw_orders, log_likelihood, walk_basis
from imrc.diagnostics.models import fit_models
from imrc.diagnostics.samples import given_moments, reduce_moments


@pytest.mark.parametrize(("k", "nlags"), [(60, 4), (12, 5), (200, 10)])
def test_partial_autocorrelation_equals_statsmodels(k, nlags):
    from statsmodels.tsa.stattools import pacf

    generator = np.random.default_rng(0)
    means = np.cumsum(generator.normal(size=(k, 20)), axis=0) + generator.normal(size=(k, 20)) + 100.0
    ours = partial_autocorrelation(means, nlags).values
    theirs = np.stack([pacf(x, nlags=nlags, method="ywm")[1:] for x in means.T], axis=1)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_bands_follow_from_single_orders():
    generator = np.random.default_rng(1)
    means = np.cumsum(generator.normal(size=(14, 8)), axis=0)
    reduced = reduce_moments(given_moments(means, 0.5))
    orders = draw_orders(14, 99, generator)
    banded = with_pacf_band(partial_autocorrelation(means), means, orders)
    singles = np.stack([partial_autocorrelation(means[order]).mean for order in orders])
    np.testing.assert_allclose(banded.low, np.quantile(singles, 0.025, axis=0), atol=1e-12)
    np.testing.assert_allclose(banded.high, np.quantile(singles, 0.975, axis=0), atol=1e-12)
    envelope = with_envelope(variogram_of(reduced), reduced, orders)
    gammas = np.stack([variogram_of(reduce_moments(given_moments(means[order], 0.5))).gamma for order in orders])
    np.testing.assert_allclose(envelope.low, np.quantile(gammas, 0.025, axis=0), rtol=1e-9, atol=1e-9)


def diffuse_kalman(z, h, rho):
    """Diffuse log-likelihood of a local level with noise h_t and step variance rho, without constants."""
    level, variance, total = z[0], h[0], 0.0
    for t in range(1, len(z)):
        variance += rho
        size = variance + h[t]
        error = z[t] - level
        total += -0.5 * (np.log(size) + error**2 / size)
        level += variance / size * error
        variance *= h[t] / size
    return total


@pytest.mark.parametrize("balanced", [True, False])
def test_restricted_likelihood_equals_the_diffuse_kalman_filter(balanced):
    generator = np.random.default_rng(2)
    k, m = 40, 6
    mse = np.ones(k) if balanced else generator.uniform(0.2, 3.0, k)
    means = np.cumsum(0.6 * generator.normal(size=(k, m)), axis=0) + np.sqrt(mse)[:, None] * generator.normal(
        size=(k, m)
    )
    reduced = reduce_moments(given_moments(means, mse[:, None]))
    values, vectors = walk_basis(reduced.h)
    projections = evidence.project(reduced.scaled, vectors)
    rhos = np.array([0.0, 0.05, 0.25, 3.0, 1e3])
    ours = log_likelihood(rhos, values, projections)
    theirs = np.array([np.mean([diffuse_kalman(z, reduced.h, rho) for z in reduced.Z.T]) for rho in rhos])
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("balanced", [True, False])
def test_walk_basis_diagonalises_the_walk(balanced):
    k = 30
    h = np.ones(k) if balanced else np.random.default_rng(3).uniform(0.3, 2.0, k)
    values, vectors = walk_basis(h)
    walk = np.minimum.outer(np.arange(k), np.arange(k)) / np.sqrt(np.outer(h, h))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k - 1), atol=1e-10)
    np.testing.assert_allclose(vectors.T @ h**-0.5, 0.0, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ walk @ vectors, np.diag(values), atol=1e-8 * values.max())


def dense_likelihood(covariance, G, h):
    """Restricted log-likelihood from the definition, contrasts by a QR factorisation."""
    k = len(h)
    contrasts = np.linalg.qr(np.column_stack([h**-0.5, np.eye(k)[:, 1:]]))[0][:, 1:]
    V = contrasts.T @ covariance @ contrasts
    return -0.5 * (np.linalg.slogdet(V)[1] + np.trace(np.linalg.solve(V, contrasts.T @ G @ contrasts)))


def covariance_of(fit, k, h):
    """V = I + terms as the table of models defines them, rows scaled to unit noise."""
    time, p, root = np.arange(k), fit.parameters, np.sqrt(h)
    walk = np.minimum.outer(time, time).astype(float)
    below = np.tril(np.ones((k, k)), -1)
    integrated = below @ below @ below.T @ below.T
    projector = np.eye(k) - np.outer(h**-0.5, h**-0.5) / (1 / h).sum()

    def rows(kernel):
        return kernel / np.outer(root, root)

    def low_rank(columns):
        contrasts = projector @ (columns / root[:, None])
        left, singular, _ = np.linalg.svd(contrasts, full_matrices=False)
        left = left[:, singular > 1e-6 * singular[0]]
        return left @ left.T

    V = np.eye(k)
    if fit.name in ("iid", "rw+iid", "trend", "jump", "jumps", "states", "season"):
        V = V + p["a"] * np.eye(k)
    if fit.name in ("rw", "rw+iid", "drift", "rw+season"):
        V = V + p["ratio"] * rows(walk)
    if fit.name == "smooth":
        V = V + p["ratio"] * rows(integrated)
    if fit.name in ("ar", "ar+season"):
        V = V + p["a"] * rows(p["phi"] ** np.abs(np.subtract.outer(time, time)))
    if fit.name in ("drift", "trend", "smooth"):
        V = V + p["b"] * low_rank(time[:, None].astype(float))
    if fit.starts:
        piece = (time[:, None] >= np.array(fit.starts)).sum(axis=1)
        state = np.array(fit.states)[piece] if fit.states else piece
        V = V + p["b"] * low_rank((state[:, None] == np.unique(state)).astype(float))
    if "season" in fit.name:
        angle = 2 * np.pi * p["f"] * time
        V = V + p["b"] * low_rank(np.column_stack([np.cos(angle), np.sin(angle)]))
    return V


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("kind", ["walk", "season", "line"])
def test_every_model_has_the_likelihood_of_its_covariance(kind, balanced):
    generator = np.random.default_rng(4)
    k, m = 24, 9
    mse = np.ones(k) if balanced else generator.uniform(0.3, 2.0, k)
    means = np.sqrt(mse)[:, None] * generator.normal(size=(k, m))
    if kind == "walk":
        means += np.cumsum(0.5 * generator.normal(size=(k, m)), axis=0)
    elif kind == "season":
        means += 2 * np.cos(np.pi * np.arange(k)[:, None] / 3 + generator.uniform(0, 6, m))
    else:
        means += 0.3 * np.arange(k)[:, None] * generator.choice([-1, 1], m)
    reduced = reduce_moments(given_moments(means, mse[:, None]))
    fits = fit_models(reduced.scaled, reduced.h, 5.0)
    assert len(fits) == 13
    jumps = {fit.group: math.comb(k - 1, len(fit.starts)) for fit in fits if fit.starts}
    # Two levels in turn: once the division is chosen, there is one way.
    candidates = {"season": k // 2, "rw+season": k // 2, "ar+season": k // 2}
    candidates |= {"jump": jumps["jump"], "jumps": jumps["jump"], "states": jumps["recurring"]}
    numbers = {"identical": 0, "iid": 1, "rw": 1, "rw+season": 3, "ar+season": 4}
    for fit in fits:
        dense = dense_likelihood(covariance_of(fit, k, reduced.h), reduced.scaled, reduced.h)
        assert fit.likelihood == pytest.approx(dense, rel=1e-9, abs=1e-9), fit.name
        penalty = numbers.get(fit.name, 2) * np.log((k - 1) * 5.0) + 2 * np.log(candidates.get(fit.name, 1))
        assert fit.bic == pytest.approx(-2 * 5.0 * dense + penalty, rel=1e-9, abs=1e-8), fit.name


def test_closed_form_models_are_at_their_maximum():
    from scipy.optimize import minimize

    generator = np.random.default_rng(5)
    k = 20
    means = generator.normal(size=(k, 5)) * 1.5 + 0.2 * np.arange(k)[:, None]
    reduced = reduce_moments(given_moments(means, 1.0))
    for fit in fit_models(reduced.scaled, reduced.h, 5.0):
        if fit.name not in ("iid", "trend", "jump", "season"):
            continue
        names = [name for name in ("a", "b") if name in fit.parameters]

        def loss(x, fit=fit, names=names):
            parameters = {**fit.parameters, **dict(zip(names, np.exp(x), strict=True))}
            changed = replace(fit, parameters=parameters)
            return -dense_likelihood(covariance_of(changed, k, reduced.h), reduced.scaled, reduced.h)

        start = np.log([max(fit.parameters[name], 1e-3) for name in names])
        assert fit.likelihood >= -minimize(loss, start, method="Nelder-Mead").fun - 1e-7, fit.name


@pytest.mark.parametrize("balanced", [True, False])
def test_no_division_into_pieces_explains_more(balanced):
    """All divisions and all ways to share levels, one by one, for a sequence short enough."""
    generator = np.random.default_rng(8)
    k, m = 12, 6
    mse = np.ones(k) if balanced else generator.uniform(0.3, 2.0, k)
    level = np.repeat([0, 1, 0, 1], [3, 2, 4, 3])
    means = 1.5 * generator.normal(size=(2, m))[level] + np.sqrt(mse)[:, None] * generator.normal(size=(k, m))
    reduced = reduce_moments(given_moments(means, mse[:, None]))
    fits = {fit.group: fit for fit in fit_models(reduced.scaled, reduced.h, 5.0)}
    best = {"jump": np.inf, "recurring": np.inf}
    for count in (2, 3, 4):
        for starts in itertools.combinations(range(1, k), count - 1):
            ways = [(0, 1, 0, 1)] if count == 4 else []
            for states in ((), *ways):
                group = "recurring" if states else "jump"
                name = "states" if states else "jump" if count == 2 else "jumps"
                penalty = 2 * np.log((k - 1) * 5.0) + 2 * np.log(math.comb(k - 1, count - 1))
                rank = 1 if states else count - 1
                fit = type(fits[group])(name, group, 0.0, 0.0, {"a": 0.0, "b": 1.0}, starts, states)
                projector = covariance_of(fit, k, reduced.h) - np.eye(k)
                energy, total = np.trace(projector @ reduced.scaled), trace_in_contrasts(reduced.scaled, reduced.h)
                noise = max((total - energy) / (k - 1 - rank), 1.0) if name == "jump" else 1.0
                top = max(energy / rank, noise)
                value = -0.5 * ((k - 1 - rank) * np.log(noise) + (total - energy) / noise)
                value -= 0.5 * (rank * np.log(top) + energy / top)
                best[group] = min(best[group], penalty - 10.0 * value)
    assert {group: fits[group].bic for group in best} == pytest.approx(best, rel=1e-9)
    assert fits["recurring"].starts == (3, 5, 9)


def trace_in_contrasts(G, h):
    constant = h**-0.5 / np.linalg.norm(h**-0.5)
    return float(np.trace(G) - constant @ G @ constant)


@pytest.mark.parametrize("balanced", [True, False])
def test_innovations_equal_the_dense_cholesky_filter(balanced):
    generator = np.random.default_rng(6)
    k, m, rho = 15, 7, 0.4
    mse = np.ones(k) if balanced else generator.uniform(0.3, 2.0, k)
    reduced = reduce_moments(given_moments(generator.normal(size=(k, m)), mse[:, None]))
    difference = np.diff(np.eye(k), axis=0)
    S = difference @ np.diag(reduced.h) @ difference.T + rho * np.eye(k - 1)
    E = np.linalg.solve(np.linalg.cholesky(S), difference @ reduced.Z)
    np.testing.assert_allclose(evidence.innovation_products(reduced, rho), E @ E.T / m, rtol=1e-9, atol=1e-10)


def test_periodogram_from_leading_columns_when_they_are_all():
    generator = np.random.default_rng(7)
    k = 30
    factor = generator.normal(size=(k, LEADING - 2))
    G = centre_twice(factor @ factor.T)
    orders = draw_orders(k, 50, generator)
    exact = evidence._peaks_exact(G, orders, np.trace(G))
    np.testing.assert_allclose(evidence._peaks_leading(G, orders, np.trace(G)), exact, rtol=1e-9)
