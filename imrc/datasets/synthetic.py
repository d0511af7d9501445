"""Synthetic sequences of Gaussian tasks whose truth is known.

Every task has equally likely classes, and class c of task j is normal with mean ``means[j, c]`` and unit variance in
each feature. The means of all classes move together: the best boundary moves while the difficulty (Bayes error) stays
the same. The kinds differ only in how they move, so they show what the assumption of evolving tasks means and what
happens when it fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats
from imrc.tasks import MAX_TASKS, Task, TaskSequence

REVERSION = 0.6
PERIOD = 8


@dataclass(frozen=True)
class Motion:
    """A way in which the class means move.

    `path` takes normal noise (tasks, D), task numbers (tasks, 1), change and generator, and returns moves (tasks, D).
    """

    title: str
    description: str
    path: Callable[[Floats, Floats, float, np.random.Generator], Floats]


def _walk(noise: Floats, j: Floats, change: float, generator: np.random.Generator) -> Floats:
    noise[0] = 0.0
    return np.asarray(change * np.cumsum(noise, axis=0))


def _pulled(noise: Floats, j: Floats, change: float, generator: np.random.Generator) -> Floats:
    pulled = np.zeros(noise.shape)
    pulled[0] = change / np.sqrt(1.0 - REVERSION**2) * noise[0]
    for i in range(1, len(noise)):
        pulled[i] = REVERSION * pulled[i - 1] + change * noise[i]
    return pulled


def _round(noise: Floats, j: Floats, change: float, generator: np.random.Generator) -> Floats:
    phase = generator.uniform(0.0, 2.0 * np.pi, noise.shape[1])
    return np.asarray(change * 2.0 * np.cos(2.0 * np.pi * j / PERIOD + phase))


# All there is to a kind. Its place decides what is drawn: a new one comes last.
MOTIONS: dict[str, Motion] = {
    "random_walk": Motion(
        "Drifting means (random walk)",
        "Class means follow a random walk. Changes are independent and zero-mean, as the paper assumes.",
        _walk,
    ),
    "independent": Motion(
        "Independent tasks",
        "Class means scatter independently around fixed values, so the order of the tasks does not matter.",
        lambda noise, j, change, generator: change * np.sqrt(2.0) * noise,
    ),
    "identical": Motion(
        "Identical tasks",
        "All tasks share one distribution, so everything can be pooled.",
        lambda noise, j, change, generator: np.zeros(noise.shape),
    ),
    "trend": Motion(
        "Trend",
        "Class means move along a straight line, always in the same direction.",
        lambda noise, j, change, generator: 0.5 * change * j * noise[0],
    ),
    "mean_reverting": Motion(
        "Mean-reverting", "Class means wander but are pulled back (autoregression with factor 0.6).", _pulled
    ),
    "periodic": Motion("Periodic", f"Class means move in a circle with a period of {PERIOD} tasks.", _round),
    "abrupt": Motion(
        "One abrupt change",
        "Class means jump once, half-way through. Nothing changes before or after.",
        lambda noise, j, change, generator: np.where(j >= len(j) // 2, 5.0 * change * noise[0], 0.0),
    ),
}


def gaussian_tasks(
    kind: str = "random_walk",
    *,
    tasks: int = 20,
    samples: int = 300,
    features: int = 6,
    classes: int = 2,
    change: float = 0.3,
    separation: float = 2.5,
    seed: int = 0,
) -> TaskSequence:
    """Return a sequence of Gaussian classification tasks with known truth.

    Parameters
    ----------
    kind : str
        How the class means move from task to task, one of ``imrc.datasets.names("synthetic")``.
    tasks : int
        Number of tasks k, 2 to 2000.
    samples : int
        Samples per task, 4 to 10000.
    features : int
        Features D, 1 to 1000.
    classes : int
        Classes C, 2 to 10.
    change : float
        Standard deviation of one change of the class means, per feature, in units of that inside a class. 0 to 10.
    separation : float
        Twice the distance of each class mean from the centre of all; with two classes, their distance. 0 to 20.
    seed : int
        Seed of everything drawn.

    Returns
    -------
    TaskSequence
        With ``truth["class_means"]`` (k, C, D), ``truth["mean_vectors"]`` (k, C (D + 1)), the expectation of
        Phi(x, y) for identity features, and, for two classes, ``truth["bayes_error"]`` (k,).

    Examples
    --------
    >>> gaussian_tasks("identical", tasks=3, samples=50)
    TaskSequence('identical', 3 tasks, 150 samples, 6 features, 2 classes)
    """
    check_choice("kind", kind, MOTIONS)
    tasks = check_int("tasks (k)", tasks, 2, MAX_TASKS)
    samples = check_int("samples", samples, 4, 10_000)
    features = check_int("features", features, 1, 1000)
    classes = check_int("classes", classes, 2, 10)
    change = check_real("change", change, 0.0, 10.0)
    separation = check_real("separation", separation, 0.0, 20.0)
    seed = check_int("seed", seed, 0)
    generator = np.random.default_rng([seed, list(MOTIONS).index(kind)])
    start = generator.standard_normal((classes, features))
    start -= start.mean(axis=0)
    start *= separation / 2.0 / np.linalg.norm(start, axis=1, keepdims=True)
    noise = generator.standard_normal((tasks, features))
    moved = MOTIONS[kind].path(noise, np.arange(tasks, dtype=np.float64)[:, None], change, generator)
    means = start + moved[:, None, :]
    result = []
    for j in range(tasks):
        y = generator.integers(classes, size=samples)
        # Every class occurs in every task, so that no task is degenerate by chance.
        y[:classes] = np.arange(classes)
        y = generator.permutation(y)
        result.append(Task(means[j, y] + generator.standard_normal((samples, features)), y))
    truth: dict[str, Floats] = {
        "class_means": means,
        "mean_vectors": np.concatenate([np.ones((tasks, classes, 1)), means], axis=2).reshape(tasks, -1) / classes,
    }
    if classes == 2:
        from scipy.special import ndtr  # scipy.stats takes longer to load than most runs

        truth["bayes_error"] = ndtr(-0.5 * np.linalg.norm(means[:, 0] - means[:, 1], axis=1))
    return TaskSequence(
        tuple(result),
        name=kind,
        classes=np.arange(classes),
        description=MOTIONS[kind].description,
        info={
            "source": "made by this program",
            "licence": "MIT",
            "parameters": {"change": change, "separation": separation, "seed": seed},
        },
        truth=truth,
        column_kinds=tuple("numeric" for _ in range(features)),
    )
