"""The command ``imrc assess``: the diagnosis of the page *Evolving?* on the command line."""

from __future__ import annotations

import argparse
from typing import Any

from imrc import datasets
from imrc.diagnostics._assess import assess
from imrc.diagnostics.tracks import as_json
from imrc.diagnostics.words import report
from imrc.features import KINDS, FeatureSpec


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser("assess", help="judge whether the tasks of a sequence evolve, with the evidence")
    parser.add_argument("dataset", choices=datasets.names(), metavar="DATASET", help=", ".join(datasets.names()))
    parser.add_argument("-n", type=float, default=10, help="samples per task to convert to (default: %(default)s)")
    parser.add_argument("-k", type=int, help="number of tasks (default: the dataset's)")
    parser.add_argument("--features", choices=KINDS, default="automatic", help="representation (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and permutations (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Diagnose a dataset and print the result."""
    load = {} if options.k is None else {"tasks": options.k}
    sequence = datasets.load(options.dataset, seed=options.seed, **load)
    result = assess(
        sequence, features=FeatureSpec(options.features), representation=options.features, seed=options.seed
    )
    print(as_json(result, options.n) if options.json else report(result, options.n))  # noqa: T201 - a command's output
    return 0
