"""Rotated MNIST: each image belongs to one task and is turned by an angle from the range of that task."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice, check_int
from imrc.datasets import _files
from imrc.datasets._arrays import read_idx
from imrc.datasets._catalogue import CatalogueEntry, info_of
from imrc.datasets.errors import DataError
from imrc.tables import _archives
from imrc.tasks import Task, TaskSequence

IMAGES = 70_000
MAX_TASKS = 350
_UNPACKED = 64 << 20


@lru_cache(maxsize=1)
def _images(paths: tuple[Path, ...], _changed: tuple[int, ...]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Training images followed by test images, kept so that other seeds and task counts need no unpacking."""
    train, train_labels, test, test_labels = (
        read_idx(_archives.unpack(path.read_bytes(), "gzip", _UNPACKED)) for path in paths
    )
    images, digits = np.concatenate([train, test]), np.concatenate([train_labels, test_labels])
    if images.shape != (IMAGES, 28, 28) or digits.shape != (IMAGES,):
        raise DataError(f"MNIST should hold {IMAGES:,} images of 28 by 28 pixels; found {images.shape}.")
    images.flags.writeable = digits.flags.writeable = False
    return images, digits


def rotated_mnist(
    entry: CatalogueEntry,
    *,
    tasks: int = 60,
    seed: int = 0,
    labels: Literal["5 or more", "more than 5"] = "5 or more",
    angles: Literal["image", "task"] = "image",
) -> TaskSequence:
    """Return the digits of MNIST, pixels in [0, 1], cut into 2 to 350 tasks whose rotation grows from 0 to 180 degrees.

    Images of task j (from 1) are turned, counter-clockwise, by angles drawn from [180 (j-1) / k, 180 j / k]. The
    paper's text says "greater than 5" of class 1; its errors are those of "5 or more". It reads as one angle per task.
    """
    tasks = check_int("tasks", tasks, 2, MAX_TASKS)
    check_choice("labels", labels, ("5 or more", "more than 5"))
    check_choice("angles", angles, ("image", "task"))
    paths = tuple(path for _, path in _files.require(entry))
    images, digits = _images(paths, tuple(path.stat().st_mtime_ns for path in paths))
    generator = np.random.default_rng([seed, 28])
    size = IMAGES // tasks
    order = generator.permutation(IMAGES)[: size * tasks]
    within = generator.random(len(order)) if angles == "image" else np.repeat(generator.random(tasks), size)
    degrees = (np.repeat(np.arange(tasks), size) + within) * 180.0 / tasks
    X = np.empty((len(order), 784))
    from imrc.datasets._rotation_kernel import rotate_pixels  # compiled code is loaded only when it is needed

    rotate_pixels(images, order, degrees, X)
    X.flags.writeable = False
    y = (digits[order] >= (5 if labels == "5 or more" else 6)).astype(np.int64)
    y.flags.writeable = False
    step = 180.0 / tasks
    return TaskSequence(
        tuple(
            Task(X[j * size : (j + 1) * size], y[j * size : (j + 1) * size], f"{j * step:g}–{(j + 1) * step:g}°")
            for j in range(tasks)
        ),
        name=entry.name,
        classes=np.arange(2),
        description=entry.summary,
        feature_names=tuple(f"pixel {r},{c}" for r in range(28) for c in range(28)),
        info={
            **info_of(entry),
            "class_names": entry.class_names if labels == "5 or more" else ("0-5", "6-9"),
            "rows": IMAGES,
        },
        column_kinds=entry.column_kinds,
    )
