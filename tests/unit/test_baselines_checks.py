"""Checks every entry of the registry must pass, in every profile."""

import pickle
from dataclasses import fields

import numpy as np
import pytest

from imrc.baselines import PUBLISHED, SIMPLE, Baseline, method_title, parse_method, registry
from imrc.contracts import check_learner

NAMES = [
    name if profile == "default" else f"{name}:{profile}" for name, cls in registry.items() for profile in cls.profiles
]
ALL = [pytest.param(name, marks=pytest.mark.slow) if ":" in name else name for name in NAMES]
CENTRES = np.array([[2.0, 0.0, 0.5], [-2.0, 1.0, 0.0], [0.0, -3.0, 1.0], [0.0, 3.0, -1.0]])


def make(name: str, n_classes: int = 2, seed: int = 0, **options) -> Baseline:
    method, profile = parse_method(name)
    few = {"trees": 5} if method == "forest" else {}  # a hundred are only slower
    return registry[method](n_classes=n_classes, n_features=3, random_state=seed, profile=profile, **few | options)


def tasks(count: int, n: int, n_classes: int = 2, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return slowly drifting clusters, one per class."""
    rng = np.random.default_rng(seed)
    made = []
    for step in range(count):
        y = np.arange(n) % n_classes
        made.append((CENTRES[y] + 0.1 * step + 0.5 * rng.standard_normal((n, 3)), y))
    return made


def learn(learner: Baseline, sequence, start: int = 0) -> list[np.ndarray]:
    """Learn tasks; return the predictions for all tasks seen after each of them."""
    grid = np.random.default_rng(9).uniform(-3, 3, (40, 3))
    said = []
    for step, (X, y) in enumerate(sequence, start=start):
        learner.partial_fit_task(step, X, y)
        said.append(np.stack([learner.predict(grid, task=j) for j in range(step + 1)]))
        np.testing.assert_array_equal(learner.predict(grid), said[-1][-1])  # None is the newest task
    return said


class OneByOne:
    """A method as a learner of tasks; rows on the left are asked of the first task's rule, others of the newest's."""

    def __init__(self, name):
        self.name, self.method = name, None

    def partial_fit(self, X, y, classes=None):
        if self.method is None:
            self.method = make(self.name, None, classes=classes)
        self.method.partial_fit_task(self.method.n_tasks, X, y)

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] < 0, self.method.predict(X, task=0), self.method.predict(X))


@pytest.mark.parametrize("name", ALL)
class TestEveryMethod:
    def test_contracts(self, name):
        """What draws numbers per class may depend on their order; columns of mapped features have no names."""
        drawn = {"gem", "mer", "ewc", "driftsurf", "aue", "forest", "weighted"}
        known = {"column_names"} | ({"class_order"} if {name, name.split(":")[0]} & {"ella:python", *drawn} else set())
        assert set(check_learner(lambda: OneByOne(name), on_fail="return")) <= known

    def test_all_kinds_of_seeds_and_labels_mean_the_same(self, name):
        sequence, classes = tasks(3, 12, n_classes=3), np.array([-5, 3, 40])
        seeds = np.random.default_rng(5), np.random.SeedSequence(5)
        plain, said = (learn(make(name, 3, seed), sequence) for seed in seeds)
        for a, b in zip(plain, said, strict=True):
            np.testing.assert_array_equal(a, b)
        labelled = make(name, None, np.random.SeedSequence(5), classes=classes[::-1])  # in any order, used sorted
        named = learn(labelled, [(X, classes[y].astype(object)) for X, y in sequence])
        np.testing.assert_array_equal(named[-1], classes[said[-1]])

    def test_state_size_counts_numbers(self, name):
        learner, sizes = make(name), []
        for step, task in enumerate(tasks(4, 12)):
            learner.partial_fit_task(step, *task)
            sizes.append(learner.state_size())
        assert all(type(size) is int and size > 0 for size in sizes)
        # At least the parameters of a rule; at most the pickled bytes could hold (float32 at the least).
        assert sizes[-1] * 4 < len(pickle.dumps(learner))

    def test_wrong_use_is_explained(self, name):
        learner = make(name)
        X, y = tasks(1, 6)[0]
        bad = X.copy()
        bad[2, 1] = np.nan
        with pytest.raises(ValueError, match="partial_fit_task first"):
            learner.predict(X)
        for task, said in (
            ((1, X, y), "step must be 0"),
            ((0, X[:, :2], y), "2 features"),
            ((0, X, y + 1), r"unknown label 2 at row 1; classes are \[0, 1\]"),
            ((0, bad, y), "row 2, column 1"),
            ((0, X, y[:3]), "one label per row"),
            ((0, X[:0], y[:0]), "at least one training sample"),
        ):
            with pytest.raises(ValueError, match=said):
                learner.partial_fit_task(*task)
        learner.partial_fit_task(0, X, y)  # nothing above has left a trace
        with pytest.raises(ValueError, match="task must be between 0 and 0"):
            learner.predict(X, task=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(("majority", "ella:python"))])
def test_learns_an_easy_sequence(name):
    """Two far, constant clusters: left out are majority and an ELLA whose codes are all zero by design."""
    rng = np.random.default_rng(3)
    learner, count = make(name), 150 if name in ("gem:argparse", "ewc:slow") else 60  # small steps need many samples
    y = np.arange(count) % 2
    for step in range(8):
        learner.partial_fit_task(step, CENTRES[y] + 0.3 * rng.standard_normal((count, 3)), y)
    X = CENTRES[y] + 0.3 * rng.standard_normal((count, 3))
    assert np.mean(learner.predict(X) != y) < 0.05


@pytest.mark.parametrize("name", registry)
def test_facts_are_complete(name):
    cls = registry[name]
    assert cls.title
    assert all(text.endswith(".") for text in (cls.idea, cls.wins, cls.keeps, *cls.deviations))
    assert cls.origin == "simple" or (cls.paper and cls.deviations)
    assert "default" in cls.profiles
    assert cls.keeps_old_rules or not cls.fixed_old_rules


def test_rules_for_old_tasks_are_kept_where_it_says_so():
    """Task 1 reverses the labels of task 0: only a kept rule can be right on both."""
    X = np.array([[2.0, 0, 0], [-2.0, 0, 0]] * 20)
    y = np.array([0, 1] * 20)
    for name, cls in registry.items():
        learner = make(name, **({"b": 0} if "b" in cls.shared_settings else {}))
        learner.partial_fit_task(0, X, y).partial_fit_task(1, X, 1 - y)
        differs = not np.array_equal(learner.predict(X, task=0), learner.predict(X, task=1))
        assert differs == cls.keeps_old_rules, name


def test_names_and_titles():
    assert (*PUBLISHED, *SIMPLE) == tuple(registry)
    assert PUBLISHED[:7] == ("gem", "mer", "ella", "ewc", "condor", "driftsurf", "aue")
    assert method_title("mer:argparse") == "MER (argparse)"
    with pytest.raises(ValueError, match="'gem'"):
        parse_method("gen")
    with pytest.raises(ValueError, match="'default'"):
        parse_method("gem:fast")
    with pytest.raises(TypeError):
        registry["gem"] = None


def test_construction_is_checked():
    cls = registry["gem"]
    for options, error, said in (
        ({}, TypeError, "n_classes or classes"),
        ({"n_classes": 2, "classes": ["a", "b", "c"]}, ValueError, "classes has 3 labels"),
        ({"n_classes": 2, "colour": "red"}, TypeError, "GEM: unknown setting 'colour'.* Known settings: learning_rate"),
        ({"n_classes": 2, "learning_rate": 0.0}, ValueError, "learning_rate must be above 0"),
    ):
        with pytest.raises(error, match=said):
            cls(n_features=2, **options)
    with pytest.raises(ValueError, match=r"unknown label 'z' at row 1"):
        cls(classes=["a", "b"], n_features=1).partial_fit_task(0, [[0.0], [1.0]], ["a", "z"])
    assert "profile='argparse', tasks=0" in repr(cls(n_classes=2, n_features=2, profile="argparse"))


@pytest.mark.parametrize("name", registry)
def test_every_hyper_parameter_has_limits(name):
    for field in fields(registry[name].profiles["default"]):
        if not isinstance(field.default, bool):
            wrong = "none" if isinstance(field.default, str) else -1
            with pytest.raises(ValueError, match=f"^{field.name} must be"):
                make(name, **{field.name: wrong})
