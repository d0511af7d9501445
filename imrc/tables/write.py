"""Tables written for spreadsheets, in which no text of a file is run as a formula."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def harmless(value: Any) -> Any:  # noqa: ANN401 - a cell of a table
    """Return a cell as it is, but a text that a spreadsheet would take for a formula behind an apostrophe.

    Names of tasks and classes come from files of anybody. Numbers stay numbers, also negative ones written as text.

    >>> harmless("=HYPERLINK(1)"), harmless("-2"), harmless(-2), harmless("May"), harmless("-x")
    ("'=HYPERLINK(1)", '-2', -2, 'May', "'-x")
    """
    if not isinstance(value, str) or not value.startswith(_BEGINS_A_FORMULA):
        return value
    with contextlib.suppress(ValueError):
        float(value)
        return value
    return f"'{value}"


def csv_text(frame: pd.DataFrame) -> str:
    r"""Return a table as comma-separated values in which no text of a file is a formula.

    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"=a": [-1.5], "task": ["@SUM(A1)"]}))
    "'=a,task\n-1.5,'@SUM(A1)\n"
    """
    return str(frame.rename(columns=harmless).map(harmless).to_csv(index=False, lineterminator="\n"))
