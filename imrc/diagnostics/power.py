"""How often the diagnosis would name each kind of change, had a sequence like this one been of that kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from imrc._checks import InputError, check_int
from imrc._types import Floats
from imrc.datasets.synthetic import PERIOD, Kind, path
from imrc.diagnostics._assess import Assessment, gather
from imrc.diagnostics._models import Group
from imrc.diagnostics._order import LEAST_TASKS, draw_orders
from imrc.diagnostics._reduction import given_moments, reduce_moments
from imrc.diagnostics._verdict import LEVEL, VerdictName
from imrc.wording import number

SIMULATED: dict[Group, Kind | None] = {
    "no_change": "identical",
    "iid": "independent",
    "evolving": "random_walk",
    "mean_reverting": "mean_reverting",
    "trend": "trend",
    "jump": "abrupt",
    "periodic": None,
    "recurring": None,
}
"""Kinds of change a verdict can name, and the synthetic sequence of each; None: made here."""

KIND_NAMES: dict[Group, str] = {
    "no_change": "identical",
    "iid": "in no order",
    "evolving": "random walk",
    "mean_reverting": "pulled back",
    "trend": "trend",
    "jump": "one jump",
    "periodic": "rhythm",
    "recurring": "two in turn",
}
"""Short names of the kinds as they are simulated."""

_PHRASES: dict[Group, str] = {
    "no_change": "identical",
    "iid": "in no order",
    "evolving": "a random walk",
    "mean_reverting": "pulled back all the time",
    "trend": "moving along a line",
    "jump": "two halves with a jump between them",
    "periodic": "repeating in a rhythm",
    "recurring": "two kinds in turn",
}

MOST_TASKS = 120
"""Of longer sequences so many tasks are simulated: whatever is told apart by them is told apart by more."""
ORDERS = 199
_PIECES = 4


@dataclass(frozen=True, eq=False)
class Power:
    """What the diagnosis would say of sequences of known kinds, otherwise like the one diagnosed.

    `table` has a row per `kind` (a name of a verdict): shares of simulations in which it is `named` alone, is
    `one_of_two`, `another` is named, or `nothing`; `same`, in which the verdict is that of the sequence; `_low` and
    `_high`, Wilson's 95 % interval.
    """

    table: pd.DataFrame
    verdicts: pd.DataFrame  # simulations by kind (rows) and verdict (columns); two names are joined by " or "
    simulations: int  # of each kind
    tasks: int
    components: int
    spread: float  # variance between tasks in units of the noise of one average, for all kinds but identical tasks
    is_limit: bool  # whether it is the largest that a random walk here may have, because no change is seen
    verdict: str  # what was said of the sequence itself


def _called(name: VerdictName, second: VerdictName | None) -> str:
    return name if second is None else f"{name} or {second}"


def _in_turn(tasks: int, components: int, generator: np.random.Generator) -> Floats:
    """Return a path that changes three times between two levels, for two tasks or more where there are as many."""
    short = 2 if tasks >= 2 * _PIECES else 1
    places = np.sort(generator.choice(np.arange(1, tasks - _PIECES * short + _PIECES), _PIECES - 1, replace=False))
    places += (short - 1) * np.arange(1, _PIECES)
    piece = (np.arange(tasks)[:, None] >= places).sum(axis=1)
    return np.asarray(generator.standard_normal((2, components))[piece % 2])


def _rhythm(tasks: int, components: int, generator: np.random.Generator) -> Floats:
    """Return a path that repeats itself twice or more, every 8 tasks where there are as many."""
    period = min(PERIOD, max(3, tasks // 2))
    phase = generator.uniform(0.0, 2.0 * np.pi, components)
    return np.asarray(np.cos(2.0 * np.pi * np.arange(tasks)[:, None] / period + phase))


def _simulated(kind: Group, h: Floats, components: int, spread: float, generator: np.random.Generator) -> Floats:
    """Return sample averages of tasks of a kind, noise variances `h`, shape (k, components)."""
    tasks, like = len(h), SIMULATED[kind]
    if like is not None:
        moves = path(like, tasks, 1.0, components, generator)
    else:
        moves = (_rhythm if kind == "periodic" else _in_turn)(tasks, components, generator)
    size = float(moves.var(axis=0, ddof=1).mean())
    if size > 0.0:
        moves = moves * math.sqrt(spread / size)
    return np.asarray(moves + np.sqrt(h)[:, None] * generator.standard_normal((tasks, components)))


def _spread(result: Assessment) -> tuple[float, bool]:
    """Return the variance between tasks in units of the noise, and whether it is only what cannot be ruled out."""
    if result.p_change <= LEVEL and result.q > 1.0:
        return result.q - 1.0, False
    # A random walk with steps of variance r has a sample variance of r (k + 1) / 6.
    high = result.change.high if result.change is not None else math.inf
    return (high * (result.k + 1) / 6.0 if math.isfinite(high) else 1.0), True


def verdict_power(
    result: Assessment,
    *,
    simulations: int = 200,
    seed: int = 0,
    tick: Callable[[float], object] | None = None,
) -> Power:
    """Simulate sequences of each kind, as long, large and far apart as the one diagnosed, and diagnose them as it was.

    `tick` is called with the share done, from 0 to 1. InputError: fewer than 5 tasks, nothing varies, or rows that
    follow each other.
    """
    simulations = check_int("simulations", simulations, 1, 10_000)
    seed = check_int("seed", seed, 0)
    if result.k < LEAST_TASKS or result.change is None:
        raise InputError(f"With fewer than {LEAST_TASKS} tasks, or without any variation, no kind of change is named.")
    if result.verdict.name == "dependent":
        raise InputError("Rows that are simulated are independent; those of this sequence follow each other.")
    s = reduce_moments(result.moments).h[:MOST_TASKS]
    h = np.asarray(s / s.mean())
    components = max(1, round(result.m_eff))
    spread, is_limit = _spread(result)
    here = _called(result.verdict.name, result.verdict.second)
    said: dict[str, list[str]] = {}
    for row, kind in enumerate(SIMULATED):
        said[kind] = []
        for run in range(simulations):
            if tick is not None:
                tick((row + run / simulations) / len(SIMULATED))
            generator = np.random.default_rng([seed, row, run])
            averages = _simulated(kind, h, components, spread, generator)
            reduced = reduce_moments(given_moments(averages, h[:, None]))
            found = gather(reduced, None, None, draw_orders(len(h), ORDERS, generator))
            said[kind].append(_called(found.name, found.second))
    verdicts = pd.DataFrame({kind: pd.Series(names).value_counts() for kind, names in said.items()})
    verdicts = verdicts.T.fillna(0).astype(int)
    table = pd.DataFrame([_row(kind, said[kind], here) for kind in SIMULATED])
    return Power(table, verdicts, simulations, len(h), components, spread, is_limit, here)


def _row(kind: Group, said: list[str], here: str) -> dict[str, object]:
    quiet = {"no_change", "iid", "too_few", "differ"} - {kind}
    named = said.count(kind)
    two = sum(" or " in one and kind in one.split(" or ") for one in said)
    nothing = sum(one in quiet for one in said)
    of = len(said)
    out: dict[str, object] = {"kind": kind}
    for name, count in (("named", named), ("same", said.count(here))):
        low, high = _interval(count, of)
        out |= {name: count / of, f"{name}_low": low, f"{name}_high": high}
    return out | {"one_of_two": two / of, "another": (of - named - two - nothing) / of, "nothing": nothing / of}


def _interval(count: int, of: int) -> tuple[float, float]:
    from scipy.stats import binomtest

    found = binomtest(count, of).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def _share(share: float, low: float, high: float) -> str:
    return f"{100 * share:.0f} of 100 ({100 * low:.0f} to {100 * high:.0f})"


def power_sentences(power: Power) -> list[str]:
    """State how far the verdict can be relied on: the answer, the likeliest mistake, and what was simulated."""
    table = power.table.set_index("kind")
    if power.verdict in table.index:
        asked: Group = power.verdict  # type: ignore[assignment]  # one of the kinds
    else:
        asked = "evolving"
    own = _share(*table.loc[asked, ["named", "named_low", "named_high"]])
    lines = [f"Were such tasks really {_PHRASES[asked]}, the diagnosis would say so in {own}."]
    others = table.drop(index=power.verdict, errors="ignore")
    kind: Group = others["same"].idxmax()
    mistaken = _share(*others.loc[kind, ["same", "same_low", "same_high"]])
    lines.append(
        f"The likeliest mistake: the same would be said of {mistaken} sequences that are really {_PHRASES[kind]}."
        if others.loc[kind, "same"] > 0
        else f"The same would be said of none of {power.simulations} sequences of each other kind."
    )
    far = (
        "as far apart as a random walk can be that would not be seen here"
        if power.is_limit
        else "as far apart as these"
    )
    lines.append(
        f"Simulated: {power.simulations} sequences of each kind, {power.tasks} tasks, {power.components} independent "
        f"component{'s' * (power.components > 1)}, tasks {far} (variance {number(power.spread)} times the noise of one "
        "average)."
    )
    return lines


def power_rows(power: Power) -> pd.DataFrame:
    """Return the table to show, in words: of 100 sequences of each kind, with 95 % intervals."""
    return pd.DataFrame(
        {
            "Really": [KIND_NAMES[kind] for kind in power.table["kind"]],
            "Named": [
                _share(*row) for row in power.table[["named", "named_low", "named_high"]].itertuples(index=False)
            ],
            "One of two": (100 * power.table["one_of_two"]).round(),
            "Another kind": (100 * power.table["another"]).round(),
            "Nothing": (100 * power.table["nothing"]).round(),
            "Same verdict as here": [
                _share(*row) for row in power.table[["same", "same_low", "same_high"]].itertuples(index=False)
            ],
        }
    )
