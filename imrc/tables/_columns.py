"""Cells to columns of numbers, dates or words; every decision about cells is noted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from imrc.tables._dates import Period, read_dates
from imrc.tables._numbers import LARGEST_EXACT, Mark, read_numbers

if TYPE_CHECKING:
    import pyarrow as pa

ColumnKind = Literal["number", "category", "date", "empty"]

ALWAYS_MISSING = ("", "na", "n/a", "#n/a", "nan", "null")
MARKS = ("?", "-", ".")
MISSING = (*ALWAYS_MISSING, *MARKS, "none", "nil", "missing")
"""Cells that stand for a missing value among numbers and dates, capitals or not.

Among words, "none", "nil" and "missing" are words, and so are the marks where they are one of two classes, as + and -.
"""

MOSTLY = 0.9
"""A column with at least this share of numbers is numeric; its other cells count as missing, and are named."""

MAX_NAME = 60
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table, its cells understood.

    Attributes
    ----------
    name : str
        Name, made safe to show.
    kind : {"number", "category", "date", "empty"}
        What the cells are.
    values : ndarray of shape (n_rows,)
        Numbers (NaN missing), codes of categories (-1 missing), or seconds since 1970 as float (NaN missing).
    categories : tuple of str
        Names of the codes, made safe to show; sorted. The first `MAX_LISTED` only.
    distinct : int
        Number of different values, missing not counted.
    missing : int
        Cells without a value.
    notes : tuple of str
        What was decided about cells, in words.
    period : str
        "value", or for dates that stand for more than a moment: "week", "month" or "quarter".
    """

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    categories: tuple[str, ...] = ()
    distinct: int = 0
    missing: int = 0
    notes: tuple[str, ...] = ()
    period: Period = "value"

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows have a value."""
        return np.asarray(self.values >= 0 if self.kind == "category" else ~np.isnan(self.values))


MAX_LISTED = 5000
"""Most words listed in `Column.categories`."""


def clean_name(text: object) -> str:
    r"""Return a name that is safe to show anywhere: no markup, no formula, no control characters, not too long.

    Examples
    --------
    >>> clean_name("<img src=x>"), clean_name("=1+1"), clean_name("a\nb")
    ('‹img src=x›', "'=1+1", 'a b')
    """
    # Text is cut first: normalising a cell of many megabytes would take long.
    short = unicodedata.normalize("NFC", str(text)[: 4 * MAX_NAME])
    short = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in short)
    # Invisible characters that turn the direction of text or join letters serve only to deceive here.
    short = "".join(c for c in short if unicodedata.category(c) not in ("Cf", "Cs", "Co"))
    short = re.sub(r"\s+", " ", short).strip()
    short = short.translate(str.maketrans("<>[]`$&", "‹›()'＄＆"))
    if short and short[0] in "=+-@" and not re.match(r"^[+-]?(\d+\.?\d*|\.\d+)", short):
        short = "'" + short  # a spreadsheet would run it as a formula
    return short if len(short) <= MAX_NAME else short[: MAX_NAME - 1] + "…"


def unique_names(names: Iterable[object], prefix: str = "column") -> tuple[list[str], list[str]]:
    """Return safe, distinct names, and a note for each that had to be changed to be distinct.

    Examples
    --------
    >>> unique_names(["a", "a", ""])[0]
    ['a', 'a (2)', 'column 3']
    """
    result: list[str] = []
    notes: list[str] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for position, raw in enumerate(names, start=1):
        name = base = clean_name(raw) or f"{prefix} {position}"
        while name in taken:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base} ({counts[base]})"
        if name != base:
            notes.append(f"There are several columns called {base!r}; number {position} is called {name!r} here.")
        taken.add(name)
        result.append(name)
    return result, notes


def _numeric(name: str, kind: ColumnKind, values: NDArray[Any], notes: Iterable[str] = ()) -> Column:
    """Return a column of numbers or dates, "empty" if all are NaN."""
    present = values[~np.isnan(values)]
    missing = len(values) - len(present)
    return Column(name, kind if present.size else "empty", values, (), len(np.unique(present)), missing, tuple(notes))


def _categories(name: str, cells: pa.Array, marked: bool, notes: Iterable[str] = ()) -> Column:
    """Return the column as words; with `marked`, "?" is always a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(cells)
    words = np.array(pc.utf8_lower(pc.utf8_slice_codeunits(encoded.dictionary, 0, 12)).to_pylist())
    gone = np.isin(words, ALWAYS_MISSING)
    rest = words[~gone & ~np.isin(words, MARKS)]
    if len(rest) >= 2 and any(any(map(str.isalnum, word)) for word in rest):
        gone |= np.isin(words, MARKS)
    elif marked:
        gone |= words == "?"
    # Sorted: in the order of first appearance, words of later rows could stand before those of the first task.
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    order = order[~gone[order]]
    rank = np.full(len(words), -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    indices = encoded.indices.to_numpy(zero_copy_only=False)
    codes = rank[indices]
    counts = np.bincount(indices, minlength=len(words))
    named = [f"{counts[j]:,} cells {words[j].upper()!r} count as missing" for j in np.flatnonzero(gone) if words[j]]
    listed, _ = unique_names(
        [str(word) for word in encoded.dictionary.take(pa.array(order[:MAX_LISTED])).to_pylist()], prefix="value"
    )
    return Column(
        name,
        "category" if len(order) else "empty",
        codes if len(order) else np.full(len(codes), np.nan),
        tuple(listed),
        len(order),
        int((codes < 0).sum()),
        (*notes, *named[:3]),
    )


def _text(name: str, cells: pa.Array, mark: Mark, marked: bool) -> Column:
    """Return what a column of strings holds: mostly numbers, or mostly dates, otherwise categories."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = cells.fill_null("") if cells.null_count else cells
    cells = pc.utf8_trim_whitespace(cells)
    # Cells longer than the longest word for "missing" need not be turned into lower case.
    short = pc.if_else(pc.less_equal(pc.binary_length(cells), 8), cells, "x")
    missing = pc.is_in(pc.utf8_lower(short), value_set=pa.array(MISSING)).to_numpy(zero_copy_only=False)
    if missing.all():
        if pc.any(pc.not_equal(cells, "")).as_py() and (words := _categories(name, cells, marked)).distinct > 1:
            return words
        return _numeric(name, "empty", np.full(len(missing), np.nan))
    figures = read_numbers(cells, missing, mark, MOSTLY)
    if figures.values is not None:
        return _finite(name, figures.values, cells, figures.notes)
    moments = read_dates(name, cells, missing, MOSTLY)
    if moments is not None:
        return replace(_numeric(name, "date", moments.seconds, moments.notes), period=moments.period)
    return _categories(name, cells, marked, figures.notes)


def _finite(name: str, values: NDArray[np.float64], cells: pa.Array, notes: Iterable[str]) -> Column:
    """Return a column of numbers; infinite ones count as missing, and that is said."""
    infinite = np.isinf(values)
    if infinite.any():
        seen = ", ".join(f"{clean_name(cells[int(j)])!r} in row {j + 1:,}" for j in np.flatnonzero(infinite)[:2])
        notes = (*notes, f"{infinite.sum():,} infinite values ({seen}) count as missing")
        values[infinite] = np.nan
    return _numeric(name, "number", values, notes)


def _timestamps(name: str, cells: pa.Array) -> Column:
    """Return a column of dates of a typed file; times stand in its zone where that is known, otherwise in UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    notes: list[str] = []
    if pa.types.is_date(cells.type):
        cells = pc.cast(cells, pa.timestamp("ms"), safe=False) if pa.types.is_date64(cells.type) else cells
    elif cells.type.tz not in (None, "UTC"):
        zone = clean_name(cells.type.tz)
        try:
            cells = pc.local_timestamp(cells)
            notes.append(f"times stand in zone {zone}")
        except (pa.ArrowException, OSError):
            notes.append(f"the time zone {zone!r} is not known here; times stand in UTC")
    days = pa.types.is_date32(cells.type)
    size = 1 / 86_400 if days else {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[cells.type.unit]
    whole = pc.cast(cells.view(pa.int32() if days else pa.int64()), pa.int64())
    missing = whole.is_null().to_numpy(zero_copy_only=False)
    seconds = np.where(missing, np.nan, whole.fill_null(0).to_numpy(zero_copy_only=False) / size)
    outside = (seconds < _YEAR_1) | (seconds >= _YEAR_10000)
    if outside.any():
        row = int(np.flatnonzero(outside)[0]) + 1
        notes.append(
            f"{outside.sum():,} dates lie outside the years 1 to 9999 (the first in row {row:,}); they count as missing"
        )
        seconds[outside] = np.nan
    return _numeric(name, "date", seconds, notes)


def _decoded(cells: pa.Array) -> pa.Array:
    """Write a dictionary column out in full. Long words are cut first: repeated per row they would fill the memory."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = cells.dictionary
    if pa.types.is_string(words.type) or pa.types.is_large_string(words.type):
        number = pc.cast(pa.array(np.arange(len(words))), pa.string())
        start = pc.cast(pc.utf8_slice_codeunits(words, 0, MAX_NAME + 4), pa.string())
        cut = pc.binary_join_element_wise(pc.utf8_slice_codeunits(start, 0, MAX_NAME), number, " #")
        words = pc.if_else(pc.greater(pc.utf8_length(words), MAX_NAME + 4), cut, start)
    return words.take(cells.indices)


def is_readable(kind: pa.DataType) -> bool:
    """Whether cells of this type of pyarrow are numbers, dates or words: no lists, nothing nested, no bytes."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return is_readable(kind.value_type)
    tests = ("boolean", "integer", "floating", "decimal", "string", "large_string", "date", "timestamp", "null")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in tests)


def understand(name: str, cells: pa.Array, mark: Mark = "", *, marked: bool = False) -> Column | None:
    """Return what a column holds; None if it cannot be used.

    A column of strings holds numbers or dates if at least nine cells in ten are, otherwise categories. `mark` is what
    separates decimals where a column alone does not tell; `marked` means "?" is always a missing value, as in ARFF.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = understand("x", pa.array(["1,5", "2,0", "?"]))
    >>> column.kind, column.values[:2].tolist(), column.missing, column.notes
    ('number', [1.5, 2.0], 1, ('decimal commas were read as decimal points',))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type):
        cells = _decoded(cells)
    kind = cells.type
    if pa.types.is_integer(kind) and _is_beyond(cells):
        note = "whole numbers of more than 15 digits are kept as words, so that different ones stay different"
        return _categories(name, pc.cast(cells, pa.string()).fill_null(""), marked, [note])
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind):
        return _text(name, pc.cast(cells, pa.string()), mark, marked)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = np.array(pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        return _finite(name, values, cells, ())
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _timestamps(name, cells)
    return _numeric(name, "empty", np.full(len(cells), np.nan)) if pa.types.is_null(kind) else None


def _is_beyond(cells: pa.Array) -> bool:
    """Whether whole numbers are too large to stay different as floating-point numbers."""
    import pyarrow.compute as pc

    least, most = (bound.as_py() for bound in pc.min_max(cells).values())
    return least is not None and (most >= LARGEST_EXACT or least <= -LARGEST_EXACT)
