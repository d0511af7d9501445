"""The command ``imrc table``: the paper's tables, our values beside the printed ones."""

from __future__ import annotations

import argparse
from dataclasses import replace

from imrc import datasets
from imrc._checks import InputError
from imrc.baselines import registry
from imrc.commands.arguments import add_choice, add_setting
from imrc.commands.output import ProgressLine, print_as, records
from imrc.commands.table_text import print_tables
from imrc.core.settings import SETTINGS
from imrc.evaluation import RunSettings
from imrc.evaluation.comparison import SCORE_KINDS
from imrc.features import FeatureSpec
from imrc.paper.measure import (
    GROUPS,
    TABLES,
    Runs,
    TableKind,
    TableRequest,
    at_hand,
    how_to_get,
    measure,
    methods_named,
)
from imrc.solvers import warm_up


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Measure a table of the paper on the datasets on this computer and compare it with the printed values."
    )
    add_choice(parser, "--kind", TABLES, "which tables", default=["errors"], said="errors", nargs="+")
    add_setting(parser, "n", default=None, said="10; other kinds 10 and 100", nargs="+")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="default: the paper's that are on this computer")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["imrc"],
        metavar="NAME",
        help=f"imrc (default, always there), {', '.join(GROUPS)}, or names: {', '.join(registry)}; "
        "a profile may follow after a colon, as in mer:argparse",
    )
    add_setting(parser, "preset", default=["paper"], said="paper", nargs="+")
    said = "released; with --methods average, as on page Against others"
    add_choice(parser, "--error", SCORE_KINDS, "which error", said=said)
    rest = parser.add_argument_group("settings")
    for name in ("b", "W", "seed"):
        add_setting(rest, name)
    add_setting(parser, "k", default=None, said="all")
    add_setting(rest, "features", default="paper")
    add_setting(parser, "repetitions", said=f"{SETTINGS['repetitions'].default}; the paper has 50")


def request_of(options: argparse.Namespace, kind: TableKind) -> tuple[TableRequest, tuple[str, ...]]:
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
    found = []
    with ProgressLine() as line:
        runs = Runs(line.show, line.say)
        # Compiled first, so that no measured time includes it.
        warm_up(lambda _share, text: line.show(text))
        for request, missing in requests:
            found.append((measure(request, progress=line.show, runs=runs), request, missing))
    tables = [
        {
            "request": dict(vars(request), settings=request.settings.to_json()),
            "rows": records(table),
            "missing": [{"dataset": name, "how": how_to_get(name)} for name in missing],
        }
        for table, request, missing in found
    ]
    print_as(options, records(found[0][0]), {"tables": tables}, lambda: print_tables(found))
    return 0
