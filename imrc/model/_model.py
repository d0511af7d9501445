"""`Model`: one strategy, learnt from all rows, with the reading of files and the representation inside."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imrc._checks import InputError, check_choice, check_int, check_matrix
from imrc._types import Floats, Ints
from imrc.baselines.simple import pooled_learner
from imrc.core.learner import Learner
from imrc.core.rules_log import LogLossLearner
from imrc.evaluation.run import single_thread
from imrc.evaluation.settings import STRATEGIES, STRATEGY_TITLES, RunSettings
from imrc.features import FeatureMap, Representation, plain, repetition_draw
from imrc.solvers.api import probabilities, scores
from imrc.tables import Recipe, Source, Table
from imrc.tables.recipe import places
from imrc.tables.table import clean_label, clean_name
from imrc.tasks import TaskSequence
from imrc.wording import RULES, listed

if TYPE_CHECKING:
    import pandas as pd


RawRows: TypeAlias = "Source | Table | ArrayLike"
_Rule = tuple[Floats, float]  # parameters, and the max term of (3), which probabilities of the 0-1 rule need
_rule = attrgetter("coef", "nu")  # of an estimate

_BATCH = 2048  # rows mapped at a time, because features of all rows together could take gigabytes


class ReadingWarning(UserWarning):
    """Decisions made when rows were read, such as new words or cells that count as missing."""


@dataclass(eq=False, repr=False)
class Model:
    """A rule for each task and for the next one, which predicts from raw rows and matches columns by name.

    `Report.fit` and the command ``imrc fit`` create it with the advised strategy: *alone* is the rule of the newest
    task, *pooled* is one rule for all tasks, and *forward* and *forward and backward* give the rule for the next
    task. It is the learner of `imrc.evaluate`, trained on all rows of each task, with the representation learnt from
    the first task.

    Rows are read like the first file. Words, dates and gaps mean the same, new words count as *other*, and columns that
    are not learnt from, including the label, are optional. Decisions about the rows are stored in `notes` and raise a
    warning. An array of numbers is read like ``task.X``, with days for dates and positions in the list for words. To
    allow updates, a model remembers the rows of its six newest tasks, or of more tasks up to 2,000 rows (b + 1 tasks if
    that is more).
    """

    strategy: str  #: The strategy it was learnt with; "single" is each task alone.
    classes: NDArray[Any]  #: Labels in sorted order.
    recipe: Recipe  #: How rows are read.
    _named: bool  # whether columns have names of their own
    _gaps: bool  # whether values may be missing
    _loss: str
    _map: FeatureMap
    _learner: Learner | LogLossLearner | None
    n_measured: int | None = None  #: Samples per task at which the strategy was measured, if it was.
    tasks: list[str] = field(default_factory=list)  #: Names of the tasks learnt.
    rows: list[int] = field(default_factory=list)  #: Number of rows of each task.
    notes: tuple[str, ...] = ()  #: Decisions made when rows were last read.
    _rules: list[_Rule] = field(default_factory=list)  # of each task; of "pooled" one
    _coming: _Rule = (np.empty(0), np.nan)  # for the next task

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        return tuple(one["name"] for one in self.recipe.features)

    @property
    def label(self) -> str:
        """Name of the column that it predicts, empty if it was learnt from arrays."""
        return str(self.recipe.label["name"])

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes, safe to show: without markup, formulas and very long words."""
        names = self.recipe.label.get("names", {})
        return tuple(names.get(one, str(one)) for one in self.classes.tolist())

    @property
    def updatable(self) -> bool:
        """Whether it remembers rows, so that it can learn the next task."""
        return self._learner is not None

    def __repr__(self) -> str:
        few, many = f"{min(self.rows):,}", f"{max(self.rows):,}"
        size = few if few == many else f"{few} to {many}"
        measured = "" if self.n_measured is None else f"advice measured at n = {self.n_measured:,}, "
        classes = listed(self.class_names, 6)
        return (
            f"Model: {STRATEGY_TITLES[self.strategy]}; predicts {self.label or 'the label'}: {classes}\n"
            f"  from {len(self.columns)} columns: {listed(self.columns, 3 if len(self.columns) > 5 else 5)}\n"
            f"  learnt from {len(self.tasks)} tasks, {self.tasks[0]} to {self.tasks[-1]}, {sum(self.rows):,} rows\n"
            f"  {measured}model learnt from {size} a task{'' if self.updatable else '; cannot be updated'}"
        )

    def predict(self, rows: RawRows, task: int | str = "next") -> NDArray[Any]:
        """Return the most probable class of each row (in a tie, the first one), shape (n_rows,).

        Parameters
        ----------
        rows : DataFrame, path, bytes, open binary file, Table, or array-like of shape (n_rows, n_columns)
            Rows with the columns of the first file, in any order if the columns have names.
        task : "next", str or int
            Task whose rule to use: the next task, a task by its name, or a task by its number from 0 (negative
            numbers count from the newest). A pooled model has one rule for all tasks.

        Raises
        ------
        InputError
            If a column is missing, rows cannot be read, or the task is not known.
        """
        return np.asarray(self.classes[self._scores(self._understood(rows)[0], task)[0].argmax(axis=1)])

    def predict_proba(self, rows: RawRows, task: int | str = "next") -> Floats:
        """Return the probability of each class, shape (n_rows, n_classes).

        Parameters
        ----------
        rows, task : as in `predict`
            The rows to predict, and the task whose rule to use.
        """
        return probabilities(*self._scores(self._understood(rows)[0], task))

    def predict_frame(self, rows: RawRows, task: int | str = "next") -> pd.DataFrame:
        """Return the rows with the predicted class and the probability of each class in additional columns.

        Parameters
        ----------
        rows, task : as in `predict`
            For a file, cells of the columns it needs are returned as they were understood, all others as written.
            Columns of probabilities are named by `class_names`.
        """
        import pandas as pd

        rows = self._opened(rows)
        values, loss, nu = self._scores(self._understood(rows)[0], task)
        shares = probabilities(values, loss, nu)
        if isinstance(rows, Table):
            rows = {column.name: column.words(raw=True) for column in rows.columns}
        found = pd.DataFrame(rows).copy()
        classes = self.classes.astype(object) if self.classes.dtype.kind == "U" else self.classes
        new = {f"predicted {self.label}".rstrip(): classes[values.argmax(axis=1)]}
        new |= {f"probability of {name}": shares[:, c] for c, name in enumerate(self.class_names)}
        for name, column in new.items():
            while name in found.columns:
                name += " (new)"
            found[name] = column
        return found

    def update(self, rows: RawRows, labels: ArrayLike | None = None, *, name: str = "") -> Model:
        """Return this model after it has learnt the next task, once its labels are available.

        Parameters
        ----------
        rows : DataFrame, path, bytes, open binary file, Table, or array-like of shape (n_rows, n_columns)
            All rows of the new task, as in `predict`.
        labels : array-like of shape (n_rows,), optional
            Their classes, by default those in the column `label` of the rows.
        name : str, optional
            Name of the task; by default the name found in the rows, or its number.

        Raises
        ------
        InputError
            If it was saved without its rows, a class is unknown or missing, or rows belong to several tasks or to one
            that it has learnt.
        """
        if self._learner is None:
            raise InputError("This model was saved without the rows that an update needs (updatable=False).")
        X, known, named = self._understood(rows)
        if len(named) > 1:
            raise InputError(
                f"The rows belong to {len(named)} tasks ({listed(named, 3)}). Update with one task at a time."
            )
        if not name and named and named[0] in self.tasks:
            raise InputError(
                f"The model has learnt task {named[0]!r} already. For more rows of it, give them a new name=."
            )
        codes = self._encoded(known if labels is None else labels, len(X))
        with single_thread():
            self._learn(X, codes, name or (named[0] if named else str(len(self.tasks) + 1)))
        return self

    def save(self, path: str | Path | BinaryIO, *, updatable: bool = True) -> None:
        """Write the model to a file, as arrays and JSON in one ``.npz`` without pickle.

        Parameters
        ----------
        path : str, Path or open binary file
            File to write. An existing file is replaced.
        updatable : bool
            Whether to store the remembered rows, which `update` needs. They are some of the training rows, turned into
            features, with their labels. Leave them out if you must not share them.
        """
        from imrc.model._file import write

        write(self if updatable else replace(self, _learner=None), path)

    def _learn(self, X: Floats, codes: Ints, name: str, *, ahead: bool = True) -> None:
        """Learn a new task, and the rule for the next one unless another task follows at once."""
        X1 = self._map.with_intercept(X)
        if isinstance(self._learner, LogLossLearner):
            self._rules = [_rule(self._learner.step(X1, codes).forward)]
        elif self._learner is not None:
            step = self._learner.step(X1, codes)
            self._rules.append(_rule(step.single if self.strategy == "single" else step.forward))
            for task, estimate in step.revised.items():
                self._rules[task] = _rule(estimate)
        predicts = ahead and isinstance(self._learner, Learner) and self.strategy != "single"
        self._coming = _rule(self._learner.predicted()) if predicts else self._rules[-1]  # type: ignore[union-attr]
        self.tasks.append(name)
        self.rows.append(len(codes))

    def _scores(self, X: Floats, task: int | str) -> tuple[Floats, str, float]:
        """Return the score of each row for each class, and loss and nu for probabilities."""
        rule = self._coming
        if isinstance(task, str) and check_choice("task", task, ("next", *self.tasks)) != "next":
            task = len(self.tasks) - 1 - self.tasks[::-1].index(task)
        if not isinstance(task, str):
            place = check_int("task", task, -len(self.tasks), len(self.tasks) - 1)
            rule = self._rules[0 if self.strategy == "pooled" else place]
        parts, map_ = [X[start : start + _BATCH] for start in range(0, len(X), _BATCH)] or [X], plain(self._map)
        values = [scores(map_.with_intercept(part), rule[0], len(self.classes)) for part in parts]
        return np.concatenate(values), self._loss, rule[1]

    def _encoded(self, labels: ArrayLike | None, rows: int) -> Ints:
        if labels is None:
            raise InputError(f"The rows have no labels in a column {self.label!r}. Pass them: update(rows, labels).")
        given = np.asarray(labels)
        if given.shape != (rows,):
            raise InputError(f"Give one label per row: there are {rows} rows, and labels have shape {given.shape}.")
        place = places(self.classes.tolist())
        codes = np.array([place.get(one, place.get(clean_label(one), -1)) for one in given.tolist()], dtype=np.int64)
        if (codes < 0).any():
            row, known = int(np.argmax(codes < 0)), listed(list(map(repr, self.class_names)), 50)
            what = f"the unknown label {name!r}" if (name := clean_name(given[row])) else "no label"
            raise InputError(f"Row {row + 1:,} has {what}; the classes of the model are {known}.")
        return codes

    def _opened(self, rows: Any) -> Any:  # noqa: ANN401 - of any kind
        """Return a frame, a table (also of a file), or an array of numbers; an array of words becomes a frame."""
        if isinstance(rows, Table) or (hasattr(rows, "iloc") and self._named):
            return rows
        if isinstance(rows, str | Path | bytes) or hasattr(rows, "read"):
            return self.recipe.read(rows)
        values = np.asarray(rows)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise InputError(
                f"Give a data frame, a path, or an array with the columns {listed(self.columns, 10)}; got "
                f"{type(rows).__name__} of shape {values.shape}."
            )
        if values.dtype.kind in "fiub":
            return values
        import pandas as pd

        return pd.DataFrame(rows if isinstance(rows, list | tuple) else values, columns=list(self.columns))

    def _understood(self, rows: RawRows) -> tuple[Floats, NDArray[Any] | None, list[str]]:
        """Return numbers like those of tasks, labels if there are some, and names of tasks. Warn of the notes."""
        X, labels, named, notes = self._opened(rows), None, list[str](), list[str]()
        if not isinstance(X, np.ndarray):
            X, labels, tasks, notes = self.recipe.apply(X)
            named = [str(one) for one in dict.fromkeys(tasks.tolist()) if one]
        self.notes = tuple(notes)
        if notes:
            warnings.warn(" ".join(notes), ReadingWarning, stacklevel=3)
        return check_matrix("rows", X, allow_missing=self._gaps), labels, named


def fit_model(sequence: TaskSequence, *, strategy: str, settings: RunSettings, n_measured: int | None = None) -> Model:
    """Return the model of a strategy, learnt from all rows of each task with the settings of a run.

    `n_measured` is n of the run that chose the strategy. Random frequencies are those of the run's first repetition.
    """
    check_choice("strategy", strategy, STRATEGIES)
    sequence = sequence if settings.k is None else sequence.head(settings.k)
    learner: Learner | LogLossLearner = pooled_learner(sequence.n_classes)
    if strategy != "pooled":
        rules = RULES if strategy == "forward_backward" else (strategy,)
        learner = Learner(replace(settings.learner, b=settings.reach(len(sequence))), sequence.n_classes, rules)
    with single_thread():
        model = Model(
            strategy=strategy,
            classes=sequence.classes,
            recipe=Recipe.of(sequence),
            _named=bool(sequence.feature_names),
            _gaps=sequence.is_raw,
            _loss="log" if strategy == "pooled" else settings.learner.loss,
            _map=Representation.of(settings.features, sequence).learn(sequence[0].X, repetition_draw(settings.seed)),
            _learner=learner,
            n_measured=n_measured,
        )
        for task, name in enumerate(sequence.labels):
            model._learn(sequence[task].X, sequence.encoded(task), name, ahead=task == len(sequence) - 1)
    return model


def scored_in_words(model: Model, scored: pd.DataFrame, task: str = "next") -> tuple[pd.DataFrame, str]:
    """Return how many rows of `Model.predict_frame` got each class, and are expected to have it, also in a sentence.

    Columns class, rows, expected, which is the sum of the probabilities.
    """
    import pandas as pd

    answers, sums = scored.iloc[:, -1 - len(model.classes)], scored.iloc[:, -len(model.classes) :].sum()
    rows = [int((answers == one).sum()) for one in model.classes.tolist()]
    found = pd.DataFrame({"class": model.class_names, "rows": rows, "expected": sums.to_numpy()}, model.classes)
    many = max(len(scored), 1)
    shares = listed([f"{one.rows:,} {one[1]} ({100 * one.rows / many:.1f} %)" for one in found.itertuples()], 6)
    totals = listed([f"{one.expected:,.1f} {one[1]}" for one in found.itertuples()], 6)
    of = f"the next task, after {model.tasks[-1]}" if task == "next" else f"the task {task}"
    rule = f"by the rule for {of} (strategy: {STRATEGY_TITLES[model.strategy].lower()})"
    said = f"{len(scored):,} rows were predicted {rule}: {shares}."
    return found, f"{said} For totals, use the sums of the probabilities: {totals}."
