"""GEM, MER, EWC and their network: hand-computed values, independent recomputation, special cases."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from imrc.baselines._network import Layout, group_gradients, loss_gradient, mean_squared_gradient
from imrc.baselines.ewc import EWC, proximal_step
from imrc.baselines.gem import GEM, project_gradient
from imrc.baselines.mer import MER, reservoir_slot

LAYOUT = Layout(4, 5, 3)
OPTIONS = {"n_classes": 2, "n_features": 3, "random_state": 0}


@pytest.fixture
def batch(rng):
    theta = LAYOUT.initial(rng)
    theta += 0.1 * rng.standard_normal(LAYOUT.size)  # biases that are not 0
    return theta, rng.standard_normal((6, 4)), rng.integers(0, 3, 6)


def cross_entropy(layout, theta, X, y):
    """Mean cross-entropy, written a second time from its definition."""
    d, h, c = layout.n_inputs, layout.n_hidden, layout.n_outputs
    parts = np.split(theta, np.cumsum([h * d, h, h * h, h, c * h]))
    a = np.maximum(X @ parts[0].reshape(h, d).T + parts[1], 0)
    a = np.maximum(a @ parts[2].reshape(h, h).T + parts[3], 0)
    scores = a @ parts[4].reshape(c, h).T + parts[5]
    return np.mean([np.log(np.exp(row - row[label]).sum()) for row, label in zip(scores, y, strict=True)])


def fitted(method, data):
    """Return a method that has learnt tasks, one after the other."""
    for step, task in enumerate(data):
        method.partial_fit_task(step, *task)
    return method


def train(n=40, d=3, steps=1, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal((n, d)), rng.integers(0, 2, n)) for _ in range(steps)]


class TestNetwork:
    def test_gradient_is_the_slope_of_the_loss(self, batch):
        theta, X, y = batch
        sides = [approx_fprime(theta, lambda at: cross_entropy(LAYOUT, at, X, y), step) for step in (1e-6, -1e-6)]
        # Their mean is a central difference: error about 1e-12 from curvature and 1e-10 from rounding.
        np.testing.assert_allclose(loss_gradient(LAYOUT, theta, X, y), np.mean(sides, axis=0), atol=1e-8)

    def test_groups_give_each_group_its_own_gradient(self, batch, rng):
        theta = batch[0]
        X, y = rng.standard_normal((3, 5, 4)), rng.integers(0, 3, (3, 5))
        counts = np.array([5, 2, 1])
        expected = [loss_gradient(LAYOUT, theta, X[g, :m], y[g, :m]) for g, m in enumerate(counts)]
        np.testing.assert_allclose(group_gradients(LAYOUT, theta, X, y, counts), expected, rtol=1e-12, atol=1e-15)
        X[1, 2:] = 1e3  # padding is ignored
        np.testing.assert_allclose(group_gradients(LAYOUT, theta, X, y, counts), expected, rtol=1e-12, atol=1e-15)

    def test_squared_gradients_are_per_sample(self, batch):
        theta, X, y = batch
        each = [loss_gradient(LAYOUT, theta, X[i : i + 1], y[i : i + 1]) for i in range(6)]
        np.testing.assert_allclose(
            mean_squared_gradient(LAYOUT, theta, X, y), np.mean(np.square(each), axis=0), rtol=1e-12, atol=1e-18
        )


def plain_sgd(data, rate, seed, batch=10):
    """Parameters of plain SGD with the random choices of GEM and EWC: start, then one permutation per task."""
    rng = np.random.default_rng(seed)
    layout = Layout(data[0][0].shape[1], 100, 2)
    theta = layout.initial(rng)
    for X, y in data:
        order = rng.permutation(len(X))
        for start in range(0, len(X), batch):
            rows = order[start : start + batch]
            theta = theta - rate * loss_gradient(layout, theta, X[rows], y[rows])
    return theta


class TestGEM:
    @pytest.mark.parametrize("seed", range(8))
    @pytest.mark.parametrize("margin", [0.0, 0.5])
    def test_guarantee_and_optimality(self, seed, margin):
        rng = np.random.default_rng(seed)
        g, G, ridge = rng.standard_normal(7), rng.standard_normal((5, 7)), 1e-3
        got, v = project_gradient(g, G, margin=margin, ridge=ridge)
        if (G @ g >= 0).all():
            assert got is g
            return
        assert (v >= margin - 1e-12).all()
        assert (G @ got >= -ridge * v - 1e-9).all()
        P, q = G @ G.T + ridge * np.eye(5), G @ g
        other = minimize(
            lambda u: 0.5 * u @ P @ u + q @ u,
            np.full(5, margin + 1.0),
            jac=lambda u: P @ u + q,
            bounds=[(margin, None)] * 5,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-12},
        )
        assert 0.5 * v @ P @ v + q @ v <= other.fun + 1e-9

    def test_first_task_is_plain_sgd(self):
        data = train(35)
        gem = GEM(**OPTIONS | {"random_state": 4}).partial_fit_task(0, *data[0])
        np.testing.assert_array_equal(gem.theta, plain_sgd(data, 0.1, 4))
        assert gem.n_projections == 0

    def test_memory_holds_the_last_samples_of_each_task(self):
        gem = GEM(**OPTIONS, memory=8)
        sizes = []
        for step, n in enumerate([20, 5, 12]):
            gem.partial_fit_task(step, *train(n, seed=step)[0])
            sizes.append(gem.state_size() - gem.theta.size)
        assert sizes == [8 * 4, 13 * 4, 21 * 4]

    def test_old_losses_fall_less_badly_than_with_plain_sgd(self):
        """Contradicting tasks: the projection keeps the first task's loss lower than fine-tuning does."""
        X = np.random.default_rng(0).standard_normal((60, 3))
        y = (X[:, 0] > 0).astype(np.int64)
        data = [(X, y), (X[::-1], 1 - y[::-1])]
        gem = fitted(GEM(**OPTIONS | {"random_state": 1}, margin=0.0), data)
        layout = Layout(3, 100, 2)
        assert gem.n_projections > 0
        assert cross_entropy(layout, gem.theta, X, y) < cross_entropy(layout, plain_sgd(data, 0.1, 1), X, y)

    def test_overflow_is_caught_and_counted(self):
        for cls, rate, n, scale in ((GEM, 1e6, 40, 1e3), (MER, 10.0, 5, 1e8)):
            data = [(scale * X, y) for X, y in train(n, steps=4)]
            made = fitted(cls(**OPTIONS, learning_rate=rate), data)
            assert made.n_diverged > 0
            assert np.isfinite(made.theta).all()


MER_OPTIONS = {**OPTIONS, "precision": "float64", "learning_rate": 0.05}


class TestMER:
    def test_without_interpolation_it_is_sgd_over_the_concatenated_sequence(self):
        data = train(8, steps=2)
        got = fitted(MER(**MER_OPTIONS, within=1.0, across=1.0, batches=1, replay=5), data)
        rng = np.random.default_rng(0)
        layout = Layout(3, 100, 2)
        theta, memory = layout.initial(rng), []
        for X, y in data:
            for i in rng.permutation(8):
                size = min(5, len(memory))
                chosen = rng.integers(1, len(memory) + 1, size=(1, size))[0] if size else []
                for x, label in [(X[i], y[i]), *(memory[j - 1] for j in chosen)]:
                    theta = theta - 0.05 * loss_gradient(layout, theta, x[None], np.array([label]))
                memory.append((X[i], y[i]))
        np.testing.assert_allclose(got.theta, theta, rtol=1e-10, atol=1e-13)

    def test_reservoir_keeps_every_sample_with_the_same_chance(self):
        rng = np.random.default_rng(1)
        runs, stream, slots = 600, 1000, 100
        tenths = np.zeros(10)
        for _ in range(runs):
            memory = []
            for seen in range(1, stream + 1):
                slot = reservoir_slot(seen, len(memory), slots, rng)
                if slot == len(memory):
                    memory.append(seen - 1)
                elif slot >= 0:
                    memory[slot] = seen - 1
            assert len(memory) == slots
            tenths += np.histogram(memory, bins=10, range=(0, stream))[0]
        # 10 of 100 slots per tenth; hypergeometric standard deviation 2.85, so 0.12 over 600 runs: 3.5 of them.
        np.testing.assert_allclose(tenths / runs, 10.0, atol=0.41)

    def test_single_precision_follows_double(self):
        data = train(10)
        options = MER_OPTIONS | {"batches": 2, "replay": 5}
        single = fitted(MER(**options | {"precision": "float32"}), data)
        double = fitted(MER(**options), data)
        assert single.theta.dtype == np.float32
        np.testing.assert_allclose(single.theta, double.theta, atol=1e-5)


class TestEWC:
    def test_no_strength_is_fine_tuning(self):
        data = train(25, steps=3)
        got = fitted(EWC(**OPTIONS, strength=0.0), data).theta
        np.testing.assert_array_equal(got, plain_sgd(data, 0.01, 0))
        first = fitted(EWC(**OPTIONS, strength=1e6), data[:1]).theta  # nothing to hold on to yet
        np.testing.assert_array_equal(first, plain_sgd(data[:1], 0.01, 0))

    def test_proximal_step_holds_what_matters(self, rng):
        F = np.where(np.arange(20) < 10, 0.5, 0.0)
        anchor, gradient = rng.standard_normal(20), rng.standard_normal(20)
        got = proximal_step(anchor, gradient, 0.01, 1e9, F, F * anchor)
        np.testing.assert_allclose(got[:10], anchor[:10], atol=1e-6)
        np.testing.assert_allclose(got[10:], anchor[10:] - 0.01 * gradient[10:], rtol=1e-12)
        # Stationary point of 1/2 (t - step)^2 / rate + rho F (t - anchor)^2 at any strength.
        theta = rng.standard_normal(20)
        t = proximal_step(theta, gradient, 0.1, 7.0, F, F * anchor)
        np.testing.assert_allclose((t - (theta - 0.1 * gradient)) / 0.1 + 14.0 * F * (t - anchor), 0, atol=1e-12)

    def test_proximal_steps_are_taken_when_gradient_steps_would_diverge(self):
        data = [(5 * X, y) for X, y in train(30, steps=4)]
        automatic = fitted(EWC(**OPTIONS, strength=1e6), data)
        assert automatic.n_proximal > 0
        assert automatic.n_diverged == 0
        assert np.abs(automatic.theta).max() < 10
