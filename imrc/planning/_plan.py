"""Effective samples of a plan, and the smallest n, k and b that reach a wish."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imrc._checks import InputError, check_choice, check_int, check_real
from imrc.core import theory

Place = Literal["next", "newest", "mean"]
PLACES: dict[Place, str] = {
    "mean": "an average task",
    "newest": "the newest task",
    "next": "the task to come",
}
"""Whose effective samples are planned: the mean over all tasks, the k-th, or the one after it before it has samples."""
Vary = Literal["n", "k", "b"]
VARIED: tuple[Vary, ...] = get_args(Vary)
MOST_TASKS = 100_000
"""Tasks beyond which nobody plans: a wish that takes more is called impossible."""
_B_SHOWN = 20


class Rate(NamedTuple):
    """The rate of change rho = d^2 / sigma^2 with the ends of its interval, equal to it where it is a guess.

    Parameters
    ----------
    value : float
        The rate, or effective samples at it.
    low, high : float
        Ends of its interval.
    """

    value: float
    low: float
    high: float

    @classmethod
    def guess(cls, value: float) -> Rate:
        """Return a rate without uncertainty.

        Parameters
        ----------
        value : float
            At least 0.

        Returns
        -------
        Rate
        """
        value = check_real("rho", value, 0.0)
        return cls(value, value, value)


def effective_samples_of(n: float, k: int, b: int, rho: float, of: Place = "mean") -> float:
    """Return how many samples a task is worth: Theorem 4 on average, Theorem 2 for the k-th, or the task after it.

    n, k, b as in `make_plan`; rho = d^2 / sigma^2 >= 0, infinity is allowed. b changes the mean over tasks alone.

    >>> [round(effective_samples_of(10, 20, 3, 0.1, of=place), 2) for place in ("mean", "newest", "next")]
    [21.58, 16.18, 6.18]
    """
    n, k, b = check_real("n", n, 0.0, low_open=True), check_int("k", k, 1), check_int("b", b, 0)
    if check_choice("of", of, PLACES) == "mean":
        return theory.mean_ess(n, n * rho, k, b)
    if rho == math.inf:
        return n if of == "newest" else 0.0
    function = theory.ess_forward if of == "newest" else theory.ess_next
    return float(function(k, n, rho))


def ceiling(vary: Vary, n: float, k: int, b: int, rho: float, of: Place = "mean") -> float:
    """Return the effective samples that no value of one of n, k and b exceeds, the other two given; may be infinite.

    >>> ceiling("n", 10, 20, 3, 0.1, of="next"), round(ceiling("k", 10, 20, 3, 0.1, of="newest"), 2)
    (10.0, 16.18)
    """
    check_choice("vary", vary, VARIED)
    if vary == "n":
        return math.inf if of != "next" else 1.0 / rho if rho > 0 else math.inf
    if vary == "b":
        return effective_samples_of(n, k, max(k - 1, 0), rho, of)
    if rho == math.inf:
        return effective_samples_of(n, k, b, rho, of)
    steady = theory.steady_state(n, rho)
    if of == "next":
        return steady.next
    return steady.newest + (float(theory.backward_gain(b, n, rho)) if of == "mean" else 0.0)


@dataclass(frozen=True)
class Way:
    """How one of n, k and b alone reaches a wish.

    Attributes
    ----------
    vary : {"n", "k", "b"}
        Which.
    value : int or None
        The smallest that does; None: impossible.
    low, high : int or None
        The same at the ends of the interval of the rate; None: impossible there.
    ceiling : float
        Effective samples that no value exceeds.
    """

    vary: Vary
    value: int | None
    low: int | None
    high: int | None
    ceiling: float


def _smallest(reached: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the smallest whole number in [low, high] from which on `reached` holds, None if it never does."""
    return low + bisect_left(range(low, high), True, key=reached) if reached(high) else None


def needed(ess: float, vary: Vary, n: float, k: int, b: int, rho: float, of: Place = "mean") -> int | None:
    """Return the smallest n, k or b with `ess` effective samples; None: impossible, or k above `MOST_TASKS`.

    >>> [needed(25, vary, 10, 20, 3, 0.1) for vary in ("n", "k", "b")]
    [13, None, None]
    >>> needed(9.9, "n", 10, 20, 3, 0.1, of="next"), needed(10, "n", 10, 20, 3, 0.1, of="next")
    (981, None)
    """
    ess = check_real("ess", ess, 0.0, low_open=True)
    check_choice("vary", vary, VARIED)
    if vary == "k":
        return _smallest(lambda k: effective_samples_of(n, k, b, rho, of) >= ess, 1, MOST_TASKS)
    if vary == "b":
        return _smallest(lambda b: effective_samples_of(n, k, b, rho, of) >= ess, 0, max(k - 1, 0))
    if ess >= ceiling("n", n, k, b, rho, of):
        return None
    # Own samples alone are always enough for a task that has some; the next needs 1 / (1 / ess - rho) of the newest.
    enough = ess / (1.0 - ess * rho) if of == "next" else ess
    return _smallest(lambda n: effective_samples_of(n, k, b, rho, of) >= ess, 1, math.ceil(enough) + 1)


@dataclass(frozen=True)
class Plan:
    """What n samples a task, k tasks and b backward steps are worth, and what else would reach a wish.

    Attributes
    ----------
    n, k, b : int
        Samples a task, tasks, backward steps.
    rate : Rate
        Rate of change rho = d^2 / sigma^2.
    of : {"mean", "newest", "next"}
        Whose effective samples the wish is about.
    promised : mapping of str to Rate
        Effective samples of each of `PLACES` with the ends that the interval of the rate gives.
    wish : float or None
        Effective samples wanted.
    ways : tuple of Way
        With a wish: what n, k and b alone would have to be.
    """

    n: int
    k: int
    b: int
    rate: Rate
    of: Place
    promised: Mapping[Place, Rate]
    wish: float | None = None
    ways: tuple[Way, ...] = ()

    @property
    def is_reached(self) -> bool:
        """Whether the wish is fulfilled as things are; with no wish it is."""
        return self.wish is None or self.promised[self.of].value >= self.wish


def _at_ends(function: Callable[[float], float], rate: Rate) -> Rate:
    """Return a number of effective samples at a rate, and at the ends of its interval: the more change, the fewer."""
    return Rate(function(rate.value), function(rate.high), function(rate.low))


def make_plan(rate: Rate, n: int, k: int, b: int, *, ess: float | None = None, of: Place = "mean") -> Plan:
    """Answer in both directions what past data are worth.

    Parameters
    ----------
    rate : Rate
        Rate of change: ``Rate(*assessment.ratio_at(1))`` of a diagnosis, or `Rate.guess`.
    n, k, b : int
        Samples a task, tasks, backward steps.
    ess : float or None
        Effective samples wanted.
    of : {"mean", "newest", "next"}
        Of which task.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If a value is out of range, or the rate infinite.

    Examples
    --------
    >>> plan = make_plan(Rate(0.1, 0.05, 0.2), 10, 20, 3, ess=25)
    >>> round(plan.promised["mean"].value, 2), [way.value for way in plan.ways]
    (21.58, [13, None, None])
    """
    n, k, b = check_int("n", n, 1), check_int("k", k, 1, MOST_TASKS), check_int("b", b, 0)
    check_choice("of", of, PLACES)
    if not 0 <= rate.low <= rate.value <= rate.high or math.isinf(rate.value):
        raise InputError(f"The rate of change must be finite, at least 0 and inside its interval; got {tuple(rate)}.")

    def promise(place: Place) -> Rate:
        return _at_ends(lambda rho: effective_samples_of(n, k, b, rho, place), rate)

    def way(vary: Vary, wish: float) -> Way:
        value, low, high = (needed(wish, vary, n, k, b, rho, of) for rho in rate)
        return Way(vary, value, low, high, ceiling(vary, n, k, b, rate.value, of))

    ways = () if ess is None else tuple(way(vary, ess) for vary in VARIED)
    return Plan(n, k, b, rate, of, {place: promise(place) for place in PLACES}, ess, ways)


def plan_table(plan: Plan) -> pd.DataFrame:
    """Return effective samples as each of n, k and b varies, with the band that the interval of the rate gives.

    Parameters
    ----------
    plan : Plan
        From `make_plan`.

    Returns
    -------
    DataFrame
        Columns vary, x, value, low, high. Far enough to show what a wish takes, where it can be fulfilled.

    Examples
    --------
    >>> table = plan_table(make_plan(Rate.guess(0.1), 10, 20, 3))
    >>> table.query("vary == 'b' and x == 3")["value"].round(2).tolist()
    [21.58]
    """
    found: dict[Vary, int] = {way.vary: way.value or 0 for way in plan.ways}
    last_n, last_k = max(4 * plan.n, 2 * found.get("n", 0), 20), max(2 * plan.k, found.get("k", 0) * 5 // 4, 10)
    grids: dict[Vary, NDArray[Any]] = {
        "n": np.unique(np.geomspace(1, last_n, 40).round()),
        "k": np.unique(np.geomspace(1, min(last_k, MOST_TASKS), 60).round()),
        "b": np.arange(min(max(plan.b, found.get("b", 0), _B_SHOWN), plan.k - 1) + 1),
    }
    here: dict[Vary, int] = {"n": plan.n, "k": plan.k, "b": plan.b}
    rows = []
    for vary, grid in grids.items():
        for x in sorted({int(one) for one in grid} | ({found[vary]} if found.get(vary) else set())):
            at = {**here, vary: x}

            def worth(rho: float, n: int = at["n"], k: int = at["k"], b: int = at["b"]) -> float:
                return effective_samples_of(n, k, b, rho, plan.of)

            rows.append({"vary": vary, "x": x, **_at_ends(worth, plan.rate)._asdict()})
    return pd.DataFrame(rows)
