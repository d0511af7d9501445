"""The command ``imrc atlas``: one card per sequence of tasks, and one page that shows them all."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from imrc._progress import ProgressLine
from imrc.commands.output import print_as


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Compute a card for every sequence that is built in or in $IMRC_DATA, $IMRC_STREAMS and $IMRC_TEMPORAL, and "
        "draw one page. A sequence that is not available keeps its card, with the date it was computed."
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", default="atlas", help="for atlas.html and cards.json")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="compute these cards or none, and keep the others")


def run(options: argparse.Namespace) -> int:
    """Compute what is available, keep the rest, draw the page."""
    from imrc.atlas import NOT_AT_HAND, card, page, sources
    from imrc.paper.shipped import results_folder

    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    file, new = folder / "cards.json", list[str]()
    cards, kept = dict[str, Any](), dict[str, Any]()
    shipped = results_folder() / "atlas.json", results_folder().parents[1] / "docs" / "atlas" / "cards.json"
    for known in (*shipped, file):
        kept |= json.loads(known.read_text(encoding="utf-8"))["cards"] if known.is_file() else {}
    with ProgressLine() as line:
        for source in sources():
            name = source.facts["name"]
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
