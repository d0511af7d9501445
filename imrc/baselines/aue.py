"""AUE, accuracy updated ensemble: members created at different tasks, all updated, weighted by their newest error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from imrc._types import Floats, Ints
from imrc.baselines._strsaga import Init, Stream, StrsagaModel, StrsagaSettings
from imrc.baselines.base import Baseline, choice, linear_labels, named, real, whole, with_last_intercept

Base = Literal["hoeffding", "logistic"]


@dataclass(frozen=True)
class AUESettings(StrsagaSettings):
    """Hyper-parameters of AUE, and of its members: of logistic ones by STRSAGA, the last three of trees."""

    members: int = whole(10, 1)  # largest number K of members
    base: Base = choice("hoeffding", Base)  # Hoeffding trees, or logistic models trained by STRSAGA
    epsilon: float = real(1e-10, 0.0, above=True)  # keeps the weights finite
    init: Init = choice("uniform", Init)
    grace: int = whole(100, 1)  # samples of a leaf between two attempts to split it
    confidence: float = real(0.01, 0.0, 1.0, above=True)  # share of wrong splits that the Hoeffding bound tolerates
    tie: float = real(0.05, 0.0)  # splits need no clear winner once the bound is below it


def member_weights(errors: Floats, frequencies: Floats, epsilon: float) -> tuple[Floats, float]:
    """Return the weights 1 / (MSE_r + MSE_i + epsilon) of old members and that of the candidate (MSE_i = 0).

    MSE_r = sum_y p(y) (1 - p(y))^2 is the error of a random guesser, by the class frequencies p.

    >>> old, new = member_weights(np.array([0.1, 0.3]), np.array([0.6, 0.4]), 1e-10)
    >>> old.round(6).tolist(), round(new, 6)
    ([2.941176, 1.851852], 4.166667)
    """
    random_error = float((frequencies * (1.0 - frequencies) ** 2).sum())
    return 1.0 / (random_error + errors + epsilon), 1.0 / (random_error + epsilon)


# Hoeffding trees with adaptive naive Bayes leaves, the members in MOA: P. Domingos, G. Hulten. Mining High-Speed Data
# Streams. KDD 2000; G. Holmes, R. Kirkby, B. Pfahringer. Stress-Testing Hoeffding Trees. PKDD 2005.

THRESHOLDS = 10  #: Thresholds tried per feature.
SMALLEST_SHARE = 0.01  #: Both branches of a split must get at least this share of the samples.


_ARRAYS: dict[str, tuple[float, str]] = {
    "feature": (-1, ""),  # of the split; -1: a leaf
    "threshold": (0.0, ""),
    "children": (0, "2"),
    "counts": (0.0, "C"),  # class weights, those left by the split included
    "seen": (0.0, "C"),  # samples behind the statistics
    "mean": (0.0, "CD"),
    "m2": (0.0, "CD"),  # sums of squared deviations
    "right": (0.0, "2"),  # how often class counts and naive Bayes were right
    "low": (np.inf, "CD"),
    "high": (-np.inf, "CD"),
    "checked": (0.0, ""),  # samples a leaf had seen at the last attempt to split it
}
"""Arrays of a tree with one row per node, in the order in which the kernels take them: start, and shape of a row."""


def entropy(weights: Floats) -> Floats:
    """Return the entropy in bits along the last axis of class weights; an empty set has entropy 0.

    >>> entropy(np.array([[1.0, 1.0], [4.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    total = weights.sum(axis=-1, keepdims=True)
    p = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.asarray(np.abs((p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=-1)))


class HoeffdingTree:
    """Incremental decision tree; its settings are `grace`, `confidence` and `tie`."""

    feature: Ints
    children: Ints
    threshold: Floats
    counts: Floats
    seen: Floats
    mean: Floats
    m2: Floats
    low: Floats
    high: Floats

    def __init__(self, n_features: int, n_classes: int, settings: AUESettings) -> None:
        self.settings = settings
        axes = {"2": 2, "C": n_classes, "D": n_features}
        for name, (start, shape) in _ARRAYS.items():
            setattr(self, name, np.full((1, *(axes[axis] for axis in shape)), start))

    def _grow(self, counts: Floats) -> None:
        """Append leaves with the given class weights."""
        for name, (start, _) in _ARRAYS.items():
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full((len(counts), *old.shape[1:]), start)]))
        self.counts[-len(counts) :] = counts

    def _arrays(self) -> list[Any]:
        return [getattr(self, name) for name in _ARRAYS]

    def learn(self, X: Floats, y: Ints) -> None:
        """Learn samples in order; columns of X after the first D are not looked at."""
        from imrc.baselines import _kernels as kernels

        start = 0
        while start < len(X):
            start, leaf = kernels.learn(*self._arrays(), X, y, start, self.settings.grace)  # type: ignore[call-arg]
            if leaf >= 0:
                self._try_split(leaf)

    def shares(self, X: Floats) -> Floats:
        """Return class shares of the leaves, shape (n, C); rows of zeros where a leaf has no vote."""
        from imrc.baselines import _kernels as kernels

        out = np.zeros((len(X), self.counts.shape[1]))
        kernels.votes(*self._arrays()[:8], X, out)  # type: ignore[call-arg]
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
        # The Hoeffding bound sqrt(R^2 ln(1 / confidence) / (2 weight)) with R = log2 of the number of classes.
        R = np.log2((counts > 0).sum())
        bound = np.sqrt(R**2 * np.log(1.0 / self.settings.confidence) / (2.0 * counts.sum()))
        if gains[best] <= 0.0 or not (gains[best] - second > bound or bound < self.settings.tie):
            return
        left = len(self.feature)
        self.feature[leaf], self.threshold[leaf] = best, thresholds[best]
        self.children[leaf] = left, left + 1
        self._grow(branches[best])

    def split_gains(self, leaf: int) -> tuple[Floats, Floats, Floats]:
        """Return each feature's best gain in a leaf (-inf: none), its threshold, and branch weights (D, 2, C)."""
        seen, low, high = self.seen[leaf][:, None], self.low[leaf], self.high[leaf]
        bottom, top = low.min(axis=0), high.max(axis=0)
        fractions = np.arange(1, THRESHOLDS + 1) / (THRESHOLDS + 1)
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


Member = HoeffdingTree | StrsagaModel


class AUE(Baseline):
    """Accuracy updated ensemble (AUE2), one block per task.

    Profiles: ``"default"`` (Hoeffding trees, as in the authors' code in MOA), ``"logistic"`` (logistic members started
    uniformly on [0, 1), as the authors of DriftSurf rewrote it).
    """

    title = "AUE"
    paper = (
        "D. Brzezinski, J. Stefanowski. Reacting to Different Types of Concept Drift: The Accuracy Updated Ensemble "
        "Algorithm. IEEE TNNLS 25(1), 2014"
    )
    idea = "A committee of ten trees, one per block of data, weighted by their performance on the newest block."
    wins = "Slow and abrupt change with many samples per task."
    keeps = "Ten trees."
    headline = "newest"
    deviations = (
        "Blocks are tasks. There is no memory limit, so trees are never pruned.",
        "Naive Bayes in the leaves uses logarithms (the reference code multiplies densities, which underflow).",
        "Members are Hoeffding trees with the defaults of the cited authors' code (grace period 100, split confidence "
        "0.01, ten members), not tuned. Until a tree has seen 100 samples, it cannot split and is at best naive Bayes.",
        "As in that code, a feature that never varied within a class has density 0 everywhere except at its only "
        "value. On pixels and rare words, naive Bayes therefore rarely votes at first, and the prediction is the "
        "majority class.",
        "Profile 'logistic' is the variant in the repository of DriftSurf: logistic members that start uniformly on "
        "[0, 1), hard votes. On features near 1, that start outweighs ten samples per task (on Usenet2 it predicts "
        "the minority class). It is not known which variant gave the published numbers.",
    )
    profiles = named(AUESettings(), logistic=AUESettings(base="logistic"))
    settings: AUESettings

    def _start(self) -> None:
        self.stream = Stream(self.n_features + 1)
        self.members: list[Member] = []
        self.weights = np.zeros(0)

    def _new_member(self) -> Member:
        s = self.settings
        if s.base == "hoeffding":
            return HoeffdingTree(self.n_features, self.n_classes, s)
        return StrsagaModel(self.stream.last, (self.n_outputs, self.n_features + 1), s, self.random)

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        order = self.random.permutation(len(X))
        X1, y = with_last_intercept(X)[order], y[order]
        # Of each member the mean of (1 - share of the true class)^2; without a vote a sample counts 1.
        truth = np.arange(len(y)), y
        errors = np.array([((1.0 - member.shares(X1)[truth]) ** 2).mean() for member in self.members])
        counts = np.bincount(y, minlength=self.n_classes)
        self.weights, candidate = member_weights(errors, counts / counts.sum(), self.settings.epsilon)
        self._admit(self._new_member(), candidate)
        if self.settings.base == "logistic":  # trees keep no samples
            self.stream.extend(X1, y)
        for member in self.members:
            if isinstance(member, StrsagaModel):
                member.train(self.stream, len(y), self.random)
            else:
                member.learn(X1, y)
        self.stream.forget(
            min((member.start for member in self.members if isinstance(member, StrsagaModel)), default=0)
        )

    def _admit(self, new: Member, weight: float) -> None:
        """Add the candidate, or put it in the place of the lightest member if that one is lighter."""
        if len(self.members) >= self.settings.members:
            lightest = int(self.weights.argmin())
            if self.weights[lightest] >= weight:
                return
            del self.members[lightest]
            self.weights = np.delete(self.weights, lightest)
        self.members.append(new)
        self.weights = np.append(self.weights, weight)

    def _predict(self, X: Floats, task: int) -> Ints:
        X1 = with_last_intercept(X)
        total = np.zeros((len(X), self.n_classes))
        for member, weight in zip(self.members, self.weights / self.weights.sum(), strict=True):
            shares = member.shares(X1)
            if self.settings.base == "hoeffding":  # trees vote by shares of classes, logistic members by labels
                total += weight * shares
            else:
                total[np.arange(len(X)), shares.argmax(axis=1)] += weight
        return linear_labels(total)

    def state_size(self) -> int:
        """Return the numbers of members and weights, and the samples logistic members may still visit."""
        return sum(member.size for member in self.members) + self.weights.size + self.stream.size
