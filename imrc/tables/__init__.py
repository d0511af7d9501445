"""The user's own table as a sequence of tasks. A file passes through these modules once, in this order.

===========  =========================================================================================
Module       What it does
===========  =========================================================================================
`_archives`  bytes: which kind of file they are, unpacked from gzip and zip
`_open`      the whole way to a `Table`: text, ARFF, Parquet or data frame to cells, cells to columns
`_text`      text: encoding, delimiter, quotes, rows (`_arff`: the same for ARFF)
`_columns`   columns: numbers (`_numbers`), dates (`_dates`) or words
`_cut`       tasks: which rows belong together, and what each column is used as
`_apart`     the same reading in a process of its own, for files of strangers (`_child`: that process)
===========  =========================================================================================
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from imrc.tables._apart import open_upload, prepare_reading
from imrc.tables._columns import Column, clean_name
from imrc.tables._cut import MAX_CLASSES, ColumnUse, Cut, cut_table, possible_periods, suggested_period
from imrc.tables._dates import Period
from imrc.tables._open import Table, open_table
from imrc.tables._sample import Suggestion, sample_csv, suggest
from imrc.tables._text import LIMITS_IN_WORDS
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
    "Suggestion",
    "Table",
    "cut_table",
    "open_table",
    "open_upload",
    "possible_periods",
    "prepare_reading",
    "read_table",
    "sample_csv",
    "suggest",
    "suggested_period",
]


def read_table(
    source: str | Path | bytes | BinaryIO | pd.DataFrame,
    *,
    label: str | int,
    task: str | int | None = None,
    block: int | None = None,
    name: str | None = None,
    **options: Any,  # noqa: ANN401 - passed on to cut_table, which checks them
) -> TaskSequence:
    r"""Read the user's own table and cut it into tasks.

    CSV, TSV, text in columns, Excel, ARFF and Parquet (also zipped or gzipped), or a pandas DataFrame. Rows without a
    label or a task are left out. ``sequence.info["report"]`` describes everything that was done,
    ``sequence.info["warnings"]`` what was left out. Nothing is written to disk or executed.

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
    **options
        ``period``, ``exclude``, ``words``, ``threshold``, ``max_categories``, ``max_missing``, ``min_samples`` of
        `cut_table`.

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
    table = open_table(source, name=name)
    cut = cut_table(table, label=label, task=task, block=block, **options)
    info = {**cut.sequence.info, "report": (*table.notes, *cut.in_words()), "warnings": tuple(cut.warnings())}
    title = clean_name(name).rsplit(".", 1)[0] if name else cut.sequence.name
    return replace(cut.sequence, name=title, info=info)
