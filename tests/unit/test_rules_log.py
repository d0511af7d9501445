"""The learner for log loss: one weighted problem a rule, shares by what was predicted, a map that grows."""

import numpy as np
import pytest

from imrc.core.moments import sample_moments
from imrc.core.recursions import track_forward, track_forward_backward
from imrc.core.rules_log import ALONE, CANDIDATES, Candidate, LogLossLearner
from imrc.features import Identity, Standardised
from imrc.solvers.log_loss import INTERCEPT_SCALE, TOLERANCE

POOLED, OWN = Candidate(0.0, 16.0), Candidate(ALONE, 4.0)


def linear(rows):
    """Inputs ten times as large, about as long as the features that penalties are made for."""
    return Standardised(np.zeros(rows.shape[1]), np.full(rows.shape[1], 0.1))


def tasks(count, n, turn=0.0, flips=False, seed=0, d=3, noise=0.0):
    """Tasks of two classes whose boundary turns by an angle a task, or whose labels change places every time.

    `noise` is the share of labels that are wrong.
    """
    generator = np.random.default_rng(seed)
    for j in range(count):
        X = generator.standard_normal((n, d))
        y = (X[:, 0] * np.cos(turn * j) + X[:, 1] * np.sin(turn * j) > 0).astype(np.int64)
        y = np.where(generator.random(n) < noise, 1 - y, y)
        yield X, (1 - y if flips and j % 2 else y)


def learnt(sequence, learner):
    return [learner.step(X, y) for X, y in sequence]


def gradient_norm(rule, X, y, weights, strength):
    """Norm of the gradient of weighted log loss plus penalty at a rule, in the metric of the solver."""
    rows = np.hstack([np.full((len(X), 1), INTERCEPT_SCALE), 10.0 * X])
    theta = rule.mu / np.array([INTERCEPT_SCALE] + [1.0] * X.shape[1])
    scores = rows @ theta.T
    h = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return np.linalg.norm((weights[:, None] * (h - np.eye(len(theta))[y])).T @ rows + strength * theta)


def test_rate_zero_is_pooling_and_alone_is_the_task_by_itself():
    data = list(tasks(4, 12))
    X, y = np.vstack([X for X, _ in data]), np.concatenate([y for _, y in data])
    step = learnt(data, LogLossLearner(2, linear, candidates=(POOLED,)))[-1]
    even = np.full(len(y), 1.0 / len(y))
    assert gradient_norm(step.forward, X, y, even, 16.0 * 2.0 / len(y)) < 1.001 * TOLERANCE
    assert gradient_norm(step.pooled, X, y, even, 16.0 * 2.0 / len(y)) < 1.001 * TOLERANCE
    assert step.forward.ess == pytest.approx(48.0)
    own = learnt(data, LogLossLearner(2, linear, candidates=(OWN,)))[-1]
    assert own.forward.ess == pytest.approx(12.0)
    assert gradient_norm(own.forward, *data[-1], np.full(12, 1 / 12), 4.0 * 2.0 / 12.0) < 1.001 * TOLERANCE
    assert own.alone is not None
    assert own.pooled is None


def test_weights_and_effective_samples_are_those_of_the_recursions():
    sizes, rate = [5, 20, 1, 8, 8], 0.1
    learner = LogLossLearner(2, linear, b=3, candidates=(Candidate(rate, 4.0),))
    generator = np.random.default_rng(1)
    for n in sizes:
        step = learner.step(generator.standard_normal((n, 2)), np.arange(n) % 2)
    s = 1.0 / np.array(sizes)[:, None]
    tau, d = np.eye(5), np.full((5, 1), rate)
    forward, forward_s = track_forward(tau, np.repeat(s, 5, axis=1), d)
    both, both_s = track_forward_backward(tau, np.repeat(s, 5, axis=1), d, 3)
    weights, _ess = learner._weights.forward()
    assert weights[0] == pytest.approx(forward[-1])
    assert step.forward.ess == pytest.approx(1.0 / forward_s[-1, 0])
    for back, (found, _) in enumerate(learner._weights.revised(), start=1):
        assert found[0] == pytest.approx(both[-1 - back])
        assert step.revised[back - 1].ess == pytest.approx(1.0 / both_s[-1 - back, 0])


def test_mean_vectors_are_tracked_averages_in_the_newest_map():
    data = list(tasks(4, 6, noise=0.1))
    factors = iter([1.0, 2.0, 4.0])
    learner = LogLossLearner(
        2, lambda rows: Standardised(np.zeros(3), np.full(3, next(factors))), b=1, candidates=(Candidate(0.1, 4.0),)
    )
    step = learnt(data, learner)[-1]
    averages = [
        sample_moments(np.hstack([np.ones((6, 1)), X / 4.0]), y, 2)[0] for X, y in data
    ]  # the map of 24 rows, also for the first tasks
    weights = learner._weights.forward()[0][0]
    assert step.forward.mean == pytest.approx(weights @ np.stack(averages))
    assert step.forward.mean.reshape(2, -1)[:, 0].sum() == pytest.approx(1.0)
    intercepts = step.forward.mse.reshape(2, -1)[:, 0]
    assert intercepts * step.forward.ess == pytest.approx(intercepts[::-1] * step.forward.ess)
    assert (learner.predicted().mse > step.forward.mse).all()


def test_shares_follow_what_was_predicted():
    alike, turned = LogLossLearner(2, linear), LogLossLearner(2, linear)
    learnt(tasks(12, 20, noise=0.15), alike)
    worth = learnt(tasks(12, 20, flips=True), turned)[-1].forward.ess
    assert alike.shares()[0][:2].sum() > 0.9
    assert alike.shares()[1][:2].sum() > 0.9
    assert turned.shares()[0][-1] > 0.9
    assert worth == pytest.approx(20.0, rel=0.1)


def test_both_accounts_sum_over_the_last_W_arrivals():
    # Labels change places once, late: the last arrivals say something else than all of them.
    data = [*tasks(15, 20, noise=0.15), *((X, 1 - y) for X, y in tasks(2, 20, seed=1, noise=0.15))]
    found = {}
    for W in (1, 2, 5, "all"):
        learner = LogLossLearner(2, linear, W=W)
        learnt(data, learner)
        found[W] = np.concatenate(learner.shares())
    for one, other in ((1, 2), (2, 5), (5, "all")):
        assert np.abs(found[one] - found[other]).max() > 0.01


def test_the_map_is_learnt_again_when_rows_have_doubled():
    seen = []

    def learn(rows):
        seen.append(len(rows))
        return Identity(rows.shape[1])

    learnt(tasks(10, 10), LogLossLearner(2, learn))
    assert seen == [10, 20, 40, 80]


def test_a_rule_keeps_the_map_it_was_learnt_with():
    class Doubled(Identity):
        def transform(self, X):
            return 2.0 * X

    learn = iter([Identity(3), Doubled(3)])
    learner = LogLossLearner(2, lambda rows: next(learn))
    first, second = learnt(tasks(2, 10), learner)
    X = np.ones((4, 3))
    assert first.forward.scores(X)[0] == pytest.approx(first.forward.mu @ [1.0, 1.0, 1.0, 1.0])
    assert second.forward.scores(X)[0] == pytest.approx(second.forward.mu @ [1.0, 2.0, 2.0, 2.0])


def test_rows_or_features_whichever_is_the_smaller_matrix_give_the_same_rules(monkeypatch):
    data = list(tasks(8, 10, turn=0.2))
    found = []
    for few in (True, False):
        monkeypatch.setattr(LogLossLearner, "_few", lambda self, rows, few=few: few)
        learner = LogLossLearner(2, linear)
        found.append([*(step.forward.mu for step in learnt(data, learner)), learner.predicted().mu])
    assert np.abs(np.array(found[0]) - np.array(found[1])).max() < 0.03
    # One that changes over on the way.
    monkeypatch.setattr(LogLossLearner, "_few", lambda self, rows: rows <= 40)
    learner = LogLossLearner(2, linear)
    changed = [*(step.forward.mu for step in learnt(data, learner)), learner.predicted().mu]
    assert np.abs(np.array(found[0]) - np.array(changed)).max() < 0.03


def test_coefficients_that_move_predict_a_boundary_that_turns():
    data = list(tasks(12, 60, turn=0.25, d=2, noise=0.05))
    errors = {}
    for name, candidates in (("all", CANDIDATES), ("still", CANDIDATES[:-1])):
        learner = LogLossLearner(2, linear, candidates=candidates)
        learnt(data[:-1], learner)
        errors[name] = np.mean(learner.predicted().scores(data[-1][0]).argmax(axis=1) != data[-1][1])
        if name == "all":
            assert learner.shares()[1][-1] > 0.9
    assert errors["all"] < errors["still"]


def test_two_periods_ahead_the_moving_rule_goes_twice_as_far():
    learner = LogLossLearner(2, linear, candidates=(POOLED, CANDIDATES[-1]))
    learnt(tasks(6, 40, turn=0.2, d=2), learner)
    one, two, three = (learner.predicted(gap).mu for gap in (1.0, 2.0, 3.0))
    assert np.abs(two - one).max() > 0.01
    assert three - two == pytest.approx(two - one)


def test_a_task_without_labels_leaves_the_accounts_and_has_a_rule():
    data = list(tasks(6, 20, turn=0.3))
    learner = LogLossLearner(2, linear)
    learnt(data[:5], learner)
    before = learner.shares()
    step = learner.step(data[5][0], None)
    assert step.alone is None
    assert np.isfinite(step.forward.mu).all()
    assert step.forward.ess < learner._weights.forward()[1].max()
    for one, other in zip(before, learner.shares(), strict=True):
        assert one == pytest.approx(other)
    assert np.isfinite(learner.step(*data[4]).revised[0].mu).all()


def test_more_rows_of_the_same_task():
    (X, y), *_ = tasks(1, 30)
    parts = LogLossLearner(2, linear, candidates=(OWN,))
    parts.step(X[:10], y[:10])
    assert parts.step(X[10:], y[10:], gap=0.0).forward.ess == pytest.approx(30.0)


@pytest.mark.parametrize("n", [1, 2])
def test_tasks_of_a_row_or_two(n):
    learner = LogLossLearner(2, linear)
    steps = learnt(tasks(60, n, noise=0.1), learner)
    assert all(np.isfinite(step.forward.mu).all() for step in steps)
    X, y = next(tasks(1, 200, seed=5))
    assert np.mean(learner.predicted().scores(X).argmax(axis=1) != y) < 0.4


def test_what_is_stored_does_not_depend_on_b_up_to_five():
    data = list(tasks(9, 600, turn=0.1))
    rules = []
    for b in (0, 5):
        learner = LogLossLearner(2, linear, b=b)
        rules.append([step.forward.mu for step in learnt(data, learner)])
        assert len(learner._y) == 6 * 600
    assert np.array(rules[0]) == pytest.approx(np.array(rules[1]))


def test_names_of_classes_do_not_matter():
    data = list(tasks(6, 11, turn=0.3))
    one, other = LogLossLearner(2, linear), LogLossLearner(2, linear)
    steps = learnt(data, one), learnt([(X, 1 - y) for X, y in data], other)
    for first, second in zip(*steps, strict=True):
        assert first.forward.mu == pytest.approx(second.forward.mu[::-1], abs=1e-9)
