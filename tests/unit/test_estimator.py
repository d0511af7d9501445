"""The estimator: scikit-learn's conventions, degenerate input, permutations, memory."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import imrc
from imrc import IMRC
from imrc.core.presets import PRESETS
from imrc.features import Representation
from imrc.wording import RULES


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("preset", PRESETS)
def test_scikit_learn_estimator_checks(preset):
    # 300 iterations instead of 2000: the checks are about conventions.
    results = check_estimator(IMRC(preset=preset, max_iter=300), on_skip=None, on_fail=None)
    assert len(results) > 40
    bad = {(r["check_name"], r["status"]): str(r["exception"]) for r in results if r["status"] != "passed"}
    bad.pop(("check_array_api_input", "skipped"), None)  # it needs SciPy switched to other array libraries
    assert bad == {}


def learn(sequence, **kwargs) -> IMRC:
    model = IMRC(**kwargs)
    for j in range(len(sequence)):
        model.partial_fit(sequence[j].X, sequence[j].y, classes=sequence.classes)
    return model


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=6, samples=20, features=3, seed=1)


def test_keys_and_shapes(sequence):
    model = learn(sequence, b=2, max_iter=200, features="identity")
    for attribute, shape in (("mean_", (6, 8)), ("mse_", (6, 8)), ("coef_", (6, 8)), ("risk_", (6,)), ("ess_", (6,))):
        values = getattr(model, attribute)
        assert list(values) == ["single", "forward", "forward_backward", "predicted"]
        assert {rule: array.shape for rule, array in values.items()} == dict.fromkeys(values, shape)
    assert model.n_tasks_ == 6


@pytest.mark.parametrize("preset", PRESETS)
def test_no_backward_steps_is_forward_only(sequence, preset):
    model = learn(sequence, b=0, preset=preset)
    for values in (model.mean_, model.coef_, model.risk_):
        np.testing.assert_array_equal(values["forward_backward"], values["forward"])


def test_a_whole_sequence_is_learnt_in_one_call_whatever_the_order_of_its_rows(sequence):
    X, y = (np.concatenate([getattr(task, one) for task in sequence]) for one in "Xy")
    tasks = np.repeat(np.arange(6), 20)
    expected = learn(sequence, b=2).coef_
    order = np.random.default_rng(0).permutation(6).repeat(20) * 20 + np.tile(np.arange(20), 6)
    named = pd.Series([f"2023-{task:02d}" for task in tasks])
    for model in (
        IMRC(b=2).fit(X, y, tasks=tasks),
        clone(IMRC(b=2)).fit(X[order], y[order], tasks=named[order]),
        make_pipeline("passthrough", IMRC(b=2)).fit(X.tolist(), y.tolist(), imrc__tasks=tasks.tolist())[-1],
    ):
        for rule, coef in expected.items():
            np.testing.assert_array_equal(model.coef_[rule], coef)
    assert IMRC().fit(X, y, tasks=tasks).fit(X, y).n_tasks_ == 1
    later = TimeSeriesSplit(5, test_size=20)
    errors = cross_val_score(IMRC(), X, y, cv=later, params={"tasks": tasks})
    one = learn(sequence.head(5)).score(sequence[5].X, sequence[5].y)
    assert errors[-1] == one
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        IMRC().fit(X, y, tasks=tasks[:-1])


@pytest.mark.parametrize("preset", PRESETS)
def test_permuting_features_or_classes_permutes_the_coefficients(sequence, preset):
    order = np.array([2, 0, 1])
    one, features, classes = (IMRC(preset=preset, features="identity", max_iter=300) for _ in range(3))
    for task in sequence:
        one.partial_fit(task.X, task.y)
        features.partial_fit(task.X[:, order], task.y)
        classes.partial_fit(task.X, 1 - task.y)
    blocks, turned, swapped = (model.coef_["forward_backward"].reshape(6, 2, 4) for model in (one, features, classes))
    np.testing.assert_allclose(turned, blocks[:, :, [0, *(1 + order)]], atol=1e-10)
    np.testing.assert_allclose(swapped, blocks[:, ::-1], atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_two_to_ten_classes(n_classes):
    tasks = imrc.datasets.load("random_walk", tasks=3, samples=60, classes=n_classes, separation=8.0, features=8)
    model = learn(tasks, max_iter=500)
    assert np.isfinite(model.coef_["forward_backward"]).all()
    accuracy = np.mean([model.score(task.X, task.y, task=j) for j, task in enumerate(tasks)])
    assert accuracy > 1.5 / n_classes


def degenerate_tasks():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(8, 3))
    constant = X.copy()
    constant[:, 1] = 7.0
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    return {
        "one sample": [(X[:1], y[:1]), (X[1:2], y[1:2]), (X[2:3], y[2:3])],
        "constant feature": [(constant, y), (constant + 1, y)],
        "only constants": [(np.ones((4, 3)), y[:4]), (np.ones((4, 3)), y[:4])],
        "class absent, then there": [(X[y != 2], y[y != 2]), (X, y), (X[y != 0], y[y != 0])],
        "one class per task": [(X, np.full(8, c)) for c in range(3)],
        "identical samples": [(np.repeat(X[:1], 5, axis=0), np.array([0, 1, 2, 0, 1]))] * 2,
        "huge and tiny": [(X * 1e8, y), (X * 1e-8, y)],
    }


@pytest.mark.parametrize("name", degenerate_tasks())
@pytest.mark.parametrize(
    "settings",
    [
        *({"preset": "paper", "instances": instances} for instances in ("own", "reach", "recent", "all")),
        *({"preset": "recommended", "loss": loss} for loss in ("log", "0-1")),
    ],
    ids=lambda settings: "-".join(settings.values()),
)
def test_degenerate_tasks_give_finite_results(name, settings):
    model = IMRC(max_iter=200, **settings)
    tasks = degenerate_tasks()[name]
    for X, y in tasks:
        model.partial_fit(X, y, classes=[0, 1, 2])
    risks = model.risk_
    for values in (model.mean_, model.mse_, model.coef_, risks, model.ess_):
        assert np.isnan(values["predicted"][0]).all()  # nothing is known of the first task beforehand
        # The rule of the task to come is an average of rules for log loss: it has no value of a problem of its own.
        averaged = values is risks and settings.get("loss") == "log"
        rules = RULES if averaged else (*RULES, "predicted")
        assert all(np.isfinite(values[rule][rule == "predicted" :]).all() for rule in rules)
    probabilities = model.predict_proba(tasks[0][0], task=0)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_absent_class_does_not_freeze_the_others():
    # Its block has mean and variance 0 for that task; the next task that shows it is learnt from its own samples.
    generator = np.random.default_rng(0)
    X = generator.normal(size=(10, 2))
    model = IMRC(preset="paper", features="identity", max_iter=100)
    model.partial_fit(X, np.zeros(10, dtype=int), classes=[0, 1])
    model.partial_fit(X, np.arange(10) % 2)
    tau = model.mean_["forward"].reshape(2, 2, 3)
    assert (tau[0, 1] == 0).all()
    assert tau[1, 1, 0] > 0


def test_one_task_one_class():
    model = IMRC(max_iter=50).fit(np.eye(3), ["only"] * 3)
    assert model.predict(np.eye(3)).tolist() == ["only"] * 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, y: m.partial_fit(X, 8 * y), r"not among the classes: \[8\].*first call"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 1, 2]), "classes must be the same"),
        (lambda m, X, y: m.predict(X, task=1), "task must be between -1 and 0"),
        (lambda m, X, y: m.predict(X, rule="best"), "rule must be one of"),
        (lambda m, X, y: m.predict(X, task="later"), "'next'"),
        (lambda m, X, y: m.predict(X, task=("next", -2.0)), "periods"),
        (lambda m, X, y: m.partial_fit(X, gap=-1.0), "gap"),
        (lambda m, X, y: m.score(X, y[:1]), "inconsistent numbers of samples"),
        (lambda m, X, y: IMRC().partial_fit(X), "first task needs labels"),
        (
            lambda m, X, y: IMRC().fit(X, y).partial_fit(X).predict(X, rule="single"),
            "Task -1 was learnt without labels",
        ),
        (lambda m, X, y: IMRC().fit(X, y, tasks=[*y[:-1], None]), "missing value in row 19"),
        (lambda m, X, y: IMRC(lambda0=-0.1).fit(X, y), "lambda0 must be at least 0"),
        (lambda m, X, y: IMRC(instances="some").fit(X, y), "instances must be one of 'all', 'own', 'reach', 'recent'"),
        (lambda m, X, y: IMRC(max_iter=0).fit(X, y), "max_iter must be between 1"),
    ],
)
def test_what_cannot_be_is_refused_by_name_and_nothing_is_lost(sequence, call, message):
    model = IMRC(max_iter=50).partial_fit(sequence[0].X, sequence[0].y)
    with pytest.raises(ValueError, match=message):
        call(model, sequence[1].X, sequence[1].y)
    assert model.n_tasks_ == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": 1}, "call of partial_fit: b from 3 to 1. The tasks"),
        ({"lambda0": 0.3}, "call of partial_fit: lambda0 from 1.0 to 0.3. The tasks"),
        ({"loss": "0-1", "rate": 0.1}, "loss from 'log' to '0-1', rate from None to 0.1"),
        ({"preset": "paper"}, "call of partial_fit: preset from 'recommended' to 'paper'. The tasks"),
        ({"features": "rff"}, "call of partial_fit: features from None to 'rff'. The tasks"),
        ({"b": -1}, "b must be between 0 and 2000; got -1"),
    ],
)
def test_a_parameter_changed_after_the_first_task_is_refused(sequence, change, message):
    usual, model = learn(sequence.head(3)), learn(sequence.head(2))
    before = {name: getattr(model, name) for name in change}
    model.set_params(**change)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(sequence[2].X, sequence[2].y)
    assert model.n_tasks_ == 2
    # Set back, it goes on as if nothing had happened.
    model.set_params(**before).partial_fit(sequence[2].X, sequence[2].y)
    np.testing.assert_array_equal(model.coef_["forward_backward"], usual.coef_["forward_backward"])


def test_a_first_call_that_failed_binds_to_nothing(sequence):
    task, model = sequence[0], IMRC()
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(task.X, task.y, classes=[0, 5])
    model.set_params(b=1).partial_fit(task.X, task.y, classes=[0, 1, 5])
    assert model.classes_.tolist() == [0, 1, 5]


def test_randomised_rule_error_is_bounded_by_the_risk_on_the_worst_case(sequence):
    # With lambda = 0 and X all there is, the empirical distribution is in the uncertainty set.
    task = sequence[0]
    model = IMRC(preset="paper", lambda0=0.0, max_iter=20_000).partial_fit(task.X, task.y)
    wrong = 1.0 - model.predict_proba(task.X)[np.arange(len(task)), task.y]
    assert wrong.mean() <= model.risk_["forward"][0] + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tied"), [(2, True), (10, False)])
def test_rounding_decides_ties_of_very_few_samples_only(n, tied):
    apart = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, signs = rng.normal(size=(6, n, 3)), rng.choice([-1.0, 1.0], (6, n, 3))
        found = []
        for columns in (X, X * (1 + 4e-16 * signs)):
            model = IMRC(preset="paper")
            for rows in columns:
                model.partial_fit(rows, np.arange(n) % 2, classes=[0, 1])
            found.append(model.coef_["forward_backward"])
        apart.append(np.abs(found[1] - found[0]).max())
    assert (max(apart) > 0.01) == tied
    assert tied or max(apart) < 1e-11


@pytest.fixture
def frames(sequence):
    """Return the tasks as data frames with named columns."""
    return [pd.DataFrame(task.X, columns=["height", "width", "depth"]) for task in sequence]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="width"), "now missing:\n- width"),
        (lambda frame: frame.assign(weight=1.0), "unseen at fit time:\n- weight"),
        (lambda frame: frame.rename(columns={"width": "Width"}), "unseen at fit time:\n- Width"),
        (lambda frame: frame.assign(depth="red"), "Columns without numbers: 'depth'. Turn them into numbers first"),
        (lambda frame: frame.assign(depth=np.nan), "missing values|NaN"),
    ],
)
def test_columns_that_do_not_fit_are_refused_by_name(sequence, frames, change, message):
    model = IMRC().partial_fit(frames[0], sequence[0].y)
    for call in (model.predict, lambda X: model.partial_fit(X, sequence[1].y)):
        with pytest.raises(ValueError, match=message):
            call(change(frames[1]))


def test_a_representation_told_of_the_columns_knows_their_kinds_and_names(sequence, frames):
    told = replace(sequence, feature_names=("height", "width", "depth"), column_kinds=("pixel",) * 3)
    model = learn(sequence, features=Representation.of("automatic", told))
    np.testing.assert_array_equal(model.features_.transform(sequence[0].X), sequence[0].X)  # pixels stay as they are
    predicted = model.predict(sequence[1].X, task=1)
    np.testing.assert_array_equal(model.predict(frames[1].iloc[:, ::-1], task=1), predicted)
    with pytest.raises(ValueError, match="now missing:\n- width"):
        IMRC(features=Representation.of("automatic", told)).fit(frames[0].drop(columns="width"), sequence[0].y)
    with pytest.raises(ValueError, match="2 kinds for 3 columns"):
        IMRC(features=Representation("automatic", ("pixel",) * 2)).fit(sequence[0].X, sequence[0].y)


def test_random_state_draws_the_features(sequence):
    X, y = sequence[0].X, sequence[0].y
    one, same, other = (IMRC(random_state=seed).fit(X, y).features_.transform(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0.5
    state = np.random.RandomState(0)
    first, second = (IMRC(random_state=state).fit(X, y).features_.transform(X) for _ in range(2))
    assert np.abs(first - second).max() > 0.5
