"""Text to columns of strings: encoding, delimiter, quotes, and rows that do not fit."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from imrc._checks import DataError

if TYPE_CHECKING:
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
_SAMPLE = 1 << 16
_CHUNK = 1 << 22
_BLOCK = 1 << 24
_MOST_BAD = 1000
_AROUND = 500
MOST_NAMED = 100_000
"""Rows that do not fit of which the text is kept."""
_DELIMITERS = (",", ";", "\t", "|")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESSED = {
    "cp1252": "Latin-1 (Windows)",
    "gb18030": "GB18030 (Chinese)",
    "cp932": "Shift-JIS (Japanese)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "euc_kr": "EUC-KR (Korean)",
    "big5": "Big5 (Chinese)",
    "euc_jp": "EUC-JP (Japanese)",
    "koi8_r": "KOI8-R (Cyrillic)",
}
"""Encodings that files without a mark are tried for; earlier ones win where several fit equally."""

_NAMES = {"utf-8-sig": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", **_GUESSED}


@dataclass(frozen=True)
class TextTable:
    """Columns of strings of one length, cells as they stand in the file, without quotes.

    `mended` counts rows from which a stray delimiter at the end was removed.
    """

    columns: tuple[pa.Array, ...]
    mended: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0


def decode(data: bytes) -> tuple[bytes, str, list[str]]:
    """Return the text as UTF-8 bytes without mark, the name of the encoding it was in, and notes on what was guessed.

    Examples
    --------
    >>> decode("a;b".encode("utf-16"))
    (b'a;b', 'UTF-16', [])
    """
    encoding, head = next((name for mark, name in _BOMS if data.startswith(mark)), ""), data[:4096]
    if not encoding and head.count(0) > len(head) // 4:  # every other byte of Latin text in UTF-16 is zero
        encoding = "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
    notes: list[str] = []
    if encoding in ("", "utf-8-sig"):
        data, encoding = data.removeprefix(codecs.BOM_UTF8), "utf-8"
        bad = _bad_bytes(data)
        if bad and _is_mostly_utf8(data, len(bad)):
            lines = sorted({_line_ends(data[:position]) + 1 for position in bad[:20]})
            data = data.decode("utf-8", errors="backslashreplace").encode()
            where = ", ".join(f"{line:,}" for line in lines[:5]) + (" and others" if len(lines) > 5 else "")
            notes.append(
                f"The file is UTF-8, but line{'s' * (len(lines) > 1)} {where} of it (the first is line 1) "
                f"hold{'s' * (len(lines) == 1)} bytes that are not; they are shown by their numbers. "
                "Correct them, or save the file again as UTF-8."
            )
        elif bad:
            encoding = _guess(data)
    if encoding != "utf-8":
        data = _as_utf8(data, encoding)
    if b"\0" in data:
        raise DataError("The file is not a table of text: it holds binary data.")
    if encoding in _GUESSED:
        word = re.search(r"[^\W\d_]*[^\x00-\x7f][^\W\d_]*", data[: 4 * _SAMPLE].decode("utf-8", errors="ignore"))
        seen = f", for example {word[0][:30]!r}" if word else ""
        notes.append(
            f"The file does not say how its letters are written. They were read as {_GUESSED[encoding]}{seen}; if they "
            "look wrong, save the file again as UTF-8."
        )
    return data.removeprefix("\ufeff".encode()), _NAMES.get(encoding, encoding.upper()), notes


def _line_ends(data: bytes) -> int:
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def _bad_bytes(data: bytes) -> list[int]:
    """Return where bytes are that are not UTF-8, at most `_MOST_BAD` of them."""
    bad: list[int] = []
    start, size, view = 0, _CHUNK, memoryview(data)
    while start < len(data) and len(bad) < _MOST_BAD:
        try:
            _, used = codecs.utf_8_decode(view[start : start + size], "strict", start + size >= len(data))
            start, size = start + used, min(2 * size, _CHUNK)
        except UnicodeDecodeError as error:
            bad.append(start + error.start)
            start, size = start + error.end, 1 << 12  # more of them are near
    return bad


def _is_mostly_utf8(data: bytes, bad: int) -> bool:
    """Whether a text with so many bytes that are not UTF-8 has more letters that are, which is no accident."""
    letters = re.finditer(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}", data)
    return bad < _MOST_BAD and sum(1 for _ in islice(letters, bad)) >= bad


def _lines_with_letters(data: bytes) -> Iterator[bytes]:
    """Yield the lines that hold other bytes than ASCII, of long ones the part around these."""
    end = 0
    for found in re.finditer(rb"[\x80-\xff]+", data):
        if found.start() >= end:
            least = max(end, found.start() - _AROUND)
            start = max(data.rfind(mark, least, found.start()) + 1 for mark in (b"\n", b"\r"))
            stop = re.compile(rb"[\r\n]").search(data, found.end(), found.end() + _AROUND)
            end = stop.start() if stop else found.end() + _AROUND
            yield data[max(start, least) : end]


def _guess(data: bytes) -> str:
    """Return the encoding of a text that is not UTF-8, from the lines with other letters than ASCII."""
    from charset_normalizer import from_bytes

    sample = b"\n".join(dict.fromkeys(islice(_lines_with_letters(data), 2000)))[:_SAMPLE]
    found = list(from_bytes(sample, cp_isolation=list(_GUESSED)))
    if not found:
        # Too little to tell by letters. In western words accents stand alone; other alphabets have whole words of them.
        high = len(re.findall(rb"[\x80-\xff]", sample))
        together = sum(len(run) for run in re.findall(rb"[\xc0-\xff]{2,}", sample))
        return "cp1251" if 2 * together > high else "cp1252"
    best = found[0]
    equal = [match for match in found if match.chaos <= best.chaos + 0.02 and match.coherence >= best.coherence - 0.1]
    names = {match.encoding for match in equal} | {
        name for match in equal for name in match.could_be_from_charset if name in _GUESSED
    }
    if sum(map(len, re.findall(rb"[\x80-\xff]{4,}", sample))) > len(re.findall(rb"[\x80-\xff]", sample)) / 2:
        # No western word has so many accents in a row.
        names = names - {"cp1252", "cp1250", "cp1254"} or {"cp932" if _decodes(sample, "cp932") else "gb18030"}
    return next((name for name in _GUESSED if name in names), best.encoding)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _as_utf8(data: bytes, encoding: str) -> bytes:
    """Return a text as UTF-8, piece by piece: as one string it may take four times the memory."""
    known = encoding not in _GUESSED
    decoder = codecs.getincrementaldecoder(encoding)("strict" if known else "backslashreplace")
    whole = io.BytesIO()
    for start in range(0, len(data), _CHUNK):
        try:
            whole.write(decoder.decode(data[start : start + _CHUNK], start + _CHUNK >= len(data)).encode())
        except UnicodeError:
            raise DataError(
                f"The file says it is {_NAMES.get(encoding, encoding.upper())} but a byte near number {start + 1:,} "
                "does not fit. Save it again as UTF-8."
            ) from None
        if whole.tell() > MAX_UNPACKED_BYTES:
            raise DataError(f"The text takes more than {MAX_UNPACKED_BYTES >> 20} MB as UTF-8. {LIMITS_IN_WORDS}")
    return whole.getvalue()


def count_outside(data: bytes, marks: bytes, quote: str) -> int:
    r"""Return how often any of some bytes occurs outside quotation marks.

    Examples
    --------
    >>> count_outside(b'a,"b,c\n",d\n', b",\n", '"')
    3
    """
    total = sum(data.count(mark) for mark in marks)
    if not quote or quote.encode() not in data:
        return total
    total, inside = 0, 0
    for start in range(0, len(data), _CHUNK):
        piece = np.frombuffer(data, np.uint8, min(_CHUNK, len(data) - start), start)
        quoted = (np.cumsum(piece == ord(quote)) + inside) & 1
        total += int((np.isin(piece, np.frombuffer(marks, np.uint8)) & (quoted == 0)).sum())
        inside = int(quoted[-1])
    return total


def check_size(rows: int, columns: int) -> None:
    """Raise DataError for a table that is larger than the limits."""
    if columns > MAX_COLUMNS:
        raise DataError(f"The table has {columns:,} columns. {LIMITS_IN_WORDS}")
    if rows > MAX_ROWS or rows * columns > MAX_CELLS:
        raise DataError(f"The table has {rows:,} rows and {columns:,} columns. {LIMITS_IN_WORDS} Keep fewer of them.")


def check_before(data: bytes, delimiter: str, quote: str) -> None:
    """Raise DataError for a text with more rows or cells than a table may have, before any is made."""
    rows = _line_ends(data)
    if rows > MAX_ROWS:
        rows = count_outside(data, b"\r\n", quote) - data.count(b"\r\n")  # nearly right if cells hold line ends
    columns = first_record_cells(data, delimiter, quote)
    if rows > MAX_ROWS or rows * columns > MAX_CELLS:
        check_size(rows - 1, columns)  # the first one is the header
    cells = data.count(delimiter.encode()) + rows
    if cells > MAX_CELLS:
        cells = count_outside(data, delimiter.encode(), quote) + rows
    if cells > MAX_CELLS:
        raise DataError(
            f"The table has {cells:,} cells in {rows:,} rows. {LIMITS_IN_WORDS} Keep fewer rows or columns; if it has "
            "far fewer, look for separators at the ends of rows."
        )


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


def first_record_cells(data: bytes, delimiter: str, quote: str) -> int:
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
        if len(bad) < MOST_NAMED:
            bad.append(row)
        return "skip"

    names = [f"f{i}" for i in range(n_columns)]

    def table_of(block: int) -> pa.Table:
        bad.clear()
        return csv.read_csv(
            pa.BufferReader(data),
            # One thread, because only then rows that do not fit have numbers.
            read_options=csv.ReadOptions(use_threads=False, block_size=block, column_names=names),
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

    # Piece by piece takes half the memory, but a row must fit into two of them. For each column room for a whole piece
    # is set aside, so pieces of wide tables are smaller.
    block = _BLOCK if n_columns <= 100 else _BLOCK // 8
    if len(data) > 2 * block:
        try:
            return table_of(block), bad
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise
    return table_of(len(data) + 16), bad


def _without_stray_end(
    data: bytes, bad: Sequence[Any], delimiter: str, quote: str, n_columns: int
) -> tuple[bytes, int] | None:
    """Remove one delimiter at the end of rows that have one cell too many; None if rows fail otherwise."""
    for row in bad:
        if row.actual_columns != row.expected_columns + 1 or not row.text.rstrip("\r\n ").endswith(delimiter):
            return None
    wanted = {row.text.strip("\r\n").encode() for row in bad}
    mark, lines, mended = delimiter.encode(), data.splitlines(keepends=True), 0
    for number, line in enumerate(lines):
        body = line.strip(b"\r\n")
        plain = line.count(mark) == n_columns and body.endswith(mark) and not (quote and quote.encode() in line)
        if plain or body in wanted:
            lines[number] = body.rstrip(b" ")[: -len(mark)] + b"\n"
            mended += 1
    return b"".join(lines), mended


def parse_delimited(data: bytes, delimiter: str, *, quote: str = '"', header_lines: int = 1) -> TextTable:
    """Parse UTF-8 text into columns of strings, every row with as many cells as the first; else DataError names rows.

    Cells may stand in quotation marks (`quote`, empty for none), doubled inside them. Row numbers in messages do not
    count the first `header_lines`.
    """
    import pyarrow as pa

    n_columns = first_record_cells(data, delimiter, quote)
    mended = 0
    try:
        table, bad = _read(data, delimiter, quote, n_columns)
        if bad:
            repaired = _without_stray_end(data, bad, delimiter, quote, n_columns)
            if repaired is not None:
                data, mended = repaired
                table, bad = _read(data, delimiter, quote, n_columns)
    except pa.ArrowInvalid as error:
        raise DataError(f"The table cannot be read: {_explain(str(error))}") from None
    if bad:
        raise DataError(_ragged(bad, n_columns, header_lines))
    columns = table.columns
    del table, data
    for j, column in enumerate(columns):  # one after the other: the pieces of each are dropped when they are one
        columns[j] = column.combine_chunks()
    return TextTable(tuple(columns), mended)


def _ragged(bad: Sequence[Any], n_columns: int, header_lines: int) -> str:
    named = []
    for row in bad[:3]:
        number = (row.number or 0) - header_lines
        where = f"row {number:,}" if row.number else "a row"
        named.append(f"{where} has {row.actual_columns} cell{'s' * (row.actual_columns != 1)}")
    count = f"{len(bad) - 3:,}" if len(bad) < MOST_NAMED else f"at least {len(bad) - 3:,}"
    more = f" and {count} more rows do not fit" if len(bad) > 3 else ""
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
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # Line by line in pieces: a substitution keeps every part it has found in a list of its own.
    squeezed, start = io.BytesIO(), 0
    while start < len(data):
        end = data.find(b"\n", start + _CHUNK // 4) + 1 or len(data)
        piece = re.sub(rb"[ \t]+", b"\t", data[start:end])
        squeezed.write(re.sub(rb"(?m)^\t|\t$", b"", piece))
        start = end
    return squeezed.getvalue()
