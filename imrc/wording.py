"""One spelling for everything that pages, reports and commands print: numbers, durations, p-values, names.

Sentences live beside what they describe and take their numbers and names from here. A sentence has one precision:
three decimals for errors, one for errors in 100. Nothing is imported but the standard library.
"""

from __future__ import annotations

import calendar
import math
import platform
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

RULES = {"single": "Alone", "forward": "Forward", "forward_backward": "Forward and backward"}
"""Titles of the three rules of IMRC."""

SHORT_RULES = RULES | {"forward_backward": "Forw. + backw."}
"""The same for narrow places, such as panel titles."""

RISKS = {"0-1": "Minimax risk", "log": "Minimax log loss"}
"""Titles of the value of problem (3), by loss."""


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return a value as JSON can hold it: NumPy's numbers become Python's, infinite and missing ones None.

    >>> plain({"error": math.nan, "lags": (1, 2)})
    {'error': None, 'lags': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "item"):  # NumPy's numbers
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def decimal(value: float, digits: int = 3) -> str:
    """Return a number without the leading zero, as the field prints error rates.

    >>> decimal(0.4051), decimal(-0.02), decimal(1.0)
    ('.405', '−.020', '1.000')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(text) != 0 else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def ends(low: float, high: float, bound: float = 0.0, digits: int = 3, shown: Callable[..., str] = decimal) -> str:
    """Return an interval with the decimals of its sentence; an end next to a bound it does not reach is so called.

    >>> ends(-0.0051, -0.0002), ends(0.001, 0.0098, 0.01), ends(-0.01, 0.02)
    ('−.005 to just below 0', '.001 to just below .010', '−.010 to .020')
    """

    def end(value: float) -> str:
        if value == bound or round(value, digits) != bound:
            return shown(value, digits)
        return f"just {'above' if value > bound else 'below'} {shown(bound, digits) if bound else 0}"

    return f"{end(low)} to {end(high)}"


def with_spread(mean: float, spread: float, digits: int = 3) -> str:
    """Return mean ± spread (a standard deviation or error); the mean alone without one, nothing without a mean.

    >>> with_spread(0.293, 0.032), with_spread(0.32, math.nan, 2), with_spread(math.nan, math.nan)
    ('.293 ± .032', '.32', '')
    """
    if not math.isfinite(mean):
        return ""
    return decimal(mean, digits) + (f" ± {decimal(spread, digits)}" if math.isfinite(spread) else "")


def signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign; nothing if it is not known.

    >>> signed(0.0123), signed(-0.02), signed(math.nan)
    ('+.012', '−.020', '')
    """
    if not math.isfinite(value):
        return ""
    return decimal(value, digits) if value < 0 else f"+{decimal(value, digits)}"


def number(value: float) -> str:
    """Return a positive number with two or three significant digits.

    >>> [number(x) for x in (0.0123, 0.4, 3.456, 9.99, 43.21, 1234.5, 1e-7, float("inf"))]
    ['0.012', '0.40', '3.5', '10', '43', '1,230', '1e-07', 'no limit']
    """
    if math.isinf(value):
        return "no limit"
    if value == 0 or abs(value) >= 10:
        return f"{float(f'{value:.3g}') if abs(value) >= 100 else round(value):,.0f}"
    # Both digits also where the second is a zero: 0.40 between 0.32 and 0.50.
    return f"{value:#.2g}".rstrip(".") if value >= 1e-4 else f"{value:.2g}"


def huge(value: float) -> str:
    """Return a number of any size; from a billion on only its power of ten.

    >>> huge(152_000.0), huge(1.13e14)
    ('152,000', 'about 10¹⁴')
    """
    if value < 1e9:
        return number(value)
    return "about 10" + str(round(math.log10(value))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def p_text(p: float | None) -> str:
    """Return a p-value for running text.

    >>> [p_text(p) for p in (0.00012, 0.0312, 0.5, 1.0, None)]
    ['p < .001', 'p = .031', 'p = .50', 'p = 1', 'not testable']
    """
    if p is None:
        return "not testable"
    if p < 0.001:
        return "p < .001"
    if p >= 0.995:
        return "p = 1"
    return f"p = {decimal(p, 3 if p < 0.0995 else 2)}"


def p_cell(p: float) -> str:
    """Return a p-value for a column of a table, with three decimals; nothing where there was no test.

    >>> [p_cell(p) for p in (0.00012, 0.0312, math.nan)]
    ['< .001', '.031', '']
    """
    if not math.isfinite(p):
        return ""
    return "< .001" if p < 0.001 else decimal(p)


def duration(seconds: float) -> str:
    """Return a duration in the unit that suits it.

    >>> duration(0.3), duration(42.4), duration(200), duration(9000), duration(400_000)
    ('1 s', '42 s', '3 min', '2.5 h', '4.6 days')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-0?(\d\d?)( \d\d:\d\d)?)?| (Q[1-4]))")


def date_parts(name: str) -> tuple[str, str]:
    """Return the name of a moment, day, month or quarter without its year, and the year; any other name without one.

    >>> [date_parts(name) for name in ("2023-01-02", "2023-01", "2023 Q1", "batch 3")]
    [('2 Jan', '2023'), ('Jan', '2023'), ('Q1', '2023'), ('batch 3', '')]
    """
    if (found := _DATE.fullmatch(name)) is None:
        return name, ""
    year, month, day, time, quarter = found.groups("")
    return quarter or f"{day} {calendar.month_abbr[int(month)]}{time}".strip(), year


def fewest(measure: str) -> str:
    """Return how the best is called under a measure, "error" or "balanced error"."""
    return "the fewest errors" if measure == "error" else f"the lowest {measure}"


def capital(text: str) -> str:
    """Return a text with its first letter as a sentence begins."""
    return text[0].upper() + text[1:]


def listed(parts: Sequence[str], most: int | None = None) -> str:
    """Return parts as a list in a sentence, at most so many of them.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    shown = [*parts]
    if most is not None and len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def unmarked(markdown: str) -> str:
    """Return one of the library's own sentences without its emphasis, for a terminal."""
    return markdown.replace("*", "")


def in_columns(cells: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return rows of texts as aligned lines; the columns `left`, by number, begin at the left, the others end right.

    >>> in_columns([["rule", "error"], ["alone", ".2"]])
    ['rule   error', 'alone     .2']
    """
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    signs = ["<" if number in left else ">" for number in range(len(widths))]
    return [
        "  ".join(f"{text:{sign}{width}}" for text, sign, width in zip(row, signs, widths, strict=True)).rstrip()
        for row in cells
    ]


@cache
def versions(packages: tuple[str, ...]) -> str:
    """Return the versions of Python and of installed packages.

    >>> versions(("no-such-package",)).split(", ")[1]
    'no-such-package (not installed as a package)'
    """
    import importlib.metadata

    found = [f"Python {platform.python_version()}"]
    for name in packages:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:  # run from a checkout that is not installed
            found.append(f"{name} (not installed as a package)")
    return ", ".join(found)


def feature_names_or_numbers(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the names of features, or their numbers where they have none.

    >>> feature_names_or_numbers(("age",), 1), feature_names_or_numbers((), 2)
    (('age',), ('feature 1', 'feature 2'))
    """
    return tuple(names) if len(names) == count else tuple(f"feature {j}" for j in range(1, count + 1))
