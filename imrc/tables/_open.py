"""From a file to a `Table`: bytes, cells, columns. Nothing is written to disk or executed."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from imrc._checks import DataError, InputTypeError
from imrc.tables._archives import kind_of, unwrap
from imrc.tables._arff import parse_arff
from imrc.tables._columns import Column, clean_name, is_readable, understand, unique_names
from imrc.tables._numbers import Mark, decimal_mark
from imrc.tables._text import (
    LIMITS_IN_WORDS,
    MAX_FILE_BYTES,
    MAX_UNPACKED_BYTES,
    check_before,
    check_size,
    decode,
    parse_delimited,
    sniff_delimiter,
    squeeze_blanks,
)
from imrc.tables._workbook import read_workbook
from imrc.wording import listed

if TYPE_CHECKING:
    import pandas as pd

PREVIEW_ROWS = 20
_LONGEST = 1 << 20


@dataclass(frozen=True, eq=False)
class Table:
    """The user's own table, with the content of its columns determined.

    Attributes
    ----------
    name : str
        Name of the file without its ending, made safe to show.
    columns : tuple of Column
        The columns in the order of the file.
    n_rows : int
        Rows below the header.
    format : str
        For example "CSV, cells separated by semicolons, Latin-1 (Windows)".
    notes : tuple of str
        What was decided while reading, in words.
    preview : tuple of tuple of str
        The first rows as text, cells cut to 60 characters and made safe to show.
    sha256 : str
        Checksum of the bytes.
    """

    name: str
    columns: tuple[Column, ...]
    n_rows: int
    format: str
    notes: tuple[str, ...] = ()
    preview: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    sha256: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, which: str | int) -> Column:
        """Return a column by name or position.

        Parameters
        ----------
        which : str or int
            Name, or position from 0. A text that is no name but a whole number counts from 1, as people do; with a
            minus, from the end.

        Returns
        -------
        Column

        Raises
        ------
        DataError
            If there is none; the message lists the names.
        """
        if isinstance(which, int | np.integer) and not isinstance(which, bool):
            if -len(self.columns) <= which < len(self.columns):
                return self.columns[int(which)]
            raise DataError(f"There is no column number {which}; the table has {len(self.columns)} columns.")
        wanted = clean_name(which)
        for column in self.columns:
            if column.name in (which, wanted):
                return column
        if re.fullmatch(r"-?[1-9]\d{0,5}", str(which)):
            place = int(which)
            if abs(place) <= len(self.columns):
                return self.columns[place - 1 if place > 0 else place]
        shown = listed([repr(name) for name in self.names], LISTED)
        raise DataError(
            f"There is no column {str(which)[:60]!r}. The table has {len(self.columns):,}: {shown}. A number from 1 to "
            f"{len(self.columns):,} names one by its place."
        )


LISTED = 60
"""So many names of columns a message lists."""


@dataclass
class _Raw:
    """Names and cells (arrays of pyarrow) before they are understood."""

    names: list[str]
    cells: list[Any]
    format: str
    notes: list[str] = field(default_factory=list)
    mark: Mark = ""
    marked: bool = False


def _bytes_of(source: str | Path | bytes | BinaryIO, name: str | None) -> tuple[bytes, str]:
    if isinstance(source, bytes | bytearray | memoryview):
        data, found = bytes(source), ""
    elif isinstance(source, str | Path):
        path = Path(source).expanduser()
        try:
            size = path.stat().st_size
            if size > MAX_FILE_BYTES:
                raise DataError(too_large(size))
            data = path.read_bytes()
        except OSError as error:
            raise DataError(f"The file {path} cannot be read: {error.strerror or error}.") from None
        found = path.name
    elif hasattr(source, "read"):
        data, found = source.read(MAX_FILE_BYTES + 1), str(getattr(source, "name", ""))
        if isinstance(data, str):
            data = data.encode()
    else:
        raise InputTypeError(f"A path, bytes, an open file or a data frame is needed, got {type(source).__name__}.")
    if len(data) > MAX_FILE_BYTES:
        raise DataError(too_large(len(data)))
    return data, name or Path(found).name


def too_large(size: int) -> str:
    """Return what is said about a file of so many bytes."""
    return f"The file has {size / 2**20:,.0f} MB. {LIMITS_IN_WORDS} Keep fewer rows or columns, or save it as Parquet."


def _is_number(text: str) -> bool:
    return bool(re.match(r"^\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*$", text))


def _read_text(data: bytes, name: str) -> _Raw:
    utf8, encoding, guessed = decode(data)
    del data
    if not utf8 or utf8.isspace():
        raise DataError("The file is empty.")
    head = utf8[:2000].lstrip().lower()
    if re.search(rb"(?im)^\s*@relation\b|^\s*@attribute\b", utf8[:20_000]):
        names, parsed = parse_arff(utf8)
        notes = [f"{parsed.mended:,} rows ended in one comma too many; it was removed."] if parsed.mended else []
        return _Raw(names, [*parsed.columns], f"ARFF, {encoding}", [*guessed, *notes], mark=".", marked=True)
    if head.startswith((b"<!doctype html", b"<html", b"<?xml", b"<svg")):
        raise DataError("This is a web page or XML, not a table. Save the table itself as CSV.")
    if head.startswith((b"{", b"[{")) and b":" in head:
        raise DataError("This is a JSON file. Save the table as CSV or Parquet.")
    ending = name.rsplit(".", 1)[-1].lower()
    delimiter = sniff_delimiter(utf8, {"csv": ",", "tsv": "\t", "tab": "\t"}.get(ending, ""))
    quote = '"'
    if not delimiter:
        squeezed = squeeze_blanks(utf8)
        if sniff_delimiter(squeezed) != "\t":
            raise DataError(
                "Only one column was found. A table needs at least two: one with labels and one to learn from. Cells "
                "are separated by commas, semicolons, tabs or |."
            )
        utf8, delimiter, quote = squeezed, "\t", ""
    check_before(utf8, delimiter, quote)
    parsed = parse_delimited(utf8, delimiter, quote=quote)
    kind = "Text in columns" if not quote else "TSV" if delimiter == "\t" else "CSV"
    shown = {"\t": "tabs", "|": "bars", ",": "commas", ";": "semicolons"}[delimiter]
    notes = [f"{parsed.mended:,} rows ended in one separator too many; it was removed."] if parsed.mended else []
    notes = [*guessed, *notes]
    del utf8
    columns = list(parsed.columns)
    del parsed
    first = [str(column[0]) for column in columns]
    if all(_is_number(cell) for cell in first):
        notes.append("The first row holds numbers only, so it is read as data, not as names of columns.")
        names = [f"column {j + 1}" for j in range(len(columns))]
    else:
        names, columns = first, [column.slice(1) for column in columns]
    told = f"{kind}, cells separated by {shown}, {encoding}"
    return _Raw(names, columns, told, notes, mark=decimal_mark(columns, delimiter))


def _read_parquet(data: bytes) -> _Raw:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(pa.BufferReader(data))
        schema = pq.read_schema(pa.BufferReader(data))
        kept = [field.name for field in schema if is_readable(field.type)]
        check_size(facts.num_rows, len(schema))
        if not kept:
            raise DataError("The Parquet file holds lists, other nested values or bytes only; there is nothing to use.")
        # What the file says about itself is checked first; a file that lies ends at the limit on memory.
        chosen = None if len(kept) == len(schema) else kept
        if chosen is not None and len(set(schema.names)) < len(schema):
            raise DataError("Several columns of the Parquet file have the same name. Give each its own.")
        for i in range(facts.num_row_groups):
            group = facts.row_group(i)
            parts = [group.column(j) for j in range(group.num_columns)]
            size = sum(part.total_uncompressed_size for part in parts if part.path_in_schema in kept)
            if size > MAX_UNPACKED_BYTES:
                raise DataError(f"The Parquet file unpacks to {size >> 20:,} MB. {LIMITS_IN_WORDS}")
        words = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        # Words stay in their dictionary: a few long ones repeated a million times would fill the memory otherwise.
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=words)
        batches, total = [], 0
        for batch in file.iter_batches(batch_size=65_536, columns=chosen, use_threads=False):
            total += batch.nbytes
            if total > MAX_UNPACKED_BYTES:
                raise DataError(
                    f"The Parquet file unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB. {LIMITS_IN_WORDS}"
                )
            for column, kind in zip(batch.columns, batch.schema, strict=True):
                if pa.types.is_dictionary(kind.type) and column.dictionary.nbytes > _LONGEST * len(column.dictionary):
                    raise DataError(f"Column {clean_name(kind.name)!r} holds texts of more than a million letters.")
            batches.append(batch)
        empty = pa.schema([field for field in schema if field.name in kept])
        table = pa.Table.from_batches(batches, schema=batches[0].schema if batches else empty)
        # Reading checks neither the letters of words nor where a dictionary points.
        table.validate(full=True)
    except (DataError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise DataError(f"The Parquet file is damaged or cut short ({str(error).splitlines()[0][:150]}).") from None
    if table.num_rows == 0:
        raise DataError("The table has names of columns but no rows.")
    # Columns that cannot be used keep their place: columns are also named by position.
    columns = list(table.columns) if chosen is None else [table.column(n) if n in kept else None for n in schema.names]
    return _Raw([str(name) for name in schema.names], columns, "Parquet")


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


def _first_cells(column: Any, rows: int) -> list[str]:  # noqa: ANN401 - an array of pyarrow, or None
    """Return the first cells as text."""
    if column is None:
        return ["…"] * rows
    return [_in_words(cell) for cell in column.slice(0, rows)]


def _in_words(cell: Any) -> str:  # noqa: ANN401 - a scalar of pyarrow
    import pyarrow as pa

    try:
        value = cell.as_py()
    except (LookupError, ValueError, OverflowError, OSError, pa.ArrowException):
        # Dates Python has not, or an unknown time zone (an error of `zoneinfo` or of `pytz`).
        return "…"
    return "" if value is None else str(value)


def _preview(raw: _Raw, n_rows: int) -> tuple[tuple[str, ...], ...]:
    rows = min(PREVIEW_ROWS, n_rows)
    shown = [[clean_name(cell[:200]) for cell in _first_cells(column, rows)] for column in raw.cells]
    return tuple(zip(*shown, strict=True)) if shown else ()


def open_table(source: str | Path | bytes | BinaryIO | pd.DataFrame, *, name: str | None = None) -> Table:
    r"""Read the user's own table and determine what its columns hold.

    CSV, TSV, text in columns, Excel workbooks (the first sheet with a table), ARFF and Parquet, also inside a zip or
    gzip file; the kind of file is determined from its content, not its name. Nothing is written to disk, unpickled or
    executed.

    Parameters
    ----------
    source : path, bytes, open binary file, or DataFrame
        The table.
    name : str, optional
        Name of the file, for bytes.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If it cannot be read or is larger than the limits (`LIMITS_IN_WORDS`); the message says why, where and what to
        do.

    Examples
    --------
    >>> table = open_table(b"age;class\n31,5;yes\n28,0;no\n", name="people.csv")
    >>> [(column.name, column.kind) for column in table.columns], table.format
    ([('age', 'number'), ('class', 'category')], 'CSV, cells separated by semicolons, UTF-8')
    """
    notes: list[str] = []
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        raw, title, checksum = _read_frame(source), name or "table", ""
    else:
        data, title = _bytes_of(source, name)
        if not data:
            raise DataError("The file is empty.")
        checksum = hashlib.sha256(data).hexdigest()
        data, inner, notes = unwrap(data, title, MAX_UNPACKED_BYTES)
        # Handed over, not kept: a text may be dropped as soon as its cells are made.
        content = [data]
        kind = kind_of(data)
        del data
        if kind in ("excel", "zip"):
            raw = _Raw(*read_workbook(content.pop(), packed=kind == "zip"), mark=".")
        else:
            raw = _read_parquet(content.pop()) if kind == "parquet" else _read_text(content.pop(), inner)
    n_rows = next((len(cells) for cells in raw.cells if cells is not None), 0)
    if not n_rows:
        raise DataError("The table has names of columns but no rows." if raw.cells else "The table has no columns.")
    check_size(n_rows, len(raw.cells))
    names, renamed = unique_names(raw.names)
    preview = _preview(raw, n_rows)
    notes += [*raw.notes, *renamed[:5]]
    if len(renamed) > 5:
        notes.append(f"{len(renamed) - 5} more columns had names that occur several times.")
    columns: list[Column] = []
    for j, column_name in enumerate(names):
        cells, raw.cells[j] = raw.cells[j], None  # each column's text is freed once it is understood
        if hasattr(cells, "combine_chunks"):
            cells = cells.combine_chunks()
        column = None if cells is None else understand(column_name, cells, raw.mark, marked=raw.marked)
        if column is None:
            notes.append(f"Column {column_name!r} holds lists or other nested values, or bytes, and is left out.")
            column = Column(column_name, "empty", np.full(n_rows, np.nan), missing=n_rows)
        columns.append(column)
        notes += [f"Column {column_name!r}: {note}." for note in column.notes]
    stem = re.sub(r"(\.(csv|tsv|txt|tab|dat|arff|parquet|xlsx?|xlsm|gz|zip))+$", "", title, flags=re.IGNORECASE)
    # The name stands in texts with markup: no marks, no address of a web page.
    stem = re.sub(r"[^\w .-]+", " ", clean_name(stem)).replace("www.", "www ").strip(" ._") or "table"
    return Table(stem, tuple(columns), n_rows, raw.format, tuple(notes), preview, checksum)
