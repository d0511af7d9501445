"""Running sequences: draws, the run loop, results and their summaries."""

from __future__ import annotations

from imrc.evaluation.columns import Columns, LagTable, StepResult
from imrc.evaluation.measures import EffectiveSamples, ErrorMatrix, effective_samples, error_matrix
from imrc.evaluation.results import RunResult, join_repetitions
from imrc.evaluation.run import evaluate, iter_run, run_references
from imrc.evaluation.settings import HEADLINES, SCENARIOS, RunSettings
from imrc.evaluation.significance import Difference, Headline
from imrc.evaluation.splits import draw_task, largest_n

__all__ = ["Difference", "Headline", "error_matrix"]
