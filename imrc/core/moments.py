"""Sample averages of the feature mapping and their mean squared errors, eq. (4) of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats


def sample_moments(
    X1: Floats, y: NDArray[np.int64], n_classes: int, *, with_variance: bool = True
) -> tuple[Floats, Floats]:
    """Return the sample average of Phi(x, y) and its mean squared error s = sigma^2 / n, eq. (4), each (C (D + 1),).

    X1 (n, D + 1) has the intercept first. A sample contributes zeros to the blocks of the other classes, so averages
    and variances (ddof = 1) follow from class-wise sums without forming Phi. With n = 1 the variance is taken as 0, the
    limit of the other degenerate cases; without `with_variance` s is empty.

    >>> tau, s = sample_moments(np.array([[1.0, 2.0], [1.0, 4.0]]), np.array([0, 1]), 2)
    >>> tau.tolist(), s.tolist()
    ([0.5, 1.0, 0.5, 2.0], [0.25, 1.0, 0.25, 4.0])
    """
    n = len(X1)
    blocks = np.zeros((n_classes, X1.shape[1]))
    spread = np.zeros_like(blocks) if with_variance else np.zeros((0, 0))
    for c in range(n_classes):
        rows = X1[y == c]
        if len(rows) == 0:
            continue
        blocks[c] = rows.sum(axis=0) / n
        if with_variance and n > 1:
            # Deviations, not raw second moments: constant components then come out as exactly zero.
            deviations = ((rows - blocks[c]) ** 2).sum(axis=0) + (n - len(rows)) * blocks[c] ** 2
            spread[c] = deviations / (n - 1) / n
    return blocks.ravel(), spread.ravel()


def smoothed_variance(X1: Floats, y: NDArray[np.int64], n_classes: int) -> Floats:
    """Per-sample variance of Phi(x, y), (C * (D + 1),), that stays positive for a class that did not appear.

    Each class gets one pseudo-sample with the first two moments of all samples together, and class shares are smoothed
    by half a count.

    The intercept of a class is an indicator with smoothed share 1/4 and 3/4:

    >>> smoothed_variance(np.array([[1.0, 2.0]]), np.array([1]), 2).reshape(2, 2)[:, 0]
    array([0.1875, 0.1875])
    """
    n = len(X1)
    squares = X1**2
    mean, mean_square = X1.mean(axis=0), squares.mean(axis=0)
    variance = np.empty((n_classes, X1.shape[1]))
    for c in range(n_classes):
        rows = y == c
        count = int(rows.sum())
        share = (count + 0.5) / (n + 0.5 * n_classes)
        first = (X1[rows].sum(axis=0) + mean) / (count + 1)
        second = (squares[rows].sum(axis=0) + mean_square) / (count + 1)
        variance[c] = share * second - (share * first) ** 2
    return variance.ravel()
