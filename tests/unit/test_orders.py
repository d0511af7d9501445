"""Orders of change: which one is chosen, that only the past decides, and what each is worth."""

import json

import numpy as np
import pytest

import imrc
from imrc import IMRC
from imrc.cli import main
from imrc.core import higher_order
from imrc.core.moments import sample_moments
from imrc.core.orders import KNOWN_ORDERS, ORDERS, compare_orders
from imrc.core.settings import resolve_settings
from imrc.core.trackers import OrderTracker
from imrc.diagnostics import assess, words
from imrc.evaluation import RunSettings
from imrc.evaluation.words import as_command, as_python


def averages(kind, generator, k=24, m=40):
    """Sample averages of one sample each with variance 1, whose expectation moves in a known way."""
    time = np.arange(k)[:, None]
    steps = generator.normal(size=(k, m))
    paths = {
        1: 0.7 * np.cumsum(steps, axis=0),
        2: 0.4 * time * steps[0],
        "seasonal": 1.5 * np.cos(2 * np.pi * (time / 6 + generator.random(m))),
        "none": 0.0 * steps,
        "restart": np.where(time >= 15, 8.0 * steps[0], 0.0),
    }
    if kind != "ar":
        return paths[kind] + generator.normal(size=(k, m))
    path = 1.2 * steps
    for j in range(1, k):
        path[j] += 0.6 * path[j - 1]
    return path + generator.normal(size=(k, m))


@pytest.mark.parametrize("kind", KNOWN_ORDERS)
def test_the_order_that_made_the_tasks_is_found(kind):
    found = []
    for seed in range(10):
        tau = averages(kind, np.random.default_rng([seed, KNOWN_ORDERS.index(kind)]))
        k, m = tau.shape
        fits = compare_orders(tau @ tau.T / m / 10.0, np.full(k, 10.0), np.ones(k), m)
        found.append(fits[0].order)
        assert sum(fit.probability for fit in fits) == pytest.approx(1.0)
        assert len(fits) == len(KNOWN_ORDERS)
    assert found.count(kind) >= 9, found


def test_nothing_is_chosen_before_a_task_was_predicted():
    tau = averages(2, np.random.default_rng(0), k=3)
    for k in (1, 2, 3):
        products = tau[:k] @ tau[:k].T / tau.shape[1]
        fits = compare_orders(products, np.ones(k), np.ones(k), tau.shape[1], (2,))
        assert bool(fits) == (k > 2)
    unlabelled = compare_orders(np.zeros((4, 4)), np.zeros(4), np.ones(4), 5)
    assert unlabelled == ()


class TestTracker:
    """The tracker against the state space on the same averages and pooled variances."""

    @pytest.mark.parametrize("order", [2, "ar", "seasonal", "none", "restart"])
    def test_estimates_are_those_of_the_model(self, order):
        generator = np.random.default_rng(3)
        tracker = OrderTracker(2, 4, 30, order)
        tau, samples, gaps = [], [], []
        for j in range(11):
            n, gap = int(generator.integers(5, 30)), float(generator.integers(1, 3))
            X1 = np.insert(generator.normal(size=(n, 3)) + 0.5 * j, 0, 1.0, axis=1)
            y = None if j in (4, 10) else np.arange(n) % 2
            tracker.update(X1, y, gap)
            gaps.append(gap)
            samples.append(0 if y is None else n)
            tau.append(np.zeros(8) if y is None else sample_moments(X1, y, 2)[0])
        from imrc.core.orders import _variants

        fit = tracker._fit
        assert fit is not None
        assert fit.order == order
        model, jumps = _variants(order, 11, sum(gaps[1:]))
        jumps = None if jumps is None else jumps[:, fit.variant]
        with np.errstate(divide="ignore"):
            s = (1.0 / np.array(samples))[:, None]
        expected = higher_order.track(model.variant(fit.variant), np.array(tau), s, gaps, 3.0, jumps)
        pairs = [(tracker.forward(), [part[-1] for part in expected.smooth]), (tracker.predicted(3.0), expected.ahead)]
        pairs += [
            (found, [part[-1 - back] for part in expected.smooth]) for back, found in enumerate(tracker.revised(), 1)
        ]
        assert len(pairs) == 6
        for found, (mean, a) in pairs:
            np.testing.assert_allclose(found.mean, mean, atol=1e-9)
            np.testing.assert_allclose(found.ess, 1.0 / a, rtol=1e-9)
            assert (found.weights >= 0).all()
            if found.path is None:
                np.testing.assert_allclose(found.weights @ np.array(tau)[np.array(samples) > 0], mean, atol=1e-7)

    @pytest.mark.parametrize("keep", [3, 30])
    def test_where_weights_are_negative_samples_that_can_be_have_the_mean(self, keep):
        """What is carried along a course is the weighted mean vector of the samples, those of a task moved alike."""
        generator = np.random.default_rng(4)
        tracker, tasks = OrderTracker(2, 2, keep, 2), []
        for j in range(12):
            n = int(generator.integers(6, 20))
            X1 = np.insert(generator.normal(size=(n, 3)) + j, 0, 1.0, axis=1)
            y = None if j == 5 else np.arange(n) % 2
            tracker.update(X1, y)
            if y is not None:
                tasks.append((X1, y))
        for found in (tracker.predicted(2.0), tracker.forward(), *tracker.revised()):
            assert found.path is not None
            expected, weights = np.zeros(8), found.weights / found.weights.sum()
            for (X1, y), weight, past in zip(tasks[::-1], weights[::-1], found.path[::-1], strict=False):
                move = (found.mean - past).reshape(2, 4).sum(axis=0)
                assert move[0] == pytest.approx(0.0)
                expected += weight * sample_moments(X1 + move, y, 2)[0]
            np.testing.assert_allclose(found.carried, expected, atol=1e-9)


def test_a_window_counts_the_newest_tasks_only():
    tau = averages(1, np.random.default_rng(5), m=1)
    k = len(tau)
    mean, mse = higher_order.track(higher_order.differences(1, 0.0), tau, np.ones((k, 1))).predicted
    terms = -0.5 * (np.log(mse + 1) + (tau - mean) ** 2 / (mse + 1))[1:]
    for window, counted in ((None, terms), (6, terms[-6:])):
        (fit,) = compare_orders(tau @ tau.T, np.ones(k), np.ones(k), 1, ("none",), window)
        assert fit.likelihood == pytest.approx(counted.sum())


@pytest.fixture(scope="module")
def trend():
    return [
        (task.X, task.y) for task in imrc.datasets.load("trend", tasks=9, samples=40, features=3, change=1.0, seed=3)
    ]


def learn(tasks, preset="recommended", **kwargs):
    model = IMRC(preset=preset, features="identity", max_iter=200, b=2, **kwargs)
    for X, y in tasks:
        model.partial_fit(X, y, classes=[0, 1])
    return model


VALUES = ("mean_", "mse_", "coef_", "risk_", "ess_")


@pytest.mark.parametrize("preset", ["recommended", "recommended_01"])
@pytest.mark.parametrize("order", [order for order in ORDERS if order != 1])
def test_a_prediction_knows_nothing_of_its_task(trend, preset, order):
    model = learn(trend[:7], preset, order=order)
    flipped = learn([*trend[:6], (trend[6][0], 1 - trend[6][1])], preset, order=order)
    other = learn([*trend[:6], (trend[6][0][:7] + 100.0, trend[6][1][:7])], preset, order=order)
    before = learn(trend[:6], preset, order=order)
    for values in VALUES:
        expected = getattr(model, values)["predicted"][6]
        np.testing.assert_array_equal(getattr(flipped, values)["predicted"][6], expected)
        np.testing.assert_array_equal(getattr(other, values)["predicted"][6], expected)
    np.testing.assert_array_equal(
        before.predict(trend[0][0], task="next"), before.predict(trend[0][0], task=("next", 1))
    )
    X1 = np.insert(trend[0][0], 0, 1.0, axis=1)
    scores = X1 @ model.coef_["predicted"][6].reshape(2, -1).T
    np.testing.assert_allclose(before.decision_function(trend[0][0], task="next"), scores[:, 1] - scores[:, 0])
    assert np.isfinite(model.coef_["forward_backward"]).all()


@pytest.mark.parametrize("preset", ["recommended", "recommended_01"])
def test_order_one_is_what_it_was(trend, preset):
    usual, one = learn(trend[:5], preset), learn(trend[:5], preset, order=1)
    few, auto = learn(trend[:3], preset), learn(trend[:3], preset, order="auto")
    for values in VALUES:
        for rule in ("forward", "forward_backward", "predicted"):
            np.testing.assert_array_equal(getattr(one, values)[rule], getattr(usual, values)[rule])
            # Nothing is known of the change of three tasks.
            np.testing.assert_array_equal(getattr(auto, values)[rule], getattr(few, values)[rule])


@pytest.mark.parametrize("preset", ["recommended", "recommended_01"])
def test_gaps_and_tasks_without_labels(trend, preset):
    model = learn(trend[:5], preset, order=2)
    model.partial_fit(trend[5][0], None, gap=2.5)
    model.partial_fit(trend[6][0], trend[6][1], gap=0.0)
    model.partial_fit(trend[7][0][:3], trend[7][1][:3])
    for rule in ("forward", "forward_backward"):
        assert np.isfinite(model.coef_[rule]).all()
    assert model.predict(trend[8][0], task=("next", 2.5)).shape == (40,)


def test_a_line_is_followed(trend):
    """Steady drift of about half a standard deviation a task and feature: fewer errors before the task is seen."""
    errors = {}
    for order in (1, 2, "auto"):
        wrong = []
        for seed in range(6):
            sequence = imrc.datasets.load("trend", tasks=16, samples=150, change=1.0, seed=seed)
            result = imrc.evaluate(
                sequence, n=50, repetitions=1, b=0, features="identity", order=order, scenario="next_task"
            )
            wrong.append(result.before["imrc"][0, 8:].mean())
        errors[order] = np.mean(wrong)
    assert errors[2] < errors[1] - 0.01
    assert errors["auto"] < errors[1] - 0.01


def test_the_0_1_rule_follows_a_line_as_well():
    """With a mean vector that no distribution on its instances has it made .015 to .033 more errors on a trend."""
    differences = []
    for seed in range(300, 304):
        sequence = imrc.datasets.load("trend", seed=seed)
        errors = [
            imrc.evaluate(
                sequence,
                n=50,
                repetitions=1,
                seed=seed,
                b=0,
                preset="recommended_01",
                order=order,
                scenario="next_task",
            )
            .headline()["forward"]
            .mean
            for order in (1, 2)
        ]
        differences.append(errors[1] - errors[0])
    assert np.mean(differences) < 0.004


@pytest.mark.parametrize(
    ("truth", "expected"),
    [  # error of the predicted next task, k = 20, own sample average 1: best walk, best level and slope
        ("walk", (0.38, 0.49)),
        ("drift .3", (0.67, 0.21)),
        ("drift 1", (1.97, 0.21)),
        ("reverting", (0.95, 1.14)),
    ],
)
def test_what_an_order_is_worth(truth, expected):
    generator = np.random.default_rng(0)
    k, runs = 20, 4000
    noise = generator.normal(size=(k + 1, runs))
    if truth == "walk":
        level = np.sqrt(0.1) * np.cumsum(noise, axis=0)
    elif truth == "reverting":
        level = noise
        for j in range(1, k + 1):
            level[j] = 0.6 * level[j - 1] + 0.8 * noise[j]
    else:
        level = np.arange(k + 1)[:, None] * np.where(generator.random(runs) < 0.5, 1, -1) * float(truth.split()[1])
    tau = level[:k] + generator.normal(size=(k, runs))

    def least(models):
        return min(np.mean((higher_order.track(one, tau, np.ones((k, 1))).ahead[0] - level[k]) ** 2) for one in models)

    rates = np.array([0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0, 5.0, 10.0])
    walk = least([higher_order.differences(1, rate) for rate in rates])
    slope = least([higher_order.levels([rate, bend]) for rate in rates for bend in (0.0, 0.001, 0.01, 0.1)])
    np.testing.assert_allclose((walk, slope), expected, atol=0.04, rtol=0.03)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="order must be one of"):
        IMRC(order=4).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="order must be one of"):
        resolve_settings("recommended", b=1, order=True)
    with pytest.raises(ValueError, match="needs tracking='rate'"):
        resolve_settings("paper", b=1, order="auto")
    with pytest.raises(ValueError, match="leave it out"):
        resolve_settings("recommended", b=1, order=2, rate=0.1)


@pytest.mark.parametrize(
    ("kind", "verdict", "order"),
    [
        ("random_walk", "evolving", 1),
        ("trend", "trend", 2),
        ("mean_reverting", "mean_reverting", "ar"),
        ("periodic", "periodic", "seasonal"),
        ("abrupt", "jump", "restart"),
        ("identical", "no_change", "none"),
    ],
)
def test_verdict_and_learner_speak_of_one_change(kind, verdict, order):
    result = assess(imrc.datasets.load(kind, seed=1))
    assert result.verdict.name == verdict
    assert result.orders[0].order == order
    assert f"it also predicts these tasks best, so `order={chr(34)}auto{chr(34)}`" in words.order_sentence(result)
    rows = words.order_rows(result)
    assert len(rows) == len(KNOWN_ORDERS)
    assert rows[0]["order"] == str(order)
    assert result.summary()["orders"][0]["order"] == order


def test_a_verdict_without_a_model_of_its_own_says_so():
    result = assess(imrc.datasets.load("independent"))
    assert "No change model of the learner stands for this verdict" in words.order_sentence(result)
    few = assess(imrc.datasets.load("random_walk", tasks=4))
    assert few.orders == ()
    assert words.order_sentence(few) == ""


def test_the_command_and_the_copied_call_carry_the_order(capsys):
    arguments = ["run", "trend", "-k", "5", "-n", "5", "--repetitions", "1", "--order", "2", "--json"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["overrides"] == {"order": 2}
    settings = RunSettings(overrides={"order": "auto"})
    assert as_command("trend", 5, settings).endswith("--order auto")
    assert 'order="auto"' in as_python("trend", 5, settings)
    assert RunSettings.from_json(settings.to_json()) == settings
