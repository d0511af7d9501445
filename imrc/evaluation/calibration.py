"""How far the probabilities of a rule can be believed: calibration error, log loss and errors by class.

All of it is counted over the test samples of all tasks, each with the rule it has at the last step, so it is kept as a
few sums per rule. Counted are the probabilities `imrc.IMRC.predict_proba` gives: of the randomised rule for 0-1 loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.evaluation.significance import Headline, half_width

if TYPE_CHECKING:
    from imrc.evaluation.results import RunResult

BINS = 10
"""Bins of equal width for the probability of the answer."""

LEAST_PROBABILITY = 1e-6
"""Smaller ones count as this in the log loss: a randomised rule can give 0, and one such sample would decide."""


def counted(probabilities: Floats, answers: NDArray[np.int64], y: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return what one rule's probabilities (samples, classes) add to the sums (BINS, 4) and (classes, 2).

    By bin of the probability of the answer: samples, sum of these probabilities, right answers, sum of log losses. By
    class: samples, and those of them given another one.

    >>> reliability, by_class = counted(np.array([[0.75, 0.25], [0.45, 0.55]]), np.array([0, 1]), np.array([0, 0]))
    >>> reliability[[5, 7], :3].tolist(), by_class.tolist()
    ([[1.0, 0.55, 0.0], [1.0, 0.75, 1.0]], [[2.0, 1.0], [0.0, 0.0]])
    """
    rows, right = np.arange(len(y)), answers == y
    confidence = probabilities[rows, answers]
    losses = -np.log(np.maximum(probabilities[rows, y], LEAST_PROBABILITY))
    bins = np.minimum((BINS * confidence).astype(np.int64), BINS - 1)
    weights = (None, confidence, right, losses)
    classes = probabilities.shape[1]
    return (
        np.stack([np.bincount(bins, one, BINS) for one in weights], axis=1).astype(np.float64),
        np.stack([np.bincount(y, one, classes) for one in (None, ~right)], axis=1).astype(np.float64),
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


def reliability_table(result: RunResult) -> pd.DataFrame:
    """Return how often each rule is right against how sure it is, a row per rule and bin that is never empty.

    Columns rule, confidence (mean probability of the answer), accuracy, stderr, half (of the 95 % interval), samples.
    """
    columns = ["rule", "confidence", "accuracy", "stderr", "half", "samples"]
    rows = []
    for rule in result.rules:
        sums = result.reliability.get(rule)
        for samples, confidence, right in () if sums is None else np.moveaxis(sums[:, :, :3], 0, 2):
            if (samples > 0).all():
                found = Headline.of(right / samples)
                half, at = half_width(found.stderr, len(samples)), confidence.sum() / samples.sum()
                rows.append((rule, float(at), found.mean, found.stderr, float(half), int(samples.sum())))
    return pd.DataFrame(rows, columns=columns)
