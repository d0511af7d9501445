"""The `Table` of `Column`s that a file becomes, and text that is safe to show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError
from imrc._types import Flags
from imrc.wording import listed

if TYPE_CHECKING:
    import pandas as pd

Period = Literal["value", "day", "week", "month", "quarter", "year"]

MAX_FILE_BYTES = 64 << 20
MAX_UNPACKED_BYTES = 256 << 20
MAX_ROWS = 2_000_000
MAX_COLUMNS = 5000
MAX_CELLS = 25_000_000
LIMITS_IN_WORDS = (
    f"At most {MAX_FILE_BYTES >> 20} MB ({MAX_UNPACKED_BYTES >> 20} MB unpacked), {MAX_ROWS:,} rows, "
    f"{MAX_COLUMNS:,} columns and {MAX_CELLS // 10**6} million cells."
)
MAX_NAME = 60
MAX_LABEL = 300
"""Maximum number of characters of a label, and of other words that the next file is compared with."""
MAX_LISTED = 5000
"""Maximum number of words listed in a `Column`."""
DAY = 86_400
SEPARATED = {"\t": "TSV, cells separated by tabs"}
SEPARATED |= {sign: f"CSV, cells separated by {name}" for sign, name in ((";", "semicolons"), (",", "commas"))}


@dataclass(frozen=True)
class Reading:
    """How to read a file that can be read in two ways; None guesses and leaves a note.

    `dayfirst`: 1/2/2020 is the 1st of February; `decimal`: "." or ","; `header`: the first row contains names; `sheet`:
    of a workbook, by name or number from 1; `columns`: what a `Recipe` says about each column.
    """

    dayfirst: bool | None = None
    decimal: str | None = None
    header: bool | None = None
    sheet: str | int | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table, with its cells interpreted.

    `values` are numbers (NaN missing), codes of words (-1 missing) or seconds since 1970 (NaN missing). `raw` are the
    words as in the file, sorted, the first `MAX_LISTED` only; show `categories` instead. `period` is "value", or for
    dates that mean more than a moment "week", "month", "quarter". `decimal` and `dayfirst` say how cells were read,
    `choices` which of them could be read in another way. Where different texts are the same number, `spelt` has codes
    of their texts.
    `written` has the cells of a text file that a `Recipe` reads, as bytes, each followed by a zero.
    """

    name: str
    kind: Literal["number", "category", "date", "empty"]
    values: NDArray[Any]
    raw: Sequence[str] = ()
    notes: Sequence[str] = ()
    period: Period = "value"
    decimal: str = ""
    dayfirst: bool | None = None
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    spelt: NDArray[Any] | None = None
    written: NDArray[np.uint8] | None = None

    @property
    def present(self) -> Flags:
        """Which rows have a value."""
        return np.asarray(self.values >= 0 if self.kind == "category" else ~np.isnan(self.values))

    @cached_property
    def distinct(self) -> int:
        """How many different values there are."""
        return len(np.unique(self.values[self.present]))

    @cached_property
    def categories(self) -> list[str]:
        """The words, safe to show."""
        return unique_names(self.raw, "value")

    def words(self, most: int | None = None, *, raw: bool = False) -> NDArray[Any]:
        """Return the first cells or all as text, with "" for empty cells and "…" for words not listed."""
        values, there = self.values[:most], self.present[:most]
        shown = np.full(len(values), "", dtype=object)
        different, place = np.unique(values[there], return_inverse=True)
        shown[there] = np.array([self.in_words(value, raw=raw) for value in different], dtype=object)[place]
        return shown

    def in_words(self, value: float, *, raw: bool = False) -> str:
        """Return a value of this column as text that is safe to show, or `raw`, as in the file."""
        if self.kind == "category":
            return (self.raw if raw else self.categories)[int(value)] if value < len(self.raw) else "…"
        return date_in_words(value) if self.kind == "date" else plain_number(value)

    def as_words(self) -> Column:
        """Return numbers or dates as words, one per value, in their original spelling if it is known."""
        if self.spelt is not None:
            return replace(self, kind="category", values=self.spelt, spelt=None)
        if self.kind not in ("number", "date"):
            return self
        values, codes = np.unique(self.values, return_inverse=True)  # NaN last
        words = tuple(self.in_words(value) for value in values[: min(self.distinct, MAX_LISTED)])
        return replace(self, kind="category", values=np.where(self.present, codes, -1), raw=words)


@dataclass(frozen=True, eq=False)
class Table:
    """The user's own table, with the kind of each column determined.

    `format` is, for example, "CSV, cells separated by semicolons, UTF-8"; `notes` say what was decided while reading,
    `preview` holds the first rows as in the file, safe to show; `choices` are the possible readings of the file: for
    each option of `Reading` that makes a difference, the value taken first, then the others.
    """

    name: str
    columns: tuple[Column, ...]
    n_rows: int
    format: str
    notes: Sequence[str] = ()
    preview: Sequence[Sequence[str]] = field(default=(), repr=False)
    sha256: str = ""
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, which: str | int) -> Column:
        """Return a column by name or position; DataError lists the names.

        An int counts from 0, a text that is no name but a whole number from 1; a negative one counts from the end.
        """
        place = int(which) if isinstance(which, int | np.integer) and not isinstance(which, bool) else None
        for column in self.columns if place is None else ():
            if column.name in (which, clean_name(which)):
                return column
        if place is None and re.fullmatch(r"-?[1-9]\d{0,5}", str(which)):
            place = int(which) - (int(which) > 0)
        if place is not None and -len(self.columns) <= place < len(self.columns):
            return self.columns[place]
        count, text = len(self.columns), isinstance(which, str)
        places = f"from 1 to {count:,}" if text else f"from 0 to {count - 1:,}"
        raise DataError(
            f"There is no column {repr(str(which)[:60]) if text else f'number {which}'}. The table has {count:,}: "
            f"{listed([repr(name) for name in self.names], 60)}. A number {places} selects a column by its position."
        )

    def as_read(self) -> tuple[tuple[str, ...], ...]:
        """Return the first rows as they were interpreted, with "" where a cell counts as missing."""
        return tuple(zip(*(column.words(len(self.preview)).tolist() for column in self.columns), strict=True))


def check_size(rows: int, columns: int) -> None:
    """Raise DataError for a table that is larger than the limits."""
    if columns > MAX_COLUMNS or rows > MAX_ROWS or rows * columns > MAX_CELLS:
        raise DataError(f"The table has {rows:,} rows and {columns:,} columns. {LIMITS_IN_WORDS} Keep fewer of them.")


def clean_name(text: object) -> str:
    """Return a name that is safe to show anywhere: no markup, no formula, no control characters, not too long."""
    # Text is cut first, because normalising a cell of many megabytes would take long.
    short = unicodedata.normalize("NFC", str(text)[: 4 * MAX_NAME])
    # Invisible characters that reverse the direction of text or join letters could only mislead here.
    if not short.isascii():
        short = "".join(c for c in short if unicodedata.category(c) not in ("Cf", "Cs", "Co"))
    short = re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", short).strip()
    short = short.translate(str.maketrans("<>[]`$&", "‹›()'＄＆"))
    if short and short[0] in "=+-@" and not re.match(r"^[+-]?(\d+\.?\d*|\.\d+)", short):
        short = "'" + short  # a spreadsheet would run it as a formula
    return short if len(short) <= MAX_NAME else short[: MAX_NAME - 1] + "…"


def clean_label(text: object) -> str:
    """Return a label as it is written, without blanks around it; a very long one is cut."""
    word = str(text).strip()
    return word[:MAX_LABEL].rstrip("\0") + "…" * (len(word) > MAX_LABEL)


def unique_names(names: Iterable[object], prefix: str = "column", clean: Callable[..., str] = clean_name) -> list[str]:
    """Return distinct names that are safe to show, or what another function makes of them."""
    result: dict[str, None] = {}
    counts: dict[str, int] = {}
    for position, raw in enumerate(names, start=1):
        name = base = clean(raw) or f"{prefix} {position}"
        while name in result:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base} ({counts[base]})"
        result[name] = None
    return list(result)


def labels_of(words: Iterable[str]) -> list[str]:
    """Return distinct labels."""
    return unique_names(words, "value", clean_label)


def plain_number(value: float) -> str:
    """Return a number with exactly the digits it has."""
    if 1e-5 <= abs(value) < 1e16 or value == 0:
        return str(np.format_float_positional(value, trim="-"))
    return repr(float(value))


def date_in_words(seconds: float) -> str:
    """Return a moment as text, the date with the time unless it is midnight."""
    text = str(np.datetime64(round(seconds * 1e6), "us")).replace("T", " ")
    return re.sub(r"(?:(?: 00:00)?:00)?\.0+$|0+$", "", text)


def _as_in_file(column: Column, sign: str) -> list[str]:
    """Return the cells of a column as its file has them; if that is not known, as read, with the decimal sign."""
    if column.written is not None:
        return column.written.tobytes().decode().split("\0")[:-1]
    words: list[str] = column.words().tolist()
    return [word.replace(".", sign) for word in words] if column.kind == "number" else words


def csv_text(frame: pd.DataFrame, like: Table | None = None) -> str:
    r"""Return a table as comma-separated values in which a spreadsheet treats no text of a file as a formula.

    Such texts get an apostrophe in front, because task names can come from any file. Numbers stay numbers. The columns
    that are `like` a file's are written as in it, the others with its separator and decimal sign and four decimals.

    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"=a": [-1.5, -2], "task": ["@SUM(A1)", "-2"]}))
    "'=a,task\n-1.5,'@SUM(A1)\n-2.0,-2\n"
    """
    own: dict[str, Any] = {}
    if like is not None:
        sign = "," if any(column.decimal == "," for column in like.columns) else "."
        sep = next((sep for sep, words in SEPARATED.items() if like.format.startswith(words)), ",")
        own = {"sep": sep, "decimal": sign, "float_format": "%.4f"}
        frame = frame.assign(**{column.name: _as_in_file(column, sign) for column in like.columns})
    figures = r"\s*[+-]+([€$£¥]? ?[\d., ']*\d[.,]?([eE][+-]?\d+)?( ?[%‰€$£¥])?)?\s*"

    def harmless(cell: Any) -> Any:  # noqa: ANN401 - a cell of a table
        begins = isinstance(cell, str) and re.match(r"[\t\r]|\s*[=+@-]", cell)
        return f"'{cell}" if begins and not re.fullmatch(figures, cell) else cell

    return str(frame.rename(columns=harmless).map(harmless).to_csv(index=False, lineterminator="\n", **own))
