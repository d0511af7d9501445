"""A watcher of a sequence that grows, with a state file to go on from, and what it would have said of a whole one."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from imrc._checks import DataError, InputError, check_int, check_real
from imrc._types import Floats
from imrc.evaluation import RunResult
from imrc.features import FeatureSpec, make
from imrc.solvers.api import with_intercept
from imrc.tasks import TaskSequence
from imrc.watch._lamps import Alarm, MoreThanUsual
from imrc.wording import decimal, number, p_text

_FORMAT = 1
_ARRAYS = {"alarm": ("_rows", "_y"), "usual": ("_counts", "_within", "_forward", "_last")}
_NUMBERS = {
    "watcher": ("tasks", "_classes", "_first", "_label", "_seed"),
    "alarm": ("alpha", "permutations", "memory", "steps", "alarm", "log_evidence"),
    "usual": ("level", "change", "_mse", "_n"),
}


@dataclass(frozen=True)
class Arrival:
    """What the arrival of one task showed."""

    task: int  #: Its number, from 1.
    label: str  #: Its name.
    n: int  #: Its samples.
    p: float  #: p-value of "it is as those before"; NaN for the first that is tested.
    evidence: float  #: Capital of the bet; an alarm from 1 / alpha on.
    change: float
    """Squared change from the task before in units of the variance of a sample, less what noise adds, or NaN."""
    alarm: bool  #: Whether the alarm has gone off, now or before.
    unusual: bool  #: Whether the second lamp is lit: calibrated by simulation only.


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
        self.alarm = Alarm(alpha, permutations=permutations, memory=memory, seed=seed)
        self.usual = MoreThanUsual()
        self.tasks = 0
        self._features, self._seed = FeatureSpec.parse(features), check_int("seed", seed, 0)
        self._classes: list[str] = []
        self._first = self._label = ""

    @property
    def settings(self) -> dict[str, object]:
        """What cannot change on the way: `alpha`, `features` (the name of the representation) and `seed`."""
        return {"alpha": self.alarm.alpha, "features": self._features.kind, "seed": self._seed}

    def dependence(self, sequence: TaskSequence) -> str:
        """Say where rows that follow each other are alike: they set the alarm off without a change; else nothing."""
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
            How many of them are complete; None: all.

        Yields
        ------
        Arrival

        Raises
        ------
        DataError
            If the tasks seen before have changed.
        """
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
            raise DataError(
                "The tasks seen before have changed, or the columns mean something else. Start with a new state."
            )
        if not self.tasks:
            self.tasks, self._first, self._label = 1, digest, sequence.labels[0]
        for index in range(self.tasks, tasks):
            task = sequence[index]
            yield self.arrive(mapping.transform(task.X), task.y, sequence.labels[index])

    def arrive(self, X: Floats, y: ArrayLike, label: str = "") -> Arrival:
        """Take in one task, X (n, D) mapped, y (n,) labels, of which new ones may come."""
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

    def save(self, path: str | Path) -> None:
        """Write all that is known to a file, replaced at once, with which `load` goes on as if nothing had happened."""
        parts: dict[str, Any] = {"watcher": self, "alarm": self.alarm, "usual": self.usual}
        arrays = {f"{name}/{key}": getattr(parts[name], key) for name, keys in _ARRAYS.items() for key in keys}
        header: dict[str, Any] = {
            "format": _FORMAT,
            "features": vars(self._features),
            "generator": self.alarm._generator.bit_generator.state,
            **{name: {key: getattr(parts[name], key) for key in keys} for name, keys in _NUMBERS.items()},
        }
        target = Path(path)
        unfinished = target.with_name(f"{target.name}.{os.getpid()}")
        with open(unfinished, "wb") as file:
            # Python's JSON keeps every digit of a float, infinities too.
            np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)
        unfinished.replace(target)

    @classmethod
    def load(cls, path: str | Path) -> Watcher:
        """Return a watcher as `save` wrote it; InputError if the file is something else, or damaged."""
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                arrays = {name: file[name] for name in file.files if name != "header"}
            if header["format"] != _FORMAT:
                raise InputError(f"format {header['format']}; this version reads format {_FORMAT}")
            found = cls(features=FeatureSpec(**header["features"]))
            found.alarm._generator.bit_generator.state = header["generator"]
            parts: dict[str, Any] = {"watcher": found, "alarm": found.alarm, "usual": found.usual}
            for name, part in parts.items():
                vars(part).update(header[name])
            for name, value in arrays.items():
                owner, _, key = name.partition("/")
                vars(parts[owner])[key] = value
        except FileNotFoundError:
            raise
        except Exception as error:
            raise InputError(f"{path} is not a state saved by imrc watch: {error}") from error
        return found


def watch_story(
    sequence: TaskSequence, features: str | FeatureSpec = "automatic", seed: int = 0, run: RunResult | None = None
) -> pd.DataFrame:
    """Return what `imrc watch` says of each task from the second on, with its errors before and after it was learnt.

    Columns `task` (from 1), `label`, `p`, `evidence`, `change` (d^2 / sigma^2 of this step less what noise adds),
    `unusual` (the second lamp), `before` and `after` (mean error of the rule of the predicted estimate and of the
    forward rule on its test samples; NaN without a run of IMRC on the same sequence).

    >>> import imrc
    >>> watch_story(imrc.datasets.load("identical", tasks=5))["task"].tolist()
    [2, 3, 4, 5]
    """
    arrivals = [vars(arrival) for arrival in Watcher(features=features, seed=seed).read(sequence)]
    table = pd.DataFrame(arrivals)[["task", "label", "p", "evidence", "change", "unusual"]]
    before = after = np.full(len(sequence), np.nan)
    if run is not None:
        unknown = np.full(len(sequence) - run.n_tasks, np.nan)
        before = np.append(run.before_of("forward").mean(axis=0), unknown)
        after = np.append(run.error_tables["forward"].newest().mean(axis=0), unknown)
    rows = table["task"].to_numpy() - 1
    return table.assign(before=before[rows], after=after[rows])


def first_alarm(story: pd.DataFrame, alpha: float = 0.05) -> int | None:
    """Return the task, from 1, at which the alarm of `watch_story` goes off; None if it does not."""
    check_real("alpha", alpha, 0.0, 1.0, low_open=True)
    reached = story[story["evidence"] >= 1.0 / alpha]["task"]
    return None if reached.empty else int(reached.iloc[0])


def arrival_sentences(story: pd.DataFrame, task: int, alpha: float = 0.05) -> list[str]:
    """State what is known when a task (from 1) has arrived: the alarm first, the last change, what learning it did."""
    seen = story[story["task"] <= task]
    row, alarm = seen.iloc[-1], first_alarm(seen, alpha)
    evidence = number(row["evidence"]) if row["evidence"] < 1e6 else "above a million"
    if alarm is None:
        said = [f"No alarm after {task} tasks: the evidence is {evidence}, an alarm needs {1.0 / alpha:g}."]
    else:
        since = f"task {alarm}" if alarm < task else "this task"
        said = [f"Alarm since {since}: the rows are no longer independent draws from one distribution."]
    if np.isfinite(row["p"]):
        lamp = " More than usual: the change is larger than earlier changes." if row["unusual"] else ""
        said.append(f"Task {task} against all before it: {p_text(float(row['p']))}.{lamp}")
    else:
        said.append("The representation is learnt from the first task; the second has nothing to be compared with yet.")
    if np.isfinite(row["before"]) and np.isfinite(row["after"]):
        change = row["after"] - row["before"]
        verb = "left" if abs(change) < 5e-4 else "lowered" if change < 0 else "raised"
        start = "" if verb == "left" else f"from {decimal(row['before'])} "
        said.append(f"Learning it {verb} its error {start}{'at' if verb == 'left' else 'to'} {decimal(row['after'])}.")
    return said
