"""The maps themselves: small frozen objects with `transform`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats

_NORMAL_RANGE = 1.349
"""Interquartile range of a normal distribution in standard deviations."""


class FeatureMap(ABC):
    """A fixed map from instances (n, d) to features (n, D)."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of features D."""

    @abstractmethod
    def transform(self, X: Floats) -> Floats:
        """Return the features of instances X (n, d), shape (n, D).

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Instances.

        Returns
        -------
        ndarray of shape (n, D)
            Features.
        """


@dataclass(frozen=True)
class Identity(FeatureMap):
    """phi(x) = x.

    Attributes
    ----------
    width : int
        Number of features.
    """

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
    """phi(x) = x, with everything below 0 or above 1 replaced by 0 or 1.

    Attributes
    ----------
    width : int
        Number of features.
    """

    def transform(self, X: Floats) -> Floats:
        """Return X, clipped."""
        return np.clip(X, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Standardised(FeatureMap):
    """phi(x) = (x - centre) / scale, feature by feature.

    Attributes
    ----------
    centre, scale : ndarray of shape (d,)
        Mean and standard deviation the map was made with; constant columns have scale 1.
    """

    centre: Floats
    scale: Floats

    @classmethod
    def learn(cls, X: Floats) -> Standardised:
        """Take centre and scale from the rows of X (population standard deviation).

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Instances.

        Returns
        -------
        Standardised

        Examples
        --------
        >>> Standardised.learn(np.array([[0.0, 5.0], [2.0, 5.0]])).transform(np.array([[2.0, 6.0]]))
        array([[1., 1.]])
        """
        centre, scale = X.mean(axis=0), X.std(axis=0)
        # A constant column leaves rounding noise instead of zero when its values are large.
        constant = scale <= 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300)
        return cls(centre, np.where(constant, 1.0, scale))

    @classmethod
    def robust(cls, X: Floats) -> Standardised:
        """Take median and interquartile range / 1.349 from the rows of X; mean and deviation where the range is 0.

        For a normal column both are centre and deviation; in heavy tails the bulk of the values keeps its scale.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Instances.

        Returns
        -------
        Standardised

        Examples
        --------
        >>> Standardised.robust(np.array([[0.0], [1.0], [2.0], [3.0], [1000.0]])).centre
        array([2.])
        """
        usual = cls.learn(X)
        low, centre, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        spread = high > low
        scale = np.where(spread, (high - low) / _NORMAL_RANGE, usual.scale)
        return cls(np.where(spread, centre, usual.centre), scale)

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

    Attributes
    ----------
    width : int
        Number of features.
    limit : float
        Where the logarithm begins.

    Examples
    --------
    >>> PulledIn(2, 8.0).transform(np.array([[-3.0, 8.0 + np.expm1(2.0)]]))
    array([[-3., 10.]])
    """

    limit: float

    def transform(self, X: Floats) -> Floats:
        """Return X with what lies beyond the limit pulled in."""
        inside = np.clip(X, -self.limit, self.limit)
        beyond = X - inside
        return np.asarray(inside + np.sign(beyond) * np.log1p(np.abs(beyond)))


@dataclass(frozen=True, eq=False)
class RandomFourier(FeatureMap):
    """phi(x) = [cos(x u_1), ..., cos(x u_N), sin(x u_1), ..., sin(x u_N)], amplitude 1.

    Attributes
    ----------
    frequencies : ndarray of shape (d, N)
        The frequencies u.
    """

    frequencies: Floats

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
    """Several maps side by side, each on its own columns, or one after the other.

    Attributes
    ----------
    parts : tuple of (ndarray of int, tuple of FeatureMap)
        Columns, and the maps applied to them in turn.
    """

    parts: tuple[tuple[NDArray[np.int64], tuple[FeatureMap, ...]], ...]

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
