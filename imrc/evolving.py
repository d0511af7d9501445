"""`Evolving`: any classifier that accepts row weights, trained on the past with the weights of the default."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from imrc._types import Floats, Ints
from imrc.core.estimator import learn_in_turn
from imrc.core.presets import CANDIDATES
from imrc.core.rules_log import NEGLIGIBLE_WEIGHT, log_shares
from imrc.core.tracking import RateWeights
from imrc.solvers.api import softmax

_WAYS = tuple(one for one in CANDIDATES if not one.moving)


class Evolving(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Any classifier that accepts sample weights, for tasks that evolve: one `partial_fit` per task.

    For every task, one copy of the classifier is trained on all rows with equal weights (rate of change 0), two on
    rows weighted by tracking at rates .1 and 1, eq. (6), and one on the newest task alone. When a task arrives, all
    copies predict it before they learn it. The sum of their log losses gives each its share in the predictions, as in
    the default. All rows are kept, and four classifiers are retrained with every task.

    Parameters
    ----------
    estimator : object or None
        A classifier whose `fit` takes ``sample_weight``, or a pipeline that ends with one; give it a ``random_state``
        if it is random. Without `predict_proba`, its predictions count as certain. The default is logistic regression.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    n_tasks_ : int
        Tasks learnt so far.
    rates_, shares_ : ndarray of shape (4,)
        Rate of change of each copy (0 is pooled, infinity alone), and its share in the predictions.
    weights_ : ndarray of shape (n_tasks_,)
        Weight of each task in the predictions, averaged by the shares; the weights sum to 1.

    Examples
    --------
    >>> import imrc
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> tasks = imrc.datasets.load("random_walk", tasks=6, samples=40)
    >>> model = Evolving(RandomForestClassifier(10, random_state=0))
    >>> for task in tasks:
    ...     model = model.partial_fit(task.X, task.y, classes=tasks.classes)
    >>> model.predict(tasks[5].X[:3]).shape, model.weights_.round(2)
    ((3,), array([0.08, 0.09, 0.09, 0.1 , 0.15, 0.49]))
    """

    def __init__(self, estimator: Any = None) -> None:  # noqa: ANN401 - scikit-learn's convention
        self.estimator = estimator

    def fit(self, X: ArrayLike, y: ArrayLike, tasks: ArrayLike | None = None) -> Evolving:
        """Forget everything and learn one task, or a whole sequence of tasks.

        Parameters
        ----------
        X, y, tasks : see `imrc.IMRC.fit`
            Instances, their labels, and the task each row belongs to.

        Returns
        -------
        Evolving
        """
        learn_in_turn(self, X, y, tasks)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Evolving:
        """Learn the next task.

        Parameters
        ----------
        X, y, classes : see `imrc.IMRC.partial_fit`
            Instances of the new task, their labels, and all labels that can occur.

        Returns
        -------
        Evolving

        Raises
        ------
        ValueError
            For labels that are not among the classes, missing or infinite values, or shapes that do not match.
        """
        first = not hasattr(self, "n_tasks_")
        rows, y = validate_data(self, X, y, reset=first, dtype=np.float64)
        labels = np.asarray(y)
        check_classification_targets(labels)
        if first:
            self.classes_ = unique_labels(labels) if classes is None else unique_labels(classes)
        if (unknown := np.setdiff1d(labels, self.classes_)).size:
            raise ValueError(f"y has labels that are not among the classes: {unknown[:5].tolist()}.")
        codes = np.searchsorted(self.classes_, labels)
        if first:
            self.n_tasks_, self.rates_ = 0, np.array([one.rate for one in _WAYS])
            self._learner_past: list[tuple[Floats, Ints]] = []
            self._learner_weights = RateWeights(self.rates_.tolist(), 0)
            self._learner_scores = np.log([one.start for one in _WAYS])
        else:
            given = self._answers(rows)[:, np.arange(len(codes)), codes]
            self._learner_scores = self._learner_scores + log_shares(given, len(self.classes_)).sum(axis=1)
        self.n_tasks_ += 1
        self._learner_past = [*self._learner_past, (rows.copy(), codes)]
        self._learner_weights = self._learner_weights.after(len(codes), 1.0, 0)
        weights, worth = self._learner_weights.forward()
        self.shares_ = softmax(self._learner_scores[None])[0]
        self.weights_ = self.shares_ @ (weights / weights.sum(axis=1, keepdims=True))
        self.rules_ = [self._trained(own * ess) for own, ess in zip(weights, worth, strict=True)]
        return self

    def _trained(self, worth: Floats) -> Any:  # noqa: ANN401 - a classifier, or the one class there is
        """Return a copy trained on the rows of all tasks, each task worth so many samples."""
        parts = [
            (X, y, np.full(len(y), own / len(y)))
            for (X, y), own in zip(self._learner_past, worth, strict=True)
            if own > NEGLIGIBLE_WEIGHT * worth.max()
        ]
        X, y, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        if (y == y[0]).all():
            return int(y[0])
        rule = LogisticRegression(max_iter=1000) if self.estimator is None else clone(self.estimator)
        steps = getattr(rule, "steps", None)
        name = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
        return rule.fit(X, self.classes_[y], **{name: weights})

    def _answers(self, X: Floats) -> Floats:
        """Return the probabilities of every copy, (4, n_samples, n_classes)."""
        found = np.zeros((len(self.rules_), len(X), len(self.classes_)))
        for own, rule in zip(found, self.rules_, strict=True):
            if isinstance(rule, int):
                own[:, rule] = 1.0
            elif hasattr(rule, "predict_proba"):
                own[:, np.searchsorted(self.classes_, rule.classes_)] = rule.predict_proba(X)
            else:
                own[np.arange(len(X)), np.searchsorted(self.classes_, rule.predict(X))] = 1.0
        return found

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities for rows of the next task, the average over the copies by their shares."""
        check_is_fitted(self, "n_tasks_")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(np.tensordot(self.shares_, self._answers(rows), axes=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable label for rows of the next task (in a tie, the smallest)."""
        best = self.predict_proba(X).argmax(axis=1)  # first: it says if nothing was learnt, before there are classes
        return np.asarray(self.classes_[best])
