"""Measures of continual learning by the names papers use, each with its formula and the paper it is from.

R[i, j] is the accuracy, one minus the error, on task j after task i was learnt, and T the number of tasks. Definitions
differ between papers, so each names its own. How far probabilities can be believed is counted over the test samples of
all tasks, each with the rule it has at the last step, so it is kept as a few sums per rule. An error matrix of another
program is checked, and summed up by the same measures. Effective samples are one number with its interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import DataError, check_choice
from imrc._types import Floats
from imrc.evaluation.columns import LagTable
from imrc.evaluation.significance import Headline, mean_and_stderr, mean_interval

if TYPE_CHECKING:
    import pandas as pd

    from imrc.evaluation.results import RunResult

BINS = 10
"""Bins of equal width for the probability of the answer."""

LEAST_PROBABILITY = 1e-6
"""Smaller ones count as this in the log loss: a randomised rule can give 0, and one such sample would decide."""

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


MEASURES: dict[MeasureName, Measure] = {
    "average_accuracy": Measure("Average accuracy", "mean over j of R[T, j]", _GEM),
    "backward_transfer": Measure(
        "Backward transfer",
        "mean over j < T of R[T, j] - R[j, j]",
        _GEM,
        "It is 0 for rules that are never revised (alone, forward).",
    ),
    "forward_transfer": Measure(
        "Forward transfer",
        "mean over j > 1 of R[j - 1, j] - r[j]",
        _GEM,
        "r[j] is the accuracy of the class that is most frequent in the tasks before j; in the paper, it is that of a "
        "network before any training. For forward learning, with or without backward learning, R[j - 1, j] is the "
        "accuracy of the rule of the predicted task.",
    ),
    "forgetting": Measure(
        "Forgetting",
        "mean over j < T of the largest R[i, j] with i < T, minus R[T, j]",
        _RWALK,
        "Over steps i from j on. Negative if the last step is the best one.",
    ),
    "balanced_error": Measure(
        "Mean error of the classes, last step",
        "mean over the classes of the share of their test samples that are given another class",
        _BRODERSEN,
        "This measure and the next two use the test samples of all tasks at the last step, for the rules of IMRC. "
        "Prefer it to the error if a class has less than 20 % of the samples.",
    ),
    "log_loss": Measure(
        "Log loss",
        "minus the mean logarithm of the probability given to the right class",
        _GOOD,
        f"Probabilities below one in {1 / LEAST_PROBABILITY:,.0f} are raised to that.",
    ),
    "calibration": Measure(
        "Calibration error",
        f"mean over {BINS} bins of |mean probability of the answer - share of correct predictions|, weighted by "
        "samples",
        _NAEINI,
        "0 means perfectly calibrated. Even a well calibrated rule scores above 0, especially on few samples.",
    ),
}
"""The measures, in the order in which tables show them."""


def measures_of_errors(
    errors: LagTable, before: Floats | None = None, reference: Floats | None = None
) -> dict[MeasureName, Floats]:
    """Return every measure of errors (1 - R) for each repetition; NaN where something is unknown.

    `before` (repetitions, tasks) is 1 - R[j - 1, j], the error on each task of what was learnt before it, `reference`
    1 - r[j], that of a guess without any of its data.
    """
    last, tasks = errors.final(), errors.tasks
    unknown = np.full(len(last), np.nan)
    found: dict[MeasureName, Floats] = {"average_accuracy": 1.0 - last.mean(axis=1)}
    found |= {"backward_transfer": unknown, "forward_transfer": unknown, "forgetting": unknown}
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


def counted(probabilities: Floats, answers: NDArray[np.int64], y: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return what one rule's probabilities (samples, classes) add to the sums (BINS, 4) and (classes, 2).

    By bin: samples, probabilities of the answers, right answers, log losses. By class: samples, and the ones missed.
    """
    rows, right = np.arange(len(y)), answers == y
    confidence = probabilities[rows, answers]
    losses = -np.log(np.maximum(probabilities[rows, y], LEAST_PROBABILITY))
    bins = np.minimum((BINS * confidence).astype(np.int64), BINS - 1)
    weights = (None, confidence, right, losses)
    classes = probabilities.shape[1]
    return (
        np.array([np.bincount(bins, one, BINS) for one in weights], dtype=np.float64).T,
        np.array([np.bincount(y, one, classes) for one in (None, ~right)], dtype=np.float64).T,
    )


def calibration_error(reliability: Floats) -> Floats:
    """Return the mean distance of confidence and accuracy, (repetitions, BINS, 4) -> (repetitions,)."""
    samples, confidence, right = np.moveaxis(reliability, 2, 0)[:3]
    return np.asarray(np.abs(confidence - right).sum(axis=1) / samples.sum(axis=1))


def log_loss(reliability: Floats) -> Floats:
    """Return minus the mean logarithm of the probability given to the right class, by repetition."""
    return np.asarray(reliability[:, :, 3].sum(axis=1) / reliability[:, :, 0].sum(axis=1))


def balanced_error(by_class: Floats) -> Floats:
    """Return the mean error rate of the classes with test samples; (repetitions, classes, 2) -> (repetitions,)."""
    samples, missed = by_class[:, :, 0], by_class[:, :, 1]
    share = np.divide(missed, samples, out=np.zeros_like(missed), where=samples > 0)
    return np.asarray(share.sum(axis=1) / (samples > 0).sum(axis=1))


def measure_rows(measures: Mapping[str, Mapping[MeasureName, Headline]]) -> list[dict[str, Any]]:
    """Return what `imrc.RunResult.measures` gives as a tidy table: rule, measure, value, stderr, formula, source."""
    return [
        {"rule": rule, **_row(MEASURES[name], one)} for rule, found in measures.items() for name, one in found.items()
    ]


def _row(measure: Measure, found: Headline) -> dict[str, Any]:
    number = {"measure": measure.title, "value": found.mean, "stderr": found.stderr}
    return {**number, "formula": measure.formula, "source": measure.source}


def definitions() -> dict[str, str]:
    """Return the formula of each measure with its source, in words, by its title."""
    return {
        one.title: f"{one.formula} ({one.source}).{f' {one.note}' if one.note else ''}" for one in MEASURES.values()
    }


LARGEST_MATRIX = 300
"""More tasks than a picture of a matrix could show."""


@dataclass(frozen=True, eq=False)
class ErrorMatrix:
    """Errors of each task at each step, from another program."""

    name: str  # where it is from
    errors: LagTable  # from the step on at which a task was learnt

    def table(self) -> pd.DataFrame:
        """Return task, step, lag, label, value, stderr, one row per task and step, for `imrc.plots.error_heatmaps`."""
        import pandas as pd

        values = self.errors.values
        task, lag = np.nonzero(np.isfinite(values[0]))
        mean, stderr = mean_and_stderr(values)
        place = {"task": task + 1, "step": task + lag + 1, "lag": lag, "label": (task + 1).astype(str)}
        return pd.DataFrame(place | {"value": mean[task, lag], "stderr": stderr[task, lag]})

    def measures(self) -> pd.DataFrame:
        """Return measure, value, stderr, formula and source; a matrix has no errors from before training."""
        import pandas as pd

        found = measures_of_errors(self.errors)
        rows = [_row(MEASURES[name], Headline.of(one)) for name, one in found.items() if name != "forward_transfer"]
        return pd.DataFrame(rows)


def error_matrix(accuracy: ArrayLike, *, name: str = "matrix") -> ErrorMatrix:
    """Check accuracies R[step, task] and return them as errors; DataError if they are none, or one is missing.

    Shape (tasks, tasks) or (repetitions, tasks, tasks). What lies above the diagonal does not count.
    """
    R = np.asarray(accuracy, dtype=np.float64)
    R = R[None] if R.ndim == 2 else R
    if R.ndim != 3 or R.shape[1] != R.shape[2] or not 2 <= R.shape[1] <= LARGEST_MATRIX or not len(R):
        raise DataError(
            f"A matrix has one row per step and one column per task, 2 to {LARGEST_MATRIX} of both; got the shape "
            f"{' x '.join(map(str, np.shape(accuracy)))}."
        )
    learnt = np.tri(R.shape[1], dtype=bool)
    if len(missing := np.argwhere(~np.isfinite(R) & learnt)):
        _, i, j = missing[0]
        raise DataError(
            f"R[{i + 1}, {j + 1}], task {j + 1} after task {i + 1} was learnt, is missing. Rows are steps and columns "
            "tasks: transpose it if it is the other way round."
        )
    low, high = float(R[:, learnt].min()), float(R[:, learnt].max())
    if low < 0.0 or high > 1.0:
        raise DataError(f"Accuracies lie between 0 and 1; these range from {low:g} to {high:g}. Divide percent by 100.")
    tasks = np.arange(R.shape[1])
    later = tasks + tasks[:, None]
    by_lag = 1.0 - R[:, np.minimum(later, tasks[-1]), tasks[:, None]]
    return ErrorMatrix(name, LagTable(np.where(later <= tasks[-1], by_lag, np.nan)))


@dataclass(frozen=True)
class EffectiveSamples:
    """How many samples a task is worth, as one number."""

    mean: float  # over tasks and repetitions
    low: float  # 95 % interval; NaN with one repetition
    high: float
    own: float  # samples a task has itself
    borrowing: float = 1.0  # share of the neighbours, mean over steps; 1 if they were used throughout
    rule: str = "forward_backward"  # whose; "next": of the next task, before any of its samples


def effective_samples(result: RunResult, rule: str | None = None) -> EffectiveSamples:
    """Return the effective samples of a run, by default of the scenario's main rule. Every page quotes this number.

    By the recursions of Theorems 1 and 3 with the variances and changes the run estimated, at the last step; in the
    scenario "next_task" before any samples of each task ("single": NaN). Of several rates it is the geometric mean.
    """
    rule = check_choice("rule", result.scenario.main if rule is None else rule, result.ess_tables)
    ess, whose = result.ess_tables[rule].final(), rule
    if result.scenario.kind == "before" and result.n_tasks > 1:
        ess, whose = result.before_of(rule, "before_ess")[:, 1:], "next"
    mean, low, high = mean_interval(ess.mean(axis=1))
    own = float(result.ess_tables["single"].final().mean()) if "single" in result.ess_tables else result.settings.n
    return EffectiveSamples(mean, max(low, 0.0), high, own, borrowing(result) if rule != "single" else 1.0, whose)


KINDS = {"rate 0": "alike", "": "in between", "rate inf": "separate"}
"""Kinds of rates by their names in `RunResult.choices`; "" is every other name."""


def shares(result: RunResult) -> dict[str, float]:
    """Return the mean share of each kind of rate, over steps and repetitions; none where no rates are compared."""
    found: dict[str, float] = {}
    for name, values in result.choices.items():
        if name != "penalty":
            kind = KINDS.get(name, KINDS[""])
            found[kind] = found.get(kind, 0.0) + float(values.mean())
    return found


def borrowing(result: RunResult) -> float:
    """Return the share other tasks have, mean over the steps from the second task on: 1 if used throughout."""
    alone = result.choices.get("rate inf")
    # The first task has no task to borrow from.
    return 1.0 if alone is None or alone.shape[1] < 2 else 1.0 - float(alone[:, 1:].mean())


def samples_text(worth: EffectiveSamples) -> str:
    """Return effective samples with their interval, as every page, report and table shows them; a dash if not known."""
    interval = interval_text(worth)
    return f"{worth.mean:,.1f}".replace("nan", "–") + (f" ({interval})" if " to " in interval else "")


def interval_text(worth: EffectiveSamples) -> str:
    """Return the interval of effective samples, or why there is none.

    >>> [interval_text(EffectiveSamples(21.6, low, 23.4, 10.0)) for low in (19.9, 23.39, float("nan"))]
    ['19.9 to 23.4', 'the same in all repetitions', 'one repetition']
    """
    if not math.isfinite(worth.low):
        return "one repetition"
    low, high = f"{worth.low:,.1f}", f"{worth.high:,.1f}"
    return "the same in all repetitions" if low == high else f"{low} to {high}"
