"""Trivial references: what anyone would try first, and an oracle with all the data of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from imrc._types import Floats
from imrc.baselines._logistic import fit_multinomial
from imrc.baselines._settings import Settings, real, whole
from imrc.baselines.base import Baseline, Labels

_COX = "D. R. Cox. The regression analysis of binary sequences. J. Royal Statistical Society B 20(2), 1958"


@dataclass(frozen=True)
class LogisticSettings(Settings):
    """Hyper-parameter of logistic regression.

    Attributes
    ----------
    C : float
        Inverse strength of the L2 penalty, above 0; 1 as in scikit-learn.
    """

    C: float = real(1.0, 0.0, above=True)


@dataclass(frozen=True)
class RecentSettings(LogisticSettings):
    """Hyper-parameters of logistic regression on the last tasks.

    Attributes
    ----------
    b : int
        Tasks before the newest that are used as well.
    """

    b: int = whole(3, 0)


class MajorityClass(Baseline):
    """Always answers the most frequent class of all labels seen so far (ties to the smallest).

    Examples
    --------
    >>> majority = MajorityClass(classes=["a", "b"], n_features=1)
    >>> majority.partial_fit_task(0, [[0.0]] * 3, ["b", "a", "b"]).predict([[5.0]])
    array(['b'], dtype='<U1')
    """

    title = "Majority class"
    paper = ""
    kind = "reference"

    def _start(self) -> None:
        self.counts = np.zeros(self.n_classes, dtype=np.int64)

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        self.counts = self.counts + np.bincount(y, minlength=self.n_classes)

    def _predict(self, X: Floats, task: int) -> Labels:
        return np.full(len(X), self.counts.argmax(), dtype=np.int64)

    def state_size(self) -> int:
        """Return C."""
        return self.n_classes


class _RulePerTask(Baseline):
    """Logistic regression with one rule per task, which stays as it was learnt."""

    kind = "reference"
    paper = _COX
    needs_task_id = True
    keeps_old_rules = True
    fixed_old_rules = True
    profiles: ClassVar[Mapping[str, Settings]] = {"default": LogisticSettings()}
    settings: LogisticSettings

    def _start(self) -> None:
        self.rules: list[Floats] = []

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        self.rules.append(fit_multinomial(X, y, self.n_classes, self.settings.C))

    def _predict(self, X: Floats, task: int) -> Labels:
        return _labels(self.rules[task], X)

    def state_size(self) -> int:
        """Return the numbers of all rules."""
        return sum(rule.size for rule in self.rules)


class SingleTaskLogistic(_RulePerTask):
    """Logistic regression on each task's own samples.

    Examples
    --------
    >>> one = SingleTaskLogistic(n_classes=2, n_features=1).partial_fit_task(0, [[0.0], [1.0]], [0, 1])
    >>> one.partial_fit_task(1, [[0.0], [1.0]], [1, 0]).predict([[2.0]], task=0).tolist()
    [1]
    """

    title = "Logistic, single task"


class OracleLogistic(_RulePerTask):
    """Logistic regression on each task's whole pool: what static learning could reach with all the data of a task."""

    title = "Oracle, all the pool"
    uses_pool = True


class RecentLogistic(_RulePerTask):
    """Logistic regression on a task and the b before it, one rule per task.

    Examples
    --------
    >>> recent = RecentLogistic(n_classes=2, n_features=1, b=1)
    >>> for step in range(3):
    ...     _ = recent.partial_fit_task(step, [[0.0], [1.0]], [0, 1])
    >>> recent.state_size()  # three rules of 2 x 2 numbers, one stored task of two samples
    16
    """

    title = "Logistic, last b + 1 tasks"
    shared_settings = ("b",)
    profiles: ClassVar[Mapping[str, Settings]] = {"default": RecentSettings()}
    settings: RecentSettings

    def _start(self) -> None:
        super()._start()
        self._kept: list[tuple[Floats, Labels]] = []

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        parts = [*self._kept, (X, y)]
        super()._fit_task(step, np.vstack([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))
        self._kept = [(a.copy(), c) for a, c in parts[max(0, len(parts) - self.settings.b) :]]

    def state_size(self) -> int:
        """Return the numbers of all rules and of the stored samples."""
        return super().state_size() + sum(X.size + y.size for X, y in self._kept)


class SeenLogistic(Baseline):
    """Logistic regression on everything seen so far, one rule for all tasks.

    Examples
    --------
    >>> seen = SeenLogistic(n_classes=2, n_features=1)
    >>> for step in range(2):
    ...     _ = seen.partial_fit_task(step, [[0.0], [1.0]], [0, 1])
    >>> seen.predict([[2.0]]).tolist(), seen.state_size()
    ([1], 12)
    """

    title = "Logistic, everything seen"
    paper = _COX
    kind = "reference"
    profiles: ClassVar[Mapping[str, Settings]] = {"default": LogisticSettings()}
    settings: LogisticSettings

    def _start(self) -> None:
        self._X = np.zeros((0, self.n_features))
        self._y = np.zeros(0, dtype=np.int64)
        self.rule: Floats | None = None

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        self._X, self._y = np.vstack([self._X, X]), np.append(self._y, y)
        self.rule = fit_multinomial(self._X, self._y, self.n_classes, self.settings.C, self.rule)

    def _predict(self, X: Floats, task: int) -> Labels:
        return _labels(np.asarray(self.rule), X)

    def state_size(self) -> int:
        """Return the numbers of the rule and of all samples seen."""
        return (0 if self.rule is None else self.rule.size) + self._X.size + self._y.size


def _labels(rule: Floats, X: Floats) -> Labels:
    """Return the class of the largest score."""
    return np.asarray((X @ rule[:, :-1].T + rule[:, -1]).argmax(axis=1), dtype=np.int64)
