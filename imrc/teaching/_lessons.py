"""What neighbours are worth in the simulated world: errors above the best possible, and boxes that hold the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats
from imrc.core.change import backward_change, forward_changes, squared_differences
from imrc.core.learner import RULES
from imrc.core.rates import RateFilter
from imrc.core.recursions import revise, track_forward
from imrc.teaching._world import SEPARATION, TASKS, World, best_error, halfway_rule, linear_error, simulate

Tracks = dict[str, tuple[Floats, Floats]]

DRIFTS = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5)
"""Drifts of `drift_table`."""
KNOWLEDGE = ("known", "rate", "window")
"""What a learner knows of the size of a change: the true mean square (and the true variances); one rate for all
components, chosen by likelihood, as in the recommended presets; or the last two squared differences, eq. (7)."""


def _tracked(tau: Floats, s: Floats, d: Floats, change: Callable[[int, int], Floats], b: int) -> Tracks:
    """Return mean vectors and their mean squared errors at the last step, by rule.

    d is the change of each forward step; change(i, last) that from task i to i+1 when task `last` is the newest.
    """
    forward, s_fwd = track_forward(tau, s, d)
    both, s_both = forward.copy(), s_fwd.copy()
    for j in range(len(tau) - 1):
        last = min(len(tau) - 1, j + b)
        crossed = range(last - 1, j - 1, -1)
        earlier = ((tau[i], s[i], forward[i], s_fwd[i]) for i in crossed)
        for mean, mse in revise((tau[last], s[last]), earlier, (change(i, last) for i in crossed)):
            both[j], s_both[j] = mean, mse  # the last of them belongs to task j
    return {"single": (tau, s), "forward": (forward, s_fwd), "forward_backward": (both, s_both)}


def _by_rate(world: World, b: int) -> Tracks:
    """Track every sequence with the rate its own innovations make most likely."""
    k, runs, _ = world.average.shape
    found = {rule: (np.empty_like(world.average), np.empty_like(world.average)) for rule in RULES}
    for run in range(runs):
        learner = RateFilter(reach=b, keep=b + 1)
        for j in range(k):
            learner.update(world.average[j, run], world.variance[j, run], world.n // 2)
            newest = learner.forward()
            at_step = [("single", j, world.average[j, run], 2.0 / world.n), ("forward", j, newest.mean, newest.a)]
            at_step += [
                ("forward_backward", j - back, estimate.mean, estimate.a)
                for back, estimate in enumerate([newest, *learner.revised()])
            ]
            for rule, task, mean, a in at_step:
                found[rule][0][task, run], found[rule][1][task, run] = mean, a * learner.variance
    return found


def track(world: World, b: int = 3, knowledge: str = "known") -> Tracks:
    """Learn simulated sequences by the recursions of the paper; return what is known at the last step.

    Parameters
    ----------
    world : World
        From `simulate`.
    b : int
        Backward steps, 0 to 60.
    knowledge : {"known", "rate", "window"}
        See `KNOWLEDGE`. In worlds with a jump, a trend or swapped labels "known" is the size of the usual small step.

    Returns
    -------
    dict
        By rule: mean vectors and their mean squared errors, each of the shape of `world.average`.
    """
    b, knowledge = check_int("b", b, 0, 60), check_choice("knowledge", knowledge, KNOWLEDGE)
    if knowledge == "rate":
        return _by_rate(world, b)
    # All sequences side by side: the recursions work component by component.
    tau = world.average.reshape(len(world.average), -1)
    if knowledge == "known":
        d = np.full_like(tau, world.drift**2)
        tracks = _tracked(tau, np.full_like(tau, 2.0 / world.n), d, lambda i, _: d[i], b)
    else:
        squared = squared_differences(tau)
        s = world.variance.reshape(tau.shape) * 2.0 / world.n
        tracks = _tracked(tau, s, forward_changes(squared, 2), lambda i, last: backward_change(squared, i, last, 2), b)
    shape = world.average.shape
    return {rule: (mean.reshape(shape), mse.reshape(shape)) for rule, (mean, mse) in tracks.items()}


@dataclass(frozen=True)
class Study:
    """What is simulated; the same study is computed once.

    Attributes
    ----------
    n, drift, kind, k, runs, seed
        As in `simulate`.
    b, knowledge
        As in `track`.
    """

    n: int = 10
    drift: float = 0.25
    b: int = 3
    knowledge: str = "known"
    kind: str = "walk"
    k: int = TASKS
    runs: int = 400
    seed: int = 0

    def world(self) -> World:
        """Return the simulated sequences."""
        return simulate(self.n, self.drift, kind=self.kind, k=self.k, runs=self.runs, seed=self.seed)


def task_table(study: Study) -> pd.DataFrame:
    """Errors and mean squared errors of every task at the last step, over simulated sequences.

    Parameters
    ----------
    study : Study
        What is simulated.

    Returns
    -------
    DataFrame
        One row per rule and task (from 1): avoidable (error probability above the best possible, of the boundary
        half-way between the estimated class means) and its standard error avoidable_se; samples (how many samples a
        task alone would need for the same mean squared error of the mean vector, counted) and samples_promised (the
        same by the recursions' own mean squared error).
    """
    return _task_table(study)[0].copy()  # a caller may change it


@lru_cache(maxsize=128)
def _task_table(study: Study) -> tuple[pd.DataFrame, dict[str, Floats]]:
    world = study.world()
    frames, avoidable = [], {}
    for rule, (mean, mse) in track(world, study.b, study.knowledge).items():
        above = linear_error(halfway_rule(mean), world.truth) - best_error()
        avoidable[rule] = above.mean(axis=0)
        frames.append(
            pd.DataFrame(
                {
                    "rule": rule,
                    "task": np.arange(1, study.k + 1),
                    "avoidable": above.mean(axis=1),
                    "avoidable_se": above.std(axis=1, ddof=1) / np.sqrt(study.runs),
                    "samples": 2.0 / ((mean - world.truth) ** 2).mean(axis=(1, 2)),
                    "samples_promised": 2.0 / mse.mean(axis=(1, 2)),
                }
            )
        )
    return pd.concat(frames, ignore_index=True), avoidable


def summary(study: Study) -> pd.DataFrame:
    """Avoidable errors by rule, all tasks together, and what share of them neighbours remove.

    Parameters
    ----------
    study : Study
        With at least 2 runs.

    Returns
    -------
    DataFrame
        One row per rule: avoidable, avoidable_se, removed (share of the avoidable errors of single-task learning that
        this rule does not make), removed_se. Standard errors are over sequences, paired for the share.
    """
    avoidable = _task_table(study)[1]
    root, alone = np.sqrt(study.runs), avoidable["single"]
    rows = []
    for rule, above in avoidable.items():
        left = above.mean() / alone.mean()
        rows.append(
            {
                "rule": rule,
                "avoidable": above.mean(),
                "avoidable_se": above.std(ddof=1) / root,
                "removed": 1.0 - left,
                "removed_se": (above - left * alone).std(ddof=1) / alone.mean() / root,
            }
        )
    return pd.DataFrame(rows)


def drift_table(study: Study, drifts: tuple[float, ...] = DRIFTS) -> pd.DataFrame:
    """Return the `summary` for several drifts, with a column drift.

    Parameters
    ----------
    study : Study
        What is simulated; its own drift plays no part.
    drifts : tuple of float
        The drifts.
    """
    return pd.concat([summary(replace(study, drift=drift)).assign(drift=drift) for drift in drifts], ignore_index=True)


def inside_share(width: float, sides: int = 1) -> float:
    """Return how often a box of the right size holds the truth.

    Parameters
    ----------
    width : float
        How far a side reaches each way, in standard errors.
    sides : int
        Along how many sides at once, independent of each other.

    Examples
    --------
    >>> round(inside_share(1.0), 3), round(inside_share(1.0, sides=2), 3)
    (0.683, 0.466)
    """
    from scipy.special import ndtr

    return float((2.0 * ndtr(check_real("width", width, 0.0, 10.0)) - 1.0) ** sides)


def box_table(study: Study, width: float = 1.0) -> pd.DataFrame:
    """Where the box of the middle task lies around the truth, in every simulated sequence.

    Parameters
    ----------
    study : Study
        What is simulated.
    width : float
        Half a side of the box, in roots of the estimated mean squared error; 1 in the paper.

    Returns
    -------
    DataFrame
        One row per rule and sequence, for the mean of class 2 in the middle task: off_1, off_2 (estimate minus truth,
        by feature), half_1, half_2 (half a side of the box), holds (whether the truth lies inside), holds_1 (inside
        by the first feature).
    """
    world, task = study.world(), study.k // 2
    frames = []
    for rule, (mean, mse) in track(world, study.b, study.knowledge).items():
        off, half = (mean - world.truth)[task, :, 2:], width * np.sqrt(mse[task, :, 2:])
        within = np.abs(off) <= half
        frames.append(
            pd.DataFrame(
                {
                    "rule": rule,
                    "off_1": off[:, 0],
                    "off_2": off[:, 1],
                    "half_1": half[:, 0],
                    "half_2": half[:, 1],
                    "holds": within.all(axis=1),
                    "holds_1": within[:, 0],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def try_one_task(n: int = 10, tries: int = 40, seed: int = 0) -> tuple[Floats, Floats]:
    """Learn one task alone, several times from other samples.

    Parameters
    ----------
    n : int
        Samples, as in `simulate`.
    tries : int
        How often.
    seed : int
        Seed of all samples.

    Returns
    -------
    samples, boundaries : ndarray
        Samples of the first try, shape (n, 2), the first half of class 1; the boundary of every try, shape (tries,
        3). The class means lie at -+ (SEPARATION / 2, 0).

    Examples
    --------
    >>> samples, boundaries = try_one_task(n=6, tries=2)
    >>> samples.shape, boundaries.shape
    ((6, 2), (2, 3))
    """
    half = check_int("n", n, 4, 1000) // 2
    generator = np.random.default_rng([check_int("seed", seed, 0), 29])
    samples = generator.standard_normal((check_int("tries", tries, 1, 1000), 2, half, 2))
    samples[:, :, :, 0] += SEPARATION / 2.0 * np.array([-1.0, 1.0])[:, None]
    return samples[0].reshape(-1, 2), halfway_rule(samples.mean(axis=2).reshape(-1, 4))
