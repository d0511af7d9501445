"""The kind of file that bytes are, and the contents of gzip and zip files, unpacked in pieces up to a limit."""

from __future__ import annotations

import contextlib
import gzip
import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO

from imrc._checks import DataError
from imrc.tables.table import clean_name
from imrc.wording import listed

_MAX_DIRECTORY = 4 << 20
"""Limit on the bytes of a zip archive's list of files, which is read in one piece."""
_FILE_KINDS = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"\x1f\x8b": "gzip", b"PAR1": "parquet"}
_FILE_KINDS |= {b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "excel"}
_FILE_KINDS |= dict.fromkeys((b"%pdf", b"\x80", b"$fl", b"rdx", b"bzh", b"{", b"[{"), "other")
_FILE_KINDS |= dict.fromkeys((b"<stata", b"<!doctype", b"<html", b"<?xml", b"<svg"), "other")
_TABLES = (".csv", ".tsv", ".txt", ".arff", ".parquet", ".xlsx", ".xls")
OTHER = (
    "This is not a kind of table that imrc can read. It reads CSV, TSV, Excel (.xlsx, .xls), Parquet and ARFF with all "
    "cells written out, compressed with gzip or zip or not at all. Save your table as CSV and use that file."
)


def kind_of(data: bytes) -> str:
    """Return what the first bytes indicate: "zip", "gzip", "parquet", "excel" (.xls), "other" or "text"."""
    head = data[:512].lstrip()
    starts = (head, head.lower())
    return next((kind for start, kind in _FILE_KINDS.items() if any(one.startswith(start) for one in starts)), "text")


@contextlib.contextmanager
def damage(kind: str, remedy: str = "") -> Iterator[None]:
    """Turn any error of the library that reads a file into one that says it is damaged, and what to do."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of Rust
            raise
        reason = clean_name(str(error).splitlines()[0][:150]).rstrip(".") if str(error) else "its end is missing"
        raise DataError(f"The {kind} is damaged or incomplete ({reason}). {remedy}".rstrip()) from None


def _unpacked(stream: IO[bytes] | gzip.GzipFile, limit: int, name: str) -> bytes:
    """Return the contents of a stream; reading stops at the limit, whatever size the file claims."""
    whole = io.BytesIO()
    while piece := stream.read(1 << 20):
        if whole.tell() + len(piece) > limit:
            raise DataError(f"{name} unpacks to more than {limit >> 20:,} MB. Keep fewer rows or columns.")
        whole.write(piece)
    return whole.getvalue()


def unpack(data: bytes, limit: int) -> bytes:
    """Return the contents of a gzip file; DataError if that is more than `limit` bytes or damaged.

    >>> unpack(gzip.compress(b"x,y"), 100)
    b'x,y'
    """
    with damage("gzip file"), gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        return _unpacked(stream, limit, "The gzip file")


def _archive(data: bytes) -> zipfile.ZipFile:
    end = data.rfind(b"PK\x05\x06")
    if end >= 0 and int.from_bytes(data[end + 12 : end + 16], "little") > _MAX_DIRECTORY:
        raise DataError("The zip file contains many thousands of files. It should contain one table.")
    return zipfile.ZipFile(io.BytesIO(data))


def members(data: bytes) -> list[str]:
    """Return the names of the files in a zip archive, without folders and hidden files."""
    with damage("zip file"), _archive(data) as archive:
        names = [info.filename for info in archive.infolist()[:10_000] if info.filename and not info.is_dir()]
    return [name for name in names if not name.rsplit("/", 1)[-1].startswith(".") and "__MACOSX" not in name]


def unzip(data: bytes, member: str, limit: int) -> bytes:
    """Return one file of a zip archive; DataError if missing, encrypted, damaged, or above `limit` bytes."""
    with damage("zip file"), _archive(data) as archive:
        if member not in archive.NameToInfo:
            raise DataError(f"The zip file does not contain {member}; it contains {_shown(members(data))}.")
        info = archive.getinfo(member)
        # Other ways of packing may need gigabytes before the first byte arrives.
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            how = "encrypted" if info.flag_bits & 1 else "packed in a way that imrc cannot open"
            raise DataError(f"The zip file is {how}. Unpack it first and give the file inside.")
        with archive.open(member) as stream:
            return _unpacked(stream, limit, f"{clean_name(member)} in the zip file")


def unwrap(data: bytes, limit: int, notes: Sequence[str] = ()) -> tuple[bytes, str, list[str]]:
    """Return a table's bytes, their kind ("excel" also for .xlsx), and a note on how it was unpacked."""
    kind, inside = kind_of(data), list[str]()
    if kind == "zip":
        inside = members(data)
        office = any(member.startswith("xl/") or member == "content.xml" for member in inside)
        kind = "excel" if "xl/workbook.xml" in inside else "other" if office else "zip"
    if kind == "other":
        raise DataError(OTHER)
    if kind not in ("zip", "gzip"):
        return data, kind, [*notes]
    if notes:
        raise DataError("The file contains an archive inside an archive. Unpack it and use the table inside.")
    if kind == "gzip":
        return unwrap(unpack(data, limit), limit, ["The file was unpacked from gzip."])
    tables = [member for member in inside if member.lower().endswith(_TABLES)]
    chosen = tables if len(tables) == 1 else inside
    if len(chosen) != 1:
        raise DataError(f"The zip file should contain one table; it contains {_shown(inside)}.")
    return unwrap(unzip(data, chosen[0], limit), limit, [f"{_shown(chosen)} was read from the zip file."])


def _shown(names: list[str]) -> str:
    return listed([clean_name(name.rsplit("/", 1)[-1]) for name in names], 5) or "nothing"
