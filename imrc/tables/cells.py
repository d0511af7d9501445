"""Cells to columns of numbers, dates or words; every decision about cells is noted.

A column of text is looked at by its different cells, all of them at once with the expressions of pyarrow (RE2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imrc._checks import DataError
from imrc._types import Floats, Ints
from imrc.tables.table import (
    DAY,
    MAX_LISTED,
    Column,
    Flags,
    Period,
    Reading,
    clean_name,
    date_in_words,
    plain_number,
    unique_names,
)

ALWAYS_MISSING = (
    *("", "na", "n/a", "n.a.", "n. a.", "nan", "-nan", "null", "(null)", "<na>", "nat", "\\n", "k.a.", "k. a."),
    *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#nv", "#n/a", "#wert!", "#bezug!", "#zahl!"),
    *("1.#qnan", "-1.#ind", "not available"),
)
MARKS = ("?", "-", ".", "--", "---", "–", "—", "..", "...")
MISSING = (*ALWAYS_MISSING, *MARKS, "none", "nil", "missing", "0000-00-00", "00.00.0000", "00/00/0000")
"""Cells that stand for a missing value among numbers and dates, capitals or not.

Among words, "none", "nil" and "missing" are words, and so are the marks where they are one of two classes, as + and -.
"""

MOSTLY = 0.9
"""A column with at least this share of numbers is numeric; its other cells count as missing, and are named."""
LARGEST_EXACT = 2**53
"""Whole numbers from here on are not all different as floating-point numbers."""
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800
_SAMPLE = 1000


def fits(cells: pa.Array, pattern: str) -> Flags:
    """Return which cells an expression fits; none that is null."""
    found = pc.match_substring_regex(cells, pattern).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def is_missing(cells: pa.Array, spellings: Sequence[str] = MISSING) -> Flags:
    """Return which cells are one of these spellings, capitals or not."""
    short = pc.utf8_lower(pc.utf8_slice_codeunits(cells, 0, 15))
    return np.asarray(pc.is_in(short, pa.array(spellings)).to_numpy(zero_copy_only=False))


class _Text:
    """The different cells of a column of text, trimmed, and which of them each row holds."""

    def __init__(self, name: str, cells: pa.Array, rows: Ints | None) -> None:
        if not pa.types.is_dictionary(cells.type):
            cells = pc.dictionary_encode(cells.cast(pa.string()))
        words = pa.concat_arrays([cells.dictionary.cast(pa.string()).fill_null(""), pa.array([""])])
        words = pc.utf8_trim_whitespace(words).dictionary_encode()
        self.name, self.rows, self.words = name, rows, words.dictionary
        self.notes, self.choices = list[str](), list[str]()
        self.codes = words.indices.to_numpy()[cells.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)]
        self.counts = np.bincount(self.codes, minlength=len(self.words))
        for mark in "'\"":  # a reader of CSV files leaves single ones, and those after a blank
            quoted = fits(self.words, f"(?s)^{mark}.*{mark}$") & ~fits(self.words, "^.$")
            if quoted.any() and (quoted | fits(self.words, "^$") | (self.counts == 0)).all():
                self.words = pc.if_else(pa.array(quoted), pc.utf8_slice_codeunits(self.words, 1, -1), self.words)
                self.notes.append("quotation marks around its cells were removed")
        self.there = ~is_missing(self.words) & (self.counts > 0)
        self.plain = self.words  # with the digits of figures and dates in this script
        if fits(self.words, f"[{''.join(map(chr, _WESTERN))}]").any():
            self.plain = pa.array([word.translate(_WESTERN) for word in self.words.to_pylist()])

    def seen(self, which: Flags, most: int = 2) -> str:
        """Return the first of some cells, with the numbers of their rows, from 1 below the header."""
        found = np.flatnonzero(which[self.codes])[:most]
        numbers = found if self.rows is None else self.rows[found]
        cells = [clean_name(self.words[self.codes[row]])[:40] for row in found.tolist()]
        return ", ".join(f"{cell!r} in row {number + 1:,}" for cell, number in zip(cells, numbers, strict=True))

    def test(self, pattern: str, share: float) -> Flags | None:
        """Return which cells fit; None if it is less than this share of the first ones."""
        sample = self.there[:_SAMPLE]
        if (fits(self.plain[:_SAMPLE], pattern) & sample).sum() < min(0.3, share) * sample.sum():
            return None  # found early, for columns of a million words
        return fits(self.plain, pattern) & self.there

    def share(self, which: Flags) -> float:
        """Return the share of the cells that are there."""
        return float(self.counts[which].sum() / max(self.counts[self.there].sum(), 1))

    def parts(self, which: Flags, pattern: str) -> dict[str, pa.Array]:
        """Return the groups of an expression in the cells that fit, "" where a group is not there."""
        found = pc.extract_regex(self.plain.filter(pa.array(which)), pattern)
        return {field.name: pc.struct_field(found, field.name) for field in found.type}


def _column(name: str, values: Floats, notes: Sequence[str] = (), kind: Any = "number", **more: Any) -> Column:  # noqa: ANN401
    """Return a column of numbers or dates; infinite numbers count as missing, and that is said."""
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        values = np.where(np.isinf(values), np.nan, values)
        notes = [*notes, f"{infinite.size:,} infinite values (the first in row {infinite[0] + 1:,}) count as missing"]
    return Column(name, "empty" if np.isnan(values).all() else kind, values, notes=tuple(notes), **more)


def _categories(text: _Text, marked: bool, all_words: bool = False) -> Column:
    """Return the column as words; with `marked`, "?" is always a missing value; with `all_words`, only "" is."""
    gone = is_missing(text.words, ("",) if all_words else ALWAYS_MISSING) | (text.counts == 0)
    marks = is_missing(text.words, MARKS)
    rest = ~gone & ~marks
    if rest.sum() >= 2 and fits(text.words, r"[\p{L}\p{N}]")[rest].any():
        gone |= marks
    elif marked:
        gone |= is_missing(text.words, ["?"])
    # Sorted: in the order of first appearance, words of later rows could stand before those of the first task.
    order = pc.array_sort_indices(text.words).to_numpy()
    order = order[~gone[order]]
    rank = np.full(len(gone), -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    named = [(text.words[j].as_py().upper(), text.counts[j]) for j in np.flatnonzero(gone & (text.counts > 0)).tolist()]
    notes = [*text.notes, *[f"{count:,} cells {word!r} count as missing" for word, count in named if word][:3]]
    if not len(order):
        return Column(text.name, "empty", np.full(len(text.codes), np.nan), notes=tuple(notes))
    listed, _ = unique_names(text.words.take(pa.array(order[:MAX_LISTED])).to_pylist(), prefix="value")
    return Column(text.name, "category", rank[text.codes], tuple(listed), tuple(notes))


# Numbers

_MONEY = r"US\$|R\$|€|\$|£|¥|₹|₽|₺|zł|Fr\.?|kr\.?|EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|BRL|INR"
_UNIT = (
    "kg|mg|µg|km/h|m/s|mph|km|cm|mm|µm|nm|ms|min|kWh|MWh|kW|MW|mV|kV|mA|kHz|MHz|GHz|Hz|hPa|kPa|bar|Pa|psi|ml|ppm|dB|rpm|"
    "MB|GB|kB|kcal|kJ|Nm|lx|lm|lbs?|oz|ft|mi|years|days|hours|pcs|%|‰|°C|°F|°"
)
_BLANKS = " \u00a0\u202f\u2009"
_BLANK = f"[{_BLANKS}]"
_WESTERN = {ord(digit): str(int(digit)) for digit in "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９"}
_POWER = r"(?:[eEdD][+-]?\d+)?"
_FIGURE = (
    rf"^(?P<open>\(?)(?P<sign>[+−-]?)(?:(?P<before>{_MONEY}){_BLANK}*)?(?P<minus>[+−-]?)"
    rf"(?P<digits>\d[\d.,٫'’{_BLANKS}]*{_POWER}|[.,]\d+{_POWER}|(?i:inf(?:inity)?))"
    rf"(?:{_BLANK}*(?P<after>{_UNIT}|{_MONEY})|{_BLANK}+(?P<letter>[gtmshdWVAKJNyl]))?(?P<end>[−-]?\)?)$"
)
_GROUPED = rf"^\d{{1,3}}(?:(?:{_BLANK}\d{{3}})+|(?:['’]\d{{3}})+)(?:[.,]\d+)?$"
_STYLES = {
    ".": rf"^(?:(?:\d+|\d{{1,3}}(?:,\d{{3}})+|\d{{1,2}}(?:,\d{{2}})+,\d{{3}})?(?:[.٫]\d*)?{_POWER}$|(?i:inf))",
    ",": rf"^(?:(?:\d+|\d{{1,3}}(?:\.\d{{3}})+)?(?:,\d*)?{_POWER}$|(?i:inf))",
}
_PLAIN = {
    **{"date": r"^\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d)?$", "": r"^-?(0|[1-9]\d{0,12})$"},
    **{".": r"^-?(0|[1-9]\d{0,12})(\.\d+)?$", ",": r"^-?(0|[1-9]\d{0,2}(\.\d{3})+|[1-9]\d{0,12}),\d+$"},
}


def _plain_column(name: str, cells: pa.ChunkedArray) -> Column | None:
    """Return a column all of whose cells are as a program writes numbers or dates: the usual case, fast.

    Few different values are left to the slow way: they may be labels or tasks, whose spelling counts.
    """
    sample = cells[:_SAMPLE].filter(pc.not_equal(cells[:_SAMPLE], ""))
    shape = next((shape for shape, form in _PLAIN.items() if fits(sample, form).all()), None)
    if not len(sample) or shape is None or _are_early(sample) or (shape and _only_threes(sample, shape)):
        return None
    try:
        if pc.any(pc.equal(cells, "")).as_py():
            cells = pc.if_else(pc.equal(cells, ""), None, cells)
        if shape == "date":
            found = _timestamps(name, pc.cast(cells, pa.timestamp("s")).combine_chunks())
            return found if found.distinct > MAX_LISTED else None
        if shape == ",":
            if not pc.all(pc.match_substring_regex(cells, _PLAIN[","])).as_py():
                return None
            cells = pc.replace_substring(pc.replace_substring(cells, ".", ""), ",", ".")
        elif not shape and fits(cells, "^0.").any():
            return None
        numbers = pc.cast(cells, pa.float64() if shape else pa.int64())
    except pa.ArrowInvalid:
        return None
    values = numbers.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    many = any(len(np.unique(part[~np.isnan(part)])) > MAX_LISTED for part in (values[: 4 * MAX_LISTED], values))
    if not many or max(map(abs, pc.min_max(numbers).as_py().values())) >= LARGEST_EXACT:
        return None
    value = f"cells were read as numbers: {sample[0].as_py()!r} is {plain_number(values[~np.isnan(values)][0])}"
    return Column(name, "number", values, notes=(value,) * (shape == ","), decimal=shape)


def _only_threes(cells: pa.Array, mark: str) -> bool:
    """Whether there are such marks and every one stands before three digits: decimals, or groups of thousands."""
    marked = fits(cells, re.escape(mark))
    return bool(marked.any() and fits(cells, rf"^[+-]?[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+$")[marked].all())


def _numbers(text: _Text, mark: str, mostly: float) -> Column | None:
    """Return the column as numbers, also with groups, units or decimal commas; None if too few cells are, noted."""
    shaped = text.test(_FIGURE, mostly)
    if shaped is None:
        return None
    part, at = text.parts(shaped, _FIGURE), np.flatnonzero(shaped)

    def on_all(values: Any, empty: Any = False) -> NDArray[Any]:  # noqa: ANN401 - of any kind
        found = np.full(len(shaped), empty)
        found[at] = values
        return found

    digits = pc.utf8_trim_whitespace(part["digits"])
    grouped = pc.match_substring_regex(digits, _GROUPED)
    digits = pc.if_else(grouped, pc.replace_substring_regex(digits, f"{_BLANK}|['’]", ""), digits)
    styles = {style: on_all(fits(digits, pattern)) for style, pattern in _STYLES.items()}
    points, commas = (text.counts[styles[style]].sum() for style in ".,")
    either = bool((styles["."] == styles[","]).all())
    decimal = "," if commas > points or (commas == points and mark != ".") else "."
    if either and not mark and _only_threes(digits, ".") and not _only_threes(digits, ","):
        decimal = "."
    group = "." if decimal == "," else ","
    # A bracket that opens must close.
    good = styles[decimal] & on_all(fits(part["open"], r"\(") == fits(part["end"], r"\)"))
    units = pc.binary_join_element_wise(part["before"], part["after"], part["letter"], "").unique().to_pylist()
    units = [unit for unit in units if unit]
    if text.share(good) < mostly or len(units) > 1:
        if text.share(styles["."] | styles[","]) >= mostly > text.share(good):
            one, other = (text.seen(styles[a] & ~styles[b]) for a, b in (".,", ",."))
            why = f"some numbers have decimal points, others decimal commas ({one}; {other}); they are kept as words"
        elif text.share(good) >= mostly:
            seen = ", ".join(map(repr, units[:3]))
            why = f"numbers are in different units ({seen}), so they are kept as words; write them in one"
        elif text.share(shaped) >= 0.5:
            why = f"looks like numbers, kept as words because of {text.seen(text.there & ~good)}"
        else:
            return None
        text.notes.append(why)
        return None
    plain = pc.replace_substring(pc.replace_substring(digits, group, ""), decimal, ".")
    plain = pc.replace_substring(pc.replace_substring_regex(plain, "[dD]", "e"), "٫", ".")
    signs = fits(pc.binary_join_element_wise(part["open"], part["sign"], part["minus"], part["end"], ""), "[(−-]")
    values = np.full(len(shaped), np.nan)
    values[good] = plain.filter(pa.array(good[at])).to_numpy(zero_copy_only=False).astype(np.float64)
    values *= np.where(on_all(signs), -1, 1)

    examples = dict[str, str]()
    odd = good & ~fits(text.words, r"^(?i:[+-]?\d*\.?\d*(?:e[+-]?\d+)?|[+-]?[a-z]+)$")
    for place in np.flatnonzero(odd)[:_SAMPLE].tolist():
        sort = re.sub(r"[\d\s]+", "", text.words[place].as_py())
        if sort not in examples and len(examples) < 3:
            examples[sort] = f"{text.seen(np.arange(len(values)) == place, 1)} is {plain_number(values[place])}"
    notes = [*text.notes, f"cells were read as numbers: {'; '.join(examples.values())}"][: None if examples else -1]
    marked = good & on_all(fits(digits, "[.,]"))
    if marked.any() and either:
        text.choices.append("decimal")
        if not mark or decimal == ".":
            first = text.seen(marked, 1)
            notes.append(f"{decimal!r} was taken for the decimal mark ({first}); decimal={group!r} reads the other way")
    if (bad := text.there & ~good).any():
        count, seen = text.counts[bad].sum(), text.seen(bad)
        notes.append(f"{count:,} of {len(text.codes):,} cells are not numbers ({seen}); they count as missing")

    # Identifiers that differ must not become equal.
    alike, zeros = good.sum() > len(np.unique(values[good])), good & on_all(fits(digits, r"^0\d"))
    if (good & on_all(fits(digits, r"^\d{16,}")) & (np.abs(values) >= LARGEST_EXACT)).any():
        text.notes = ["whole numbers of more than 15 digits are kept as words, so that different ones stay different"]
        return None
    if zeros.any() and alike and fits(digits, r"^\d+$")[good[at]].all():
        text.notes = ["numbers are kept as words, because some differ only in leading zeros"]
        return None
    if zeros.any():
        first = text.seen(zeros, 1)
        notes.append(f"leading zeros are ignored ({first}); to keep numbers as they are written, use `words`")
    used = decimal if fits(digits, re.escape(decimal)).any() else ""
    found = _column(text.name, values[text.codes], notes, choices=tuple(text.choices), decimal=used)
    if not (alike or zeros.any()) or found.distinct > MAX_LISTED:
        return found
    text.words, text.notes = pc.if_else(pa.array(good), text.words, ""), []
    return replace(found, written=_categories(text, marked=False, all_words=True))


# Dates

_TIME = (
    r"(?:[T ] *(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?P<F>[.,]\d{1,9})?)? ?(?P<P>[AaPp]\.?[Mm]\.?)?"
    r" ?(?P<Z>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_WEEKDAY = r"^(?:[A-Za-z]{2,9}\.?,? +)??"
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
    (r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})" + _TIME, "value"),
    (r"^(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d{2})" + _TIME, "value"),
    (_WEEKDAY + r"(?P<d>\d{1,2})\.?[-/ ]?" + _WORD + r"[-/ ,]*(?P<y>\d{4}|\d{2})" + _TIME, "value"),
    (r"^(?P<y>\d{4})[-/ ]" + _WORD + r"[-/ ](?P<d>\d{1,2})" + _TIME, "value"),
    (_WEEKDAY + _WORD + r" (?P<d>\d{1,2}),? (?P<y>\d{4})" + _TIME, "value"),
    (f"^{_WORD}" + r"[-/ ,']+(?P<y>\d{4}|\d{2})$", "month"),
    (r"^(?P<y>\d{4})[-/ ]" + _WORD + "$", "month"),
    (r"^(?P<y>\d{4})[-/](?P<m>\d{1,2})$", "month"),
    (r"^(?P<m>\d{1,2})[-/](?P<y>\d{4})$", "month"),
    (r"^(?P<y>\d{4})[-_/ ]?[Qq](?P<q>[1-4])$", "quarter"),
    (r"^[Qq](?P<q>[1-4])[-_/ ]?(?P<y>\d{4})$", "quarter"),
    (r"^(?P<y>\d{4})[- ]?[Ww](?P<w>\d{1,2})$", "week"),
    # Numbers all of which can be dates are dates: as numbers, their order would be wrong.
    (rf"^{_YEAR_8}{_MONTH_8}{_DAY_8}$", "value"),
    (rf"^{_DAY_8}{_MONTH_8}{_YEAR_8}$", "value"),
    (rf"^{_MONTH_8}\.{_YEAR_8}$", "month"),
)
_EARLY = tuple(shape for shape, _ in _SHAPES[-3:])
_VALUE = "|".join([_FIGURE, *(shape for shape, _ in _SHAPES if "<N>" not in shape)])
_VALUE = re.sub(r"\(\?P<\w+>", "(?:", _VALUE)


def looks_like_values(cells: pa.Array) -> Flags:
    """Return which cells can be numbers, or dates without the name of a month, and so no names of columns."""
    return fits(pc.if_else(pc.less(pc.utf8_length(cells), 40), cells, ""), _VALUE)


def _are_early(cells: pa.Array) -> bool:
    """Whether numbers can all be dates."""
    return any(fits(cells, shape).all() for shape in _EARLY)


def _whole(part: dict[str, pa.Array], name: str, default: int = 0) -> Ints:
    """Return a group of digits as numbers, `default` where it is not there."""
    if name not in part:
        return np.array(default)
    return np.asarray(pc.if_else(pc.equal(part[name], ""), str(default), part[name]).cast(pa.int64()))


def _moments(part: dict[str, pa.Array]) -> dict[str, Floats]:
    """Return the seconds since 1970 that dates mean, for each way to read them; NaN where the calendar has no such."""
    short, given = fits(part["y"], "^..$"), _whole(part, "y")

    def seconds(year: Ints, month: Ints, day: Ints) -> Floats:
        year = year + np.where(short, np.where(year <= 68, 2000, 1900), 0)
        first = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
        days = first.astype("datetime64[D]") + (day - 1)
        real = (year > 0) & (month > 0) & (month < 13) & (days.astype("datetime64[M]") == first)
        if "w" in part:  # the Monday of a week of ISO 8601
            thursday = days + 3 - (days.astype(np.int64) + 3) % 7 + 7 * (_whole(part, "w") - 1)
            days, real = thursday - 3, real & (thursday.astype("datetime64[Y]").astype(np.int64) == year - 1970)
        return np.where(real, DAY * days.astype(np.float64) + _clock(part), np.nan)

    if "a" in part:
        a, b = _whole(part, "a"), _whole(part, "b")
        ways = {"day/month/year": seconds(given, b, a), "month/day/year": seconds(given, a, b)}
        if short.any():
            ways["year/month/day"] = np.where(short, seconds(a, b, given), np.nan)
        return ways
    if "w" in part:
        return {"": seconds(given, np.array(1), np.array(4))}
    month = _whole(part, "m") if "m" in part else 3 * _whole(part, "q") - 2
    if "N" in part:
        month = np.array([_MONTHS[word] for word in pc.utf8_lower(part["N"]).to_pylist()])
    return {"": seconds(given, month, _whole(part, "d", 1))}


def _clock(part: dict[str, pa.Array]) -> Floats:
    """Return the seconds of the day, NaN if there is no such time."""
    if "H" not in part:
        return np.array(0.0)
    hour, minute, second = (_whole(part, name) for name in "HMS")
    half, afternoon = fits(part["P"], "."), fits(part["P"], "^[Pp]")
    real = (hour < 24) & (minute < 60) & (second < 61) & (~half | ((hour > 0) & (hour < 13)))
    fraction = pc.binary_join_element_wise("0", pc.replace_substring(part["F"], ",", "."), "").cast(pa.float64())
    hour = np.where(half, hour % 12 + 12 * afternoon, hour)
    return np.where(real, 3600.0 * hour + 60 * minute + second + fraction.to_numpy(), np.nan)


def _offset(zone: str) -> int:
    """Return how many seconds a zone, such as "+02:00" or "Z", is ahead of UTC."""
    found = re.match(r"([+-])(\d\d):?(\d\d)?", zone)
    return (1 if found[1] == "+" else -1) * (3600 * int(found[2]) + 60 * int(found[3] or 0)) if found else 0


def _dates(text: _Text, dayfirst: bool | None, mostly: float) -> Column | None:
    """Return the column as seconds since 1970, None if too few cells are dates, with a note if many are.

    Raises DataError if it has a date that does not exist, such as the 31st of April; the message names row and column.
    """
    found = [(shaped, *one) for one in _SHAPES if (shaped := text.test(one[0], mostly)) is not None]
    shaped, shape, period = max(found, key=lambda one: text.share(one[0]), default=(text.there, "", "value"))
    if not shape or text.share(shaped) < mostly:
        if shape and text.share(shaped) >= 0.5:
            other = text.seen(text.there & ~shaped)
            text.notes.append(f"looks like dates, kept as words because of {other}, written in another way")
        return None
    part, ways = text.parts(shaped, shape), dict[str, Floats]()
    for way, moments in _moments(part).items():
        ways[way] = np.full(len(shaped), np.nan)
        ways[way][shaped] = moments
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
    zones = sorted(part["Z"].unique().to_pylist()) if "Z" in part else [""]
    if len(set(map(_offset, zones))) > 1 or ("" in zones and len(zones) > 1):
        several = ", ".join(zone or "none" for zone in zones[:5]) + (" …" if len(zones) > 5 else "")
        text.notes.append(f"times are in several zones ({several}); all were turned into UTC")
        seconds[shaped] -= [_offset(zone) for zone in part["Z"].to_pylist()]
    elif zones != [""]:
        text.notes.append(f"times are kept as they are written, in zone {zones[0]}")
    # Not again where a recipe says so: it was noted when the first file was read.
    early, first = shape in _EARLY, taken == "day/month/year" if len(ways) > 1 else None
    if (note or early or len(part["y"][0].as_py()) == 2) and (mostly or dayfirst != first):
        example = f"{text.seen(real, 1)} is {date_in_words(seconds[text.codes][real[text.codes]][0])}"
        keep = "; `words` keeps numbers as they are written" if early else ""
        text.notes.append(f"dates were read as {taken or 'they are written'}: {example}{note}{keep}")
    if strange.any():
        count, seen = text.counts[strange].sum(), text.seen(strange)
        text.notes.append(f"{count:,} of {len(text.codes):,} cells are not dates ({seen}); they count as missing")
    told = {"kind": "date", "period": period, "choices": tuple(text.choices), "dayfirst": first}
    return _column(text.name, seconds[text.codes], text.notes, **told)


def _order(text: _Text, ways: dict[str, Floats], dayfirst: bool | None) -> tuple[str, str]:
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
        days = (ways["month/day/year"][~np.isnan(ways["month/day/year"])] // DAY).astype("datetime64[D]")
        firsts = (days == days.astype("datetime64[M]")).all()
        taken = "month/day/year" if len(ordered) > 1 and firsts else (ordered or equal)[0]
    text.choices.append("dayfirst")
    other = "month/day/year" if taken[0] == "d" else "day/month/year"
    return taken, f", which is not the only way; dayfirst={taken[0] != 'd'} reads them as {other}"


# Columns


def is_readable(kind: pa.DataType) -> bool:
    """Whether cells of this type of pyarrow are numbers, dates or words: no lists, nothing nested, no bytes."""
    if pa.types.is_dictionary(kind):
        return is_readable(kind.value_type)
    tests = ("boolean", "integer", "floating", "decimal", "string", "large_string", "string_view", "date", "timestamp")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in (*tests, "time", "duration", "null"))


def understand(
    name: str,
    cells: pa.ChunkedArray,
    reading: Reading,
    mark: str = "",
    *,
    marked: bool = False,
    rows: Ints | None = None,
) -> Column:
    """Return what a column holds.

    A column of strings holds numbers or dates if at least nine cells in ten are, otherwise words. `mark` is the
    decimal separator where a column alone does not tell; `marked` means "?" is always a missing value, as in ARFF.
    """
    told, types = reading.columns.get(name, {}), pa.types
    wanted = str(told.get("kind", ""))
    usual = types.is_string(cells.type) and wanted != "category" and (told or not reading.columns)
    if usual and (found := _plain_column(name, cells)) is not None:
        return found
    cells = cells.combine_chunks()
    if types.is_dictionary(cells.type) and not types.is_string(cells.type.value_type):
        cells = cells.dictionary_decode()
    kind = cells.type
    if types.is_null(kind):
        return Column(name, "empty", np.full(len(cells), np.nan))
    if reading.columns and not told:  # nothing is learnt from it: all of its cells as they are written
        text = _Text(name, cells, rows)
        return Column(name, "category", text.codes, tuple(text.words.to_pylist()))
    if types.is_date(kind) or types.is_timestamp(kind):
        return _timestamps(name, cells)
    if types.is_time(kind) or types.is_duration(kind):
        return _column(name, _seconds(cells), ["times count as seconds"])
    if types.is_integer(kind) or types.is_floating(kind):
        values = pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        low, high = (np.nanmin(values), np.nanmax(values)) if not np.isnan(values).all() else (0.0, 0.0)
        odd = max(-low, high) >= LARGEST_EXACT or (low >= 19_000_101 and high <= 20_991_231)  # identifiers, or dates
        if not (types.is_integer(kind) and odd) and wanted not in ("category", "date"):
            return _column(name, values)
    text, why = _Text(name, cells, rows), list[str]()
    if wanted == "category" or (not text.there.any() and not fits(text.words, "^$").all()):
        return _categories(text, marked)
    if not text.there.any():
        return Column(name, "empty", np.full(len(cells), np.nan))
    dayfirst = reading.dayfirst if reading.dayfirst is not None else told.get("dayfirst")
    mark, mostly = reading.decimal or str(told.get("decimal", "")) or mark, 0.0 if wanted else MOSTLY
    early = wanted != "number" and _are_early(text.words.filter(pa.array(text.there))[:_SAMPLE])
    quoted = [*text.notes]
    for dates_now in (True, False) if early or wanted == "date" else (False, True):
        found = _dates(text, dayfirst, mostly) if dates_now else _numbers(text, mark, mostly)
        if found is not None:
            return found
        why, text.notes, text.choices = why or text.notes, [*quoted], []
    text.notes = why
    return _categories(text, marked)


def _seconds(cells: pa.Array) -> Floats:
    """Return times, durations or moments in seconds, NaN where there is none."""
    whole = cells.view(pa.int32() if cells.type.bit_width == 32 else pa.int64())
    numbers = pc.cast(whole, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers / {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[cells.type.unit])


def _timestamps(name: str, cells: pa.Array) -> Column:
    """Return a column of dates of a typed file; times are in its zone if that is known, otherwise in UTC."""
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
    return _column(name, np.where(outside, np.nan, values), notes, kind="date")
