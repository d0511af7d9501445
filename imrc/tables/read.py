"""From a file to a `Table`, by way of bytes, text, cells and columns. Nothing is written or executed."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from imrc._checks import DataError
from imrc._types import Ints
from imrc.tables.cells import fits, is_missing, is_readable, understand
from imrc.tables.packed import OTHER, damage, kind_of, unwrap
from imrc.tables.table import (
    MAX_COLUMNS,
    MAX_UNPACKED_BYTES,
    Column,
    Reading,
    Table,
    check_size,
    clean_name,
    plain_number,
    unique_names,
)
from imrc.wording import listed

if TYPE_CHECKING:
    import pandas as pd

PREVIEW_ROWS = 20
_SEPARATED = {"\t": "TSV, cells separated by tabs"}
_SEPARATED |= {sign: f"CSV, cells separated by {name}" for sign, name in ((";", "semicolons"), (",", "commas"))}
_LONGEST = 1 << 24
_NO_SHEET = "No sheet of this Excel workbook has two columns and two rows."
_AS_TEXT = dict.fromkeys((f"f{j}" for j in range(MAX_COLUMNS)), pa.string())


@dataclass
class _Raw:
    """Names and cells (pyarrow arrays) before they are interpreted.

    `rows` are the numbers of the rows left, None for all; `native` is False where a file does not declare its decimal
    separator; `mark` is the usual one there.
    """

    names: list[str]
    cells: list[Any]
    format: str
    notes: list[str] = field(default_factory=list)
    native: bool = True
    mark: str = "."
    choices: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    rows: Ints | None = None


# Text


def decode(data: bytes) -> tuple[bytes, str, list[str]]:
    """Return the text as UTF-8 without a byte order mark, its original encoding, and notes on what was guessed.

    >>> decode("a;b".encode("utf-16"))
    (b'a;b', 'UTF-16', [])
    """
    head, encoding, notes = data[:4096], "UTF-8", list[str]()
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        if wide or head.count(0) > len(head) // 4:  # every other byte of Latin text in UTF-16 is zero
            order, encoding = "le" if head[1::2].count(0) > head[::2].count(0) else "be", "UTF-16"
            data = data.decode("utf-16" if wide else f"utf-16-{order}").encode()
        data = data.removeprefix(codecs.BOM_UTF8)
        data.isascii() or data.decode()
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        if encoding == "UTF-16":
            why = f"The file is written in UTF-16, but it is damaged near byte {at + 1:,}."
            raise DataError(f"{why} Save it again as UTF-8.") from None
        line = data.count(b"\n" if b"\n" in data else b"\r", 0, at) + 1
        data, encoding = data.decode("cp1252", "backslashreplace").encode(), "Windows-1252"
        word = re.search(r"[^\W\d_]*[^\x00-\x7f][^\W\d_]*", data[: 1 << 18].decode(errors="ignore"))
        notes.append(
            f"The file is not UTF-8 (see line {line:,}), so it was read as Windows-1252"
            f"{f', for example {word[0][:30]!r}' if word else ''}. If letters look wrong, save it again as UTF-8."
        )
    if b"\0" in data:
        raise DataError(OTHER)
    return data, encoding, notes


def sniff_delimiter(data: bytes) -> str:
    r"""Return the delimiter that splits most of the first lines like the very first; "" if there is none.

    The comma is tried last, because it may be part of numbers.

    >>> sniff_delimiter(b"a;b\n1,5;2\n3,1;4\n")
    ';'
    """
    text = re.sub(r'"(?:[^"]|"")*"', "q", data[: 1 << 16].decode(errors="ignore"))  # quoted text does not count
    lines = [line for line in text.splitlines() if line.strip()][:200]
    lines = lines[:-1] if len(lines) > 2 else lines  # the last may be cut
    counts = {sign: [line.count(sign) for line in lines] for sign in _SEPARATED}
    agreeing = {sign: found.count(found[0]) for sign, found in counts.items() if found and found[0]}
    return max(agreeing, key=agreeing.__getitem__, default="")


def parse_delimited(data: bytes, delimiter: str, *, quote: str = '"') -> list[Any]:
    """Return UTF-8 text as columns of strings.

    Every row needs as many cells as the first; otherwise DataError names rows. Cells may be quoted, with `quote`
    doubled inside them. Row numbers in messages do not count the first row.
    """
    line = re.split(rb"[\r\n]", data[: 1 << 20].lstrip(b"\r\n"), maxsplit=1)[0]
    if line.count(delimiter.encode()) > MAX_COLUMNS:
        raise DataError(f"The first line of the file has more than {MAX_COLUMNS:,} cells; that is too many.")
    marks, bad = data.count(quote.encode()), list[str]()

    def invalid(row: Any) -> str:  # noqa: ANN401 - pyarrow's row object
        bad.append(f"row {row.number - 1:,} has {row.actual_columns} cell{'s' * (row.actual_columns != 1)}")
        return "skip" if len(bad) < 4 else "error"

    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            # Row numbers are only known with a single thread.
            pa.csv.ReadOptions(use_threads=False, block_size=_LONGEST, autogenerate_column_names=True),
            pa.csv.ParseOptions(
                delimiter=delimiter,
                quote_char=marks > 0 and quote,
                newlines_in_values=marks > 0,
                invalid_row_handler=invalid,
            ),
            pa.csv.ConvertOptions(check_utf8=False, column_types=_AS_TEXT, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        why = str(error).splitlines()[0][:150]
        if "straddling" in why:
            why = "A row is longer than 16 MB. Look for a quotation mark that is not closed"
        if not bad:
            raise DataError(f"The table cannot be read: {why}.") from None
    if bad:
        more = " and more rows do not match" if len(bad) > 3 else ""
        raise DataError(
            f"All rows need as many cells as the first line of the file, but {', '.join(bad[:3])}{more} (rows are "
            "counted below the header). Look for a missing or extra separator, or a quotation mark that is not closed."
        )
    rows = table.num_rows - 1
    if marks % 2 and any("\n" in str(c[-1]) for c in table.columns if len(c)):
        raise DataError(f"A quotation mark in row {rows:,} is not closed before the file ends.")
    check_size(rows, table.num_columns)
    return list(table.columns)


# Names, and rows that are not data


def _headed(raw: _Raw, reading: Reading) -> _Raw:
    """Take the column names from the first row unless it is data, leave out rows that are not data, and note it.

    The first row is data if each of its cells fits the column below: a number, a date, a mark for a missing
    value, or a word that also occurs there. With more than 300 columns, the first ones decide.
    """
    first, n_rows = [column[0].as_py() for column in raw.cells], len(raw.cells[0])
    again = np.ones(n_rows, dtype=bool)
    for cell, column in zip(first, raw.cells, strict=True):
        if again.sum() > 1:
            again &= pc.equal(column, cell).to_numpy(zero_copy_only=False)
    rest = np.flatnonzero(~again)
    shown = np.unique([0, *rest[: 1 + min(200, 200_000 // len(first))], *rest[-3:]]).astype(np.int64)
    cells = [pa.array(column.take(pa.array(shown)).to_pylist(), pa.string()) for column in raw.cells[:300]]
    top = [understand("", pa.chunked_array([one]), Reading(), raw.mark, skip=int(len(rest) > 0)) for one in cells]
    typed = np.array([column.kind in ("number", "date") for column in top])
    there = np.array([column.present for column in top])
    blank = np.array([is_missing(pc.utf8_trim_whitespace(one)) for one in cells])
    values, odd = typed & there[:, 0], ~(there | blank)[:, 0]
    # Names and identifiers are words that are new in every row.
    new = ~typed & np.array([column.distinct > max(5, len(shown) // 2) for column in top])
    data = bool((odd <= new).all() and (values.any() or not odd.any())) if len(rest) else bool(values.all())
    if reading.header is not None or data or values.any():
        data = data if reading.header is None else not reading.header
        raw.choices["header"] = (not data, data)
    if reading.header is None and data:
        kind = "numbers only" if values.all() else "values like those below"
        raw.notes.append(
            f"The first row contains {kind}, so it is read as data; header=True takes the column names from it."
        )
    elif reading.header is None and values.any():
        seen = listed([repr(clean_name(cell)) for cell, value in zip(first, values, strict=False) if value], 3)
        raw.notes.append(f"Column names were taken from the first row, also {seen}; header=False reads it as data.")
    if data:
        raw.names = [f"column {j + 1}" for j in range(len(first))]
        return raw
    raw.names = [cell.strip() for cell in first]
    again[0] = False
    gone = {"the same as the first line, which has the column names": np.flatnonzero(again)}
    if len(rest) > 2 and typed.sum() > 1:
        strays = ~there[typed].any(axis=0) & ~blank[typed].all(axis=0) & ~again[shown] & (shown > 0)
        gone["no cell is a number or date where other rows have them"] = shown[strays]
    for why, rows in gone.items():
        if len(rows):
            again[rows] = True
            numbers = listed([f"{row:,}" for row in rows.tolist()], 3)
            raw.notes.append(f"{len(rows):,} row{'s' * (len(rows) > 1)} left out (row {numbers}): {why}.")
    kept = np.flatnonzero(~again[1:])
    raw.rows = None if len(kept) == n_rows - 1 else kept
    raw.cells = [column.slice(1) if raw.rows is None else column.slice(1).take(pa.array(kept)) for column in raw.cells]
    return raw


def _read_text(data: bytes, reading: Reading) -> _Raw:
    data, encoding, notes = decode(data)
    if not data or data.isspace():
        raise DataError("The file is empty.")
    if kind_of(data) == "other":
        raise DataError(OTHER)
    if re.search(rb"(?im)^\s*@relation\b|^\s*@attribute\b", data[:20_000]):
        return _Raw(*parse_arff(data), f"ARFF, {encoding}", notes)
    said = re.match(rb'"?sep=([,;\t])"?\r?\n', data)
    data = data[said.end() :] if said else data
    delimiter = said[1].decode() if said else sniff_delimiter(data)
    if not delimiter:
        raise DataError(
            "Only one column was found. A table needs at least two: one with labels and one to learn from. Cells "
            "are separated by commas, semicolons or tabs. If this is another kind of file, save it as CSV."
        )
    head, quote = re.split(rb"[\r\n]", data[: 1 << 16], maxsplit=1)[0], '"'
    if re.fullmatch(rb"'[^']*'(?:[,;\t]'[^']*')*", head):
        quote = "'"
        notes.append("Single quotation marks around cells were removed.")
    elif delimiter.encode() + b' "' in head:
        data = re.sub(delimiter.encode() + b' +(?=")', delimiter.encode(), data)
        notes.append("Blanks between separators and quotation marks were removed.")
    columns = parse_delimited(data, delimiter, quote=quote)
    raw = _Raw([], columns, f"{_SEPARATED[delimiter]}, {encoding}", notes, False, "." if delimiter == "," else "")
    return _headed(raw, reading)


_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(?:\{|numeric|real|integer|date|string|$)""",
    re.IGNORECASE,
)


def parse_arff(data: bytes) -> tuple[list[str], list[Any]]:
    r"""Return names and columns of ARFF text (UTF-8); DataError names the bad line or row. "?" is a missing value.

    >>> text = b"@relation t\n@attribute x numeric\n@attribute c {a,b}\n@data\n1,a\n2,b\n"
    >>> names, columns = parse_arff(text)
    >>> names, columns[1].to_pylist()
    (['x', 'c'], ['a', 'b'])
    """
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
    start = re.search(rb"(?im)^[ \t]*@data[ \t]*(?:%[^\n]*)?$", data)
    if start is None or start.start() > _LONGEST:
        raise DataError("The ARFF file has no @DATA line in its first 16 MB: it is incomplete or another kind of file.")
    names = []
    for line in re.findall(r"(?im)^[ \t]*(@attribute\b.*)", data[: start.start()].decode(errors="replace")):
        match = _ATTRIBUTE.match(line[:100_000])
        if match is None:
            raise DataError(f"A line of the ARFF header cannot be read: {line[:80]!r}.")
        names.append(re.sub(r"\\(.)", r"\1", next(filter(None, match.groups()), "")))
    if not 0 < len(names) <= MAX_COLUMNS:
        raise DataError(f"The ARFF file has {len(names):,} @ATTRIBUTE lines; 1 to {MAX_COLUMNS:,} can be read.")
    body = re.sub(rb"(?m)^[ \t]*%[^\n]*\n?", b"", data[start.end() :]).lstrip(b"\n \t")
    if not body.strip():
        raise DataError("The ARFF file has a header but no data rows.")
    if body.startswith(b"{"):
        raise DataError(OTHER)
    quote = "'" if b"'" in body and b'"' not in body else '"'
    # All rows must fit the header, even the first: a first line of empty cells fixes the number of cells.
    width = b"," * (len(names) - 1) if len(names) > 1 else quote.encode() * 2
    return names, [column.slice(1) for column in parse_delimited(width + b"\n" + body, ",", quote=quote)]


# Excel, Parquet, data frames


def _read_workbook(data: bytes, reading: Reading) -> _Raw:
    """Return the first sheet with a table, or the one asked for. Formulas count as the values that Excel stored."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    with damage("Excel workbook", "Save the sheet as CSV (File, Save as, CSV UTF-8) and use that file."):
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        hidden = [sheet.name for sheet in sheets if sheet.visible != SheetVisibleEnum.Visible]
        names = sorted((sheet.name for sheet in sheets), key=hidden.__contains__)
        known = {str(number): sheet.name for number, sheet in enumerate(sheets, 1)} | {name: name for name in names}
        if reading.sheet is not None and str(reading.sheet) not in known:
            raise DataError(f"The workbook has no sheet {reading.sheet!r}; it has {listed([*map(repr, names)], 10)}.")
        for name in names if reading.sheet is None else [known[str(reading.sheet)]]:
            sheet = book.get_sheet_by_name(name)
            check_size(sheet.height, sheet.width)
            if sheet.height > 1 and sheet.width > 1:
                break
        else:
            raise DataError(_NO_SHEET)
        rows = np.array([list(row) for row in sheet.iter_rows()], dtype=object)
    (top, left), raw, filled = sheet.start or (0, 0), _Raw([], [], f"Excel workbook, sheet {clean_name(name)!r}"), 0
    if len(names) > 1:
        aside = f" ({len(hidden)} of them hidden)" if hidden else ""
        raw.notes.append(
            f"The workbook has {len(names)} sheets{aside}; {clean_name(name)!r} is read, the others are not (sheet=)."
        )
        raw.choices["sheet"] = (name, *(other for other in names if other != name))
    for (r0, c0), (r1, c1) in sheet.merged_cell_ranges or ():
        if r1 > r0 >= top and c0 >= left:
            block = rows[r0 - top : r1 - top + 1, c0 - left : c1 - left + 1]
            filled += (block[1:] == "").sum()
            block[:] = block[:1, :1]
    if filled:
        raw.notes.append(f"{filled:,} cells that are merged with the one above have its value.")
    counts = (rows != "").sum(axis=1)
    if not counts.any():  # formulas whose values are empty texts
        raise DataError(_NO_SHEET)
    above = int(np.argmax(counts > 1))
    if titles := int((counts[:above] > 0).sum()):
        raw.notes.append(f"{titles} row{'s' * (titles != 1)} above the column names left out.")
    rows = rows[above:][counts[above:] > 0]
    raw.cells = [pa.chunked_array([[*map(_in_words, cells)]], pa.string()) for cells in rows.T if (cells != "").any()]
    raw = _headed(raw, reading)
    for name, cells in zip(raw.names, raw.cells, strict=True):
        if not fits(cells, ".").any():
            raw.notes.append(
                f"Column {clean_name(name)!r} has no values. If it has formulas, open the file in Excel and save it "
                "there: their values are saved with them."
            )
    return raw


def _in_words(value: Any) -> str:  # noqa: ANN401 - what a sheet holds
    if isinstance(value, float):  # Excel keeps 15 digits, so longer identifiers may have become equal
        return f"{value:.0f}" if 1e15 <= abs(value) < 1e21 else plain_number(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_parquet(data: bytes) -> _Raw:
    import pyarrow.parquet as pq

    with damage("Parquet file"):
        schema = pq.read_schema(pa.BufferReader(data))
        # Words stay in their dictionary; otherwise a few long ones repeated a million times would fill the memory.
        words = [part.name for part in schema if pa.types.is_string(part.type) or pa.types.is_large_string(part.type)]
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=words)
        check_size(file.metadata.num_rows, len(schema))
        kept = [part.name for part in schema if is_readable(part.type)]
        if not kept:
            raise DataError("The Parquet file contains only lists, other nested values or bytes; nothing can be used.")
        if len(set(schema.names)) < len(schema):
            raise DataError("Several columns of the Parquet file have the same name. Give each its own.")
        table = file.read(columns=kept, use_threads=False)
        # Reading checks neither the encoding of words nor the indices into a dictionary.
        table.validate(full=True)
    # Columns that cannot be used keep their place: columns are also named by position.
    return _Raw(schema.names, [table.column(name) if name in kept else None for name in schema.names], "Parquet")


def read_frame(frame: pd.DataFrame, name: str, reading: Reading) -> Table:
    """Return the table in a pandas data frame."""
    check_size(len(frame), frame.shape[1])
    cells: list[Any] = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        try:
            found = pa.Array.from_pandas(column)
        except (pa.ArrowException, TypeError, ValueError):
            found = pa.array([None if value is None else str(value) for value in column], pa.string())
        cells.append(pa.chunked_array(getattr(found, "chunks", [found])) if is_readable(found.type) else None)
    raw = _Raw([str(name) for name in frame.columns], cells, "data frame")
    return _understood(raw, name or "table", reading, len(frame))


def read_bytes(data: bytes, name: str, reading: Reading) -> Table:
    """Return the table in the bytes of a file; the kind of file is determined from its content, not its name."""
    data, kind, notes = unwrap(data, MAX_UNPACKED_BYTES)
    if kind == "excel":
        raw = _read_workbook(data, reading)
    else:
        raw = _read_parquet(data) if kind == "parquet" else _read_text(data, reading)
    del data
    raw.notes = [*notes, *raw.notes]
    if reading.sheet is not None and kind != "excel":
        raw.notes.append(f"sheet={reading.sheet!r} was not used: only an Excel workbook has sheets.")
    if reading.header is False and kind != "excel" and raw.native:
        raw.notes.append("header=False was not used, because the file itself names its columns.")
    return _understood(raw, name, reading)


def _first_cells(cells: pa.Array | None, shown: int) -> Sequence[str]:
    """Return the first cells as they are in the file, safe to show; "…" for what has no text."""
    try:
        texts = ["…"] * shown if cells is None else cells.slice(0, shown).cast(pa.string()).to_pylist()
    except pa.ArrowException:  # dates beyond the calendar, or in an unknown time zone
        texts = ["…"] * shown
    return ["" if one is None else clean_name(one) for one in texts]


def _understood(raw: _Raw, title: str, reading: Reading, n_rows: int = 0) -> Table:
    n_rows = n_rows or next((len(cells) for cells in raw.cells if cells is not None), 0)
    if not n_rows:
        raise DataError("The table has column names but no rows." if raw.cells else "The table has no columns.")
    names, renamed = unique_names(raw.names)
    preview = tuple(zip(*(_first_cells(cells, min(PREVIEW_ROWS, n_rows)) for cells in raw.cells), strict=True))

    def read(j: int, mark: str) -> Column:
        if raw.cells[j] is None:
            note = "contains times of day, durations, lists or other nested values, or bytes, and is left out"
            return Column(names[j], "empty", np.full(n_rows, np.nan), notes=(note,))
        return understand(names[j], raw.cells[j], reading, mark, native=raw.native, rows=raw.rows)

    columns: list[Column] = []
    for j in range(len(names)):
        columns.append(read(j, raw.mark))
        if "decimal" not in columns[j].choices:
            raw.cells[j] = None  # each column's text is freed once it is understood
    # The decimal separator of columns that leave no doubt holds for the others too.
    sure = {column.decimal for column in columns if column.decimal and "decimal" not in column.choices}
    for j, column in enumerate(columns):
        if "decimal" in column.choices and len(sure) == 1 and reading.decimal is None:
            columns[j] = read(j, *sure)
    notes = [*raw.notes, *renamed[:5]]
    if len(renamed) > 5:
        notes.append(f"{len(renamed) - 5} more columns had names that occur several times.")
    for column in columns:
        notes += [f"Column {column.name!r}: {note}." for note in column.notes]
        if "dayfirst" in column.choices:
            raw.choices["dayfirst"] = (bool(column.dayfirst), not column.dayfirst)
        if "decimal" in column.choices:
            raw.choices["decimal"] = (column.decimal, "," if column.decimal == "." else ".")
    stem = re.sub(r"(\.(csv|tsv|txt|tab|dat|arff|parquet|xlsx?|xlsm|gz|zip))+$", "", title, flags=re.IGNORECASE)
    # The name appears in texts with markup, so it has no markup and no web address.
    stem = re.sub(r"[^\w .-]+", " ", clean_name(stem)).replace("www.", "www ").strip(" ._") or "table"
    return Table(stem, tuple(columns), n_rows, raw.format, tuple(notes), preview, choices=raw.choices)
