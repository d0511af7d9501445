"""Cells to columns of numbers, dates or words; every decision about cells is noted."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
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

ALWAYS_MISSING = (
    *("", "na", "n/a", "n.a.", "n. a.", "nan", "-nan", "null", "(null)", "<na>", "nat", "\\n", "k.a.", "k. a."),
    *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#nv", "#n/a", "#wert!", "#bezug!", "#zahl!"),
    *("1.#qnan", "-1.#ind", "not available"),
)
MARKS = ("?", "-", ".", "--", "---", "–", "—", "..", "...")
MISSING = frozenset((*ALWAYS_MISSING, *MARKS, "none", "nil", "missing", "0000-00-00", "00.00.0000", "00/00/0000"))
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
DAY = 86_400
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800
_SAMPLE = 1000


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
        different, place = np.unique(values[there], return_inverse=True)
        shown[there] = np.array([self.in_words(value) for value in different], dtype=object)[place]
        return shown

    def in_words(self, value: float) -> str:
        """Return a number or a date of this column as text."""
        return date_in_words(value) if self.kind == "date" else plain_number(value)


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
        return text[:10] if whole % DAY == 0 else text[: 16 if whole % 60 == 0 else 19]
    return text + f"{seconds - whole:.6f}".rstrip("0")[1:]


class _Words:
    """The different cells of a column of text, trimmed, and which of them each row holds."""

    def __init__(self, name: str, cells: pa.Array, rows: Ints | None) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_dictionary(cells.type):
            cells = pc.dictionary_encode(pc.cast(cells, pa.string()))
        place: dict[str, int] = {}
        codes = [place.setdefault(word.strip(), len(place)) for word in (*cells.dictionary.to_pylist(), "")]
        self.name, self.rows, self.words = name, rows, list(place)
        self.codes = np.array(codes)[cells.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        self.counts = np.bincount(self.codes, minlength=len(place))
        self.there = np.array([word[:15].lower() not in MISSING for word in self.words]) & (self.counts > 0)
        self.notes: list[str] = []
        self.choices: list[str] = []

    def unquote(self) -> None:
        """Take off quotation marks that a reader of CSV files leaves: single ones, and those after a blank."""
        marks = {word[:1] for word, count in zip(self.words, self.counts, strict=True) if count}
        if len(marks) == 1 and marks <= {"'", '"'} and all(w[-1:] in marks and len(w) > 1 for w in self.words if w):
            self.words = [word[1:-1] for word in self.words]
            self.notes.append("quotation marks around its cells were removed")

    def seen(self, which: Flags, most: int = 2) -> str:
        """Return the first of some cells, with the numbers of their rows, from 1 below the header."""
        found = np.flatnonzero(which[self.codes])[:most]
        numbers = found if self.rows is None else self.rows[found]
        cells = [clean_name(self.words[self.codes[row]])[:40] for row in found]
        return ", ".join(f"{cell!r} in row {number + 1:,}" for cell, number in zip(cells, numbers, strict=True))

    def test(self, fits: Callable[[str], object], share: float) -> Flags | None:
        """Return which cells fit; None, with a note if there are many, if it is less than this share of them."""
        sample = [word for word, there in zip(self.words[:_SAMPLE], self.there, strict=False) if there]
        if sum(bool(fits(word)) for word in sample) < min(0.3, share) * len(sample):
            return None  # found early, for columns of a million words
        return np.array([bool(there and fits(word)) for word, there in zip(self.words, self.there, strict=True)])

    def share(self, which: Flags) -> float:
        """Return the share of the cells that are there."""
        return float(self.counts[which].sum() / max(self.counts[self.there].sum(), 1))


def _numeric(name: str, kind: ColumnKind, values: Floats, **more: Any) -> Column:  # noqa: ANN401 - fields of Column
    """Return a column of numbers or dates, "empty" if all are NaN."""
    present = np.sort(values[~np.isnan(values)])
    distinct = int((present[1:] != present[:-1]).sum()) + (present.size > 0)
    kind = kind if present.size else "empty"
    return Column(name, kind, values, (), distinct, len(values) - len(present), **more)


def _finite(name: str, values: Floats, notes: Sequence[str] = (), **more: Any) -> Column:  # noqa: ANN401
    """Return a column of numbers; infinite ones count as missing, and that is said."""
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        values = np.where(np.isinf(values), np.nan, values)
        notes = [*notes, f"{infinite.size:,} infinite values (the first in row {infinite[0] + 1:,}) count as missing"]
    return _numeric(name, "number", values, notes=tuple(notes), **more)


def _categories(text: _Words, marked: bool, all_words: bool = False) -> Column:
    """Return the column as words; with `marked`, "?" is always a missing value; with `all_words`, only "" is."""
    short = np.array([word[:15].lower() for word in text.words])
    gone = np.isin(short, ("",) if all_words else ALWAYS_MISSING) | (text.counts == 0)
    rest = short[~gone & ~np.isin(short, MARKS)]
    if len(rest) >= 2 and any(any(map(str.isalnum, word)) for word in rest):
        gone |= np.isin(short, MARKS)
    elif marked:
        gone |= short == "?"
    # Sorted: in the order of first appearance, words of later rows could stand before those of the first task.
    order = sorted(np.flatnonzero(~gone).tolist(), key=text.words.__getitem__)
    rank = np.full(len(short), -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    named = [f"{text.counts[j]:,} cells {short[j].upper()!r} count as missing" for j in np.flatnonzero(gone)
             if short[j] and text.counts[j]]  # fmt: skip
    codes, notes = rank[text.codes], (*text.notes, *named[:3])
    missing = int((codes < 0).sum())
    if not order:
        return Column(text.name, "empty", np.full(len(codes), np.nan), (), 0, missing, notes)
    listed, _ = unique_names((text.words[j] for j in order[:MAX_LISTED]), prefix="value")
    return Column(text.name, "category", codes, tuple(listed), len(order), missing, notes)


# Numbers

_MONEY = r"US\$|R\$|€|\$|£|¥|₹|₽|₺|zł|Fr\.?|kr\.?|EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|BRL|INR"
_UNIT = (
    "kg|mg|µg|km/h|m/s|mph|km|cm|mm|µm|nm|ms|min|kWh|MWh|kW|MW|mV|kV|mA|kHz|MHz|GHz|Hz|hPa|kPa|bar|Pa|psi|ml|ppm|dB|rpm|"
    "MB|GB|kB|kcal|kJ|Nm|lx|lm|lbs?|oz|ft|mi|years|days|hours|pcs|%|‰|°C|°F|°"
)
_BLANK = "[ \u00a0\u202f\u2009]"
_POWER = r"(?:[eEdD][+-]?\d+)?"
_FIGURE = re.compile(
    rf"(?P<open>\(?)(?P<sign>[+−-]?)(?:(?P<before>{_MONEY}){_BLANK}*)?(?P<minus>[+−-]?)"
    rf"(?P<digits>\d[\d.,٫'’ \u00a0\u202f\u2009]*{_POWER}|[.,]\d+{_POWER}|(?i:inf(?:inity)?))"
    rf"(?:{_BLANK}*(?P<after>{_UNIT}|{_MONEY})|{_BLANK}+(?P<letter>[gtmshdWVAKJNyl]))?(?P<end>[−-]?\)?)$"
)
_GROUPED = re.compile(rf"\d{{1,3}}(?:{_BLANK}\d{{3}})+(?:[.,]\d+)?$|\d{{1,3}}(?:['’]\d{{3}})+(?:[.,]\d+)?$")
_STYLES = {
    ".": re.compile(rf"(?:\d+|\d{{1,3}}(?:,\d{{3}})+|\d{{1,2}}(?:,\d{{2}})+,\d{{3}})?(?:[.٫]\d*)?{_POWER}$|(?i:inf)"),
    ",": re.compile(rf"(?:\d+|\d{{1,3}}(?:\.\d{{3}})+)?(?:,\d*)?{_POWER}$|(?i:inf)"),
}


def _clean_column(name: str, cells: pa.Array) -> Column | None:
    """Return a column all of whose cells are as a program writes numbers or dates: the usual case, fast.

    Few different values are left to the slow way: they may be labels or tasks, whose spelling counts.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = [cell for cell in cells[:_SAMPLE].to_pylist() if cell]
    shapes = {
        "date": r"^\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d)?$",
        **{"": r"^-?(0|[1-9]\d{0,12})$", ".": r"^-?(0|[1-9]\d{0,12})(\.\d+)?$"},
        ",": r"^-?(0|[1-9]\d{0,2}(\.\d{3})+|[1-9]\d{0,12}),\d+$",
    }
    shape = next((shape for shape, form in shapes.items() if all(re.match(form, cell) for cell in sample)), None)
    if not sample or shape is None or _are_early(sample) or (shape and _only_threes(sample, re.escape(shape))):
        return None
    try:
        known = pc.if_else(pc.equal(cells, ""), None, cells)
        if shape == "date":
            found = _timestamps(name, pc.cast(known, pa.timestamp("s")))
            return found if found.distinct > MAX_LISTED else None
        if shape == "":  # all as whole numbers are written: no zeros in front, no marks in later rows
            if not pc.all(pc.equal(pc.cast(pc.cast(known, pa.int64()), pa.string()), known)).as_py():
                return None
        elif shape == ",":
            if not pc.all(pc.match_substring_regex(known, shapes[","])).as_py():
                return None
            known = pc.replace_substring(pc.replace_substring(known, ".", ""), ",", ".")
        found = _finite(name, np.array(pc.cast(known, pa.float64()).to_numpy(zero_copy_only=False)), decimal=shape)
    except pa.ArrowInvalid:
        return None
    if found.distinct <= MAX_LISTED or found.notes or np.nanmax(np.abs(found.values)) >= LARGEST_EXACT:
        return None
    value = plain_number(found.values[found.present][0])
    return replace(found, notes=(f"cells were read as numbers: {sample[0]!r} is {value}",)) if shape == "," else found


def _only_threes(cells: Iterable[str], mark: str) -> bool:
    """Whether there are such marks and every one stands before three digits: decimals, or groups of thousands."""
    marked = [cell for cell in cells if re.search(mark, cell)]
    return bool(marked) and all(re.match(rf"[+-]?[1-9]\d{{0,2}}({mark}\d{{3}})+$", cell) for cell in marked)


def _numbers(text: _Words, mark: str, mostly: float) -> Column | None:
    """Return the column as numbers, also with groups, units or decimal commas; None if too few cells are, noted."""
    shaped = text.test(_FIGURE.match, mostly)
    if shaped is None:
        return None
    parts = [_FIGURE.match(word) if fits else None for word, fits in zip(text.words, shaped, strict=True)]
    digits = [part["digits"].strip() if part else "" for part in parts]
    digits = [re.sub(rf"{_BLANK}|['’]", "", one) if _GROUPED.match(one) else one for one in digits]
    styles = {style: shaped & [bool(fits.match(one)) for one in digits] for style, fits in _STYLES.items()}
    points, commas = (text.counts[styles[style]].sum() for style in ".,")
    either = bool((styles["."] == styles[","]).all())
    decimal = "," if commas > points or (commas == points and mark != ".") else "."
    if either and not mark and _only_threes(digits, r"\.") and not _only_threes(digits, ","):
        decimal = "."
    group = "." if decimal == "," else ","
    # A bracket that opens must close.
    good = styles[decimal] & [part is None or bool(part["open"]) == (")" in part["end"]) for part in parts]
    found = [part["before"] or part["after"] or part["letter"] for part in parts if part]
    units = list(dict.fromkeys(unit for unit in found if unit))
    if text.share(good) < mostly or len(units) > 1:
        if text.share(styles["."] | styles[","]) >= mostly > text.share(good):
            points_only, commas_only = styles["."] & ~styles[","], styles[","] & ~styles["."]
            text.notes.append(
                "some numbers have decimal points, others decimal commas "
                f"({text.seen(points_only)}; {text.seen(commas_only)}); they are kept as words"
            )
        elif text.share(good) >= mostly:
            seen = ", ".join(map(repr, units[:3]))
            text.notes.append(f"numbers are in different units ({seen}), so they are kept as words; write them in one")
        elif text.share(shaped) >= 0.5:
            text.notes.append(f"looks like numbers, kept as words because of {text.seen(text.there & ~good)}")
        return None
    values, examples = np.full(len(digits), np.nan), dict[str, str]()
    for place in np.flatnonzero(good):
        word, plain = text.words[place], digits[place].replace(group, "").replace(decimal, ".").replace("٫", ".")
        part = parts[place]
        minus = part is not None and any(
            part[name][:1] in ("-", "−", "(") for name in ("open", "sign", "minus", "end") if part[name]
        )
        values[place] = float(re.sub("[dD]", "e", plain)) * (-1 if minus else 1)
        sort = re.sub(r"[\d\s]+", "", word)
        plainly = re.fullmatch(r"[+-]?\d*\.?\d*(?:e[+-]?\d+)?|[+-]?[a-z]+", word, re.ASCII | re.IGNORECASE)
        if not plainly and sort not in examples and len(examples) < 3:
            examples[sort] = f"{text.seen(np.arange(len(values)) == place, 1)} is {plain_number(values[place])}"
    notes = [f"cells were read as numbers: {'; '.join(examples.values())}"] if examples else []
    marked = good & [group in one or decimal in one for one in digits]
    if marked.any() and either:
        text.choices.append("decimal")
        if not mark or decimal == ".":
            first = text.seen(marked, 1)
            notes.append(f"{decimal!r} was taken for the decimal mark ({first}); decimal={group!r} reads the other way")
    if (bad := text.there & ~good).any():
        count, seen = text.counts[bad].sum(), text.seen(bad)
        notes.append(f"{count:,} of {len(text.codes):,} cells are not numbers ({seen}); they count as missing")
    text.notes = notes
    return _checked(text, values, digits, good, decimal if any(decimal in one for one in digits) else "")


def _checked(text: _Words, values: Floats, digits: list[str], good: Flags, decimal: str) -> Column | None:
    """Return a column of numbers; None, with a note, if they would make different identifiers equal."""
    large = good & (np.abs(np.nan_to_num(values)) >= LARGEST_EXACT)
    zeros = good & [bool(re.match(r"0\d", one)) for one in digits]
    alike = good.sum() > len(np.unique(values[good]))
    if (large & [bool(re.match(r"\d{16,}", one)) for one in digits]).any():
        text.notes = ["whole numbers of more than 15 digits are kept as words, so that different ones stay different"]
        return None
    if zeros.any() and alike and all(one.isdecimal() for one, fits in zip(digits, good, strict=True) if fits):
        text.notes = ["numbers are kept as words, because some differ only in zeros at their beginning"]
        return None
    if zeros.any():
        first = text.seen(zeros, 1)
        text.notes.append(f"zeros at the beginning do not count ({first}); `words` keeps numbers as they are written")
    told = {"choices": tuple(text.choices), "decimal": decimal}
    found = _finite(text.name, values[text.codes], text.notes, **told)
    if not (alike or zeros.any()) or found.distinct > MAX_LISTED:
        return found
    text.words, text.notes = [word if fits else "" for word, fits in zip(text.words, good, strict=True)], []
    return replace(found, written=_categories(text, marked=False, all_words=True))


# Dates

_TIME = (
    r"(?:[T ] *(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?P<F>[.,]\d{1,9})?)? ?(?P<P>[AaPp]\.?[Mm]\.?)?"
    r" ?(?P<Z>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_WEEKDAY = r"(?:[A-Za-z]{2,9}\.?,? +)??"
_DAY_8, _MONTH_8, _YEAR_8 = r"(?P<d>0[1-9]|[12]\d|3[01])", r"(?P<m>0[1-9]|1[0-2])", r"(?P<y>(?:19|20)\d\d)"
_NAMES = (
    *("jan|january|januar", "feb|february|februar", "mar|march|mär|mrz|märz", "apr|april", "may|mai", "jun|june|juni"),
    *("jul|july|juli", "aug|august", "sep|sept|september", "oct|october|okt|oktober", "nov|november"),
    "dec|december|dez|dezember",
)
_MONTHS = {word: number for number, words in enumerate(_NAMES, start=1) for word in words.split("|")}
_WORD = rf"(?P<N>(?i:{'|'.join(_NAMES)}))\.?"
_SHAPES: tuple[tuple[str, Period], ...] = (
    # What a cell looks like, and the period it stands for; "a" and "b" may be day and month, or month and day.
    (r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})" + _TIME, "value"),
    (r"(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d{2})" + _TIME, "value"),
    (_WEEKDAY + r"(?P<d>\d{1,2})\.?[-/ ]?" + _WORD + r"[-/ ,]*(?P<y>\d{4}|\d{2})" + _TIME, "value"),
    (r"(?P<y>\d{4})[-/ ]" + _WORD + r"[-/ ](?P<d>\d{1,2})" + _TIME, "value"),
    (_WEEKDAY + _WORD + r" (?P<d>\d{1,2}),? (?P<y>\d{4})" + _TIME, "value"),
    (_WORD + r"[-/ ,']+(?P<y>\d{4}|\d{2})$", "month"),
    (r"(?P<y>\d{4})[-/ ]" + _WORD + "$", "month"),
    (r"(?P<y>\d{4})[-/](?P<m>\d{1,2})$", "month"),
    (r"(?P<m>\d{1,2})[-/](?P<y>\d{4})$", "month"),
    (r"(?P<y>\d{4})[-_/ ]?[Qq](?P<q>[1-4])$", "quarter"),
    (r"[Qq](?P<q>[1-4])[-_/ ]?(?P<y>\d{4})$", "quarter"),
    (r"(?P<y>\d{4})[- ]?[Ww](?P<w>\d{1,2})$", "week"),
    # Numbers all of which can be dates are dates: as numbers, their order would be wrong.
    (rf"{_YEAR_8}{_MONTH_8}{_DAY_8}$", "value"),
    (rf"{_DAY_8}{_MONTH_8}{_YEAR_8}$", "value"),
    (rf"{_MONTH_8}\.{_YEAR_8}$", "month"),
)
_COMPILED = tuple((re.compile(shape), period) for shape, period in _SHAPES)
_EARLY = tuple(shape for shape, _ in _COMPILED[-3:])
_EPOCH = dt.date(1970, 1, 1)


def looks_like_value(cell: str) -> bool:
    """Whether a cell can be a number or a date without the name of a month, and so no name of a column."""
    shapes = (_FIGURE, *(shape for shape, _ in _COMPILED if "N" not in shape.groupindex))
    return len(cell) < 40 and any(shape.match(cell.strip()) for shape in shapes)


def _are_early(cells: Sequence[str]) -> bool:
    """Whether numbers can all be dates."""
    return any(all(shape.match(cell) for cell in cells) for shape in _EARLY)


def _moments(part: dict[str, str | None]) -> dict[str, float]:
    """Return the seconds since 1970 that a date means, for each way to read it; NaN where the calendar has no such."""
    short, clock = len(part["y"] or "") == 2, _clock(part)

    def seconds(year: int, month: int, day: int) -> float:
        year += (2000 if year <= 68 else 1900) * short
        try:
            date = dt.date.fromisocalendar(year, month, 1) if "w" in part else dt.date(year, month, day)
        except ValueError:
            return np.nan
        return 86_400.0 * (date - _EPOCH).days + clock

    year, a, b = (int(part.get(name) or 0) for name in "yab")
    if "a" not in part:
        month = _MONTHS[str(part["N"]).lower()] if "N" in part else 3 * int(part.get("q") or 0) - 2
        return {"": seconds(year, int(part.get("m") or part.get("w") or month), int(part.get("d") or 1))}
    ways = {"day/month/year": seconds(year, b, a), "month/day/year": seconds(year, a, b)}
    return {**ways, "year/month/day": seconds(a, b, year)} if short else ways


def _clock(part: dict[str, str | None]) -> float:
    """Return the seconds of the day, NaN if there is no such time."""
    hour, minute, second = (int(part.get(name) or 0) for name in "HMS")
    half = (part.get("P") or "").lower().replace(".", "")
    if hour > 23 or minute > 59 or second > 60 or (half and not 1 <= hour <= 12):
        return np.nan
    hour = hour % 12 + 12 * (half == "pm") if half else hour
    return 3600.0 * hour + 60 * minute + second + float((part.get("F") or "0").replace(",", "."))


def _offset(zone: str) -> int:
    """Return how many seconds a zone, such as "+02:00" or "Z", is ahead of UTC."""
    found = re.match(r"([+-])(\d\d):?(\d\d)?", zone)
    return (1 if found[1] == "+" else -1) * (3600 * int(found[2]) + 60 * int(found[3] or 0)) if found else 0


def _dates(text: _Words, dayfirst: bool | None, mostly: float) -> Column | None:
    """Return the column as seconds since 1970, None if too few cells are dates, with a note if many are.

    Raises DataError if it has a date that does not exist, such as the 31st of April; the message names row and column.
    """
    found = [(shaped, *one) for one in _COMPILED if (shaped := text.test(one[0].match, mostly)) is not None]
    shaped, shape, period = max(found, key=lambda one: text.share(one[0]), default=(text.there, None, "value"))
    if shape is None or text.share(shaped) < mostly:
        if shape is not None and text.share(shaped) >= 0.5:
            other = text.seen(text.there & ~shaped)
            text.notes.append(f"looks like dates, kept as words because of {other}, written in another way")
        return None
    at = np.flatnonzero(shaped)
    parts = [match.groupdict() for place in at if (match := shape.match(text.words[place]))]
    read, ways = [_moments(part) for part in parts], dict[str, Floats]()
    for way in min(read, key=len):
        ways[way] = np.full(len(shaped), np.nan)
        ways[way][at] = [one[way] for one in read]
    taken, note = _order(text, ways, dayfirst)
    seconds = ways[taken]
    real = ~np.isnan(seconds)
    if text.share(real) < mostly * text.share(shaped):
        text.notes.append("looks like dates, kept as words because days and months have no single order")
        return None
    wrong, strange = shaped & ~real, text.there & ~shaped
    if wrong.any():
        cell, _, row = text.seen(wrong, 1).rpartition(" in row ")
        more = f", and {count - 1:,} more cells," if (count := text.counts[wrong].sum()) > 1 else ""
        raise DataError(
            f"Column {text.name!r}, row {row}: {cell}{more} cannot be a date. Correct it, or leave the cell empty."
        )
    zones = sorted({part.get("Z") or "" for part in parts})
    if len({_offset(zone) for zone in zones}) > 1 or ("" in zones and len(zones) > 1):
        several = ", ".join(zone or "none" for zone in zones[:5]) + (" …" if len(zones) > 5 else "")
        text.notes.append(f"times are in several zones ({several}); all were turned into UTC")
        seconds[at] -= [_offset(part.get("Z") or "") for part in parts]
    elif zones != [""]:
        text.notes.append(f"times are kept as they are written, in zone {zones[0]}")
    # Not again where a recipe says so: it was noted when the first file was read.
    early, first = shape in _EARLY, taken == "day/month/year" if len(ways) > 1 else None
    if (note or early or len(parts[0]["y"] or "") == 2) and (mostly or dayfirst != first):
        example = f"{text.seen(real, 1)} is {date_in_words(seconds[np.flatnonzero(real)[0]])}"
        keep = "; `words` keeps numbers as they are written" if early else ""
        text.notes.append(f"dates were read as {taken or 'they are written'}: {example}{note}{keep}")
    if strange.any():
        count, seen = text.counts[strange].sum(), text.seen(strange)
        text.notes.append(f"{count:,} of {len(text.codes):,} cells are not dates ({seen}); they count as missing")
    told = {"notes": tuple(text.notes), "choices": tuple(text.choices), "dayfirst": first}
    return _numeric(text.name, "date", seconds[text.codes], period=period, **told)


def _order(text: _Words, ways: dict[str, Floats], dayfirst: bool | None) -> tuple[str, str]:
    """Return the way in which dates are read, and what to say of it: that there is another, or that it is unusual."""
    if dayfirst is False:
        ways = {way: ways[way] for way in ("month/day/year", "day/month/year", *ways) if way in ways}
    real = {way: text.counts[~np.isnan(found)].sum() for way, found in ways.items()}
    # A year of two digits stands last, unless that is no date, or only so rows stand in the order of time.
    usual = max(count for way, count in real.items() if way[:1] != "y")
    most = usual if usual >= MOSTLY * max(real.values()) else max(real.values())
    equal = [way for way in ways if real[way] >= most]
    taken = equal[0]
    if len(equal) < 2:
        return taken, " (the month first)" if taken[:1] == "m" else ""
    if dayfirst is None:
        # Rows mostly stand in the order of time, and mostly in one of the readings only.
        rows = {way: (one := ways[way][text.codes])[~np.isnan(one)] for way in equal}
        ordered = [way for way in equal if (np.diff(rows[way]) >= 0).all()]
        # Where both are in order, the first days of months are likelier than the first days of one.
        firsts = all(date_in_words(one)[8:10] == "01" for one in ways["month/day/year"] if not np.isnan(one))
        taken = "month/day/year" if len(ordered) > 1 and firsts else (ordered or equal)[0]
    text.choices.append("dayfirst")
    other = "month/day/year" if taken[0] == "d" else "day/month/year"
    return taken, f", which is not the only way; dayfirst={taken[0] != 'd'} reads them as {other}"


# Columns


def is_readable(kind: pa.DataType) -> bool:
    """Whether cells of this type of pyarrow are numbers, dates or words: no lists, nothing nested, no bytes."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return is_readable(kind.value_type)
    tests = ("boolean", "integer", "floating", "decimal", "string", "large_string", "string_view", "date", "timestamp")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in (*tests, "time", "duration", "null"))


def understand(
    name: str, cells: pa.Array, reading: Reading, mark: str = "", *, marked: bool = False, rows: Ints | None = None
) -> Column | None:
    """Return what a column holds; None if it cannot be used.

    A column of strings holds numbers or dates if at least nine cells in ten are, otherwise words. `mark` is what
    separates decimals where a column alone does not tell; `marked` means "?" is always a missing value, as in ARFF.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    if not is_readable(kind):
        return None
    if pa.types.is_dictionary(kind) and not pa.types.is_string(kind.value_type):
        return understand(name, cells.dictionary_decode(), reading, mark, marked=marked, rows=rows)
    told = reading.columns.get(name, {})
    wanted = str(told.get("kind", ""))
    if pa.types.is_null(kind):
        return _numeric(name, "empty", np.full(len(cells), np.nan))
    if reading.columns and not told:  # nothing is learnt from it: all of its cells as they are written
        text = _Words(name, cells, rows)
        return Column(name, "category", text.codes, tuple(text.words), len(text.words))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _timestamps(name, cells)
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return _finite(name, _seconds(cells), ["times count as seconds"])
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        some = values[~np.isnan(values)]
        dates = pa.types.is_integer(kind) and some.size and some.min() >= 19_000_101 and some.max() <= 20_991_231
        exact = not pa.types.is_integer(kind) or not some.size or np.abs(some).max() < LARGEST_EXACT
        if exact and not dates and wanted not in ("category", "date"):
            return _finite(name, values)
    if wanted != "category" and pa.types.is_string(kind) and (found := _clean_column(name, cells)) is not None:
        return found
    text, why = _Words(name, cells, rows), list[str]()
    text.unquote()
    if wanted == "category" or (not text.there.any() and any(text.words)):
        return _categories(text, marked)
    if not text.there.any():
        return _numeric(name, "empty", np.full(len(cells), np.nan))
    dayfirst = reading.dayfirst if reading.dayfirst is not None else told.get("dayfirst")
    mark, mostly = reading.decimal or str(told.get("decimal", "")) or mark, 0.0 if wanted else MOSTLY
    early = wanted != "number" and _are_early([text.words[place] for place in np.flatnonzero(text.there)[:_SAMPLE]])
    for dates_now in (True, False) if early or wanted == "date" else (False, True):
        found = _dates(text, dayfirst, mostly) if dates_now else _numbers(text, mark, mostly)
        if found is not None:
            return found
        why, text.notes, text.choices = why or text.notes, [], []
    text.notes = why
    return _categories(text, marked)


def _seconds(cells: pa.Array) -> Floats:
    """Return times, durations or moments in seconds, NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = cells.view(pa.int32() if cells.type.bit_width == 32 else pa.int64())
    numbers = pc.cast(whole, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers / {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[cells.type.unit])


def _timestamps(name: str, cells: pa.Array) -> Column:
    """Return a column of dates of a typed file; times are in its zone if that is known, otherwise in UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    notes = []
    if pa.types.is_date(cells.type):
        cells = pc.cast(cells, pa.timestamp("s" if pa.types.is_date32(cells.type) else "ms"), safe=False)
    elif cells.type.tz not in (None, "UTC"):
        zone = clean_name(cells.type.tz)
        try:
            cells = pc.local_timestamp(cells)
            notes.append(f"times are in zone {zone}")
        except (pa.ArrowException, OSError):
            notes.append(f"the time zone {zone!r} is not known here; times are in UTC")
    values = _seconds(cells)
    outside = (values < _YEAR_1) | (values >= _YEAR_10000)
    if outside.any():
        row = np.flatnonzero(outside)[0] + 1
        notes.append(
            f"{outside.sum():,} dates lie outside the years 1 to 9999 (the first in row {row:,}); they count as missing"
        )
    return _numeric(name, "date", np.where(outside, np.nan, values), notes=tuple(notes))
