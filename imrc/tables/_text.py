"""Text to columns of strings: encoding, delimiter, quotes, and rows that do not fit."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from imrc._checks import DataError

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COLUMNS = 5000
_SAMPLE = 1 << 16
_DELIMITERS = (",", ";", "\t", "|")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = {"utf-8-sig": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Latin-1 (Windows)"}


@dataclass(frozen=True)
class TextTable:
    """Columns of strings.

    Attributes
    ----------
    columns : tuple of pyarrow string arrays
        One per column, all of one length; cells as they stand in the file, without quotes.
    mended : int
        Rows from which a stray delimiter at the end was removed.
    """

    columns: tuple[pa.Array, ...]
    mended: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0


def decode(data: bytes) -> tuple[bytes, str]:
    """Return the text as UTF-8 bytes without mark, and the name of the encoding it was in.

    Examples
    --------
    >>> decode("a;b".encode("utf-16"))
    (b'a;b', 'UTF-16')
    """
    encoding, head = next((name for mark, name in _BOMS if data.startswith(mark)), ""), data[:4096]
    if not encoding and head.count(0) > len(head) // 4:  # every other byte of Latin text in UTF-16 is zero
        encoding = "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if encoding:
            raise DataError(
                f"The file says it is {_NAMES.get(encoding, encoding.upper())} but byte {error.start + 1:,} does not "
                "fit. Save it again as UTF-8."
            ) from None
        encoding = "cp1252"
        text = data.decode(encoding, errors="replace")
    if "\0" in text:
        raise DataError("The file is not a table of text: it holds binary data.")
    if not encoding:
        return data, "UTF-8"
    return text.lstrip("\ufeff").encode("utf-8"), _NAMES.get(encoding, encoding.upper())


def sniff_delimiter(data: bytes, preferred: str = "") -> str:
    r"""Return the delimiter that cuts the first lines into the same number of cells; "" if there is none.

    Examples
    --------
    >>> sniff_delimiter(b"a;b\n1,5;2\n3,1;4\n")
    ';'
    """
    text = data[:_SAMPLE].decode("utf-8", errors="ignore")
    text = re.sub(r'"(?:[^"]|"")*"', "q", text)  # what is in quotes does not count
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()]
    if len(lines) > 2 and len(data) > _SAMPLE:
        del lines[-1]  # it may be cut in the middle
    lines = lines[:200]
    best, best_score = "", 0.0
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        usual = max(set(counts), key=lambda value: (counts.count(value), value)) if counts else 0
        if usual == 0:
            continue
        # The same count in every line is worth most; more cells break ties; the file's ending tells a little.
        score = counts.count(usual) / len(counts) + min(usual, 50) * 1e-4 + (0.05 if delimiter == preferred else 0.0)
        if counts[0] == 0:
            score -= 0.5
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _first_record_cells(data: bytes, delimiter: str, quote: str) -> int:
    """Return the number of cells in the first line that is not empty, quotes respected."""
    marks = (delimiter + quote + "\r\n").encode()
    start = len(data) - len(data.lstrip(b"\r\n"))
    cells, inside = 1, False
    for count, found in enumerate(re.finditer(b"[" + re.escape(marks) + b"]", data)):
        if found.start() < start:
            continue
        mark = found.group()
        if quote and mark == quote.encode():
            inside = not inside
        elif mark in b"\r\n":
            if not inside:
                return cells
        elif not inside:
            cells += 1
        if cells > MAX_COLUMNS or count > 1_000_000:
            raise DataError(f"The first line of the file has more than {MAX_COLUMNS:,} cells; that is too many.")
    return cells


def _read(data: bytes, delimiter: str, quote: str, n_columns: int) -> tuple[pa.Table, list[Any]]:
    import pyarrow as pa
    from pyarrow import csv

    bad: list[Any] = []

    def invalid(row: Any) -> str:  # noqa: ANN401 - pyarrow's row object
        if len(bad) < 100_000:
            bad.append(row)
        return "skip"

    names = [f"f{i}" for i in range(n_columns)]
    table = csv.read_csv(
        pa.BufferReader(data),
        # One thread, because only then rows that do not fit have numbers; one block, because a row must fit into it.
        read_options=csv.ReadOptions(use_threads=False, block_size=len(data) + 16, column_names=names),
        parse_options=csv.ParseOptions(
            delimiter=delimiter,
            quote_char=quote or False,
            double_quote=bool(quote),
            newlines_in_values=True,
            ignore_empty_lines=True,
            invalid_row_handler=invalid,
        ),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=True
        ),
    )
    return table, bad


def _without_stray_end(data: bytes, bad: Sequence[Any], delimiter: str) -> bytes | None:
    """Remove one delimiter at the end of rows that have one cell too many; None if rows fail otherwise."""
    texts = {row.text.strip("\r\n") for row in bad}
    for row in bad:
        if row.actual_columns != row.expected_columns + 1 or not row.text.rstrip().endswith(delimiter):
            return None
    wanted = {text.encode() for text in texts}
    lines = data.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip(b"\r\n") in wanted:
            body = line.rstrip()
            lines[number] = body[: -len(delimiter.encode())] + b"\n"
    return b"".join(lines)


def parse_delimited(data: bytes, delimiter: str, *, quote: str = '"', header_lines: int = 1) -> TextTable:
    """Parse UTF-8 text into columns of strings, every row with as many cells as the first.

    Cells may stand in quotation marks (`quote`, empty for none), doubled inside them. Row numbers in messages do not
    count the first `header_lines`.

    Raises
    ------
    DataError
        If rows have different numbers of cells; the message names the first ones.
    """
    import pyarrow as pa

    n_columns = _first_record_cells(data, delimiter, quote)
    mended = 0
    try:
        table, bad = _read(data, delimiter, quote, n_columns)
        if bad:
            repaired = _without_stray_end(data, bad, delimiter)
            if repaired is not None:
                mended = len(bad)
                table, bad = _read(repaired, delimiter, quote, n_columns)
    except pa.ArrowInvalid as error:
        raise DataError(f"The table cannot be read: {_explain(str(error))}") from None
    if bad:
        raise DataError(_ragged(bad, n_columns, header_lines))
    return TextTable(tuple(column.combine_chunks() for column in table.columns), mended)


def _ragged(bad: Sequence[Any], n_columns: int, header_lines: int) -> str:
    named = []
    for row in bad[:3]:
        number = (row.number or 0) - header_lines
        where = f"row {number:,}" if row.number else "a row"
        named.append(f"{where} has {row.actual_columns} cell{'s' * (row.actual_columns != 1)}")
    more = f" and {len(bad) - 3:,} more rows do not fit" if len(bad) > 3 else ""
    return (
        f"The first line of the file has {n_columns} cells, but {', '.join(named)}{more}. Every row needs the same "
        "number of cells (rows are counted below the header). Look for a missing or extra separator, or for a "
        "quotation mark that is not closed."
    )


def _explain(message: str) -> str:
    first = message.splitlines()[0] if message else "unknown reason"
    if "Empty CSV" in first:
        return "it is empty."
    if "UTF8" in first or "UTF-8" in first:
        return "a cell holds bytes that are not text. Save the file again as UTF-8."
    return f"{first[:200]}."


def squeeze_blanks(data: bytes) -> bytes:
    r"""Turn columns separated by runs of blanks into columns separated by tabs.

    Examples
    --------
    >>> squeeze_blanks(b"  1   2\n 10  20 \n")
    b'1\t2\n10\t20\n'
    """
    data = re.sub(rb"[ \t]+", b"\t", data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    return re.sub(rb"(?m)^\t|\t$", b"", data)
