"""Tasks and sequences of tasks: frozen, validated containers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import InputError, InputTypeError, check_choice, check_int, check_labels, check_matrix, check_real

if TYPE_CHECKING:
    import pandas as pd

ColumnKind = Literal["numeric", "binary", "pixel", "category", "date", "undeclared"]
COLUMN_KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)

MAX_TASKS = 2000
"""Tasks of the longest sequence that is simulated, cut from a table, or asked for on a page."""

LEAST_FREQUENT = 2
"""Rows learnt from in which a word must occur to get a column: a word seen once tells nothing about the next row."""


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
        Labels: all numbers, or all strings.
    label : str
        Name shown to people, for example a year. If it is empty, the task's number is shown.
    allow_missing : bool
        Whether X may contain missing values (NaN). The feature map of a sequence fills them in (`imrc.features.make`).
        A learner refuses such an X if you pass it directly.

    Raises
    ------
    ValueError
        If shapes do not match, a value is missing or infinite, or labels are both numbers and strings; the message
        names the row and the column.

    Examples
    --------
    >>> Task([[0.0, 1.0], [2.0, 3.0]], ["a", "b"], label="1999")
    Task('1999', 2 samples, 2 features)
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    label: str = ""
    allow_missing: bool = False

    def __post_init__(self) -> None:
        X = check_matrix("X", self.X, allow_missing=self.allow_missing)
        y = check_labels("y", self.y)
        if y.ndim != 1 or len(y) != len(X):
            raise ValueError(f"y must be one label per row of X: X has {len(X)} rows, y has shape {y.shape}.")
        if len(y) == 0:
            raise ValueError("A task needs at least one sample.")
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
        Labels in sorted order. By default, all labels that occur in the tasks.
    description : str
        One sentence for people.
    feature_names : tuple of str
        One per feature, or empty.
    info : mapping
        Facts shown with the sequence: ``source``, ``licence``, ``citation``, ``class_names`` and so on.
    truth : mapping or None
        Known truth of synthetic sequences (arrays documented by the function that made them).
    column_kinds : tuple of str
        The kind of each input column: "numeric"; "binary" (0 or 1); "pixel" (or a feature of a network, used as it is);
        "category" (numbers 0, 1, 2, ... that stand for words); "date" (days); "undeclared" (binary or numeric,
        depending on the rows from which a representation is learnt). If it is empty, all columns are undeclared.
    categories : mapping of int to tuple of str
        For columns of kind "category", the words that the numbers stand for, where known. Only for display.
    max_categories : int
        Maximum number of words per column that get their own 0/1 column in a representation; the others share one.
    max_missing : float
        A representation leaves a column out if a larger share of its values is missing in the rows it is learnt from.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted labels; ``encoded(j)`` gives positions in this array.

    Raises
    ------
    TypeError
        If something other than a `Task` is among the tasks.
    ValueError
        If there is no task, the numbers of features differ, a label is not among the classes, or names or kinds do not
        match the features.

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
    column_kinds: tuple[ColumnKind, ...] = ()
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    max_categories: int = 20
    max_missing: float = 1.0

    def __post_init__(self) -> None:
        if is_frame(self.tasks):
            raise InputTypeError(f"A TaskSequence is made of tasks. {how_to_make_tasks(self.tasks)}")
        tasks = tuple(self.tasks)
        if not tasks:
            raise ValueError("A sequence needs at least one task.")
        for number, task in enumerate(tasks):
            if not isinstance(task, Task):
                raise InputTypeError(
                    f"tasks[{number}] must be a Task, got {type(task).__name__}. {how_to_make_tasks(list(tasks))}"
                )
            if task.X.shape[1] != tasks[0].X.shape[1]:
                raise ValueError(
                    f"tasks[{number}] has {task.X.shape[1]} features, but the first task has {tasks[0].X.shape[1]}."
                )
        if len({task.y.dtype.kind in "US" for task in tasks}) > 1:
            raise ValueError("Labels are words in some tasks and numbers in others.")
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
        object.__setattr__(self, "column_kinds", self._checked_kinds())
        check_int("max_categories", self.max_categories, 1)
        check_real("max_missing", self.max_missing, 0.0, 1.0)

    def _checked_kinds(self) -> tuple[ColumnKind, ...]:
        kinds = tuple(check_choice("column_kinds", kind, COLUMN_KINDS) for kind in self.column_kinds)
        if kinds and len(kinds) != self.n_features:
            raise ValueError(f"column_kinds has {len(kinds)} kinds for {self.n_features} features.")
        for column in [j for j, kind in enumerate(kinds) if kind == "category"]:
            for number, task in enumerate(self.tasks):
                codes = task.X[~np.isnan(task.X[:, column]), column]
                if (codes != np.floor(codes)).any() or (codes < 0).any():
                    raise ValueError(
                        f"tasks[{number}]: column {column} (from 0) is of kind 'category', so it must contain "
                        "the whole numbers 0, 1, 2, ... that stand for words."
                    )
        return kinds

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> TaskSequence: ...
    def __getitem__(self, index: int | slice) -> Task | TaskSequence:
        if isinstance(index, slice):
            return replace(self, tasks=self.tasks[index])
        try:
            return self.tasks[index]
        except (IndexError, TypeError) as error:
            what = f"There are {len(self)} tasks, numbered from 0, or from -1 backwards; got {index!r}."
            raise type(error)(what) from None

    def __add__(self, other: TaskSequence | Task) -> TaskSequence:
        """Return the tasks of both, in this order; InputError if their columns do not mean the same."""
        if isinstance(other, Task):
            other = replace(self, tasks=(other,), classes=np.unique(other.y))
        if not isinstance(other, TaskSequence):
            kind = type(other).__name__
            raise InputTypeError(f"A TaskSequence or a Task can be added, not {kind}. {how_to_make_tasks(other)}")
        for name in ("feature_names", "column_kinds", "categories"):
            if getattr(self, name) != getattr(other, name):
                raise InputError(
                    f"The sequences differ in {name}, so their columns do not mean the same. Make both at once: "
                    "put the rows in one table, or the pairs in one list, and call imrc.tasks_from."
                )
        both, info = np.union1d(self.classes, other.classes), dict(self.info)
        if len(both) > len(self.classes):
            info.pop("class_names", None)
        return replace(self, tasks=(*self.tasks, *other.tasks), classes=both, info=info, truth=None)

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
    def is_raw(self) -> bool:
        """Whether columns are raw, with words, dates or missing values, which `imrc.features.make` turns into features.

        This depends on the kinds and not on the values, so no value of a later task can change it.
        """
        read = {"category", "date"} & set(self.column_kinds)
        return bool(read) or any(task.allow_missing for task in self.tasks)

    @property
    def labels(self) -> tuple[str, ...]:
        """Display names of the tasks; numbers from 1 if a task has no name."""
        return tuple(task.label or str(number) for number, task in enumerate(self.tasks, start=1))

    @property
    def class_names(self) -> tuple[str, ...]:
        """Display names of the classes; those of a table's labels are safe to show."""
        names = self.info.get("class_names")
        return tuple(map(str, names)) if names else tuple(map(str, self.classes))

    def encoded(self, index: int) -> NDArray[np.int64]:
        """Return the labels of one task (from 0) as positions in `classes`, shape (n_samples,)."""
        return np.searchsorted(self.classes, self.tasks[index].y).astype(np.int64)

    def class_counts(self) -> NDArray[np.int64]:
        """Return samples per task and class, shape (n_tasks, n_classes)."""
        return np.stack([np.bincount(self.encoded(j), minlength=self.n_classes) for j in range(len(self))])

    def head(self, k: int) -> TaskSequence:
        """Return the first `k` tasks as a sequence (same classes, same truth); all if there are fewer."""
        return self if check_int("k", k, 1) >= len(self) else self[:k]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that results depend on: equal fingerprints mean equal results.

        It covers values, labels, task names, classes, and kinds and encoding of columns, but no other names or facts.
        """
        encoding = (self.column_kinds, self.max_categories, self.max_missing, self.is_raw)
        # Written as Python literals, so that no name can be mistaken for a part of what follows.
        digest = hashlib.sha256(repr((len(self.tasks), self.classes.tolist(), *encoding)).encode())
        for task in self.tasks:
            digest.update(repr((task.label, task.X.shape, task.y.dtype.str)).encode())
            digest.update(task.X.data)
            digest.update(task.y.tobytes())
        return digest.hexdigest()


def is_frame(data: object) -> TypeGuard[pd.DataFrame]:
    """Return whether something is a data frame of pandas, without loading pandas."""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def how_to_make_tasks(data: object) -> str:
    """Return a sentence with the call that makes tasks of data of this kind."""
    of_table = 'target="COLUMN", every=300), or by="COLUMN" instead of every'
    if is_frame(data):
        columns = ", ".join(repr(str(name)) for name in data.columns[:8]) + (" …" if len(data.columns) > 8 else "")
        return f"Make tasks from a data frame with imrc.tasks_from(df, {of_table}. Columns: {columns}."
    if isinstance(data, Mapping):
        return f"Make a data frame from the columns: imrc.tasks_from(pandas.DataFrame(...), {of_table}."
    if isinstance(data, str | os.PathLike):
        named = 'imrc.datasets.load("NAME")'
        return f"Make tasks from a file with imrc.tasks_from({str(data)!r}, {of_table}; {named} gives a dataset."
    pairs = "imrc.tasks_from([(X, y), (X, y), ...]), one pair per task, or " * isinstance(data, list | tuple)
    return f"Make tasks with {pairs}imrc.tasks_from((X, y, groups)), where groups contains the task of each row."


def checked_tasks(where: str, data: object) -> TaskSequence:
    """Return a sequence of tasks as it is; for anything else raise InputTypeError with the call that makes tasks."""
    if isinstance(data, TaskSequence):
        return data
    raise InputTypeError(f"{where} needs a TaskSequence, not {type(data).__name__}. {how_to_make_tasks(data)}")


def sequence_from_blocks(
    X: ArrayLike,
    y: ArrayLike,
    block: int,
    *,
    labels: Iterable[str] | None = None,
    **kwargs: Any,  # noqa: ANN401 - passed on to TaskSequence, which checks them
) -> TaskSequence:
    """Cut rows into consecutive tasks of `block` rows named `labels`; rows left over at the end are dropped."""
    X, y = np.asarray(X), np.asarray(y)
    count = len(X) // check_int("block", block, 1, len(X))
    parts = [slice(j * block, (j + 1) * block) for j in range(count)]
    names = [""] * count if labels is None else labels
    tasks = [Task(X[part], y[part], name) for part, name in zip(parts, names, strict=True)]
    return TaskSequence(tuple(tasks), **kwargs)
