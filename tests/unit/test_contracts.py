"""The contracts of a learner of tasks: ours hold them, and a learner that breaks one is told which and why."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import imrc
from imrc import Evolving
from imrc.contracts import ContractError, check_learner
from imrc.core.presets import PRESETS


class Nearest:
    """Classes by the nearest mean; holds every contract but that of names of columns."""

    def partial_fit(self, X, y, classes=None):
        X, y = np.asarray(X), np.asarray(y)
        self.rows, self.labels = self.kept(X), y.copy()
        self.means = {c: X[y == c].mean(axis=0) for c in np.unique(y)}
        return self

    kept = staticmethod(np.copy)

    def predict(self, X):
        X = self.seen(np.asarray(X))
        names = np.array(list(self.means))
        return names[np.argmin([np.abs(X - mean).sum(axis=1) for mean in self.means.values()], axis=0)]

    def seen(self, X):
        return X


class Remembers(Nearest):
    """Leaks on purpose: what one learner was told of a row, all others know."""

    told: ClassVar[dict] = {}

    def partial_fit(self, X, y, classes=None):
        self.told.update({row.tobytes(): label for row, label in zip(np.asarray(X), y, strict=True)})
        return super().partial_fit(X, y)

    def predict(self, X):
        usual = super().predict(X)
        return np.array([self.told.get(row.tobytes(), one) for row, one in zip(np.asarray(X), usual, strict=True)])


class Peeks(Nearest):
    """Leaks on purpose: the labels of a task are part of a longer array, and it reads on."""

    def partial_fit(self, X, y, classes=None):
        self.rest = np.asarray(y if y.base is None else y.base)[len(y) :].sum()
        return super().partial_fit(X, y)

    def predict(self, X):
        return np.where(np.arange(len(X)) % 5 == self.rest % 5, super().predict(X)[0], super().predict(X))


def writes_into_it(self, X, y, classes=None):
    X += 1.0
    return Nearest.partial_fit(self, X, y)


def noisy(self, X):
    return X + np.random.default_rng().normal(size=3)


KEEPS = {"kept": staticmethod(np.asarray), "seen": lambda self, X: X + 0.1 * self.rows[:1]}
SHARES = {"__deepcopy__": lambda self, memo: self, "__reduce__": lambda self: (Nearest, ())}
LEAKS = [
    (Remembers, "labels_unseen: .*depend on labels that it has not been given: "),
    (Peeks, "labels_unseen: .*depend on labels that it has not been given: "),
    ({"seen": lambda self, X: X - X.mean(axis=0)}, "asking: .*does predict learn scales"),
    (KEEPS, "arrays_are_yours: .*copy them: "),
    ({"partial_fit": writes_into_it}, "arrays_are_yours: ValueError: .*read-only"),
    ({"seen": noisy}, "repeats: .*is its randomness seeded"),
    ({"seen": noisy}, "asking: .*predicting twice"),
    ({"predict": lambda self, X: Nearest.predict(self, X).astype(int)}, "class_names: ValueError: invalid literal"),
    ({"predict": lambda self, X: np.full(len(X), min(self.means))}, "class_order: .*40 of 40 predictions differ"),
    (SHARES, "copies: .*a copy that learns changes the original learner"),
    ({}, "column_names: .*matched by position"),
]


@pytest.mark.parametrize(("leaky", "reason"), LEAKS)
def test_a_learner_that_breaks_a_contract_is_caught(leaky, reason):
    made = type("Leaky", (Nearest,), leaky) if isinstance(leaky, dict) else leaky
    with pytest.raises(ContractError, match=f"(?m)^{reason}"):
        check_learner(made)
    with pytest.raises(TypeError, match=r"lambda: \w+\(\), not a learner itself"):
        check_learner(made())


@pytest.mark.parametrize(
    ("make", "broken"),
    [
        (BernoulliNB, {}),
        (GaussianNB, {"task_sizes": "after a task of 1 rows: predict_proba returned values that are not finite"}),
        (lambda: SGDClassifier(random_state=0), {"class_order": "is something drawn for each"}),
        (lambda: MLPClassifier((8,), random_state=0), {"class_order": "is something drawn for each"}),
    ],
    ids=["BernoulliNB", "GaussianNB", "SGD", "MLP"],
)
def test_public_learners_hold_them_or_are_told_why_not(make, broken):
    found = check_learner(make, on_fail="return")
    assert set(found) == set(broken)
    assert all(text in found[name] for name, text in broken.items())


class Next(imrc.IMRC):
    """The rule of the task to come."""

    def predict(self, X):
        return super().predict(X, task="next")

    def predict_proba(self, X):
        return super().predict_proba(X, task="next")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("learner", [imrc.IMRC, Next])
def test_our_learner_holds_all(learner, preset):
    assert check_learner(lambda: learner(preset=preset, max_iter=200)) == {}


@pytest.mark.first
@pytest.mark.slow
def test_any_classifier_by_tracked_weights_holds_all_and_keeps_to_conventions():
    assert check_learner(Evolving) == {}
    piped = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    assert check_learner(lambda: Evolving(piped)) == {}
    results = check_estimator(Evolving(), on_skip=None, on_fail=None)
    bad = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert len(results) > 40
    assert bad == {}


@pytest.mark.parametrize(("speed", "best"), [(0.0, 0), (0.8, 3)])
def test_what_predicted_the_tasks_decides_what_the_past_weighs(speed, best):
    generator, model = np.random.default_rng(0), Evolving(GaussianNB())
    y = np.arange(30) % 2
    for angle in speed * np.arange(12):
        centre = np.array([np.cos(angle), np.sin(angle)])
        model.partial_fit(np.outer(2 * y - 1, centre) + 0.5 * generator.normal(size=(30, 2)), y)
    assert model.shares_.argmax() == best
    pooled = GaussianNB().fit(np.concatenate([X for X, _ in model._learner_past]), np.tile(y, 12))
    np.testing.assert_allclose(model.rules_[0].theta_, pooled.theta_)
    alone = GaussianNB().fit(*model._learner_past[-1])
    np.testing.assert_allclose(model.rules_[3].theta_, alone.theta_)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    X = model._learner_past[0][0]
    shares = [rule.predict_proba(X) for rule in model.rules_]
    np.testing.assert_allclose(model.predict_proba(X), np.tensordot(model.shares_, shares, axes=1))
