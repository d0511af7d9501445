"""From samples to one k x k matrix on which all tests work, and what averages do not show.

The mapped samples of a long sequence may not fit into memory, so tasks are mapped, summed and released one by one.
Sample averages are divided by the pooled standard deviation of a sample. In every component the average of a task then
has noise variance h_j (1 on average over tasks), and the tests need only G = Z Z' / m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from imrc._checks import InputError, check_matrix
from imrc._types import Floats, Ints
from imrc.core.recursions import sample_moments
from imrc.solvers.api import with_intercept
from imrc.tasks import TaskSequence

Transform = Callable[[Floats], Floats]

CONSTANT = 1e-10  #: Components with a pooled variance below this share of the largest vary only by rounding.
_PAIRS = 4000
_CHUNK = 500
_LEAST_Z = 3.0
_LEAST_CORRELATION = 0.05  # Dependence of rows is reported if it is both certain and large enough to matter.
_LEAST_P = 1e-3


@dataclass(frozen=True, eq=False)
class Moments:
    """Sample averages of Phi(x, y) and their errors, task by task."""

    tau: Floats  # sample averages, shape (k, m)
    s: Floats  # their mean squared errors sigma_j^2 / n_j, shape (k, m)
    n: Ints | None  # samples per task, shape (k,); None if only means are known

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
    def statistic(self) -> float:
        """Q: variance between tasks in units of the sampling noise; 1 if all tasks are identical."""
        return float((self.Z**2 / self.h[:, None]).sum() / self.m / (self.k - 1))

    @property
    def distance(self) -> Floats:
        """Squared distances of tasks less noise, shape (k, k), with diagonal 0."""
        diagonal = np.diag(self.G)
        out = diagonal[:, None] + diagonal[None, :] - 2.0 * self.G - self.h[:, None] - self.h[None, :]
        np.fill_diagonal(out, 0.0)
        return np.asarray(out)


@dataclass(frozen=True)
class RowNotes:
    """Dependence of rows within a task, and changes of spread, neither of which averages show."""

    correlation: float  # of successive rows of one class in a task, around the average of task and class
    z: float  # the correlation in standard errors if the order of rows did not matter
    p_spread: float  # of "the spread around the averages is the same in all tasks", by ranks (Kruskal and Wallis)

    @property
    def dependence(self) -> str:
        """A sentence about correlated successive rows; empty if rows are independent."""
        if not (self.z > _LEAST_Z and self.correlation > _LEAST_CORRELATION):
            return ""
        return (
            f"Successive rows within a task are correlated ({self.correlation:.2f}). They carry less information "
            f"than the same number of independent samples, so changes look more certain than they are."
        )

    def notes(self, *, is_change_seen: bool) -> tuple[str, ...]:
        """Return the findings that matter, in sentences."""
        if self.dependence:
            return (self.dependence,)
        if not is_change_seen and self.p_spread < _LEAST_P:
            return (
                "Averages do not change, but the spread around them does. Neither this diagnosis nor a rule with "
                "these features can detect such a change. Random Fourier features can.",
            )
        return ()


def lag_sums(G: Floats, orders: Ints, lags: Ints) -> Floats:
    """Return sum_i G[p_i, p_(i + t)] for every order p (rows of `orders`) and lag t, shape (orders, lags)."""
    flat, k = G.ravel(), len(G)
    return np.stack([flat[orders[:, :-t] * k + orders[:, t:]].sum(axis=1) for t in lags], axis=1)


def standardised_sum(values: Floats) -> float:
    """Return the sum over the root of the sum of squares; 0 without variation."""
    size = float(np.sqrt((values**2).sum()))
    return float(values.sum()) / size if size > 0 else 0.0


def read_rows(tasks: Iterable[tuple[Floats, Ints]]) -> RowNotes:
    """Return the findings about the rows of tasks, given rows and classes of each task in their order."""
    from scipy import stats

    alike, spread = [np.zeros(0)], [np.zeros((0, 3))]  # products of neighbours; squares, classes and tasks of rows
    for j, (X, y) in enumerate(tasks):
        for c in np.unique(y):
            residuals = X[y == c] - X[y == c].mean(axis=0)
            count, own = len(residuals), (residuals**2).sum(axis=1)
            # Around their own average, rows in any order have correlation -1 / (n - 1); two rows are always opposite.
            if count > 2:
                alike.append((residuals[1:] * residuals[:-1]).sum(axis=1) + own.mean() / (count - 1))
            if count > 1:
                spread.append(np.column_stack([own * count / (count - 1), np.full((count, 2), (c, j))]))
    products, rows = np.concatenate(alike), pd.DataFrame(np.concatenate(spread), columns=["square", "class", "task"])
    if rows["square"].sum() == 0.0:  # no two rows of one class differ
        return RowNotes(0.0, 0.0, 1.0)
    # Ranks are within a class, so that a change of the shares of classes does not count as one of spread.
    of_class = rows.groupby("class")["square"]
    ranks = of_class.rank() / (of_class.transform("size") + 1)
    groups = [own.to_numpy() for _, own in ranks.groupby(rows["task"])]
    p = 1.0 if len(groups) < 2 or np.ptp(ranks) == 0.0 else float(stats.kruskal(*groups).pvalue)
    average = float(products.mean()) if len(products) else 0.0
    return RowNotes(average / float(rows["square"].mean()), standardised_sum(products), p)


@dataclass(frozen=True, eq=False)
class Reading:
    """Result of one pass over the samples of a sequence, or given moments."""

    moments: Moments
    reduced: Reduced
    m_noise: float | None = None  # effective number of independent components of the sampling noise, in [1, m]
    rows: list[tuple[Floats, Ints]] | None = None  # mapped rows of all tasks with their classes, for the exact test
    is_bounded: bool = False  # whether all features lie in [-1, 1]
    of_rows: RowNotes = RowNotes(0.0, 0.0, 1.0)


def _draw_pairs(task_of: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw pairs of samples from different tasks, without tasks of one sample, which have no residual."""
    sizes = np.bincount(task_of)
    if len(sizes) < 2:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    first, second = (generator.integers(task_of.size, size=_PAIRS) for _ in range(2))
    while (same := task_of[first] == task_of[second]).any():
        second[same] = generator.integers(task_of.size, size=int(same.sum()))
    usable = (sizes[task_of[first]] > 1) & (sizes[task_of[second]] > 1)
    return first[usable], second[usable]


def read_sequence(
    sequence: TaskSequence, transform: Transform, generator: np.random.Generator, keep: float = 0.0
) -> Reading:
    """Read every task once. Rows are returned if samples times components is at most `keep`."""
    sizes, C = sequence.sizes, sequence.n_classes
    task_of = np.repeat(np.arange(len(sizes)), sizes)
    pairs = _draw_pairs(task_of, generator)
    wanted = np.unique(np.concatenate(pairs))
    picked, averages, largest, rows = [], [], 0.0, list[tuple[Floats, Ints]]()

    def read() -> Iterator[tuple[Floats, Ints]]:
        nonlocal largest
        for j, X1 in enumerate(mapped(sequence, transform)):
            y, start = sequence.encoded(j), int(sizes[:j].sum())
            averages.append(sample_moments(X1, y, C))
            inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + len(X1))] - start
            picked.append((X1[inside], y[inside]))
            largest = max(largest, float(np.abs(X1).max()))
            if float(sizes.sum()) * C * X1.shape[1] <= keep:
                rows.append((X1, y))
            yield X1, y

    notes = read_rows(read())
    tau, s = (np.stack(parts) for parts in zip(*averages, strict=True))
    moments = Moments(tau, s, sizes)
    reduced, (drawn, drawn_classes) = reduce_moments(moments), map(np.concatenate, zip(*picked, strict=True))
    root = np.sqrt(np.where(reduced.kept, reduced.variance, 1.0))

    def residuals(index: Ints) -> Floats:
        task, place = task_of[index], np.searchsorted(wanted, index)
        X1, y, width = drawn[place], drawn_classes[place], drawn.shape[1]
        out = -tau[task]
        for c in range(C):
            out[y == c, c * width : (c + 1) * width] += X1[y == c]
        scale = np.sqrt(sizes[task] / (sizes[task] - 1.0))
        return np.asarray((out / root)[:, reduced.kept] * scale[:, None])

    chunks = [[index[a : a + _CHUNK] for index in pairs] for a in range(0, len(pairs[0]), _CHUNK)]
    squared = [(residuals(first) * residuals(second)).sum(axis=1) ** 2 for first, second in chunks]
    m, m_noise = reduced.m, 1.0
    if squared:  # they are m^2 / m_noise on average
        mean = float(np.concatenate(squared).mean())
        m_noise = float(np.clip(m * m / mean if mean > 0 else m, 1.0, m))
    return Reading(moments, reduced, m_noise, rows or None, largest <= 1.0 + 1e-9, notes)


def resolve_transform(features: object, sequence: TaskSequence, seed: int) -> tuple[Transform, str]:
    """Return a function X -> (n, D) and its name, for `features` as in `assess`."""
    from imrc.features import FEATURE_TITLES, FeatureSpec, Standardised, make

    if features is None:
        # Words and gaps are read as in a run; scales are those of all samples, because a diagnosis uses them all.
        numbers = make("identity", sequence, seed)
        learnt = Standardised.learn(np.concatenate([numbers.transform(task.X) for task in sequence]))
        return lambda X: learnt.transform(numbers.transform(X)), "standardised inputs (one scale for all tasks)"
    if isinstance(features, str | FeatureSpec):
        spec = FeatureSpec.parse(features)
        return make(spec, sequence, seed).transform, FEATURE_TITLES[spec.kind].lower()
    method: Any = getattr(features, "transform", features)
    if not callable(method):
        raise TypeError(
            "features must be None, the name of a feature map, an object with transform(X), or a function; "
            f"got {type(features).__name__}."
        )
    return method, type(features).__name__ if method is not features else "given features"


def mapped(sequence: TaskSequence, transform: Transform) -> Iterator[Floats]:
    """Yield [1, phi(x)] task by task, each of shape (n_j, D + 1)."""
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
    """Standardise with pooled variances, drop constant components, form G."""
    tau, s, n = moments.tau, moments.s, moments.n
    k = len(tau)
    # A task's own variance is too noisy with 10 samples, and 0 if a class is absent.
    variance = moments.pooled_variance()
    kept = variance > CONSTANT * max(float(variance.max()), 0.0) if variance.size else variance > 0
    n_ref, total, noise = None, None, variance[kept]
    if n is None:
        h = (s[:, kept] / noise).mean(axis=1) if kept.any() else np.ones(k)
    else:
        n_ref, total = float(k / (1.0 / n).sum()), int(n.sum())
        noise, h = noise / n_ref, np.asarray(n_ref / n, dtype=np.float64)
    if (h <= 0).any():
        raise InputError(f"Task {int(np.argmax(h <= 0))} (from 0) has mean squared error 0 in every component.")
    weights_mean = (1.0 / h) / (1.0 / h).sum()
    Z = (tau[:, kept] - weights_mean @ tau[:, kept]) / np.sqrt(noise)
    G = Z @ Z.T / max(Z.shape[1], 1)
    return Reduced(Z, h, (G + G.T) / 2.0, kept, variance, n_ref, total)
