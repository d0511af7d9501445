"""The command ``imrc assess``: the diagnosis of the page *Is it evolving?* on the command line."""

from __future__ import annotations

import argparse

from imrc.commands.arguments import add_sequence, add_setting, sequence_of
from imrc.commands.output import ProgressLine, print_as, warn


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_sequence(parser)
    parser.add_argument(
        "-n", "--n", type=float, default=10, help="samples per task to which the change is converted (default: 10)"
    )
    add_setting(parser, "features", default="automatic")
    add_setting(parser, "seed")


def run(options: argparse.Namespace) -> int:
    """Diagnose a sequence and print the result; as CSV, the evidence by lag."""
    # Loaded here: nobody waits for it who asks for help or mistypes an option.
    from imrc.diagnostics import assess, tracks, words

    with ProgressLine() as line:
        line.show("reading")
        sequence = sequence_of(options)
        line.show(f"{sequence.name}: diagnosing {len(sequence)} tasks")
        result = assess(sequence, features=options.features, representation=options.features, seed=options.seed)
    warn(sequence)
    told = result.summary(options.n)
    print_as(options, tracks.lag_rows(result), told, lambda: print(words.report(result, options.n)))
    return 0
