"""Prediction before labels, gaps and tasks without labels: the exact Gaussian posterior, and no leak."""

import numpy as np
import pytest

import imrc
from imrc import IMRC
from imrc.core import rules_log
from imrc.core.presets import PRESETS
from imrc.core.recursions import predict, sample_moments, track_forward
from imrc.core.rules_log import LogLossLearner
from imrc.core.settings import resolve_settings
from tests.whole_sequences import track_forward_backward


def posterior(tau, s, d, seen, wanted):
    """Mean and variance of x_wanted given the tasks `seen`: precision form, diffuse start, one component."""
    k = len(tau)
    precision, linear = np.zeros((k, k)), np.zeros(k)
    for j in seen:
        if np.isfinite(s[j]):
            precision[j, j] += 1.0 / s[j]
            linear[j] += tau[j] / s[j]
    for j in range(1, k):
        precision[j - 1 : j + 1, j - 1 : j + 1] += np.array([[1.0, -1.0], [-1.0, 1.0]]) / d[j]
    # Symmetric scaling first: precisions of very different size would cost digits.
    scale = 1.0 / np.sqrt(np.diag(precision))
    covariance = np.linalg.inv(precision * scale * scale[:, None]) * scale * scale[:, None]
    return (covariance @ linear)[wanted], covariance[wanted, wanted]


def sequence_of(seed):
    """Unequal errors and changes, gaps of several periods, tasks without labels (but the first)."""
    generator = np.random.default_rng(seed)
    k = int(generator.integers(3, 12))
    tau, s = 3 * generator.normal(size=k), np.exp(generator.normal(size=k))
    d = np.exp(generator.normal(size=k)) * generator.integers(1, 5, size=k)
    unlabelled = generator.random(k) < 0.3
    unlabelled[0] = False
    s[unlabelled], tau[unlabelled] = np.inf, 0.0
    return tau[:, None], s[:, None], d[:, None]


@pytest.mark.parametrize("block", range(10))
def test_every_estimate_is_the_exact_posterior(block):
    for seed in range(50 * block, 50 * block + 50):
        tau, s, d = sequence_of(seed)
        k = len(tau)
        tau_fwd, s_fwd = track_forward(tau, s, d)
        tau_fb, s_fb = track_forward_backward(tau, s, d)
        for j in range(k):
            column = tau[:, 0], s[:, 0], d[:, 0]
            pairs = [((tau_fwd[j], s_fwd[j]), range(j + 1)), ((tau_fb[j], s_fb[j]), range(k))]
            if j:
                pairs.append((predict(tau_fwd[j - 1], s_fwd[j - 1], d[j]), range(j)))
                pairs.append((predict(tau_fwd[0], s_fwd[0], d[1 : j + 1].sum(axis=0)), range(1)))
            for found, seen in pairs:
                np.testing.assert_allclose(np.ravel(found), posterior(*column, seen, j), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_one_rate_with_gaps_and_tasks_without_labels(seed):
    generator = np.random.default_rng(seed)
    k, rho = 9, 0.2
    samples = generator.integers(0, 4, size=k) * 10
    samples[0], gaps = 20, generator.integers(1, 4, size=k).astype(float)
    learner = LogLossLearner(resolve_settings("recommended", b=k, rate=rho), 2)
    averages = np.zeros((k, 2 * 3))
    for j, (n, gap) in enumerate(zip(samples, gaps, strict=True)):
        X1, y = np.insert(generator.normal(size=(30, 2)), 0, 1.0, axis=1), generator.integers(2, size=30)
        if n:
            averages[j] = sample_moments(X1[:n], y[:n], 2)[0]
        step = learner.step(X1[:n], y[:n] if n else None, gap)
    with np.errstate(divide="ignore"):
        s = np.tile(1.0 / samples[:, None], (1, 6))
    d = np.tile(rho * gaps[:, None], (1, 6))
    tau_fwd, s_fwd = track_forward(averages, s, d)
    tau_fb, s_fb = track_forward_backward(averages, s, d)
    for estimate, mean, mse in [
        (step.forward, tau_fwd[-1], s_fwd[-1]),
        (learner.predicted(3.0), tau_fwd[-1], s_fwd[-1] + 3 * rho),
        *zip(step.revised, tau_fb[-2::-1], s_fb[-2::-1], strict=True),
    ]:
        np.testing.assert_allclose(estimate.mean, mean, rtol=1e-12, atol=1e-12)
        # A task of which hardly anything is known is as good as one sample.
        np.testing.assert_allclose(np.full(6, 1.0 / estimate.ess), np.minimum(mse, 1.0), rtol=1e-12)
        # Weights belong to the tasks with labels, and make the mean.
        assert (estimate.weights[samples == 0] == 0.0).all()
        np.testing.assert_allclose(estimate.weights @ averages, mean, rtol=1e-10, atol=1e-12)


@pytest.fixture(scope="module")
def walk():
    return imrc.datasets.load("random_walk", tasks=7, samples=20, features=3, seed=3)


def learn(tasks, preset, **options):
    model = IMRC(preset=preset, features="identity", max_iter=200, b=2, **options)
    for X, y in tasks:
        model.partial_fit(X, y, classes=[0, 1])
    return model


@pytest.mark.parametrize("preset", PRESETS)
def test_a_prediction_knows_nothing_of_its_task(walk, preset):
    tasks = [(task.X, task.y) for task in walk]
    model = learn(tasks, preset)
    flipped = learn([*tasks[:4], (tasks[4][0], 1 - tasks[4][1])], preset)
    other = learn([*tasks[:4], (tasks[4][0][:7] + 100.0, tasks[4][1][:7])], preset)
    for values in ("mean_", "mse_", "coef_", "risk_", "ess_"):
        expected = getattr(model, values)["predicted"][4]
        np.testing.assert_array_equal(getattr(flipped, values)["predicted"][4], expected)
        np.testing.assert_array_equal(getattr(other, values)["predicted"][4], expected)
    # The prediction asked for before the task comes is the one kept for it.
    before = learn(tasks[:4], preset)
    X1 = np.insert(tasks[0][0], 0, 1.0, axis=1)
    scores = X1 @ model.coef_["predicted"][4].reshape(2, -1).T
    np.testing.assert_allclose(
        before.decision_function(tasks[0][0], task="next"), scores[:, 1] - scores[:, 0], rtol=1e-12
    )
    assert np.isnan(model.coef_["predicted"][0]).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_asking_changes_nothing(walk, preset):
    tasks = [(task.X, task.y) for task in walk]
    asked, silent = learn(tasks[:3], preset), learn(tasks[:3], preset)
    for horizon in ("next", ("next", 4)):
        asked.predict(tasks[0][0], task=horizon)
    for model in (asked, silent):
        for X, y in tasks[3:]:
            model.partial_fit(X, y)
    np.testing.assert_array_equal(asked.coef_["forward_backward"], silent.coef_["forward_backward"])


EVERY = [{"preset": "paper"}, {"preset": "recommended"}, {"preset": "recommended", "rate": 0.1}]
ONE_RULE = EVERY[::2]
"""With rates side by side the task to come has shares of its own, so that its rule is not that of the newest task."""


@pytest.mark.parametrize("options", EVERY)
def test_the_further_ahead_the_less_is_known(walk, options):
    model = learn([(task.X, task.y) for task in walk], **options)
    ess = [model._estimate(("next", h), "forward").ess for h in (0.0, 1.0, 2.0, 5.0)]
    assert ess == sorted(ess, reverse=True)
    assert ess[3] < 0.9 * ess[0]
    if options in ONE_RULE:
        assert ess[0] == pytest.approx(model.ess_["forward"][-1], rel=1e-9)


@pytest.mark.parametrize("options", EVERY)
def test_a_task_without_labels_is_the_prediction_and_is_revised(walk, options):
    tasks = [(task.X, task.y) for task in walk]
    model = learn([*tasks[:3], (tasks[3][0], None), *tasks[4:6]], **options)
    if options in ONE_RULE:
        for values in (model.mean_, model.mse_, model.ess_):
            np.testing.assert_allclose(values["forward"][3], values["predicted"][3], rtol=1e-12)
    assert np.isnan(model.coef_["single"][3]).all()
    assert np.isinf(model.mse_["single"][3]).all()
    assert np.isfinite(model.coef_["forward_backward"]).all()
    assert model.ess_["forward_backward"][3] > model.ess_["forward"][3] + 1  # later tasks tell about it
    assert (model.predict(tasks[3][0], task=3) >= 0).all()


@pytest.mark.parametrize("loss", ["log", "0-1"])
@pytest.mark.parametrize("rate", [None, 0.1])
def test_labels_that_come_later_belong_to_the_same_task(monkeypatch, walk, loss, rate):
    # Not with preset "paper": the step into a task uses a change that its own labels helped to estimate, eq. (7).
    # Where rates are compared, solvers that begin elsewhere end elsewhere within their tolerance.
    monkeypatch.setattr(rules_log, "SCORING_TOLERANCE", 1e-6)
    close = {"rtol": 1e-9 if rate else 1e-5, "atol": 1e-12 if rate else 1e-6}
    tasks = [(task.X, task.y) for task in walk]
    at_once, later = (
        learn(sequence, "recommended", loss=loss, rate=rate)
        for sequence in (tasks[:4], [*tasks[:3], (tasks[3][0], None)])
    )
    later.partial_fit(*tasks[3], gap=0)
    np.testing.assert_allclose(later.mean_["forward"][-1], at_once.mean_["forward"][-1], **close)
    np.testing.assert_allclose(later.ess_["forward"][-1], at_once.ess_["forward"][-1], **close)


@pytest.mark.parametrize("first", [1, 3])
@pytest.mark.parametrize("preset", PRESETS)
def test_many_tasks_without_labels(walk, preset, first):
    """More than are stored: the last labels stay in use, and less and less is known."""
    tasks = [(task.X, task.y) for task in walk]
    model = learn([*tasks[:first], *[(tasks[0][0], None)] * 40, tasks[3]], preset)
    for rule in ("forward", "forward_backward", "predicted"):
        for values in (model.coef_, model.mean_, model.ess_):
            assert np.isfinite(values[rule][1:]).all()
    ess = model.ess_["forward"][first : first + 40]
    assert (np.diff(ess) <= 1e-9).all()


@pytest.mark.parametrize("options", [{}, {"rate": 0.1}])
def test_a_long_gap_leaves_less_to_borrow(walk, options):
    ess = {}
    for gap in (1.0, 10.0, 1e9):
        model = learn([(task.X, task.y) for task in walk.tasks[:3]], "recommended", **options)
        model.partial_fit(walk[3].X, walk[3].y, gap=gap)
        ess[gap] = model.ess_["forward"][-1]
    assert ess[1.0] > ess[10.0] > ess[1e9]
    if options:  # side by side, a rate of zero keeps its share whatever the gap
        assert ess[1e9] == pytest.approx(20, rel=1e-3)
