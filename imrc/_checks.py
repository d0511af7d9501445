"""Checks of what users give, with messages that say what is wrong, where, and what to do.

They raise an `InputError`. The command line takes every other exception for a bug of the program.
"""

from __future__ import annotations

import difflib
import math
import operator
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

T = TypeVar("T", bound=str)
ENDINGS = {
    "html": (".html", ".htm", "", ".pdf", ".svg", ".png"),
    "predictions": (".csv", ".txt", ""),
    "export": (".csv", ".parquet"),
}
"""Endings of files to write, by the name of the option."""


class InputError(ValueError):
    """A value that cannot be used; the message says why and what to do."""


class DataError(InputError):
    """Data that cannot be used; the message says what is wrong, where (row, column) and what to do."""


class InputTypeError(InputError, TypeError):
    """A value of the wrong type."""


def did_you_mean(given: object, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a question that suggests the closest of the known words, if one is close."""
    close = difflib.get_close_matches(str(given), [*known], 1, cutoff)
    return f" Did you mean {close[0]!r}?" if close else ""


def _shown(value: object) -> str:
    """Return a value as a message shows it, or only its type if it is long."""
    text = repr(value)
    return text if len(text) <= 80 and "\n" not in text else f"a {type(value).__name__}"


def check_bool(name: str, value: object) -> bool:
    """Return `value` if it is True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputTypeError(f"{name} must be True or False, got {_shown(value)}.")


def check_place(path: str | Path, *endings: str) -> Path:
    """Return the path of a file to write; InputError if it cannot be written, or if its name has another ending."""
    place = Path(os.path.expanduser(path))
    if not place.parent.is_dir():
        raise InputError(f"There is no folder {str(place.parent)!r} for {place.name!r}. Create it, or save elsewhere.")
    if place.is_dir():
        raise InputError(f"{str(place)!r} is a folder. Add a file name.")
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise InputError(f"You have no permission to write {str(place)!r}. Save elsewhere.")
    if endings and place.suffix.lower() not in endings:
        raise InputError(f"The file to write must end in {' or '.join(filter(None, endings))}; got {place.name!r}.")
    return place


def check_choice(name: str, value: object, allowed: Collection[T]) -> T:
    """Return `value` if it is one of `allowed`; otherwise raise a ValueError that lists them."""
    if isinstance(value, str) and value in allowed:
        return cast(T, value)
    choices = ", ".join(map(repr, sorted(allowed)))
    raise InputError(f"{name} must be one of {choices}; got {_shown(value)}.{did_you_mean(value, allowed)}")


def check_names(where: str, given: Iterable[str], known: Collection[str], what: str = "option") -> None:
    """Raise a TypeError for the first of `given` that is not `known`, with the known ones and the closest."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputTypeError(f"{where}: unknown {what} {name!r}.{hint} Known {what}s: {', '.join(known)}.")


def check_int(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int in [low, high]; raise TypeError or ValueError naming the parameter."""
    if isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name} must be a whole number, got {value!r}.")
    try:
        number = operator.index(cast(Any, value))
    except TypeError:
        raise InputTypeError(f"{name} must be a whole number, got {_shown(value)}.") from None
    if number < low or (high is not None and number > high):
        wanted = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InputError(f"{name} must be {wanted}; got {number}.")
    return number


def check_real(
    name: str, value: object, low: float = -math.inf, high: float = math.inf, *, low_open: bool = False
) -> float:
    """Return `value` as a finite float in [low, high] (or (low, high] with `low_open`)."""
    try:
        number = float(cast(Any, value))
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} must be a number, got {_shown(value)}.") from None
    if not math.isfinite(number) or not low <= number <= high or (low_open and number == low):
        lower = f"above {low}" if low_open else f"at least {low}"
        upper = "" if high == math.inf else f" and at most {high}"
        raise InputError(f"{name} must be {lower}{upper}; got {value!r}.")
    return number


def check_labels(name: str, labels: ArrayLike) -> NDArray[Any]:
    """Return labels as an array of numbers or of strings; InputError if one is missing, or they are both."""
    # A list of words and gaps, or of numbers, would become an array of words.
    found = np.asarray(labels, dtype=None if hasattr(labels, "dtype") else object)
    if found.dtype.kind == "O":
        given = found.ravel().tolist()
        for row, one in enumerate(given):
            if type(one).__name__ in ("NoneType", "NAType") or one != one:
                raise InputError(f"{name} has a missing label at row {row}.")
            if isinstance(one, str) != isinstance(given[0], str):
                raise InputError(f"{name} mixes words and others: {given[0]!r} at row 0, {one!r} at row {row}.")
        found = np.array(given).reshape(found.shape)
        found = found.astype(str) if found.dtype.kind == "O" else found
    if found.dtype.kind in "fmM" and not np.isfinite(found).all():
        raise InputError(f"{name} has a missing or infinite label at row {int(np.argmin(np.isfinite(found)))}.")
    return found


def check_matrix(name: str, value: ArrayLike, *, allow_missing: bool = False) -> NDArray[np.float64]:
    """Return `value` as a two-dimensional float64 array without infinite, and unless allowed missing, entries."""
    try:
        if hasattr(value, "dtype") and np.iscomplexobj(value):
            raise TypeError("it has complex numbers.")
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must contain only numbers: {error}") from None
    if array.ndim != 2:
        raise InputError(f"{name} must have two dimensions (samples, features); got shape {array.shape}.")
    finite = np.isfinite(array)
    if allow_missing:
        finite |= np.isnan(array)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise InputError(
            f"{name} has a missing or infinite value at row {row}, column {column} (counted from 0). "
            "Fill in or drop it first."
        )
    return array
