"""Compiled sums of rows by class, in the order in which arrays sum them."""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit
from imrc._types import Floats, Ints


@njit(cache=True)
def group_sums(X: Floats, groups: Ints, count: int) -> Floats:
    """Return the sums of the rows of X (N, D) by group, shape (count, D)."""
    out = np.zeros((count, X.shape[1]))
    for i in range(X.shape[0]):
        row = out[groups[i]]
        for c in range(X.shape[1]):
            row[c] += X[i, c]
    return out


@njit(cache=True)
def group_squares(X: Floats, groups: Ints, centres: Floats) -> Floats:
    """Return the sums of squared deviations of the rows of X (N, D) from the centre of their group, (groups, D)."""
    out = np.zeros_like(centres)
    for i in range(X.shape[0]):
        row, centre = out[groups[i]], centres[groups[i]]
        for c in range(X.shape[1]):
            row[c] += (X[i, c] - centre[c]) ** 2
    return out
