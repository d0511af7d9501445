"""From a file to a `Table`, by way of bytes, text, cells and columns. Nothing is written or executed."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from imrc._checks import DataError
from imrc.tables.cells import is_missing, is_readable, understand
from imrc.tables.packed import OTHER, damage, kind_of, unpack
from imrc.tables.table import MAX_COLUMNS, SEPARATED, Column, Reading, Table, check_size, clean_name, unique_names
from imrc.wording import listed

if TYPE_CHECKING:
    import pandas as pd

PREVIEW_ROWS = 20
_LONGEST = 1 << 24
_NO_SHEET = "No sheet of this Excel workbook has two columns and two rows."
_AS_TEXT = pa.csv.ConvertOptions(check_utf8=False, strings_can_be_null=False)
_AS_TEXT.column_types = dict.fromkeys((f"f{j}" for j in range(MAX_COLUMNS)), pa.string())


@dataclass
class _Raw:
    """Names and cells before they are interpreted: pyarrow arrays, or the type of those that cannot be.

    `mark` is the usual decimal separator, `native` are the places of columns that the file itself has as numbers.
    """

    names: list[str]
    cells: list[Any]
    format: str
    notes: list[str] = field(default_factory=list)
    mark: str = "."
    choices: dict[str, Sequence[Any]] = field(default_factory=dict)
    native: Sequence[int] = ()


# Text


def decode(data: bytes) -> tuple[bytes, str, list[str]]:
    """Return the text as UTF-8 without a byte order mark, its original encoding, and notes on what was guessed."""
    encoding = "UTF-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "UTF-8"
    notes = list[str]()
    try:
        data = data.decode("utf-16").encode() if encoding == "UTF-16" else data.removeprefix(codecs.BOM_UTF8)
        data.isascii() or data.decode()
    except UnicodeError as error:
        if encoding == "UTF-16":
            raise DataError("The file is written in UTF-16, but it is damaged. Save it again as UTF-8.") from None
        line = data.count(b"\n" if b"\n" in data else b"\r", 0, getattr(error, "start", 0)) + 1
        data, encoding = data.decode("cp1252", "backslashreplace").encode(), "Windows-1252"
        notes.append(
            f"The file is not UTF-8 (see line {line:,}), so it was read as Windows-1252. If letters look wrong, "
            "save it again as UTF-8."
        )
    if b"\0" in data:
        raise DataError(OTHER)
    return data, encoding, notes


def sniff_delimiter(data: bytes) -> str:
    """Return the delimiter that splits most of the first lines like the very first; "" if there is none.

    The comma is tried last, because it may be part of numbers.
    """
    text = re.sub(r'"(?:[^"]|"")*"', "q", data[: 1 << 16].decode(errors="ignore"))  # quoted text does not count
    lines = [line for line in text.splitlines() if line.strip()][:200]
    lines = lines[:-1] if len(lines) > 2 else lines  # the last may be cut
    counts = {sign: [line.count(sign) for line in lines] for sign in SEPARATED}
    agreeing = {sign: found.count(found[0]) for sign, found in counts.items() if found and found[0]}
    return max(agreeing, key=agreeing.__getitem__, default="")


def parse_delimited(data: bytes, delimiter: str, *, quote: str = '"') -> list[Any]:
    """Return UTF-8 text as columns of strings; DataError names the first row with more or fewer cells than the first.

    Cells may be quoted, with `quote` doubled inside them. Row numbers in messages do not count the first row.
    """
    line = re.split(rb"[\r\n]", data[: 1 << 20].lstrip(b"\r\n"), maxsplit=1)[0]
    if line.count(delimiter.encode()) > MAX_COLUMNS:
        raise DataError(f"The first line of the file has more than {MAX_COLUMNS:,} cells; that is too many.")
    marks = data.count(quote.encode())
    for block in (1 << 20, _LONGEST):  # blocks that stay in the processor's cache, unless a row is longer
        try:
            table = pa.csv.read_csv(
                pa.BufferReader(data),
                # Row numbers are only known with a single thread.
                pa.csv.ReadOptions(use_threads=False, block_size=block, autogenerate_column_names=True),
                pa.csv.ParseOptions(delimiter=delimiter, quote_char=marks > 0 and quote, newlines_in_values=marks > 0),
                _AS_TEXT,
            )
            break
        except pa.ArrowInvalid as error:
            why = str(error).splitlines()[0][:150]
            if "straddling" in why and block < _LONGEST:
                continue
            why = "A row is longer than 16 MB" if "straddling" in why else why
            if bad := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", why):
                number, width, found = map(int, bad.groups())
                cells = f"{found:,} cell{'s' * (found != 1)}"
                why = f"The first line of the file has {width:,} cells, but row {number - 1:,} has {cells}"
            raise DataError(
                f"{why} (rows are counted below the header). Look for a missing or extra separator, or a quotation "
                "mark that is not closed."
            ) from None
    if marks % 2 and any("\n" in str(c[-1]) for c in table.columns if len(c)):
        raise DataError(f"A quotation mark in row {table.num_rows - 1:,} is not closed before the file ends.")
    check_size(table.num_rows - 1, table.num_columns)
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
        if again[1:].any():
            again &= pc.equal(column, cell).to_numpy(zero_copy_only=False)
    rest = np.flatnonzero(~again)
    shown = np.unique([0, *rest[: 1 + min(200, 200_000 // len(first))], *rest[-3:]]).astype(np.int64)
    cells = [pa.array(column.take(pa.array(shown)).to_pylist(), pa.string()) for column in raw.cells[:300]]
    top = [understand("", pa.chunked_array([one]), Reading(), raw.mark, int(len(rest) > 0)) for one in cells]
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
        if reading.header is None:
            how = "read as data; header=True takes the column names from it"
            how = how if data else "taken for the column names; header=False reads it as data"
            raw.notes.append(f"The first row ({listed([repr(clean_name(cell)) for cell in first], 3)}) is {how}.")
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
    raw.cells = [column.slice(1) for column in raw.cells]
    if again.any():
        raw.notes.append("Row numbers below do not count these.")
        raw.cells = [column.filter(pa.array(~again[1:])) for column in raw.cells]
    return raw


def _read_text(data: bytes, reading: Reading) -> _Raw:
    data, encoding, notes = decode(data)
    if not data or data.isspace():
        raise DataError("The file is empty.")
    if re.search(rb"(?im)^\s*@relation\b|^\s*@attribute\b", data[:20_000]):
        names, cells, native = parse_arff(data)
        return _Raw(names, cells, f"ARFF, {encoding}", notes, native=native)
    told = re.match(rb'"?sep=([,;\t])"?\r?\n', data)
    data = data[told.end() :] if told else data
    delimiter = told[1].decode() if told else sniff_delimiter(data)
    if not delimiter:
        raise DataError(
            "Only one column was found. A table needs at least two: one with labels and one to learn from. Cells "
            "are separated by commas, semicolons or tabs. If this is another kind of file, save it as CSV."
        )
    if re.match(rb"""'[^'\r\n]*'[,;\t]|[^\r\n]*[,;\t] +["']""", data[: 1 << 20]):
        raise DataError("Quotation marks in the first line are single or follow a blank. Save with double ones.")
    raw = _Raw([], parse_delimited(data, delimiter), f"{SEPARATED[delimiter]}, {encoding}", notes)
    raw.mark = "," if delimiter == ";" else "."
    return _headed(raw, reading)


def parse_arff(data: bytes) -> tuple[list[str], list[Any], list[int]]:
    """Return names and columns of ARFF text (UTF-8), and places of numbers; DataError names the bad line or row."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = re.sub(rb"(?m)^[ \t]*%[^\n]*\n?", b"", data) if b"%" in data else data
    start = re.search(rb"(?im)^[ \t]*@data[ \t]*(?:%[^\n]*)?$", data[:_LONGEST])
    if start is None:
        raise DataError("The ARFF file has no @DATA line in its first 16 MB: it is incomplete or another kind of file.")
    head, body = data[: start.start()].decode(errors="replace"), data[start.end() :].lstrip(b"\n \t")
    kinds = r"(\{|numeric|real|integer|date|string)"
    line = rf"(?im)^[ \t]*@attribute[ \t]+('[^'\n]*'|\"[^\"\n]*\"|[^\s{{'\"]+)[ \t]*{kinds}"
    found = re.findall(line, head)
    names = [name.strip("'\"") for name, _ in found]
    native = [j for j, (_, kind) in enumerate(found) if kind.lower() in ("numeric", "real", "integer")]
    if not 0 < len(names) == len(re.findall(r"(?im)^[ \t]*@attribute\b", head)) <= MAX_COLUMNS:
        raise DataError(
            "Each @ATTRIBUTE line of the ARFF header needs a name and a kind: numeric, date, string or a list, not "
            f"relational. At most {MAX_COLUMNS:,} columns are possible; {len(names):,} such lines were found."
        )
    if not body.strip():
        raise DataError("The ARFF file has a header but no data rows.")
    if body.startswith(b"{"):
        raise DataError(OTHER)
    quote = "'" if b"'" in body and b'"' not in body else '"'
    # All rows must match the header, even the first: a first line of empty cells fixes the number of cells.
    width = b"," * (len(names) - 1) if len(names) > 1 else quote.encode() * 2
    columns = parse_delimited(width + b"\n" + body, ",", quote=quote)
    return names, [column.slice(1) for column in columns], native


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
        given = np.array([list(row) for row in sheet.iter_rows()], dtype=object)
        rows = np.frompyfunc(_in_words, 1, 1)(given)
    raw = _Raw([], [], f"Excel workbook, sheet {clean_name(name)!r}")
    if len(names) > 1:
        aside = f" ({len(hidden)} of them hidden)" if hidden else ""
        raw.notes.append(
            f"The workbook has {len(names)} sheets{aside}; {clean_name(name)!r} is read, the others are not (sheet=)."
        )
        raw.choices["sheet"] = (name, *(other for other in names if other != name))
    if tall := [first[0] + 1 for first, last in sheet.merged_cell_ranges or () if last[0] > first[0]]:
        raise DataError(f"Cells are merged over several rows (row {tall[0]:,} of the sheet). Unmerge and fill them.")
    counts = (rows != "").sum(axis=1)
    if not counts.any():  # formulas whose values are empty texts
        raise DataError(_NO_SHEET)
    above = int(np.argmax(counts > 1))
    if titles := int((counts[:above] > 0).sum()):
        raw.notes.append(f"{titles} row{'s' * (titles != 1)} above the column names left out.")
    below, rows = given[above + 1 :], rows[above:][counts[above:] > 0]
    kept = np.flatnonzero((rows != "").any(axis=0))
    raw.cells = [pa.chunked_array([rows[:, j]], pa.string()) for j in kept]
    # Numbers that are stored as text may have any decimal mark.
    texts = [any(isinstance(cell, str) and re.search(r"\d", cell) for cell in below[:, j]) for j in kept]
    raw.native = np.flatnonzero(~np.array(texts)).tolist()
    return _headed(raw, reading)


def _in_words(value: Any) -> str:  # noqa: ANN401 - what a sheet contains
    """Return a cell as text; of a whole number all digits, because Excel keeps only 15 of longer identifiers."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _read_parquet(data: bytes, _reading: Reading) -> _Raw:
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
    return _Raw(schema.names, [table.column(one.name) if one.name in kept else one.type for one in schema], "Parquet")


def read_frame(frame: pd.DataFrame, name: str, reading: Reading) -> Table:
    """Return the table in a pandas data frame."""
    check_size(len(frame), frame.shape[1])
    cells: list[Any] = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        column = column.dt.to_timestamp() if hasattr(column.dtype, "freq") else column  # periods by their beginning
        try:
            found = pa.Array.from_pandas(column)
        except (pa.ArrowException, TypeError, ValueError):
            found = pa.array([None if value is None else str(value) for value in column], pa.string())
        cells.append(pa.chunked_array(getattr(found, "chunks", [found])) if is_readable(found.type) else found.type)
    raw = _Raw([str(name) for name in frame.columns], cells, "data frame")
    return _understood(raw, name or "table", reading, len(frame))


def read_bytes(data: bytes, name: str, reading: Reading) -> Table:
    """Return the table in the bytes of a file; the kind of file is determined from its content, not its name."""
    kind, notes = kind_of(data), list[str]()
    if kind in ("gzip", "zip"):
        data, where = unpack(data)
        notes.append(f"The file was unpacked from {where}.")
        kind = kind_of(data)
    if kind in ("gzip", "zip"):
        raise DataError("The file contains an archive inside an archive. Unpack it and use the table inside.")
    if kind == "other":
        raise DataError(OTHER)
    raw = {"excel": _read_workbook, "parquet": _read_parquet}.get(kind, _read_text)(data, reading)
    del data
    raw.notes = [*notes, *raw.notes]
    if reading.sheet is not None and kind != "excel":
        raw.notes.append(f"sheet={reading.sheet!r} was not used: only an Excel workbook has sheets.")
    if reading.header is False and "header" not in raw.choices:
        raw.notes.append("header=False was not used, because the file itself names its columns.")
    return _understood(raw, name, reading)


def _understood(raw: _Raw, title: str, reading: Reading, n_rows: int = 0) -> Table:
    n_rows = n_rows or next((len(cells) for cells in raw.cells if isinstance(cells, pa.ChunkedArray)), 0)
    if not n_rows:
        raise DataError("The table has column names but no rows." if raw.cells else "The table has no columns.")
    names, columns, preview = unique_names(raw.names), list[Column](), []
    for j, name in enumerate(names):
        cells = raw.cells[j]
        if isinstance(cells, pa.DataType):
            why = "contains times of day, durations, lists or other nested values, or bytes"
            why = f"{why} (it is of type {clean_name(cells)}), and is left out"
            columns.append(Column(name, "empty", np.full(n_rows, np.nan), notes=(why,)))
        else:
            columns.append(understand(name, cells, reading, raw.mark, native=j in raw.native))
            if reading.columns and raw.format.startswith(tuple(SEPARATED.values())):  # zeros are in no text
                ended = pc.binary_join_element_wise(cells.cast(pa.string()).fill_null(""), "", "\0").combine_chunks()
                columns[-1] = replace(columns[-1], written=np.frombuffer(ended.buffers()[2], np.uint8))
        if "decimal" not in columns[-1].choices:
            raw.cells[j] = None  # each column's text is freed once it is understood
        text = isinstance(cells, pa.ChunkedArray) and "string" in str(cells.type)
        preview.append(cells[:PREVIEW_ROWS].to_pylist() if text else columns[-1].words(PREVIEW_ROWS).tolist())
    # Columns that leave no doubt about the decimal mark decide for the others.
    sure = {column.decimal for column in columns if "decimal" not in column.choices} - {""}
    for j, column in enumerate(columns):
        if "decimal" in column.choices and len(sure) == 1:
            columns[j] = replace(understand(names[j], raw.cells[j], reading, min(sure)), written=column.written)
    notes = raw.notes
    if several := [name for name in names if re.search(r" \(\d+\)$", name) and name not in raw.names]:
        notes.append(f"Several columns have the same name; they are called {listed([*map(repr, several)], 5)} here.")
    for column in columns:
        notes += [f"Column {column.name!r}: {note}." for note in column.notes]
        raw.choices |= column.choices
    stem = re.sub(r"(\.(csv|tsv|txt|tab|dat|arff|parquet|xlsx?|xlsm|gz|zip))+$", "", title, flags=re.IGNORECASE)
    # The name appears in texts with markup, so it has no markup and no web address.
    stem = re.sub(r"[^\w .-]+", " ", clean_name(stem)).replace("www.", "www ").strip(" ._") or "table"
    rows = tuple(tuple(clean_name(cell or "") for cell in row) for row in zip(*preview, strict=True))
    return Table(stem, tuple(columns), n_rows, raw.format, tuple(notes), rows, choices=raw.choices)
