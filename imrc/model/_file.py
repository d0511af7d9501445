"""Models as files: arrays, and one JSON text with the names of the classes below.

Loading a file executes nothing from it. Its members are not compressed, so no file takes more memory than its length.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import deque
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

import imrc
from imrc import datasets, features
from imrc._checks import InputError, InputTypeError, check_place
from imrc.core import change, learner, presets, rules_01, rules_log, settings, tracking
from imrc.model._model import Model
from imrc.solvers import api
from imrc.tables import Recipe

SCHEMA, LAYOUT = "imrc.model", 7
"""Increase the layout with every change of the attributes below. Models with another layout are refused."""

KNOWN: dict[str, Any] = {
    one.__name__: one
    for one in (
        *(Model, Recipe, learner.Learner, settings.IMRCSettings, presets.Candidate, api.InstanceSet, api.Solution),
        *(rules_01.ZeroOneLearner, rules_log.LogLossLearner, rules_log._Store, change.Account),
        *(tracking.ComponentTracker, tracking._Stored, change.backward_change, change.printed_change),
        *(tracking.RateWeights, tracking._TaskWeights, change.RateOfChange),
        *(features.Identity, features.Clipped, features.Standardised, features.PulledIn, features.RandomFourier),
        *(features.CompiledFourier, features.Composite, features.Prepared),
    )
}
"""Classes and functions in a model, besides numbers, words, arrays and collections of them."""


def pack(value: Any, arrays: list[NDArray[Any]]) -> Any:  # noqa: ANN401 - anything a model holds
    """Return a value as JSON types. Arrays are appended to the list and replaced by their places."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        place = next((place for place, one in enumerate(arrays) if one is value), len(arrays))
        arrays += [value] if place == len(arrays) else []
        return {"array": place}
    if isinstance(value, np.generic):
        return value.item()
    if getattr(value, "__name__", "") in KNOWN:
        return {"known": value.__name__}
    if type(value).__name__ in KNOWN:
        held = value._asdict() if hasattr(value, "_asdict") else vars(value)
        names = [one.name for one in fields(value)] if is_dataclass(value) else list(held)
        return {"made": type(value).__name__, "of": {name: pack(held[name], arrays) for name in names}}
    if isinstance(value, Mapping):
        return {"mapping": [[pack(key, arrays), pack(one, arrays)] for key, one in value.items()]}
    parts = [pack(one, arrays) for one in value]
    return {"many": type(value).__name__, "of": parts, "most": getattr(value, "maxlen", None)}


def unpack(value: Any, arrays: list[NDArray[Any]]) -> Any:  # noqa: ANN401 - as above
    """Return the value that `pack` packed. Raises any error if it was something else."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case {"array": int(place)}:
            return arrays[place]
        case {"known": str(name)}:
            return KNOWN[name]
        case {"made": str(name), "of": dict(of)}:
            held = {key: unpack(one, arrays) for key, one in of.items()}
            kind = KNOWN[name]
            if is_dataclass(kind) or issubclass(kind, tuple):
                return kind(**held)
            if any(hasattr(kind, key) for key in held):
                raise ValueError(f"{name} has an invalid value")
            thing = object.__new__(kind)
            vars(thing).update(held)
            return thing
        case {"mapping": list(pairs)}:
            return {unpack(key, arrays): unpack(one, arrays) for key, one in pairs}
        case {"many": str(name), "of": list(held), "most": most}:
            parts = [unpack(one, arrays) for one in held]
            return deque(parts, most) if name == "deque" else tuple(parts) if name == "tuple" else parts
    raise ValueError("something unknown")


def write(model: Model, target: str | Path | BinaryIO) -> None:
    """Write a model to an open file, or to a path, whose file is replaced at once."""
    arrays: list[NDArray[Any]] = []
    told = {"schema": SCHEMA, "layout": LAYOUT, "version": imrc.__version__, "model": pack(model, arrays)}
    header, file = np.frombuffer(json.dumps(told).encode(), np.uint8), io.BytesIO()
    np.savez(file, allow_pickle=False, header=header, **{f"{place}": one for place, one in enumerate(arrays)})
    if not isinstance(target, str | Path):
        target.write(file.getvalue())
        return
    place = check_place(target)
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    unfinished.write_bytes(file.getvalue())
    unfinished.replace(place)


def load(path: str | Path | BinaryIO) -> Model:
    """Read a model that `Model.save` wrote.

    Parameters
    ----------
    path : str, Path or open binary file
        The file.

    Returns
    -------
    Model
        On the same kind of computer, it predicts and learns exactly like the saved one.

    Raises
    ------
    InputError
        If the file is damaged, is not a model, or comes from another major version of imrc.
    FileNotFoundError, OSError
        If it does not exist or cannot be opened.
    """
    content = _content(path)
    shown = path if isinstance(path, str | Path) else "The file"
    try:
        told, arrays = _read(content)
        major, ours = (str(one).split(".")[0] for one in (told["version"], imrc.__version__))
        if (major, told["layout"]) != (ours, LAYOUT):
            raise InputError(
                f"{shown} was saved by imrc {told['version']}; this is imrc {imrc.__version__}, which uses another "
                "format. Open it with that version, or learn the model again."
            )
        model: Model = unpack(told["model"], arrays)
        _try(model)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{shown} is not a model saved by imrc, or it is damaged. Learn the model again.") from error
    return model


def _content(path: str | Path | BinaryIO) -> bytes:
    """Return the bytes of a file. For a wrong argument, the error names the right call."""
    if isinstance(path, str | Path):
        if not Path(path).is_file():
            named = f"; the dataset is imrc.datasets.load({path!r})" if path in datasets.names() else ""
            raise FileNotFoundError(f"There is no file {str(path)!r}. imrc.load reads what Model.save wrote{named}.")
        return Path(path).read_bytes()
    if not hasattr(path, "read"):
        raise InputTypeError(f"imrc.load needs the path of a file that Model.save wrote, not {type(path).__name__}.")
    return path.read()


def _read(content: bytes) -> tuple[Any, list[NDArray[Any]]]:
    """Return the header and the arrays of a file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
    if sum(one.file_size for one in members) > len(content) or any(one.compress_type for one in members):
        raise ValueError("larger than it is")
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        told = json.loads(file["header"].tobytes())
        if told["schema"] != SCHEMA:
            raise ValueError("another schema")
        return told, [file[f"{place}"] for place in range(len(file.files) - 1)]


def _try(model: Any) -> None:  # noqa: ANN401 - whatever a file held
    """Raise any error unless the parts of a model match and it predicts a row."""
    import pandas as pd

    size = len(model.classes) * (model._map.n_outputs + 1)
    rules, pooled = [model._coming, *model._rules], model.strategy == "pooled"
    if (
        type(model) is not Model
        or any(coef.shape != (size,) or not isinstance(nu, float) for coef, nu in rules)
        or len(rules) != (2 if pooled else len(model.tasks) + 1)
        or type(model._learner) not in (type(None), rules_log.LogLossLearner if pooled else learner.Learner)
    ):
        raise ValueError("parts that do not match")
    cells = {one["name"]: ["x" if one["kind"] == "category" else None] for one in model.recipe.features}
    X = model.recipe.apply(pd.DataFrame(cells))[0]
    model._scores(X if model._gaps else np.zeros_like(X), "next")
    repr(model)
