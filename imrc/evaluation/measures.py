"""Measures of continual learning by the names papers use, each with its formula and the paper it is from.

R[i, j] is the accuracy, one minus the error, on task j after task i was learnt, and T the number of tasks. Definitions
differ between papers, so each names its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from imrc._types import Floats
from imrc.evaluation.calibration import BINS, LEAST_PROBABILITY, balanced_error, calibration_error, log_loss
from imrc.evaluation.lagtable import LagTable
from imrc.evaluation.significance import Headline

if TYPE_CHECKING:
    from imrc.evaluation.results import RunResult

MeasureName = Literal[
    "average_accuracy",
    "backward_transfer",
    "forward_transfer",
    "forgetting",
    "balanced_error",
    "log_loss",
    "calibration",
]

_GEM = "Lopez-Paz and Ranzato, Gradient Episodic Memory for Continual Learning, NIPS 2017"
_BRODERSEN = "Brodersen, Ong, Stephan and Buhmann, The Balanced Accuracy and Its Posterior Distribution, ICPR 2010"
_GOOD = "Good, Rational Decisions, Journal of the Royal Statistical Society B 14, 1952"
_NAEINI = "Naeini, Cooper and Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian Binning, AAAI 2015"
_RWALK = "Chaudhry, Dokania, Ajanthan and Torr, Riemannian Walk for Incremental Learning, ECCV 2018"


@dataclass(frozen=True)
class Measure:
    """One measure of continual learning, its definition in R[i, j], the paper it is from, and what to know here."""

    title: str
    formula: str
    source: str
    note: str = ""


_RARE = "Look at it rather than at the error where a class has less than 20 % of the samples."
_OF_ERRORS: tuple[MeasureName, ...] = ("average_accuracy", "backward_transfer", "forward_transfer", "forgetting")
MEASURES: dict[MeasureName, Measure] = {
    "average_accuracy": Measure("Average accuracy", "mean over j of R[T, j]", _GEM),
    "backward_transfer": Measure(
        "Backward transfer",
        "mean over j < T of R[T, j] - R[j, j]",
        _GEM,
        "Rules that are not learnt again, single task and forward, have 0.",
    ),
    "forward_transfer": Measure(
        "Forward transfer",
        "mean over j > 1 of R[j - 1, j] - r[j]",
        _GEM,
        "r[j] is the accuracy of the class that is most frequent in the tasks before j; in the paper, of a network "
        "before any training. Of forward learning, with or without backward learning, R[j - 1, j] is that of the rule "
        "of the predicted task.",
    ),
    "forgetting": Measure(
        "Forgetting",
        "mean over j < T of the largest R[i, j] with i < T, minus R[T, j]",
        _RWALK,
        "Steps i from j on; negative where the last step is the best one.",
    ),
    "balanced_error": Measure(
        "Balanced error, last step",
        "mean over the classes of the share of their test samples that is given another one",
        _BRODERSEN,
        f"This and the next two: over the test samples of all tasks at the last step, for the rules of IMRC. {_RARE}",
    ),
    "log_loss": Measure(
        "Log loss",
        "minus the mean logarithm of the probability given to the right class",
        _GOOD,
        f"Probabilities below one in {1 / LEAST_PROBABILITY:,.0f} count as that.",
    ),
    "calibration": Measure(
        "Calibration error",
        f"mean over {BINS} bins of |mean probability of the answer - share of right answers|, weighted by samples",
        _NAEINI,
        "0: its probabilities can be taken at their word. Chance alone makes it positive, the more the fewer samples.",
    ),
}
"""The measures, in the order in which tables show them."""


def measures_of_errors(
    errors: LagTable, before: Floats | None = None, reference: Floats | None = None
) -> dict[MeasureName, Floats]:
    """Return every measure of errors for each repetition; NaN where something is not known, or there is only one task.

    `errors` is one minus R. `before` (repetitions, tasks) is the error on each task of what was learnt before it, one
    minus R[j - 1, j], `reference` that of what knows nothing of it, one minus r[j]; None: not known.

    Two tasks: accuracy .9 of the first falls to .6 while the second is learnt to .8.

    >>> found = measures_of_errors(LagTable(1 - np.array([[[0.9, 0.6], [0.8, np.nan]]])))
    >>> {name: float(value[0].round(3)) for name, value in found.items() if np.isfinite(value[0])}
    {'average_accuracy': 0.7, 'backward_transfer': -0.3, 'forgetting': 0.3}
    """
    last, tasks = errors.final(), errors.tasks
    unknown = np.full(len(last), np.nan)
    found: dict[MeasureName, Floats] = dict.fromkeys(_OF_ERRORS, unknown)
    found["average_accuracy"] = 1.0 - last.mean(axis=1)
    if tasks == 1:
        return found
    earlier, at_last = errors.values[:, :-1], last[:, :-1]
    found["backward_transfer"] = (errors.newest()[:, :-1] - at_last).mean(axis=1)
    # Of task j (from 0) lags 0 to T - 2 - j are steps before the last one.
    is_before_last = np.arange(errors.lags) <= (tasks - 2 - np.arange(tasks - 1))[:, None]
    best = np.where(is_before_last, earlier, np.inf).min(axis=2)
    found["forgetting"] = (at_last - best).mean(axis=1)
    if before is not None and reference is not None:
        found["forward_transfer"] = (reference - before)[:, 1:].mean(axis=1)
    return found


def measures_of(result: RunResult) -> dict[str, dict[MeasureName, Headline]]:
    """Return every measure of every rule and method of a run, with its uncertainty; NaN where it is not known."""
    reference = result.before_of("majority")
    unknown = np.full(len(reference), np.nan)
    found = {}
    for rule, errors in result.error_tables.items():
        values = measures_of_errors(errors, result.before_of(rule), reference)
        sums, by_class = result.reliability.get(rule), result.by_class.get(rule)
        values["balanced_error"] = unknown if by_class is None else balanced_error(by_class)
        values["log_loss"] = unknown if sums is None else log_loss(sums)
        values["calibration"] = unknown if sums is None else calibration_error(sums)
        found[rule] = {name: Headline.of(one) for name, one in values.items()}
    return found


def measure_rows(result: RunResult) -> list[dict[str, Any]]:
    """Return the measures of a run as a tidy table: rule, measure, value, stderr, formula, source."""
    return [
        {
            "rule": rule,
            "measure": MEASURES[name].title,
            "value": one.mean,
            "stderr": one.stderr,
            "formula": MEASURES[name].formula,
            "source": MEASURES[name].source,
        }
        for rule, measures in measures_of(result).items()
        for name, one in measures.items()
    ]


def definitions() -> dict[str, str]:
    """Return the formula of each measure with its source, in words, by its title."""
    return {
        one.title: f"{one.formula} ({one.source}).{f' {one.note}' if one.note else ''}" for one in MEASURES.values()
    }


def measure_columns(measures: dict[MeasureName, Headline]) -> dict[str, Any]:
    """Return measures of one rule as columns of a table, each with its standard error."""
    columns: dict[str, Any] = {}
    for name, one in measures.items():
        columns |= {name: one.mean, f"stderr_{name}": one.stderr}
    return columns
