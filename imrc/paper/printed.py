"""Errors printed in the paper, to compare with ours; NaN, or nothing, where the paper prints none."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

STAND_INS = {"utkfaces_grey": "UTKFaces (ours: 32 × 32 pixels)", "covertype_60": "Covertype (first 60 tasks)"}
"""What replaces one of the paper's datasets if its features are not available, or where not every method was run
on all of it: a row of its own, without print."""
AVERAGE_N = 10
"""Samples per task of the table with average running times."""


@cache
def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads(files("imrc.paper").joinpath(f"printed_{name}.toml").read_text(encoding="utf-8"))


def datasets() -> tuple[str, ...]:
    """Return the names of the paper's datasets, in the order of its tables."""
    return tuple(_tables("errors")["n10"])


def with_settings() -> tuple[str, ...]:
    """Return the datasets in the table over W and b: Weather is in it, and in no other table of the paper."""
    return tuple(_tables("settings")["error"])


def errors(dataset: str, n: int) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation per method of the registry, and "imrc"."""
    cell = _tables("errors").get(f"n{n}", {}).get(dataset, {})
    return {method: (float(mean), float(std)) for method, (mean, std) in cell.items()}


def error(dataset: str, n: int, method: str) -> tuple[float, float]:
    """Return mean and standard deviation printed for a method; for IMRC's revised rule whatever the preset."""
    return errors(dataset, n).get(name_of(method), (math.nan, math.nan))


def name_of(method: str) -> str:
    """Return the name a method has in print: "imrc" for its revised rule, whatever the preset."""
    return "imrc" if method.startswith("imrc:") and method.count(":") == 1 else method


def with_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons of methods with columns printed and printed_std.

    The paper has methods with their default profile, IMRC's main rule with preset ``paper``, and plain errors only.
    """
    shown = [
        (math.nan, math.nan)
        if getattr(row, "measure", "error") != "error"
        or (row.method.startswith("imrc:") and row.method != "imrc:paper")
        else error(row.dataset, row.n, row.method)
        for row in table.itertuples()
    ]
    return table.assign(printed=[mean for mean, _ in shown], printed_std=[std for _, std in shown])


def of(what: str, dataset: str, n: int, key: str) -> float:
    """Return the "error" or "seconds" per task printed for n 10 or 100.

    Of "W2", "W4", "W6" (b = 3) or "b1" to "b5" (W = 2); seconds also of a method.
    """
    values = _tables("settings")[what].get(dataset, {}).get(key, ())
    return float(dict(zip((10, 100), values, strict=False)).get(n, math.nan))


def average_seconds() -> dict[str, float]:
    """Return the row "Ave. running time" of the table for n = 10: seconds per task, by method."""
    return {method: float(value) for method, value in _tables("settings")["average_seconds"].items()}


def characteristics(dataset: str) -> dict[str, int]:
    """Return the numbers of classes, samples and tasks that the paper prints for a dataset."""
    said = _tables("settings")["characteristics"].get(dataset, ())
    return dict(zip(("classes", "samples", "tasks"), said, strict=False))
