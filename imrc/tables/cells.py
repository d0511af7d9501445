"""From cells to columns of numbers, dates or words; every decision about cells is noted.

Only the different cells of a column are looked at. It contains numbers or dates if nine in ten of the cells that are
not empty can be read in one of the ways below, otherwise words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imrc._checks import DataError
from imrc._types import Flags, Floats, Ints
from imrc.tables.table import MAX_LISTED, Column, Period, Reading, clean_name, date_in_words, labels_of, plain_number
from imrc.wording import listed

_ALWAYS = (
    *("", "na", "n/a", "n.a.", "n. a.", "nan", "-nan", "null", "(null)", "<na>", "nat", "\\n", "k.a.", "k. a."),
    *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#nv", "#n/a", "#wert!", "#bezug!", "#zahl!"),
    "not available",
)
_MARKS = ("?", "-", ".", "--", "---", "–", "—", "..", "...")
ALWAYS_MISSING, MISSING_WORDS = pa.array(_ALWAYS), pa.array(_ALWAYS + _MARKS)
MISSING = pa.array((*_ALWAYS, *_MARKS, "none", "nil", "missing", "0000-00-00"))
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


def _share_of(cells: Sequence[str], pattern: str) -> float:
    """Return the share of a few cells that an expression matches; Python need not compile it for each column."""
    return sum(map(bool, map(re.compile(pattern).fullmatch, cells))) / max(len(cells), 1)


def is_missing(cells: pa.Array, spellings: pa.Array = MISSING) -> Flags:
    """Return which cells have one of these spellings, in upper or lower case."""
    short = pc.utf8_lower(pc.utf8_slice_codeunits(cells, 0, 15))
    return np.asarray(pc.is_in(short, spellings).to_numpy(zero_copy_only=False))


def _parts(cells: pa.Array, pattern: str) -> dict[str, pa.Array]:
    """Return the groups of an expression, "" where a group does not occur."""
    found = pc.extract_regex(cells, pattern)
    return {field.name: part.fill_null("") for field, part in zip(found.type, found.flatten(), strict=True)}


def _rewritten(cells: pa.Array, *pairs: tuple[str, str]) -> pa.Array:
    for pattern, by in pairs:
        cells = pc.replace_substring_regex(cells, pattern, by)
    return cells


class _Text:
    """The different cells of a column of text, trimmed, and which of them each row has; `skip` rows do not count."""

    def __init__(self, name: str, cells: pa.Array, skip: int, native: bool) -> None:
        if not pa.types.is_dictionary(cells.type):
            cells = pc.dictionary_encode(cells.cast(pa.string()))
        words = pa.concat_arrays([cells.dictionary.cast(pa.string()).fill_null(""), pa.array([""])])
        words = pc.utf8_trim_whitespace(words).dictionary_encode()
        self.name, self.native, self.words = name, native, words.dictionary
        self.codes = words.indices.to_numpy()[cells.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)]
        self.counts = np.bincount(self.codes[skip:], minlength=len(self.words))
        self.there = ~is_missing(self.words) & (self.counts > 0)
        self.plain = pc.utf8_normalize(pc.utf8_slice_codeunits(self.words, 0, 100), "NFKC")  # with plain blanks
        if not pc.all(pc.string_is_ascii(self.plain)).as_py():
            self.plain = pa.array([word.translate(_PLAIN) for word in self.plain.to_pylist()], pa.string())
        self.sample = self.plain.filter(pa.array(self.there))[:_SAMPLE].to_pylist()
        self.may_be_dates = _share_of(self.sample, _DATES_AS_NUMBERS) == 1

    @cached_property
    def moment(self) -> dict[str, pa.Array]:
        """Return date, time, AM or PM, and zone of the different cells."""
        return _parts(self.plain, _MOMENT)

    def seen(self, which: Flags, most: int = 2) -> str:
        """Return the first of some cells, with their row numbers, counted from 1 below the header."""
        found = np.flatnonzero(which[self.codes])[:most]
        return ", ".join(
            f"{clean_name(self.words[self.codes[row]])[:40]!r} in row {row + 1:,}" for row in found.tolist()
        )

    def example(self, which: Flags, values: Floats, in_words: Callable[[float], str]) -> str:
        """Return the first of some cells, and what it was read as."""
        return f"{self.seen(which, 1)} is {in_words(values[self.codes[np.flatnonzero(which[self.codes])[0]]])}"

    def share(self, values: Floats) -> float:
        """Return the share of cells that are not empty for which the different cells have a value."""
        return float(self.counts[~np.isnan(values) & self.there].sum() / max(self.counts[self.there].sum(), 1))

    def ranked(self, gone: Flags) -> tuple[Ints, list[str]]:
        """Return the place of each row's word among the sorted words that are not `gone` (-1), and the first words."""
        # By first appearance, words of later rows could come before the words of the first task.
        order = pc.array_sort_indices(self.words).to_numpy()
        order = order[~gone[order]]
        rank = np.full(len(gone), -1, dtype=np.int32)
        rank[order] = np.arange(len(order))
        return rank[self.codes], labels_of(self.words.take(pa.array(order[:MAX_LISTED])).to_pylist())


def _column(name: str, values: Floats, notes: Sequence[str] = (), kind: Any = "number", **more: Any) -> Column:  # noqa: ANN401
    """Return a column of numbers or dates; infinite numbers and years beyond the calendar are missing, and noted."""
    outside = (values < _YEAR_1) | (values >= _YEAR_10000) if kind == "date" else np.isinf(values)
    if outside.any():
        what = "dates outside the years 1 to 9999" if kind == "date" else "infinite values"
        row = np.flatnonzero(outside)[0] + 1
        notes = [*notes, f"{outside.sum():,} {what} (the first in row {row:,}) count as missing"]
        values = np.where(outside, np.nan, values)
    return Column(name, "empty" if np.isnan(values).all() else kind, values, notes=tuple(notes), **more)


def _words(text: _Text, notes: Sequence[str] = ()) -> Column:
    """Return the column as words."""
    unused, gone = text.counts == 0, is_missing(text.words, MISSING_WORDS)
    if (~gone & ~unused).sum() < 2:
        gone = is_missing(text.words, ALWAYS_MISSING)
    named = [(text.words[j].as_py().upper(), text.counts[j]) for j in np.flatnonzero(gone & ~unused).tolist()]
    notes = *notes, *[f"{count:,} cells {word!r} count as missing" for word, count in named if word][:3]
    if (gone | unused).all():
        return Column(text.name, "empty", np.full(len(text.codes), np.nan), notes=notes)
    return Column(text.name, "category", *text.ranked(gone | unused), notes)


# Numbers

_POWER = r"(?:[eEdD][+-]?\d+)?"
_NUMBER = (
    rf"(?P<sign>[+-]?)(?:[€$£¥] ?)?(?P<digits>\d[\d.,' ]*{_POWER}|[.,]\d+{_POWER}|(?i:inf(?:inity)?))"
    r" ?(?P<unit>[%‰€$£¥]|°[CF]?|[A-Za-zµ/]{2,4})?"
)
_STYLES = {
    decimal: rf"^(?:\d*(?:\{decimal}\d*)?{_POWER}|[1-9]\d{{0,2}}(?:[{group} ']\d{{3}})+(?:\{decimal}\d*)?|(?i:inf.*))$"
    for decimal, group in (".,", ",.")
}
_NAMES = {False: r"^[+-]?(?:0\d+$|\d{16})", True: r"^[+-]?\d{16}"}
"""Leading zeros, and more digits than a number can have, are those of names; only the latter among measurements."""
_QUICK = {
    r"(-?(0|[1-9][0-9]{0,12}))?": pa.int64(),
    r"(-?(0|[1-9][0-9]{0,12})(\.[0-9]+)?(e-?[0-9]+)?)?": pa.float64(),
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}(:[0-9]{2}){2})?)?": pa.timestamp("s"),
}


def _parsed(cells: pa.ChunkedArray, native: bool) -> pa.ChunkedArray:
    """Return many different numbers or dates in the usual form that programs write as such; other cells as they are.

    A few different ones stay texts, because they may be labels or tasks, whose spelling counts.
    """
    sample = cells[:_SAMPLE].to_pylist()
    kind = next((kind for shape, kind in _QUICK.items() if all(map(re.compile(shape).fullmatch, sample))), None)
    # A point before three digits may separate decimals or thousands.
    either = not native and kind == pa.float64() and _share_of(sample, r"-?\d*|-?[1-9]\d{0,2}\.\d{3}") == 1
    few = pc.count_distinct(cells[: 2 * MAX_LISTED]).as_py() <= MAX_LISTED
    if kind is None or either or few or _share_of(sample, _DATES_AS_NUMBERS) == 1:
        return cells
    gaps = pc.equal(cells, "")
    try:
        found = pc.cast(pc.if_else(gaps, None, cells) if pc.any(gaps).as_py() else cells, kind)
    except pa.ArrowInvalid:
        return cells
    # Zeros and hexadecimal digits that only later rows have are read more loosely here than in the sample.
    zeros = cells.filter(pc.or_(pc.starts_with(cells, "0"), pc.starts_with(cells, "-0")))
    odd = fits(zeros, "^-?0[0-9xX]").any()
    if kind == pa.float64():
        odd |= (np.abs(found.to_numpy()) >= LARGEST_EXACT).any()
    return cells if odd else found


def _numbers(text: _Text) -> dict[str, Floats]:
    """Return the different cells as numbers with a decimal point and with a comma, with groups of digits or a unit."""
    part = _parts(text.plain, f"^{_NUMBER}$")
    digits, units = pc.utf8_rtrim_whitespace(part["digits"]), part["unit"].to_numpy(zero_copy_only=False)
    shaped = fits(digits, ".")
    if len({*units[shaped & text.there]} - {""}) > 1:
        shaped &= units == ""
    signs, found = pc.replace_substring(part["sign"], "+", ""), {}
    for decimal, style in list(_STYLES.items())[: 1 if text.native else 2]:
        if not (good := shaped & fits(digits, style)).any():
            continue
        group = "," if decimal == "." else "."
        plain = _rewritten(pc.utf8_lower(digits), (f"[ '{group}]", ""), (f"[{decimal}]", "."), ("d", "e"))
        plain = pc.if_else(pa.array(good), pc.binary_join_element_wise(signs, plain, ""), None)
        found[decimal] = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False)
    return found


# Dates

_FORMS: dict[str, Period] = {
    # Dates in lower case, month names cut to three letters, separators turned into a blank.
    **dict.fromkeys(("%Y %m %d", "%d %m %Y", "%m %d %Y", "%d %m %y", "%m %d %y", "%y %m %d"), "value"),
    **dict.fromkeys(("%d %b %Y", "%d %b %y", "%b %d %Y", "%Y %b %d", "%Y%m%d", "%d%m%Y"), "value"),
    **dict.fromkeys(("%b %Y", "%b %y", "%Y %b", "%Y %m", "%m %Y"), "month"),
    **{"%Y q %q": "quarter", "q %q %Y": "quarter", "%Y w %V": "week"},
}
_DIGITS = {"Y": r"\d{4}", "y": r"\d\d", "b": "(?:[a-z]{3}|mär)", "V": r"\d\d?", "q": "0?[1-4]"}
_DIGITS |= {"d": r"(?:3[01]|[12]\d|0?\d)", "m": r"(?:1[0-2]|0?\d)"}  # so that 7122019 is the 7th of December
_PATTERNS = {form: re.sub("%(.)", lambda found: f"(?P<{found[1]}>{_DIGITS[found[1]]})", form) for form in _FORMS}
_MONTHS = {"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10}
_MONTHS |= {"nov": 11, "dec": 12, "mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12}
_MOMENT = (
    r"^(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]* )?(?P<date>[^:]+?)"
    r"(?:[T ] *(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d{1,9})?))?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)? ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_REWRITTEN = (
    (r"[-/., '_]+", " "),
    (r"(\d)([a-zä])", r"\1 \2"),
    (r"([a-zä])(\d)", r"\1 \2"),
    (r"([a-zä]{3})[a-zä]*", r"\1"),
)
_DAY_FIRST = {"%d %m": True, "%m %d": False, "%y %m": False}
_ORDER = {"d": "day", "m": "month", "b": "month", "y": "year", "Y": "year"}
_DATES_AS_NUMBERS = (
    r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])|(([0-2]\d|3[01])(0[1-9]|1[0-2])|(0[1-9]|1[0-2])\.)(19|20)\d\d"
)
"""Numbers that can all be dates are dates, because their order as numbers would be wrong."""


def _dates(text: _Text) -> dict[str, Floats]:
    """Return the different cells as seconds since 1970, in each form that fits three in ten of the first."""
    moments = map(re.compile(_MOMENT, re.ASCII).fullmatch, text.sample)
    first = [found["date"].lower() if found else "" for found in moments]
    sample = _rewritten(pa.array(first, pa.string()), *_REWRITTEN).to_pylist()
    possible = [form for form in _FORMS if _share_of(sample, _PATTERNS[form]) >= 0.3]
    if not possible:
        return {}
    part = text.moment
    date = _rewritten(pc.utf8_lower(part["date"]), *_REWRITTEN)
    times = 3600 * _figures(part["hour"]) + 60 * _figures(part["minute"]) + _figures(part["second"])
    times = np.where(fits(part["half"], "."), times % 43_200 + 43_200 * fits(part["half"], "[Pp]"), times)
    return {form: 86_400 * _days(date, form) + times for form in possible}


def _figures(cells: pa.Array) -> Floats:
    """Return digits as numbers, none as 0."""
    cells = pc.replace_substring(pc.if_else(pc.equal(cells, ""), "0", cells), ",", ".")
    return np.asarray(pc.cast(cells, pa.float64()))


def _days(dates: pa.Array, form: str) -> Floats:
    """Return dates as days since 1970; NaN for those of another form and those that are in no calendar."""
    part = _parts(dates, f"^{_PATTERNS[form]}$")
    number = {sign: _figures(cells) for sign, cells in part.items() if sign != "b"}
    if "b" in part:
        place = np.asarray(pc.index_in(part["b"], pa.array([*_MONTHS])).fill_null(-1))
        number["m"] = np.array([*_MONTHS.values(), 0])[place]
    if "y" in part:
        number["Y"] = number["y"] + np.where(number["y"] < 69, 2000, 1900)
    # The 4th of January is in the first week of its year.
    year, month = number["Y"], number.get("m", 3 * number.get("q", np.float64(1)) - 2)
    day = number.get("d", 4 if "V" in part else 1)
    first = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    days = first.astype("datetime64[D]").astype(np.float64) + day - 1
    there = (year > 0) & (month > 0) & (month < 13) & (days.astype("datetime64[D]").astype("datetime64[M]") == first)
    if "V" in part:
        days += 7 * (number["V"] - 1) - (days + 3) % 7
        there &= (days + 3).astype("datetime64[D]").astype("datetime64[Y]") == first.astype("datetime64[Y]")
    return np.where(there, days, np.nan)


def _to_utc(text: _Text, values: Floats) -> list[str]:
    """Turn the times of a column into UTC, in place, if they are in several zones; return a note on it."""
    zone, there = text.moment["zone"], pa.array(~np.isnan(values) & text.there)
    zones = sorted(zone.filter(there).unique().to_pylist())
    if len(zones) < 2:
        return []
    part = _parts(zone, r"^(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?$")
    seconds = 3600 * _figures(part["hours"]) + 60 * _figures(part["minutes"])
    values -= np.where(fits(part["sign"], "-"), -seconds, seconds)
    return [f"times are in several zones ({listed([one or 'none' for one in zones], 5)}); all were turned into UTC"]


def _facts(text: _Text, values: Floats, form: str, other: str) -> tuple[list[str], dict[str, Any]]:
    """Return notes on numbers or dates, and what a `Column` of them has."""
    notes, choices, good = list[str](), dict[str, tuple[Any, Any]](), ~np.isnan(values) & text.there
    if form in _FORMS:
        if other or text.may_be_dates or form[:5] == "%m %d" or "y" in form:
            order, swapped = ("/".join(_ORDER[sign] for sign in re.findall("%(.)", one)) for one in (form, other))
            keep = "; `words` keeps numbers as they are written" * text.may_be_dates
            day, example = _DAY_FIRST.get(other[:5], False), text.example(good, values, date_in_words)
            choices = {"dayfirst": (not day, day)} if other else {}
            way = f", which is not the only way; dayfirst={day} reads them as {swapped}" * bool(other)
            notes.append(f"dates were read as {order}: {example}{keep}{way}")
        zones = text.moment["zone"].filter(pa.array(good)).unique().to_pylist()
        if len(zones) == 1 and zones[0]:
            notes.append(f"times are kept as they are written, in zone {zones[0]}")
        return notes, {"period": _FORMS[form], "dayfirst": _DAY_FIRST.get(form[:5]), "choices": choices}
    usual = fits(text.words, r"^(?i:[+-]?(?:0|[1-9]\d*)?(?:\.\d*)?(?:e[+-]?\d+)?|[+-]?[a-z]+)$")
    if other:
        example = text.example(good & fits(text.plain, "[.,]"), values, plain_number)
        choices = {"decimal": (form, other)}
        notes.append(f"{form!r} was taken for the decimal mark: {example}; decimal={other!r} reads the other way")
    elif (odd := good & ~usual).any():
        notes.append(f"cells were read as numbers: {text.example(odd, values, plain_number)}")
    decimal, distinct = form * bool(fits(text.plain, re.escape(form))[good].any()), len(np.unique(values[good]))
    facts: dict[str, Any] = {"decimal": decimal, "choices": choices}
    if good.sum() > distinct <= MAX_LISTED:
        facts["spelt"], facts["raw"] = text.ranked(~good)
    return notes, facts


# Columns

_FIGURES = r"(?:[A-Z]{3} )?[\W\d_]*\d[\W\d_]*(?: [^\W\d_]{1,10})?"


def _likeliest(text: _Text, readings: Mapping[str, Floats], reading: Reading) -> tuple[str, float, str]:
    """Return the decimal mark or the form of dates that fits most cells, the share that it fits, and the next, or "".

    Of several, the one asked for wins; then dates in which rows are in time order, as they mostly are, and in the
    fewest years: a year of two digits that comes first, mostly with hyphens, would be a day, and days would be years.
    """

    def merit(form: str) -> tuple[float, bool, bool, int, float]:
        values, chosen = readings[form], form in asked or _DAY_FIRST.get(form[:5]) in asked
        if form not in _FORMS:
            return text.share(values), chosen, False, 0, 0.0
        rows, moments = (values[which][~np.isnan(values[which])] for which in (text.codes, used))
        ordered = len(rows) > 0 and bool((rows[1:] >= rows[:-1]).all())
        years = len(np.unique(moments.astype("datetime64[s]").astype("datetime64[Y]")))
        years = years if not ordered or "-" in text.sample[0] else int(form[:2] == "%y")
        return text.share(values), chosen, ordered, -years, float(np.ptp(moments)) if ordered else 0.0

    asked, used = {reading.decimal, reading.dayfirst} - {None}, np.bincount(text.codes, minlength=len(text.words)) > 0
    merits = {form: merit(form) for form in readings}
    best = max(merits, key=merits.__getitem__)
    gaps, alike = np.isnan(readings[best]) | ~text.there, _FORMS if best in _FORMS else _STYLES
    equal = [
        form
        for form in alike
        if form in merits and merits[form][0] == merits[best][0] and (form in _STYLES or form[:5] in _DAY_FIRST)
        if ((readings[form] != readings[best]) & ~gaps & ~np.isnan(readings[form])).any()
    ]
    return best, merits[best][0], max(equal, key=merits.__getitem__, default="")


def _of_text(text: _Text, told: Mapping[str, Any], reading: Reading) -> Column:
    """Return the column as numbers or dates if nearly all cells fit or a recipe asks for it; otherwise as words."""
    wanted, why, readings = told.get("kind"), "", dict[str, Floats]()
    if not text.sample or wanted == "category":
        return _words(text)
    if wanted != "date" and not text.may_be_dates and (wanted or _share_of(text.sample, _NUMBER) >= 0.3):
        readings |= _numbers(text)
    if wanted != "number" and max(map(text.share, readings.values()), default=0) < MOSTLY:
        readings |= _dates(text)
    form, share, other = _likeliest(text, readings, reading) if readings else ("", 0.0, "")
    values = readings.get(form, np.full(len(text.words), np.nan))
    kind = wanted or ("date" if form in _FORMS else "number")
    bad = text.there & np.isnan(values)
    measured = text.native or bool((values != np.round(values))[text.there & ~bad].any())
    names = text.there & (kind == "number") & fits(text.plain, _NAMES[measured])
    if not wanted and share < MOSTLY:
        why = text.seen(bad) if share >= 0.5 or _share_of(text.sample, _FIGURES) >= 0.5 else ""
    elif not wanted and names.any():
        why = f"{text.seen(names, 1)}: a number would lose leading zeros, and digits after the 15th"
    if why or (share < MOSTLY and not wanted):
        return _words(text, [f"looks like {kind}s, kept as words because of {why}"] * bool(why))
    notes, facts = _facts(text, values, form, other)
    # The choices of a recipe were noted when the first file was read.
    if wanted and all(facts.get(part) in (None, "", told[part]) for part in ("decimal", "dayfirst")):
        notes = []
    notes += _to_utc(text, values) if kind == "date" else []
    if told.get("needed") and bad.any() and np.isnan(values[text.there]).all():
        raise DataError(
            f"Column {text.name!r}, which the model learnt from, had {kind}s in the first file, but none of its cells "
            f"here is one ({text.seen(bad)}). Correct the file, or leave these cells empty."
        )
    if bad.any():
        count = f"{text.counts[bad].sum():,} of {len(text.codes):,} cells"
        notes.append(f"{count} are not {kind}s ({text.seen(bad)}); they count as missing")
    return _column(text.name, np.where(is_missing(text.words), np.nan, values)[text.codes], notes, kind, **facts)


def is_readable(kind: pa.DataType) -> bool:
    """Whether cells of this type are numbers, dates or words: no times of day, durations, nested values, bytes."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = ("boolean", "integer", "floating", "decimal", "string", "large_string", "string_view", "date", "timestamp")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in (*tests, "null"))


def understand(
    name: str, cells: pa.ChunkedArray, reading: Reading, mark: str = "", skip: int = 0, native: bool = False
) -> Column:
    """Return what a column contains, judged by the rows after the first `skip`.

    `mark` is the decimal separator where a column alone does not tell. Numbers `native` to a format have a point.
    """
    told, types = reading.columns.get(name, {}), pa.types
    # Of the next file, columns from which nothing is learnt stay as they are written.
    wanted = "text" if reading.columns and not told else told.get("kind", "")
    if types.is_string(cells.type) and wanted not in ("text", "category"):
        cells = _parsed(cells, native)
    cells = cells.combine_chunks()
    if types.is_dictionary(cells.type) and not types.is_string(cells.type.value_type):
        cells = cells.dictionary_decode()
    kind = cells.type
    if wanted != "text" and (types.is_date(kind) or types.is_timestamp(kind)):
        return _timestamps(name, cells)
    if wanted in ("", "number") and (types.is_integer(kind) or types.is_floating(kind)):
        values = pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if not (types.is_integer(kind) and (np.abs(values) >= LARGEST_EXACT).any()):  # those are identifiers
            return _column(name, values, decimal="." * types.is_floating(kind))
    text = _Text(name, cells, skip, native)
    if wanted == "text":
        return Column(name, "category", text.codes, tuple(text.words.to_pylist()))
    dayfirst = told.get("dayfirst") if reading.dayfirst is None else reading.dayfirst
    reading = replace(reading, dayfirst=dayfirst, decimal=reading.decimal or told.get("decimal") or mark)
    return _of_text(text, told, reading)


def _timestamps(name: str, cells: pa.Array) -> Column:
    """Return a column of dates of a typed file; times are in its zone if that is known here, otherwise in UTC."""
    cells, notes = cells.cast(pa.timestamp("s")) if pa.types.is_date(cells.type) else cells, list[str]()
    if cells.type.tz not in (None, "UTC"):
        zone = clean_name(cells.type.tz)
        try:
            cells = pc.local_timestamp(cells)
            notes.append(f"times are in zone {zone}")
        except (pa.ArrowException, OSError):
            notes.append(f"the time zone {zone!r} is not known here, so times are in UTC")
    numbers = pc.cast(cells.view(pa.int64()), pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return _column(name, numbers / {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[cells.type.unit], notes, "date")
