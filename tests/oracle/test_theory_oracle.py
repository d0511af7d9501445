"""Closed forms against the recursions, against 60-digit arithmetic, and against simulated errors."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from imrc.core import theory
from imrc.core.recursions import track_forward
from tests.whole_sequences import track_forward_backward


def test_closed_forms_equal_recursions_on_a_grid():
    k, ratios = 150, np.logspace(-12, 12, 97)
    compared = 0
    for x in ratios:
        forward, backward, both = theory.ess_recursion(np.ones(k), 1.0, x)
        j = np.arange(1, k + 1)
        np.testing.assert_allclose(theory.ess_forward(j, 1, x), forward, rtol=1e-12)
        np.testing.assert_allclose(theory.ess_forward(k - j + 1, 1, x), backward, rtol=1e-12)
        np.testing.assert_allclose(theory.ess_forward_backward(j, k, 1, x), both, rtol=1e-12)
        compared += k
    assert compared >= 10_000


def printed_formula(j, k, x):
    """Eq. (12) exactly as printed, with 60 digits and a wide exponent range."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**12, -(10**12)
        ratio = Decimal(x)
        alpha = 2 / ((1 + 4 / ratio).sqrt() - 1)
        total = Decimal(1)
        for exponent in (2 * j - 1, 2 * (k - j) + 1):
            power = (1 + alpha) ** exponent
            total += (power - 1 - alpha) / (alpha * power + alpha)
        return float(total)


@pytest.mark.parametrize("x", [1e-12, 1e-9, 3e-5, 0.1, 1.0, 17.0, 1e6, 1e12])
def test_closed_forms_equal_the_printed_formula(x):
    for j, k in [(1, 1), (1, 2), (10, 13), (100, 110), (5000, 70_000), (999_999, 1_000_000), (1, 1_000_000)]:
        value = float(theory.ess_forward_backward(j, k, 1, x))
        assert value == pytest.approx(printed_formula(j, k, x), rel=1e-12)


def test_recursions_equal_tracking():
    # s_fwd = sigma^2 / ESS for one component; unequal n, sigma^2 and d^2.
    generator = np.random.default_rng(11)
    k = 40
    n, d2 = generator.integers(2, 60, k).astype(float), generator.uniform(0, 0.2, k)
    s = (1.0 / n)[:, None]
    forward, _, both = theory.ess_recursion(n, 1.0, d2)
    s_fwd = track_forward(s, s, d2[:, None])[1]
    s_fb = track_forward_backward(s, s, d2[:, None])[1]
    np.testing.assert_allclose(1.0 / s_fwd[:, 0], forward, rtol=1e-12)
    np.testing.assert_allclose(1.0 / s_fb[:, 0], both, rtol=1e-12)


@pytest.mark.parametrize("x", [0.1, 1.0, 10.0])
def test_monte_carlo_errors_are_the_mse_and_reach_the_ess(x):
    """Random walks with known sigma^2 = 1 and d^2: mean squared errors of 20,000 runs, n = 10, k = 20."""
    runs, k, n = 20_000, 20, 10
    generator = np.random.default_rng(int(10 * x))
    d2 = x / n
    truth = np.cumsum(np.sqrt(d2) * generator.standard_normal((k, runs)), axis=0)
    means = truth + generator.standard_normal((k, runs)) / np.sqrt(n)
    s, d = np.full((k, 1), 1.0 / n), np.full((k, 1), d2)
    j = np.arange(1, k + 1)
    for (tracked, mse), ess in (
        (track_forward(means, np.broadcast_to(s, means.shape), d), theory.ess_forward(j, n, d2)),
        (track_forward_backward(means, np.broadcast_to(s, means.shape), d), theory.ess_forward_backward(j, k, n, d2)),
    ):
        squared = (tracked - truth) ** 2
        standard_error = squared.std(axis=1, ddof=1) / np.sqrt(runs)
        np.testing.assert_array_less(np.abs(squared.mean(axis=1) - mse[:, 0]), 4.0 * standard_error)
        assert (ess <= 1.0 / mse[:, 0] * (1 + 1e-12)).all()


def test_ess_never_exceeds_what_the_mse_implies():
    """Many components, unequal everything: M^2 / max_c s_jc >= ESS with M^2 = the largest variance."""
    generator = np.random.default_rng(3)
    for _ in range(50):
        k, m = 15, 6
        n = generator.integers(2, 100, k).astype(float)
        sigma2 = generator.uniform(0.05, 1.0, (k, m))
        d2 = generator.uniform(0.0, 0.1, (k, m)) * generator.uniform(0, 1, m)
        s = sigma2 / n[:, None]
        forward, _, both = theory.ess_recursion(n, sigma2, d2)
        bound = sigma2.max()
        implied_forward = bound / track_forward(s, s, d2)[1].max(axis=1)
        implied_both = bound / track_forward_backward(s, s, d2)[1].max(axis=1)
        assert (forward <= implied_forward * (1 + 1e-12)).all()
        assert (both <= implied_both * (1 + 1e-12)).all()
