"""The user's own table as a sequence of tasks. A file passes through these modules once, in this order.

=========  ===============================================================================================
`packed`   bytes: which kind of file they are, unpacked from gzip and zip
`read`     the way to a `Table`: text, ARFF, Excel, Parquet or data frame to cells
`cells`    cells to columns of numbers, dates or words
`apart`    all of that in a process of its own, so that no file can end the program
`table`    what comes of it: a `Table` of columns, and how it can be read in another way
`cut`      tasks: which rows belong together, and what each column is used as
`recipe`   what was decided, for the next file
=========  ===============================================================================================
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from imrc._checks import DataError, InputTypeError, check_choice
from imrc.tables.apart import read_apart
from imrc.tables.cut import (
    MAX_CLASSES,
    ColumnUse,
    Cut,
    cut_table,
    looks_like_identifier,
    possible_periods,
    suggested_period,
)
from imrc.tables.recipe import Recipe
from imrc.tables.sample import Suggestion, sample_csv, suggest
from imrc.tables.table import LIMITS_IN_WORDS, MAX_FILE_BYTES, Column, Period, Reading, Table, clean_name, csv_text
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

READING = {"dayfirst", "decimal", "header", "sheet"}
"""Options of how a file is read that can be read in two ways."""

Source: TypeAlias = "str | Path | bytes | BinaryIO | pd.DataFrame"


def open_table(
    source: Source,
    *,
    name: str | None = None,
    dayfirst: bool | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    sheet: str | int | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
) -> Table:
    r"""Read the user's own table and determine what its columns hold.

    CSV or TSV, Excel (the first sheet with a table), Parquet or ARFF, also as gzip or zip: its content tells which.
    It is read in a process of its own; nothing is unpickled or executed.
    `Table.notes` say how it was read, and where the options `dayfirst`, `decimal`, `header` and `sheet` (see
    `read_table`) would read it otherwise. DataError says why a file cannot be read, where and what to do.

    >>> table = open_table(b"age;class\n31,5;yes\n28,0;no\n", name="people.csv")
    >>> [(column.name, column.kind) for column in table.columns], table.format
    ([('age', 'number'), ('class', 'category')], 'CSV, cells separated by semicolons, UTF-8')
    """
    if decimal is not None:
        check_choice("decimal", decimal, (".", ","))
    reading = Reading(dayfirst, decimal, header, sheet, columns or {})
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        from imrc.tables.read import read_frame  # loads pyarrow

        return read_frame(source, name or "", reading)
    data, found = _bytes_of(source)
    if len(data) > MAX_FILE_BYTES:
        raise DataError(_too_large(len(data)))
    if not data:
        raise DataError("The file is empty.")
    return replace(read_apart(data, name or found, reading), sha256=hashlib.sha256(data).hexdigest())


def _bytes_of(source: str | Path | bytes | BinaryIO) -> tuple[bytes, str]:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), ""
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        try:
            if (size := path.stat().st_size) > MAX_FILE_BYTES:
                raise DataError(_too_large(size))
            return path.read_bytes(), path.name
        except OSError as error:
            raise DataError(f"The file {path} cannot be read: {error.strerror or error}.") from None
    if not hasattr(source, "read"):
        raise InputTypeError(f"Give a path, bytes, an open file or a data frame, not {type(source).__name__}.")
    data = source.read(MAX_FILE_BYTES + 1)
    return data.encode() if isinstance(data, str) else data, Path(str(getattr(source, "name", ""))).name


def _too_large(size: int) -> str:
    return f"The file has {size / 2**20:,.0f} MB. {LIMITS_IN_WORDS} Keep fewer rows or columns, or save it as Parquet."


def read_table(
    source: Source,
    *,
    label: str | int,
    task: str | int | None = None,
    block: int | None = None,
    name: str | None = None,
    **options: Any,  # noqa: ANN401 - of open_table and cut_table, which check them
) -> TaskSequence:
    r"""Read the user's own table and cut it into tasks: a column `task`, or `block` rows each.

    `imrc.tasks_from` does the same and lists the options. ``sequence.info["report"]`` describes everything that was
    done, ``info["warnings"]`` what was decided or left out, ``info["recipe"]`` reads the next file in the same way.

    >>> text = b"x,sex,risk\n" + b"1,f,no\n2,m,yes\n3,f,yes\n4,m,no\n" * 3
    >>> sequence = read_table(text, label="risk", block=4)
    >>> sequence.feature_names, sequence.column_kinds, sequence.categories, sequence[0].X[:2].tolist()
    (('x', 'sex'), ('undeclared', 'category'), {1: ('f', 'm')}, [[1.0, 0.0], [2.0, 1.0]])
    """
    table = open_table(source, name=name, **{option: options.pop(option) for option in READING & options.keys()})
    cut = cut_table(table, label=label, task=task, block=block, **options)
    said = {"report": (*table.notes, *cut.in_words()), "warnings": (*table.notes, *cut.warnings(), *cut.notes)}
    title = clean_name(name).rsplit(".", 1)[0] if name else cut.sequence.name
    return replace(cut.sequence, name=title, info={**cut.sequence.info, **said})
