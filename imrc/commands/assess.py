"""The command ``imrc assess``: the diagnosis of the page *Is it evolving?* on the command line."""

from __future__ import annotations

import argparse
from typing import Any

from imrc.commands.arguments import add_sequence, sequence_of
from imrc.commands.output import ProgressLine, add_formats, print_csv, warn
from imrc.diagnostics._assess import assess
from imrc.diagnostics.tracks import as_json, lag_rows
from imrc.diagnostics.words import report
from imrc.features import KINDS, FeatureSpec


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser("assess", help="judge whether the tasks of a sequence evolve, with the evidence")
    add_sequence(parser)
    parser.add_argument(
        "-n", "--n", type=float, default=10, help="samples per task to which the change is converted (default: 10)"
    )
    parser.add_argument("--features", choices=KINDS, default="automatic", help="representation (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and permutations (default: %(default)s)")
    add_formats(parser)


def run(options: argparse.Namespace) -> int:
    """Diagnose a sequence and print the result; as CSV, the evidence by lag."""
    with ProgressLine() as line:
        line.show("reading")
        sequence = sequence_of(options)
        line.show(f"{sequence.name}: diagnosing {len(sequence)} tasks")
        result = assess(
            sequence, features=FeatureSpec(options.features), representation=options.features, seed=options.seed
        )
    warn(sequence)
    if options.csv:
        print_csv(lag_rows(result))
    else:
        print(as_json(result, options.n) if options.json else report(result, options.n))
    return 0
