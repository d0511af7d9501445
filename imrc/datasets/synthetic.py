"""Synthetic sequences of Gaussian tasks whose truth is known.

Every task has equally likely classes, and class c of task j is normal with mean ``means[j, c]`` and unit variance in
each feature. The means of all classes move together: the best boundary moves while the difficulty (Bayes error) stays
the same. The kinds differ only in how they move, so they show what the assumption of evolving tasks means and what
happens when it fails.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats
from imrc.tasks import MAX_TASKS, Task, TaskSequence

Kind = Literal["random_walk", "independent", "identical", "trend", "mean_reverting", "periodic", "abrupt"]
KINDS: tuple[Kind, ...] = get_args(Kind)

DESCRIPTIONS: dict[Kind, str] = {
    "random_walk": "Class means do a random walk: changes are independent and zero-mean, as the paper assumes.",
    "independent": "Class means scatter independently around fixed ones: the order of the tasks does not matter.",
    "identical": "All tasks share one distribution: everything can be pooled.",
    "trend": "Class means move along a straight line: changes keep a direction.",
    "mean_reverting": "Class means wander but are pulled back (autoregression with factor 0.6).",
    "periodic": "Class means go round with a period of 8 tasks.",
    "abrupt": "Class means jump once, half-way; before and after nothing changes.",
}

REVERSION = 0.6
PERIOD = 8


def path(kind: Kind, tasks: int, change: float, features: int, generator: np.random.Generator) -> Floats:
    """Return how far the class means are from their start, task by task, shape (tasks, D)."""
    noise = generator.standard_normal((tasks, features))
    time = np.arange(tasks)[:, None]
    if kind == "identical":
        return np.zeros((tasks, features))
    if kind == "random_walk":
        noise[0] = 0.0
        return np.asarray(change * np.cumsum(noise, axis=0))
    if kind == "independent":
        return np.asarray(change * np.sqrt(2.0) * noise)
    if kind == "trend":
        return np.asarray(0.5 * change * time * noise[0])
    if kind == "periodic":
        phase = generator.uniform(0.0, 2.0 * np.pi, features)
        return np.asarray(change * 2.0 * np.cos(2.0 * np.pi * time / PERIOD + phase))
    if kind == "abrupt":
        return np.where(time >= tasks // 2, 5.0 * change * noise[0], 0.0)
    pulled = np.zeros((tasks, features))
    pulled[0] = change / np.sqrt(1.0 - REVERSION**2) * noise[0]
    for j in range(1, tasks):
        pulled[j] = REVERSION * pulled[j - 1] + change * noise[j]
    return pulled


def gaussian_tasks(
    kind: Kind = "random_walk",
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
    kind : {"random_walk", "independent", "identical", "trend", "mean_reverting", "periodic", "abrupt"}
        How the class means move from task to task.
    tasks : int
        Number of tasks k, 2 to 2000.
    samples : int
        Samples per task, 4 to 10000.
    features : int
        Features D, 1 to 1000.
    classes : int
        Classes C, 2 to 10.
    change : float
        Standard deviation of one change of the class means, per feature, in units of the standard deviation inside a
        class. 0 to 10.
    separation : float
        Distance of each class mean from the centre of all, times two: with two classes their distance. 0 to 20.
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
    check_choice("kind", kind, KINDS)
    tasks = check_int("tasks", tasks, 2, MAX_TASKS)
    samples = check_int("samples", samples, 4, 10_000)
    features = check_int("features", features, 1, 1000)
    classes = check_int("classes", classes, 2, 10)
    change = check_real("change", change, 0.0, 10.0)
    separation = check_real("separation", separation, 0.0, 20.0)
    seed = check_int("seed", seed, 0)
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    start = generator.standard_normal((classes, features))
    start -= start.mean(axis=0)
    start *= separation / 2.0 / np.linalg.norm(start, axis=1, keepdims=True)
    means = start + path(kind, tasks, change, features, generator)[:, None, :]
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
        from scipy.stats import norm

        truth["bayes_error"] = norm.cdf(-0.5 * np.linalg.norm(means[:, 0] - means[:, 1], axis=1))
    return TaskSequence(
        tuple(result),
        name=kind,
        classes=np.arange(classes),
        description=DESCRIPTIONS[kind],
        info={
            "source": "made by this program",
            "licence": "MIT",
            "parameters": {"change": change, "separation": separation, "seed": seed},
        },
        truth=truth,
        column_kinds=tuple("numeric" for _ in range(features)),
    )
