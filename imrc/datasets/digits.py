"""Rotated digits: real 8 x 8 digits that turn from 0 to 180 degrees over the tasks. Needs no network."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_int
from imrc._types import Floats
from imrc.datasets._rotation import rotate_images
from imrc.tasks import Task, TaskSequence

IMAGES = 1797
"""Images in the collection that scikit-learn ships."""

MAX_TASKS = 60


@lru_cache(maxsize=1)
def _digits() -> tuple[Floats, NDArray[np.int64]]:
    from sklearn.datasets import load_digits

    bundle = load_digits()
    return bundle.images / 16.0, bundle.target.astype(np.int64)


def rotated_digits(*, tasks: int = 20, seed: int = 0) -> TaskSequence:
    """Return handwritten digits cut into tasks whose rotation grows from 0 to 180 degrees.

    Each of the 1,797 images belongs to one task only, so nothing leaks between tasks. Images of task j (from 1) are
    turned by angles drawn uniformly from [180 (j-1) / k, 180 j / k]. The label is "5 or more".

    Parameters
    ----------
    tasks : int
        Number of tasks k, 2 to 60. A task gets 1,797 // k images.
    seed : int
        Which image goes where, and by which angle it is turned.

    Returns
    -------
    TaskSequence
        Classes 0 (digit 0-4) and 1 (digit 5-9), 64 features in [0, 1].

    Examples
    --------
    >>> rotated_digits(tasks=20)
    TaskSequence('rotated_digits', 20 tasks, 1780 samples, 64 features, 2 classes)
    """
    tasks = check_int("tasks", tasks, 2, MAX_TASKS)
    seed = check_int("seed", seed, 0)
    images, digits = _digits()
    generator = np.random.default_rng([seed, 8])
    size = IMAGES // tasks
    order = generator.permutation(IMAGES)[: size * tasks]
    number = np.repeat(np.arange(tasks), size)
    angles = (number + generator.random(len(order))) * 180.0 / tasks
    X = np.clip(rotate_images(images[order], angles), 0.0, 1.0).reshape(len(order), -1)
    y = (digits[order] >= 5).astype(np.int64)
    step = 180.0 / tasks
    return TaskSequence(
        tuple(Task(X[number == j], y[number == j], f"{j * step:.0f}–{(j + 1) * step:.0f}°") for j in range(tasks)),
        name="rotated_digits",
        description="Real handwritten digits that turn from 0 to 180 degrees; is the digit 5 or more?",
        feature_names=tuple(f"pixel {r},{c}" for r in range(8) for c in range(8)),
        info={
            "class_names": ("0-4", "5-9"),
            "source": "scikit-learn's copy of the UCI Optical Recognition of Handwritten Digits test set",
            "licence": "CC BY 4.0 (UCI)",
            "citation": "E. Alpaydin, C. Kaynak, UCI Machine Learning Repository, 1998, doi 10.24432/C50P49",
        },
        column_kinds=("pixel",) * 64,
    )
