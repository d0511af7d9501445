"""A checksum of the whole content of the values a chart is made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from enum import Enum
from typing import Any, Protocol

import numpy as np
import pandas as pd


class _Checksum(Protocol):
    def update(self, data: bytes, /) -> object: ...


def fingerprint(*values: Any) -> bytes:  # noqa: ANN401 - see `_add`
    """Return a checksum of numbers, texts, arrays, tables, dataclasses, and collections of them.

    Content, not identity: a value that differs in a single number, its type or its place has another checksum.

    Raises
    ------
    TypeError
        For a value of another kind: nothing tells whether two of them are the same.

    Examples
    --------
    >>> fingerprint([1, "a"]) == fingerprint([1, "a"])
    True
    >>> len({fingerprint(value) for value in (1, 1.0, "1", [1], (1,), True)})
    6
    """
    checksum = hashlib.blake2b(digest_size=32)
    _add(checksum, values)
    return checksum.digest()


def _add(checksum: _Checksum, value: Any) -> None:  # noqa: ANN401
    kind = type(value)
    # Type and length before the content: what stands in one place cannot be taken for what stands in another.
    checksum.update(f"{kind.__module__}.{kind.__qualname__}:".encode())
    if value is None or isinstance(value, (bool, int, float, complex, np.generic, date, timedelta)):
        checksum.update(f"{value!r};".encode())
    elif isinstance(value, Enum):
        checksum.update(f"{value.name};".encode())
    elif isinstance(value, (str, bytes)):
        content = value.encode() if isinstance(value, str) else value
        checksum.update(f"{len(content)}:".encode() + content)
    elif isinstance(value, np.ndarray):
        _add_array(checksum, value)
    elif isinstance(value, pd.DataFrame):
        _add(checksum, [value.index, *((str(name), value[name]) for name in value.columns)])
    elif isinstance(value, (pd.Series, pd.Index)):
        _add_array(checksum, value.to_numpy())
    elif isinstance(value, Mapping):
        checksum.update(f"{len(value)}:".encode())
        for key, content in value.items():
            _add(checksum, key)
            _add(checksum, content)
    elif isinstance(value, AbstractSet):
        checksum.update(b"".join(sorted(fingerprint(part) for part in value)))
    elif isinstance(value, (list, tuple)):
        checksum.update(f"{len(value)}:".encode())
        for part in value:
            _add(checksum, part)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _add(checksum, getattr(value, field.name))
    elif isinstance(value, Callable):  # type: ignore[arg-type] - the abstract class is meant
        checksum.update(f"{_name(value)};".encode())
    else:
        raise TypeError(f"No checksum is defined for {kind.__qualname__}, so charts made from one cannot be kept.")


def _add_array(checksum: _Checksum, array: np.ndarray[Any, Any]) -> None:
    checksum.update(f"{array.dtype.str}{array.shape}:".encode())
    if array.dtype.hasobject:
        for part in array.ravel().tolist():
            _add(checksum, part)
    else:
        checksum.update(array.tobytes())


def _name(function: Callable[..., Any]) -> str:
    """Return module and name of a function.

    Raises
    ------
    ValueError
        If it has no name of its own, such as a lambda: two of them could not be told apart.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    if "<" in name or name.startswith("__main__."):
        raise ValueError(f"{name} is not a function of a module, so its charts cannot be kept apart.")
    return name
