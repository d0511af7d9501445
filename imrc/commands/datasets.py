"""The command ``imrc datasets``: list, describe, download and verify datasets."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc._checks import InputError, check_choice
from imrc._progress import ProgressLine
from imrc.commands.options import add_choice, print_as, print_table
from imrc.datasets import _catalogue

FAILURE = 1
_ACTIONS = {
    "list": "all datasets, and whether they are on this computer",
    "info": "what NAME is: source, licence, counts, how its tasks are cut",
    "fetch": "download the files of NAME into the cache",
    "check": "verify the checksums of the files on this computer, of NAME or all",
    "sample": "write a small made-up table to the new file NAME, for trying out imrc check NAME",
}
_FACTS = ("samples", "features", "classes", "cut", "label", "source", "homepage", "citation", "licence", "note")


def add_datasets(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc datasets``."""
    add_choice(parser, "action", _ACTIONS, "what to do", said="list", default="list", nargs="?")
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of a dataset; for sample, of a file")


def run_datasets(options: argparse.Namespace) -> int:
    """List datasets, describe or download one, or verify files."""
    action, name = options.action, options.name
    about_one = {"info": _facts, "fetch": _fetch, "sample": _sample}.get(action)
    if about_one and name is None:
        raise InputError(f"imrc datasets {action} needs a name: imrc datasets {action} NAME.")
    if action != "sample" and name is not None:
        check_choice("NAME", name, datasets.names())
    if about_one:
        found = about_one(name)
        words = {True: "yes", False: "no"}
        known = {key.replace("_", " "): value for key, value in found.items() if value is not None}
        lines = [f"{key:16s}{words[value] if isinstance(value, bool) else value}" for key, value in known.items()]
        print_as(options, [found], found, lambda: print(found.get("message") or "\n".join(lines)))
        return 0
    if action == "check":
        what, columns, rows = "files", {"name": "name", "file": "file", "state": "state", "message": ""}, _check(name)
    else:
        what, columns = "datasets", {key: key for key in ("name", "tasks", "group", "state")}
        rows = [{**_facts(one), "state": datasets.status(one).in_words} for one in datasets.names()]
    cells = [[str(row[key]) for key in columns] for row in rows]
    print_as(options, rows, {what: rows}, lambda: print_table([*columns.values()], cells, left=len(columns)))
    bad = {"damaged"} if name is None else {"damaged", "missing"}
    return FAILURE if bad & {row["state"] for row in rows} else 0


def _facts(name: str) -> dict[str, Any]:
    entry, status = datasets.entry(name), datasets.status(name)
    facts = {fact: getattr(entry, fact) for fact in ("name", "title", "group", "summary", "tasks")}
    facts |= {fact: getattr(status, fact) for fact in ("loadable", "downloadable")}
    facts |= {"download_bytes": status.size_bytes or None, "where": status.where or None}
    if name in datasets.catalogue():
        facts |= {fact: getattr(datasets.facts(name), fact) or None for fact in _FACTS}
        facts["by_hand"] = status.by_hand or None
    return facts


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
    took = f"downloaded to {folder} and checked in {time.monotonic() - started:.1f} s"
    return {"name": name, "fetched": True, "folder": str(folder), "message": f"{title} was {took}."}


def _sample(name: str) -> dict[str, Any]:
    with Path(name).open("xb") as stream:
        stream.write(datasets.sample_csv())
    return {"file": name, "message": f"{name}: readings of pumps over 40 weeks. The label is the column state."}


def _check(name: str | None) -> list[dict[str, Any]]:
    """Return one row per file of the datasets here, or of the one named, with its state."""
    if name is not None and name not in datasets.catalogue():
        return [{"name": name, "file": "", "state": "built in", "message": "Nothing to check."}]
    rows = []
    with ProgressLine() as line:
        for other in datasets.catalogue() if name is None else [name]:
            files, missing = _catalogue.look(datasets.facts(other))
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
        _catalogue.verify(file, path)
    except datasets.ChecksumError as error:
        return "damaged", str(error)
    except OSError as error:
        return "damaged", f"It cannot be read: {error.strerror}."
    return "ok", "The published file."
