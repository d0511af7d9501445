"""The command ``imrc bench``: learners on the next task, a file per learner, the table from the files."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from imrc._progress import ProgressLine
from imrc.commands.output import print_as, print_table
from imrc.wording import decimal


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Learn the tasks so far, predict every row of the next one, then learn it, for the second half of "
        "the tasks. Sequences: seven files in the folder $IMRC_TEMPORAL, and rotated moons."
    )
    what = "measure it: module:Learner, with partial_fit and predict or a scikit-learn classifier, or a reference"
    parser.add_argument("--learner", nargs="+", default=[], metavar="NAME", help=what)
    parser.add_argument("--sequences", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("-o", "--output", metavar="FOLDER", default="bench", help="for the files, one JSON a learner")


def run(options: argparse.Namespace) -> int:
    """Measure the learners asked for, and print the table of all files, those that come with imrc too."""
    from imrc import bench
    from imrc._checks import check_choice
    from imrc.paper.shipped import results_folder

    folder = Path(options.output)
    names = options.sequences or bench.SEQUENCES
    for name in names:
        check_choice("sequences", name, bench.SEQUENCES)
    sys.path.insert(0, "")  # learners beside the caller
    with ProgressLine() as line:
        for learner in options.learner:
            found = bench.measure(learner, names, line.write)
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"{learner.replace(':', '.')}.json"
            file.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")
    table = bench.table([results_folder() / "bench", folder])

    def text() -> None:
        # Of one task predicted there is no interval over tasks.
        half = table[["over_rows", "over_tasks"]].max(axis=1)
        cells = [f"{decimal(error)} ± {decimal(own)}" for error, own in zip(table["error"], half, strict=True)]
        wide = table.assign(cell=cells).pivot_table(
            index=["mean_rank", "learner"], columns="sequence", values="cell", aggfunc="first", fill_value=""
        )
        print("Error on the next task ± half its 95 % interval; mean rank over the sequences that all have.\n")
        rows = [[learner, f"{rank:.1f}", *row] for (rank, learner), *row in wide.itertuples()]
        print_table(["learner", "rank", *wide.columns], rows)

    print_as(options, table, {"rows": table.to_dict("records")}, text)
    return 0
