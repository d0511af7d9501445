r"""Every printed value carried here, against an independent reading of the paper's own source.

The paper's LaTeX source is not part of the project. It is looked for beside the real data (``paper/*.tex`` two folders
above ``$IMRC_DATA``), and these tests skip without it.
"""

import math
import os
import re
from pathlib import Path

import pytest

from imrc.paper import printed

METHODS = ("gem", "mer", "ella", "ewc", "condor", "driftsurf", "aue", "imrc")
SETTINGS = ("W2", "W4", "W6", "b1", "b2", "b3", "b4", "b5")
TIMED = ("gem", "mer", "ella", "ewc", "b1", "b2", "b3", "b4", "b5")
NAMES = {
    "yearbook": "yearbook", "i. noise": "imagenet_noise", "imagenet noise": "imagenet_noise", "domainnet": "domainnet",
    "utkfaces": "utkfaces", "utkface": "utkfaces", "r. mnist": "rotated_mnist", "rotated mnist": "rotated_mnist",
    "clear": "clear", "p. supply": "power_supply", "power supply": "power_supply", "usenet1": "usenet1",
    "usenet2": "usenet2", "german": "german", "spam": "spam", "covert.": "covertype", "covertype": "covertype",
    "weather": "weather", "ave. running time": "average",
}  # fmt: skip
LABELS = {10: "tab:error10_100", 50: "tab:error50", 100: "tab:error100", 150: "tab:error150"}


@pytest.fixture(scope="module")
def source() -> str:
    data = Path(os.environ["IMRC_DATA"])
    found = sorted((data.parents[1] / "paper").glob("*.tex")) if len(data.parents) > 1 else []
    if not found:
        pytest.skip(f"the paper's source was not found beside IMRC_DATA={data}")
    return found[0].read_text(encoding="utf-8")


def rows(source: str, label: str) -> dict[str, list[str]]:
    """Return the rows of a table whose first cell names a dataset: the numbers of each of the other cells, as text."""
    tables = (part.split(r"\end{table}")[0] for part in source.split(r"\begin{table}")[1:])
    (body,) = (table for table in tables if rf"\label{{{label}}}" in table)
    found: dict[str, list[str]] = {}
    for line in re.split(r"\\\\", body.split(r"\begin{tabular}")[1]):
        plain = re.sub(r"\\hline|\\cite\{[^}]*\}|\\textbf|[{}$\n]", " ", line)
        first, *cells = (re.sub(r"\s+", " ", cell).strip() for cell in plain.split("&"))
        for name, ours in NAMES.items():
            if first.lower() == name:
                assert ours not in found, (label, name)
                found[ours] = cells
    return found


def pairs(cells: list[str]) -> list[list[float]]:
    """Return the numbers of cells such as ".18 \\pm .03" and "581,012"."""
    return [[float(number) for number in cell.replace(",", "").split(r"\pm")] for cell in cells]


@pytest.mark.parametrize("n", LABELS)
def test_errors_and_their_spread(source, n):
    table = rows(source, LABELS[n])
    table.pop("average", None)
    assert set(table) == set(printed.datasets())
    for name, cells in table.items():
        expected = dict(zip(METHODS, map(tuple, pairs(cells)), strict=True))
        assert printed.errors(name, n) == expected, name


@pytest.mark.parametrize(
    ("label", "columns", "carried", "names"),
    [("tab:comp", SETTINGS, "error", printed.with_settings()), ("tab:time", TIMED, "seconds", printed.datasets())],
)
def test_errors_for_other_windows_and_backward_steps_and_running_times(source, label, columns, carried, names):
    table = rows(source, label)
    assert set(table) == set(names) == {*printed.datasets(), *(["weather"] if label == "tab:comp" else [])}
    for name, cells in table.items():
        values = [value for (value,) in pairs(cells)]
        expected = {(what, n): values[2 * j + i] for j, what in enumerate(columns) for i, n in enumerate((10, 100))}
        assert len(values) == len(expected)
        assert {key: printed.of(carried, name, key[1], key[0]) for key in expected} == expected, name


def test_average_running_times(source):
    values = [value for (value,) in pairs(rows(source, LABELS[10])["average"])]
    assert printed.average_seconds() == dict(zip(METHODS, values, strict=True))


def test_characteristics_of_the_datasets(source):
    table = rows(source, "tab:datsets")
    assert list(table) == list(printed.datasets())
    for name, cells in table.items():
        expected = dict(zip(("classes", "samples", "tasks"), (int(value) for (value,) in pairs(cells)), strict=True))
        assert printed.characteristics(name) == expected, name


def test_nothing_is_carried_that_is_not_printed():
    assert printed.errors("weather", 10) == {}
    assert math.isnan(printed.of("error", "spam", 50, "b3"))
    assert math.isnan(printed.of("seconds", "weather", 10, "b3"))
    assert math.isnan(printed.of("seconds", "spam", 10, "condor"))
