"""Change of higher order: a small linear Gaussian state space per component in place of the random walk.

    x_j = F x_{j-1} + noise(Q),    tau_j = c'x_j + noise(s_j)

Order 1, the paper's, is F = 1, Q = d^2 and has functions of its own, `imrc.core.recursions`. Here are its neighbours: a
level with a slope, p-th differences that are noise, a level that is pulled back to a mean, one that goes round, one
that stays, one that starts anew. `track` gives every estimate of all of them: before a task (prediction), with it
(Kalman filter), and with the tasks after it (smoother).

Starting values of which nothing is known are an unknown delta that is carried along: filter and smoother run given
delta = 0 and, in further columns, for the influence of delta, which is then estimated from what has been seen (the
augmented filter of de Jong). So nothing stands in for infinity; what the data do not say yet has an infinite mean
squared error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, factorial

import numpy as np
from numpy.typing import ArrayLike

from imrc._types import Floats

_Step = tuple[Floats, Floats, Floats, Floats, Floats, Floats]
"""F, P, level and innovation before the task is seen, precision of the innovation, gain."""

_UNKNOWN = 1e-9
"""Share of the information on delta below which a direction counts as not seen yet."""


@dataclass(frozen=True, eq=False)
class ChangeModel:
    """How a component moves: g variants of one form, one per component or one for all."""

    F: Floats  # (g, r, r): transition of the state over one period
    Q: Floats  # (g, r, r): covariance of its noise
    c: Floats  # (r,): the component is c'x
    start: Floats  # (g, r, r): covariance of the state at the first task, where something is known of it
    free: tuple[int, ...]  # entries of that state of which nothing is known

    def over(self, gap: float) -> tuple[Floats, Floats]:
        """Return F and Q (g, r, r) of a step over `gap` periods, each with noise of its own; a part has its share."""
        if gap == 1.0:
            return self.F, self.Q
        whole, part = divmod(gap, 1.0)
        power, noise = np.broadcast_to(np.eye(len(self.c)), self.F.shape), np.zeros_like(self.Q)
        if part:
            from scipy.linalg import fractional_matrix_power

            power, noise = np.stack([np.real(fractional_matrix_power(F, part)) for F in self.F]), part * self.Q
        for _ in range(int(whole)):
            power, noise = self.F @ power, self.F @ noise @ _t(self.F) + self.Q
        return power, noise

    def variant(self, index: int) -> ChangeModel:
        """Return one of the g variants."""
        one = slice(index, index + 1)
        return ChangeModel(self.F[one], self.Q[one], self.c, self.start[one], self.free)


def _t(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -1, -2)


def _model(F: ArrayLike, noise: Floats, c: ArrayLike, start: Floats | None = None) -> ChangeModel:
    """Return a model from F (r, r) or (g, r, r), variances of the noise and the start (g, r), NaN where not known."""
    g, r = noise.shape
    F = np.broadcast_to(np.asarray(F, dtype=np.float64), (g, r, r))
    start = np.full((g, r), np.nan) if start is None else start
    free = np.flatnonzero(np.isnan(start[0]))
    known = np.where(np.isnan(start), 0.0, start)
    eye = np.eye(r)
    return ChangeModel(
        F, noise[:, :, None] * eye, np.asarray(c, dtype=np.float64), known[:, :, None] * eye, tuple(free)
    )


def _companion(coefficients: Floats) -> Floats:
    """Return F of x_t = a_1 x_{t-1} + ... + a_r x_{t-r}, coefficients (..., r)."""
    r = coefficients.shape[-1]
    F = np.zeros((*coefficients.shape[:-1], r, r))
    F[..., 0, :] = coefficients
    F[..., np.arange(1, r), np.arange(r - 1)] = 1.0
    return F


def _first(values: ArrayLike, r: int) -> Floats:
    """Return variances (g, r) of a noise that enters the first of r entries."""
    values = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return np.asarray(values[:, None] * np.eye(r)[0])


def differences(p: int, d: ArrayLike) -> ChangeModel:
    """Return the model whose p-th differences are independent and zero-mean: (1 - B)^p tau is noise.

    d, a number or (g,), is the expected square of a p-th difference. p = 1 is a random walk, and with d = 0 nothing
    changes.

    >>> differences(2, 0.1).F[0]
    array([[ 2., -1.],
           [ 1.,  0.]])
    """
    coefficients = np.array([-((-1.0) ** i) * comb(p, i) for i in range(1, p + 1)])
    return _model(_companion(coefficients), _first(d, p), np.eye(p)[0])


def levels(d: ArrayLike) -> ChangeModel:
    """Return level, slope, slope of the slope, ..., each with a noise of its own.

    d, (p,) or (g, p), are their variances per period; (0, 0) is a straight line.

    >>> levels([0.1, 0.01]).F[0]
    array([[1., 1.],
           [0., 1.]])
    """
    noise = np.atleast_2d(np.asarray(d, dtype=np.float64))
    p = noise.shape[1]
    F = [[1.0 / factorial(b - a) if b >= a else 0.0 for b in range(p)] for a in range(p)]
    return _model(F, noise, np.eye(p)[0])


def mean_reverting(phi: ArrayLike, d: ArrayLike) -> ChangeModel:
    """Return the model of a level that is pulled back to a mean of which nothing is known.

    phi, in (0, 1), is the share of the distance from the mean that is left after one period, d the variance of the
    noise per period; numbers or (g,). The first task has the stationary variance d / (1 - phi^2).
    """
    phi, d = np.broadcast_arrays(np.atleast_1d(np.asarray(phi, dtype=np.float64)), np.asarray(d, dtype=np.float64))
    F = np.zeros((len(phi), 2, 2))
    F[:, 0, 0], F[:, 1, 1] = phi, 1.0
    start = np.stack([d / (1.0 - phi**2), np.full(len(phi), np.nan)], axis=1)
    return _model(F, _first(d, 2), [1.0, 1.0], start)


def seasonal(period: ArrayLike, d: ArrayLike, d_season: ArrayLike) -> ChangeModel:
    """Return the model of a level with one wave on it.

    A round has `period` tasks, at least 2; d and d_season are the variances per period of the noise of the level, and
    of both parts of the wave. Numbers or (g,).

    >>> seasonal(4, 0.0, 0.0).F[0].round(12) + 0.0
    array([[ 1.,  0.,  0.],
           [ 0.,  0.,  1.],
           [ 0., -1.,  0.]])
    """
    angle = 2.0 * np.pi / np.atleast_1d(np.asarray(period, dtype=np.float64))
    F = np.zeros((len(angle), 3, 3))
    F[:, 0, 0] = 1.0
    F[:, 1, 1] = F[:, 2, 2] = np.cos(angle)
    F[:, 1, 2], F[:, 2, 1] = np.sin(angle), -np.sin(angle)
    noise = np.stack(np.broadcast_arrays(d, d_season, d_season, angle)[:3], axis=1).astype(np.float64)
    return _model(F, noise, [1.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Tracks:
    """Estimates of all tasks under one model with mean squared errors, infinite where the tasks do not tell yet."""

    predicted: tuple[Floats, Floats]  # from the tasks before it
    forward: tuple[Floats, Floats]  # from those and its own samples
    smooth: tuple[Floats, Floats] | None  # from all tasks, where asked for
    ahead: tuple[Floats, Floats]  # of the task to come


def track(
    model: ChangeModel,
    tau: Floats,
    s: Floats,
    gaps: Sequence[float] | None = None,
    ahead: float = 1.0,
    jumps: Floats | None = None,
) -> Tracks:
    """Return prediction, filter and smoother of every task.

    The model has one variant for all components or one per component; tau is (k, m), s (k, m) or (k, 1) above 0,
    infinite for a task without labels. `gaps` are periods from the task before (the first is not used), `ahead` those
    to the one to come; `jumps` (k,) add the variance of an abrupt change of the first entry of the state into each
    task. Mean squared errors are (k, m), or (k, 1) where all components have one gain.

    Points on a straight line go on along it; one point does not say where.

    >>> line = track(levels([0.0, 0.0]), np.array([[0.0], [1.0], [2.0]]), np.ones((3, 1)))
    >>> line.ahead[0].round(12), line.predicted[1][1:].ravel().round(12)
    (array([3.]), array([inf,  5.]))
    """
    k, m = tau.shape
    g = max(len(model.F), s.shape[1])
    if len(model.F) not in (1, g) or s.shape[1] not in (1, g) or g not in (1, m) or len(s) != k:
        raise ValueError(f"tau {tau.shape}, s {s.shape} and a model of {len(model.F)} components do not fit.")
    data = tau[:, None, :] if g == 1 else tau[:, :, None]
    jumps = None if jumps is None else np.asarray(jumps)[:, None]
    found = run(model, data, s, np.ones(k) if gaps is None else gaps, ahead, jumps, smoothed=True)
    assert found.smooth is not None  # noqa: S101 - asked for
    before, with_it, smooth = (
        (mean.reshape(k, m), mse) for mean, mse in (found.predicted, found.forward, found.smooth)
    )
    return Tracks(before, with_it, smooth, (found.ahead[0].reshape(m), found.ahead[1]))


def run(
    model: ChangeModel,
    data: Floats,
    s: Floats,
    gaps: Sequence[float] | Floats,
    ahead: float,
    jumps: Floats | None = None,
    *,
    smoothed: bool = False,
) -> Tracks:
    """Filter, and smooth if asked for, q columns under each of g variants: means (k, g, q), errors (k, g).

    `data` is (k, g or 1, q), `s` and `jumps` (k, g or 1), the rest as in `track`. The columns of the identity, q = k,
    give the weights of the tasks in every estimate.
    """
    if not (s > 0).all():
        raise ValueError("Mean squared errors must be above 0.")
    (k, _, q), r, c, free = data.shape, len(model.c), model.c, list(model.free)
    g = max(len(model.F), data.shape[1], s.shape[1], 1 if jumps is None else jumps.shape[1])
    x, P = np.zeros((g, r, q + len(free))), np.broadcast_to(model.start, (g, r, r)).copy()
    x[:, free, q + np.arange(len(free))] = 1.0
    known = np.zeros((g, len(free), q + len(free)))  # what the innovations say of delta, and its information
    before, with_it, steps = [], [], []
    F = model.F
    for j in range(k):
        if j:
            F, Q = model.over(float(gaps[j]))
            x, P = F @ x, F @ P @ _t(F) + Q
            if jumps is not None:
                P[:, 0, 0] += jumps[j]
        before.append((c @ x, _variance(c, P), known))
        innovation = -(c @ x)
        innovation[:, :q] += data[j]
        precision = 1.0 / (before[-1][1] + s[j])
        gain = (P @ c) * precision[:, None]
        if smoothed:
            steps.append((F, P, c @ x, innovation, precision, gain))
        x = x + gain[:, :, None] * innovation[:, None, :]
        P = P - gain[:, :, None] * (P @ c)[:, None, :]
        known = known + precision[:, None, None] * innovation[:, q:, None] * innovation[:, None, :]
        with_it.append((c @ x, _variance(c, P), known))
    smooth = _resolve(_smoothed(c, steps, known), q) if smoothed else None
    F, Q = model.over(ahead)
    mean, mse = _resolve([(c @ (F @ x), _variance(c, F @ P @ _t(F) + Q), known)], q)
    return Tracks(_resolve(before, q), _resolve(with_it, q), smooth, (mean[0], mse[0]))


def _variance(c: Floats, P: Floats) -> Floats:
    return np.asarray((P @ c) @ c)


def _smoothed(c: Floats, steps: list[_Step], known: Floats) -> list[tuple[Floats, Floats, Floats]]:
    """Return levels and variances of all tasks given all tasks, by the backward recursion without inverses."""
    found: list[tuple[Floats, Floats, Floats]] = []
    pull, bend = np.zeros(1), np.zeros(1)
    eye = np.eye(len(c))
    for F, P, level, innovation, precision, gain in reversed(steps):
        keep = _t(eye - gain[:, :, None] * c)
        own = precision[:, None] * innovation
        pull = c[:, None] * own[:, None, :] + (keep @ pull if found else 0.0)
        bend = precision[:, None, None] * np.outer(c, c) + (keep @ bend @ _t(keep) if found else 0.0)
        Pc = P @ c
        level = level + np.einsum("gr,grq->gq", Pc, pull)
        found.append((level, Pc @ c - np.einsum("gr,grs,gs->g", Pc, bend, Pc), known))
        pull, bend = _t(F) @ pull, _t(F) @ bend @ F
    return found[::-1]


def _resolve(parts: list[tuple[Floats, Floats, Floats]], q: int) -> tuple[Floats, Floats]:
    """Put the estimate of delta into levels (n, g, q + free) and their variances; infinite where it is not known."""
    level, mse, known = (np.stack([part[i] for part in parts]) for i in range(3))
    said, influence = known[..., :q], level[..., q:]
    scale = np.sqrt(np.diagonal(known[..., q:], axis1=-2, axis2=-1))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(known[..., q:] / (scale[..., :, None] * scale[..., None, :]))
    seen = values > _UNKNOWN
    # In directions of independent estimates with error 1 / value each.
    along = np.einsum("...i,...ij->...j", influence / scale, vectors)
    inverse = np.where(seen, 1.0 / np.where(seen, values, 1.0), 0.0)
    estimate = -inverse[..., None] * (_t(vectors) @ (said / scale[..., None]))
    mean = level[..., :q] + np.einsum("...j,...jq->...q", along, estimate)
    missing = np.where(seen, 0.0, along**2).sum(axis=-1) > _UNKNOWN * np.maximum((along**2).sum(axis=-1), 1e-300)
    mse = mse + (inverse * along**2).sum(axis=-1)
    return mean, np.where(missing, np.inf, mse)
