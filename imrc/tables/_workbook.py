"""Excel workbooks to columns: the first sheet that holds a table."""

from __future__ import annotations

import datetime as dt
import io
import re
from typing import TYPE_CHECKING, Any

from imrc._checks import DataError
from imrc.tables._archives import members, unzip
from imrc.tables._columns import clean_name
from imrc.tables._numbers import LARGEST_EXACT, plain_number
from imrc.tables._text import MAX_UNPACKED_BYTES, check_size

if TYPE_CHECKING:
    import pyarrow as pa

_PLACE = re.compile(rb"""\sr=["']([A-Z]{0,3})(\d{1,7})["']""")
_SAVE = "Save the sheet as CSV (File, Save as, CSV UTF-8) and use that file."


def read_workbook(data: bytes, *, packed: bool) -> tuple[list[str], list[pa.Array], str, list[str]]:
    """Return names, cells, format and notes of a workbook; `packed`: an .xlsx file, which is a zip archive.

    Formulas count as the values Excel kept for them. Nothing in the workbook is executed.

    Raises
    ------
    DataError
        If it is damaged, protected or too large, or no sheet holds a table.
    """
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    if packed:
        _check_sheets(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        for name in sheets:
            sheet = book.get_sheet_by_name(name)
            check_size(sheet.height, sheet.width)
            if sheet.height > 1 and sheet.width > 1:
                rows = list(sheet.iter_rows())
                break
        else:
            raise DataError("No sheet of this Excel workbook has two columns and two rows.")
    except (DataError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        why = clean_name(str(error).splitlines()[0][:150]) if str(error) else "it is damaged"
        raise DataError(f"This Excel workbook cannot be read ({why}). {_SAVE}") from None
    return _table(rows, name, sheets)


def _check_sheets(data: bytes) -> None:
    """Raise DataError for a workbook whose sheets reach further than a table may: empty cells take memory, too."""
    left = MAX_UNPACKED_BYTES
    for member in members(data):
        if not member.startswith("xl/") or not member.endswith(".xml"):
            continue
        part = unzip(data, member, left)
        left -= len(part)
        if member.startswith("xl/worksheets/"):
            rows, letters = 0, set()
            for place in _PLACE.finditer(part):
                letters.add(place[1])
                rows = max(rows, int(place[2]))
            check_size(rows, max(map(_number, letters), default=0))


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _table(rows: list[list[Any]], name: str, sheets: list[str]) -> tuple[list[str], list[pa.Array], str, list[str]]:
    notes = []
    if len(sheets) > 1:
        notes.append(f"The workbook has {len(sheets)} sheets; {clean_name(name)!r} is read, the others are not.")
    filled = [sum(cell != "" for cell in row) for row in rows]
    above = next((place for place, count in enumerate(filled) if count > 1), 0)
    if titles := sum(count > 0 for count in filled[:above]):
        notes.append(f"{titles} row{'s' * (titles != 1)} above the names of the columns left out.")
    rows = [row for row, count in zip(rows[above:], filled[above:], strict=True) if count]
    first = rows[0] if rows else []
    if all(isinstance(cell, (int, float)) or cell == "" for cell in first):
        notes.append("The first row holds numbers only, so it is read as data, not as names of columns.")
        first = [""] * len(first)
    else:
        rows = rows[1:]
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in first]
    used = [j for j, cells in enumerate(columns) if first[j] != "" or any(cell != "" for cell in cells)]
    names = [_in_words(first[j]) or f"column {j + 1}" for j in used]
    return names, [_cells(columns[j]) for j in used], f"Excel workbook, sheet {clean_name(name)!r}", notes


def _cells(values: list[Any]) -> pa.Array:
    """Return the cells of a column: numbers, dates or yes and no if all are, otherwise text."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value != ""}
    known = [None if value == "" else value for value in values]
    if kinds <= {int, float}:
        whole = all(value is None or (float(value).is_integer() and abs(value) < LARGEST_EXACT) for value in known)
        return pa.array(known, pa.float64()).cast(pa.int64() if whole else pa.float64())
    if kinds == {dt.date}:
        return pa.array(known, pa.date32())
    if kinds <= {dt.date, dt.datetime}:
        moments = [v if v is None or isinstance(v, dt.datetime) else dt.datetime.combine(v, dt.time()) for v in known]
        return pa.array(moments, pa.timestamp("us"))
    if kinds == {bool}:
        return pa.array(known, pa.bool_())
    return pa.array([_in_words(value) for value in values], pa.string())


def _in_words(value: Any) -> str:  # noqa: ANN401 - what a sheet holds
    return plain_number(value) if isinstance(value, float) else str(value)
