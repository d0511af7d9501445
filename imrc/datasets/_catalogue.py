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
    """One file of a dataset.

    Attributes
    ----------
    path : str
        Where it lies below ``$IMRC_DATA`` and below the cache folder.
    size_bytes : int
        Size of the published file; 0 if it is not known beforehand.
    algorithm : {"sha256", "sha256_content", "git_blob", "md5"} or None
        How it is checked; None for files a user makes (extracted features).
    checksum : str
        Hexadecimal digest, or empty.
    urls : tuple of str
        Where to get it, in the order in which they are tried; empty: only by hand.
    member : str
        Name inside a zip archive, or empty.
    set : int
        Files with one number belong together; sets are alternatives.
    role : str
        "data", or "attributes" for a file that is used if present.
    also : tuple of str
        Further places, relative to ``$IMRC_DATA``.
    """

    path: str
    size_bytes: int
    algorithm: Algorithm | None
    checksum: str
    urls: tuple[str, ...]
    member: str = ""
    set: int = 1
    role: str = "data"
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """File name without folders."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class CatalogueEntry:
    """Facts about one dataset of the catalogue.

    Attributes
    ----------
    name, title, summary, description : str
        Name for `load`, name for people, one sentence, one paragraph.
    paper : str
        Row of the paper's tables, or empty.
    samples, features, classes, tasks : int
        Counts of the whole file, and tasks it is cut into.
    task_rows : int
        Rows per task; 0 if tasks are not blocks of rows.
    cut, label : str
        How tasks are made and what is predicted, in words.
    class_names : tuple of str
        Names of the classes in the order of the sorted labels.
    column_kinds : tuple of str
        "numeric", "binary" or "pixel" for each feature.
    reader : str
        Name of the function that makes the tasks.
    source, homepage, citation, licence, note : str
        Where it comes from, how to cite it, what is allowed, and what to know before trusting a number.
    opens_with : int
        Tasks the app opens it with.
    files : tuple of RemoteFile
        Files, all sets.

    Examples
    --------
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
    """Return the facts about one dataset.

    Parameters
    ----------
    name : str
        Name of the dataset, one of `names()`.

    Returns
    -------
    CatalogueEntry

    Raises
    ------
    ValueError
        If there is no such dataset; the message lists what there is.
    """
    entries = catalogue()
    return entries[check_choice("name", name, entries)]


def info_of(entry: CatalogueEntry) -> dict[str, Any]:
    """Return what a sequence says of itself."""
    told = ("class_names", "source", "homepage", "licence", "citation", "cut", "label", "note", "paper")
    return {name: getattr(entry, name) for name in told}
