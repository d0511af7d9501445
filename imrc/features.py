"""Feature maps phi(x) of instances. The learner adds the intercept and one block per class."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_choice, check_int, check_real
from imrc._types import Floats, Ints
from imrc.tasks import LEAST_FREQUENT, TaskSequence

__all__ = ["FeatureSpec", "Representation"]


class FeatureMap(ABC):
    """A fixed map from instances (n, d) to features (n, D), defined by `transform` or by `write`."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of features D."""

    def transform(self, X: Floats) -> Floats:
        """Return the features of instances X (n, d), shape (n, D)."""
        out = np.empty((len(X), self.n_outputs))
        self.write(X, out)
        return out

    def write(self, X: Floats, out: Floats) -> None:
        """Write the features of instances X into an array (n, D)."""
        out[:] = self.transform(X)

    def with_intercept(self, X: Floats) -> Floats:
        """Return the features of instances X with a first column of ones, C-contiguous."""
        out = np.empty((len(X), self.n_outputs + 1))
        out[:, 0] = 1.0
        self.write(X, out[:, 1:])
        return out


@dataclass(frozen=True)
class Identity(FeatureMap):
    """phi(x) = x."""

    width: int

    @property
    def n_outputs(self) -> int:
        """Number of features."""
        return self.width

    def transform(self, X: Floats) -> Floats:
        """Return X itself."""
        return X


@dataclass(frozen=True)
class Clipped(Identity):
    """phi(x) = x, with everything below 0 or above 1 replaced by 0 or 1."""

    def transform(self, X: Floats) -> Floats:
        """Return X, clipped."""
        return np.clip(X, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Standardised(FeatureMap):
    """phi(x) = (x - centre) / scale, feature by feature."""

    centre: Floats  # (d,)
    scale: Floats  # 1 for constant columns

    @classmethod
    def learn(cls, X: Floats) -> Standardised:
        """Take mean and population standard deviation of the rows of X."""
        centre, scale = X.mean(axis=0), X.std(axis=0)
        # The deviation of a constant column of large values is rounding noise and not zero.
        constant = scale <= 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300)
        return cls(centre, np.where(constant, 1.0, scale))

    @property
    def n_outputs(self) -> int:
        """Number of features."""
        return len(self.centre)

    def transform(self, X: Floats) -> Floats:
        """Return the standardised instances."""
        return np.asarray((X - self.centre) / self.scale)


@dataclass(frozen=True)
class PulledIn(Identity):
    """phi(x) = x up to a limit on both sides, and beyond it limit + log(1 + distance to the limit).

    Later values can be a hundred times the scale of a column that hardly varied, noise to random features.
    """

    limit: float  # where the logarithm begins

    def transform(self, X: Floats) -> Floats:
        """Return X with values beyond the limit pulled in."""
        inside = np.clip(X, -self.limit, self.limit)
        beyond = X - inside
        return np.asarray(inside + np.sign(beyond) * np.log1p(np.abs(beyond)))


@dataclass(frozen=True, eq=False)
class RandomFourier(FeatureMap):
    """phi(x) = [cos(x u_1), ..., cos(x u_N), sin(x u_1), ..., sin(x u_N)], amplitude 1."""

    frequencies: Floats  # u, (d, N)

    @property
    def n_outputs(self) -> int:
        """Number of features, 2 N."""
        return 2 * int(self.frequencies.shape[1])

    def write(self, X: Floats, out: Floats) -> None:
        """Write cosines and sines of the projections."""
        projected, count = X @ self.frequencies, self.frequencies.shape[1]
        np.cos(projected, out=out[:, :count])
        np.sin(projected, out=out[:, count:])


_FARTHEST = 1e6  # the largest compiled angle: beyond it, multiples of the first part below are no longer exact
# A quarter turn, pi / 2, as two parts of 33 bits and the rest.
_QUARTER = tuple(float.fromhex(part) for part in ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69"))
# Taylor series in the square of an angle up to an eighth of a turn. The terms left out are below 5e-17.
_COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(9))
_SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(8))
_ROUND = 1.5 * 2.0**52  # to add this and subtract it again rounds to whole numbers


def _write_cosines_and_sines(angles: Floats, out: Floats) -> None:
    """Write cosines of angles (n, m) into the first m columns of an array, sines into the others, within 2e-16."""
    m = angles.shape[1]
    cosines, sines = np.empty(m), np.empty(m)  # several are computed at a time if they are contiguous
    for i in range(angles.shape[0]):
        for j in range(m):
            quarters = (angles[i, j] * (2.0 / math.pi) + _ROUND) - _ROUND
            rest = ((angles[i, j] - quarters * _QUARTER[0]) - quarters * _QUARTER[1]) - quarters * _QUARTER[2]
            square, cosine, sine = rest * rest, 0.0, 0.0
            for k in range(8, -1, -1):
                cosine = cosine * square + _COSINE[k]
            for k in range(7, -1, -1):
                sine = sine * square + _SINE[k]
            # Whole quarters, now -2 to 2, turn these by their own cosine and sine, which are 0, 1 or -1.
            quarters -= 4.0 * ((quarters * 0.25 + _ROUND) - _ROUND)
            across = 1.0 - abs(quarters)
            up = quarters * (1.0 + across)
            cosines[j] = across * cosine - up * (sine * rest)
            sines[j] = up * cosine + across * (sine * rest)
        for j in range(m):
            out[i, j], out[i, m + j] = cosines[j], sines[j]


@cache
def write_cosines_and_sines() -> Callable[[Floats, Floats], None]:
    """Return the function above, compiled: NumPy computes one by one on processors without AVX-512."""
    from imrc._compiled import njit  # loaded when it is needed

    # With its types, because a view of one row counts as contiguous and would be compiled again.
    typed = njit("void(float64[:, ::1], float64[:, :])", cache=True, nogil=True, fastmath={"contract", "nsz"})
    return typed(_write_cosines_and_sines)


class CompiledFourier(RandomFourier):
    """The same to within 2e-16, several times faster."""

    def write(self, X: Floats, out: Floats) -> None:
        """Write cosines and sines of the projections."""
        angles = X @ self.frequencies
        if angles.min(initial=0.0) >= -_FARTHEST and angles.max(initial=0.0) <= _FARTHEST:
            write_cosines_and_sines()(angles, out)
        else:
            super().write(X, out)


@dataclass(frozen=True, eq=False)
class Composite(FeatureMap):
    """Several maps side by side, each on its own columns, or one after the other."""

    parts: tuple[tuple[Ints, tuple[FeatureMap, ...]], ...]  # columns, and the maps applied to them in turn

    @property
    def n_outputs(self) -> int:
        """Number of features of all parts together."""
        return int(sum(chain[-1].n_outputs for _, chain in self.parts))

    def write(self, X: Floats, out: Floats) -> None:
        """Write the features of all parts side by side."""
        for columns, chain in self.parts:
            block, width = np.ascontiguousarray(X[:, columns]), chain[-1].n_outputs
            for feature_map in chain[:-1]:
                block = feature_map.transform(block)
            chain[-1].write(block, out[:, :width])
            out = out[:, width:]


def plain(one: FeatureMap) -> FeatureMap:
    """Return the map without compiled code, which takes longer to load than most models take to predict."""
    if isinstance(one, CompiledFourier):
        return RandomFourier(one.frequencies)
    if not isinstance(one, Composite):
        return one
    return Composite(tuple((columns, tuple(map(plain, chain))) for columns, chain in one.parts))


@dataclass(frozen=True, eq=False)
class Prepared(FeatureMap):
    """Missing numbers become the median of their column, days are counted from the first, words become 0/1 columns.

    Columns of numbers without a scale are left out unless no others exist. They have no value in the rows learnt from,
    more missing values than allowed, or a constant value other than 0 and 1 (columns that are mostly 0 stay).
    """

    numbers: Ints  # columns of numbers that are used
    words: Ints  # columns of words
    kinds: tuple[str, ...]  # "numeric", "binary" or "pixel" for each output, words last
    start: Floats  # first day of a date, 0 of other numbers
    median: Floats  # in place of missing values, counted from the start
    tables: tuple[tuple[Floats, Floats], ...]  # codes of each column of words, and the 0/1 row of each and of "new"

    @classmethod
    def learn(cls, X: Floats, kinds: Sequence[str], *, max_categories: int, max_missing: float) -> Prepared:
        """Learn medians, first days and the words that get a column from the rows of X.

        Beyond `max_categories`, words share a column. Numbers with more gaps than `max_missing` are left out.
        """
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder

        told = np.array(kinds)
        words = np.flatnonzero(told == "category")
        numbers = np.flatnonzero((told != "category") & _has_scale(X, max_missing))
        if not words.size and not numbers.size:
            numbers = np.arange(len(told))
        first = np.nanmin(X[:, numbers], axis=0, initial=np.inf)
        start = np.where((told[numbers] == "date") & np.isfinite(first), first, 0.0)
        median = np.zeros(0)
        if numbers.size:
            imputer = SimpleImputer(strategy="median", keep_empty_features=True)
            median = imputer.fit(X[:, numbers] - start).statistics_
        tables = []
        for column in X[:, words].T:
            # Rare words and new words share a column. If no word is rare, new words have none.
            encoder = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=LEAST_FREQUENT,
                max_categories=max_categories + 1,
                sparse_output=False,
                dtype=np.float64,
            ).fit(column[:, None])
            codes = encoder.categories_[0]
            new = np.nan_to_num(codes).max() + 1.0
            tables.append((codes, encoder.transform(np.append(codes, new)[:, None])))
        outputs = ["numeric" if kind == "date" else str(kind) for kind in told[numbers]]
        columns = sum(rows.shape[1] for _, rows in tables)
        return cls(numbers, words, (*outputs, *("binary",) * columns), start, median, tuple(tables))

    @property
    def n_outputs(self) -> int:
        """Number of features."""
        return len(self.kinds)

    def transform(self, X: Floats) -> Floats:
        """Return complete numbers of instances as they were read."""
        values = X[:, self.numbers] - self.start
        blocks = [np.where(np.isnan(values), self.median, values)]
        for column, (codes, rows) in zip(X[:, self.words].T, self.tables, strict=True):
            place = np.minimum(np.searchsorted(codes, column), len(codes) - 1)  # NaN is last in both
            known = (codes[place] == column) | (np.isnan(codes[place]) & np.isnan(column))
            blocks.append(rows[np.where(known, place, len(codes))])
        return np.concatenate(blocks, axis=1)

    def names(self, inputs: Sequence[str], categories: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
        """Return names of the outputs."""
        names = [inputs[column] for column in self.numbers]
        for column, (codes, rows) in zip(self.words, self.tables, strict=True):
            known = categories.get(int(column), ())
            for code in codes[(rows[:-1] != rows[-1]).any(axis=1)]:
                word = "(missing)" if np.isnan(code) else (*known, *("?",))[min(int(code), len(known))]
                names.append(f"{inputs[column]} = {word}")
            if rows[-1].any():
                names.append(f"{inputs[column]} = other")
        return tuple(names)


def _has_scale(X: Floats, max_missing: float) -> NDArray[np.bool_]:
    """Return which columns vary, or are all 0 or all 1, and have no more missing values than allowed."""
    missing = np.isnan(X)
    low = np.where(missing, np.inf, X).min(axis=0, initial=np.inf)
    high = np.where(missing, -np.inf, X).max(axis=0, initial=-np.inf)
    varies = (low < high) | ((low == high) & ((low == 0.0) | (low == 1.0)))
    return np.asarray(varies & (missing.mean(axis=0) <= max_missing))


FeatureKind = Literal["automatic", "paper", "identity", "standardised", "rff", "rff_median", "blended"]
FEATURE_KINDS: tuple[FeatureKind, ...] = get_args(FeatureKind)

WITH_FREQUENCIES: tuple[FeatureKind, ...] = ("automatic", "rff", "rff_median", "blended")
"""The kinds whose maps have random frequencies."""

VERSION = 4
"""Increase it with every change that alters features. Results stored under another version are computed again."""

FREQUENCIES, SIGMA2 = (1, 5000), (1e-6, 1e6)
"""Limits of the numbers of a `FeatureSpec`, also on the page and the command line."""

FEATURE_TITLES: dict[FeatureKind, str] = {
    "automatic": "Automatic",
    "paper": "As in the paper",
    "identity": "Inputs as they are",
    "standardised": "Standardised inputs",
    "rff": "Random Fourier features",
    "rff_median": "Fourier features, scaled",
    "blended": "Fourier and linear features",
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
    "distance are those of the training samples of the first task. This is what the recommended preset uses.",
}


class Blend(NamedTuple):
    """Random Fourier features beside linear ones, for one kind of columns, with values chosen on the tuning seeds."""

    frequencies: int  # factor of the frequencies in the spec
    distance: float  # length scale of the random features in median distances
    linear: float  # share of the linear features in the mean squared norm of both together
    orthogonal: bool  # whether frequencies are orthogonal in blocks, for less error of the kernel in many dimensions


BLENDED = {"numeric": Blend(1, 1.0, 0.2, orthogonal=False), "pixel": Blend(2, 0.5, 0.1, orthogonal=True)}
"""Features of numeric columns and of pixels in "blended", the representation of the recommended preset."""

PULLED_IN_BEYOND = 8.0
"""Beyond this many standard deviations of the first task, "blended" pulls in values of a numeric column."""


@dataclass(frozen=True)
class FeatureSpec:
    """Which feature map, with its numbers."""

    kind: FeatureKind = "automatic"  # one of `FEATURE_DESCRIPTIONS`
    frequencies: int = 200  # N, each with a cosine and a sine; "blended" uses 2 N for pixels
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
        """The representation of the diagnosis: "automatic", where its errors were measured, in place of "blended"."""
        return FeatureSpec("automatic", self.frequencies) if self.kind == "blended" else self


def repetition_draw(repetition: np.random.SeedSequence | int) -> np.random.SeedSequence:
    """Return the seed of the random frequencies in a repetition, from its seed or, for the first one, that of the run.

    It is a child of the repetition's seed, so it does not depend on the number of tasks or repetitions.

    >>> first, second = np.random.SeedSequence(5).spawn(2)
    >>> repetition_draw(5).spawn_key == repetition_draw(first).spawn_key, repetition_draw(second).spawn_key
    (True, (1, 0, 0))
    """
    if not isinstance(repetition, np.random.SeedSequence):
        repetition = np.random.SeedSequence(check_int("seed", repetition, 0), spawn_key=(0,))
    # The third number in the key distinguishes it from the seeds of tasks.
    return np.random.SeedSequence(repetition.entropy, spawn_key=(*repetition.spawn_key, 0, 0))


@dataclass(frozen=True)
class Representation:
    """A feature map before it is learnt, with facts about the columns."""

    spec: FeatureSpec  # or its kind
    kinds: tuple[str, ...] = ()  # of each column, as in `imrc.TaskSequence`; empty if all are undeclared
    raw: bool = False  # whether columns have words, dates or missing values, which must become numbers first
    max_categories: int = 20  # words of a column that get a 0/1 column; the others share one more
    max_missing: float = 1.0  # share of missing values above which a column is left out
    names: tuple[str, ...] = ()  # of the columns, or empty

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", FeatureSpec.parse(self.spec))

    @classmethod
    def of(cls, spec: str | FeatureSpec, sequence: TaskSequence) -> Representation:
        """Return a representation with the facts that a sequence has about its columns."""
        return cls(
            FeatureSpec.parse(spec),
            sequence.column_kinds,
            sequence.is_raw,
            sequence.max_categories,
            sequence.max_missing,
            sequence.feature_names,
        )

    def learn(self, X: Floats, seed: int | Sequence[int] | np.random.SeedSequence = 0) -> FeatureMap:
        """Learn the map from rows: medians, words with a column, scales, distances, and kinds of undeclared columns."""
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
        """Return the kinds. An undeclared column is binary if it has only the values 0 and 1, otherwise numeric."""
        missing = np.isnan(X)
        binary = ((X == 0.0) | (X == 1.0) | missing).all(axis=0) & ~missing.all(axis=0)
        declared = self.kinds or ("undeclared",) * X.shape[1]
        seen = np.where(binary, "binary", "numeric").tolist()
        return tuple(seen[j] if kind == "undeclared" else kind for j, kind in enumerate(declared))


def _median_distance(X: Floats, limit: int = 500) -> float:
    """Return the median Euclidean distance between the first `limit` rows, or 1 if they are equal."""
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


def _blended(X: Floats, frequencies: int, blend: Blend, generator: np.random.Generator) -> FeatureMap:
    """Return random Fourier features of amplitude 1 beside linear ones, learnt from the rows of X."""
    d, count = X.shape[1], frequencies * blend.frequencies
    draws = _orthogonal(d, count, generator) if blend.orthogonal else generator.standard_normal((d, count))
    fourier = CompiledFourier(draws / (_median_distance(X) * blend.distance))
    centre = X.mean(axis=0)
    mean_square = float(((X - centre) ** 2).sum(axis=1).mean())
    wanted = count * blend.linear / (1.0 - blend.linear)
    scale = np.sqrt(mean_square / wanted) if mean_square > 0.0 else 1.0
    everything = np.arange(d)
    return Composite(((everything, (fourier,)), (everything, (Standardised(centre, np.full(d, scale)),))))


def _chain(name: str, X: Floats, spec: FeatureSpec, generator: np.random.Generator) -> tuple[FeatureMap, ...]:
    """Return the maps of "automatic" or "blended", one after the other, for the columns of one kind with rows X."""
    if name == "binary":
        # A column that had only 0 and 1 may later contain other numbers, which must not dominate the others.
        return (Clipped(X.shape[1]),)
    if spec.kind == "automatic":
        return (Identity(X.shape[1]),) if name == "pixel" else _scaled_fourier(X, spec.frequencies, generator)
    if name == "pixel":
        return (_blended(X, spec.frequencies, BLENDED[name], generator),)
    standardised, pulled_in = Standardised.learn(X), PulledIn(X.shape[1], PULLED_IN_BEYOND)
    values = pulled_in.transform(standardised.transform(X))
    return standardised, pulled_in, _blended(values, spec.frequencies, BLENDED[name], generator)


def make(spec: str | FeatureSpec, sequence: TaskSequence, seed: int = 0) -> FeatureMap:
    """Return a feature map learnt from all rows of the first task of a sequence, for uses without a test.

    Its random frequencies differ from those of every repetition of a run with this seed.
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
    order = ("numeric", "pixel", "binary") if kind == "blended" else ("numeric", "binary", "pixel")
    chosen = [(name, everything[kinds == name]) for name in order if (kinds == name).any()]
    parts = tuple((columns, _chain(name, X[:, columns], spec, generator)) for name, columns in chosen)
    if not parts:
        return Identity(0)
    return parts[0][1][0] if len(parts) == 1 and len(parts[0][1]) == 1 else Composite(parts)


def output_names(feature_map: FeatureMap, sequence: TaskSequence) -> tuple[str, ...]:
    """Return names of the features, empty if columns have no names or a feature mixes several columns."""
    names, last = sequence.feature_names, feature_map
    if names and sequence.is_raw and isinstance(feature_map, Composite):
        prepared, last = feature_map.parts[0][1]
        if isinstance(prepared, Prepared):
            names = prepared.names(names, sequence.categories)
    return names if isinstance(last, Identity | Standardised) else ()
