"""Arrays from IDX, NPY, NPZ and MATLAB files; nothing in a file is ever executed."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc.datasets.errors import DataError

MAX_BYTES = 1 << 30
_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(data: bytes) -> NDArray[Any]:
    """Return the array of an IDX file (MNIST's format) in native byte order; DataError if header or length is wrong.

    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9])).tolist()
    [7, 8, 9]
    """
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _IDX_TYPES:
        raise DataError("This is not an IDX file: its first four bytes are not the code of a number type.")
    dimensions = data[3]
    start = 4 + 4 * dimensions
    if dimensions == 0 or len(data) < start:
        raise DataError("The IDX file is cut short inside its header.")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    dtype = np.dtype(_IDX_TYPES[data[2]])
    expected = start + math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise DataError(f"The IDX file has {len(data):,} bytes, its header promises {expected:,}: it is damaged.")
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="))


def _npy_header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:  # noqa: ANN401 - any binary stream
    """Shape and type of an NPY stream, without reading the values."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype


def _check_header(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], room: int) -> int:
    if dtype.hasobject:
        raise DataError(
            f"Array {name!r} contains Python objects. They could run code when read, so they are "
            f"refused. Save numbers or text instead."
        )
    size = math.prod(shape) * dtype.itemsize
    if size > room:
        raise DataError(
            f"Array {name!r} needs {size >> 20:,} MB; at most {MAX_BYTES >> 20:,} MB are read from one file."
        )
    return size


def read_npz(data: bytes, limit: int = MAX_BYTES) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ (or NPY) file of at most `limit` bytes, never Python objects; else DataError."""
    result: dict[str, NDArray[Any]] = {}
    room = limit
    try:
        if data.startswith(b"\x93NUMPY"):
            _check_header("array", *_npy_header(io.BytesIO(data)), room)
            return {"array": np.load(io.BytesIO(data), allow_pickle=False)}
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                if not info.filename.endswith(".npy"):
                    continue
                name = info.filename.removesuffix(".npy")
                with archive.open(info) as stream:
                    room -= _check_header(name, *_npy_header(stream), room)
                with archive.open(info) as stream:
                    result[name] = np.lib.format.read_array(stream, allow_pickle=False)
    except DataError:
        raise
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error) as error:
        raise DataError(f"This is not a readable NPZ file: it is damaged or in another format ({error}).") from None
    if not result:
        raise DataError("The NPZ file holds no arrays.")
    return result


def read_mat(data: bytes) -> dict[str, Any]:
    """Return the variables of a MATLAB file (version 4 to 7.2): arrays, or dictionaries for structs; else DataError."""
    if b"MATLAB 7.3" in data[:128] or data.startswith(b"\x89HDF"):
        raise DataError("This MATLAB file is of version 7.3. Save it in MATLAB with save(..., '-v7') and try again.")
    from scipy.io import loadmat

    try:
        content = loadmat(io.BytesIO(data), simplify_cells=True)
    except Exception as error:  # scipy lets errors of any kind through on damaged files
        raise DataError(f"This is not a readable MATLAB file: it is damaged or in another format ({error}).") from None
    return {name: value for name, value in content.items() if not name.startswith("__")}
