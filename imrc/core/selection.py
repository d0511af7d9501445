"""Choosing how the past is used, and the strength of the penalty, by cross-validation on what has come.

The past counts as the tracking weights it, not at all, or all stored samples alike. At each step the new task's
samples are split; each candidate learns the forward rule from the training part (and the past) and is scored by log
loss on the rest. Scores add up over the steps, so only past data decide: which candidate is best, or how much each has
to say. This notices what the likelihood of the innovations cannot: a change of concept that leaves the means nearly
where they were but turns the labels round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats


@dataclass(frozen=True)
class Candidate:
    """One way to learn the newest task."""

    transfer: bool  # whether the past is used
    penalty: float  # factor of the penalty
    pooled: bool = False  # whether all stored samples count alike, as with a rate of change of 0


Shares = dict[Candidate, float]
"""How much each candidate has to say; together 1."""

DEFAULT = Candidate(True, 1.0)
AVERAGED = "averaged"
CANDIDATES: dict[str, tuple[Candidate, ...]] = {
    "none": (DEFAULT,),
    "penalty": (DEFAULT, Candidate(True, 4.0)),
    "transfer": (DEFAULT, Candidate(False, 1.0)),
    "cv": (DEFAULT, Candidate(True, 4.0), Candidate(False, 1.0), Candidate(False, 4.0)),
    AVERAGED: tuple(
        Candidate(transfer, penalty, pooled=pooled)
        for transfer, pooled in ((True, False), (False, False), (True, True))
        for penalty in (1.0, 16.0)
    ),
}
"""What can be chosen, by the setting `selection`."""

POOLED_LAST = 3.0
"""Handicap of pooled samples in nats of log loss: where nothing is known yet, tasks are taken to change."""


TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Factors of the scores at which candidates are compared where they are averaged: each is judged by its best one.

A rule that is too sure or not sure enough of itself can make the fewest errors. A factor other than 1 is paid for with
the logarithm of their number.
"""

LEAST_SHARE = 0.1
"""A candidate with less has nothing to say."""

HOPELESS = 1e-6
"""A candidate whose share would be smaller is not scored at this step, to save time."""


def shares(losses: dict[Candidate, Floats], temperatures: tuple[float, ...], least: float) -> Shares:
    """Return what each candidate has to say: exp(-loss), or all for the one with the smallest loss if `least` is 1.

    Parameters
    ----------
    losses : dict of Candidate to ndarray of shape (temperatures,)
        Log loss in nats so far, by the factor of the scores.
    temperatures : tuple of float
        These factors.
    least : float
        Smallest share: candidates with less have none.

    Returns
    -------
    dict of Candidate to float
        Those with a share.

    Examples
    --------
    >>> first, other = Candidate(True, 1.0), Candidate(False, 1.0)
    >>> found = shares({first: np.array([2.0]), other: np.array([2.0 + np.log(3.0)])}, (1.0,), 0.1)
    >>> [round(share, 3) for share in found.values()]
    [0.75, 0.25]
    """
    price = np.where(np.array(temperatures) == 1.0, 0.0, np.log(len(temperatures)))
    accounts = {one: float((loss + price).min()) for one, loss in losses.items()}
    best = min(accounts, key=accounts.__getitem__)
    if least == 1.0:  # the first of equal ones
        return {best: 1.0}
    weights = {one: float(np.exp(accounts[best] - account)) for one, account in accounts.items()}
    smallest = least * sum(weights.values())
    kept = {one: weight for one, weight in weights.items() if weight >= smallest}
    total = sum(kept.values())
    return {one: weight / total for one, weight in kept.items()}


def alone(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return what the rule of one task alone chooses from: the same penalties, without transfer.

    >>> [candidate.penalty for candidate in alone(CANDIDATES["cv"])], len(alone(CANDIDATES["transfer"]))
    ([1.0, 4.0], 1)
    """
    return tuple(dict.fromkeys(Candidate(False, candidate.penalty) for candidate in candidates))


def folds(n: int, selection: str = "cv") -> int:
    """Return how many times a fifth of n samples is held out: 50 / n, at most 5; at least 2 to average over."""
    return min(5, n, max(2 if selection == AVERAGED else 1, -(-50 // n))) if n > 1 else 0


def fold_masks(n: int, y: NDArray[np.int64], step: int, selection: str = "cv") -> list[NDArray[np.bool_]]:
    """Return masks of held-out samples: a fifth each, as many as `folds` says, classes spread evenly.

    Splits are fixed by the order of the samples within their classes and the step, so a run repeats exactly. Where only
    one fold is held out, the step decides which.

    >>> [mask.astype(int).tolist() for mask in fold_masks(4, np.array([0, 0, 1, 1]), 0)]
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> len(fold_masks(100, np.arange(100) % 2, 3)), int(fold_masks(100, np.arange(100) % 2, 3)[0].sum())
    (1, 20)
    """
    parts = min(5, n)
    # Where shares are averaged, they must not depend on the names of the classes: the first one seen comes first.
    _, first, which = np.unique(y, return_index=True, return_inverse=True)
    order = np.argsort(first[which] if selection == AVERAGED else y, kind="stable")
    fold = np.empty(n, dtype=np.int64)
    fold[order] = np.arange(n) % parts
    return [fold == (step + j) % parts for j in range(folds(n, selection))]


def split_weights(task_weights: Floats, n: int, n_train: int) -> tuple[Floats, float]:
    """Return forward weights and effective samples had the newest task only `n_train` of its `n` samples.

    `task_weights` (stored,) are the forward weights of the stored tasks, the newest last.

    >>> weights, ess = split_weights(np.array([0.5, 0.5]), 10, 5)
    >>> weights.round(3).tolist(), round(ess, 3)
    ([0.667, 0.333], 15.0)
    """
    past = 1.0 - float(task_weights[-1])
    if past <= 1e-12:
        return task_weights, float(n_train)
    # share of the past = (1/n) / (v + 1/n) with v the mean squared error of the prediction, in units of P.
    v = (1.0 - past) / past / n
    share = 1.0 / (1.0 + v * n_train)
    weights = task_weights * (share / past)
    weights[-1] = 1.0 - share
    return weights, 1.0 / (v * share)


def log_loss(scores: Floats, y: NDArray[np.int64]) -> float:
    """Return the sum of -log h(y|x) for scores of shape (n, C).

    >>> round(log_loss(np.zeros((2, 2)), np.array([0, 1])), 4)
    1.3863
    """
    largest = scores.max(axis=1)
    normaliser = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
    return float((normaliser - scores[np.arange(len(y)), y]).sum())
