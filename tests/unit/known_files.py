# ruff: noqa: E501 - one case per line reads best
"""Files of known answers: what each says, or the message it must end in, and whether a reader found it."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import itertools
import pickle
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from imrc.datasets import DataError, Table, cut_table
from imrc.features import make

ROWS = 36
WHEN = [dt.datetime(2019, 11, 3) + dt.timedelta(days=9 * i) for i in range(ROWS)]
LETTERS = ["ab"[i * 5 % 7 % 2] for i in range(ROWS)]
TECHNICAL = re.compile(
    r"Traceback|Error\b|Exception|pyarrow|Arrow|numpy\.|NoneType|dtype|0x[0-9a-f]{4}|object at|codec|\bnan\b|\[Errno"
)


@dataclass(frozen=True)
class Known:
    """A file, and what is in it: the cells of columns, tasks and classes; or that it must be refused."""

    name: str
    content: bytes | Callable[[], bytes]
    columns: dict[str, list[Any]] = field(default_factory=dict)  # numbers, dates as text, words; None: missing
    file: str = "made.csv"
    cut: dict[str, Any] = field(default_factory=dict)
    tasks: list[str] | None = None
    classes: set[str] | None = None
    size: tuple[int, int, int] | None = None  # tasks, features, classes
    refused: bool = False
    says: str | tuple[str, ...] = ""  # words of a note, or of the message, that must be there


def judged(known: Known, read: Callable[[bytes, str], Table]) -> tuple[str, str]:
    """Return "right", "refused", "noted" (wrong, with a note), "silent" or "wrongly refused", and what was found."""
    says = (known.says,) if isinstance(known.says, str) else known.says
    try:
        table = read(known.content if isinstance(known.content, bytes) else known.content(), known.file)
        notes, words = list(table.notes), [table.format, *table.notes]
        wrong = [found for name, cells in known.columns.items() if (found := _differs(table, name, cells))]
        if known.cut:
            cut = cut_table(table, **known.cut)
            notes += [*cut.notes, *cut.warnings()]
            words += [*cut.in_words(), *cut.columns["note"]]
            sequence = cut.sequence
            if known.tasks is not None and list(sequence.labels) != known.tasks:
                wrong.append(f"tasks {sequence.labels[:5]}")
            if known.classes is not None and set(sequence.class_names) != known.classes:
                wrong.append(f"classes {sequence.class_names[:5]}")
            if known.size not in (None, found := (len(sequence), sequence.n_features, sequence.n_classes)):
                wrong.append(f"{found} tasks, features, classes")
            left_out = sum(count for _, count in cut.dropped)
            mapped = make("identity", sequence)
            assert sequence.sizes.sum() + left_out == cut.rows_read, known.name
            assert all(np.isfinite(mapped.transform(task.X)).all() for task in sequence), known.name
    except DataError as error:
        message = str(error)
        assert 15 < len(message) < 700, message
        assert not TECHNICAL.search(message), message
        assert "\n" not in message, message
        assert message.rstrip()[-1] in ".)", message
        expected = known.refused and all(word in message for word in says)
        return ("refused" if expected else "wrongly refused"), message
    if known.refused:
        wrong.append("it should be refused")
    if unsaid := [word for word in says if word not in "\n".join(words)]:
        return "silent", f"no note says {unsaid}: {words}"
    told = [note for note in notes if not note.startswith(("Tasks come", "The file was unpacked"))]
    return ("right" if not wrong else "noted" if told else "silent"), "; ".join([*wrong, *told])


def _differs(table: Table, name: str, cells: list[Any]) -> str:
    if name not in table.names:
        return f"no column {name}: {table.names}"
    column = table.column(name)
    if len(column.values) != len(cells):
        return f"{name}: {len(column.values)} rows"
    number = any(isinstance(cell, int | float) for cell in cells)
    date = any(isinstance(cell, dt.date) for cell in cells)
    if column.kind != ("number" if number else "date" if date else "category"):
        return f"{name} is {column.kind}: {column.categories[:3]}"
    if number:
        right = np.allclose(column.values, [np.nan if c is None else c for c in cells], rtol=1e-12, equal_nan=True)
    elif date:
        seconds = [np.nan if c is None else (c - dt.datetime(1970, 1, 1)).total_seconds() for c in cells]
        right = np.allclose(column.values, seconds, rtol=0, atol=1e-3, equal_nan=True)
    else:
        right = [column.categories[c] if c >= 0 else None for c in column.values] == cells
    return "" if right else f"{name} reads {column.values[:4]}, {column.categories[:4]}"


def written(columns: dict[str, list[str]], separator: str = ",", header: bool = True, end: str = "\n") -> str:
    """Return a table as text, cells quoted where they must be."""

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in (separator, '"', "\n")) else text

    rows = [list(columns)] * header + [list(row) for row in zip(*columns.values(), strict=True)]
    return end.join(separator.join(map(cell, row)) for row in rows) + end


def with_column(cells: list[str], name: str = "v", separator: str = ",") -> bytes:
    """Return a table in which a column of these cells stands between a number and a label."""
    count = len(cells)
    x, y = [f"{i * 7 % 11}.5" for i in range(count)], ["ab"[i * 5 % 7 % 2] for i in range(count)]
    x = [cell.replace(".", ",") for cell in x] if separator == ";" else x
    return written({"x": x, name: cells, "y": y}, separator).encode()


def stored(compression: str = "zstd", **columns: pa.Array) -> bytes:
    """Return a Parquet file that does not say how its columns were held in memory."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression=compression, store_schema=False)
    return out.getvalue()


MONTHS = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli")
MONTHS += ("August", "September", "Oktober", "November", "Dezember")
MOMENTS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y"),
    *("%m/%d/%y", "%d.%m.%y", "%Y%m%d", "%d%m%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y"),
    *("%B %d, %Y", "%b %d %Y", "%a %d %b %Y", "%A, %d %B %Y", "%a, %d %b %Y", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"),
    *("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S UTC", "%d.%m.%Y %H:%M"),
    *("%m/%d/%Y %I:%M %p", "%d/%m/%Y %H:%M:%S", "%d %b %Y %H:%M", "%-d.%-m.%Y", "%-m/%-d/%Y", "%-d/%-m/%Y"),
    *("%Y-%-m-%-d", "%-d %B %Y", "%-d. %B %Y", "%-m/%-d/%y", "%Y-%m-%dT%H:%M", "%Y/%m/%d %H:%M:%S", "%m-%d-%Y %H:%M"),
    *("%d%b%Y", "%d-%B-%Y", "%Y-%b-%d", "%B %-d %Y", "%Y-%m-%d %I:%M %p"),
)
PERIODS = {
    "%b %Y": "M", "%B %Y": "M", "%b-%y": "M", "%Y-%m": "M", "%m/%Y": "M", "%m.%Y": "M", "%Y/%m": "M", "%Y %b": "M",
    "%Y-Q{q}": "Q", "Q{q} %Y": "Q", "%YQ{q}": "Q", "%Y Q{q}": "Q", "%Y-Q0{q}": "Q", "%G-W%V": "W", "%GW%V": "W",
}  # fmt: skip


def dates() -> Iterator[Known]:
    for form in MOMENTS:
        clock = dt.timedelta(hours=9, minutes=30) * ("%H" in form or "%I" in form)
        starts = {
            "days above 12": WHEN,
            "a leap day": [dt.datetime(2020, 2, 20) + dt.timedelta(days=i) for i in range(ROWS)],
            "days to 12, sorted": [dt.datetime(2020, 1 + i // 3, 1 + i % 3 * 4) for i in range(ROWS)],
        }
        for name, start in starts.items():
            when = [one + clock for one in start]
            yield Known(f"{form}, {name}", with_column([one.strftime(form) for one in when]), {"v": when})
    german = [f"{one.day}. {MONTHS[one.month - 1]} {one.year}" for one in WHEN]
    yield Known("German names of months", with_column(german), {"v": WHEN})
    zones = [f"{one:%Y-%m-%d}T00:00:00{'+02:00' if i % 2 else 'Z'}" for i, one in enumerate(WHEN)]
    utc = [one - dt.timedelta(hours=2 * (i % 2)) for i, one in enumerate(WHEN)]
    yield Known("several zones", with_column(zones), {"v": utc}, says="zones (+02:00 and Z); all were turned into UTC")
    bad = [f"{one:%Y-%m-%dT%H:%M:%SZ}" if i != 7 else "broken" for i, one in enumerate(WHEN)]
    yield Known("one time is broken", with_column(bad), {"v": [*WHEN[:7], None, *WHEN[8:]]}, says="'broken' in row 8")
    log = [f"{one:%Y-%m-%d %H:%M:%S},123" for one in WHEN]
    yield Known("log", with_column(log), {"v": [one + dt.timedelta(milliseconds=123) for one in WHEN]})
    for form, kind in PERIODS.items():
        steps = [dt.datetime(2019 + i // 12, 1 + i % 12, 1) for i in range(ROWS)]
        if kind == "Q":
            steps = [one.replace(month=1 + (one.month - 1) // 3 * 3) for one in steps]
        if kind == "W":
            steps = [dt.datetime(2018, 12, 31) + dt.timedelta(weeks=i) for i in range(ROWS)]
        cells = [one.strftime(form).replace("{q}", str((one.month + 2) // 3)) for one in steps]
        yield Known(form, with_column(cells), {"v": steps})
    mixed = [dt.datetime(2020, 1 + i * 5 % 12, 1 + i * 7 % 12) for i in range(ROWS)]
    us = [dt.datetime(2020, 1 + i, 1) for i in range(12)] * 3
    for form in ("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%d/%m/%y", "%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y"):
        name, days = ("either order", mixed) if form[:2] == "%d" else ("months in order", sorted(us))
        yield Known(f"{form}, {name}", with_column([one.strftime(form) for one in days]), {"v": days}, says="dayfirst=")
    cells = [one.strftime("%y-%m-%d") for one in WHEN]
    yield Known("%y-%m-%d", with_column(cells), {"v": WHEN}, says="is 2019-11-03")
    short = [dt.datetime(2020, 1, 1 + i // 2) for i in range(ROWS)]
    yield Known("%y-%m-%d, a month", with_column([f"{one:%y-%m-%d}" for one in short]), {"v": short}, says="dayfirst=")
    ends = [dt.datetime(2016 + i // 9, 12, 31) for i in range(ROWS)]
    yield Known("%d/%m/%y, ends of years", with_column([f"{one:%d/%m/%y}" for one in ends]), {"v": ends})
    for wrong, form in (("31.04.2020", "%d.%m.%Y"), ("2021-02-29", "%Y-%m-%d"), ("13/13/2020", "%d/%m/%Y")):
        cells = [one.strftime(form) for one in WHEN]
        content, right = with_column([*cells[:7], wrong, *cells[8:]]), [*WHEN[:7], None, *WHEN[8:]]
        yield Known(wrong, content, {"v": right}, says="in row 8); they count as missing")


VALUES = [round(1234.5 * (i + 1) ** 1.5 * (-1) ** (i % 5 == 3) + i / 4, 2) for i in range(ROWS)]


def _grouped(value: float, group: str, point: str) -> str:
    return f"{value:,.2f}".translate(str.maketrans({",": group, ".": point}))


NOTATIONS: dict[str, Callable[[float], str]] = {
    "plain": lambda v: f"{v:.2f}",
    "comma": lambda v: f"{v:.2f}".replace(".", ","),
    "1,234.50": lambda v: _grouped(v, ",", "."),
    "1.234,50": lambda v: _grouped(v, ".", ","),
    "1 234,50": lambda v: _grouped(v, " ", ","),
    "1 234.50, thin": lambda v: _grouped(v, "\u202f", "."),
    "1’234.50": lambda v: _grouped(v, "’", "."),
    "1'234.50": lambda v: _grouped(v, "'", "."),
    "e": lambda v: f"{v:.8e}",
    "E, comma": lambda v: f"{v:.8E}".replace(".", ","),
    "D": lambda v: f"{v:.8e}".replace("e", "D"),
    "percent": lambda v: f"{v:.2f} %",
    "euro": lambda v: f"{v:,.2f} €",
    "dollar": lambda v: f"{'-' * (v < 0)}${abs(v):,.2f}",
    "USD": lambda v: f"{v:.2f} USD",
    "kg": lambda v: f"{v:.2f}kg",
    "brackets": lambda v: f"({-v:,.2f})" if v < 0 else f"{v:,.2f}",
    "minus at the end": lambda v: f"{abs(v):.2f}" + "-" * (v < 0),
    "typographic minus": lambda v: f"{v:.2f}".replace("-", "−"),
    "plus": lambda v: f"{v:+.2f}",
    "blanks around": lambda v: f"  {v:.2f} ",
    "Arabic digits": lambda v: f"{v:.2f}".translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
    "full width": lambda v: f"{v:.2f}".translate(str.maketrans("0123456789", "０１２３４５６７８９")),
}

RARE = ("brackets", "minus at the end")  # kept as words, with a note


def numbers() -> Iterator[Known]:
    for name, write in NOTATIONS.items():
        for separator in ",;\t":
            cells = [write(v) for v in VALUES]
            right, says = (cells, "kept as words because of") if name in RARE else (VALUES, "")
            yield Known(f"{name}, {separator!r}", with_column(cells, separator=separator), {"v": right}, says=says)
            content = with_column([*cells[:4], "", *cells[5:]], separator=separator)
            yield Known(f"{name}, gap, {separator!r}", content, {"v": [*right[:4], None, *right[5:]]}, says=says)
    for separator, cells, found, says in (
        (",", ["1.234", "5.678"], [1.234, 5.678], "decimal=','"),
        (",", ["1,234", "5,678"], [1234, 5678], "is 1234"),
        (",", ["1.234.567", "2.000"], [1234567, 2000], "is 1234567"),
        (",", [".5", "-.25"], [0.5, -0.25], ""),
        (",", ["5.", "-25."], [5, -25], ""),
        (",", ["1.5", "inf", "-Infinity", "2.5"], [1.5, None, None, 2.5], "infinite"),
        (",", ["1.5", "1e999", "2.5"], [1.5, None, 2.5], "infinite"),
        (",", ["1E3", "2E3"], [1000, 2000], ""),
        (",", ["1.1648639811110282", "0.30000000000000004"], [1.1648639811110282, 0.1 + 0.2], ""),
        (";", ["0.370", "1.480"], [0.37, 1.48], ""),
        ("\t", ["0,498", "1,480"], [0.498, 1.48], "'0,498' in row 1 is 0.498"),
        (";", ["6.880E+00", "1.200E+03"], [6.88, 1200], ""),
        (",", ["003.50", "012.25"], [3.5, 12.25], "'003.50' in row 1 is 3.5"),
    ):
        many, right = (list(part) * (ROWS // len(part)) for part in (cells, found))
        yield Known(f"{cells}, {separator!r}", with_column(many, separator=separator), {"v": right}, says=says)
    content, says = with_column(["1.234", "5.678"] * 18).replace(b",", b";"), "'1.234' in row 1 is 1.234; decimal=','"
    yield Known("points in the column before", content, {"v": [1.234, 5.678] * 18}, says=says)
    for typo in ("seven", "12a", "see note"):
        cells = [typo if i == 20 else f"{v:.2f}" for i, v in enumerate(VALUES)]
        right = [None if i == 20 else v for i, v in enumerate(VALUES)]
        yield Known(f"one is {typo}", with_column(cells), {"v": right}, says="in row 21")
    words = ["5 kg", "300 mg"] * (ROWS // 2)
    yield Known("units differ", with_column(words), {"v": words}, says="kept as words because of '5 kg' in row 1")
    for other in ("low", "see note", "12:30"):
        cells = [f"{v:.2f}" if i % 3 else other for i, v in enumerate(VALUES)]
        says = "kept as words because of"
        yield Known(f"a third are {other!r}", with_column(cells), {"v": cells}, says=says)


def long() -> Iterator[Known]:
    """Yield columns of many different values, which are read at once, also with one cell at the end that is unlike."""
    many = [round(1000 + i * 7 / 4, 2) for i in range(6000)]
    for name in ("plain", "comma", "1.234,50", "1,234.50", "e", "kg"):
        yield Known(f"long, {name}", with_column([NOTATIONS[name](v) for v in many]), {"v": many})
    moments = [dt.datetime(2020, 1, 1) + dt.timedelta(minutes=77 * i) for i in range(6000)]
    for form in ("%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M"):
        yield Known(f"long, {form}", with_column([f"{one:{form}}" for one in moments]), {"v": moments})
    whole: list[Any] = list(range(1000, 7000))
    for last, read, says in (("8.125", 8.125, "decimal="), ("12x", None, "row 6,001"), ("0x1F", None, "row 6,001")):
        content = with_column([*map(str, whole), last])
        yield Known(f"long, {last} at the end", content, {"v": [*whole, read]}, says=says)
    yield Known("long, 007 at the end", with_column([*map(str, whole), "007"]), says="because of '007' in row 6,001")
    german = [NOTATIONS["1.234,50"](v) for v in many]
    yield Known("long, 1.5 at the end", with_column([*german, "1.5"]), {"v": [*many, None]}, says="row 6,001")


ALWAYS = (
    *("", "NA", "N/A", "n/a", "n.a.", "n. a.", "NaN", "nan", "NULL", "null", "<NA>", "NaT", "\\N", "(null)", "#N/A"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NV", "#NUM!", "#NAME?", "k.A.", "not available"),
)
ELSEWHERE = ("?", "-", ".", "--", "---", "..", "–", "none", "None", "nil", "missing", "Missing")


def missing() -> Iterator[Known]:
    for gap in (*ALWAYS, *ELSEWHERE):
        holes = [i % 4 == 2 for i in range(ROWS)]
        cells = [gap if hole else f"{v:.1f}" for v, hole in zip(VALUES, holes, strict=True)]
        expected = [None if cell == gap else float(cell) for cell in cells]
        yield Known(f"{gap!r} among numbers", with_column(cells), {"v": expected})
        when = [None if hole else dt.datetime(2020, 1, 1) + dt.timedelta(days=9 * i) for i, hole in enumerate(holes)]
        cells = [gap if one is None else f"{one:%Y-%m-%d}" for one in when]
        yield Known(f"{gap!r} among dates", with_column(cells), {"v": when})
        kept = gap.lower() in ("none", "nil", "missing")
        cells = [gap if hole else ("red", "blue", "green")[i % 3] for i, hole in enumerate(holes)]
        words = [None if cell == gap and not kept else cell for cell in cells]
        yield Known(f"{gap!r} among words", with_column(cells), {"v": words})
        if not kept:
            text = with_column([f"{v:.1f}" for v in VALUES]).decode().splitlines()
            text = [line[:-1] + gap if i % 4 == 3 else line for i, line in enumerate(text)]
            content = "\n".join(text).encode()
            yield Known(f"{gap!r} in labels", content, cut={"label": "y", "block": 12}, classes={"a", "b"})


def _as_label(name: str, cells: list[str], classes: set[str]) -> Known:
    many = [cells[i * 5 % 7 % len(cells)] for i in range(ROWS * 3)]
    return Known(f"{name} as label", with_column(many), cut={"label": "v", "block": 20}, classes=classes)


def _as_tasks(name: str, cells: list[str], tasks: list[str]) -> Known:
    many = [cell for cell in cells for _ in range(12)]
    return Known(f"{name} as tasks", with_column(many), cut={"label": "y", "task": "v"}, tasks=tasks)


def identifiers() -> Iterator[Known]:
    together = {
        "leading zeros that differ": ["007", "07", "7"],
        "20 digits": [str(10**19 + i) for i in range(4)],
        "17 digits": [str(10**16 + i) for i in range(4)],
        "versions": ["1.9", "1.10", "1.1"],
        "years and a zero": ["2020.1", "2020.10", "2020.2"],
        "exponents": ["1E5", "10E4", "2E5"],
        "exponents with zeros": ["00E1", "0E1", "1E1"],
        "hundreds": ["1E2", "100", "50"],
        "telephones": ["+49301234", "049301234", "49301235"],
        "codes": ["A1", "B2", "A10"],
        "hexadecimal": ["0x1F", "0x2A", "1F"],
        "words": ["zinc", "iron", "tin"],
    }
    for name, cells in together.items():
        yield _as_label(name, cells, set(cells))
        yield _as_tasks(name, cells, cells)
        if name in ("leading zeros that differ", "20 digits", "17 digits", "codes", "words", "hexadecimal"):
            many = [cells[i % len(cells)] for i in range(ROWS)]
            yield Known(name, with_column(many), {"v": many})
    padded = [f"{i:02d}" for i in range(1, 7)]
    yield _as_tasks("numbers with zeros", padded, padded)
    yield _as_tasks("years", ["2018", "2019", "2020"], ["2018", "2019", "2020"])
    yield _as_tasks("numbers not sorted", ["10", "9", "2"], ["2", "9", "10"])
    yield _as_tasks("year and month", ["202001", "202002", "202101"], ["202001", "202002", "202101"])
    for form in ("%Y%m%d", "%d%m%Y", "%d.%m.%Y", "%m.%Y"):
        months = [dt.date(2019 + i // 12, 1 + i % 12, 15) for i in range(10, 16)]
        shown = [f"{one:%Y-%m}" for one in months]
        found = _as_tasks(form, [one.strftime(form) for one in months], shown)
        yield replace(found, cut={**found.cut, "period": "month"})


def labels() -> Iterator[Known]:
    groups: dict[str, tuple[list[str], set[str]]] = {
        "0 and 1": (["0", "1"], {"0", "1"}),
        "1.0 and 2.0": (["1.0", "2.0"], {"1", "2"}),
        "-1 and 1": (["-1", "1"], {"-1", "1"}),
        "+1 and -1": (["+1", "-1"], {"1", "-1"}),
        "truth": (["True", "False"], {"True", "False"}),
        "TRUE": (["TRUE", "FALSE"], {"TRUE", "FALSE"}),
        "yes": (["yes", "no"], {"yes", "no"}),
        "signs": (["+", "-"], {"'+", "'-"}),
        "halves": (["0.5", "1.5"], {"0.5", "1.5"}),
        "many digits": (["0.1234567", "0.1234568"], {"0.1234567", "0.1234568"}),
        "capitals": (["Yes", "yes", "no"], {"Yes", "yes", "no"}),
        "blanks around": ([" a", "b "], {"a", "b"}),
        "none": (["none", "mild", "severe"], {"none", "mild", "severe"}),
        "a dash": (["-", "yes", "no"], {"yes", "no"}),
        "letters": (["süß", "größe"], {"süß", "größe"}),
        "percent": (["5%", "10%"], {"5", "10"}),
        "1 and 1.0": (["1", "1.0", "2"], {"1", "1.0", "2"}),
        "zip codes": (["01234", "12345"], {"01234", "12345"}),
    }
    for name, (cells, classes) in groups.items():
        yield _as_label(name, cells, classes)
        content = _as_label(name, cells, classes).content.replace(b",", b"\t")
        yield Known(f"{name}, tabs", content, cut={"label": "v", "block": 20}, classes=classes)


def structure() -> Iterator[Known]:
    day = [f"{dt.date(2020, 1, 1) + dt.timedelta(days=i)}" for i in range(ROWS)]
    value, word = [f"{v:.2f}" for v in VALUES], [("red", "blue", "green")[i * 5 % 7 % 3] for i in range(ROWS)]
    holes = ["?" if i % 5 == 0 else str(i) for i in range(ROWS)]
    kinds = {
        "iris": [value, value[::-1], word],
        "dates": [day, value, LETTERS],
        "question marks": [value, holes, LETTERS],
        "words": [word, LETTERS, word],
        "numbers": [value, [*holes[1:], "3"], [str(i % 2) for i in range(ROWS)]],
        "dates and words": [day, word, LETTERS],
    }
    for separator in ",;\t":
        for name, parts in kinds.items():
            table = {f"column {j + 1}": part for j, part in enumerate(parts)}
            j = next(j for j, part in enumerate(parts) if part in (value, word, day))
            cells: list[Any] = VALUES if parts[j] is value else word
            cells = [dt.datetime.fromisoformat(one) for one in day] if parts[j] is day else cells
            content = written(table, separator, header=False).encode()
            yield Known(f"no header: {name}, {separator!r}", content, {f"column {j + 1}": cells}, says="header=True")
            content = written(dict(zip("pqr", parts, strict=True)), separator).encode()
            yield Known(f"a header: {name}, {separator!r}", content, {"pqr"[j]: cells})
        good = written({"when": day, "value": value, "colour": word, "y": LETTERS}, separator)
        lines, expected = good.splitlines(), {"value": VALUES, "colour": word}
        for name, at, line in (
            ("header again", (12, 25), lines[0]),
            ("header at the end", (36,), lines[0]),
            ("units", (0,), separator.join(("date", "kg", "name", "class"))),
            ("kinds", (0,), separator.join(("datetime", "float64", "object", "str"))),
            ("empty first unit", (0,), separator.join(("", "m/s", "", ""))),
            ("a comment", (20,), "# pause" + separator * 3),
            ("a source", (36,), "Source: own measurements" + separator * 3),
            ("a total", (36,), separator.join(("Total", "123456.00", "", ""))),
            ("a total with all cells", (36,), separator.join(("Summe", "123456.00", "all", "x"))),
            ("empty lines", (5, 9, 36), ""),
            ("empty rows", (36,), separator * 3),
            ("a blank at the end", (36,), ""),
        ):
            changed = lines.copy()
            for place in sorted(at, reverse=True):
                changed.insert(place + 1, line)
            content = ("\n".join(changed) + "\n").encode()
            says = "" if name in ("empty lines", "empty rows", "a blank at the end") else "left out (row"
            known = Known(f"{name}, {separator!r}", content, expected, says=says)
            if "total" in name:  # a row like others, but for the cell that is no date
                known = replace(known, columns={"value": [*VALUES, 123456]}, says="not dates ('")
            if name == "empty rows":
                cut = {"label": "y", "block": 12}
                known = replace(known, columns={}, cut=cut, tasks=["1", "2", "3"], classes={"a", "b"})
            yield known
        for name, line in (
            ("a cell too few", separator.join(day[:2])),
            ("a cell too many", lines[5] + separator + "x"),
            ("a separator too many", lines[5] + separator),
        ):
            content = "\n".join([*lines[:5], line, *lines[6:]]).encode()
            yield Known(f"{name}, {separator!r}", content, refused=True, says="row 5 has")
        quoted = '"' + good.replace(separator, f'"{separator}"').rstrip("\n").replace("\n", '"\n"') + '"'
        for name, content in (
            ("sep=", f"sep={separator}\r\n" + good.replace("\n", "\r\n")),
            ("Mac", good.replace("\n", "\r")),
            ("Windows", good.replace("\n", "\r\n")),
            ("no end", good.rstrip("\n")),
            ("quoted", quoted),
        ):
            yield Known(f"{name}, {separator!r}", content.encode(), expected)
        for content in (quoted.replace(separator, f"{separator} "), quoted.replace('"', "'")):
            says = "Quotation marks in the first line"
            yield Known(f"quotes, {separator!r}", content.encode(), refused=True, says=says)
    yield Known("years as names", written({"country": word, "2019": value, "y": LETTERS}).encode(), {"2019": VALUES})
    yield Known("commas in quotes", written({"t": ["a, b"] * ROWS, "v": value, "y": LETTERS}).encode(), {"v": VALUES})


def encodings() -> Iterator[Known]:
    y = [("süß", "größe", "façon")[i * 5 % 7 % 3] for i in range(ROWS)]
    text = written({"naïve": [f"{v:.2f}" for v in VALUES], "y": y})
    expected = {"naïve": VALUES, "y": y}
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"):
        for end in ("\n", "\r\n"):
            content = text.replace("\n", end).encode(encoding)
            if encoding in ("utf-16-le", "utf-16-be"):
                yield Known(f"{encoding} {end!r}", content, refused=True, says="not a kind of table")
                continue
            says = "Windows-1252" if encoding in ("cp1252", "latin-1") else ""
            yield Known(f"{encoding} {end!r}", content, expected, says=says)
            yield Known(f"{encoding} {end!r}, gzip", gzip.compress(content), expected, "made.csv.gz")
            yield Known(f"{encoding} {end!r}, zip", zipped({"a.csv": content}), expected, "made.zip")
    bad = text.encode().replace("größe".encode(), b"gr\xf6\xdfe", 1)
    line = bad[: bad.index(b"\xf6")].count(b"\n") + 1
    yield Known("one word that is no UTF-8", bad, {"naÃ¯ve": VALUES}, says=f"see line {line:,})")
    arff = "@relation r\n@attribute naïve numeric\n@attribute y {süß,größe,façon}\n@data\n"
    for encoding in ("utf-8", "cp1252"):
        body = "\n".join(text.splitlines()[1:])
        yield Known(f"ARFF, {encoding}", (arff + body).encode(encoding), expected, "made.arff")


def combined() -> Iterator[Known]:
    """Yield files in which encoding, separator, ends of lines, quotation marks, dates and numbers vary together."""
    words = {"utf-8": "süß", "utf-8-sig": "été", "utf-16": "東京", "cp1252": "süß"}
    days = [dt.datetime(2020, 3, 1) + dt.timedelta(days=i * 28 // ROWS) for i in range(ROWS)]
    labels = ["no" if i * 5 % 7 % 2 else "yes" for i in range(ROWS)]
    styles = ("plain", "comma", "1,234.50", "1.234,50", "1'234.50", "percent", "euro")
    forms = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%y", "%Y-%m-%dT%H:%M:%S", "%d %b %Y")
    ways = itertools.product(words, ",;\t", ("\n", "\r\n", "\r"), forms, styles)
    for encoding, separator, end, form, style in itertools.islice(ways, 0, None, 5):
        header = ["value", "when", words[encoding], "label"]
        rows = [[NOTATIONS[style](v), f"{d:{form}}", f'{words[encoding]}"{i % 3}{separator}', label]
                for i, (v, d, label) in enumerate(zip(VALUES, days, labels, strict=True))]  # fmt: skip
        cells = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in (header, *rows)]
        content = end.join(map(separator.join, cells)).encode(encoding)
        columns = {"value": VALUES, "when": days, words[encoding]: [row[2].strip() for row in rows], "label": labels}
        yield Known(f"{encoding} {separator!r} {end!r} {form} {style}", content, columns)


def _book(
    *sheets: list[Any], epoch: bool = False, form: str = "yyyy-mm-dd", hidden: int = -1, merged: int = 0
) -> bytes:
    """Return a workbook of sheets; in the first column dates have a format, or so many cells each are merged."""
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    if epoch:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {number}")
        sheet.sheet_state = "hidden" if number == hidden else "visible"
        for row in rows:
            sheet.append(list(row))
        for (cell,) in sheet.iter_rows(min_row=2, max_col=1):
            if isinstance(cell.value, dt.datetime):
                cell.number_format = form
        for start in range(2, len(rows), merged) if merged else ():
            sheet.merge_cells(start_row=start, end_row=start + merged - 1, start_column=1, end_column=1)
    book.save(out)
    return out.getvalue()


def workbooks() -> Iterator[Known]:
    rows = [("when", "v", "y"), *zip(WHEN, VALUES, LETTERS, strict=True)]
    expected = {"when": WHEN, "v": VALUES, "y": LETTERS}
    for epoch in (False, True):
        for form in ("yyyy-mm-dd", "dd/mm/yyyy", "m/d/yy", "d. mmm yyyy", "dd.mm.yyyy hh:mm", "[$-409]d-mmm-yy;@"):
            yield Known(f"{form}, 1904: {epoch}", _book(rows, form=form, epoch=epoch), expected, "made.xlsx")
    merged = _book(rows, merged=12)
    yield Known("merged", merged, file="made.xlsx", refused=True, says="Cells are merged over several rows (row 2")
    formulas = [("v", "f", "y"), *((v, "=1+1", c) for v, c in zip(VALUES, LETTERS, strict=True))]
    old = [("a", "b"), (1, 2), (3, 4)]
    for name, content, columns, says in (
        ("cover", _book([["Readings"]], rows), expected, "2 sheets"),
        ("hidden first sheet", _book(old, rows, hidden=0), expected, "hidden"),
        ("no header", _book([row[1:] for row in rows[1:]]), {"column 1": VALUES}, "header=True"),
        ("header again", _book([*rows, rows[0]]), {"v": VALUES}, "left out (row 37)"),
        ("a source at the end", _book([*rows, ("Source: us", None, None)]), {"v": VALUES}, "left out (row 37)"),
        ("a title", _book([("Pumps",), (), *rows]), {"v": VALUES}, "above the column names"),
    ):
        yield Known(name, content, columns, "made.xlsx", says=says)
    cut = {"label": "y", "block": 12}
    yield Known("formulas without values", _book(formulas), {"v": VALUES}, "made.xlsx", cut, says="if it has formulas")
    for gap in (None, "n.a.", "#DIV/0!", "#N/A", "-"):
        holes = [(d, gap if i % 4 == 2 else v, c) for i, (d, v, c) in enumerate(rows[1:])]
        cells = [None if i % 4 == 2 else v for i, v in enumerate(VALUES)]
        yield Known(f"{gap!r} among numbers", _book([rows[0], *holes]), {"v": cells}, "made.xlsx")
    for name, cells, found in (
        ("whole numbers", list(range(ROWS)), None),
        ("truth", [i % 3 == 0 for i in range(ROWS)], [str(i % 3 == 0) for i in range(ROWS)]),
        ("numbers as text", [f"{v:.2f}" for v in VALUES], VALUES),
        ("decimal commas as text", [f"{v:.2f}".replace(".", ",") for v in VALUES], VALUES),
        ("dates as text", [f"{one:%d.%m.%Y}" for one in WHEN], WHEN),
        ("ids as text", [f"{i % 4:03d}" if i % 8 < 4 else str(i % 4) for i in range(ROWS)], None),
        ("codes", [f"A{i}" if i % 2 else i for i in range(ROWS)], [f"A{i}" if i % 2 else str(i) for i in range(ROWS)]),
        ("dates before 1900", [dt.datetime(1900, 3, 1) + dt.timedelta(days=i) for i in range(ROWS)], None),
    ):
        content = _book([("v", "w", "y"), *zip(cells, VALUES, LETTERS, strict=True)])
        yield Known(name, content, {"v": cells if found is None else found, "w": VALUES}, "made.xlsx")


def typed() -> Iterator[Known]:
    whole = list(range(100, 100 + ROWS))
    large = [10**19 + i for i in range(ROWS)]
    hundredths = [Decimal(v) / 100 for v in large]
    holes = [None if i % 4 == 2 else v for i, v in enumerate(VALUES)]
    known: dict[str, tuple[pa.Array, list[Any]]] = {
        "decimals": (pa.array([Decimal(f"{v:.2f}") for v in VALUES]), VALUES),
        "decimal ids": (pa.array(large, pa.decimal128(38, 0)), [str(v) for v in large]),
        "decimals of 20 digits": (pa.array(hundredths, pa.decimal128(38, 2)), [f"{v:.2f}" for v in hundredths]),
        "int64 ids": (pa.array([2**60 + i for i in range(ROWS)]), [str(2**60 + i) for i in range(ROWS)]),
        "uint64": (pa.array(large, pa.uint64()), [str(v) for v in large]),
        "float32": (pa.array([float(v) for v in whole], pa.float32()), [float(v) for v in whole]),
        "truth": (pa.array([one == "a" for one in LETTERS]), ["true" if one == "a" else "false" for one in LETTERS]),
        "date32": (pa.array([one.date() for one in WHEN]), WHEN),
        "text numbers": (pa.array([f"{v:.2f}" for v in VALUES]), VALUES),
        "text dates": (pa.array([f"{one:%d.%m.%Y}" for one in WHEN]), WHEN),
        "dictionary": (pa.array(LETTERS).dictionary_encode(), LETTERS),
        "large strings": (pa.array(LETTERS, pa.large_string()), LETTERS),
        "string view": (pa.array(LETTERS, pa.string_view()), LETTERS),
        "gaps": (pa.array(holes), holes),
        "nan": (pa.array([float("nan") if v is None else v for v in holes]), holes),
    }  # fmt: skip
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float64"):
        known[kind] = (pa.array([v - 100 for v in whole]).cast(getattr(pa, kind)()), [v - 100 for v in whole])
    for unit in ("s", "ms", "us", "ns"):
        known[f"timestamp {unit}"] = (pa.array(WHEN, pa.timestamp(unit)), WHEN)
        known[f"timestamp {unit} UTC"] = (pa.array(WHEN, pa.timestamp(unit, "UTC")), WHEN)
        tokyo = pa.array([one - dt.timedelta(hours=9) for one in WHEN], pa.timestamp(unit, "Asia/Tokyo"))
        known[f"timestamp {unit} Tokyo"] = (tokyo, WHEN)
    for name, (cells, expected) in known.items():
        content = parquet(pa.table({"v": cells, "x": pa.array(VALUES), "y": pa.array(LETTERS)}))
        says = "in zone Asia/Tokyo" if "Tokyo" in name else ""
        yield Known(f"{name}, Parquet", content, {"v": expected, "y": LETTERS}, "made.parquet", says=says)
    for cells in ([dt.time(i % 24) for i in range(ROWS)], [dt.timedelta(hours=i) for i in range(ROWS)]):
        content = parquet(pa.table({"v": pa.array(cells), "y": pa.array(LETTERS)}))
        yield Known(f"{cells[1]}, Parquet", content, {"y": LETTERS}, "made.parquet", says="and is left out")
    content = gzip.compress(parquet(pd.DataFrame({"v": VALUES, "y": LETTERS}, index=LETTERS)))
    yield Known("index", content, {"v": VALUES, "y": LETTERS}, "made.parquet.gz")


WEEKS = ["2020-12-31", "2020-12-31", "2021-01-07", "2021-01-07"] * 2
PER = {"week": ["2020-12-28", "2021-01-04"], "month": ["2020-12", "2021-01"], "quarter": ["2020 Q4", "2021 Q1"]}
PER |= {"year": ["2020", "2021"], "day": ["2020-12-31", "2021-01-07"]}
DAYS = [f"2020-01-{day:02d}" for day in range(1, 20)]
MONDAYS = [f"{dt.date(2019, 12, 30) + dt.timedelta(weeks=i)}" for i in range(53)]
TEN = "2020-01-05T10:00"
ODD_DATES = [
    # cells, what they are, what a note says
    (["01/02/98", "13/02/98"], ["1998-02-01", "1998-02-13"], "'01/02/98' in row 1 is 1998-02-01"),
    (["31.12.68", "01.01.69"], ["2068-12-31", "1969-01-01"], "is 2068-12-31"),
    (["2020-01-05 10:11 PM", "2020-01-05 12:11 am"], ["2020-01-05T22:11", "2020-01-05T00:11"], ""),
    ([f"{TEN}+02:00", "2020-01-05T11:00+02:00"], [TEN, "2020-01-05T11:00"], "in zone +02:00"),
    (["7122019 10:14", "8102020 4:20"], ["2019-12-07T10:14", "2020-10-08T04:20"], ""),
    ([*DAYS, "later"], [*DAYS, None], "'later' in row 20"),
    ([*(f"2020-W{i:02d}" for i in range(1, 54)), "2021-W53"], [*MONDAYS, None], "'2021-W53' in row 54"),
    ([f"{i}.2.2020" for i in range(1, 31)], [*(f"2020-02-{i:02d}" for i in range(1, 30)), None], "row 30"),
]


def cells() -> Iterator[Known]:
    """Yield columns that can be read in several ways, or only resemble numbers or dates."""
    for column, found, says in ODD_DATES:
        moments = [one and dt.datetime.fromisoformat(one) for one in found]
        yield Known(column[0], with_column(column), {"v": moments}, says=says)
    days = [dt.date(2020, 1 + i % 12, 1 + i * 5 % 28 if i == 3 else 1 + i % 12) for i in range(12)] * 20
    content = with_column([f"{one:%m/%d/%Y}" for one in days])  # one day in twelve tells
    moments = [dt.datetime(one.year, one.month, one.day) for one in days]
    yield Known("few days above 12", content, {"v": moments}, says="month/day/year")
    mixed = ["1.5", "2,5", "1.2", "2,2"]
    indian = ["12,34,567.00", "7,34,567.00"] * 9
    yield Known("Indian groups", with_column(indian), {"v": indian}, says="kept as words because of '12,34,567.00'")
    for column in (["12-34-5678", "98-76-5432"], ["abc 2020", "def 2020"], ["13/25/2020", "40/50/2020"], mixed):
        says = "kept as words because of '2,5' in row 2" if column is mixed else ""
        yield Known(column[0], with_column(column * 5), {"v": column * 5}, says=says)
    for pair in ("+-", "?!", ["nil", "one"], ["missing", "present"]):
        classes = {"'" + word if word in "+-" else word for word in pair}
        yield Known(f"classes {pair}", with_column([*pair] * 12), cut={"label": "v", "block": 12}, classes=classes)
    for period, tasks in PER.items():
        cut = {"label": "y", "task": "v", "period": period}
        yield Known(f"one per {period}", with_column(WEEKS), cut=cut, tasks=tasks)
    dates = pa.array([2**31 - 1, *range(11)], pa.int32()).cast(pa.date32())
    moments = pa.array([0, 3600 * 10**9 + 5 * 10**8] * 6, pa.timestamp("ns", tz="Mars/Olympus"))
    content = parquet(pa.table({"d": dates, "m": moments, "y": pa.array(["a", "b"] * 6)}))
    found = [None, *(dt.datetime(1970, 1, 1) + dt.timedelta(days=i) for i in range(11))]
    hours = [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 1, 0, 0, 500_000)] * 6
    says = ("outside the years 1 to 9999 (the first in row 1)", "'Mars/Olympus' is not known here")
    yield Known("beyond the calendar", content, {"d": found, "m": hours}, "t.parquet", says=says)


# What people should not be punished for


class Bomb:
    """Runs code when unpickled: the test sees whether anything ever does."""

    ran = False

    def __reduce__(self):
        return (setattr, (Bomb, "ran", True))


def table(rows: int = 12, separator: str = ",", header: str = "x,z,y", y: Callable[[int], str] | None = None) -> str:
    y = y or (lambda i: "ab"[i % 2])
    lines = [header] if header else []
    lines += [f"{i * 7 % 5},{i * 3 % 4}.5,{y(i)}" for i in range(rows)]
    return "\n".join(lines).replace(",", separator) + "\n"


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED, times: int = 1) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.filelist *= times
    return out.getvalue()


def emptied(book: bytes) -> bytes:
    """Return a workbook whose formulas have empty texts as values."""
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        return zipped({name: archive.read(name).replace(b"><f>", b' t="str"><f>') for name in archive.namelist()})


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def parquet(table: pd.DataFrame | pa.Table) -> bytes:
    """Return a Parquet file as pandas and Arrow write it."""
    out = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pandas(table), out)
    return out.getvalue()


def parquet_broken_letters() -> bytes:
    """Words that are no UTF-8; reading them finds that only when somebody looks at them."""
    words = pa.array(["hello", "other"] * 20)
    return stored("none", x=pa.array(range(40)), c=words, y=pa.array([0, 1] * 20)).replace(b"hello", b"\x80ello")


def million_rows() -> bytes:
    row = b"".join(b"%d,%d,%s\n" % (i % 97, i % 89, (b"a", b"b")[i % 3 == 0]) for i in range(10_000))
    return b"x,z,y\n" + row * 100


FRAME = pd.DataFrame(
    {
        "x": [1.5, 2.5, np.nan, 4.0] * 3,
        "when": pd.date_range("2020-01-01", periods=12, freq="D"),
        "c": pd.Categorical(["u", "v", "w", "u"] * 3),
        "flag": [True, False, True, None] * 3,
        "nested": [[1, 2]] * 12,
        "y": ["a", "b"] * 6,
    }
)

HTML = "<script>alert(1)</script>"
GOOD = (3, 2, 2)
ARFF = "@relation t\n@attribute x numeric\n@attribute 'my name' {a,'b c'}\n@attribute y {no,yes}\n@data\n"
ARFF_ROWS = "1,a,no\n2,'b c',yes\n3,a,yes\n4,'b c',no\n" * 3


def case(
    name: str,
    content: Any,
    cut: dict[str, Any] | None = None,
    *,
    size: Any = None,
    says: Any = (),
    file: str = "data.csv",
) -> Known:
    """Return a file that makes so many tasks, features and classes, or without a `size` is refused."""
    content = content.encode() if isinstance(content, str) else content
    return Known(name, content, {}, file, cut or {"label": "y", "block": 4}, size=size, refused=size is None, says=says)


CASES = [
    # nothing, or hardly anything
    case("empty", "", says=("empty",)),
    case("blanks only", "  \n\n \t\n", says=("empty",)),
    case("byte order mark only", lambda: b"\xef\xbb\xbf", says=("empty",)),
    case("header only", "x,y\n", says=("no rows",)),
    case("one cell", "hello", says=("Only one column",)),
    case("one column", "y\n1\n2\n3\n", says=("Only one column",)),
    case("one row", "x,y\n1,a\n", says=("same value in every row",)),
    case("two rows", "x,y\n1,a\n2,b\n", says=("longer than the 2 rows",)),
    # labels
    case("one class", table(y=lambda i: "a"), says=("'y'", "same value in every row")),
    case("label missing everywhere", table(y=lambda i: ""), says=("'y'", "is empty")),
    case("some labels missing", table(14, y=lambda i: ["a", "b", ""][(i > 11) * 2 or i % 2]), size=GOOD, says=("2 rows left out: no label in column 'y'",)),
    case("500 classes", table(1000, y=lambda i: f"name{i % 500}"), says=("500 different values", "at most 50")),
    case("label is measured", table(200, y=lambda i: f"{i * 1.25}"), says=("measured number",)),
    case("no such label", table(), {"label": "target", "block": 4}, says=("no column 'target'", "'x', 'z' and 'y'")),
    case("position out of range", table(), {"label": 17, "block": 4}, says=("no column number 17",)),
    # tasks
    case("neither task nor block", table(), {"label": "y"}, says=("how rows form tasks",)),
    case("both task and block", table(), {"label": "y", "task": "x", "block": 4}, says=("not both",)),
    case("one task", "t,x,y\n" + "7,1,a\n7,2,b\n" * 6, {"label": "y", "task": "t"}, says=("'t'", "two tasks", "makes 1")),
    case("label as task", table(), {"label": "y", "task": "y"}, says=("both the label and the task",)),
    case("every row a task", "t,x,y\n" + "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(40)), {"label": "y", "task": "t"}, says=("column 't' makes 0 (too small: '0' (1 row)",)),
    case("one task too small", "t,x,y\n" + "".join(f"{min(i // 8, 2)},{i % 3},{'ab'[i % 2]}\n" for i in range(17)), {"label": "y", "task": "t"}, size=(2, 1, 2), says=("too small", "'2' (1 row)")),
    case("3,000 tasks", "t,x,y\n" + "".join(f"n{i // 4},{i % 3},{'ab'[i % 2]}\n" for i in range(12_000)), {"label": "y", "task": "t"}, says=("3,000 tasks; at most 2,000",)),
    case("block too long", table(), {"label": "y", "block": 100}, says=("longer than the 12 rows",)),
    case("blocks leave rows over", table(14), size=GOOD, says=("2 rows left out: rows left over",)),
    case("tasks not sorted", "t,x,y\n" + "".join(f"{i * 5 % 3},{i % 4},{'ab'[i % 2]}\n" for i in range(24)), {"label": "y", "task": "t"}, size=(3, 1, 2), says=("increasing order",)),
    case("task column of words", "t,x,y\n" + "".join(f"{['zinc', 'iron', 'tin'][i // 4]},{i % 3},{'ab'[i % 2]}\n" for i in range(12)), {"label": "y", "task": "t"}, size=(3, 1, 2), says=("first appear",)),
    case("tasks with one class", "t,x,y\n" + "".join(f"{i // 4},{i % 3},{'ab'[i > 5]}\n" for i in range(12)), {"label": "y", "task": "t"}, size=(3, 1, 2), says=("only one class",)),
    case("tasks of one class each", "t,x,y\n" + "".join(f"{i // 4},{i % 3},c{i // 4}\n" for i in range(24)), {"label": "y", "task": "t"}, says=("'t' already determines 'y'",)),
    case("sorted by the label", "t,x,y\n" + "".join(f"{i // 4},{i % 3},c{i // 4}\n" for i in range(24)), says=("the file is sorted by 'y'",)),
    # headers and names
    case("duplicate columns", "x,x,y\n" + "1,2,a\n3,1,b\n" * 6, size=GOOD, says=("Several columns have the same name; they are called 'x (2)'",)),
    case("empty names", ",,y\n" + "1,2,a\n3,1,b\n" * 6, size=GOOD),
    case("no header", "1,2,0\n3,4,1\n" * 6, {"label": 2, "block": 4}, size=GOOD, says=("The first row ('1', '2' and '0') is read as data",)),
    case("name of 10,000 characters", "x" * 10_000 + ",y\n" + "1,a\n2,b\n" * 6, size=(3, 1, 2)),
    case("control characters and emoji", "x\x07\u202e,😀,y\n" + "1,4,a\n2,3,b\n" * 6, size=GOOD),
    # quotes and separators
    case("quotes and newlines in cells", 'x,"z\nnew",y\n' + '1,"a, ""quoted""\nword",no\n2,b,yes\n' * 6, size=GOOD),
    case("quotation mark never closed", 'x,z,y\n1,"2,a\n' + "1,2,b\n" * 11, says=("row 1", "cell")),
    # encodings
    case("UTF-16 cut in the middle", lambda: table().encode("utf-16")[:-1], says=("in UTF-16, but it is damaged", "UTF-8")),
    case("zero bytes", lambda: table().encode() + b"\0" * 20, says=("not a kind of table",)),
    # values
    case("column nearly all missing", "x,z,y\n" + "1,,a\n2,,b\n" * 5 + "1,5,a\n2,6,b\n", size=GOOD, says=("'z' (10 missing", "median")),
    case("dates nearly all missing", "x,z,y\n" + "1,,a\n2,,b\n" * 5 + "1,2020-05-01,a\n2,2020-06-02,b\n", size=GOOD, says=("'z' (days, counted", "10 missing")),
    case("constant column", "x,z,y\n" + "1,5,a\n2,5,b\n" * 6, size=(3, 1, 2), says=("'z' (the same value in every row)",)),
    case("nothing to learn from", "z,y\n" + "5,a\n5,b\n" * 6, says=("No column is left", "'z'")),
    case("category with many values", "c,x,y\n" + "".join(f"v{i * i % 37},{i % 3},{'ab'[i % 2]}\n" for i in range(120)), {"label": "y", "block": 40, "max_categories": 5}, size=GOOD, says=("become up to 5 columns of 0 and 1",)),
    case("huge numbers", "x,z,y\n" + "1e308,-1e308,a\n-1e308,1e308,b\n" * 6, size=GOOD),
    # size
    case("400 columns", lambda: (",".join(f"c{j}" for j in range(399)) + ",y\n" + "".join(",".join(str((i * j + i) % 2003) for j in range(1, 400)) + f",{'ab'[i % 2]}\n" for i in range(12))).encode(), size=(3, 399, 2)),
    case("6,000 columns", lambda: (",".join(f"c{j}" for j in range(6000)) + "\n").encode() * 3, says=("more than 5,000",)),
    case("a million rows", million_rows, {"label": "y", "block": 1000}, size=(1000, 2, 2)),
    case("too many rows", lambda: b"x,y\n" + b"1,a\n2,b\n" * 1_050_000, says=("2,100,000 rows", "2,000,000 rows")),
    case("file too large", lambda: b"x,y\n" + b"1,a\n" * (17 << 20), says=("too large", "64 MB")),
    case("one cell of 20 MB", lambda: b"x,y\n" + b"z" * (20 << 20) + b",a\n2,b\n" + b"1,a\n3,b\n" * 5, {"label": "y", "block": 4}, size=(3, 1, 2), says=("'x'",)),
    # archives and other kinds of file
    case("workbook of empty texts", lambda: emptied(_book([["=1", "=1"]] * 3)), file="made.xlsx", says=("No sheet", "two columns and two rows")),
    case("zip", lambda: zipped({"folder/data.csv": table().encode(), "folder/._data.csv": b"", ".DS_Store": b""}), file="data.zip", size=GOOD, says=("unpacked from zip: data.csv",)),
    case("workbook in a zip", zipped({"a.xlsx": _book([["x", "y"], *([1, "a"], [2, "b"]) * 6]), "readme": b""}, zipfile.ZIP_STORED), size=(3, 1, 2)),
    case("zip with two tables", lambda: zipped({"a.csv": b"1", "b.csv": b"2"}), says=("one table", "a.csv and b.csv")),
    case("zip with paths upwards", lambda: zipped({"../../etc/passwd.csv": table().encode()}), size=GOOD),
    case("pickle renamed to csv", lambda: pickle.dumps(Bomb(), protocol=0), says=()),
    case("other kinds of file", lambda: b"\x93NUMPY\x01\0" + bytes(60), file="data.npz", says=("not a kind of table", "as CSV")),
    *(case(f"refused: {name}", content, says=("not a kind of table", "as CSV")) for name, content in {
        "xz": b"\xfd7zXZ\0" + bytes(90), "SPSS": b"$FL2@(#) SPSS DATA FILE" + bytes(200), "Stata": b"<stata_dta><header><release>118", "R": b"RDX3\nX\n\0\0\0\3" + bytes(50),
        "PDF": b"%PDF-1.7 ...", "image": b"\x89PNG\r\n\x1a\n" + bytes(50), "pickle": pickle.dumps(Bomb()), "npz": npz(x=np.array([Bomb()], dtype=object)), "random bytes": np.random.default_rng(0).bytes(5000),
        "web page": b"<!DOCTYPE html><html><table><tr><td>1</td></tr></table></html>", "JSON": b'{"x": [1, 2], "y": ["a", "b"]}', "sparse ARFF": ARFF.encode() + b"{0 1}\n{1 2, 2 b}\n",
        "OpenDocument": zipped({"mimetype": b"x", "content.xml": b"<x/>"}), "binary workbook": zipped({"xl/workbook.bin": b"x"}),
    }.items()),
    # ARFF
    case("ARFF called CSV", ARFF + ARFF_ROWS, file="data.csv", size=GOOD, says=("ARFF",)),
    case("ARFF with missing values and comments", "% a comment\n" + ARFF + ARFF_ROWS.replace("3,a", "?,a", 1) + "% end\n", size=GOOD, says=("median",)),
    case("ARFF without data", ARFF, says=("no data rows",)),
    case("ARFF cut in the header", ARFF[:60], says=("no @DATA line",)),
    case("ARFF row too long", ARFF + "1,a,no\n2,a,yes,7,8\n", says=("row 2 has 5 cells",)),
    case("ARFF relational attribute", "@relation t\n@attribute x relational\n@data\n1\n", says=("relational",)),
    # Parquet
    case("Parquet", lambda: parquet(FRAME), file="data.parquet", size=(3, 4, 2), says=("lists or other nested",)),
    case("Parquet with broken letters", parquet_broken_letters, file="data.parquet", says=("Parquet file is damaged",)),
    case("Parquet with a broken middle", lambda: parquet(FRAME)[:60] + b"\xff" * 200 + parquet(FRAME)[260:], file="data.parquet", says=("Parquet file is damaged",)),
    case("Parquet without rows", lambda: parquet(FRAME.head(0)), file="data.parquet", says=("no rows",)),
]  # fmt: skip


FAMILIES = (dates, numbers, long, missing, identifiers, labels)
FAMILIES += (structure, encodings, combined, workbooks, typed, cells, CASES.copy)
