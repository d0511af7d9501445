"""What a sweep is over: lists of values from flags or a TOML file, checked with the limits of a run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc._checks import InputError, InputTypeError, check_choice, check_int, check_names
from imrc.baselines import parse_method
from imrc.core.settings import PRESETS, Window, check_window, own_features
from imrc.evaluation import PARAMETERS
from imrc.evaluation.scenarios import SCENARIO_NAMES, ScenarioName
from imrc.features import KINDS

_RANGE = re.compile(r"^\s*(\d+)\s*:\s*(\d+)\s*$")


def _number(parameter: str) -> Callable[[str, object], int]:
    limits = PARAMETERS[parameter]
    return lambda name, value: check_int(name, value, limits.low, limits.high)


def _choice(allowed: Callable[[], Any]) -> Callable[[str, object], str]:
    return lambda name, value: str(check_choice(name, value, tuple(allowed())))


def _method(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputTypeError(f"{name} must be the name of a method, got {value!r}.")
    if value == "imrc":
        return value
    try:
        method, profile = parse_method(value)
    except InputError as error:
        raise InputError(f"{name}: {error}".replace("method must be one of", "must be one of 'imrc',")) from None
    return method if profile == "default" else f"{method}:{profile}"


_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "datasets": _choice(datasets.names),
    "features": _choice(lambda: KINDS),
    "n": _number("n"),
    "k": _number("k"),
    "b": _number("b"),
    "W": lambda name, value: None if value is None else check_window(value),
    "presets": _choice(lambda: PRESETS),
    "methods": _method,
    "seeds": _number("seed"),
}


def _expanded(key: str, value: object) -> list[object]:
    """One value or a list of values; "a:b" among seeds is a, a + 1, ..., b - 1."""
    values = list(value) if isinstance(value, list | tuple) else [value]
    if key != "seeds":
        return values
    found: list[object] = []
    for one in values:
        match = _RANGE.match(one) if isinstance(one, str) else None
        if match is None:
            found.append(int(one) if isinstance(one, str) and one.strip().isdecimal() else one)
            continue
        low, high = int(match[1]), int(match[2])
        if not low < high <= low + 100_000:
            raise InputError(f"seeds: {one!r} must go up, by at most 100000 (the last number is not included).")
        found += range(low, high)
    return found


FACTORS = tuple(_CHECKS)
"""What a sweep is over, besides repetitions."""


@dataclass(frozen=True)
class SweepSpec:
    """Values a sweep is over; every combination that makes sense is run.

    Attributes
    ----------
    datasets : tuple of str
        Names for `imrc.datasets.load`.
    features : tuple of str
        Representations, see `imrc.features`.
    n, k, b : tuple of int
        Samples per task, tasks, backward steps. No k: each dataset's own number of tasks.
    W : tuple of int, "all" or None
        Windows of the change estimate; None: each preset's own.
    presets : tuple of str
        Presets of IMRC.
    methods : tuple of str
        "imrc" and names of `imrc.baselines.registry`, with a profile after a colon if not the default one.
    seeds : tuple of int
        Seeds of runs.
    repetitions : int
        Splits and draws per seed.
    scenario : {"continual", "multi_task", "adaptation", "next_task"}
        What is learnt from what, and which error the summary shows. Only "multi_task" has cells of its own.

    Raises
    ------
    ValueError, TypeError
        Naming the key, its position in the list, and what is possible.

    Examples
    --------
    >>> SweepSpec(datasets="identical", n=[5, 10], seeds="0:3").seeds
    (0, 1, 2)
    >>> SweepSpec(datasets="identical", n=[5, 0])
    Traceback (most recent call last):
    imrc._checks.InputError: n, value 2 of 2, must be between 1 and 10000; got 0.
    """

    datasets: tuple[str, ...]
    features: tuple[str, ...] = (own_features("recommended").kind,)
    n: tuple[int, ...] = (PARAMETERS["n"].default,)
    k: tuple[int, ...] = ()
    b: tuple[int, ...] = (PARAMETERS["b"].default,)
    W: tuple[Window | None, ...] = (None,)
    presets: tuple[str, ...] = ("recommended",)
    methods: tuple[str, ...] = ("imrc",)
    seeds: tuple[int, ...] = (PARAMETERS["seed"].default,)
    repetitions: int = PARAMETERS["repetitions"].default
    scenario: ScenarioName = "continual"

    def __post_init__(self) -> None:
        check_choice("scenario", self.scenario, SCENARIO_NAMES)
        for key, check in _CHECKS.items():
            values = _expanded(key, getattr(self, key))
            if not values and key != "k":
                raise InputError(f"{key} is empty: give at least one value.")
            many = len(values) > 1
            checked = [
                check(f"{key}, value {i} of {len(values)}," if many else key, value)
                for i, value in enumerate(values, start=1)
            ]
            object.__setattr__(self, key, tuple(dict.fromkeys(checked)))
        limits = PARAMETERS["repetitions"]
        check_int("repetitions", self.repetitions, limits.low, limits.high)

    @classmethod
    def from_values(cls, values: Mapping[str, Any], where: str = "the sweep") -> SweepSpec:
        """Return the specification of plain values, for example those of a TOML file.

        Parameters
        ----------
        values : mapping
            Keys are the attributes of this class; one value or a list of values each.
        where : str
            Where they are from, for messages.
        """
        known = [field.name for field in fields(cls)]
        check_names(where, values, known, "key")
        if "datasets" not in values:
            raise InputError(f"{where}: 'datasets' is missing; name at least one (imrc datasets lists them).")
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
