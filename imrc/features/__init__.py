"""Feature maps phi(x) of instances; the learner adds the intercept and one block per class."""

from __future__ import annotations

from imrc.features._maps import Clipped, Composite, FeatureMap, Identity, PulledIn, RandomFourier, Standardised
from imrc.features._prepared import Prepared
from imrc.features._spec import (
    FREQUENCIES,
    KINDS,
    SIGMA2,
    WITH_FREQUENCIES,
    FeatureKind,
    FeatureSpec,
    column_kinds,
    learner,
    learns,
    make,
    output_names,
)

__all__ = [
    "FREQUENCIES",
    "KINDS",
    "SIGMA2",
    "WITH_FREQUENCIES",
    "Clipped",
    "Composite",
    "FeatureKind",
    "FeatureMap",
    "FeatureSpec",
    "Identity",
    "Prepared",
    "PulledIn",
    "RandomFourier",
    "Standardised",
    "column_kinds",
    "learner",
    "learns",
    "make",
    "output_names",
]
