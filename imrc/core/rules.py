"""What all rules share: the result of a fit, what a learner of rules does at a step, and how many tasks it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.trackers import Tracked


@dataclass(frozen=True, eq=False)
class Fit:
    """A rule and the value of its problem."""

    mu: Floats  # (m,)
    value: float  # of the problem at mu: minimax risk (0-1 loss) or minimax log loss in nats
    nu: float  # the max term of problem (3); NaN for log loss
    ess: float  # effective samples the rule was learnt from
    iterations: int = 0  # of the solver; 0 where none ran


def surplus(sizes: Sequence[int], least: int, samples: int, most: int | None = None) -> int:
    """Return how many of the oldest stored tasks can go, given their samples, oldest first.

    Those that are left are at least `least` tasks, at most `most` if that is more, and beyond `least` just enough to
    hold `samples` samples.

    >>> surplus([10, 10, 10, 10], 1, 25), surplus([200, 5, 5], 1, 100), surplus([200, 5, 5], 1, 100, most=2)
    (1, 0, 1)
    """
    drop, held = 0, sum(sizes)
    while len(sizes) - drop > least and (
        held - sizes[drop] >= samples or (most is not None and len(sizes) - drop > most)
    ):
        held -= sizes[drop]
        drop += 1
    return drop


class Rules(Protocol):
    """Learns rules for the newest task and for the revised ones."""

    def step(
        self, X1: Floats, y: NDArray[np.int64] | None, single: Tracked | None, forward: Tracked, revised: list[Tracked]
    ) -> tuple[Fit | None, Fit, list[Fit]]:
        """Return the rules of the newest task alone (if asked for), forward, and of the revised tasks.

        A task without labels (y None) has no rule of its own.
        """
        ...

    def predicted(self, task: Tracked) -> Fit:
        """Return the rule of the task to come, on the instances of those before it; nothing is changed by it."""
        ...

    def size(self) -> int:
        """Return how many numbers are kept."""
        ...

    def choices(self) -> dict[str, float]:
        """Return what was chosen from the data so far."""
        ...
