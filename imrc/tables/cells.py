"""From cells to columns of numbers, dates or words; every decision about cells is noted.

Only the different cells of a column are looked at. It holds numbers or dates if nine in ten of the cells that are
not empty fit one of `_READERS`, otherwise words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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


def fits(cells: pa.Array, pattern: str) -> Flags:
    """Return which cells match an expression; null never does."""
    found = pc.match_substring_regex(cells, pattern).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def is_missing(cells: pa.Array, spellings: Sequence[str] = MISSING) -> Flags:
    """Return which cells have one of these spellings, in upper or lower case."""
    short = pc.utf8_lower(pc.utf8_slice_codeunits(cells, 0, 15))
    return np.asarray(pc.is_in(short, pa.array(spellings)).to_numpy(zero_copy_only=False))


def _parts(cells: pa.Array, pattern: str) -> dict[str, pa.Array]:
    """Return the groups of an expression, "" where a group does not occur."""
    found = pc.extract_regex(cells, pattern)
    return {field.name: pc.struct_field(found, field.name).fill_null("") for field in found.type}


class _Text:
    """The different cells of a column of text, trimmed, and which of them each row holds; `skip` rows do not count."""

    def __init__(self, name: str, cells: pa.Array, rows: Ints | None, skip: int, native: bool) -> None:
        if not pa.types.is_dictionary(cells.type):
            cells = pc.dictionary_encode(cells.cast(pa.string()))
        words = pa.concat_arrays([cells.dictionary.cast(pa.string()).fill_null(""), pa.array([""])])
        words = pc.utf8_trim_whitespace(words).dictionary_encode()
        self.name, self.rows, self.native, self.words, self.notes = name, rows, native, words.dictionary, list[str]()
        self.codes = words.indices.to_numpy()[cells.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)]
        self.counts = np.bincount(self.codes[skip:], minlength=len(self.words))
        self.there = ~is_missing(self.words) & (self.counts > 0)
        self.plain = self.words  # figures and dates in this script, with plain blanks
        if not pc.all(pc.string_is_ascii(self.words)).as_py():
            words = (unicodedata.normalize("NFKC", word[:100]) for word in self.words.to_pylist())
            self.plain = pa.array([word.translate(_PLAIN) for word in words], pa.string())

    def seen(self, which: Flags, most: int = 2) -> str:
        """Return the first of some cells, with their row numbers, counted from 1 below the header."""
        found = np.flatnonzero(which[self.codes])[:most]
        numbers = found if self.rows is None else self.rows[found]
        cells = [clean_name(self.words[self.codes[row]])[:40] for row in found.tolist()]
        return ", ".join(f"{cell!r} in row {number + 1:,}" for cell, number in zip(cells, numbers, strict=True))

    def example(self, which: Flags, values: Floats, in_words: Callable[[float], str]) -> str:
        """Return the first of some cells, and what it was read as."""
        return f"{self.seen(which, 1)} is {in_words(values[self.codes[np.flatnonzero(which[self.codes])[0]]])}"

    def share(self, which: Flags) -> float:
        """Return the share of cells that are not empty."""
        return float(self.counts[which & self.there].sum() / max(self.counts[self.there].sum(), 1))

    def sample(self) -> pa.Array:
        """Return the first cells that are not empty."""
        return self.plain.filter(pa.array(self.there))[:_SAMPLE]


_PLAIN = str.maketrans("−’٫٬٠١٢٣٤٥٦٧٨٩", "-'.,0123456789")


def _column(name: str, values: Floats, notes: Sequence[str] = (), kind: Any = "number", **more: Any) -> Column:  # noqa: ANN401
    """Return a column of numbers or dates; infinite numbers and years beyond the calendar are missing, and noted."""
    outside = (values < _YEAR_1) | (values >= _YEAR_10000) if kind == "date" else np.isinf(values)
    if outside.any():
        what = "dates outside the years 1 to 9999" if kind == "date" else "infinite values"
        row = np.flatnonzero(outside)[0] + 1
        notes = [*notes, f"{outside.sum():,} {what} (the first in row {row:,}) count as missing"]
        values = np.where(outside, np.nan, values)
    return Column(name, "empty" if np.isnan(values).all() else kind, values, notes=tuple(notes), **more)


def _categories(text: _Text, gone: Flags) -> Column:
    """Return the column as words, without the `gone` ones."""
    gone = gone | (text.counts == 0)
    # Sorted: by first appearance, words of later rows could come before the words of the first task.
    order = pc.array_sort_indices(text.words).to_numpy()
    order = order[~gone[order]]
    rank = np.full(len(gone), -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    named = [(text.words[j].as_py().upper(), text.counts[j]) for j in np.flatnonzero(gone & (text.counts > 0)).tolist()]
    notes = [*text.notes, *[f"{count:,} cells {word!r} count as missing" for word, count in named if word][:3]]
    if not len(order):
        return Column(text.name, "empty", np.full(len(text.codes), np.nan), notes=tuple(notes))
    shown, _ = unique_names(text.words.take(pa.array(order[:MAX_LISTED])).to_pylist(), prefix="value")
    return Column(text.name, "category", rank[text.codes], tuple(shown), tuple(notes))


def _no_words(text: _Text) -> Flags:
    """Return which cells are not words; "?" never is one in a format that has its own numbers."""
    gone, marks = is_missing(text.words, ALWAYS_MISSING), is_missing(text.words, MARKS)
    rest = ~gone & ~marks & (text.counts > 0)
    if rest.sum() >= 2 and fits(text.words, r"[\p{L}\p{N}]")[rest].any():
        return gone | marks
    return gone | is_missing(text.words, ["?"]) if text.native else gone


# Numbers

_POWER = r"(?:[eEdD][+-]?\d+)?"
_NUMBER = (
    rf"^(?P<sign>[+-]?)(?:[€$£¥] ?)?(?P<digits>\d[\d.,' ]*{_POWER}|[.,]\d+{_POWER}|(?i:inf(?:inity)?))"
    r" ?(?P<unit>[%‰€$£¥]|°[CF]?|[A-Za-zµ/]{2,4})?$"
)
_STYLES = {
    ".": rf"^(?:(?:\d+|\d{{1,3}}(?:[, ']\d{{3}})+)?(?:\.\d*)?{_POWER}|(?i:inf.*))$",
    ",": rf"^(?:(?:\d+|\d{{1,3}}(?:[. ']\d{{3}})+)?(?:,\d*)?{_POWER}|(?i:inf.*))$",
}
_QUICK = (
    (r"^-?(0|[1-9]\d{0,12})$", pa.int64()),
    (r"^-?(0|[1-9]\d{0,12})(\.\d+)?(e-?\d+)?$", pa.float64()),
    (r"^\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d)?$", pa.timestamp("s")),
)


def _quick(name: str, cells: pa.ChunkedArray) -> Column | None:
    """Return a column of many numbers or dates in the usual form that programs write, in one go.

    A few different ones are left to the readers, because they may be labels or tasks, whose spelling counts.
    """
    sample = cells[:_SAMPLE].filter(pc.not_equal(cells[:_SAMPLE], ""))
    kind = next((kind for shape, kind in _QUICK if fits(sample, shape).all()), None)
    if not len(sample) or kind is None or _are_early(sample) or (pa.types.is_floating(kind) and _threes(sample)):
        return None
    empty, whole = pc.equal(cells, ""), pa.types.is_integer(kind)
    try:
        found = pc.cast(pc.if_else(empty, None, cells) if pc.any(empty).as_py() else cells, kind).combine_chunks()
    except pa.ArrowInvalid:
        return None
    if whole and fits(cells, "^-?0.").any():
        return None
    if pa.types.is_timestamp(kind):
        column = _timestamps(name, found)
    else:
        values = found.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        column = _column(name, values, decimal="" if whole else ".")
    few = len(np.unique(column.values[: 2 * MAX_LISTED])) <= MAX_LISTED
    return None if few or (np.abs(column.values) >= LARGEST_EXACT).any() else column


def _threes(cells: pa.Array) -> bool:
    """Whether every point comes before three digits, so that it may separate decimals or thousands."""
    marked = fits(cells, r"\.")
    return bool(marked.any() and fits(cells, r"^-?[1-9]\d{0,2}\.\d{3}$")[marked].all())


def _numbers(text: _Text, reading: Reading) -> Column | str:
    """Return a number for each different cell, which may have groups of digits, one unit, or a decimal comma."""
    part, mark = _parts(text.plain, _NUMBER), reading.decimal
    digits, units = pc.utf8_rtrim_whitespace(part["digits"]), part["unit"].to_numpy(zero_copy_only=False)
    shaped = fits(digits, ".") & ~fits(part["unit"], "^(?i:[ap]m)$")
    if (united := shaped & text.there & (units != "")).any():  # one unit, that of most cells
        names, place = np.unique(units[united].astype(str), return_inverse=True)
        shaped &= (units == "") | (units == names[np.bincount(place, text.counts[united]).argmax()])
    styles = {style: fits(digits, pattern) & shaped for style, pattern in _STYLES.items()}
    points, commas = (text.counts[found & text.there].sum() for found in styles.values())
    likely = mark or ("." if fits(digits, r"\.").any() else ",")
    decimal = "." if points > commas or (points == commas and likely == ".") else ","
    group, good = "." if decimal == "," else ",", styles[decimal]
    plain = pc.replace_substring_regex(pc.utf8_lower(digits), f"[ '{group}]", "")
    plain = pc.replace_substring(pc.replace_substring(plain, decimal, "."), "d", "e")
    plain = pc.if_else(pa.array(good), pc.binary_join_element_wise(part["sign"], plain, ""), None)
    values = pc.cast(pc.utf8_ltrim(plain, "+"), pa.float64()).to_numpy(zero_copy_only=False)
    good &= text.there
    distinct, zeros = len(np.unique(values[good])), good & fits(digits, r"^0\d")
    if (good & fits(digits, r"^\d{16,}") & (np.abs(values) >= LARGEST_EXACT)).any():
        return "whole numbers of more than 15 digits are kept as words, so that different ones stay different"
    if zeros.any() and good.sum() > distinct:
        return "numbers are kept as words, because some differ only in leading zeros"
    notes, choices = list[str](), tuple[str, ...]()
    if (odd := good & ~fits(text.words, r"^(?i:[+-]?\d*\.?\d*(?:e[+-]?\d+)?|[+-]?[a-z]+)$")).any():
        notes.append(f"cells were read as numbers: {text.example(odd, values, plain_number)}")
    if (
        not text.native
        and (styles["."] == styles[","])[text.there].all()
        and (marked := good & fits(digits, "[.,]")).any()
    ):
        choices = ("decimal",)
        what = f"{decimal!r} was taken for the decimal mark ({text.seen(marked, 1)})"
        notes.append(f"{what}; decimal={group!r} reads the other way")
    if zeros.any():
        notes.append(
            f"leading zeros are ignored ({text.seen(zeros, 1)}); to keep numbers as they are written, use `words`"
        )
    used = decimal if fits(digits, re.escape(decimal))[good].any() else ""
    spelt = distinct <= MAX_LISTED and (good.sum() > distinct or zeros.any())
    written = _categories(text, ~good) if spelt else None
    return Column(text.name, "number", values, (), tuple(notes), decimal=used, choices=choices, written=written)


# Dates

_FORMS: tuple[tuple[str, Period], ...] = (
    # Dates in lower case, month names cut to three letters, separators turned into a blank.
    *((form, "value") for form in ("%Y %m %d", "%d %m %Y", "%m %d %Y", "%d %m %y", "%m %d %y", "%y %m %d")),
    *((form, "value") for form in ("%d %b %Y", "%d %b %y", "%b %d %Y", "%Y %b %d", "%Y%m%d", "%d%m%Y")),
    *((form, "month") for form in ("%b %Y", "%b %y", "%Y %b", "%Y %m", "%m %Y")),
    *(("%Y q %m", "quarter"), ("q %m %Y", "quarter"), ("%G w %V %u", "week")),
)
_DIGITS = {"Y": r"\d{4}", "G": r"\d{4}", "y": r"\d\d", "b": "[a-z]{3}", "u": "1"}
_PATTERNS = {form: re.sub("%(.)", lambda found: _DIGITS.get(found[1], r"\d\d?"), f"^{form}$") for form, _ in _FORMS}
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
_ORDER = {"d": "day", "m": "month", "b": "month", "y": "year", "Y": "year"}
_EARLY = tuple(
    f"^{shape}$".replace("Y", r"(19|20)\d\d").replace("M", r"(0[1-9]|1[0-2])").replace("D", r"(0[1-9]|[12]\d|3[01])")
    for shape in ("YMD", "DMY", r"M\.Y")
)
"""Numbers that can all be dates are dates, because their order as numbers would be wrong."""


def _are_early(cells: pa.Array) -> bool:
    return len(cells) > 0 and any(fits(cells, shape).all() for shape in _EARLY)


def _dated(cells: pa.Array) -> tuple[pa.Array, dict[str, pa.Array]]:
    """Return the dates in cells in the shape of `_FORMS`, with the time, AM or PM, and the zone."""
    part = _parts(cells, _MOMENT)
    date = pc.utf8_lower(part["date"])
    for pattern, by in _REWRITTEN:
        date = pc.replace_substring_regex(date, pattern, by)
    return date, part


def _dates(text: _Text, reading: Reading) -> Column | str:
    """Return the seconds since 1970 of the different cells, read in the form that fits most of them."""
    sample, _ = _dated(text.sample())
    possible = {form: period for form, period in _FORMS if fits(sample, _PATTERNS[form]).mean() >= 0.3}
    if not possible:
        return ""
    import pandas as pd

    date, part = _dated(text.plain)
    clock = pc.replace_substring(pc.replace_substring_regex(part["clock"], r"^(\d+:\d+)$", r"\1:00"), ",", ".")
    seconds = pd.to_timedelta(clock.to_pandas()).dt.total_seconds().fillna(0).to_numpy()
    afternoon = 43_200 * fits(part["half"], "[Pp]")
    seconds = np.where(fits(part["half"], "."), seconds % 43_200 + afternoon, seconds)
    readings = dict[str, Floats]()
    for form in possible:
        shaped = pc.if_else(pa.array(fits(date, _PATTERNS[form])), date, None).to_pandas()
        days = pd.to_datetime(shaped, format=form, errors="coerce").to_numpy().astype("datetime64[s]")
        readings[form] = np.where(np.isnat(days), np.nan, days.astype(np.int64) + seconds)
    form, two = _likeliest(text, readings, reading.dayfirst)
    values, real, early = readings[form], ~np.isnan(readings[form]) & text.there, _are_early(text.sample())
    if not real.any():
        return ""
    notes = []
    if two or early or form[:5] == "%m %d" or "y" in form:
        order = "/".join(_ORDER[sign] for sign in re.findall("%(.)", form))
        keep = "; `words` keeps numbers as they are written" * early
        day = form[:2] != "%d"
        other = f", which is not the only way; dayfirst={day} reads them as {'day/month' if day else 'month/day'}/year"
        notes.append(f"dates were read as {order}: {text.example(real, values, date_in_words)}{keep}{other * two}")
    zones = sorted(part["zone"].filter(pa.array(real)).unique().to_pylist())
    if len(zones) > 1:
        signed = [zone for zone in zones if zone[:1] in ("+", "-")]
        clocks = [f"{zone[:3]}:{zone[3:].lstrip(':') or '00'}:00" for zone in signed]
        ahead = dict(zip(signed, pd.to_timedelta(clocks).total_seconds(), strict=True))
        several = listed([zone or "none" for zone in zones], 5)
        notes.append(f"times are in several zones ({several}); all were turned into UTC")
        values = values - [ahead.get(zone, 0.0) for zone in part["zone"].to_pylist()]
    elif zones != [""]:
        notes.append(f"times are kept as they are written, in zone {zones[0]}")
    dayfirst, choices = {"%d %m": True, "%m %d": False}.get(form[:5]), ("dayfirst",) * two
    return Column(text.name, "date", values, (), tuple(notes), possible[form], dayfirst=dayfirst, choices=choices)


def _likeliest(text: _Text, readings: Mapping[str, Floats], dayfirst: bool | None) -> tuple[str, bool]:
    """Return the form that fits most cells, and whether others fit as many.

    Of several, the form asked for wins, then one in which rows are in time order, as they mostly are, then the day
    before the month. A two-digit year comes last, unless so few cells are dates.
    """
    share = {form: text.share(~np.isnan(values)) for form, values in readings.items()}
    usual = max((share[form] for form in share if form[:2] != "%y"), default=0.0)
    most = usual if usual >= MOSTLY * max(share.values()) else max(share.values())

    def merit(form: str) -> tuple[bool, bool, bool, float]:
        moments = readings[form][text.codes]
        moments = moments[~np.isnan(moments)]
        ordered = len(moments) > 0 and bool((np.diff(moments) >= 0).all())
        asked = dayfirst is not None and form[:2] == ("%d" if dayfirst else "%m")
        return asked, ordered, form[:2] != "%y", float(np.ptp(moments)) if ordered else 0.0

    equal = [form for form in readings if share[form] >= most]
    return max(equal, key=merit), len(equal) > 1


# Columns

_READERS = {"number": _numbers, "date": _dates}
_FIGURES = r"^(?:\p{Lu}{3} )?[^\p{L}]*\p{Nd}[^\p{L}]*(?: \p{L}{1,10})?$"


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
    """Return what a column holds, judged by the rows after the first `skip`.

    `mark` is the decimal separator where a column alone does not tell; it is certain if cells are `native` to a format
    that has numbers; `rows` are the numbers of the rows in the file.
    """
    told, types = reading.columns.get(name, {}), pa.types
    wanted = str(told.get("kind", ""))
    usual = types.is_string(cells.type) and wanted != "category" and (told or not reading.columns)
    if usual and (found := _quick(name, cells)) is not None:
        return found
    cells = cells.combine_chunks()
    if types.is_dictionary(cells.type) and not types.is_string(cells.type.value_type):
        cells = cells.dictionary_decode()
    kind = cells.type
    if types.is_null(kind):
        return Column(name, "empty", np.full(len(cells), np.nan))
    if reading.columns and not told:  # nothing is learnt from it, so its cells stay as they are written
        text = _Text(name, cells, rows, skip, native)
        return Column(name, "category", text.codes, tuple(text.words.to_pylist()))
    if types.is_date(kind) or types.is_timestamp(kind):
        return _timestamps(name, cells)
    if types.is_integer(kind) or types.is_floating(kind):
        values = pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        low, high = (np.nanmin(values), np.nanmax(values)) if not np.isnan(values).all() else (0.0, 0.0)
        odd = max(-low, high) >= LARGEST_EXACT or (low >= 19_000_101 and high <= 20_991_231)  # identifiers, or dates
        if not (types.is_integer(kind) and odd) and wanted not in ("category", "date"):
            return _column(name, values)
    return _of_text(_Text(name, cells, rows, skip, native), told, reading, mark)


def _of_text(text: _Text, told: Mapping[str, Any], reading: Reading, mark: str) -> Column:
    """Return the column as numbers or dates if nearly all cells fit or a recipe asks for it; otherwise as words."""
    wanted, why, most = told.get("kind"), list[str](), 0.0
    dayfirst = reading.dayfirst if reading.dayfirst is not None else told.get("dayfirst")
    reading = replace(reading, dayfirst=dayfirst, decimal=reading.decimal or told.get("decimal") or mark)
    kinds = [wanted] if wanted in _READERS else list(_READERS) if text.there.any() and not wanted else []
    figures = fits(text.sample(), _NUMBER).sum() >= (0 if wanted else 0.3) * len(text.sample())
    for kind in kinds[:: -1 if not wanted and _are_early(text.sample()) else 1]:
        found = _READERS[kind](text, reading) if figures or kind == "date" else ""
        if isinstance(found, str):
            why = why or [found] * bool(found)
            continue
        good = ~np.isnan(found.values) & text.there
        bad, share = text.there & ~good, text.share(good)
        if share < (0 if wanted else MOSTLY):
            if share >= max(0.5, most):
                why, most = [f"looks like {kind}s, kept as words because of {text.seen(bad)}"], share
            continue
        # The choices of a recipe were noted when the first file was read.
        known = found.dayfirst in (None, told.get("dayfirst")) and found.decimal in ("", told.get("decimal"))
        notes = [] if wanted and known else [*found.notes]
        if bad.any():
            count, seen = text.counts[bad].sum(), text.seen(bad)
            notes.append(f"{count:,} of {len(text.codes):,} cells are not {kind}s ({seen}); they count as missing")
        values = np.where(is_missing(text.words), np.nan, found.values)[text.codes]
        made = _column(text.name, values, notes, kind)
        return replace(found, kind=made.kind, values=made.values, notes=made.notes)
    if kinds and not why and fits(text.sample(), _FIGURES).mean() >= 0.5:
        why = [f"looks like numbers or dates, kept as words because of {text.seen(text.there, 1)}"]
    text.notes += why
    return _categories(text, _no_words(text))


def _timestamps(name: str, cells: pa.Array) -> Column:
    """Return a column of dates of a typed file; times are in its zone if that is known, otherwise in UTC."""
    notes = []
    if pa.types.is_timestamp(cells.type) and cells.type.tz not in (None, "UTC"):
        zone = clean_name(cells.type.tz)
        try:
            cells = pc.local_timestamp(cells)
            notes.append(f"times are in zone {zone}")
        except (pa.ArrowException, OSError):
            notes.append(f"the time zone {zone!r} is not known here; times are in UTC")
    unit = {"date32[day]": "D", "date64[ms]": "ms"}.get(str(cells.type)) or cells.type.unit
    whole = cells.view(pa.int32() if cells.type.bit_width == 32 else pa.int64())
    numbers = pc.cast(whole, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return _column(name, numbers / {"D": 1 / DAY, "s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit], notes, "date")
