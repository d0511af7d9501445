"""Image sets through features of a network: published feature files, or files of your own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.datasets import _catalogue
from imrc.datasets._arrays import read_mat, read_npz
from imrc.datasets._catalogue import CatalogueEntry
from imrc.datasets.errors import DataError
from imrc.tables import packed
from imrc.tasks import Task, TaskSequence

_LIMIT = 1 << 30


def _csv_features(data: bytes, features: int) -> Floats:
    """Rows of a feature file: a header or none, an index column or none, then features and the label."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from imrc.tables.read import parse_delimited  # loads pyarrow

    columns, _ = parse_delimited(data, ",", header_lines=0)
    extra = len(columns) - features - 1
    if extra not in (0, 1):
        raise DataError(f"The feature file has {len(columns)} columns; {features} features and a label were expected.")
    columns = columns[extra:]
    values = np.empty((len(columns[0]), len(columns)))
    first = 0
    try:
        pc.cast(columns[0].slice(0, 1), pa.float64())
    except pa.ArrowInvalid:
        first = 1  # a header of names
    # A header of numbers 0, 1, 2, ... is one written by pandas.
    head = [str(column[0]) for column in columns]
    if not first and head[:features] == [str(j) for j in range(features)]:
        first = 1
    for j, column in enumerate(columns):
        cells = column.slice(first)
        cells = pc.if_else(pc.equal(cells, ""), "nan", cells)
        try:
            values[first:, j] = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid as error:
            raise DataError(
                f"Column {j + 1 + extra} of the feature file holds a cell that is no number ({error})."
            ) from None
    return values[first:]


def _from_csv(entry: CatalogueEntry, files: _catalogue.Files) -> dict[str, NDArray[Any]]:
    parts = []
    for file, path in files:
        data = path.read_bytes()
        if packed.kind_of(data) == "zip":
            inside = packed.members(data)
            data = packed.unzip(data, file.member or (inside[0] if inside else ""), _LIMIT)
        parts.append(_csv_features(data, entry.features))
    values = np.concatenate(parts)
    return {"features": values[:, :-1], "labels": values[:, -1].astype(np.int64)}


def _describe(content: Mapping[str, Any]) -> str:
    held = (f"{name} {getattr(value, 'shape', type(value).__name__)}" for name, value in content.items())
    return ", ".join(held) or "nothing"


def _vector(value: Any, rows: int) -> NDArray[Any] | None:  # noqa: ANN401 - whatever a MATLAB file holds
    array = np.asarray(value)
    return array.reshape(-1) if array.size == rows and array.dtype.kind in "iufUb" else None


def _one_block(value: Any, features: int) -> tuple[Floats, NDArray[Any] | None] | None:  # noqa: ANN401
    """Features, and labels if they are one more column, of an array; None if it is neither way round."""
    array = np.asarray(value)
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        return None
    for candidate in (array, array.T):
        if candidate.shape[1] == features:
            return candidate.astype(np.float64), None
        if candidate.shape[1] == features + 1:
            # The label is the column of whole numbers: the last one, or the first.
            last, first = candidate[:, -1], candidate[:, 0]
            if np.equal(last, np.round(last)).all():
                return candidate[:, :-1].astype(np.float64), last
            if np.equal(first, np.round(first)).all():
                return candidate[:, 1:].astype(np.float64), first
    return None


def interpret_mat(content: Mapping[str, Any], entry: CatalogueEntry) -> dict[str, NDArray[Any]]:
    """Find features, labels and tasks among the variables of a MATLAB file; DataError lists what it holds otherwise.

    One matrix (labels possibly one more column) with vectors for labels and tasks, or one matrix or struct per task in
    the order of the file.
    """
    if len(content) == 1 and isinstance(next(iter(content.values())), dict):
        content = next(iter(content.values()))
    blocks: list[tuple[Floats, NDArray[Any] | None]] = []
    for value in content.values():
        inner = list(value.values()) if isinstance(value, dict) else [value]
        found = next((block for block in (_one_block(item, entry.features) for item in inner) if block), None)
        if found is None:
            continue
        features, labels = found
        if labels is None and isinstance(value, dict):
            vectors = [vector for item in inner if (vector := _vector(item, len(features))) is not None]
            labels = vectors[0] if vectors else None
        blocks.append((features, labels))
    if len(blocks) == entry.tasks and all(labels is not None for _, labels in blocks):
        return {
            "features": np.concatenate([features for features, _ in blocks]),
            "labels": np.concatenate([labels for _, labels in blocks if labels is not None]),
            "tasks": np.repeat(np.arange(len(blocks)), [len(features) for features, _ in blocks]),
        }
    if len(blocks) == 1:
        features, labels = blocks[0]
        vectors = [vector for value in content.values() if (vector := _vector(value, len(features))) is not None]
        if labels is not None:
            vectors.insert(0, labels)
        by_count = {len(np.unique(vector)): vector for vector in vectors}
        if entry.classes in by_count and entry.tasks in by_count:
            return {"features": features, "labels": by_count[entry.classes], "tasks": by_count[entry.tasks]}
    raise DataError(
        f"{entry.title}: the MATLAB file was read, but which variables are features ({entry.features} columns), labels "
        f"({entry.classes} classes) and tasks ({entry.tasks}) is not clear. It holds: {_describe(content)}."
    )


def _from_npz(entry: CatalogueEntry, path: Path) -> dict[str, NDArray[Any]]:
    arrays = read_npz(path.read_bytes())
    if not {"features", "labels"} <= set(arrays):
        raise DataError(f"{path.name} should hold arrays 'features' and 'labels'; it holds {_describe(arrays)}.")
    if arrays["features"].ndim != 2 or len(arrays["features"]) != arrays["labels"].size:
        raise DataError(f"{path.name}: features and labels do not fit together ({_describe(arrays)}).")
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
        arrays = _from_csv(entry, files)
    X, y = np.array(arrays["features"], dtype=np.float64), np.asarray(arrays["labels"]).reshape(-1)
    X[~np.isfinite(X)] = np.nan
    X.flags.writeable = False
    gaps = bool(np.isnan(X).any())
    if y.dtype.kind == "f":
        y = y.astype(np.int64)
    names: list[str] = []
    if entry.task_rows:
        count = len(X) // entry.task_rows
        if count < 1:
            raise DataError(f"{entry.title}: {len(X)} rows do not make one task of {entry.task_rows}.")
        rows = [np.arange(j * entry.task_rows, (j + 1) * entry.task_rows) for j in range(count)]
        names = _year_labels(entry, len(X))
    elif "tasks" in arrays:
        numbers = np.asarray(arrays["tasks"]).reshape(-1)
        rows = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
        names = [str(name) for name in arrays["task_names"]] if "task_names" in arrays else []
    else:
        raise DataError(f"{entry.title}: the feature file does not say which row belongs to which task.")
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
        columns, _ = parse_delimited(path.read_bytes(), ",")
        years = [str(cell)[:4] for cell in columns[0].to_pylist()[1:]]
        if len(years) == rows:
            size = entry.task_rows
            return [f"{years[j * size]}–{years[(j + 1) * size - 1]}" for j in range(rows // size)]
    return []
