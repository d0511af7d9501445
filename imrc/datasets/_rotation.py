"""Rotation of many small grey images at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
