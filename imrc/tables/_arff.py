"""ARFF: header and data rows, dense or sparse, to columns of strings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from imrc._checks import DataError
from imrc.tables._text import MAX_COLUMNS, TextTable, check_before, check_size, parse_delimited

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(.*)", re.IGNORECASE)
_MAX_HEADER = 16 << 20
_VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)""")


@dataclass(frozen=True)
class Attribute:
    """One attribute of the header; the values of a nominal one, none of the others."""

    name: str
    values: tuple[str, ...] = ()


def _unquote(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _attribute(line: str, number: int) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise DataError(f"Line {number} of the ARFF header cannot be read: {line[:80]!r}.")
    name, kind = _unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        inside = kind[1:].rsplit("}", 1)[0]
        # The pattern also matches the empty rest of the line; that is not a value.
        values = [_unquote(value) for value in _VALUE.findall(inside) if value.strip()]
        return Attribute(name, tuple(values))
    word = kind.split(" ")[0].lower()
    if word in ("numeric", "real", "integer", "date", "string", ""):
        return Attribute(name)
    raise DataError(f"Line {number} of the ARFF header: attributes of type {word[:30]!r} cannot be read.")


def _header(data: bytes) -> tuple[list[Attribute], bytes]:
    mark = re.search(rb"(?im)^[ \t]*@data[ \t]*(?:%[^\r\n]*)?\r?$", data)
    if mark is None:
        raise DataError("The ARFF file has no @DATA line: it is cut short or another kind of file.")
    if mark.start() > _MAX_HEADER:
        raise DataError(f"The header of the ARFF file has more than {_MAX_HEADER >> 20} MB; that is too much.")
    attributes = []
    for number, raw in enumerate(re.split(rb"\r\n|\n|\r", data[: mark.start()]), start=1):
        line = raw.decode("utf-8", errors="replace").strip()
        if not line or line.startswith("%") or line.lower().startswith("@relation"):
            continue
        attributes.append(_attribute(line, number))
        if len(attributes) > MAX_COLUMNS:
            raise DataError(f"The ARFF file has more than {MAX_COLUMNS:,} attributes; that is too many.")
    if not attributes:
        raise DataError("The ARFF file has no @ATTRIBUTE lines.")
    return attributes, data[mark.end() :]


_PAIR = re.compile(r"""\s*([^\s,'"{}]+)\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)""")


def _from_sparse(body: bytes, attributes: list[Attribute]) -> tuple[pa.Array, ...]:
    """Return the columns of sparse rows ``{3 1, 7 x}``; what is not named is 0 or the first nominal value.

    Columns are dictionaries: a long value that many rows share stands in memory once.
    """
    import pyarrow as pa

    check_size(body.count(b"\n") + (not body.endswith(b"\n")), len(attributes))
    rows = [line for line in body.split(b"\n") if line.strip()]
    codes = np.zeros((len(attributes), len(rows)), dtype=np.int32)
    words: list[dict[str, int]] = [{a.values[0] if a.values else "0": 0} for a in attributes]
    for row, raw in enumerate(rows):
        line = raw.decode("utf-8", errors="replace").strip()
        where = f"Data row {row + 1:,} of the ARFF file"
        if not (line.startswith("{") and line.endswith("}")):
            raise DataError(f"{where} should stand in braces, as the first one does.")
        text, at = line[1:-1].strip(), 0
        while at < len(text):
            pair = _PAIR.match(text, at)
            if pair is None:
                raise DataError(f"{where} cannot be read from {text[at : at + 30]!r} on.")
            position, value, at = pair[1], _unquote(pair[2]), pair.end()
            if not (position.isascii() and position.isdecimal() and len(position) < 8):
                raise DataError(f"{where} names attribute {position[:20]!r}; a whole number from 0 is needed.")
            j = int(position)
            if j >= len(attributes):
                raise DataError(
                    f"{where} names attribute {j}, which does not exist: the header has {len(attributes)}, counted "
                    "from 0."
                )
            codes[j, row] = words[j].setdefault(value, len(words[j]))
    return tuple(pa.DictionaryArray.from_arrays(codes[j], list(words[j])) for j in range(len(attributes)))


def parse_arff(data: bytes) -> tuple[list[str], TextTable]:
    r"""Return names and columns of ARFF text (UTF-8 bytes); raise DataError that names the line or row at fault.

    "?" is a missing value. A row with a stray comma at its end is mended (one published file has such a row).

    Examples
    --------
    >>> names, table = parse_arff(b"@relation t\n@attribute x numeric\n@attribute c {a,b}\n@data\n1,a\n2,b,\n")
    >>> names, table.columns[1].to_pylist(), table.mended
    (['x', 'c'], ['a', 'b'], 1)
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    attributes, body = _header(data)
    names = [attribute.name for attribute in attributes]
    body = re.sub(rb"(?m)^[ \t]*%[^\n]*\n?", b"", body).lstrip(b"\n \t")
    if not body.strip():
        raise DataError("The ARFF file has a header but no data rows.")
    if body.startswith(b"{"):
        return names, TextTable(_from_sparse(body, attributes))
    quote = "'" if b"'" in body and b'"' not in body else '"'
    # The first row may be the one with the stray comma, and rows must fit the header: a first line of empty cells
    # fixes the number of cells.
    width = b"," * (len(attributes) - 1) if len(attributes) > 1 else quote.encode() * 2
    body = width + b"\n" + body
    check_before(body, ",", quote)
    try:
        parsed = parse_delimited(body, ",", quote=quote)
    except DataError as error:
        text = str(error).replace("The first line of the file has", "The ARFF header names")
        raise DataError(text.replace("cells, but", "attributes, but")) from None
    return names, TextTable(tuple(column.slice(1) for column in parsed.columns), parsed.mended)
