"""The references of a decision: the most frequent class and one rule for all tasks, on the draws of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from imrc.evaluation.results import RunResult
from imrc.evaluation.run import run_all
from imrc.evaluation.scenarios import REFERENCES
from imrc.evaluation.settings import RunSettings
from imrc.tasks import TaskSequence

REFERENCE: Mapping[str, Any] = {
    "methods": REFERENCES, "preset": "paper", "W": None, "b": 0, "overrides": (), "scenario": "continual",
}  # fmt: skip
"""What the run of the references changes in the settings of a run; everything else they share, the draws too."""


def run_references(sequence: TaskSequence, settings: RunSettings) -> RunResult:
    """Run the references of a decision on the same draws as a run with these settings."""
    return run_all(sequence, replace(settings, **REFERENCE))


def with_references(settings: RunSettings) -> RunSettings:
    """Return what runs the references beside the methods of these settings, in one pass: see `split_references`."""
    return replace(settings, methods=(*settings.methods, *REFERENCES))


def split_references(result: RunResult, settings: RunSettings) -> tuple[RunResult, RunResult]:
    """Return the run of these settings and that of its references from the result of both in one pass."""
    return result.part(settings), result.part(replace(settings, **REFERENCE))
