"""Compiled rotation of many images: the same numbers as `imrc.datasets.digits.rotate_images`, many times faster.

One thread, on purpose: numba's parallel loops share one pool of the process, which two visitors of a server must not
enter at the same time (with the layer `workqueue` that ends the process).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imrc._compiled import njit


@njit(cache=True, nogil=True)
def rotate_pixels(
    images: NDArray[np.uint8], order: NDArray[np.int64], angles: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Turn ``images[order[i]]`` by ``angles[i]`` degrees as `rotate_images` into ``out[i]``, pixels divided by 255."""
    height, width = images.shape[1], images.shape[2]
    middle_row, middle_column = (height - 1) / 2.0, (width - 1) / 2.0
    image = np.zeros((height + 2, width + 2))  # with a frame of zeros, so that every neighbour exists
    for i in range(len(order)):
        image[1:-1, 1:-1] = images[order[i]]
        cosine, sine = math.cos(math.radians(angles[i])), math.sin(math.radians(angles[i]))
        for r in range(height):
            for c in range(width):
                row = cosine * (r - middle_row) + sine * (c - middle_column) + middle_row
                column = -sine * (r - middle_row) + cosine * (c - middle_column) + middle_column
                top, left = math.floor(row), math.floor(column)
                value = 0.0
                if -1 <= top < height and -1 <= left < width:
                    down, right = row - top, column - left
                    upper = image[top + 1, left + 1] * (1.0 - right) + image[top + 1, left + 2] * right
                    lower = image[top + 2, left + 1] * (1.0 - right) + image[top + 2, left + 2] * right
                    value = (upper * (1.0 - down) + lower * down) / 255.0
                out[i, r * width + c] = min(max(value, 0.0), 1.0)
