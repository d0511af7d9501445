"""What stands in the cells of a person's table is read as it is meant, or it is said what was not."""

import bz2
import io
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imrc.datasets import DataError, cut_table, open_table, read_table, suggest
from tests.unit.nasty_files import table, zipped


def column(cells, separator=";", name="c", ending="data.csv"):
    """Return how a column of these cells is read, beside a column of numbers."""
    quoted = ['"' + str(cell).replace('"', '""') + '"' for cell in cells]
    lines = [f"{name}{separator}n", *(f"{cell}{separator}{i + 10}" for i, cell in enumerate(quoted))]
    return open_table("\n".join(lines).encode(), name=ending).column(name)


def moments(cells):
    found = column(cells)
    assert found.kind == "date", (found.kind, found.notes)
    return found.values.astype("datetime64[s]").astype(str).tolist()


# Dates


@pytest.mark.parametrize(
    ("cells", "first", "said"),
    [
        (["01/02/98", "13/02/98"], "1998-02-01T00:00:00", "'01/02/98' is in 1998"),
        (["31.12.68", "01.01.69"], "2068-12-31T00:00:00", "1969 to 2068"),
        (["02/13/2020", "02/01/2020"], "2020-02-13T00:00:00", "month/day/year"),
        (["1/2/2020", "3/4/2020"], "2020-02-01T00:00:00", "day/month/year"),
        (["2020-01-05 10:11:12", "2020-01-05 10:11:13"], "2020-01-05T10:11:12", ""),
        (["2020-01-05 10:11 PM", "2020-01-05 12:11 am"], "2020-01-05T22:11:00", ""),
        (["2020-01-05T10:00+02:00", "2020-01-05T11:00+02:00"], "2020-01-05T10:00:00", "in zone +02:00"),
        (["2020-01-05T10:00+02:00", "2020-01-05T11:00+01:00"], "2020-01-05T08:00:00", "several zones (+01:00, +02:00)"),
        (["2020-01-05T10:00Z", "2020-01-05T11:00"], "2020-01-05T10:00:00", "several zones (none, Z)"),
        (["5 Jan 2020", "17 October 2021"], "2020-01-05T00:00:00", ""),
        (["Jan 5, 2020", "October 17, 2021"], "2020-01-05T00:00:00", ""),
        (["Mon, 05-Jan-20", "Tue, 06-Jan-20"], "2020-01-05T00:00:00", "two digits"),
    ],
)
def test_dates(cells, first, said):
    assert moments(cells)[0] == first
    assert said in " ".join(column(cells).notes)


@pytest.mark.parametrize(
    ("cells", "first", "period"),
    [
        (["2018-Q1", "2018-Q2"], "2018-01-01", "quarter"),
        (["Q4 2018", "Q1 2019"], "2018-10-01", "quarter"),
        (["2024-W07", "2024-W08"], "2024-02-12", "week"),
        (["2020-W53", "2021-W01"], "2020-12-28", "week"),
        (["KW 7 2024", "KW 8 2024"], "2024-02-12", "week"),
        (["Jan 2024", "Feb 2024"], "2024-01-01", "month"),
        (["2024-01", "2024-02"], "2024-01-01", "month"),
        (["März 2024", "Dez 2024"], "2024-03-01", "month"),
    ],
)
def test_weeks_months_and_quarters_are_periods(cells, first, period):
    found = column(cells)
    assert (found.kind, found.period) == ("date", period)
    assert moments(cells)[0].startswith(first)


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("31.04.2020", "April has 30 days"),
        ("29.02.2021", "February 2021 has 28 days"),
        ("12.13.2020", "cannot be a date"),
    ],
)
def test_a_date_that_does_not_exist_is_an_error_with_row_and_column(cell, why):
    cells = [f"{day:02d}.03.2020" for day in range(1, 29)]
    with pytest.raises(DataError, match=rf"Column 'c', row 8: '{cell}'.*{why}.*Correct it"):
        column([*cells[:7], cell, *cells[7:]])


def test_a_few_cells_that_are_no_dates_count_as_missing_and_are_named():
    found = column([*(f"2020-01-{day:02d}" for day in range(1, 20)), "later"])
    assert (found.kind, found.missing) == ("date", 1)
    assert "'later' in row 20" in found.notes[0]


@pytest.mark.parametrize(
    "cells", [["12-34-5678", "98-76-5432"], ["1.2.3", "1.2.4"], ["abc 2020", "def 2020"], ["13/25/2020", "40/50/2020"]]
)
def test_what_only_resembles_dates_is_not(cells):
    assert column(cells * 5).kind == "category"


def test_seconds_and_their_parts_keep_tasks_and_labels_apart():
    times = ["2020-01-01 10:00:01", "2020-01-01 10:00:02", "2020-01-01 10:00:02.5"]
    rows = "".join(f"{times[i // 4]},{i % 3},{'ab'[i % 2]}\n" for i in range(12))
    cut = cut_table(open_table(f"t,x,y\n{rows}".encode()), label="y", task="t", period="value")
    assert cut.sequence.labels == tuple(times)
    rows = "".join(f"{i},{times[i % 3]}\n" for i in range(12))
    sequence = read_table(f"x,y\n{rows}".encode(), label="y", block=6)
    assert sequence.classes.tolist() == times


def test_quarters_make_tasks_and_are_never_taken_for_the_label():
    rows = "".join(f"{i * 37 % 160 * 7.5},{i % 70},20{18 + i // 80}-Q{i // 20 % 4 + 1}\n" for i in range(160))
    opened = open_table(f"revenue,x,quarter\n{rows}".encode())
    guessed = suggest(opened)
    assert (guessed.label, guessed.task, guessed.period) == (None, "quarter", "quarter")
    cut = cut_table(opened, label="revenue", task="quarter", threshold="median")
    assert cut.sequence.labels[:2] == ("2018 Q1", "2018 Q2")
    with pytest.raises(DataError, match="one date per quarter"):
        cut_table(opened, label="revenue", task="quarter", period="month", threshold="median")


@pytest.mark.parametrize("how", [{"task": "x"}, {"block": 4}])
def test_a_period_of_what_is_no_date_is_refused(how):
    with pytest.raises(DataError, match="A task per month cannot be made of"):
        cut_table(open_table(table().encode()), label="y", period="month", **how)


# Numbers


@pytest.mark.parametrize(
    ("cells", "values", "said"),
    [
        (["1.234,50", "7,25"], [1234.5, 7.25], "decimal commas"),
        (["1,234.50", "7.25"], [1234.5, 7.25], "groups of three digits"),
        (["1 234,50", "7,25"], [1234.5, 7.25], "groups of three digits"),
        (["1\u202f234,50", "7,25"], [1234.5, 7.25], "groups of three digits"),
        (["1'234.50", "7.25"], [1234.5, 7.25], "groups of three digits"),
        (["1.234.567", "2.000"], [1234567, 2000], "groups of three digits"),
        (["12 %", "7%"], [12, 7], "'%' was left out"),
        (["€ 5", "€1.234,50"], [5, 1234.5], "'€' was left out"),
        (["-5 €", "−7,5 €"], [-5, -7.5], "'€' was left out"),
        (["5 kg", "7.5 kg"], [5, 7.5], "'kg' was left out"),
        (["1,5e3", "2,5"], [1500, 2.5], "decimal commas"),
    ],
)
def test_numbers_written_for_people(cells, values, said):
    found = column(cells)
    assert found.kind == "number", found.notes
    assert found.values.tolist() == values
    assert said in " ".join(found.notes)


def test_three_digits_after_a_mark_are_read_like_the_rest_of_the_table_and_otherwise_said():
    text = 'a;b\n1.234;"1.234,50"\n5.678;"2,5"\n'
    assert open_table(text.encode()).column("a").values.tolist() == [1234, 5678]
    found = column(["1.234", "5.678"])
    assert found.values.tolist() == [1.234, 5.678]
    assert "if they group thousands" in found.notes[0]
    assert not column(["1.234", "5.67"]).notes
    assert column(["1,234", "5,678"], separator=",").values.tolist() == [1234, 5678]
    assert "'1,234' in row 1" in column(["1,234", "5,678"], separator=",").notes[0]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["5 kg", "300 mg"], "different units ('kg', 'mg')"),
        (["1.5", "2,5", "1.2", "2,2"], "some numbers have decimal points, others decimal commas"),
        (["1A", "2B"], ""),
        (["1.2.3,4", "5"], ""),
    ],
)
def test_what_cannot_be_read_as_numbers_stays_words_and_says_why(cells, said):
    found = column(cells)
    assert found.kind == "category"
    assert said in " ".join(found.notes)


@pytest.mark.parametrize(
    "cells",
    [
        ["1234567", "1234568", "1234569"],
        ["9007199254740992", "9007199254740993"],
        ["18446744073709551615", "18446744073709551614"],
        ["007", "7", "07"],
        ["0.1234567", "0.1234568"],
        ["1e-9", "2e-9"],
    ],
)
def test_labels_tasks_and_identifiers_stay_distinct(cells):
    rows = "".join(f"{i % 7},{cells[i % len(cells)]}\n" for i in range(24))
    text = f"x,id\n{rows}".encode()
    assert read_table(text, label="id", block=12).n_classes == len(cells)
    rows = "".join(f"{'ab'[i // len(cells) % 2]},{i % 5},{cells[i % len(cells)]}\n" for i in range(24))
    assert len(read_table(f"y,x,id\n{rows}".encode(), label="y", task="id")) == len(cells)


def test_large_whole_numbers_of_a_typed_file_stay_distinct():
    ids = pa.array([2**60, 2**60 + 1] * 6, pa.int64())
    out = io.BytesIO()
    pq.write_table(pa.table({"x": pa.array(range(12)), "id": ids}), out)
    found = open_table(out.getvalue()).column("id")
    assert (found.kind, found.categories) == ("category", (str(2**60), str(2**60 + 1)))


# Words


@pytest.mark.parametrize(
    "pair",
    ["+-", "?!", ["none", "some"], ["nil", "one"], ["missing", "present"], ["-", "yes"], ["None", "mild", "severe"]],
)
def test_marks_and_words_that_elsewhere_mean_missing_can_be_classes(pair):
    rows = "".join(f"{i % 5},{pair[i % len(pair)]}\n" for i in range(24))
    sequence = read_table(f"x,y\n{rows}".encode(), label="y", block=12)
    assert set(sequence.class_names) == {"'" + word if word in "+-" else word for word in pair}


def test_marks_among_words_count_as_missing_and_that_is_said():
    found = column(["red", "?", "blue", "NA", "red"])
    assert (found.categories, found.missing) == (("blue", "red"), 2)
    assert "1 cells '?' count as missing" in found.notes


def test_a_label_of_numbers_can_be_cut_at_its_median():
    rows = "".join(f"{i % 7},{i * 37 % 100 * 1.5}\n" for i in range(100))
    opened = open_table(f"x,y\n{rows}".encode())
    sequence = cut_table(opened, label="y", block=20, threshold="median").sequence
    assert sequence.class_names == ("above 74.25", "at most 74.25")
    assert sequence.class_counts().sum(axis=0).tolist() == [50, 50]
    assert cut_table(opened, label="y", block=20, threshold=30).sequence.class_names[0] == "above 30"
    with pytest.raises(DataError, match="holds no numbers"):
        cut_table(open_table(table().encode()), label="y", block=4, threshold="median")


def test_numbers_that_are_names_can_be_used_as_words():
    rows = "".join(f"{100 + i % 3},{i % 7},{'ab'[i % 2]}\n" for i in range(24))
    sequence = cut_table(open_table(f"shop,x,y\n{rows}".encode()), label="y", block=8, words=["shop"]).sequence
    assert sequence.column_kinds[0] == "category"
    assert sequence.categories == {0: ("100", "101", "102")}
    assert sequence[0].X[:3, 0].tolist() == [0, 1, 2]


def test_tasks_of_one_class_each_are_refused_with_what_to_do():
    rows = "".join(f"{i // 4},{i % 3},c{i // 4}\n" for i in range(24))
    opened = open_table(f"t,x,y\n{rows}".encode())
    with pytest.raises(DataError, match=r"Every task holds one class only.*'t' already says what 'y' is"):
        cut_table(opened, label="y", task="t")
    with pytest.raises(DataError, match=r"the file is sorted by 'y'"):
        cut_table(opened, label="y", block=4)


def test_the_order_of_tasks_named_by_words_is_said_to_be_a_guess():
    rows = "".join(f"{['zinc', 'iron'][i // 6]},{i % 3},{'ab'[i % 2]}\n" for i in range(12))
    notes = cut_table(open_table(f"t,x,y\n{rows}".encode()), label="y", task="t").notes
    assert any("no order of their own" in note for note in notes)


@pytest.mark.parametrize(
    ("header", "row", "label"),
    [
        ("x,z,y", lambda i: f"{i * 1.5},{i},{'ab'[i % 2]}", "y"),
        ("y,x,z", lambda i: f"{'ab'[i % 2]},{i},{i * 1.5}", "y"),
        ("kind,x,z", lambda i: f"{'ab'[i % 2]},{i},{i * 1.5}", "kind"),
        ("shop,kind,z", lambda i: f"s{i % 3},{'ab'[i % 2]},{i * 1.5}", None),
        ("shop,kind,z", lambda i: f"s{i % 3},{'ab'[i % 2]},{i % 2}", "z"),
        ("x,z,revenue", lambda i: f"{i},{i % 30},{i * 1.5}", None),
    ],
)
def test_the_label_is_left_open_when_in_doubt(header, row, label):
    text = header + "\n" + "\n".join(row(i) for i in range(60))
    assert suggest(open_table(text.encode())).label == label


# Other kinds of file


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lzma.compress(b"x,y\n" * 500)[:-20], "xz file is damaged"),
        (b"$FL2@(#) SPSS DATA FILE" + bytes(200), "SPSS"),
        (b"<stata_dta><header><release>118", "Stata"),
        (b"RDX3\nX\n\0\0\0\3" + bytes(50), "R objects"),
        (zipped({"mimetype": b"x", "content.xml": b"<x/>"}), "OpenDocument"),
        (zipped({"xl/workbook.xml": b"<x/>"}), "Excel"),
    ],
)
def test_other_kinds_of_file_are_named(content, said):
    with pytest.raises(DataError, match=said):
        open_table(content, name="data.csv")


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_packed_tables_are_read(pack):
    assert open_table(pack(table().encode()), name="data.csv.xz").n_rows == 12


def written(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table({**columns, "y": pa.array(["a", "b"] * 6)}), out)
    return open_table(out.getvalue(), name="t.parquet")


def test_dates_of_typed_files_beyond_the_calendar_and_in_unknown_zones():
    days = pa.array([2**31 - 1, *range(11)], pa.int32()).cast(pa.date32())
    found = written(d=days)
    assert found.column("d").missing == 1
    assert "lie outside the years 1 to 9999 (the first in row 1)" in found.notes[0]
    moments = pa.array([0, 3600 * 10**9 + 5 * 10**8] * 6, pa.timestamp("ns", tz="Mars/Olympus"))
    found = written(d=moments)
    assert "'Mars/Olympus' is not known here" in found.notes[0]
    assert found.column("d").values[:2].tolist() == [0, 3600.5]
    moments = pa.array([0] * 12, pa.timestamp("us", tz="Asia/Tokyo"))
    assert written(d=moments).column("d").values[0] == 9 * 3600
