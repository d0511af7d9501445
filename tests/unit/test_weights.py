"""How much each task counts in a rule: weights that rebuild its mean vector, and samples that rebuild the rule."""

import numpy as np
import pytest

import imrc
from imrc.core.learner import Learner
from imrc.core.moments import sample_moments
from imrc.evaluation import RunSettings
from imrc.evaluation import weights as module
from imrc.evaluation.weights import task_weights, weights_sentence
from imrc.plots.weights import weights_chart
from imrc.solvers.log_loss import solve_log_loss


@pytest.fixture(scope="module")
def digits():
    return imrc.datasets.load("rotated_digits", tasks=8)


def learnt(settings, train, task, rule):
    """Return the learner after all steps, and the estimate of the task."""
    learner = Learner(settings, 2, (rule,) if rule != "forward" else ())
    for own in train:
        update = learner.step(*own)
        if update.step == task:
            estimate = update.forward
        if rule == "forward_backward":
            estimate = update.revised.get(task, estimate) if update.step >= task else None
    return learner, estimate


@pytest.mark.parametrize("preset", ["paper", "recommended_01", "recommended"])
@pytest.mark.parametrize("rule", ["forward", "forward_backward"])
def test_weights_and_sample_averages_make_the_mean_vector(digits, preset, rule):
    settings = RunSettings(n=8, b=2, preset=preset, repetitions=1)
    task, step = 4, 4 if rule == "forward" else 6
    train = module._drawn(digits, settings, step)
    learner, estimate = learnt(settings.learner, train, task, rule)
    tau = np.stack([sample_moments(X1, y, 2)[0] for X1, y in train])
    table = task_weights(digits, settings, task, rule)
    if preset == "paper":
        parts = module._component_weights(settings.learner, train, 2, task)
        np.testing.assert_allclose(table["weight"], parts.mean(axis=1))
        mean = (parts * tau).sum(axis=0)
    elif preset == "recommended_01":
        mean = table["weight"].to_numpy() @ tau
    else:
        tracker = learner._tracker
        mean = (tracker.forward() if step == task else tracker.revised()[step - task - 1]).weights @ tau
    np.testing.assert_allclose(mean, estimate.mean, atol=1e-10)
    assert table["weight"].sum() == pytest.approx(1.0)
    assert len(table) == step + 1


@pytest.mark.parametrize("task", [3, 7])
@pytest.mark.parametrize("rule", ["forward", "forward_backward"])
def test_a_rule_for_log_loss_is_learnt_from_samples_with_these_weights(digits, task, rule):
    settings = RunSettings(n=10, repetitions=1, features=imrc.features.FeatureSpec("identity"))
    step = task if rule == "forward" else min(task + 3, 7)
    learner, estimate = learnt(settings.learner, module._drawn(digits, settings, step), task, rule)
    tracked = learner._tracker.forward() if step == task else learner._tracker.revised()[step - task - 1]
    used = learner._rules.used(tracked, step - task)
    coefficients = estimate.coef.reshape(2, -1) / np.array([10.0, *[1.0] * 64])
    exact = {"primal": True, "max_iter": 20_000, "tolerance": 1e-9}
    refitted = solve_log_loss(used.X, used.y, used.weights, used.strength, coefficients, **exact).coefficients
    np.testing.assert_allclose(refitted, coefficients, atol=0.02)
    stored = np.repeat(np.arange(step + 1)[-len(used.sizes) :], used.sizes)[used.kept]
    by_task = np.bincount(stored, used.weights, step + 1)
    np.testing.assert_allclose(task_weights(digits, settings, task, rule)["weight"], by_task, atol=1e-12)


def test_the_first_task_alone_has_all_weight(digits):
    table = task_weights(digits, RunSettings(n=8, repetitions=1), 0, "forward")
    assert table["weight"].tolist() == [1.0]
    assert weights_sentence(table, 0) == "The rule of task 1 has 100 % of its weight on its own samples."


def test_where_transfer_is_off_all_weight_is_on_the_task_itself():
    sequence = imrc.datasets.load("independent", tasks=8)
    table = task_weights(sequence, RunSettings(n=40, repetitions=1), 7, "forward")
    run = imrc.evaluate(sequence, n=40, repetitions=1)
    alone = run.choices["transfer"][0, 7] == 0
    assert (table["weight"][7] == pytest.approx(1.0)) == alone


def test_what_is_asked_for_must_be_there(digits):
    with pytest.raises(ValueError, match="task"):
        task_weights(digits, RunSettings(n=8), 8)
    with pytest.raises(ValueError, match="rule"):
        task_weights(digits, RunSettings(n=8), 2, "single")


def test_the_chart_has_a_bar_for_each_task(digits):
    table = task_weights(digits, RunSettings(n=8, repetitions=1), 4)
    figure = weights_chart(table, 4)
    assert figure.layout.title.text == "How much does each task count in the rule of task 5?"
    heights = {task: height for trace in figure.data for task, height in zip(trace.x, trace.y, strict=True)}
    assert heights == pytest.approx(dict(zip(table["task"], 100 * table["weight"], strict=True)))
    assert [trace.name for trace in figure.data] == ["own samples", "tasks before it", "tasks after it"]
