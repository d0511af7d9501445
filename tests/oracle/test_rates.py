"""One rate of change: the same numbers as the component-wise recursions with d^2 = rho P, and as direct weighting."""

import numpy as np
import pytest

from imrc.core.rates import PRIOR_MEDIAN, RateFilter, smoothed_variance
from imrc.core.recursions import track_forward
from imrc.core.theory import ess_recursion
from tests.whole_sequences import track_forward_backward


def fed(rates, averages, samples, reach=20, keep=40, variance=None):
    tracker = RateFilter(reach, keep, rates)
    for average, n in zip(averages, samples, strict=True):
        tracker.update(average, np.ones(averages.shape[1]) if variance is None else variance, n)
    return tracker


@pytest.mark.parametrize("rho", [0.01, 0.3, 2.0])
def test_equals_the_component_recursions_with_common_variances(rng, rho):
    averages, samples = rng.normal(size=(9, 4)), rng.integers(5, 40, size=9)
    variance = rng.uniform(0.5, 2.0, size=4)
    tracker = fed((rho,), averages, samples, variance=variance)
    s, d = variance / samples[:, None], np.tile(rho * variance, (9, 1))
    tau_fwd, s_fwd = track_forward(averages, s, d)
    tau_fb, s_fb = track_forward_backward(averages, s, d)
    np.testing.assert_allclose(tracker.forward().mean, tau_fwd[-1], rtol=1e-12)
    np.testing.assert_allclose(tracker.forward().a * variance, s_fwd[-1], rtol=1e-12)
    for back, estimate in enumerate(tracker.revised(), start=1):
        np.testing.assert_allclose(estimate.mean, tau_fb[-1 - back], rtol=1e-12)
        np.testing.assert_allclose(estimate.a * variance, s_fb[-1 - back], rtol=1e-12)


def test_weights_rebuild_the_means_and_sum_to_one(rng):
    averages, samples = rng.normal(size=(12, 3)), rng.integers(5, 40, size=12)
    tracker = fed((0.05,), averages, samples)
    for estimate in (tracker.forward(), *tracker.revised()):
        assert estimate.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (estimate.weights >= 0).all()
        np.testing.assert_allclose(estimate.weights @ averages, estimate.mean, rtol=1e-12)


def test_dropped_weights_belong_to_the_oldest_tasks(rng):
    averages = rng.normal(size=(12, 3))
    short, long = fed((0.05,), averages, [10] * 12, reach=2, keep=5), fed((0.05,), averages, [10] * 12, reach=2)
    np.testing.assert_allclose(short.forward().weights, long.forward().weights[-5:], rtol=1e-12)
    for one, other in zip(short.revised(), long.revised(), strict=True):
        np.testing.assert_allclose(one.weights, other.weights[-5:], rtol=1e-12)
        np.testing.assert_array_equal(one.mean, other.mean)


def test_effective_sample_sizes_are_those_of_the_theorems(rng):
    tracker = fed((0.02,), rng.normal(size=(15, 2)), [10] * 15)
    forward, _, both = ess_recursion(np.full(15, 10.0), 1.0, 0.02)
    assert 1 / tracker.forward().a == pytest.approx(forward[-1], rel=1e-12)
    ours = [1 / estimate.a for estimate in tracker.revised()]
    np.testing.assert_allclose(ours, both[-2::-1], rtol=1e-12)


def test_likelihood_finds_the_rate():
    generator = np.random.default_rng(3)
    grid = (0.01, 0.03, 0.1, 0.3, 1.0)
    for rho in grid:
        means = np.cumsum(np.sqrt(rho) * generator.normal(size=(200, 60)), axis=0)
        averages = means + generator.normal(size=(200, 60)) / np.sqrt(10)
        tracker = RateFilter(3, 10, grid)
        for average in averages:
            tracker.update(average, np.ones(60), 10)
        assert tracker.rate == rho


def test_prior_decides_at_first(rng):
    tracker = fed((0.01, 0.1, 1.0), rng.normal(size=(1, 5)), [10])
    assert tracker.rate == PRIOR_MEDIAN


def test_variance_of_an_absent_class_stays_positive(rng):
    X1 = np.column_stack([np.ones(10), rng.normal(size=(10, 2))])
    variance = smoothed_variance(X1, np.zeros(10, dtype=np.int64), 3)
    assert (variance > 0).all()


def test_variance_tends_to_the_sample_variance(rng):
    X1 = np.column_stack([np.ones(50_000), rng.normal(size=(50_000, 2))])
    y = rng.integers(2, size=50_000)
    phi = np.concatenate([X1 * (y == c)[:, None] for c in (0, 1)], axis=1)
    np.testing.assert_allclose(smoothed_variance(X1, y, 2), phi.var(axis=0), rtol=1e-3)


def test_pooled_variance_is_the_mean_over_tasks(rng):
    tracker = RateFilter(1, 2, (0.1,))
    variances = rng.uniform(1, 2, size=(7, 3))
    for variance in variances:
        tracker.update(np.zeros(3), variance, 5)
    np.testing.assert_allclose(tracker.variance, variances.mean(axis=0), rtol=1e-12)


def test_estimates_cover_the_truth():
    # Known variances, a random walk with a rate from the grid: tau ± 2 sqrt(s) covers about 95 %.
    generator, covered, total = np.random.default_rng(8), np.zeros(2), 0
    for _ in range(40):
        means = np.cumsum(np.sqrt(0.1) * generator.normal(size=(25, 12)), axis=0)
        averages = means + generator.normal(size=(25, 12)) / np.sqrt(10)
        tracker = fed((0.01, 0.03, 0.1, 0.3, 1.0), averages, [10] * 25, reach=3)
        revised = tracker.revised()[0]
        inside = [
            np.abs(estimate.mean - truth) <= 2 * np.sqrt(estimate.a)
            for estimate, truth in ((tracker.forward(), means[-1]), (revised, means[-2]))
        ]
        covered += [np.sum(part) for part in inside]
        total += 12
    assert (covered / total > 0.90).all()
    assert (covered / total < 0.99).all()
