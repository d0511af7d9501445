"""Logistic models trained by STRSAGA (Jothimurugesan et al., NeurIPS 2018), the base learner of DriftSurf.

A model owns a sample set: stream positions from where it was created. The samples themselves are stored once, in a
`Stream`, for all models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from imrc._types import Floats
from imrc.baselines.base import Labels

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

    def extend(self, X: Floats, y: Labels) -> None:
        """Append a batch."""
        self.X = np.vstack([self.X, X])
        self.y = np.append(self.y, y)

    def forget(self, position: int) -> None:
        """Drop samples before a position: no live model needs them."""
        drop = max(0, position - self.first)
        self.X, self.y = self.X[drop:], self.y[drop:]
        self.first += drop


@dataclass(frozen=True)
class Hyper:
    """Step size eta, L2 constant mu and steps per sample of a model."""

    rate: float
    shrink: float
    steps_per_sample: int


class Model:
    """Logistic model, W (c, d) with c = 1 for two classes, with its sample set and gradient table.

    `total` sums derivative times sample, `risk` is on the newest batch before training, `best_risk` the smallest yet.
    """

    def __init__(self, start: int, W: Floats, hyper: Hyper) -> None:
        self.start = self.end = start
        self.W = W
        self.hyper = hyper
        self.total = np.zeros_like(W)
        self._table = np.zeros((0, len(W)))
        self._known = np.zeros(0, dtype=np.bool_)
        self.best_risk, self.risk = math.inf, math.nan

    @classmethod
    def fresh(cls, start: int, shape: tuple[int, int], hyper: Hyper, init: Init, rng: np.random.Generator) -> Model:
        """Make a model with parameters uniform on [0, 1) or zero."""
        return cls(start, rng.random(shape) if init == "uniform" else np.zeros(shape), hyper)

    def train(self, stream: Stream, samples: int, rng: np.random.Generator) -> None:
        """Take ``steps_per_sample * samples`` steps, reading what is unread."""
        from imrc.baselines._strsaga_kernels import strsaga

        more = stream.last - self.start - len(self._known)
        self._table = np.vstack([self._table, np.zeros((more, len(self.W)))])
        self._known = np.append(self._known, np.zeros(more, dtype=np.bool_))
        low = self.start - stream.first
        self.end = self.start + strsaga(
            self.W,
            self._table,
            self._known,
            self.total,
            stream.X[low:],
            stream.y[low:],
            self.end - self.start,
            stream.last - self.start,
            rng.random(self.hyper.steps_per_sample * samples),
            self.hyper.rate,
            self.hyper.shrink,
        )

    def scores(self, X1: Floats) -> Floats:
        """Return outputs, shape (n, c)."""
        return np.asarray(X1 @ self.W.T)

    def losses(self, X1: Floats, y: Labels) -> Floats:
        """Return the log-loss of each sample, shape (n,)."""
        scores = self.scores(X1)
        if scores.shape[1] == 1:
            return np.logaddexp(0.0, -np.where(y == 1, 1.0, -1.0) * scores[:, 0])
        top = scores.max(axis=1, keepdims=True)
        log_sum = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
        return np.asarray(log_sum - scores[np.arange(len(y)), y])

    def regularised_risk(self, X1: Floats, y: Labels) -> float:
        """Return mean log-loss + mu / 2 ||W||^2."""
        return float(self.losses(X1, y).mean() + 0.5 * self.hyper.shrink * (self.W**2).sum())

    def measure(self, risk: float) -> None:
        """Record the risk on the newest batch."""
        self.risk = risk
        self.best_risk = min(self.best_risk, risk)

    @property
    def size(self) -> int:
        """Numbers kept besides the samples."""
        return self.W.size + self.total.size + self._table.size

    @property
    def table(self) -> Floats:
        """Derivatives of the samples read so far, shape (end - start, c)."""
        return self._table[: self.end - self.start]
