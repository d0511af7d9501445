# ruff: noqa: E501 - one case per line reads best
"""Small files that unpack to much, lie, or never end: each must end in a table or a message."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np
import openpyxl
import pyarrow as pa

from tests.unit.known_files import stored, zipped

MB = 1 << 20


def _shared(value: bytes | str, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), pa.array([value]))


def _gzipped(row: bytes, rows: int) -> bytes:
    """Return so many million rows: each million is compressed to the same bytes, so that is done once."""
    packer, million, check = zlib.compressobj(1, wbits=-zlib.MAX_WBITS), row * MB, 0
    packed = packer.compress(million) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(rows):
        check = zlib.crc32(million, check)
    end = packer.flush() + struct.pack("<LL", check, rows * len(million))
    return b"\x1f\x8b\x08" + bytes(7) + packed * rows + end


def _nested() -> bytes:
    ends = pa.array([0, 5_000_000, 10_000_000, 20_000_000], pa.int32())
    lists = pa.ListArray.from_arrays(ends, pa.array(np.zeros(20_000_000, dtype=np.int8)))
    return stored(lists=lists, x=pa.array([1, 2, 3]), y=pa.array([0, 1, 0]))


def _book(change: Callable[[str, bytes], bytes | None], rows: int = 5) -> bytes:
    """Return a workbook whose parts were changed, or left out."""
    book, out = openpyxl.Workbook(), io.BytesIO()
    for i in range(rows):
        book.active.append(["x" if i == 0 else i, "y" if i == 0 else "ab"[i % 2]])
    book.save(out)
    with zipfile.ZipFile(out) as archive:
        parts = {name: change(name, archive.read(name)) for name in archive.namelist()}
    return zipped({name: part for name, part in parts.items() if part is not None})


def _sheet(*pairs: tuple[bytes, bytes], part: str = "sheet1.xml") -> bytes:
    def change(name: str, content: bytes) -> bytes:
        for old, new in pairs if name.endswith(part) else ():
            assert old in content
            content = content.replace(old, new)
        return content

    return _book(change)


STRINGS = "xl/sharedStrings.xml"
CELL = b'<c r="A2" t="n"><v>1</v></c>'
HEAD = b'<?xml version="1.0"?>'
NAMESPACE = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
LAUGHS = b'<!DOCTYPE x [<!ENTITY a "' + b"h" * 99 + b'">' + b"".join(
    b'<!ENTITY %c "%b">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9)
) + b"]>"  # fmt: skip


def _shared_string() -> bytes:
    sheet = b"".join(b'<row r="%d"><c r="A%d" t="s"><v>0</v></c></row>' % (i, i) for i in range(1, 5001))
    strings = HEAD + b"<sst " + NAMESPACE + b"><si><t>" + b"x" * MB + b"</t></si></sst>"

    def change(name: str, content: bytes) -> bytes:
        if name == STRINGS:
            return strings
        if not name.endswith("sheet1.xml"):
            return content
        return HEAD + b"<worksheet " + NAMESPACE + b"><sheetData>" + sheet + b"</sheetData></worksheet>"

    return _book(change)


def _flagged(data: bytes, at: int, to: bytes) -> bytes:
    """Change bytes of the local header and of the directory of a zip file with one member."""
    changed = bytearray(data)
    for start, shift in ((data.find(b"PK\x03\x04"), 0), (data.find(b"PK\x01\x02"), 2)):
        changed[start + at + shift : start + at + shift + len(to)] = to
    return bytes(changed)


def _arff(attributes: list[str], row: str, rows: int) -> bytes:
    head = ["@relation t", *(f"@attribute {line}" for line in attributes), "@data"]
    return ("\n".join(head) + "\n" + (row + "\n") * rows).encode()


CSV = b"x,y\n" + b"1,a\n2,b\n" * 20
XLS = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
HOSTILE: dict[str, Callable[[], bytes]] = {
    # packed
    "zip of 300 MB": lambda: zipped({"a.csv": b"0," * (150 * MB)}),
    "gzip of 300 MB": lambda: _gzipped(b"0,", 150),
    "gzip of many members": lambda: gzip.compress(b"x,y\n1,a\n") * 50_000,
    "zip in a zip": lambda: zipped({"a.csv": zipped({"b.csv": CSV})}),
    "zip with LZMA, dictionary of 4 GB": lambda: _flagged(zipped({"a.csv": b"\x09\x04\x05\0]\xff\xff\xff\xff" + bytes(60)}), 8, b"\x0e\0"),
    "zip of 70,000 files": lambda: zipped({"a.csv": b""}, times=70_000),
    "encrypted zip": lambda: _flagged(zipped({"a.csv": CSV}), 6, b"\x01\0"),
    "zip cut short": lambda: zipped({"a.csv": CSV})[:-30],
    "gzip cut short": lambda: gzip.compress(CSV * 1000)[:-30],
    "gzip of a gzip": lambda: gzip.compress(gzip.compress(CSV)),
    # workbooks
    "far cell": lambda: _sheet((CELL, b'<c r="XFD1048576" t="n"><v>1</v></c>')),
    "far cell in small letters": lambda: _sheet((CELL, b'<c r="xfd1048576" t="n"><v>1</v></c>')),
    "far cell with blanks": lambda: _sheet((CELL, b'<c r = "XFD1048576" t="n"><v>1</v></c>')),
    "many far cells": lambda: _sheet((CELL, b"".join(b'<c r="XFD%d"><v>1</v></c>' % i for i in range(1, 1_000_000, 9999)))),
    "merged to the far end": lambda: _sheet((b"</sheetData>", b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>')),
    "a hundred thousand merged": lambda: _sheet((b"</sheetData>", b"</sheetData><mergeCells>" + b'<mergeCell ref="A1:B5"/>' * 100_000 + b"</mergeCells>")),
    "sheet of 300 MB": lambda: _sheet((b"</sheetData>", b"</sheetData>" + b" " * (300 * MB))),
    "deep XML": lambda: _sheet((CELL, b"<c>" * 1_000_000)),
    "billion laughs": lambda: _sheet((b"<worksheet", LAUGHS + b"<worksheet"), (b"<v>1</v>", b"<v>&j;</v>")),
    "outside entity": lambda: _sheet((b"<worksheet", b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><worksheet'), (b"<v>1</v>", b"<v>&a;</v>")),
    "4 billion shared strings": lambda: _book(lambda name, content: HEAD + b"<sst " + NAMESPACE + b' count="4000000000" uniqueCount="4000000000"></sst>' if name == STRINGS else content),
    "a shared string of 1 MB, 5,000 times": _shared_string,
    "shared string that is not there": lambda: _sheet((CELL, b'<c r="A2" t="s"><v>4000000000</v></c>')),
    "no sheet": lambda: _book(lambda name, content: None if "sheet1.xml" in name else content),
    "xls of zeros": lambda: XLS + bytes(600),
    "xls of ones": lambda: XLS + b"\xff" * 2048,
    "xls with a loop": lambda: XLS + bytes(16) + b"\x3e\0\x03\0\xfe\xff\x09\0\x06\0" + bytes(10) + b"\x01\0\0\0" + bytes(12) + b"\0\x10\0\0" + bytes(8) + b"\0\0\0\0" * 110 + bytes(1024),
    # Parquet
    "lists of 20 million": _nested,
    "bytes of 16 MB": lambda: stored(b=_shared(b"x" * (16 * MB), 500), y=pa.array(np.arange(500) % 2)),
    "text of 16 MB, 70,000 times": lambda: stored(b=_shared("x" * (16 * MB), 70_000), y=pa.array(np.arange(70_000) % 2)),
    "text of 100 kB, 200,000 times": lambda: stored(b=_shared("x" * 100_000, 200_000), y=pa.array(np.arange(200_000) % 2)),
    "3 million rows": lambda: stored(x=pa.array(np.zeros(3_000_000, np.int8)), y=pa.array(np.ones(3_000_000, np.int8))),
    "Parquet cut short": lambda: stored(x=pa.array([1, 2]), y=pa.array([0, 1]))[:-40],
    "6,000 columns": lambda: stored(**{f"c{i}": pa.array([1, 2]) for i in range(6_000)}),
    # text
    "a line of 60 MB": lambda: b"1," * (30 * MB),
    "a name of 60 MB": lambda: b"x" * (60 * MB) + b",y\n1,a\n2,b\n",
    "only quotation marks": lambda: b'"' * (60 * MB),
    "a mark that never closes": lambda: b'x,y\n1,"a\n' + b"1,a\n" * (10 * MB),
    "64 million rows": lambda: _gzipped(b"1,2\n", 60),
    "old ends of lines": lambda: _gzipped(b"1,2\r", 60),
    "only separators": lambda: _gzipped(b",\n", 100),
    "1.5 million rows that do not fit": lambda: b"a,b,c\n" + b"1,2\n" * 1_500_000,
    "a million stray ends": lambda: b"a,b\n" + b"1,2,\n" * 1_000_000,
    "5,000 empty columns": lambda: b",".join(b"c%d" % j for j in range(5000)) + b"\n" + (b"," * 4999 + b"\n") * 12_000,
    "60 MB that are no UTF-8": lambda: b"x,y\n" + b"\xe9,\xe8\n" * (15 * MB // 2),
    "UTF-16": lambda: ("x,y\n" + "1,é\n2,b\n" * 2_500_000).encode("utf-16"),
    "two million words": lambda: b"x,y\n" + b"".join(b"w%d,%d\n" % (i * 7919, i % 2) for i in range(1_900_000)),
    "cells of digits and commas": lambda: b"x\ty\n" + (b"1," * 100_000 + b"\ta\n" + b"1." * 100_000 + b"\tb\n") * 6,
    "two million dates": lambda: b"d,x,y\n" + b"31.12.2020 23:59:59,1.234,yes\n" * 1_900_000,
    "dates of every kind": lambda: b"d,y\n" + b"".join(b"%d/%d/%d,%d\n" % (i % 28 + 1, i % 12 + 1, i % 9000, i % 2) for i in range(900_000)),
    "ARFF, value of 1 MB": lambda: _arff(["a {" + "x" * MB + ",b}", "y {u,v}"], "b,u", 200_000),
    "ARFF, header of 60 MB": lambda: b"@relation t\n" + b"@attribute a numeric\n" * (3 * MB) + b"@data\n1\n",
    "sparse ARFF": lambda: _arff([f"a{j} numeric" for j in range(3000)], "{1 1}", 60_000),
}  # fmt: skip

# Only the limits of the process that reads end these.
ENDLESS = {"far cell", "far cell in small letters", "far cell with blanks", "many far cells", "xls with a loop"}
ENDLESS |= {"64 million rows", "old ends of lines", "only separators", "5,000 empty columns"}
