"""Real 8 x 8 digits that turn over the tasks: all of them, or sixes and nines. Needs no network."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import check_int, check_real
from imrc._types import Floats, Ints
from imrc.tasks import TaskSequence, sequence_from_blocks

MAX_TASKS = 60
_SOURCE = {
    "source": "scikit-learn's copy of the UCI Optical Recognition of Handwritten Digits test set",
    "licence": "CC BY 4.0 (UCI)",
    "citation": "E. Alpaydin, C. Kaynak, UCI Machine Learning Repository, 1998, doi 10.24432/C50P49",
}


@lru_cache(maxsize=1)
def _digits() -> tuple[Floats, Ints]:
    # The file alone: `sklearn.datasets`, which has `load_digits`, takes longer to load than a page to open.
    spec = find_spec("sklearn")
    assert spec is not None  # noqa: S101 - it is installed with imrc
    table = np.loadtxt(Path(str(spec.origin)).with_name("datasets") / "data" / "digits.csv.gz", delimiter=",")
    return table[:, :-1].reshape(-1, 8, 8) / 16.0, table[:, -1].astype(np.int64)


def rotated_digits(*, tasks: int = 20, seed: int = 0) -> TaskSequence:
    """Return handwritten digits cut into tasks whose rotation grows from 0 to 180 degrees.

    Each of the 1,797 images belongs to one task only, so nothing leaks between tasks. Images of task j (from 1) are
    turned by angles drawn uniformly from [180 (j-1) / k, 180 j / k]. Classes are 0 (digits 0-4) and 1 (digits 5-9), and
    the 64 features are in [0, 1].

    Parameters
    ----------
    tasks : int
        Number of tasks k, 2 to 60. A task gets 1,797 // k images.
    seed : int
        Seed that decides which task gets an image and by which angle the image is turned.

    Examples
    --------
    >>> rotated_digits(tasks=20)
    TaskSequence('rotated_digits', 20 tasks, 1780 samples, 64 features, 2 classes)
    """
    images, digits = _digits()
    words = "Real handwritten digits that turn from 0 to 180 degrees; is the digit 5 or more?"
    about = {"name": "rotated_digits", "description": words, "info": {"class_names": ("0-4", "5-9"), **_SOURCE}}
    return _turning(images, digits >= 5, 8, tasks, 180.0, seed, about)


def six_or_nine(*, tasks: int = 20, turn: float = 360.0, seed: int = 0) -> TaskSequence:
    """Return handwritten sixes and nines cut into tasks that turn, by default, a full circle: upside down a 6 is a 9.

    Image of task j (from 1) of k: turned by an angle drawn uniformly from [turn (j-1) / k, turn j / k] degrees.
    """
    tasks, turn = check_int("tasks (k)", tasks, 2, MAX_TASKS), check_real("turn", turn, 0.0, 3600.0)
    images, digits = _digits()
    kept = np.isin(digits, (6, 9))
    turns = "after half a turn, a digit is upside down and covers nearly the same pixels again."
    turns = f"{360 * tasks / turn:g} tasks are one full turn: {turns}" if turn else ""
    words = f"Real handwritten sixes and nines that turn from 0 to {turn:g} degrees; is it a 6 or a 9?"
    info = {"class_names": ("6", "9"), **_SOURCE, "if periodic": turns}
    about = {"name": "six_or_nine", "description": words, "info": info}
    return _turning(images[kept], digits[kept] == 9, 69, tasks, turn, seed, about)


def rotate_images(images: NDArray[np.float64], angles: ArrayLike) -> NDArray[np.float64]:
    """Rotate each image (n, height, width) by its own angle in degrees, counter-clockwise; bilinear, 0 outside."""
    n, height, width = images.shape
    theta = np.deg2rad(np.asarray(angles, dtype=np.float64))[:, None, None]
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float64)
    rows, columns = rows - (height - 1) / 2, columns - (width - 1) / 2
    # Where each target pixel comes from; row numbers grow downwards.
    source_row = np.cos(theta) * rows + np.sin(theta) * columns + (height - 1) / 2
    source_column = -np.sin(theta) * rows + np.cos(theta) * columns + (width - 1) / 2
    padded = np.zeros((n, height + 2, width + 2))
    padded[:, 1:-1, 1:-1] = images
    source_row = np.clip(source_row + 1, 0, height + 1)
    source_column = np.clip(source_column + 1, 0, width + 1)
    top = np.minimum(source_row.astype(np.int64), height)
    left = np.minimum(source_column.astype(np.int64), width)
    down, right = source_row - top, source_column - left
    item = np.arange(n)[:, None, None]
    upper = padded[item, top, left] * (1 - right) + padded[item, top, left + 1] * right
    lower = padded[item, top + 1, left] * (1 - right) + padded[item, top + 1, left + 1] * right
    return np.asarray(upper * (1 - down) + lower * down)


def _turning(
    images: Floats, labels: NDArray[np.bool_], stream: int, tasks: int, turn: float, seed: int, about: dict[str, Any]
) -> TaskSequence:
    """Return `turning` of these images; `stream` keeps the draws of one sequence apart from those of another."""

    def turned(order: Ints, degrees: Floats) -> Floats:
        return np.clip(rotate_images(images[order], degrees), 0.0, 1.0).reshape(len(order), -1)

    generator = np.random.default_rng([check_int("seed", seed, 0), stream])
    tasks = check_int("tasks (k)", tasks, 2, MAX_TASKS)
    return turning(labels.astype(np.int64), generator, tasks, turn, turned, **about)


def turning(
    labels: Ints,
    generator: np.random.Generator,
    tasks: int,
    turn: float,
    turned: Callable[[Ints, Floats], Floats],
    *,
    one_angle: bool = False,
    digits: str = ".0f",
    **about: Any,  # noqa: ANN401 - of TaskSequence
) -> TaskSequence:
    """Deal square images out to tasks, and turn each by an angle of its task's share of `turn` degrees, or all by one.

    `turned` gives pixels of images by their numbers and angles; `digits` is how angles are written.
    """
    size, step = len(labels) // tasks, turn / tasks
    order = generator.permutation(len(labels))[: size * tasks]
    within = np.repeat(generator.random(tasks), size) if one_angle else generator.random(len(order))
    X, y = turned(order, (np.repeat(np.arange(tasks), size) + within) * turn / tasks), labels[order]
    # Read-only arrays are sliced by the tasks instead of copied.
    X.flags.writeable = y.flags.writeable = False
    side = math.isqrt(X.shape[1])
    return sequence_from_blocks(
        X,
        y,
        size,
        labels=[f"{j * step:{digits}}–{(j + 1) * step:{digits}}°" for j in range(tasks)],
        classes=np.arange(2),
        feature_names=tuple(f"pixel {r},{c}" for r in range(side) for c in range(side)),
        column_kinds=("pixel",) * X.shape[1],
        **about,
    )
