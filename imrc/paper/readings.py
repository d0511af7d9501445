"""Other readings of the paper beside the one in use: whether the printed numbers come out again more often."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from imrc.paper import shipped
from imrc.paper.measure import SIZES, TOLERANCE
from imrc.paper.printed import printed_errors
from imrc.wording import decimal, signed, with_spread

if TYPE_CHECKING:
    import pandas as pd

    from imrc.paper.cells import ErrorKind


class Choice(NamedTuple):
    """What differs between the code of the paper and that of its follow-up: an intercept of random features, and λ₀."""

    intercept: bool
    lambda0: float


CHOICES = {
    "paper": Choice(True, 1.0),
    "lambda0": Choice(True, 0.7),
    "no_intercept": Choice(False, 1.0),
    "follow_up": Choice(False, 0.7),
}
"""The choices of the paper's code, each of its follow-up's alone, and both."""

TASK_ANGLE = "task_angle"
"""Rotated MNIST with one angle per task instead of one per image."""

_TITLES = {
    "paper": "The paper's code: λ₀ = 1, an intercept",
    "lambda0": "λ₀ = .7",
    "no_intercept": "No intercept",
    "follow_up": "The follow-up's code: λ₀ = .7, no intercept",
}


def _measured(error: ErrorKind) -> pd.DataFrame:
    rows = shipped.table("readings").query("error_kind == @error")
    printed = [printed_errors(row.dataset, row.n).get("imrc", (math.nan,))[0] for row in rows.itertuples()]
    return rows.assign(printed=printed, gap=rows["error"] - printed)


def _counts(part: pd.DataFrame) -> tuple[int, int]:
    """Return how many cells are near print, and how many there are."""
    both = part["gap"].dropna().abs()
    return int((both <= TOLERANCE).sum()), len(both)


def follow_up_table(error: ErrorKind) -> pd.DataFrame:
    """Return how many cells of IMRC's column are near print with each of `CHOICES`, per n, and the differences."""
    import pandas as pd

    measured, rows = _measured(error), []
    for reading, title in _TITLES.items():
        part = measured[measured["reading"] == reading]
        counts = [_counts(part[part["n"] == n]) for n in SIZES] + [_counts(part)]
        texts = ["{} of {}".format(*pair) for pair in counts]
        rows.append([title, *texts, decimal(part["gap"].abs().median()), signed(part["gap"].mean())])
    sizes = [f"n = {n}" for n in SIZES]
    return pd.DataFrame(rows, columns=["Choices", *sizes, "All n", "Median difference", "Mean, ours − printed"])


def follow_up_sentence(error: ErrorKind) -> str:
    """Say whether the choices of the follow-up's code bring IMRC's column nearer to print."""
    measured = _measured(error)
    (ours, total), (theirs, _) = (_counts(measured[measured["reading"] == name]) for name in ("paper", "follow_up"))
    verdict = "nearer to" if theirs > ours else "as near to" if theirs == ours else "further from"
    return (
        f"The choices of the follow-up's code bring the column {verdict} print: {theirs} of {total} cells are within "
        f"{decimal(TOLERANCE, 2)}, with the paper's {ours}."
    )


def angles_table(error: ErrorKind) -> pd.DataFrame:
    """Return the errors of rotated MNIST with an angle per image and per task, beside print: one row per n."""
    import pandas as pd

    measured = _measured(error).query("dataset == 'rotated_mnist'").set_index(["reading", "n"])
    rows = []
    for n in SIZES:
        ours = [measured.loc[(reading, n)] for reading in ("paper", TASK_ANGLE)]
        texts = [with_spread(row["error"], row["std"]) for row in ours]
        rows.append([n, *texts, decimal(ours[0]["printed"], 2)])
    return pd.DataFrame(rows, columns=["n", "An angle per image (ours)", "An angle per task", "Printed"])


def angles_sentence(error: ErrorKind) -> str:
    """Say how far the two readings of the angles are apart, and in how many cells each is nearer to print."""
    measured = _measured(error).query("dataset == 'rotated_mnist'").set_index(["reading", "n"])
    errors, gaps = measured["error"], measured["gap"].abs()
    apart = (errors["paper"] - errors[TASK_ANGLE]).abs().max()
    nearer = int((gaps["paper"] < gaps[TASK_ANGLE]).sum()), int((gaps["paper"] > gaps[TASK_ANGLE]).sum())
    return (
        f"The two readings are at most {decimal(apart)} apart; an angle per image is nearer to print in {nearer[0]} of "
        f"{len(SIZES)} cells, an angle per task in {nearer[1]}."
    )
