"""Where data files are, and whether they are what they should be."""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from imrc._folders import cache_folder, data_folder
from imrc.datasets._catalogue import CatalogueEntry, RemoteFile
from imrc.datasets.errors import ChecksumError, NotAvailableError

Files = tuple[tuple[RemoteFile, Path], ...]
Folders = tuple[Path | None, Path]  # IMRC_DATA and the cache
_CHUNK = 1 << 20
_MAX_CONTENT = 256 << 20

# Checksums already computed in this process: (path, size, time of change) -> problem, or empty.
_checked: dict[tuple[str, int, int, str], str] = {}


def find(file: RemoteFile, folders: Folders | None = None) -> Path | None:
    """Return the first place that holds a file, in IMRC_DATA or else the cache, or None. Its bytes are not checked."""
    data, cache = folders or (data_folder(), cache_folder())
    here = [] if data is None else [os.path.join(data, path) for path in (file.path, *file.also)]
    # A folder that may not be read holds nothing.
    return next((Path(place) for place in (*here, os.path.join(cache, file.path)) if os.path.isfile(place)), None)


def _digest_stream(stream: BinaryIO, algorithm: str, size: int) -> str:
    # These digests say whether a file is the published one; SHA-1 and MD5 are what some publishers give.
    digest = hashlib.new({"git_blob": "sha1"}.get(algorithm, algorithm), usedforsecurity=False)
    if algorithm == "git_blob":
        digest.update(f"blob {size}\0".encode())
    total = 0
    while chunk := stream.read(_CHUNK):
        total += len(chunk)
        if total > max(size, _MAX_CONTENT):
            raise OSError("unpacks to far more than the published file")
        digest.update(chunk)
    return digest.hexdigest()


def digest(path: Path, algorithm: str, member: str = "") -> str:
    """Return a hexadecimal checksum.

    "git_blob" is git's SHA-1, "sha256_content" of what gzip, or a zip's `member`, holds.
    """
    size = path.stat().st_size
    if algorithm == "sha256_content" and member:
        with zipfile.ZipFile(path) as archive, archive.open(member) as unpacked_member:
            return _digest_stream(unpacked_member, "sha256", size)  # type: ignore[arg-type]  # a binary stream
    if algorithm == "sha256_content":
        with gzip.open(path, "rb") as unpacked:
            return _digest_stream(unpacked, "sha256", size)  # type: ignore[arg-type]  # a binary stream
    with path.open("rb") as stream:
        return _digest_stream(stream, algorithm, size)


def verify(file: RemoteFile, path: Path) -> None:
    """Raise ChecksumError unless the file holds the published bytes; it is hashed again when size or time differ."""
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
        size = f" It has {state.st_size:,} bytes" + (
            f", the published file {file.size_bytes:,}." if file.size_bytes else "."
        )
        raise ChecksumError(
            f"{path} is not the published file: {_checked[key]}.{size} It is damaged, cut short or another file. "
            "Delete it and download it again."
        )


def look(entry: CatalogueEntry, folders: Folders | None = None) -> tuple[Files, tuple[RemoteFile, ...]]:
    """Return the files of the first complete set, or none and what is missing of the set that lacks least."""
    folders = folders or (data_folder(), cache_folder())
    best: tuple[RemoteFile, ...] = ()
    for files in entry.sets():
        found = [(file, find(file, folders)) for file in files]
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
    folder = data_folder() or cache_folder()
    for file in missing:
        place = folder / file.path
        if file.urls:
            lines.append(f"Download {file.urls[0]} and save it as {place}")
        elif file.path.endswith("_resnet18.npz"):
            lines.append(
                f"Make {place} from the images ({entry.homepage}): features of a ResNet18, see Features of images in "
                "the documentation"
            )
        else:
            lines.append(f"Put the file at {place}. It cannot be downloaded ({entry.homepage})")
    return "; ".join(lines) + "."


def require(entry: CatalogueEntry) -> Files:
    """Return the verified files of a dataset; NotAvailableError if one is missing, ChecksumError if it is another."""
    files, missing = look(entry)
    if not files:
        how = f"Download it with imrc.datasets.download({entry.name!r}), or by hand: " if entry.downloadable else ""
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
    folders = data_folder(), cache_folder()
    files, missing = look(entry, folders)
    where = "" if not files else "cache" if files[0][1] == folders[1] / files[0][0].path else "IMRC_DATA"
    told = "" if files else by_hand(entry, missing)
    return Status(entry.name, bool(files), entry.downloadable, entry.size_bytes, where, told)
