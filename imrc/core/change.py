"""How fast tasks change, estimated from W recent changes.

For preset "paper", `forward_change` and `backward_change` average W squared differences of consecutive sample averages
for each component, eq. (7). ``squared[i]`` belongs to the step from task i-1 to task i, and ``squared[0]`` is tau_0^2
as in the authors' code (it affects only the backward change of the first transition).

For preset "recommended", `Account` compares rates of change by their losses on the last W tasks, and `RateOfChange`
derives effective samples from the mean of the last W differences.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.presets import NEGLIGIBLE_VARIANCE
from imrc.solvers.api import softmax


def squared_differences(tau: Floats) -> Floats:
    """Return squared differences of consecutive sample averages, shape (k, m); row 0 is tau_0^2."""
    return np.diff(tau, axis=0, prepend=np.zeros((1, tau.shape[1]))) ** 2


def forward_change(squared: Floats, k: int, W: int, first: int = 0) -> Floats:
    """Return d^2 (m,) of the step from task k-1 to the newest task k, eq. (7), the mean of min(W, k) differences.

    The rows of `squared` belong to tasks first, first + 1, ..., from 0.

    >>> forward_change(np.array([[9.0], [1.0], [3.0]]), 2, 2)
    array([2.])
    """
    return np.asarray(squared[max(1, k - W + 1) - first : k + 1 - first].mean(axis=0))


def forward_changes(squared: Floats, W: int) -> Floats:
    """Return `forward_change` of all steps, (k, m); row 0 leads into the first task and is 0."""
    return np.stack([np.zeros_like(squared[0]), *(forward_change(squared, k, W) for k in range(1, len(squared)))])


def backward_change(squared: Floats, i: int, k: int, W: int, first: int = 0) -> Floats:
    """Return d^2 of the step from task i to task i+1, used backwards when task k is the newest.

    The window contains the ``W // 2`` differences up to task i and as many after it, as far as they exist. With W = 2,
    these are the differences that lead to tasks i and i+1. With W = 1, it is the difference from i to i+1.

    >>> backward_change(np.array([[9.0], [1.0], [3.0]]), 1, 2, 2)
    array([2.])
    """
    half = W // 2
    low = max(0, i - half + 1) if half else i + 1
    high = min(k, i + max(half, 1))
    return np.asarray(squared[low - first : high + 1 - first].mean(axis=0))


def printed_change(squared: Floats, i: int, k: int, W: int, first: int = 0) -> Floats:
    """Return d^2 of the step from task i to task i+1 by eq. (7) as printed, when task k is the newest.

    Eq. (7) gives the step d_{i+1}^2 as the average of the differences between the W + 1 tasks closest to task i+1. From
    W + 1 tasks on, there are always W. The authors' code, `backward_change`, averages fewer at both ends and for odd W.
    Of two equally close tasks, the earlier counts. For i = k-1, this is `forward_change`.

    Of five tasks, the three closest to task 1 are 0, 1, 2, and the three closest to the newest are 2, 3, 4.

    >>> squared = np.array([[9.0], [1.0], [3.0], [5.0], [7.0]])
    >>> printed_change(squared, 0, 4, 2), printed_change(squared, 3, 4, 2)
    (array([2.]), array([6.]))
    """
    earliest = min(max(0, i + 1 - (W + 1) // 2), max(0, k - W))
    return np.asarray(squared[earliest + 1 - first : min(earliest + W, k) + 1 - first].mean(axis=0))


class Account:
    """Numbers of the tasks that arrived, such as log losses of candidates, summed over the last W tasks or over all."""

    def __init__(self, window: int | None) -> None:
        self._last: deque[Floats] = deque(maxlen=window)
        self.total: Floats | float = 0.0

    def add(self, numbers: Floats) -> None:
        """Add the numbers of one arriving task."""
        if self._last.maxlen is None:
            self.total = self.total + numbers
        else:
            self._last.append(numbers)
            self.total = np.sum(self._last, axis=0)

    def shares(self, starts: Floats) -> Floats:
        """Return the shares of the candidates, which sum to 1, given their initial shares."""
        return np.asarray(softmax(np.log(starts) - self.total))


class RateOfChange:
    """The rate of change measured from samples, and the effective samples that Theorems 1 and 3 promise for it.

    It averages the differences of eq. (7) within each class, in units of the variance and less the sampling noise.
    Draws keep the shares of classes, so averages over all classes would vary less than their variance suggests.
    """

    def __init__(self, rate: float | None, window: int | None) -> None:
        self._known = rate
        self._excess = Account(window)  # and over how many periods
        self._squares: Floats = np.zeros(1)  # of deviations from the average of class and task, over all tasks so far
        self._freedom = 0
        self._last: dict[int, tuple[Floats, int]] = {}
        self._since = 0.0

    def add(self, X: Floats, y: NDArray[np.int64], gap: float) -> None:
        """Take in the rows of the next task, or none for a task without labels."""
        self._since += gap
        if not len(y):
            return
        from imrc.solvers.logistic import group_squares, group_sums

        last, self._last, counts, rows = self._last, {}, np.bincount(y), np.ascontiguousarray(X)
        averages = group_sums(rows, y, len(counts)) / np.maximum(counts, 1)[:, None]
        squares = group_squares(rows, y, averages)
        for c in np.flatnonzero(counts).tolist():
            self._last[c] = averages[c], int(counts[c])
            self._squares = self._squares + squares[c]
            self._freedom += self._last[c][1] - 1
        variance = self._squares / max(self._freedom, 1)
        varies = variance > NEGLIGIBLE_VARIANCE
        variance, both = variance[varies], [c for c in self._last if c in last]
        if both and len(variance) and self._since > 0.0:
            moved = []
            for c in both:
                (average, count), (before, count_before) = self._last[c], last[c]
                squared = float(((average - before)[varies] ** 2 / variance).mean())
                moved.append(count / len(y) * (squared - 1.0 / count - 1.0 / count_before))
            self._excess.add(np.array([np.mean(moved), self._since]))
        self._since = 0.0

    @property
    def rate(self) -> float:
        """The given rate of change, or the mean of the last W differences, at least 0; infinite without any."""
        if self._known is not None:
            return self._known
        total = self._excess.total  # a number as long as nothing was measured
        return np.inf if isinstance(total, float) else max(float(total[0] / total[1]), 0.0)

    def over(self, gaps: Sequence[float]) -> list[float]:
        """Return the changes over gaps in periods, which are 0 over no period at any rate."""
        rate = self.rate
        return [rate * gap if gap else 0.0 for gap in gaps]
