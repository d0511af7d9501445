"""Tasks and sequences of tasks: frozen, validated containers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import check_int, check_matrix


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view (a copy if the array does not own a private buffer)."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Task:
    """One classification task: instances and their labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Instances. Finite numbers; stored as read-only float64.
    y : array-like of shape (n_samples,)
        Labels: numbers or strings.
    label : str
        Name shown to people, for example a year. Empty: the task's number is shown.

    Raises
    ------
    ValueError
        If shapes do not fit or a value is missing or infinite; the message names row and column.

    Examples
    --------
    >>> Task([[0.0, 1.0], [2.0, 3.0]], ["a", "b"], label="1999")
    Task('1999', 2 samples, 2 features)
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    label: str = ""

    def __post_init__(self) -> None:
        X = check_matrix("X", self.X)
        y = np.asarray(self.y)
        if y.ndim != 1 or len(y) != len(X):
            raise ValueError(f"y must be one label per row of X: X has {len(X)} rows, y has shape {y.shape}.")
        if len(y) == 0:
            raise ValueError("A task needs at least one sample.")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError(f"y has a missing or infinite label at row {int(np.argmin(np.isfinite(y)))}.")
        if y.dtype.kind == "O":
            y = y.astype(str)
        object.__setattr__(self, "X", _frozen(X))
        object.__setattr__(self, "y", _frozen(y))
        object.__setattr__(self, "label", str(self.label))

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"Task({self.label!r}, {len(self)} samples, {self.X.shape[1]} features)"


@dataclass(frozen=True, eq=False)
class TaskSequence:
    """Tasks in the order in which they arrive, with one common set of classes.

    Parameters
    ----------
    tasks : iterable of Task
        At least one; all with the same number of features.
    name : str
        Short name of the sequence.
    classes : array-like or None
        Labels in sorted order. None: every label that occurs in some task.
    description : str
        One sentence for people.
    feature_names : tuple of str
        One per feature, or empty.
    info : mapping
        Facts shown with the sequence: ``source``, ``licence``, ``citation``, ``class_names`` and so on.
    truth : mapping or None
        Known truth of synthetic sequences (arrays documented by the function that made them).

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted labels; ``encoded(j)`` gives positions in this array.

    Raises
    ------
    TypeError
        If something other than a `Task` is among the tasks.
    ValueError
        If there is no task, the numbers of features differ, a label is not among the classes, or names do not fit.

    Examples
    --------
    >>> sequence = TaskSequence([Task([[0.0], [1.0]], [0, 1]), Task([[0.5], [2.0]], [1, 1])], name="tiny")
    >>> sequence
    TaskSequence('tiny', 2 tasks, 4 samples, 1 features, 2 classes)
    >>> sequence.class_counts().tolist()
    [[1, 1], [0, 2]]
    """

    tasks: tuple[Task, ...]
    name: str = "sequence"
    classes: NDArray[Any] = field(default=None)  # type: ignore[arg-type]  # replaced in __post_init__
    description: str = ""
    feature_names: tuple[str, ...] = ()
    info: Mapping[str, Any] = field(default_factory=dict)
    truth: Mapping[str, NDArray[np.float64]] | None = None

    def __post_init__(self) -> None:
        tasks = tuple(self.tasks)
        if not tasks:
            raise ValueError("A sequence needs at least one task.")
        for number, task in enumerate(tasks):
            if not isinstance(task, Task):
                raise TypeError(f"tasks[{number}] must be a Task, got {type(task).__name__}.")
            if task.X.shape[1] != tasks[0].X.shape[1]:
                raise ValueError(
                    f"tasks[{number}] has {task.X.shape[1]} features, the first task has {tasks[0].X.shape[1]}."
                )
        seen = np.unique(np.concatenate([task.y for task in tasks]))
        classes = seen if self.classes is None else np.unique(np.asarray(self.classes))
        unknown = seen[~np.isin(seen, classes)]
        if unknown.size:
            raise ValueError(f"Labels {unknown[:5].tolist()} occur in the tasks but not in classes.")
        names = tuple(self.feature_names)
        if names and len(names) != tasks[0].X.shape[1]:
            raise ValueError(f"feature_names has {len(names)} names for {tasks[0].X.shape[1]} features.")
        object.__setattr__(self, "tasks", tasks)
        object.__setattr__(self, "classes", _frozen(classes))
        object.__setattr__(self, "feature_names", names)

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def __getitem__(self, index: int) -> Task:
        return self.tasks[index]

    def __repr__(self) -> str:
        return (
            f"TaskSequence({self.name!r}, {len(self)} tasks, {self.sizes.sum()} samples, "
            f"{self.n_features} features, {self.n_classes} classes)"
        )

    @property
    def n_features(self) -> int:
        """Number of features of an instance."""
        return int(self.tasks[0].X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Samples per task, shape (n_tasks,)."""
        return np.array([len(task) for task in self.tasks], dtype=np.int64)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the tasks for people; numbers from 1 where a task has no name."""
        return tuple(task.label or str(number) for number, task in enumerate(self.tasks, start=1))

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes for people."""
        names = self.info.get("class_names")
        return tuple(map(str, names)) if names else tuple(map(str, self.classes))

    def encoded(self, index: int) -> NDArray[np.int64]:
        """Return the labels of one task as positions in `classes`, shape (n_samples,).

        Parameters
        ----------
        index : int
            Number of the task, from 0.

        Returns
        -------
        ndarray of int64, shape (n_samples,)
        """
        return np.searchsorted(self.classes, self.tasks[index].y).astype(np.int64)

    def class_counts(self) -> NDArray[np.int64]:
        """Return samples per task and class, shape (n_tasks, n_classes)."""
        return np.stack([np.bincount(self.encoded(j), minlength=self.n_classes) for j in range(len(self))]).astype(
            np.int64
        )

    def head(self, k: int) -> TaskSequence:
        """Return the sequence of the first `k` tasks (same classes, same truth).

        Parameters
        ----------
        k : int
            At least 1; more than there are gives all.

        Returns
        -------
        TaskSequence
        """
        if check_int("k", k, 1) >= len(self):
            return self
        return TaskSequence(
            self.tasks[:k],
            self.name,
            self.classes,
            self.description,
            self.feature_names,
            self.info,
            self.truth,
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all values, labels and task names: equal data, equal fingerprint."""
        cached = self.__dict__.get("_fingerprint")
        if cached is None:
            digest = hashlib.sha256()
            for task in self.tasks:
                digest.update(f"{task.label}|{task.X.shape}|{task.y.dtype.str}".encode())
                digest.update(task.X.data)
                digest.update(np.ascontiguousarray(task.y).tobytes())
            digest.update(repr(self.classes.tolist()).encode())
            cached = digest.hexdigest()
            object.__setattr__(self, "_fingerprint", cached)
        return str(cached)


def sequence_from_blocks(
    X: ArrayLike,
    y: ArrayLike,
    block: int,
    *,
    labels: Iterable[str] | None = None,
    **kwargs: Any,  # noqa: ANN401 - passed on to TaskSequence, which checks them
) -> TaskSequence:
    """Cut rows into consecutive tasks of `block` rows; rows left over at the end are dropped.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Instances in the order in which they arrived.
    y : array-like of shape (n_samples,)
        Labels.
    block : int
        Rows per task, at least 1 and at most n_samples.
    labels : iterable of str, optional
        One name per task.
    **kwargs
        Passed on to `TaskSequence`.

    Returns
    -------
    TaskSequence
        ``n_samples // block`` tasks.

    Examples
    --------
    >>> sequence_from_blocks([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1], 2)
    TaskSequence('sequence', 2 tasks, 4 samples, 1 features, 2 classes)
    """
    X = check_matrix("X", X)
    y = np.asarray(y)
    block = check_int("block", block, 1, len(X))
    count = len(X) // block
    names = tuple(labels) if labels is not None else ("",) * count
    if len(names) != count:
        raise ValueError(f"labels has {len(names)} names for {count} tasks.")
    tasks = [Task(X[j * block : (j + 1) * block], y[j * block : (j + 1) * block], names[j]) for j in range(count)]
    return TaskSequence(tuple(tasks), **kwargs)
