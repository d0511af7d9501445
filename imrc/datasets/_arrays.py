"""Arrays from IDX, NPZ and MATLAB files; nothing in a file is ever executed."""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc.datasets.errors import DataError


def read_idx(data: bytes) -> NDArray[np.uint8]:
    """Return the array of an IDX file of bytes (MNIST's format); DataError if header or length is wrong.

    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9])).tolist()
    [7, 8, 9]
    """
    if len(data) < 4 or data[:3] != b"\0\0\x08" or not data[3]:
        raise DataError("This is not an IDX file of bytes, because it does not begin with the code of one.")
    start = 4 + 4 * data[3]
    if len(data) < start:
        raise DataError("The IDX file ends inside its header.")
    shape = struct.unpack(f">{data[3]}I", data[4:start])
    expected = start + math.prod(shape)
    if len(data) != expected:
        raise DataError(f"The IDX file has {len(data):,} bytes, but its header promises {expected:,}: it is damaged.")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def read_npz(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ file, never Python objects; else DataError."""
    return _read("NPZ", lambda: dict(np.load(io.BytesIO(data), allow_pickle=False)))


def read_mat(data: bytes) -> dict[str, Any]:
    """Return the variables of a MATLAB file (version 4 to 7.2): arrays, or dictionaries for structs; else DataError."""
    if b"MATLAB 7.3" in data[:128] or data.startswith(b"\x89HDF"):
        raise DataError("This MATLAB file has format 7.3. Save it in MATLAB with save(..., '-v7') and try again.")
    from scipy.io import loadmat

    content = _read("MATLAB", lambda: loadmat(io.BytesIO(data), simplify_cells=True))
    return {name: value for name, value in content.items() if not name.startswith("__")}


def _read(kind: str, read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return read()
    except Exception as error:  # both libraries let errors of any kind through on damaged files
        raise DataError(f"This is not a readable {kind} file: it is damaged or in another format ({error}).") from None
