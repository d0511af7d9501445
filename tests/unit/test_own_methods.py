"""Any scikit-learn classifier as a compared method."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import imrc
from imrc._checks import InputError
from imrc.baselines import OwnMethod, method_title, registry
from imrc.baselines.own import array_bytes
from imrc.evaluation import RunResult
from imrc.evaluation.comparison import comparison_table, score_table


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=6, samples=80)


def logistic(C=1.0):
    return LogisticRegression(C=C, max_iter=5000, tol=1e-8)


@pytest.mark.parametrize("refit", ["seen", "recent", "single"])
def test_logistic_regression_of_ones_own_is_that_of_the_references(sequence, refit):
    own = imrc.evaluate(sequence, n=10, b=2, repetitions=3, methods=("imrc", ("mine", logistic(), refit)))
    built_in = imrc.evaluate(sequence, n=10, b=2, repetitions=3, methods=(f"logistic_{refit}",))
    # Two solvers of the same problem may disagree on a sample at the border.
    assert registry[f"logistic_{refit}"].fixed_old_rules == (refit != "seen")
    a, b = (np.asarray(run.errors[name]) for run, name in ((own, "own:mine"), (built_in, f"logistic_{refit}")))
    np.testing.assert_allclose(a, b, atol=0.03)
    assert np.abs(np.nan_to_num(a - b)).mean() < 2e-3


def test_own_methods_are_given_the_number_of_the_task_or_the_weights_of_the_default(sequence):
    methods = (("numbered", logistic(), "numbered"), ("evolving", logistic(), "evolving"))
    own = imrc.evaluate(sequence, n=10, repetitions=2, methods=methods)
    same = imrc.evaluate(sequence, n=10, repetitions=2, methods=("weighted",))
    np.testing.assert_allclose(np.asarray(own.errors["own:evolving"]), np.asarray(same.errors["weighted"]), atol=0.03)
    seen = imrc.evaluate(sequence, n=10, repetitions=2, methods=(("seen", logistic()),)).errors["own:seen"]
    assert np.nanmax(np.abs(np.asarray(own.errors["own:numbered"]) - np.asarray(seen))) > 0.05
    learner = OwnMethod("tree", DecisionTreeClassifier(), "numbered").learner(2, 1, np.random.SeedSequence(0), 3)
    X, y = np.zeros((4, 1)), np.zeros(4, dtype=int)
    learner.partial_fit_task(0, X, y).partial_fit_task(1, X, y + 1)  # only the number tells the tasks apart
    assert [learner.predict(X[:1], task=j).tolist() for j in (0, 1)] == [[0], [1]]


def test_a_forest_repeats_exactly_and_stands_in_tables_under_its_name(sequence):
    mine = RandomForestClassifier(10)
    methods = ("imrc", ("my forest", mine), ("piped", make_pipeline(StandardScaler(), logistic())))
    runs = [imrc.evaluate(sequence, n=10, repetitions=2, methods=methods) for _ in range(2)]
    first, second = (np.asarray(run.errors["own:my forest"]) for run in runs)
    np.testing.assert_array_equal(first, second)
    assert method_title("own:my forest") == "my forest"
    table = comparison_table(score_table(runs[0]))
    assert {"own:my forest", "own:piped"} <= set(table["method"])
    assert np.isfinite(runs[0].before["own:my forest"][:, 1:]).all()
    assert not hasattr(mine, "estimators_"), "what is given is never changed"
    assert mine.random_state is None


def test_a_saved_result_keeps_the_errors_and_not_the_classifier(sequence, tmp_path):
    run = imrc.evaluate(sequence, n=10, repetitions=1, methods=(("mine", logistic()),))
    run.save(tmp_path / "run.npz")
    again = RunResult.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(np.asarray(again.errors["own:mine"]), np.asarray(run.errors["own:mine"]))
    assert again.settings == run.settings
    with pytest.raises(InputError, match="Pass it again"):
        list(imrc.evaluation.iter_run(sequence, again.settings))


def test_one_class_only_and_classifiers_that_are_none():
    tasks = [imrc.Task(np.random.default_rng(j).standard_normal((30, 2)), np.full(30, j % 2)) for j in range(4)]
    single_class = imrc.TaskSequence(tasks)
    run = imrc.evaluate(single_class, n=5, repetitions=1, methods=(("mine", logistic(), "single"),))
    assert np.nanmax(np.asarray(run.errors["own:mine"])) == 0.0
    for none in (3, type(logistic())):
        with pytest.raises(InputError, match="fit and predict"):
            OwnMethod("x", none)
    with pytest.raises(InputError, match="refit"):
        OwnMethod("x", logistic(), "often")
    with pytest.raises(InputError, match="different names"):
        imrc.evaluate(single_class, n=5, methods=(("x", logistic()), ("x", logistic(2.0))))


def test_the_size_of_a_rule_is_that_of_its_arrays():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(400, 6)), generator.integers(3, size=400)
    assert array_bytes([X, {"again": X, "part": (y,)}]) == X.nbytes + y.nbytes
    small, large = (
        make_pipeline(StandardScaler(), RandomForestClassifier(trees, random_state=0)).fit(X, y) for trees in (5, 50)
    )
    assert 8 < array_bytes(large) / array_bytes(small) < 11
    assert 0.5 < array_bytes(large) / len(pickle.dumps(large)) < 1.5
