"""Cells to columns of numbers, dates or words; every decision about cells is noted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError
from imrc._types import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

Flags = NDArray[np.bool_]
ColumnKind = Literal["number", "category", "date", "empty"]
Period = Literal["value", "day", "week", "month", "quarter", "year"]

ERRORS = ("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#nv", "#n/a", "#wert!", "#bezug!", "#zahl!")
ALWAYS_MISSING = (
    *("", "na", "n/a", "n.a.", "n. a.", "nan", "-nan", "null", "(null)", "<na>", "nat", "\\n", "k.a.", "k. a."),
    *("1.#qnan", "-1.#ind", "not available", *ERRORS),
)
MARKS = ("?", "-", ".", "--", "---", "–", "—", "..", "...")
MISSING = (*ALWAYS_MISSING, *MARKS, "none", "nil", "missing")
"""Cells that stand for a missing value among numbers and dates, capitals or not.

Among words, "none", "nil" and "missing" are words, and so are the marks where they are one of two classes, as + and -.
"""

MOSTLY = 0.9
"""A column with at least this share of numbers is numeric; its other cells count as missing, and are named."""
MAX_NAME = 60
MAX_LISTED = 5000
"""Most words listed in `Column.categories`."""
LARGEST_EXACT = 2**53
"""Whole numbers from here on are not all different as floating-point numbers."""
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800


@dataclass(frozen=True)
class Reading:
    """How a file is read where it can be read in two ways; None: as it looks, which is noted.

    `dayfirst`: 1/2/2020 is the 1st of February; `decimal`: "." or ","; `header`: the first row holds names; `sheet` of
    a workbook, by name or number from 1; `columns`: what a `Recipe` says of each column.
    """

    dayfirst: bool | None = None
    decimal: str | None = None
    header: bool | None = None
    sheet: str | int | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table, its cells understood.

    `values` are numbers (NaN missing), codes of `categories` (-1 missing) or seconds since 1970 (NaN missing).
    `categories` are safe to show, sorted, the first `MAX_LISTED` only; `distinct` counts different values, `missing`
    cells without one. `period` is "value", or for dates that stand for more than a moment "week", "month", "quarter".
    `decimal` and `dayfirst` say how cells were read, `choices` which of them could be read in another way. `written`
    holds the cells as words, where different ones are the same number.
    """

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    categories: tuple[str, ...] = ()
    distinct: int = 0
    missing: int = 0
    notes: tuple[str, ...] = ()
    period: Period = "value"
    decimal: str = ""
    dayfirst: bool | None = None
    choices: tuple[str, ...] = ()
    written: Column | None = None

    @property
    def present(self) -> Flags:
        """Which rows have a value."""
        return np.asarray(self.values >= 0 if self.kind == "category" else ~np.isnan(self.values))

    def words(self, most: int | None = None) -> NDArray[Any]:
        """Return the cells as text, the first ones or all: "" where there is none, "…" for words not listed."""
        values, there = self.values[:most], self.present[:most]
        shown = np.full(len(values), "", dtype=object)
        if self.kind == "category":
            codes = np.minimum(values, len(self.categories))
            return np.array([*self.categories, "…", ""], dtype=object)[np.where(there, codes, -1)]
        in_words = date_in_words if self.kind == "date" else plain_number
        different, place = np.unique(values[there], return_inverse=True)
        shown[there] = np.array([in_words(value) for value in different], dtype=object)[place]
        return shown


def clean_name(text: object) -> str:
    r"""Return a name that is safe to show anywhere: no markup, no formula, no control characters, not too long.

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

    >>> unique_names(["a", "a", ""])[0]
    ['a', 'a (2)', 'column 3']
    """
    result: dict[str, None] = {}
    notes: list[str] = []
    counts: dict[str, int] = {}
    for position, raw in enumerate(names, start=1):
        name = base = clean_name(raw) or f"{prefix} {position}"
        while name in result:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base} ({counts[base]})"
        if name != base:
            notes.append(f"There are several columns called {base!r}; number {position} is called {name!r} here.")
        result[name] = None
    return list(result), notes


def plain_number(value: float) -> str:
    """Return a number with all its digits and no others.

    >>> plain_number(1234567.0), plain_number(0.1), plain_number(1e300)
    ('1234567', '0.1', '1e+300')
    """
    if 1e-5 <= abs(value) < 1e16 or value == 0:
        return str(np.format_float_positional(value, trim="-"))
    return repr(float(value))


def date_in_words(seconds: float) -> str:
    """Return a moment as text: the date, with the time if it is not midnight.

    >>> date_in_words(0.0), date_in_words(3600.0)
    ('1970-01-01', '1970-01-01 01:00')
    """
    whole = int(np.floor(seconds))
    text = str(np.datetime64(whole, "s")).replace("T", " ")
    if whole == seconds:
        return text[:10] if whole % 86_400 == 0 else text[: 16 if whole % 60 == 0 else 19]
    return text + f"{seconds - whole:.6f}".rstrip("0")[1:]


def _flags(cells: pa.Array, pattern: str) -> Flags:
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(cells, pattern).fill_null(False).to_numpy(zero_copy_only=False))


@dataclass
class _Cells:
    """The cells of one column of text, trimmed, with what is needed to speak about them."""

    name: str
    cells: pa.Array
    missing: Flags
    rows: Ints | None  # numbers of the rows in the file, where rows above were left out
    mark: str
    dayfirst: bool | None
    mostly: float = MOSTLY
    notes: list[str] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)

    def row(self, index: int) -> int:
        """Return the number of a row, from 1 below the header."""
        return int(index if self.rows is None else self.rows[index]) + 1

    def seen(self, mask: Flags, most: int = 2) -> str:
        """Return the first of some cells, with their rows."""
        rows = np.flatnonzero(mask)[:most]
        return ", ".join(f"{clean_name(self.cells[int(row)])[:40]!r} in row {self.row(row):,}" for row in rows)

    def sample(self) -> pa.Array:
        """Return the first thousand cells that are there."""
        import pyarrow as pa

        return self.cells.take(pa.array(np.flatnonzero(~self.missing)[:1000]))


def _numeric(name: str, kind: ColumnKind, values: Floats, **more: Any) -> Column:  # noqa: ANN401 - fields of Column
    """Return a column of numbers or dates, "empty" if all are NaN."""
    import pandas as pd

    present = values[~np.isnan(values)]
    kind = kind if present.size else "empty"
    return Column(name, kind, values, (), len(pd.unique(present)), len(values) - len(present), **more)


def _finite(text: _Cells, values: Floats, **more: Any) -> Column:  # noqa: ANN401 - fields of Column
    """Return a column of numbers; infinite ones count as missing, and that is said."""
    infinite = np.isinf(values)
    if infinite.any():
        text.notes.append(f"{infinite.sum():,} infinite values ({text.seen(infinite)}) count as missing")
        values[infinite] = np.nan
    return _numeric(text.name, "number", values, notes=tuple(text.notes), choices=tuple(text.choices), **more)


def _categories(
    name: str, cells: pa.Array, marked: bool, notes: Iterable[str] = (), *, all_words: bool = False
) -> Column:
    """Return the column as words; with `marked`, "?" is always a missing value; with `all_words`, only "" is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(cells)
    words = np.array(pc.utf8_lower(pc.utf8_slice_codeunits(encoded.dictionary, 0, 15)).to_pylist())
    gone = np.isin(words, ("",) if all_words else ALWAYS_MISSING)
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
    codes, counts = rank[indices], np.bincount(indices, minlength=len(words))
    named = [f"{counts[j]:,} cells {words[j].upper()!r} count as missing" for j in np.flatnonzero(gone) if words[j]]
    known = encoded.dictionary.take(pa.array(order[:MAX_LISTED])).to_pylist()
    listed, _ = unique_names(map(str, known), prefix="value")
    missing, notes = int((codes < 0).sum()), (*notes, *named[:3])
    if not len(order):
        return Column(name, "empty", np.full(len(codes), np.nan), (), 0, missing, notes)
    return Column(name, "category", codes, tuple(listed), len(order), missing, notes)


# Numbers

_MONEY = r"US\$|R\$|€|\$|£|¥|₹|₽|₺|zł|Fr\.?|kr\.?|EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|BRL|INR"
_LONG = (
    "kg|mg|µg|km/h|m/s|mph|km|cm|mm|µm|nm|ms|min|kWh|MWh|kW|MW|mV|kV|mA|kHz|MHz|GHz|Hz|hPa|kPa|bar|Pa|psi|ml|ppm|dB|rpm|"
    "MB|GB|kB|kcal|kJ|Nm|lx|lm|lbs?|oz|ft|mi|years|days|hours|pcs"
)
_BLANKS = " \u00a0\u202f\u2009"
_BLANK = f"[{_BLANKS}]"
_POWER = r"(?:[eEdD][+-]?\d+)?"
_FIGURE = (
    rf"^(?P<o>\(?)(?P<s>[+−-]?)(?:(?P<a>{_MONEY}){_BLANK}*)?(?P<t>[+−-]?)"
    rf"(?P<n>\d[\d.,'’{_BLANKS}]*{_POWER}|[.,]\d+{_POWER})"
    rf"(?:{_BLANK}*(?P<b>%|‰|°C|°F|°|{_MONEY}|{_LONG})|{_BLANK}+(?P<c>[gtmshdWVAKJNyl]))?(?P<z>[−-]?\)?)$"
)
_POINTS = rf"^(?:\d+|\d{{1,3}}(?:,\d{{3}})+|\d{{1,2}}(?:,\d{{2}})+,\d{{3}})?(?:\.\d*)?{_POWER}$"
_COMMAS = rf"^(?:\d+|\d{{1,3}}(?:\.\d{{3}})+)?(?:,\d*)?{_POWER}$"
_GROUPED = rf"^\d{{1,3}}(?:{_BLANK}\d{{3}})+(?:[.,]\d+)?$|^\d{{1,3}}(?:['’]\d{{3}})+(?:[.,]\d+)?$"
_SURE = {
    mark: rf"^\D{{0,4}}(?:\d{{1,3}}(?:{group}\d{{3}})+{own}\d+|\d+{own}(?:\d{{1,2}}|\d{{4,}})|0{own}\d+)\D{{0,5}}$"
    for mark, own, group in ((",", ",", r"\."), (".", r"\.", ","))
}


def decimal_mark(columns: Sequence[pa.Array], delimiter: str) -> str:
    """Return what separates decimals in a table, by the first cells that leave no doubt; "" if that is not known."""
    import pyarrow.compute as pc

    counts = {",": 0, ".": 0}
    for cells in columns[:200]:
        some = pc.utf8_trim_whitespace(cells[:1000])
        for mark, pattern in _SURE.items():
            counts[mark] += _flags(some, pattern).sum() > 0.3 * len(some)
    if counts[","] == counts["."]:
        return "." if delimiter == "," else ""
    return max(counts, key=counts.__getitem__)


def _numbers(text: _Cells) -> Column | None:
    """Return the column as numbers, None if too few cells are; notes say why not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.if_else(pa.array(text.missing), "nan", text.cells)
    try:
        pc.cast(filled[:1000], pa.float64())  # a failure is found late, and takes long, in a long column of words
        values = np.array(pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:
        return _written_numbers(text)
    if _only_threes(text, r"\."):
        text.choices.append("decimal")
        if text.mark == ",":
            return _written_numbers(text)
        first = text.seen(~text.missing & _flags(text.cells, r"\."), 1)
        text.notes.append(
            f"points were read as decimal points ({first}); decimal=',' reads them as groups of thousands"
        )
    return _checked(text, values, text.cells, ".")


def _plain_numbers(text: _Cells) -> Column | None:
    """Return a column all of whose cells are numbers as a program writes them, measured ones: the usual case, fast."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _flags(text.cells[:1000], r"^-?(0|[1-9]\d{0,9})\.\d+$").all() or _only_threes(text, r"\."):
        return None
    try:
        values = np.array(pc.cast(text.cells, pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return None
    found = _finite(text, values, decimal=".")
    return found if found.distinct > MAX_LISTED and not found.notes and not found.missing else None


def _only_threes(text: _Cells, mark: str) -> bool:
    """Whether there are such marks and every one stands before three digits: decimals, or groups of thousands."""
    for some in (text.sample(), text.cells):
        marked = _flags(some, rf"^[^A-Za-z]*\d{mark}\d|[.,]\d+[eE]|^[.,]")
        if (marked & ~_flags(some, rf"^[+-]?[1-9]\d{{0,2}}({mark}\d{{3}})+$")).any():
            return False
    return bool(marked.any())


def _checked(text: _Cells, values: Floats, cells: pa.Array, mark: str) -> Column | None:
    """Return a column of numbers; None, with a note, if they would make different identifiers equal."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present = ~np.isnan(values) & ~text.missing
    with np.errstate(invalid="ignore"):
        large = present & (np.abs(values) >= LARGEST_EXACT)
    if large.any() and (_flags(cells, r"^[+-]?\d{16,}$") & large).any():
        text.notes.append(
            "whole numbers of more than 15 digits are kept as words, so that different ones stay different"
        )
        return None
    zeros = present & _flags(cells, r"^[+-]?0\d")
    found = _finite(text, values, decimal=mark)
    if found.distinct > MAX_LISTED:
        return found
    shown = pc.if_else(pa.array(present), text.cells, "")
    different = len(pc.unique(pc.filter(shown, pa.array(present))))
    if different == found.distinct and not zeros.any():
        return found
    if zeros.any() and different > found.distinct and (_flags(cells, r"^\d+$") | ~present).all():
        text.notes.append("numbers are kept as words, because some differ only in zeros at their beginning")
        return None
    if zeros.any():
        said = f"zeros at the beginning do not count ({text.seen(zeros, 1)}); `words` keeps numbers as they are written"
        found = replace(found, notes=(*found.notes, said))
    return replace(found, written=_categories(text.name, shown, marked=False, all_words=True))


def _ascii_digits(cells: pa.Array) -> pa.Array:
    """Write the digits of other scripts as 0 to 9."""
    import pyarrow as pa

    if not _flags(cells, r"[^\x00-\x7f]").any() or not _flags(cells, r"[^0-9\P{Nd}]").any():
        return cells
    texts = ("".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in text) for text in cells.to_pylist())
    return pa.array([text.replace("٫", ".").replace("٬", ",") for text in texts], pa.string())


def _written_numbers(text: _Cells) -> Column | None:
    """Read numbers that are written for people: with groups, units or decimal commas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present, mostly = ~text.missing, text.mostly
    if not present.any():
        return None
    infinity = r"^[+-]?(?i:inf|infinity)$"
    sample = _ascii_digits(text.sample())
    share = (_flags(sample, _FIGURE) | _flags(sample, infinity)).mean()
    if share < min(0.5, mostly):
        return None
    cells = _ascii_digits(text.cells)
    infinite = _flags(cells, infinity) & present
    parts = pc.extract_regex(cells, _FIGURE)
    shaped = np.asarray(parts.is_valid().to_numpy(zero_copy_only=False)) & present

    def part(*names: str) -> pa.Array:
        return pc.binary_join_element_wise(*(pc.fill_null(parts.field(name), "") for name in names), "")

    if (shaped | infinite).sum() < mostly * present.sum():
        if (shaped | infinite).sum() >= 0.5 * present.sum():
            other = text.seen(present & ~shaped & ~infinite)
            text.notes.append(f"looks like numbers, kept as words because of {other}")
        return None
    notes = []
    unit = part("a", "b", "c")
    units = [word for word in pc.unique(pc.filter(unit, pa.array(shaped))).to_pylist() if word]
    if len(units) > 1:
        seen = ", ".join(repr(word) for word in units[:3])
        text.notes.append(f"numbers stand in different units ({seen}), so they are kept as words; write them in one")
        return None
    if units:
        notes.append(f"{units[0]!r} was left out")
    digits = pc.utf8_trim_whitespace(part("n"))
    grouped = _flags(digits, _GROUPED)
    digits = pc.if_else(pa.array(grouped), pc.replace_substring_regex(digits, f"[{_BLANKS}'’]", ""), digits)
    if (grouped & shaped).any():
        notes.append(f"marks between groups of three digits were removed ({text.seen(grouped & shaped)})")
    points, commas = _flags(digits, _POINTS) & shaped, _flags(digits, _COMMAS) & shaped
    use_commas = commas.sum() > points.sum() or (commas.sum() == points.sum() and text.mark != ".")
    good = (commas if use_commas else points) | infinite
    if good.sum() < mostly * present.sum():
        if (points | commas).sum() >= mostly * present.sum():
            both = f"{text.seen(points & ~commas)}; {text.seen(commas & ~points)}"
            why = f"some numbers have decimal points, others decimal commas ({both}); they are kept as words"
        else:
            why = f"looks like numbers, kept as words because of {text.seen(present & ~good)}"
        text.notes.append(why)
        return None
    group, decimal = (".", ",") if use_commas else (",", ".")
    groups, decimals = (_flags(digits, rf"\{mark}") & shaped for mark in (group, decimal))
    if groups.any():
        name = "points" if group == "." else "commas"
        notes.append(f"{name} between groups of three digits were removed ({text.seen(groups)})")
    if decimals.any() and decimal == ",":
        notes.append("decimal commas were read as decimal points")
    if (groups | decimals).any() and (points == commas).all():
        text.choices.append("decimal")
        if not text.mark:
            notes.append(f"{decimal!r} was taken for what separates decimals; decimal={group!r} reads the other way")
    plain = pc.replace_substring(pc.replace_substring(digits, group, ""), decimal, ".")
    plain = pc.replace_substring_regex(plain, "[dD]", "e")
    ends = part("z")
    negative = _flags(part("s", "t", "z"), "[−-]") | (_flags(part("o"), r"\(") & _flags(ends, r"\)"))
    good &= _flags(part("o"), r"\(") == _flags(ends, r"\)")
    if (odd := good & (_flags(part("o"), r"\(") | _flags(ends, "[−-]"))).any():
        notes.append(f"a minus at the end, and brackets, were read as negative ({text.seen(odd)})")
    plain = pc.if_else(pa.array(infinite), pc.replace_substring_regex(cells, "^[+-]", ""), plain)
    negative |= infinite & _flags(cells, "^-")
    values = pc.cast(pc.if_else(pa.array(good), plain, "nan"), pa.float64()).to_numpy(zero_copy_only=False)
    values = np.where(negative, -1.0, 1.0) * np.array(values, dtype=np.float64)
    bad = ~good & present
    if bad.any():
        notes.append(
            f"{bad.sum():,} of {len(values):,} cells are not numbers ({text.seen(bad)}); they count as missing"
        )
    text.notes += notes
    return _checked(text, values, pc.if_else(pa.array(good), plain, ""), decimal)


# Dates

_TIME = (
    r"(?:[T ] *(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?P<F>[.,]\d{1,9})?)? ?(?P<P>[AaPp]\.?[Mm]\.?)?"
    r" ?(?P<Z>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_WEEKDAY = r"^(?:[A-Za-z]{2,9}\.?,? +)??"
_WORD = r"(?P<N>[A-Za-zä]{3,9})\.?"
_DAY_8, _MONTH_8, _YEAR_8 = r"(?P<d>0[1-9]|[12]\d|3[01])", r"(?P<m>0[1-9]|1[0-2])", r"(?P<y>(?:19|20)\d\d)"
_EARLY: tuple[tuple[str, str, Period], ...] = (
    # Numbers all of which can be dates are dates: as numbers, their order would be wrong.
    (rf"^{_YEAR_8}{_MONTH_8}{_DAY_8}$", "ymd", "value"),
    (rf"^{_DAY_8}{_MONTH_8}{_YEAR_8}$", "ymd", "value"),
    (rf"^{_MONTH_8}\.{_YEAR_8}$", "ymd", "month"),
)
_SHAPES: tuple[tuple[str, str, Period], ...] = (
    # What a cell looks like, the order of its parts, and the period it stands for
    (r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})" + _TIME, "ymd", "value"),
    (r"^(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d{2})" + _TIME, "either", "value"),
    (_WEEKDAY + r"(?P<d>\d{1,2})\.?[-/ ]?" + _WORD + r"[-/ ,]*(?P<y>\d{4}|\d{2})" + _TIME, "named", "value"),
    (r"^(?P<y>\d{4})[-/ ]" + _WORD + r"[-/ ](?P<d>\d{1,2})" + _TIME, "named", "value"),
    (_WEEKDAY + _WORD + r" (?P<d>\d{1,2}),? (?P<y>\d{4})" + _TIME, "named", "value"),
    (r"^" + _WORD + r"[-/ ,']+(?P<y>\d{4}|\d{2})$", "named", "month"),
    (r"^(?P<y>\d{4})[-/ ]" + _WORD + "$", "named", "month"),
    (r"^(?P<y>\d{4})[-/](?P<m>\d{1,2})$", "ymd", "month"),
    (r"^(?P<m>\d{1,2})[-/](?P<y>\d{4})$", "ymd", "month"),
    (r"^(?P<y>\d{4})[-_/ ]?[Qq](?P<q>[1-4])$", "quarter", "quarter"),
    (r"^[Qq](?P<q>[1-4])[-_/ ]?(?P<y>\d{4})$", "quarter", "quarter"),
    (r"^(?P<y>\d{4})[- ]?[Ww](?P<w>\d{1,2})$", "week", "week"),
    *_EARLY,
)
_VALUES = [re.compile(shape) for shape in (_FIGURE, *(shape for shape, order, _ in _SHAPES if order != "named"))]
_MONTHS = {
    word: number
    for number, words in enumerate(
        (
            *("jan january januar", "feb february februar", "mar march mär mrz märz", "apr april", "may mai"),
            *("jun june juni", "jul july juli", "aug august", "sep sept september", "oct october okt oktober"),
            *("nov november", "dec december dez dezember"),
        ),
        start=1,
    )
    for word in words.split()
}
_ZERO = r"^0{4}-00-00|^00?[./-]00?[./-]0000"


def looks_like_value(cell: str) -> bool:
    """Whether a cell can be a number or a date, and so no name of a column."""
    cell = cell.strip()
    return len(cell) < 40 and any(shape.match(cell) for shape in _VALUES)


class _Parts:
    """The parts of dates, one entry per different cell: as text, "" where not written, or as numbers, then -1."""

    def __init__(self, found: pa.StructArray) -> None:
        self._found, self._names = found, [part.name for part in found.type]

    def text(self, name: str) -> NDArray[Any]:
        cells = self._found.field(name).fill_null("").to_pylist() if name in self._names else [""] * len(self._found)
        return np.array(cells, dtype=str)

    def number(self, name: str) -> Ints:
        text = self.text(name)
        return np.where(text == "", "-1", text).astype(np.int64)


def _full(years: Ints, short: Flags) -> Ints:
    return np.where(short, years + np.where(years <= 68, 2000, 1900), years)


def _day_number(year: Ints, month: Ints, day: Ints) -> tuple[Ints, Flags]:
    """Return days since 1970, and which are days of the calendar."""
    months = (np.clip(year, 1, 9999) - 1970) * 12 + np.clip(month, 1, 12) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    length = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
    return first + day - 1, (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)


def _days(parts: _Parts, order: str, codes: Ints, text: _Cells) -> tuple[Ints, Flags, bool | None, str]:
    """Return days since 1970, which are real, whether the day was read before the month, and a note on their order."""
    short = np.char.str_len(parts.text("y")) == 2
    year = _full(parts.number("y"), short)
    ones = np.ones_like(year)
    if order == "week":
        # The week with January 4th is the first one of a year; weeks begin on Mondays.
        fourth, following = (_day_number(y, ones, 4 * ones)[0] for y in (year, year + 1))
        monday = fourth - (fourth + 3) % 7 + 7 * (parts.number("w") - 1)
        return monday, (parts.number("w") >= 1) & (monday < following - (following + 3) % 7), None, ""
    if order == "quarter":
        return *_day_number(year, 3 * parts.number("q") - 2, ones), None, ""
    if order != "either":
        named = np.array([_MONTHS.get(word.lower(), 0) for word in parts.text("N")], dtype=np.int64)
        day = parts.number("d")
        return *_day_number(year, named if order == "named" else parts.number("m"), np.where(day < 0, 1, day)), None, ""
    a, b = parts.number("a"), parts.number("b")
    ways = {"day/month/year": _day_number(year, b, a), "month/day/year": _day_number(year, a, b)}
    if text.dayfirst is False:
        ways = dict(reversed(ways.items()))
    if short.all() and len(short):
        ways["year/month/day"] = _day_number(_full(a, a < 100), b, parts.number("y"))
    # A year of two digits stands last, unless that is no date, or only so rows stand in the order of time.
    usual = [real.sum() for way, (_, real) in ways.items() if way[0] != "y"]
    most = max(usual) if max(usual) >= MOSTLY * len(year) else max(real.sum() for _, real in ways.values())
    equal = [way for way, (_, real) in ways.items() if real.sum() >= most]
    taken = equal[0]
    if text.dayfirst is None and len(equal) > 1:
        # Rows mostly stand in the order of time, and mostly in one of the readings only.
        found = {way: np.append(np.where(real, day, np.nan), np.nan)[codes] for way, (day, real) in ways.items()}
        ordered = [way for way in equal if (np.diff(found[way][~np.isnan(found[way])]) >= 0).all()]
        # Where both are in order, the first days of months are likelier than the first days of one.
        taken = "month/day/year" if len(ordered) > 1 and (b == 1).all() else (ordered or equal)[0]
    note = f"dates were read as {taken}" if len(equal) > 1 or taken == "month/day/year" else ""
    if len(equal) > 1:
        text.choices.append("dayfirst")
        note += (
            f" ({text.seen(~text.missing, 1)}), which is not the only way; dayfirst={taken[0] != 'd'} reads them as "
        )
        note += f"{'month/day/year' if taken[0] == 'd' else 'day/month/year'}"
    if not text.mostly and text.dayfirst == (taken == "day/month/year"):
        note = ""  # as a recipe says: it was noted when the first file was read
    return *ways[taken], taken == "day/month/year", note


def _times(parts: _Parts) -> tuple[Floats, Flags, NDArray[Any]]:
    """Return seconds of the day, which are real, and zones as written."""
    hour, minute, second = (np.maximum(parts.number(name), 0) for name in "HMS")
    half = np.char.lower(np.char.replace(parts.text("P"), ".", ""))
    good = (hour <= 23) & (minute <= 59) & (second <= 60) & ((half == "") | ((hour >= 1) & (hour <= 12)))
    hour = np.where(half == "", hour, hour % 12 + 12 * (half == "pm"))
    text = parts.text("F")
    fraction = np.char.replace(np.where(text == "", "0", text), ",", ".").astype(np.float64)
    return hour * 3600.0 + minute * 60.0 + second + fraction, good, parts.text("Z")


def _offset(zone: str) -> int:
    """Return how many seconds a zone, such as "+02:00" or "Z", is ahead of UTC."""
    found = re.match(r"([+-])(\d\d):?(\d\d)?", zone)
    if found is None:
        return 0
    return (1 if found[1] == "+" else -1) * (3600 * int(found[2]) + 60 * int(found[3] or 0))


def _fits(words: pa.Array, shapes: Sequence[tuple[str, str, Period]] = _SHAPES) -> tuple[int, Flags]:
    """Return which shape fits most words, and which it fits."""
    import pyarrow.compute as pc

    best, fitting = -1, np.zeros(len(words), dtype=bool)
    for number, (shape, order, _) in enumerate(shapes):
        fits = _flags(words, shape)
        if order == "named" and fits.any():
            parts = _Parts(pc.extract_regex(words, shape))
            fits &= np.isin(np.char.lower(parts.text("N")), list(_MONTHS))
        if fits.sum() > fitting.sum():
            best, fitting = number, fits
    return best, fitting


def _dates(text: _Cells) -> Column | None:
    """Return the column as seconds since 1970, None if too few cells are dates, with a note if many are.

    Raises DataError if it has a date that does not exist, such as the 31st of April; the message names row and column.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # The first thousand cells say no for most columns, without a look at the others.
    sample = text.sample()
    if _fits(sample)[1].sum() < min(0.5, text.mostly) * len(sample):
        return None
    encoded = pc.dictionary_encode(pc.if_else(pa.array(text.missing), None, text.cells))
    words, codes = encoded.dictionary, encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    number, shaped = _fits(words)
    zero = _flags(words, _ZERO)
    if number < 0 or counts[shaped | zero].sum() < text.mostly * counts.sum():
        if number >= 0 and counts[shaped].sum() >= 0.5 * counts.sum():
            other = text.seen(np.append(~shaped, False)[codes])
            text.notes.append(f"looks like dates, kept as words because of {other}, written in another way")
        return None
    shape, order, period = _SHAPES[number]
    parts = _Parts(pc.extract_regex(pc.filter(words, pa.array(shaped)), shape))
    place = np.append(np.where(shaped, np.cumsum(shaped) - 1, -1), -1)
    day, real, dayfirst, note = _days(parts, order, place[codes], text)
    clock, possible, zones = _times(parts)
    real &= possible
    if counts[shaped][real].sum() < text.mostly * counts[shaped & ~zero].sum():
        text.notes.append("looks like dates, kept as words because days and months stand in no one order")
        return None
    notes = [*text.notes, *([note] if note else [])]
    if number >= len(_SHAPES) - len(_EARLY):
        notes.append(f"numbers were read as dates ({text.seen(~text.missing, 1)}); `words` keeps them as they are")
    seconds = np.full(len(words), np.nan)
    offsets = np.array([_offset(zone) for zone in zones], dtype=np.int64)
    written = sorted(set(zones[real].tolist()))
    if len(set(offsets[real].tolist())) > 1 or ("" in written and len(written) > 1):
        several = ", ".join(zone or "none" for zone in written[:5]) + (" …" if len(written) > 5 else "")
        notes.append(f"times stand in several zones ({several}); all were turned into UTC")
        clock = clock - offsets
    elif written and written[0]:
        notes.append(f"times are kept as they are written, in zone {written[0]}")
    seconds[shaped] = np.where(real, 86400.0 * day + clock, np.nan)
    short = (np.char.str_len(parts.text("y")) == 2) & real
    if short.any():
        at = int(np.flatnonzero(short)[0])
        year, example = str(np.datetime64(int(day[at]), "D"))[:4], pc.filter(words, pa.array(shaped))[at].as_py()
        notes.append(f"years of two digits were read as 1969 to 2068 ({example!r} is in {year})")
    wrong = shaped & ~zero
    wrong[shaped] &= ~real
    if wrong.any():
        strange = np.append(wrong, False)[codes]
        more = f", and {strange.sum() - 1:,} more cells," if strange.sum() > 1 else ""
        row = int(np.flatnonzero(strange)[0])
        raise DataError(
            f"Column {text.name!r}, row {text.row(row):,}: {str(text.cells[row])[:40]!r}{more} cannot be a date. "
            "Correct it, or leave the cell empty."
        )
    strange = np.append(~shaped | zero, False)[codes]
    if strange.any():
        seen = text.seen(strange)
        notes.append(f"{strange.sum():,} of {len(codes):,} cells are not dates ({seen}); they count as missing")
    said: dict[str, Any] = {"notes": tuple(notes), "choices": tuple(text.choices)}
    return _numeric(text.name, "date", np.append(seconds, np.nan)[codes], period=period, dayfirst=dayfirst, **said)


# Columns


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
    tests = ("boolean", "integer", "floating", "decimal", "string", "large_string", "string_view", "date", "timestamp")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in (*tests, "time", "duration", "null"))


def _of_text(text: _Cells, kind: str, marked: bool) -> Column:
    """Return what a column of strings holds: mostly numbers, or mostly dates, otherwise words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind != "category" and (found := _plain_numbers(text)) is not None:
        return found
    text.cells = pc.utf8_trim_whitespace(text.cells)
    # Cells longer than the longest word for "missing" need not be turned into lower case.
    short = pc.if_else(pc.less_equal(pc.binary_length(text.cells), 15), text.cells, "x")
    text.missing = pc.is_in(pc.utf8_lower(short), value_set=pa.array(MISSING)).to_numpy(zero_copy_only=False)
    if kind == "category" or (text.missing.all() and pc.any(pc.not_equal(text.cells, "")).as_py()):
        return _categories(text.name, text.cells, marked)
    if text.missing.all():
        return _numeric(text.name, "empty", np.full(len(text.missing), np.nan))
    sample = text.sample()
    early = kind != "number" and any(_flags(sample, shape).all() for shape, _, _ in _EARLY)
    why: list[str] = []
    for read in (_dates, _numbers) if early or kind == "date" else (_numbers, _dates):
        if (found := read(text)) is not None:
            return found
        why, text.notes, text.choices = why or text.notes, [], []
    return _categories(text.name, text.cells, marked, why)


def understand(
    name: str, cells: pa.Array, reading: Reading, mark: str = "", *, marked: bool = False, rows: Ints | None = None
) -> Column | None:
    """Return what a column holds; None if it cannot be used.

    A column of strings holds numbers or dates if at least nine cells in ten are, otherwise words. `mark` is what
    separates decimals where a column alone does not tell; `marked` means "?" is always a missing value, as in ARFF.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type):
        cells = _decoded(cells)
    if not is_readable(cells.type):
        return None
    told = reading.columns.get(name, {})
    if reading.columns and not told:
        return _carried(name, cells)
    kind, wanted = cells.type, str(told.get("kind", ""))
    dayfirst = reading.dayfirst if reading.dayfirst is not None else told.get("dayfirst")
    mark = reading.decimal or str(told.get("decimal", "")) or mark
    text = _Cells(name, cells, np.zeros(len(cells), dtype=bool), rows, mark, dayfirst, 0.0 if wanted else MOSTLY)
    if pa.types.is_null(kind):
        return _numeric(name, "empty", np.full(len(cells), np.nan))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _timestamps(text)
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        whole = pc.cast(cells, pa.int32() if kind.bit_width == 32 else pa.int64())
        size = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        text.notes.append("times count as seconds")
        return _finite(text, pc.cast(whole, pa.float64(), safe=False).to_numpy(zero_copy_only=False) / size)
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        least, most = (bound.as_py() or 0 for bound in pc.min_max(cells).values())
        dates = least >= 19_000_101 and most <= 20_991_231
        if most >= LARGEST_EXACT or least <= -LARGEST_EXACT or dates or wanted in ("category", "date"):
            text.cells = pc.fill_null(pc.cast(cells, pa.string()), "")
            return _of_text(text, wanted, marked)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        found = _finite(text, np.array(values, dtype=np.float64))
        if pa.types.is_decimal(kind) and len(pc.unique(pc.drop_null(cells))) > found.distinct:
            text.notes.append("numbers of more than 15 digits are kept as words, so that different ones stay different")
            return _categories(name, pc.fill_null(pc.cast(cells, pa.string()), ""), marked, text.notes)
        if wanted != "category":
            return found
    text.cells = pc.fill_null(pc.cast(cells, pa.string()), "")
    return _of_text(text, wanted, marked)


def _carried(name: str, cells: pa.Array) -> Column:
    """Return a column that nothing is learnt from: all of its cells as they are written."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        text = pc.cast(cells, pa.string())
    except pa.ArrowException:
        text = pa.array([None if one is None else str(one) for one in cells.to_pylist()], pa.string())
    encoded = pc.dictionary_encode(pc.fill_null(text, ""))
    words = encoded.dictionary.to_pylist()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return Column(name, "category", codes, tuple(words), len(words))


def _timestamps(text: _Cells) -> Column:
    """Return a column of dates of a typed file; times stand in its zone where that is known, otherwise in UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = text.cells
    if pa.types.is_date64(cells.type):
        cells = pc.cast(cells, pa.timestamp("ms"), safe=False)
    elif not pa.types.is_date32(cells.type) and cells.type.tz not in (None, "UTC"):
        zone = clean_name(cells.type.tz)
        try:
            cells = pc.local_timestamp(cells)
            text.notes.append(f"times stand in zone {zone}")
        except (pa.ArrowException, OSError):
            text.notes.append(f"the time zone {zone!r} is not known here; times stand in UTC")
    days = pa.types.is_date32(cells.type)
    size = 1 / 86_400 if days else {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[cells.type.unit]
    whole = pc.cast(cells.view(pa.int32() if days else pa.int64()), pa.int64())
    missing = whole.is_null().to_numpy(zero_copy_only=False)
    seconds = np.where(missing, np.nan, whole.fill_null(0).to_numpy(zero_copy_only=False) / size)
    outside = (seconds < _YEAR_1) | (seconds >= _YEAR_10000)
    if outside.any():
        row = text.row(int(np.flatnonzero(outside)[0]))
        text.notes.append(
            f"{outside.sum():,} dates lie outside the years 1 to 9999 (the first in row {row:,}); they count as missing"
        )
        seconds[outside] = np.nan
    return _numeric(text.name, "date", seconds, notes=tuple(text.notes))
