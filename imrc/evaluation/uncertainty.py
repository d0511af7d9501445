"""The paper's first picture: nested uncertainty sets of a task, in two components of the mean vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from imrc._checks import check_int
from imrc.core.estimator import IMRC
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.splits import draw_task, repetition_seeds, task_seed
from imrc.features import FeatureSpec, make, output_names
from imrc.tasks import TaskSequence
from imrc.wording import RULES, feature_names_or_numbers

if TYPE_CHECKING:
    import pandas as pd

SHOWN_IN = FeatureSpec("standardised")
"""Representation of the picture: columns one can name, in units of their spread in the first task."""


def component_names(sequence: TaskSequence) -> tuple[str, ...]:
    """Return the names of the features whose components can be shown, in their order."""
    feature_map = make(SHOWN_IN, sequence)
    return feature_names_or_numbers(output_names(feature_map, sequence), feature_map.n_outputs)


def uncertainty_sets(
    sequence: TaskSequence, settings: RunSettings, task: int, features: tuple[int, int], label: int
) -> pd.DataFrame:
    """Return the boxes tau plus and minus lambda = sqrt(s) of three rules for one task, in two features of a class.

    Of preset ``paper`` after the b tasks that follow, with the draws of the first repetition. Columns set, task (from
    1), x, y, x_half, y_half: a row per rule and, halves NaN, per task ("truth": the average over all its samples).
    """
    import pandas as pd

    sequence = replace(settings, k=None).fit_to(sequence)
    task = check_int("task", task, 0, len(sequence) - 1)
    label = check_int("label", label, 0, sequence.n_classes - 1)
    feature_map = make(SHOWN_IN, sequence)
    width = feature_map.n_outputs + 1
    x, y = (label * width + 1 + check_int("features", j, 0, width - 2) for j in features)
    window = settings.W if isinstance(settings.W, int) else 2
    learner = IMRC(
        b=settings.b, W=window, preset="paper", features="identity", max_iter=1
    )  # only mean vectors are looked at
    seed, rows = repetition_seeds(settings.seed, 1)[0], []
    last = min(task + settings.b, len(sequence) - 1)
    for j in range(len(sequence)):
        mapped, labels = feature_map.transform(sequence[j].X), sequence.encoded(j)
        if j <= last:
            draw = draw_task(labels, settings.n, sequence.n_classes, task_seed(seed, j)).train
            learner.partial_fit(mapped[draw], labels[draw], classes=range(sequence.n_classes))
        chosen = labels == label
        share = chosen.mean()
        at = [float(mapped[chosen, j].mean() * share) if share else 0.0 for j in features]
        rows.append({"set": "truth", "task": j + 1, "x": at[0], "y": at[1], "x_half": np.nan, "y_half": np.nan})
    sets = []
    for rule in RULES:
        mean, half = learner.mean_[rule][task], np.sqrt(learner.mse_[rule][task])
        sets.append({"set": rule, "task": task + 1, "x": mean[x], "y": mean[y], "x_half": half[x], "y_half": half[y]})
    return pd.DataFrame(sets + rows)
