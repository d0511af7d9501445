"""How much each task counts in a rule: weights that rebuild its mean vector, and samples that rebuild the rule."""

import numpy as np
import pytest

import imrc
from imrc.core.learner import Learner
from imrc.core.recursions import sample_moments
from imrc.core.rules_log import scaled
from imrc.evaluation import RunSettings
from imrc.evaluation import weights as module
from imrc.evaluation.weights import task_weights, weights_sentence
from imrc.solvers.logistic import solve_in_turn


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


@pytest.mark.parametrize("chosen", [{"preset": "paper"}, {"overrides": (("loss", "0-1"),)}])
@pytest.mark.parametrize("rule", ["forward", "forward_backward"])
def test_weights_and_sample_averages_make_the_mean_vector(digits, chosen, rule):
    settings = RunSettings(n=8, b=2, repetitions=1, **chosen)
    task, step = 4, 4 if rule == "forward" else 6
    train = module._drawn(digits, settings, step)
    _, estimate = learnt(settings.learner, train, task, rule)
    tau = np.stack([sample_moments(X1, y, 2)[0] for X1, y in train])
    table = task_weights(digits, settings, task, rule)
    if settings.preset == "paper":
        parts = module._component_weights(settings.learner, train, 2, task)
        np.testing.assert_allclose(table["weight"], parts.mean(axis=1))
        mean = (parts * tau).sum(axis=0)
    else:
        mean = table["weight"].to_numpy() @ tau
    np.testing.assert_allclose(mean, estimate.mean, atol=1e-10)
    assert table["weight"].sum() == pytest.approx(1.0)
    assert len(table) == step + 1


@pytest.mark.parametrize("task", [3, 7])
@pytest.mark.parametrize("rule", ["forward", "forward_backward"])
def test_a_rule_for_log_loss_is_learnt_from_samples_with_these_weights(digits, task, rule):
    settings = RunSettings(n=10, repetitions=1, features=imrc.features.FeatureSpec("identity"))
    step = task if rule == "forward" else min(task + 3, 7)
    train = module._drawn(digits, settings, step)
    learner, estimate = learnt(settings.learner, train, task, rule)
    weights = task_weights(digits, settings, task, rule)["weight"].to_numpy()
    assert weights.min() > 0.001 * weights.max()  # nothing is left out as negligible
    X, y = scaled(np.vstack([X1 for X1, _ in train])), np.concatenate([y for _, y in train])
    unit = np.sqrt((train[0][0][:, 1:] ** 2).sum(axis=1).mean() / 250.0)
    shares = learner._tracker.shares()
    known = learner._tracker._weights
    worth = (known.forward() if step == task else known.revised()[step - task - 1])[1][:4]
    penalty = unit * np.exp(shares @ np.log(np.array([16.0, 4.0, 4.0, 4.0]) / worth)) * 2.0
    coefficients = estimate.coef.reshape(2, -1) / np.array([10.0, *[1.0] * 64])
    exact = {"primal": True, "max_iter": 3000, "tolerances": 1e-7}
    each = np.repeat(weights / 10, 10)[None]
    refitted = solve_in_turn(X, y, each, np.array([penalty]), np.zeros((1, 2, 65)), **exact)[0]
    np.testing.assert_allclose(refitted[0], coefficients, atol=0.02)


def test_the_first_task_alone_has_all_weight(digits):
    table = task_weights(digits, RunSettings(n=8, repetitions=1), 0, "forward")
    assert table["weight"].tolist() == [1.0]
    assert weights_sentence(table, 0) == "The rule for task 1 has 100 % of its weight on its own samples."


def test_the_share_of_each_task_alone_is_weight_on_the_task_itself():
    # Labels change places at every task.
    walk = imrc.datasets.load("random_walk", tasks=8)
    flipped = (imrc.Task(task.X, 1 - task.y if j % 2 else task.y) for j, task in enumerate(walk))
    sequence = imrc.TaskSequence(tuple(flipped), "flips")
    table = task_weights(sequence, RunSettings(n=40, repetitions=1), 7, "forward")
    run = imrc.evaluate(sequence, n=40, repetitions=1)
    share = run.choices["rate inf"][0, 7]
    assert 0.7 < share <= table["weight"][7]  # measured: .79


def test_what_is_asked_for_must_be_there(digits):
    with pytest.raises(ValueError, match="task"):
        task_weights(digits, RunSettings(n=8), 8)
    with pytest.raises(ValueError, match="rule"):
        task_weights(digits, RunSettings(n=8), 2, "single")
