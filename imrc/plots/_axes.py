"""Axes that count tasks: whole numbers only, never too many."""

from __future__ import annotations

from typing import Any


def whole_numbers(count: int, ticks: int = 16) -> dict[str, Any]:
    """Return tick settings for an axis of `count` whole numbers.

    Examples
    --------
    >>> whole_numbers(5), whole_numbers(99)
    ({'tickformat': 'd', 'dtick': 1}, {'tickformat': 'd', 'nticks': 16})
    """
    return {"tickformat": "d", "dtick": 1} if count <= ticks else {"tickformat": "d", "nticks": ticks}
