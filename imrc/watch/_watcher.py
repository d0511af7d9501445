"""A watcher of a sequence that grows: alarm, second lamp, and a state file with which it goes on."""

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
from numpy.typing import ArrayLike, NDArray

from imrc._checks import DataError, InputError, check_int
from imrc.features import FeatureSpec, make
from imrc.solvers._api import with_intercept
from imrc.tasks import TaskSequence
from imrc.watch._alarm import Alarm
from imrc.watch._usual import MoreThanUsual

_FORMAT = 1
_ARRAYS = {"alarm": ("_rows", "_y"), "usual": ("_counts", "_within", "_forward", "_last")}
_NUMBERS = {
    "alarm": ("alpha", "permutations", "memory", "steps", "alarm", "log_evidence"),
    "usual": ("level", "change", "_mse", "_n"),
}


@dataclass(frozen=True)
class Arrival:
    """What the arrival of one task showed.

    Attributes
    ----------
    task : int
        Its number, from 1.
    label : str
        Its name.
    n : int
        Its samples.
    p : float
        p-value of "it is as those before"; NaN for the first that is tested.
    evidence : float
        Capital of the bet; an alarm from 1 / alpha on.
    change : float
        Squared change from the task before in units of the variance of a sample, less what noise adds; NaN for the
        first.
    alarm : bool
        Whether the alarm has gone off, now or before.
    unusual : bool
        Whether the second lamp is lit: calibrated by simulation only.
    """

    task: int
    label: str
    n: int
    p: float
    evidence: float
    change: float
    alarm: bool
    unusual: bool


class Watcher:
    """Alarm and second lamp for the tasks of a sequence, as they arrive. The alarm assumes independent rows.

    The first task teaches the representation and is not tested itself: what it teaches must not depend on what is
    tested.

    Parameters
    ----------
    alpha : float
        Bound on the probability of any false alarm, however long one watches.
    features : str or FeatureSpec
        Representation.
    permutations, memory, seed : int
        Of `Alarm`.

    Attributes
    ----------
    tasks : int
        Tasks seen so far, the first among them.

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
        """Say whether rows that follow each other are alike, so that the alarm goes off without a change.

        Parameters
        ----------
        sequence : TaskSequence
            All tasks so far.

        Returns
        -------
        str
            Empty where they are not.
        """
        from imrc.diagnostics._rows import read_rows

        mapping = make(self._features, sequence, self._seed)
        return read_rows((mapping.transform(task.X), sequence.encoded(j)) for j, task in enumerate(sequence)).dependence

    def read(self, sequence: TaskSequence, tasks: int | None = None) -> Iterator[Arrival]:
        """Take in the tasks of a sequence that are new.

        Parameters
        ----------
        sequence : TaskSequence
            All tasks so far, those seen before among them.
        tasks : int or None
            How many of them are complete; None: all.

        Yields
        ------
        Arrival

        Raises
        ------
        DataError
            If the tasks seen before are other ones now.
        """
        tasks = len(sequence) if tasks is None else min(tasks, len(sequence))
        if tasks < max(self.tasks, 1):
            if self.tasks:
                raise DataError(f"There are {tasks} tasks; {self.tasks} were seen before. Begin with a new state.")
            return
        mapping = make(self._features, sequence, self._seed)
        digest = hashlib.sha256(mapping.transform(sequence[0].X).tobytes()).hexdigest()
        if self.tasks and (digest, sequence.labels[self.tasks - 1]) != (self._first, self._label):
            raise DataError(
                "The tasks seen before are other ones now, or the columns mean something else. Begin with a new state."
            )
        if not self.tasks:
            self.tasks, self._first, self._label = 1, digest, sequence.labels[0]
        for index in range(self.tasks, tasks):
            task = sequence[index]
            yield self.arrive(mapping.transform(task.X), task.y, sequence.labels[index])

    def arrive(self, X: NDArray[np.float64], y: ArrayLike, label: str = "") -> Arrival:
        """Take in one task.

        Parameters
        ----------
        X : ndarray of shape (n, D)
            Mapped instances.
        y : array-like of shape (n,)
            Labels; new ones may come.
        label : str
            Name of the task.

        Returns
        -------
        Arrival
        """
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
        """Write everything that is known to a file, with which `load` goes on as if nothing had happened.

        Parameters
        ----------
        path : str or Path
            Where to; a file there is replaced at once, so that none is ever half written.
        """
        parts = {"alarm": self.alarm, "usual": self.usual}
        arrays = {f"{name}/{key}": getattr(parts[name], key) for name, keys in _ARRAYS.items() for key in keys}
        header: dict[str, Any] = {
            "format": _FORMAT,
            "watcher": {
                "tasks": self.tasks,
                "_classes": self._classes,
                "_first": self._first,
                "_label": self._label,
                "_seed": self._seed,
            },
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
        """Return a watcher as `save` wrote it.

        Parameters
        ----------
        path : str or Path
            A file `save` wrote.

        Returns
        -------
        Watcher

        Raises
        ------
        InputError
            If the file is something else, or damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                arrays = {name: file[name] for name in file.files if name != "header"}
            if header["format"] != _FORMAT:
                raise InputError(f"format {header['format']}; this version reads format {_FORMAT}")
            found = cls(features=FeatureSpec(**header["features"]))
            found.alarm._generator.bit_generator.state = header["generator"]
            parts = {"watcher": found, "alarm": found.alarm, "usual": found.usual}
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
