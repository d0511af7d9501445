"""The maps themselves: small frozen objects with `transform`, some with `learn`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats, Ints
from imrc.tasks import LEAST_FREQUENT


class FeatureMap(ABC):
    """A fixed map from instances (n, d) to features (n, D)."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of features D."""

    @abstractmethod
    def transform(self, X: Floats) -> Floats:
        """Return the features of instances X (n, d), shape (n, D)."""


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
        # A constant column leaves rounding noise instead of zero when its values are large.
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

    A column that hardly varied where its scale was learnt may take values of a hundred times that scale later: in
    random features they would be noise. The order of the values is kept.

    >>> PulledIn(2, 8.0).transform(np.array([[-3.0, 8.0 + np.expm1(2.0)]]))
    array([[-3., 10.]])
    """

    limit: float  # where the logarithm begins

    def transform(self, X: Floats) -> Floats:
        """Return X with what lies beyond the limit pulled in."""
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

    def transform(self, X: Floats) -> Floats:
        """Return cosines and sines of the projections."""
        projected = X @ self.frequencies
        return np.concatenate([np.cos(projected), np.sin(projected)], axis=1)


@dataclass(frozen=True, eq=False)
class Composite(FeatureMap):
    """Several maps side by side, each on its own columns, or one after the other."""

    parts: tuple[tuple[Ints, tuple[FeatureMap, ...]], ...]  # columns, and the maps applied to them in turn

    @property
    def n_outputs(self) -> int:
        """Number of features of all parts together."""
        return int(sum(chain[-1].n_outputs for _, chain in self.parts))

    def transform(self, X: Floats) -> Floats:
        """Return the features of all parts side by side."""
        blocks = []
        for columns, chain in self.parts:
            block = np.ascontiguousarray(X[:, columns])
            for feature_map in chain:
                block = feature_map.transform(block)
            blocks.append(block)
        return np.concatenate(blocks, axis=1)


@dataclass(frozen=True, eq=False)
class Prepared(FeatureMap):
    """Missing numbers become the median of their column, days are counted from the first, words become 0/1 columns.

    Left out are columns of numbers that have no scale: without a value in the rows learnt from, with more missing
    values there than allowed, or always the same there (unless it is 0 or 1, as in columns that are mostly 0). Where
    that would leave nothing, all are used.
    """

    numbers: Ints  # columns of numbers that are used
    words: Ints  # columns of words
    kinds: tuple[str, ...]  # "numeric", "binary" or "pixel" for each output; those of words come last
    start: Floats  # first day of a date, 0 of other numbers
    median: Floats  # in place of missing values, counted from the start
    tables: tuple[tuple[Floats, Floats], ...]  # of each column of words its codes, and the 0/1 row of each; last: "new"

    @classmethod
    def learn(cls, X: Floats, kinds: Sequence[str], *, max_categories: int, max_missing: float) -> Prepared:
        """Learn medians, first days and the words that get a column from the rows of X.

        One column has up to `max_categories` columns for its words, the rarer ones share one more; columns of numbers
        with a larger share of missing values than `max_missing` are left out.

        >>> X = np.array([[1.0, 0.0], [3.0, 0.0], [np.nan, 1.0], [8.0, 1.0], [9.0, 2.0]])
        >>> prepared = Prepared.learn(X, ("numeric", "category"), max_categories=20, max_missing=0.5)
        >>> prepared.transform(np.array([[np.nan, 1.0], [5.0, 7.0]]))
        array([[5.5, 0. , 1. , 0. ],
               [5. , 0. , 0. , 1. ]])
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
            # Rare words and words first met later share a column; where no word is rare, the latter have none.
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
            place = np.minimum(np.searchsorted(codes, column), len(codes) - 1)  # NaN stands last in both
            known = (codes[place] == column) | (np.isnan(codes[place]) & np.isnan(column))
            blocks.append(rows[np.where(known, place, len(codes))])
        return np.concatenate(blocks, axis=1)

    def names(self, inputs: Sequence[str], categories: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
        """Return the names of the outputs, for people."""
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
    """Which columns have values that vary, or are all 0 or all 1, and not more missing values than allowed."""
    missing = np.isnan(X)
    low = np.where(missing, np.inf, X).min(axis=0, initial=np.inf)
    high = np.where(missing, -np.inf, X).max(axis=0, initial=-np.inf)
    varies = (low < high) | ((low == high) & ((low == 0.0) | (low == 1.0)))
    return np.asarray(varies & (missing.mean(axis=0) <= max_missing))
