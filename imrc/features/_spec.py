"""Which map to use: a small frozen description, what is known of the columns, and how a map is learnt from rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats, Ints
from imrc.features._maps import (
    Clipped,
    Composite,
    FeatureMap,
    Identity,
    Prepared,
    PulledIn,
    RandomFourier,
    Standardised,
)
from imrc.tasks import TaskSequence

FeatureKind = Literal["automatic", "paper", "identity", "standardised", "rff", "rff_median", "blended"]
FEATURE_KINDS: tuple[FeatureKind, ...] = get_args(FeatureKind)

WITH_FREQUENCIES: tuple[FeatureKind, ...] = ("automatic", "rff", "rff_median", "blended")
"""The kinds whose maps have random frequencies."""

VERSION = 2
"""Raised by every change that alters features; results kept under another version are not taken for current ones."""

FREQUENCIES, SIGMA2 = (1, 5000), (1e-6, 1e6)
"""Smallest and largest value of the numbers of a `FeatureSpec`, on the page and the command line too."""

FEATURE_TITLES: dict[FeatureKind, str] = {
    "automatic": "Automatic",
    "paper": "As in the paper",
    "identity": "Inputs as they are",
    "standardised": "Standardised inputs",
    "rff": "Random Fourier features",
    "rff_median": "Random Fourier features, scaled",
    "blended": "Blended Fourier and linear features",
}

FEATURE_DESCRIPTIONS: dict[FeatureKind, str] = {
    "automatic": "Numeric columns standardised, then random Fourier features scaled by the median distance; 0/1 "
    "columns and pixels as they are. Mean, deviation and distance are those of the training samples of the first task.",
    "paper": "Pixels and network features as they are; tables through 200 random Fourier features with "
    "sigma² = 10 on raw inputs.",
    "identity": "The inputs themselves, so the rules are linear in them.",
    "standardised": "Each column minus its mean, divided by its standard deviation, both of the training samples of "
    "the first task.",
    "rff": "Cosines and sines of N random projections of the raw inputs, frequencies of variance 1/(2 sigma²)²: "
    "the rules become non-linear.",
    "rff_median": "Columns standardised, then N random projections whose frequencies are divided by the median "
    "distance of instances; both are learnt from the training samples of the first task.",
    "blended": "Numeric columns standardised, values beyond 8 deviations pulled in by a logarithm, then random "
    "Fourier features scaled by the median distance beside the columns themselves; pixels the same way without "
    "standardising, with twice as many frequencies and half the distance; 0/1 columns as they are. Mean, deviation and "
    "distance are those of the training samples of the first task. What the recommended preset takes.",
}

Part = tuple[Ints, tuple[FeatureMap, ...]]

_PULLED_IN_BEYOND = 8.0
"""Standard deviations of the first task beyond which values of a numeric column are pulled in."""


@dataclass(frozen=True)
class _Blend:
    """Random Fourier features beside linear ones, for one kind of columns; chosen on the seeds for tuning."""

    frequencies: int  # for each one asked for
    distance: float  # length scale of the random features in median distances
    linear: float  # share of the linear features in the mean squared norm of both together
    orthogonal: bool  # in blocks, frequencies are: in many dimensions the same kernel with less error


_NUMERIC, _PIXELS = _Blend(1, 1.0, 0.2, False), _Blend(2, 0.5, 0.1, True)


@dataclass(frozen=True)
class FeatureSpec:
    """Which feature map, with its numbers."""

    kind: FeatureKind = "automatic"  # see `FEATURE_DESCRIPTIONS`
    frequencies: int = 200  # N, each gives a cosine and a sine; "blended" takes 2 N for pixels
    sigma2: float = 10.0  # of "rff": frequencies are N(0, I) / (2 sigma2)

    def __post_init__(self) -> None:
        check_choice("features", self.kind, FEATURE_KINDS)
        check_int("frequencies", self.frequencies, *FREQUENCIES)
        object.__setattr__(self, "sigma2", check_real("sigma2", self.sigma2, *SIGMA2))

    @classmethod
    def parse(cls, value: str | FeatureSpec) -> FeatureSpec:
        """Return `value` as a FeatureSpec; a string is a kind with default numbers."""
        return value if isinstance(value, FeatureSpec) else cls(kind=check_choice("features", value, FEATURE_KINDS))

    @property
    def diagnosed(self) -> FeatureSpec:
        """Where a sequence is diagnosed if it is learnt in this representation: "automatic" in place of "blended".

        How often the verdict is wrong was measured in "automatic".
        """
        return FeatureSpec("automatic", self.frequencies) if self.kind == "blended" else self


def repetition_draw(repetition: np.random.SeedSequence | int) -> np.random.SeedSequence:
    """Return the seed of the random frequencies in one repetition of a run, given by its seed or (the first) the run's.

    It is a child of the repetition's seed, so it depends neither on the number of tasks nor on that of repetitions.

    >>> first, second = np.random.SeedSequence(5).spawn(2)
    >>> repetition_draw(5).spawn_key == repetition_draw(first).spawn_key, repetition_draw(second).spawn_key
    (True, (1, 0, 0))
    """
    if not isinstance(repetition, np.random.SeedSequence):
        repetition = np.random.SeedSequence(check_int("seed", repetition, 0), spawn_key=(0,))
    # A third number in the key keeps it apart from the seeds of tasks.
    return np.random.SeedSequence(repetition.entropy, spawn_key=(*repetition.spawn_key, 0, 0))


@dataclass(frozen=True)
class Representation:
    """A feature map before it is learnt: which one, and what is known of the columns.

    >>> X = np.array([[1.0, 0.0], [3.0, 1.0], [5.0, 1.0]])
    >>> Representation("standardised").learn(X).transform(X).mean(axis=0).round(9)
    array([0., 0.])
    """

    spec: FeatureSpec  # or its kind
    kinds: tuple[str, ...] = ()  # of each column, as in `imrc.TaskSequence`; empty: undeclared, all of them
    raw: bool = False  # columns as they were read, with words, dates or missing values: made complete numbers first
    max_categories: int = 20  # most words of one column with a 0/1 column of their own; the others share one more
    max_missing: float = 1.0  # share of missing values above which a column is left out
    names: tuple[str, ...] = ()  # of the columns, or empty

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", FeatureSpec.parse(self.spec))

    @classmethod
    def of(cls, spec: str | FeatureSpec, sequence: TaskSequence) -> Representation:
        """Return a representation with what a sequence says of its columns."""
        return cls(
            FeatureSpec.parse(spec),
            sequence.column_kinds,
            sequence.is_raw,
            sequence.max_categories,
            sequence.max_missing,
            sequence.feature_names,
        )

    def learn(self, X: Floats, seed: int | Sequence[int] | np.random.SeedSequence = 0) -> FeatureMap:
        """Learn the map from rows.

        Whatever is learnt (medians in place of missing values, the words that get a column, scales, distances, and
        which undeclared columns are binary) is learnt from these rows, without labels.
        """
        generator = np.random.default_rng(seed)
        if self.kinds and len(self.kinds) != X.shape[1]:
            raise ValueError(f"kinds has {len(self.kinds)} kinds for {X.shape[1]} columns.")
        kinds = self._seen_kinds(X)
        if not self.raw:
            return _of_numbers(self.spec, X, np.array(kinds), generator)
        prepared = Prepared.learn(X, kinds, max_categories=self.max_categories, max_missing=self.max_missing)
        inner = _of_numbers(self.spec, prepared.transform(X), np.array(prepared.kinds, dtype=str), generator)
        return Composite(((np.arange(X.shape[1]), (prepared, inner)),))

    def _seen_kinds(self, X: Floats) -> tuple[str, ...]:
        """Return the kinds; an undeclared column is binary if the rows hold only 0 and 1, otherwise numeric."""
        missing = np.isnan(X)
        binary = ((X == 0.0) | (X == 1.0) | missing).all(axis=0) & ~missing.all(axis=0)
        declared = self.kinds or ("undeclared",) * X.shape[1]
        seen = np.where(binary, "binary", "numeric").tolist()
        return tuple(seen[j] if kind == "undeclared" else kind for j, kind in enumerate(declared))


def _median_distance(X: Floats, limit: int = 500) -> float:
    """Median Euclidean distance between rows (the first `limit` of them); 1 if all rows are equal."""
    from scipy.spatial.distance import pdist

    distances = pdist(X[:limit])
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0


def _scaled_fourier(X: Floats, frequencies: int, generator: np.random.Generator) -> tuple[FeatureMap, ...]:
    standardised = Standardised.learn(X)
    distance = _median_distance(standardised.transform(X))
    draws = generator.standard_normal((X.shape[1], frequencies))
    return standardised, RandomFourier(draws / distance)


def _orthogonal(d: int, count: int, generator: np.random.Generator) -> Floats:
    """Draw frequencies (d, count) orthogonal in blocks of d, each with the length of a normal vector."""
    starts = range(0, count, d)
    blocks = [np.linalg.qr(generator.standard_normal((d, min(d, count - start))))[0] for start in starts]
    return np.asarray(np.hstack(blocks) * np.sqrt(generator.chisquare(d, count)))


def _blended(X: Floats, frequencies: int, blend: _Blend, generator: np.random.Generator) -> FeatureMap:
    """Return random Fourier features of amplitude 1 beside linear ones, learnt from the rows of X."""
    d, count = X.shape[1], frequencies * blend.frequencies
    draws = _orthogonal(d, count, generator) if blend.orthogonal else generator.standard_normal((d, count))
    fourier = RandomFourier(draws / (_median_distance(X) * blend.distance))
    centre = X.mean(axis=0)
    mean_square = float(((X - centre) ** 2).sum(axis=1).mean())
    wanted = count * blend.linear / (1.0 - blend.linear)
    scale = np.sqrt(mean_square / wanted) if mean_square > 0.0 else 1.0
    everything = np.arange(d)
    return Composite(((everything, (fourier,)), (everything, (Standardised(centre, np.full(d, scale)),))))


def _side_by_side(X: Floats, frequencies: int, kinds: NDArray[np.str_], generator: np.random.Generator) -> list[Part]:
    """Return the maps of "blended" for numeric columns and pixels."""
    parts: list[Part] = []
    numeric, pixels = np.flatnonzero(kinds == "numeric"), np.flatnonzero(kinds == "pixel")
    if numeric.size:
        standardised, pulled_in = Standardised.learn(X[:, numeric]), PulledIn(len(numeric), _PULLED_IN_BEYOND)
        values = pulled_in.transform(standardised.transform(X[:, numeric]))
        parts.append((numeric, (standardised, pulled_in, _blended(values, frequencies, _NUMERIC, generator))))
    if pixels.size:
        parts.append((pixels, (_blended(X[:, pixels], frequencies, _PIXELS, generator),)))
    return parts


def make(spec: str | FeatureSpec, sequence: TaskSequence, seed: int = 0) -> FeatureMap:
    """Return a feature map learnt from all rows of the first task of a sequence, for uses without a test.

    No repetition of a run has the draw of random frequencies of this seed, see `repetition_draw`.

    >>> import imrc
    >>> sequence = imrc.datasets.load("random_walk", tasks=3, samples=20)
    >>> make("rff", sequence).n_outputs, make("identity", sequence).n_outputs
    (400, 6)
    """
    return Representation.of(spec, sequence).learn(sequence[0].X, [check_int("seed", seed, 0), 2])


def _of_numbers(spec: FeatureSpec, X: Floats, kinds: NDArray[np.str_], generator: np.random.Generator) -> FeatureMap:
    """Return the map of complete numbers, learnt from the rows of X."""
    kind, d = spec.kind, X.shape[1]
    if kind == "paper":
        # Pixels and features of a network enter the paper's experiments unchanged.
        kind, spec = ("identity", spec) if (kinds == "pixel").all() else ("rff", FeatureSpec("rff"))
    if kind == "identity":
        return Identity(d)
    if kind == "standardised":
        return Standardised.learn(X)
    if kind == "rff":
        return RandomFourier(generator.standard_normal((d, spec.frequencies)) / (2.0 * spec.sigma2))
    everything = np.arange(d)
    if kind == "rff_median":
        return Composite(((everything, _scaled_fourier(X, spec.frequencies, generator)),))
    parts: list[Part] = []
    same: dict[str, type[Identity]] = {"binary": Clipped}
    if kind == "blended":
        parts = _side_by_side(X, spec.frequencies, kinds, generator)
    else:
        same["pixel"] = Identity
        if (kinds == "numeric").any():
            numeric = everything[kinds == "numeric"]
            parts.append((numeric, _scaled_fourier(X[:, numeric], spec.frequencies, generator)))
    # A column seen with 0 and 1 only may hold other numbers later, which must not be larger than everything else.
    for name, unchanged in same.items():
        if (kinds == name).any():
            parts.append((everything[kinds == name], (unchanged(int((kinds == name).sum())),)))
    if not parts:
        return Identity(0)
    return parts[0][1][0] if len(parts) == 1 and len(parts[0][1]) == 1 else Composite(tuple(parts))


def output_names(feature_map: FeatureMap, sequence: TaskSequence) -> tuple[str, ...]:
    """Return names of the features for people: of the columns they stand for, where each stands for one.

    Empty if the columns have no names, or a feature mixes columns.

    >>> import imrc
    >>> digits = imrc.datasets.load("rotated_digits", tasks=2)
    >>> output_names(make("identity", digits), digits)[:2], output_names(make("rff", digits), digits)
    (('pixel 0,0', 'pixel 0,1'), ())
    """
    names, last = sequence.feature_names, feature_map
    if names and sequence.is_raw and isinstance(feature_map, Composite):
        prepared, last = feature_map.parts[0][1]
        if isinstance(prepared, Prepared):
            names = prepared.names(names, sequence.categories)
    return names if isinstance(last, Identity | Clipped | Standardised) else ()
