"""What averages do not show: rows within a task that depend on each other, and a spread that changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats, Ints

LEAST_Z = 3.0
LEAST_CORRELATION = 0.05
"""Dependence is reported where it is both certain and large enough to matter."""

LEAST_P = 1e-3


@dataclass(frozen=True)
class RowNotes:
    """Findings on the rows behind the averages."""

    correlation: float  # of rows of one class that follow each other in a task, around the average of task and class
    z: float  # its size in standard errors if the order of rows did not matter
    p_spread: float  # of "the spread around the averages is the same in all tasks", by ranks (Kruskal and Wallis)

    @property
    def are_dependent(self) -> bool:
        """Whether rows that follow each other are alike."""
        return self.z > LEAST_Z and self.correlation > LEAST_CORRELATION

    @property
    def dependence(self) -> str:
        """What dependent rows mean, in a sentence; empty for independent ones."""
        if not self.are_dependent:
            return ""
        return (
            f"Rows that follow each other within a task are alike (correlation {self.correlation:.2f}): they tell "
            "less than as many independent samples would, so changes look more certain than they are."
        )

    def notes(self, *, is_change_seen: bool) -> tuple[str, ...]:
        """Put what matters into sentences."""
        if self.are_dependent:
            return (self.dependence,)
        if not is_change_seen and self.p_spread < LEAST_P:
            return (
                "Averages do not change, but the spread around them does. Such a change is invisible here, and to a "
                "rule of these features; random Fourier features can show it.",
            )
        return ()


def read_rows(tasks: Iterable[tuple[Floats, Ints]]) -> RowNotes:
    """Return what the rows of tasks show, each task its rows in their order and their classes."""
    reader = RowReader()
    for X, y in tasks:
        reader.read(X, y)
    return reader.result()


class RowReader:
    """Collects, task by task, what `RowNotes` needs; rows are not kept."""

    def __init__(self) -> None:
        self._products: list[Floats] = []
        self._squares: list[Floats] = []
        self._classes: list[NDArray[np.int64]] = []

    def read(self, X: Floats, y: NDArray[np.int64]) -> None:
        """Take the rows of one task, in their order."""
        squares = np.full(len(X), np.nan)
        for c in np.unique(y):
            inside = np.flatnonzero(y == c)
            count = len(inside)
            if count < 2:
                continue
            residuals = X[inside] - X[inside].mean(axis=0)
            own = (residuals**2).sum(axis=1)
            # Around their own average rows are correlated by -1 / (n - 1) whatever their order.
            if count > 2:  # two rows are opposite in any order
                self._products.append((residuals[1:] * residuals[:-1]).sum(axis=1) + own.mean() / (count - 1))
            squares[inside] = own * count / (count - 1)
        self._squares.append(squares)
        self._classes.append(y)

    def result(self) -> RowNotes:
        """Return the findings."""
        from scipy import stats

        squares, y = np.concatenate(self._squares), np.concatenate(self._classes)
        task = np.repeat(np.arange(len(self._squares)), [len(part) for part in self._squares])
        known = np.isfinite(squares)
        squares, y, task = squares[known], y[known], task[known]
        total = float(squares.sum())
        if total == 0.0:  # no two rows of one class differ
            return RowNotes(0.0, 0.0, 1.0)
        products = np.concatenate([np.zeros(0), *self._products])
        size = float(np.sqrt((products**2).sum()))
        z = float(products.sum()) / size if size > 0.0 else 0.0
        # Ranks within a class: a change of the shares of classes is not one of spread.
        ranks = np.empty(len(squares))
        for c in np.unique(y):
            ranks[y == c] = stats.rankdata(squares[y == c]) / ((y == c).sum() + 1)
        groups = [ranks[task == j] for j in np.unique(task)]
        p = 1.0 if len(groups) < 2 or np.ptp(ranks) == 0.0 else float(stats.kruskal(*groups).pvalue)
        average = float(products.mean()) if len(products) else 0.0
        return RowNotes(average / (total / len(squares)), z, p)
