"""The command ``imrc datasets``: list, describe, download and verify datasets."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc.commands.output import ProgressLine, print_as, print_table
from imrc.datasets import _files

FAILURE = 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the command and their options."""
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
    sample = actions.add_parser("sample", help="write a small made-up table for trying out imrc run FILE")
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


def _print_facts(facts: dict[str, Any]) -> None:
    for key, value in facts.items():
        if value is not None:
            shown = ("yes" if value else "no") if isinstance(value, bool) else value
            print(f"{key.replace('_', ' '):16s}{shown}")


def _fetch(name: str) -> dict[str, Any]:
    """Download the missing files and return a record of it."""
    status, title = datasets.status(name), datasets.entry(name).title
    if status.loadable:
        return {"name": name, "fetched": False, "message": f"{title} is already on this computer."}
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
            files, missing = _files.look(datasets.facts(other))
            for file, path in files:
                line.show(f"{other}: {file.name}")
                state, message = _state(file, path)
                rows.append({"name": other, "file": file.name, "state": state, "message": message, "path": str(path)})
            lost = {"state": "missing", "message": "Not on this computer."}
            rows += [{"name": other, "file": file.name, **lost} for file in missing]
    return rows


def _state(file: datasets.RemoteFile, path: Path) -> tuple[str, str]:
    if file.algorithm is None:
        return "not checked", "No checksum is published."
    try:
        _files.verify(file, path)
    except datasets.ChecksumError as error:
        return "damaged", str(error)
    except OSError as error:
        return "damaged", f"It cannot be read: {error.strerror}."
    return "ok", "The published file."


def _print_rows(options: argparse.Namespace, rows: list[dict[str, Any]], **columns: str) -> None:
    """Print rows; the table has these columns, each under a title."""
    cells = [[str(row[key]) for key in columns] for row in rows]
    told = {"files" if "file" in columns else "datasets": rows}
    print_as(options, rows, told, lambda: print_table([*columns.values()], cells, left=len(columns)))


def run(options: argparse.Namespace) -> int:
    """List datasets, describe or download one, or verify files."""
    action = options.action or "list"
    if action == "sample":
        with Path(options.file).open("xb") as stream:
            stream.write(datasets.sample_csv())
        print(f"{options.file}: readings of pumps over 40 weeks. The label is the column state.")
    elif action == "list":
        rows = [{**_facts(name), "state": datasets.status(name).in_words} for name in datasets.names()]
        _print_rows(options, rows, name="name", tasks="tasks", group="group", state="state")
    elif action == "check":
        rows = _check(options.name)
        _print_rows(options, rows, name="name", file="file", state="state", message="")
        bad = {"damaged"} if options.name is None else {"damaged", "missing"}
        return FAILURE if bad & {row["state"] for row in rows} else 0
    elif action == "info":
        facts = _facts(options.name)
        print_as(options, [facts], facts, lambda: _print_facts(facts))
    else:
        done = _fetch(options.name)
        print_as(options, [done], done, lambda: print(done["message"]))
    return 0
