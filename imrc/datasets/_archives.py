"""What kind of file some bytes are, and what is inside zip and gzip wrappers, within a limit on size."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

from imrc.datasets.errors import DataError

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


def _limited(read_size: int, limit: int, name: str) -> None:
    if read_size > limit:
        raise DataError(
            f"{name} unpacks to more than {limit >> 20:,} MB, which is the limit. "
            "Cut the table down or split it into several files."
        )


def gunzip(data: bytes, limit: int) -> bytes:
    """Return what a gzip file holds, at most `limit` bytes; raise DataError beyond or if it is damaged."""
    parts, total = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while chunk := stream.read(_CHUNK):
                total += len(chunk)
                _limited(total, limit, "The gzip file")
                parts.append(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"The gzip file is damaged or cut short ({error}).") from None
    return b"".join(parts)


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

    What the archive says about sizes is not trusted: reading stops at the limit.

    Raises
    ------
    DataError
        If there is no such file, it is larger, encrypted or damaged.
    """
    parts, total = [], 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(member) as stream:
            while chunk := stream.read(_CHUNK):
                total += len(chunk)
                _limited(total, limit, f"{member[:80]} in the zip file")
                parts.append(chunk)
    except KeyError:
        inside = ", ".join(members(data)[:10]) or "nothing"
        raise DataError(f"The zip file does not hold {member}; it holds {inside}.") from None
    except RuntimeError:
        raise DataError("The zip file is encrypted. Unpack it first and give the file inside.") from None
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, zlib.error) as error:
        raise DataError(f"The zip file is damaged or cut short ({error}).") from None
    return b"".join(parts)
