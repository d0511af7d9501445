"""Feature maps phi(x) of instances; the learner adds the intercept and one block per class."""

from __future__ import annotations

from imrc.features._maps import Clipped, Composite, FeatureMap, Identity, PulledIn, RandomFourier, Standardised
from imrc.features._prepared import Prepared
from imrc.features._spec import (
    FREQUENCIES,
    KINDS,
    SIGMA2,
    VERSION,
    WITH_FREQUENCIES,
    FeatureKind,
    FeatureSpec,
    Representation,
    make,
    output_names,
    repetition_draw,
)

__all__ = [
    "FREQUENCIES",
    "KINDS",
    "SIGMA2",
    "VERSION",
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
    "Representation",
    "Standardised",
    "make",
    "output_names",
    "repetition_draw",
]
