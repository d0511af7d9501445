"""Hyper-parameters of compared methods: frozen dataclasses whose fields carry their limits."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from imrc._checks import check_choice, check_int, check_real


@dataclass(frozen=True)
class Settings:
    """Hyper-parameters, each with its limits (ValueError, TypeError): ``rate: float = real(0.1, 0.0)``.

    This has none.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if "check" in field.metadata:
                field.metadata["check"](field.name, getattr(self, field.name))


def checked(default: object, check: Callable[[str, object], object]) -> Any:  # noqa: ANN401 - a field of any type
    """Return a field of `Settings`; `check` gets its name and value, and raises if the value is not possible."""
    return dataclasses.field(default=default, metadata={"check": check})


def whole(default: int, low: int) -> Any:  # noqa: ANN401
    """Return a field that holds a whole number from `low` on."""
    return checked(default, lambda name, value: check_int(name, value, low))


def real(default: float, low: float, high: float = math.inf, *, above: bool = False) -> Any:  # noqa: ANN401
    """Return a field that holds a number in [low, high], or with `above` in (low, high]."""
    return checked(default, lambda name, value: check_real(name, value, low, high, low_open=above))


def choice(default: str, kinds: object) -> Any:  # noqa: ANN401
    """Return a field that holds one of the words of a ``Literal``."""
    return checked(default, lambda name, value: check_choice(name, value, get_args(kinds)))
