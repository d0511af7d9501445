"""Feature maps phi(x) of instances; the learner adds the intercept and one block per class."""

from __future__ import annotations

from imrc.features._maps import Composite, FeatureMap, Identity, RandomFourier, Standardised
from imrc.features._spec import KINDS, FeatureKind, FeatureSpec, column_kinds, make

__all__ = [
    "KINDS",
    "Composite",
    "FeatureKind",
    "FeatureMap",
    "FeatureSpec",
    "Identity",
    "RandomFourier",
    "Standardised",
    "column_kinds",
    "make",
]
