"""Logistic models trained by STRSAGA (Jothimurugesan et al., NeurIPS 2018), as DriftSurf and its AUE have them.

A model owns a sample set: stream positions from where it was created. The samples themselves are stored once, in a
`Stream`, for all models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from imrc._types import Floats, Ints
from imrc.baselines.base import Settings, choice, expit, real, whole
from imrc.solvers.api import softmax

Init = Literal["uniform", "zeros"]


class Stream:
    """Samples that some live model may still visit, by their position in the whole stream."""

    def __init__(self, width: int) -> None:
        self.X = np.zeros((0, width))
        self.y = np.zeros(0, dtype=np.int64)
        self.first = 0

    @property
    def last(self) -> int:
        """Position after the newest sample."""
        return self.first + len(self.y)

    @property
    def size(self) -> int:
        """Numbers kept."""
        return self.X.size + self.y.size

    def extend(self, X: Floats, y: Ints) -> None:
        """Append a batch."""
        self.X = np.vstack([self.X, X])
        self.y = np.append(self.y, y)

    def forget(self, position: int) -> None:
        """Drop samples before a position: no live model needs them."""
        drop = max(0, position - self.first)
        self.X, self.y = self.X[drop:], self.y[drop:]
        self.first += drop


@dataclass(frozen=True)
class StrsagaSettings(Settings):
    """Hyper-parameters of the models."""

    rate: float = real(2e-2, 0.0)  # step size eta
    shrink: float = real(1e-3, 0.0)  # L2 constant mu
    steps_per_sample: int = whole(2, 1)  # gradient steps per sample and model
    init: Init = choice("zeros", Init)  # first parameters: zero, or uniform on [0, 1) as released


class StrsagaModel:
    """Logistic model, W (c, d) with c = 1 for two classes, with its sample set and gradient table.

    `total` sums derivative times sample, `risk` is on the newest batch before training, `best_risk` the smallest yet.
    """

    def __init__(self, start: int, shape: tuple[int, int], settings: StrsagaSettings, rng: np.random.Generator) -> None:
        self.start = self.end = start
        self.W = rng.random(shape) if settings.init == "uniform" else np.zeros(shape)
        self.settings = settings
        self.total = np.zeros_like(self.W)
        self._table = np.zeros((0, len(self.W)))
        self._known = np.zeros(0, dtype=np.bool_)
        self.best_risk, self.risk = math.inf, math.nan

    def train(self, stream: Stream, samples: int, rng: np.random.Generator) -> None:
        """Take the steps for so many new samples, reading what is unread."""
        from imrc.baselines._kernels import strsaga

        more = stream.last - self.start - len(self._known)
        self._table = np.vstack([self._table, np.zeros((more, len(self.W)))])
        self._known = np.append(self._known, np.zeros(more, dtype=np.bool_))
        low, s = self.start - stream.first, self.settings
        state, own = (self.W, self._table, self._known, self.total), (stream.X[low:], stream.y[low:])
        places = self.end - self.start, stream.last - self.start
        self.end = self.start + strsaga(
            *state, *own, *places, rng.random(s.steps_per_sample * samples), s.rate, s.shrink
        )

    def scores(self, X1: Floats) -> Floats:
        """Return outputs, shape (n, c)."""
        return np.asarray(X1 @ self.W.T)

    def shares(self, X1: Floats) -> Floats:
        """Return class probabilities, shape (n, C)."""
        scores = self.scores(X1)
        if scores.shape[1] > 1:
            return softmax(scores)
        p = expit(scores[:, 0])
        return np.stack([1.0 - p, p], axis=1)

    def regularised_risk(self, X1: Floats, y: Ints) -> float:
        """Return mean log-loss + mu / 2 ||W||^2."""
        scores = self.scores(X1)
        if scores.shape[1] == 1:
            losses = np.logaddexp(0.0, -np.where(y == 1, 1.0, -1.0) * scores[:, 0])
        else:
            top = scores.max(axis=1, keepdims=True)
            losses = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1)) - scores[np.arange(len(y)), y]
        return float(losses.mean() + 0.5 * self.settings.shrink * (self.W**2).sum())

    def measure(self, risk: float) -> None:
        """Record the risk on the newest batch."""
        self.risk = risk
        self.best_risk = min(self.best_risk, risk)

    @property
    def size(self) -> int:
        """Numbers kept besides the samples."""
        return self.W.size + self.total.size + self._table.size
