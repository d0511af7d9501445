"""Cells to moments: dates in the usual ways of writing them, times with zones, and whole weeks, months and quarters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError
from imrc._types import Ints
from imrc.tables._numbers import Flags, named

if TYPE_CHECKING:
    import pyarrow as pa

Period = Literal["value", "day", "week", "month", "quarter", "year"]

_TIME = (
    r"(?:[T ] *(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?P<F>[.,]\d{1,9})?)? ?(?P<P>[AaPp]\.?[Mm]\.?)?"
    r" ?(?P<Z>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_WEEKDAY = r"^(?:[A-Za-z]{2,9}\.?,? +)??"
_WORD = r"(?P<N>[A-Za-zä]{3,9})\.?"
_SHAPES: tuple[tuple[str, str, Period], ...] = (
    # What a cell looks like, the order of its parts, and the period it stands for
    (r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})" + _TIME, "ymd", "value"),
    (r"^(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d{2})" + _TIME, "either", "value"),
    (_WEEKDAY + r"(?P<d>\d{1,2})\.?[-/ ]" + _WORD + r"[-/ ,]+(?P<y>\d{4}|\d{2})" + _TIME, "named", "value"),
    (_WEEKDAY + _WORD + r" (?P<d>\d{1,2}),? (?P<y>\d{4})" + _TIME, "named", "value"),
    (r"^" + _WORD + r"[-/ ,']+(?P<y>\d{4}|\d{2})$", "named", "month"),
    (r"^(?P<y>\d{4})[-/ ]" + _WORD + "$", "named", "month"),
    (r"^(?P<y>\d{4})[-/](?P<m>\d{1,2})$", "ymd", "month"),
    (r"^(?P<m>\d{1,2})[-/](?P<y>\d{4})$", "ymd", "month"),
    (r"^(?P<y>\d{4})[-_/ ]?[Qq](?P<q>[1-4])$", "quarter", "quarter"),
    (r"^[Qq](?P<q>[1-4])[-_/ ]?(?P<y>\d{4})$", "quarter", "quarter"),
    (r"^(?P<y>\d{4})[- ]?[Ww](?P<w>\d{1,2})$", "week", "week"),
    (r"^(?:[Ww]|KW|CW|[Ww]eek) ?(?P<w>\d{1,2})[-/ ,]+(?P<y>\d{4})$", "week", "week"),
)
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
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ZERO = r"^0{4}-00-00|^00?[./-]00?[./-]0000"


@dataclass(frozen=True)
class Moments:
    """A column of dates: seconds since 1970, NaN where a cell is missing, and what was decided, in words.

    `period` is "value", or the period each cell stands for: "week", "month" or "quarter".
    """

    seconds: NDArray[np.float64]
    period: Period
    notes: tuple[str, ...]


class _Parts:
    """The parts of dates, one entry per different cell, as whole numbers; -1 where a part is not written."""

    def __init__(self, found: pa.StructArray) -> None:
        self._found = found
        self._names = [field.name for field in found.type]

    def text(self, name: str) -> NDArray[Any]:
        """Return a part as text, "" where it is not written."""
        import pyarrow.compute as pc

        if name not in self._names:
            return np.full(len(self._found), "")
        return np.asarray(pc.fill_null(self._found.field(name), "").to_numpy(zero_copy_only=False), dtype=str)

    def number(self, name: str) -> Ints:
        """Return a part as a number, -1 where it is not written."""
        text = self.text(name)
        return np.where(text == "", "-1", text).astype(np.int64)

    def years(self) -> tuple[Ints, Flags]:
        """Return years, and which of them were written with two digits."""
        text, years = self.text("y"), self.number("y")
        short = np.char.str_len(text) == 2
        return np.where(short, years + np.where(years <= 68, 2000, 1900), years), short


def _is_day(year: Ints, month: Ints, day: Ints) -> Flags:
    leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
    length = _DAYS[np.clip(month, 1, 12) - 1] + (leap & (month == 2))
    return np.asarray((year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length))


def _day_number(year: Ints, month: Ints, day: Ints) -> Ints:
    """Return days since 1970; nonsense for what is no day."""
    months = (np.clip(year, 1, 9999) - 1970) * 12 + np.clip(month, 1, 12) - 1
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + day - 1


def _days(parts: _Parts, order: str) -> tuple[Ints, Flags, str]:
    """Return days since 1970, which are real, and a note on the order of day and month."""
    year, _ = parts.years()
    if order == "week":
        # The week with January 4th is the first one of a year; weeks begin on Mondays.
        fourth = _day_number(year, np.full_like(year, 1), np.full_like(year, 4))
        monday, week = fourth - (fourth + 3) % 7, parts.number("w")
        following = _day_number(year + 1, np.full_like(year, 1), np.full_like(year, 4))
        return monday + 7 * (week - 1), (week >= 1) & (monday + 7 * (week - 1) < following - (following + 3) % 7), ""
    if order == "quarter":
        month = 3 * parts.number("q") - 2
        return _day_number(year, month, np.ones_like(year)), year >= 1, ""
    if order != "either":
        day = parts.number("d")
        if order == "named":
            month = np.array([_MONTHS.get(word.lower(), 0) for word in parts.text("N")], dtype=np.int64)
        else:
            month = parts.number("m")
        day = np.where(day < 0, 1, day)
        return _day_number(year, month, day), _is_day(year, month, day), ""
    first, second = parts.number("a"), parts.number("b")
    day_first, month_first = _is_day(year, second, first), _is_day(year, first, second)
    slashes = (parts.text("s") == "/").mean() > 0.5
    if slashes and month_first.sum() > day_first.sum():
        return _day_number(year, first, second), month_first, "month/day/year" if day_first.any() else ""
    note = "day/month/year" if slashes and month_first.all() else ""
    return _day_number(year, second, first), day_first, note


def _times(parts: _Parts) -> tuple[NDArray[np.float64], Flags, NDArray[Any]]:
    """Return seconds of the day, which are real, and zones as written."""
    hour, minute, second = (np.maximum(parts.number(name), 0) for name in "HMS")
    half = np.char.lower(np.char.replace(parts.text("P"), ".", ""))
    good = (hour <= 23) & (minute <= 59) & (second <= 60) & ((half == "") | ((hour >= 1) & (hour <= 12)))
    hour = np.where(half == "", hour, hour % 12 + 12 * (half == "pm"))
    text = parts.text("F")
    fraction = np.char.replace(np.where(text == "", "0", text), ",", ".").astype(np.float64)
    return hour * 3600.0 + minute * 60.0 + second + fraction, good, parts.text("Z")


def _offset(zone: str) -> int:
    """Return how many seconds a zone is ahead of UTC.

    Examples
    --------
    >>> _offset("+02:00"), _offset("-0330"), _offset("Z")
    (7200, -12600, 0)
    """
    found = re.match(r"([+-])(\d\d):?(\d\d)?", zone)
    if found is None:
        return 0
    return (1 if found[1] == "+" else -1) * (3600 * int(found[2]) + 60 * int(found[3] or 0))


def _fits(words: pa.Array) -> tuple[int, Flags]:
    """Return which shape fits most words, and which it fits."""
    import pyarrow.compute as pc

    best, fitting = -1, np.zeros(len(words), dtype=bool)
    for number, (shape, order, _) in enumerate(_SHAPES):
        fits = np.asarray(pc.match_substring_regex(words, shape).to_numpy(zero_copy_only=False))
        if order == "named" and fits.any():
            parts = _Parts(pc.extract_regex(words, shape))
            fits &= np.isin(np.char.lower(parts.text("N")), list(_MONTHS))
        if fits.sum() > fitting.sum():
            best, fitting = number, fits
    return best, fitting


def read_dates(name: str, cells: pa.Array, missing: Flags, mostly: float) -> Moments | None:
    """Return the column as moments, or None if too few cells are dates.

    Raises DataError if it has a date that does not exist, such as the 31st of April; the message names row and column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = read_dates("when", pa.array(["2018-Q1", "2018-Q2"]), np.zeros(2, dtype=bool), 0.9)
    >>> found.period, found.seconds.astype("datetime64[s]").astype(str).tolist()
    ('quarter', ['2018-01-01T00:00:00', '2018-04-01T00:00:00'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # The first thousand cells say no for most columns, without a look at the others.
    sample = pc.filter(cells, pa.array(~missing))[:1000]
    if _fits(sample)[1].sum() < mostly * len(sample):
        return None
    encoded = pc.dictionary_encode(pc.if_else(pa.array(missing), None, cells))
    words, codes = encoded.dictionary, encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    number, shaped = _fits(words)
    if number < 0 or counts[shaped].sum() < mostly * counts.sum():
        return None
    shape, order, period = _SHAPES[number]
    parts = _Parts(pc.extract_regex(pc.filter(words, pa.array(shaped)), shape))
    day, real, note = _days(parts, order)
    clock, possible, zones = _times(parts)
    real &= possible
    zero = np.asarray(pc.match_substring_regex(words, _ZERO).to_numpy(zero_copy_only=False))
    if counts[shaped][real].sum() < mostly * counts[shaped & ~zero].sum():
        return None
    notes = [f"dates were read as {note}"] if note else []

    seconds = np.full(len(words), np.nan)
    offsets = np.array([_offset(zone) for zone in zones]) if (zones != "").any() else np.zeros(len(zones), dtype=int)
    written = sorted(set(zones[real].tolist()))
    if len(set(offsets[real].tolist())) > 1 or ("" in written and len(written) > 1):
        several = ", ".join(zone or "none" for zone in written[:5]) + (" …" if len(written) > 5 else "")
        notes.append(f"times stand in several zones ({several}); all were turned into UTC")
        clock = clock - offsets
    elif written and written[0]:
        notes.append(f"times are kept as they are written, in zone {written[0]}")
    seconds[shaped] = np.where(real, 86400.0 * day + clock, np.nan)
    _, short = parts.years()
    if short.any():
        at = int(np.flatnonzero(short & real)[0])
        year = int(parts.years()[0][at])
        example = pc.filter(words, pa.array(shaped))[at].as_py()
        notes.append(f"years of two digits were read as 1969 to 2068 ({example!r} is in {year})")

    wrong = shaped.copy()
    wrong[shaped] = ~real
    if (wrong & ~zero).any():
        raise DataError(_impossible(name, words, codes, np.flatnonzero(wrong & ~zero), parts, shaped, order))
    other = np.flatnonzero(~shaped | zero)
    if other.size:
        strange = np.isin(codes, other)
        seen = named(strange, cells)
        notes.append(f"{strange.sum():,} of {len(cells):,} cells are not dates ({seen}); they count as missing")
    return Moments(np.append(seconds, np.nan)[codes], period, tuple(notes))


def _impossible(name: str, words: pa.Array, codes: Ints, wrong: Ints, parts: _Parts, shaped: Flags, order: str) -> str:
    """Say which dates do not exist."""
    row = int(np.flatnonzero(np.isin(codes, wrong))[0])
    count = int(np.isin(codes, wrong).sum())
    at = int(np.cumsum(shaped)[codes[row]]) - 1
    why = ""
    if order in ("ymd", "either"):
        month = int(parts.number("m" if order == "ymd" else "b")[at])
        day = int(parts.number("d" if order == "ymd" else "a")[at])
        year = int(parts.years()[0][at])
        if 1 <= month <= 12 and day > _DAYS[month - 1]:
            why = f" ({_NAMES[month - 1]} {f'{year} ' * (month == 2)}has {_DAYS[month - 1]} days)"
    more = f", and {count - 1:,} more cells," if count > 1 else ""
    return (
        f"Column {name!r}, row {row + 1:,}: {str(words[int(codes[row])])[:40]!r}{more} cannot be a date{why}. Correct "
        "it, or leave the cell empty."
    )
