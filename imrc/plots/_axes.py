"""How numbers stand at axes: whole numbers for tasks, signs for differences."""

from __future__ import annotations

from typing import Any

SIGNED: dict[str, Any] = {"tickformat": "+.2f", "labelalias": {"+0.00": "0"}}
"""Tick settings for differences; zero has no sign."""


def whole_numbers(count: int, ticks: int = 16) -> dict[str, Any]:
    """Return tick settings for an axis of `count` whole numbers.

    Examples
    --------
    >>> whole_numbers(5), whole_numbers(99)
    ({'tickformat': 'd', 'dtick': 1}, {'tickformat': 'd', 'nticks': 16})
    """
    return {"tickformat": "d", "dtick": 1} if count <= ticks else {"tickformat": "d", "nticks": ticks}
