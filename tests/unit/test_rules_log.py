"""The learner for log loss: one weighted problem a rule, and shares by what was predicted when tasks arrived."""

import functools

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from imrc.core import rules_log
from imrc.core.presets import ALONE, CANDIDATES, POOLED
from imrc.core.rules_log import LogLossLearner
from imrc.core.settings import resolve_settings
from imrc.solvers import logistic


def learner(b=3, n_classes=2, candidates=CANDIDATES, **overrides):
    return LogLossLearner(resolve_settings("recommended", b=b, **overrides), n_classes, candidates)


def mapped(X, factor=10.0):
    """Rows with the intercept first, about as long as the features that penalties are made for."""
    return np.hstack([np.ones((len(X), 1)), factor * X])


def tasks(count, n, turn=0.0, flips=False, seed=0, d=3, noise=0.0, factor=10.0):
    """Tasks of two classes whose boundary turns by an angle a task, or whose labels change places every time.

    `noise` is the share of labels that are wrong; n is one number or one a task.
    """
    generator = np.random.default_rng(seed)
    for j, size in enumerate(np.broadcast_to(n, count)):
        X = generator.standard_normal((size, d))
        y = (X[:, 0] * np.cos(turn * j) + X[:, 1] * np.sin(turn * j) > 0).astype(np.int64)
        y = np.where(generator.random(size) < noise, 1 - y, y)
        yield mapped(X, factor), (1 - y if flips and j % 2 else y)


def learnt(sequence, model):
    return [model.step(X1, y) for X1, y in sequence]


def rules_of(steps):
    return np.array([rule.coef for step in steps for rule in (step.alone, step.forward, *step.revised)])


def tight(monkeypatch):
    """Let solvers go on to their solutions, so that what is compared is the method."""
    for name in ("TOLERANCE", "SCORING_TOLERANCE"):
        monkeypatch.setattr(rules_log, name, 1e-7)
    monkeypatch.setattr(logistic, "solve_in_turn", functools.partial(logistic.solve_in_turn, max_iter=3000))


# The method once more, in sixty lines
RATES = np.array([0.0, 0.1, 1.0, 1e12, 0.01])
PENALTIES, STARTS = np.array([16.0, 4.0, 4.0, 4.0, 4.0]), np.array([4.0, 2.0, 1.0, 1.0, 1.0])


def solved(X, y, w, penalty, C):
    """Weighted multinomial logistic regression by Newton's method, with shorter steps where they overshoot."""
    theta, step, eye, value = np.zeros((C, X.shape[1])), 0.0, np.eye(C), np.inf
    for _ in range(500):
        there = theta - step
        scores = X @ there.T
        new = w @ (logsumexp(scores, axis=1) - (scores * eye[y]).sum(axis=1)) + penalty / 2 * (there**2).sum()
        if new > value:
            step = step / 2
            continue
        theta, value, h = there, new, softmax(scores, axis=1)
        gradient = (w[:, None] * (h - eye[y])).T @ X + penalty * theta
        if np.linalg.norm(gradient) < 1e-9:
            break
        curvature = w[:, None, None] * (h[:, :, None] * eye - h[:, :, None] * h[:, None, :])
        hessian = np.einsum("nab,ni,nj->aibj", curvature, X, X).reshape(theta.size, -1) + penalty * np.eye(theta.size)
        step = np.linalg.solve(hessian, gradient.ravel()).reshape(theta.shape)
    return theta


def faded(worth, gap):
    return worth / (1.0 + RATES * gap * worth.sum(axis=1))[:, None]


def follow(sizes, gaps):
    """Return what the samples of all tasks are worth to each, (rates, tasks): a row sums to its effective samples."""
    found = [np.zeros((len(RATES), len(sizes)))]
    for own, gap in zip(np.diag(sizes), gaps, strict=True):
        found.append(own + faded(found[-1], gap))
    return found[1:]


def loss(theta, X, y):
    return -np.log(0.99 * softmax(X @ theta.T, axis=1)[np.arange(len(y)), y] + 0.01 / len(theta)).sum()


def method(data, all_gaps, C, b):
    """Yield the newest rule, the b before it, that of the task to come, and both shares, step by step."""
    at, before, scale = np.log(STARTS[:4]), np.log(STARTS), np.append(10.0, np.ones(data[0][0].shape[1] - 1))
    unit, ahead, speed = np.sqrt((data[0][0][:, 1:] ** 2).sum(axis=1).mean() / 250.0), [], 0.0
    for k, (now, y_now) in enumerate(data):
        X, y = np.vstack([X for X, _ in data[: k + 1]]) * scale, np.concatenate([y for _, y in data[: k + 1]])
        sizes, gaps, new = [len(y) for _, y in data[: k + 1]], all_gaps[: k + 1], y.size - y_now.size
        task, time = np.repeat(np.arange(k + 1), sizes), (np.cumsum(gaps) - np.sum(gaps) - 1.0) / 3.0

        def learn(worth, penalty, X=X, y=y, task=task):
            w = np.where(worth > 1e-3 * worth.max(), worth, 0.0)[task] / np.bincount(task)[task]
            return solved(X, y, w / w.sum(), unit * penalty * C / (C - 1) / worth.sum(), C)

        if k:
            ahead[4] = ahead[4] + (gaps[k] - 1.0) / 3.0 * speed
            before = before - [loss(theta, now * scale, y_now) for theta in ahead]
        # Rows in the order of classes, these by their first row: every other one is held back, in turn.
        order = new + np.argsort([list(y_now).index(c) for c in y_now], kind="stable")
        held, rest = order[(k + 1) % 2 :: 2], np.append(np.arange(new), order[k % 2 :: 2])
        half = follow([*sizes[:-1], len(rest) - new], gaps)[-1]
        tested = [learn(half[c], PENALTIES[c], X[rest], y[rest], task[rest]) for c in range(4)]
        at = at - [loss(theta, X[held], y[held]) for theta in tested]
        shares, rules, forward = softmax(at), [], follow(sizes, gaps)
        for j in range(k, max(k - 1 - b, -1), -1):
            worth = forward[j].copy()
            if j < k:
                worth[:, j + 1 :] = faded(follow(sizes[:j:-1], [1.0, *gaps[k : j + 1 : -1]])[-1], gaps[j + 1])[:, ::-1]
            N, penalty = np.exp(shares @ np.log(worth.sum(axis=1)[:4])), np.exp(shares @ np.log(PENALTIES[:4]))
            rules.append(learn(N * shares @ (worth / worth.sum(axis=1)[:, None])[:4], penalty))
        level, speed = np.hsplit(learn(forward[-1][4], PENALTIES[4], np.hstack([X, time[task][:, None] * X])), 2)
        ahead = [*(learn(forward[-1][c], PENALTIES[c]) for c in range(4)), level]
        rules.append(np.tensordot(softmax(before), ahead, axes=1))
        yield [(theta * scale).ravel() for theta in rules], shares, softmax(before)


@pytest.mark.parametrize(
    ("C", "d", "turn", "gaps"), [(2, 3, 0.3, [1.0] * 6), (3, 9, 0.1, [1.0, 1.0, 3.0, 1.0, 0.0, 2.0])]
)
def test_the_method_written_again_gives_the_same_rules_and_shares(monkeypatch, C, d, turn, gaps):
    """Few features make 2 D < rows, so that the learner changes from the Gram matrix to features on the way."""
    data = [
        (X1, np.minimum(y + (X1[:, 3] > 5.0), C - 1))
        for X1, y in tasks(6, [7, 12, 9, 14, 6, 11], turn=turn, d=d, noise=0.1, factor=5.0)
    ]
    usual, exact = learner(b=2, n_classes=C), learner(b=2, n_classes=C)
    loose = []
    for (X1, y), gap in zip(data, gaps, strict=True):
        step = usual.step(X1, y, gap)
        found = [one.coef for one in (step.forward, *step.revised, usual.predicted())]
        loose.append((found, usual.shares(), usual.shares(coming=True)))
    tight(monkeypatch)
    again = method(data, gaps, C, b=2)
    for (X1, y), gap, (rules, at, before), (near, *near_shares) in zip(data, gaps, again, loose, strict=True):
        step = exact.step(X1, y, gap)
        found = [one.coef for one in (step.forward, *step.revised, exact.predicted())]
        np.testing.assert_allclose(exact.shares(), at, atol=1e-5)
        np.testing.assert_allclose(exact.shares(coming=True), before, atol=1e-5)
        np.testing.assert_allclose(found, rules, atol=1e-5)
        # With the solver as it is used.
        np.testing.assert_allclose(np.concatenate(near_shares), np.concatenate([at, before]), atol=0.03)
        np.testing.assert_allclose(near, rules, atol=0.1)
    assert exact._store.gram.size == 0


# What is solved


@pytest.mark.parametrize("rate", [0.0, 0.1, 5.0])
def test_a_fixed_rate_is_the_only_candidate(rate):
    model = learner(rate=rate)
    step = learnt(tasks(5, 10, turn=0.4), model)[-1]
    expected = {f"rate {rate:g}": 1.0, "rate inf": 0.0, "penalty": 16.0 if rate == 0 else 4.0}
    assert model.choices() == pytest.approx(expected)
    N = 10.0
    for _ in range(4):
        N = 10.0 + N / (1.0 + rate * N)
    assert step.forward.ess == pytest.approx(N)


def steps_of_means(count, n, step, seed=0):
    """Tasks of two classes whose means take steps of standard deviation `step`, in units of their spread."""
    generator = np.random.default_rng(seed)
    means = generator.standard_normal((2, 6))
    for _ in range(count):
        y = np.arange(n) % 2
        yield mapped(means[y] + generator.standard_normal((n, 6))), y
        means = means + step * generator.standard_normal(means.shape)


@pytest.mark.parametrize("step", [0.0, 0.2, 0.5])
def test_the_rate_of_change_is_measured(step):
    """Half the squared step of class averages, whose classes have half of the samples each."""
    found = []
    for seed in range(20):
        model = learner()
        learnt(steps_of_means(20, 20, step, seed), model)
        found.append(model._change._excess.total[0] / 19)
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(step**2 / 2, abs=3 * error)


def test_effective_samples_follow_the_change_and_not_the_labels():
    worth = {}
    for step in (0.0, 0.3, 1.0):
        steps = [learnt(steps_of_means(12, 20, step, seed), learner())[-1] for seed in range(5)]
        worth[step] = np.mean([one.forward.ess for one in steps])
        assert all(one.revised[0].ess >= one.forward.ess for one in steps)
    assert worth[0.0] > 1.5 * worth[0.3] > 1.5 * 1.2 * worth[1.0] > 1.5 * 1.2 * 15.0
    near, far = learner(W=1), learner()
    data = [*steps_of_means(6, 20, 0.0), *steps_of_means(2, 20, 0.0, 1)]
    assert learnt(data[:7], near)[-1].forward.ess < learnt(data[:7], far)[-1].forward.ess


def test_loss_01_has_the_same_shares_and_mean_vectors_and_no_rule():
    data = list(tasks(6, 12, turn=0.3))
    log, zero_one = learner(), learner(loss="0-1")
    for one, other in zip(learnt(data, log), learnt(data, zero_one), strict=True):
        for mine, theirs in zip((one.forward, *one.revised), (other.forward, *other.revised), strict=True):
            np.testing.assert_allclose(theirs.mean, mine.mean, rtol=1e-9)
            np.testing.assert_allclose(theirs.mse, mine.mse, rtol=1e-9)
            assert theirs.coef.size == 0
    assert zero_one.choices() == pytest.approx(log.choices())


# Shares


def test_coefficients_that_move_predict_a_boundary_that_turns():
    data = list(tasks(12, 60, turn=0.25, d=2, noise=0.05))
    errors = {}
    for name, candidates in (("all", CANDIDATES), ("still", CANDIDATES[:-1])):
        model = learner(candidates=candidates)
        learnt(data[:-1], model)
        scores = data[-1][0] @ model.predicted().coef.reshape(2, -1).T
        errors[name] = np.mean(scores.argmax(axis=1) != data[-1][1])
        if name == "all":
            assert model.shares(coming=True)[-1] > 0.3
    assert errors["all"] < errors["still"]


@pytest.mark.parametrize("n", [5, 40])
def test_two_periods_ahead_the_moving_rule_goes_twice_as_far(n):
    """With few rows by their Gram matrix, with more by features."""
    model = learner(candidates=(POOLED, ALONE, CANDIDATES[-1]))
    learnt(tasks(6, n, turn=0.2, d=2 if n == 40 else 20), model)
    assert (model._store.gram.size == 0) == (n == 40)
    one, two, three = (model.predicted(gap).coef for gap in (1.0, 2.0, 3.0))
    assert np.abs(two - one).max() > 1e-4
    np.testing.assert_allclose(three - two, two - one, rtol=1e-6, atol=1e-12)


# Tasks of all kinds


def test_a_task_without_labels_leaves_the_accounts_and_has_a_rule():
    data = list(tasks(6, 20, turn=0.3))
    model = learner()
    ess = learnt(data[:5], model)[-1].forward.ess
    shares = model.shares(), model.shares(coming=True)
    step = model.step(data[5][0], None)
    assert np.isnan(step.alone.coef).all()
    assert np.isinf(step.alone.mse).all()
    assert np.isfinite(step.forward.coef).all()
    assert step.forward.ess < ess
    np.testing.assert_equal((model.shares(), model.shares(coming=True)), shares)
    assert np.isfinite(model.step(*data[4]).revised[0].coef).all()


@pytest.mark.parametrize("n", [1, 2])
def test_tasks_of_a_row_or_two(n):
    model = learner()
    steps = learnt(tasks(60, n, noise=0.1), model)
    assert np.isfinite(rules_of(steps[-10:])).all()
    # One row cannot be halved.
    assert np.any(model._at.total) == (n == 2)
    assert np.all(model._before.total > 0)
    X1, y = next(tasks(1, 200, seed=5))
    assert np.mean((X1 @ model.predicted().coef.reshape(2, -1).T).argmax(axis=1) != y) < 0.4


def test_a_class_that_appears_late():
    data = [(X1, y + (y & (X1[:, 3] > 0.0)) if j >= 3 else y) for j, (X1, y) in enumerate(tasks(6, 30))]
    model = learner(n_classes=3)
    steps = learnt(data, model)
    assert np.isfinite(rules_of(steps)).all()
    X1, y = data[-1]
    early, late = ((X1 @ step.forward.coef.reshape(3, -1).T).argmax(axis=1) for step in (steps[2], steps[5]))
    assert (early < 2).all()
    assert np.mean(late[y == 2] == 2) > 0.7


# What is kept


def test_of_more_rows_than_are_stored_the_oldest_go():
    model = learner(b=2, rate=0)
    steps = learnt(tasks(9, 600), model)
    # Six tasks at least, though four would hold 2,000 rows.
    assert (len(model._store.y), len(model._averages), len(steps[-1].forward.weights)) == (3600, 6, 6)
    # What is dropped counts no more, neither in the rule nor in what it is worth.
    np.testing.assert_allclose(steps[-1].forward.weights, np.full(6, 1 / 6))
    assert steps[-1].forward.ess == pytest.approx(3600.0)
    small = learner(b=2, rate=0)
    learnt(tasks(50, 90), small)
    assert len(small._store.y) == 23 * 90  # just enough for 2,000


def test_what_is_stored_does_not_depend_on_b_up_to_five():
    data = list(tasks(9, 600, turn=0.1))
    rules, aheads = [], []
    for b in (0, 5):
        model = learner(b=b)
        rules.append([step.forward.coef for step in learnt(data, model)])
        aheads.append(model.predicted().coef)
        assert len(model._store.y) == 6 * 600
    np.testing.assert_array_equal(rules[0], rules[1])
    np.testing.assert_array_equal(aheads[0], aheads[1])


def test_features_in_another_unit_change_little():
    """Penalties follow the length of rows: without that, rows a hundred times as long would have none to speak of."""
    shares, signs = [], []
    for factor in (1.0, 10.0, 1000.0):
        model, given = learner(), []
        for X1, y in tasks(12, 25, turn=0.2, noise=0.1, factor=factor):
            model.step(X1, y)
            given.append((X1 @ model.predicted().coef.reshape(2, -1).T).argmax(axis=1))
        shares.append(model.shares())
        signs.append(np.concatenate(given))
    for one, answers in zip(shares, signs, strict=True):
        np.testing.assert_allclose(one, shares[1], atol=0.03)
        assert np.mean(answers != signs[1]) < 0.05


def test_revising_now_or_not_changes_no_later_rule():
    data = list(tasks(6, 15, turn=0.2))
    always, seldom = learner(), learner()
    learnt(data, always)
    for j, (X1, y) in enumerate(data):
        step = seldom.step(X1, y, revise=j == 5)
    np.testing.assert_array_equal(seldom.predicted().coef, always.predicted().coef)
    assert len(step.revised) == 3
