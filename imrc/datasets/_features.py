"""Arrays from IDX, NPZ and MATLAB files, of which nothing is executed; image sets through features of a network."""

from __future__ import annotations

import io
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError
from imrc._types import Floats
from imrc.datasets import _catalogue
from imrc.datasets._catalogue import CatalogueEntry
from imrc.tables import packed
from imrc.tasks import Task, TaskSequence

_LIMIT = 1 << 30


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


def content_of(file: _catalogue.RemoteFile, path: Path) -> bytes:
    """Return the content of a verified file, unpacked from a gzip or zip wrapper, at most 1 GB."""
    data = path.read_bytes()
    if path.suffix != ".npz" and packed.kind_of(data) in ("gzip", "zip"):
        return packed.unpack(data, _LIMIT, file.member)[0]
    return data


def _csv_features(data: bytes, features: int) -> Floats:
    """Rows of a feature file: a header or none, an index column or none, then features and the label."""
    import pyarrow as pa
    from pyarrow import csv

    first = data.partition(b"\n")[0].decode().strip().split(",")
    extra = len(first) - features - 1
    if extra not in (0, 1):
        raise DataError(f"The feature file has {len(first)} columns; {features} features and a label were expected.")
    names = [str(j) for j in range(len(first))]
    # A header of numbers 0, 1, 2, ... is one written by pandas.
    is_header = first[extra:-1] == names[:features] or bool(first[extra].strip("+-.0123456789eE"))
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=names, skip_rows=int(is_header)),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float64())),
        )
    except pa.ArrowInvalid as error:
        told = re.sub(r"#(\d+)", lambda found: str(int(found[1]) + 1), str(error))
        raise DataError(f"A cell of the feature file is not a number: {told}.") from None
    return np.stack([column.to_numpy() for column in table.columns[extra:]], axis=1)


def _describe(content: Mapping[str, Any]) -> str:
    held = (f"{name} {getattr(value, 'shape', type(value).__name__)}" for name, value in content.items())
    return ", ".join(held) or "nothing"


def _flat(content: Mapping[str, Any]) -> Iterator[NDArray[Any]]:
    """Yield the arrays of a MATLAB file in its order, those inside structs too."""
    for value in content.values():
        yield from _flat(value) if isinstance(value, dict) else [np.asarray(value)]


def interpret_mat(content: Mapping[str, Any], entry: CatalogueEntry) -> dict[str, NDArray[Any]]:
    """Find features, labels and tasks among the variables of a MATLAB file; DataError lists them where that fails.

    One matrix with labels and tasks, or one matrix per task in the order of the file; labels may be a column of it.
    """
    blocks, labels, vectors = [], [], []
    for array in _flat(content):
        found = next(
            (one for one in (array, array.T) if one.ndim == 2 and one.shape[1] - entry.features in (0, 1)), None
        )
        if found is not None and found.dtype.kind in "iuf":
            if found.shape[1] > entry.features:  # the label is the column of whole numbers
                at = -1 if np.equal(found[:, -1], np.round(found[:, -1])).all() else 0
                labels.append(found[:, at])
                found = np.delete(found, at, axis=1)
            blocks.append(found.astype(np.float64))
        elif array.size == max(array.shape, default=0) and array.dtype.kind in "iufUb":
            vectors.append(array.ravel())
    sizes = [len(block) for block in blocks]
    if len(blocks) == entry.tasks:
        ours = labels or [vector for vector, size in zip(vectors, sizes, strict=False) if len(vector) == size]
        if len(ours) == len(blocks):
            numbers = np.repeat(np.arange(len(blocks)), sizes)
            return {"features": np.concatenate(blocks), "labels": np.concatenate(ours), "tasks": numbers}
    by_count = {len(np.unique(one)): one for one in (*labels, *vectors) if [len(one)] == sizes}
    if {entry.classes, entry.tasks} <= set(by_count):
        return {"features": blocks[0], "labels": by_count[entry.classes], "tasks": by_count[entry.tasks]}
    raise DataError(
        f"{entry.title}: it is not clear which variables of the MATLAB file are features ({entry.features} columns), "
        f"labels ({entry.classes} classes) and tasks ({entry.tasks}). Its variables are {_describe(content)}."
    )


def _from_npz(entry: CatalogueEntry, path: Path) -> dict[str, NDArray[Any]]:
    arrays = read_npz(path.read_bytes())
    if not {"features", "labels"} <= set(arrays):
        raise DataError(f"{path.name} needs the arrays 'features' and 'labels'; it has {_describe(arrays)}.")
    if arrays["features"].ndim != 2 or len(arrays["features"]) != arrays["labels"].size:
        raise DataError(f"{path.name}: features and labels do not match ({_describe(arrays)}).")
    return arrays


def sequence_from_features(entry: CatalogueEntry) -> TaskSequence:
    """Return the tasks of an image set from its feature file, blocks of rows or the file's own task numbers.

    Missing values stay NaN: feature maps fill them from the first task, the publishers' scripts from the whole file.
    """
    files = _catalogue.require(entry)
    path = files[0][1]
    if path.suffix == ".npz":
        arrays = _from_npz(entry, path)
    elif path.suffix == ".mat":
        arrays = interpret_mat(read_mat(path.read_bytes()), entry)
    else:
        values = np.concatenate([_csv_features(content_of(file, path), entry.features) for file, path in files])
        arrays = {"features": values[:, :-1], "labels": values[:, -1].astype(np.int64)}
    X, y = np.array(arrays["features"], dtype=np.float64), np.asarray(arrays["labels"]).reshape(-1)
    X[~np.isfinite(X)] = np.nan
    X.flags.writeable = False
    gaps = bool(np.isnan(X).any())
    if y.dtype.kind == "f":
        y = y.astype(np.int64)
    if entry.task_rows:
        count, names = len(X) // entry.task_rows, _year_labels(entry, len(X))
        if count < 1:
            raise DataError(f"{entry.title}: {len(X)} rows are too few for one task of {entry.task_rows}.")
        numbers = np.repeat(np.arange(count), entry.task_rows)
    elif "tasks" in arrays:
        numbers, names = np.ravel(arrays["tasks"]), [str(name) for name in arrays.get("task_names", ())]
    else:
        raise DataError(f"{entry.title}: the feature file does not show which row belongs to which task.")
    rows = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    names = names if len(names) == len(rows) else [""] * len(rows)
    classes = np.unique(y)
    info = entry.info()
    if len(classes) != len(entry.class_names):
        info["class_names"] = tuple(map(str, classes))
    return TaskSequence(
        tuple(Task(X[index], y[index], name, gaps) for index, name in zip(rows, names, strict=True)),
        name=entry.name,
        classes=classes,
        description=entry.summary,
        info={**info, "rows": len(X)},
        column_kinds=("pixel",) * X.shape[1],
    )


def _year_labels(entry: CatalogueEntry, rows: int) -> list[str]:
    """First and last year of each task, from the optional attributes file; empty if it is not here or does not fit."""
    from imrc.tables.read import parse_delimited  # loads pyarrow

    for file in entry.optional():
        path = _catalogue.find(file)
        if path is None:
            continue
        _catalogue.verify(file, path)
        columns = parse_delimited(path.read_bytes(), ",")
        years = [str(cell)[:4] for cell in columns[0].to_pylist()[1:]]
        if len(years) == rows:
            size = entry.task_rows
            return [f"{years[j * size]}–{years[(j + 1) * size - 1]}" for j in range(rows // size)]
    return []
