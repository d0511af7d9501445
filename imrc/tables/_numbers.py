"""Cells to numbers: decimal marks, groups of thousands, units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Flags = NDArray[np.bool_]
Mark = Literal["", ".", ","]
"""What separates decimals; "" is not known."""

_LOOKED_AT = 200
LARGEST_EXACT = 2**53
"""Whole numbers from here on are not all different as floating-point numbers."""

_MONEY = r"US\$|R\$|€|\$|£|¥|₹|₽|₺|zł|Fr\.?|kr\.?|EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|BRL|INR"
_LONG = (
    "kg|mg|µg|km/h|m/s|mph|km|cm|mm|µm|nm|ms|min|kWh|MWh|kW|MW|mV|kV|mA|kHz|MHz|GHz|Hz|hPa|kPa|bar|Pa|psi|ml|ppm|dB|rpm|"
    "MB|GB|kB|kcal|kJ|Nm|lx|lm|lbs?|oz|ft|mi|years|days|hours|pcs"
)
_BLANKS = " \u00a0\u202f\u2009"
_BLANK = f"[{_BLANKS}]"
_FIGURE = (
    rf"^(?P<s>[+−-]?)(?:(?P<a>{_MONEY}){_BLANK}*)?(?P<t>[+−-]?)"
    rf"(?P<n>\d[\d.,'’{_BLANKS}]*(?:[eE][+-]?\d+)?|[.,]\d+(?:[eE][+-]?\d+)?)"
    rf"(?:{_BLANK}*(?P<b>%|‰|°C|°F|°|{_MONEY}|{_LONG})|{_BLANK}+(?P<c>[gtmshdWVAKJNyl]))?$"
)
_POINTS = r"^(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d*)?(?:[eE][+-]?\d+)?$"
_COMMAS = r"^(?:\d+|\d{1,3}(?:\.\d{3})+)?(?:,\d*)?(?:[eE][+-]?\d+)?$"
_GROUPED = rf"^\d{{1,3}}(?:{_BLANK}\d{{3}})+(?:[.,]\d+)?$|^\d{{1,3}}(?:['’]\d{{3}})+(?:[.,]\d+)?$"
_THREE_AFTER_POINT = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$"
_SURE_OF_COMMAS = (
    r"^\D{0,4}\d{1,3}(?:\.\d{3})+,\d+\D{0,5}$|^\D{0,4}\d+,(?:\d{1,2}|\d{4,})\D{0,5}$|^\D{0,4}0,\d+\D{0,5}$"
)
_SURE_OF_POINTS = (
    r"^\D{0,4}\d{1,3}(?:,\d{3})+\.\d+\D{0,5}$|^\D{0,4}\d+\.(?:\d{1,2}|\d{4,})\D{0,5}$|^\D{0,4}0\.\d+\D{0,5}$"
)


@dataclass(frozen=True)
class Figures:
    """What a column of text holds in numbers, NaN where a cell is missing or none, and what was decided, in words.

    The values are None if these are not numbers.
    """

    values: NDArray[np.float64] | None
    notes: tuple[str, ...] = ()


def decimal_mark(columns: list[pa.Array], delimiter: str) -> Mark:
    """Return what separates decimals in a table, by the first cells that leave no doubt.

    Examples
    --------
    >>> import pyarrow as pa
    >>> decimal_mark([pa.array(["1.234", "5.678"]), pa.array(["1.234,50", "2,5"])], ";")
    ','
    """
    import pyarrow.compute as pc

    commas = points = 0
    for cells in columns[:_LOOKED_AT]:
        some = pc.utf8_trim_whitespace(cells[:1000])
        commas += _flags(some, _SURE_OF_COMMAS).sum() > 0.3 * len(some)
        points += _flags(some, _SURE_OF_POINTS).sum() > 0.3 * len(some)
    if commas == points:
        return "." if delimiter == "," else ""
    return "," if commas > points else "."


def _flags(cells: pa.Array, pattern: str) -> Flags:
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(cells, pattern).fill_null(False).to_numpy(zero_copy_only=False))


def named(mask: Flags, cells: pa.Array) -> str:
    """Return the first two of some cells, with their rows."""
    rows = np.flatnonzero(mask)[:2]
    return ", ".join(f"{str(cells[int(row)])[:40]!r} in row {row + 1:,}" for row in rows)


def read_numbers(cells: pa.Array, missing: Flags, mark: Mark, mostly: float) -> Figures:
    """Return the column as numbers, if enough cells are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = read_numbers(pa.array(["1.234,50 €", "7,25 €"]), np.zeros(2, dtype=bool), "", 0.9)
    >>> found.values.tolist(), found.notes[0]
    ([1234.5, 7.25], "'€' was left out")
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.if_else(pa.array(missing), "nan", cells)
    try:
        values = np.array(pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:
        return _read_written(cells, missing, mark, mostly)
    if different := _lost(cells, values, missing):
        return Figures(None, (different,))
    groups = _are_three_after_points(cells, missing)
    if groups and mark == ",":
        return _read_written(cells, missing, mark, mostly)
    if groups:
        first = str(cells[int(np.flatnonzero(~missing & _flags(cells, r"\."))[0])])
        return Figures(
            values,
            (f"points were read as decimal points ({first!r}); if they group thousands, take them out of the file",),
        )
    return Figures(values)


def _are_three_after_points(cells: pa.Array, missing: Flags) -> bool:
    """Whether every point stands before three digits, and there are points: decimals, or groups of thousands."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for some, gone in ((cells[:50], missing[:50]), (cells, missing)):
        present = pc.filter(some, pa.array(~gone))
        pointed = _flags(present, r"[.eE]")
        if (pointed & ~_flags(present, _THREE_AFTER_POINT)).any():
            return False
    return bool(pointed.any())


def _lost(cells: pa.Array, values: NDArray[np.float64], missing: Flags) -> str:
    """Say why numbers would make different cells equal; "" if they would not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with np.errstate(invalid="ignore"):
        large = np.abs(values) >= LARGEST_EXACT
    if large.any() and (_flags(cells, r"^[+-]?\d{16,}$") & large).any():
        return "whole numbers of more than 15 digits are kept as words, so that different ones stay different"
    if pc.any(pc.starts_with(cells, "0")).as_py() and _flags(cells, r"^0\d").any():
        texts = pc.count_distinct(pc.filter(cells, pa.array(~missing))).as_py()
        if texts > len(np.unique(values[~missing])) and (~_flags(cells, r"^\d+$") & ~missing).sum() == 0:
            return "numbers are kept as words, because some differ only in zeros at their beginning"
    return ""


def _read_written(cells: pa.Array, missing: Flags, mark: Mark, mostly: float) -> Figures:
    """Read numbers that are written for people: with groups, units or decimal commas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present = ~missing
    infinite = _flags(cells, r"^[+-]?(?i:inf|infinity)$") & present
    sample = np.flatnonzero(present)[:1000]
    if (_flags(cells.take(pa.array(sample)), _FIGURE) | infinite[sample]).mean() < mostly:
        return Figures(None)
    parts = pc.extract_regex(cells, _FIGURE)
    shaped = np.asarray(parts.is_valid().to_numpy(zero_copy_only=False)) & present
    if (shaped | infinite).sum() < mostly * present.sum():
        return Figures(None)

    def part(name: str) -> pa.Array:
        return pc.fill_null(parts.field(name), "")

    notes: list[str] = []
    unit = pc.binary_join_element_wise(part("a"), part("b"), part("c"), "")
    units = [word for word in pc.unique(pc.filter(unit, pa.array(shaped))).to_pylist() if word]
    if len(units) > 1:
        seen = ", ".join(repr(word) for word in units[:3])
        return Figures(
            None, (f"numbers stand in different units ({seen}), so they are kept as words; write them in one",)
        )
    if units:
        notes.append(f"{units[0]!r} was left out")
    digits = pc.utf8_trim_whitespace(part("n"))
    grouped = _flags(digits, _GROUPED)
    stripped = pc.replace_substring_regex(digits, f"[{_BLANKS}'’]", "")
    digits = pc.if_else(pa.array(grouped), stripped, digits)
    if (grouped & shaped).any():
        notes.append(f"marks between groups of three digits were removed ({named(grouped & shaped, cells)})")
    points, commas = _flags(digits, _POINTS) & shaped, _flags(digits, _COMMAS) & shaped
    use_commas = commas.sum() > points.sum() or (commas.sum() == points.sum() and mark != ".")
    good = (commas if use_commas else points) | infinite
    if good.sum() < mostly * present.sum():
        if (points | commas).sum() >= mostly * present.sum():
            both = f"{named(points & ~commas, cells)}; {named(commas & ~points, cells)}"
            return Figures(
                None, (f"some numbers have decimal points, others decimal commas ({both}); they are kept as words",)
            )
        return Figures(None)
    if use_commas:
        if _flags(digits, r"\.").any():
            notes.append(f"points between groups of three digits were removed ({named(_flags(digits, r'[.]'), cells)})")
        plain = pc.replace_substring(pc.replace_substring(digits, ".", ""), ",", ".")
        if (_flags(digits, ",") & shaped).any():
            notes.append("decimal commas were read as decimal points")
    else:
        groups = _flags(digits, ",") & shaped
        if groups.any():
            notes.append(f"commas between groups of three digits were removed ({named(groups, cells)})")
        plain = pc.replace_substring(digits, ",", "")
    minus = pc.replace_substring(pc.binary_join_element_wise(part("s"), part("t"), ""), "−", "-")
    text = pc.binary_join_element_wise(pc.replace_substring(minus, "+", ""), plain, "")
    text = pc.if_else(pa.array(infinite), pc.replace_substring(cells, "+", ""), text)
    values = pc.cast(pc.if_else(pa.array(good), text, "nan"), pa.float64()).to_numpy(zero_copy_only=False)
    values = np.array(values, dtype=np.float64)
    if different := _lost(pc.if_else(pa.array(good), text, ""), values, ~good):
        return Figures(None, (different,))
    bad = ~good & present
    if bad.any():
        notes.append(
            f"{bad.sum():,} of {len(values):,} cells are not numbers ({named(bad, cells)}); they count as missing"
        )
    return Figures(values, tuple(notes))


def plain_number(value: float) -> str:
    """Return a number with all its digits and no others.

    Examples
    --------
    >>> plain_number(1234567.0), plain_number(0.1), plain_number(1e300)
    ('1234567', '0.1', '1e+300')
    """
    if 1e-5 <= abs(value) < 1e16 or value == 0:
        return str(np.format_float_positional(value, trim="-"))
    return repr(float(value))
