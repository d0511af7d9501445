"""What a sweep is over: lists of values from flags or a TOML file, checked with the limits of a run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc._checks import InputError, InputTypeError, check_choice, check_names
from imrc.baselines import parse_method
from imrc.core.presets import DEFAULT, own_features
from imrc.core.settings import SETTINGS, Window
from imrc.evaluation.settings import SCENARIO_NAMES, ScenarioName
from imrc.sweeps.cell import is_file
from imrc.tables.given import OPTIONS

READING = ("target", "by", "every", "period", *OPTIONS)
"""How files are cut into tasks, as in `imrc.tasks_from`."""


def _dataset(value: object, name: str) -> str:
    path = Path(value).expanduser() if isinstance(value, str) else Path()
    if path.suffix and not path.is_file():
        raise InputError(f"{name} is no file on this computer: {value!r}.")
    return str(path) if path.is_file() else check_choice(name, value, datasets.names())


def _method(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InputTypeError(f"{name} must be the name of a method, got {value!r}.")
    if value == "imrc":
        return value
    try:
        method, profile = parse_method(value)
    except InputError as error:
        raise InputError(f"{name}: {error}".replace("method must be one of", "must be one of 'imrc',")) from None
    return method if profile == "default" else f"{method}:{profile}"


_CHECKS: dict[str, Callable[[object, str], Any]] = {
    "datasets": _dataset,
    **{name: SETTINGS[name].check for name in ("features", "n", "k", "b")},
    "W": lambda value, name: None if value is None else SETTINGS["W"].check(value, name),
    "presets": SETTINGS["preset"].check,
    "methods": _method,
    "seeds": SETTINGS["seed"].check,
}
FACTORS = tuple(_CHECKS)
"""What a sweep is over, besides repetitions."""


def _seeds(given: object) -> list[object]:
    """Return the seeds that one entry stands for: "a:b" is a, a + 1, ..., b - 1."""
    if not isinstance(given, str):
        return [given]
    match = re.fullmatch(r"\s*(\d+)\s*:\s*(\d+)\s*", given)
    if match is None:
        return [int(given) if given.strip().isdecimal() else given]
    low, high = int(match[1]), int(match[2])
    if not low < high <= low + 100_000:
        raise InputError(f"seeds: {given!r} must go up, by at most 100000 (the last number is not included).")
    return [*range(low, high)]


@dataclass(frozen=True)
class SweepSpec:
    """Values a sweep is over; every combination that makes sense is run.

    A value that is not possible is refused by its key and position in the list.

    >>> SweepSpec(datasets="identical", n=[5, 10], seeds="0:3").seeds
    (0, 1, 2)
    >>> SweepSpec(datasets="identical", n=[5, 0])
    Traceback (most recent call last):
    imrc._checks.InputError: n, value 2 of 2, must be between 1 and 10000; got 0.
    """

    datasets: tuple[str, ...]  # names for `imrc.datasets.load`, or paths of files
    features: tuple[str, ...] = (own_features(DEFAULT).kind,)
    n: tuple[int, ...] = (SETTINGS["n"].default,)  # samples per task
    k: tuple[int, ...] = ()  # tasks; none: each dataset's own number
    b: tuple[int, ...] = (SETTINGS["b"].default,)
    W: tuple[Window | None, ...] = (None,)  # windows of the change estimate; None: each preset's own
    presets: tuple[str, ...] = (DEFAULT,)
    methods: tuple[str, ...] = ("imrc",)  # with a profile after a colon if not the default one
    seeds: tuple[int, ...] = (SETTINGS["seed"].default,)
    repetitions: int = SETTINGS["repetitions"].default  # splits and draws per seed
    scenario: ScenarioName = "continual"  # only "multi_task" has cells of its own
    reading: Mapping[str, Any] = field(default_factory=dict)  # how all files are cut, see `READING`

    def __post_init__(self) -> None:
        check_choice("scenario", self.scenario, SCENARIO_NAMES)
        for key, check in _CHECKS.items():
            given = getattr(self, key)
            values = list(given) if isinstance(given, list | tuple) else [given]
            if key == "seeds":
                values = [seed for one in values for seed in _seeds(one)]
            if not values and key != "k":
                raise InputError(f"{key} is empty. Give at least one value.")
            where = [f"{key}, value {i} of {len(values)}," for i in range(1, len(values) + 1)]
            named = zip(where if len(values) > 1 else [key], values, strict=False)
            object.__setattr__(self, key, tuple(dict.fromkeys(check(value, name) for name, value in named)))
        SETTINGS["repetitions"].check(self.repetitions)
        check_names("reading", self.reading, READING, "key")
        if self.reading and not any(map(is_file, self.datasets)):
            raise InputError(f"{next(iter(self.reading))} is for your own files. Datasets are already cut into tasks.")

    @classmethod
    def from_values(cls, values: Mapping[str, Any], where: str = "the sweep") -> SweepSpec:
        """Return the specification of plain values, one or a list per attribute; `where` says where they are from."""
        check_names(where, values, [one.name for one in fields(cls)], "key")
        if "datasets" not in values:
            raise InputError(f"{where}: 'datasets' is missing. Name at least one (imrc datasets lists them).")
        try:
            return cls(**values)
        except InputError as error:
            raise type(error)(f"{where}: {error}") from None

    @classmethod
    def from_toml(cls, path: str | Path) -> SweepSpec:
        """Read the values from a TOML file, see `from_values`."""
        return cls.from_values(read_toml(path), Path(path).name)


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the values of a TOML file; raise ValueError that says why it cannot be read."""
    path = Path(path).expanduser()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8, so it cannot be TOML.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name} is not TOML: {error}.") from None
