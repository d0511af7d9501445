"""ARFF: header and data rows, dense or sparse, to columns of strings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imrc._checks import DataError
from imrc.tables._text import MAX_COLUMNS, TextTable, parse_delimited

_NAME = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(.*)", re.IGNORECASE)
_VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)""")


@dataclass(frozen=True)
class Attribute:
    """One attribute of the header.

    Attributes
    ----------
    name : str
        Its name.
    values : tuple of str
        The values of a nominal attribute; empty for the others.
    """

    name: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArffTable:
    """What an ARFF file holds.

    Attributes
    ----------
    attributes : tuple of Attribute
        The header.
    table : TextTable
        One column of strings per attribute; "?" is a missing value.
    """

    attributes: tuple[Attribute, ...]
    table: TextTable


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


def _dense_from_sparse(body: bytes, attributes: list[Attribute]) -> bytes:
    """Write sparse rows ``{3 1, 7 x}`` out in full; what is not named is 0 or the first nominal value."""
    defaults = ["0" if not a.values else a.values[0] for a in attributes]
    if body.count(b"\n") * len(attributes) > 20_000_000:
        raise DataError("The sparse ARFF file is too large to be written out in full (20 million cells at most).")
    rows = []
    for number, raw in enumerate(body.decode("utf-8", errors="replace").splitlines(), start=1):
        line = raw.strip()
        if not line:
            continue
        cells = list(defaults)
        for part in line.strip("{}").split(","):
            if not part.strip():
                continue
            position, _, value = part.strip().partition(" ")
            if not position.isdigit() or int(position) >= len(cells):
                raise DataError(
                    f"Data row {number} of the ARFF file names attribute {position[:20]!r}, which does not exist."
                )
            cells[int(position)] = _unquote(value)
        rows.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
    return "\n".join(rows).encode() + b"\n"


def parse_arff(data: bytes) -> ArffTable:
    r"""Parse ARFF text (UTF-8 bytes).

    A row with a stray comma at its end is mended (one published file has such a row).

    Raises
    ------
    DataError
        If header or rows cannot be read; the message names line or row.

    Examples
    --------
    >>> arff = parse_arff(b"@relation t\n@attribute x numeric\n@attribute c {a,b}\n@data\n1,a\n2,b,\n")
    >>> [attribute.name for attribute in arff.attributes], arff.table.columns[1].to_pylist(), arff.table.mended
    (['x', 'c'], ['a', 'b'], 1)
    """
    attributes, body = _header(data)
    body = re.sub(rb"(?m)^[ \t]*%[^\r\n]*\r?\n?", b"", body).lstrip(b"\r\n \t")
    if not body.strip():
        raise DataError("The ARFF file has a header but no data rows.")
    quote = '"'
    if body.startswith(b"{"):
        body = _dense_from_sparse(body, attributes)
    elif b"'" in body and b'"' not in body:
        quote = "'"
    # The first row may be the one with the stray comma, and rows must fit the header: a first line of empty cells
    # fixes the number of cells.
    width = b"," * (len(attributes) - 1) if len(attributes) > 1 else quote.encode() * 2
    try:
        parsed = parse_delimited(width + b"\n" + body, ",", quote=quote)
    except DataError as error:
        text = str(error).replace("The first line of the file has", "The ARFF header names")
        raise DataError(text.replace("cells, but", "attributes, but")) from None
    table = TextTable(tuple(column.slice(1) for column in parsed.columns), parsed.mended)
    return ArffTable(tuple(attributes), table)
