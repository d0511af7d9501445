"""The user's own table as a sequence of tasks.

A file is unpacked (`packed`) and read (`read`, `cells`) in a separate process (`apart`), which returns a `Table`; that
is cut into tasks (`cut`), and the decisions are kept for the next file (`recipe`).
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from imrc._checks import DataError, InputTypeError, check_choice
from imrc.tables.apart import read_apart
from imrc.tables.cut import MAX_CLASSES, Cut, cut_table, looks_like_identifier, possible_periods, suggested_period
from imrc.tables.recipe import Recipe
from imrc.tables.sample import Suggestion, sample_csv, suggest
from imrc.tables.table import LIMITS_IN_WORDS, MAX_FILE_BYTES, Column, Period, Reading, Table, csv_text
from imrc.tasks import is_frame

if TYPE_CHECKING:
    import pandas as pd

READING = ("dayfirst", "decimal", "header", "sheet")
"""Options for files that can be read in two ways."""

Source: TypeAlias = "str | Path | bytes | BinaryIO | pd.DataFrame"


def open_table(source: Source, *, name: str | None = None, **reading: Any) -> Table:  # noqa: ANN401 - of `Reading`
    r"""Read the user's own table and determine what its columns contain.

    Reads CSV or TSV, Excel (the first sheet with a table), Parquet or ARFF, also as gzip or zip, told by content.
    A separate process reads it; nothing is unpickled or executed. `Table.notes` say how it was read, and which
    options of `Reading` would read it differently. DataError says why and where it cannot be read, and what to do.

    >>> table = open_table(b"age;class\n31,5;yes\n28,0;no\n", name="people.csv")
    >>> [(column.name, column.kind) for column in table.columns], table.format
    ([('age', 'number'), ('class', 'category')], 'CSV, cells separated by semicolons, UTF-8')
    """
    if reading.get("decimal") is not None:
        check_choice("decimal", reading["decimal"], (".", ","))
    how = Reading(**reading)
    if is_frame(source):
        from imrc.tables.read import read_frame  # loads pyarrow

        return read_frame(source, name or "", how)
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        try:
            with path.open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise DataError(f"The file {path} cannot be read: {error.strerror or error}.") from None
    elif hasattr(source, "read"):
        data, path = source.read(MAX_FILE_BYTES + 1), Path(str(getattr(source, "name", "")))
        data = data.encode() if isinstance(data, str) else data
    elif isinstance(source, bytes | bytearray | memoryview):
        data, path = bytes(source), Path()
    else:
        raise InputTypeError(f"Give a path, bytes, an open file or a data frame, not {type(source).__name__}.")
    if not 0 < len(data) <= MAX_FILE_BYTES:
        too_large = f"The file is too large. {LIMITS_IN_WORDS} Keep fewer rows or columns, or save it as Parquet."
        raise DataError(too_large if data else "The file is empty.")
    return replace(read_apart(data, name or path.name, how), sha256=hashlib.sha256(data).hexdigest())
