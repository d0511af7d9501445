"""What all compared methods have in common: settings, construction, checks, labels, and facts about the method."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import check_choice, check_int, check_matrix, check_names, check_real
from imrc._types import Floats, Ints

Origin = Literal["published", "simple"]
RandomState = int | np.random.SeedSequence | np.random.Generator | None


@dataclasses.dataclass(frozen=True)
class Settings:
    """Hyper-parameters, each field with its limits (ValueError, TypeError): ``rate: float = real(0.1, 0.0)``."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if "check" in field.metadata:
                field.metadata["check"](field.name, getattr(self, field.name))


def checked(default: object, check: Callable[[str, object], object]) -> Any:  # noqa: ANN401 - a field of any type
    """Return a field of `Settings`; `check` gets its name and value, and raises if the value is not possible."""
    return dataclasses.field(default=default, metadata={"check": check})


def whole(default: int, low: int) -> Any:  # noqa: ANN401
    """Return a field for a whole number from `low` on."""
    return checked(default, lambda name, value: check_int(name, value, low))


def real(default: float, low: float, high: float = math.inf, *, above: bool = False) -> Any:  # noqa: ANN401
    """Return a field for a number in [low, high], or with `above` in (low, high]."""
    return checked(default, lambda name, value: check_real(name, value, low, high, low_open=above))


def choice(default: str, kinds: object) -> Any:  # noqa: ANN401
    """Return a field for one of the words of a ``Literal``."""
    return checked(default, lambda name, value: check_choice(name, value, get_args(kinds)))


def named(default: Settings, **others: Settings) -> Mapping[str, Settings]:
    """Return the profiles of a method: its usual hyper-parameters, and others by name."""
    return {"default": default, **others}


class Baseline(ABC):
    """A method that learns one task after another, for comparison with IMRC.

    It has C classes, 0 to C - 1 or the labels in `classes` (of any type), and D = `n_features` mapped features without
    intercept. `profile` names a set of hyper-parameters in `profiles`; keywords replace single ones (TypeError: there
    is none of that name; ValueError: out of its range).
    """

    title: ClassVar[str]  # for people
    paper: ClassVar[str] = ""  # reference
    idea: ClassVar[str] = ""  # in words: what it does
    wins: ClassVar[str] = ""  # where it wins
    keeps: ClassVar[str] = ""  # what it keeps between tasks
    origin: ClassVar[Origin] = "published"
    keeps_old_rules: ClassVar[bool] = False  # `predict(X, task=j)` uses a rule kept for task j, so it must be told j
    fixed_old_rules: ClassVar[bool] = False  # which never changes afterwards
    # Which error sums it up; "newest": it keeps nothing for earlier tasks.
    headline: ClassVar[Literal["average", "newest"]] = "average"
    uses_pool: ClassVar[bool] = False  # an oracle: it learns from a task's whole pool, not from its n training samples
    shared_settings: ClassVar[tuple[str, ...]] = ()  # that a comparison passes on from IMRC ("b")
    deviations: ClassVar[tuple[str, ...]] = ()  # where it differs from the reference code, and why
    profiles: ClassVar[Mapping[str, Settings]] = {"default": Settings()}  # hyper-parameters by name, from `named`
    # Raised by every change that alters the method's numbers: results of other versions are not mistaken for current.
    version: ClassVar[int] = 1

    def __init__(
        self,
        *,
        n_classes: int | None = None,
        n_features: int,
        random_state: RandomState = None,
        classes: ArrayLike | None = None,
        profile: str = "default",
        **settings: Any,  # noqa: ANN401 - checked by the method's own settings class
    ) -> None:
        if n_classes is None and classes is None:
            raise TypeError("Give n_classes or classes.")
        known = None if classes is None else np.unique(np.asarray(classes))
        self.n_classes = check_int("n_classes", len(known) if n_classes is None and known is not None else n_classes, 2)
        self.classes = np.arange(self.n_classes) if known is None else known
        if len(self.classes) != self.n_classes:
            raise ValueError(f"classes has {len(self.classes)} labels, but n_classes is {self.n_classes}.")
        self.n_outputs = 1 if self.n_classes == 2 else self.n_classes
        self.n_features = check_int("n_features", n_features, 1)
        chosen = self.profiles[check_choice("profile", profile, tuple(self.profiles))]
        check_names(type(self).__name__, settings, [field.name for field in dataclasses.fields(chosen)], "setting")
        self.profile = profile
        self.settings = dataclasses.replace(chosen, **settings)
        self.random = np.random.default_rng(random_state)
        self.n_tasks = 0
        self._start()

    def partial_fit_task(self, step: int, X: ArrayLike, y: ArrayLike) -> Baseline:
        """Learn task number `step` (from 0) of mapped features (n, D) and labels; classes may be missing."""
        if step != self.n_tasks:
            raise ValueError(f"step must be {self.n_tasks}, the next task; got {step!r}.")
        X = self._checked(X)
        if len(X) == 0:
            raise ValueError("A task needs at least one training sample.")
        labels = np.asarray(y)
        if labels.shape != (len(X),):
            raise ValueError(f"y must have one label per row of X: X has {len(X)} rows, y has shape {labels.shape}.")
        self._fit_task(step, X, self._encode(labels))
        self.n_tasks = step + 1
        return self

    def predict(self, X: ArrayLike, task: int | None = None) -> NDArray[Any]:
        """Return labels (n,) for mapped features (n, D) of a learnt task (ValueError), by default the newest."""
        if self.n_tasks == 0:
            raise ValueError("Nothing has been learnt yet: call partial_fit_task first.")
        task = self.n_tasks - 1 if task is None else check_int("task", task, 0, self.n_tasks - 1)
        return np.asarray(self.classes[self._predict(self._checked(X), task)])

    @abstractmethod
    def state_size(self) -> int:
        """Return how many numbers are kept between tasks: parameters, memories, statistics and stored samples."""

    @abstractmethod
    def _start(self) -> None:
        """Make the state before the first task."""

    @abstractmethod
    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        """Learn one task from checked arrays; y is 0..C-1."""

    @abstractmethod
    def _predict(self, X: Floats, task: int) -> Ints:
        """Return classes 0..C-1 for checked instances of a task learnt before."""

    def _checked(self, X: ArrayLike) -> Floats:
        array = np.ascontiguousarray(check_matrix("X", X))
        if array.shape[1] != self.n_features:
            raise ValueError(f"X has {array.shape[1]} features, but the method was created for {self.n_features}.")
        return array

    def _encode(self, y: NDArray[Any]) -> Ints:
        # Object arrays of strings (a pandas column) compare with the classes as strings.
        labels = y.astype(self.classes.dtype) if y.dtype.kind == "O" else y
        known = np.isin(labels, self.classes)
        if not known.all():
            row = int(np.argmin(known))
            raise ValueError(
                f"y has the unknown label {y.tolist()[row]!r} at row {row}; classes are {self.classes.tolist()}."
            )
        return np.asarray(np.searchsorted(self.classes, labels), dtype=np.int64)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_classes={self.n_classes}, n_features={self.n_features}, "
            f"profile={self.profile!r}, tasks={self.n_tasks})"
        )


def with_last_intercept(X: Floats) -> Floats:
    """Return X with a last column of ones, shape (n, D + 1); the solvers have it first."""
    return np.hstack([X, np.ones((len(X), 1))])


def expit(z: Floats) -> Floats:
    """Return 1 / (1 + exp(-z)) without overflow."""
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, e) / (1.0 + e))


def linear_labels(scores: Floats) -> Ints:
    """Return classes from scores: one column is the sign (ties to class 0), several the largest.

    >>> linear_labels(np.array([[0.0], [0.3]])).tolist(), linear_labels(np.array([[1.0, 1.0, 2.0]])).tolist()
    ([0, 1], [2])
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def signed_targets(y: Ints, n_classes: int) -> Floats:
    """Return targets -1 and +1: one column for two classes (+1 = class 1), else one column per class.

    >>> signed_targets(np.array([0, 1]), 2).tolist(), signed_targets(np.array([2]), 3).tolist()
    ([[-1.0], [1.0]], [[-1.0, -1.0, 1.0]])
    """
    columns = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(y[:, None] == columns, 1.0, -1.0)
