"""The command ``imrc predict``: the rows of a file with class and probabilities beside them."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from imrc.commands.output import print_as, print_table, records, say


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
    for note in model.notes:
        say(f"imrc: {note}")
    if options.output is None:
        if options.json:
            print_as(options, [], {"notes": model.notes, "rows": records(scored)})
        else:
            print(csv_text(scored), end="")
        return 0
    Path(options.output).write_text(csv_text(scored), encoding="utf-8")
    answers = scored.iloc[:, -1 - len(model.classes)].tolist()
    counts = {str(name): answers.count(name) for name in model.classes.tolist()}
    told: dict[str, Any] = {"file": options.output, "rows": len(scored), "classes": counts, "notes": model.notes}
    rows = [{"class": name, "rows": count} for name, count in counts.items()]
    shown = [[name, f"{count:,}", f"{count / len(scored):.1%}"] for name, count in counts.items()]
    print_as(options, rows, told, lambda: print_table(["class", "rows", "share"], shown))
    return 0
