"""What a rule uses: weights that rebuild its mean vector, influences that refits confirm, exact refits."""

from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc.core.influence import score_changes
from imrc.core.moments import sample_moments
from imrc.evaluation import RunSettings, rule_uses
from imrc.evaluation import uses as module
from imrc.evaluation.uses import sample_rows, uses_sentences
from imrc.plots.uses import pull_images, uses_chart
from imrc.solvers.log_loss import scaled, solve_log_loss


@pytest.fixture(scope="module")
def digits():
    return imrc.datasets.load("rotated_digits", tasks=8)


def refitted(X, y, weights, strength, coefficients, X_test):
    """Return changes of scores without each sample by exact refits, and the solution they start from."""
    exact = {"primal": True, "max_iter": 20_000, "tolerance": 1e-9}
    base = solve_log_loss(X, y, weights, strength, coefficients, **exact).coefficients
    changes = []
    for i in range(len(y)):
        others = np.where(np.arange(len(y)) == i, 0.0, weights)
        solved = solve_log_loss(X, y, others / others.sum(), strength, base, **exact).coefficients
        changes.append(X_test @ (solved - base).T)
    return np.array(changes), base


def correlation(first, second):
    return float(np.corrcoef(np.ravel(first), np.ravel(second))[0, 1])


@pytest.mark.parametrize("task", [3, 7])
@pytest.mark.parametrize("rule", ["forward", "forward_backward"])
def test_predicted_influence_is_that_of_exact_refits(digits, task, rule):
    settings = RunSettings(n=10, repetitions=1, features=imrc.features.FeatureSpec("identity"))
    step = task if rule == "forward" else min(task + 3, 7)
    drawn = module._drawn(digits, settings, task, step)
    learner, estimate = module._learnt(settings.learner, drawn, task, rule)
    used = learner._rules.used(module._tracked(learner, step - task), step - task)
    coefficients = estimate.coef.reshape(2, -1) / np.array([10.0, *[1.0] * 64])
    X_test = scaled(drawn.test[0])
    exact, base = refitted(used.X, used.y, used.weights, used.strength, coefficients, X_test)
    np.testing.assert_allclose(base, coefficients, atol=0.02)  # the weights are those the rule was learnt with
    changes = score_changes(used.X, used.y, used.weights, used.strength, coefficients, X_test)
    assert correlation(changes, exact) > 0.95
    pull, exact_pull = (np.sqrt((part**2).mean(axis=(1, 2))) for part in (changes, exact))
    assert correlation(pull, exact_pull) > 0.95
    named = rule_uses(digits, settings, task, rule, refits=False).samples
    np.testing.assert_allclose(named["pull"], np.sort(pull)[::-1][:10])


def test_influence_with_three_classes_and_unequal_weights():
    generator = np.random.default_rng(4)
    y = np.arange(45) % 3
    X = scaled(np.column_stack([np.ones(45), generator.standard_normal((45, 6)) + y[:, None]]))
    weights = generator.random(45)
    weights /= weights.sum()
    exact, base = refitted(X, y, weights, 0.1, np.zeros((3, 7)), X[:20])
    changes = score_changes(X, y, weights, 0.1, base, X[:20])
    assert correlation(changes, exact) > 0.95
    np.testing.assert_allclose(changes.sum(axis=2), 0.0, atol=1e-10)


@pytest.mark.parametrize("preset", ["paper", "recommended_01", "recommended"])
@pytest.mark.parametrize("rule", ["forward", "forward_backward"])
def test_weights_and_sample_averages_make_the_mean_vector(digits, preset, rule):
    settings = RunSettings(n=8, b=2, preset=preset, repetitions=1)
    task, step = 4, 4 if rule == "forward" else 6
    drawn = module._drawn(digits, settings, task, step)
    learner, estimate = module._learnt(settings.learner, drawn, task, rule)
    tau = np.stack([sample_moments(X1, y, 2)[0] for X1, y in drawn.train])
    if preset == "paper":
        mean = (module._component_weights(settings.learner, drawn, task) * tau).sum(axis=0)
    else:
        mean = module._tracked(learner, step - task).weights @ tau
    np.testing.assert_allclose(mean, estimate.mean, atol=1e-10)
    table = rule_uses(digits, settings, task, rule, refits=False).tasks
    assert table["weight"].sum() == pytest.approx(1.0)
    assert len(table) == step + 1


@pytest.mark.parametrize("preset", ["paper", "recommended"])
def test_errors_are_those_of_the_run_and_of_a_run_without_the_task(digits, preset):
    settings = RunSettings(n=8, b=2, preset=preset, repetitions=1)
    run = imrc.evaluate(digits, n=8, b=2, preset=preset, repetitions=1)
    for rule, step in (("forward", 5), ("forward_backward", 7)):
        uses = rule_uses(digits, settings, 5, rule)
        assert uses.error == pytest.approx(np.ravel(run.errors[rule][0, step, 5])[0])
        assert np.isfinite(uses.tasks["change"]).sum() >= 3
    # Without the newest task, which is the last step here, the rule is that of the step before.
    before = rule_uses(digits.head(7), settings, 5, refits=False)
    assert uses.error + uses.tasks["change"][7] == pytest.approx(before.error)


def test_the_first_task_alone_has_all_weight_and_no_refit(digits):
    uses = rule_uses(digits, RunSettings(n=8, repetitions=1), 0, "forward")
    assert uses.tasks["weight"].tolist() == [1.0]
    assert np.isnan(uses.tasks["change"]).all()
    assert uses_sentences(uses) == ["The rule of task 1 has 100 % of its weight on its own samples."]


def test_where_transfer_is_off_all_weight_is_on_the_task_itself():
    sequence = imrc.datasets.load("independent", tasks=8)
    tables = [rule_uses(sequence, RunSettings(n=40, repetitions=1), 7, "forward", refits=False).tasks]
    run = imrc.evaluate(sequence, n=40, repetitions=1)
    alone = run.choices["transfer"][0, 7] == 0
    assert (tables[0]["weight"][7] == pytest.approx(1.0)) == alone


def test_what_is_asked_for_must_be_there(digits):
    with pytest.raises(ValueError, match="task"):
        rule_uses(digits, RunSettings(n=8), 8)
    with pytest.raises(ValueError, match="rule"):
        rule_uses(digits, RunSettings(n=8), 2, "single")


def test_figures_and_rows(digits):
    uses = rule_uses(digits, RunSettings(n=8, repetitions=1), 4)
    figure = uses_chart(uses)
    assert figure.layout.title.text == "What does the rule of task 5 use?"
    assert len(pull_images(uses, digits).layout.annotations) == 10
    rows = sample_rows(uses, digits)
    first = rows.iloc[0]
    np.testing.assert_array_equal(first.iloc[7:].to_numpy(float), digits[first["task"] - 1].X[first["row"]])
    bare = replace(digits, feature_names=())
    assert pull_images(uses, bare) is None
    assert pull_images(rule_uses(digits, RunSettings(n=8, preset="paper"), 4, refits=False), digits) is None
