"""All methods by name: lists in the app, choices on the command line, tables and checks are made from this.

A method is a subclass of `imrc.baselines.base.Baseline` in a file of its own, and its name here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

from imrc._checks import check_choice
from imrc.baselines.aue import AUE
from imrc.baselines.base import Baseline
from imrc.baselines.condor import Condor
from imrc.baselines.driftsurf import DriftSurf
from imrc.baselines.ella import ELLA
from imrc.baselines.ewc import EWC
from imrc.baselines.gem import GEM
from imrc.baselines.mer import MER
from imrc.baselines.own import PREFIX, OwnClassifier, Weighted
from imrc.baselines.simple import (
    Forest,
    MajorityClass,
    OracleLogistic,
    Pooled,
    RecentLogistic,
    SeenLogistic,
    SingleTaskLogistic,
)

registry: Mapping[str, type[Baseline]] = MappingProxyType(
    {
        "gem": GEM,
        "mer": MER,
        "ella": ELLA,
        "ewc": EWC,
        "condor": Condor,
        "driftsurf": DriftSurf,
        "aue": AUE,
        "majority": MajorityClass,
        "pooled": Pooled,
        "logistic_single": SingleTaskLogistic,
        "logistic_recent": RecentLogistic,
        "logistic_seen": SeenLogistic,
        "forest": Forest,
        "weighted": Weighted,
        "oracle": OracleLogistic,
    }
)
"""Name -> class, published methods first, in the order of the paper's tables."""

PUBLISHED = tuple(name for name, cls in registry.items() if cls.origin == "published")
SIMPLE = tuple(name for name, cls in registry.items() if cls.origin == "simple")


def parse_method(name: str) -> tuple[str, str]:
    """Return method and profile of ``"name"`` or ``"name:profile"``; ValueError lists what there is."""
    method, _, profile = name.partition(":")
    check_choice("method", method, tuple(registry))
    return method, check_choice("profile", profile or "default", tuple(registry[method].profiles))


def method_class(name: str) -> type[Baseline]:
    """Return the class behind a name; your own classifiers, "own:" and a name, share one."""
    return OwnClassifier if name.startswith(PREFIX) else registry[parse_method(name)[0]]


def method_title(name: str) -> str:
    """Return the name for people of ``"name"`` or ``"name:profile"``."""
    if name.startswith(PREFIX):
        return name.removeprefix(PREFIX)
    method, profile = parse_method(name)
    title = registry[method].title
    return title if profile == "default" else f"{title} ({profile})"


@cache
def warm_up_method(name: str) -> None:
    """Compile kernels and load libraries, so that no task's time contains it."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.5]]), np.array([0, 1, 0])
    method, profile = parse_method(name)
    learner = registry[method](n_classes=2, n_features=2, random_state=0, profile=profile)
    for step in range(2):
        learner.partial_fit_task(step, X, y if step == 0 else 1 - y)
    learner.predict(X)
