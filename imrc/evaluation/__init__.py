"""Running sequences: draws, the run loop, results and their summaries."""

from __future__ import annotations

from imrc.evaluation.effective import EffectiveSamples, effective_samples, theorem_4
from imrc.evaluation.lagtable import LagTable
from imrc.evaluation.repetitions import join_repetitions
from imrc.evaluation.results import HEADLINES, RunResult
from imrc.evaluation.run import StepResult, evaluate, iter_run
from imrc.evaluation.settings import PARAMETERS, Parameter, RunSettings
from imrc.evaluation.significance import Difference, Headline
from imrc.evaluation.splits import draw_task, held_out, largest_n

__all__ = [
    "HEADLINES",
    "PARAMETERS",
    "Difference",
    "EffectiveSamples",
    "Headline",
    "LagTable",
    "Parameter",
    "RunResult",
    "RunSettings",
    "StepResult",
    "draw_task",
    "effective_samples",
    "evaluate",
    "held_out",
    "iter_run",
    "join_repetitions",
    "largest_n",
    "theorem_4",
]
