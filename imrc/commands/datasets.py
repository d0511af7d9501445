"""The command ``imrc datasets``: list, describe, download and verify datasets."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc.commands.output import ProgressLine, add_formats, print_csv, print_json, print_table
from imrc.datasets import _files

FAILURE = 1


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser("datasets", help="list, describe, download or verify datasets")
    add_formats(parser)
    parser.set_defaults(action="list", name=None)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")

    def action(name: str, words: str, *, named: bool | None) -> None:
        sub = actions.add_parser(name, help=words, description=words)
        if named is not None:
            sub.add_argument("name", nargs=None if named else "?", choices=datasets.names(), metavar="NAME")
        # Flags given before the action must survive the defaults of the action.
        for flag in ("--json", "--csv"):
            sub.add_argument(flag, action="store_true", default=argparse.SUPPRESS, help=f"print {flag[2:].upper()}")

    action("list", "list all datasets and whether they are on this computer (default)", named=None)
    action("info", "describe one dataset: source, licence, counts, how its tasks are cut", named=True)
    action("fetch", "download the files of a dataset into the cache", named=True)
    action("check", "verify the checksums of the files on this computer, of one dataset or all", named=False)
    sample = actions.add_parser("sample", help="write a small made-up table to try imrc run FILE with")
    sample.add_argument("file", metavar="FILE.csv", help="where to write it; an existing file is never overwritten")


def _facts(name: str) -> dict[str, Any]:
    entry, status = datasets.entry(name), datasets.status(name)
    facts: dict[str, Any] = {
        **{fact: getattr(entry, fact) for fact in ("name", "title", "group", "summary", "tasks")},
        "loadable": status.loadable,
        "downloadable": status.downloadable,
        "download_bytes": status.size_bytes or None,
        "where": status.where or None,
    }
    if name in datasets.catalogue():
        published = datasets.facts(name)
        more = ("samples", "features", "classes", "cut", "label", "source", "homepage", "citation", "licence")
        facts |= {fact: getattr(published, fact) for fact in more}
        facts |= {"note": published.note or None, "by_hand": status.by_hand or None}
    return facts


def _list() -> list[dict[str, Any]]:
    return [{**_facts(name), "state": datasets.status(name).in_words} for name in datasets.names()]


def _print_facts(facts: dict[str, Any]) -> None:
    for key, value in facts.items():
        if value is not None:
            shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
            print(f"{key.replace('_', ' '):16s}{shown}")


def _fetch(name: str) -> dict[str, Any]:
    """Download the missing files and return a record of it."""
    status = datasets.status(name)
    title = datasets.entry(name).title
    if status.loadable:
        return {"name": name, "fetched": False, "message": f"{title} is on this computer already."}
    started = time.monotonic()
    with ProgressLine() as line:
        if status.downloadable:
            line.say(f"{title}: download {datasets.size_in_words(status.size_bytes)}")

        def show(file: str, done: int, total: int) -> None:
            of = f" of {datasets.size_in_words(total)}" if total else ""
            line.show(f"{file}: {datasets.size_in_words(done)}{of}")

        folder = datasets.download(name, progress=show)
    seconds = time.monotonic() - started
    message = f"{title} was downloaded to {folder} and checked in {seconds:.1f} s."
    return {"name": name, "fetched": True, "folder": str(folder), "message": message}


def _check(name: str | None) -> list[dict[str, Any]]:
    """Return one row per file of the datasets here, or of the one named, with its state."""
    rows = []
    with ProgressLine() as line:
        for other in datasets.catalogue() if name is None else [name]:
            if other not in datasets.catalogue():
                rows.append({"name": other, "file": "", "state": "built in", "message": "Nothing to check."})
                continue
            entry = datasets.facts(other)
            state = _files.availability(entry)
            for file, path in state.files:
                line.show(f"{other}: {file.name}")
                rows.append({"name": other, "file": file.name, **_state(file, path), "path": str(path)})
            if name is not None or not state.complete:
                rows += [
                    {"name": other, "file": file.name, "state": "missing", "message": "Not on this computer."}
                    for file in state.missing
                ]
    return rows


def _state(file: datasets.RemoteFile, path: Path) -> dict[str, str]:
    if file.algorithm is None:
        return {"state": "not checked", "message": "No checksum is published."}
    try:
        _files.verify(file, path)
    except datasets.ChecksumError as error:
        return {"state": "damaged", "message": str(error)}
    except OSError as error:
        return {"state": "damaged", "message": f"It cannot be read: {error.strerror}."}
    return {"state": "ok", "message": "The published file."}


def _print_rows(options: argparse.Namespace, rows: list[dict[str, Any]], header: list[str], keys: list[str]) -> None:
    if options.json:
        print_json(rows)
    elif options.csv:
        print_csv(rows)
    else:
        print_table(header, [[str(row[key]) for key in keys] for row in rows], left=len(header))


def run(options: argparse.Namespace) -> int:
    """List datasets, describe or download one, or verify files."""
    action = options.action or "list"
    if action == "sample":
        with Path(options.file).open("xb") as stream:
            stream.write(datasets.sample_csv())
        print(f"{options.file}: readings of pumps over 40 weeks. The label is the column state.")
        return 0
    if action == "list":
        _print_rows(options, _list(), ["name", "tasks", "group", "state"], ["name", "tasks", "group", "state"])
        return 0
    if action == "check":
        rows = _check(options.name)
        _print_rows(options, rows, ["name", "file", "state", ""], ["name", "file", "state", "message"])
        bad = {"damaged"} if options.name is None else {"damaged", "missing"}
        return FAILURE if bad & {row["state"] for row in rows} else 0
    facts = _facts(options.name) if action == "info" else _fetch(options.name)
    if options.json or options.csv:
        (print_json if options.json else lambda row: print_csv([row]))(facts)
    elif action == "info":
        _print_facts(facts)
    else:
        print(facts["message"])
    return 0
