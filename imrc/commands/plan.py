"""The command ``imrc plan``: what n samples a task, k tasks and b backward steps are worth, and which a wish takes."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from imrc import planning
from imrc._checks import InputError, check_int
from imrc.commands.arguments import add_choice, add_sequence, add_setting, sequence_of
from imrc.commands.output import ProgressLine, print_as, print_table, records, warn
from imrc.diagnostics import assess
from imrc.evaluation import evaluate, largest_n
from imrc.evaluation.comparison import sample_sizes
from imrc.planning import PLACES, Plan, Rate
from imrc.wording import decimal

if TYPE_CHECKING:
    import pandas as pd

    from imrc.tasks import TaskSequence

_TASKS = 20
_REPETITIONS = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Effective samples of a plan, from the rate of change of a dataset (or --rho), and the samples, tasks or "
        "backward steps that a wanted number of them, or a wanted error, takes."
    )
    add_sequence(
        parser, optional=True, tasks=f"tasks planned (default: the dataset's; without one {_TASKS}); all are diagnosed"
    )
    parser.add_argument("--rho", type=float, help="rate of change d² / σ², in place of what a dataset's tasks show")
    for name in ("n", "b", "seed"):
        add_setting(parser, name)
    wish = parser.add_mutually_exclusive_group()
    wish.add_argument("--ess", type=float, help="effective samples wanted")
    wish.add_argument("--error", type=float, help="error wanted; runs single-task learning of DATA at several n")
    add_choice(parser, "--of", PLACES, "whose", default="mean")
    add_setting(parser, "features", said="automatic for the rate of change, blended for errors")


def _rate_of(options: argparse.Namespace, sequence: TaskSequence | None) -> Rate:
    if options.rho is not None:
        return Rate.guess(options.rho)
    if sequence is None:
        raise InputError("imrc plan needs DATA, whose rate of change is measured, or --rho.")
    return Rate(*assess(sequence, features=options.features or "automatic", seed=options.seed).ratio_at(1))


def _curve_of(options: argparse.Namespace, sequence: TaskSequence | None, line: ProgressLine) -> pd.DataFrame:
    if sequence is None:
        raise InputError("--error needs DATA: how errors fall with samples is measured on it.")
    largest = largest_n(sequence)
    runs = []
    for n in sample_sizes(largest, min(options.n, largest)):
        line.show(f"{sequence.name}: learning curve, n = {n}")
        runs.append(evaluate(sequence, n=n, repetitions=_REPETITIONS, seed=options.seed, features=options.features))
    return planning.learning_curve(runs)


def run(options: argparse.Namespace) -> int:
    """Print what a plan is worth and what a wish takes."""
    with ProgressLine() as line:
        sequence = None
        if options.dataset is not None:
            line.show("reading")
            sequence = sequence_of(argparse.Namespace(**{**vars(options), "k": None}))
        rate = _rate_of(options, sequence)
        curve = None if options.error is None else _curve_of(options, sequence, line)
    if sequence is not None:
        warn(sequence, options.n)
    k = options.k if options.k is not None else _TASKS if sequence is None else len(sequence)
    wish = options.ess if curve is None else planning.samples_for(curve, options.error)
    if curve is not None and math.isnan(wish):
        raise InputError(planning.out_of_reach(curve, options.error))
    plan = planning.make_plan(rate, options.n, check_int("k", k, 1), options.b, ess=wish, of=options.of)
    told = _as_json(plan, options.error)
    print_as(options, records(planning.plan_table(plan)), told, lambda: _print(plan, curve, options.error))
    return 0


def _as_json(plan: Plan, error: float | None) -> dict[str, Any]:
    return {
        "plan": {"n": plan.n, "k": plan.k, "b": plan.b, "of": plan.of},
        "rho": plan.rate._asdict(),
        "ess": {place: found._asdict() for place, found in plan.promised.items()},
        "wish": {"ess": plan.wish, "error": error},
        "ways": {way.vary: {**vars(way), "sentence": planning.way_sentence(plan, way)} for way in plan.ways},
        "advice": planning.advice(plan),
    }


def _print(plan: Plan, curve: pd.DataFrame | None, error: float | None) -> None:
    print(planning.promise_sentence(plan))
    rows = planning.promise_rows(plan, curve)
    print_table(list(rows[0]), [list(row.values()) for row in rows])
    if plan.wish is not None:
        wanted = f"{plan.wish:,.1f} effective samples"
        print(f"Wanted: {wanted if error is None else f'an error of {decimal(error)}, that is {wanted}'}")
        print_table(["by", "takes"], [[way.vary, planning.way_sentence(plan, way)] for way in plan.ways], left=2)
    print(planning.advice(plan))
