"""The rule for log loss with the L1 penalty of the derivation against independent solvers, and its certificate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import l1_min_c

import imrc
from imrc import IMRC
from imrc.core.learner import Learner
from imrc.core.settings import resolve_settings
from imrc.solvers.log_loss import TOLERANCE_L1, solve_log_loss_l1


def problem(seed, n, features, n_classes):
    """Samples with a sparse truth, uneven weights and a lambda of its own for every component."""
    generator = np.random.default_rng(seed)
    X1 = np.column_stack([np.ones(n), generator.normal(size=(n, features))])
    truth = generator.normal(size=(n_classes, features + 1)) * (generator.random((n_classes, features + 1)) < 0.3)
    y = (X1 @ truth.T + generator.gumbel(size=(n, n_classes))).argmax(axis=1)
    weights = generator.random(n)
    lam = generator.uniform(0.5, 2.0, size=(n_classes, features + 1)) / n
    return X1, y, weights / weights.sum(), lam


def data_term(X1, y, weights, mu):
    scores = X1 @ mu.T
    return weights @ (np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), y])


def general_minimum(X1, y, weights, lam):
    """Minimum of the same problem in the positive and the negative part of mu, by scipy's truncated Newton method."""
    n_classes, p = lam.shape
    labels = np.eye(n_classes)[y]

    def objective(parts):
        positive, negative = parts.reshape(2, n_classes, p)
        scores = X1 @ (positive - negative).T
        normaliser = np.logaddexp.reduce(scores, axis=1)
        gradient = ((np.exp(scores - normaliser[:, None]) - labels) * weights[:, None]).T @ X1
        value = weights @ (normaliser - (labels * scores).sum(axis=1)) + (lam * (positive + negative)).sum()
        return value, np.concatenate([(gradient + lam).ravel(), (lam - gradient).ravel()])

    options = {"maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-12, "xtol": 0}
    start, best = np.zeros(2 * n_classes * p), np.inf
    while True:  # it stops early now and then: start again from there until nothing is gained
        bounds = [(0, None)] * start.size
        result = minimize(objective, start, jac=True, method="TNC", bounds=bounds, options=options)
        if best - result.fun < 1e-13:
            return min(best, result.fun)
        best, parts = result.fun, result.x.reshape(2, -1)
        start = (parts - parts.min(axis=0)).ravel()


@pytest.mark.parametrize(
    ("n", "features", "n_classes"), [(40, 5, 2), (15, 60, 2), (60, 150, 2), (40, 5, 3), (20, 30, 4), (60, 20, 6)]
)
def test_minimum_equals_a_general_optimiser_and_the_gap_certifies_it(n, features, n_classes):
    X1, y, weights, lam = problem(1, n, features, n_classes)
    solution = solve_log_loss_l1(X1.T, y, weights, lam, np.zeros_like(lam), max_iter=500, tolerance=1e-8)
    reference = general_minimum(X1, y, weights, lam)
    assert solution.gap <= 1e-8
    assert solution.value - solution.gap <= reference + 1e-12  # a lower bound of everybody's value
    assert solution.value == pytest.approx(reference, abs=1e-8)  # what the certificate says
    value = data_term(X1, y, weights, solution.coefficients) + (lam * np.abs(solution.coefficients)).sum()
    assert value == pytest.approx(solution.value, abs=1e-12)


def test_two_classes_equal_liblinear():
    from sklearn.linear_model import LogisticRegression

    X1, y, weights, lam = problem(2, 80, 120, 2)
    lam[1] = lam[0]
    solution = solve_log_loss_l1(X1.T, y, weights, lam, np.zeros_like(lam), max_iter=500, tolerance=1e-9)
    # Only the difference of the classes matters; dividing features by lambda makes all penalties 1.
    scaled = X1 / lam[0]
    assert l1_min_c(scaled, y, loss="log", fit_intercept=False) * len(y) < len(y)  # not all zero
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=100_000)
    theirs = model.fit(scaled, y, sample_weight=weights).coef_[0] / lam[0]
    ours = solution.coefficients[1] - solution.coefficients[0]
    np.testing.assert_allclose(ours, theirs, atol=2e-4 * np.abs(theirs).max())
    assert ((np.abs(ours) > 1e-6) == (np.abs(theirs) > 1e-6)).all()


def test_optimality_conditions():
    # Where mu is not zero the constraint |E Phi - tau| <= lambda is met with equality, elsewhere it holds.
    X1, y, weights, lam = problem(3, 60, 30, 3)
    mu = solve_log_loss_l1(X1.T, y, weights, lam, np.zeros_like(lam), max_iter=500, tolerance=1e-10).coefficients
    scores = X1 @ mu.T
    h = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    off = ((h - np.eye(3)[y]) * weights[:, None]).T @ X1
    assert (np.abs(off) <= lam * (1 + 1e-4)).all()
    free = mu != 0
    assert 3 < free.sum() < free.size
    np.testing.assert_allclose(off[free], -(lam * np.sign(mu))[free], rtol=1e-3)


def test_value_is_the_largest_entropy_in_the_uncertainty_set():
    # Any distribution of labels inside the set has at most this entropy: the minimax log loss.
    X1, y, weights, lam = problem(4, 30, 3, 2)
    solution = solve_log_loss_l1(X1.T, y, weights, 30 * lam, np.zeros_like(lam), max_iter=500, tolerance=1e-9)
    generator = np.random.default_rng(0)
    labels, inside = np.eye(2)[y], 0
    for _ in range(500):
        q = labels + generator.random() * (generator.dirichlet([1, 1], size=len(y)) - labels)
        if (np.abs(((q - labels) * weights[:, None]).T @ X1) <= 30 * lam).all():
            inside += 1
            assert -(weights[:, None] * q * np.log(np.maximum(q, 1e-300))).sum() <= solution.value + 1e-9
    assert inside > 20


def test_large_lambda_gives_the_uniform_rule():
    X1, y, weights, lam = problem(5, 30, 4, 3)
    solution = solve_log_loss_l1(X1.T, y, weights, 1e4 * lam, np.zeros_like(lam))
    assert (solution.coefficients == 0).all()
    assert solution.value == pytest.approx(np.log(3), abs=1e-12)


def test_warm_start_reaches_the_same_minimum_with_less_work():
    X1, y, weights, lam = problem(6, 100, 200, 2)
    cold = solve_log_loss_l1(X1.T, y, weights, lam, np.zeros_like(lam))
    again = solve_log_loss_l1(X1.T, y, weights, 1.02 * lam, cold.coefficients)
    fresh = solve_log_loss_l1(X1.T, y, weights, 1.02 * lam, np.zeros_like(lam))
    assert max(again.gap, fresh.gap) <= TOLERANCE_L1
    assert abs(again.value - fresh.value) <= TOLERANCE_L1
    assert again.iterations < fresh.iterations


def test_absent_features_and_weights_of_zero_change_nothing():
    X1, y, weights, lam = problem(7, 30, 6, 2)
    plain = solve_log_loss_l1(X1.T, y, weights, lam, np.zeros_like(lam), tolerance=1e-9)
    wider = np.column_stack([X1, np.zeros(30)])  # lambda is zero there too: the variance of nothing
    longer = np.concatenate([wider, np.ones((5, 8))])
    solution = solve_log_loss_l1(
        longer.T,
        np.r_[y, np.zeros(5, dtype=int)],
        np.r_[weights, np.zeros(5)],
        np.column_stack([lam, [0.0, 0.0]]),
        np.zeros((2, 8)),
        tolerance=1e-9,
    )
    np.testing.assert_allclose(solution.coefficients[:, :-1], plain.coefficients, atol=1e-6)
    assert (solution.coefficients[:, -1] == 0).all()
    assert solution.value == pytest.approx(plain.value, abs=1e-9)


@pytest.mark.parametrize(("confidence", "power"), [("root_mse", 0.5), ("over_ess", 1.0)])
def test_learner_solves_the_problem_of_the_first_task(confidence, power):
    # With one task lambda = lambda0 sigma / n^power, sigma the pooled deviation of one sample.
    task = imrc.datasets.load("random_walk", tasks=2, samples=40, seed=3)[0]
    X1 = np.column_stack([np.ones(40), task.X])
    y = task.y.astype(np.int64)
    settings = resolve_settings(
        "recommended", b=1, W=1, penalty="l1", confidence=confidence, selection="none", lambda0=0.3
    )
    estimate = Learner(settings, 2).step(X1, y).forward
    lam = 0.3 * np.sqrt(estimate.mse * 40).reshape(2, -1) / 40**power
    reference = general_minimum(X1, y, np.full(40, 1 / 40), lam)
    assert reference - 1e-9 <= estimate.risk <= reference + TOLERANCE_L1


def test_the_option_needs_the_rule_for_log_loss():
    with pytest.raises(ValueError, match="penalty='l1' needs loss='log'"):
        IMRC(preset="paper", penalty="l1").fit(np.eye(2), [0, 1])
