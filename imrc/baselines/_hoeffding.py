"""Hoeffding tree with numeric features and adaptive naive Bayes leaves, the base learner of AUE in MOA.

P. Domingos, G. Hulten. Mining High-Speed Data Streams. KDD 2000; naive Bayes leaves as in G. Holmes, R. Kirkby,
B. Pfahringer. Stress-Testing Hoeffding Trees. PKDD 2005. Class-conditional values of a feature are summarised by
normal distributions; split candidates are equally spaced between the extremes seen in the leaf.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.baselines.base import Labels

CANDIDATES = 10
"""Thresholds tried per feature."""
SMALLEST_SHARE = 0.01
"""Both branches of a split must get at least this share of the samples."""


def entropy(weights: Floats) -> Floats:
    """Return the entropy in bits along the last axis of class weights; an empty set has entropy 0.

    >>> entropy(np.array([[1.0, 1.0], [4.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    total = weights.sum(axis=-1, keepdims=True)
    p = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.asarray(np.abs((p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=-1)))


def hoeffding_bound(n_classes: int, confidence: float, weight: float) -> float:
    """Return sqrt(R^2 ln(1 / confidence) / (2 weight)) with R = log2 of the number of classes.

    >>> round(hoeffding_bound(2, 0.01, 100), 6)
    0.151743
    """
    return float(np.sqrt(np.log2(max(n_classes, 2)) ** 2 * np.log(1.0 / confidence) / (2.0 * weight)))


class HoeffdingTree:
    """Incremental decision tree.

    A leaf gets `grace` samples between two split attempts; `confidence` is the share of wrong splits that the Hoeffding
    bound tolerates, and splits are made without a clear winner once the bound is below `tie`.
    """

    def __init__(
        self, n_features: int, n_classes: int, *, grace: int = 100, confidence: float = 0.01, tie: float = 0.05
    ) -> None:
        self.grace, self.confidence, self.tie = grace, confidence, tie
        C, D = n_classes, n_features
        self.feature: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.threshold: Floats = np.zeros(0)
        self.children: NDArray[np.int64] = np.zeros((0, 2), dtype=np.int64)
        self.counts: Floats = np.zeros((0, C))
        self.seen: Floats = np.zeros((0, C))
        self.mean, self.m2 = np.zeros((0, C, D)), np.zeros((0, C, D))
        self.low, self.high = np.zeros((0, C, D)), np.zeros((0, C, D))
        self.right, self.checked = np.zeros((0, 2)), np.zeros(0)
        self._grow(np.zeros((1, C)))

    def _grow(self, counts: Floats) -> None:
        """Append leaves with the given class weights."""
        k, (_, C, D) = len(counts), self.mean.shape
        self.feature = np.append(self.feature, np.full(k, -1))
        self.threshold = np.append(self.threshold, np.zeros(k))
        self.children = np.vstack([self.children, np.zeros((k, 2), dtype=np.int64)])
        self.counts = np.vstack([self.counts, counts])
        self.seen = np.vstack([self.seen, np.zeros((k, C))])
        self.mean = np.concatenate([self.mean, np.zeros((k, C, D))])
        self.m2 = np.concatenate([self.m2, np.zeros((k, C, D))])
        self.low = np.concatenate([self.low, np.full((k, C, D), np.inf)])
        self.high = np.concatenate([self.high, np.full((k, C, D), -np.inf)])
        self.right = np.vstack([self.right, np.zeros((k, 2))])
        self.checked = np.append(self.checked, np.zeros(k))

    def learn(self, X: Floats, y: Labels) -> None:
        """Learn samples in order; columns of X after the first D are not looked at."""
        from imrc.baselines import _hoeffding_kernels as kernels

        start = 0
        while start < len(X):
            start, leaf = kernels.learn(
                self.feature,
                self.threshold,
                self.children,
                self.counts,
                self.seen,
                self.mean,
                self.m2,
                self.low,
                self.high,
                self.right,
                self.checked,
                X,
                y,
                start,
                self.grace,
            )
            if leaf >= 0:
                self._try_split(leaf)

    def votes(self, X: Floats) -> Floats:
        """Return class shares of the leaves, shape (n, C); rows of zeros where a leaf has no vote."""
        from imrc.baselines import _hoeffding_kernels as kernels

        out = np.zeros((len(X), self.counts.shape[1]))
        kernels.votes(
            self.feature, self.threshold, self.children, self.counts, self.seen, self.mean, self.m2, self.right, X, out
        )
        return out

    def _try_split(self, leaf: int) -> None:
        """Split a leaf if its best feature beats the second best (no split counts as one) by the Hoeffding bound."""
        counts = self.counts[leaf]
        if (counts > 0).sum() < 2:
            return
        gains, thresholds, branches = self.split_gains(leaf)
        best = int(gains.argmax())
        rest = np.delete(gains, best)
        second = max(0.0, float(rest.max()) if rest.size else 0.0)
        bound = hoeffding_bound(int((counts > 0).sum()), self.confidence, float(counts.sum()))
        if gains[best] <= 0.0 or not (gains[best] - second > bound or bound < self.tie):
            return
        left = len(self.feature)
        self.feature[leaf], self.threshold[leaf] = best, thresholds[best]
        self.children[leaf] = left, left + 1
        self._grow(branches[best])

    def split_gains(self, leaf: int) -> tuple[Floats, Floats, Floats]:
        """Return each feature's best gain in a leaf (-inf: none), its threshold, and branch weights (D, 2, C)."""
        seen, low, high = self.seen[leaf][:, None], self.low[leaf], self.high[leaf]
        bottom, top = low.min(axis=0), high.max(axis=0)
        fractions = np.arange(1, CANDIDATES + 1) / (CANDIDATES + 1)
        with np.errstate(invalid="ignore"):  # features of a leaf without samples: inf - inf
            points = bottom + fractions[:, None] * (top - bottom)
        left = seen * self._share_below(leaf, points[:, None, :])  # (candidates, C, D)
        sides = np.stack([left, seen - left], axis=1).transpose(0, 3, 1, 2)  # (candidates, D, 2, C)
        weight = sides.sum(axis=-1)
        total = float(self.seen[leaf].sum())
        gains = entropy(self.seen[leaf]) - (weight * entropy(sides)).sum(axis=-1) / total
        gains = np.where((weight >= SMALLEST_SHARE * total).all(axis=-1) & (top > bottom), gains, -np.inf)
        chosen = gains.argmax(axis=0)
        features = np.arange(points.shape[1])
        return gains[chosen, features], points[chosen, features], sides[chosen, features]

    def _share_below(self, leaf: int, points: Floats) -> Floats:
        """Share of each class's values at or below the points, by its normal distribution cut to its extremes."""
        from scipy.special import ndtr

        seen = self.seen[leaf][:, None]
        variance = np.where(seen > 1, self.m2[leaf] / np.maximum(seen - 1.0, 1.0), 0.0)
        deviation = np.where(variance > 0, np.sqrt(variance), 1.0)
        share = np.where(variance > 0, ndtr((points - self.mean[leaf]) / deviation), points >= self.mean[leaf])
        return np.where(points < self.low[leaf], 0.0, np.where(points >= self.high[leaf], 1.0, share))

    @property
    def size(self) -> int:
        """Numbers kept: nodes, and for leaves the class statistics."""
        leaves = int((self.feature < 0).sum())
        per_leaf = 4 * self.mean[0].size + 2 * self.counts.shape[1] + 3
        return int(4 * len(self.feature) + leaves * per_leaf)
