"""The command ``imrc table``: tables of the paper, ours beside the printed values."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from imrc.evaluation.paper_column import SETS, SIZES, paper_imrc_column


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser("table", help="the paper's IMRC column, measured with its choices, beside the print")
    parser.add_argument("table", choices=("imrc-column",), help="which table")
    parser.add_argument("--datasets", nargs="+", choices=SETS, help="default: all that are on this computer")
    parser.add_argument("-n", type=int, nargs="+", choices=SIZES, default=list(SIZES), help="samples per task")
    parser.add_argument("--repetitions", type=int, default=10, help="2 to 50 (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="first seed (default: %(default)s)")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON")
    output.add_argument("--csv", action="store_true", help="print comma-separated values")


def _show(what: str, done: int, total: int) -> None:
    print(f"\r[{done}/{total}] {what:30s}", end="" if done < total else "\n", file=sys.stderr, flush=True)  # noqa: T201 - progress


def run(options: argparse.Namespace) -> int:
    """Measure and print the table."""
    table = paper_imrc_column(
        options.datasets, options.n, repetitions=options.repetitions, seed=options.seed, progress=_show
    )
    if options.json:
        text = table.to_json(orient="records", indent=2)
    else:
        text = table.to_csv(index=False) if options.csv else table.to_string(index=False)
    print(text)  # noqa: T201 - a command's output
    return 0
