"""Incremental minimax risk classifiers for evolving classification tasks.

Tasks arrive in sequence. Each is learnt from few samples by borrowing from the tasks before it (forward
learning) and after it (backward learning), with performance guarantees. The method and the equation numbers are those
of V. Álvarez, S. Mazuelas, J. A. Lozano, "Minimax Forward and Backward Learning of Evolving Tasks with Performance
Guarantees", NeurIPS 2023.

Names are loaded when first used, so ``import imrc`` stays fast.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

__version__ = "2.0.0"

if TYPE_CHECKING:
    from imrc.core.estimator import IMRC
    from imrc.core.settings import IMRCSettings
    from imrc.evaluation import RunResult, RunSettings, StepResult, evaluate, iter_run
    from imrc.evolving import Evolving
    from imrc.model import Model, load
    from imrc.report import Report, check, iter_check
    from imrc.tables.given import tasks_from
    from imrc.tasks import Task, TaskSequence

_HOME = {
    "Evolving": "imrc.evolving",
    "IMRC": "imrc.core.estimator",
    "IMRCSettings": "imrc.core.settings",
    "Model": "imrc.model",
    "Report": "imrc.report",
    "RunResult": "imrc.evaluation",
    "RunSettings": "imrc.evaluation",
    "StepResult": "imrc.evaluation",
    "Task": "imrc.tasks",
    "TaskSequence": "imrc.tasks",
    "check": "imrc.report",
    "evaluate": "imrc.evaluation",
    "iter_check": "imrc.report",
    "iter_run": "imrc.evaluation",
    "load": "imrc.model",
    "tasks_from": "imrc.tables.given",
}
_MODULES = tuple(one.name for one in pkgutil.iter_modules(__path__) if not one.name.startswith("_"))

__all__ = [
    "tasks_from", "check", "iter_check", "Report", "IMRC", "IMRCSettings", "Evolving", "Task", "TaskSequence",
    "evaluate", "iter_run", "RunResult", "RunSettings", "StepResult", "Model", "load",
]  # fmt: skip


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type depends on the name
    """Load a public name from its home module when it is first used."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"imrc.{name}")
    from imrc._checks import did_you_mean

    raise AttributeError(f"module 'imrc' has no attribute {name!r}.{did_you_mean(name, (*_HOME, *_MODULES))}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
