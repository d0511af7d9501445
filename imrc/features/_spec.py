"""Which map to use: a small frozen description, and what is made of it for a sequence."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats
from imrc.features._maps import Clipped, Composite, FeatureMap, Identity, PulledIn, RandomFourier, Standardised
from imrc.features._prepared import Prepared
from imrc.tasks import TaskSequence

FeatureKind = Literal["automatic", "paper", "identity", "standardised", "rff", "rff_median", "blended"]
KINDS: tuple[FeatureKind, ...] = get_args(FeatureKind)

WITH_FREQUENCIES: tuple[FeatureKind, ...] = ("automatic", "rff", "rff_median", "blended")
"""The kinds whose maps have random frequencies."""

FREQUENCIES, SIGMA2 = (1, 5000), (1e-6, 1e6)
"""Smallest and largest value of the numbers of a `FeatureSpec`, on the page and the command line too."""

TITLES: dict[FeatureKind, str] = {
    "automatic": "Automatic",
    "paper": "As in the paper",
    "identity": "Inputs as they are",
    "standardised": "Standardised inputs",
    "rff": "Random Fourier features",
    "rff_median": "Random Fourier features, scaled",
    "blended": "Blended Fourier and linear features",
}

DESCRIPTIONS: dict[FeatureKind, str] = {
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
    "blended": "Numeric columns scaled by median and interquartile range, values beyond 5 pulled in by a logarithm, "
    "then random Fourier features scaled by the median distance beside the columns themselves; pixels the same way "
    "without scaling, with twice as many frequencies and half the distance; 0/1 columns as they are. What the "
    "recommended preset takes; it learns scales and distance again whenever the rows seen have doubled.",
}

_PULLED_IN_BEYOND = 5.0
"""Scales beyond which values of a column are pulled in."""


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
    """Description of a feature map.

    Attributes
    ----------
    kind : {"automatic", "paper", "identity", "standardised", "rff", "rff_median", "blended"}
        See `DESCRIPTIONS`.
    frequencies : int
        Number N of random frequencies, 1 to 5000; each gives a cosine and a sine. "blended" takes 2 N for pixels.
    sigma2 : float
        Scaling parameter of "rff": frequencies are N(0, I) / (2 sigma2). 1e-6 to 1e6.

    Examples
    --------
    >>> FeatureSpec.parse("rff").frequencies
    200
    """

    kind: FeatureKind = "automatic"
    frequencies: int = 200
    sigma2: float = 10.0

    def __post_init__(self) -> None:
        check_choice("features", self.kind, KINDS)
        check_int("frequencies", self.frequencies, *FREQUENCIES)
        object.__setattr__(self, "sigma2", check_real("sigma2", self.sigma2, *SIGMA2))

    @classmethod
    def parse(cls, value: str | FeatureSpec) -> FeatureSpec:
        """Return `value` as a FeatureSpec; a string is a kind with default numbers.

        Parameters
        ----------
        value : str or FeatureSpec
            One of `KINDS`, or a specification.

        Returns
        -------
        FeatureSpec
        """
        if isinstance(value, FeatureSpec):
            return value
        return cls(kind=check_choice("features", value, KINDS))

    @property
    def diagnosed(self) -> FeatureSpec:
        """Where a sequence is diagnosed if it is learnt in this representation: "automatic" in place of "blended".

        How often the verdict is wrong was measured in "automatic".
        """
        return FeatureSpec("automatic", self.frequencies) if self.kind == "blended" else self


def column_kinds(sequence: TaskSequence, rows: NDArray[np.int64] | None = None) -> tuple[str, ...]:
    """Return "numeric", "binary", "pixel", "category" or "date" for each input column.

    What the sequence declares is used; an undeclared column is binary if the rows looked at hold only 0 and 1 (and at
    least one of them), otherwise numeric.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    rows : ndarray of int or None
        Rows of the first task to look at; None: all of them. Later tasks are never looked at.

    Returns
    -------
    tuple of str
        One per input column.
    """
    declared = sequence.column_kinds or ("undeclared",) * sequence.n_features
    return _kinds_of(_learnt_rows(sequence, rows), declared)


def _kinds_of(X: Floats, declared: Sequence[str]) -> tuple[str, ...]:
    """Return what columns are, undeclared ones by the rows of X."""
    missing = np.isnan(X)
    binary = ((X == 0.0) | (X == 1.0) | missing).all(axis=0) & ~missing.all(axis=0)
    seen = ["binary" if flag else "numeric" for flag in binary]
    return tuple(seen[j] if kind == "undeclared" else kind for j, kind in enumerate(declared))


def _learnt_rows(sequence: TaskSequence, rows: NDArray[np.int64] | None) -> Floats:
    first = sequence[0].X
    return first if rows is None else first[rows]


def learns(spec: str | FeatureSpec, sequence: TaskSequence) -> bool:
    """Return whether the map of a sequence depends on the rows it is learnt from.

    Parameters
    ----------
    spec : str or FeatureSpec
        Which map.
    sequence : TaskSequence
        The tasks; only what they declare is looked at, no value.

    Returns
    -------
    bool

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("random_walk", tasks=3, samples=20)
    >>> learns("rff", sequence), learns("automatic", sequence)
    (False, True)
    """
    kind = FeatureSpec.parse(spec).kind
    if sequence.is_raw or kind in ("standardised", "rff_median"):
        return True
    linear = {"automatic": {"binary", "pixel"}, "blended": {"binary"}}.get(kind)
    return linear is not None and not (sequence.column_kinds and set(sequence.column_kinds) <= linear)


def _median_distance(X: Floats, limit: int = 500) -> float:
    """Median Euclidean distance between rows (the first `limit` of them); 1 if all rows are equal."""
    from scipy.spatial.distance import pdist

    return _median_positive(pdist(X[:limit]))


def _distance_within_tasks(X: Floats) -> float:
    """Median Euclidean distance of rows that follow each other closely; 1 if all of them are equal.

    Rows come task by task, so it is the distance within tasks, also where tasks lie far apart.
    """
    steps = range(1, min(5, len(X) - 1) + 1)
    distances = np.concatenate([[0.0], *(np.linalg.norm(X[step:] - X[:-step], axis=1) for step in steps)])
    return _median_positive(distances)


def _median_positive(distances: Floats) -> float:
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


def _blended(X: Floats, draws: Floats, blend: _Blend) -> FeatureMap:
    """Return random Fourier features of amplitude 1 beside linear ones, learnt from the rows of X."""
    fourier = RandomFourier(draws / (_distance_within_tasks(X) * blend.distance))
    everything = np.arange(X.shape[1])
    centre = X.mean(axis=0)
    mean_square = float(((X - centre) ** 2).sum(axis=1).mean())
    wanted = draws.shape[1] * blend.linear / (1.0 - blend.linear)
    scale = np.sqrt(mean_square / wanted) if mean_square > 0.0 else 1.0
    return Composite(((everything, (fourier,)), (everything, (Standardised(centre, np.full(len(centre), scale)),))))


def _side_by_side(
    X: Floats, frequencies: int, kinds: NDArray[np.str_], names: Sequence[str], seed: int
) -> list[tuple[NDArray[np.int64], tuple[FeatureMap, ...]]]:
    """Return the maps of "blended" for pixels and for columns of numbers, those that vary.

    A column's row of frequencies follows from its name, so it keeps it when others come or go.
    """
    parts: list[tuple[NDArray[np.int64], tuple[FeatureMap, ...]]] = []
    varies = np.ptp(X, axis=0) > 0.0
    pixels, numbers = np.flatnonzero(kinds == "pixel"), np.flatnonzero((kinds == "numeric") & varies)
    if numbers.size:
        scaled, pulled_in = Standardised.robust(X[:, numbers]), PulledIn(len(numbers), _PULLED_IN_BEYOND)
        draws = np.stack([_generator(seed, names[int(j)]).standard_normal(frequencies) for j in numbers])
        values = pulled_in.transform(scaled.transform(X[:, numbers]))
        parts.append((numbers, (scaled, pulled_in, _blended(values, draws, _NUMERIC))))
    if pixels.size:
        draws = _orthogonal(len(pixels), frequencies * _PIXELS.frequencies, _generator(seed))
        parts.append((pixels, (_blended(X[:, pixels], draws, _PIXELS),)))
    return parts


def _generator(seed: int, name: str = "") -> np.random.Generator:
    """Return the generator of random frequencies: of all columns, or of the one with a name."""
    return np.random.default_rng([seed, 2, *([zlib.crc32(name.encode())] if name else [])])


def make(
    spec: str | FeatureSpec, sequence: TaskSequence, seed: int = 0, rows: NDArray[np.int64] | None = None
) -> FeatureMap:
    """Return the feature map of a sequence.

    Whatever is learnt (medians in place of missing values, the words that get a column, scales, distances, and which
    undeclared columns are binary) is learnt from the inputs, never the labels, of rows of the first task, so nothing of
    later tasks is known beforehand. Random frequencies are drawn from the seed, once for all tasks.

    Parameters
    ----------
    spec : str or FeatureSpec
        Which map.
    sequence : TaskSequence
        The tasks it is for.
    seed : int
        Seed of the random frequencies.
    rows : ndarray of int or None
        Rows of the first task to learn from: a run gives those that are not kept for testing. None: all of them, for
        uses without a test.

    Returns
    -------
    FeatureMap
        With `transform(X) -> (n, D)` and `n_outputs`.

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("random_walk", tasks=3, samples=20)
    >>> make("rff", sequence).n_outputs, make("identity", sequence).n_outputs
    (400, 6)
    """
    return learner(spec, sequence, seed)(_learnt_rows(sequence, rows))


def learner(spec: str | FeatureSpec, sequence: TaskSequence, seed: int = 0) -> Callable[[Floats], FeatureMap]:
    """Return what learns a map of the columns of a sequence from rows (n, d), with the same frequencies each time.

    Parameters
    ----------
    spec : str or FeatureSpec
        Which map.
    sequence : TaskSequence
        What its columns are; no value is looked at.
    seed : int
        Seed of the random frequencies.

    Returns
    -------
    callable
        From rows to a FeatureMap.
    """
    spec, seed = FeatureSpec.parse(spec), check_int("seed", seed, 0)
    declared = sequence.column_kinds or ("undeclared",) * sequence.n_features
    positions = [str(column) for column in range(sequence.n_features)]

    def learn(X: Floats) -> FeatureMap:
        kinds = _kinds_of(X, declared)
        if not sequence.is_raw:
            return _of_numbers(spec, X, np.array(kinds), positions, seed)
        prepared = Prepared.learn(X, kinds, max_categories=sequence.max_categories, max_missing=sequence.max_missing)
        codes = {int(c): tuple(map(str, range(int(np.nanmax(X[:, c], initial=0)) + 1))) for c in prepared.words}
        names = prepared.names(positions, codes)
        inner = _of_numbers(spec, prepared.transform(X), np.array(prepared.kinds, dtype=str), names, seed)
        return Composite(((np.arange(len(declared)), (prepared, inner)),))

    return learn


def _of_numbers(spec: FeatureSpec, X: Floats, kinds: NDArray[np.str_], names: Sequence[str], seed: int) -> FeatureMap:
    """Return the map of complete numbers, learnt from the rows of X."""
    kind, d, generator = spec.kind, X.shape[1], _generator(seed)
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
    parts: list[tuple[NDArray[np.int64], tuple[FeatureMap, ...]]] = []
    same: dict[str, type[Identity]] = {"binary": Clipped}
    if kind == "blended":
        parts = _side_by_side(X, spec.frequencies, kinds, names, seed)
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
        parts.append((everything[:0], (Identity(0),)))
    whole = len(parts) == 1 and len(parts[0][0]) == d and len(parts[0][1]) == 1
    return parts[0][1][0] if whole else Composite(tuple(parts))


def output_names(feature_map: FeatureMap, sequence: TaskSequence) -> tuple[str, ...]:
    """Return names of the features for people: of the columns they stand for, where each stands for one.

    Parameters
    ----------
    feature_map : FeatureMap
        Made by `make` for the sequence.
    sequence : TaskSequence
        The tasks.

    Returns
    -------
    tuple of str
        One per feature; empty if the columns have no names, or a feature mixes columns.

    Examples
    --------
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
