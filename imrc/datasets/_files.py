"""Where data files are, and whether they are what they should be."""

from __future__ import annotations

import gzip
import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from imrc._folders import cache_folder, data_folder
from imrc.datasets._catalogue import CatalogueEntry, RemoteFile
from imrc.datasets.errors import ChecksumError, NotAvailableError

_CHUNK = 1 << 20
_MAX_CONTENT = 256 << 20

# Checksums already computed in this process: (path, size, time of change) -> problem, or empty.
_checked: dict[tuple[str, int, int, str], str] = {}


def places(file: RemoteFile) -> list[Path]:
    """Return where a file is looked for, in this order: IMRC_DATA, the cache."""
    folder = data_folder()
    found = [] if folder is None else [folder / file.path, *(folder / other for other in file.also)]
    return [*found, cache_folder() / file.path]


def find(file: RemoteFile) -> Path | None:
    """Return the first place that holds the file, or None. Its bytes are not checked here."""
    for place in places(file):
        try:
            if place.is_file():
                return place
        except OSError:  # for example a folder that may not be read
            continue
    return None


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


@dataclass(frozen=True)
class Availability:
    """What is on this computer of a dataset."""

    files: tuple[tuple[RemoteFile, Path], ...]  # the first complete set, or empty
    missing: tuple[RemoteFile, ...]  # of the set that lacks least

    @property
    def complete(self) -> bool:
        """Whether the dataset can be loaded (its checksums are looked at when it is)."""
        return bool(self.files)


def availability(entry: CatalogueEntry) -> Availability:
    """Return which files of a dataset are here; nothing is read or downloaded."""
    best: tuple[RemoteFile, ...] | None = None
    for files in entry.sets():
        found = [(file, find(file)) for file in files]
        missing = tuple(file for file, path in found if path is None)
        if not missing:
            return Availability(tuple((file, path) for file, path in found if path is not None), ())
        # Among equally incomplete sets the first one is named, because it is the one a download tries first.
        if best is None or (len(missing) < len(best) and len(missing) < len(files)):
            best = missing
    return Availability((), best or ())


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
            lines.append(f"Put the file {place} in place; it cannot be downloaded ({entry.homepage})")
    return "; ".join(lines) + "."


def require(entry: CatalogueEntry) -> tuple[tuple[RemoteFile, Path], ...]:
    """Return the verified files of a dataset; NotAvailableError if one is missing, ChecksumError if it is another."""
    state = availability(entry)
    if not state.complete:
        how = f"Download it with imrc.datasets.download({entry.name!r}), or by hand: " if entry.downloadable else ""
        raise NotAvailableError(
            f"{entry.title} is not on this computer: {', '.join(file.name for file in state.missing)} "
            f"{'is' if len(state.missing) == 1 else 'are'} missing. {how}{by_hand(entry, state.missing)}"
        )
    for file, path in state.files:
        verify(file, path)
    return state.files
