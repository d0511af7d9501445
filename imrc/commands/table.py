"""The command ``imrc table``: the paper's tables, our values beside the printed ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from imrc import datasets
from imrc._checks import InputError
from imrc.baselines import registry
from imrc.commands.output import ProgressLine, add_formats, print_csv, print_json, records
from imrc.commands.table_text import print_tables
from imrc.core.settings import PRESETS
from imrc.evaluation import PARAMETERS, RunSettings
from imrc.evaluation.comparison import SCORE_KINDS
from imrc.evaluation.settings import window_argument
from imrc.features import KINDS as FEATURES
from imrc.features import FeatureSpec
from imrc.paper.measure import (
    GROUPS,
    KINDS,
    Kind,
    Runs,
    TableRequest,
    at_hand,
    how_to_get,
    measure,
    methods_named,
)
from imrc.solvers import warm_up

if TYPE_CHECKING:
    import pandas as pd

REPETITIONS = 10


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser(
        "table",
        help="the paper's tables measured here, beside the printed values",
        description="Measure a table of the paper on the datasets at hand and compare it with the printed values.",
    )
    kinds = "; ".join(f"{name}: {words}" for name, words in KINDS.items())
    parser.add_argument(
        "--kind", choices=KINDS, nargs="+", default=["errors"], help=f"which tables (default: errors). {kinds}"
    )
    parser.add_argument("-n", "--n", type=int, nargs="+", help="samples per task (default: 10; other kinds 10 and 100)")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="default: the paper's that are on this computer")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["imrc"],
        metavar="NAME",
        help=f"imrc (default, always there), {', '.join(GROUPS)}, or names: {', '.join(registry)}; "
        "a profile may follow after a colon, as in mer:argparse",
    )
    parser.add_argument("--preset", choices=PRESETS, nargs="+", default=["paper"], help="of IMRC (default: paper)")
    errors = "; ".join(f"{name}: {words}" for name, words in SCORE_KINDS.items())
    parser.add_argument(
        "--error",
        choices=SCORE_KINDS,
        help=f"which error (default: released; with --methods average, as on page Against others). {errors}",
    )
    for name, usual in (("b", "%(default)s"), ("W", "the preset's"), ("k", "all")):
        parser.add_argument(
            f"-{name}",
            type=window_argument if name == "W" else int,
            default=PARAMETERS[name].default if name == "b" else None,
            help=f"{PARAMETERS[name].label} (default: {usual})",
        )
    parser.add_argument("--features", choices=FEATURES, default="paper", help="representation (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="default: %(default)s; the paper has 50")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: %(default)s)")
    add_formats(parser)


def request_of(options: argparse.Namespace, kind: Kind) -> tuple[TableRequest, tuple[str, ...]]:
    """Return what to measure for one table, and the datasets that are not on this computer."""
    methods = methods_named(options.methods, options.preset)
    alone = all(name.startswith("imrc:") for name in methods)
    request = TableRequest(
        kind=kind,
        names=() if options.datasets is None else tuple(options.datasets),
        sizes=tuple(options.n or ((10,) if kind == "errors" else (10, 100))),
        methods=methods,
        error=options.error or ("released" if alone else "average"),
        k=options.k,
        settings=RunSettings(
            b=options.b,
            W=options.W,
            preset=options.preset[0],
            features=FeatureSpec(options.features),
            repetitions=options.repetitions,
            seed=options.seed,
        ),
    )
    here, missing = at_hand(options.datasets, kind)
    if not here:
        ways = "; ".join(f"{datasets.entry(name).title}: {how_to_get(name)}" for name in missing)
        raise datasets.NotAvailableError(f"None of these datasets is on this computer. {ways}")
    return replace(request, names=here), missing


def run(options: argparse.Namespace) -> int:
    """Measure and print the tables."""
    requests = [request_of(options, kind) for kind in dict.fromkeys(options.kind)]
    if options.csv and len(requests) > 1:
        raise InputError("--csv writes one table: give one --kind, or take --json.")
    runs, found = Runs(), []
    with ProgressLine() as line:
        # Compiled first, so that no measured time includes it.
        warm_up(lambda _share, text: line.show(text))
        for request, missing in requests:
            table = measure(request, progress=line.show, announce=line.say, runs=runs)
            found.append((table, request, missing))
    if options.json:
        told = [_told(*one) for one in found]
        print_json(told if len(told) > 1 else told[0])
    elif options.csv:
        print_csv(records(found[0][0]))
    else:
        for position, (table, request, missing) in enumerate(found):
            if position:
                print()
            print_tables(table, request, missing)
    return 0


def _told(table: pd.DataFrame, request: TableRequest, missing: Sequence[str]) -> dict[str, Any]:
    return {
        "request": dict(vars(request), settings=request.settings.to_json()),
        "rows": records(table),
        "missing": [{"dataset": name, "how": how_to_get(name)} for name in missing],
    }
