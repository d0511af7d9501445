"""The user's own table as a sequence of tasks. A file passes through these modules once, in this order.

=========  ===============================================================================================
`packed`   bytes: which kind of file they are, unpacked from gzip and zip
`read`     the way to a `Table`: text, ARFF, Excel, Parquet or data frame to cells
`cells`    cells to columns of numbers, dates or words
`apart`    all of that in a process of its own, so that no file can end the program
`cut`      tasks: which rows belong together, and what each column is used as
`recipe`   what was decided, for the next file
`write`    rows as a file for a spreadsheet
=========  ===============================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from imrc._checks import DataError, InputTypeError, check_choice
from imrc.tables.apart import read_apart
from imrc.tables.cells import Column, Period, Reading, clean_name
from imrc.tables.cut import (
    MAX_CLASSES,
    ColumnUse,
    Cut,
    cut_table,
    looks_like_identifier,
    possible_periods,
    suggested_period,
)
from imrc.tables.read import LIMITS_IN_WORDS, MAX_FILE_BYTES, Table, read_frame
from imrc.tables.recipe import Recipe
from imrc.tables.sample import Suggestion, sample_csv, suggest
from imrc.tables.write import csv_text
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LIMITS_IN_WORDS",
    "MAX_CLASSES",
    "Column",
    "ColumnUse",
    "Cut",
    "Period",
    "Recipe",
    "Suggestion",
    "Table",
    "csv_text",
    "cut_table",
    "looks_like_identifier",
    "open_table",
    "possible_periods",
    "read_table",
    "sample_csv",
    "suggest",
    "suggested_period",
]

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
    It is read in a process of its own; nothing is written to disk, unpickled or executed.
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
        return read_frame(source, name or "", reading)
    data, found = _bytes_of(source)
    if len(data) > MAX_FILE_BYTES:
        raise DataError(_too_large(len(data)))
    if not data:
        raise DataError("The file is empty.")
    return read_apart(data, name or found, reading)


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
        raise InputTypeError(f"A path, bytes, an open file or a data frame is needed, got {type(source).__name__}.")
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
    dayfirst: bool | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    sheet: str | int | None = None,
    **options: Any,  # noqa: ANN401 - passed on to cut_table, which checks them
) -> TaskSequence:
    r"""Read the user's own table and cut it into tasks.

    CSV, TSV, Excel, ARFF and Parquet (also zipped or gzipped), or a pandas DataFrame. A file is read in a process of
    its own, with limits on memory and time. Rows without a label or a task are left out. ``sequence.info["report"]``
    describes everything that was done, ``sequence.info["warnings"]`` what was decided or left out,
    ``sequence.info["recipe"]`` reads the next file in the same way (`imrc.tables.Recipe`).

    Tasks hold the columns as they were read: NaN where a cell is empty, days for dates, and for words numbers that
    say which word it is (``sequence.categories``). `imrc.evaluate` and everything else that takes a sequence fills gaps
    and turns words into 0/1 columns with what is learnt from the training rows of the first task, so that nothing of
    later tasks or of test rows is known beforehand. An estimator that is given tasks directly is told of the columns::

        model = imrc.IMRC(features=imrc.features.Representation.of("blended", sequence))
        for task in sequence:
            model.partial_fit(task.X, task.y, classes=sequence.classes)

    Only a table of numbers without gaps needs no such step.

    Parameters
    ----------
    source : path, bytes, open binary file, or DataFrame
        The table.
    label : str or int
        Column to predict.
    task : str or int, optional
        Column whose values are the tasks.
    block : int, optional
        Rows per task, in file order, instead of a task column.
    name : str, optional
        Name of the sequence.
    dayfirst : bool, optional
        Whether 1/2/2020 is the 1st of February; None: as the other dates of the column tell, else yes, which is noted.
    decimal : {".", ","}, optional
        What separates decimals; None: as the file tells.
    header : bool, optional
        Whether the first row holds names of columns; None: unless it looks like the rows below.
    sheet : str or int, optional
        Sheet of a workbook, by name or number from 1; None: the first with a table.
    **options
        ``period``: what makes one task of dates: "auto" (months, or what is shorter or longer where they hold many rows
        or few), "value", "day", "week", "month", "quarter" or "year".
        ``exclude``, ``include``: columns not to learn from, and to learn from although they look like identifiers.
        ``words``: columns of numbers or dates whose values are names.
        ``threshold``: makes two classes of a label of numbers, those above it (or above the "median") and the others.
        ``max_categories``: most 0/1 columns made of the words of one column (1 to 200); rarer words share one more.
        ``max_missing``: share of missing values in the first task above which a column of numbers is left out there.
        ``min_samples``: tasks with fewer rows are left out. ``newest``: so many tasks at the end are kept.

    Returns
    -------
    TaskSequence
        With ``column_kinds``, ``categories`` and ``info["report"]``.

    Raises
    ------
    DataError
        If the table cannot be read or does not make tasks; the message names row and column.

    Examples
    --------
    >>> text = b"x,sex,risk\n" + b"1,f,no\n2,m,yes\n3,f,yes\n4,m,no\n" * 3
    >>> sequence = read_table(text, label="risk", block=4)
    >>> sequence
    TaskSequence('table', 3 tasks, 12 samples, 2 features, 2 classes)
    >>> sequence.feature_names, sequence.column_kinds, sequence.categories
    (('x', 'sex'), ('undeclared', 'category'), {1: ('f', 'm')})
    >>> sequence[0].X[:2].tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    table = open_table(source, name=name, dayfirst=dayfirst, decimal=decimal, header=header, sheet=sheet)
    cut = cut_table(table, label=label, task=task, block=block, **options)
    said = (*table.notes, *cut.warnings(), *cut.notes)
    info = {**cut.sequence.info, "report": (*table.notes, *cut.in_words()), "warnings": said}
    title = clean_name(name).rsplit(".", 1)[0] if name else cut.sequence.name
    return replace(cut.sequence, name=title, info=info)
