"""How large a run may be: the numbers it holds at once. Each setting has a range, but their product has none."""

from __future__ import annotations

from dataclasses import dataclass

from imrc._checks import InputError
from imrc.core.presets import STORED_ROWS
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.splits import held_out
from imrc.features import FeatureSpec, make
from imrc.tasks import TaskSequence

_VECTORS = 20
"""Vectors as long as a mean vector for each task that is revised, and copies of all means in a diagnosis."""


@dataclass(frozen=True)
class RunLimits:
    """How many numbers a run may hold at once, and how many seconds it may take."""

    cells: float = 250e6
    seconds: float = 3600.0

    @classmethod
    def parse(cls, text: str) -> RunLimits:
        """Return limits from what somebody typed: gigabytes, and minutes after a comma; InputError says how."""
        try:
            gigabytes, minutes = (float(part) for part in text.split(","))
            if not (0.0 < gigabytes <= 1e6 and 0.0 < minutes <= 1e6):
                raise ValueError
        except ValueError:
            raise InputError(
                f"The limit {text!r} is not understood. Give gigabytes and minutes, separated by a comma. With 2,60, "
                "runs that need more than 2 GB or 60 minutes are refused."
            ) from None
        return cls(gigabytes * 1e9 / 8, minutes * 60.0)


def run_cells(sequence: TaskSequence, settings: RunSettings) -> float:
    """Return about how many numbers a run holds at once, at its last step: of every repetition rows, rules, errors."""
    sequence = settings.fit_to(sequence)
    tasks, n, compared = len(sequence), settings.n, len(settings.compared)
    revised = settings.reach(tasks) + 1
    width = make(settings.features, sequence, settings.seed).n_outputs + 1
    cells = compared * tasks * (tasks + n * width)
    if "imrc" in settings.methods:
        rows = n * (tasks if settings.learner.instances == "all" else revised)
        if settings.learner.loss == "log":
            rows = min(n * tasks, max(n * revised, STORED_ROWS))
        cells += revised * (_VECTORS * sequence.n_classes + held_out(int(sequence.sizes.max()))) * width
        cells += 3 * rows * width + min(rows, STORED_ROWS) ** 2 + 4 * revised * tasks
    return float(settings.repetitions * cells)


def diagnosis_cells(sequence: TaskSequence, features: FeatureSpec, seed: int = 0) -> float:
    """Return about how many numbers the diagnosis of a sequence holds at once."""
    width = make(features, sequence, seed).n_outputs + 1
    return float((_VECTORS * len(sequence) * sequence.n_classes + 3 * int(sequence.sizes.max())) * width)
