"""ELLA, Condor, DriftSurf, AUE, trees and references: hand-computed values and independent recomputation."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import log_loss

from imrc.baselines._strsaga import Stream, StrsagaModel, StrsagaSettings
from imrc.baselines.aue import AUE, AUESettings, HoeffdingTree
from imrc.baselines.base import with_last_intercept
from imrc.baselines.condor import Condor, reweight
from imrc.baselines.driftsurf import DriftSurf
from imrc.baselines.ella import ELLA, Basis, fit_logistic, sparse_code
from imrc.baselines.simple import RecentLogistic, SeenLogistic, SingleTaskLogistic, fit_multinomial


def clusters(n, seed, d=3, flip=False, spread=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = spread * rng.standard_normal((n, d))
    X[:, 0] += 3.0 * (2 * y - 1)
    return X, (1 - y if flip else y)


class TestLogistic:
    @pytest.mark.parametrize(("n", "d"), [(30, 4), (12, 40)])
    @pytest.mark.parametrize("free", [True, False])
    def test_binary_fit_is_stationary(self, rng, n, d, free):
        X1, y = with_last_intercept(rng.standard_normal((n, d))), rng.integers(0, 2, n)
        theta = fit_logistic(X1, y.astype(float), 0.5, free_last=free)
        penalty = np.append(np.full(d, 0.5), 0.0 if free else 0.5)
        np.testing.assert_allclose(X1.T @ (1 / (1 + np.exp(-X1 @ theta)) - y), -penalty * theta, atol=1e-9)

    @pytest.mark.parametrize(("n", "d", "classes"), [(60, 4, 3), (15, 40, 3), (60, 4, 2), (15, 40, 2)])
    def test_multinomial_fit_equals_scikit_learn(self, rng, n, d, classes):
        X, y = rng.standard_normal((n, d)), np.arange(n) % classes
        sk = LogisticRegression(C=0.7, tol=1e-9, max_iter=5000).fit(X, y)
        got = fit_multinomial(X, y, classes, 0.7, tol=1e-8)
        mine = X @ got[:, :-1].T + got[:, -1]
        theirs = sk.decision_function(X)
        if classes == 2:
            mine, theirs = mine[:, 1:] - mine[:, :1], theirs[:, None]
        else:
            mine, theirs = (scores - scores.mean(axis=1, keepdims=True) for scores in (mine, theirs))
        np.testing.assert_allclose(mine, theirs, atol=1e-4)  # both stop at a gradient of about 1e-8 per sample
        again = fit_multinomial(X, y, classes, 0.7, got, tol=1e-8)
        np.testing.assert_allclose(again, got, atol=1e-4)


class TestELLA:
    @pytest.mark.parametrize("seed", range(4))
    def test_code_equals_scikit_learn_lasso(self, seed):
        rng = np.random.default_rng(seed)
        d, q, mu = 8, 3, 0.4
        root = rng.standard_normal((d, d))
        curvature, theta, L = root.T @ root, rng.standard_normal(d), rng.standard_normal((d, q))
        values, vectors = np.linalg.eigh(curvature)
        half = vectors @ np.diag(np.sqrt(values)) @ vectors.T
        lasso = Lasso(alpha=mu / (2 * d), fit_intercept=False, tol=1e-14, max_iter=100_000).fit(half @ L, half @ theta)
        got = sparse_code(L.T @ curvature @ L, L.T @ curvature @ theta, mu)
        np.testing.assert_allclose(got, lasso.coef_, atol=1e-7)

    def test_basis_is_stationary(self, rng):
        d, q, penalty = 4, 2, 0.03
        basis, parts = Basis(d, q, rng), []
        for _ in range(7):
            root, theta = rng.standard_normal((d, d)), rng.standard_normal(d)
            basis.add(theta, root.T @ root, sparsity=0.01, penalty=penalty, first_span=True)
            parts.append((root.T @ root, theta))
            slopes = [np.outer(C @ (basis.L @ s - t), s) for (C, t), s in zip(parts, basis.codes, strict=True)]
            used = np.any(basis.codes, axis=0)  # a column no task uses is redrawn at random
            np.testing.assert_allclose((penalty * basis.L + np.mean(slopes, axis=0))[:, used], 0.0, atol=1e-10)

    def test_later_tasks_change_earlier_rules(self):
        ella = ELLA(n_classes=2, n_features=3, random_state=0, components=1)
        ella.partial_fit_task(0, *clusters(20, 0))
        before = ella.problems[0].L @ ella.problems[0].codes[0]
        ella.partial_fit_task(1, *clusters(20, 1, spread=2.0))
        assert not np.allclose(before, ella.problems[0].L @ ella.problems[0].codes[0], rtol=1e-3)


class TestCondor:
    def test_weights_of_losses_far_apart_neither_overflow_nor_give_nan(self):
        found = reweight(np.log([0.5, 0.5]), np.array([[1e5, 9e5]]), 0.75)
        np.testing.assert_allclose(np.exp(found), [1.0, 0.0])

    @pytest.mark.parametrize(("n", "d"), [(20, 3), (5, 12)])
    def test_first_task_is_ridge_regression(self, rng, n, d):
        X, y = rng.standard_normal((n, d)), np.arange(n) % 2
        condor = Condor(n_classes=2, n_features=d, random_state=0, bias=0.3).partial_fit_task(0, X, y)
        ridge = Ridge(alpha=n * 0.3, fit_intercept=False, solver="cholesky").fit(with_last_intercept(X), 2.0 * y - 1)
        np.testing.assert_allclose(condor.models[0, :, 0], ridge.coef_, rtol=1e-8)

    def test_oldest_model_is_dropped_and_weights_start_again(self):
        options = {"n_classes": 2, "n_features": 3, "random_state": 0, "pool": 3}
        condor, first = Condor(**options), []
        for step in range(5):
            task = clusters(12, step, flip=step in (3, 4))
            first.append(condor.partial_fit_task(step, *task).models[-1])
            np.testing.assert_allclose(condor.weights, 1 / min(step + 1, 3))
        np.testing.assert_array_equal(condor.models, first[2:])
        assert condor.state_size() == 3 * 4 + 3


def script(risks, competitor):
    """A DriftSurf whose risks are told beforehand: those of w, and those of any competitor."""

    class Scripted(DriftSurf):
        def _risk(self, model, X1, y):
            if len(y) > 2:  # the evaluation set at the end of a reactive state
                return self.evaluation["w" if model is self.model else "competitor"]
            if model is self.reactive_model:
                return competitor[self.n_tasks]
            return risks[self.n_tasks] if model is self.model else np.inf

    return Scripted(n_classes=2, n_features=1, random_state=0)


def near_one(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 30 % of class 1 and 200 features just below 1, ten of which tell the classes apart a little."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 10 < 3).astype(np.int64)
    X = 1.0 - 0.1 * rng.random((n, 200))
    X[:, :10] -= 0.1 * y[:, None]
    return X, y


def answers(learner, *, n: int = 10, steps: int = 6) -> tuple[float, float]:
    """Learn some tasks; return the error on fresh samples and the share of answers for class 1."""
    for step in range(steps):
        learner.partial_fit_task(step, *near_one(n, step))
    X, y = near_one(500, 99)
    said = learner.predict(X)
    return float(np.mean(said != y)), float(said.mean())


def test_defaults_answer_more_than_one_class():
    """Features near 1, few samples of one class: what the default profiles were chosen for."""
    options = {"n_classes": 2, "n_features": 200, "random_state": 0}
    for method in (Condor, AUE):
        error, share = answers(method(**options))
        assert error < 0.05
        assert 0.25 < share < 0.35
    assert answers(Condor(**options, profile="strong"))[1] == 0.0
    # A uniform start outweighs the first task: all answers are the class of fewer samples, never with trees.
    assert answers(AUE(**options, profile="logistic"), steps=1) == (0.7, 1.0)
    assert answers(AUE(**options), steps=1)[0] <= 0.3
    np.testing.assert_array_equal(DriftSurf(**options).model.W, 0.0)
    assert (DriftSurf(**options, profile="uniform").model.W > 0).all()


class TestDriftSurf:
    @pytest.mark.parametrize("classes", [2, 3])
    def test_strsaga_written_a_second_time(self, rng, classes):
        outputs, eta, mu = (1 if classes == 2 else classes), 0.05, 0.01
        X, y = rng.standard_normal((9, 4)), np.arange(9) % classes
        model, stream = StrsagaModel(0, (outputs, 4), StrsagaSettings(eta, mu, 2, "uniform"), rng), Stream(4)
        W, table = model.W.copy(), {}
        for part in (slice(0, 4), slice(4, 9)):
            stream.extend(X[part], y[part])
            samples = part.stop - part.start
            uniforms = np.random.default_rng(part.start).random(2 * samples)
            model.train(stream, samples, np.random.default_rng(part.start))
            end = len(table)
            for s, u in enumerate(uniforms):
                if s % 2 == 0 and end < part.stop:
                    i, end = end, end + 1
                else:
                    i = int(u * end)
                if outputs == 1:
                    sign = 2 * y[i] - 1
                    g = np.array([-sign / (1 + np.exp(sign * (W[0] @ X[i])))])
                else:
                    p = np.exp(W @ X[i])
                    g = p / p.sum() - np.eye(classes)[y[i]]
                total = sum((np.outer(a, X[j]) for j, a in table.items()), np.zeros_like(W))
                change = g - table.get(i, np.zeros(outputs))
                W = (1 - eta * mu) * W - eta * (np.outer(change, X[i]) + total / max(1, len(table)))
                table[i] = g
        np.testing.assert_allclose(model.W, W, rtol=1e-10)
        np.testing.assert_allclose(model.total, sum(np.outer(a, X[j]) for j, a in table.items()), rtol=1e-9)

    def test_risk_is_regularised_mean_log_loss(self, rng):
        X, y = rng.standard_normal((6, 3)), np.array([0, 1, 2, 0, 1, 2])
        model = StrsagaModel(0, (3, 3), StrsagaSettings(0.1, 0.5, 2, "uniform"), rng)
        W = model.W
        expected = log_loss(y, softmax(X @ W.T, axis=1), labels=[0, 1, 2]) + 0.25 * (W**2).sum()
        np.testing.assert_allclose(model.regularised_risk(X, y), expected, rtol=1e-12)
        model.W = W[:1]
        expected = log_loss(y == 1, expit(X @ W[0])) + 0.25 * (W[0] ** 2).sum()
        np.testing.assert_allclose(model.regularised_risk(X, y), expected, rtol=1e-12)

    @pytest.mark.parametrize(
        ("final", "switched"), [({"w": 0.46, "competitor": 0.25}, True), ({"w": 0.25, "competitor": 0.46}, False)]
    )
    def test_state_machine(self, final, switched):
        risks = [0.50, 0.30, 0.35, 0.39, 0.45, 0.50, 0.48, 0.47]
        surf = script(risks, dict(zip(range(4, 8), [0.69, 0.44, 0.32, 0.28], strict=True)))
        surf.evaluation = final
        seen, first = [], surf.model
        for step in range(8):
            competitor = surf.reactive_model
            surf.partial_fit_task(step, [[0.0], [1.0]], [0, 1])
            competitor = surf.reactive_model or competitor
            with_competitor = surf.predictor is competitor and competitor is not None
            seen.append((first.best_risk, surf.reactive, surf.counter, with_competitor))
        best, states, counters, with_competitor = zip(*seen, strict=True)
        assert best == (0.50, *[0.30] * 7)
        assert states == (*[False] * 4, *[True] * 3, False)
        assert counters[4:] == (1, 2, 3, 4)
        assert with_competitor[:7] == (*[False] * 5, True, True)
        assert surf.n_switches == int(switched)
        assert (surf.model is first) == (not switched)
        assert surf.reactive_model is None
        if switched:
            assert surf.model.best_risk == 0.28
            assert surf.model.start == 2 * 4  # its samples begin with the batch that started the reactive state
            assert surf.stable_model.start == 16  # w'' begins after the newest batch
            assert surf.predictor is surf.model

    def test_crossing_must_be_strict_and_zero_is_a_risk(self):
        surf = script([0.0, 0.1, 0.1001], {2: 0.5})
        states = [surf.partial_fit_task(step, [[0.0], [1.0]], [0, 1]).reactive for step in range(3)]
        assert states == [False, False, True]

    def test_flipped_labels_are_noticed_and_survived(self):
        surf = DriftSurf(n_classes=2, n_features=3, random_state=0, rate=0.05)
        tasks = [clusters(200, step, flip=step >= 5, spread=0.5) for step in range(12)]
        assert [surf.partial_fit_task(step, *task).reactive for step, task in enumerate(tasks)].index(True) == 5
        assert surf.n_switches == 1
        assert surf.model.start == 5 * 200
        X, y = clusters(200, 99, flip=True, spread=0.5)
        assert np.mean(surf.predict(X) != y) < 0.01
        # Samples from before the switch are forgotten.
        assert surf.stream.first == 1000
        assert len(surf.stream.y) == 1400


class TestAUE:
    class Fixed:
        """A member that gives every sample the same share of class 1."""

        def __init__(self, share):
            self.share = share

        def learn(self, X1, y):
            pass

        def shares(self, X1):
            return np.tile([1 - self.share, self.share], (len(X1), 1))

    def prepared(self, shares, **options):
        aue = AUE(n_classes=2, n_features=1, random_state=0, **options)
        aue.members = [self.Fixed(share) for share in shares]
        aue.weights = np.ones(len(shares))
        return aue

    def test_weights_of_a_block(self):
        """Labels (1, 1, 1, 0, 0): MSE_r = .24; a member sure of class 1 has MSE .4, an undecided one .25."""
        aue = self.prepared([1.0, 0.5])
        aue.partial_fit_task(0, np.zeros((5, 1)), [1, 1, 1, 0, 0])
        np.testing.assert_allclose(aue.weights, [1 / 0.64, 1 / 0.49, 1 / 0.24], rtol=1e-8)

        full = self.prepared([1.0, 0.5], members=2)
        stays = full.members[1]
        full.partial_fit_task(0, np.zeros((5, 1)), [1, 1, 1, 0, 0])
        assert full.members[0] is stays  # the lightest has gone
        assert len(full.members) == 2

    def test_votes(self):
        # Two old members for class 1 outvote a heavier candidate for class 0 (.535 to .465); .328 * .9 + .207 * .6 +
        # .465 * .05 = .443; ties go to the smaller label.
        three, weights = [0.9, 0.6, 0.05], [2.941176, 1.851852, 4.166667]
        for shares, weight, options, answer in (
            (three, weights, {"profile": "logistic"}, 1),
            (three, weights, {}, 0),
            ([0.9, 0.1], [1.0, 1.0], {}, 0),
        ):
            aue = self.prepared(shares, **options)
            aue.weights, aue.n_tasks = np.array(weight), 1
            assert aue.predict([[0.0]]).tolist() == [answer]

    def test_label_flip_moves_the_weight_to_the_newest(self):
        aue = AUE(n_classes=2, n_features=3, random_state=0)
        aue.partial_fit_task(0, *clusters(100, 0, spread=0.3)).partial_fit_task(1, *clusters(100, 1, spread=0.3))
        np.testing.assert_allclose(aue.weights, [4.0, 4.0], rtol=0.01)
        aue.partial_fit_task(2, *clusters(100, 2, spread=0.3, flip=True))
        np.testing.assert_allclose(aue.weights, [0.8, 0.8, 4.0], rtol=0.01)


class TestHoeffdingTree:
    def test_leaf_votes_are_gaussian_naive_bayes(self, rng):
        X, y = rng.standard_normal((60, 4)), np.arange(60) % 3
        X[y == 1] += 1.0
        tree = HoeffdingTree(4, 3, AUESettings())
        tree.learn(X, y)
        tree.right[0] = (0, 1)  # let naive Bayes vote
        densities = [norm.pdf(X, X[y == c].mean(axis=0), X[y == c].std(axis=0, ddof=1)) for c in range(3)]
        expected = np.prod(densities, axis=2).T * np.bincount(y)
        np.testing.assert_allclose(tree.shares(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
        tree.right[0] = (5, 1)  # the majority class was right more often: counts vote
        np.testing.assert_allclose(tree.shares(X), 1 / 3)

    def test_class_the_leaf_has_not_seen(self):
        tree = HoeffdingTree(1, 3, AUESettings())
        tree.counts[0] = (1.0, 9.0, 0.0)  # what a split leaves to a new leaf
        np.testing.assert_allclose(tree.shares(np.array([[5.0]])), [[0.1, 0.9, 0.0]])
        tree.learn(np.array([[4.0], [6.0]]), np.array([0, 0]))
        tree.right[0] = (0, 1)
        np.testing.assert_allclose(tree.shares(np.array([[5.0]])), [[1.0, 0.0, 0.0]])

    def test_gains_written_a_second_time(self, rng):
        """Ten thresholds per feature, normal shares cut to the extremes, information gain in bits: in plain loops."""
        X, y = rng.standard_normal((90, 4)), rng.integers(0, 3, 90)
        X[:, 1] += 2.0 * (y == 1)
        X[:, 2] -= 0.5 * y
        tree = HoeffdingTree(4, 3, AUESettings())
        tree.learn(X, y)

        def bits(weights):
            return sum(-w / sum(weights) * np.log2(w / sum(weights)) for w in weights if w > 0)

        gains, thresholds, branches = tree.split_gains(0)
        for j in range(4):
            best = (-np.inf, None, None)
            low, high = X[:, j].min(), X[:, j].max()
            for i in range(1, 11):
                point = low + i / 11 * (high - low)
                left = []
                for c in range(3):
                    x = X[y == c, j]
                    share = norm.cdf(point, x.mean(), x.std(ddof=1))
                    left.append(len(x) * (0.0 if point < x.min() else 1.0 if point >= x.max() else share))
                right = [(y == c).sum() - left[c] for c in range(3)]
                gain = bits([(y == c).sum() for c in range(3)])
                gain -= sum(left) / 90 * bits(left) + sum(right) / 90 * bits(right)
                if min(sum(left), sum(right)) >= 0.9 and gain > best[0]:
                    best = (gain, point, [left, right])
            np.testing.assert_allclose(gains[j], best[0], rtol=1e-10)
            np.testing.assert_allclose(thresholds[j], best[1], rtol=1e-12)
            np.testing.assert_allclose(branches[j], best[2], rtol=1e-9, atol=1e-12)

    def test_no_split_before_the_grace_period(self):
        X, y = clusters(100, 0, spread=0.1)
        tree = HoeffdingTree(3, 2, AUESettings())
        tree.learn(X[:99], y[:99])
        assert len(tree.feature) == 1
        tree.learn(X[99:], y[99:])
        assert tree.feature[0] == 0  # the feature that tells the classes apart
        assert (tree.shares(X).argmax(axis=1) == y).all()


class TestReferences:
    def test_what_each_reference_learns_from(self):
        data = [clusters(14, step, flip=step == 1) for step in range(4)]
        grid = np.random.default_rng(0).uniform(-4, 4, (60, 3))

        def fit(parts):
            W = fit_multinomial(np.vstack([p[0] for p in parts]), np.concatenate([p[1] for p in parts]), 2)
            return (grid @ W[:, :-1].T + W[:, -1]).argmax(axis=1)

        options = {"n_classes": 2, "n_features": 3}
        single, seen = SingleTaskLogistic(**options), SeenLogistic(**options)
        recent, alone = RecentLogistic(**options, b=1), RecentLogistic(**options, b=0)
        for step, (X, y) in enumerate(data):
            for learner in (single, seen, recent, alone):
                learner.partial_fit_task(step, X, y)
        for task in range(4):
            np.testing.assert_array_equal(single.predict(grid, task=task), fit(data[task : task + 1]))
            np.testing.assert_array_equal(alone.predict(grid, task=task), fit(data[task : task + 1]))
            np.testing.assert_array_equal(recent.predict(grid, task=task), fit(data[max(0, task - 1) : task + 1]))
            np.testing.assert_array_equal(seen.predict(grid, task=task), fit(data))
        assert single.state_size() == 4 * 8
        assert seen.state_size() == 8 + 4 * 14 * 4
        assert recent.state_size() == 4 * 8 + 14 * 4

    @pytest.mark.parametrize("cls", [SingleTaskLogistic, RecentLogistic, SeenLogistic])
    def test_tuned_penalty_is_that_with_the_smallest_loss_on_held_out_samples(self, cls):
        """Labels that are noise want a large penalty, classes far apart a small one."""
        rng, options = np.random.default_rng(0), {"n_classes": 2, "n_features": 3, "profile": "tuned"}
        noise = [(rng.standard_normal((20, 3)), rng.permutation(np.arange(20) % 2)) for _ in range(4)]
        grid = rng.uniform(-4, 4, (60, 3))
        for data, factor in ((noise, 0.25), ([clusters(20, step) for step in range(4)], 4.0)):
            tuned, told = cls(**options), cls(n_classes=2, n_features=3, C=factor)
            for step, task in enumerate(data):
                tuned.partial_fit_task(step, *task)
                told.partial_fit_task(step, *task)
            np.testing.assert_allclose(tuned.rules[-1], told.rules[-1], atol=1e-2)
            np.testing.assert_array_equal(tuned.predict(grid), told.predict(grid))
