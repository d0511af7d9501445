"""The simulated world: two classes whose means move together, so that every task is equally hard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats

TASKS = 15
"""Tasks of a sequence, where nothing else is said."""
SEPARATION = 2.5
"""Distance between the two class means, in standard deviations inside a class."""
JUMP = 4.0
"""Length of the jump, in the same unit."""
KINDS = ("walk", "jump", "trend", "swap")
"""How tasks follow one another: small random steps; the same and one jump; steps in one direction; steps and labels
that change sides from task to task."""


@dataclass(frozen=True, eq=False)
class World:
    """Simulated sequences, as a learner sees them and as they are.

    The four components are the two features of the mean of class 1, then those of class 2. Half of a task's samples
    belong to each class, so a sample average is exactly normal around its truth, with variance 2 / n.
    """

    truth: Floats
    """True class means, shape (k tasks, runs, 4)."""
    average: Floats
    """Averages of the samples of each task, same shape."""
    variance: Floats
    """Their unbiased sample variances inside a class, same shape."""
    n: int
    """Samples per task."""
    drift: float
    """Root mean square of a step between consecutive tasks, per feature, in standard deviations inside a class."""

    def until(self, task: int) -> World:
        """Return the same world when only the first tasks have arrived.

        Parameters
        ----------
        task : int
            The newest of them, from 0.
        """
        seen = slice(task + 1)
        return World(self.truth[seen], self.average[seen], self.variance[seen], self.n, self.drift)


def simulate(
    n: int = 10, drift: float = 0.25, *, kind: str = "walk", k: int = TASKS, runs: int = 400, seed: int = 0
) -> World:
    """Simulate sequences of two-dimensional tasks with two classes of unit variance.

    Both class means move by the same step, so the best possible error never changes. Worlds with the same seed share
    their random numbers: what differs between two drifts is the drift.

    Parameters
    ----------
    n : int
        Samples per task, an even number from 4 to 1000.
    drift : float
        Root mean square of a step, per feature, in standard deviations inside a class; 0 to 5.
    kind : {"walk", "jump", "trend", "swap"}
        See `KINDS`. The jump leads to the middle task.
    k, runs, seed : int
        Tasks, sequences, and the seed of everything drawn.

    Returns
    -------
    World

    Examples
    --------
    >>> simulate(n=10, drift=0.5, k=6, runs=3).truth.shape
    (6, 3, 4)
    """
    n, k, runs = check_int("n", n, 4, 1000), check_int("k", k, 2, 200), check_int("runs", runs, 1, 100_000)
    half = check_int("half of n", n / 2 if n % 2 else n // 2, 2)
    drift, kind = check_real("drift", drift, 0.0, 5.0), check_choice("kind", kind, KINDS)
    generator = np.random.default_rng([check_int("seed", seed, 0), 17])
    angle, way = generator.uniform(0.0, 2.0 * np.pi, (2, runs))
    steps = generator.standard_normal((k, runs, 2))
    noise = generator.standard_normal((k, runs, 4))
    side = SEPARATION / 2.0 * _unit(angle)
    if kind == "trend":
        steps[:] = np.sqrt(2.0) * _unit(way)
    steps[0] = 0.0
    moves = drift * steps
    if kind == "jump":
        moves[k // 2] += JUMP * _unit(way)
    centre = np.cumsum(moves, axis=0)
    sign = (-1.0) ** np.arange(k)[:, None, None] if kind == "swap" else 1.0
    truth = np.concatenate([centre - sign * side, centre + sign * side], axis=-1)
    average = truth + noise / np.sqrt(half)
    # Of normal samples the variance is independent of the average: both can be drawn without the samples.
    variance = generator.chisquare(half - 1, truth.shape) / (half - 1)
    return World(truth, average, variance, n, drift)


def _unit(angle: Floats) -> Floats:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def halfway_rule(means: Floats) -> Floats:
    """Return the boundary half-way between two class means: the best one if the means were the true ones.

    Parameters
    ----------
    means : ndarray of shape (..., 4)
        Means of class 1 and class 2.

    Returns
    -------
    ndarray of shape (..., 3)
        The rule w0 + w1 x1 + w2 x2 > 0 for class 2.

    Examples
    --------
    >>> halfway_rule(np.array([0.0, 0.0, 2.0, 0.0])).tolist()
    [-2.0, 2.0, 0.0]
    """
    one, two = means[..., :2], means[..., 2:]
    normal = two - one
    return np.concatenate([-(normal * (one + two)).sum(axis=-1, keepdims=True) / 2.0, normal], axis=-1)


def linear_error(w: Floats, means: Floats) -> Floats:
    """Return the exact error probability of a rule on two normal classes of unit variance, equally likely.

    Parameters
    ----------
    w : ndarray of shape (..., 3)
        Boundary; where w1 = w2 = 0 the sign of w0 decides.
    means : ndarray of shape (..., 4)
        True means of class 1 and class 2.

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> float(linear_error(np.array([0.0, 1.0, 0.0]), np.array([-1.0, 0.0, 1.0, 0.0])).round(4))
    0.1587
    """
    from scipy.special import ndtr

    length = np.linalg.norm(w[..., 1:], axis=-1)
    classes = means.reshape(*means.shape[:-1], 2, 2)
    score = w[..., None, 0] + (w[..., None, 1:] * classes).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = np.where(length[..., None] > 0, score / length[..., None], np.sign(score) * np.inf)
    margin = np.nan_to_num(margin, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return np.asarray(0.5 * (ndtr(margin[..., 0]) + ndtr(-margin[..., 1])))


def best_error() -> float:
    """Return the smallest possible error, the same for every task and drift.

    Examples
    --------
    >>> round(best_error(), 4)
    0.1056
    """
    from scipy.special import ndtr

    return float(ndtr(-SEPARATION / 2.0))
