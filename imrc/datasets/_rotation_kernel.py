"""Compiled rotation of many images: the same numbers as `imrc.datasets._rotation`, many times faster."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def _value(image: NDArray[np.uint8], row: int, column: int) -> float:
    if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
        return float(image[row, column])
    return 0.0


@njit(cache=True, nogil=True, parallel=True)
def rotate_pixels(
    images: NDArray[np.uint8], order: NDArray[np.int64], angles: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Turn ``images[order[i]]`` by ``angles[i]`` degrees (counter-clockwise, bilinear) into ``out[i]``.

    Pixels are divided by 255 and limited to [0, 1]; outside an image is 0. `out` has shape (n, height * width).
    """
    height, width = images.shape[1], images.shape[2]
    middle_row, middle_column = (height - 1) / 2.0, (width - 1) / 2.0
    for i in prange(len(order)):
        image = images[order[i]]
        cosine, sine = math.cos(math.radians(angles[i])), math.sin(math.radians(angles[i]))
        for r in range(height):
            for c in range(width):
                row = cosine * (r - middle_row) + sine * (c - middle_column) + middle_row
                column = -sine * (r - middle_row) + cosine * (c - middle_column) + middle_column
                top, left = math.floor(row), math.floor(column)
                down, right = row - top, column - left
                upper = _value(image, top, left) * (1.0 - right) + _value(image, top, left + 1) * right
                lower = _value(image, top + 1, left) * (1.0 - right) + _value(image, top + 1, left + 1) * right
                value = (upper * (1.0 - down) + lower * down) / 255.0
                out[i, r * width + c] = min(max(value, 0.0), 1.0)
