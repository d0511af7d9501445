"""Effective sample sizes and bounds: by hand, against recursions, 60 digits and simulations, for any input."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imrc.core import theory
from imrc.core.recursions import track_forward
from tests.whole_sequences import track_forward_backward

tasks = st.integers(1, 1_000_000)
steps = st.integers(0, 1_000_000)
ratios = st.floats(-12, 12).map(lambda e: 10.0**e)
ROUNDING = 1 + 1e-13


@pytest.mark.parametrize(
    ("x", "forward", "both"), [(0.1, 3.68547, 6.37845), (1.0, 1.61803, 2.23607), (10.0, 1.09161, 1.18322)]
)
@pytest.mark.parametrize("n", [1, 10])
def test_published_values(x, forward, both, n):
    assert float(theory.ess_forward(10, n, x / n)) / n == pytest.approx(forward, abs=5e-6)
    assert float(theory.ess_forward_backward(10, 20, n, x / n)) / n == pytest.approx(both, abs=5e-6)


def test_limits():
    j = np.array([1, 2, 57, 1_000_000])
    k = np.array([1, 90, 58, 1_000_000])
    assert theory.steady_state(10, 0.0).next == math.inf
    assert np.array_equal(theory.ess_forward(j, 10, 0.0), 10.0 * j)
    assert np.array_equal(theory.ess_forward_backward(j, k, 10, 0.0), 10.0 * k)
    # Far below 1 / k^2 everything is pooled, far above 1 nothing is gained.
    np.testing.assert_allclose(theory.ess_forward_backward(j, k, 10, 1e-300), 10.0 * k, rtol=1e-14)
    np.testing.assert_allclose(theory.ess_forward_backward([2, 57], [90, 58], 10, 1e-12), [900, 580], rtol=1e-7)
    np.testing.assert_allclose(theory.ess_forward_backward(j, k, 10, 1e14), 10.0, rtol=1e-14)


def test_what_the_documentation_says_of_the_regimes():
    j = np.array([2, 3, 5, 10, 100, 10_000])
    # n rho = 1 / j^2 is the edge: below it j tasks count more.
    for share in (1e-3, 0.5, 1.0):
        assert (theory.ess_forward(j, 10, share / 10 / j**2.0) >= 0.75 * 10 * j).all()
    assert theory.ess_forward(10_000, 10, 0.1 / 10_000**2) < 0.77 * 10 * 10_000
    for n, rho in ((10, 1e-6), (10, 1e-3), (1, 0.01), (1000, 0.05)):
        steady = theory.steady_state(n, rho)
        assert steady.newest <= n + 1 / rho
        assert steady.newest < steady.middle <= n + 2 / rho
        if n * rho <= 0.01:
            assert steady.newest == pytest.approx(n / math.sqrt(n * rho), rel=0.06)
            assert steady.middle == pytest.approx(2 * n / math.sqrt(n * rho), rel=0.01)
    assert theory.steady_state(1000, 0.05).middle > 1000 + 1 / 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.ess_forward(0, 10, 0.1), "j counts tasks from 1"),
        (lambda: theory.ess_forward(1.5, 10, 0.1), "j counts tasks from 1"),
        (lambda: theory.ess_forward(1, 0, 0.1), "n must be finite and above 0"),
        (lambda: theory.ess_forward(1, 10, -0.1), "d2 must be finite and at least 0"),
        (lambda: theory.ess_forward(1, 10, 0.1, 0.0), "sigma2 must be finite and above 0"),
        (lambda: theory.ess_forward_backward(5, 4, 10, 0.1), "j must not exceed k"),
        (lambda: theory.backward_gain(-1, 10, 0.1), "steps must be at least 0"),
        (lambda: theory.ess_next(3, 10, 0.1, steps=-1), "steps must be at least 0"),
        (lambda: theory.admissible_kappa(1.0, [0.0], [0.1]), "nothing varies"),
        (lambda: theory.smallest_b(1.0, 3, None, 10, 0.1), "share below 1"),
        (lambda: theory.smallest_b(0.9, 3, None, 10, 0.0), "d2 must be above 0"),
        (lambda: theory.smallest_b(0.0, 3, 5, 10, 0.1), "share must be above 0"),
        (lambda: theory.ess_recursion([[1, 2]], 1, 0), "one number per task"),
        (lambda: theory.ess_recursion([1, 2], [1, 2, 3], 0), "one row per task"),
        (lambda: theory.ess_recursion([1, 2], [[1, 0], [0, 0]], 0), "task 1 .* has none"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_recursion_by_hand():
    # Task 2: 10 + 10 * 2 / (2 + 10 * .3) = 14; task 3: 20 + 14 * 4 / (4 + 14 * .5) = 25.0909...
    forward, backward, both = theory.ess_recursion([10, 10, 20], [1.0, 2.0, 4.0], [99.0, 0.3, 0.5])
    np.testing.assert_allclose(forward, [10, 14, 20 + 56 / 11])
    # Backwards, task 2: 10 + 20 * 2 / (2 + 20 * .5) = 13.33; task 1: 10 + 13.33 / (1 + 13.33 * .3) = 12.67.
    second = 10 + 40 / 12
    gain = second / (1 + second * 0.3)
    np.testing.assert_allclose(backward, [10 + gain, second, 20])
    np.testing.assert_allclose(both, [10 + gain, 14 + 40 / 12, 20 + 56 / 11])


def test_largest_component_counts():
    sigma2 = np.array([[0.5, 1.0], [2.0, 1.0], [0.1, 3.0]])
    d2 = np.array([[np.nan, np.nan], [0.3, 0.1], [0.0, 0.2]])
    by_norm = theory.ess_recursion([5, 6, 7], sigma2.max(1), [0, 0.3, 0.2])
    np.testing.assert_array_equal(theory.ess_recursion([5, 6, 7], sigma2, d2), by_norm)


def test_backward_steps_limit_what_is_used():
    n, d2, j = np.full(30, 10.0), 0.01, np.arange(1, 31)
    table = np.array([theory.ess_recursion(n, 1.0, d2, b)[2] for b in range(33)])
    # Task j with b steps is task j of a sequence that ends b tasks later.
    for b, found in enumerate(table):
        np.testing.assert_allclose(found, theory.ess_forward_backward(j, np.minimum(30, j + b), 10, d2), rtol=1e-13)
    assert (np.diff(table, axis=0) >= 0).all()


@pytest.mark.parametrize("k", [60, None])
def test_smallest_b_is_smallest(k):
    for x in (1e-4, 1e-2, 1.0, 30.0):
        for share in (0.5, 0.95, 0.999):
            b = theory.smallest_b(share, 10, k, 10, x / 10)
            target = share * theory.backward_gain(np.inf if k is None else k - 10, 10, x / 10)
            assert theory.backward_gain(b, 10, x / 10) >= target * (1 - 1e-12)
            assert b == 0 or theory.backward_gain(b - 1, 10, x / 10) < target


def test_the_middle_regime_holds_from_021_on_and_not_from_less():
    largest = 0.0
    for x in np.logspace(-8, 0, 401)[:-1]:
        r = np.unique(np.round(np.linspace(0.15, 0.4, 60) / np.sqrt(x)))
        r = r[r >= 1]
        fails = theory.backward_gain(r, 1.0, x) < 0.2 / np.sqrt(x)
        largest = max(largest, float((r * np.sqrt(x))[fails].max(initial=0.0)))
    assert 0.2 < np.arctanh(0.2) < largest < 0.21


def test_risk_bound_by_hand():
    # M (kappa + 1) sqrt(2 log(2 m / delta)) ||mu|| / sqrt(ESS) = 2 * 3 * sqrt(2 log 200) * 0.1 / 4
    bound = theory.risk_bound([16.0], m=10, mu_norm=0.1, smallest_risk=0.2, delta=0.1, M=2.0, kappa=2.0)
    margin = 0.15 * np.sqrt(2 * np.log(200))
    assert (bound.margin[0], bound.value[0]) == pytest.approx((margin, 0.2 + margin), rel=1e-14)


def test_admissible_kappa_is_the_larger_of_both_terms():
    sigma, d = np.array([[0.5, 0.25], [0.4, 0.0]]), np.array([[0.1, 0.2], [0.0, 0.4]])
    limit = theory.admissible_kappa(2.0, sigma, d)
    assert (limit.from_features, limit.from_changes, limit.value) == (8.0, 40.0, 40.0)
    # Doubling features and changes alike leaves it as it is: a ratio has no units.
    assert theory.admissible_kappa(4.0, 2 * sigma, 2 * d) == limit
    assert theory.admissible_kappa(1.0, 0.5, 0.0).value == np.inf


def test_the_printed_condition_of_theorem_2_is_the_wrong_way_round():
    def newest(sigma2):
        return theory.ess_recursion(np.full(20, 10.0), sigma2, 0.01)[0][-1]

    printed = float(theory.ess_forward(20, 10, 0.01))
    assert printed == pytest.approx(37.0, abs=0.05)
    # M <= 1 means small variances: there the printed value is no lower bound of Theorem 1 ...
    assert [newest(sigma2) for sigma2 in (0.5, 0.25)] == pytest.approx([27.9, 21.6], abs=0.05)
    # ... from sigma^2 = 1 on it is, and divided by sigma^2 it is exact.
    assert newest(1.0) == pytest.approx(printed)
    assert newest(4.0) > printed
    for sigma2 in (0.25, 1.0, 4.0):
        assert newest(sigma2) == pytest.approx(float(theory.ess_forward(20, 10, 0.01, sigma2)), rel=1e-12)


@pytest.mark.parametrize("b", [0, 1, 3, None])
@pytest.mark.parametrize("ratio", [0.0, 1e-3, 0.4, 30.0])
def test_mean_ess_is_the_mean_of_the_recursion(ratio, b):
    for k in (1, 2, 9):
        expected = theory.ess_recursion(np.full(k, 7.0), 1.0, ratio / 7.0, b)[2].mean()
        assert theory.mean_ess(7.0, ratio, k, b) == pytest.approx(expected, rel=1e-12)
    assert theory.mean_ess(7.0, np.inf, 9, b) == 7.0


@given(
    j=st.integers(1, 40), n=st.floats(1, 200), rho=st.floats(1e-6, 10), sigma2=st.floats(0.1, 10),
    steps=st.integers(1, 6),
)  # fmt: skip
def test_next_task_is_the_recursion_without_its_own_samples(j, n, rho, sigma2, steps):
    # Samples so few that they add nothing stand for a task whose labels have not come.
    few = 1e-12
    counts = np.concatenate([np.full(j, n), np.full(steps, few)])
    forward = theory.ess_recursion(counts, sigma2, rho * sigma2)[0]
    found = float(theory.ess_next(j, n, rho * sigma2, sigma2, steps))
    assert found == pytest.approx(forward[-1], rel=1e-6)
    assert found < 1 / (steps * rho)


@given(n=st.floats(0.5, 500), rho=st.floats(1e-3, 10), sigma2=st.floats(0.1, 10))
def test_steady_states_are_the_limits(n, rho, sigma2):
    steady = theory.steady_state(n, rho * sigma2, sigma2)
    many = 4000
    assert steady.next == pytest.approx(float(theory.ess_next(many, n, rho * sigma2, sigma2)), rel=1e-9)
    assert steady.newest == pytest.approx(float(theory.ess_forward(many, n, rho * sigma2, sigma2)), rel=1e-9)
    middle = theory.ess_forward_backward(many, 2 * many, n, rho * sigma2, sigma2)
    assert steady.middle == pytest.approx(float(middle), rel=1e-9)


def test_closed_forms_equal_recursions_on_a_grid():
    k, j = 150, np.arange(1, 151)
    for x in np.logspace(-12, 12, 97):
        closed = [theory.ess_forward(at, 1, x) for at in (j, k - j + 1)] + [theory.ess_forward_backward(j, k, 1, x)]
        np.testing.assert_allclose(closed, theory.ess_recursion(np.ones(k), 1.0, x), rtol=1e-12)


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
    for track, ess in ((track_forward, forward), (track_forward_backward, both)):
        np.testing.assert_allclose(1.0 / track(s, s, d2[:, None])[1][:, 0], ess, rtol=1e-12)


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
    for track, ess in (
        (track_forward, theory.ess_forward(j, n, d2)),
        (track_forward_backward, theory.ess_forward_backward(j, k, n, d2)),
    ):
        tracked, mse = track(means, np.broadcast_to(s, means.shape), d)
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
        for track, ess in ((track_forward, forward), (track_forward_backward, both)):
            assert (ess <= sigma2.max() / track(s, s, d2)[1].max(axis=1) * (1 + 1e-12)).all()


@given(tasks, steps, ratios)
def test_bounded_by_own_and_all_samples(j, r, x):
    both = float(theory.ess_forward_backward(j, j + r, 1, x))
    assert 1 / ROUNDING <= both <= (j + r) * ROUNDING


@given(tasks, steps, ratios, st.integers(1, 1000))
def test_monotone_in_tasks_and_change(j, r, x, more):
    both = theory.ess_forward_backward(j, j + r, 1, x)
    assert theory.ess_forward(j + more, 1, x) >= theory.ess_forward(j, 1, x) / ROUNDING
    assert theory.ess_forward_backward(j + more, j + more + r, 1, x) >= both / ROUNDING
    assert theory.ess_forward_backward(j, j + r + more, 1, x) >= both / ROUNDING
    assert theory.ess_forward_backward(j, j + r, 1, x * (1 + more)) <= both * ROUNDING


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(1e-3, 1e3), st.floats(0, 1e3)), min_size=1, max_size=30))
def test_recursions_between_own_and_all_samples(rows):
    n, sigma2, d2 = np.array(rows).T
    forward, backward, both = theory.ess_recursion(n, sigma2, d2)
    assert (np.stack([forward, backward, both]) >= [n, n, forward]).all()
    assert (both <= n.sum() * ROUNDING).all()
    np.testing.assert_allclose(both - n, (forward - n) + (backward - n), rtol=1e-9, atol=1e-9 * n.sum())
