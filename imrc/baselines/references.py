"""Trivial references: what anyone would try first, and an oracle with all the data of a task."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from imrc._types import Floats
from imrc.baselines._logistic import fit_multinomial
from imrc.baselines._settings import Settings, choice, real, whole
from imrc.baselines.base import Baseline, Labels
from imrc.core.rules_log import POOLED, LogLossLearner, half, log_loss
from imrc.core.settings import resolve_settings
from imrc.solvers._api import with_intercept

_COX = "D. R. Cox. The regression analysis of binary sequences. J. Royal Statistical Society B 20(2), 1958"


Penalty = Literal["fixed", "cv"]
STRENGTHS = (1.0, 0.25, 4.0)
"""Factors of C that are compared; of equal ones the first."""


@dataclass(frozen=True)
class LogisticSettings(Settings):
    """Hyper-parameters of logistic regression: C, the inverse strength of the L2 penalty, 1 as in scikit-learn.

    Penalty "cv": C times the factor of `STRENGTHS` with the smallest log loss on the halves of the tasks so far that
    were held back once, as the recommended learner judges its candidates.
    """

    C: float = real(1.0, 0.0, above=True)
    penalty: Penalty = choice("fixed", Penalty)


_PROFILES: Mapping[str, Settings] = {"default": LogisticSettings(), "tuned": LogisticSettings(penalty="cv")}


class _Strength:
    """The inverse strength of the penalty, and the account it is chosen by."""

    def __init__(self, settings: LogisticSettings, n_classes: int) -> None:
        self._settings, self._n_classes = settings, n_classes
        self._losses = dict.fromkeys(STRENGTHS if settings.penalty == "cv" else STRENGTHS[:1], 0.0)
        self._rules: dict[float, Floats | None] = dict.fromkeys(self._losses)

    def next(self, step: int, before: tuple[Floats, Labels], X: Floats, y: Labels) -> float:
        """Return C for a rule learnt from the samples `before` and those of the newest task."""
        if len(self._losses) > 1 and len(y) > 1:
            held = half(y, step)
            known, labels = np.vstack([before[0], X[~held]]), np.append(before[1], y[~held])
            for factor in self._losses:
                C = self._settings.C * factor
                rule = self._rules[factor] = fit_multinomial(known, labels, self._n_classes, C, self._rules[factor])
                self._losses[factor] += log_loss(X[held] @ rule[:, :-1].T + rule[:, -1], y[held])
        return self._settings.C * min(self._losses, key=self._losses.__getitem__)


@dataclass(frozen=True)
class RecentSettings(LogisticSettings):
    """Hyper-parameters of logistic regression on the last tasks."""

    b: int = whole(3, 0)  # tasks before the newest that are used as well


class MajorityClass(Baseline):
    """Always answers the most frequent class of all labels seen so far (ties to the smallest).

    >>> majority = MajorityClass(classes=["a", "b"], n_features=1)
    >>> majority.partial_fit_task(0, [[0.0]] * 3, ["b", "a", "b"]).predict([[5.0]])
    array(['b'], dtype='<U1')
    """

    title = "Always the most frequent class"
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


class Pooled(Baseline):
    """The recommended learner with a rate of change of 0: one rule from the samples of all stored tasks alike.

    >>> pooled = Pooled(n_classes=2, n_features=1)
    >>> for step in range(2):
    ...     _ = pooled.partial_fit_task(step, [[0.0], [1.0]], [0, 1])
    >>> pooled.predict([[2.0], [-1.0]]).tolist()
    [1, 0]
    """

    title = "One rule for all tasks"
    paper = ""
    kind = "reference"

    def _start(self) -> None:
        self._learner = LogLossLearner(resolve_settings("recommended", b=0), self.n_classes, (POOLED,))

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        self.rule = self._learner.step(with_intercept(X), y).forward.coef.reshape(self.n_classes, -1)

    def _predict(self, X: Floats, task: int) -> Labels:
        return np.asarray((with_intercept(X) @ self.rule.T).argmax(axis=1), dtype=np.int64)

    def state_size(self) -> int:
        """Return the numbers of the rule and of the stored samples."""
        return self.rule.size + self._learner.size()


class _RulePerTask(Baseline):
    """Logistic regression with one rule per task, which stays as it was learnt."""

    kind = "reference"
    paper = _COX
    needs_task_id = True
    keeps_old_rules = True
    fixed_old_rules = True
    profiles = _PROFILES
    settings: LogisticSettings

    def _start(self) -> None:
        self.rules: list[Floats] = []
        self._strength = _Strength(self.settings, self.n_classes)

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        self._learn(step, (X[:0], y[:0]), X, y)

    def _learn(self, step: int, before: tuple[Floats, Labels], X: Floats, y: Labels) -> None:
        """Add the rule learnt from the samples `before` and those of the newest task."""
        C = self._strength.next(step, before, X, y)
        self.rules.append(fit_multinomial(np.vstack([before[0], X]), np.append(before[1], y), self.n_classes, C))

    def _predict(self, X: Floats, task: int) -> Labels:
        return _labels(self.rules[task], X)

    def state_size(self) -> int:
        """Return the numbers of all rules."""
        return sum(rule.size for rule in self.rules)


class SingleTaskLogistic(_RulePerTask):
    """Logistic regression on each task's own samples.

    >>> one = SingleTaskLogistic(n_classes=2, n_features=1).partial_fit_task(0, [[0.0], [1.0]], [0, 1])
    >>> one.partial_fit_task(1, [[0.0], [1.0]], [1, 0]).predict([[2.0]], task=0).tolist()
    [1]
    """

    title = "Logistic regression on each task alone"


class OracleLogistic(_RulePerTask):
    """Logistic regression on each task's whole pool: what static learning could reach with all the data of a task."""

    title = "Oracle, all the pool"
    uses_pool = True


class RecentLogistic(_RulePerTask):
    """Logistic regression on a task and the b before it, one rule per task.

    >>> recent = RecentLogistic(n_classes=2, n_features=1, b=1)
    >>> for step in range(3):
    ...     _ = recent.partial_fit_task(step, [[0.0], [1.0]], [0, 1])
    >>> recent.state_size()  # three rules of 2 x 2 numbers, one stored task of two samples
    16
    """

    title = "Logistic regression on the last b + 1 tasks"
    shared_settings = ("b",)
    profiles: ClassVar[Mapping[str, Settings]] = {"default": RecentSettings(), "tuned": RecentSettings(penalty="cv")}
    settings: RecentSettings

    def _start(self) -> None:
        super()._start()
        self._kept: deque[tuple[Floats, Labels]] = deque(maxlen=self.settings.b)

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        before = [(X[:0], y[:0]), *self._kept]
        self._learn(step, (np.vstack([p[0] for p in before]), np.concatenate([p[1] for p in before])), X, y)
        self._kept.append((X.copy(), y))

    def state_size(self) -> int:
        """Return the numbers of all rules and of the stored samples."""
        return super().state_size() + sum(X.size + y.size for X, y in self._kept)


class SeenLogistic(Baseline):
    """Logistic regression on everything seen so far, one rule for all tasks.

    >>> seen = SeenLogistic(n_classes=2, n_features=1)
    >>> for step in range(2):
    ...     _ = seen.partial_fit_task(step, [[0.0], [1.0]], [0, 1])
    >>> seen.predict([[2.0]]).tolist(), seen.state_size()
    ([1], 12)
    """

    title = "Logistic regression on everything so far"
    paper = _COX
    kind = "reference"
    profiles = _PROFILES
    settings: LogisticSettings

    def _start(self) -> None:
        self._strength = _Strength(self.settings, self.n_classes)
        self._X = np.zeros((0, self.n_features))
        self._y = np.zeros(0, dtype=np.int64)
        self.rule: Floats | None = None

    def _fit_task(self, step: int, X: Floats, y: Labels) -> None:
        C = self._strength.next(step, (self._X, self._y), X, y)
        self._X, self._y = np.vstack([self._X, X]), np.append(self._y, y)
        self.rule = fit_multinomial(self._X, self._y, self.n_classes, C, self.rule)

    def _predict(self, X: Floats, task: int) -> Labels:
        return _labels(np.asarray(self.rule), X)

    def state_size(self) -> int:
        """Return the numbers of the rule and of all samples seen."""
        return (0 if self.rule is None else self.rule.size) + self._X.size + self._y.size


def _labels(rule: Floats, X: Floats) -> Labels:
    """Return the class of the largest score."""
    return np.asarray((X @ rule[:, :-1].T + rule[:, -1]).argmax(axis=1), dtype=np.int64)
