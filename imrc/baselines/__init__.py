"""Published methods for sequences of tasks, and simple baselines, all with one small interface.

Create a method with ``registry[name](n_classes=C, n_features=D, random_state=seed)``. It then learns one task after
another: ``partial_fit_task(step, X, y)``, ``predict(X, task=None)``, ``state_size()``. X has mapped features without
intercept. Names, papers, and what each method needs or keeps are class attributes.

Examples
--------
>>> sorted(registry)[:4]
['aue', 'condor', 'driftsurf', 'ella']
>>> registry["ella"].keeps_old_rules
True
"""

from __future__ import annotations

from imrc.baselines.base import Baseline, Settings
from imrc.baselines.own import OwnMethod
from imrc.baselines.registry import PUBLISHED, SIMPLE, method_class, method_title, parse_method, registry

__all__ = ["Baseline", "OwnMethod", "registry"]
