"""Columns as they stand in a table made complete numbers: gaps filled, words turned into 0/1 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats, Ints
from imrc.features._maps import FeatureMap
from imrc.tasks import LEAST_FREQUENT

if TYPE_CHECKING:
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder


@dataclass(frozen=True, eq=False)
class Prepared(FeatureMap):
    """Missing numbers become the median of their column, days are counted from the first, words become 0/1 columns.

    Left out are columns of numbers that have no scale: without a value in the rows learnt from, with more missing
    values there than allowed, or always the same there (unless it is 0 or 1, as in columns that are mostly 0). Where
    that would leave nothing, all are used.

    Attributes
    ----------
    numbers, words : ndarray of int
        Columns of numbers that are used, and columns of words.
    kinds : tuple of str
        "numeric", "binary" or "pixel" for each output; those of words come last.
    """

    numbers: Ints
    words: Ints
    kinds: tuple[str, ...]
    _start: Floats
    _imputer: SimpleImputer
    _encoder: OneHotEncoder | None

    @classmethod
    def learn(cls, X: Floats, kinds: Sequence[str], *, max_categories: int, max_missing: float) -> Prepared:
        """Learn medians, first days and the words that get a column from the rows of X.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Instances as they were read; NaN is a missing value.
        kinds : sequence of str
            Kind of each column, none of them undeclared.
        max_categories : int
            Most columns made of the words of one column, not counting the one that the rarer words share.
        max_missing : float
            Share of missing values above which a column of numbers is left out.

        Returns
        -------
        Prepared

        Examples
        --------
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
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        if numbers.size:
            imputer.fit(X[:, numbers] - start)
        encoder = None
        if words.size:
            # Rare words and words first met later share a column; where no word is rare, the latter have none.
            encoder = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=LEAST_FREQUENT,
                max_categories=max_categories + 1,
                sparse_output=False,
                dtype=np.float64,
            ).fit(X[:, words])
        outputs = ["numeric" if kind == "date" else str(kind) for kind in told[numbers]]
        columns = 0 if encoder is None else len(encoder.get_feature_names_out())
        return cls(numbers, words, (*outputs, *("binary",) * columns), start, imputer, encoder)

    @property
    def n_outputs(self) -> int:
        """Number of features."""
        return len(self.kinds)

    def transform(self, X: Floats) -> Floats:
        """Return complete numbers of instances as they were read."""
        blocks = [np.empty((len(X), 0))]
        if self.numbers.size:
            blocks.append(self._imputer.transform(X[:, self.numbers] - self._start))
        if self._encoder is not None:
            blocks.append(self._encoder.transform(X[:, self.words]))
        return np.concatenate(blocks, axis=1)

    def names(self, inputs: Sequence[str], categories: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
        """Return the names of the outputs, for people.

        Parameters
        ----------
        inputs : sequence of str
            Names of the columns.
        categories : mapping of int to tuple of str
            Words of the columns of words, as in `imrc.TaskSequence`.

        Returns
        -------
        tuple of str
        """
        names = [inputs[column] for column in self.numbers]
        if self._encoder is not None:
            rare = self._encoder.infrequent_categories_
            for column, codes, seldom in zip(self.words, self._encoder.categories_, rare, strict=True):
                known = categories.get(int(column), ())
                missed = np.array([] if seldom is None else seldom, dtype=np.float64)
                for code in codes[~(np.isin(codes, missed) | (np.isnan(codes) & np.isnan(missed).any()))]:
                    word = "(missing)" if np.isnan(code) else (*known, *("?",))[min(int(code), len(known))]
                    names.append(f"{inputs[column]} = {word}")
                if seldom is not None:
                    names.append(f"{inputs[column]} = other")
        return tuple(names)


def _has_scale(X: Floats, max_missing: float) -> NDArray[np.bool_]:
    """Which columns have values that vary, or are all 0 or all 1, and not more missing values than allowed."""
    missing = np.isnan(X)
    low = np.where(missing, np.inf, X).min(axis=0, initial=np.inf)
    high = np.where(missing, -np.inf, X).max(axis=0, initial=-np.inf)
    varies = (low < high) | ((low == high) & ((low == 0.0) | (low == 1.0)))
    return np.asarray(varies & (missing.mean(axis=0) <= max_missing))
