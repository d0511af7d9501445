"""From a file to a `Table`: bytes, text, cells, columns. Nothing is written to disk or executed."""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import hashlib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from imrc._checks import DataError
from imrc._types import Ints
from imrc.tables.cells import (
    MISSING,
    Column,
    Reading,
    clean_name,
    decimal_mark,
    is_readable,
    looks_like_value,
    plain_number,
    understand,
    unique_names,
)
from imrc.tables.packed import OTHER, members, unwrap, unzip
from imrc.wording import listed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MAX_FILE_BYTES = 64 << 20
MAX_UNPACKED_BYTES = 256 << 20
MAX_ROWS = 2_000_000
MAX_COLUMNS = 5000
MAX_CELLS = 25_000_000
LIMITS_IN_WORDS = (
    f"At most {MAX_FILE_BYTES >> 20} MB ({MAX_UNPACKED_BYTES >> 20} MB unpacked), {MAX_ROWS:,} rows, "
    f"{MAX_COLUMNS:,} columns and {MAX_CELLS // 10**6} million cells."
)
PREVIEW_ROWS = 20
_CHUNK = 1 << 22
_MOST_NAMED = 100_000
_MOST_EXACT = 10**15
_TOTAL = r"(?i)^(grand |sub)?(total|totals|sum|gesamt|summe|gesamtsumme)\b:?$"


@dataclass(frozen=True, eq=False)
class Table:
    """The user's own table, with the content of its columns determined.

    `format` is, for example, "CSV, cells separated by semicolons, UTF-8"; `notes` say what was decided while reading,
    `preview` holds the first rows as they stand in the file, safe to show; `choices` are the readings of the file: for
    each option of `Reading` that makes a difference the value taken, then the others.
    """

    name: str
    columns: tuple[Column, ...]
    n_rows: int
    format: str
    notes: tuple[str, ...] = ()
    preview: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    sha256: str = ""
    choices: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, which: str | int) -> Column:
        """Return a column by name or position; DataError lists the names.

        A text that is no name but a whole number counts from 1, as people do; with a minus, from the end.
        """
        if isinstance(which, int | np.integer) and not isinstance(which, bool):
            if -len(self.columns) <= which < len(self.columns):
                return self.columns[int(which)]
            raise DataError(f"There is no column number {which}; the table has {len(self.columns)} columns.")
        for column in self.columns:
            if column.name in (which, clean_name(which)):
                return column
        if re.fullmatch(r"-?[1-9]\d{0,5}", str(which)) and abs(place := int(which)) <= len(self.columns):
            return self.columns[place - 1 if place > 0 else place]
        raise DataError(
            f"There is no column {str(which)[:60]!r}. The table has {len(self.columns):,}: "
            f"{listed([repr(name) for name in self.names], 60)}. A number from 1 to {len(self.columns):,} names one by "
            "its place."
        )

    def as_read(self) -> tuple[tuple[str, ...], ...]:
        """Return the first rows as they were understood, "" where a cell counts as missing."""
        return tuple(zip(*(column.words(len(self.preview)).tolist() for column in self.columns), strict=True))


@dataclass
class _Raw:
    """Names and cells (arrays of pyarrow) before they are understood."""

    names: list[str]
    cells: list[Any]
    format: str
    notes: list[str] = field(default_factory=list)
    mark: str = ""
    marked: bool = False
    choices: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    rows: Ints | None = None


def check_size(rows: int, columns: int) -> None:
    """Raise DataError for a table that is larger than the limits."""
    if columns > MAX_COLUMNS:
        raise DataError(f"The table has {columns:,} columns. {LIMITS_IN_WORDS}")
    if rows > MAX_ROWS or rows * columns > MAX_CELLS:
        raise DataError(f"The table has {rows:,} rows and {columns:,} columns. {LIMITS_IN_WORDS} Keep fewer of them.")


# Text


def _recoded(data: bytes, encoding: str, errors: str) -> bytes:
    """Return a text as UTF-8, piece by piece: as one string it may take four times the memory."""
    decoder, whole = codecs.getincrementaldecoder(encoding)(errors), io.BytesIO()
    for start in range(0, len(data), _CHUNK):
        try:
            whole.write(decoder.decode(data[start : start + _CHUNK], start + _CHUNK >= len(data)).encode())
        except UnicodeError:
            raise DataError(
                f"The file is written in {encoding.upper()} but a byte near number {start + 1:,} does not fit. Save it "
                "again as UTF-8."
            ) from None
        if whole.tell() > MAX_UNPACKED_BYTES:
            raise DataError(f"The text takes more than {MAX_UNPACKED_BYTES >> 20} MB as UTF-8. {LIMITS_IN_WORDS}")
    return whole.getvalue()


def decode(data: bytes) -> tuple[bytes, str, list[str]]:
    """Return the text as UTF-8 bytes without mark, the name of the encoding it was in, and notes on what was guessed.

    >>> decode("a;b".encode("utf-16"))
    (b'a;b', 'UTF-16', [])
    """
    import pyarrow as pa

    head, encoding, notes = data[:4096], "UTF-8", []
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if wide or head.count(0) > len(head) // 4:  # every other byte of Latin text in UTF-16 is zero
        order = "le" if head[1::2].count(0) > head[::2].count(0) else "be"
        data, encoding = _recoded(data, "utf-16" if wide else f"utf-16-{order}", "strict"), "UTF-16"
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        ends = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(data)]).validate(full=True)
    except pa.ArrowInvalid:
        letters = rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|([\x80-\xff])"
        bad, good = [], 0
        for found in re.finditer(letters, data):
            bad += [found.start()] if found[1] else []
            good += not found[1]
            if len(bad) > 1000:
                break
        if len(bad) <= min(good, 1000):  # more letters that are UTF-8 are no accident
            end = b"\n" if b"\n" in data else b"\r"
            lines = sorted({data.count(end, 0, place) + 1 for place in bad[:20]})
            where = ", ".join(f"{line:,}" for line in lines[:5]) + (" and others" if len(lines) > 5 else "")
            data = _recoded(data, "utf-8", "backslashreplace")
            notes.append(
                f"The file is UTF-8, but line{'s' * (len(lines) > 1)} {where} of it (the first is line 1) "
                f"hold{'s' * (len(lines) == 1)} bytes that are not; they are shown by their numbers. "
                "Correct them, or save the file again as UTF-8."
            )
        else:
            data, encoding = _recoded(data, "cp1252", "backslashreplace"), "Windows-1252"
            word = re.search(r"[^\W\d_]*[^\x00-\x7f][^\W\d_]*", data[: 1 << 18].decode(errors="ignore"))
            notes.append(
                "The file is not UTF-8 and does not say how its letters are written; they were read as Windows-1252"
                f"{f', for example {word[0][:30]!r}' if word else ''}. If they look wrong, save it again as UTF-8."
            )
    if b"\0" in data:
        raise DataError(OTHER)
    return data.removeprefix("\ufeff".encode()), encoding, notes


def sniff_delimiter(data: bytes, preferred: str = "") -> str:
    r"""Return the delimiter that cuts the first lines into the same number of cells; "" if there is none.

    >>> sniff_delimiter(b"a;b\n1,5;2\n3,1;4\n")
    ';'
    """
    text = re.sub(r'"(?:[^"]|"")*"', "q", data[: 1 << 16].decode(errors="ignore"))  # what is in quotes does not count
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()]
    lines = lines[: -1 if len(lines) > 2 and len(data) > 1 << 16 else None][:200]
    best, best_score = "", 0.0
    for delimiter in ",;\t":
        counts = [line.count(delimiter) for line in lines]
        usual = max(set(counts), key=lambda value: (counts.count(value), value)) if counts else 0
        # The same count in every line is worth most; more cells break ties; the file's ending tells a little.
        score = (
            counts.count(usual) / len(counts) + min(usual, 50) * 1e-4 + 0.05 * (delimiter == preferred) if usual else 0
        )
        score -= 0.5 * (bool(counts) and counts[0] == 0)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _first_cells(data: bytes, delimiter: str, quote: str) -> int:
    """Return the number of cells in the first line that is not empty."""
    text = io.StringIO(data[:_CHUNK].decode(errors="ignore"), newline="")
    csv.field_size_limit(_CHUNK)
    quoting: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    try:
        cells = next((len(row) for row in csv.reader(text, delimiter=delimiter, **quoting) if row), 0)
    except csv.Error as error:
        raise DataError(f"The first line of the file cannot be read ({error}).") from None
    if cells > MAX_COLUMNS:
        raise DataError(f"The first line of the file has more than {MAX_COLUMNS:,} cells; that is too many.")
    return cells


def _parsed(data: bytes, delimiter: str, quote: str, n_columns: int) -> tuple[pa.Table, list[Any]]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    bad: list[Any] = []

    def invalid(row: Any) -> str:  # noqa: ANN401 - pyarrow's row object
        if len(bad) < _MOST_NAMED:
            bad.append(row)
        return "skip"

    names = [f"f{i}" for i in range(n_columns)]
    marks = {"delimiter": delimiter, "quote_char": quote or False, "double_quote": bool(quote)}
    words = dict.fromkeys(names, pa.string())

    def table_of(block: int, *, threads: bool = False) -> pa.Table:
        bad.clear()
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=threads, block_size=block, column_names=names),
            arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=invalid, **marks),
            arrow_csv.ConvertOptions(column_types=words, strings_can_be_null=False, check_utf8=False),
        )

    # Piece by piece takes half the memory, but a row must fit into two of them. For each column room for a whole piece
    # is set aside, so pieces of wide tables are smaller. Rows that do not fit have numbers in one thread only.
    block = 1 << 23 if n_columns <= 100 else 1 << 21
    if len(data) > 2 * block:
        try:
            table = table_of(block, threads=True)
            return table_of(block) if bad else table, bad
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise
    return table_of(len(data) + 16), bad


def _without_stray_end(data: bytes, bad: Sequence[Any], delimiter: str, quote: str, n_columns: int) -> bytes | None:
    """Remove one delimiter at the end of rows that have one cell too many; None if rows fail otherwise."""
    for row in bad:
        if row.actual_columns != row.expected_columns + 1 or not row.text.rstrip("\r\n ").endswith(delimiter):
            return None
    wanted = {row.text.strip("\r\n").encode() for row in bad}
    mark, lines = delimiter.encode(), data.splitlines(keepends=True)
    for number, line in enumerate(lines):
        body = line.strip(b"\r\n")
        plain = line.count(mark) == n_columns and body.endswith(mark) and not (quote and quote.encode() in line)
        if plain or body in wanted:
            lines[number] = body.rstrip(b" ")[: -len(mark)] + b"\n"
    return b"".join(lines)


def parse_delimited(data: bytes, delimiter: str, *, quote: str = '"', header_lines: int = 1) -> tuple[list[Any], int]:
    """Return UTF-8 text as columns of strings, and how many rows lost a delimiter at their end.

    Every row needs as many cells as the first; else DataError names rows. Cells may stand in quotation marks (`quote`,
    empty for none), doubled inside them. Row numbers in messages do not count the first `header_lines`.
    """
    import pyarrow as pa

    n_columns, mended = _first_cells(data, delimiter, quote), 0
    if not quote or quote.encode() not in data:  # the size is known before anything is made
        returns = data.count(b"\r") if b"\r" in data[:_CHUNK] else 0
        rows = data.count(b"\n") + returns - (data.count(b"\r\n") if returns else 0)
        cells = data.count(delimiter.encode()) + rows
        if rows > MAX_ROWS + 1 or cells > MAX_CELLS + n_columns:
            check_size(rows - header_lines, max(n_columns, cells // rows))
    try:
        table, bad = _parsed(data, delimiter, quote, n_columns)
        if bad and (repaired := _without_stray_end(data, bad, delimiter, quote, n_columns)) is not None:
            data, mended = repaired, len(bad)
            table, bad = _parsed(data, delimiter, quote, n_columns)
    except pa.ArrowInvalid as error:
        raise DataError(f"The table cannot be read: {str(error).splitlines()[0][:200]}.") from None
    if bad:
        count = f"{len(bad) - 3:,}" if len(bad) < _MOST_NAMED else f"at least {len(bad) - 3:,}"
        named = ", ".join(
            f"{f'row {row.number - header_lines:,}' if row.number else 'a row'} has {row.actual_columns} "
            f"cell{'s' * (row.actual_columns != 1)}"
            for row in bad[:3]
        )
        raise DataError(
            f"The first line of the file has {n_columns} cells, but {named}"
            f"{f' and {count} more rows do not fit' if len(bad) > 3 else ''}. Every row needs the same number of cells "
            "(rows are counted below the header). Look for a missing or extra separator, or for a quotation mark that "
            "is not closed."
        )
    columns = table.columns
    if quote and data.count(quote.encode()) % 2 and any("\n" in str(column[-1]) for column in columns if len(column)):
        raise DataError(
            f"A quotation mark in row {table.num_rows - header_lines:,} is not closed before the file ends."
        )
    del table, data
    for j, column in enumerate(columns):  # one after the other: the pieces of each are dropped when they are one
        columns[j] = column.combine_chunks()
    return columns, mended


def _first_row_is_data(first: Sequence[str], below: Sequence[Sequence[str]]) -> tuple[bool, bool]:
    """Return whether a first row is data, and whether it could be taken either way.

    It is if each of its cells fits the column below: a number, date or mark for missing where these are, a word that
    also stands below in a column of words.
    """
    below = [[cell.strip() for cell in cells] for cells in below]
    others = [row for row in zip(*below, strict=True) if list(row) != list(first)]
    if not others:
        return all(map(looks_like_value, first)), False
    values, fits, words = 0, True, 0
    for cell, column in zip(first, zip(*others, strict=True), strict=True):
        there = [other for other in column if other.lower() not in MISSING]
        is_value = looks_like_value(cell) or (cell != "" and cell.lower() in MISSING)
        values += is_value
        numbers = sum(map(looks_like_value, there)) > 0.8 * len(there)
        if numbers or is_value or cell == "":
            fits &= is_value or cell == ""
        elif cell not in there:
            different = len(set(there))
            fits &= different > 0.5 * len(there) and different > 5  # a name or an identifier, new in every row
            words += 1
    return fits and (values > 0 or words == 0), values > 0


def _headed(raw: _Raw, reading: Reading) -> _Raw:
    """Take the names of columns from the first row unless it is data, and leave out rows that are none; note it."""
    first = [str(column[0]).strip() for column in raw.cells]
    most = 1 + min(200, 200_000 // len(raw.cells))
    data, unsure = _first_row_is_data(first, [column.slice(1, most).to_pylist() for column in raw.cells])
    if reading.header is not None:
        data = not reading.header
    elif data:
        kind = "numbers only" if all(map(looks_like_value, first)) else "values like those below"
        raw.notes.append(
            f"The first row holds {kind}, so it is read as data; header=True takes names of columns from it."
        )
    elif unsure:
        seen = listed([repr(clean_name(cell)) for cell in first if looks_like_value(cell)], 3)
        raw.notes.append(f"Names of columns were taken from the first row, also {seen}; header=False reads it as data.")
    if unsure or data or reading.header is not None:
        raw.choices["header"] = (not data, data)
    raw.names = [f"column {j + 1}" for j in range(len(first))] if data else first
    if not data:
        raw.cells = [column.slice(1) for column in raw.cells]
        _leave_out(raw, first)
    return raw


def _leave_out(raw: _Raw, first: list[str]) -> None:
    """Leave out rows below the header that are none: the header again, units, comments, totals at the end."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_rows = len(raw.cells[0])
    if n_rows < 3 or len(first) < 2:
        return
    gone = np.zeros(n_rows, dtype=bool)

    def cells(row: int) -> list[str]:
        return [str(column[row]).strip() for column in raw.cells]

    def drop(rows: Ints, why: str) -> None:
        gone[rows] = True
        numbers = listed([f"{row + 1:,}" for row in rows], 3)
        raw.notes.append(f"{len(rows):,} row{'s' * (len(rows) > 1)} left out (row {numbers}): {why}.")

    def where(fits: Callable[[int, pa.Array], pa.Array]) -> Ints:
        """Return the rows all of whose cells fit."""
        found = np.ones(n_rows, dtype=bool)
        for j, column in enumerate(raw.cells):
            found &= np.asarray(fits(j, column).to_numpy(zero_copy_only=False))
            if not found.any():
                break
        return np.flatnonzero(found)

    if (again := where(lambda j, column: pc.equal(pc.utf8_trim_whitespace(column), first[j]))).size:
        drop(again, "the same as the first line, with the names of the columns")
    below = [column.slice(1, 200).to_pylist() for column in raw.cells]
    numbers = [sum(map(looks_like_value, column)) > 0.8 * len(column) for column in below]
    top = cells(0)
    odd = [cell != "" and cell.lower() not in MISSING and not looks_like_value(cell) for cell in top]
    columns = list(zip(top, odd, numbers, below, strict=True))
    fits = all(cell == "" or (strange if number else cell not in there) for cell, strange, number, there in columns)
    if fits and not gone[0] and any(strange and number for _, strange, number, _ in columns):
        named = listed([repr(clean_name(cell)) for cell in top if cell], 3)
        drop(np.array([0]), f"it looks like units or kinds of columns ({named})")
    lonely = where(lambda j, column: pc.equal(column, "") if j else pc.not_equal(column, ""))[:10_000]
    alone = [row for row in lonely if not gone[row] and not looks_like_value(cells(row)[0])]
    if len(first) > 2 and 0 < len(alone) < 0.2 * n_rows:
        drop(np.array(alone), f"only the first cell is filled ({clean_name(cells(alone[0])[0])!r})")
    for row in range(n_rows - 1, max(n_rows - 4, 0), -1):
        totals = [(j, cell) for j, cell in enumerate(cells(row)) if re.match(_TOTAL, cell)]
        if not gone[row] and any(pc.sum(pc.equal(raw.cells[j], cell)).as_py() == 1 for j, cell in totals):
            drop(np.array([row]), "a total")
    if gone.any():
        raw.rows = np.flatnonzero(~gone)
        raw.cells = [column.filter(pa.array(~gone)) for column in raw.cells]


def _unquoted(raw: _Raw) -> None:
    """Take off quotation marks that a reader of CSV files leaves: single ones, and those after a blank."""
    import pyarrow.compute as pc

    for j, column in enumerate(raw.cells):
        for mark in "\"'":
            quoted = pc.match_substring_regex(column, rf"^\s*{mark}[^{mark}]*{mark}\s*$")
            if pc.all(pc.or_(quoted, pc.match_substring_regex(column, r"^\s*$"))).as_py() and pc.any(quoted).as_py():
                raw.cells[j] = pc.replace_substring_regex(column, rf"^\s*{mark}|{mark}\s*$", "")
                raw.notes.append(f"Quotation marks around the cells of column {j + 1} were removed.")


def _read_text(data: bytes, name: str, reading: Reading) -> _Raw:
    utf8, encoding, notes = decode(data)
    del data
    if not utf8 or utf8.isspace():
        raise DataError("The file is empty.")
    if re.search(rb"(?im)^\s*@relation\b|^\s*@attribute\b", utf8[:20_000]):
        names, columns, mended = parse_arff(utf8)
        raw = _Raw(names, columns, f"ARFF, {encoding}", notes, mark=".", marked=True)
    else:
        head = utf8[:2000].lstrip().lower()
        if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<svg", b"{", b"[{")):
            raise DataError(OTHER)
        said = re.match(rb'"?sep=([,;\t])"?\r?\n', utf8)
        utf8 = utf8[said.end() :] if said else utf8
        ending = name.rsplit(".", 1)[-1].lower()
        delimiter = said[1].decode() if said else sniff_delimiter(utf8, {"csv": ",", "tsv": "\t"}.get(ending, ""))
        if not delimiter:
            raise DataError(
                "Only one column was found. A table needs at least two: one with labels and one to learn from. Cells "
                "are separated by commas, semicolons or tabs. If this is another kind of file, save it as CSV."
            )
        columns, mended = parse_delimited(utf8, delimiter)
        shown = {"\t": "tabs", ",": "commas", ";": "semicolons"}[delimiter]
        kind = f"{'TSV' if delimiter == chr(9) else 'CSV'}, cells separated by {shown}, {encoding}"
        raw = _Raw([], columns, kind, notes)
        if re.search(rb"""(^|[,;\t\n] ?)'| \"""", utf8[: 1 << 16]):
            _unquoted(raw)
        raw = _headed(raw, reading)
        raw.mark = decimal_mark(raw.cells, delimiter)
    if mended:
        raw.notes.append(f"{mended:,} rows ended in one separator too many; it was removed.")
    return raw


_NAME = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(\S*)", re.IGNORECASE)


def parse_arff(data: bytes) -> tuple[list[str], list[Any], int]:
    r"""Return names, columns and rows mended of ARFF text (UTF-8 bytes); DataError names the line or row at fault.

    "?" is a missing value. A row with a stray comma at its end is mended (one published file has such a row).

    >>> text = b"@relation t\n@attribute x numeric\n@attribute c {a,b}\n@data\n1,a\n2,b,\n"
    >>> names, columns, mended = parse_arff(text)
    >>> names, columns[1].to_pylist(), mended
    (['x', 'c'], ['a', 'b'], 1)
    """
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
    start = re.search(rb"(?im)^[ \t]*@data[ \t]*(?:%[^\n]*)?$", data)
    if start is None or start.start() > 4 * _CHUNK:
        raise DataError("The ARFF file has no @DATA line in its first 16 MB: it is cut short or another kind of file.")
    names = []
    for number, raw in enumerate(data[: start.start()].split(b"\n"), start=1):
        line = raw[:100_000].decode(errors="replace").strip()
        if not line or line.startswith("%") or line.lower().startswith("@relation"):
            continue
        match = _ATTRIBUTE.match(line)
        if match is None or not re.match(r"(?i)(\{|numeric|real|integer|date|string|$)", match[2]):
            raise DataError(f"Line {number} of the ARFF header cannot be read: {line[:80]!r}.")
        quoted = match[1][0] in "'\"" and len(match[1]) > 1
        names.append(re.sub(r"\\(.)", r"\1", match[1][1:-1]) if quoted else match[1])
    if not 0 < len(names) <= MAX_COLUMNS:
        raise DataError(f"The ARFF file has {len(names):,} @ATTRIBUTE lines; 1 to {MAX_COLUMNS:,} can be read.")
    body = re.sub(rb"(?m)^[ \t]*%[^\n]*\n?", b"", data[start.end() :]).lstrip(b"\n \t")
    if not body.strip():
        raise DataError("The ARFF file has a header but no data rows.")
    if body.startswith(b"{"):
        raise DataError(OTHER)
    quote = "'" if b"'" in body and b'"' not in body else '"'
    # The first row may be the one with the stray comma, and rows must fit the header: a first line of empty cells
    # fixes the number of cells.
    width = b"," * (len(names) - 1) if len(names) > 1 else quote.encode() * 2
    columns, mended = parse_delimited(width + b"\n" + body, ",", quote=quote)
    return names, [column.slice(1) for column in columns], mended


# Excel, Parquet, data frames


def _read_workbook(data: bytes, reading: Reading, *, packed: bool) -> _Raw:
    """Return the first sheet with a table, or the one asked for. Formulas count as the values Excel kept for them."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    save = "Save the sheet as CSV (File, Save as, CSV UTF-8) and use that file."
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        names = [sheet.name for sheet in sheets if sheet.visible == SheetVisibleEnum.Visible]
        names += [sheet.name for sheet in sheets if sheet.name not in names]
        asked = reading.sheet
        if asked is not None and str(asked) not in names:
            if not str(asked).isdecimal() or not 1 <= int(asked) <= len(names):
                raise DataError(f"The workbook has no sheet {asked!r}; it has {listed(list(map(repr, names)), 10)}.")
            asked = [sheet.name for sheet in sheets][int(asked) - 1]
        for name in names if asked is None else [str(asked)]:
            sheet = book.get_sheet_by_name(name)
            check_size(sheet.height, sheet.width)
            if sheet.height > 1 and sheet.width > 1:
                rows, merged = [list(row) for row in sheet.iter_rows()], sheet.merged_cell_ranges or ()
                break
        else:
            raise DataError("No sheet of this Excel workbook has two columns and two rows.")
    except (DataError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        why = clean_name(str(error).splitlines()[0][:150]) if str(error) else "it is damaged"
        raise DataError(f"This Excel workbook cannot be read ({why}). {save}") from None
    top, left = sheet.start or (0, 0)
    raw = _Raw([], [], f"Excel workbook, sheet {clean_name(name)!r}")
    if len(names) > 1:
        hidden = len(names) - sum(s.visible == SheetVisibleEnum.Visible for s in sheets)
        aside = f" ({hidden} of them hidden)" if hidden else ""
        raw.notes.append(
            f"The workbook has {len(names)} sheets{aside}; {clean_name(name)!r} is read, the others are not (sheet=)."
        )
        raw.choices["sheet"] = (name, *(other for other in names if other != name))
    filled = 0
    for (r0, c0), (r1, c1) in merged[:MAX_ROWS]:
        for row in (
            rows[max(r0 - top, 0) : r1 - top + 1] if r1 > r0 >= top and c0 >= left and r0 - top < len(rows) else ()
        ):
            for c in range(c0 - left, min(c1 - left + 1, len(row))):
                filled += row[c] == ""
                row[c] = rows[r0 - top][c0 - left]
    if filled:
        raw.notes.append(f"{filled:,} cells that are merged with the one above have its value.")
    return _of_sheet(raw, rows, data, reading, packed=packed)


def _of_sheet(raw: _Raw, rows: list[list[Any]], data: bytes, reading: Reading, *, packed: bool) -> _Raw:
    """Turn the rows of a sheet into columns: of one kind where all cells agree, otherwise of text."""
    counts = [sum(cell != "" for cell in row) for row in rows]
    above = next((place for place, count in enumerate(counts) if count > 1), 0)
    if titles := sum(count > 0 for count in counts[:above]):
        raw.notes.append(f"{titles} row{'s' * (titles != 1)} above the names of the columns left out.")
    rows = [row for row, count in zip(rows[above:], counts[above:], strict=True) if count]
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    columns = [cells for cells in columns if any(cell != "" for cell in cells)]
    if packed and any(all(cell == "" for cell in cells[1:]) for cells in columns):
        _check_formulas(data)
    import pyarrow as pa

    raw.cells = [pa.array([_in_words(cell) for cell in cells], pa.string()) for cells in columns]
    if not raw.cells:
        raise DataError("No sheet of this Excel workbook has two columns and two rows.")
    raw = _headed(raw, reading)
    raw.mark = "."
    kept = range(len(columns[0]) - len(raw.cells[0]), len(columns[0])) if raw.rows is None else raw.rows + 1
    for j, cells in enumerate(columns):
        if (typed := _typed([cells[i] for i in kept])) is not None:
            raw.cells[j] = typed
    for name, cells in zip(raw.names, columns, strict=True):
        if any(isinstance(cell, float) and abs(cell) >= _MOST_EXACT for cell in cells):
            raw.notes.append(
                f"Excel keeps 15 digits of a number: longer ones in {clean_name(name)!r} may be equal now."
            )
    return raw


def _check_formulas(data: bytes) -> None:
    """Raise DataError if formulas of a sheet have no values: a program wrote them that does not calculate."""
    for member in members(data):
        if member.startswith("xl/worksheets/") and member.endswith(".xml"):
            part = unzip(data, member, MAX_UNPACKED_BYTES)
            if found := re.search(rb'<c r="(\w+)"[^>]*><f[^<]*</f>(<v ?/>|<v></v>)?</c>', part):
                raise DataError(
                    f"Cell {found[1].decode()} of the workbook holds a formula whose value was not saved. Open the "
                    "file in Excel, save it there, and use it again."
                )


def _typed(values: list[Any]) -> pa.Array | None:
    """Return numbers, dates or yes and no as such if all cells are; None if they are text."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value != ""}
    known = [None if value == "" else value for value in values]
    if kinds and kinds <= {int, float}:
        whole = all(value is None or (float(value).is_integer() and abs(value) < _MOST_EXACT) for value in known)
        return pa.array(known, pa.float64()).cast(pa.int64() if whole else pa.float64())
    if kinds and kinds <= {dt.date, dt.datetime}:
        moments = [v if v is None or isinstance(v, dt.datetime) else dt.datetime.combine(v, dt.time()) for v in known]
        return pa.array(moments, pa.timestamp("us"))
    return pa.array(known, pa.bool_()) if kinds == {bool} else None


def _in_words(value: Any) -> str:  # noqa: ANN401 - what a sheet holds
    return plain_number(value) if isinstance(value, float) else str(value)


def _read_parquet(data: bytes) -> _Raw:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(pa.BufferReader(data))
        rows = pq.read_metadata(pa.BufferReader(data)).num_rows
        kept = [part.name for part in schema if is_readable(part.type)]
        check_size(rows, len(schema))
        if not kept:
            raise DataError("The Parquet file holds lists, other nested values or bytes only; there is nothing to use.")
        if len(set(schema.names)) < len(schema):
            raise DataError("Several columns of the Parquet file have the same name. Give each its own.")
        # Words stay in their dictionary: a few long ones repeated a million times would fill the memory otherwise.
        words = [part.name for part in schema if pa.types.is_string(part.type) or pa.types.is_large_string(part.type)]
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=words)
        batches, total = [], 0
        for batch in file.iter_batches(batch_size=65_536, columns=kept, use_threads=False):
            total += batch.nbytes
            if total > MAX_UNPACKED_BYTES:
                raise DataError(
                    f"The Parquet file unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB. {LIMITS_IN_WORDS}"
                )
            for column, part in zip(batch.columns, batch.schema, strict=True):
                if pa.types.is_dictionary(part.type) and column.dictionary.nbytes > len(column.dictionary) << 20:
                    raise DataError(f"Column {clean_name(part.name)!r} holds texts of more than a million letters.")
            batches.append(batch)
        empty = pa.schema([part for part in schema if part.name in kept])
        table = pa.Table.from_batches(batches, schema=batches[0].schema if batches else empty)
        # Reading checks neither the letters of words nor where a dictionary points.
        table.validate(full=True)
    except (DataError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise DataError(f"The Parquet file is damaged or cut short ({str(error).splitlines()[0][:150]}).") from None
    # Columns that cannot be used keep their place: columns are also named by position.
    return _Raw(list(schema.names), [table.column(n) if n in kept else None for n in schema.names], "Parquet")


def _read_frame(frame: pd.DataFrame) -> _Raw:
    import pyarrow as pa

    check_size(len(frame), frame.shape[1])
    cells: list[Any] = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        try:
            cells.append(pa.Array.from_pandas(column))
        except (pa.ArrowException, TypeError, ValueError):
            cells.append(pa.array([None if value is None else str(value) for value in column], pa.string()))
    return _Raw([str(name) for name in frame.columns], cells, "data frame")


def _cell_text(cell: Any) -> str:  # noqa: ANN401 - a scalar of pyarrow
    import pyarrow as pa

    try:
        value = cell.as_py()
    except (LookupError, ValueError, OverflowError, OSError, pa.ArrowException):
        # Dates Python has not, or an unknown time zone (an error of `zoneinfo` or of `pytz`).
        return "…"
    return "" if value is None else clean_name(str(value)[:200])


def read_bytes(data: bytes, name: str, reading: Reading) -> Table:
    """Return the table in the bytes of a file; the kind of file is determined from its content, not its name."""
    checksum = hashlib.sha256(data).hexdigest()
    data, kind, inner, notes = unwrap(data, MAX_UNPACKED_BYTES)
    content = [data]  # handed over, not kept: a text may be dropped as soon as its cells are made
    del data
    if kind in ("excel", "workbook"):
        raw = _read_workbook(content.pop(), reading, packed=kind == "workbook")
    else:
        raw = _read_parquet(content.pop()) if kind == "parquet" else _read_text(content.pop(), inner or name, reading)
    raw.notes = [*notes, *raw.notes]
    if reading.sheet is not None and kind not in ("excel", "workbook"):
        raw.notes.append(f"sheet={reading.sheet!r} was not used: only an Excel workbook has sheets.")
    if reading.header is False and (kind == "parquet" or raw.format.startswith("ARFF")):
        raw.notes.append("header=False was not used: the file says itself what its columns are called.")
    return _understood(raw, name, checksum, reading)


def read_frame(frame: pd.DataFrame, name: str, reading: Reading) -> Table:
    """Return the table in a data frame of pandas."""
    return _understood(_read_frame(frame), name or "table", "", reading)


def _understood(raw: _Raw, title: str, checksum: str, reading: Reading) -> Table:
    n_rows = next((len(cells) for cells in raw.cells if cells is not None), 0)
    if not n_rows:
        raise DataError("The table has names of columns but no rows." if raw.cells else "The table has no columns.")
    check_size(n_rows, len(raw.cells))
    names, renamed = unique_names(raw.names)
    shown = min(PREVIEW_ROWS, n_rows)
    texts = [["…"] * shown if c is None else [_cell_text(cell) for cell in c.slice(0, shown)] for c in raw.cells]
    notes = [*raw.notes, *renamed[:5]]
    if len(renamed) > 5:
        notes.append(f"{len(renamed) - 5} more columns had names that occur several times.")
    columns: list[Column] = []
    for j, name in enumerate(names):
        cells, raw.cells[j] = raw.cells[j], None  # each column's text is freed once it is understood
        if hasattr(cells, "combine_chunks"):
            cells = cells.combine_chunks()
        column = None if cells is None else understand(name, cells, reading, raw.mark, marked=raw.marked, rows=raw.rows)
        if column is None:
            notes.append(f"Column {name!r} holds lists or other nested values, or bytes, and is left out.")
            column = Column(name, "empty", np.full(n_rows, np.nan), missing=n_rows)
        columns.append(column)
        notes += [f"Column {name!r}: {note}." for note in column.notes]
        if "dayfirst" in column.choices:
            raw.choices["dayfirst"] = (bool(column.dayfirst), not column.dayfirst)
        if "decimal" in column.choices:
            raw.choices["decimal"] = (column.decimal, "," if column.decimal == "." else ".")
    stem = re.sub(r"(\.(csv|tsv|txt|tab|dat|arff|parquet|xlsx?|xlsm|gz|zip))+$", "", title, flags=re.IGNORECASE)
    # The name stands in texts with markup: no marks, no address of a web page.
    stem = re.sub(r"[^\w .-]+", " ", clean_name(stem)).replace("www.", "www ").strip(" ._") or "table"
    preview = tuple(zip(*texts, strict=True))
    return Table(stem, tuple(columns), n_rows, raw.format, tuple(notes), preview, checksum, raw.choices)
