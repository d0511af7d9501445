"""How numbers stand at axes: whole numbers or names for tasks, decimals as fine as the range, signs for differences."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from imrc._types import Floats
from imrc.wording import decimal


def whole_numbers(count: int, ticks: int = 12) -> dict[str, Any]:
    """Return tick settings for an axis of `count` whole numbers: never a number twice, never a half.

    >>> whole_numbers(4), whole_numbers(99)
    ({'tickformat': 'd', 'nticks': 4}, {'tickformat': 'd', 'nticks': 12})
    """
    # Plotly has at most so many ticks: with no more than there are numbers, steps of a half are impossible.
    return {"tickformat": "d", "nticks": max(min(count, ticks), 1)} | ({"dtick": 1} if count <= 3 else {})


def task_ticks(labels: Sequence[str], first: int = 1, ticks: int = 8) -> dict[str, Any]:
    """Return tick settings for tasks from number `first`: about `ticks` dates or names if they have some, else numbers.

    >>> task_ticks(["1", "2", "3", "4"])
    {'tickformat': 'd', 'nticks': 4}
    >>> task_ticks(["May", "June", "July"], ticks=2)
    {'tickvals': [1, 3], 'ticktext': ['May', 'July']}
    """
    if all(str(label).strip().isdigit() for label in labels):
        return whole_numbers(len(labels))
    # Dates and short names only: others would cover each other.
    step = max(1, math.ceil(len(labels) / ticks))
    chosen = range(0, len(labels), step)
    texts = [str(labels[i]) for i in chosen]
    short = [text if len(text) <= 12 else text[:11] + "…" for text in texts]
    return {"tickvals": [first + i for i in chosen], "ticktext": [html.escape(text) for text in short]}


def error_ends(error: ArrayLike, half: ArrayLike) -> tuple[Floats, Floats]:
    """Return the ends of intervals of errors, which stay within 0 and 1; the error itself where half is NaN.

    >>> [end.tolist() for end in error_ends([0.25, 0.5], [0.5, np.nan])]
    [[0.0, 0.5], [0.75, 0.5]]
    """
    error, half = np.asarray(error, dtype=np.float64), np.nan_to_num(np.asarray(half, dtype=np.float64))
    # A minimax log loss, drawn in the same way, may be above 1.
    return np.maximum(error - half, 0.0), np.minimum(error + half, np.where(error > 1.0, np.inf, 1.0))


def _step(width: float, ticks: int) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that needs at most so many ticks."""
    rough = width / ticks
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def decimals(values: ArrayLike, *, ticks: int = 6, sign: bool = False) -> dict[str, Any]:
    """Return range and ticks of an axis of errors: .35 without a leading zero, as many decimals as steps need.

    All finite values, ends of intervals included, are inside; `sign` writes + and − for differences.

    >>> decimals([0.31, 0.38])["ticktext"]
    ['.30', '.32', '.34', '.36', '.38']
    >>> decimals([-0.02, 0.011], sign=True)["ticktext"]
    ['−.02', '−.01', '0', '+.01']
    """
    found = np.asarray(values, dtype=np.float64).ravel()
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
    width = max(high - low, 0.002)
    step = _step(width, ticks)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # No empty step where the values end shortly after a tick.
    start += int(low - start * step > 0.6 * step)
    stop -= int(stop * step - high > 0.6 * step)
    marks = [round(i * step, 10) for i in range(start, stop + 1)]
    return {
        "range": [min(low, marks[0]) - 0.03 * width, max(high, marks[-1]) + 0.03 * width],
        "tickvals": marks,
        "ticktext": [_tick(mark, places, sign) for mark in marks],
    }


def _tick(value: float, places: int, sign: bool) -> str:
    if value == 0:
        return "0"
    text = decimal(value, places).replace("-", "−")
    return f"+{text}" if sign and value > 0 else text
