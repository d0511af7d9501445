"""The rule for log loss against a general optimiser, and the shares that past data give."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

import imrc
from imrc.core.presets import CANDIDATES, INTERCEPT_SCALE, TOLERANCE
from imrc.core.rules_log import primal_parameters, scaled
from imrc.core.tracking import RateWeights
from imrc.solvers.logistic import solve_in_turn


def problem(seed: int, n: int, features: int, n_classes: int):
    generator = np.random.default_rng(seed)
    X1 = np.column_stack([np.ones(n), generator.normal(size=(n, features))])
    weights = generator.random(n)
    return X1, generator.integers(n_classes, size=n), weights / weights.sum()


def solved(matrix, y, weights, penalty, start, **options):
    """Solve one problem."""
    found = solve_in_turn(
        matrix, y, weights[None], np.array([penalty]), start[None], **{"tolerances": TOLERANCE} | options
    )
    names = ("coefficients", "value", "iterations")
    return SimpleNamespace(**{name: part[0] for name, part in zip(names, found, strict=True)})


@pytest.mark.parametrize(("n", "features", "n_classes"), [(40, 5, 2), (40, 5, 3), (15, 30, 2), (20, 30, 4)])
def test_both_forms_equal_a_general_optimiser(n, features, n_classes):
    X1, y, weights = problem(1, n, features, n_classes)
    samples, penalty = scaled(X1), 0.05

    def objective(flat):
        scores = samples @ flat.reshape(n_classes, -1).T
        largest = scores.max(axis=1)
        normaliser = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
        return weights @ (normaliser - scores[np.arange(n), y]) + 0.5 * penalty * flat @ flat

    reference = minimize(objective, np.zeros(n_classes * (features + 1)), method="BFGS", options={"gtol": 1e-7})
    options = {"max_iter": 3000, "tolerances": 1e-8}
    start = np.zeros((n_classes, features + 1))
    primal = solved(samples, y, weights, penalty, start, primal=True, **options)
    dual = solved(samples @ samples.T, y, weights, penalty, np.zeros((n_classes, n)), primal=False, **options)
    # The optimiser's own gradients are finite differences, good to about 1e-8 in the value.
    assert primal.value == pytest.approx(reference.fun, abs=1e-7)
    assert dual.value == pytest.approx(reference.fun, abs=1e-6)
    theirs = reference.x.reshape(n_classes, -1) * np.r_[INTERCEPT_SCALE, np.ones(features)]
    np.testing.assert_allclose(primal_parameters(primal.coefficients), theirs.ravel(), atol=2e-3)
    np.testing.assert_allclose(primal_parameters(dual.coefficients @ samples), theirs.ravel(), atol=2e-2)


def test_usual_tolerance_is_good_enough():
    X1, y, weights = problem(2, 100, 20, 2)
    samples, start = scaled(X1), np.zeros((2, 21))
    exact = solved(samples, y, weights, 0.02, start, primal=True, max_iter=3000, tolerances=1e-9)
    usual = solved(samples, y, weights, 0.02, start, primal=True)
    assert 0 <= usual.value - exact.value < 3e-4
    assert usual.iterations < exact.iterations


def test_value_is_the_worst_case_log_loss_of_the_ball():
    # Duality: penalty/2 |mu|^2 = max over shifts e of e'mu - |e|^2 / (2 penalty); no sampled shift may exceed it.
    X1, y, weights = problem(3, 60, 4, 2)
    samples = scaled(X1)
    solution = solved(samples, y, weights, 0.1, np.zeros((2, 5)), primal=True, max_iter=2000, tolerances=1e-9)
    scores = samples @ solution.coefficients.T
    fitted = log_loss_weighted(scores, y, weights)
    generator = np.random.default_rng(0)
    for shift in generator.normal(size=(200, 2, 5)) * 0.1:
        assert fitted + (shift * solution.coefficients).sum() - (shift**2).sum() / 0.2 <= solution.value + 1e-9


def log_loss_weighted(scores, y, weights):
    return -(weights * log_softmax(scores, axis=1)[np.arange(len(y)), y]).sum()


def test_flipping_concepts_are_not_transferred():
    # Labels turn round at every task while the means of x stay: held-out labels see it.
    generator = np.random.default_rng(0)
    tasks = []
    for j in range(12):
        y = generator.integers(2, size=200)
        side = np.where((y + j) % 2 == 1, 1.5, -1.5)
        tasks.append(
            imrc.Task(np.column_stack([side, generator.normal(size=200)]) + generator.normal(size=(200, 2)), y)
        )
    sequence = imrc.TaskSequence(tasks, name="flips")
    chosen = imrc.evaluate(sequence, n=20, features="identity", repetitions=3)
    always = imrc.evaluate(sequence, n=20, features="identity", repetitions=3, rate=0.1)
    assert chosen.choices["rate inf"][:, -4:].mean() > 0.95
    assert chosen.headline("newest")["forward"].mean < always.headline("newest")["forward"].mean + 1e-9
    assert chosen.headline()["forward_backward"].mean <= chosen.headline()["single"].mean + 0.02


def test_drifting_means_are_transferred():
    sequence = imrc.datasets.load("random_walk", tasks=15, samples=250)
    result = imrc.evaluate(sequence, n=10, features="identity", repetitions=4)
    assert result.choices["rate inf"][:, 5:].mean() < 0.1
    assert result.difference("forward_backward").mean < 0


def test_a_rate_of_zero_makes_one_rule_for_all_tasks():
    generator = np.random.default_rng(0)
    learner = imrc.IMRC(b=2, rate=0.0, features="identity")
    X, y = generator.normal(size=(10, 30, 5)), generator.integers(2, size=(10, 30))
    X[..., :2] += y[..., None]
    for task in range(10):
        learner.partial_fit(X[task], y[task])
    rule = learner.coef_["forward"][-1]
    for revised in learner.coef_["forward_backward"][-3:]:
        np.testing.assert_allclose(revised, rule, atol=0.02)
    # Every sample counts alike: the same rule as of one task that holds them all, with the same penalty.
    X1 = np.column_stack([np.ones(300), X.reshape(300, 5)])
    unit = np.sqrt((X[0] ** 2).sum(axis=1).mean() / 250.0)
    weights, penalty = np.full(300, 1 / 300), unit * 16.0 * 2 / 300
    together = solved(scaled(X1), y.ravel(), weights, penalty, np.zeros((2, 6)), primal=True, max_iter=3000)
    np.testing.assert_allclose(rule.ravel(), primal_parameters(together.coefficients), atol=0.02)


def test_tasks_that_do_not_change_share_one_rule_more_and_more():
    sequence = imrc.datasets.load("identical", tasks=28)
    result = imrc.evaluate(sequence, n=10, features="standardised", repetitions=3)
    assert result.choices["rate 0"][:, 0].max() < 0.7
    assert result.choices["rate 0"][:, -3:].mean() > 0.7
    assert result.choices["rate inf"][:, -3:].max() < 0.01


@pytest.mark.parametrize("loss", ["log", "0-1"])
def test_only_past_data_decide(loss):
    long = imrc.datasets.load("random_walk", tasks=10, samples=100)
    short = long.head(6)
    settings = {"n": 10, "repetitions": 2, "features": "identity", "b": 2, "loss": loss}
    one, other = imrc.evaluate(short, **settings), imrc.evaluate(long, **settings)
    for name, values in one.choices.items():
        np.testing.assert_array_equal(values, other.choices[name][:, :6])
    np.testing.assert_array_equal(one.errors["forward_backward"], other.errors["forward_backward"][:, :6, :6])


def test_weights_without_rows_held_back_by_the_recursions():
    # Weights of a newest task with 8 instead of 10 samples equal those of recursions fed 8 samples.
    given = []
    for last in (10, 8):
        weights = RateWeights([one.rate for one in CANDIDATES], 3)
        for j in range(6):
            weights = weights.after(10 if j < 5 else last, 1.5, 0)
        given.append(weights.forward(8))
        np.testing.assert_array_equal(weights.forward()[0].sum(axis=1), np.ones(len(CANDIDATES)))
    for one, other in zip(*given, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(given[1][0], weights.forward()[0])
