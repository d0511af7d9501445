"""What a plan says, in sentences."""

from __future__ import annotations

import math

import pandas as pd

from imrc.core import theory
from imrc.planning._curve import error_at
from imrc.planning._plan import MOST_TASKS, PLACES, Plan, Rate, Way
from imrc.wording import capital, decimal, number

_ENOUGH = 0.95
_UNITS = {
    "n": ("sample a task", "samples a task"),
    "k": ("task", "tasks"),
    "b": ("backward step", "backward steps"),
}


def _with_ends(found: Rate) -> str:
    """Return effective samples with the interval that the rate gives."""
    text = f"{found.value:,.1f}"
    return text if found.low == found.high else f"{text} ({found.low:,.1f} to {found.high:,.1f})"


def promise_sentence(plan: Plan) -> str:
    """Say what a plan is worth.

    >>> from imrc.planning import Rate, make_plan
    >>> promise_sentence(make_plan(Rate.guess(0.1), 10, 20, 3))
    'n = 10, k = 20, b = 3 at ρ = 0.10: an average task is worth 21.6 samples.'
    """
    rho = number(plan.rate.value)
    if plan.rate.low != plan.rate.high:
        rho += f" ({number(plan.rate.low)} to {number(plan.rate.high)})"
    return (
        f"n = {plan.n}, k = {plan.k}, b = {plan.b} at ρ = {rho}: {PLACES[plan.of]} is worth "
        f"{_with_ends(plan.promised[plan.of])} samples."
    )


def way_sentence(plan: Plan, way: Way) -> str:
    """Say what one of n, k and b alone would have to be, or why no value of it is enough.

    >>> from imrc.planning import Rate, make_plan
    >>> plan = make_plan(Rate.guess(0.1), 10, 20, 3, ess=12, of="next")
    >>> print(way_sentence(plan, plan.ways[0]))
    Impossible: the task to come is never worth 1 / ρ = 10 samples: the change blurs what the past says.
    """
    if way.value is not None:
        one, more = _UNITS[way.vary]
        return f"{way.value:,} {one if way.value == 1 else more}{_range(way)}."
    limit = f"{way.ceiling:,.1f}"
    if way.vary == "n":
        return (
            f"Impossible: the task to come is never worth 1 / ρ = {way.ceiling:,.3g} samples: the change blurs what "
            "the past says."
        )
    if way.vary == "k":
        if plan.wish is not None and plan.wish < way.ceiling:
            return f"More than {MOST_TASKS:,} tasks."
        return f"Impossible: with {plan.n} samples a task, more tasks never lead to more than {limit}."
    if plan.of == "mean":
        return f"Impossible: with all tasks that come later a task is worth {limit}."
    return "Impossible: backward steps bring what later tasks say, and there is no later one yet."


def promise_rows(plan: Plan, curve: pd.DataFrame | None = None) -> list[dict[str, str]]:
    """Return the effective samples of each of `PLACES` as texts, with the errors of a `learning_curve`, if given."""
    rows = []
    for place, found in plan.promised.items():
        ends = zip(("samples", "low", "high"), found, strict=True)
        row = {"worth": PLACES[place]} | {name: f"{value:,.1f}" for name, value in ends}
        rows.append(row if curve is None else {**row, "error": _error_text(curve, found.value)})
    return rows


def _error_text(curve: pd.DataFrame, ess: float) -> str:
    found, low, high = (decimal(error_at(curve, ess, column)) for column in ("value", "low", "high"))
    return "beyond the grid" if math.isnan(error_at(curve, ess)) else f"{found} ({low} to {high})"


def out_of_reach(curve: pd.DataFrame, error: float) -> str:
    """Say why a learning curve has no samples for an error below all of it."""
    lowest, n = float(curve["value"].min()), curve["x"].max()
    return (
        f"An error of {decimal(error)} is beyond the learning curve: a task alone reaches {decimal(lowest)} with {n} "
        "samples, the most that can be tried on these data."
    )


def _range(way: Way) -> str:
    """Return what a way takes at the ends of the interval of the rate."""
    if way.low == way.high:
        return ""
    return f" ({way.low:,} to {f'{way.high:,}' if way.high is not None else 'impossible'})"


def advice(plan: Plan) -> str:
    """Return one sentence of advice: what reaches the wish, and from where on nothing is gained.

    >>> from imrc.planning import Rate, make_plan
    >>> for part in advice(make_plan(Rate.guess(0.01), 10, 20, 3, ess=55)).split("; "):
    ...     print(part)
    Collect 11 samples a task, or learn 21 tasks more, or look 5 steps back
    beyond 6 backward steps next to nothing is gained.
    """
    return f"{_what_to_do(plan)}; {_where_it_ends(plan)}."


def _what_to_do(plan: Plan) -> str:
    if plan.wish is None:
        return f"{capital(PLACES[plan.of])} is worth {plan.promised[plan.of].value:,.1f} samples"
    if plan.is_reached:
        return f"{capital(PLACES[plan.of])} is worth {plan.wish:,.3g} samples as planned"
    n, k, b = (way.value for way in plan.ways)
    ways = [f"collect {n:,} samples a task"] if n is not None else []
    ways += [f"learn {k - plan.k:,} tasks more"] if k is not None else []
    ways += [f"look {b:,} steps back"] if b is not None else []
    if not ways:
        return f"{plan.wish:,.3g} samples are impossible: {PLACES[plan.of]} is never worth {plan.ways[0].ceiling:,.3g}"
    return capital(", or ".join(ways))


def _where_it_ends(plan: Plan) -> str:
    rho = plan.rate.value
    if rho == 0:
        return "without change every sample of every task counts in full"
    if plan.of == "mean":
        # The share of what succeeding tasks can add does not depend on the task.
        b = theory.smallest_b(_ENOUGH, 1, None, plan.n, rho)
        return f"beyond {b} backward step{'s' * (b != 1)} next to nothing is gained"
    limit = theory.steady_state(plan.n, rho)
    ends = limit.next if plan.of == "next" else limit.newest
    k = plan.k
    if plan.promised[plan.of].value >= _ENOUGH * ends or math.isinf(ends):
        return f"more than {k} tasks of {plan.n} samples add next to nothing"
    return f"with {plan.n} samples a task, more tasks lead to {ends:,.1f} at most"
