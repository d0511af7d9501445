"""Running sequences: draws, the run loop, results and their summaries."""

from __future__ import annotations

from imrc.evaluation.columns import Columns, LagTable, StepResult
from imrc.evaluation.effective import EffectiveSamples, effective_samples
from imrc.evaluation.measures import ErrorMatrix, error_matrix
from imrc.evaluation.results import RunResult, join_repetitions
from imrc.evaluation.run import evaluate, iter_run, run_references
from imrc.evaluation.scenarios import HEADLINES, SCENARIOS
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Difference, Headline
from imrc.evaluation.splits import draw_task, largest_n

__all__ = ["Difference", "Headline", "error_matrix"]
