"""Feature maps phi(x) of instances; the learner adds the intercept and one block per class."""

from __future__ import annotations

from imrc.features._maps import FeatureMap, Identity, PulledIn, Standardised
from imrc.features._spec import (
    FEATURE_DESCRIPTIONS,
    FEATURE_KINDS,
    FEATURE_TITLES,
    FREQUENCIES,
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
    "FEATURE_DESCRIPTIONS",
    "FEATURE_KINDS",
    "FEATURE_TITLES",
    "SIGMA2",
    "VERSION",
    "WITH_FREQUENCIES",
    "FeatureKind",
    "FeatureMap",
    "FeatureSpec",
    "Identity",
    "PulledIn",
    "Representation",
    "Standardised",
    "make",
    "output_names",
    "repetition_draw",
]
