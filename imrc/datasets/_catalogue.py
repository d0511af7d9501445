"""The catalogue of datasets that are described but not shipped: facts from ``data/catalogue.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from imrc._checks import check_choice
from imrc.tasks import ColumnKind

Algorithm = Literal["sha256", "md5", "git_blob", "sha256_content"]
_ALGORITHMS: tuple[Algorithm, ...] = ("sha256", "sha256_content", "git_blob", "md5")


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
    """Facts about one dataset of the catalogue; the fields are explained at the top of ``data/catalogue.toml``.

    >>> facts = catalogue()["usenet1"]
    >>> facts.samples, facts.tasks, facts.column_kinds[:2]
    (1500, 5, ('binary', 'binary'))
    """

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
    files: tuple[RemoteFile, ...]

    def sets(self) -> list[tuple[RemoteFile, ...]]:
        """Return the alternatives: files that belong together, without the optional ones."""
        numbers = sorted({file.set for file in self.files if file.role == "data"})
        return [tuple(file for file in self.files if file.role == "data" and file.set == number) for number in numbers]

    def optional(self) -> tuple[RemoteFile, ...]:
        """Return the files that are used if present."""
        return tuple(file for file in self.files if file.role != "data")

    @property
    def downloadable(self) -> bool:
        """Whether some set can be downloaded completely."""
        return any(all(file.urls for file in files) for files in self.sets())

    @property
    def size_bytes(self) -> int:
        """Size of the first set that can be downloaded; 0 if unknown."""
        for files in self.sets():
            if all(file.urls for file in files):
                sizes = [file.size_bytes for file in files]
                return sum(sizes) if all(sizes) else 0
        return 0


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


def _kinds(columns: ColumnKind | list[list[Any]], features: int) -> tuple[ColumnKind, ...]:
    if isinstance(columns, str):
        return (columns,) * features
    return tuple(kind for kind, count in columns for _ in range(count))


def _entry(values: Mapping[str, Any]) -> CatalogueEntry:
    values = dict(values)
    files = tuple(_file(file) for file in values.pop("file"))
    kinds = _kinds(values.pop("columns"), values["features"])
    names = tuple(values.pop("class_names"))
    texts = {name: values.pop(name, "") for name in ("paper", "note")}
    values.setdefault("opens_with", values["tasks"])
    return CatalogueEntry(files=files, column_kinds=kinds, class_names=names, **texts, **values)


def catalogue_path() -> Path:
    """Return where the catalogue is: next to this module once installed, in ``data/`` in a checkout."""
    here = Path(__file__).resolve()
    installed = here.with_name("catalogue.toml")
    return installed if installed.exists() else here.parents[2] / "data" / "catalogue.toml"


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, CatalogueEntry]:
    """Return the datasets of the catalogue by name, in the order of the file."""
    with catalogue_path().open("rb") as stream:
        content = tomllib.load(stream)
    return {entry.name: entry for entry in map(_entry, content["dataset"])}


def facts(name: str) -> CatalogueEntry:
    """Return the facts about one dataset of the catalogue; ValueError lists what there is."""
    entries = catalogue()
    return entries[check_choice("name", name, entries)]


def info_of(entry: CatalogueEntry) -> dict[str, Any]:
    """Return what a sequence says of itself."""
    told = ("class_names", "source", "homepage", "licence", "citation", "cut", "label", "note", "paper")
    return {name: getattr(entry, name) for name in told}
