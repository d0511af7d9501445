"""Your own classifier as a compared method: any scikit-learn classifier, learnt anew at every task."""

from __future__ import annotations

import contextlib
import copy
import pickle  # nosec B403
from typing import Any, Literal, get_args

import numpy as np

from imrc._checks import InputError, check_choice
from imrc._types import Floats, Ints
from imrc.baselines.base import Baseline, named
from imrc.baselines.simple import RecentSettings

Refit = Literal["seen", "recent", "single", "numbered", "evolving"]
PREFIX = "own:"


class OwnMethod(str):
    """The name of your own classifier, together with the classifier.

    It is a string that begins with "own:", so results are found, drawn and saved under it like all others. The
    classifier itself is never saved. Different classifiers need different names.

    Parameters
    ----------
    name : str
        For people.
    estimator : object
        A classifier with scikit-learn's `fit` and `predict`; it is cloned for every task and never changed.
    refit : {"seen", "recent", "single", "numbered", "evolving"}
        What it learns from at each task: all samples so far, as one rule for all tasks; those of the last b + 1 tasks,
        or the newest task's own, as one rule per task that stays as it was learnt; all samples, with the number of
        their task as a last column; or all samples, weighted as in `imrc.Evolving`, as one rule per task.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> OwnMethod("my tree", DecisionTreeClassifier())
    'own:my tree'
    """

    estimator: Any
    refit: Refit

    def __new__(cls, name: str, estimator: Any = None, refit: Refit = "seen") -> OwnMethod:  # noqa: ANN401 - duck-typed
        """Check the classifier and give it its name."""
        made = super().__new__(cls, name if name.startswith(PREFIX) else f"{PREFIX}{name}")
        fits = hasattr(estimator, "fit") and hasattr(estimator, "predict") and not isinstance(estimator, type)
        if estimator is not None and not fits:
            got = getattr(estimator, "__name__", type(estimator).__name__)
            raise InputError(f"{name!r} must be a classifier with fit and predict, not its class; got {got}.")
        made.estimator, made.refit = estimator, check_choice("refit", refit, get_args(Refit))
        return made

    def learner(self, n_classes: int, n_features: int, random_state: np.random.SeedSequence, b: int) -> OwnClassifier:
        """Return a learner for one repetition; InputError if the name is from a saved result, with no classifier."""
        if self.estimator is None:
            raise InputError(f"The classifier of {str(self)!r} was not saved with the result. Pass it again.")
        kind = {"seen": OwnClassifier, "numbered": _OwnNumbered, "evolving": OwnEvolving}.get(self.refit, _OwnPerTask)
        made = kind(n_classes=n_classes, n_features=n_features, random_state=random_state, b=b)
        made.estimator = self.estimator
        made.kept_tasks = {"recent": made.settings.b + 1, "single": 1}.get(self.refit)
        return made


class OwnClassifier(Baseline):
    """A classifier learnt anew at every task from all samples so far, one rule for all tasks; see `OwnMethod`."""

    title = "Own"
    origin = "simple"
    profiles = named(RecentSettings())
    settings: RecentSettings

    def _start(self) -> None:
        self.estimator: Any = None
        self.kept_tasks: int | None = None
        self._parts: list[tuple[Floats, Ints]] = []
        self._rules: list[Any] = []

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        self._parts.append((X.copy(), y.copy()))
        if self.kept_tasks is not None:
            del self._parts[: -self.kept_tasks]
        rule = self._learnt(np.vstack([part[0] for part in self._parts]), np.concatenate([p[1] for p in self._parts]))
        self._rules = [*self._rules, rule] if self.keeps_old_rules else [rule]

    def _learnt(self, X: Floats, y: Ints) -> Any:  # noqa: ANN401 - a classifier, or the one class there is
        """Return a fitted copy; the class itself where there is only one, which many classifiers refuse."""
        return int(y[0]) if (y == y[0]).all() else self._seeded().fit(X, y)

    def _seeded(self) -> Any:  # noqa: ANN401 - a classifier
        """Return a copy of the classifier that draws by the repetition's seed."""
        from sklearn.base import clone

        rule = clone(self.estimator, safe=False)
        seeds = {name: int(self.random.integers(2**31)) for name, seed in seeds_of(rule).items() if seed is None}
        return rule.set_params(**seeds) if seeds else rule

    def _predict(self, X: Floats, task: int) -> Ints:
        rule = self._rules[task if self.keeps_old_rules else -1]
        return np.full(len(X), rule) if isinstance(rule, int) else np.asarray(rule.predict(X), dtype=np.int64)

    def state_size(self) -> int:
        """Return the numbers of the stored samples and of the arrays that the rules consist of."""
        return sum(X.size + y.size for X, y in self._parts) + array_bytes(self._rules) // 8


def seeds_of(estimator: Any) -> dict[str, Any]:  # noqa: ANN401 - duck-typed
    """Return the parameters that a classifier, or a part of it, draws by, in the order of their names."""
    given = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return {name: given[name] for name in sorted(given) if name.rpartition("__")[2] == "random_state"}


def array_bytes(value: object) -> int:
    """Return the bytes of all arrays that pickling an object meets; what occurs twice counts once."""
    arrays: list[pickle.PickleBuffer] = []
    with contextlib.suppress(Exception):  # not our code: count the arrays up to the first part that cannot be pickled
        pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return sum(array.raw().nbytes for array in arrays)


class _OwnPerTask(OwnClassifier):
    """A classifier learnt anew from the last tasks, one rule per task that stays as it was learnt."""

    keeps_old_rules = fixed_old_rules = True


class _OwnNumbered(OwnClassifier):
    """A classifier learnt anew from all samples so far, the number of the task as one more column."""

    keeps_old_rules = True

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        super()._fit_task(step, np.column_stack([X, np.full(len(X), float(step))]), y)
        self._rules = self._rules[-1:]

    def _predict(self, X: Floats, task: int) -> Ints:
        rows = np.column_stack([X, np.full(len(X), float(task))])
        return super()._predict(rows, -1)


class OwnEvolving(_OwnPerTask):
    """A classifier learnt anew from all samples so far by the weights of `imrc.Evolving`."""

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        from imrc.evolving import Evolving

        before = copy.copy(self._rules[-1]) if self._rules else Evolving(self._seeded())
        self._rules.append(before.partial_fit(X, y, classes=range(self.n_classes)))


class Weighted(OwnEvolving):
    """Logistic regression on rows weighted by tracking, each set of weights judged by what it predicted."""

    title = "Logistic regression by tracked weights"
    idea = (
        "Logistic regression on the past with four sets of weights, from pooled to alone, and the best ones count most."
    )
    wins = "Tasks whose past is worth something."
    keeps = "All samples, and four classifiers per task."
