"""The command ``imrc predict``: the rows of a file with class and probabilities beside them."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from imrc._progress import say
from imrc.commands.output import print_as, print_table


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", metavar="MODEL", help="model file, written by imrc fit")
    parser.add_argument("file", metavar="FILE", help="file with the same columns as the first one, in any order")
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="file to write the rows to (default: print them)")
    parser.add_argument(
        "--task", metavar="NAME", default="next", help="task whose rule to use (default: the rule for the next task)"
    )


def run(options: argparse.Namespace) -> int:
    """Answer every row of the file, and print or write it; with a file, print how often each class came."""
    from imrc.model import ReadingWarning, load
    from imrc.tables import csv_text

    model = load(options.model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # said below, in the words of a command
        scored = model.predict_frame(Path(options.file), options.task)
    options.notes = model.notes
    for note in model.notes:
        say(f"imrc: {note}")
    text = csv_text(scored)
    if options.output is None:
        if not options.json:
            print(text, end="")
        else:
            print_as(options, scored, {"rows": scored.to_dict("records")})
        return 0
    Path(options.output).write_text(text, encoding="utf-8")
    answers = scored.iloc[:, -1 - len(model.classes)]
    counts = {str(name): int((answers == name).sum()) for name in model.classes.tolist()}
    rows = [{"class": name, "rows": count} for name, count in counts.items()]
    shown = [[name, f"{count:,}", f"{count / len(scored):.1%}"] for name, count in counts.items()]
    told = {"file": options.output, "rows": len(scored), "classes": counts}
    print_as(options, rows, told, lambda: print_table(["class", "rows", "share"], shown))
    return 0
