"""The kind of file that bytes are, and what gzip and zip files contain, unpacked up to a limit."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO

from imrc._checks import DataError
from imrc.tables.table import MAX_UNPACKED_BYTES, clean_name
from imrc.wording import listed

_KINDS = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"\x1f\x8b": "gzip", b"PAR1": "parquet"}
_KINDS |= {b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "excel"}
_KINDS |= dict.fromkeys((b"%pdf", b"\x80", b"$fl", b"rdx", b"bzh", b"{", b"[{"), "other")
_KINDS |= dict.fromkeys((b"<stata", b"<!doctype", b"<html", b"<?xml", b"<svg"), "other")
_TABLES = (".csv", ".tsv", ".txt", ".arff", ".parquet", ".xlsx", ".xls")
OTHER = (
    "This is not a kind of table that imrc can read. It reads CSV, TSV, Excel (.xlsx, .xls), Parquet and ARFF with all "
    "cells written out, compressed with gzip or zip or not at all. Save your table as CSV and use that file."
)


def kind_of(data: bytes) -> str:
    """Return what the bytes indicate: "zip", "gzip", "parquet", "excel", "other" or "text"."""
    head = data[:512].lstrip()
    kinds = [kind for start, kind in _KINDS.items() if head.startswith(start) or head.lower().startswith(start)]
    if kinds[:1] == ["zip"]:
        with damage("zip file"), zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
        if "content.xml" in names or any(name.startswith("xl/") for name in names):
            return "excel" if "xl/workbook.xml" in names else "other"
    if kinds[:1] == ["parquet"] and b"\0" not in data:  # a name in the first row
        return "text"
    return kinds[0] if kinds else "text"


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


def _tables_in(inside: Sequence[str]) -> list[str]:
    """Return the only table of some files, or all of them; no folders, and none that macOS adds."""
    names = [one for one in inside if not re.search(r"__MACOSX|(^|/)(\._[^/]*|\.DS_Store|)$", one)]
    tables = [one for one in names if one.lower().endswith(_TABLES)]
    return tables if len(tables) == 1 else names


def unpack(data: bytes, limit: int = MAX_UNPACKED_BYTES, member: str = "") -> tuple[bytes, str]:
    """Return what a gzip file contains, or a member of a zip file, by default its only table; and where it was.

    DataError if that is not there, encrypted, damaged, or more than `limit` bytes, whatever size the file claims.
    """
    kind = where = "zip" if data[:512].lstrip().startswith(b"PK") else "gzip"
    with damage(f"{kind} file"), contextlib.ExitStack() as opened:
        stream: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=io.BytesIO(data))
        if kind == "zip":
            archive = opened.enter_context(zipfile.ZipFile(io.BytesIO(data)))
            names = _tables_in(archive.namelist())
            inside = listed([clean_name(one.rsplit("/", 1)[-1]) for one in names], 5)  # without their folders
            where = f"zip: {inside}"
            chosen = [member] if member in archive.namelist() else [] if member else names
            if len(chosen) != 1:
                wanted = member or "exactly one table"
                raise DataError(f"The zip file does not contain {wanted}; it contains {inside or 'nothing'}.")
            info = archive.getinfo(chosen[0])
            # Other ways of packing may need gigabytes before the first byte arrives.
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DataError("The zip file is encrypted, or imrc cannot open its compression. Unpack it first.")
            stream = opened.enter_context(archive.open(info))
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise DataError(f"The {kind} file unpacks to more than {limit >> 20:,} MB. Keep fewer rows or columns.")
    return content, where
