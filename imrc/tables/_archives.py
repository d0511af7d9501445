"""Bytes: which kind of file they are, and the content of zip and gzip files, within a limit on size."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from typing import IO

from imrc._checks import DataError
from imrc.tables._columns import clean_name

_CHUNK = 1 << 20

_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"PAR1", "parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
    (b"%PDF", "pdf"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"\x93NUMPY", "npy"),
    (b"MATLAB 5.0", "mat"),
    (b"\x89HDF\r\n\x1a\n", "hdf5"),
    (b"SQLite format 3", "sqlite"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"Rar!", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"ARROW1", "feather"),
    (b"\x7fELF", "program"),
)


_EXCEL = "This is an Excel workbook. Save the sheet as CSV (File, Save as, CSV UTF-8) and use that file."
_REFUSED = {
    "excel": _EXCEL,
    "pdf": "This is a PDF document, not a table. Copy the table into a spreadsheet and save it as CSV.",
    "image": "This is an image, not a table.",
    "npy": "This is a NumPy file. Tables are read from CSV, TSV, Parquet or ARFF files; NumPy's savetxt writes CSV.",
    "npz": "This is a NumPy archive. Tables are read from CSV, TSV, Parquet or ARFF files; NumPy's savetxt writes CSV.",
    "mat": "This is a MATLAB file. Tables are read from CSV, TSV, Parquet or ARFF files; "
    "MATLAB's writetable writes CSV.",
    "hdf5": "This is an HDF5 file. Save the table as CSV or Parquet.",
    "sqlite": "This is a database. Export the table as CSV.",
    "archive": "This kind of archive cannot be opened. Unpack it and use the table inside.",
    "feather": "This is a Feather file. Save the table as Parquet or CSV.",
    "program": "This is a program, not a table.",
    "pickle": "This is a Python pickle. Such files can run code when opened, so they are refused. "
    "Save the table as CSV or Parquet.",
}
_TABLES = (".csv", ".tsv", ".txt", ".arff", ".parquet", ".tab", ".dat")


def kind_of(data: bytes) -> str:
    """Return what the first bytes say: "zip", "gzip", "parquet", "pickle", ... or "text".

    Examples
    --------
    >>> kind_of(b"PAR1...."), kind_of(b"a,b")
    ('parquet', 'text')
    """
    for start, kind in _KINDS:
        if data.startswith(start):
            return kind
    if len(data) > 2 and data[0] == 0x80 and data[1] in (2, 3, 4, 5) and data.rstrip(b"\n").endswith(b"."):
        return "pickle"
    if data.startswith((b"cposix\n", b"c__builtin__\n", b"cos\n", b"(lp", b"(dp")):
        return "pickle"
    return "text"


def _read_all(stream: IO[bytes] | gzip.GzipFile, limit: int, name: str) -> bytes:
    """Return what a stream holds. What a file says about its size is not trusted: reading stops at the limit."""
    parts, total = [], 0
    while chunk := stream.read(_CHUNK):
        total += len(chunk)
        if total > limit:
            raise DataError(
                f"{name} unpacks to more than {limit >> 20:,} MB, which is the limit. "
                "Cut the table down or split it into several files."
            )
        parts.append(chunk)
    return b"".join(parts)


def gunzip(data: bytes, limit: int) -> bytes:
    """Return what a gzip file holds, at most `limit` bytes; raise DataError beyond or if it is damaged."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return _read_all(stream, limit, "The gzip file")
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"The gzip file is damaged or cut short ({error}).") from None


def members(data: bytes) -> list[str]:
    """Return the names of the files in a zip archive, folders and hidden files left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [info.filename for info in archive.infolist()[:10_000] if not info.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DataError(f"The zip file is damaged or cut short ({error}).") from None
    return [name for name in names if not name.rsplit("/", 1)[-1].startswith((".", "__MACOSX"))]


def unzip(data: bytes, member: str, limit: int) -> bytes:
    """Return one file of a zip archive, at most `limit` bytes.

    Raises
    ------
    DataError
        If there is no such file, it is larger, encrypted or damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(member) as stream:
            return _read_all(stream, limit, f"{member[:80]} in the zip file")
    except KeyError:
        inside = ", ".join(members(data)[:10]) or "nothing"
        raise DataError(f"The zip file does not hold {member}; it holds {inside}.") from None
    except RuntimeError:
        raise DataError("The zip file is encrypted. Unpack it first and give the file inside.") from None
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, zlib.error) as error:
        raise DataError(f"The zip file is damaged or cut short ({error}).") from None


def unwrap(data: bytes, name: str, limit: int) -> tuple[bytes, str, list[str]]:
    """Return the table in a file: its bytes, its name, and notes on how it was unpacked (once).

    Raises
    ------
    DataError
        If the file, or what is packed in it, is of a kind that is no table.
    """
    kind, notes = kind_of(data), []
    if kind == "gzip":
        notes.append("The file was unpacked from gzip.")
        data, name = gunzip(data, limit), re.sub(r"\.gz$", "", name, flags=re.IGNORECASE)
    elif kind == "zip":
        inside = members(data)
        if any(member.startswith("xl/") for member in inside):
            raise DataError(_EXCEL)
        if inside and all(member.endswith(".npy") for member in inside):
            raise DataError(_REFUSED["npz"])
        tables = [member for member in inside if member.lower().endswith(_TABLES)]
        chosen = tables if len(tables) == 1 else inside
        if len(chosen) != 1:
            listed = ", ".join(clean_name(member) for member in inside[:5]) or "nothing"
            raise DataError(f"The zip file should hold one table; it holds {listed}{' …' if len(inside) > 5 else ''}.")
        notes.append(f"{clean_name(chosen[0])} was taken out of the zip file.")
        data, name = unzip(data, chosen[0], limit), chosen[0].rsplit("/", 1)[-1]
    kind = kind_of(data)
    if kind in ("zip", "gzip"):
        raise DataError("The file holds an archive inside an archive. Unpack it and use the table inside.")
    if kind in _REFUSED:
        raise DataError(_REFUSED[kind])
    return data, name, notes
