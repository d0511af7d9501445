"""Running sequences: draws, the run loop, results and their summaries."""

from __future__ import annotations

from imrc.evaluation.decision import Decision, Strategy, decide, run_references
from imrc.evaluation.effective import EffectiveSamples, effective_samples, theorem_4
from imrc.evaluation.lagtable import LagTable
from imrc.evaluation.matrix import ErrorMatrix, error_matrix
from imrc.evaluation.measures import MEASURES, Measure
from imrc.evaluation.model import fit_model
from imrc.evaluation.realised import Realised, realised_samples
from imrc.evaluation.repetitions import join_repetitions
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import StepResult, evaluate, iter_run
from imrc.evaluation.scenarios import HEADLINES, SCENARIOS, Scenario
from imrc.evaluation.settings import PARAMETERS, Parameter, RunSettings
from imrc.evaluation.significance import Difference, Headline
from imrc.evaluation.splits import draw_task, held_out, largest_n
from imrc.evaluation.uses import RuleUses, rule_uses

__all__ = [
    "HEADLINES",
    "MEASURES",
    "PARAMETERS",
    "SCENARIOS",
    "Decision",
    "Difference",
    "EffectiveSamples",
    "ErrorMatrix",
    "Headline",
    "LagTable",
    "Measure",
    "Parameter",
    "RunResult",
    "Realised",
    "RuleUses",
    "RunSettings",
    "Scenario",
    "StepResult",
    "Strategy",
    "decide",
    "draw_task",
    "effective_samples",
    "error_matrix",
    "evaluate",
    "fit_model",
    "held_out",
    "iter_run",
    "join_repetitions",
    "largest_n",
    "realised_samples",
    "rule_uses",
    "run_references",
    "theorem_4",
]
