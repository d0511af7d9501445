"""The benchmark of the next task: learn the tasks so far, predict every row of the next one, then learn it.

It uses seven small real sequences in the folder $IMRC_TEMPORAL and two of rotated moons, and predicts their second
half. What is done to columns (medians in gaps, 0/1 columns for words, scales) is learnt from the first half, once and
for every learner alike, so nothing is learnt from a task to be predicted.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import inspect
import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import imrc
from imrc._checks import InputError, did_you_mean
from imrc._types import Floats, Ints
from imrc.atlas import TEMPORAL, of_file
from imrc.baselines.own import seeds_of
from imrc.core.rules_log import log_shares
from imrc.features import Representation
from imrc.wording import plain

if TYPE_CHECKING:
    import pandas as pd

SCHEMA, VERSION = "imrc.bench", 1
SEEDS, TREES = 10, 50
SEQUENCES = (*TEMPORAL, "moons", "moons_printed")
NUMBERED = "_numbered"


class Coded(NamedTuple):
    """A sequence in the form that learners get."""

    tasks: list[tuple[Floats, Ints]]
    classes: int
    first: int  # task that is predicted first
    hash: str


def coded(name: str, seed: int) -> Coded:
    """Return a sequence as numbers, with columns treated as learnt from the first half; only moons use the seed."""
    if name.startswith("moons"):
        return _moons(seed, printed=name == "moons_printed")
    sequence = of_file("IMRC_TEMPORAL", name, "label", by="task")
    first = len(sequence) // 2
    learnt = Representation.of("standardised", sequence).learn(np.concatenate([t.X for t in sequence.tasks[:first]]))
    tasks = [(learnt.transform(task.X), sequence.encoded(j)) for j, task in enumerate(sequence)]
    return Coded(tasks, sequence.n_classes, first, sequence.fingerprint[:16])


def _moons(seed: int, *, printed: bool) -> Coded:
    """Return moons, 200 points each, rotated ten times by 18 degrees; or with the two faults of the field's copy."""
    from sklearn.datasets import make_moons

    parts = []
    for turn in range(11):
        X, y = make_moons(200, noise=0.1, random_state=seed if printed else 11 * seed + turn)
        cos, sin = np.cos(turn * np.pi / 10), np.sin(turn * np.pi / 10)
        parts.append((X @ np.array([[cos, sin], [-sin, cos]]), y))
    if printed:
        X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
        parts = list(zip(np.split(X, 10), np.split(y, 10), strict=True))
    drawn = hashlib.sha256(np.concatenate([X for X, _ in parts]).round(6).tobytes()).hexdigest()[:16]
    return Coded(parts, 2, 9 if printed else 5, drawn)


class Seen:
    """A classifier retrained on all tasks so far; `numbered` adds the number of the task as a column."""

    def __init__(self, estimator: Any, *, numbered: bool = False) -> None:  # noqa: ANN401 - any classifier
        self.estimator, self.numbered = estimator, numbered
        self.past: list[tuple[Floats, Ints]] = []
        self.rule: Any = None

    def partial_fit(self, X: Floats, y: Ints) -> Seen:
        """Keep a task."""
        self.past, self.rule = [*self.past, (self._columns(X, len(self.past)), y)], None
        return self

    def _columns(self, X: Floats, task: int) -> Floats:
        return np.column_stack([X, np.full(len(X), task)]) if self.numbered else X

    def _asked(self, what: str, X: Floats) -> NDArray[Any]:
        if self.rule is None:
            self.rule = self.estimator.fit(*(np.concatenate(part) for part in zip(*self.past, strict=True)))
            self.classes_ = self.rule.classes_
        return np.asarray(getattr(self.rule, what)(self._columns(X, len(self.past))))

    def predict(self, X: Floats) -> NDArray[Any]:
        """Answer for the next task."""
        return self._asked("predict", X)

    def predict_proba(self, X: Floats) -> NDArray[Any]:
        """Return the classifier's probabilities for the next task."""
        return self._asked("predict_proba", X)


def references() -> dict[str, Any]:
    """Return the learners that come with the benchmark."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    boosting, forest = HistGradientBoostingClassifier(), RandomForestClassifier(TREES)
    return {
        "majority": DummyClassifier(),
        "logistic": LogisticRegression(max_iter=2000),
        **dict.fromkeys(("boosting", f"boosting{NUMBERED}"), boosting),
        **dict.fromkeys(("forest", f"forest{NUMBERED}"), forest),
        "imrc": imrc.IMRC(),
        "evolving_logistic": imrc.Evolving(),
        "evolving_forest": imrc.Evolving(forest),
    }


def learner(name: str, seed: int) -> Any:  # noqa: ANN401 - anybody's learner
    """Return a fresh learner that draws by the seed: a reference, or a class or an object ``module:Learner``."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute) if attribute else references()[name]
    except (ImportError, AttributeError, KeyError) as error:
        known = ", ".join(references())
        why = f" {error}." if attribute else did_you_mean(name, references())
        raise InputError(f"{name!r} is neither module:Learner on Python's path nor one of {known}.{why}") from error
    made: Any = found() if inspect.isclass(found) else copy.deepcopy(found)
    if drawn := seeds_of(made):
        made.set_params(**dict.fromkeys(drawn, seed))
    if not hasattr(made, "predict") or not (hasattr(made, "partial_fit") or hasattr(made, "fit")):
        raise InputError(f"{name} has no predict, or neither partial_fit nor fit.")
    return made if hasattr(made, "partial_fit") else Seen(made, numbered=name.endswith(NUMBERED))


def predicted(one: Any, sequence: Coded) -> Iterator[tuple[int, int, float]]:  # noqa: ANN401
    """Yield rows, wrong answers and log loss of each task predicted; the loss is NaN without `predict_proba`."""
    asked = {"task": "next"} if isinstance(one, imrc.IMRC) else {}
    for j, (X, y) in enumerate(sequence.tasks):
        if j >= sequence.first:
            said, loss = np.asarray(one.predict(X, **asked)), float("nan")
            if said.shape != y.shape:
                raise InputError(f"predict returned an array of shape {said.shape} for {len(y)} rows.")
            if hasattr(one, "predict_proba"):
                given, shares = np.zeros((len(y), sequence.classes)), one.predict_proba(X, **asked)
                given[:, getattr(one, "classes_", np.arange(sequence.classes))] = shares
                loss = float(-log_shares(given[np.arange(len(y)), y], sequence.classes).sum())
            yield len(y), int((said != y).sum()), loss
        takes = j == 0 and "classes" in inspect.signature(one.partial_fit).parameters
        one.partial_fit(X, y, **({"classes": np.arange(sequence.classes)} if takes else {}))


def measure(name: str, sequences: Iterable[str], show: Callable[[str], object] = lambda _: None) -> dict[str, Any]:
    """Return what one learner did, ready for its file; ten seeds where the learner or the data draw."""
    found: dict[str, Any] = {}
    for one in sequences:
        started, tried = time.process_time(), []
        for seed in range(SEEDS):
            show(f"{name} on {one}, seed {seed + 1}")
            tried.append(list(predicted(learner(name, seed), coded(one, seed))))
            if seed == 1 and repr(tried[0]) == repr(tried[1]):  # nothing is drawn
                del tried[1]
                break
        rows, wrong, losses = (np.array([[task[i] for task in run] for run in tried]) for i in range(3))
        found[one] = {
            "hash": coded(one, 0).hash,
            "rows": rows[0].tolist(),
            "wrong": wrong.tolist(),
            "log_loss": [round(float(loss), 4) for loss in losses.sum(axis=1) / rows.sum(axis=1)],
            "seconds": round((time.process_time() - started) / len(tried), 2),
        }
    parts = dict.fromkeys(["imrc", "numpy", "sklearn", *([name.partition(":")[0]] if ":" in name else [])])
    versions = {part: str(getattr(importlib.import_module(part), "__version__", "not said")) for part in parts}
    versions["python"] = platform.python_version()
    told = {"schema": SCHEMA, "version": VERSION, "learner": name, "versions": versions, "sequences": found}
    return dict(plain(told))


def summary(of: Mapping[str, Any]) -> dict[str, float]:
    """Return the error, half its 95 % interval over rows and over tasks (trust the wider one), and the log loss."""
    rows, wrong = np.array(of["rows"], dtype=np.float64), np.array(of["wrong"], dtype=np.float64).mean(axis=0)
    error, total, k = float(wrong.sum() / rows.sum()), float(rows.sum()), len(rows)
    over_tasks = float(np.sqrt(((wrong - error * rows) ** 2).sum() * k / (k - 1)) / total) if k > 1 else float("nan")
    losses = [np.nan if one is None else one for one in of["log_loss"]]
    return {
        "error": error,
        "over_rows": 1.96 * float(np.sqrt(error * (1.0 - error) / total)),
        "over_tasks": 1.96 * over_tasks,
        "log_loss": float(np.mean(losses)),
        "seconds": float(of["seconds"]),
    }


def table(folders: Iterable[Path]) -> pd.DataFrame:
    """Return a row per learner and sequence from the files of folders, with the mean rank of each learner.

    Results on other tasks than most have, by their hash, are left out; ranks are over the sequences that all have.
    """
    import pandas as pd

    files = (json.loads(file.read_text("utf-8")) for folder in folders for file in sorted(folder.glob("*.json")))
    rows = [
        {"learner": told["learner"], "sequence": one, "hash": of["hash"], **summary(of)}
        for told in files
        if (told.get("schema"), told.get("version")) == (SCHEMA, VERSION)
        for one, of in told["sequences"].items()
    ]
    if not rows:
        raise InputError("There are no results yet. Measure a learner with --learner.")
    found = pd.DataFrame(rows)
    found = found[found["hash"] == found.groupby("sequence")["hash"].transform(lambda hashes: hashes.mode()[0])]
    found = found.drop_duplicates(["learner", "sequence"], keep="last")
    errors = found.pivot_table(index="sequence", columns="learner", values="error")
    return found.assign(mean_rank=found["learner"].map(errors.dropna().rank(axis=1).mean()))
