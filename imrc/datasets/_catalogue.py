"""What there is to load, facts about published data from ``data/datasets.toml``, and where their files are.

A sequence that is made or built in is added in `entries`, a published one in that file.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import inspect
import os
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from imrc._checks import DataError, check_choice
from imrc._folders import cache_folder, named_by
from imrc.datasets import digits, synthetic
from imrc.tasks import ColumnKind, TaskSequence

Algorithm = Literal["sha256", "sha256_content", "git_blob", "md5"]
_ALGORITHMS: tuple[Algorithm, ...] = ("sha256", "sha256_content", "git_blob", "md5")
Group = Literal["built in", "synthetic", "from the paper", "other real data"]


class NotAvailableError(DataError):
    """A dataset of the catalogue whose files are missing on this computer, all or some."""


class ChecksumError(DataError):
    """A file whose bytes are not the published ones: damaged, incomplete, or a different file."""


class DownloadError(DataError):
    """A download that did not succeed: the `reason` in a sentence or two, and how to get the file `by_hand`."""

    def __init__(self, reason: str, by_hand: str = "") -> None:
        super().__init__(f"{reason} {by_hand}".strip())
        self.reason = reason


@dataclass(frozen=True)
class RemoteFile:
    """One file of a dataset."""

    path: str  # below ``$IMRC_DATA`` and below the cache folder
    size_bytes: int  # of the published file; 0: not known beforehand
    algorithm: Algorithm | None  # None means not checked, for files a user makes (extracted features)
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
    """Facts about one published dataset; the fields are explained at the top of ``data/datasets.toml``."""

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

    def info(self) -> dict[str, Any]:
        """Return the facts that a sequence carries."""
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
    known = values["path"], values["bytes"], algorithm, values.get(algorithm or "", ""), tuple(values["urls"])
    more = {name: values[name] for name in ("member", "set", "role") if name in values}
    return RemoteFile(*known, also=tuple(values.get("also", ())), **more)


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
    installed = here.with_name("datasets.toml")
    path = installed if installed.exists() else here.parents[2] / "data" / "datasets.toml"
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


Files = tuple[tuple[RemoteFile, Path], ...]
_CHUNK = 1 << 20
_MAX_CONTENT = 256 << 20

# Checksums already computed in this process: (path, size, time of change) -> problem, or empty.
_checked: dict[tuple[str, int, int, str], str] = {}


def find(file: RemoteFile) -> Path | None:
    """Return the first place where a file is, in IMRC_DATA or else the cache, or None. Its bytes are not checked."""
    data = named_by("IMRC_DATA")
    here = [] if data is None else [data / path for path in (file.path, *file.also)]
    # A folder that may not be read counts as empty.
    return next((place for place in (*here, cache_folder() / file.path) if os.path.isfile(place)), None)


def digest(path: Path | str, algorithm: str, member: str = "") -> str:
    """Return a hexadecimal checksum; "git_blob" is git's SHA-1, "sha256_content" that of what is packed."""
    size, is_packed, total = Path(path).stat().st_size, algorithm == "sha256_content", 0
    # These digests say whether a file is the published one; SHA-1 and MD5 are what some publishers give.
    kind = {"git_blob": "sha1", "sha256_content": "sha256"}.get(algorithm, algorithm)
    digest = hashlib.new(kind, f"blob {size}\0".encode() if algorithm == "git_blob" else b"", usedforsecurity=False)
    opened: Any = gzip.open if is_packed else open
    with contextlib.ExitStack() as stack:
        if is_packed and member:
            opened, path = stack.enter_context(zipfile.ZipFile(path)).open, member
        stream = stack.enter_context(opened(path, "r" if is_packed else "rb"))
        while chunk := stream.read(_CHUNK):
            total += len(chunk)
            if total > max(size, _MAX_CONTENT):
                raise OSError("unpacks to far more than the published file")
            digest.update(chunk)
    return digest.hexdigest()


def verify(file: RemoteFile, path: Path) -> None:
    """Raise ChecksumError unless the file has the published bytes; it is hashed again when size or time differ."""
    if file.algorithm is None:
        return
    state = path.stat()
    key = (str(path), state.st_size, state.st_mtime_ns, file.checksum)
    if key not in _checked:
        try:
            found = digest(path, file.algorithm, file.member)
            problem = "" if found == file.checksum else f"its checksum is {found[:12]}…, expected {file.checksum[:12]}…"
        except (OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile) as error:
            problem = f"it cannot be unpacked ({error})"
        _checked[key] = problem
    if _checked[key]:
        published = f", the published file {file.size_bytes:,}" if file.size_bytes else ""
        raise ChecksumError(
            f"{path} is not the published file: {_checked[key]}. It has {state.st_size:,} bytes{published}. It is "
            "damaged, incomplete or a different file. Delete it and download it again."
        )


def look(entry: CatalogueEntry) -> tuple[Files, tuple[RemoteFile, ...]]:
    """Return the files of the first complete set, or none and what is missing of the set that lacks least."""
    best: tuple[RemoteFile, ...] = ()
    for files in entry.sets():
        found = [(file, find(file)) for file in files]
        missing = tuple(file for file, path in found if path is None)
        if not missing:
            return tuple((file, path) for file, path in found if path is not None), ()
        # Among equally incomplete sets the first one is named, because it is the one a download tries first.
        if not best or (len(missing) < len(best) and len(missing) < len(files)):
            best = missing
    return (), best


def by_hand(entry: CatalogueEntry, missing: tuple[RemoteFile, ...]) -> str:
    """Return in words how to get missing files without this program."""
    lines = []
    folder = named_by("IMRC_DATA") or cache_folder()
    for file in missing:
        place = folder / file.path
        if file.urls:
            lines.append(f"Download {file.urls[0]} and save it as {place}")
        elif file.path.endswith("_resnet18.npz"):
            lines.append(
                f"Make {place} from the images ({entry.homepage}): features of a ResNet18 (page Features of images of "
                "the documentation)"
            )
        else:
            lines.append(f"Put the file at {place}. It cannot be downloaded ({entry.homepage})")
    return "; ".join(lines) + "."


def require(entry: CatalogueEntry) -> Files:
    """Return the verified files of a dataset; NotAvailableError if one is missing, ChecksumError if it is another."""
    files, missing = look(entry)
    if not files:
        ways = f"imrc datasets fetch {entry.name} or imrc.datasets.download({entry.name!r})"
        how = f"Download it with {ways}, or by hand: " if entry.downloadable else ""
        raise NotAvailableError(
            f"{entry.title} is not on this computer: {', '.join(file.name for file in missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing. {how}{by_hand(entry, missing)}"
        )
    for file, path in files:
        verify(file, path)
    return files


@dataclass(frozen=True)
class Status:
    """What can be done with a dataset on this computer."""

    name: str
    loadable: bool  # its files are here (they are checked when loaded)
    downloadable: bool  # `download` can get them
    size_bytes: int  # of a download; 0 if unknown
    where: str  # "built in", "IMRC_DATA", "cache" or ""
    by_hand: str  # what to do without `download`, empty if nothing is missing

    @property
    def in_words(self) -> str:
        """One short sentence for people."""
        if self.loadable:
            return {"built in": "Built in.", "IMRC_DATA": "On this computer.", "cache": "Downloaded."}[self.where]
        if self.downloadable:
            return f"Not on this computer; download {size_in_words(self.size_bytes)}."
        return "Not on this computer, and cannot be downloaded in the form that imrc needs."


def size_in_words(size_bytes: int) -> str:
    """Return a size for people.

    >>> size_in_words(397055), size_in_words(0)
    ('0.4 MB', 'of unknown size')
    """
    if size_bytes <= 0:
        return "of unknown size"
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e5 else f"{max(size_bytes / 1e3, 1):.0f} kB"


def status_of(entry: CatalogueEntry) -> Status:
    """Return what is on this computer of a published dataset; nothing is read or downloaded."""
    files, missing = look(entry)
    where = "" if not files else "cache" if files[0][1] == cache_folder() / files[0][0].path else "IMRC_DATA"
    told = "" if files else by_hand(entry, missing)
    sizes = [file.size_bytes for published in entry.fetchable()[:1] for file in published]
    return Status(entry.name, bool(files), bool(sizes), sum(sizes) if all(sizes) else 0, where, told)
