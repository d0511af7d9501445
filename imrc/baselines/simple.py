"""Simple baselines: what you would try first, and an oracle with all the data of a task."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from imrc._types import Floats, Ints
from imrc.baselines.base import Baseline, Settings, choice, expit, named, real, whole
from imrc.core.presets import POOLED
from imrc.core.rules_log import LogLossLearner, half, total_log_loss
from imrc.core.settings import resolve_settings
from imrc.solvers.api import with_intercept


def fit_multinomial(
    X: Floats, y: Ints, n_classes: int, C: float = 1.0, start: Floats | None = None, *, tol: float = 1e-4
) -> Floats:
    """Return weights (n_classes, D + 1), intercept last, of logistic regression as scikit-learn defines it, by L-BFGS.

    Minimises C sum_i log-loss + 1/2 ||weights||^2; X (n, D). Classes without samples get intercept -inf. Stops when no
    entry of the gradient of the mean loss is above `tol` (scikit-learn's default).
    """
    from scipy.optimize import minimize

    n, D = X.shape
    weights = np.zeros((n_classes, D + 1))
    weights[:, -1] = -np.inf
    present = np.unique(y)
    if len(present) == 1:
        weights[present[0], -1] = 0.0
        return weights
    basis = np.linalg.qr(X.T)[0] if n < D else None  # the optimum lies in the span of the instances
    Z = np.hstack([X if basis is None else X @ basis, np.ones((n, 1))])
    rows = present[1:] if len(present) == 2 else present
    target = (y[:, None] == rows).astype(np.float64)
    first = np.zeros((len(rows), Z.shape[1]))
    if start is not None and np.isfinite(start[present]).all():
        known = start[rows] - (start[present[:1]] if len(present) == 2 else 0.0)
        first[:, :-1] = known[:, :-1] if basis is None else known[:, :-1] @ basis
        first[:, -1] = known[:, -1]

    def objective(flat: Floats) -> tuple[float, Floats]:
        W = flat.reshape(first.shape)
        scores = Z @ W.T
        if len(rows) == 1:
            loss = np.logaddexp(0.0, scores).sum() - (scores * target).sum()
            slope = expit(scores) - target
        else:
            top = scores.max(axis=1, keepdims=True)
            e = np.exp(scores - top)
            total = e.sum(axis=1, keepdims=True)
            loss = (np.log(total) + top).sum() - (scores * target).sum()
            slope = e / total - target
        gradient = slope.T @ Z
        gradient[:, :-1] += W[:, :-1] / C
        return (loss + 0.5 * (W[:, :-1] ** 2).sum() / C) / n, gradient.ravel() / n

    found = minimize(
        objective,
        first.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "gtol": tol, "ftol": 1e-4 * tol},
    ).x.reshape(first.shape)
    if len(rows) == 1:
        weights[present[0]] = 0.0
    weights[rows, :-1] = found[:, :-1] if basis is None else found[:, :-1] @ basis.T
    weights[rows, -1] = found[:, -1]
    return weights


Penalty = Literal["fixed", "cv"]
STRENGTHS = (1.0, 0.25, 4.0)  #: Factors of C that are compared; of equal ones the first.


@dataclass(frozen=True)
class LogisticSettings(Settings):
    """Hyper-parameters of logistic regression: C, the inverse strength of the L2 penalty, 1 as in scikit-learn.

    Penalty "cv": C times the factor of `STRENGTHS` with the smallest log loss on the halves of the tasks so far that
    were held back once, as the recommended learner judges its candidates.
    """

    C: float = real(1.0, 0.0, above=True)
    penalty: Penalty = choice("fixed", Penalty)


@dataclass(frozen=True)
class RecentSettings(LogisticSettings):
    """Hyper-parameters of logistic regression on the last tasks."""

    b: int = whole(3, 0)  # tasks before the newest that are used as well


class MajorityClass(Baseline):
    """Always answers the most frequent class of all labels seen so far (ties to the smallest)."""

    title = "Always the most frequent class"
    origin = "simple"
    idea = "Always predicts the class that was most frequent so far. A method that cannot beat it has learnt nothing."
    wins = "Never, unless there is nothing to learn or one class is rare."
    keeps = "Counts of the classes."

    def _start(self) -> None:
        self.counts = np.zeros(self.n_classes, dtype=np.int64)

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        self.counts = self.counts + np.bincount(y, minlength=self.n_classes)

    def _predict(self, X: Floats, task: int) -> Ints:
        return np.full(len(X), self.counts.argmax(), dtype=np.int64)

    def state_size(self) -> int:
        """Return C."""
        return self.n_classes


_RECOMMENDED = resolve_settings("recommended", b=0)


def pooled_learner(n_classes: int) -> LogLossLearner:
    """Return the recommended learner with a rate of change of 0."""
    return LogLossLearner(_RECOMMENDED, n_classes, (POOLED,))


class Pooled(Baseline):
    """The recommended learner with a rate of change of 0: one rule from the samples of all stored tasks alike."""

    title = "Pooled"
    origin = "simple"
    idea = "The recommended learner with a rate of change of 0: a single rule, learnt from everything so far."
    wins = "Tasks that hardly change, or that one rule fits."
    keeps = "The most recent samples, at least 2,000."

    def _start(self) -> None:
        self._learner, self._beside = pooled_learner(self.n_classes), False

    def learn_beside(self, learner: LogLossLearner) -> None:
        """Learn from the rows that a learner of other rules stores: it takes in each task first."""
        self._learner, self._beside = learner, True

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        if not self._beside:
            self._learner.add(with_intercept(X), y)
        self.rule = self._learner.pooled()

    def _predict(self, X: Floats, task: int) -> Ints:
        return np.asarray((X @ self.rule[:, 1:].T + self.rule[:, 0]).argmax(axis=1), dtype=np.int64)

    def state_size(self) -> int:
        """Return the numbers of the rule and of the stored samples."""
        return self.rule.size + self._learner.size(pooled=True)


class _Logistic(Baseline):
    """Logistic regression on each task and those before it within reach; a rule stays as it was learnt."""

    origin = "simple"
    paper = "D. R. Cox. The regression analysis of binary sequences. J. Royal Statistical Society B 20(2), 1958"
    profiles = named(LogisticSettings(), tuned=LogisticSettings(penalty="cv"))
    reach: ClassVar[int | None] = 0  # tasks before the newest that are used too, without a setting b; None: all
    settings: LogisticSettings

    def _start(self) -> None:
        self.rules: list[Floats] = []
        tried = STRENGTHS if self.settings.penalty == "cv" else STRENGTHS[:1]
        self._losses = dict.fromkeys(tried, 0.0)
        self._judged: dict[float, Floats | None] = dict.fromkeys(tried)
        self._before: deque[tuple[Floats, Ints]] = deque(maxlen=getattr(self.settings, "b", self.reach))

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        before = [(X[:0], y[:0]), *self._before]
        known, labels = np.vstack([part[0] for part in before]), np.concatenate([part[1] for part in before])
        C = self._strength(step, known, labels, X, y)
        start = self.rules[-1] if self.rules and not self.keeps_old_rules else None
        rule = fit_multinomial(np.vstack([known, X]), np.append(labels, y), self.n_classes, C, start)
        self.rules = [*self.rules, rule] if self.keeps_old_rules else [rule]
        self._before.append((X.copy(), y))

    def _strength(self, step: int, known: Floats, labels: Ints, X: Floats, y: Ints) -> float:
        """Return C for a rule from known samples and the newest task."""
        if len(self._losses) > 1 and len(y) > 1:
            held = half(y, step)
            known, labels = np.vstack([known, X[~held]]), np.append(labels, y[~held])
            for factor in self._losses:
                C = self.settings.C * factor
                rule = self._judged[factor] = fit_multinomial(known, labels, self.n_classes, C, self._judged[factor])
                self._losses[factor] += float(total_log_loss(X[held] @ rule[:, :-1].T + rule[:, -1], y[held]))
        return self.settings.C * min(self._losses, key=self._losses.__getitem__)

    def _predict(self, X: Floats, task: int) -> Ints:
        rule = self.rules[task if self.keeps_old_rules else -1]
        return np.asarray((X @ rule[:, :-1].T + rule[:, -1]).argmax(axis=1), dtype=np.int64)

    def state_size(self) -> int:
        """Return the numbers of the rules and of the stored samples."""
        return sum(rule.size for rule in self.rules) + sum(X.size + y.size for X, y in self._before)


class SingleTaskLogistic(_Logistic):
    """Logistic regression on each task's own samples."""

    title = "Logistic regression on each task alone"
    idea = "Logistic regression on the samples of one task alone."
    wins = "Tasks with many samples, or tasks that have nothing in common."
    keeps = "One linear rule per task."
    keeps_old_rules = fixed_old_rules = True


class OracleLogistic(SingleTaskLogistic):
    """Logistic regression on each task's whole pool: what static learning could reach with all the data of a task."""

    title = "Oracle, all the pool"
    idea = "Logistic regression on all samples of a task. All other methods get only n."
    wins = "Not a rival. It shows what more samples would achieve."
    uses_pool = True


class RecentLogistic(SingleTaskLogistic):
    """Logistic regression on a task and the b before it, one rule per task."""

    title = "Logistic regression on the last b + 1 tasks"
    idea = "Logistic regression on the last b + 1 tasks together."
    wins = "Steady change: old tasks no longer matter."
    keeps = "The samples of the last b + 1 tasks."
    shared_settings = ("b",)
    profiles = named(RecentSettings(), tuned=RecentSettings(penalty="cv"))


class SeenLogistic(_Logistic):
    """Logistic regression on everything seen so far, one rule for all tasks."""

    title = "Logistic regression on everything so far"
    idea = "Logistic regression on all samples so far, the obvious thing to try first."
    wins = "Tasks that hardly change."
    keeps = "All samples."
    reach = None


@dataclass(frozen=True)
class ForestSettings(Settings):
    """Hyper-parameters of the forest: its trees; everything else is scikit-learn's default."""

    trees: int = whole(20, 1)


class Forest(Baseline):
    """A random forest on everything seen so far, with the number of the task as one more column, grown anew."""

    title = "Random forest with the task's number"
    origin = "simple"
    paper = "L. Breiman. Random forests. Machine Learning 45, 2001"
    idea = (
        "A random forest on all samples so far, with the number of the task as an extra column. It chooses by itself "
        "how much of the past to use."
    )
    wins = "Columns with heavy tails or thresholds, and changes that a single split on time can describe."
    keeps = "All samples and all trees."
    keeps_old_rules = True
    profiles = named(ForestSettings(), hundred=ForestSettings(trees=100))
    settings: ForestSettings

    def _start(self) -> None:
        self._X, self._y = np.zeros((0, self.n_features + 1)), np.zeros(0, dtype=np.int64)

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        from sklearn.tree import DecisionTreeClassifier

        self._X = np.concatenate([self._X, np.column_stack([X, np.full(len(X), float(step))])])
        self._y = np.append(self._y, y)
        # The same trees as scikit-learn's forest, which starts threads of its own beside those of the repetitions.
        seeds, rows = np.random.RandomState(self.random.integers(2**31)), len(self._y)
        self._trees = []
        for seed in seeds.randint(np.iinfo(np.int32).max, size=self.settings.trees):
            drawn = np.random.RandomState(seed).randint(0, rows, rows, dtype=np.int32)
            tree = DecisionTreeClassifier(max_features="sqrt", random_state=seed)
            self._trees.append(tree.fit(self._X, self._y, np.bincount(drawn, minlength=rows).astype(np.float64)))

    def _predict(self, X: Floats, task: int) -> Ints:
        rows = np.column_stack([X, np.full(len(X), float(task))]).astype(np.float32)
        shares = sum(tree.tree_.predict(rows).reshape(len(rows), -1) for tree in self._trees)
        return np.asarray(self._trees[0].classes_[np.argmax(shares, axis=1)])

    def state_size(self) -> int:
        """Return the numbers of the samples and of the nodes of the trees, four each."""
        nodes: int = sum(tree.tree_.node_count for tree in self._trees)
        return self._X.size + self._y.size + 4 * nodes
