"""From cells to columns of numbers, dates or words; every decision about cells is noted.

Only the different cells of a column are looked at. It holds numbers or dates if nine in ten of the cells that are
not empty fit one of `_READERS`, otherwise words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
from imrc.wording import listed

ALWAYS_MISSING = (
    *("", "na", "n/a", "n.a.", "n. a.", "nan", "-nan", "null", "(null)", "<na>", "nat", "\\n", "k.a.", "k. a."),
    *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#nv", "#n/a", "#wert!", "#bezug!", "#zahl!"),
    "not available",
)
MARKS = ("?", "-", ".", "--", "---", "–", "—", "..", "...")
MISSING = (*ALWAYS_MISSING, *MARKS, "none", "nil", "missing", "0000-00-00")
"""Cells that mean a missing value among numbers and dates, in upper or lower case.

Among words, "none", "nil" and "missing" are words, and so are the marks where they are one of two classes, as + and -.
"""

MOSTLY = 0.9
LARGEST_EXACT = 2**53
"""From here on, different whole numbers can be the same floating-point number."""
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800
_SAMPLE = 1000
_PLAIN = str.maketrans("−’٫٬٠١٢٣٤٥٦٧٨٩", "-'.,0123456789")


def fits(cells: pa.Array, pattern: str) -> Flags:
    """Return which cells match an expression; null never does."""
    found = pc.match_substring_regex(cells, pattern).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def all_fit(cells: Sequence[str], pattern: str) -> bool:
    """Whether an expression matches all of a few cells."""
    return all(re.fullmatch(pattern, cell) for cell in cells)


def share_of(cells: Sequence[str], pattern: str) -> float:
    """Return the share of a few cells that an expression matches; Python need not compile it for each column."""
    return sum(re.fullmatch(pattern, cell) is not None for cell in cells) / max(len(cells), 1)


def is_missing(cells: pa.Array, spellings: Sequence[str] = MISSING) -> Flags:
    """Return which cells have one of these spellings, in upper or lower case."""
    short = pc.utf8_lower(pc.utf8_slice_codeunits(cells, 0, 15))
    return np.asarray(pc.is_in(short, pa.array(spellings)).to_numpy(zero_copy_only=False))


def _parts(cells: pa.Array, pattern: str) -> dict[str, pa.Array]:
    """Return the groups of an expression, "" where a group does not occur."""
    found = pc.extract_regex(cells, pattern)
    return {field.name: pc.struct_field(found, field.name).fill_null("") for field in found.type}


def _rewritten(cells: pa.Array, *pairs: tuple[str, str]) -> pa.Array:
    for pattern, by in pairs:
        cells = pc.replace_substring_regex(cells, pattern, by)
    return cells


class _Text:
    """The different cells of a column of text, trimmed, which of them each row contains; `skip` rows do not count."""

    def __init__(self, name: str, cells: pa.Array, rows: Ints | None, skip: int, native: bool) -> None:
        if not pa.types.is_dictionary(cells.type):
            cells = pc.dictionary_encode(cells.cast(pa.string()))
        words = pa.concat_arrays([cells.dictionary.cast(pa.string()).fill_null(""), pa.array([""])])
        words = pc.utf8_trim_whitespace(words).dictionary_encode()
        self.name, self.rows, self.native, self.words = name, rows, native, words.dictionary
        self.codes = words.indices.to_numpy()[cells.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)]
        self.counts = np.bincount(self.codes[skip:], minlength=len(self.words))
        self.there = ~is_missing(self.words) & (self.counts > 0)
        self.plain = pc.utf8_slice_codeunits(self.words, 0, 100)  # figures and dates in this script, with plain blanks
        if not pc.all(pc.string_is_ascii(self.plain)).as_py():
            words = (unicodedata.normalize("NFKC", word) for word in self.plain.to_pylist())
            self.plain = pa.array([word.translate(_PLAIN) for word in words], pa.string())
        self.sample = self.plain.filter(pa.array(self.there))[:_SAMPLE].to_pylist()
        self.early = _are_early(self.sample)

    @cached_property
    def moment(self) -> dict[str, pa.Array]:
        """Return date, time, AM or PM, and zone of the different cells."""
        return _parts(self.plain, _MOMENT)

    def seen(self, which: Flags, most: int = 2) -> str:
        """Return the first of some cells, with their row numbers, counted from 1 below the header."""
        found = np.flatnonzero(which[self.codes])[:most]
        numbers = found if self.rows is None else self.rows[found]
        cells = [clean_name(self.words[self.codes[row]])[:40] for row in found.tolist()]
        return ", ".join(f"{cell!r} in row {number + 1:,}" for cell, number in zip(cells, numbers, strict=True))

    def example(self, which: Flags, values: Floats, in_words: Callable[[float], str]) -> str:
        """Return the first of some cells, and what it was read as."""
        return f"{self.seen(which, 1)} is {in_words(values[self.codes[np.flatnonzero(which[self.codes])[0]]])}"

    def share(self, values: Floats) -> float:
        """Return the share of cells that are not empty for which the different cells have a value."""
        return float(self.counts[~np.isnan(values) & self.there].sum() / max(self.counts[self.there].sum(), 1))

    def ranked(self, gone: Flags) -> tuple[Ints, tuple[str, ...]]:
        """Return the place of each row's word among the sorted words that are not `gone` (-1), and the first words."""
        # By first appearance, words of later rows could come before the words of the first task.
        order = pc.array_sort_indices(self.words).to_numpy()
        order = order[~gone[order]]
        rank = np.full(len(gone), -1, dtype=np.int32)
        rank[order] = np.arange(len(order))
        shown, _ = unique_names(self.words.take(pa.array(order[:MAX_LISTED])).to_pylist(), prefix="value")
        return rank[self.codes], tuple(shown)


def _column(name: str, values: Floats, notes: Sequence[str] = (), kind: Any = "number", **more: Any) -> Column:  # noqa: ANN401
    """Return a column of numbers or dates; infinite numbers and years beyond the calendar are missing, and noted."""
    outside = (values < _YEAR_1) | (values >= _YEAR_10000) if kind == "date" else np.isinf(values)
    if outside.any():
        what = "dates outside the years 1 to 9999" if kind == "date" else "infinite values"
        row = np.flatnonzero(outside)[0] + 1
        notes = [*notes, f"{outside.sum():,} {what} (the first in row {row:,}) count as missing"]
        values = np.where(outside, np.nan, values)
    return Column(name, "empty" if np.isnan(values).all() else kind, values, notes=tuple(notes), **more)


def _words(text: _Text, notes: list[str]) -> Column:
    """Return the column as words; "?" never is one in a format that has its own numbers."""
    used, marks = text.counts > 0, is_missing(text.words, MARKS)
    gone = is_missing(text.words, ALWAYS_MISSING)
    rest = used & ~gone & ~marks
    if rest.sum() >= 2 and fits(text.words, r"[\p{L}\p{N}]")[rest].any():
        gone |= marks
    elif text.native:
        gone |= is_missing(text.words, ["?"])
    named = [(text.words[j].as_py().upper(), text.counts[j]) for j in np.flatnonzero(gone & used).tolist()]
    notes += [f"{count:,} cells {word!r} count as missing" for word, count in named if word][:3]
    if (gone | ~used).all():
        return Column(text.name, "empty", np.full(len(text.codes), np.nan), notes=tuple(notes))
    return Column(text.name, "category", *text.ranked(gone | ~used), tuple(notes))


# Numbers

_POWER = r"(?:[eEdD][+-]?\d+)?"
_NUMBER = (
    rf"(?P<sign>[+-]?)(?:[€$£¥] ?)?(?P<digits>\d[\d.,' ]*{_POWER}|[.,]\d+{_POWER}|(?i:inf(?:inity)?))"
    r" ?(?P<unit>[%‰€$£¥]|°[CF]?|[A-Za-zµ/]{2,4})?"
)
_STYLES = {
    decimal: rf"^(?:(?:\d+|\d{{1,3}}(?:[{group} ']\d{{3}})+)?(?:\{decimal}\d*)?{_POWER}|(?i:inf.*))$"
    for decimal, group in (".,", ",.")
}
_ZEROS = r"^[+-]?[^\d.,+-]*0\d"
_QUICK = {
    r"(-?(0|[1-9][0-9]{0,12}))?": pa.int64(),
    r"(-?(0|[1-9][0-9]{0,12})(\.[0-9]+)?(e-?[0-9]+)?)?": pa.float64(),
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}(:[0-9]{2}){2})?)?": pa.timestamp("s"),
}


def _quick(name: str, cells: pa.ChunkedArray) -> Column | None:
    """Return a column of many numbers or dates in the usual form that programs write, in one go.

    A few different ones are left to the other readers, because they may be labels or tasks, whose spelling counts.
    """
    sample = cells[:_SAMPLE].to_pylist()
    kind = next((kind for shape, kind in _QUICK.items() if all_fit(sample, shape)), None)
    # A point before three digits may separate decimals or thousands.
    either = kind == pa.float64() and all_fit(sample, r"-?\d*|-?[1-9]\d{0,2}\.\d{3}")
    if kind is None or either or _are_early(sample):
        return None
    try:
        found = pc.cast(pc.if_else(pc.equal(cells, ""), None, cells), kind).combine_chunks()
    except pa.ArrowInvalid:
        return None
    if kind == pa.timestamp("s"):
        column = _timestamps(name, found)
    elif kind == pa.int64() and fits(cells, "^-?0[0-9]").any():
        return None
    else:
        values = found.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        column = _column(name, values, decimal="." * (kind == pa.float64()))
    few = len(np.unique(column.values[: 2 * MAX_LISTED])) <= MAX_LISTED
    return None if few or (np.abs(column.values) >= LARGEST_EXACT).any() else column


def _numbers(text: _Text) -> dict[str, Floats]:
    """Return the different cells as numbers with a decimal point and with a comma, with groups of digits or a unit."""
    part = _parts(text.plain, f"^{_NUMBER}$")
    digits, units = pc.utf8_rtrim_whitespace(part["digits"]), part["unit"].to_numpy(zero_copy_only=False)
    shaped = fits(digits, ".")
    if len({*units[shaped & text.there]} - {""}) > 1:
        shaped &= units == ""
    signs, found = pc.replace_substring(part["sign"], "+", ""), {}
    for decimal, style in _STYLES.items():
        if not (good := shaped & fits(digits, style)).any():
            continue
        group = "," if decimal == "." else "."
        plain = _rewritten(pc.utf8_lower(digits), (f"[ '{group}]", ""), (f"[{decimal}]", "."), ("d", "e"))
        plain = pc.if_else(pa.array(good), pc.binary_join_element_wise(signs, plain, ""), None)
        found[decimal] = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False)
    return found


def _are_names(text: _Text, values: Floats) -> bool:
    """Whether figures have more digits than numbers can, or differ only in leading zeros."""
    good = ~np.isnan(values) & text.there
    large = text.plain.filter(pa.array(good & (np.abs(values) >= LARGEST_EXACT)))
    merged = good.sum() > len(np.unique(values[good]))
    return bool(fits(large, r"\d{16}").any() or (merged and fits(text.plain, _ZEROS)[good].any()))


def _number_facts(text: _Text, values: Floats, decimal: str, either: bool) -> tuple[list[str], dict[str, Any]]:
    """Return notes on numbers, and what a `Column` of them has."""
    good, notes = ~np.isnan(values) & text.there, list[str]()
    either, zeros = either and not text.native, good & fits(text.plain, _ZEROS)
    if (odd := good & ~fits(text.words, r"^(?i:[+-]?\d*\.?\d*(?:e[+-]?\d+)?|[+-]?[a-z]+)$")).any():
        notes.append(f"cells were read as numbers: {text.example(odd, values, plain_number)}")
    if either:
        what = f"{decimal!r} was taken for the decimal mark ({text.seen(good & fits(text.plain, '[.,]'), 1)})"
        notes.append(f"{what}; decimal={',' if decimal == '.' else '.'!r} reads the other way")
    if zeros.any():
        notes.append(
            f"leading zeros are ignored ({text.seen(zeros, 1)}); to keep numbers as they are written, use `words`"
        )
    used = fits(text.plain, re.escape(decimal))[good].any()
    facts: dict[str, Any] = {"decimal": decimal * bool(used), "choices": ("decimal",) * either}
    distinct = len(np.unique(values[good]))
    if distinct <= MAX_LISTED and (good.sum() > distinct or zeros.any()):
        facts["spelt"], facts["categories"] = text.ranked(~good)
    return notes, facts


# Dates

_FORMS: dict[str, Period] = {
    # Dates in lower case, month names cut to three letters, separators turned into a blank.
    **dict.fromkeys(("%Y %m %d", "%d %m %Y", "%m %d %Y", "%d %m %y", "%m %d %y", "%y %m %d"), "value"),
    **dict.fromkeys(("%d %b %Y", "%d %b %y", "%b %d %Y", "%Y %b %d", "%Y%m%d", "%d%m%Y"), "value"),
    **dict.fromkeys(("%b %Y", "%b %y", "%Y %b", "%Y %m", "%m %Y"), "month"),
    **{"%Y q %m": "quarter", "q %m %Y": "quarter", "%G w %V %u": "week"},
}
_DIGITS = {"Y": r"\d{4}", "G": r"\d{4}", "y": r"\d\d", "b": "[a-z]{3}", "u": "1"}
_PATTERNS = {form: re.sub("%(.)", lambda found: _DIGITS.get(found[1], r"\d\d?"), form) for form in _FORMS}
_MOMENT = (
    r"^(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]* )?(?P<date>[^:]+?)"
    r"(?:[T ] *(?P<clock>(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?)(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r" ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_REWRITTEN = (
    *((r"[-/., '_]+", " "), (r"(\d)([a-zä])", r"\1 \2"), (r"([a-zä])(\d)", r"\1 \2"), (r"([a-zä]{3})[a-zä]*", r"\1")),
    *(("mär|mrz", "mar"), ("mai", "may"), ("okt", "oct"), ("dez", "dec"), (r"w (\d+)", r"w \1 1")),
    *(("q 1", "q 01"), ("q 2", "q 04"), ("q 3", "q 07"), ("q 4", "q 10")),
)
_DAY_FIRST = {"%d %m": True, "%m %d": False}
_ORDER = {"d": "day", "m": "month", "b": "month", "y": "year", "Y": "year"}
_EARLY = tuple(
    f"({shape})?".replace("Y", r"(19|20)\d\d").replace("M", r"(0[1-9]|1[0-2])").replace("D", r"(0[1-9]|[12]\d|3[01])")
    for shape in ("YMD", "DMY", r"M\.Y")
)
"""Numbers that can all be dates are dates, because their order as numbers would be wrong."""


def _are_early(cells: Sequence[str]) -> bool:
    return any(all_fit(cells, shape) for shape in _EARLY)


def _seconds(clock: pa.Array) -> Floats:
    """Return the seconds of hours and minutes, and perhaps seconds; 0 for ""."""
    import pandas as pd

    clock = _rewritten(clock, (r"^([+-]?\d+:\d+)$", r"\1:00"), (",", "."))
    return np.asarray(pd.to_timedelta(clock.to_pandas()).dt.total_seconds().fillna(0))


def _dates(text: _Text) -> dict[str, Floats]:
    """Return the different cells as seconds since 1970, in each form that fits three in ten of the first."""
    first = pc.utf8_lower(_parts(pa.array(text.sample, pa.string()), _MOMENT)["date"])
    sample, found = _rewritten(first, *_REWRITTEN).to_pylist(), dict[str, Floats]()
    possible = [form for form in _FORMS if share_of(sample, _PATTERNS[form]) >= 0.3]
    if not possible:
        return found
    import pandas as pd

    part = text.moment
    date, seconds = _rewritten(pc.utf8_lower(part["date"]), *_REWRITTEN), _seconds(part["clock"])
    seconds = np.where(fits(part["half"], "."), seconds % 43_200 + 43_200 * fits(part["half"], "[Pp]"), seconds)
    for form in possible:
        shaped = pc.if_else(pa.array(fits(date, f"^{_PATTERNS[form]}$")), date, None).to_pandas()
        days = pd.to_datetime(shaped, format=form, errors="coerce").to_numpy().astype("datetime64[s]")
        found[form] = np.where(np.isnat(days), np.nan, days.astype(np.int64) + seconds)
    return found


def _date_facts(text: _Text, values: Floats, form: str, either: bool) -> tuple[list[str], dict[str, Any]]:
    """Return notes on dates and what a `Column` of them has; times in several zones are turned into UTC, in place."""
    notes, real = list[str](), ~np.isnan(values) & text.there
    if either or text.early or form[:5] == "%m %d" or "y" in form:
        order = "/".join(_ORDER[sign] for sign in re.findall("%(.)", form))
        keep = "; `words` keeps numbers as they are written" * text.early
        day = form[:2] != "%d"
        other = f", which is not the only way; dayfirst={day} reads them as {'day/month' if day else 'month/day'}/year"
        notes.append(f"dates were read as {order}: {text.example(real, values, date_in_words)}{keep}{other * either}")
    zone = text.moment["zone"]
    zones = sorted(zone.filter(pa.array(real)).unique().to_pylist())
    if len(zones) > 1:
        several = listed([zone or "none" for zone in zones], 5)
        notes.append(f"times are in several zones ({several}); all were turned into UTC")
        values -= _seconds(_rewritten(zone, ("[A-Z]+", ""), (r"^(...):?(\d\d)$", r"\1:\2"), ("^(...)$", r"\1:00")))
    elif zones != [""]:
        notes.append(f"times are kept as they are written, in zone {zones[0]}")
    return notes, {"period": _FORMS[form], "dayfirst": _DAY_FIRST.get(form[:5]), "choices": ("dayfirst",) * either}


# Columns

_FIGURES = r"(?:[A-Z]{3} )?[\W\d_]*\d[\W\d_]*(?: [^\W\d_]{1,10})?"


def _likeliest(text: _Text, readings: Mapping[str, Floats], reading: Reading) -> tuple[str, float, bool]:
    """Return the decimal mark or the form of dates that fits most cells, the share that it fits, and if others fit too.

    Of several, the one asked for wins; then numbers, unless all can be dates; then the mark that occurs, or a form in
    which rows are in time order, as they mostly are; then the day before the month. A two-digit year comes first only
    if so few cells are dates otherwise.
    """
    share = {form: text.share(values) for form, values in readings.items()}
    usual = max((share[form] for form in share if form[:2] != "%y"), default=0.0)
    most = usual if usual >= MOSTLY * max(share.values()) else max(share.values())
    asked = reading.decimal, {True: "%d", False: "%m", None: ""}[reading.dayfirst]

    def merit(form: str) -> tuple[bool, bool, bool, bool, float]:
        if form in _STYLES:
            return not text.early, form in asked, any(form in cell for cell in text.sample), True, 0.0
        moments = readings[form][text.codes]
        moments = moments[~np.isnan(moments)]
        ordered = len(moments) > 0 and bool((np.diff(moments) >= 0).all())
        return text.early, form[:2] in asked, ordered, form[:2] != "%y", float(np.ptp(moments)) if ordered else 0.0

    equal = [form for form in readings if share[form] >= most]
    best = max(equal, key=merit)
    others = [readings[form] for form in equal if (form in _STYLES) == (best in _STYLES)]
    either = any(
        ((one != readings[best]) & ~np.isnan(one) & ~np.isnan(readings[best]))[text.there].any() for one in others
    )
    return best, most, either


def _of_text(text: _Text, told: Mapping[str, Any], reading: Reading) -> Column:
    """Return the column as numbers or dates if nearly all cells fit or a recipe asks for it; otherwise as words."""
    wanted, why, readings = told.get("kind"), list[str](), dict[str, Floats]()
    filled = len(text.sample) > 0 and wanted != "category"
    if filled and wanted != "date" and (wanted or share_of(text.sample, _NUMBER) >= 0.3):
        readings |= _numbers(text)
    sure = readings and max(map(text.share, readings.values())) >= MOSTLY
    if filled and wanted != "number" and (text.early or not sure):
        readings |= _dates(text)
    if readings:
        form, share, either = _likeliest(text, readings, reading)
        values, kind = readings[form], "number" if form in _STYLES else "date"
        bad = text.there & np.isnan(values)
        if share < MOSTLY and not wanted:
            why = [f"looks like {kind}s, kept as words because of {text.seen(bad)}"] * (share >= 0.5)
        elif kind == "number" and _are_names(text, values):
            why = ["numbers are kept as words, because some have over 15 digits or differ only in leading zeros"]
        else:
            notes, facts = (_number_facts if kind == "number" else _date_facts)(text, values, form, either)
            # The choices of a recipe were noted when the first file was read.
            if wanted and all(facts.get(part) in (None, "", told[part]) for part in ("decimal", "dayfirst")):
                notes = []
            if bad.any():
                count = f"{text.counts[bad].sum():,} of {len(text.codes):,} cells"
                notes.append(f"{count} are not {kind}s ({text.seen(bad)}); they count as missing")
            return _column(
                text.name, np.where(is_missing(text.words), np.nan, values)[text.codes], notes, kind, **facts
            )
    if filled and not why and share_of(text.sample, _FIGURES) >= 0.5:
        why = [f"looks like numbers or dates, kept as words because of {text.seen(text.there, 1)}"]
    return _words(text, why)


def is_readable(kind: pa.DataType) -> bool:
    """Whether cells of this type are numbers, dates or words: no times of day, durations, nested values, bytes."""
    if pa.types.is_dictionary(kind):
        return is_readable(kind.value_type)
    tests = ("boolean", "integer", "floating", "decimal", "string", "large_string", "string_view", "date", "timestamp")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in (*tests, "null"))


def understand(
    name: str,
    cells: pa.ChunkedArray,
    reading: Reading,
    mark: str = "",
    *,
    native: bool = True,
    rows: Ints | None = None,
    skip: int = 0,
) -> Column:
    """Return what a column contains, judged by the rows after the first `skip`.

    `mark` is the decimal separator where a column alone does not tell; it is certain if cells are `native` to a format
    that has numbers; `rows` are the numbers of the rows in the file.
    """
    told, types = reading.columns.get(name, {}), pa.types
    # Of the next file, columns from which nothing is learnt stay as they are written.
    wanted = "text" if reading.columns and not told else str(told.get("kind", ""))
    if types.is_string(cells.type) and wanted not in ("text", "category") and (found := _quick(name, cells)):
        return found
    cells = cells.combine_chunks()
    if types.is_dictionary(cells.type) and not types.is_string(cells.type.value_type):
        cells = cells.dictionary_decode()
    kind = cells.type
    if types.is_null(kind):
        return Column(name, "empty", np.full(len(cells), np.nan))
    if wanted != "text" and (types.is_date(kind) or types.is_timestamp(kind)):
        return _timestamps(name, cells)
    if wanted in ("", "number") and (types.is_integer(kind) or types.is_floating(kind)):
        values = pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        low, high = (np.nanmin(values), np.nanmax(values)) if not np.isnan(values).all() else (0.0, 0.0)
        odd = max(-low, high) >= LARGEST_EXACT or (low >= 19_000_101 and high <= 20_991_231)  # identifiers, or dates
        if not (types.is_integer(kind) and odd):
            return _column(name, values)
    text = _Text(name, cells, rows, skip, native)
    if wanted == "text":
        return Column(name, "category", text.codes, tuple(text.words.to_pylist()))
    dayfirst = told.get("dayfirst") if reading.dayfirst is None else reading.dayfirst
    reading = replace(reading, dayfirst=dayfirst, decimal=reading.decimal or told.get("decimal") or mark)
    return _of_text(text, told, reading)


def _timestamps(name: str, cells: pa.Array) -> Column:
    """Return a column of dates of a typed file; times are in its zone if that is known, otherwise in UTC."""
    notes = []
    if pa.types.is_timestamp(cells.type) and cells.type.tz not in (None, "UTC"):
        zone = clean_name(cells.type.tz)
        try:
            cells = pc.local_timestamp(cells)
            notes.append(f"times are in zone {zone}")
        except (pa.ArrowException, OSError):
            notes.append(f"the time zone {zone!r} is unknown, so times are in UTC")
    unit = {"date32[day]": "D", "date64[ms]": "ms"}.get(str(cells.type)) or cells.type.unit
    whole = cells.view(pa.int32() if cells.type.bit_width == 32 else pa.int64())
    numbers = pc.cast(whole, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return _column(name, numbers / {"D": 1 / DAY, "s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit], notes, "date")
