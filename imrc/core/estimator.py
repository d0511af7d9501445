"""`IMRC`: the learner as a scikit-learn estimator."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, _safe_indexing, check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from imrc._checks import check_choice, check_int, check_names, check_real
from imrc._types import Floats
from imrc.core.learner import Learner, unknown_task
from imrc.core.presets import DEFAULT, Preset, own_features
from imrc.core.settings import OVERRIDES, SETTINGS, IMRCSettings, Window, documented, resolve_settings
from imrc.core.tracking import TaskEstimate
from imrc.features import FeatureSpec, Representation, plain, repetition_draw
from imrc.solvers.api import probabilities, scores
from imrc.wording import RULES

Rule = Literal["single", "forward", "forward_backward"]
WhichTask = int | str | tuple[str, float]


def _holds_numbers(column: ArrayLike) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def learn_in_turn(model: Any, X: ArrayLike, y: ArrayLike, tasks: ArrayLike | None) -> None:  # noqa: ANN401
    """Reset a model and let it learn one task, or the tasks that rows belong to."""
    for name in [name for name in vars(model) if name.endswith("_") or name.startswith("_learner")]:
        delattr(model, name)
    if tasks is None:
        model.partial_fit(X, y)
        return
    import pandas as pd

    check_consistent_length(X, y, tasks)
    if (missing := np.flatnonzero(pd.isna(tasks := column_or_1d(tasks)))).size:
        raise ValueError(f"tasks has a missing value in row {missing[0]}: say which task each row belongs to.")
    names, place = np.unique(tasks, return_inverse=True)
    for task in range(len(names)):
        rows = np.flatnonzero(place == task)
        model.partial_fit(_safe_indexing(X, rows), _safe_indexing(y, rows), classes=unique_labels(y))


def _newest(name: str, text: str) -> property:
    """Return a property with an attribute of the newest estimate of each task under every rule."""

    def collected(self: IMRC) -> dict[str, Floats]:
        check_is_fitted(self, "n_tasks_")
        return {
            rule: np.array([getattr(one, name) for one in tasks]) for rule, tasks in self._learner_estimates.items()
        }

    return property(collected, doc=text)


@documented
class IMRC(ClassifierMixin, BaseEstimator):
    """Incremental minimax risk classifier, which learns a growing sequence of tasks, one `partial_fit` per task.

    After each call, every task seen has a rule. The newest task is learnt with the help of the tasks before it
    (forward learning, Section 3 of the paper), and the b tasks before it are revised with the newest one (forward and
    backward learning, Section 4). Older rules stay as they are. The representation is learnt from the rows of
    the first task, as in `imrc.evaluate`, which uses all rows of that task except test rows.

    Columns of a data frame whose names are all texts are matched by name: their order does not matter, and missing or
    unknown ones are refused. Others are taken by position.

    Parameters
    ----------
    {b, W, preset}
    features : str, FeatureSpec, Representation or None
        Representation of the instances, by default that of the preset. "identity" uses instances as they are.
        The first task determines whether a column is binary or numeric. If more is known about the columns (pixels,
        or raw columns with words and gaps), `Representation.of` takes it from a sequence.
    random_state : int, SeedSequence, RandomState instance or None, default 0
        Seed of the random frequencies of the representation. Learning is deterministic. A number gives the same draw as
        the first repetition of `imrc.evaluate` with this seed, and the SeedSequence of a repetition gives the draw of
        that repetition. With None, every draw is new.
    {overrides}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the first task was a data frame or `Representation.of` knows them.
    features_ : FeatureMap
        The representation with D features, learnt from the first task.
    n_tasks_ : int
        Tasks seen so far.
    n_iter_ : int
        Iterations of the solver for the rule of the newest task. For 0-1 loss, this is the subgradient or the exact
        method; for log loss, it is the quasi-Newton method for all rates of change together.
    mean_, mse_, coef_ : dict of str to ndarray of shape (n_tasks_, m)
        Mean vectors, their mean squared errors and classifier parameters, for "single", "forward", "forward_backward"
        and "predicted", with the newest estimate of each task. m = n_classes * (D + 1), one block per class with the
        intercept before the D features. "predicted" is the estimate of a task before its samples, NaN for the first
        task. "single" is NaN for a task without labels, except for its mean squared error, which is infinite.
    risk_, ess_ : dict of str to ndarray of shape (n_tasks_,)
        Minimax risks (objective of (3) at `coef_`, or minimax log loss in nats, where "predicted" is NaN because it is
        an average of rules) and effective sample sizes (Theorems 1 and 3; with several rates, their geometric mean
        weighted by shares).

    Notes
    -----
    Memory is O((b + k) m) for k tasks. For log loss, the last six tasks are stored too, or more up to 2,000 samples.
    Once this store is full, the time of a step grows with b and not with k.

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("random_walk", tasks=5, samples=40)
    >>> model = IMRC(b=2, features="standardised")
    >>> for task in sequence:
    ...     model = model.partial_fit(task.X, task.y, classes=sequence.classes)
    >>> model.n_tasks_, model.coef_["forward_backward"].shape
    (5, (5, 14))
    >>> model.predict(sequence[0].X[:3], task=0).shape
    (3,)

    The next task, before you have any of its data:

    >>> model.predict(sequence[0].X[:3], task="next").shape
    (3,)
    """

    def __init__(
        self,
        *,
        b: int = SETTINGS["b"].default,
        W: Window | None = None,
        preset: Preset = DEFAULT,
        features: str | FeatureSpec | Representation | None = None,
        random_state: Any = 0,  # noqa: ANN401 - scikit-learn's convention
        **overrides: Any,  # noqa: ANN401 - the rest of the table; values are checked by IMRCSettings
    ) -> None:
        check_names("IMRC", overrides, OVERRIDES)
        self.b, self.W, self.preset, self.features, self.random_state = b, W, preset, features, random_state
        for name in OVERRIDES:
            setattr(self, name, overrides.get(name))

    def fit(self, X: ArrayLike, y: ArrayLike, tasks: ArrayLike | None = None) -> IMRC:
        """Forget everything and learn one task, or a whole sequence of tasks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Labels.
        tasks : array-like of shape (n_samples,), optional
            Task of each row, by default one task for all. Tasks are sorted by these numbers, dates or texts, so a split
            that shuffles rows does not change the sequence.

        Returns
        -------
        IMRC
        """
        learn_in_turn(self, X, y, tasks)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike | None = None, classes: ArrayLike | None = None, gap: float = 1.0
    ) -> IMRC:
        """Learn the next task from all rows given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances of the new task.
        y : array-like of shape (n_samples,) or None
            Labels, numbers or strings. A task without labels is learnt only from the tasks around it, on its own
            instances. When labels arrive later, call again with ``gap=0``.
        classes : array-like of shape (n_classes,), optional
            All labels that can occur. Needed at the first call if the first task does not contain every class.
        gap : float
            Periods since the previous task, at least 0, each with one change. It has no effect on the first task.

        Returns
        -------
        IMRC

        Raises
        ------
        ValueError
            For unknown labels, missing or infinite values, shapes that do not match, a first task without labels, or a
            parameter changed since the first task (`fit` starts again).
        """
        first = not hasattr(self, "n_tasks_")
        gap = check_real("gap", gap, 0.0)
        if y is None and first:
            raise ValueError("The first task needs labels: requires y to be passed, but the target y is None.")
        settings = resolve_settings(**{one.name: getattr(self, one.name) for one in fields(IMRCSettings)})
        rows, y = self._checked(X, y, first=first)
        if y is not None:
            check_classification_targets(y)
        if first:
            self.classes_ = unique_labels(y) if classes is None else unique_labels(classes)
            self.features_ = self._representation().learn(rows, self._draw())
            self._learner_features = self.features
            self._learner = Learner(settings, len(self.classes_))
            self._learner_estimates: dict[str, list[TaskEstimate]] = {rule: [] for rule in (*RULES, "predicted")}
        elif (settings, self.features) != (self._learner.settings, self._learner_features):
            raise ValueError(self._changed(settings))
        elif classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError("classes must be the same as at the first call of partial_fit.")
        codes = None if y is None else self._encoded(np.asarray(y))
        predicted = None if first else self._learner.predicted(gap)
        update = self._learner.step(self.features_.with_intercept(rows), codes, gap)
        estimates = self._learner_estimates
        estimates["single"].append(update.single)
        estimates["forward"].append(update.forward)
        estimates["forward_backward"].append(update.forward)
        estimates["predicted"].append(unknown_task(len(update.forward.mean)) if predicted is None else predicted)
        for task, estimate in update.revised.items():
            estimates["forward_backward"][task] = estimate
        self.n_tasks_ = len(estimates["forward"])
        self.n_iter_ = update.forward.iterations
        return self

    def _representation(self) -> Representation:
        if isinstance(self.features, Representation):
            return self.features
        return Representation(own_features(self.preset) if self.features is None else FeatureSpec.parse(self.features))

    def _draw(self) -> np.random.SeedSequence:
        known = self.random_state
        if not isinstance(known, int | np.integer | np.random.SeedSequence):
            known = check_random_state(known).randint(2**31)
        return repetition_draw(known)

    def _checked(self, X: Any, y: ArrayLike | None = None, *, first: bool = False) -> tuple[Floats, Any]:  # noqa: ANN401
        """Return rows of numbers with columns in the order of the first task, and the labels."""
        known = self.features.names if isinstance(self.features, Representation) else ()
        if first and known:
            self.feature_names_in_, self.n_features_in_ = np.array(known, dtype=object), len(known)
        names, columns = list(getattr(self, "feature_names_in_", ())), getattr(X, "columns", None)
        if columns is not None and len(columns) == len(names) == len(set(names)) and set(columns) == set(names):
            X = X[names]
        elif known and isinstance(X, np.ndarray) and X.shape[1:] == (len(known),):
            import pandas as pd

            X = pd.DataFrame(X, columns=names)  # an array, with columns in the order of the sequence
        allow_nan = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        options = {"reset": first and not known, "dtype": np.float64, "ensure_all_finite": allow_nan}
        try:
            return (validate_data(self, X, **options), None) if y is None else validate_data(self, X, y, **options)
        except (TypeError, ValueError) as error:
            words = [name for name in getattr(X, "columns", ()) if not _holds_numbers(X[name])]
            if not words:
                raise
            raise ValueError(
                f"Columns without numbers: {', '.join(map(repr, words[:5]))}. Turn them into numbers first, "
                "for example with sklearn.preprocessing.OneHotEncoder. For a model learnt from a sequence "
                "of imrc.tasks_from, replace each word by its number in `categories` of that sequence."
            ) from error

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = isinstance(self.features, Representation) and self.features.raw
        return tags

    def _encoded(self, y: NDArray[Any]) -> NDArray[np.int64]:
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y has labels that are not among the classes: {unknown[:5].tolist()}. Give all labels as "
                "classes= at the first call of partial_fit."
            )
        return np.searchsorted(self.classes_, y).astype(np.int64)

    def _changed(self, settings: IMRCSettings) -> str:
        """Name the parameters that have changed since the first task."""
        old = vars(self._learner.settings) | {"features": self._learner_features}
        new = vars(settings) | {"features": self.features}
        names = [name for name in new if new[name] != old[name]]
        # With another preset, values change that the user did not set.
        names = [name for name in names if getattr(self, name) is not None] or names
        changes = ", ".join(f"{name} from {old[name]!r} to {new[name]!r}" for name in names)
        return (
            f"Changed since the first call of partial_fit: {changes}. The tasks so far were learnt with the old value. "
            "Set it back, or start again with fit or a new IMRC."
        )

    mean_ = _newest("mean", "Mean vectors tau of all tasks, (n_tasks_, m) per rule.")
    mse_ = _newest("mse", "Mean squared errors s of the mean vectors, (n_tasks_, m) per rule.")
    coef_ = _newest("coef", "Classifier parameters mu, (n_tasks_, m) per rule.")
    risk_ = _newest("risk", "Minimax risks, (n_tasks_,) per rule.")
    ess_ = _newest("ess", "Effective samples that each rule was learnt from, (n_tasks_,) per rule.")

    def _estimate(self, task: WhichTask, rule: Rule) -> TaskEstimate:
        check_is_fitted(self, "n_tasks_")
        check_choice("rule", rule, RULES)
        if isinstance(task, str | tuple):
            name, steps = (task, 1.0) if isinstance(task, str) else task
            if name != "next":
                raise ValueError(f"task must be a number, 'next' or ('next', periods); got {task!r}.")
            return self._learner.predicted(check_real("periods", steps, 0.0))
        task = check_int("task", task, -self.n_tasks_, self.n_tasks_ - 1)
        if rule == "single" and np.isnan(self._learner_estimates[rule][task].risk):
            raise ValueError(f"Task {task} was learnt without labels: it has no rule of its own. Take rule='forward'.")
        return self._learner_estimates[rule][task]

    def decision_function(
        self, X: ArrayLike, task: WhichTask = -1, rule: Rule = "forward_backward"
    ) -> NDArray[np.float64]:
        """Return the scores Phi(x, y)'mu, or their difference for two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        task : int, "next" or ("next", float)
            Task whose rule to use, from 0; negative numbers count from the newest. "next" is the task one period after
            the newest, and ("next", h) the task h periods after it.
        rule : {"single", "forward", "forward_backward"}
            Which rule of that task; the next task has only one.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        values = self._scores(X, task, rule)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def _scores(self, X: ArrayLike, task: WhichTask, rule: Rule) -> Floats:
        estimate = self._estimate(task, rule)
        rows, _ = self._checked(X)
        return scores(plain(self.features_).with_intercept(rows), estimate.coef, len(self.classes_))

    def predict(self, X: ArrayLike, task: WhichTask = -1, rule: Rule = "forward_backward") -> NDArray[Any]:
        """Return the label with the largest score (in a tie, the smallest label), shape (n_samples,).

        Parameters
        ----------
        X, task, rule : as in `decision_function`
            Instances, and the rule to use.
        """
        best = np.argmax(self._scores(X, task, rule), axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: ArrayLike, task: WhichTask = -1, rule: Rule = "forward_backward") -> Floats:
        """Return the randomised minimax rule h(y|x).

        For 0-1 loss it is proportional to max(Phi(x, y)'mu - nu, 0), for log loss to exp(Phi(x, y)'mu).

        nu is the max term of problem (3) at the solution. The minimax risk bounds the error of this rule if the true
        distribution is in the uncertainty set. Instances without a positive part get equal probabilities.

        Parameters
        ----------
        X, task, rule : as in `predict`
            Instances, and the rule to use.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return probabilities(self._scores(X, task, rule), self._learner.settings.loss, self._estimate(task, rule).nu)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        task: WhichTask = -1,
        rule: Rule = "forward_backward",
    ) -> float:
        """Return the share of correct labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,) or None
            Weights of the samples, equal by default.
        task, rule : as in `decision_function`
            The rule to use.

        Returns
        -------
        float
            Between 0 and 1.
        """
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels, sample_weight)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(labels == self.predict(X, task, rule), weights=weights))


# scikit-learn, the documentation and interactive help read names here, so the signature replaces `overrides`.
_EXPLICIT = list(inspect.signature(IMRC.__init__).parameters.values())[:-1]
IMRC.__init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [*_EXPLICIT, *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in OVERRIDES)]
)
