"""Other readings of the paper beside the one in use: whether they reproduce more of the printed numbers."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from imrc.paper import shipped
from imrc.paper.cells import ErrorKind, near
from imrc.paper.measure import SIZES, TOLERANCE
from imrc.paper.printed import printed_error
from imrc.wording import decimal, signed, with_spread


class CodeVariant(NamedTuple):
    """What differs between the code of the paper and that of its follow-up: an intercept of random features, and λ₀."""

    title: str
    intercept: bool
    lambda0: float


VARIANTS = {
    "paper": CodeVariant("The paper's code: λ₀ = 1, an intercept", True, 1.0),
    "lambda0": CodeVariant("λ₀ = .7", True, 0.7),
    "no_intercept": CodeVariant("No intercept", False, 1.0),
    "follow_up": CodeVariant("The follow-up's code: λ₀ = .7, no intercept", False, 0.7),
}
"""The choices of the paper's code, each of its follow-up's alone, and both."""

TASK_ANGLE = "task_angle"
"""Rotated MNIST with one angle per task instead of one per image."""


def _measured(error: ErrorKind) -> pd.DataFrame:
    rows = shipped.table("readings").query("error_kind == @error")
    printed = [printed_error(row.dataset, row.n, "imrc")[0] for row in rows.itertuples()]
    return rows.assign(printed=printed, gap=rows["error"] - printed)


def follow_up_table(error: ErrorKind) -> pd.DataFrame:
    """Return how many cells of IMRC's column are near the printed values, per variant and n, and the differences."""
    measured, rows = _measured(error), []
    for reading, variant in VARIANTS.items():
        part = measured[measured["reading"] == reading]
        counts = [near(part[part["n"] == n]) for n in SIZES] + [near(part)]
        texts = ["{} of {}".format(*pair) for pair in counts]
        rows.append([variant.title, *texts, decimal(part["gap"].abs().median()), signed(part["gap"].mean())])
    sizes = [f"n = {n}" for n in SIZES]
    return pd.DataFrame(rows, columns=["Choices", *sizes, "All n", "Median difference", "Mean, ours − printed"])


def follow_up_sentence(error: ErrorKind) -> str:
    """Say whether the choices of the follow-up's code bring the column of IMRC nearer to the printed one."""
    measured = _measured(error)
    (ours, total), (theirs, _) = (near(measured[measured["reading"] == name]) for name in ("paper", "follow_up"))
    verdict = "nearer to" if theirs > ours else "as near to" if theirs == ours else "further from"
    return (
        f"With the choices of the follow-up's code, the column is {verdict} the printed one: {theirs} of {total} cells "
        f"are within {decimal(TOLERANCE, 2)}, and {ours} with the paper's choices."
    )


def _angles(error: ErrorKind) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of rotated MNIST by n: with an angle per image, and with one per task."""
    measured = _measured(error).query("dataset == 'rotated_mnist'").set_index("n").loc[list(SIZES)]
    image, task = (measured[measured["reading"] == reading] for reading in ("paper", TASK_ANGLE))
    return image, task


def angles_table(error: ErrorKind) -> pd.DataFrame:
    """Return the errors of rotated MNIST with an angle per image and per task, beside print: one row per n."""
    image, task = _angles(error)
    columns = {
        "n": SIZES,
        "An angle per image (ours)": map(with_spread, image["error"], image["std"]),
        "An angle per task": map(with_spread, task["error"], task["std"]),
        "Printed": [decimal(value, 2) for value in image["printed"]],
    }
    return pd.DataFrame({title: list(values) for title, values in columns.items()})


def angles_sentence(error: ErrorKind) -> str:
    """Say how far apart the two readings of the angles are, and how often each is nearer to the printed value."""
    image, task = _angles(error)
    apart = (image["error"] - task["error"]).abs().max()
    further = image["gap"].abs() - task["gap"].abs()
    return (
        f"The two readings are at most {decimal(apart)} apart; an angle per image is closer to the printed value in "
        f"{int((further < 0).sum())} of {len(SIZES)} cells, an angle per task in {int((further > 0).sum())}."
    )
