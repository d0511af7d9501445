"""Lessons: the learner on simulated sequences, step by step or averaged, and the coverage of its bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imrc._checks import check_int, check_real
from imrc.core.change import backward_change, forward_change, squared_differences
from imrc.core.learner import RULES, Learner
from imrc.core.recursions import revise, track_forward
from imrc.core.settings import resolve_settings
from imrc.teaching._simulated import (
    bayes_error,
    class_paths,
    component_means,
    component_variance,
    draw_samples,
    linear_error,
    true_change,
)

Floats = NDArray[np.float64]

COMPONENTS = (
    "share of class 1",
    "class 1, first feature",
    "class 1, second feature",
    "share of class 2",
    "class 2, first feature",
    "class 2, second feature",
)
NOMINAL = 0.6826894921370859
"""Probability that a normal variable lies within one standard deviation of its mean."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """One simulated sequence, learnt step by step.

    Components are those of Phi(x, y) = e_y (x) [1, x]: class 1 (share, first, second feature), then class 2.
    Classes and features count from 0 in arrays.
    """

    X: Floats
    """Samples, shape (k, n, 2)."""
    y: NDArray[np.int64]
    """Classes 0 and 1, shape (k, n)."""
    class_means: Floats
    """True class means, shape (k, 2, 2)."""
    truth: Floats
    """True expectation of Phi(x, y), shape (k, 6)."""
    mean: dict[str, Floats]
    """Estimates by rule, shape (k steps, k tasks, 6); NaN before a task has arrived."""
    mse: dict[str, Floats]
    """Their mean squared errors, same shape."""
    boundary: dict[str, Floats]
    """Rules as w0 + w1 x1 + w2 x2 (positive: class 2), shape (k steps, k tasks, 3)."""
    error: dict[str, Floats]
    """Exact error probabilities, shape (k steps, k tasks)."""
    bayes: Floats
    """Smallest possible error of each task, shape (k,)."""
    n: int
    """Samples per task."""
    change: float
    """Standard deviation of one change of a class mean, per feature."""
    b: int
    """Backward steps."""

    @property
    def k(self) -> int:
        """Number of tasks."""
        return len(self.truth)

    @property
    def ratio(self) -> float:
        """Ratio n d^2 / sigma^2 of the features' components, averaged over tasks (truth)."""
        return float(self.n * true_change(self.change) / component_variance(self.class_means)[:, [1, 2, 4, 5]].mean())


def teach(n: int = 10, change: float = 0.25, b: int = 3, k: int = 15, seed: int = 0) -> Lesson:
    """Simulate and learn one sequence of two-dimensional tasks.

    Parameters
    ----------
    n : int
        Samples per task, 2 to 1000.
    change : float
        Standard deviation of one change of a class mean, per feature, in units of the standard deviation inside a
        class; 0 to 5.
    b : int
        Backward steps, 0 to 60.
    k : int
        Tasks, 2 to 60.
    seed : int
        Seed of everything drawn.

    Returns
    -------
    Lesson

    Examples
    --------
    >>> lesson = teach(n=10, change=0.2, k=6)
    >>> lesson.boundary["forward"].shape
    (6, 6, 3)
    """
    n, k = check_int("n", n, 2, 1000), check_int("k", k, 2, 60)
    b = check_int("b", b, 0, 60)
    change = check_real("change", change, 0.0, 5.0)
    generator = np.random.default_rng([check_int("seed", seed, 0), 17])
    class_means = class_paths(k, change, generator)[0]
    X, y = draw_samples(class_means, n, generator, both_classes=True)
    learner = Learner(resolve_settings("paper", b=b, W=2), 2)
    table = {
        name: {rule: np.full((k, k, size), np.nan) for rule in RULES}
        for name, size in (("mean", 6), ("mse", 6), ("boundary", 3))
    }
    for j in range(k):
        update = learner.step(np.column_stack([np.ones(n), X[j]]), y[j])
        found = {"single": {j: update.single}, "forward": {j: update.forward}}
        found["forward_backward"] = {j: update.forward, **update.revised}
        for rule, estimates in found.items():
            for task, estimate in estimates.items():
                # From this step on, until a later one revises it.
                table["mean"][rule][j:, task] = estimate.mean
                table["mse"][rule][j:, task] = estimate.mse
                table["boundary"][rule][j:, task] = estimate.coef[3:] - estimate.coef[:3]
    error = {rule: linear_error(w, class_means[None]) for rule, w in table["boundary"].items()}
    arrived = np.arange(k)[:, None] >= np.arange(k)[None]
    return Lesson(
        X=X,
        y=y,
        class_means=class_means,
        truth=component_means(class_means),
        mean=table["mean"],
        mse=table["mse"],
        boundary=table["boundary"],
        error={rule: np.where(arrived, values, np.nan) for rule, values in error.items()},
        bayes=bayes_error(class_means),
        n=n,
        change=change,
        b=b,
    )


def average_lesson(n: int, change: float, b: int, k: int = 15, runs: int = 20, seed: int = 0) -> pd.DataFrame:
    """Exact errors averaged over simulated sequences.

    Parameters
    ----------
    n : int
        As in `teach`.
    change : float
        As in `teach`.
    b, k : int
        As in `teach`.
    runs : int
        Simulated sequences, at least 2.
    seed : int
        As in `teach`.

    Returns
    -------
    DataFrame
        One row per rule and for "bayes", the smallest possible error: error of the newest task (mean over steps) and
        mean over all tasks at the last step (columns newest, all), their standard errors (.._se), and the mean
        difference to single-task learning, paired over runs, with its standard error (.._gain, .._gain_se).
    """
    return _average_lesson(n, change, b, k, runs, seed).copy()  # a caller may change it


@lru_cache(maxsize=64)
def _average_lesson(n: int, change: float, b: int, k: int, runs: int, seed: int) -> pd.DataFrame:
    runs = check_int("runs", runs, 2, 1000)
    values: dict[str, list[tuple[float, float]]] = {rule: [] for rule in (*RULES, "bayes")}
    for run in range(runs):
        lesson = teach(n, change, b, k, 1000 * (seed + 1) + run)
        for rule, error in lesson.error.items():
            values[rule].append((float(np.diagonal(error).mean()), float(error[-1].mean())))
        values["bayes"].append((float(lesson.bayes.mean()),) * 2)
    rows = []
    for rule, pairs in values.items():
        row: dict[str, float | str] = {"rule": rule}
        for column, name in enumerate(("newest", "all")):
            own = np.array(pairs)[:, column]
            gain = own - np.array(values["single"])[:, column]
            root = np.sqrt(runs)
            row |= {name: own.mean(), f"{name}_se": own.std(ddof=1) / root}
            row |= {f"{name}_gain": gain.mean(), f"{name}_gain_se": gain.std(ddof=1) / root}
        rows.append(row)
    return pd.DataFrame(rows)


def _tracked(
    tau: Floats, s: Floats, d: Floats, change: Callable[[int, int], Floats], b: int
) -> dict[str, tuple[Floats, Floats]]:
    """Return single, forward, and forward and backward mean vectors at the last step.

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


def _track_with_window(tau: Floats, s: Floats, W: int, b: int) -> dict[str, tuple[Floats, Floats]]:
    """Track with changes estimated by eq. (7), as in a run."""
    squared = squared_differences(tau)
    d = np.stack([np.zeros_like(tau[0]), *(forward_change(squared, j, W) for j in range(1, len(tau)))])
    return _tracked(tau, s, d, lambda i, last: backward_change(squared, i, last, W), b)


def _track_known(tau: Floats, s: Floats, d2: float, b: int) -> dict[str, tuple[Floats, Floats]]:
    """Track with known variances and a known change."""
    d = np.full_like(tau, d2)
    return _tracked(tau, s, d, lambda i, _: d[i], b)


def coverage_study(
    n: int, change: float, b: int, k: int = 15, W: int = 2, runs: int = 400, seed: int = 0
) -> pd.DataFrame:
    """How often the truth lies within tau +- sqrt(s), over simulated sequences.

    Parameters
    ----------
    n : int
        As in `teach`.
    change : float
        As in `teach`.
    b, k : int
        As in `teach`.
    W : int
        Window of the estimated change.
    runs : int
        Simulated sequences.
    seed : int
        As in `teach`.

    Returns
    -------
    DataFrame
        Columns knowledge ("known": variances and change are the true ones; "estimated": as in a run, eq. (7)), rule,
        task (from 1), coverage, coverage_se, efficiency (n times the mean squared error over the variance of one
        sample: 1 for single-task learning). Components are the four of the features; the standard error is over runs.
    """
    return _coverage_study(n, change, b, k, W, runs, seed).copy()  # a caller may change it


@lru_cache(maxsize=64)
def _coverage_study(n: int, change: float, b: int, k: int, W: int, runs: int, seed: int) -> pd.DataFrame:
    n, runs = check_int("n", n, 2, 1000), check_int("runs", runs, 2, 10_000)
    generator = np.random.default_rng([check_int("seed", seed, 0), 23])
    class_means = class_paths(k, change, generator, runs)
    X, y = draw_samples(class_means, n, generator, both_classes=False)
    phi = np.zeros((runs, k, n, 2, 2))
    np.put_along_axis(phi, y[..., None, None], X[..., None, :], axis=-2)
    flat = phi.reshape(runs, k, n, 4)

    # Components of all runs side by side: the recursions work component by component.
    def side(a: Floats) -> Floats:
        return np.ascontiguousarray(a.transpose(1, 0, 2).reshape(k, -1))

    tau = side(flat.mean(axis=2))
    s = side(flat.var(axis=2, ddof=1) / n)
    features = [1, 2, 4, 5]
    truth = side(component_means(class_means)[..., features])
    variance = side(component_variance(class_means)[..., features])
    frames = []
    for knowledge, tracks in (
        ("known", _track_known(tau, variance / n, true_change(change), b)),
        ("estimated", _track_with_window(tau, s, W, b)),
    ):
        for rule, (mean, mse) in tracks.items():
            inside = (np.abs(mean - truth) <= np.sqrt(mse)).reshape(k, runs, 4).mean(axis=2)
            efficiency = (n * (mean - truth) ** 2 / variance).mean(axis=1)
            frames.append(
                pd.DataFrame(
                    {
                        "knowledge": knowledge,
                        "rule": rule,
                        "task": np.arange(1, k + 1),
                        "coverage": inside.mean(axis=1),
                        "coverage_se": inside.std(axis=1, ddof=1) / np.sqrt(runs),
                        "efficiency": efficiency,
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)


def lesson_sentence(average: pd.DataFrame, ratio: float, n: int, b: int) -> str:
    """State what forward and backward learning gain in the simulation, and why.

    Parameters
    ----------
    average : DataFrame
        From `average_lesson`, indexed by rule.
    ratio : float
        n d^2 / sigma^2.
    n, b : int
        Samples per task and backward steps.

    Returns
    -------
    str
    """

    def effect(column: str, rule: str) -> str:
        gain, error = average.loc[rule, f"{column}_gain"], average.loc[rule, f"{column}_gain_se"]
        if abs(gain) <= 2.0 * error:
            return f"no clear difference ({gain:+.3f} ± {error:.3f})"
        word = "fewer" if gain < 0 else "more"
        return f"{abs(gain) / average.loc['single', column]:.0%} {word} errors".replace("%", " %")

    size = "small: neighbours are nearly the same task" if ratio < 0.1 else "moderate"
    size = "large: neighbours say little about a task, so nothing helps much" if ratio > 2 else size
    return (
        f"With n = {n}, n d² / σ² = {ratio:.2g}, which is {size}. On average, forward learning makes "
        f"{effect('newest', 'forward')} on the newest task; forward and backward learning with b = {b} makes "
        f"{effect('all', 'forward_backward')} over all tasks."
    ).replace("-0.", "−0.")
