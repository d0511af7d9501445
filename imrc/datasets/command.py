"""The command ``imrc datasets``: what there is, what is on this computer, and downloads."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from imrc import datasets


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser("datasets", help="list the data sets, tell about one, or download its files")
    parser.add_argument("dataset", nargs="?", choices=datasets.names(), metavar="DATASET", help="tell about this one")
    parser.add_argument("--download", action="store_true", help="download the files of DATASET into the cache")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _facts(name: str) -> dict[str, Any]:
    entry, status = datasets.entry(name), datasets.status(name)
    facts: dict[str, Any] = {
        "name": name,
        "title": entry.title,
        "group": entry.group,
        "summary": entry.summary,
        "tasks": entry.tasks,
        "loadable": status.loadable,
        "downloadable": status.downloadable,
        "download_bytes": status.size_bytes or None,
        "where": status.where or None,
    }
    if name in datasets.catalogue():
        more = datasets.facts(name)
        facts |= {
            "samples": more.samples,
            "features": more.features,
            "classes": more.classes,
            "cut": more.cut,
            "label": more.label,
            "source": more.source,
            "homepage": more.homepage,
            "citation": more.citation,
            "licence": more.licence,
            "note": more.note or None,
            "by_hand": status.by_hand or None,
        }
    return facts


def _show(name: str, done: int, total: int) -> None:
    of = f" of {datasets.size_in_words(total)}" if total else ""
    print(f"\r{name}: {datasets.size_in_words(done)}{of}   ", end="", file=sys.stderr, flush=True)  # noqa: T201 - progress


def run(options: argparse.Namespace) -> int:
    """List data sets, tell about one, or download it."""
    if options.download:
        if options.dataset is None:
            raise ValueError("--download needs the name of a data set, for example: imrc datasets usenet1 --download")
        status = datasets.status(options.dataset)
        if not status.loadable:
            print(f"Download: {datasets.size_in_words(status.size_bytes)}", file=sys.stderr)  # noqa: T201 - a command's output
            datasets.download(options.dataset, progress=_show)
            print(file=sys.stderr)  # noqa: T201 - ends the line of the progress
    if options.dataset is not None:
        facts = _facts(options.dataset)
        text = "\n".join(f"{key.replace('_', ' '):16s}{value}" for key, value in facts.items() if value is not None)
        print(json.dumps(facts, indent=2) if options.json else text)  # noqa: T201 - a command's output
        return 0
    everything = [_facts(name) for name in datasets.names()]
    if options.json:
        print(json.dumps(everything, indent=2))  # noqa: T201 - a command's output
        return 0
    for facts in everything:
        status = datasets.status(facts["name"])
        line = f"{facts['name']:20s}{facts['tasks']:6d} tasks  {facts['group']:16s}{status.in_words}"
        print(line)  # noqa: T201 - a command's output
    return 0
