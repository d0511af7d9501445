"""The commands ``imrc bench``, learners on the next task, and ``imrc atlas``, one card per sequence of tasks."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from imrc._checks import check_choice
from imrc._progress import ProgressLine
from imrc.commands.options import print_as, print_table
from imrc.wording import decimal


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc bench``."""
    parser.description = (
        "For each task in the second half, learn the tasks before it, predict its rows, then learn it. "
        "The sequences are seven files in the folder $IMRC_TEMPORAL and rotated moons."
    )
    what = "module:Learner (with partial_fit and predict, or a scikit-learn classifier), or a reference"
    parser.add_argument("--learner", nargs="+", default=[], metavar="NAME", help=what)
    parser.add_argument("--sequences", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("-o", "--output", metavar="FOLDER", default="bench", help="one JSON file per learner")


def run_bench(options: argparse.Namespace) -> int:
    """Measure the learners asked for, and print the table of all files, those that come with imrc too."""
    from imrc import bench
    from imrc.paper.shipped import results_folder

    folder = Path(options.output)
    names = options.sequences or bench.SEQUENCES
    for name in names:
        check_choice("sequences", name, bench.SEQUENCES)
    sys.path.insert(0, "")  # learners beside the caller
    for learner in options.learner:
        bench.learner(learner, seed=0)  # or an error, before hours of work on others
    with ProgressLine() as line:
        for learner in options.learner:
            folder.mkdir(parents=True, exist_ok=True)
            found = bench.measure(learner, names, line.write)
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
        print("Error on the next task ± half its 95 % interval; mean rank where all have results.\n")
        rows = [[learner, f"{rank:.1f}", *row] for (rank, learner), *row in wide.itertuples()]
        print_table(["learner", "rank", *wide.columns], rows)

    print_as(options, table, {"rows": table.to_dict("records")}, text)
    return 0


def add_atlas(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc atlas``."""
    parser.description = (
        "Compute a card for every sequence that is built in or in $IMRC_DATA, $IMRC_STREAMS and $IMRC_TEMPORAL, and "
        "draw one page. A sequence that is not available keeps its card, with the date it was computed."
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", default="atlas", help="of atlas.html and cards.json")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="compute only these cards (or none), keep others")


def run_atlas(options: argparse.Namespace) -> int:
    """Compute what is available, keep the rest, draw the page."""
    from imrc.atlas import NOT_AT_HAND, card, page, sources
    from imrc.paper.shipped import results_folder

    known = {source.facts["name"]: source for source in sources()}
    for name in options.only or ():
        check_choice("--only", name, known)
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    file, new = folder / "cards.json", list[str]()
    cards, kept = dict[str, Any](), dict[str, Any]()
    shipped = results_folder() / "atlas.json", results_folder().parents[1] / "docs" / "atlas" / "cards.json"
    for earlier in (*shipped, file):
        kept |= json.loads(earlier.read_text(encoding="utf-8"))["cards"] if earlier.is_file() else {}
    with ProgressLine() as line:
        for name, source in known.items():
            try:
                if options.only is None or name in options.only:
                    line.write(f"{len(new) + 1}: {source.facts['title']}", last=True)
                    cards[name] = card(source)
                    new.append(name)
            except NOT_AT_HAND as error:
                line.say(f"imrc: {source.facts['title']}: {error}")
            if name not in cards and name in kept:
                cards[name] = kept[name] | source.facts
            told = {"schema": "imrc.atlas", "version": 1, "cards": kept | cards}
            file.write_text(json.dumps(told, separators=(",", ":")) + "\n", encoding="utf-8")
    (folder / "atlas.html").write_text(page(list(cards.values())), encoding="utf-8")
    rows = [{"name": name, "new": name in new, "date": one["date"]} for name, one in cards.items()]
    said = f"{len(new)} cards computed, {len(cards) - len(new)} kept: {folder / 'atlas.html'}"
    print_as(options, rows, {"cards": rows, "page": str(folder / "atlas.html")}, lambda: print(said))
    return 0
