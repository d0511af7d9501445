"""Which map to use: a small frozen description, and what is made of it for a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice, check_int, check_real
from imrc.features._maps import Composite, FeatureMap, Identity, RandomFourier, Standardised
from imrc.tasks import TaskSequence

FeatureKind = Literal["automatic", "paper", "identity", "standardised", "rff", "rff_median"]
KINDS: tuple[FeatureKind, ...] = get_args(FeatureKind)

TITLES: dict[FeatureKind, str] = {
    "automatic": "Automatic",
    "paper": "As in the paper",
    "identity": "Inputs as they are",
    "standardised": "Standardised inputs",
    "rff": "Random Fourier features",
    "rff_median": "Random Fourier features, scaled",
}

DESCRIPTIONS: dict[FeatureKind, str] = {
    "automatic": "Numeric columns standardised, then random Fourier features scaled by the median distance; 0/1 "
    "columns and pixels as they are. Everything is bounded.",
    "paper": "Pixels and network features as they are; tables through 200 random Fourier features with "
    "sigma² = 10 on raw inputs.",
    "identity": "The inputs themselves, so the rules are linear in them.",
    "standardised": "Each column minus its mean, divided by its standard deviation, both from the first task.",
    "rff": "Cosines and sines of N random projections of the raw inputs, frequencies of variance 1/(2 sigma²)²: "
    "the rules become non-linear.",
    "rff_median": "Columns standardised on the first task, then N random projections whose frequencies are divided "
    "by the median distance of the first task's instances.",
}


@dataclass(frozen=True)
class FeatureSpec:
    """Description of a feature map.

    Attributes
    ----------
    kind : {"automatic", "paper", "identity", "standardised", "rff", "rff_median"}
        See `DESCRIPTIONS`.
    frequencies : int
        Number N of random frequencies, 1 to 5000; the map has 2 N features.
    sigma2 : float
        Scaling parameter of "rff": frequencies are N(0, I) / (2 sigma2). Above 0, at most 1e6.

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
        check_int("frequencies", self.frequencies, 1, 5000)
        object.__setattr__(self, "sigma2", check_real("sigma2", self.sigma2, 0.0, 1e6, low_open=True))

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


def column_kinds(sequence: TaskSequence) -> tuple[str, ...]:
    """Return "numeric", "binary" or "pixel" for each input column.

    What the sequence says of itself (``info["column_kinds"]``) is used; otherwise a column whose values are all 0 or
    1 is binary and every other one numeric.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.

    Returns
    -------
    tuple of str
        One per input column.
    """
    told = sequence.info.get("column_kinds")
    if told is not None and len(told) == sequence.n_features:
        return tuple(told)
    binary = np.ones(sequence.n_features, dtype=bool)
    for task in sequence:
        binary &= ((task.X == 0.0) | (task.X == 1.0)).all(axis=0)
    return tuple("binary" if flag else "numeric" for flag in binary)


def _median_distance(X: NDArray[np.float64], limit: int = 500) -> float:
    """Median Euclidean distance between rows (the first `limit` of them); 1 if all rows are equal."""
    from scipy.spatial.distance import pdist

    distances = pdist(X[:limit])
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0


def _scaled_fourier(X: NDArray[np.float64], frequencies: int, generator: np.random.Generator) -> tuple[FeatureMap, ...]:
    standardised = Standardised.learn(X)
    distance = _median_distance(standardised.transform(X))
    draws = generator.standard_normal((X.shape[1], frequencies))
    return standardised, RandomFourier(draws / distance)


def make(spec: str | FeatureSpec, sequence: TaskSequence, seed: int = 0) -> FeatureMap:
    """Return the feature map of a sequence.

    Scales and distances are learnt from the inputs (never the labels) of the first task only, so nothing of later
    tasks is known beforehand. Random frequencies are drawn from the seed, once for all tasks.

    Parameters
    ----------
    spec : str or FeatureSpec
        Which map.
    sequence : TaskSequence
        The tasks it is for.
    seed : int
        Seed of the random frequencies.

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
    spec = FeatureSpec.parse(spec)
    seed = check_int("seed", seed, 0)
    generator = np.random.default_rng([seed, 2])
    first, d = sequence[0].X, sequence.n_features
    kinds = np.array(column_kinds(sequence))
    kind = spec.kind
    if kind == "paper":
        # Pixels and features of a network enter the paper's experiments unchanged.
        kind, spec = ("identity", spec) if (kinds == "pixel").all() else ("rff", FeatureSpec("rff"))
    if kind == "identity":
        return Identity(d)
    if kind == "standardised":
        return Standardised.learn(first)
    if kind == "rff":
        return RandomFourier(generator.standard_normal((d, spec.frequencies)) / (2.0 * spec.sigma2))
    everything = np.arange(d)
    if kind == "rff_median":
        return Composite(((everything, _scaled_fourier(first, spec.frequencies, generator)),))
    numeric, bounded = everything[kinds == "numeric"], everything[kinds != "numeric"]
    if not numeric.size:
        return Identity(d)
    parts: list[tuple[NDArray[np.int64], tuple[FeatureMap, ...]]] = [
        (numeric, _scaled_fourier(first[:, numeric], spec.frequencies, generator))
    ]
    if bounded.size:
        parts.append((bounded, (Identity(len(bounded)),)))
    return Composite(tuple(parts))
