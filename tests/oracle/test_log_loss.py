"""The rule for log loss against a general optimiser, and the choices made from past data."""

import numpy as np
import pytest
from imrc.core.log_loss_rules import LogLossRules
from imrc.core.selection import CANDIDATES, Candidate, fold_masks, log_loss, shares, split_weights
from scipy.optimize import minimize

import imrc
from imrc.core import log_loss_rules
from imrc.core.learner import Learner
from imrc.core.settings import resolve_settings
from imrc.core.trackers import RateTracker
from imrc.solvers.log_loss import (
    INTERCEPT_SCALE,
    dual_parameters,
    primal_parameters,
    scaled,
    solve_log_loss,
)

AVERAGED_SETTINGS = resolve_settings("recommended", b=3, selection="averaged")


def problem(seed: int, n: int, features: int, n_classes: int):
    generator = np.random.default_rng(seed)
    X1 = np.column_stack([np.ones(n), generator.normal(size=(n, features))])
    weights = generator.random(n)
    return X1, generator.integers(n_classes, size=n), weights / weights.sum()


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
    options = {"max_iter": 3000, "tolerance": 1e-8}
    start = np.zeros((n_classes, features + 1))
    primal = solve_log_loss(samples, y, weights, penalty, start, primal=True, **options)
    dual = solve_log_loss(samples @ samples.T, y, weights, penalty, np.zeros((n_classes, n)), primal=False, **options)
    # The optimiser's own gradients are finite differences, good to about 1e-8 in the value.
    assert primal.value == pytest.approx(reference.fun, abs=1e-7)
    assert dual.value == pytest.approx(reference.fun, abs=1e-6)
    theirs = reference.x.reshape(n_classes, -1) * np.r_[INTERCEPT_SCALE, np.ones(features)]
    np.testing.assert_allclose(primal_parameters(primal.coefficients), theirs.ravel(), atol=2e-3)
    np.testing.assert_allclose(dual_parameters(samples, dual.coefficients), theirs.ravel(), atol=2e-2)


def test_usual_tolerance_is_good_enough():
    X1, y, weights = problem(2, 100, 20, 2)
    samples, start = scaled(X1), np.zeros((2, 21))
    exact = solve_log_loss(samples, y, weights, 0.02, start, primal=True, max_iter=3000, tolerance=1e-9)
    usual = solve_log_loss(samples, y, weights, 0.02, start, primal=True)
    assert 0 <= usual.value - exact.value < 3e-4
    assert usual.iterations < exact.iterations


def test_value_is_the_worst_case_log_loss_of_the_ball():
    # Duality: penalty/2 |mu|^2 = max over shifts e of e'mu - |e|^2 / (2 penalty); no sampled shift may exceed it.
    X1, y, weights = problem(3, 60, 4, 2)
    samples = scaled(X1)
    solution = solve_log_loss(samples, y, weights, 0.1, np.zeros((2, 5)), primal=True, max_iter=2000, tolerance=1e-9)
    scores = samples @ solution.coefficients.T
    fitted = log_loss_weighted(scores, y, weights)
    generator = np.random.default_rng(0)
    for shift in generator.normal(size=(200, 2, 5)) * 0.1:
        assert fitted + (shift * solution.coefficients).sum() - (shift**2).sum() / 0.2 <= solution.value + 1e-9


def log_loss_weighted(scores, y, weights):
    return sum(w * log_loss(score[None], np.array([label])) for w, score, label in zip(weights, scores, y, strict=True))


@pytest.mark.parametrize("selection", ["cv", "averaged"])
def test_flipping_concepts_are_not_transferred(selection):
    # Labels turn round at every task while the means of x stay: the likelihood sees little, held-out labels see it.
    generator = np.random.default_rng(0)
    tasks = []
    for j in range(12):
        y = generator.integers(2, size=200)
        side = np.where((y + j) % 2 == 1, 1.5, -1.5)
        tasks.append(
            imrc.Task(np.column_stack([side, generator.normal(size=200)]) + generator.normal(size=(200, 2)), y)
        )
    sequence = imrc.TaskSequence(tasks, name="flips")
    chosen = imrc.evaluate(sequence, n=20, features="identity", repetitions=3, selection=selection)
    always = imrc.evaluate(sequence, n=20, features="identity", repetitions=3, selection="none")
    assert chosen.choices["transfer"][:, -4:].mean() == 0
    assert chosen.headline("newest")["forward"].mean < always.headline("newest")["forward"].mean + 1e-9
    assert chosen.headline()["forward_backward"].mean <= chosen.headline()["single"].mean + 0.02


def test_drifting_means_are_transferred():
    sequence = imrc.datasets.load("random_walk", tasks=15, samples=250)
    result = imrc.evaluate(sequence, n=10, features="identity", repetitions=4)
    assert result.choices["transfer"][:, 5:].mean() > 0.9
    assert result.difference("forward_backward").mean < 0


def test_pooled_samples_make_one_rule_for_all_tasks(monkeypatch):
    monkeypatch.setitem(CANDIDATES, "averaged", (Candidate(True, 4.0, pooled=True),))
    generator = np.random.default_rng(0)
    learner = imrc.IMRC(b=2, selection="averaged", features="identity")
    X, y = generator.normal(size=(10, 30, 5)), generator.integers(2, size=(10, 30))
    X[..., :2] += y[..., None]
    for task in range(10):
        learner.partial_fit(X[task], y[task])
    rule = learner.coef_["forward"][-1]
    for revised in learner.coef_["forward_backward"][-3:]:
        np.testing.assert_array_equal(revised, rule)
    # Every sample counts alike: the same rule as of one task that holds them all, with the same penalty.
    X1 = np.column_stack([np.ones(300), X.reshape(300, 5)])
    together = solve_log_loss(
        scaled(X1), y.ravel(), np.full(300, 1 / 300), 4.0 * 2 / 300, np.zeros((2, 6)), primal=True, max_iter=3000
    )
    np.testing.assert_allclose(rule.ravel(), primal_parameters(together.coefficients), atol=0.02)


def test_averaged_candidates_make_one_rule_of_averaged_weights(monkeypatch):
    # Two candidates, all samples alike and the newest task alone, have an equal share from the start.
    pooled, own = Candidate(True, 1.0, pooled=True), Candidate(False, 4.0)
    monkeypatch.setitem(CANDIDATES, "averaged", (pooled, own))
    monkeypatch.setattr(log_loss_rules, "POOLED_LAST", 0.0)
    monkeypatch.setattr(log_loss_rules, "fold_masks", lambda *given: [])
    generator = np.random.default_rng(0)
    learner = Learner(AVERAGED_SETTINGS, 2)
    X, y = generator.normal(size=(3, 30, 5)), generator.integers(2, size=(3, 30))
    X[..., :2] += y[..., None]
    X1 = np.column_stack([np.ones(90), X.reshape(90, 5)])
    for task in range(3):
        update = learner.step(X1[30 * task : 30 * task + 30], y[task])
    assert update.choices["transfer"] == update.choices["pooled"] == pytest.approx(0.5)
    assert update.choices["penalty"] == pytest.approx(2.0)
    penalty = 2.0 * 2 / np.sqrt(90 * 30)
    for rule, newest in ((update.forward.coef, 2), (update.revised[1].coef, 1)):
        weights = (1 / 90 + np.repeat(np.arange(3) == newest, 30) / 30) / 2
        wanted = solve_log_loss(
            scaled(X1), y.ravel(), weights, penalty, np.zeros((2, 6)), primal=True, max_iter=3000, tolerance=1e-8
        )
        np.testing.assert_allclose(rule, primal_parameters(wanted.coefficients), atol=0.03)


def test_shares_follow_the_loss_at_the_best_temperature():
    sure, unsure, hopeless = (Candidate(True, penalty) for penalty in (1.0, 4.0, 16.0))
    losses = {sure: np.array([10.0, 14.0]), unsure: np.array([20.0, 10.0 + np.log(2.0)]), hopeless: np.full(2, 40.0)}
    # A factor other than 1 costs the logarithm of how many there are, so both have an account of 10 + ln 2.
    assert shares(losses, (0.5, 1.0), 0.1) == pytest.approx({sure: 0.5, unsure: 0.5})
    assert shares(losses, (0.5, 1.0), 1.0) == {sure: 1.0}


def test_tasks_that_do_not_change_get_the_average_of_all_stored_samples():
    sequence = imrc.datasets.load("identical", tasks=28)
    result = imrc.evaluate(sequence, n=10, features="standardised", repetitions=3, selection="averaged")
    assert result.choices["pooled"][:, 0].max() < 0.5
    assert result.choices["pooled"][:, -3:].mean() > 0.5


@pytest.mark.parametrize("columns", [5, 1600])
def test_averaged_stores_a_stated_number_of_samples(columns):
    rules = LogLossRules(AVERAGED_SETTINGS, 2)
    tracker = RateTracker(2, 3, 30)
    generator = np.random.default_rng(0)
    for _ in range(24):
        X1 = np.column_stack([np.ones(100), generator.normal(size=(100, columns - 1))])
        y = generator.integers(2, size=100)
        tracker.update(X1, y)
        rules.step(X1, y, None, tracker.forward(), [])
    used = rules.used(tracker.forward(), 0)
    # Whole tasks, just enough for 2000 samples or, of many features, for a million numbers.
    assert used.sizes.sum() == (2000 if columns == 5 else 700)


@pytest.mark.parametrize("selection", ["cv", "averaged"])
def test_only_past_data_decide(selection):
    long = imrc.datasets.load("random_walk", tasks=10, samples=100)
    short = long.head(6)
    settings = {"n": 10, "repetitions": 2, "features": "identity", "b": 2, "selection": selection}
    one, other = imrc.evaluate(short, **settings), imrc.evaluate(long, **settings)
    for name, values in one.choices.items():
        np.testing.assert_array_equal(values, other.choices[name][:, :6])
    np.testing.assert_array_equal(one.errors["forward_backward"], other.errors["forward_backward"][:, :6, :6])


def test_split_weights_by_the_filter():
    # Weights of a newest task with 8 instead of 10 samples equal those of a filter fed 8 samples.
    from imrc.core.rates import RateFilter

    averages = np.random.default_rng(0).normal(size=(6, 2))
    filters = []
    for last in (10, 8):
        tracker = RateFilter(2, 10, (0.05,))
        for j, average in enumerate(averages):
            tracker.update(average, np.ones(2), 10 if j < 5 else last)
        filters.append(tracker.forward())
    weights, ess = split_weights(filters[0].weights, 10, 8)
    np.testing.assert_allclose(weights, filters[1].weights, rtol=1e-10)
    assert ess == pytest.approx(1 / filters[1].a, rel=1e-10)


@pytest.mark.parametrize("n", [2, 3, 10, 26, 100])
def test_folds_are_disjoint_and_leave_something_to_learn_from(n):
    y = np.arange(n) % 2
    masks = fold_masks(n, y, 4)
    assert np.sum(masks, axis=0).max() == 1
    assert all(0 < mask.sum() < n for mask in masks)


def test_one_sample_cannot_be_split():
    assert fold_masks(1, np.array([0]), 0) == []


def test_the_default_candidate_wins_ties():
    assert all(candidates[0].transfer and candidates[0].penalty == 1.0 for candidates in CANDIDATES.values())
