"""A model to take away: the estimator fitted on all samples of a sequence."""

from __future__ import annotations

from imrc.core.estimator import IMRC
from imrc.evaluation._threads import single_thread
from imrc.evaluation.settings import RunSettings
from imrc.features import Representation
from imrc.tasks import TaskSequence


def fit_model(sequence: TaskSequence, settings: RunSettings) -> IMRC:
    """Learn all samples of a sequence with the settings of a run: preset, b, W, representation, seed, custom values.

    A run draws n samples per task and tests on others; here nothing is kept for a test. Random frequencies are those of
    the first repetition. The model takes arrays, or data frames by the names of the sequence's columns.
    """
    model = IMRC(
        b=settings.b,
        W=settings.W,
        preset=settings.learner.preset,
        features=Representation.of(settings.features, sequence),
        random_state=settings.seed,
        **dict(settings.overrides),
    )
    with single_thread():
        for task in sequence:
            model.partial_fit(task.X, task.y, classes=sequence.classes)
    return model
