"""What a learner of tasks must guarantee: a check of any object with ``partial_fit(X, y)`` and ``predict(X)``.

Every check creates a new learner, which learns small tasks of three classes with one `partial_fit` each. If that
accepts ``classes``, the first call gives them all. `CONTRACTS` lists the checks.

Examples
--------
>>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
>>> check_learner(BernoulliNB)
{}
>>> check_learner(GaussianNB, on_fail="return")["task_sizes"]
'after a task of 1 rows: predict_proba returned values that are not finite or do not sum to 1'
"""

from __future__ import annotations

import copy
import inspect
import pickle  # nosec B403
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import check_choice

__all__ = ["check_learner"]

Made = Callable[[], Any]
Labels = NDArray[Any]
Rows = tuple[NDArray[np.float64], Labels]
OnFail = Literal["raise", "return"]

_CENTRES = np.array([[2.0, 0.0, 0.5], [-2.0, 1.0, 0.0], [0.0, -3.0, 1.0]])
_CODES = np.arange(3)
_PATTERN = np.resize([0, 1, 2, 0, 1, 2, 0, 1, 0], 60)  # no two classes are equally frequent, but in tiny tasks
_PROBE = np.random.default_rng(9).uniform(-3, 3, (40, 3))
_AT_THE_BORDER = 1  # rows of the probe whose class may change if sums are taken in another order


class ContractError(AssertionError):
    """A learner breaks contracts; the message names them and gives the reasons."""


def _tasks(counts: Sequence[int] = (12, 12, 12, 12), others: int = 99) -> list[Rows]:
    """Return slowly drifting clusters, one per class; tasks from `others` on have different labels."""
    task, y = np.repeat(np.arange(len(counts)), counts), np.concatenate([_PATTERN[:n] for n in counts])
    X = _CENTRES[y] + 0.1 * task[:, None] + 0.5 * np.random.default_rng(1).standard_normal((len(y), 3))
    ends = np.cumsum(counts)[:-1]
    return list(zip(np.split(X, ends), np.split(np.where(task >= others, (y + 1) % 3, y), ends), strict=True))


def _learnt(learner: Any, tasks: Iterable[Rows], classes: Labels | None = _CODES) -> Any:  # noqa: ANN401
    """Let a learner learn tasks and return it; `classes` is None if it has learnt tasks before."""
    for X, y in tasks:
        takes = inspect.signature(learner.partial_fit).parameters
        known = {} if classes is None or "classes" not in takes else {"classes": classes}
        learner.partial_fit(X, y, **known)
        classes = None
    return learner


def _same(first: ArrayLike, second: ArrayLike, reason: str, apart: int = 0) -> None:
    """Raise unless two lists of answers are equal, apart from a permitted number."""
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape:
        raise ContractError(f"{reason}: answers of shape {one.shape} and {other.shape}")
    if (wrong := int((one != other).sum())) > apart:
        raise ContractError(f"{reason}: {wrong} of {one.size} predictions differ")


def _sound(learner: Any, reason: str) -> None:  # noqa: ANN401
    """Raise unless a learner predicts a class for each row, and shares that sum to 1 if it has `predict_proba`."""
    said = np.asarray(learner.predict(_PROBE))
    if said.shape != (len(_PROBE),) or not np.isin(said, _CODES).all():
        raise ContractError(f"{reason}: predict gave {np.unique(said)[:5].tolist()} of shape {said.shape}")
    if hasattr(learner, "predict_proba"):
        shares = np.asarray(learner.predict_proba(_PROBE))
        if not np.isfinite(shares).all() or np.abs(shares.sum(axis=1) - 1.0).max() > 1e-6 or shares.min() < 0.0:
            raise ContractError(f"{reason}: predict_proba returned values that are not finite or do not sum to 1")


def repeats(make: Made) -> None:
    """Two learners that learn the same tasks predict the same."""
    answers = [_learnt(make(), _tasks()).predict(_PROBE) for _ in range(2)]
    _same(answers[0], answers[1], "two fresh learners of the same tasks disagree (is its randomness seeded?)")


def labels_unseen(make: Made) -> None:
    """Predictions for a task before it is learnt do not depend on its labels or on those of later tasks."""
    for j in (1, 3):
        tasks, others = _tasks(), _tasks(others=j)
        before = _learnt(make(), tasks[:j]).predict(tasks[j][0])
        _learnt(make(), others)  # what one learner learns must not reach another
        after = _learnt(make(), others[:j]).predict(others[j][0])
        _same(before, after, f"the predictions for task {j} depend on labels that it has not been given")


def asking(make: Made) -> None:
    """Predicting changes nothing, and the prediction for a row does not depend on the rows predicted with it."""
    tasks = _tasks()
    quiet, asked = _learnt(make(), tasks[:3]), _learnt(make(), tasks[:3])
    whole = asked.predict(_PROBE)
    _same(whole, asked.predict(_PROBE), "predicting twice gives different results")
    _same(whole[::-1], asked.predict(_PROBE[::-1]), "predictions depend on the order of the rows")
    alone = [asked.predict(row[None])[0] for row in _PROBE[::4]]
    _same(whole[::4], alone, "the prediction for a row depends on the other rows (does predict learn scales?)")
    still, moved = (_learnt(one, tasks[3:], None).predict(_PROBE) for one in (quiet, asked))
    _same(still, moved, "predicting changed what it learns")


def arrays_are_yours(make: Made) -> None:
    """Arrays may be read-only, are not changed, and may be overwritten afterwards."""
    expected, learner = _learnt(make(), _tasks()).predict(_PROBE), make()
    for j, (X0, y0) in enumerate(_tasks()):
        X, y = X0.copy(), y0.copy()
        X.flags.writeable = y.flags.writeable = False
        _learnt(learner, [(X, y)], _CODES if j == 0 else None)
        _same(X, X0, "it changed the rows it was given")
        _same(y, y0, "it changed the labels it was given")
        X.flags.writeable = y.flags.writeable = True
        X[:], y[:] = 1e6, 0
    _same(expected, learner.predict(_PROBE), "overwriting arrays after learning changes predictions, so copy them")


def _renamed(make: Made, names: Sequence[Any], reason: str, apart: int = 0) -> None:
    classes, plain = np.array(names), _learnt(make(), _tasks()).predict(_PROBE)
    told = _learnt(make(), [(X, classes[y]) for X, y in _tasks()], np.unique(classes)).predict(_PROBE)
    _same(classes[plain], told, reason, apart)


def class_names(make: Made) -> None:
    """Classes may be words or any numbers, and other names in the same order change nothing."""
    _renamed(make, ["ant", "bee", "cow"], "names instead of numbers for the classes change predictions")
    _renamed(make, [-5, 3, 40], "other numbers for the classes change predictions")


def class_order(make: Made) -> None:
    """Names in the opposite order change nothing, except for a row at the border."""
    reason = "another order of class names changes predictions (is something drawn for each class?)"
    _renamed(make, ["c", "b", "a"], reason, _AT_THE_BORDER)


def task_sizes(make: Made) -> None:
    """Tasks may have one, two or forty rows, or a column that never varies; predictions are classes."""
    learner = make()
    for j, task in enumerate(_tasks((1, 40, 2, 1, 25, 3))):
        _sound(_learnt(learner, [task], _CODES if j == 0 else None), f"after a task of {len(task[1])} rows")
    flat = [(np.where(np.arange(3) == 1, 7.0, X), y) for X, y in _tasks()]
    _sound(_learnt(make(), flat), "with a column that never varies")


def missing_classes(make: Made) -> None:
    """Tasks, even the first, may lack a class or contain only one."""
    tasks = _tasks()
    for kept in ([0, 1], [2]):
        learner = make()
        for j, (X, y) in enumerate(tasks):
            rows = np.isin(y, kept) | (j > 1)
            _sound(_learnt(learner, [(X[rows], y[rows])], _CODES if j == 0 else None), f"of classes {kept} at first")


def copies(make: Made) -> None:
    """Unpickled learners and copies continue as the original would have, without affecting it."""
    tasks = _tasks()
    learner, rows = _learnt(make(), tasks[:3]), tasks[3:]
    before, others = learner.predict(_PROBE), [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]  # noqa: S301 # nosec B301 - its own
    answers = [_learnt(one, rows, None).predict(_PROBE) for one in others]
    _same(before, learner.predict(_PROBE), "a copy that learns changes the original learner")
    expected = _learnt(learner, rows, None).predict(_PROBE)
    for kind, found in zip(("copy", "pickle"), answers, strict=True):
        _same(expected, found, f"a {kind} does not continue where the learner was")


def column_names(make: Made) -> None:
    """Columns of a data frame are matched by name, or a frame in another order is refused."""
    import pandas as pd

    def frame(X: Any, order: list[str]) -> Any:  # noqa: ANN401
        return pd.DataFrame(X, columns=["height", "width", "depth"])[order]

    usual, turned = ["height", "width", "depth"], ["depth", "height", "width"]
    learner = _learnt(make(), [(frame(X, usual), y) for X, y in _tasks()])
    expected = learner.predict(frame(_PROBE, usual))
    try:
        found = learner.predict(frame(_PROBE, turned))
    except Exception:  # however it refuses
        return
    _same(expected, found, "columns in another order are matched by position", _AT_THE_BORDER)


CONTRACTS = (
    *(repeats, labels_unseen, asking, arrays_are_yours, class_names, class_order),
    *(task_sizes, missing_classes, copies, column_names),
)
"""What is checked; the first line of each function's text is the contract."""


def check_learner(make: Made, *, on_fail: OnFail = "raise") -> dict[str, str]:
    """Check a learner of tasks against all contracts.

    Parameters
    ----------
    make : callable
        Returns a fresh learner, with ``partial_fit(X, y)``, which may take ``classes`` as well, and ``predict(X)``.
    on_fail : {"raise", "return"}
        Whether a broken contract raises an error.

    Returns
    -------
    dict of str to str
        The broken contracts, each with the reason.

    Raises
    ------
    ContractError
        If contracts are broken; the message gives the reasons.
    TypeError
        If `make` cannot be called, as a learner itself.
    """
    check_choice("on_fail", on_fail, get_args(OnFail))
    if not callable(make):
        raise TypeError(f"make must return a fresh learner: lambda: {type(make).__name__}(), not a learner itself.")
    broken = {}
    for contract in CONTRACTS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                contract(make)
        except ContractError as reason:
            broken[contract.__name__] = str(reason)
        except Exception as error:  # whatever the learner raises is the reason
            broken[contract.__name__] = f"{type(error).__name__}: {error}"
    if broken and on_fail == "raise":
        raise ContractError("\n".join(f"{name}: {reason}" for name, reason in broken.items()))
    return broken
