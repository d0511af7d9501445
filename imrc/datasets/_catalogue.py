"""What there is to load: one entry per sequence, and facts about published ones from ``data/catalogue.toml``.

A sequence that is made or built in is added in `entries`, a published one in that file.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from imrc._checks import check_choice
from imrc.datasets import digits, synthetic
from imrc.tasks import ColumnKind, TaskSequence

Algorithm = Literal["sha256", "sha256_content", "git_blob", "md5"]
_ALGORITHMS: tuple[Algorithm, ...] = ("sha256", "sha256_content", "git_blob", "md5")
Group = Literal["built in", "synthetic", "from the paper", "other real data"]


@dataclass(frozen=True)
class RemoteFile:
    """One file of a dataset."""

    path: str  # below ``$IMRC_DATA`` and below the cache folder
    size_bytes: int  # of the published file; 0: not known beforehand
    algorithm: Algorithm | None  # None: not checked, for files a user makes (extracted features)
    checksum: str  # hexadecimal, or empty
    urls: tuple[str, ...]  # in the order in which they are tried; empty: only by hand
    member: str = ""  # name inside a zip archive, or empty
    set: int = 1  # files with one number belong together; sets are alternatives
    role: str = "data"  # "data", or "attributes" for a file that is used if present
    also: tuple[str, ...] = ()  # further places, relative to ``$IMRC_DATA``

    @property
    def name(self) -> str:
        """File name without folders."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class CatalogueEntry:
    """Facts about one published dataset; the fields are explained at the top of ``data/catalogue.toml``."""

    name: str
    title: str
    summary: str
    description: str
    paper: str
    samples: int
    features: int
    classes: int
    tasks: int
    task_rows: int
    cut: str
    label: str
    class_names: tuple[str, ...]
    column_kinds: tuple[ColumnKind, ...]
    reader: str
    source: str
    homepage: str
    citation: str
    licence: str
    note: str
    opens_with: int
    max_tasks: int
    files: tuple[RemoteFile, ...]

    def sets(self) -> list[tuple[RemoteFile, ...]]:
        """Return the alternatives: files that belong together, without the optional ones."""
        numbers = sorted({file.set for file in self.files if file.role == "data"})
        return [tuple(file for file in self.files if file.role == "data" and file.set == number) for number in numbers]

    def optional(self) -> tuple[RemoteFile, ...]:
        """Return the files that are used if present."""
        return tuple(file for file in self.files if file.role != "data")

    def fetchable(self) -> list[tuple[RemoteFile, ...]]:
        """Return the sets that can be downloaded completely."""
        return [files for files in self.sets() if all(file.urls for file in files)]

    @property
    def downloadable(self) -> bool:
        """Whether some set can be downloaded completely."""
        return bool(self.fetchable())

    @property
    def size_bytes(self) -> int:
        """Size of the first set that can be downloaded; 0 if unknown."""
        sizes = [file.size_bytes for files in self.fetchable()[:1] for file in files]
        return sum(sizes) if all(sizes) else 0

    def info(self) -> dict[str, Any]:
        """Return what a sequence says of itself."""
        told = ("class_names", "source", "homepage", "licence", "citation", "cut", "label", "note", "paper")
        return {name: getattr(self, name) for name in told}


@dataclass(frozen=True)
class Entry:
    """One sequence that can be loaded by name."""

    name: str
    title: str  # for people
    group: Group  # where it is listed
    summary: str
    loader: Callable[..., TaskSequence]  # ``loader(seed=..., **options) -> TaskSequence``
    tasks: int  # when nothing is asked for
    opens_with: int  # tasks the app opens it with: all, or the first ones of a very long sequence
    max_tasks: int
    labels: int = 10  # training samples per task the app opens it with

    @cached_property
    def accepted(self) -> frozenset[str]:
        """Names of the options its loader takes."""
        return frozenset(inspect.signature(self.loader).parameters)

    @property
    def seeded(self) -> bool:
        """Whether the seed changes what is loaded."""
        return "seed" in self.accepted

    @property
    def cuts_anew(self) -> bool:
        """Whether the loader makes ``tasks=k`` of all data; else k means the first k tasks."""
        return {"seed", "tasks"} <= self.accepted


def _file(values: Mapping[str, Any]) -> RemoteFile:
    algorithm = next((name for name in _ALGORITHMS if name in values), None)
    return RemoteFile(
        path=values["path"],
        size_bytes=values["bytes"],
        algorithm=algorithm,
        checksum=values[algorithm] if algorithm else "",
        urls=tuple(values["urls"]),
        member=values.get("member", ""),
        set=values.get("set", 1),
        role=values.get("role", "data"),
        also=tuple(values.get("also", ())),
    )


def _facts(values: Mapping[str, Any]) -> CatalogueEntry:
    more = {"paper": "", "note": "", "opens_with": values["tasks"], "max_tasks": values["tasks"], **values}
    files, columns = tuple(map(_file, more.pop("file"))), more.pop("columns")
    pairs: Any = [(columns, more["features"])] if isinstance(columns, str) else columns
    kinds = tuple(kind for kind, count in pairs for _ in range(count))
    return CatalogueEntry(files=files, column_kinds=kinds, class_names=tuple(more.pop("class_names")), **more)


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, CatalogueEntry]:
    """Return the facts about published datasets by name, in the order of the file."""
    here = Path(__file__).resolve()
    installed = here.with_name("catalogue.toml")
    path = installed if installed.exists() else here.parents[2] / "data" / "catalogue.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return {values["name"]: _facts(values) for values in content["dataset"]}


def facts(name: str) -> CatalogueEntry:
    """Return the facts about one published dataset; ValueError lists what there is."""
    return catalogue()[check_choice("name", name, catalogue())]


@lru_cache(maxsize=1)
def entries() -> dict[str, Entry]:
    """Return all entries by name: built in, synthetic, and the published ones, the paper's first."""
    from imrc.datasets._published import READERS  # which need the facts above

    made = partial(Entry, tasks=20, opens_with=20)
    words = "Real handwritten sixes and nines that turn a full circle; upside down a 6 is a 9."
    most, load = digits.MAX_TASKS, digits.six_or_nine
    found = [made("six_or_nine", "Is it a 6 or a 9?", "built in", words, load, max_tasks=most, labels=4)]
    words = "Real handwritten digits that turn from 0 to 180 degrees; is the digit 5 or more?"
    found.append(made("rotated_digits", "Rotated digits", "built in", words, digits.rotated_digits, max_tasks=most))
    for name, kind in synthetic.MOTIONS.items():
        drawn = partial(synthetic.gaussian_tasks, name)
        found.append(made(name, kind.title, "synthetic", kind.description, drawn, max_tasks=200))
    for one in sorted(catalogue().values(), key=lambda one: not one.paper):
        group: Group = "from the paper" if one.paper else "other real data"
        read = partial(READERS[one.reader], one)
        found.append(Entry(one.name, one.title, group, one.summary, read, one.tasks, one.opens_with, one.max_tasks))
    return {entry.name: entry for entry in found}
