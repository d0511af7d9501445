"""What all rules share: what is known about a task under one of them, and how many tasks are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imrc._types import Floats


@dataclass(frozen=True, eq=False)
class TaskEstimate:
    """What is known about one task under one rule."""

    mean: Floats  # tau, (m,)
    mse: Floats  # its mean squared error s, (m,)
    coef: Floats  # mu, (m,)
    risk: float  # value of the problem at `coef`: minimax risk (0-1 loss) or log loss in nats; NaN: an average of rules
    nu: float  # the max term of (3) at `coef`, which the randomised rule needs; NaN for log loss
    ess: float  # effective samples, by the recursions of Theorems 1 and 3
    iterations: int = 0  # of the solver that found `coef`; 0 where none ran
    weights: Floats | None = None  # (stored,): of the last tasks, oldest first, where all components have the same


def surplus(sizes: Sequence[int], least: int, samples: int) -> int:
    """Return how many of the oldest stored tasks can go, given their samples, oldest first.

    Those that are left are at least `least` tasks, and beyond them just enough to hold `samples` samples.

    >>> surplus([10, 10, 10, 10], 1, 25), surplus([200, 5, 5], 1, 100)
    (1, 0)
    """
    drop, held = 0, sum(sizes)
    while len(sizes) - drop > least and held - sizes[drop] >= samples:
        held -= sizes[drop]
        drop += 1
    return drop
