"""Real 8 x 8 digits that turn over the tasks: all of them, or sixes and nines. Needs no network."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_int, check_real
from imrc._types import Floats
from imrc.datasets._rotation import rotate_images
from imrc.tasks import Task, TaskSequence

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
    return _turning(
        images,
        (digits >= 5).astype(np.int64),
        np.random.default_rng([seed, 8]),
        tasks,
        180.0,
        name="rotated_digits",
        description="Real handwritten digits that turn from 0 to 180 degrees; is the digit 5 or more?",
        class_names=("0-4", "5-9"),
    )


def six_or_nine(*, tasks: int = 20, turn: float = 360.0, seed: int = 0) -> TaskSequence:
    """Return handwritten sixes and nines cut into tasks that turn, by default, a full circle: upside down a 6 is a 9.

    Image of task j (from 1) of k: turned by an angle drawn uniformly from [turn (j-1) / k, turn j / k] degrees.

    >>> six_or_nine()
    TaskSequence('six_or_nine', 20 tasks, 360 samples, 64 features, 2 classes)
    """
    tasks = check_int("tasks", tasks, 2, MAX_TASKS)
    turn = check_real("turn", turn, 0.0, 3600.0)
    seed = check_int("seed", seed, 0)
    images, digits = _digits()
    kept = np.isin(digits, (6, 9))
    turns = "upside down, after half of it, a digit covers nearly the same pixels again."
    turns = f"{360 * tasks / turn:g} tasks are one full turn: {turns}" if turn else ""
    return _turning(
        images[kept],
        (digits[kept] == 9).astype(np.int64),
        np.random.default_rng([seed, 69]),
        tasks,
        turn,
        name="six_or_nine",
        description=f"Real handwritten sixes and nines that turn from 0 to {turn:g} degrees; is it a 6 or a 9?",
        class_names=("6", "9"),
        **{"if periodic": turns},
    )


def _turning(
    images: Floats,
    labels: NDArray[np.int64],
    generator: np.random.Generator,
    tasks: int,
    turn: float,
    *,
    name: str,
    description: str,
    class_names: tuple[str, str],
    **info: str,
) -> TaskSequence:
    """Deal the images out to tasks, and turn each by an angle of its task's share of `turn` degrees."""
    size = len(images) // tasks
    order = generator.permutation(len(images))[: size * tasks]
    number = np.repeat(np.arange(tasks), size)
    angles = (number + generator.random(len(order))) * turn / tasks
    X = np.clip(rotate_images(images[order], angles), 0.0, 1.0).reshape(len(order), -1)
    y = labels[order]
    step = turn / tasks
    return TaskSequence(
        tuple(Task(X[number == j], y[number == j], f"{j * step:.0f}–{(j + 1) * step:.0f}°") for j in range(tasks)),
        name=name,
        description=description,
        classes=np.arange(2),
        feature_names=tuple(f"pixel {r},{c}" for r in range(8) for c in range(8)),
        info={
            "class_names": class_names,
            "source": "scikit-learn's copy of the UCI Optical Recognition of Handwritten Digits test set",
            "licence": "CC BY 4.0 (UCI)",
            "citation": "E. Alpaydin, C. Kaynak, UCI Machine Learning Repository, 1998, doi 10.24432/C50P49",
            **info,
        },
        column_kinds=("pixel",) * 64,
    )
