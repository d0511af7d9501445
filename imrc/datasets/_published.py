"""The catalogue's datasets: from verified files to sequences of tasks."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError, check_choice, check_int
from imrc._types import Floats, Ints
from imrc.datasets import _catalogue
from imrc.datasets._catalogue import CatalogueEntry
from imrc.datasets._features import content_of, read_idx, read_npz, sequence_from_features
from imrc.datasets.digits import turning
from imrc.tasks import TaskSequence, sequence_from_blocks

if TYPE_CHECKING:
    import pandas as pd


def _only(entry: CatalogueEntry) -> bytes:
    """Return the one data file of an entry, verified and unpacked."""
    ((file, path),) = _catalogue.require(entry)
    return content_of(file, path)


def _counts(y: NDArray[Any]) -> dict[str, Any]:
    """Rows and class counts of the whole file, rows left over included."""
    values, counts = np.unique(y, return_counts=True)
    return {"rows": len(y), "class_counts": dict(zip(values.tolist(), counts.tolist(), strict=True))}


def _blocks(
    entry: CatalogueEntry,
    X: Floats,
    y: NDArray[Any],
    names: Sequence[str],
    facts: Mapping[str, Any],
    **more: Any,  # noqa: ANN401 - of TaskSequence
) -> TaskSequence:
    # Read-only arrays are sliced by the tasks instead of copied.
    X.flags.writeable = y.flags.writeable = False
    more |= {"name": entry.name, "description": entry.summary, "column_kinds": entry.column_kinds}
    more |= {"feature_names": tuple(names), "info": {**entry.info(), **facts}}
    return sequence_from_blocks(X, y, entry.task_rows, **more)


def _table(entry: CatalogueEntry, names: Sequence[str] = ()) -> pd.DataFrame:
    """Return what ARFF, CSV with or without a header, or numbers between blanks hold; `names` replace the file's."""
    import pandas as pd

    data = _only(entry)
    first, start = data.partition(b"\n")[0], re.search(rb"(?im)^@data\s*$", data)
    is_header = not start and not re.fullmatch(rb"[-+.,eE\d\s]+", first)
    found = first.split(b",") if is_header else []
    if start:
        found = re.findall(rb"(?im)^@attribute\s+(\S+)", data[: start.start()])
        # One row of a published file ends in a stray comma.
        data = re.sub(rb",[ \t]*(?=\r?$)", b"", data[start.end() :], flags=re.MULTILINE)
    # Arrow rounds exactly, whatever the version; between blanks there are only whole numbers.
    how = (",", "pyarrow") if start or b"," in first else (r"\s+", "c")
    table = pd.read_csv(io.BytesIO(data), sep=how[0], engine=how[1], header=None, skiprows=int(is_header))
    named = [name.decode().strip("'\" \r") for name in found] or [f"x{j + 1}" for j in range(table.shape[1])]
    return table.set_axis([*names, "label"] if names else named, axis=1)


def _numbers(column: pd.Series[Any]) -> NDArray[Any]:
    return np.asarray(column, dtype=np.int64)


def _reader(
    names: Sequence[str] = (), label: Callable[[pd.Series[Any]], NDArray[Any]] = _numbers
) -> Callable[[CatalogueEntry], TaskSequence]:
    """Return a reader of a table of numbers with the label in its last column; `names` replace those of the file."""

    def read(entry: CatalogueEntry) -> TaskSequence:
        table = _table(entry, names)
        X, y = np.ascontiguousarray(table.iloc[:, :-1].to_numpy(dtype=np.float64)), label(table.iloc[:, -1])
        if X.shape != (entry.samples, entry.features):
            raise DataError(
                f"{entry.title}: expected {entry.samples:,} rows and {entry.features} features, "
                f"found {X.shape[0]:,} and {X.shape[1]}."
            )
        return _blocks(entry, X, y, [*table][:-1], _counts(y))

    return read


_WEATHER = (
    "temperature", "dew point", "sea level pressure", "visibility", "average wind speed",
    "maximum sustained wind speed", "maximum temperature", "minimum temperature",
)  # fmt: skip
_COVERTYPE = (
    "elevation", "aspect", "slope", "horizontal distance to water", "vertical distance to water",
    "horizontal distance to roads", "hillshade 9 am", "hillshade noon", "hillshade 3 pm",
    "horizontal distance to fire points", *(f"wilderness area {j}" for j in range(1, 5)),
    *(f"soil type {j}" for j in range(1, 41)),
)  # fmt: skip


Labels = Literal["1,2,3", "2"]


def covertype(entry: CatalogueEntry, *, tasks: int | None = None, labels: Labels = "1,2,3") -> TaskSequence:
    """Cartographic variables and cover types of forest, 54 features; only rows of the first `tasks` are read.

    Class 1 are the cover types in `labels`. The paper names none; with the guess "1,2,3", errors are closest to print.
    """
    check_choice("labels", labels, get_args(Labels))
    rows = entry.samples if tasks is None else check_int("tasks (k)", tasks, 1, entry.tasks) * entry.task_rows
    ((_, path),) = _catalogue.require(entry)
    from pandas import read_csv

    values = read_csv(path, header=None, nrows=rows, dtype=np.int16).to_numpy()
    chosen = [int(number) for number in labels.split(",")]
    y = np.isin(values[:, -1], chosen).astype(np.int64)
    words = f"cover type{'s' * (len(chosen) > 1)} {labels.replace(',', ', ')}"
    facts = {"label": f"{words} or another", "class_names": ("other cover types", words)}
    facts |= _counts(y) if tasks is None else {}
    return _blocks(entry, values[:, :-1].astype(np.float64), y, _COVERTYPE, facts, classes=np.arange(2))


def utkfaces_grey(entry: CatalogueEntry) -> TaskSequence:
    """Grey images of 32 by 32 pixels by age, then men before women, so many tasks of 250 hold one class only."""
    arrays = read_npz(_only(entry))
    age, gender = arrays["age"].astype(np.int64), arrays["gender"].astype(np.int64)
    X, rows = arrays["images"].reshape(len(age), -1) / 255.0, entry.task_rows
    labels = [f"{age[j * rows]}–{age[(j + 1) * rows - 1]} years" for j in range(len(X) // rows)]
    names = [f"pixel {r},{c}" for r in range(32) for c in range(32)]
    return _blocks(entry, X, gender, names, _counts(gender), labels=labels)


@lru_cache(maxsize=1)
def _images(files: _catalogue.Files, _changed: tuple[int, ...]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Training images followed by test images, kept so that other seeds and task counts need no unpacking."""
    train, train_labels, test, test_labels = (read_idx(content_of(file, path)) for file, path in files)
    images, digits = np.concatenate([train, test]), np.concatenate([train_labels, test_labels])
    if images.shape != (70_000, 28, 28) or digits.shape != (70_000,):
        raise DataError(f"MNIST should contain 70,000 images of 28 by 28 pixels; found {images.shape}.")
    images.flags.writeable = digits.flags.writeable = False
    return images, digits


def rotated_mnist(
    entry: CatalogueEntry,
    *,
    tasks: int = 60,
    seed: int = 0,
    labels: Literal["5 or more", "more than 5"] = "5 or more",
    angles: Literal["image", "task"] = "image",
) -> TaskSequence:
    """Return the digits of MNIST, pixels in [0, 1], cut into 2 to 350 tasks whose rotation grows from 0 to 180 degrees.

    Images of task j (from 1) are turned, counter-clockwise, by angles drawn from [180 (j-1) / k, 180 j / k], or all by
    one. The paper describes class 1 as "greater than 5", but its errors are those of "5 or more".
    """
    tasks = check_int("tasks (k)", tasks, 2, entry.max_tasks)
    check_choice("labels", labels, ("5 or more", "more than 5"))
    check_choice("angles", angles, ("image", "task"))
    files = _catalogue.require(entry)
    images, digits = _images(files, tuple(path.stat().st_mtime_ns for _, path in files))
    rows, names = len(digits), entry.class_names if labels == "5 or more" else ("0-5", "6-9")

    def turned(order: Ints, degrees: Floats) -> Floats:
        from imrc.datasets._rotation_kernel import rotate_pixels  # compiled code is loaded only when it is needed

        X = np.empty((len(order), 784))
        rotate_pixels(images, order, degrees, X)
        return X

    about: dict[str, Any] = {"name": entry.name, "description": entry.summary, "digits": "g"}
    about |= {"info": {**entry.info(), "class_names": names, "rows": rows}}
    large, generator = digits >= (5 if labels == "5 or more" else 6), np.random.default_rng([seed, 28])
    return turning(large.astype(np.int64), generator, tasks, 180.0, turned, one_angle=angles == "task", **about)


READERS: Mapping[str, Callable[..., TaskSequence]] = {
    "label_last": _reader(),
    # The first line (1500,99,A1,...) counts rows and columns, so it is no header.
    "usenet2": _reader([f"A{j + 1}" for j in range(99)]),
    "weather": _reader(_WEATHER),
    "power_supply": _reader(label=lambda hour: np.where(hour < 12, "am", "pm")),
    "covertype": covertype,
    "covertype_excerpt": partial(covertype, labels="2"),
    "electricity": _reader(label=lambda change: change.str.strip("'\" ").to_numpy(dtype=str)),
    "rotated_mnist": rotated_mnist,
    "feature_file": sequence_from_features,
    "utkfaces_grey": utkfaces_grey,
}
