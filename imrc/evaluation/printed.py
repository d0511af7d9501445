"""Errors printed in the paper, to stand beside ours."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(files("imrc.evaluation").joinpath("printed_errors.toml").read_text(encoding="utf-8"))


def printed_errors(dataset: str, n: int) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation per method; empty where the paper prints nothing.

    Parameters
    ----------
    dataset : str
        Name as in `imrc.datasets`.
    n : int
        Training samples per task; the paper has 10, 50, 100 and 150.

    Returns
    -------
    dict of str to (float, float)
        Keys are names of the registry, and "imrc" for the paper's own method.

    Examples
    --------
    >>> printed_errors("usenet1", 10)["imrc"]
    (0.32, 0.03)
    >>> printed_errors("rotated_digits", 10)
    {}
    """
    cell = _tables().get(f"n{n}", {}).get(dataset, {})
    return {method: (float(mean), float(std)) for method, (mean, std) in cell.items()}
