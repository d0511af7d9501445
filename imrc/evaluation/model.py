"""A model to take away: the estimator fitted on all samples of a sequence, with its representation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc.core.estimator import IMRC
from imrc.evaluation._threads import single_thread
from imrc.evaluation.settings import RunSettings
from imrc.features import FeatureMap, make
from imrc.tasks import TaskSequence


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A representation and an estimator that belong together; `joblib.dump` keeps it.

    Attributes
    ----------
    features : FeatureMap
        From inputs as in the sequence to what the estimator takes.
    estimator : IMRC
        Fitted; a further task is learnt with ``estimator.partial_fit(features.transform(X), y)``.
    columns : tuple of str
        Names of the columns of the inputs, where they have some.
    """

    features: FeatureMap
    estimator: IMRC
    columns: tuple[str, ...]

    def predict(self, X: ArrayLike, task: int = -1) -> NDArray[Any]:
        """Return the labels of rows with the columns of the sequence.

        Parameters
        ----------
        X : array-like of shape (rows, columns)
            Inputs.
        task : int
            Whose rule is used, from 0; -1: that of the newest task.

        Returns
        -------
        ndarray of shape (rows,)
        """
        return self.estimator.predict(self.features.transform(np.asarray(X, dtype=np.float64)), task=task)


def fit_model(sequence: TaskSequence, settings: RunSettings) -> FittedModel:
    """Learn all samples of a sequence, task by task, with the settings of a run.

    A run draws n samples per task and tests on others; here nothing is kept for a test.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    settings : RunSettings
        Preset, b, W, representation, seed and custom values are used.

    Returns
    -------
    FittedModel

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("identical", tasks=4, samples=60)
    >>> model = fit_model(sequence, RunSettings(b=2))
    >>> model.predict(sequence[3].X).shape
    (60,)
    """
    features = make(settings.features, sequence, settings.seed)
    estimator = IMRC(b=settings.b, W=settings.W, preset=settings.learner.preset, **dict(settings.overrides))
    with single_thread():
        for task in sequence:
            estimator.partial_fit(features.transform(task.X), task.y, classes=sequence.classes)
    return FittedModel(features, estimator, sequence.feature_names)
