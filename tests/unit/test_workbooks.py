"""Excel workbooks: the table in them is the one its CSV file gives, and whatever is no table gets a message."""

from __future__ import annotations

import contextlib
import datetime as dt
import io

import numpy as np
import openpyxl
import pytest

from imrc.datasets import DataError, open_table, open_upload
from tests.unit.nasty_files import zipped

ROWS = [
    ("day", "x", "state", "count", "code"),
    *(
        (dt.date(2020, 1, 1 + i), 1.5 * i, "fault" if i % 3 else "ok", 10 * i, f"A{i}" if i % 2 else 7)
        for i in range(12)
    ),
]


def workbook(*sheets: list[tuple], names: tuple[str, ...] = ("first", "second", "third")) -> bytes:
    """Return an .xlsx file with these rows in its sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in zip(names, sheets, strict=False):
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def csv(rows: list[tuple]) -> bytes:
    return "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows).encode()


@pytest.mark.parametrize("read", [open_table, open_upload])
@pytest.mark.parametrize("gap", [None, (4, 1), (0, 3)])
def test_a_sheet_gives_the_table_of_its_csv_file(read, gap):
    rows = [list(row) for row in ROWS]
    if gap is not None:
        rows[gap[0]][gap[1]] = None
    got, wanted = read(workbook(rows), name="pumps.xlsx"), open_table(csv(rows), name="pumps.csv")
    assert (got.name, got.n_rows, got.names) == (wanted.name, wanted.n_rows, wanted.names)
    assert got.format == "Excel workbook, sheet 'first'"
    for mine, other in zip(got.columns, wanted.columns, strict=True):
        assert (mine.kind, mine.missing, mine.categories) == (other.kind, other.missing, other.categories)
        np.testing.assert_array_equal(mine.values, other.values)


def test_titles_above_the_table_and_sheets_without_one_are_passed_over_and_that_is_said():
    notes = workbook([("Readings of pumps",), (), *ROWS], [("a", "b"), (1, 2)])
    table = open_table(notes, name="pumps.xlsx")
    assert table.names == ROWS[0]
    assert table.n_rows == 12
    assert any("1 row above" in note for note in table.notes)
    assert any("2 sheets" in note and "'first'" in note for note in table.notes)
    assert "sheet 'second'" in open_table(workbook([("only text",)], ROWS), name="x.xlsx").format


def test_numbers_without_names_are_data_and_moments_and_truth_values_are_kept():
    bare = open_table(workbook([(1, 2.5), (3, 4.5)]))
    assert (bare.names, bare.n_rows) == (("column 1", "column 2"), 2)
    rows = [("when", "on"), (dt.datetime(2020, 1, 1, 12, 30), True), (dt.date(2020, 1, 2), False)]
    when, on = open_table(workbook(rows)).columns
    np.testing.assert_array_equal(when.values, open_table(csv(rows)).columns[0].values)
    assert when.kind == "date"
    assert on.kind == "category"
    assert on.distinct == 2


def far() -> bytes:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "x", "y"
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda: workbook([("one column",), (1,)]), "No sheet"),
        (lambda: workbook([("a", "b")]), "No sheet"),
        (lambda: workbook(ROWS)[:-300], "damaged"),
        (lambda: zipped({"xl/workbook.xml": b"<x/>", "[Content_Types].xml": b"<x/>"}), "cannot be read"),
        (lambda: zipped({"xl/workbook.bin": b"x"}), "binary Excel workbook"),
        (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "cannot be read"),
        (far, "16,384 columns"),
        (lambda: zipped({"xl/workbook.xml": b"<x/>", "xl/worksheets/sheet1.xml": b" " * (257 << 20)}), "unpacks to"),
    ],
)
def test_what_is_no_table_gets_a_message(content, message):
    with pytest.raises(DataError, match=message):
        open_table(content(), name="book.xlsx")


@pytest.mark.slow
def test_any_cut_or_changed_byte_gives_a_table_or_a_message():
    whole, rng = workbook(ROWS), np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 200):
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        for content in (bytes(changed), whole[:place]):
            with contextlib.suppress(DataError):
                assert open_table(content, name="book.xlsx").n_rows > 0
