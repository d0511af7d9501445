"""Other readings of the paper beside the one in use: whether they reproduce more of the printed numbers."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from imrc.paper import shipped
from imrc.paper.cells import ErrorKind, near
from imrc.paper.measure import TOLERANCE
from imrc.paper.printed import printed_error
from imrc.wording import decimal


class CodeVariant(NamedTuple):
    """What differs between the code of the paper and that of its follow-up: an intercept of random features, and λ₀."""

    intercept: bool
    lambda0: float


VARIANTS = {
    "paper": CodeVariant(True, 1.0),
    "lambda0": CodeVariant(True, 0.7),
    "no_intercept": CodeVariant(False, 1.0),
    "follow_up": CodeVariant(False, 0.7),
}
"""The choices of the paper's code, each of its follow-up's alone, and both."""
TASK_ANGLE = "task_angle"
"""Rotated MNIST with one angle per task instead of one per image."""


def _measured(error: ErrorKind, reading: str) -> pd.DataFrame:
    rows = shipped.table("readings").query("error_kind == @error and reading == @reading")
    printed = [printed_error(row.dataset, row.n, "imrc")[0] for row in rows.itertuples()]
    return rows.assign(gap=rows["error"] - printed)


def follow_up_sentence(error: ErrorKind) -> str:
    """Say whether the choices of the follow-up's code bring the column of IMRC nearer to the printed one."""
    (ours, total), (theirs, _) = (near(_measured(error, name)) for name in ("paper", "follow_up"))
    verdict = "nearer to" if theirs > ours else "as near to" if theirs == ours else "further from"
    return (
        f"With the choices of the follow-up's code, the column is {verdict} the printed one: {theirs} of {total} cells "
        f"are within {decimal(TOLERANCE, 2)}, and {ours} with the paper's choices."
    )


def angles_sentence(error: ErrorKind) -> str:
    """Say how far apart the two readings of the angles are, and how often each is nearer to the printed value."""
    found = (
        _measured(error, name).query("dataset == 'rotated_mnist'").set_index("n") for name in ("paper", TASK_ANGLE)
    )
    image, task = found
    apart = (image["error"] - task["error"]).abs().max()
    further = image["gap"].abs() - task["gap"].abs()
    return (
        f"The two readings are at most {decimal(apart)} apart; an angle per image is closer to the printed value in "
        f"{int((further < 0).sum())} of {len(image)} cells, an angle per task in {int((further > 0).sum())}."
    )
