"""What past data are worth before you collect them: effective samples from n, k and b, the reverse, and the limits.

Every number comes from `imrc.core.theory`, at the rate of change rho = d^2 / sigma^2 that a diagnosis estimates, or at
a guess. `effective_samples_of` gives what n samples per task, k tasks and b backward steps are worth, and `needed`
gives which of them reach a target. A learning curve converts effective samples to errors and back.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import InputError, InputTypeError, check_choice, check_int, check_real
from imrc.core import theory
from imrc.evaluation import RunResult
from imrc.evaluation.budget import budget_table, falling, samples_to_reach
from imrc.wording import capital, decimal, number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Plan", "Rate", "make_plan", "way_sentence"]

Place = Literal["next", "newest", "mean"]
PLACES: dict[Place, str] = {"mean": "an average task", "newest": "the newest task", "next": "the next task"}
"""The task that is planned for: the mean over all tasks, the k-th, or the one after it, before it has samples."""
Vary = Literal["n", "k", "b"]
VARIED: tuple[Vary, ...] = get_args(Vary)
MOST_TASKS = 100_000  #: A target that needs more tasks is called impossible.
_B_SHOWN = 20
_ENOUGH = 0.95


class Rate(NamedTuple):
    """The rate of change rho = d^2 / sigma^2, or effective samples at it, with its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def guess(cls, value: float) -> Rate:
        """Return a rate without uncertainty, at least 0."""
        value = check_real("rho", value, 0.0)
        return cls(value, value, value)


def effective_samples_of(n: float, k: int, b: int, rho: float, of: Place = "mean") -> float:
    """Return how many samples a task is worth with n samples from each of k tasks, b backward steps and a rate rho.

    "mean" is Theorem 4 on average over the tasks, "newest" Theorem 2 for the k-th, "next" the task after it.
    """
    n, k, b = check_real("n", n, 0.0, low_open=True), check_int("k", k, 1), check_int("b", b, 0)
    if check_choice("of", of, PLACES) == "mean":
        return theory.mean_ess(n, n * rho, k, b)
    if rho == math.inf:
        return n if of == "newest" else 0.0
    function = theory.ess_forward if of == "newest" else theory.ess_next
    return float(function(k, n, rho))


def ceiling(vary: Vary, n: float, k: int, b: int, rho: float, of: Place = "mean") -> float:
    """Return the limit of the effective samples as one of n, k and b grows, which can be infinite."""
    check_choice("vary", vary, VARIED)
    if vary == "n":
        return 1.0 / rho if of == "next" and rho > 0 else math.inf
    if vary == "b" or rho == math.inf:
        return effective_samples_of(n, k, max(k - 1, 0) if vary == "b" else b, rho, of)
    steady = theory.steady_state(n, rho)
    if of == "next":
        return steady.next
    return steady.newest + (float(theory.backward_gain(b, n, rho)) if of == "mean" else 0.0)


def needed(ess: float, vary: Vary, n: float, k: int, b: int, rho: float, of: Place = "mean") -> int | None:
    """Return the smallest n, k or b (its given value is ignored) that reaches `ess` effective samples, or None."""
    ess = check_real("ess", ess, 0.0, low_open=True)
    check_choice("vary", vary, VARIED)
    if vary == "n" and ess >= ceiling("n", n, k, b, rho, of):
        return None
    # A task with samples can always reach it alone. The next task needs 1 / (1 / ess - rho) samples of the newest.
    enough = ess / (1.0 - ess * rho) if vary == "n" and of == "next" else ess
    low, high = {"n": (1, math.ceil(enough) + 1), "k": (1, MOST_TASKS), "b": (0, max(k - 1, 0))}[vary]
    at: dict[str, Any] = {"n": n, "k": k, "b": b, "rho": rho, "of": of}

    def reached(value: int) -> bool:
        return effective_samples_of(**{**at, vary: value}) >= ess

    return low + bisect_left(range(low, high), True, key=reached) if reached(high) else None


@dataclass(frozen=True)
class Way:
    """How one of n, k and b alone reaches a target."""

    vary: Vary
    value: int | None  #: The smallest value that reaches the target, if there is one.
    low: int | None  #: The same at the lower end of the interval of the rate.
    high: int | None  #: The same at its upper end.
    ceiling: float  #: Limit of the effective samples.


@dataclass(frozen=True)
class Plan:
    """What n samples per task, k tasks and b backward steps are worth, and what else would reach a target."""

    n: int  #: Samples per task.
    k: int  #: Tasks.
    b: int  #: Backward steps.
    rate: Rate  #: Rate of change.
    of: Place  #: The task that the target is for.
    promised: Mapping[Place, Rate]  #: Effective samples at each of `PLACES`, with their interval.
    wish: float | None = None  #: The number of effective samples to reach.
    ways: tuple[Way, ...] = ()  #: How n, k and b alone would reach it.


def _worth(n: int, k: int, b: int, rate: Rate, of: Place) -> Rate:
    """Return effective samples at a rate and, in reverse order, at the ends of its interval."""
    return Rate(*(effective_samples_of(n, k, b, rho, of) for rho in (rate.value, rate.high, rate.low)))


def make_plan(rate: Rate, n: int, k: int, b: int, *, ess: float | None = None, of: Place = "mean") -> Plan:
    """Compute what past data are worth, and how to reach a target of `ess` effective samples.

    The rate of change is ``Rate(*assessment.ratio_at(1))`` of a diagnosis, or `Rate.guess`. `of` selects the task:
    "mean", "newest" or "next". ValueError if a value is out of range, or the rate is infinite.
    """
    n, k, b = check_int("n", n, 1), check_int("k", k, 1, MOST_TASKS), check_int("b", b, 0)
    check_choice("of", of, PLACES)
    if not isinstance(rate, Rate):
        raise InputTypeError("rate must be a Rate(value, low, high); Rate.guess(0.1) turns a guess into one.")
    if not 0 <= rate.low <= rate.value <= rate.high or math.isinf(rate.value):
        raise InputError(f"The rate of change must be finite, at least 0 and inside its interval; got {tuple(rate)}.")

    def way(vary: Vary, wish: float) -> Way:
        value, low, high = (needed(wish, vary, n, k, b, rho, of) for rho in rate)
        return Way(vary, value, low, high, ceiling(vary, n, k, b, rate.value, of))

    ways = () if ess is None else tuple(way(vary, ess) for vary in VARIED)
    return Plan(n, k, b, rate, of, {place: _worth(n, k, b, rate, place) for place in PLACES}, ess, ways)


def plan_table(plan: Plan) -> pd.DataFrame:
    """Return effective samples as each of n, k and b varies: columns vary, x (that of `ways` too), value, low, high."""
    import pandas as pd

    found: dict[Vary, int] = {way.vary: way.value or 0 for way in plan.ways}
    last_n, last_k = max(4 * plan.n, 2 * found.get("n", 0), 20), max(2 * plan.k, found.get("k", 0) * 5 // 4, 10)
    grids: dict[Vary, NDArray[Any]] = {
        "n": np.unique(np.geomspace(1, last_n, 40).round()),
        "k": np.unique(np.geomspace(1, min(last_k, MOST_TASKS), 60).round()),
        "b": np.arange(min(max(plan.b, found.get("b", 0), _B_SHOWN), plan.k - 1) + 1),
    }
    rows = []
    for vary, grid in grids.items():
        for x in sorted({int(one) for one in grid} | ({found[vary]} if found.get(vary) else set())):
            at = {"n": plan.n, "k": plan.k, "b": plan.b, vary: x}
            rows.append({"vary": vary, "x": x, **_worth(at["n"], at["k"], at["b"], plan.rate, plan.of)._asdict()})
    return pd.DataFrame(rows)


def samples_for(runs: Sequence[RunResult], error: float) -> float:
    """Return how many samples a task alone needs to reach an error, from runs at several n."""
    table = budget_table(runs).query("rule == 'single'")
    ess = samples_to_reach(table, "single", error)
    if math.isnan(ess):
        lowest = falling(table["value"].to_numpy())[-1]
        raise InputError(
            f"An error of {decimal(error)} is out of reach of the learning curve: a task alone reaches "
            f"{decimal(lowest)} with {table['x'].max()} samples, the most that these data allow."
        )
    return ess


def _with_ends(found: Rate, say: Callable[[float], str]) -> str:
    ends = f" ({say(found.low)} to {say(found.high)})" if found.low != found.high else ""
    return f"{say(found.value)}{ends}"


def promise_sentence(plan: Plan) -> str:
    """State what a task is worth by the theorems, with b if it counts.

    >>> promise_sentence(make_plan(Rate.guess(0.1), 10, 20, 3))
    'By Theorem 4 with n = 10, k = 20, b = 3 at ρ = 0.10, an average task is worth 21.6 samples.'
    """
    worth, b = _with_ends(plan.promised[plan.of], "{:,.1f}".format), f", b = {plan.b}" * (plan.of == "mean")
    measured = ", measured on all rows," if plan.rate.low < plan.rate.high else ","
    at = f"n = {plan.n}, k = {plan.k}{b} at ρ = {_with_ends(plan.rate, number)}{measured}"
    return f"By Theorem {4 if plan.of == 'mean' else 2} with {at} {PLACES[plan.of]} is worth {worth} samples."


def way_sentence(plan: Plan, way: Way) -> str:
    """State what one of n, k and b alone would have to be, or why no value is enough."""
    if way.value is not None:
        s = "s" * (way.value != 1)
        unit = {"n": f"sample{s} per task", "k": f"task{s}", "b": f"backward step{s}"}[way.vary]
        low, high = ("impossible" if end is None else f"{end:,}" for end in (way.low, way.high))
        return f"{way.value:,} {unit}{f' ({low} to {high})' if low != high else ''}."
    if way.vary == "k" and plan.wish is not None and plan.wish < way.ceiling:
        return f"More than {MOST_TASKS:,} tasks."
    later = "backward steps need later tasks, and there are none yet"
    why = {
        "n": f"the past is never worth 1 / ρ = {way.ceiling:,.3g} samples to the next task, because tasks change",
        "k": f"with {plan.n} samples per task, the limit is {way.ceiling:,.1f}, however many tasks there are",
        "b": f"even with all later tasks, Theorem 4 gives a task {way.ceiling:,.1f}" if plan.of == "mean" else later,
    }[way.vary]
    return f"Not reachable: {why}."


def more_sentence(plan: Plan) -> str:
    """Return one sentence of advice on how to reach a target, and at which point more effort gains nothing.

    >>> for part in more_sentence(make_plan(Rate.guess(0.01), 10, 20, 3, ess=55)).split("; "):
    ...     print(part)
    Collect 11 samples per task, or learn 21 more tasks, or revise 5 steps back
    more than 6 backward steps gain next to nothing.
    """
    if plan.wish is None:
        todo = ""
    elif plan.promised[plan.of].value >= plan.wish:
        todo = f"{PLACES[plan.of]} is already worth {plan.wish:,.3g} samples"
    else:
        words = {"n": "collect {:,} samples per task", "k": "learn {:,} more tasks", "b": "revise {:,} steps back"}
        more = {way.vary: way.value - plan.k * (way.vary == "k") for way in plan.ways if way.value is not None}
        out = f"{plan.wish:,.3g} samples are out of reach: {PLACES[plan.of]} is never worth {plan.ways[0].ceiling:,.3g}"
        todo = ", or ".join(words[vary].format(value) for vary, value in more.items()) or out
    return f"{capital('; '.join(filter(None, (todo, _where_it_ends(plan)))))}."


def _where_it_ends(plan: Plan) -> str:
    rho = plan.rate.value
    if rho == 0:
        return "without change, every sample of every task counts in full"
    if plan.of == "mean":
        # The share of what succeeding tasks can add does not depend on the task.
        b = theory.smallest_b(_ENOUGH, 1, None, plan.n, rho)
        return f"more than {b} backward step{'s' * (b != 1)} gain next to nothing"
    limit = theory.steady_state(plan.n, rho)
    ends = limit.next if plan.of == "next" else limit.newest
    if plan.promised[plan.of].value >= _ENOUGH * ends or math.isinf(ends):
        return f"more than {plan.k} tasks of {plan.n} samples add next to nothing"
    return f"with {plan.n} samples per task, more tasks lead to at most {ends:,.1f}"
