"""Watching tasks as they arrive, with an alarm whose false alarms are bounded however long you watch.

The alarm tests whether all rows so far are independent draws from one distribution. Each arriving task is compared with
the samples before it by a permutation test with randomised ties, so under the hypothesis its p-values are independent
and uniform. A new bet on small p-values begins at every task, with weights that add up to one. The capital of all bets
plus the weights of future bets is a non-negative martingale that starts at one, so the probability that it ever reaches
1 / alpha is at most alpha (Ville's inequality), and the capital itself is smaller. If rows depend on each other, this
no longer holds, and the alarm can go off without a change. The warning "more than usual" appears if a change is larger
than earlier changes predict. It is calibrated by simulation only.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from imrc._checks import DataError, InputError, InputTypeError, check_int, check_real
from imrc._folders import replacing
from imrc._types import Floats, Ints
from imrc.core.recursions import forward_step, sample_moments
from imrc.evaluation import RunResult
from imrc.features import FeatureSpec, make
from imrc.solvers.api import with_intercept
from imrc.tasks import TaskSequence, checked_tasks, how_to_make_tasks, is_frame
from imrc.wording import decimal, number, p_text

__all__ = ["Arrival", "Watcher"]

_FORMAT = 1
_LEAST_P = 1e-300
_LEAST_CHANGES = 10  # Innovations needed to know their spread before the second lamp may light.
_FALSE_LIGHT = 0.01  # Probability of a false light for Gaussian innovations of known spread, checked by simulation.


def bet(p: float) -> float:
    """Return the payoff of a bet on small p-values, (1 - p + p ln p) / (p (ln p)^2), the mean of a p^(a - 1) over a."""
    t = -math.log(max(check_real("p", p, 0.0, 1.0), _LEAST_P))
    # In t, the formula is (exp(t) - 1 - t) / t^2. Near 0, where digits cancel, its series is used.
    return 0.5 + t / 6.0 if t < 1e-6 else (math.expm1(t) - t) / t**2


class Alarm:
    """An alarm that is false with probability at most alpha, however many tasks arrive.

    Each task is compared with the rows before it, of which at most `memory` are kept, whatever their task. `alarm` is
    the test, from 1, at which `log_evidence`, the logarithm of the capital, first reached log(1 / alpha).
    """

    def __init__(self, alpha: float = 0.05, *, permutations: int = 999, memory: int = 2000, seed: int = 0) -> None:
        self.alpha = check_real("alpha", alpha, 0.0, 1.0, low_open=True)
        self.permutations = check_int("permutations", permutations, 9)
        self.memory = check_int("memory", memory, 2)
        self.steps = 0
        self.alarm: int | None = None
        self.log_evidence = -math.inf
        self._generator = np.random.default_rng(check_int("seed", seed, 0))
        self._rows, self._y = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)

    def step(self, X: Floats, y: Ints) -> float:
        """Test a task, X (n, D) by a map that does not depend on it, bet on its p-value and return it; NaN at first."""
        first = not len(self._rows)
        rows = np.ascontiguousarray(X if first else np.concatenate([self._rows, X]), dtype=np.float64)
        classes = np.concatenate([self._y, np.asarray(y, dtype=np.int64)])
        p = math.nan if first else self._p_value(rows, classes, len(X))
        if len(rows) > self.memory:
            # For p-values to be independent, which rows stay must not depend on their task.
            kept = self._generator.choice(len(rows), self.memory, replace=False, shuffle=False)
            rows, classes = rows[kept], classes[kept]
        self._rows, self._y = rows, classes
        if not first:
            # M_j = (M_{j-1} + 1 / (j (j + 1))) e_j is the capital of the bets begun at all tasks so far.
            self.steps += 1
            weight = -math.log(self.steps * (self.steps + 1.0))
            self.log_evidence = float(np.logaddexp(self.log_evidence, weight)) + math.log(bet(p))
            if self.alarm is None and self.log_evidence >= -math.log(self.alpha):
                self.alarm = self.steps
        return p

    def _p_value(self, rows: Floats, classes: Ints, n: int) -> float:
        """Return the p-value of "the last n rows are any n of them", made uniform by randomised ties."""
        from imrc.diagnostics._kernels import subset_statistics
        from imrc.diagnostics.evidence import class_moments
        from imrc.solvers.logistic import group_sums

        total = len(rows)
        # Centre and scale are those of all rows, whatever their task.
        X1 = np.column_stack([np.ones(total), rows - rows.mean(axis=0)])
        count = int(classes.max()) + 1
        mean, variance = class_moments(X1, classes, count)
        weights = 1.0 / np.maximum(variance, 1e-300)
        observed = group_sums(X1[total - n :], classes[total - n :], count)
        statistic = float(((observed - n * mean) ** 2 * weights).sum())
        # A subset and its complement have the same statistic, so the smaller one is drawn.
        size = min(n, total - n)
        draws = self._generator.random((self.permutations, size))
        found = subset_statistics(X1, classes, weights, size * mean, draws)
        tolerance = 1e-9 * statistic
        larger = int((found > statistic + tolerance).sum())
        ties = int((abs(found - statistic) <= tolerance).sum())
        return (larger + float(self._generator.random()) * (1 + ties)) / (1 + self.permutations)


class MoreThanUsual:
    """A lamp for changes larger than the estimated rate of change predicts.

    The forward recursion predicts the next mean vector at the rate estimated so far. The mean squared innovation is
    compared with a chi-squared distribution with the mean and variance of earlier ones. `change` is the squared change
    to the newest task in units of the variance of a sample, less noise. Its mean estimates rho.
    """

    def __init__(self) -> None:
        self.change = math.nan
        # Number, mean and sum of squared deviations of changes and of innovations.
        self._counts = np.zeros((2, 3))
        self._within = np.zeros((2, 0))
        self._forward, self._last = np.zeros(0), np.zeros(0)
        self._mse, self._n = math.inf, 0.0

    def step(self, X1: Floats, y: Ints, n_classes: int) -> bool:
        """Take in a task, X1 (n, D + 1) with intercept, and return whether the lamp lights. `n_classes` may grow."""
        from scipy.special import chdtri

        n = len(X1)
        tau, s = sample_moments(X1, y, n_classes)
        first = not self._n
        more = len(tau) - self._within.shape[1]  # components of new classes, which were 0 until now
        self._within = np.pad(self._within, ((0, 0), (0, more)))
        self._forward, self._last = np.pad(self._forward, (0, more)), np.pad(self._last, (0, more))
        self._within += np.stack([s * n * (n - 1), np.full(len(tau), n - 1.0)])
        variance = self._within[0] / np.maximum(self._within[1], 1.0)
        kept = variance > 1e-10 * variance.max() if variance.max() > 0 else np.zeros(len(tau), dtype=bool)
        lit, rho = False, max(self._counts[0, 1], 0.0)
        if not first and kept.any():
            innovation = float(((tau - self._forward)[kept] ** 2 / variance[kept]).mean()) / (self._mse + rho + 1.0 / n)
            count, mean, squares = self._counts[1]
            if count >= _LEAST_CHANGES and squares > 0:
                freedom = 2.0 * mean**2 / (squares / (count - 1))
                lit = innovation > mean * float(chdtri(freedom, _FALSE_LIGHT)) / freedom
            distance = float(((tau - self._last)[kept] ** 2 / variance[kept]).mean())
            self.change = distance - 1.0 / n - 1.0 / self._n
            for row, value in zip(self._counts, (self.change, innovation), strict=True):
                row[0] += 1
                step = value - row[1]
                row[1] += step / row[0]
                row[2] += step * (value - row[1])
        before = (tau, math.inf) if first else (self._forward, self._mse)
        self._forward, mse = forward_step(tau, np.array([1.0 / n]), before[0], np.array([before[1]]), np.array([rho]))
        self._mse, self._last, self._n = float(mse[0]), tau, float(n)
        return lit


@dataclass(frozen=True)
class Arrival:
    """Results for one arriving task."""

    task: int  #: Its number, from 1.
    label: str  #: Its name.
    n: int  #: Its samples.
    p: float  #: p-value of "the task is like those before it"; NaN for the second task.
    evidence: float  #: Capital of the bets; the alarm goes off at 1 / alpha.
    change: float  #: Squared change from the task before, in units of the variance of a sample, less noise; or NaN.
    alarm: bool  #: Whether the alarm has gone off, now or before.
    unusual: bool  #: Whether the change is larger than earlier ones predict, which is calibrated by simulation only.


class Watcher:
    """Alarm for the tasks of a sequence as they arrive. It assumes independent rows.

    The representation is learnt from the first task, which is not tested itself, because the data under test must
    not shape the test.

    Parameters
    ----------
    alpha : float
        Bound on the probability of any false alarm, however long you watch.
    features : str or FeatureSpec
        Representation.
    permutations, memory, seed : int
        Of `Alarm`.

    Attributes
    ----------
    tasks : int
        Tasks seen so far, including the first.

    Raises
    ------
    InputError, InputTypeError
        For a value out of range, or tasks in place of settings.

    Examples
    --------
    >>> import imrc
    >>> watcher = Watcher(permutations=99)
    >>> arrivals = list(watcher.read(imrc.datasets.load("identical", tasks=6)))
    >>> [arrival.task for arrival in arrivals], watcher.alarm.alarm
    ([2, 3, 4, 5, 6], None)
    """

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        features: str | FeatureSpec = "automatic",
        permutations: int = 999,
        memory: int = 2000,
        seed: int = 0,
    ) -> None:
        if isinstance(alpha, TaskSequence) or is_frame(alpha):
            how = "" if isinstance(alpha, TaskSequence) else f" {how_to_make_tasks(alpha)}"
            raise InputTypeError(f"Create a Watcher from settings, then let it read tasks: Watcher().read(tasks).{how}")
        self.alarm = Alarm(alpha, permutations=permutations, memory=memory, seed=seed)
        self.usual = MoreThanUsual()
        self.tasks = 0
        self._features, self._seed = FeatureSpec.parse(features), check_int("seed", seed, 0)
        self._classes: list[str] = []
        self._first = self._label = ""

    @property
    def settings(self) -> dict[str, object]:
        """Settings that must stay the same: `alpha`, `features` (the name of the representation) and `seed`."""
        return {"alpha": self.alarm.alpha, "features": self._features.kind, "seed": self._seed}

    def dependence(self, sequence: TaskSequence) -> str:
        """Return a warning if successive rows are correlated, which sets the alarm off without a change; else ""."""
        from imrc.diagnostics.samples import read_rows

        mapping = make(self._features, sequence, self._seed)
        return read_rows((mapping.transform(task.X), sequence.encoded(j)) for j, task in enumerate(sequence)).dependence

    def read(self, sequence: TaskSequence, tasks: int | None = None) -> Iterator[Arrival]:
        """Process the new tasks of a sequence.

        Parameters
        ----------
        sequence : TaskSequence
            All tasks so far, including those seen before.
        tasks : int or None
            How many of them are complete, by default all.

        Yields
        ------
        Arrival

        Raises
        ------
        DataError
            If tasks seen before have changed.
        """
        sequence = checked_tasks("Watcher.read", sequence)
        tasks = len(sequence) if tasks is None else min(tasks, len(sequence))
        if tasks < max(self.tasks, 1):
            if self.tasks:
                raise DataError(
                    f"There are {tasks} tasks now, but {self.tasks} were seen before. Start with a new state."
                )
            return
        mapping = make(self._features, sequence, self._seed)
        digest = hashlib.sha256(mapping.transform(sequence[0].X).tobytes()).hexdigest()
        if self.tasks and (digest, sequence.labels[self.tasks - 1]) != (self._first, self._label):
            raise DataError("Tasks seen before have changed, or columns have another meaning. Start with a new state.")
        if not self.tasks:
            self.tasks, self._first, self._label = 1, digest, sequence.labels[0]
        for index in range(self.tasks, tasks):
            task = sequence[index]
            yield self.arrive(mapping.transform(task.X), task.y, sequence.labels[index])

    def arrive(self, X: Floats, y: ArrayLike, label: str = "") -> Arrival:
        """Take in one task, with features X (n, D) and labels y (n,), which may be new."""
        names = [str(one) for one in np.asarray(y).tolist()]
        self._classes += sorted(set(names) - set(self._classes))
        place = {name: number for number, name in enumerate(self._classes)}
        classes = np.array([place[name] for name in names], dtype=np.int64)
        p = self.alarm.step(X, classes)
        unusual = self.usual.step(with_intercept(X), classes, len(self._classes))
        self.tasks += 1
        self._label = label or str(self.tasks)
        evidence = math.exp(min(self.alarm.log_evidence, 700.0))
        alarm = self.alarm.alarm is not None
        return Arrival(self.tasks, self._label, len(X), p, evidence, self.usual.change, alarm, unusual)

    def _parts(self) -> dict[str, dict[str, Any]]:
        """Return the state of each part, by name."""
        return {"watcher": vars(self), "alarm": vars(self.alarm), "usual": vars(self.usual)}

    def save(self, path: str | Path) -> None:
        """Save the watch to a file in one step; `load` continues it as if it had never been interrupted."""
        header: dict[str, Any] = {
            "format": _FORMAT,
            "features": vars(self._features),
            "generator": self.alarm._generator.bit_generator.state,
        }
        arrays: dict[str, Any] = {}
        for name, part in self._parts().items():
            header[name] = {key: one for key, one in part.items() if isinstance(one, int | float | str | list | None)}
            arrays |= {f"{name}/{key}": one for key, one in part.items() if isinstance(one, np.ndarray)}
        with replacing(Path(path)) as unfinished, unfinished.open("wb") as file:
            # Python's JSON keeps every digit of a float, and infinities.
            np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Watcher:
        """Return a watcher from a file that `save` wrote. InputError if it is another kind of file, or damaged."""
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                arrays = {name: file[name] for name in file.files if name != "header"}
            if header["format"] != _FORMAT:
                raise InputError(f"format {header['format']}; this version reads format {_FORMAT}")
            found = cls(features=FeatureSpec(**header["features"]))
            found.alarm._generator.bit_generator.state = header["generator"]
            parts = found._parts()
            for name, part in parts.items():
                part.update(header[name])
            for name, value in arrays.items():
                owner, _, key = name.partition("/")
                parts[owner][key] = value
        except FileNotFoundError:
            raise
        except Exception as error:
            raise InputError(f"{path} is not a state saved by imrc watch: {error}") from error
        return found


def watch_story(
    sequence: TaskSequence, features: str | FeatureSpec = "automatic", seed: int = 0, run: RunResult | None = None
) -> pd.DataFrame:
    """Return the arrivals from the second task on, and errors of a run `before` and `after` learning each task.

    These are mean errors of the predicted and of the forward rule on the task's test samples; NaN without a run.
    """
    arrivals = [vars(arrival) for arrival in Watcher(features=features, seed=seed).read(sequence)]
    table = pd.DataFrame(arrivals, columns=["task", "label", "p", "evidence", "change", "unusual"])
    before = after = np.full(len(sequence), np.nan)
    if run is not None:
        unknown = np.full(len(sequence) - run.n_tasks, np.nan)
        before = np.append(run.before_of("forward").mean(axis=0), unknown)
        after = np.append(run.error_tables["forward"].newest().mean(axis=0), unknown)
    rows = table["task"].to_numpy(int) - 1
    return table.assign(before=before[rows], after=after[rows])


def first_alarm(story: pd.DataFrame, alpha: float = 0.05) -> int | None:
    """Return the task, from 1, at which the alarm of `watch_story` goes off, or None."""
    check_real("alpha", alpha, 0.0, 1.0, low_open=True)
    reached = story[story["evidence"] >= 1.0 / alpha]["task"]
    return None if reached.empty else int(reached.iloc[0])


def arrival_sentences(story: pd.DataFrame, task: int, alpha: float = 0.05) -> list[str]:
    """State what is known after a task (from 1) has arrived: alarm, last change, and effect of learning it."""
    seen = story[story["task"] <= task]
    row, alarm = seen.iloc[-1], first_alarm(seen, alpha)
    evidence = number(row["evidence"]) if row["evidence"] < 1e6 else "above a million"
    if alarm is None:
        said = [f"No alarm after {task} tasks. The evidence is {evidence}, and an alarm needs {1.0 / alpha:g}."]
    else:
        since = f"task {alarm}" if alarm < task else "this task"
        said = [f"Alarm since {since}: the rows are no longer independent draws from one distribution."]
    if np.isfinite(row["p"]):
        lamp = " More than usual: the change is larger than earlier changes." if row["unusual"] else ""
        said.append(f"Task {task} against all before it: {p_text(float(row['p']))}.{lamp}")
    else:
        said.append("The representation is learnt from the first task, so the second cannot be compared with it.")
    if np.isfinite(row["before"]) and np.isfinite(row["after"]):
        before, after = decimal(row["before"]), decimal(row["after"])
        change = row["after"] - row["before"]
        moved = f"{'lowered' if change < 0 else 'raised'} its error from {before} to {after}"
        said.append(f"Learning it {f'left its error at {after}' if abs(change) < 5e-4 else moved}.")
    return said
