"""Bytes: which kind of file they are, and the content of packed files, unpacked piece by piece up to a limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from imrc._checks import DataError
from imrc.tables._columns import clean_name

_CHUNK = 1 << 20
_MAX_DIRECTORY = 4 << 20
"""Bytes the list of files in a zip archive may take: it is read in one piece."""

_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"PAR1", "parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"<stata_dta>", "stata"),
    *(
        (bytes((version, order, 1)), "stata")
        for version in (104, 105, 108, 110, 111, 113, 114, 115)
        for order in (1, 2)
    ),
    (b"RDX2\n", "r"),
    (b"RDX3\n", "r"),
    (b"RDA2\n", "r"),
    (b"RDA3\n", "r"),
    (b"X\n\x00\x00\x00", "r"),
    (b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92", "sas"),
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
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"ARROW1", "feather"),
    (b"\x7fELF", "program"),
)
_PACKED = ("gzip", "bzip2", "xz")


_OPEN_DOCUMENT = "This is an OpenDocument spreadsheet. Save the sheet as CSV (File, Save as) and use that file."
_REFUSED = {
    "spss": "This is an SPSS file. Save it as CSV in SPSS (File, Save as), or with R: "
    "write.csv(haven::read_sav(FILE), OUT, row.names = FALSE).",
    "stata": "This is a Stata file. Save it as CSV in Stata: export delimited using OUT.csv.",
    "r": "This is a file of R objects. Save the data frame as CSV in R: write.csv(FRAME, OUT, row.names = FALSE).",
    "sas": "This is a SAS file. Save it as CSV in SAS with PROC EXPORT.",
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


def _unpacked(pieces: Iterator[bytes], limit: int, name: str) -> bytes:
    """Return pieces in one. What a file says about its size is not trusted: reading stops at the limit."""
    whole = io.BytesIO()
    for piece in pieces:
        if whole.tell() + len(piece) > limit:
            raise DataError(
                f"{name} unpacks to more than {limit >> 20:,} MB, which is the limit. "
                "Cut the table down or split it into several files."
            )
        whole.write(piece)
    return whole.getvalue()


def _pieces(stream: IO[bytes] | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK):
        yield piece


def _opened(data: bytes, kind: str) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    source = io.BytesIO(data)
    if kind == "gzip":
        return gzip.GzipFile(fileobj=source)
    return bz2.BZ2File(source) if kind == "bzip2" else lzma.LZMAFile(source)


def unpack(data: bytes, kind: str, limit: int) -> bytes:
    """Return what a packed file holds, at most `limit` bytes; raise DataError beyond or if it is damaged.

    Examples
    --------
    >>> unpack(gzip.compress(b"x,y"), "gzip", 100)
    b'x,y'
    """
    try:
        with _opened(data, kind) as stream:
            return _unpacked(_pieces(stream), limit, f"The {kind} file")
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"The {kind} file is damaged or cut short ({_reason(error)}).") from None


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0][:150].rstrip(".") if str(error) else "its end is missing"


def _damaged(error: Exception) -> DataError:
    return DataError(f"The zip file is damaged or cut short ({_reason(error)}).")


def _check_directory(data: bytes) -> None:
    """Refuse an archive whose list of files is long, before it is read."""
    end = data.rfind(b"PK\x05\x06")
    if end >= 0 and int.from_bytes(data[end + 12 : end + 16], "little") > _MAX_DIRECTORY:
        raise DataError("The zip file holds many thousands of files. It should hold one table.")


def members(data: bytes) -> list[str]:
    """Return the names of the files in a zip archive, folders and hidden files left out."""
    _check_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [info.filename for info in archive.infolist()[:10_000] if info.filename and not info.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise _damaged(error) from None
    return [name for name in names if not name.rsplit("/", 1)[-1].startswith((".", "__MACOSX"))]


def unzip(data: bytes, member: str, limit: int) -> bytes:
    """Return one file of a zip archive, at most `limit` bytes; DataError if it is missing, encrypted or damaged."""
    _check_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(member) as stream:
            return _unpacked(_pieces(stream), limit, f"{member[:80]} in the zip file")
    except KeyError:
        inside = ", ".join(members(data)[:10]) or "nothing"
        raise DataError(f"The zip file does not hold {member}; it holds {inside}.") from None
    except NotImplementedError:
        raise DataError(
            f"{clean_name(member)} in the zip file is packed in a way that cannot be opened here. Unpack it and give "
            "the file inside, or pack it as an ordinary zip file (Deflate)."
        ) from None
    except RuntimeError:
        raise DataError("The zip file is encrypted. Unpack it first and give the file inside.") from None
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise _damaged(error) from None


def unwrap(data: bytes, name: str, limit: int) -> tuple[bytes, str, list[str]]:
    """Return the table in a file: its bytes, its name, and notes on how it was unpacked (once).

    Raises DataError if the file, or what is packed in it, is of a kind that is no table.
    """
    kind, notes = kind_of(data), []
    if kind in _PACKED:
        data, name = unpack(data, kind, limit), re.sub(r"\.(gz|bz2|xz)$", "", name, flags=re.IGNORECASE)
        notes.append(f"The file was unpacked from {kind}.")
    elif kind == "zip":
        inside = members(data)
        if "xl/workbook.xml" in inside:
            return data, name, notes
        if any(member.startswith("xl/") for member in inside):
            raise DataError("This is a binary Excel workbook. Save it as .xlsx or CSV and use that file.")
        if inside and all(member.endswith(".npy") for member in inside):
            raise DataError(_REFUSED["npz"])
        if "content.xml" in inside and "mimetype" in inside:
            raise DataError(_OPEN_DOCUMENT)
        tables = [member for member in inside if member.lower().endswith(_TABLES)]
        chosen = tables if len(tables) == 1 else inside
        if len(chosen) != 1:
            listed = ", ".join(clean_name(member) for member in inside[:5]) or "nothing"
            raise DataError(f"The zip file should hold one table; it holds {listed}{' …' if len(inside) > 5 else ''}.")
        notes.append(f"{clean_name(chosen[0])} was taken out of the zip file.")
        data, name = unzip(data, chosen[0], limit), chosen[0].rsplit("/", 1)[-1]
    kind = kind_of(data)
    if kind == "zip" or kind in _PACKED:
        raise DataError("The file holds an archive inside an archive. Unpack it and use the table inside.")
    if kind in _REFUSED:
        raise DataError(_REFUSED[kind])
    return data, name, notes
