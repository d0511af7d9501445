"""Cells to columns of numbers, dates or words; every decision about cells is noted."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

ColumnKind = Literal["number", "category", "date", "empty"]

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "?", "-", ".", "missing")
"""Cells that stand for a missing value, capitals or not."""

MOSTLY = 0.9
"""A column with at least this share of numbers is numeric; its other cells count as missing, and are named."""

MAX_NAME = 60
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
_DATE_SHAPE = r"^\d{1,4}[-/.]\d{1,2}([-/.]\d{1,4})?([T ]\d{1,2}:\d{2}.*)?$"
_DATE_TAIL = r"(\.\d+)?( ?Z| ?[+-]\d{2}:?\d{2})?$"
_DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y-%m")
_TIME_FORMATS = ("T%H:%M:%S", " %H:%M:%S", "T%H:%M", " %H:%M")


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
    """

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    categories: tuple[str, ...] = ()
    distinct: int = 0
    missing: int = 0
    notes: tuple[str, ...] = ()

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


def _first_rows(mask: NDArray[np.bool_], cells: pa.Array) -> str:
    rows = np.flatnonzero(mask)[:2]
    return ", ".join(f"{clean_name(str(cells[int(row)])[:40])!r} in row {row + 1:,}" for row in rows)


def _numbers(name: str, cells: pa.Array, missing: NDArray[np.bool_]) -> Column | None:
    """Return the column as numbers, or None if too few cells are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    notes: list[str] = []
    filled = pc.if_else(pa.array(missing), "nan", cells)
    try:
        values = pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False)
        bad = np.zeros(len(values), dtype=bool)
    except pa.ArrowInvalid:
        filled, comma = _decimal_points(filled, missing, notes)
        good = pc.match_substring_regex(filled, _NUMBER).to_numpy(zero_copy_only=False) | missing
        present = int((~missing).sum())
        if present == 0 or (good & ~missing).sum() < MOSTLY * present:
            return None
        bad = ~good
        values = pc.cast(pc.if_else(pa.array(good), filled, "nan"), pa.float64()).to_numpy(zero_copy_only=False)
        if comma:
            notes.append("decimal commas were read as decimal points")
    values = np.array(values, dtype=np.float64)
    if bad.any():
        notes.append(
            f"{bad.sum():,} of {len(values):,} cells are not numbers ({_first_rows(bad, cells)}); they count as missing"
        )
    infinite = np.isinf(values)
    if infinite.any():
        notes.append(f"{infinite.sum():,} infinite values ({_first_rows(infinite, cells)}) count as missing")
        values[infinite] = np.nan
    return None if bad.any() and np.isnan(values).all() else _numeric(name, "number", values, notes)


def _decimal_points(cells: pa.Array, missing: NDArray[np.bool_], notes: list[str]) -> tuple[pa.Array, bool]:
    """Replace decimal commas and thousands separators; say so."""
    import pyarrow.compute as pc

    def which(pattern: str) -> NDArray[np.bool_]:
        return np.asarray(pc.match_substring_regex(cells, pattern).to_numpy(zero_copy_only=False) & ~missing)

    commas, groups, plain, points = which(_DECIMAL_COMMA), which(_THOUSANDS), which(_NUMBER), which(r"\.")
    if groups.any() and not (commas & ~groups).any() and (groups & points).any() | (groups & ~commas).any():
        notes.append("commas between groups of three digits were removed")
        return pc.replace_substring(cells, ",", ""), False
    if commas.any() and (commas | plain).sum() >= MOSTLY * (~missing).sum() and not (plain & points).any():
        return pc.replace_substring(cells, ",", "."), True
    return cells, False


def _dates(name: str, cells: pa.Array, missing: NDArray[np.bool_]) -> Column | None:
    """Return the column as dates, or None if not every cell is one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present = pc.filter(cells, pa.array(~missing))
    # The first thousand cells say no for most columns, without a look at the others.
    if not all(pc.all(pc.match_substring_regex(some, _DATE_SHAPE)).as_py() for some in (present[:1000], present)):
        return None
    timed = pc.any(pc.match_substring_regex(present, r":\d{2}")).as_py()
    if timed:
        present = pc.replace_substring_regex(present, r"(:\d{2})" + _DATE_TAIL, r"\1")
    fitting = []
    for day, clock in itertools.product(_DATE_FORMATS, _TIME_FORMATS if timed else ("",)):
        parse = partial(pc.strptime, format=day + clock, unit="s", error_is_null=True)
        if not parse(present[:1000]).null_count and not (parsed := parse(present)).null_count:
            fitting.append((day, parsed))
    if not fitting:
        return None
    seconds = np.full(len(cells), np.nan)
    seconds[~missing] = fitting[0][1].cast(pa.int64()).to_numpy(zero_copy_only=False)
    both = {"%d/%m/%Y", "%m/%d/%Y"} <= {day for day, _ in fitting}
    return _numeric(name, "date", seconds, ["dates were read as day/month/year"] if both else [])


def _categories(name: str, cells: pa.Array, missing: NDArray[np.bool_]) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(pc.if_else(pa.array(missing), None, cells))
    # Sorted: in the order of first appearance, words of later rows could stand before those of the first task.
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order], rank[-1] = np.arange(len(order)), -1
    codes = rank[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    words = [str(word) for word in encoded.dictionary.take(pa.array(order[:MAX_LISTED])).to_pylist()]
    listed, _ = unique_names(words, prefix="value")
    return Column(name, "category", codes, tuple(listed), len(encoded.dictionary), int(missing.sum()))


def _text(name: str, cells: pa.Array) -> Column:
    """Return what a column of strings holds: mostly numbers, or only dates, otherwise categories."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(cells.fill_null(""))
    # Cells longer than the longest word for "missing" need not be turned into lower case.
    short = pc.if_else(pc.less_equal(pc.binary_length(cells), 8), cells, "x")
    missing = pc.is_in(pc.utf8_lower(short), value_set=pa.array(MISSING)).to_numpy(zero_copy_only=False)
    if missing.all():
        return _numeric(name, "empty", np.full(len(missing), np.nan))
    return _numbers(name, cells, missing) or _dates(name, cells, missing) or _categories(name, cells, missing)


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


def understand(name: str, cells: pa.Array) -> Column | None:
    """Return what a column holds; None if it cannot be used.

    A column of strings holds numbers if at least nine cells in ten are, dates if all are, otherwise categories.

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
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind):
        return _text(name, pc.cast(cells, pa.string()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = np.array(pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        infinite = np.isinf(values)
        values[infinite] = np.nan
        notes = [f"{infinite.sum():,} infinite values count as missing"] if infinite.any() else []
        return _numeric(name, "number", values, notes)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        seconds = pc.cast(pc.cast(cells, pa.timestamp("s"), safe=False), pa.int64())
        missing = seconds.is_null().to_numpy(zero_copy_only=False)
        return _numeric(name, "date", np.where(missing, np.nan, seconds.fill_null(0).to_numpy(zero_copy_only=False)))
    return _numeric(name, "empty", np.full(len(cells), np.nan)) if pa.types.is_null(kind) else None
