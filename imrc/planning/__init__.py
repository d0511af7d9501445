"""What past data are worth, before they are collected: effective samples from n, k, b and back, and what cannot be.

Every number is one of `imrc.core.theory`, at the rate of change rho = d^2 / sigma^2 of a diagnosis with its interval,
or at a guess of it. In both directions: `effective_samples_of` says what n samples a task, k tasks and b backward steps
are worth, `needed` which of them reach a wish.
"""

from imrc.planning._curve import error_at, learning_curve, samples_for
from imrc.planning._plan import (
    PLACES,
    Plan,
    Rate,
    Way,
    ceiling,
    effective_samples_of,
    make_plan,
    needed,
    plan_table,
)
from imrc.planning._words import advice, out_of_reach, promise_rows, promise_sentence, way_sentence

__all__ = [
    "Rate",
    "Plan",
    "Way",
    "PLACES",
    "make_plan",
    "plan_table",
    "effective_samples_of",
    "needed",
    "ceiling",
    "advice",
    "promise_sentence",
    "promise_rows",
    "way_sentence",
    "learning_curve",
    "error_at",
    "samples_for",
    "out_of_reach",
]
