"""What all rules share: the result of a fit, and how many tasks are kept.

Their `step` gives the rules of the newest task alone (if asked for, and if it has labels), forward, and of the revised
tasks; `predicted` that of the task to come, on the instances of those before it, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imrc._types import Floats


@dataclass(frozen=True, eq=False)
class Fit:
    """A rule and the value of its problem."""

    mu: Floats  # (m,)
    value: float  # of the problem at mu: minimax risk (0-1 loss) or minimax log loss in nats
    nu: float  # the max term of problem (3); NaN for log loss
    ess: float  # effective samples the task is worth
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
