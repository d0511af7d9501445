"""Reduction of a sequence to one k x k matrix on which all diagnostics work.

Sample averages are divided by the pooled standard deviation of a sample, so that in every component the
average of a task has noise variance h_j (1 on average over tasks). G = Z Z' / m then holds all that the tests
need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import InputError, check_matrix
from imrc._types import Floats
from imrc.solvers._api import with_intercept
from imrc.tasks import TaskSequence

Transform = Callable[[Floats], Floats]

# Components whose pooled variance is below this share of the largest are constant but for rounding.
CONSTANT = 1e-10


@dataclass(frozen=True, eq=False)
class Moments:
    """Sample averages of Phi(x, y) and variances, task by task."""

    tau: Floats  # sample averages, shape (k, m)
    s: Floats  # their mean squared errors sigma_j^2 / n_j, shape (k, m)
    n: NDArray[np.int64] | None  # samples per task, shape (k,); None if only means are known

    def pooled_variance(self) -> Floats:
        """Return the variance of one sample pooled over tasks (of one average, if only means are known), shape (m,)."""
        if self.n is None:
            return np.asarray(self.s.mean(axis=0))
        weights = (self.n - 1.0)[:, None]
        return np.asarray((weights * self.s * self.n[:, None]).sum(axis=0) / max(float(weights.sum()), 1.0))


@dataclass(frozen=True, eq=False)
class Reduced:
    """Standardised sample averages and the matrix of their products."""

    Z: Floats  # standardised averages of the components kept, shape (k, m)
    h: Floats  # noise variance of each row of Z in every component, shape (k,), mean 1
    G: Floats  # Z Z' / m, shape (k, k)
    kept: NDArray[np.bool_]  # which components were kept
    variance: Floats  # pooled variance of one sample (of one average, if only means are known), all components
    n_ref: float | None  # harmonic mean of the samples per task; None if only means are known
    total: int | None  # samples in all tasks

    @property
    def k(self) -> int:
        """Number of tasks."""
        return len(self.Z)

    @property
    def m(self) -> int:
        """Components kept."""
        return int(self.Z.shape[1])

    @property
    def scaled(self) -> Floats:
        """G_ij / sqrt(h_i h_j): every row with noise variance 1."""
        return np.asarray(self.G / np.sqrt(np.outer(self.h, self.h)))

    @property
    def is_balanced(self) -> bool:
        """Whether all tasks have the same noise variance."""
        return bool(np.ptp(self.h) <= 1e-9)

    @property
    def statistic(self) -> float:
        """Q: variance between tasks in units of the sampling noise; 1 if all tasks are identical."""
        return float((self.Z**2 / self.h[:, None]).sum() / self.m / (self.k - 1))

    @property
    def distance(self) -> Floats:
        """Squared distances of tasks minus what noise adds, shape (k, k); diagonal 0."""
        diagonal = np.diag(self.G)
        squared = diagonal[:, None] + diagonal[None, :] - 2.0 * self.G
        out = squared - self.h[:, None] - self.h[None, :]
        np.fill_diagonal(out, 0.0)
        return np.asarray(out)


def resolve_transform(features: object, sequence: TaskSequence, seed: int) -> tuple[Transform, str]:
    """Return a function X -> (n, D) and its name; `features` as in `assess`, None: standardised inputs, one scale."""
    from imrc.features import FeatureSpec, Standardised, make
    from imrc.features._spec import TITLES

    if features is None:
        # A diagnosis looks at all samples of all tasks anyway; only words and gaps need what a run would learn first.
        numbers = make("identity", sequence, seed)
        learnt = Standardised.learn(np.concatenate([numbers.transform(task.X) for task in sequence]))
        return lambda X: learnt.transform(numbers.transform(X)), "standardised inputs (one scale for all tasks)"
    if isinstance(features, str | FeatureSpec):
        spec = FeatureSpec.parse(features)
        return make(spec, sequence, seed).transform, TITLES[spec.kind].lower()
    method: Any = getattr(features, "transform", features)
    if not callable(method):
        raise TypeError(
            "features must be None, the name of a feature map, an object with transform(X), or a function; "
            f"got {type(features).__name__}."
        )
    return method, type(features).__name__ if method is not features else "given features"


def mapped(sequence: TaskSequence, transform: Transform) -> Iterator[Floats]:
    """Yield [1, phi(x)] task by task, each of shape (n_j, D + 1); only one task is held at a time."""
    for number, task in enumerate(sequence):
        phi = check_matrix(f"features of task {number}", transform(task.X))
        if len(phi) != len(task):
            raise ValueError(f"features gave {len(phi)} rows for the {len(task)} samples of task {number} (from 0).")
        yield with_intercept(phi)


def given_moments(means: ArrayLike, mse: ArrayLike) -> Moments:
    """Check means (k, m) and their mean squared errors (scalar, (k, 1), (m,) or (k, m))."""
    tau = check_matrix("means", means)
    s = np.asarray(mse, dtype=np.float64)
    try:
        s = np.broadcast_to(s, tau.shape)
    except ValueError:
        raise ValueError(f"mse must have the shape of means, {tau.shape}; got {np.shape(mse)}.") from None
    if not np.isfinite(s).all() or (s < 0).any():
        row, column = np.argwhere(~np.isfinite(s) | (s < 0))[0]
        raise ValueError(f"mse must be finite and not negative; see row {row}, column {column} (from 0).")
    return Moments(tau, s, None)


def reduce_moments(moments: Moments) -> Reduced:
    """Standardise with pooled variances, drop constant components, form G.

    A task's own variance is never used: with 10 samples it is far too noisy, and 0 where a class is absent.
    """
    tau, s, n = moments.tau, moments.s, moments.n
    k = len(tau)
    n_ref = None if n is None else float(k / (1.0 / n).sum())
    variance = moments.pooled_variance()
    kept = variance > CONSTANT * max(float(variance.max()), 0.0) if variance.size else variance > 0
    if n is None or n_ref is None:
        noise = variance[kept]
        h = (s[:, kept] / noise).mean(axis=1) if kept.any() else np.ones(k)
    else:
        noise = variance[kept] / n_ref
        h = np.asarray(n_ref / n, dtype=np.float64)
    if (h <= 0).any():
        raise InputError(f"Task {int(np.argmax(h <= 0))} (from 0) has mean squared error 0 in every component.")
    weights_mean = (1.0 / h) / (1.0 / h).sum()
    Z = (tau[:, kept] - weights_mean @ tau[:, kept]) / np.sqrt(noise)
    G = Z @ Z.T / max(Z.shape[1], 1)
    total = None if n is None else int(n.sum())
    return Reduced(Z, h, (G + G.T) / 2.0, kept, variance, n_ref, total)
