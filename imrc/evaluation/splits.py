"""Test samples and training draws, and their mapped rows: the same for every method in a comparison."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.features import FeatureSpec, Identity, Representation, repetition_draw
from imrc.tasks import TaskSequence

TEST_SAMPLES = 100
"""Test samples per task; tasks with fewer than twice as many samples give half."""


@dataclass(frozen=True, eq=False)
class TaskDraw:
    """Rows of one task."""

    train: NDArray[np.int64]  # the n rows learnt from
    pool: NDArray[np.int64]  # all rows that may be drawn (the training rows among them)
    test: NDArray[np.int64]  # kept for testing, disjoint from the pool


def held_out(samples: int) -> int:
    """Return how many of a task's samples are kept for testing."""
    return TEST_SAMPLES if samples >= 2 * TEST_SAMPLES else samples // 2


def largest_n(sequence: TaskSequence) -> int:
    """Return the largest n every task can give: the smallest training pool."""
    sizes = sequence.sizes
    return int(min(size - held_out(int(size)) for size in sizes))


def sample_sizes(largest: int, current: int) -> list[int]:
    """Return up to seven sample sizes for a curve, doubling up to the largest possible, with the present n.

    >>> sample_sizes(45, 10), sample_sizes(200, 50), sample_sizes(9, 4)
    ([5, 10, 20, 40], [5, 10, 20, 50, 100, 200], [4, 5, 9])
    """
    ladder = [size for size in (5, 10, 20, 40 if largest < 100 else 50, 100, 200) if size <= largest]
    last = {largest} if 1.5 * max(ladder, default=1) <= largest < 200 else ()
    return sorted({*ladder, *last, current})


def rare_class(sequence: TaskSequence) -> int | None:
    """Return the position of the rarest class if it has less than 40 % of an equal share, else None."""
    counts = sequence.class_counts().sum(axis=0)
    rarest = int(counts.argmin())
    return rarest if 0 < counts[rarest] < 0.4 * counts.sum() / len(counts) else None


def _stratified(y: NDArray[np.int64], n: int, n_classes: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return positions of n entries of y whose class shares are as close as possible to those of y."""
    counts = np.bincount(y, minlength=n_classes)
    exact = n * counts / len(y)
    take = np.floor(exact).astype(np.int64)
    # Places left over go to the largest remainders; ties are broken at random.
    remainder = np.where(take < counts, exact - take, -1.0)
    order = np.lexsort((generator.random(n_classes), -remainder))
    take[order[: n - take.sum()]] += 1
    chosen = np.zeros(len(y), dtype=bool)
    for c in range(n_classes):
        chosen[np.flatnonzero(y == c)[: take[c]]] = True
    return np.flatnonzero(chosen)


def draw_task(y: NDArray[np.int64], n: int, n_classes: int, seed: np.random.SeedSequence) -> TaskDraw:
    """Split one task (encoded labels) at random into test rows, whatever n, and n stratified training rows."""
    generator = np.random.default_rng(seed)
    order, cut = generator.permutation(len(y)), held_out(len(y))
    test, pool = order[:cut], order[cut:]
    return TaskDraw(pool[_stratified(y[pool], n, n_classes, generator)], pool, test)


def repetition_seeds(seed: int, repetitions: int) -> list[np.random.SeedSequence]:
    """Return one seed sequence per repetition, spawned from the run's seed."""
    return np.random.SeedSequence(seed).spawn(repetitions)


def method_seed(repetition: np.random.SeedSequence, method: str) -> np.random.SeedSequence:
    """Return the seed of a compared method's own randomness in one repetition: another one for each method.

    >>> first, second = (method_seed(np.random.SeedSequence(0), name) for name in ("gem", "mer"))
    >>> first.generate_state(1)[0] != second.generate_state(1)[0]
    np.True_
    """
    # A third number in the key keeps these apart from the seeds of tasks.
    return np.random.SeedSequence(repetition.entropy, spawn_key=(*repetition.spawn_key, 0, zlib.crc32(method.encode())))


def task_seed(repetition: np.random.SeedSequence, task: int) -> np.random.SeedSequence:
    """Return the seed of one task's draw; it does not depend on how many tasks there are."""
    return np.random.SeedSequence(repetition.entropy, spawn_key=(*repetition.spawn_key, task))


class MappedRows:
    """Mapped rows of one repetition, with intercept column, by a map learnt from the `pool` of its first task.

    Random frequencies are the repetition's own draw. Rows asked for together are always mapped by themselves, so a
    number does not depend on what else was asked for; those of the newest task are kept.
    """

    def __init__(
        self, sequence: TaskSequence, features: FeatureSpec, pool: NDArray[np.int64], seed: np.random.SeedSequence
    ) -> None:
        self._sequence = sequence
        self._map = Representation.of(features, sequence).learn(sequence[0].X[pool], repetition_draw(seed))
        self._newest = 0
        self._kept: dict[bytes, Floats] = {}

    @property
    def n_outputs(self) -> int:
        """Number of mapped features, without the intercept."""
        return int(self._map.n_outputs)

    def rows(self, task: int, index: NDArray[np.int64]) -> Floats:
        """Return the mapped rows `index` of a task, shape (rows, D + 1)."""
        if isinstance(self._map, Identity) or task < self._newest:
            return self._mapped(task, index)
        if task > self._newest:
            self._newest, self._kept = task, {}
        if index.tobytes() not in self._kept:
            self._kept[index.tobytes()] = self._mapped(task, index)
        return self._kept[index.tobytes()]

    def _mapped(self, task: int, index: NDArray[np.int64]) -> Floats:
        return self._map.with_intercept(self._sequence[task].X[index])

    def again(self, task: int, index: NDArray[np.int64]) -> Callable[[], Floats]:
        """Return what gives the same rows later without the work of mapping them again."""
        if isinstance(self._map, Identity):
            # Copies, in each repetition, would be the largest thing in a run with many backward steps.
            return lambda: self._mapped(task, index)
        mapped = self.rows(task, index)
        return lambda: mapped
